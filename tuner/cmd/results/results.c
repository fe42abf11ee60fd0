/* autotune results: lists, shows, compares, merges, prunes and validates records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/text.h"
#include "cmd/line/known.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "record/ceilings.h"
#include "record/merge.h"
#include "record/record.h"
#include "run/setup/setup.h"
#include "script/emit.h"
#include "script/render.h"
#include "script/script.h"

enum { EXIT_FAULTS = 4, TEXT_BYTES = 1024, WHY_BYTES = 1024, VALUE_BYTES = 300 };

static json_t *pack_wanted(const options *o)
{
    json_t *wanted = json_array();
    for (size_t i = 0; i < o->run.pattern.variable_count; i++)
        json_append(&wanted, json_pack("[s, s]", o->run.pattern.variables[i].name,
                                       o->run.pattern.variables[i].text));
    return wanted;
}

static at_status list(const options *o, at_error *error)
{
    record_set set = {0};
    record_folders folders;
    known_folders(o, &folders);
    at_status status = known_records(o, NULL, false, &set, error);
    if (!status)
        status = known_check_set(o, &set, error);
    if (status)
        goto cleanup;
    json_t *faults = json_array(), *searched = json_array();
    for (size_t i = 0; i < folders.count; i++)
        json_append(&searched, json_path(folders.paths[i]));
    for (size_t i = 0; i < set.faults.count; i++) {
        const record_fault *f = &set.faults.items[i];
        json_append(&faults, json_pack("{so ss so}", "file", json_path(f->path), "pointer",
                                       f->pointer, "why", json_foreign_text(f->message)));
    }
    status = page_answer(o, "results_list", 1, NULL,
                         json_pack("{so so so so sb}", "records", known_pack(o, &set), "wanted",
                                   pack_wanted(o), "folders", searched, "left_out", faults,
                                   "is_json", (int)o->json),
                         error);
cleanup:
    record_set_deinit(&set);
    return status;
}

static at_status show(const options *o, at_error *error)
{
    record_set set = {0};
    if (o->operand_count < 2)
        return error_set(
            error, AT_USAGE,
            "'autotune results show' needs a PATTERN; 'autotune results list' lists them");
    at_status status = known_records(o, NULL, false, &set, error);
    if (!status)
        status = known_check_set(o, &set, error);
    if (status)
        goto cleanup;
    json_t *patterns = json_array();
    for (size_t i = 0; i < set.count; i++)
        json_append(&patterns, json_string(set.records[i].pattern));
    status = page_answer(o, "results_show", 1, NULL,
                         json_pack("{so so so ss}", "records", known_pack(o, &set), "wanted",
                                   pack_wanted(o), "patterns", patterns, "asked", o->operands[1]),
                         error);
cleanup:
    record_set_deinit(&set);
    return status;
}

/* Reads a folder of records, or a file as a set of one record. */
static at_status read_side(const char *path, record_set *out, at_error *error)
{
    struct stat s;
    *out = (record_set){0};
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        return record_load_all(path, NULL, out, error);
    out->records = memory_new(1, sizeof *out->records);
    at_status status = record_read(path, &out->records[0], error);
    out->count = !status;
    return status;
}

static at_status diff(const options *o, at_error *error)
{
    record_set sides[2] = {{0}, {0}};
    at_status status = AT_OK;
    if (o->operand_count != 3)
        return error_set(
            error, AT_USAGE,
            "'autotune results diff' needs A and B: two records or two folders of them");
    for (int i = 0; i < 2 && !status; i++) {
        status = read_side(o->operands[i + 1], &sides[i], error);
        for (size_t k = 0; k < sides[i].faults.count; k++)
            fprintf(stderr, "autotune: warning: left out: %s\n", sides[i].faults.items[k].text);
    }
    if (!status)
        status = page_answer(o, "results_diff", 1, NULL,
                             json_pack("{so so}", "a", known_pack(NULL, &sides[0]), "b",
                                       known_pack(NULL, &sides[1])),
                             error);
    for (int i = 0; i < 2; i++)
        record_set_deinit(&sides[i]);
    return status;
}

/* Reports changes: for users, as text when a change happens; for programs, as JSON at the end. */
typedef struct change_log {
    const options *options;
    json_t *list; /* the changes for --json; NULL for text */
    size_t counts[COMBINE_REMOVED + 1];
} change_log;

static const char *const change_names[] = {"added", "same", "replaced", "kept", "removed"};

static void log_change(void *context, const record *r, const record_entry *e,
                       const record_values *fixed, combine_change change, const char *why)
{
    change_log *a = context;
    char problem[TEXT_BYTES];
    if (e)
        known_question(e, problem, sizeof problem);
    else
        record_format_values(fixed, problem, sizeof problem);
    a->counts[change]++;
    if (a->options->json) {
        json_t *one =
            json_pack("{ss ss ss ss ss}", "change", change_names[change], "gpu", r->gpu, "pattern",
                      r->pattern, "kind", e ? "entry" : "portfolio", "why", why);
        if (e)
            known_put_question(&one, e);
        else
            json_put(&one, "problem", record_pack_values(fixed));
        json_append(&a->list, one);
        return;
    }
    if (change != COMBINE_SAME)
        printf("%-8s  %s of %s, %s%s%s%s\n", change_names[change], r->pattern, r->gpu,
               e ? problem : "portfolio ", e ? "" : problem, *why ? ": " : "", why);
}

static void log_ceiling(void *context, const char *gpu, const char *ceiling, combine_change change,
                        const char *why)
{
    change_log *a = context;
    a->counts[change]++;
    if (a->options->json)
        json_append(&a->list, json_pack("{ss ss ss ss ss}", "change", change_names[change], "gpu",
                                        gpu, "kind", "ceiling", "ceiling", ceiling, "why", why));
    else if (change != COMBINE_SAME)
        printf("%-8s  ceiling %s of %s%s%s\n", change_names[change], ceiling, gpu, *why ? ": " : "",
               why);
}

static at_status print_changes(change_log *a, at_error *error)
{
    const size_t *n = a->counts;
    if (a->options->json)
        return json_text_print(
            json_pack("{sb so}", "dry_run", (int)a->options->dry_run, "changes", a->list), 1,
            stdout, error);
    printf("%zu added, %zu replaced, %zu kept, %zu as they were, %zu removed%s\n", n[COMBINE_ADDED],
           n[COMBINE_REPLACED], n[COMBINE_KEPT], n[COMBINE_SAME], n[COMBINE_REMOVED],
           a->options->dry_run ? "; nothing was changed (--dry-run)" : "");
    return AT_OK;
}

static at_status merge(const options *o, at_error *error)
{
    record_set from = {0};
    size_t ceilings = 0;
    if (o->operand_count != 2)
        return error_set(error, AT_USAGE,
                         "'autotune results merge' needs FROM: one folder of records");
    change_log a = {.options = o, .list = o->json ? json_array() : NULL};
    at_status status = record_load_all(o->operands[1], NULL, &from, error);
    if (!status)
        status = ceilings_combine(o->operands[1], o->run.results.results_dir, o->dry_run,
                                  log_ceiling, &a, &from.faults, &ceilings, error);
    if (!status && from.count + ceilings == 0)
        status = error_set(error, AT_USAGE, "there are no records in %s", o->operands[1]);
    for (size_t i = 0; i < from.faults.count; i++)
        fprintf(stderr, "autotune: warning: left out: %s\n", from.faults.items[i].text);
    for (size_t i = 0; i < from.count && !status; i++)
        status = record_combine(&from.records[i], o->run.results.results_dir, o->dry_run,
                                log_change, &a, error);
    if (!status)
        status = print_changes(&a, error);
    else
        json_decref(a.list);
    record_set_deinit(&from);
    return status;
}

typedef struct pruning {
    const options *options;
    char before[32]; /* "" if no age was given */
    char why[WHY_BYTES];
} pruning;

/* Turns "90d" or "2026-01-31" into a date in UTC, in the form of records. */
static at_status read_age(const char *text, char out[32], at_error *error)
{
    char *end;
    int year, month, day, used = 0;
    unsigned long days = strtoul(text, &end, 10);
    if (end != text && strcmp(end, "d") == 0 && text[0] != '-' && days <= 36500) {
        time_t then = time(NULL) - (time_t)days * 86400;
        struct tm utc;
        if (gmtime_r(&then, &utc) && strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
            return AT_OK;
    }
    if (strlen(text) == 10 && sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &used) == 3 &&
        used == 10 && month >= 1 && month <= 12 && day >= 1 && day <= 31) {
        snprintf(out, 32, "%s", text);
        return AT_OK;
    }
    return error_set(
        error, AT_USAGE,
        "--older-than takes an age in days or a date, such as 90d or 2026-01-31, not '%s'", text);
}

/* Loads the script of the record's pattern for the entry's problem and GPU. */
static at_status load_script_of(const record *r, const record_entry *e, script **out,
                                at_error *error)
{
    char texts[RECORD_MAX_VALUES][VALUE_BYTES];
    settings asked = {.pattern.script = r->pattern};
    arch_limits limits;
    at_status status = arch_of_gpu(r->gpu, r->major, r->minor, &limits, error);
    if (status)
        return status;
    for (size_t i = 0; i < e->problem.count; i++) {
        value_format(e->problem.pairs[i].value, texts[i], VALUE_BYTES);
        asked.pattern.variables[asked.pattern.variable_count++] =
            (script_setting){e->problem.pairs[i].name, texts[i]};
    }
    status = target_check_script(&asked, error);
    return status ? AT_NOT_FOUND : target_load_script(&asked, &limits, out, error);
}

static const char *find_stale(pruning *p, script *s, const record_entry *e)
{
    char now[33], *text = p->why;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    bool valid;
    size_t broken;
    at_error why = {0};
    record_format_values(&e->configuration, text, sizeof p->why);
    at_status status = script_parse_configuration(s, text, indices, &why);
    if (!status)
        status = script_valid(s, PROBLEM_TUNED, indices, &valid, &broken, &why);
    if (status) {
        snprintf(p->why, sizeof p->why, "its space lacks the configuration: %.900s", why.message);
        return p->why;
    }
    if (!valid) {
        snprintf(p->why, sizeof p->why, "the configuration breaks %.900s",
                 script_pattern(s)->constraints[broken].text);
        return p->why;
    }
    script_hash(s, now);
    if (*e->script_hash && strcmp(now, e->script_hash) != 0)
        return "the script has changed since";
    emit_template_hash(s, now);
    return *e->template_hash && strcmp(now, e->template_hash) != 0
               ? "the template has changed since"
               : NULL;
}

static const char *reason_to_prune(void *context, const record *r, const record_entry *e)
{
    pruning *p = context;
    script *s = NULL;
    at_error why = {0};
    if (!known_wants_entry(p->options, e))
        return NULL;
    if (*p->before && *e->date && strcmp(e->date, p->before) < 0) {
        snprintf(p->why, sizeof p->why, "it is of %.20s", e->date);
        return p->why;
    }
    if (!p->options->stale)
        return NULL;
    at_status status = load_script_of(r, e, &s, &why);
    const char *found = NULL;
    if (!status) {
        found = find_stale(p, s, e);
    } else if (status == AT_USAGE) {
        snprintf(p->why, sizeof p->why, "the script lacks the problem: %.900s", why.message);
        found = p->why;
    } else {
        fprintf(stderr, "autotune: kept, because the script cannot be checked: %s, %.500s\n",
                r->pattern, why.message);
    }
    script_free(s);
    return found;
}

static at_status prune(const options *o, at_error *error)
{
    record_set set = {0};
    pruning p = {.options = o};
    change_log a = {.options = o, .list = o->json ? json_array() : NULL};
    at_status status = AT_OK;
    if (!o->stale && !o->older_than)
        status =
            error_set(error, AT_USAGE, "say what to prune: --stale, --older-than 365d, or both");
    if (!status && o->older_than)
        status = read_age(o->older_than, p.before, error);
    if (!status)
        status = record_load_all(o->run.results.results_dir, NULL, &set, error);
    for (size_t i = 0; i < set.count && !status; i++) {
        at_error why = {0};
        /* Pruning deletes records, so only the GPU's full name selects them. */
        bool exactly = true;
        if (o->gpu)
            known_gpu(set.records[i].gpu, o->gpu, &exactly);
        if (!exactly || !known_wants(o, &set.records[i]))
            continue;
        at_status one = record_prune(set.records[i].path, o->dry_run, reason_to_prune, &p,
                                     log_change, &a, &why);
        if (one == AT_FORMAT) {
            fprintf(stderr, "autotune: left alone: %s: %.1000s\n", set.records[i].path,
                    why.message);
        } else if (one) {
            *error = why;
            status = one;
        }
    }
    if (!status)
        status = print_changes(&a, error);
    else
        json_decref(a.list);
    record_set_deinit(&set);
    return status;
}

typedef struct file_list {
    size_t count;
    char **paths; /* owned */
} file_list;

static void add_file(file_list *list, const char *path)
{
    char *copy = memory_text(path);
    memory_add(&list->paths, &list->count, &copy, sizeof copy);
}

/* Adds the records of a folder. Unreadable files get a fault without a JSON pointer. With
 * `may_lack` the folder may be missing. */
static at_status add_folder(file_list *list, const char *folder, bool may_lack, at_error *error)
{
    record_set set;
    at_status status = record_load_all(folder, NULL, &set, error);
    if (status)
        return may_lack ? error_ignore(status, AT_NOT_FOUND, error) : status;
    for (size_t i = 0; i < set.count; i++)
        add_file(list, set.records[i].path);
    for (size_t i = 0; i < set.faults.count; i++)
        if (!*set.faults.items[i].pointer)
            add_file(list, set.faults.items[i].path);
    record_set_deinit(&set);
    return AT_OK;
}

static at_status list_files(const options *o, file_list *list, at_error *error)
{
    record_folders folders;
    at_status status = AT_OK;
    for (size_t i = 1; i < o->operand_count && !status; i++) {
        struct stat s;
        if (stat(o->operands[i], &s) == 0 && S_ISDIR(s.st_mode))
            status = add_folder(list, o->operands[i], false, error);
        else
            add_file(list, o->operands[i]);
    }
    if (o->operand_count > 1)
        return status;
    known_folders(o, &folders);
    for (size_t i = 0; i < folders.count && !status; i++)
        status = add_folder(list, folders.paths[i], !o->results, error);
    return status || list->count > 0 ? status : record_check_folders(&folders, error);
}

/* Packs a file and the faults found so far, for lua/commands/results_validate.lua. */
static json_t *pack_file(const char *path, const char *text, size_t size_bytes, json_t *root,
                         size_t *entries)
{
    record_set one = {.records = memory_new(1, sizeof *one.records), .count = 1};
    record_faults found = {0};
    at_error why = {0};
    char slug[PATHS_SLUG_BYTES] = "";
    json_t *faults = json_array(), *records = NULL;
    at_status status = record_parse(text, size_bytes, path, &found, one.records, &why);
    if (status)
        json_append(&faults,
                    json_pack("{ss so}", "pointer", "", "message", json_foreign_text(why.message)));
    for (size_t i = 0; i < found.count; i++)
        json_append(&faults, json_pack("{ss so}", "pointer", found.items[i].pointer, "message",
                                       json_foreign_text(found.items[i].message)));
    if (!status) {
        *entries = one.records->entry_count;
        paths_slug(one.records->gpu, slug);
        records = known_pack(NULL, &one);
    }
    json_t *given =
        json_pack("{sO so so? so ss}", "root", root, "faults", faults, "record",
                  json_incref(json_array_get(records, 0)), "path", json_path(path), "slug", slug);
    json_decref(records);
    record_faults_deinit(&found);
    if (status)
        free(one.records);
    else
        record_set_deinit(&one);
    return given;
}

static at_status validate_file(const char *path, record_faults *faults, size_t *entries,
                               at_error *error)
{
    char *text;
    size_t size_bytes, i;
    json_t *root, *given, *all = NULL, *f;
    at_error why = {0};
    *entries = 0;
    at_status status = file_read(path, RECORD_FILE_BYTES, &text, &size_bytes, &why);
    if (status == AT_FORMAT)
        return record_faults_add(faults, path, "", &why, error);
    if (status) {
        *error = why;
        return status;
    }
    if (json_text_parse(text, size_bytes, path, &root, &why)) {
        status = record_faults_add(faults, path, "", &why, error);
    } else {
        given = pack_file(path, text, size_bytes, root, entries);
        status = script_compute("commands.results_validate", path, given, &all, error);
        json_decref(given);
        json_decref(root);
    }
    json_array_foreach(all, i, f)
    {
        const char *pointer = json_string_value(json_object_get(f, "pointer"));
        why = (at_error){.line = json_pointer_line(text, pointer)};
        snprintf(why.message, sizeof why.message, "%s",
                 json_string_value(json_object_get(f, "message")));
        if (!status)
            status = record_faults_add(faults, path, pointer, &why, error);
    }
    json_decref(all);
    free(text);
    return status;
}

static at_status print_json(const record_faults *faults, size_t files, size_t entries,
                            at_error *error)
{
    json_t *list = json_array();
    for (size_t i = 0; i < faults->count; i++) {
        const record_fault *f = &faults->items[i];
        json_append(&list,
                    json_pack("{so ss sI ss}", "file", json_path(f->path), "pointer", f->pointer,
                              "line", (json_int_t)f->line, "message", f->message));
    }
    return json_text_print(json_pack("{sI sI so}", "files", (json_int_t)files, "entries",
                                     (json_int_t)entries, "problems", list),
                           1, stdout, error);
}

static at_status validate(const options *o, int *exit_code, at_error *error)
{
    file_list list = {0};
    record_faults faults = {0};
    size_t entries = 0;
    at_status status = list_files(o, &list, error);
    for (size_t i = 0; i < list.count && !status; i++) {
        size_t found;
        status = validate_file(list.paths[i], &faults, &found, error);
        entries += found;
    }
    if (!status && o->json)
        status = print_json(&faults, list.count, entries, error);
    for (size_t i = 0; i < faults.count && !status && !o->json; i++)
        puts(faults.items[i].text);
    if (!status && !o->json)
        printf("files: %zu, entries: %zu, faults: %zu\n", list.count, entries, faults.count);
    if (faults.count)
        *exit_code = EXIT_FAULTS;
    for (size_t i = 0; i < list.count; i++)
        free(list.paths[i]);
    free(list.paths);
    record_faults_deinit(&faults);
    return status;
}

static const struct verb {
    const char *name;
    at_status (*run)(const options *o, at_error *error);
    at_status (*answer)(const options *o, int *exit_code, at_error *error);
} verbs[] = {{"list", .run = list},   {"show", .run = show},   {"diff", .run = diff},
             {"merge", .run = merge}, {"prune", .run = prune}, {"validate", .answer = validate}};
enum { VERBS = sizeof verbs / sizeof *verbs };

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    const char *names[VERBS];
    for (size_t i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        if (strcmp(verbs[i].name, o->operands[0]) == 0)
            return verbs[i].run ? verbs[i].run(o, error) : verbs[i].answer(o, exit_code, error);
    }
    const char *nearest = nearest_name(o->operands[0], names, VERBS);
    return error_set(
        error, AT_USAGE,
        "'autotune results' takes list, show, diff, merge, validate or prune, not '%s'%s%s%s",
        o->operands[0], nearest ? "; did you mean '" : "", nearest ? nearest : "",
        nearest ? "'?" : "");
}

const command cmd_results = {
    .name = "results",
    .operand = "list|show|diff|merge|validate|prune ...",
    .operands_least = 1,
    .operands_most = OPTIONS_MAX_OPERANDS,
    .summary = "Look at records, compare and merge them, check them and keep them in order",
    .options = "set gpu results dry-run stale older-than json",
    .answer = answer,
};
