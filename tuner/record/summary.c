#include "record/summary.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"

static const char *const stage_names[STAGE_COUNT] = {
    [STAGE_ENUMERATE] = "enumerate", [STAGE_OPEN] = "open",     [STAGE_EMIT] = "emit",
    [STAGE_COMPILE] = "compile",     [STAGE_CHECK] = "check",   [STAGE_MEASURE] = "measure",
    [STAGE_RACE] = "race",           [STAGE_FINALS] = "finals",
};

static const char *const verdict_names[] = {
    [VERDICT_NONE] = "none",   [VERDICT_CLEAR] = "clear",
    [VERDICT_TIED] = "tied",   [VERDICT_INCONCLUSIVE] = "inconclusive",
    [VERDICT_NOISY] = "noisy",
};

static const char *const end_names[] = {
    [RUN_END_EXHAUSTED] = "exhausted",     [RUN_END_STRATEGY] = "strategy",
    [RUN_END_EVALUATIONS] = "evaluations", [RUN_END_SECONDS] = "seconds",
    [RUN_END_TARGET] = "target",           [RUN_END_GAIN] = "gain",
    [RUN_END_SETTLED] = "settled",         [RUN_END_HANGS] = "hangs",
    [RUN_END_RECORDED] = "recorded",       [RUN_END_INTERRUPTED] = "interrupted",
};

void run_summary_date(char *out, size_t size_bytes)
{
    time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || strftime(out, size_bytes, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        out[0] = '\0';
}

at_status run_summary_init(run_summary *s, const pattern *p, problem_kind problem, at_error *error)
{
    *s = (run_summary){
        .pattern = p->name,
        .problem_count = p->problem_count,
        .problem = p->problems[problem],
        .item = p->item ? p->item : "",
        .parameter_count = p->parameter_count,
    };
    run_summary_date(s->date, sizeof s->date);
    if (p->parameter_count == 0)
        return AT_OK;
    s->parameters = calloc(p->parameter_count, sizeof *s->parameters);
    if (!s->parameters)
        return error_no_memory(error);
    for (size_t i = 0; i < p->parameter_count; i++)
        s->parameters[i] = p->parameters[i].name;
    return AT_OK;
}

work_unit run_summary_unit(const run_summary *s)
{
    const ceiling_info *ceiling = ceiling_get(s->ceiling);
    if (*ceiling->name && s->ceiling != CEILING_NONE)
        return ceiling->unit;
    for (int u = 0; u < WORK_UNITS; u++)
        if (s->work[u] > 0)
            return (work_unit)u;
    return WORK_BYTES;
}

void run_summary_deinit(run_summary *s)
{
    for (size_t i = 0; i < s->result_count; i++) {
        free(s->results[i].configuration);
        free(s->results[i].values);
        measurement_deinit(&s->results[i].found);
        free(s->results[i].unproven);
        free(s->results[i].coverage);
    }
    free(s->results);
    for (size_t i = 0; i < s->warning_count; i++)
        free(s->warnings[i]);
    free(s->warnings);
    free(s->parameters);
    *s = (run_summary){0};
}

at_status run_summary_add(run_summary *s, const char *configuration, outcome o, run_result **out,
                          at_error *error)
{
    run_result r = {.found.outcome = o};
    r.configuration = strdup(configuration);
    r.values = calloc(s->parameter_count ? s->parameter_count : 1, sizeof *r.values);
    if (!r.configuration || !r.values || !array_add(&s->results, &s->result_count, &r, sizeof r)) {
        free(r.configuration);
        free(r.values);
        return error_no_memory(error);
    }
    s->counts[o]++;
    *out = &s->results[s->result_count - 1];
    return AT_OK;
}

void run_summary_warn(run_summary *s, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    char *copy = strdup(line);
    if (!copy || !array_add(&s->warnings, &s->warning_count, &copy, sizeof copy))
        free(copy);
}

const run_result *run_summary_lead(const run_summary *s, const run_result *r)
{
    /* Twins come after their lead, so the loop runs backwards. */
    for (const run_result *one = r; r->is_twin && one > s->results; one--)
        if (one[-1].index == r->lead)
            return one - 1;
    return NULL;
}

const run_result *run_summary_best(const run_summary *s)
{
    return s->best_found && s->result_count ? &s->results[0] : NULL;
}

const run_result *run_summary_baseline(const run_summary *s)
{
    return s->has_baseline && s->baseline < s->result_count ? &s->results[s->baseline] : NULL;
}

const char *run_stage_name(run_stage stage)
{
    return (size_t)stage < STAGE_COUNT ? stage_names[stage] : "unknown";
}

const char *run_verdict_name(run_verdict verdict)
{
    size_t count = sizeof verdict_names / sizeof *verdict_names;
    return (size_t)verdict < count ? verdict_names[verdict] : "unknown";
}

const char *run_end_name(run_end end)
{
    size_t count = sizeof end_names / sizeof *end_names;
    return (size_t)end < count ? end_names[end] : "unknown";
}
