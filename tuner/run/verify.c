#include "run/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "script/script.h"

enum { STEP_MS = 100, MOST_FINALISTS = 16 };

typedef struct finalists {
    candidate *items[MOST_FINALISTS]; /* the winner first */
    size_t count;
} finalists;

static finalists list_finalists(race_driver *c)
{
    finalists found = {0};
    const race_result *r = race_driver_result(c);
    for (size_t i = 0; r->has_winner && i < r->count && found.count < MOST_FINALISTS; i++) {
        const race_standing *s = &r->ranking[i];
        candidate *one = race_driver_candidate(c, s->entrant);
        if (!s->failed && s->left_at >= RACE_FINALS && one->images[0])
            found.items[found.count++] = one;
    }
    return found;
}

static at_status await(device_worker *w, device_event *out, at_error *error)
{
    device_question question = device_worker_claim(w);
    for (;;) {
        at_status status = device_worker_await(w, question, STEP_MS, out, error);
        if (status != AT_NOT_FOUND)
            return status;
        error_clear(error);
        if (interrupt_waits())
            return error_set(error, AT_INTERRUPTED, "interrupted");
    }
}

static at_status hold(device_worker *w, const finalists *f, race *r, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < f->count; i++) {
        device_variant variant;
        device_event e;
        candidate_variant(f->items[i], &variant);
        status = device_worker_hold(w, i, &variant, error);
        if (!status)
            status = await(w, &e, error);
        if (status)
            break;
        if (e.outcome != OUTCOME_OK)
            race_exclude(r, (uint32_t)i);
        device_event_deinit(&e);
    }
    return status;
}

static at_status run_blocks(device_worker *w, const finalists *f, race *r, at_error *error)
{
    const uint32_t *order;
    at_status status = AT_OK;
    for (size_t count; !status && (count = race_next(r, &order)) > 0;) {
        uint64_t ids[MOST_FINALISTS];
        device_event e;
        for (size_t i = 0; i < count; i++)
            ids[i] = order[i];
        status = device_worker_block(w, ids, count, false, error);
        if (!status)
            status = await(w, &e, error);
        if (status)
            break;
        if (e.outcome == OUTCOME_OK)
            race_tell(r, e.samples_ns);
        else if (e.id < f->count)
            race_exclude(r, (uint32_t)e.id);
        device_event_deinit(&e);
    }
    return status;
}

/* *other: who wins clearly instead of the first, by *ratio; NULL: nobody does. */
static at_status race_on(device_worker *w, const finalists *f, const settings *o,
                         const candidate **other, double *ratio, at_error *error)
{
    race_options rules = race_defaults();
    race_entrant entrants[MOST_FINALISTS];
    race *r = NULL;
    *other = NULL;
    rules.seed = o->seed;
    rules.finalists = f->count;
    if (o->tie_margin >= 0)
        rules.tie_margin = o->tie_margin;
    for (size_t i = 0; i < f->count; i++)
        entrants[i] = (race_entrant){.order = i};
    at_status status = race_new(&rules, entrants, f->count, &r, error);
    if (!status)
        status = hold(w, f, r, error);
    if (!status)
        status = run_blocks(w, f, r, error);
    const race_result *result = status ? NULL : race_conclude(r);
    for (size_t i = 0; result && result->has_winner && i < result->count; i++) {
        const race_standing *s = &result->ranking[i];
        if (s->entrant != 0 || s->tied || s->entrant == result->fastest)
            continue;
        *other = f->items[result->fastest];
        *ratio = s->failed ? 0 : s->ratio;
    }
    race_free(r);
    return status;
}

at_status verify_elsewhere(const session *s, race_driver *c, const settings *o, run_summary *out,
                           at_error *error)
{
    finalists f = list_finalists(c);
    uint16_t *indices = calloc(space_parameter_count(s->space) + 1, sizeof *indices);
    size_t agreed = 0;
    at_status status = indices ? AT_OK : error_set(error, AT_NO_MEMORY, "out of memory");
    for (size_t i = 0; !status && f.count > 0 && i < s->other_count; i++) {
        const candidate *other;
        const device_properties *gpu = &s->other_properties[i];
        char text[CONFIGURATION_BYTES];
        double ratio;
        status = race_on(s->others[i], &f, o, &other, &ratio, error);
        if (status == AT_NO_MEMORY || status == AT_INTERRUPTED)
            break;
        if (status) {
            run_summary_warn(out, "the winner could not be verified on %s (%s): %s", gpu->spec, gpu->uuid,
                             error ? error->message : "it failed");
            error_clear(error);
            status = AT_OK;
        } else if (other) {
            space_at(s->space, other->configuration, indices);
            script_format_configuration(s->script, indices, text, sizeof text);
            run_summary_warn(out, "%s (%s) disagrees: %s is %.2f %% faster there than the winner", gpu->spec,
                             gpu->uuid, text, ratio > 0 ? 100 * (ratio - 1) : 100.0);
        } else {
            agreed++;
        }
    }
    if (agreed && !status)
        run_summary_warn(out, "verified: on %zu of %zu other GPUs no finalist is faster than the winner",
                         agreed, s->other_count);
    free(indices);
    return status;
}
