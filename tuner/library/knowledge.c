#include "library/knowledge.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/derived.h"
#include "base/error.h"
#include "library/kept.h"
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
    script_free(s->lua);
    free(s->problem);
    pthread_mutex_destroy(&s->lock);
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

static at_status read_records(const knowledge *k, const char *pattern_name, known_records *to,
                              at_error *error)
{
    at_status status = AT_OK;
    if (to->files.count > 0)
        status = record_search(&k->folders, pattern_name, &to->set, error);
    return status ? status : pick_table_make(&to->set, &to->table, error);
}

/* Takes the place of p->records, if the files are others. Where they cannot be read, the old ones
 * stay. */
static at_status look_at_records(const knowledge *k, known_pattern *p, at_error *error)
{
    known_records *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return error_no_memory(error);
    fresh->references = 1;
    /* Before they are read: what changes meanwhile is found out the next time. */
    at_status status = record_find_files(&k->folders, p->name, &fresh->files, error);
    const bool same =
        !status && p->records && stamped_files_same(&p->records->files, &fresh->files);
    if (!status && !same)
        status = read_records(k, p->name, fresh, error);
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

/* Facts of no bytes: only Lua can say what the script says. */
static at_status read_facts(const pack *bytes, known_script *to, at_error *error)
{
    to->only_lua = bytes->size_bytes == 0;
    if (to->only_lua)
        return AT_OK;
    return script_facts_read(bytes->bytes, bytes->size_bytes, &to->facts, error);
}

static at_status make_facts(known_script *to, script *s, pack *bytes, at_error *error)
{
    at_status status = script_facts_put(s, bytes, error);
    if (status == AT_NOT_FOUND) {
        pack_deinit(bytes);
        status = error_forgive(status, AT_NOT_FOUND, error);
    }
    return status ? status : read_facts(bytes, to, error);
}

/* Facts of a script are kept under this name. */
static char *name_facts(const knowledge *k, const char *path)
{
    pack name = {0};
    char *real = realpath(path, NULL);
    pack_append_text(&name, real ? real : path);
    pack_append_text(&name, "\n");
    pack_append_text(&name, k->share.lua_dir);
    free(real);
    return pack_take_text(&name);
}

static bool fetch_facts(const char *name, known_script *to)
{
    pack bytes;
    if (!kept_fetch("facts", name, &to->sources, &bytes))
        return false;
    /* The script comes first. */
    const bool fetched =
        to->sources.count > 0 && strcmp(to->sources.items[0].path, to->path) == 0 &&
        stamped_files_are_fresh(&to->sources, SIZE_MAX) && !read_facts(&bytes, to, NULL);
    pack_deinit(&bytes);
    if (!fetched)
        stamped_files_deinit(&to->sources);
    return fetched;
}

/* Facts of an installed script are beside it. */
static bool fetch_installed_facts(const knowledge *k, known_script *to, const char *name,
                                  int64_t since_ns)
{
    char path[PATHS_BYTES];
    pack bytes;
    bool were_read;
    if (!paths_below(k->share.lua_dir, to->path) ||
        !script_facts_path(k->share.lua_dir, to->path, path, sizeof path) ||
        !derived_fetch(path, SCRIPT_FACTS_KIND, k->share.lua_dir, &to->sources, &bytes, &were_read))
        return false;
    const bool fetched =
        strcmp(to->sources.items[0].path, to->path) == 0 && !read_facts(&bytes, to, NULL);
    if (fetched && were_read)
        kept_store("facts", name, &to->sources, since_ns, &bytes);
    if (!fetched)
        stamped_files_deinit(&to->sources);
    pack_deinit(&bytes);
    return fetched;
}

static at_status note_sources(known_script *to, const script *s, const file_stamp *before,
                              int64_t since_ns, at_error *error)
{
    const char *path;
    for (size_t i = 0; (path = script_source_path(s, i)); i++) {
        file_stamp stamp;
        /* One that has changed meanwhile may have been read before. */
        if (!file_stamp_of(path, &stamp) || !file_stamp_is_settled(&stamp, since_ns))
            stamp = (file_stamp){0};
        if (!stamped_files_add(&to->sources, path, strcmp(path, to->path) == 0 ? before : &stamp))
            return error_no_memory(error);
    }
    return AT_OK;
}

static at_status load_script(const knowledge *k, const known_script *of, const arch_limits *limits,
                             script **out, at_error *error)
{
    const script_options with = {.lua_dir = k->share.lua_dir,
                                 .template_dir = k->share.template_dir,
                                 .device = *limits,
                                 .without_templates = true};
    return script_load(of->path, &with, out, error);
}

/* A script that does not load is none. */
static at_status load(const knowledge *k, known_script *to, const arch_limits *limits,
                      const char *name, at_error *error)
{
    script *s;
    pack bytes = {0};
    at_error none = {0};
    file_stamp before;
    const int64_t since_ns = file_stamp_now_ns();
    (void)file_stamp_of(to->path, &before);
    at_status status = load_script(k, to, limits, &s, &none);
    if (status == AT_NO_MEMORY)
        return error_no_memory(error);
    if (status)
        return stamped_files_add(&to->sources, to->path, &before) ? AT_OK : error_no_memory(error);
    status = note_sources(to, s, &before, since_ns, error);
    if (!status)
        status = make_facts(to, s, &bytes, error);
    if (!status && to->facts)
        kept_store("facts", name, &to->sources, since_ns, &bytes);
    pack_deinit(&bytes);
    script_free(s);
    return status;
}

static at_status read_script(const knowledge *k, known_script *to, const arch_limits *limits,
                             at_error *error)
{
    char *name = name_facts(k, to->path);
    if (!name)
        return error_no_memory(error);
    const bool fetched =
        fetch_facts(name, to) || fetch_installed_facts(k, to, name, file_stamp_now_ns());
    at_status status = fetched ? AT_OK : load(k, to, limits, name, error);
    free(name);
    return status;
}

static at_status make_script(const knowledge *k, known_pattern *p, const char *path,
                             const arch_limits *limits, at_error *error)
{
    known_script *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return error_no_memory(error);
    fresh->references = 1;
    at_status status = AT_OK;
    if (path) {
        fresh->path = strdup(path);
        status = fresh->path ? read_script(k, fresh, limits, error) : error_no_memory(error);
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

/* ---- what only Lua can say ---- */

static bool same_device(const arch_limits *a, const arch_limits *b)
{
    return a->major == b->major && a->minor == b->minor && strcmp(a->name, b->name) == 0;
}

static at_status load_lua(const knowledge *k, known_script *s, const arch_limits *limits,
                          at_error *error)
{
    script_free(s->lua);
    at_status status = load_script(k, s, limits, &s->lua, error);
    if (status)
        return status;
    const pattern *p = script_pattern(s->lua);
    free(s->problem);
    s->problem = calloc(p->problem_count + 1, sizeof *s->problem);
    if (!s->problem)
        return error_no_memory(error);
    for (size_t i = 0; i < p->problem_count; i++)
        s->problem[i] = p->problems[PROBLEM_TUNED][i];
    s->limits = *limits;
    return AT_OK;
}

at_status known_script_ask(const knowledge *k, known_script *s, const arch_limits *limits,
                           script **out, at_error *error)
{
    at_status status = AT_OK;
    *out = NULL;
    pthread_mutex_lock(&s->lock);
    if (!s->lua || !same_device(&s->limits, limits))
        status = load_lua(k, s, limits, error);
    if (!status) {
        const size_t count = script_pattern(s->lua)->problem_count;
        status = script_set_problem(s->lua, PROBLEM_TUNED, s->problem, count, error);
    }
    if (status) {
        script_free(s->lua);
        s->lua = NULL;
        pthread_mutex_unlock(&s->lock);
        return status;
    }
    *out = s->lua;
    return AT_OK;
}

void known_script_answered(known_script *s)
{
    pthread_mutex_unlock(&s->lock);
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
        return error_no_memory(error);
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
    if (status || !limits || !out->script || stamped_files_are_fresh(&out->script->sources, 1))
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
