/* autotune results: what is recorded, looked at and kept in order. */
#include "cmd/results/results.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/line/commands.h"
#include "cmd/line/known.h"
#include "cmd/line/page.h"
#include "cmd/results/entry.h"

/* ---- list, show, diff: lua/commands/results_<verb>.lua ---- */

/* Lists the values of --set. */
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
    if (status)
        return status;
    json_t *faults = json_array(), *searched = json_array();
    for (size_t i = 0; i < folders.count; i++)
        json_append(&searched, json_path(folders.paths[i]));
    for (size_t i = 0; i < set.faults.count; i++) {
        const record_fault *f = &set.faults.items[i];
        json_append(&faults, json_pack("{so ss so}", "file", json_path(f->path), "pointer",
                                       f->pointer, "why", json_said(f->message)));
    }
    status = page_answer(o, "results_list", 1, NULL,
                         json_pack("{so so so so sb}", "records", results_pack(o, &set), "wanted",
                                   pack_wanted(o), "folders", searched, "left_out", faults,
                                   "is_json", (int)o->json),
                         error);
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
    if (status)
        return status;
    json_t *patterns = json_array();
    for (size_t i = 0; i < set.count; i++)
        json_append(&patterns, json_string(set.records[i].pattern));
    status = page_answer(o, "results_show", 1, NULL,
                         json_pack("{so so so ss}", "records", results_pack(o, &set), "wanted",
                                   pack_wanted(o), "patterns", patterns, "asked", o->operands[1]),
                         error);
    record_set_deinit(&set);
    return status;
}

/* A file is a set of one. */
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
                             json_pack("{so so}", "a", results_pack(NULL, &sides[0]), "b",
                                       results_pack(NULL, &sides[1])),
                             error);
    for (int i = 0; i < 2; i++)
        record_set_deinit(&sides[i]);
    return status;
}

/* ---- the verbs ---- */

static const struct verb {
    const char *name;
    results_verb *run;
    results_answer *answer;
} verbs[] = {{"list", .run = list},           {"show", .run = show},
             {"diff", .run = diff},           {"merge", .run = results_merge},
             {"prune", .run = results_prune}, {"validate", .answer = results_validate}};
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
