#include "compile/worker.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compile/cache.h"
#include "compile/log.h"
#include "compile/wire.h"
#include "compile/cubin.h"
#include "compile/nvrtc.h"
#include "process/message.h"
#include "compile/toolkit.h"
#include "process/confine.h"

/* A template gone wild explains itself in megabytes; its first lines say what went wrong. */
enum { LOG_BYTES_MAX = 65536 };

typedef struct compiler {
    nvrtc_library nvrtc;
    compile_cache cache;
    bool cache_reads, cache_writes;
    char identity[128];        /* of this compiler, for cache keys */
    char with_toolkit[192];    /* that and of the Toolkit's headers; "" until they are needed */
    int fd;                    /* to the tuner */
    /* The last source name whose sources needed what --minimal leaves out: the next variant of the
     * same template will need it too. */
    char full_name[256];
} compiler;

/* What this process has mapped already. A profiler that watches the tuner maps terabytes. */
static uint64_t mapped_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%llu", &pages) != 1)
            pages = 0;
        fclose(f);
    }
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit_process(const compile_worker_config *config)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    /* The tuner is told of a crash by the signal itself, not by a handler's exit status. */
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        signal(deadly[i], SIG_DFL);
    if (config->memory_limit_bytes) {
        rlim_t most = (rlim_t)(mapped_bytes() + config->memory_limit_bytes);
        setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    }
    /* When the host runs out of memory, a worker is the one to lose. Raising it needs no right. */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t written = write(fd, "500", 3);
        (void)written;
        close(fd);
    }
}

/* NVRTC's own cache (12.9 and newer) loads the driver into every worker, and what it returns comes
 * without ptxas's report of resources. */
static void disable_nvrtc_cache(void)
{
    setenv("CUDA_CACHE_DISABLE", "1", 1);
}

static bool has_include(const char *source)
{
    for (const char *p = source; (p = strchr(p, '#')); p++) {
        const char *word = p + 1 + strspn(p + 1, " \t");
        if (strncmp(word, "include", 7) == 0)
            return true;
    }
    return false;
}

/* What the front end says when a source uses something that --minimal leaves undeclared. */
static bool misses_declarations(const char *log)
{
    static const char *const signs[] = {"is undefined",      "incomplete type", "no instance of",
                                        "is not a template", "has no member",   "not a type name",
                                        "no member"};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strstr(log, signs[i]))
            return true;
    return false;
}

static void run_nvrtc(const compiler *c, const compile_request *r, bool minimal, bool include,
                      nvrtc_output *out)
{
    char arch[128];
    snprintf(arch, sizeof arch, "--gpu-architecture=%s", r->arch);
    const char *options[COMPILE_OPTIONS_MAX + 8];
    size_t n = 0;
    options[n++] = arch;
    options[n++] = "--ptxas-options=-v"; /* the resources are read from what it prints */
    if (minimal)
        options[n++] = "--minimal";
    for (size_t i = 0; i < c->nvrtc.include_option_count && include; i++)
        options[n++] = c->nvrtc.include_options[i];
    if (r->want_ptx)
        options[n++] = "--generate-line-info";
    for (size_t i = 0; i < r->option_count; i++)
        options[n++] = r->options[i];
    nvrtc_library_compile(&c->nvrtc, r->source, r->name, r->headers, r->header_count, options, n,
                          r->want_ptx, out);
}

static void compile_source(compiler *c, const compile_request *r, nvrtc_output *out)
{
    bool include = has_include(r->source);
    bool minimal = !include && strcmp(r->name, c->full_name) != 0;
    run_nvrtc(c, r, minimal, include, out);
    if (!minimal || out->code != NVRTC_ERROR_COMPILATION || !out->log ||
        !misses_declarations(out->log))
        return;
    int64_t spent_ns = out->time_ns;
    nvrtc_output_deinit(out);
    run_nvrtc(c, r, false, include, out);
    out->time_ns += spent_ns;
    if (out->code == NVRTC_SUCCESS)
        snprintf(c->full_name, sizeof c->full_name, "%s", r->name);
}

/* Whether the compiler says something about the source, and not about its own state, which is not
 * to be trusted afterwards. The front end calls a lack of memory an error of the source. */
static bool is_verdict(const nvrtc_output *o)
{
    if (o->code == NVRTC_SUCCESS)
        return true;
    return (o->code == NVRTC_ERROR_COMPILATION || o->code == NVRTC_ERROR_INVALID_INPUT ||
            o->code == NVRTC_ERROR_INVALID_OPTION) &&
           !strstr(o->log, "error: out of memory");
}

/* Turns what NVRTC said into a result; the result's pointers are views into `o`. */
static void read_output(const compile_request *r, nvrtc_output *o, compile_result *out,
                        at_error *error)
{
    static char no_memory[] = "the compiler ran out of memory";
    *out = (compile_result){.id = r->id, .time_ns = o->time_ns};
    if (!o->log || !is_verdict(o)) {
        out->outcome = COMPILE_CRASHED;
        out->log = o->log ? o->log : no_memory;
        return;
    }
    out->log = o->log;
    out->outcome = COMPILE_ERROR;
    if (o->code == NVRTC_SUCCESS) {
        if (compile_log_read(o->log, r->entry, &out->resources, error)) {
            out->log = error->message;
            return;
        }
        out->outcome = COMPILE_OK;
        out->cubin = o->cubin;
        out->cubin_bytes = o->cubin_bytes;
        if (out->resources.constant_bytes == 0)
            out->resources.constant_bytes =
                cubin_constant_bytes(o->cubin, o->cubin_bytes, r->entry);
        out->ptx = o->ptx;
        out->ptx_bytes = o->ptx_bytes;
    }
    compile_log_trim(o->log);
    if (strlen(o->log) > LOG_BYTES_MAX)
        o->log[LOG_BYTES_MAX] = '\0';
}

static void warn(const compiler *c, const char *text)
{
    message m;
    message_init(&m, COMPILE_WARNING);
    pack_put_string(&m.body, text);
    message_send(c->fd, &m, NULL);
    message_deinit(&m);
}

/* Turns a cache entry into the reply. */
static bool fetch(const compiler *c, compile_key key, uint64_t id, message *reply)
{
    unsigned char *bytes;
    size_t size_bytes;
    if (!c->cache_reads || compile_cache_get(&c->cache, key, &bytes, &size_bytes))
        return false;
    message_init(reply, COMPILE_RESULT);
    reply->body =
        (pack){.bytes = bytes, .size_bytes = size_bytes, .capacity_bytes = size_bytes};
    compile_result kept;
    pack view = reply->body;
    if (compile_wire_get_result(&view, &kept) &&
        (!kept.cubin || cubin_is_whole(kept.cubin, kept.cubin_bytes))) {
        compile_wire_stamp_result(&reply->body, id, kept.time_ns, true);
        return true;
    }
    message_deinit(reply);
    return false;
}

static void store(compiler *c, compile_key key, compile_outcome outcome, const message *reply)
{
    /* A crash or a lack of memory says nothing lasting about the source. */
    if (!c->cache_writes || (outcome != COMPILE_OK && outcome != COMPILE_ERROR) || reply->body.failed)
        return;
    at_error error = {0};
    if (compile_cache_put(&c->cache, key, reply->body.bytes, reply->body.size_bytes, &error) == AT_OK)
        return;
    c->cache_writes = false;
    warn(c, error.message);
}

/* Compiles into `reply`. */
static void compile(compiler *c, const compile_request *r, compile_key key, message *reply)
{
    nvrtc_output output;
    compile_source(c, r, &output);
    compile_result result;
    at_error error = {0};
    read_output(r, &output, &result, &error);
    message_init(reply, COMPILE_RESULT);
    compile_wire_put_result(&reply->body, &result);
    store(c, key, result.outcome, reply);
    nvrtc_output_deinit(&output);
}

/* What includes depends on the Toolkit's headers, which are many: they are not read until then. */
static const char *identity_for(compiler *c, const compile_request *r)
{
    if (!has_include(r->source))
        return c->identity;
    if (!c->with_toolkit[0])
        snprintf(c->with_toolkit, sizeof c->with_toolkit, "%s, headers %016llx", c->identity,
                 (unsigned long long)toolkit_hash(c->nvrtc.include_dir));
    return c->with_toolkit;
}

static at_status answer(compiler *c, message *request)
{
    const char *options[COMPILE_OPTIONS_MAX];
    source_header headers[SOURCE_HEADERS_MAX];
    compile_request r;
    if (request->type != COMPILE_REQUEST ||
        !compile_wire_get_request(&request->body, options, headers, &r))
        return AT_WORKER;
    /* The id, which comes first, is all that does not bear on the result. */
    compile_key key = compile_cache_key(identity_for(c, &r), request->body.bytes + sizeof r.id,
                                        request->body.size_bytes - sizeof r.id);
    message reply;
    if (!fetch(c, key, r.id, &reply))
        compile(c, &r, key, &reply);
    at_status status = message_send(c->fd, &reply, NULL);
    message_deinit(&reply);
    return status;
}

static at_status greet(int fd, const nvrtc_library *nvrtc, const at_error *refusal)
{
    message m;
    message_init(&m, refusal ? COMPILE_REFUSED : COMPILE_HELLO);
    if (refusal) {
        pack_put_string(&m.body, refusal->message);
    } else {
        pack_put_string(&m.body, nvrtc->version);
        pack_put_string(&m.body, nvrtc->path);
    }
    at_status status = message_send(fd, &m, NULL);
    message_deinit(&m);
    return status;
}

static void open_cache(compiler *c, const compile_worker_config *config)
{
    if (!config->use_cache)
        return;
    at_error error = {0};
    at_status status =
        compile_cache_open(config->cache_dir, config->cache_limit_bytes, &c->cache, &error);
    c->cache_reads = c->cache_writes = status == AT_OK;
    if (status)
        warn(c, error.message);
    /* Builds of one version differ in what they generate, and in their size. */
    snprintf(c->identity, sizeof c->identity, "nvrtc %s %llu", c->nvrtc.version,
             (unsigned long long)c->nvrtc.file_bytes);
}

/* NVRTC looks for headers in the current folder first, where the user's own may lie. */
static void leave_folder(compiler *c)
{
    const char *dir = c->nvrtc.include_dir;
    if ((!dir[0] || chdir(dir) != 0) && chdir("/") != 0)
        warn(c, "a compile worker cannot leave the current folder");
}

void compile_worker_confine(const char *include_dir, const char *cache_dir)
{
    /* In some Toolkits the headers are links to another folder. */
    char header[PATH_MAX + 32], real[PATH_MAX] = "";
    confine_folder folders[3];
    size_t count = 0;
    if (include_dir[0]) {
        folders[count++] = (confine_folder){include_dir, CONFINE_READ};
        snprintf(header, sizeof header, "%s/cuda_fp16.h", include_dir);
        if (realpath(header, real)) {
            *strrchr(real, '/') = '\0';
            folders[count++] = (confine_folder){real, CONFINE_READ};
        }
    }
    if (cache_dir)
        folders[count++] = (confine_folder){cache_dir, CONFINE_WRITE};
    confine_files(folders, count);
    confine_system_calls(CONFINE_SOCKETS);
}

int compile_worker_run(int fd, void *context)
{
    const compile_worker_config *config = context;
    limit_process(config);
    compiler c = {.fd = fd};
    at_error error = {0};
    disable_nvrtc_cache();
    if (nvrtc_library_open(&c.nvrtc, &error)) {
        greet(fd, NULL, &error);
        return 1;
    }
    at_status status = greet(fd, &c.nvrtc, NULL);
    open_cache(&c, config);
    leave_folder(&c);
    compile_worker_confine(c.nvrtc.include_dir, c.cache_reads ? c.cache.dir : NULL);
    while (!status) {
        message request;
        status = message_receive(fd, -1, &request, NULL);
        if (!status)
            status = answer(&c, &request);
        message_deinit(&request);
    }
    return 0;
}
