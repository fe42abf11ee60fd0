#include "run/race/side_by_side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "process/interrupt.h"
#include "search/race/paired.h"

enum { STEP_MS = 100, SHORT_STEP_MS = 2, FIRST_LOOK = 6 };

/* The chance that one of two equal sides seems faster by more than the margin in one judgement. */
static const double error_chance = 0.005;

void side_deinit(side *s)
{
    free(s->samples_ns);
    s->samples_ns = NULL;
    s->sample_count = 0;
}

/* Waits for a question's answer, or without a question for the next event. */
static at_status await(device_worker *w, const device_question *question, const side_rules *rules,
                       device_event *out, at_error *error)
{
    bool busy = rules && rules->meanwhile;
    for (;;) {
        int step_ms = busy ? SHORT_STEP_MS : STEP_MS;
        at_status status = question ? device_worker_await(w, *question, step_ms, out, error)
                                    : device_worker_take(w, step_ms, out, error);
        if (status != AT_NOT_FOUND)
            return status;
        error_clear(error);
        if (interrupt_is_pending())
            return error_set(error, AT_INTERRUPTED, "interrupted");
        status = busy ? rules->meanwhile(rules->context, error) : AT_OK;
        if (status)
            return status;
    }
}

static at_status answer(device_worker *w, const side_rules *rules, device_event *out,
                        at_error *error)
{
    device_question question = device_worker_claim(w);
    return await(w, &question, rules, out, error);
}

at_status side_by_side_ready(device_worker *w, const side_rules *rules, device_ready *out,
                             at_error *error)
{
    for (;;) {
        device_event e;
        at_status status = await(w, NULL, rules, &e, error);
        if (status)
            return status;
        device_event_kind kind = e.kind;
        *out = e.ready;
        if (kind == DEVICE_FAILED)
            status = error_set(error, e.status ? e.status : AT_DEVICE, "%s", e.message);
        device_event_deinit(&e);
        if (status || kind == DEVICE_READY)
            return status;
    }
}

static void end(side *s, const device_event *e)
{
    s->outcome = e->outcome;
    snprintf(s->message, sizeof s->message, "%s", e->message ? e->message : "");
}

static at_status hold(device_worker *w, side *s, uint64_t id, const side_rules *rules,
                      at_error *error)
{
    device_variant v = {
        .layout = s->layout, .present = {true}, .images = {s->image}, .launches = {s->launch}};
    device_event e;
    at_status status = AT_OK;
    s->samples_ns = memory_new(rules->blocks, sizeof *s->samples_ns);
    s->outcome = OUTCOME_OK;
    for (int step = rules->checked ? 0 : 1; step < 2 && !status && s->outcome == OUTCOME_OK;
         step++) {
        status = step == 0 ? device_worker_try(w, id, &v, 0, error)
                           : device_worker_hold(w, id, &v, error);
        if (!status)
            status = answer(w, rules, &e, error);
        if (!status) {
            end(s, &e);
            device_event_deinit(&e);
        }
    }
    return status;
}

static at_status take_block(device_worker *w, side *sides, uint64_t *ids, size_t held,
                            const side_rules *rules, at_error *error)
{
    device_event e;
    at_status status = device_worker_block(w, ids, held, false, error);
    if (!status)
        status = answer(w, rules, &e, error);
    if (status)
        return status;
    if (e.outcome == OUTCOME_OK) {
        for (size_t i = 0; i < e.sample_count; i++) {
            side *s = &sides[e.ids[i]];
            s->samples_ns[s->sample_count++] = e.samples_ns[i];
        }
    } else {
        /* The side to blame leaves. If no side is to blame, only the block is lost. */
        for (size_t i = 0; i < held; i++)
            if (ids[i] == e.id)
                end(&sides[ids[i]], &e);
    }
    device_event_deinit(&e);
    return AT_OK;
}

at_status side_by_side_run(device_worker *w, side *sides, size_t count, const side_rules *rules,
                           at_error *error)
{
    at_status status = AT_OK;
    rng random = rng_seeded(rules->seed);
    uint64_t *ids = memory_new(count, sizeof *ids);
    for (size_t i = 0; !status && i < count; i++)
        status = hold(w, &sides[i], i, rules, error);
    for (size_t b = 0; !status && b < rules->blocks; b++) {
        size_t held = 0;
        if (rules->enough && rules->enough(rules->context, sides, count, b))
            break;
        for (size_t i = 0; i < count; i++)
            if (sides[i].outcome == OUTCOME_OK && !sides[i].settled)
                ids[held++] = i;
        if (held == 0)
            break;
        rng_shuffle(&random, ids, held);
        status = take_block(w, sides, ids, held, rules, error);
    }
    for (size_t i = 0; i < count; i++)
        if (!status)
            status = device_worker_release(w, i, error);
    free(ids);
    return status;
}

static void judge(side *sides, size_t count, int64_t tick_ns, double margin, size_t looks,
                  side_standing *out)
{
    const side *first = &sides[0];
    *out = (side_standing){.decided = true};
    if (count < 2 || first->outcome != OUTCOME_OK)
        return;
    double *scratch = memory_new(first->sample_count, sizeof *scratch);
    double chance = error_chance / (double)(looks ? looks : 1) / (double)(count - 1);
    for (size_t i = 1; i < count; i++) {
        side *s = &sides[i];
        /* Samples are paired by block: a side with another number of samples has other blocks. */
        if (s->outcome != OUTCOME_OK || s->settled || s->sample_count != first->sample_count)
            continue;
        size_t blocks = s->sample_count;
        paired p = paired_compare(first->samples_ns, s->samples_ns, blocks, tick_ns, scratch);
        double half = paired_half_width(&p, paired_quantile(chance, blocks));
        double low = exp(p.mean - half), high = exp(p.mean + half);
        s->settled = isfinite(half) && high <= 1 + margin;
        if (!s->settled && (!isfinite(half) || low <= 1 + margin))
            out->decided = false;
        if (isfinite(half) && low > 1 + margin && exp(p.mean) > out->ratio) {
            out->rival = i;
            out->low = low;
            out->ratio = exp(p.mean);
            out->high = high;
        }
    }
    free(scratch);
}

/* Returns the number of judgements (after 6, 9, 13, 19, 28 ... blocks) up to `blocks`. */
static size_t looks_until(size_t blocks, bool *at_look)
{
    size_t looks = 0, next = FIRST_LOOK;
    *at_look = false;
    for (; next <= blocks; next += next / 2) {
        looks++;
        *at_look = next == blocks;
    }
    return looks;
}

bool side_judge_enough(void *context, side *sides, size_t count, size_t blocks)
{
    side_judge *j = context;
    bool at_look, last;
    looks_until(blocks, &at_look);
    if (!at_look)
        return false;
    judge(sides, count, j->tick_ns, j->margin, looks_until(j->blocks, &last), &j->standing);
    return j->standing.decided;
}
