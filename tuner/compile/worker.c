#include "compile/worker.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compile/compiler.h"
#include "compile/group.h"
#include "compile/log.h"
#include "compile/wire.h"
#include "process/confine.h"

/* ---- a batch of requests ----
 *
 * Requests outside the cache are compiled as a group if they fit together (compile/group.h). If
 * that is impossible or fails, each request is compiled alone, with the same answer. */

typedef struct task {
    message request, reply;
    bool answered; /* `reply` is set */
    bool groupable;
    compile_request r;
    const char *options[COMPILE_OPTIONS_MAX];
    source_header headers[SOURCE_HEADERS_MAX];
    compile_key key;
    uint64_t kind;
    group_member member;
} task;

static void reply_with(compiler *c, task *t, const compile_result *result)
{
    t->reply = (message){.type = COMPILE_RESULT};
    compile_wire_put_result(&t->reply.body, result);
    compiler_store(c, t->key, result);
    t->answered = true;
}

static void compile_alone(compiler *c, task *t)
{
    nvrtc_output output;
    compile_result result;
    at_error error = {0};
    compiler_compile(c, &t->r, &output, &result, &error);
    reply_with(c, t, &result);
    nvrtc_output_deinit(&output);
}

/* Answers the members for which the log has resources. The others are compiled alone later. */
static void answer_members(compiler *c, task *const *tasks, const group_member *members,
                           size_t count, nvrtc_output *o)
{
    for (size_t i = 0; i < count; i++) {
        compile_result result = {.id = tasks[i]->r.id,
                                 .outcome = COMPILE_OK,
                                 .cubin = o->cubin,
                                 .cubin_bytes = o->cubin_bytes,
                                 .grouped = true,
                                 .time_ns = o->time_ns / (int64_t)count};
        result.symbols = group_lines(members, i, o->symbols);
        result.log = group_log(o->log, i);
        if (result.symbols && result.log &&
            compiler_read_resources(result.symbols, o, &result.resources, NULL) == AT_OK) {
            compile_log_trim(result.log);
            reply_with(c, tasks[i], &result);
        }
        free(result.symbols);
        free(result.log);
    }
}

/* Compiles tasks as one group. Tasks that it does not answer are compiled alone later. */
static void compile_together(compiler *c, task *const *tasks, size_t count)
{
    group_member members[COMPILE_GROUP_MAX];
    bool broken[COMPILE_GROUP_MAX];
    if (count < 2 || strcmp(tasks[0]->r.name, c->ungroupable_name) == 0)
        return;
    for (size_t i = 0; i < count; i++)
        members[i] = tasks[i]->member;
    char *source = group_source(members, count), *entries = group_entries(members, count);
    if (!source || !entries)
        goto cleanup;
    compile_request r = tasks[0]->r;
    bool include = members[0].includes[0] != '\0';
    r.source = source;
    r.entry = entries;
    nvrtc_output output;
    compile_way way = {.minimal = !include && strcmp(r.name, c->full_name) != 0,
                       .include = include,
                       .resources = true,
                       .specific = compiler_needs_specific(source)};
    compiler_run(c, &r, way, &output);
    /* NVRTC leaves errors of ptxas out of the log if resources are reported. */
    if (output.code == NVRTC_ERROR_COMPILATION && output.log && !strstr(output.log, "error")) {
        nvrtc_output_deinit(&output);
        way.resources = false;
        compiler_run(c, &r, way, &output);
    }
    if (output.code == NVRTC_SUCCESS && output.log) {
        answer_members(c, tasks, members, count, &output);
    } else if (output.code == NVRTC_ERROR_COMPILATION && output.log) {
        task *rest[COMPILE_GROUP_MAX];
        size_t left = 0;
        if (group_broken(members, count, output.log, broken) > 0) {
            for (size_t i = 0; i < count; i++)
                if (!broken[i])
                    rest[left++] = tasks[i];
            compile_together(c, rest, left);
            if (left == 0 && !way.minimal)
                snprintf(c->ungroupable_name, sizeof c->ungroupable_name, "%s", r.name);
        } else {
            compile_together(c, tasks, count / 2);
            compile_together(c, tasks + count / 2, count - count / 2);
        }
    }
    nvrtc_output_deinit(&output);
cleanup:
    free(source);
    free(entries);
}

/* Receives a request. `several` is true after earlier requests. *more tells whether more follow. */
static bool take_request(compiler *c, task *t, bool several, bool *more)
{
    if (message_receive(c->fd, -1, &t->request, NULL))
        return false;
    *more = t->request.type == COMPILE_REQUEST_MORE;
    several = several || *more;
    if ((!*more && t->request.type != COMPILE_REQUEST) ||
        !compile_wire_get_request(&t->request.body, t->options, t->headers, &t->r))
        return false;
    t->key = compile_wire_key(&t->request.body, compiler_identity(c, &t->r));
    t->kind = compile_wire_kind(&t->r);
    t->answered = compiler_fetch(c, t->key, t->r.id, &t->reply);
    t->groupable = several && !t->answered && !t->r.want_ptx && !t->r.header_count &&
                   group_member_init(t->r.source, t->r.name, t->r.entry, &t->member);
    return true;
}

static void compile_batch(compiler *c, task *tasks, size_t count)
{
    for (size_t first = 0; first < count; first++) {
        task *together[COMPILE_GROUP_MAX];
        size_t n = 0;
        for (size_t i = first; i < count && (n > 0 || tasks[first].groupable); i++)
            if (tasks[i].groupable && tasks[i].kind == tasks[first].kind &&
                group_members_compatible(&tasks[first].member, &tasks[i].member)) {
                together[n++] = &tasks[i];
                tasks[i].groupable = false;
            }
        compile_together(c, together, n);
    }
    for (size_t i = 0; i < count; i++)
        if (!tasks[i].answered)
            compile_alone(c, &tasks[i]);
}

/* Receives the requests of a batch and sends a COMPILE_RESULT for each, in order. Returns AT_WORKER
 * if the tuner is gone or sends nonsense. */
static at_status batch_answer(compiler *c)
{
    size_t count = 0;
    bool more = true;
    task *tasks = calloc(COMPILE_GROUP_MAX, sizeof *tasks);
    at_status status = tasks ? AT_OK : AT_NO_MEMORY;
    for (; more && !status; count++)
        if (count == COMPILE_GROUP_MAX || !take_request(c, &tasks[count], count > 0, &more))
            status = AT_WORKER;
    if (!status)
        compile_batch(c, tasks, count);
    for (size_t i = 0; i < count && !status; i++)
        status = message_send(c->fd, &tasks[i].reply, NULL);
    for (size_t i = 0; i < count; i++) {
        message_deinit(&tasks[i].request);
        message_deinit(&tasks[i].reply);
        group_member_deinit(&tasks[i].member);
    }
    free(tasks);
    return status;
}

/* Returns the bytes that this process has mapped. They are added to the limit, because a profiler
 * may map terabytes. */
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

/* Priority below the tuner and the device workers, which share the cores. */
enum { NICENESS = 5 };

static void limit_process(const compile_worker_config *config)
{
    int niceness = nice(NICENESS);
    (void)niceness;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    /* Without handlers the tuner sees the signal of a crash instead of an exit status. */
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        signal(deadly[i], SIG_DFL);
    if (config->memory_limit_bytes) {
        rlim_t most = (rlim_t)(mapped_bytes() + config->memory_limit_bytes);
        setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    }
    /* If memory runs out, the kernel should kill a compile worker first. */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t written = write(fd, "500", 3);
        (void)written;
        close(fd);
    }
}

static at_status greet(int fd, const nvrtc_library *nvrtc, const at_error *refusal)
{
    message m = {.type = refusal ? COMPILE_REFUSED : COMPILE_HELLO};
    pack_put_string(&m.body, refusal ? refusal->message : nvrtc->version);
    return message_post(fd, &m, NULL);
}

/* Leaves the current folder, where NVRTC would look for headers and find the user's files. */
static void leave_folder(compiler *c)
{
    const char *dir = c->nvrtc.include_dir;
    if ((!dir[0] || chdir(dir) != 0) && chdir("/") != 0)
        compiler_warn(c, "a compile worker cannot leave the current folder");
}

void compile_worker_confine(const char *include_dir, const char *cache_dir)
{
    /* In some Toolkits the headers or the C++ libraries are links to another folder. */
    char header[PATH_MAX + 32], real[PATH_MAX] = "", cccl[PATH_MAX + 32];
    confine_folder folders[4];
    size_t count = 0;
    if (include_dir[0]) {
        folders[count++] = (confine_folder){include_dir, CONFINE_READ};
        snprintf(cccl, sizeof cccl, "%s/cccl", include_dir);
        folders[count++] = (confine_folder){cccl, CONFINE_READ};
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

static const pack_field config_fields[] = {
    PACK_FIELD(compile_worker_config, use_cache),
    PACK_FIELD(compile_worker_config, cache_dir),
    PACK_FIELD(compile_worker_config, cache_limit_bytes),
    PACK_FIELD(compile_worker_config, memory_limit_bytes),
};

void compile_worker_put_config(pack *p, const compile_worker_config *config)
{
    pack_put_fields(p, config, PACK_FIELDS(config_fields));
}

static int run(int fd, pack *settings)
{
    compile_worker_config config;
    pack_get_fields(settings, &config, PACK_FIELDS(config_fields));
    if (!pack_complete(settings))
        return 1;
    if (!config.cache_dir[0])
        config.cache_dir = NULL;
    limit_process(&config);
    compiler c = {.fd = fd};
    at_error error = {0};
    /* NVRTC's own cache (12.9 and newer) loads the driver, and its results lack the resources. */
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    if (nvrtc_library_open(&c.nvrtc, &error)) {
        greet(fd, NULL, &error);
        return 1;
    }
    at_status status = greet(fd, &c.nvrtc, NULL);
    if (config.use_cache)
        compiler_open_cache(&c, config.cache_dir, config.cache_limit_bytes);
    leave_folder(&c);
    if (c.cache_writes)
        preambles_open(&c.preambles, c.cache.dir);
    compile_worker_confine(c.nvrtc.include_dir, c.cache_reads ? c.cache.dir : NULL);
    while (!status)
        status = batch_answer(&c);
    return 0;
}

const worker_program compile_worker_program = {.name = "at-compile", .run = run};
