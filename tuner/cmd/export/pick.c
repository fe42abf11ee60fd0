/* autotune pick: prints the configuration that a program gets, its rule, and why better
 * configurations cannot be used. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/paths.h"
#include "base/text.h"
#include "cmd/line/known.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "library/pattern.h"
#include "record/pick.h"
#include "run/setup/setup.h"

/* Finds a GPU with records by its name or words of it, and sets *out to its limits. Returns false
 * if no GPU matches, or if GPUs with different limits do. */
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
                     "there are no results of a GPU '%s'; %s%s, or an architecture (sm_90)%s%s%s",
                     o->gpu,
                     *known ? "--gpu takes one of theirs: "
                            : "there are no results at all: name their folder by --results DIR. "
                              "--gpu takes a GPU of the results",
                     *known ? known + 2 : "", nearest ? "; did you mean '" : "",
                     nearest ? nearest : "", nearest ? "'?" : "");
}

typedef struct picking {
    library_check check;
    pick_candidate choice;
    json_t *refused; /* owned; see lua/commands/pick.lua */
} picking;

static bool fits(void *context, const record_values *configuration)
{
    return library_fits(&((picking *)context)->check, configuration);
}

static bool ask(void *context, const record_feature *feature, const record_values *configuration,
                double *out)
{
    return library_feature(&((picking *)context)->check, feature, configuration, out);
}

/* Returns the index of the configuration in its portfolio, or -1 if it is from no portfolio. */
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

static json_t *pack_candidate(const pick_candidate *c)
{
    json_t *out = json_pack("{ss so}", "rule", pick_rule_name(c->rule), "configuration",
                            c->configuration ? record_pack_values(c->configuration) : json_null());
    if (c->from) {
        json_put(&out, "gpu", json_string(c->from->gpu));
        json_put(&out, "pattern", json_string(c->from->pattern));
    }
    if (c->entry) {
        json_put(&out, "problem", record_pack_values(&c->entry->problem));
        json_put(&out, "time_ns", json_integer(c->entry->time_ns));
        json_put(&out, "number", json_count(c->entry->place));
    } else if (c->from && place_in_portfolio(c) >= 0) {
        json_put(&out, "place", json_integer(place_in_portfolio(c)));
    }
    return out;
}

static void refused(void *context, const pick_candidate *c, pick_verdict verdict,
                    const record_comparison *seen)
{
    picking *a = context;
    const space_constraint *broken = a->check.broken;
    json_t *out = pack_candidate(c);
    json_put(&out, "is_slower", json_boolean(verdict == PICK_SLOWER));
    json_put(&out, "by_tree", json_boolean(verdict == PICK_EQUAL && !seen));
    json_put(&out, "seen", seen ? record_pack_values(seen->problem) : json_null());
    json_put(
        &out, "broken",
        broken ? json_pack("{si so}", "line", broken->line, "text", json_foreign_text(broken->text))
               : json_null());
    json_append(&a->refused, out);
}

static at_status print(const options *o, const pattern *p, const record_set *records,
                       const arch_limits *gpu, const record_values *problem, const picking *a,
                       at_error *error)
{
    record_folders folders;
    json_t *searched = json_array(), *recorded = json_array();
    known_folders(o, &folders);
    for (size_t i = 0; i < folders.count; i++)
        json_append(&searched, json_path(folders.paths[i]));
    for (size_t i = 0; i < records->count; i++) {
        const record *r = &records->records[i];
        json_append(&recorded,
                    json_pack("{ss si si}", "gpu", r->gpu, "major", r->major, "minor", r->minor));
    }
    return page_answer(o, "pick", 2, NULL,
                       json_pack("{ss s{ss si si} so so sO so so}", "pattern", p->name, "gpu",
                                 "name", gpu->name, "major", gpu->major, "minor", gpu->minor,
                                 "problem", record_pack_values(problem), "choice",
                                 pack_candidate(&a->choice), "refused", a->refused, "records",
                                 recorded, "folders", searched),
                       error);
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    script *s = NULL;
    record_set records = {0};
    arch_limits gpu;
    picking a = {.refused = json_array()};
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
    /* Moves the pattern's records to the front. The other records only give names of GPUs. */
    for (size_t i = 0; i < records.count; i++)
        if (strcmp(records.records[i].pattern, p->name) == 0) {
            record moved = records.records[i];
            records.records[i] = records.records[own.count];
            records.records[own.count++] = moved;
        }
    a.check.script = s;
    const record_values problem = library_script_problem(p, pairs);
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
    status = print(o, p, &own, &gpu, &problem, &a, error);
    *exit_code = a.choice.rule == PICK_NONE ? 1 : 0;
cleanup:
    json_decref(a.refused);
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
