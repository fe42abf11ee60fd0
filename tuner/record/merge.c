#include "record/merge.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_text.h"
#include "record/record.h"
#include "record/schema.h"
#include "record/summary.h"

static json_t *empty_record(const arch_limits *gpu, const char *pattern_name)
{
    char capability[16];
    snprintf(capability, sizeof capability, "%d.%d", gpu->major, gpu->minor);
    return json_pack("{ss si ss ss ss s[]}", "schema", RECORD_SCHEMA, "version", RECORD_VERSION,
                     "pattern", pattern_name, "gpu", gpu->name, "compute_capability", capability,
                     "entries");
}

at_status record_replace(const char *path, const json_t *root, record_reader *reads,
                         at_error *error)
{
    char *text = NULL;
    at_status status = json_text_format(root, 2, &text, error);
    if (status)
        return status;
    size_t length = strlen(text);
    status = reads(text, length, path, error);
    if (!status) {
        text[length] = '\n'; /* instead of the NUL, because a text file ends in a newline */
        status = file_replace(path, text, length + 1, error);
    }
    free(text);
    return status;
}

static at_status reads_record(const char *text, size_t length, const char *path, at_error *error)
{
    record check;
    at_status status = record_parse(text, length, path, NULL, &check, error);
    if (!status)
        record_deinit(&check);
    return status;
}

static at_status write_record(const char *path, const json_t *root, at_error *error)
{
    return record_replace(path, root, reads_record, error);
}

static at_status read_or_start(const char *path, const arch_limits *gpu, const char *pattern_name,
                               record *old, at_error *error)
{
    at_status status = record_read(path, old, error);
    if (status != AT_NOT_FOUND)
        return status;
    error_clear(error);
    *old = (record){.root = empty_record(gpu, pattern_name)};
    return old->root ? AT_OK : error_no_memory(error);
}

static at_status make_folder(const char *results_dir, const char *gpu,
                             char folder[RECORD_PATH_BYTES], at_error *error)
{
    at_status status = record_gpu_path(results_dir, gpu, "", folder, RECORD_PATH_BYTES, error);
    return status ? status : file_make_folder(folder, error);
}

at_status record_lock_folder(const char *results_dir, const char *gpu, lock **out, at_error *error)
{
    char folder[RECORD_PATH_BYTES];
    at_status status = make_folder(results_dir, gpu, folder, error);
    return status ? status : lock_folder(folder, RECORD_LOCK_TIMEOUT_MS, out, error);
}

at_status record_check_writable(const char *results_dir, const char *gpu, const char *pattern_name,
                                at_error *error)
{
    char path[RECORD_PATH_BYTES], folder[RECORD_PATH_BYTES];
    record old;
    at_status status = record_path(results_dir, gpu, pattern_name, path, sizeof path, error);
    if (!status)
        status = make_folder(results_dir, gpu, folder, error);
    if (status)
        return status;
    status = record_read(path, &old, error);
    if (!status)
        record_deinit(&old);
    status = error_ignore(status, AT_NOT_FOUND, error);
    if (!status)
        status = file_check_writable(folder, error);
    return status ? status : lock_check(folder, error);
}

at_status record_store_open(record_store *s, const char *results_dir, const arch_limits *gpu,
                            const char *pattern_name, at_error *error)
{
    *s = (record_store){0};
    at_status status =
        record_path(results_dir, gpu->name, pattern_name, s->path, sizeof s->path, error);
    if (!status)
        status = record_lock_folder(results_dir, gpu->name, &s->lock, error);
    if (status)
        return status;
    status = read_or_start(s->path, gpu, pattern_name, &s->old, error);
    if (!status && s->old.gpu && strcmp(s->old.gpu, gpu->name) != 0)
        status = error_set_at(error, AT_FORMAT, s->path, 0,
                              "this record is of another GPU, '%s'; move it away or choose another "
                              "results folder",
                              s->old.gpu);
    if (status)
        record_store_close(s);
    return status;
}

at_status record_store_write(record_store *s, at_error *error)
{
    return write_record(s->path, s->old.root, error);
}

void record_store_close(record_store *s)
{
    record_deinit(&s->old);
    lock_close(s->lock);
}

static json_t *entry_json(const record *r, const record_entry *e)
{
    return json_array_get(json_object_get(r->root, "entries"), e->place);
}

const record_entry *record_find_entry(const record *r, const run_summary *s)
{
    record_pair pairs[RECORD_MAX_VALUES];
    const record_entry like = {.problem = {s->problem_count, pairs},
                               .warm_cache = s->warm_cache,
                               .after = s->after,
                               .energy = s->objective && strcmp(s->objective, "energy") == 0};
    for (size_t i = 0; i < s->problem_count; i++)
        pairs[i] = (record_pair){s->problem[i].name, s->problem[i].value};
    return record_find_question(r, r, &like);
}

static bool measured_in_run(const run_summary *s, const record_values *configuration)
{
    for (size_t i = 0; i < s->result_count; i++) {
        const run_result *r = &s->results[i];
        bool same = r->time.count > 0 && configuration->count == s->parameter_count;
        for (size_t p = 0; same && p < s->parameter_count; p++) {
            const value *v = record_get(configuration, s->parameters[p]);
            same = v && value_equal(*v, r->values[p]);
        }
        if (same)
            return true;
    }
    return false;
}

/* Returns whether the earlier entry stays, so that a short run does not replace the result of a
 * long run. Three things must be true: script, template and oracle are the same; the entry's time
 * interval lies below the new one; this run did not measure its configuration. */
static bool keep_earlier(const run_summary *s, const record_entry *old)
{
    return *old->script_hash && *old->template_hash &&
           strcmp(old->script_hash, s->script_hash) == 0 &&
           strcmp(old->template_hash, s->template_hash) == 0 && !old->energy &&
           strcmp(old->oracle, oracle_name(s->oracle)) == 0 &&
           old->time_high_ns < run_summary_best(s)->time.low_ns &&
           !measured_in_run(s, &old->configuration);
}

static at_status put_entry(const run_summary *s, const record *old, record_change *change,
                           at_error *error)
{
    json_t *entries = json_object_get(old->root, "entries");
    const record_entry *earlier = record_find_entry(old, s);
    if (earlier && keep_earlier(s, earlier)) {
        *change = RECORD_KEPT;
        return AT_OK;
    }
    *change = earlier ? RECORD_REPLACED : RECORD_ADDED;
    json_t *entry = record_pack_entry(s);
    bool done = entry && (earlier ? record_keep_unknown(entry, entry_json(old, earlier)) &&
                                        json_array_set(entries, earlier->place, entry) == 0
                                  : json_array_append(entries, entry) == 0);
    json_decref(entry);
    if (!done)
        return error_set(error, AT_NO_MEMORY,
                         "no memory to write the record, or a name that is not UTF-8");
    return AT_OK;
}

static at_status check_run(const run_summary *s, at_error *error)
{
    const run_result *best = run_summary_best(s);
    if (s->device.predicted || s->compiled_only)
        return error_set(
            error, AT_USAGE,
            "nothing is recorded for %s: results must be measured on a real GPU, not predicted",
            s->device.spec);
    if (!best || best->time.count == 0)
        return error_set(error, AT_USAGE, "there is no winner to record");
    return AT_OK;
}

at_status record_merge(const char *results_dir, run_summary *s, record_change *change,
                       at_error *error)
{
    record_store store;
    at_status status = check_run(s, error);
    if (!status)
        status = record_store_open(&store, results_dir, &s->device.limits, s->pattern, error);
    if (status)
        return status;
    status = put_entry(s, &store.old, change, error);
    if (!status && *change != RECORD_KEPT)
        status = record_store_write(&store, error);
    if (!status)
        snprintf(s->record_path, sizeof s->record_path, "%s", store.path);
    record_store_close(&store);
    return status;
}

static at_status put(const portfolio_draft *d, const record *into, at_error *error)
{
    json_t *packed = record_pack_portfolio(d);
    bool done =
        packed && record_put_portfolio(into, record_same_portfolio(into, d->portfolio), packed);
    json_decref(packed);
    return done ? AT_OK
                : error_set(error, AT_NO_MEMORY,
                            "no memory to write the record, or a name that is not UTF-8");
}

at_status draft_format(const portfolio_draft *d, char **text, at_error *error)
{
    const record empty = {.root = empty_record(d->gpu, d->pattern)};
    at_status status = empty.root ? put(d, &empty, error)
                                  : error_set(error, AT_NO_MEMORY, "no memory for a record");
    if (!status)
        status = json_text_format(empty.root, 0, text, error);
    json_decref(empty.root);
    return status;
}

at_status draft_merge(const char *results_dir, const portfolio_draft *d, char *path,
                      size_t path_bytes, at_error *error)
{
    record_store store;
    at_status status = record_store_open(&store, results_dir, d->gpu, d->pattern, error);
    if (status)
        return status;
    status = put(d, &store.old, error);
    if (!status)
        status = record_store_write(&store, error);
    if (!status)
        snprintf(path, path_bytes, "%s", store.path);
    record_store_close(&store);
    return status;
}

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

/* Returns whether `there` stays when `other` answers the same question. `*why` is the reason. */
static bool stays(const record_entry *there, const record_entry *other, const char **why)
{
    /* ISO dates in UTC are compared as texts. */
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

static at_status combine_entry(const record *from, const record_entry *e, record *into,
                               combine_reporter *tell, void *context, bool *changed,
                               at_error *error)
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
    /* Keep the members that other versions wrote into the old entry. */
    json_t *merged = json_copy(json);
    bool done = merged && record_keep_unknown(merged, entry_json(into, there)) &&
                json_array_set(entries, there->place, merged) == 0;
    json_decref(merged);
    return done ? AT_OK : error_no_memory(error);
}

static at_status combine_portfolio(const record *from, const record_portfolio *p, record *into,
                                   combine_reporter *tell, void *context, bool *changed,
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

static at_status start(const record *from, record *into, at_error *error)
{
    json_t *root = json_copy(from->root);
    *into = (record){.root = root};
    if (!root || json_object_set_new(root, "entries", json_array()))
        return error_no_memory(error);
    json_object_del(root, "portfolios");
    return AT_OK;
}

static at_status combine(const record *from, const char *path, bool dry, combine_reporter *tell,
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
                              "this record is of '%s' on '%s', but '%s' on '%s' is expected",
                              into.pattern, into.gpu, from->pattern, from->gpu);
    for (size_t i = 0; i < from->entry_count && !status; i++)
        status = combine_entry(from, &from->entries[i], &into, tell, context, &changed, error);
    for (size_t i = 0; i < from->portfolio_count && !status; i++)
        status =
            combine_portfolio(from, &from->portfolios[i], &into, tell, context, &changed, error);
    if (!status && changed && !dry)
        status = write_record(path, into.root, error);
    record_deinit(&into);
    return status;
}

at_status record_combine(const record *from, const char *results_dir, bool dry,
                         combine_reporter *tell, void *context, at_error *error)
{
    char path[RECORD_PATH_BYTES];
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
                       combine_reporter *tell, void *context, at_error *error)
{
    char folder[RECORD_PATH_BYTES];
    record r = {0};
    lock *held = NULL;
    bool changed = false;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    at_status status = dry ? AT_OK : lock_folder(folder, RECORD_LOCK_TIMEOUT_MS, &held, error);
    if (!status)
        status = record_read(path, &r, error);
    /* The loop runs backwards, so that the indices of the entries before `i` stay valid. */
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
        status = write_record(path, r.root, error);
    record_deinit(&r);
    lock_close(held);
    return status;
}
