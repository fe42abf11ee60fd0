/* The set-up of a device worker: problems, expected results, and the time limit of variants. */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/loaded.h"
#include "bench/meter.h"

enum {
    CEILING_SAMPLES = 11,
    CEILING_LEAST = 3, /* minimum for slow copies; a race takes one more per block */
    REFERENCE_SAMPLES = 3,
    WATCHDOG_REFERENCES = 100, /* a launch this much slower than a naive kernel is ended */
};

/* Samples of the reference end after a sample of this length, because no variant is compared with
 * the reference's time. Samples of the ceiling end after this total time. */
static const int64_t long_setup_ns = 20 * 1000000;

static at_status sample_reference(device_bench *b, int64_t *reference_ns, at_error *error)
{
    int64_t samples_ns[REFERENCE_SAMPLES] = {0};
    device_stage *first = &b->stages[0];
    *reference_ns = 0;
    if (!first->slots[0].reference || first->slots[0].oracle_error[0] || first->slots[0].timed)
        return AT_OK;
    loaded_variant reference = {.stage = first,
                                .kernels = {first->slots[0].reference},
                                .launches = {first->slots[0].reference_launch}};
    at_status status = loaded_prepare(&reference, error);
    size_t count = 0;
    while (!status && count < REFERENCE_SAMPLES && (count == 0 || samples_ns[0] < long_setup_ns))
        status = loaded_sample(&reference, &samples_ns[count++], error);
    device_meter_release(&first->meter, reference.batch);
    *reference_ns = status ? 0 : bench_median_ns(samples_ns, count);
    return status;
}

static at_status measure_setup(device_bench *b, device_answer *answer, at_error *error)
{
    device_ready *r = &answer->found.ready;
    device_meter *meter = &b->stages[0].meter;
    double khz;
    at_status status = bench_sm_clock(b, &khz, error);
    if (!status)
        status = device_meter_init(meter, &b->stages[0].slots[0], &b->stages[0].context, b->cache,
                                   r, error);
    for (size_t i = 1; !status && i < b->stage_count; i++)
        status = device_meter_follow(&b->stages[i].meter, meter, &b->stages[i].slots[0],
                                     &b->stages[i].context, error);
    bench_reserve_samples(b, CEILING_SAMPLES);
    if (!status)
        status = sample_reference(b, &r->reference_ns, error);
    size_t most = meter->ceiling_bytes > 0 ? CEILING_SAMPLES : 0, ceilings = 0;
    for (int64_t spent_ns = 0;
         !status && ceilings < most && (ceilings < CEILING_LEAST || spent_ns < long_setup_ns);
         spent_ns += b->samples_ns[ceilings++])
        status = device_meter_ceiling(meter, &b->samples_ns[ceilings], error);
    if (!status)
        status = bench_sm_clock(b, &r->sm_clock_khz, error);
    if (status)
        return status;
    answer->found.samples_ns = b->samples_ns;
    answer->found.sample_count = ceilings;
    answer->found.ceiling_ns = bench_median_ns(b->samples_ns, ceilings);
    return AT_OK;
}

/* Returns the expected time of a transfer at 1 GB/s, plus 10 us for each piece. */
static int64_t transfer_expected_ns(const problem_plan *plan)
{
    return (int64_t)(plan_buffer_bytes(&plan->buffers[plan->transfer.from]) +
                     10000 * plan->transfer.pieces);
}

/* Returns the time limit of a launch. The limit includes wall time, because a simulated device
 * takes longer than it reports. The reference is no measure for transfers: it neither moves data
 * between host and device nor pins memory. */
static int64_t find_watchdog(device_bench *b, int64_t reference_ns)
{
    bool transfers = b->stages[0].slots[0].plan.transfer.direction != TRANSFER_NONE;
    int64_t longest_ns =
        transfers ? transfer_expected_ns(&b->stages[0].slots[0].plan) : reference_ns;
    b->watchdog_work = 1;
    for (size_t i = 0; i < b->stage_count * b->slot_count; i++) {
        const device_slot *s = loaded_slot_at(b, i);
        if (s->reference_wall_ns > longest_ns)
            longest_ns = s->reference_wall_ns;
        if (WATCHDOG_REFERENCES * s->reference_work > b->watchdog_work)
            b->watchdog_work = WATCHDOG_REFERENCES * s->reference_work;
    }
    /* Without a reference only the limits of a proof apply. */
    if (b->stages[0].slots[0].plan.oracle == ORACLE_NONE)
        b->watchdog_work = 0;
    int64_t limit_ns = WATCHDOG_REFERENCES * longest_ns;
    return limit_ns > b->watchdog_floor_ns ? limit_ns : b->watchdog_floor_ns;
}

/* Counts layouts and slots per layout. Returns false if the problems are not in this order. */
static bool count_stages(const device_problem *problems, size_t count, size_t *stages,
                         size_t *slots)
{
    *slots = 0;
    while (*slots < count && problems[*slots].layout == 0)
        ++*slots;
    if (*slots == 0 || *slots > DEVICE_SLOTS || count % *slots != 0)
        return false;
    *stages = count / *slots;
    for (size_t i = 0; i < count; i++)
        if (problems[i].layout != i / *slots)
            return false;
    return true;
}

static void clear(device_bench *b)
{
    for (size_t i = 0; i < b->held_count; i++)
        loaded_free(b, &b->held[i]);
    free(b->held);
    for (size_t i = 0; i < b->stage_count; i++) {
        device_meter_deinit(&b->stages[i].meter);
        device_context_deinit(&b->stages[i].context);
        for (size_t k = 0; k < b->slot_count; k++)
            if (b->stages[i].slots[k].api)
                device_slot_deinit(&b->stages[i].slots[k]);
    }
    free(b->stages);
    b->held = NULL;
    b->stages = NULL;
    b->held_count = b->stage_count = b->slot_count = 0;
}

static void report_progress(void *context, uint64_t done, uint64_t total)
{
    bench_notify(context, DEVICE_RUNS_ALL, done * 1000 / total, INT64_MAX);
}

/* Returns an error if the oracle changes no result: a variant that does nothing would be right. */
static at_status refuse_unchanged_results(device_bench *b, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < b->stage_count; i++) {
        const device_slot *slots[DEVICE_SLOTS];
        const device_kernel *kernels[DEVICE_SLOTS];
        device_coverage covered = {.stored = true};
        size_t count = 0;
        for (size_t k = 0; k < b->slot_count; k++)
            if (!b->stages[i].slots[k].absent && !b->stages[i].slots[k].timed &&
                b->stages[i].slots[k].reference) {
                slots[count] = &b->stages[i].slots[k];
                kernels[count++] = b->stages[i].slots[k].reference;
            }
        if (count == 0 || !loaded_is_idle(slots, count, &covered))
            continue;
        if (b->api->analysis)
            status = b->api->analysis->covered(b->device, kernels, count, &covered, error);
        if (!status)
            status = error_set(
                error, AT_SCRIPT,
                "%s on any problem, so a variant that does nothing would pass%s%s",
                covered.stored ? "the kernel changes no result" : "the kernel wrote nothing",
                covered.stores[0] ? ". Never executed: "
                : b->api->analysis
                    ? ""
                    : ". 'autotune check' names the lines that were never executed, and why",
                covered.stores);
    }
    return status;
}

static at_status set_up(device_bench *b, const device_image support[DEVICE_SUPPORT_PARTS],
                        const device_problem *problems, size_t count, device_answer *answer,
                        at_error *error)
{
    size_t stages, slots;
    clear(b);
    if (!count_stages(problems, count, &stages, &slots))
        return error_set(error, AT_FORMAT, "the problems are not in the order of their layouts");
    b->stages = memory_new(stages, sizeof *b->stages);
    b->stage_count = stages;
    b->slot_count = slots;
    if (b->api->analysis)
        b->api->analysis->watch(b->device, report_progress, b);
    bench_notify(b, "the set-up (data and reference results)", 0, bench_setup_limit_ns);
    at_status status = AT_OK;
    if (b->api->hardware)
        status = b->api->hardware->set_support(b->device, support, error);
    for (size_t i = 0; !status && i < count; i++) {
        device_slot *s = loaded_slot_at(b, i);
        status = device_slot_init(s, b->api, b->device, &problems[i], &b->contents, error);
        if (!status)
            status = device_slot_seed(s, problems[i].plan.seed, error);
    }
    if (!status && !problems[0].proves)
        status = refuse_unchanged_results(b, error);
    for (size_t i = 0; !status && !b->untimed && i < stages; i++)
        status = device_context_init(&b->stages[i].context, &b->stages[i].slots[0],
                                     &problems[i * slots], &b->contents, error);
    if (!status && !b->untimed)
        status = measure_setup(b, answer, error);
    return status;
}

at_status device_bench_setup(device_bench *b, pack *asked, device_answer *answer)
{
    device_image support[DEVICE_SUPPORT_PARTS];
    for (size_t i = 0; i < DEVICE_SUPPORT_PARTS; i++)
        device_get_image(asked, &support[i]);
    const uint32_t count = pack_get_u32(asked);
    if (count == 0 || count > DEVICE_MAX_PROBLEMS)
        return AT_FORMAT;
    device_problem *problems = memory_new(count, sizeof *problems);
    for (uint32_t i = 0; i < count; i++)
        device_get_problem(asked, &problems[i]);
    device_predecessor *before;
    const size_t before_count = device_get_predecessors(asked, &before);
    for (uint32_t i = 0; i < count; i++) {
        problems[i].before = before;
        problems[i].before_count = before_count;
    }
    at_error error = {0};
    at_status status = AT_OK;
    const bool complete = pack_complete(asked);
    if (complete)
        status = set_up(b, support, problems, count, answer, &error);
    free(before);
    free(problems);
    if (status) {
        bench_answer_failure(b, status, &error, answer);
        answer->usable = false;
    } else if (complete) {
        b->watchdog_ns = find_watchdog(b, answer->found.ready.reference_ns);
        answer->found.ready.watchdog_ns = b->watchdog_ns;
    }
    return complete ? AT_OK : AT_FORMAT;
}

void device_bench_deinit(device_bench *b)
{
    clear(b);
    device_contents_deinit(&b->contents);
    free(b->samples_ns);
    free(b->counters);
    free(b->results);
    free(b->printed);
}
