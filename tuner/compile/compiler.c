#define _GNU_SOURCE /* for asprintf() */
#include "compile/compiler.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/text.h"
#include "compile/cubin.h"
#include "compile/kernel_names.h"
#include "compile/log.h"
#include "compile/machine_code.h"
#include "compile/wire.h"

/* Deepest folder that is hashed. The Toolkit's headers are about eight levels deep. */
enum { DEEPEST = 16 };

static uint64_t hash_file(const char *path, const struct stat *s)
{
    struct {
        int64_t size_bytes, changed_s, changed_ns;
    } facts = {(int64_t)s->st_size, (int64_t)s->st_mtim.tv_sec, (int64_t)s->st_mtim.tv_nsec};
    return XXH3_64bits_withSeed(path, strlen(path), XXH3_64bits(&facts, sizeof facts));
}

/* Hashes path, size and modification time of every file in a folder, in any order. Hashing the
 * contents, tens of megabytes, would take too long. `path` is relative to the top folder. */
static uint64_t hash_folder(int parent, const char *name, const char *path, int depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    uint64_t sum = 0;
    if (!d && fd >= 0)
        close(fd);
    for (struct dirent *e; d && (e = readdir(d));) {
        char below[PATH_MAX];
        struct stat s;
        int n = snprintf(below, sizeof below, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || n < 0 ||
            (size_t)n >= sizeof below || fstatat(dirfd(d), e->d_name, &s, 0) != 0)
            continue;
        if (S_ISREG(s.st_mode))
            sum += hash_file(below, &s);
        else if (S_ISDIR(s.st_mode) && depth < DEEPEST)
            sum += hash_folder(dirfd(d), e->d_name, below, depth + 1);
    }
    if (d)
        closedir(d);
    return sum;
}

/* Logs are cut, because errors in templates can produce megabytes of messages. */
enum { LOG_BYTES_MAX = 65536 };

static bool has_include(const char *source)
{
    for (const char *p = source; (p = strchr(p, '#')); p++) {
        const char *word = p + 1 + strspn(p + 1, " \t");
        if (strncmp(word, "include", 7) == 0)
            return true;
    }
    return false;
}

/* Returns true if an error may be due to a declaration that --minimal leaves out. */
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

bool compiler_needs_specific(const char *source)
{
    return strstr(source, "wgmma.") || strstr(source, "setmaxnreg.");
}

/* Returns true if the architecture is general ("sm_90") and has a specific variant ("sm_90a"). */
static bool has_specific(const char *arch)
{
    const size_t n = strlen(arch);
    return n > 3 && strncmp(arch, "sm_", 3) == 0 && atoi(arch + 3) >= 90 && arch[n - 1] >= '0' &&
           arch[n - 1] <= '9';
}

void compiler_run(const compiler *c, const compile_request *r, compile_way way, nvrtc_output *out)
{
    char arch[128];
    /* For the virtual architecture ("compute_90") NVRTC does not call ptxas. */
    const bool is_virtual = r->ptx_alone && strncmp(r->arch, "sm_", 3) == 0;
    snprintf(arch, sizeof arch, "--gpu-architecture=%s%s%s", is_virtual ? "compute_" : "",
             r->arch + (is_virtual ? 3 : 0), way.specific && has_specific(r->arch) ? "a" : "");
    const char *options[COMPILE_OPTIONS_MAX + 11];
    size_t n = 0;
    options[n++] = arch;
    if (way.resources && !r->ptx_alone)
        options[n++] = "--ptxas-options=-v"; /* the resources are in its output */
    if (way.minimal)
        options[n++] = "--minimal";
    for (size_t i = 0; i < c->nvrtc.include_option_count && way.include; i++)
        options[n++] = c->nvrtc.include_options[i];
    if (r->want_ptx)
        options[n++] = "--generate-line-info";
    if (way.precompiled) {
        options[n++] = way.precompiled;
        options[n++] = "--pch-messages=false";
        /* Suppresses warnings about parts that NVRTC does not precompile, and about precompiled
         * headers that it does not use. */
        options[n++] = "--diag-suppress=20283,629,630,2226";
    }
    for (size_t i = 0; i < r->option_count; i++)
        options[n++] = r->options[i];
    nvrtc_library_compile(&c->nvrtc, r->source, r->name, r->entry, r->headers, r->header_count,
                          options, n, r->want_ptx, out);
}

static void run_again(const compiler *c, const compile_request *r, compile_way way,
                      nvrtc_output *out)
{
    int64_t spent_ns = out->time_ns;
    nvrtc_output_deinit(out);
    compiler_run(c, r, way, out);
    out->time_ns += spent_ns;
}

/* Compiles again without a report of resources, because NVRTC then puts the errors of ptxas into
 * the log. ptxas reports no line numbers, so the most likely line is added. */
static void ask_ptxas(const compiler *c, const compile_request *r, compile_way way,
                      nvrtc_output *out)
{
    way.resources = false;
    run_again(c, r, way, out);
    if (!out->log || !strstr(out->log, "ptxas"))
        return;
    char place[512], kernel[KERNEL_NAME_BYTES + 1];
    kernel_name_of_entry(r->entry, kernel);
    text_add(kernel, sizeof kernel, "(");
    if (!compile_source_place(r->source, strstr(out->log, "shared data") ? "__shared__" : kernel,
                              place, sizeof place))
        return;
    char *longer;
    if (asprintf(&longer, "%s: %s", place, out->log) < 0)
        return;
    free(out->log);
    out->log = longer;
}

/* Compiles a source with precompiled headers. Returns false if this is not possible or the source
 * has errors. The caller then compiles without them. */
static bool compile_precompiled(compiler *c, const compile_request *r, compile_way way,
                                nvrtc_output *out)
{
    preamble_use use;
    compile_request hoisted = *r;
    preambles_begin(&c->preambles, r, &use);
    if (!use.of)
        return false;
    hoisted.source = use.source;
    way.precompiled = use.option;
    compiler_run(c, &hoisted, way, out);
    const bool compiled = out->code == NVRTC_SUCCESS;
    preambles_end(&use, compiled);
    if (!compiled)
        nvrtc_output_deinit(out);
    return compiled;
}

static void compile_source(compiler *c, const compile_request *r, nvrtc_output *out)
{
    compile_way way = {.include = has_include(r->source),
                       .resources = true,
                       .specific = compiler_needs_specific(r->source)};
    way.minimal = !way.include && strcmp(r->name, c->full_name) != 0;
    if (way.include && compile_precompiled(c, r, way, out))
        return;
    compiler_run(c, r, way, out);
    if (way.minimal && out->code == NVRTC_ERROR_COMPILATION && out->log &&
        misses_declarations(out->log)) {
        way.minimal = false;
        run_again(c, r, way, out);
        if (out->code == NVRTC_SUCCESS)
            snprintf(c->full_name, sizeof c->full_name, "%s", r->name);
    }
    if (out->code == NVRTC_ERROR_COMPILATION && out->log && !strstr(out->log, "error"))
        ask_ptxas(c, r, way, out);
    /* Instructions of the specific architecture may come from a header, so the source may not show
     * them. */
    const bool refused = out->code == NVRTC_ERROR_COMPILATION && out->log &&
                         strstr(out->log, "not supported on .target");
    if (!way.specific && has_specific(r->arch) &&
        (refused || (r->ptx_alone && out->ptx && compiler_needs_specific(out->ptx)))) {
        way.specific = true;
        run_again(c, r, way, out);
    }
}

/* Returns true if NVRTC's result is about the source. After a failure of NVRTC itself, the worker
 * must end. NVRTC reports a lack of memory as an error of the source. */
static bool is_verdict(const nvrtc_output *o)
{
    if (o->code == NVRTC_SUCCESS)
        return true;
    return (o->code == NVRTC_ERROR_COMPILATION || o->code == NVRTC_ERROR_INVALID_INPUT ||
            o->code == NVRTC_ERROR_INVALID_OPTION) &&
           !strstr(o->log, "error: out of memory");
}

static void raise_to(uint32_t *most, uint32_t v)
{
    if (v > *most)
        *most = v;
}

at_status compiler_read_resources(const char *symbols, const nvrtc_output *o, kernel_resources *out,
                                  at_error *error)
{
    *out = (kernel_resources){0};
    at_status status = AT_OK;
    for (const char *at = symbols; *at && !status;) {
        kernel_resources one;
        size_t length = strcspn(at, "\n");
        char *symbol = strndup(at, length);
        if (!symbol)
            return error_no_memory(error);
        status = compile_log_read(o->log, symbol, &one, error);
        if (!status && one.constant_bytes == 0)
            one.constant_bytes = cubin_constant_bytes(o->cubin, o->cubin_bytes, symbol);
        free(symbol);
        raise_to(&out->registers, one.registers);
        raise_to(&out->stack_bytes, one.stack_bytes);
        raise_to(&out->spill_store_bytes, one.spill_store_bytes);
        raise_to(&out->spill_load_bytes, one.spill_load_bytes);
        raise_to(&out->static_shared_bytes, one.static_shared_bytes);
        raise_to(&out->constant_bytes, one.constant_bytes);
        raise_to(&out->barriers, one.barriers);
        at += length + (at[length] == '\n');
    }
    return status;
}

/* Puts an explanation into the log for an entry that is missing in the machine code. */
static void explain_missing_entry(const compile_request *r, nvrtc_output *o, compile_result *out)
{
    char *entry = strndup(r->entry, strcspn(r->entry, "\n"));
    char *complaint = entry ? kernel_names_complain(r, entry, "") : NULL;
    free(entry);
    if (!complaint)
        return;
    free(o->log);
    out->log = o->log = complaint;
}

static void annotate(nvrtc_output *o)
{
    char *annotated =
        o->ptx && o->cubin ? machine_code_annotate(o->cubin, o->cubin_bytes, o->ptx) : NULL;
    if (!annotated)
        return;
    free(o->ptx);
    o->ptx = annotated;
    o->ptx_bytes = strlen(annotated);
}

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
        if (!r->ptx_alone && compiler_read_resources(o->symbols, o, &out->resources, error)) {
            out->log = error->message;
            explain_missing_entry(r, o, out);
            return;
        }
        annotate(o);
        out->outcome = COMPILE_OK;
        out->symbols = o->symbols;
        out->cubin = o->cubin;
        out->cubin_bytes = o->cubin_bytes;
        out->ptx = o->ptx;
        out->ptx_bytes = o->ptx_bytes;
    }
    compile_log_trim(o->log);
    if (strlen(o->log) > LOG_BYTES_MAX)
        o->log[LOG_BYTES_MAX] = '\0';
}

void compiler_compile(compiler *c, const compile_request *r, nvrtc_output *o, compile_result *out,
                      at_error *error)
{
    compile_source(c, r, o);
    file_names_complete(&o->log, r->name);
    if (o->code == NVRTC_ERROR_COMPILATION && o->log) {
        kernel_names_explain(&o->log, r);
        compile_log_add_remedy(&o->log, c->nvrtc.include_dir);
    }
    read_output(r, o, out, error);
}

void compiler_warn(const compiler *c, const char *text)
{
    message m = {.type = COMPILE_WARNING};
    pack_put_string(&m.body, text);
    message_post(c->fd, &m, NULL);
}

void compiler_open_cache(compiler *c, const char *dir, uint64_t limit_bytes)
{
    at_error error = {0};
    at_status status = compile_cache_open(dir, limit_bytes, &c->cache, &error);
    c->cache_reads = c->cache_writes = status == AT_OK;
    if (status)
        compiler_warn(c, error.message);
    /* The file's size distinguishes NVRTC builds of the same version, which may generate different
     * code. The text at the end is the version of a result's contents: change it with them. */
    snprintf(c->identity, sizeof c->identity, "nvrtc %s %llu, PTX with notes of its lines",
             c->nvrtc.version, (unsigned long long)c->nvrtc.file_bytes);
}

/* Returns the compiler's identity, with a hash of the Toolkit's headers if `includes`. */
static const char *identity_of(compiler *c, bool includes)
{
    if (!includes)
        return c->identity;
    if (!c->with_toolkit[0])
        snprintf(c->with_toolkit, sizeof c->with_toolkit, "%s, headers %016llx", c->identity,
                 (unsigned long long)hash_folder(AT_FDCWD, c->nvrtc.include_dir, "", 0));
    return c->with_toolkit;
}

const char *compiler_identity(compiler *c, const compile_request *r)
{
    const char *identity = identity_of(c, has_include(r->source));
    if (!compiler_needs_specific(r->source))
        return identity;
    snprintf(c->with_specific, sizeof c->with_specific, "%s, for its own", identity);
    return c->with_specific;
}

/* Reads a group's image into c->image by its key, which a member's result has as its cubin. */
static bool fetch_image(compiler *c, const compile_result *kept)
{
    compile_key key;
    if (kept->cubin_bytes != sizeof key)
        return false;
    memcpy(&key, kept->cubin, sizeof key);
    if (c->image && memcmp(&key, &c->image_key, sizeof key) == 0)
        return true;
    free(c->image);
    c->image = NULL;
    c->image_key = key;
    return compile_cache_get(&c->cache, key, &c->image, &c->image_bytes) == AT_OK;
}

static bool store_image(compiler *c, const void *image, size_t image_bytes, at_error *error)
{
    compile_key key = compile_cache_key("image", image, image_bytes);
    if (c->image && memcmp(&key, &c->image_key, sizeof key) == 0)
        return true;
    free(c->image);
    c->image = malloc(image_bytes);
    if (!c->image || compile_cache_put(&c->cache, key, image, image_bytes, error)) {
        free(c->image);
        c->image = NULL;
        return false;
    }
    memcpy(c->image, image, image_bytes);
    c->image_key = key;
    c->image_bytes = image_bytes;
    return true;
}

bool compiler_fetch(compiler *c, compile_key key, uint64_t id, message *reply)
{
    unsigned char *bytes;
    size_t size_bytes;
    if (!c->cache_reads || compile_cache_get(&c->cache, key, &bytes, &size_bytes))
        return false;
    pack entry = {.bytes = bytes, .size_bytes = size_bytes, .capacity_bytes = size_bytes};
    compile_result kept;
    bool whole = compile_wire_get_result(&entry, &kept);
    if (whole && kept.grouped) {
        whole = fetch_image(c, &kept);
        kept.cubin = c->image;
        kept.cubin_bytes = c->image_bytes;
    }
    whole = whole && (!kept.cubin || cubin_is_whole(kept.cubin, kept.cubin_bytes));
    if (whole) {
        kept.id = id;
        kept.cached = true;
        *reply = (message){.type = COMPILE_RESULT};
        compile_wire_put_result(&reply->body, &kept);
    }
    free(bytes);
    return whole;
}

void compiler_store(compiler *c, compile_key key, const compile_result *r)
{
    /* Crashes and lack of memory do not depend on the source alone, so they are not stored. */
    if (!c->cache_writes || (r->outcome != COMPILE_OK && r->outcome != COMPILE_ERROR))
        return;
    at_error error = {0};
    compile_result kept = *r;
    bool stored = !r->grouped || store_image(c, r->cubin, r->cubin_bytes, &error);
    if (stored && r->grouped) {
        kept.cubin = &c->image_key;
        kept.cubin_bytes = sizeof c->image_key;
    }
    pack entry = {0};
    compile_wire_put_result(&entry, &kept);
    stored = stored && !entry.failed &&
             compile_cache_put(&c->cache, key, entry.bytes, entry.size_bytes, &error) == AT_OK;
    pack_deinit(&entry);
    if (stored)
        return;
    c->cache_writes = false;
    compiler_warn(c, error.status ? error.message : "out of memory for the compile cache");
}
