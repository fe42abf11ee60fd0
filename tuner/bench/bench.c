#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "bench/loaded.h"
#include "bench/meter.h"

enum {
    CHECK_LAUNCHES = 2,   /* launches per slot in a try */
    RECHECK_LAUNCHES = 8, /* launches per slot for a finalist, to show rare errors */
};

/* Most extra time of a first launch: loading the kernel and allocating memory for its stack take a
 * millisecond or two each, and the device's clock does not show this part separately. */
static const int64_t first_launch_ns = 10 * 1000000;

static at_status try_samples(device_bench *b, loaded_variant *v, size_t count,
                             device_answer *answer, at_error *error)
{
    /* A prediction has no time limit: a limit of counted work ends it. */
    bench_notify(b, "sampling", 0,
                 v->stage->slots[0].timed ? INT64_MAX : (int64_t)count * b->watchdog_ns);
    bench_reserve_samples(b, count);
    at_status status = loaded_prepare(v, error);
    for (size_t i = 0; !status && i < count; i++)
        status = loaded_sample(v, &b->samples_ns[i], error);
    if (!status)
        status = bench_sm_clock(b, &answer->found.sm_clock_khz, error);
    if (!status && b->api->analysis)
        b->api->analysis->interval(b->device, &answer->found.low_ns, &answer->found.high_ns);
    answer->found.samples_ns = b->samples_ns;
    answer->found.sample_count = count;
    return status;
}

/* Checks a variant unless a launch takes longer than variant->too_slow_ns; *slow_ns is then its
 * time, otherwise 0. If the extra time of a first launch may be the reason, a sample decides. */
static at_status check_unless_slow(device_bench *b, const device_variant *variant,
                                   const loaded_variant *v, int64_t *slow_ns, outcome *result,
                                   at_error *error)
{
    at_status status =
        loaded_check_within(b, v, CHECK_LAUNCHES, variant->too_slow_ns, slow_ns, result, error);
    if (status || *slow_ns == 0 || *slow_ns > variant->too_slow_ns + first_launch_ns)
        return status;
    bench_notify(b, "sampling", 0, b->watchdog_ns);
    status =
        device_meter_sample(&v->stage->meter, v->kernels[0], &v->launches[0], NULL, slow_ns, error);
    if (status || *slow_ns > variant->too_slow_ns)
        return status;
    *slow_ns = 0;
    return loaded_check(b, v, CHECK_LAUNCHES, result, error);
}

at_status device_bench_try(device_bench *b, pack *asked, device_answer *answer)
{
    device_variant variant;
    const uint64_t sample_count = pack_get_u64(asked);
    device_get_variant(asked, &variant);
    if (!pack_complete(asked) || sample_count > DEVICE_MAX_SAMPLES)
        return AT_FORMAT;
    at_error error = {0};
    loaded_variant v = {0};
    outcome result = OUTCOME_OK;
    int64_t start_ns = clock_now_ns();
    int64_t slow_ns = 0;
    const bool whole = !variant.once[0];
    at_status status = whole ? loaded_make(b, &variant, &v, &error)
                             : loaded_check_loops(b, &variant, CHECK_LAUNCHES,
                                                  &answer->found.coverage, &result, &error);
    if (!status && whole && sample_count > 0)
        status = check_unless_slow(b, &variant, &v, &slow_ns, &result, &error);
    else if (!status && whole)
        status = loaded_check(b, &v, CHECK_LAUNCHES, &result, &error);
    if (!status && slow_ns > 0) {
        result = OUTCOME_TOO_SLOW;
        bench_reserve_samples(b, 1);
        b->samples_ns[0] = slow_ns;
        answer->found.samples_ns = b->samples_ns;
        answer->found.sample_count = 1;
    }
    if (!status && whole && result == OUTCOME_OK)
        status = loaded_cover(b, &v, &answer->found.coverage, &error);
    int64_t checked_ns = clock_now_ns();
    answer->found.check_ns = checked_ns - start_ns;
    if (!status && result == OUTCOME_OK && sample_count > 0 && v.present[0] && !b->untimed) {
        status = try_samples(b, &v, (size_t)sample_count, answer, &error);
        answer->found.measure_ns = clock_now_ns() - checked_ns;
    }
    answer->found.outcome = result;
    answer->found.slot = b->failed_slot;
    answer->printed = b->printed ? b->printed : "";
    if (result != OUTCOME_OK && result != OUTCOME_TOO_SLOW) {
        answer->message = b->text;
        answer->found.fault = b->fault;
    }
    if (status)
        bench_answer_failure(b, status, &error, answer);
    /* Unloading from a lost context may hang. */
    if (answer->usable)
        loaded_free(b, &v);
    return AT_OK;
}

static int compare_held(const void *id, const void *held)
{
    uint64_t a = *(const uint64_t *)id, b = ((const loaded_variant *)held)->id;
    return (a > b) - (a < b);
}

static loaded_variant *find_held(device_bench *b, uint64_t id)
{
    return b->held ? bsearch(&id, b->held, b->held_count, sizeof *b->held, compare_held) : NULL;
}

static at_status get_held(device_bench *b, uint64_t id, loaded_variant **out, at_error *error)
{
    *out = find_held(b, id);
    return *out ? AT_OK
                : error_set(error, AT_WORKER, "the device worker no longer has this variant");
}

static void insert_held(device_bench *b, const loaded_variant *v)
{
    size_t at = b->held_count;
    memory_add(&b->held, &b->held_count, v, sizeof *v);
    for (; at > 0 && b->held[at - 1].id > v->id; at--)
        b->held[at] = b->held[at - 1];
    b->held[at] = *v;
}

static at_status check_ragged(device_bench *b, const loaded_variant *v, outcome *result,
                              at_error *error)
{
    loaded_variant ragged = *v;
    ragged.present[0] = false;
    return loaded_check(b, &ragged, CHECK_LAUNCHES, result, error);
}

at_status device_bench_hold(device_bench *b, pack *asked, device_answer *answer)
{
    const uint64_t id = answer->found.id;
    device_variant variant;
    device_get_variant(asked, &variant);
    if (!pack_complete(asked))
        return AT_FORMAT;
    at_error error = {0};
    loaded_variant v = {0};
    at_status status = AT_OK;
    if (find_held(b, id))
        status =
            error_set(&error, AT_FORMAT, "the device worker already has a variant with this id");
    if (!status)
        status = loaded_make(b, &variant, &v, &error);
    v.id = id;
    if (!status && variant.unchecked)
        status = check_ragged(b, &v, &answer->found.outcome, &error);
    if (!status && answer->found.outcome != OUTCOME_OK) {
        answer->message = b->text;
        loaded_free(b, &v);
        return AT_OK;
    }
    if (!status) {
        /* Load the code and raise limits now: this must not happen during a sample. */
        bench_notify(b, "the first launch", 0, b->watchdog_ns);
        status = device_slot_restore(&v.stage->slots[0], &error);
    }
    if (!status && !v.stage->slots[0].timed)
        status = b->api->launch(b->device, v.kernels[0], &v.launches[0], v.stage->slots[0].buffers,
                                &error);
    if (!status)
        status = loaded_prepare(&v, &error);
    if (!status) {
        insert_held(b, &v);
        return AT_OK;
    }
    bench_answer_failure(b, status, &error, answer);
    if (answer->usable)
        loaded_free(b, &v);
    return AT_OK;
}

at_status device_bench_release(device_bench *b, pack *asked, device_answer *answer)
{
    if (!pack_complete(asked))
        return AT_FORMAT;
    loaded_variant *v = find_held(b, answer->found.id);
    if (!v)
        return AT_OK;
    loaded_free(b, v);
    size_t after = b->held_count - (size_t)(v - b->held) - 1;
    memmove(v, v + 1, after * sizeof *v);
    b->held_count--;
    return AT_OK;
}

/* Samples a block. answer->found.id is the current variant, for failures. */
static at_status sample_block(device_bench *b, const uint64_t *ids, size_t count, bool with_copy,
                              device_answer *answer, at_error *error)
{
    loaded_variant *v;
    double before_khz = 0;
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < count; i++) {
        answer->found.id = ids[i];
        status = get_held(b, ids[i], &v, error);
    }
    bench_reserve_samples(b, count);
    if (!status)
        status = bench_sm_clock(b, &before_khz, error);
    if (!status && with_copy)
        status = device_meter_ceiling(&b->stages[0].meter, &answer->found.ceiling_ns, error);
    for (size_t i = 0; !status && i < count; i++) {
        answer->found.id = ids[i];
        bench_notify(b, "sampling", i, b->watchdog_ns);
        status = loaded_sample(find_held(b, ids[i]), &b->samples_ns[i], error);
    }
    if (!status)
        status = bench_sm_clock(b, &answer->found.sm_clock_khz, error);
    /* A block too short to measure the clock uses the clock measured before it. */
    if (answer->found.sm_clock_khz <= 0)
        answer->found.sm_clock_khz = before_khz;
    return status;
}

at_status device_bench_block(device_bench *b, pack *asked, device_answer *answer)
{
    const bool with_copy = pack_get_u32(asked) != 0;
    const uint64_t count = pack_get_u64(asked);
    if (asked->failed || count > DEVICE_MAX_BLOCK)
        return AT_FORMAT;
    uint64_t *ids = memory_new((size_t)count, sizeof *ids);
    for (uint64_t i = 0; i < count; i++)
        ids[i] = pack_get_u64(asked);
    at_error error = {0};
    at_status status = AT_OK;
    const bool complete = pack_complete(asked);
    if (complete)
        status = sample_block(b, ids, (size_t)count, with_copy, answer, &error);
    free(ids);
    if (status) {
        bench_answer_failure(b, status, &error, answer);
    } else if (complete) {
        answer->found.id = 0;
        answer->found.samples_ns = b->samples_ns;
        answer->found.sample_count = (size_t)count;
    }
    return complete ? AT_OK : AT_FORMAT;
}

static at_status seed_slots(device_bench *b, device_stage *stage, uint64_t seed, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < b->slot_count; i++)
        if (stage->slots[i].seed != seed) {
            bench_notify(b, "new contents", 0,
                         LOADED_CHECK_ROUNDS * CHECK_LAUNCHES * b->watchdog_ns);
            status = device_slot_seed(&stage->slots[i], seed, error);
        }
    return status;
}

/* Checks that no problem's data have changed: a write far out of bounds may hit any of them. */
static at_status check_elsewhere(device_bench *b, outcome *result, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < b->stage_count * b->slot_count; i++) {
        device_slot *s = loaded_slot_at(b, i);
        bool sound;
        status = device_slot_sound(s, &sound, error);
        if (status || sound)
            continue;
        *result = OUTCOME_WRONG_RESULT;
        snprintf(
            b->text, sizeof b->text,
            "the variant wrote far outside its buffers: memory that it was not given has changed");
        status = device_slot_seed(s, s->seed, error);
    }
    return status;
}

at_status device_bench_recheck(device_bench *b, pack *asked, device_answer *answer)
{
    const uint64_t seed = pack_get_u64(asked);
    if (!pack_complete(asked))
        return AT_FORMAT;
    at_error error = {0};
    loaded_variant *v;
    outcome result = OUTCOME_OK;
    int64_t start_ns = clock_now_ns();
    at_status status = get_held(b, answer->found.id, &v, &error);
    if (!status)
        status = seed_slots(b, v->stage, seed, &error);
    if (!status)
        status = loaded_check(b, v, RECHECK_LAUNCHES, &result, &error);
    if (!status && result == OUTCOME_OK)
        status = check_elsewhere(b, &result, &error);
    answer->found.check_ns = clock_now_ns() - start_ns;
    answer->found.outcome = result;
    if (result != OUTCOME_OK)
        answer->message = b->text;
    if (status)
        bench_answer_failure(b, status, &error, answer);
    return AT_OK;
}

static at_status read_energy(device_bench *b, const loaded_variant *v, uint32_t chunks,
                             energy_estimate *out, at_error *error)
{
    energy_reading readings[ENERGY_READINGS];
    board_reading board;
    int64_t time_ns = 0;
    bench_notify(b, "sampling", 0, b->watchdog_ns);
    at_status status = loaded_sample(v, &time_ns, error);
    uint64_t chunk = energy_chunk_launches(time_ns);
    int64_t limit_ns = b->watchdog_ns + 10 * (int64_t)chunk * time_ns;
    for (size_t i = 0; !status && i <= chunks; i++) {
        bench_notify(b, "measuring energy", 0, limit_ns);
        /* The first chunk only brings the power to its level and is not counted. */
        status = b->api->energy->repeat(b->device, v->kernels[0], &v->launches[0],
                                        v->stage->slots[0].buffers, chunk, error);
        if (!status)
            status = b->api->energy->board(b->device, &board, error);
        readings[i] = (energy_reading){.now_ns = clock_now_ns(),
                                       .launches = i * chunk,
                                       .energy_mj = board.energy_mj,
                                       .power_w = board.power_w};
    }
    if (!status && !energy_estimate_launch(readings, chunks + 1, out))
        snprintf(b->text, sizeof b->text, "the board reports neither energy nor power");
    return status ? status : device_slot_restore(&v->stage->slots[0], error);
}

at_status device_bench_energy(device_bench *b, pack *asked, device_answer *answer)
{
    const uint32_t chunks = pack_get_u32(asked);
    if (!pack_complete(asked) || chunks > ENERGY_CHUNKS)
        return AT_FORMAT;
    at_error error = {0};
    board_reading board;
    loaded_variant *v;
    const device_energy *energy = b->api->energy;
    *b->text = '\0';
    if (!energy) {
        answer->message = "this kind of device cannot measure energy";
        return AT_OK;
    }
    if (energy->board(b->device, &board, &error)) {
        snprintf(b->text, sizeof b->text, "%s", error.message);
        answer->message = b->text;
        return AT_OK;
    }
    answer->found.throttle = board.throttle;
    answer->found.others = energy->others(b->device);
    at_status status = chunks ? get_held(b, answer->found.id, &v, &error) : AT_OK;
    if (!status && chunks)
        status = read_energy(b, v, chunks, &answer->found.energy, &error);
    answer->message = b->text;
    if (status)
        bench_answer_failure(b, status, &error, answer);
    return AT_OK;
}

typedef struct passes {
    device_bench *bench;
    const loaded_variant *variant;
    uint64_t done;
} passes;

static at_status renew_pass(void *context, at_error *error)
{
    passes *p = context;
    bench_notify(p->bench, "counting", p->done++,
                 bench_load_limit_ns +
                     p->variant->launches[0].launch_count * p->bench->watchdog_ns);
    return device_slot_restore(&p->variant->stage->slots[0], error);
}

at_status device_bench_count(device_bench *b, pack *asked, device_answer *answer)
{
    const char *metrics[DEVICE_MAX_METRICS];
    const uint32_t count = pack_get_u32(asked);
    for (uint32_t i = 0; i < count && i < DEVICE_MAX_METRICS; i++)
        metrics[i] = pack_get_string(asked);
    if (!pack_complete(asked) || count > DEVICE_MAX_METRICS)
        return AT_FORMAT;
    at_error error = {0};
    loaded_variant *v;
    if (!b->api->counters) {
        answer->message = "this kind of device has no hardware counters";
        return AT_OK;
    }
    if (!b->counters)
        b->counters =
            memory_new((size_t)PLAN_MAX_LAUNCHES * DEVICE_MAX_METRICS, sizeof *b->counters);
    at_status status = get_held(b, answer->found.id, &v, &error);
    if (!status) {
        passes p = {.bench = b, .variant = v};
        device_counting what = {metrics, count, b->cache, renew_pass, &p};
        bench_notify(b, "opening the counters", 0, bench_load_limit_ns);
        status = b->api->counters->count(b->device, v->kernels[0], &v->launches[0],
                                         v->stage->slots[0].buffers, &what, b->counters, &error);
    }
    if (status == AT_NO_DEVICE) {
        snprintf(b->text, sizeof b->text, "%s", error.message);
        answer->message = b->text;
    } else if (status) {
        bench_answer_failure(b, status, &error, answer);
    } else {
        answer->found.counters = b->counters;
        answer->counter_count = count * v->launches[0].launch_count;
    }
    return AT_OK;
}

static device_slot *get_slot(device_bench *b, pack *asked)
{
    const uint32_t layout = pack_get_u32(asked), slot = pack_get_u32(asked);
    return layout < b->stage_count && slot < b->slot_count ? &b->stages[layout].slots[slot] : NULL;
}

at_status device_bench_results(device_bench *b, pack *asked, device_answer *answer)
{
    const device_slot *s = get_slot(b, asked);
    if (!pack_complete(asked))
        return AT_FORMAT;
    free(b->results);
    b->results = NULL;
    if (s)
        answer->found.results_bytes = device_slot_results(s, &b->results);
    answer->results = b->results;
    return AT_OK;
}

at_status device_bench_compare(device_bench *b, pack *asked, device_answer *answer)
{
    at_error error = {0};
    size_t results_bytes;
    device_slot *s = get_slot(b, asked);
    const void *results = pack_get_bytes(asked, &results_bytes);
    if (!pack_complete(asked))
        return AT_FORMAT;
    bench_notify(b, "comparing with another device", 0, bench_setup_limit_ns);
    at_status status = s ? AT_OK : error_set(&error, AT_FORMAT, "there is no such problem");
    if (!status && s->seed != s->plan.seed)
        status = device_slot_seed(s, s->plan.seed, &error);
    if (!status)
        status = device_slot_compare(s, results, results_bytes, &answer->found.outcome, b->text,
                                     sizeof b->text, &error);
    if (answer->found.outcome != OUTCOME_OK)
        answer->message = b->text;
    if (status)
        bench_answer_failure(b, status, &error, answer);
    return AT_OK;
}
