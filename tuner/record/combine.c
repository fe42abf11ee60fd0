#include "record/combine.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "record/schema.h"

enum { PATH_BYTES = 4096 };

/* ---- which of two entries ---- */

static bool timed(const record_entry *e, const record_values *configuration)
{
    bool found = record_same_values(&e->configuration, configuration) ||
                 record_same_values(&e->baseline, configuration);
    for (size_t i = 0; i < e->contender_count && !found; i++)
        found = record_same_values(&e->contenders[i].configuration, configuration);
    return found;
}

static bool same_source(const record_entry *a, const record_entry *b)
{
    return *a->script_hash && *a->template_hash && strcmp(a->script_hash, b->script_hash) == 0 &&
           strcmp(a->template_hash, b->template_hash) == 0;
}

/* Is `there` to stay where `other` comes? *why says it. */
static bool stays(const record_entry *there, const record_entry *other, const char **why)
{
    /* ISO dates in UTC order as texts do. */
    bool other_is_newer = strcmp(other->date, there->date) > 0;
    const record_entry *newer = other_is_newer ? other : there,
                       *older = other_is_newer ? there : other;
    bool older_wins = same_source(older, newer) && !older->energy &&
                      older->time_high_ns < newer->time_low_ns &&
                      !timed(newer, &older->configuration);
    *why = older_wins ? "the older one is faster, and the newer run did not time its configuration"
                      : "the newer one is taken";
    return other_is_newer == older_wins;
}

static json_t *entry_json(const record *r, const record_entry *e)
{
    return json_array_get(json_object_get(r->root, "entries"), e->place);
}

static at_status combine_entry(const record *from, const record_entry *e, record *into,
                               combine_tell *tell, void *context, bool *changed, at_error *error)
{
    json_t *entries = json_object_get(into->root, "entries"), *json = entry_json(from, e);
    const record_entry *there = record_find_question(into, from, e);
    const char *why = "";
    if (!there) {
        tell(context, from, e, NULL, COMBINE_ADDED, why);
        *changed = true;
        return json_array_append(entries, json) ? error_no_memory(error) : AT_OK;
    }
    if (json_equal(json, entry_json(into, there))) {
        tell(context, from, e, NULL, COMBINE_SAME, why);
        return AT_OK;
    }
    if (stays(there, e, &why)) {
        tell(context, from, e, NULL, COMBINE_KEPT, why);
        return AT_OK;
    }
    tell(context, from, e, NULL, COMBINE_REPLACED, why);
    *changed = true;
    /* Members that other versions wrote beside the old entry stay. */
    json_t *merged = json_copy(json);
    bool done = merged && record_keep_unknown(merged, entry_json(into, there)) &&
                json_array_set(entries, there->place, merged) == 0;
    json_decref(merged);
    return done ? AT_OK : error_no_memory(error);
}

static at_status combine_portfolio(const record *from, const record_portfolio *p, record *into,
                                   combine_tell *tell, void *context, bool *changed,
                                   at_error *error)
{
    const json_t *list = json_object_get(into->root, "portfolios");
    json_t *json = json_array_get(json_object_get(from->root, "portfolios"), p->place);
    const record_portfolio *there = record_same_portfolio(into, p);
    bool equal = there && json_equal(json_array_get(list, there->place), json);
    bool kept = there && !equal && strcmp(p->date, there->date) <= 0;
    tell(context, from, NULL, &p->fixed,
         !there  ? COMBINE_ADDED
         : equal ? COMBINE_SAME
         : kept  ? COMBINE_KEPT
                 : COMBINE_REPLACED,
         there && !equal ? "the newer one is taken" : "");
    if (equal || kept)
        return AT_OK;
    *changed = true;
    return record_put_portfolio(into, there, json) ? AT_OK : error_no_memory(error);
}

/* ---- the file ---- */

/* A file with the same head and nothing in it. */
static at_status start(const record *from, record *into, at_error *error)
{
    json_t *root = json_copy(from->root);
    *into = (record){.root = root};
    if (!root || json_object_set_new(root, "entries", json_array()))
        return error_no_memory(error);
    json_object_del(root, "portfolios");
    return AT_OK;
}

static at_status combine(const record *from, const char *path, bool dry, combine_tell *tell,
                         void *context, at_error *error)
{
    record into = {0};
    bool changed = false;
    at_status status = record_read(path, &into, error);
    if (status == AT_NOT_FOUND) {
        error_clear(error);
        status = start(from, &into, error);
    }
    if (!status && into.gpu &&
        (strcmp(into.gpu, from->gpu) != 0 || strcmp(into.pattern, from->pattern) != 0))
        status = error_set_at(error, AT_FORMAT, path, 0,
                              "this record is of '%s' on '%s', not of '%s' on '%s'", into.pattern,
                              into.gpu, from->pattern, from->gpu);
    for (size_t i = 0; i < from->entry_count && !status; i++)
        status = combine_entry(from, &from->entries[i], &into, tell, context, &changed, error);
    for (size_t i = 0; i < from->portfolio_count && !status; i++)
        status =
            combine_portfolio(from, &from->portfolios[i], &into, tell, context, &changed, error);
    if (!status && changed && !dry)
        status = record_write(path, into.root, error);
    record_deinit(&into);
    return status;
}

at_status record_combine(const record *from, const char *results_dir, bool dry, combine_tell *tell,
                         void *context, at_error *error)
{
    char path[PATH_BYTES];
    lock *held = NULL;
    at_status status = record_path(results_dir, from->gpu, from->pattern, path, sizeof path, error);
    if (!status && !dry)
        status = record_lock_folder(results_dir, from->gpu, &held, error);
    if (status)
        return status;
    status = combine(from, path, dry, tell, context, error);
    lock_close(held);
    return status;
}

at_status record_prune(const char *path, bool dry, combine_reason *reason, void *reason_context,
                       combine_tell *tell, void *context, at_error *error)
{
    char folder[PATH_BYTES];
    record r = {0};
    lock *held = NULL;
    bool changed = false;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    at_status status = dry ? AT_OK : lock_folder(folder, RECORD_LOCK_TIMEOUT_MS, &held, error);
    if (!status)
        status = record_read(path, &r, error);
    /* The loop begins at the end, so that places before stay what they are. */
    for (size_t i = r.entry_count; i-- > 0 && !status;) {
        const char *why = reason(reason_context, &r, &r.entries[i]);
        if (!why)
            continue;
        tell(context, &r, &r.entries[i], NULL, COMBINE_REMOVED, why);
        changed = true;
        if (json_array_remove(json_object_get(r.root, "entries"), r.entries[i].place))
            status = error_no_memory(error);
    }
    if (!status && changed && !dry)
        status = record_write(path, r.root, error);
    record_deinit(&r);
    lock_close(held);
    return status;
}
