/* autotune results merge, prune: records changed, and each change said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json_text.h"
#include "cmd/line/known.h"
#include "cmd/results/entry.h"
#include "cmd/results/results.h"
#include "record/ceilings.h"
#include "record/merge.h"
#include "run/setup/setup.h"
#include "script/emit.h"
#include "script/script.h"

enum { TEXT_BYTES = 1024, WHY_BYTES = 1024, VALUE_BYTES = 300 };

/* An account of what was done, for people as it happens, for programs at the end. */
typedef struct account {
    const options *options;
    json_t *list; /* NULL: for people */
    size_t counts[COMBINE_REMOVED + 1];
} account;

static const char *const change_names[] = {"added", "same", "replaced", "kept", "removed"};

static void tell(void *context, const record *r, const record_entry *e, const record_values *fixed,
                 combine_change change, const char *why)
{
    account *a = context;
    char problem[TEXT_BYTES];
    if (e)
        results_problem(e, problem, sizeof problem);
    else
        record_format_values(fixed, problem, sizeof problem);
    a->counts[change]++;
    if (a->options->json) {
        json_t *one =
            json_pack("{ss ss ss ss ss}", "change", change_names[change], "gpu", r->gpu, "pattern",
                      r->pattern, "kind", e ? "entry" : "portfolio", "why", why);
        if (e)
            results_put_question(&one, e);
        else
            json_put(&one, "problem", record_pack_values(fixed));
        json_append(&a->list, one);
        return;
    }
    if (change != COMBINE_SAME)
        printf("%-8s  %s of %s, %s%s%s%s\n", change_names[change], r->pattern, r->gpu,
               e ? problem : "portfolio ", e ? "" : problem, *why ? ": " : "", why);
}

static void tell_ceiling(void *context, const char *gpu, const char *ceiling, combine_change change,
                         const char *why)
{
    account *a = context;
    a->counts[change]++;
    if (a->options->json)
        json_append(&a->list, json_pack("{ss ss ss ss ss}", "change", change_names[change], "gpu",
                                        gpu, "kind", "ceiling", "ceiling", ceiling, "why", why));
    else if (change != COMBINE_SAME)
        printf("%-8s  ceiling %s of %s%s%s\n", change_names[change], ceiling, gpu, *why ? ": " : "",
               why);
}

static at_status conclude(account *a, at_error *error)
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

/* ---- merge ---- */

at_status results_merge(const options *o, at_error *error)
{
    record_set from = {0};
    size_t ceilings = 0;
    if (o->operand_count != 2)
        return error_set(error, AT_USAGE,
                         "'autotune results merge' needs FROM: one folder of records");
    account a = {.options = o, .list = o->json ? json_array() : NULL};
    at_status status = record_load_all(o->operands[1], NULL, &from, error);
    if (!status)
        status = ceilings_combine(o->operands[1], o->run.results.results_dir, o->dry_run,
                                  tell_ceiling, &a, &from.faults, &ceilings, error);
    if (!status && from.count + ceilings == 0)
        status = error_set(error, AT_USAGE, "there are no records in %s", o->operands[1]);
    for (size_t i = 0; i < from.faults.count; i++)
        fprintf(stderr, "autotune: warning: left out: %s\n", from.faults.items[i].text);
    for (size_t i = 0; i < from.count && !status; i++)
        status = record_combine(&from.records[i], o->run.results.results_dir, o->dry_run, tell, &a,
                                error);
    if (!status)
        status = conclude(&a, error);
    else
        json_decref(a.list);
    record_set_deinit(&from);
    return status;
}

/* ---- prune ---- */

typedef struct pruning {
    const options *options;
    char before[32]; /* "": no age was given */
    char why[WHY_BYTES];
} pruning;

/* "90d" or "2026-01-31" to a date in UTC, as records spell it. */
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

/* The script of the entry's pattern for its problem and GPU. */
static at_status load(const record *r, const record_entry *e, script **out, at_error *error)
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

static const char *reason(void *context, const record *r, const record_entry *e)
{
    pruning *p = context;
    script *s = NULL;
    at_error why = {0};
    if (!results_wants_entry(p->options, e))
        return NULL;
    if (*p->before && *e->date && strcmp(e->date, p->before) < 0) {
        snprintf(p->why, sizeof p->why, "it is of %.20s", e->date);
        return p->why;
    }
    if (!p->options->stale)
        return NULL;
    at_status status = load(r, e, &s, &why);
    const char *found = NULL;
    if (!status) {
        found = find_stale(p, s, e);
    } else if (status == AT_USAGE) {
        snprintf(p->why, sizeof p->why, "the script lacks the problem: %.900s", why.message);
        found = p->why;
    } else {
        fprintf(stderr, "autotune: kept, since nothing can be said of it: %s, %.500s\n", r->pattern,
                why.message);
    }
    script_free(s);
    return found;
}

at_status results_prune(const options *o, at_error *error)
{
    record_set set = {0};
    pruning p = {.options = o};
    account a = {.options = o, .list = o->json ? json_array() : NULL};
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
        /* What is removed is named in full. */
        bool exactly = true;
        if (o->gpu)
            known_gpu(set.records[i].gpu, o->gpu, &exactly);
        if (!exactly || !results_wants(o, &set.records[i]))
            continue;
        at_status one = record_prune(set.records[i].path, o->dry_run, reason, &p, tell, &a, &why);
        if (one == AT_FORMAT) {
            fprintf(stderr, "autotune: left alone: %s: %.1000s\n", set.records[i].path,
                    why.message);
        } else if (one) {
            *error = why;
            status = one;
        }
    }
    if (!status)
        status = conclude(&a, error);
    else
        json_decref(a.list);
    record_set_deinit(&set);
    return status;
}
