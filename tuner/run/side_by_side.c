#include "run/side_by_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { STEP_MS = 100 };

void side_deinit(side *s)
{
    free(s->samples_ns);
    s->samples_ns = NULL;
    s->sample_count = 0;
}

static at_status await(device_worker *w, device_event_kind kind, device_event *out, at_error *error)
{
    for (;;) {
        at_status status = device_worker_take(w, STEP_MS, out, error);
        if (status == AT_NOT_FOUND) {
            error_clear(error);
            continue;
        }
        if (status)
            return status;
        if (out->kind == DEVICE_FAILED)
            status = error_set(error, out->status ? out->status : AT_DEVICE, "%s", out->message);
        if (status || out->kind == kind)
            return status;
        device_event_deinit(out);
    }
}

at_status side_by_side_ready(device_worker *w, device_ready *out, at_error *error)
{
    device_event e;
    at_status status = await(w, DEVICE_READY, &e, error);
    if (status)
        return status;
    *out = e.ready;
    device_event_deinit(&e);
    return AT_OK;
}

static void end(side *s, const device_event *e)
{
    s->outcome = e->outcome;
    snprintf(s->message, sizeof s->message, "%s", e->message ? e->message : "");
}

/* Checks a side, and keeps it on the device if it is right. */
static at_status hold(device_worker *w, side *s, uint64_t id, size_t blocks, at_error *error)
{
    device_variant *v = calloc(1, sizeof *v);
    device_event e;
    s->samples_ns = calloc(blocks + 1, sizeof *s->samples_ns);
    if (!v || !s->samples_ns) {
        free(v);
        return error_set(error, AT_NO_MEMORY, "out of memory");
    }
    v->present[0] = true;
    v->images[0] = s->image;
    v->launches[0] = s->launch;
    at_status status = device_worker_try(w, id, v, 0, error);
    if (!status)
        status = await(w, DEVICE_TRIED, &e, error);
    if (!status) {
        end(s, &e);
        device_event_deinit(&e);
        if (s->outcome == OUTCOME_OK) {
            status = device_worker_hold(w, id, v, error);
            if (!status)
                status = await(w, DEVICE_HELD, &e, error);
            if (!status) {
                end(s, &e);
                device_event_deinit(&e);
            }
        }
    }
    free(v);
    return status;
}

static at_status take_block(device_worker *w, side *sides, uint64_t *ids, size_t held, at_error *error)
{
    device_event e;
    at_status status = device_worker_block(w, ids, held, false, error);
    if (!status)
        status = await(w, DEVICE_BLOCK, &e, error);
    if (status)
        return status;
    if (e.outcome == OUTCOME_OK) {
        for (size_t i = 0; i < e.sample_count; i++) {
            side *s = &sides[e.ids[i]];
            s->samples_ns[s->sample_count++] = e.samples_ns[i];
        }
    } else {
        /* Whoever is to blame is out; where nobody is, the block is lost alone. */
        for (size_t i = 0; i < held; i++)
            if (ids[i] == e.id)
                end(&sides[ids[i]], &e);
    }
    device_event_deinit(&e);
    return AT_OK;
}

at_status side_by_side_run(device_worker *w, side *sides, size_t count, size_t blocks, uint64_t seed,
                           at_error *error)
{
    at_status status = AT_OK;
    rng random = rng_seeded(seed);
    uint64_t *ids = calloc(count + 1, sizeof *ids);
    if (!ids)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    for (size_t i = 0; !status && i < count; i++)
        status = hold(w, &sides[i], i, blocks, error);
    for (size_t b = 0; !status && b < blocks; b++) {
        size_t held = 0;
        for (size_t i = 0; i < count; i++)
            if (sides[i].outcome == OUTCOME_OK)
                ids[held++] = i;
        if (held == 0)
            break;
        rng_shuffle(&random, ids, held);
        status = take_block(w, sides, ids, held, error);
    }
    for (size_t i = 0; i < count; i++)
        if (!status)
            status = device_worker_release(w, i, error);
    free(ids);
    return status;
}
