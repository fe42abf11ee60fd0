#define _GNU_SOURCE /* dladdr */
#include "library/source.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/cache.h"
#include "compile/cubin.h"
#include "compile/option.h"
#include "base/error.h"
#include "base/pack.h"
#include "compile/nvrtc.h"
#include "base/paths.h"
#include "script/script.h"

/* ---- where the scripts are ---- */

static bool set_share(paths *p, const char *share)
{
    char probe[PATHS_BYTES + 32];
    snprintf(p->lua_dir, sizeof p->lua_dir, "%s/lua", share);
    snprintf(p->template_dir, sizeof p->template_dir, "%s/templates", share);
    snprintf(probe, sizeof probe, "%s/autotune.lua", p->lua_dir);
    return access(probe, R_OK) == 0;
}

/* lib/libautotune.so has its share/ beside lib/, or one further up (lib/x86_64-linux-gnu). */
static bool share_beside_library(paths *p)
{
    Dl_info info;
    char folder[PATHS_BYTES - 64], share[PATHS_BYTES];
    /* A function pointer is no object pointer in ISO C; POSIX makes them interchangeable here. */
    const char *(*self)(void) = at_version;
    void *address;
    memcpy(&address, &self, sizeof address);
    if (!dladdr(address, &info) || !info.dli_fname)
        return false;
    char *real = realpath(info.dli_fname, NULL);
    snprintf(folder, sizeof folder, "%s", real ? real : "");
    free(real);
    for (int up = 0; up < 4; up++) {
        char *slash = strrchr(folder, '/');
        if (!slash)
            return false;
        *slash = '\0';
        snprintf(share, sizeof share, "%s/share/autotune", folder);
        if (set_share(p, share))
            return true;
    }
    return false;
}

static at_status find_share(const at_kernel_options *o, paths *p, at_error *error)
{
    if (o && o->share) {
        if (set_share(p, o->share))
            return AT_OK;
        return error_set(error, AT_NOT_FOUND, "autotune's Lua files are not in %s/lua", o->share);
    }
    const char *environment = getenv("AUTOTUNE_SHARE");
    if (!(environment && *environment) && share_beside_library(p))
        return AT_OK;
    return paths_find(p, error);
}

/* ---- the script for the problem ---- */

enum { VALUE_BYTES = 300 };

static at_status load_script(const at_choice *c, const at_kernel_options *o,
                             const arch_limits *limits, script **out, at_error *error)
{
    paths where;
    char path[PATHS_BYTES], texts[RECORD_MAX_VALUES][VALUE_BYTES];
    script_setting settings[RECORD_MAX_VALUES];
    if (c->problem.count > RECORD_MAX_VALUES)
        return error_set(error, AT_USAGE, "a problem has %d variables at most", RECORD_MAX_VALUES);
    for (size_t i = 0; i < c->problem.count; i++) {
        value_format(c->problem.pairs[i].value, texts[i], VALUE_BYTES);
        settings[i] = (script_setting){c->problem.pairs[i].name, texts[i]};
    }
    at_status status = find_share(o, &where, error);
    if (!status)
        status = paths_find_script(&where, o && o->script ? o->script : c->pattern, path,
                                   sizeof path, error);
    if (status)
        return status;
    const script_options with = {.lua_dir = where.lua_dir,
                                 .template_dir = where.template_dir,
                                 .settings = settings,
                                 .setting_count = c->problem.count,
                                 .device = *limits};
    return script_load(path, &with, out, error);
}

/* ---- which configuration ---- */

typedef struct candidate_check {
    script *script;
    uint16_t *indices; /* of the last that fitted */
} candidate_check;

/* The script's value indices of a recorded configuration; false when a parameter or value is not
 * the script's (any more). */
static bool find_indices(const pattern *p, const record_values *values, uint16_t *indices)
{
    for (size_t i = 0; i < p->parameter_count; i++) {
        const space_parameter *parameter = &p->parameters[i];
        const value *v = record_get(values, parameter->name);
        size_t at = 0;
        while (v && at < parameter->value_count && !value_equal(parameter->values[at], *v))
            at++;
        if (!v || at == parameter->value_count)
            return false;
        indices[i] = (uint16_t)at;
    }
    return values->count == p->parameter_count;
}

/* A configuration that was best elsewhere may be impossible here: cut vectors, too much memory. */
static bool fits(void *context, const record_entry *entry)
{
    candidate_check *check = context;
    bool valid;
    size_t broken;
    uint16_t indices[RECORD_MAX_VALUES];
    const pattern *p = script_pattern(check->script);
    if (!find_indices(p, &entry->configuration, indices) ||
        script_valid(check->script, PROBLEM_TUNED, indices, &valid, &broken, NULL) || !valid)
        return false;
    memcpy(check->indices, indices, p->parameter_count * sizeof *indices);
    return true;
}

static at_status choose(const at_choice *c, script *s, uint16_t *indices, pick_rule *rule,
                        at_error *error)
{
    const pattern *p = script_pattern(s);
    candidate_check check = {.script = s, .indices = indices};
    const pick_target target = {.gpu = c->gpu.name,
                                .major = c->gpu.major,
                                .minor = c->gpu.minor,
                                .problem = &c->problem,
                                .fits = fits,
                                .context = &check};
    const record_entry *entry;
    const record *from;
    bool valid;
    size_t broken;
    if (p->parameter_count > RECORD_MAX_VALUES)
        return error_set(error, AT_SCRIPT, "%s has more than %d parameters", p->path,
                         RECORD_MAX_VALUES);
    *rule = pick(&c->records, &target, &entry, &from);
    if (*rule != PICK_DEFAULT)
        return AT_OK;
    memcpy(indices, p->baseline, p->parameter_count * sizeof *indices);
    at_status status = script_valid(s, PROBLEM_TUNED, indices, &valid, &broken, error);
    if (!status && !valid)
        status = error_set(error, AT_NOT_FOUND,
                           "no recorded configuration of '%s' is possible for this problem, and "
                           "its default breaks: %s",
                           c->pattern, p->constraints[broken].text);
    return status;
}

/* ---- compiling ---- */

static at_status run_nvrtc(const library_source *s, const char *arch, unsigned char **cubin,
                           size_t *cubin_bytes, at_error *error)
{
    nvrtc_library nvrtc;
    nvrtc_output output = {0};
    char arch_option[64];
    const char *options[20];
    size_t n = 0;
    at_status status = nvrtc_library_open(&nvrtc, error);
    if (status)
        return status;
    snprintf(arch_option, sizeof arch_option, "--gpu-architecture=%s", arch);
    options[n++] = arch_option;
    for (size_t i = 0; i < nvrtc.include_option_count; i++)
        options[n++] = nvrtc.include_options[i];
    for (size_t i = 0; i < s->variant.option_count; i++) {
        if (!compile_option_allowed(s->variant.options[i]))
            return error_set(error, AT_SCRIPT, "the compiler option '%s' is not allowed",
                             s->variant.options[i]);
        options[n++] = s->variant.options[i];
    }
    nvrtc_library_compile(&nvrtc, s->variant.source, "autotune.cu", s->variant.includes.headers,
                          s->variant.includes.count, options, n, 0, &output);
    if (output.code == NVRTC_SUCCESS) {
        *cubin = output.cubin;
        *cubin_bytes = output.cubin_bytes;
        output.cubin = NULL;
    } else {
        status = error_set(error, AT_COMPILE, "%s", output.log ? output.log : "out of memory");
    }
    nvrtc_output_deinit(&output);
    return status;
}

/* Everything that decides what the compiler makes, but not the compiler's own version: a machine
 * that has a cubin in its cache needs no NVRTC. */
static at_status cache_key(const library_source *s, const char *arch, compile_key *out,
                           at_error *error)
{
    pack m = {0};
    pack_put_string(&m, arch);
    pack_put_string(&m, s->variant.source);
    for (size_t i = 0; i < s->variant.option_count; i++)
        pack_put_string(&m, s->variant.options[i]);
    bool failed = m.failed;
    if (!failed)
        *out = compile_cache_key("libautotune 1", m.bytes, m.size_bytes);
    pack_deinit(&m);
    return failed ? error_set(error, AT_NO_MEMORY, "out of memory") : AT_OK;
}

static at_status compile(library_source *s, const at_kernel_options *o, const char *arch,
                         at_error *error)
{
    compile_cache cache;
    compile_key key;
    at_status status = cache_key(s, arch, &key, error);
    if (status)
        return status;
    /* A cache that cannot be had only costs time. */
    bool cached =
        !(o && o->no_cache) && compile_cache_open(o ? o->cache : NULL, 0, &cache, NULL) == AT_OK;
    if (cached && compile_cache_get(&cache, key, &s->cubin, &s->cubin_bytes) == AT_OK &&
        cubin_is_whole(s->cubin, s->cubin_bytes))
        return AT_OK;
    free(s->cubin);
    s->cubin = NULL;
    status = run_nvrtc(s, arch, &s->cubin, &s->cubin_bytes, error);
    if (!status && cached)
        compile_cache_put(&cache, key, s->cubin, s->cubin_bytes, NULL);
    return status;
}

at_status library_source_init(library_source *out, const at_choice *c,
                              const at_kernel_options *options, const arch_limits *limits,
                              const char *arch, at_error *error)
{
    script *s = NULL;
    uint16_t indices[RECORD_MAX_VALUES] = {0};
    *out = (library_source){0};
    at_status status = load_script(c, options, limits, &s, error);
    if (!status)
        status = choose(c, s, indices, &out->rule, error);
    if (!status)
        status = emit_variant(s, PROBLEM_TUNED, indices, false, &out->variant, error);
    if (!status)
        status = script_launch_plan(s, PROBLEM_TUNED, indices, &out->launch, error);
    if (!status)
        status = script_problem_plan(s, PROBLEM_TUNED, indices, 1, &out->problem, error);
    if (!status) {
        script_format_configuration(s, indices, out->text, sizeof out->text);
        status = compile(out, options, arch, error);
    }
    out->variant.option_count = 0; /* they are the script's */
    script_free(s);
    if (status)
        library_source_deinit(out);
    return status;
}

void library_source_deinit(library_source *s)
{
    emitted_deinit(&s->variant);
    free(s->cubin);
    *s = (library_source){0};
}
