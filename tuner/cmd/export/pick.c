/* autotune pick: the configuration that a program gets, the rule that gives it, and why better ones
 * are refused. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/wrap.h"
#include "cmd/line/known.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "library/pattern.h"
#include "record/pick.h"
#include "run/setup/setup.h"

enum { LINE_BYTES = CONFIGURATION_BYTES };

/* Finds a recorded GPU by name, with the limits of its compute capability. Words that several GPUs
 * share name no GPU. */
static bool find_recorded(const record_set *records, const char *name, arch_limits *out)
{
    bool found = false, several = false;
    for (size_t i = 0; i < records->count; i++) {
        const record *r = &records->records[i];
        arch_limits limits;
        bool exactly;
        if (!known_gpu(r->gpu, name, &exactly) ||
            arch_of_gpu(r->gpu, r->major, r->minor, &limits, NULL))
            continue;
        several = several || (found && strcmp(out->name, limits.name) != 0);
        *out = limits;
        found = true;
        if (exactly)
            return true;
    }
    return found && !several;
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
        paths_slug(name, slug);
        snprintf(quoted, sizeof quoted, ", '%.60s' (or %.60s)", name, slug);
        const char *ways[] = {name, slug};
        if (!strstr(known, quoted))
            text_add(known, sizeof known, "%s", quoted);
        if (!nearest && nearest_name(o->gpu, ways, 2))
            nearest = name;
    }
    return error_set(error, AT_USAGE,
                     "no results are of a GPU '%s'%s%s%s; %s%s, or an architecture (sm_90)", o->gpu,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
                     *known ? "--gpu takes one of theirs: "
                            : "there are no results at all: --results DIR names "
                              "a folder of them. --gpu takes a GPU of theirs",
                     *known ? known + 2 : "");
}

/* Describes the measurement that a candidate comes from. */
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
        snprintf(text, size_bytes, "the tree of its portfolio chooses the default here");
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

/* A refused candidate, and the reason. */
typedef struct refusal {
    pick_candidate candidate;
    bool by_tree; /* the tree of its portfolio chose the default */
    char why[LINE_BYTES + 64];
} refusal;

/* The pick for one problem on one GPU. */
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
    refusal r = {.candidate = *c, .by_tree = verdict == PICK_LEVEL && !seen};
    say_why(&a->check, verdict, seen, r.why, sizeof r.why);
    memory_add(&a->refused, &a->refused_count, &r, sizeof r);
}

/* Returns the place of the configuration in its portfolio, from 0 on, or -1 if no portfolio has
 * it. */
static int place_in_portfolio(const pick_candidate *c)
{
    for (size_t i = 0; i < c->from->portfolio_count; i++) {
        const record_portfolio *p = &c->from->portfolios[i];
        for (size_t k = 0; k < p->configuration_count; k++)
            if (record_same_values(&p->configurations[k], c->configuration))
                return (int)k;
    }
    return -1;
}

/* Returns the record of the portfolio whose tree chose the default, or NULL if another rule gave
 * it. */
static const record *tree_of_default(const picking *a)
{
    for (size_t i = 0; i < a->refused_count && a->choice.rule == PICK_DEFAULT; i++)
        if (a->refused[i].by_tree)
            return a->refused[i].candidate.from;
    return NULL;
}

/* Explains why the default is given: a portfolio chose it, nothing is recorded, only other GPUs are
 * recorded, or all other candidates were refused. */
static void say_default(const options *o, const record_set *records, const arch_limits *gpu,
                        const picking *a, char *text, size_t size_bytes)
{
    record_folders folders;
    const record *tree = tree_of_default(a);
    if (tree) {
        snprintf(text, size_bytes,
                 "the tree of the portfolio of %s chooses the script's default for this problem",
                 tree->gpu);
        return;
    }
    if (a->refused_count > 0) {
        snprintf(text, size_bytes, "the script's default, for what is recorded is not given here:");
        return;
    }
    if (records->count == 0) {
        known_folders(o, &folders);
        snprintf(text, size_bytes, "the script's default, for no results of it are in");
        for (size_t i = 0; i < folders.count; i++)
            text_add(text, size_bytes, "%s %.300s", i ? " or" : "", folders.paths[i]);
        return;
    }
    snprintf(text, size_bytes, "the script's default, for results are only of");
    for (size_t i = 0; i < records->count; i++)
        text_add(text, size_bytes, "%s %.80s (sm_%d%d)", i ? "," : "", records->records[i].gpu,
                 records->records[i].major, records->records[i].minor);
    if (records->records[0].major != gpu->major)
        text_add(text, size_bytes, ", and another major capability is another kind of GPU");
}

/* Explains the rule that gave the configuration. */
static void say_rule(const options *o, const record_set *records, const arch_limits *gpu,
                     const picking *a, char *text, size_t size_bytes)
{
    const pick_candidate *c = &a->choice;
    const char *from = c->from ? c->from->gpu : "";
    char problem[LINE_BYTES] = "";
    int place = -1;
    if (c->entry)
        record_format_values(&c->entry->problem, problem, sizeof problem);
    else if (c->from)
        place = place_in_portfolio(c);
    if (c->rule == PICK_EXACT)
        snprintf(text, size_bytes, "measured on this GPU and this problem");
    else if (c->rule == PICK_DEFAULT)
        say_default(o, records, gpu, a, text, size_bytes);
    else if (c->rule == PICK_NONE)
        snprintf(text, size_bytes, "no configuration that is known is possible");
    else if (c->rule == PICK_NEAREST)
        snprintf(text, size_bytes, "this problem was not measured on this GPU; the nearest is %s",
                 problem);
    else if (c->rule == PICK_PORTFOLIO)
        snprintf(text, size_bytes, "this problem was not measured on this GPU");
    else
        snprintf(text, size_bytes, "nothing is recorded of this GPU; %s has %s%s%s", from,
                 c->rule == PICK_CAPABILITY ? "the same compute capability"
                 : c->rule == PICK_MAJOR    ? "the same major capability"
                                            : "nothing in common with it, but the default is "
                                              "impossible",
                 *problem ? "; there the nearest problem is " : "", problem);
    if (place >= 0)
        text_add(text, size_bytes,
                 "; the tree of its portfolio chooses configuration %d ('autotune results show "
                 "%s' prints both)",
                 place, c->from->pattern);
}

/* Counts the refusals from `first` on that have the same source and the same reason. */
static size_t count_alike(const picking *a, size_t first)
{
    const refusal *r = &a->refused[first];
    size_t count = 1;
    while (first + count < a->refused_count && r[count].candidate.from == r->candidate.from &&
           r[count].candidate.entry == r->candidate.entry &&
           r[count].candidate.rule == r->candidate.rule && strcmp(r[count].why, r->why) == 0)
        count++;
    return count;
}

/* Prints a label with words beside it. */
static void print_beside(const char *label, const char *words)
{
    wrap_print(terminal_page(), 10, label, words, stdout);
}

static void print_text(const options *o, const char *pattern_name, const record_set *records,
                       const arch_limits *gpu, const record_values *problem, const picking *a)
{
    char text[2 * LINE_BYTES], values[LINE_BYTES], measured[LINE_BYTES];
    const pick_candidate *c = &a->choice;
    record_format_values(problem, values, sizeof values);
    printf("%s for %s on %s (%d.%d)\n\n", pattern_name, values, gpu->name, gpu->major, gpu->minor);
    if (c->configuration)
        record_format_values(c->configuration, text, sizeof text);
    print_beside("gives", c->configuration ? text : "nothing");
    snprintf(text, sizeof text, "%s%s", pick_rule_name(c->rule),
             tree_of_default(a) ? ", which the portfolio chose" : "");
    print_beside("rule", text);
    say_rule(o, records, gpu, a, text, sizeof text);
    print_beside("why", text);
    if (c->entry)
        printf("time      %.4g us there%s\n", (double)c->entry->time_ns / 1e3,
               c->rule == PICK_EXACT ? "" : "; not measured here");
    for (size_t i = 0; i < a->refused_count;) {
        const refusal *r = &a->refused[i];
        const size_t alike = count_alike(a, i);
        describe(&r->candidate, measured, sizeof measured);
        record_format_values(r->candidate.configuration, values, sizeof values);
        snprintf(text, sizeof text, "%s, %s", pick_rule_name(r->candidate.rule), measured);
        print_beside(i ? "" : "not", text);
        wrap_print(terminal_page(), 12, "", values, stdout);
        if (alike > 1)
            printf("            and %zu more of them (--json lists all)\n", alike - 1);
        wrap_print(terminal_page(), 12, "", r->why, stdout);
        i += alike;
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
    /* Moves the pattern's records to the front. The others were only needed for the names of their
     * GPUs. */
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
        print_text(o, p->name, &own, &gpu, &problem, &a);
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
