/* Other GPUs of the model sample blocks while the home GPU samples a block.
 *
 * Samples are compared only within a block, so any GPU may sample a block: several GPUs shorten
 * probe, screen and heats. Only the home GPU runs the finals and decides which entrants pass. If an
 * entrant fails on another GPU, only that GPU leaves the race. */
#include "run/race/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"

static void deinit(race_other *o)
{
    free(o->held);
    free(o->loads);
    free(o->order);
}

void others_join(race_driver *d)
{
    device_worker *ready[WORKERS_MOST_OTHERS];
    size_t count = pipeline_ready_others(d->pipeline, ready);
    d->random = rng_seeded(d->seed);
    d->others = memory_new(count, sizeof *d->others);
    d->ratios = memory_new(d->count, sizeof *d->ratios);
    while (d->other_count < count) {
        race_other *o = &d->others[d->other_count];
        o->worker = ready[d->other_count++];
        o->held = memory_new(d->count, sizeof *o->held);
        o->loads = memory_new(d->count, sizeof *o->loads);
        o->order = memory_new(d->count, sizeof *o->order);
        clock_watch_init(&o->watch);
    }
}

/* Ends a GPU's part in the race. Claimed requests stay claimed. The pipeline handles failures. */
static void leave(race_driver *d, race_other *o)
{
    for (size_t i = 0; o->held && i < d->count; i++)
        if (o->held[i])
            device_worker_release(o->worker, i, NULL);
    deinit(o);
    *o = d->others[--d->other_count];
}

void others_leave(race_driver *d)
{
    while (d->other_count > 0)
        leave(d, &d->others[d->other_count - 1]);
}

static bool hold(race_driver *d, race_other *o, uint32_t entrant)
{
    device_variant v;
    candidate_variant(d->entrants[entrant].who, &v);
    for (size_t i = 1; i < DEVICE_SLOTS; i++)
        v.present[i] = false;
    v.unchecked = false;
    if (device_worker_hold(o->worker, entrant, &v, NULL))
        return false;
    o->held[entrant] = true;
    o->loads[o->load_count++] = device_worker_claim(o->worker);
    return true;
}

static bool load(race_driver *d, race_other *o, const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < d->count; i++) {
        if (!o->held[i] || d->entrants[i].in_block)
            continue;
        o->held[i] = false;
        if (device_worker_release(o->worker, i, NULL))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!o->held[order[i]] && candidate_has_code(d->entrants[order[i]].who) &&
            !hold(d, o, order[i]))
            return false;
    return true;
}

void others_load(race_driver *d, const uint32_t *order, size_t count)
{
    for (size_t i = d->other_count; i-- > 0;)
        if (!d->others[i].count && !load(d, &d->others[i], order, count))
            leave(d, &d->others[i]);
}

static bool ask(race_driver *d, race_other *o, const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)rng_below(&d->random, i + 1);
        o->order[i] = o->order[at];
        o->order[at] = order[i];
    }
    for (size_t i = 0; i < count; i++)
        d->ids[i] = o->order[i];
    if (device_worker_block(o->worker, d->ids, count, false, NULL))
        return false;
    o->block = device_worker_claim(o->worker);
    o->probes = d->probing;
    o->count = count;
    return true;
}

static bool holds_all(const race_other *o, const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!o->held[order[i]])
            return false;
    return true;
}

void others_ask(race_driver *d, const uint32_t *order, size_t count)
{
    size_t wanted = race_blocks_ahead(d->race), under_way = 1;
    for (size_t i = 0; i < d->other_count; i++)
        under_way += d->others[i].count > 0;
    for (size_t i = d->other_count; i-- > 0 && under_way < wanted;) {
        race_other *o = &d->others[i];
        if (o->count || !holds_all(o, order, count))
            continue;
        if (ask(d, o, order, count))
            under_way++;
        else
            leave(d, o);
    }
}

void others_watch(race_driver *d)
{
    for (size_t i = d->other_count; i-- > 0;)
        device_worker_watch(d->others[i].worker);
}

void others_poll(const race_driver *d, poll_set *set)
{
    for (size_t i = 0; i < d->other_count; i++)
        if (device_worker_pending(d->others[i].worker))
            device_worker_poll(d->others[i].worker, set);
}

/* Returns true if all loads succeeded. The device answers them before the block. */
static bool loads_succeeded(race_other *o)
{
    bool all = true;
    for (; o->load_count > 0; o->load_count--) {
        device_event e;
        if (device_worker_await(o->worker, o->loads[o->load_count - 1], 0, &e, NULL))
            return false;
        all = all && e.outcome == OUTCOME_OK;
        device_event_deinit(&e);
    }
    return all;
}

/* Converts another GPU's samples from the order o->order to `order`, and to the home GPU's scale.
 * Returns false if an entrant lacks a sample from either GPU. */
static bool translate(race_driver *d, const race_other *o, const int64_t *there_ns,
                      const uint32_t *order, size_t count, int64_t *out_ns)
{
    memset(out_ns, 0, count * sizeof *out_ns);
    for (size_t i = 0; i < count; i++) {
        for (size_t at = 0; at < o->count && !out_ns[i]; at++)
            if (o->order[at] == order[i])
                out_ns[i] = there_ns[at];
        if (out_ns[i] <= 0 || d->entrants[order[i]].home_ns <= 0)
            return false;
        d->ratios[i] = (double)d->entrants[order[i]].home_ns / (double)out_ns[i];
    }
    double ratio = stats_median(d->ratios, count);
    for (size_t i = 0; i < count; i++) {
        out_ns[i] = llround(ratio * (double)out_ns[i]);
        if (out_ns[i] <= 0)
            return false;
    }
    return true;
}

/* Takes the answer to the GPU's block. Sets *fit if the GPU may continue. */
static void use(race_driver *d, race_other *o, const device_event *e, const uint32_t *order,
                size_t count, bool *fit, bool *found, device_event *out)
{
    *fit = loads_succeeded(o) && e->outcome == OUTCOME_OK && e->sample_count == o->count;
    if (!*fit || o->probes != d->probing ||
        clock_watch_judge(&o->watch, e->sm_clock_khz) == CLOCK_REDO)
        return;
    int64_t *samples_ns = memory_new(count, sizeof *samples_ns);
    *found = translate(d, o, e->samples_ns, order, count, samples_ns);
    if (*found)
        *out = (device_event){.kind = DEVICE_BLOCK,
                              .outcome = OUTCOME_OK,
                              .samples_ns = samples_ns,
                              .sample_count = count};
    else
        free(samples_ns);
}

void others_take_block(race_driver *d, const uint32_t *order, size_t count, bool *found,
                       device_event *out)
{
    /* The home GPU samples another block while a slower GPU finishes its own. */
    int timeout_ms = 1 + (int)(d->block_ns / 2 / 1000000);
    *found = false;
    for (size_t i = d->other_count; i-- > 0 && !*found;) {
        race_other *o = &d->others[i];
        device_event e;
        if (!o->count)
            continue;
        at_status heard = device_worker_await(o->worker, o->block, timeout_ms, &e, NULL);
        timeout_ms = 0;
        if (heard == AT_NOT_FOUND)
            continue;
        bool fit = !heard;
        if (!heard) {
            use(d, o, &e, order, count, &fit, found, out);
            device_event_deinit(&e);
            o->count = 0;
        }
        if (!fit)
            leave(d, o);
    }
}
