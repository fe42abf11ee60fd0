#define _GNU_SOURCE /* dladdr */
#include "library/pattern.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/paths.h"

/* ---- where the scripts are ---- */

static bool set_share(paths *p, const char *share)
{
    char probe[PATHS_BYTES + 32];
    snprintf(p->lua_dir, sizeof p->lua_dir, "%s/lua", share);
    snprintf(p->template_dir, sizeof p->template_dir, "%s/templates", share);
    snprintf(probe, sizeof probe, "%s/lib/autotune.lua", p->lua_dir);
    return access(probe, R_OK) == 0;
}

/* lib/libautotune.so has its share/ beside lib/, or one further up (lib/x86_64-linux-gnu). */
static bool share_beside_library(paths *p)
{
    Dl_info info;
    char folder[PATHS_BYTES - 64], share[PATHS_BYTES];
    /* A function pointer is no object pointer in ISO C; POSIX makes them interchangeable here. */
    bool (*self)(void *, const record_values *) = library_fits;
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

bool library_find_share(paths *out)
{
    at_error none = {0};
    return find_share(NULL, out, &none) == AT_OK;
}

/* ---- the script for the problem ---- */

at_status library_load_script(const at_choice *c, const at_kernel_options *o,
                              const arch_limits *limits, script_compiler compiler, script **out,
                              at_error *error)
{
    paths where;
    char path[PATHS_BYTES], texts[RECORD_MAX_VALUES][LIBRARY_VALUE_BYTES];
    script_setting settings[RECORD_MAX_VALUES];
    if (o && o->include_count > SCRIPT_INCLUDES_MAX)
        return error_set(error, AT_USAGE, "there are %d folders of headers at most",
                         SCRIPT_INCLUDES_MAX);
    if (c->problem.count > RECORD_MAX_VALUES)
        return error_set(error, AT_USAGE, "a problem has %d variables at most", RECORD_MAX_VALUES);
    for (size_t i = 0; i < c->problem.count; i++) {
        value_format(c->problem.pairs[i].value, texts[i], LIBRARY_VALUE_BYTES);
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
                                 .includes = o ? o->includes : NULL,
                                 .include_count = o ? o->include_count : 0,
                                 .compiler = compiler,
                                 .device = *limits};
    return script_load(path, &with, out, error);
}

/* ---- which configuration ---- */

/* A configuration that was best elsewhere may be impossible here: cut vectors, too much memory. */
bool library_fits(void *context, const record_values *configuration)
{
    library_check *check = context;
    bool valid;
    size_t broken;
    uint16_t indices[RECORD_MAX_VALUES];
    const pattern *p = script_pattern(check->script);
    check->broken = NULL;
    if (configuration->count != p->parameter_count || !record_indices(p, configuration, indices) ||
        script_valid(check->script, PROBLEM_TUNED, indices, &valid, &broken, NULL))
        return false;
    if (!valid)
        check->broken = &p->constraints[broken];
    return valid;
}

bool library_ask(void *context, const record_feature *feature, const record_values *configuration,
                 double *out)
{
    script *s = ((library_check *)context)->script;
    uint16_t indices[RECORD_MAX_VALUES];
    size_t place = pattern_find_feature(script_pattern(s), feature->name, feature->definition);
    if (place == SIZE_MAX || configuration->count != script_pattern(s)->parameter_count ||
        !record_indices(script_pattern(s), configuration, indices))
        return false;
    if (script_feature(s, PROBLEM_TUNED, place, indices, out, NULL))
        *out = INFINITY;
    return true;
}

record_values library_problem(const pattern *p, record_pair pairs[RECORD_MAX_VALUES])
{
    record_values out = {0, pairs};
    for (; out.count < p->problem_count && out.count < RECORD_MAX_VALUES; out.count++) {
        const pattern_variable *v = &p->problems[PROBLEM_TUNED][out.count];
        pairs[out.count] = (record_pair){v->name, v->value};
    }
    return out;
}

record_values library_default(const pattern *p, record_pair pairs[RECORD_MAX_VALUES])
{
    for (size_t i = 0; i < p->parameter_count; i++)
        pairs[i] = (record_pair){p->parameters[i].name, p->parameters[i].values[p->baseline[i]]};
    return (record_values){p->parameter_count, pairs};
}

at_status library_refuse_default(const at_choice *c, const char *broken, at_error *error)
{
    return error_set(error, AT_NOT_FOUND,
                     "no recorded configuration of '%s' is possible for this problem, and its "
                     "default breaks: %s",
                     c->pattern, broken);
}

at_status library_refuse(const at_choice *c, script *s, at_error *error)
{
    bool valid;
    size_t broken;
    const pattern *p = script_pattern(s);
    at_status status = script_valid(s, PROBLEM_TUNED, p->baseline, &valid, &broken, error);
    if (status)
        return status;
    return library_refuse_default(c, valid ? "nothing" : p->constraints[broken].text, error);
}
