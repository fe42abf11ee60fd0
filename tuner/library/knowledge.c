#include "library/knowledge.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "script/facts.h"

/* Looking at all files of a pattern takes longer than picking; so it is done now and then. */
static const int64_t look_every_ns = 50000000;

struct known_pattern {
    char *name;
    pthread_mutex_t lock; /* of what follows */
    int64_t looked_ns;    /* 0: not yet */
    known_records *records;
    known_script *script;
};

static at_status no_memory(at_error *error)
{
    return error_set(error, AT_NO_MEMORY, "out of memory");
}

/* ---- snapshots ---- */

known_records *known_records_keep(known_records *r)
{
    if (r)
        atomic_fetch_add(&r->references, 1);
    return r;
}

void known_records_release(known_records *r)
{
    if (!r || atomic_fetch_sub(&r->references, 1) > 1)
        return;
    pick_table_deinit(&r->table);
    record_set_deinit(&r->set);
    stamped_files_deinit(&r->files);
    free(r);
}

static known_script *keep_script(known_script *s)
{
    if (s)
        atomic_fetch_add(&s->references, 1);
    return s;
}

static void release_script(known_script *s)
{
    if (!s || atomic_fetch_sub(&s->references, 1) > 1)
        return;
    script_facts_free(s->facts);
    stamped_files_deinit(&s->sources);
    free(s->path);
    free(s);
}

void knowledge_release(knowledge_view *v)
{
    known_records_release(v->records);
    release_script(v->script);
    *v = (knowledge_view){0};
}

/* ---- records ---- */

/* Takes the place of p->records, if the files are others. Where they cannot be read, the old ones
 * stay. */
static at_status look_at_records(const knowledge *k, known_pattern *p, at_error *error)
{
    known_records *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return no_memory(error);
    fresh->references = 1;
    /* Before they are read: what changes meanwhile is found out the next time. */
    at_status status = record_find_files(&k->folders, p->name, &fresh->files, error);
    const bool same =
        !status && p->records && stamped_files_same(&p->records->files, &fresh->files);
    if (!status && !same)
        status = record_search(&k->folders, p->name, &fresh->set, error);
    if (!status && !same)
        status = pick_table_make(&fresh->set, &fresh->table, error);
    if (status || same) {
        known_records_release(fresh);
        if (p->records && status != AT_NO_MEMORY)
            status = error_forgive(status, status, error);
        return status;
    }
    known_records_release(p->records);
    p->records = fresh;
    return AT_OK;
}

/* ---- the script ---- */

static at_status make_facts(known_script *to, script *s, at_error *error)
{
    pack bytes = {0};
    bool all;
    script_source_path(s, 0, &all);
    at_status status = all ? script_facts_put(s, &bytes, error) : AT_NOT_FOUND;
    if (!status)
        status = script_facts_read(bytes.bytes, bytes.size_bytes, &to->facts, error);
    pack_deinit(&bytes);
    to->only_lua = !to->facts;
    return status == AT_NO_MEMORY ? status : error_forgive(status, status, error);
}

/* A script that does not load is none. */
static at_status load(const knowledge *k, known_script *to, const arch_limits *limits,
                      at_error *error)
{
    script *s;
    at_error none = {0};
    const script_options with = {.lua_dir = k->share.lua_dir,
                                 .template_dir = k->share.template_dir,
                                 .device = *limits,
                                 .without_templates = true};
    file_stamp before;
    (void)file_stamp_of(to->path, &before);
    at_status status = script_load(to->path, &with, &s, &none);
    if (status == AT_NO_MEMORY)
        return no_memory(error);
    if (status)
        return stamped_files_add(&to->sources, to->path, &before) ? AT_OK : no_memory(error);
    const char *path;
    bool added = true;
    for (size_t i = 0; added && (path = script_source_path(s, i, NULL)); i++) {
        file_stamp stamp;
        /* One of a moment ago may have been read before it. */
        if (!file_stamp_of(path, &stamp) || !file_stamp_is_settled(&stamp))
            stamp = (file_stamp){0};
        added =
            stamped_files_add(&to->sources, path, strcmp(path, to->path) == 0 ? &before : &stamp);
    }
    status = added ? make_facts(to, s, error) : no_memory(error);
    script_free(s);
    return status;
}

static at_status make_script(const knowledge *k, known_pattern *p, const char *path,
                             const arch_limits *limits, at_error *error)
{
    known_script *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return no_memory(error);
    fresh->references = 1;
    at_status status = AT_OK;
    if (path) {
        fresh->path = strdup(path);
        status = fresh->path ? load(k, fresh, limits, error) : no_memory(error);
    }
    if (status) {
        release_script(fresh);
        return status;
    }
    release_script(p->script);
    p->script = fresh;
    return AT_OK;
}

static at_status look_at_script(const knowledge *k, known_pattern *p, const arch_limits *limits,
                                at_error *error)
{
    char found[PATHS_BYTES];
    at_error none = {0};
    const char *path =
        k->has_share && !paths_find_script(&k->share, p->name, found, sizeof found, &none) ? found
                                                                                           : NULL;
    const known_script *is = p->script;
    const bool usable = is && (is->facts || is->only_lua || !is->path);
    if (usable && (path != NULL) == (is->path != NULL) && (!path || strcmp(path, is->path) == 0) &&
        stamped_files_are_fresh(&is->sources, SIZE_MAX))
        return AT_OK;
    return make_script(k, p, path, limits, error);
}

/* ---- patterns ---- */

static known_pattern *add_pattern(knowledge *k, const char *name)
{
    known_pattern *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->name = strdup(name);
    if (!p->name || pthread_mutex_init(&p->lock, NULL)) {
        free(p->name);
        free(p);
        return NULL;
    }
    if (array_add(&k->patterns, &k->count, &p, sizeof p))
        return p;
    pthread_mutex_destroy(&p->lock);
    free(p->name);
    free(p);
    return NULL;
}

static known_pattern *find_pattern(knowledge *k, const char *name)
{
    known_pattern *found = NULL;
    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < k->count && !found; i++)
        if (strcmp(k->patterns[i]->name, name) == 0)
            found = k->patterns[i];
    if (!found)
        found = add_pattern(k, name);
    pthread_mutex_unlock(&k->lock);
    return found;
}

static void take(known_pattern *p, knowledge_view *out)
{
    knowledge_release(out);
    *out = (knowledge_view){known_records_keep(p->records), keep_script(p->script)};
}

at_status knowledge_get(knowledge *k, const char *pattern_name, const arch_limits *limits,
                        knowledge_view *out, at_error *error)
{
    *out = (knowledge_view){0};
    known_pattern *p = find_pattern(k, pattern_name);
    if (!p)
        return no_memory(error);
    at_status status = AT_OK;
    pthread_mutex_lock(&p->lock);
    if (!p->looked_ns || clock_now_ns() - p->looked_ns >= look_every_ns) {
        status = look_at_records(k, p, error);
        if (!status && limits)
            status = look_at_script(k, p, limits, error);
        p->looked_ns = status || !limits ? 0 : clock_now_ns();
    }
    take(p, out);
    pthread_mutex_unlock(&p->lock);
    if (status || !out->script || stamped_files_are_fresh(&out->script->sources, 1))
        return status;
    pthread_mutex_lock(&p->lock);
    status = look_at_script(k, p, limits, error);
    take(p, out);
    pthread_mutex_unlock(&p->lock);
    return status;
}

void knowledge_look_again(knowledge *k)
{
    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < k->count; i++) {
        pthread_mutex_lock(&k->patterns[i]->lock);
        k->patterns[i]->looked_ns = 0;
        pthread_mutex_unlock(&k->patterns[i]->lock);
    }
    pthread_mutex_unlock(&k->lock);
}

void knowledge_deinit(knowledge *k)
{
    for (size_t i = 0; i < k->count; i++) {
        known_pattern *p = k->patterns[i];
        known_records_release(p->records);
        release_script(p->script);
        pthread_mutex_destroy(&p->lock);
        free(p->name);
        free(p);
    }
    free(k->patterns);
    pthread_mutex_destroy(&k->lock);
    *k = (knowledge){0};
}
