#define _GNU_SOURCE /* for dladdr() */
#include "library/pattern.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "library/library.h"

_Static_assert((int)PATTERN_MAX_PARAMETERS <= (int)RECORD_MAX_VALUES &&
                   (int)PATTERN_MAX_VARIABLES <= (int)RECORD_MAX_VALUES,
               "records hold the values of any pattern");

static bool set_share(paths *p, const char *share)
{
    char probe[PATHS_BYTES + 32];
    snprintf(p->lua_dir, sizeof p->lua_dir, "%s/lua", share);
    snprintf(p->template_dir, sizeof p->template_dir, "%s/templates", share);
    snprintf(probe, sizeof probe, "%s/lib/autotune.lua", p->lua_dir);
    return access(probe, R_OK) == 0;
}

/* Finds the share/ folder by the path of libautotune.so: beside its lib/ folder, or up to three
 * levels higher (lib/x86_64-linux-gnu). */
static bool share_beside_library(paths *p)
{
    Dl_info info;
    char folder[PATHS_BYTES - 64], share[PATHS_BYTES];
    /* ISO C cannot convert a function pointer to an object pointer, but POSIX can. */
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

typedef struct known_script {
    arch_limits limits;
    script *script;            /* NULL if the script does not load */
    pattern_variable *problem; /* problem that the script states */
} known_script;

struct known_pattern {
    char *name;
    pthread_mutex_t lock;     /* guards the following members */
    pattern_records *records; /* NULL until the records are read */
    bool reads_again;         /* read the records again at the next use */
    size_t script_count;
    known_script *scripts; /* one for each device for which the script was needed */
};

pattern_records *pattern_records_keep(pattern_records *r)
{
    if (r)
        atomic_fetch_add(&r->references, 1);
    return r;
}

void pattern_records_release(pattern_records *r)
{
    if (!r || atomic_fetch_sub(&r->references, 1) > 1)
        return;
    pick_table_deinit(&r->table);
    record_set_deinit(&r->set);
    free(r);
}

/* Reads the records of a pattern. If they cannot be read again, the earlier records stay. */
static at_status read_records(const patterns *all, known_pattern *p, at_error *error)
{
    pattern_records *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return error_no_memory(error);
    fresh->references = 1;
    at_status status = record_search(&all->folders, p->name, &fresh->set, error);
    status = error_ignore(status, AT_NOT_FOUND, error);
    if (!status)
        status = pick_table_make(&fresh->set, &fresh->table, error);
    if (status) {
        pattern_records_release(fresh);
        return p->records && status != AT_NO_MEMORY ? error_ignore(status, status, error) : status;
    }
    pattern_records_release(p->records);
    p->records = fresh;
    p->reads_again = false;
    return AT_OK;
}

static bool same_device(const arch_limits *a, const arch_limits *b)
{
    return a->major == b->major && a->minor == b->minor && strcmp(a->name, b->name) == 0;
}

static void free_script(known_script *s)
{
    script_free(s->script);
    free(s->problem);
}

/* Loads the pattern's script for a device. Stores NULL, without an error, if that fails. */
static at_status load_script(const patterns *all, known_pattern *p, const arch_limits *limits,
                             at_error *error)
{
    char path[PATHS_BYTES];
    at_error none = {0};
    known_script made = {.limits = *limits};
    const script_options with = {.lua_dir = all->share.lua_dir,
                                 .template_dir = all->share.template_dir,
                                 .device = *limits,
                                 .without_templates = true};
    at_status status = AT_NOT_FOUND;
    if (all->has_share)
        status = paths_find_script(&all->share, p->name, path, sizeof path, &none);
    if (!status)
        status = script_load(path, &with, &made.script, &none);
    if (status == AT_NO_MEMORY)
        return error_no_memory(error);
    if (made.script) {
        const pattern *its = script_pattern(made.script);
        made.problem = calloc(its->problem_count + 1, sizeof *made.problem);
        if (made.problem)
            memcpy(made.problem, its->problems[PROBLEM_TUNED],
                   its->problem_count * sizeof *made.problem);
    }
    if ((made.problem || !made.script) &&
        array_add(&p->scripts, &p->script_count, &made, sizeof made))
        return AT_OK;
    free_script(&made);
    return error_no_memory(error);
}

static at_status find_loaded(const patterns *all, known_pattern *p, const arch_limits *limits,
                             known_script **out, at_error *error)
{
    size_t i = 0;
    while (i < p->script_count && !same_device(&p->scripts[i].limits, limits))
        i++;
    at_status status = i < p->script_count ? AT_OK : load_script(all, p, limits, error);
    *out = status ? NULL : &p->scripts[i];
    return status;
}

static void free_pattern(known_pattern *p)
{
    pattern_records_release(p->records);
    for (size_t i = 0; i < p->script_count; i++)
        free_script(&p->scripts[i]);
    free(p->scripts);
    free(p->name);
    free(p);
}

static known_pattern *add_pattern(patterns *all, const char *name)
{
    known_pattern *p = calloc(1, sizeof *p);
    if (p)
        p->name = strdup(name);
    if (p && p->name && array_add(&all->items, &all->count, &p, sizeof p)) {
        pthread_mutex_init(&p->lock, NULL);
        return p;
    }
    if (p)
        free_pattern(p);
    return NULL;
}

static known_pattern *find_pattern(patterns *all, const char *name)
{
    known_pattern *found = NULL;
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->count && !found; i++)
        if (strcmp(all->items[i]->name, name) == 0)
            found = all->items[i];
    if (!found)
        found = add_pattern(all, name);
    pthread_mutex_unlock(&all->lock);
    return found;
}

at_status patterns_enter(patterns *all, const char *name, const arch_limits *limits,
                         pattern_view *out, at_error *error)
{
    *out = (pattern_view){.pattern = find_pattern(all, name)};
    known_pattern *p = out->pattern;
    if (!p)
        return error_no_memory(error);
    at_status status = AT_OK;
    known_script *with = NULL;
    pthread_mutex_lock(&p->lock);
    if (!p->records || p->reads_again)
        status = read_records(all, p, error);
    if (!status && limits)
        status = find_loaded(all, p, limits, &with, error);
    if (status) {
        pthread_mutex_unlock(&p->lock);
        return status;
    }
    out->records = p->records;
    out->script = with ? with->script : NULL;
    out->problem = with ? with->problem : NULL;
    return AT_OK;
}

void patterns_leave(pattern_view *v)
{
    pthread_mutex_unlock(&v->pattern->lock);
    *v = (pattern_view){0};
}

void patterns_read_again(patterns *all)
{
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->count; i++) {
        pthread_mutex_lock(&all->items[i]->lock);
        all->items[i]->reads_again = true;
        pthread_mutex_unlock(&all->items[i]->lock);
    }
    pthread_mutex_unlock(&all->lock);
}

void patterns_deinit(patterns *all)
{
    for (size_t i = 0; i < all->count; i++) {
        pthread_mutex_destroy(&all->items[i]->lock);
        free_pattern(all->items[i]);
    }
    free(all->items);
    pthread_mutex_destroy(&all->lock);
    *all = (patterns){0};
}

at_status library_load_script(const at_choice *c, const at_kernel_options *o,
                              const arch_limits *limits, script_compiler compiler, script **out,
                              at_error *error)
{
    paths where;
    char path[PATHS_BYTES], texts[RECORD_MAX_VALUES][LIBRARY_VALUE_BYTES];
    script_setting settings[RECORD_MAX_VALUES];
    if (o && o->include_count > SCRIPT_INCLUDES_MAX)
        return error_set(error, AT_USAGE, "at most %d folders of headers are allowed",
                         SCRIPT_INCLUDES_MAX);
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

static bool is_in(const pattern_domain *d, value v)
{
    if (d->is_range)
        return value_is_number(v) && value_number(v) >= value_number(d->least) &&
               value_number(v) <= value_number(d->most);
    for (size_t i = 0; i < d->value_count; i++)
        if (value_equal(d->values[i], v))
            return true;
    return d->value_count == 0;
}

/* Reads a whole number with a unit: 4K is 4 << 10. */
static bool read_unit(const char *text, value *out)
{
    static const char units[] = "KMG";
    const size_t digits = strspn(text, "0123456789");
    const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
    if (digits == 0 || digits >= 10 || !unit || text[digits + 1])
        return false;
    *out = (value){.kind = VALUE_INTEGER,
                   .integer = (int64_t)strtoll(text, NULL, 10) << (10 * (unit - units + 1))};
    return true;
}

bool library_parse_setting(const pattern *p, size_t place, const char *text, value *out)
{
    const value is = p->problems[PROBLEM_TUNED][place].value;
    value v = value_parse(text);
    if (is.kind == VALUE_STRING)
        v = (value){.kind = VALUE_STRING, .string = text};
    else if (is.kind == VALUE_INTEGER)
        (void)read_unit(text, &v);
    if (is.kind == VALUE_NUMBER && v.kind == VALUE_INTEGER)
        v = (value){.kind = VALUE_NUMBER, .number = (double)v.integer};
    if (is.kind == VALUE_INTEGER && v.kind == VALUE_NUMBER && floor(v.number) == v.number &&
        fabs(v.number) < 0x1p63)
        v = (value){.kind = VALUE_INTEGER, .integer = (int64_t)v.number};
    *out = v;
    if (v.kind == VALUE_STRING && (strlen(text) >= 256 || !plain_text_is_line(text, strlen(text))))
        return false;
    return v.kind == is.kind && is_in(&p->domains[place], v);
}

/* The best configuration of another problem or GPU may be impossible here: its vectors may not
 * divide the sizes, or it may need too much shared memory. */
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

bool library_feature(void *context, const record_feature *feature,
                     const record_values *configuration, double *out)
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

record_values library_script_problem(const pattern *p, record_pair pairs[RECORD_MAX_VALUES])
{
    record_values out = {0, pairs};
    for (; out.count < p->problem_count; out.count++) {
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

at_status library_refuse_default(const at_choice *c, script *s, at_error *error)
{
    bool valid;
    size_t broken = 0;
    const pattern *p = script_pattern(s);
    const at_status status = script_valid(s, PROBLEM_TUNED, p->baseline, &valid, &broken, NULL);
    return error_set(error, AT_NOT_FOUND,
                     "no recorded configuration of '%s' is possible for this problem, and its "
                     "default breaks: %s",
                     c->pattern, !status && valid ? "nothing" : p->constraints[broken].text);
}
