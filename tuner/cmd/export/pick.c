/* autotune pick: what a program gets that asks for a configuration, by which rule, and why not the
 * better ones. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/paths.h"
#include "base/text.h"
#include "cmd/line/commands.h"
#include "cmd/line/known.h"
#include "library/pattern.h"
#include "record/pick.h"
#include "run/setup/setup.h"

enum { LINE_BYTES = CONFIGURATION_BYTES };

/* Finds a GPU of the records by its name or the name of its folder. It has the limits of its
 * capability. */
static bool find_recorded(const record_set *records, const char *name, arch_limits *out)
{
    for (size_t i = 0; i < records->count; i++) {
        const record *r = &records->records[i];
        char slug[PATHS_SLUG_BYTES];
        paths_slug(r->gpu, slug);
        if ((strcasecmp(r->gpu, name) == 0 || strcmp(slug, name) == 0) &&
            arch_of_gpu(r->gpu, r->major, r->minor, out, NULL) == AT_OK)
            return true;
    }
    return false;
}

static at_status find_gpu(const options *o, const record_set *records, arch_limits *out,
                          at_error *error)
{
    if (!o->gpu)
        return target_here(out, error);
    if (find_recorded(records, o->gpu, out))
        return AT_OK;
    at_status status = arch_find(o->gpu, out, error);
    if (!status)
        return AT_OK;
    char known[1024] = "";
    const char *nearest = NULL;
    for (size_t i = 0; i < records->count; i++) {
        const char *name = records->records[i].gpu;
        char quoted[128], slug[PATHS_SLUG_BYTES];
        snprintf(quoted, sizeof quoted, ", '%.120s'", name);
        paths_slug(name, slug);
        const char *ways[] = {name, slug};
        if (!strstr(known, quoted))
            text_add(known, sizeof known, "%s", quoted);
        if (!nearest && nearest_name(o->gpu, ways, 2))
            nearest = name;
    }
    return error_set(
        error, AT_USAGE,
        "no results are of a GPU '%s'%s%s%s; name one of theirs, or its architecture (sm_90)%s%s",
        o->gpu, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "",
        *known ? "; there are: " : "", *known ? known + 2 : "");
}

/* Says what a candidate was measured for. */
static void describe(const pick_candidate *c, char *text, size_t size_bytes)
{
    char problem[LINE_BYTES] = "";
    if (c->entry)
        record_format_values(&c->entry->problem, problem, sizeof problem);
    if (!c->from)
        snprintf(text, size_bytes, "the pattern's default");
    else if (c->entry)
        snprintf(text, size_bytes, "%s on %s", problem, c->from->gpu);
    else
        snprintf(text, size_bytes, "a portfolio of %s", c->from->gpu);
}

static void say_why(const library_check *check, pick_verdict verdict, const record_seen *seen,
                    char *text, size_t size_bytes)
{
    char problem[LINE_BYTES];
    if (verdict == PICK_LEVEL && !seen) {
        snprintf(text, size_bytes, "the default comes before it in the portfolio's tree here");
    } else if (seen) {
        record_format_values(seen->problem, problem, sizeof problem);
        snprintf(text, size_bytes, "%s than the default%s at %s",
                 verdict == PICK_SLOWER ? "slower" : "no faster",
                 verdict == PICK_SLOWER ? "" : " beyond noise", problem);
    } else if (check->broken) {
        snprintf(text, size_bytes, "breaks line %d: %s", check->broken->line, check->broken->text);
    } else {
        snprintf(text, size_bytes,
                 "the script has no such configuration, or a constraint fails on it");
    }
}

/* A candidate that was refused, and why. */
typedef struct refusal {
    pick_candidate candidate;
    char why[LINE_BYTES + 64];
} refusal;

/* The answer to a question. */
typedef struct picking {
    library_check check;
    pick_candidate choice;
    size_t refused_count;
    refusal *refused; /* owned */
} picking;

static bool fits(void *context, const record_values *configuration)
{
    return library_fits(&((picking *)context)->check, configuration);
}

static bool ask(void *context, const record_feature *feature, const record_values *configuration,
                double *out)
{
    return library_ask(&((picking *)context)->check, feature, configuration, out);
}

static void refused(void *context, const pick_candidate *c, pick_verdict verdict,
                    const record_seen *seen)
{
    picking *a = context;
    refusal r = {.candidate = *c};
    say_why(&a->check, verdict, seen, r.why, sizeof r.why);
    memory_add(&a->refused, &a->refused_count, &r, sizeof r);
}

static void print_text(const char *pattern_name, const arch_limits *gpu,
                       const record_values *problem, const picking *a)
{
    char text[LINE_BYTES], measured[LINE_BYTES];
    record_format_values(problem, text, sizeof text);
    printf("%s for %s on %s (%d.%d)\n\n", pattern_name, text, gpu->name, gpu->major, gpu->minor);
    if (a->choice.configuration) {
        record_format_values(a->choice.configuration, text, sizeof text);
        printf("gives     %s\n", text);
    } else {
        puts("gives     nothing: no configuration that is known is possible");
    }
    describe(&a->choice, text, sizeof text);
    printf("rule      %s%s%s\n", pick_rule_name(a->choice.rule), a->choice.from ? ": " : "",
           a->choice.from ? text : "");
    if (a->choice.entry)
        printf("time      %.4g us there%s\n", (double)a->choice.entry->time_ns / 1e3,
               a->choice.rule == PICK_EXACT ? "" : "; not measured here");
    for (size_t i = 0; i < a->refused_count; i++) {
        const refusal *r = &a->refused[i];
        describe(&r->candidate, measured, sizeof measured);
        record_format_values(r->candidate.configuration, text, sizeof text);
        printf("%s%s, %s\n            %s\n            %s\n", i ? "          " : "not       ",
               pick_rule_name(r->candidate.rule), measured, text, r->why);
    }
}

static at_status print_json(const char *pattern_name, const arch_limits *gpu,
                            const record_values *problem, const picking *a, at_error *error)
{
    char what[LINE_BYTES];
    json_t *refused = json_array();
    for (size_t i = 0; i < a->refused_count; i++) {
        const refusal *r = &a->refused[i];
        describe(&r->candidate, what, sizeof what);
        json_append(&refused,
                    json_pack("{ss ss so ss}", "rule", pick_rule_name(r->candidate.rule),
                              "measured", what, "configuration",
                              record_pack_values(r->candidate.configuration), "why", r->why));
    }
    describe(&a->choice, what, sizeof what);
    json_t *root = json_pack("{ss ss so ss ss so so}", "pattern", pattern_name, "gpu", gpu->name,
                             "problem", record_pack_values(problem), "rule",
                             pick_rule_name(a->choice.rule), "measured", what, "configuration",
                             a->choice.configuration ? record_pack_values(a->choice.configuration)
                                                     : json_null(),
                             "refused", refused);
    return json_text_print(root, 2, stdout, error);
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    script *s = NULL;
    record_set records = {0};
    arch_limits gpu;
    picking a = {0};
    record_pair pairs[RECORD_MAX_VALUES], defaults[RECORD_MAX_VALUES];
    at_status status = target_check_script(&o->run, error);
    if (!status)
        status = known_records(o, NULL, true, &records, error);
    if (!status)
        status = find_gpu(o, &records, &gpu, error);
    if (!status)
        status = target_load_script(&o->run, &gpu, &s, error);
    if (status)
        goto cleanup;
    const pattern *p = script_pattern(s);
    record_set own = {.records = records.records};
    /* Records of other patterns are only asked for their GPUs' names. */
    for (size_t i = 0; i < records.count; i++)
        if (strcmp(records.records[i].pattern, p->name) == 0) {
            record moved = records.records[i];
            records.records[i] = records.records[own.count];
            records.records[own.count++] = moved;
        }
    a.check.script = s;
    const record_values problem = library_problem(p, pairs);
    const record_values fallback = library_default(p, defaults);
    pick_target target = {.gpu = gpu.name,
                          .major = gpu.major,
                          .minor = gpu.minor,
                          .problem = &problem,
                          .fits = fits,
                          .ask = ask,
                          .context = &a,
                          .fallback = &fallback,
                          .refused = refused};
    pick(&own, &target, &a.choice);
    if (o->json)
        status = print_json(p->name, &gpu, &problem, &a, error);
    else
        print_text(p->name, &gpu, &problem, &a);
    *exit_code = a.choice.rule == PICK_NONE ? 1 : 0;
cleanup:
    free(a.refused);
    record_set_deinit(&records);
    script_free(s);
    return status;
}

const command cmd_pick = {
    .name = "pick",
    .operand = "PATTERN",
    .summary = "Say which recorded configuration a program gets, and why",
    .options = "describe set include gpu results json",
    .answer = answer,
};
