#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "base/text.h"

enum {
    CEILING_SAMPLES = 11,
    CEILING_LEAST = 3, /* of slow copies, of which a race takes one a block as well */
    REFERENCE_SAMPLES = 3,
    WATCHDOG_REFERENCES = 100, /* a variant that much slower than a naive kernel is of no use */
    CHECK_LAUNCHES = 2,        /* of a slot, when a variant is tried */
    RECHECK_LAUNCHES = 8,      /* and of a finalist: what shows rarely has more chances */
    CHECK_ROUNDS = 2,          /* all again when the slot was unsound */
    LAST_RESORT = 30           /* times what a kernel takes that counted work ends */
};

/* Set-up and loading do not depend on the variant; this is far above what they take. */
static const int64_t setup_limit_ns = INT64_C(120) * 1000000000;
static const int64_t load_limit_ns = INT64_C(20) * 1000000000;

/* One sample of a reference that takes as long is enough: nothing is compared with it; and a few of
 * copies that together do. */
static const int64_t long_setup_ns = 20 * 1000000;

/* The time of a first launch beside its kernel's: loading it takes a millisecond or two, memory for
 * its stack as long. The device's clock does not see what keeps the host from waiting for it. */
static const int64_t first_launch_ns = 10 * 1000000;

static void notify(device_bench *b, const char *what, uint64_t index, int64_t limit_ns)
{
    const device_note note = {.what = what,
                              .index = index,
                              .limit_ns =
                                  limit_ns < DEVICE_NOTE_MOST_NS ? limit_ns : DEVICE_NOTE_MOST_NS};
    b->notify(b->notify_context, &note);
}

/* Turns a failure into an answer. */
static void answer_failure(device_bench *b, at_status status, const at_error *error,
                           device_answer *answer)
{
    snprintf(b->text, sizeof b->text, "%s", error->message);
    answer->message = b->text;
    answer->found.status = status;
    bool refused = status == AT_COMPILE || status == AT_FORMAT || status == AT_NO_MEMORY;
    bool unknown = status == AT_NO_DEVICE;
    answer->found.outcome = refused   ? OUTCOME_LAUNCH_ERROR
                            : unknown ? OUTCOME_NOT_SIMULATED
                                      : OUTCOME_CRASHED;
    answer->usable = refused || unknown;
    answer->found.sample_count = 0;
}

static void reserve_samples(device_bench *b, size_t count)
{
    if (count <= b->sample_capacity)
        return;
    b->samples_ns = memory_have(realloc(b->samples_ns, count * sizeof *b->samples_ns));
    b->sample_capacity = count;
}

static int64_t median(const int64_t *samples_ns, size_t count)
{
    stats_summary all;
    stats_summarise_copy(samples_ns, count, &all);
    return all.median_ns;
}

static at_status read_sm_clock(device_bench *b, double *khz, at_error *error)
{
    *khz = 0;
    return b->api->sm_clock ? b->api->sm_clock(b->device, khz, error) : AT_OK;
}

/* Loading. */

static void unload(device_bench *b, loaded_variant *v)
{
    if (v->stage)
        device_meter_release(&v->stage->meter, v->batch);
    for (int i = DEVICE_SLOTS - 1; i >= 0; i--)
        if (v->kernels[i] && (i == 0 || v->kernels[i] != v->kernels[0]))
            b->api->kernel_free(b->device, v->kernels[i]);
    *v = (loaded_variant){0};
}

static at_status load_slot(device_bench *b, const device_variant *variant, int i, loaded_variant *v,
                           at_error *error)
{
    const launch_plan *launch = &variant->launches[i];
    bool shared = i > 0 && variant->images[i].size_bytes == 0;
    v->present[i] = true;
    v->launches[i] = *launch;
    if (v->stage->slots[i].absent)
        return error_set(error, AT_NO_DEVICE,
                         "nothing says what is right on %s: the search for a configuration near "
                         "the baseline that is valid there found none",
                         v->stage->slots[i].label);
    at_status status = device_slot_accepts(&v->stage->slots[i], launch, error);
    if (!status && plan_transfers(launch) && !b->api->transfers)
        status = error_set(error, AT_COMPILE, "a %s device has no host to move data from or to",
                           b->api->kind);
    if (status || launch->launch_count == 0)
        return status;
    if (shared && plan_same_entries(launch, &variant->launches[0])) {
        v->kernels[i] = v->kernels[0];
        return AT_OK;
    }
    return b->api->kernel_new(b->device, &variant->images[shared ? 0 : i], launch, &v->kernels[i],
                              error);
}

static at_status load(device_bench *b, const device_variant *variant, loaded_variant *v,
                      at_error *error)
{
    *v = (loaded_variant){0};
    if (b->slot_count == 0)
        return error_set(error, AT_INTERNAL, "the device worker is not set up");
    if (variant->layout >= b->stage_count)
        return error_set(error, AT_FORMAT, "the variant's layout has no problem");
    v->stage = &b->stages[variant->layout];
    v->launch_ns = variant->launch_ns;
    notify(b, "loading", 0, load_limit_ns);
    at_status status = AT_OK;
    for (int i = 0; !status && (size_t)i < b->slot_count; i++)
        if (variant->present[i])
            status = load_slot(b, variant, i, v, error);
    if (status)
        unload(b, v);
    return status;
}

/* Checking. */

/* Slot `i` of all layouts' together. */
static device_slot *slot_at(const device_bench *b, size_t i)
{
    return &b->stages[i / b->slot_count].slots[i % b->slot_count];
}

/* All slots but one, of all layouts. */
static at_status make_sound(device_bench *b, const device_slot *but, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < b->stage_count * b->slot_count; i++) {
        device_slot *s = slot_at(b, i);
        bool sound = true;
        if (s != but)
            status = device_slot_sound(s, &sound, error);
        if (!status && !sound)
            status = device_slot_seed(s, s->seed, error);
    }
    return status;
}

/* Checks on every slot; *result as of device_slot_check, why in b->text. Where the first launch
 * takes longer than `most_ns` (0: however long), *slow_ns is its time, and nothing is checked. */
static at_status check_within(device_bench *b, const loaded_variant *v, int launches,
                              int64_t most_ns, int64_t *slow_ns, outcome *result, at_error *error)
{
    *result = OUTCOME_OK;
    *slow_ns = 0;
    free(b->printed);
    b->printed = NULL;
    for (size_t i = 0; i < b->slot_count && *result == OUTCOME_OK && !*slow_ns; i++) {
        if (!v->present[i])
            continue;
        /* A device that counts its work ends a kernel at its own limit, and says where it is. Time
         * is the last resort then: how long that takes is the machine's matter. */
        const int64_t limit_ns =
            (b->api->give_up_after ? LAST_RESORT : 1) * CHECK_ROUNDS * launches * b->watchdog_ns;
        notify(b,
               v->stage->slots[i].sampled ? "checking blocks of the tuned problem"
               : i > 0                    ? "checking on a ragged problem"
                                          : "checking",
               0, limit_ns);
        device_check one = {.launches = launches,
                            .most_work = b->watchdog_work,
                            .most_ns = i == 0 ? most_ns : 0,
                            .text = b->text,
                            .text_bytes = sizeof b->text};
        at_status status =
            device_slot_check(&v->stage->slots[i], v->kernels[i], &v->launches[i], &one, error);
        *result = one.result;
        *slow_ns = one.slow_ns;
        /* The printed text is of the first slot, or of the one where it fails. */
        char **dropped = !b->printed || *result != OUTCOME_OK ? &b->printed : &one.printed;
        free(*dropped);
        if (dropped == &b->printed)
            b->printed = one.printed;
        if (!status && *result != OUTCOME_OK)
            status = make_sound(b, &v->stage->slots[i], error);
        if (status || *result != OUTCOME_OK) {
            char *text = status ? error->message : b->text;
            size_t size = status ? sizeof error->message : sizeof b->text;
            char plain[DEVICE_TEXT_BYTES];
            snprintf(plain, sizeof plain, "%s", text);
            const char *label = v->stage->slots[i].label;
            snprintf(text, size, "%s%s%s%s", *label ? "on " : "", label, *label ? ": " : "", plain);
        }
        if (status)
            return status;
    }
    return AT_OK;
}

static at_status check(device_bench *b, const loaded_variant *v, int launches, outcome *result,
                       at_error *error)
{
    int64_t slow_ns;
    return check_within(b, v, launches, 0, &slow_ns, result, error);
}

/* Results that differ, though not too many. */
static void tell_allowed(const device_slot *s, const launch_plan *launch, device_coverage *out)
{
    for (uint32_t i = 0; i < s->plan.buffer_count; i++)
        if (s->differing[i] > 0)
            text_add(out->allowed, sizeof out->allowed, "%s%llu of %llu elements of %s%s%s",
                     out->allowed[0] ? ", " : "", (unsigned long long)s->differing[i],
                     (unsigned long long)plan_compared(&s->plan, launch, i),
                     s->plan.buffers[i].name, *s->label ? " on " : "", s->label);
}

/* Notes the coverage of a variant's check. */
static at_status cover(device_bench *b, const loaded_variant *v, device_coverage *out,
                       at_error *error)
{
    const device_kernel *kernels[DEVICE_SLOTS];
    size_t count = 0;
    device_coverage allowed = {0};
    char problems[COVERAGE_PROBLEMS_BYTES] = "", once[COVERAGE_TEXT_BYTES];
    memcpy(once, out->once, sizeof once);
    for (size_t i = 0; i < b->slot_count; i++) {
        if (!v->present[i])
            continue;
        const device_slot *s = &v->stage->slots[i];
        text_add(problems, sizeof problems, "%s%s%s", problems[0] ? ", " : "",
                 s->sampled ? "blocks of " : "", s->label);
        if (s->sampled)
            *out = s->coverage;
        tell_allowed(&v->stage->slots[i], &v->launches[i], &allowed);
        if (v->kernels[i] && (i == 0 || v->kernels[i] != v->kernels[0]))
            kernels[count++] = v->kernels[i];
    }
    memcpy(out->allowed, allowed.allowed, sizeof out->allowed);
    memcpy(out->once, once, sizeof out->once);
    if (!b->api->covered)
        return AT_OK;
    memcpy(out->problems, problems, sizeof out->problems);
    return b->api->covered(b->device, kernels, count, out, error);
}

/* Checks on one slot after the other until the loops of variant->once have gone round twice, and
 * covers those where one did. What goes wrong on the others is not told: a launch that is refused
 * there, too. */
static at_status check_loops(device_bench *b, const device_variant *variant, int launches,
                             device_coverage *out, outcome *result, at_error *error)
{
    at_status status = AT_OK;
    memcpy(out->once, variant->once, sizeof out->once);
    for (size_t i = 0; !status && i < b->slot_count && *result == OUTCOME_OK && out->once[0]; i++) {
        loaded_variant v;
        device_variant one = *variant;
        device_coverage found = *out;
        for (size_t k = 0; k < DEVICE_SLOTS; k++)
            one.present[k] = variant->present[i] && k == i;
        if (!variant->present[i])
            continue;
        status = load(b, &one, &v, error);
        if (status == AT_COMPILE) {
            status = error_forgive(status, AT_COMPILE, error);
            continue;
        }
        if (!status)
            status = check(b, &v, launches, result, error);
        if (!status)
            status = cover(b, &v, &found, error);
        if (!status && strcmp(found.once, out->once) == 0) {
            *result = OUTCOME_OK;
        } else if (!status) {
            memcpy(out->once, found.once, sizeof out->once);
            text_add(out->problems, sizeof out->problems, "%s%s", out->problems[0] ? ", " : "",
                     found.problems);
        }
        if (!status)
            unload(b, &v);
    }
    return status;
}

static at_status sample(const loaded_variant *v, int64_t *time_ns, at_error *error)
{
    return device_meter_sample(&v->stage->meter, v->kernels[0], &v->launches[0], v->batch, time_ns,
                               error);
}

static at_status prepare(loaded_variant *v, at_error *error)
{
    return device_meter_prepare(&v->stage->meter, v->kernels[0], &v->launches[0], v->launch_ns,
                                &v->batch, error);
}

/* The set-up. */

static at_status sample_reference(device_bench *b, int64_t *reference_ns, at_error *error)
{
    int64_t samples_ns[REFERENCE_SAMPLES] = {0};
    device_stage *first = &b->stages[0];
    *reference_ns = 0;
    if (!first->slots[0].reference || first->slots[0].trouble[0])
        return AT_OK; /* nothing is timed where things are proven */
    loaded_variant reference = {.stage = first,
                                .kernels = {first->slots[0].reference},
                                .launches = {first->slots[0].reference_launch}};
    at_status status = prepare(&reference, error);
    size_t count = 0;
    while (!status && count < REFERENCE_SAMPLES && (count == 0 || samples_ns[0] < long_setup_ns))
        status = sample(&reference, &samples_ns[count++], error);
    device_meter_release(&first->meter, reference.batch);
    *reference_ns = status ? 0 : median(samples_ns, count);
    return status;
}

static at_status measure_setup(device_bench *b, device_answer *answer, at_error *error)
{
    device_ready *r = &answer->found.ready;
    device_meter *meter = &b->stages[0].meter;
    double khz;
    at_status status = read_sm_clock(b, &khz, error);
    if (!status)
        status = device_meter_init(meter, &b->stages[0].slots[0], &b->stages[0].context, b->cache,
                                   r, error);
    for (size_t i = 1; !status && i < b->stage_count; i++)
        status = device_meter_follow(&b->stages[i].meter, meter, &b->stages[i].slots[0],
                                     &b->stages[i].context, error);
    reserve_samples(b, CEILING_SAMPLES);
    if (!status)
        status = sample_reference(b, &r->reference_ns, error);
    size_t most = meter->ceiling_bytes > 0 ? CEILING_SAMPLES : 0, ceilings = 0;
    for (int64_t spent_ns = 0;
         !status && ceilings < most && (ceilings < CEILING_LEAST || spent_ns < long_setup_ns);
         spent_ns += b->samples_ns[ceilings++])
        status = device_meter_ceiling(meter, &b->samples_ns[ceilings], error);
    if (!status)
        status = read_sm_clock(b, &r->sm_clock_khz, error);
    if (status)
        return status;
    answer->found.samples_ns = b->samples_ns;
    answer->found.sample_count = ceilings;
    answer->found.ceiling_ns = median(b->samples_ns, ceilings);
    return AT_OK;
}

/* The time of a transfer that is neither clever nor broken: a gigabyte a second, and a hundred
 * thousand pieces. */
static int64_t transfer_expected_ns(const problem_plan *plan)
{
    return (int64_t)(plan_buffer_bytes(&plan->buffers[plan->transfer.from]) +
                     10000 * plan->transfer.pieces);
}

/* Wall time counts too: a simulated device takes longer than the time that it reports. The
 * reference says nothing of the way between host and device, nor of how long pinning takes. */
static int64_t find_watchdog(device_bench *b, int64_t reference_ns)
{
    bool transfers = b->stages[0].slots[0].plan.transfer.direction != TRANSFER_NONE;
    int64_t longest_ns =
        transfers ? transfer_expected_ns(&b->stages[0].slots[0].plan) : reference_ns;
    b->watchdog_work = 1;
    for (size_t i = 0; i < b->stage_count * b->slot_count; i++) {
        const device_slot *s = slot_at(b, i);
        if (s->reference_wall_ns > longest_ns)
            longest_ns = s->reference_wall_ns;
        if (WATCHDOG_REFERENCES * s->reference_work > b->watchdog_work)
            b->watchdog_work = WATCHDOG_REFERENCES * s->reference_work;
    }
    int64_t limit_ns = WATCHDOG_REFERENCES * longest_ns;
    return limit_ns > b->watchdog_floor_ns ? limit_ns : b->watchdog_floor_ns;
}

/* Counts layouts and the slots of each; false when the problems are not in that order. */
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

/* Gives up the set-up and what was loaded for it. */
static void clear(device_bench *b)
{
    for (size_t i = 0; i < b->held_count; i++)
        unload(b, &b->held[i]);
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
    notify(b, "the set-up (data, and the reference's results)", 0, setup_limit_ns);
    at_status status = b->api->set_support ? b->api->set_support(b->device, support, error) : AT_OK;
    for (size_t i = 0; !status && i < count; i++) {
        device_slot *s = slot_at(b, i);
        status = device_slot_init(s, b->api, b->device, &problems[i], &b->contents, error);
        if (!status)
            status = device_slot_seed(s, problems[i].plan.seed, error);
    }
    for (size_t i = 0; !status && !b->untimed && i < stages; i++)
        status = device_context_init(&b->stages[i].context, &b->stages[i].slots[0],
                                     &problems[i * slots], &b->contents, error);
    if (!status && !b->untimed)
        status = measure_setup(b, answer, error);
    return status;
}

void device_bench_setup(device_bench *b, const device_image support[DEVICE_SUPPORT_PARTS],
                        const device_problem *problems, size_t count, device_answer *answer)
{
    at_error error = {0};
    at_status status = set_up(b, support, problems, count, answer, &error);
    if (status) {
        answer_failure(b, status, &error, answer);
        answer->usable = false;
        return;
    }
    b->watchdog_ns = find_watchdog(b, answer->found.ready.reference_ns);
    answer->found.ready.watchdog_ns = b->watchdog_ns;
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

/* Requests. */

static at_status try_samples(device_bench *b, loaded_variant *v, size_t count,
                             device_answer *answer, at_error *error)
{
    notify(b, "sampling", 0, (int64_t)count * b->watchdog_ns);
    reserve_samples(b, count);
    at_status status = prepare(v, error);
    for (size_t i = 0; !status && i < count; i++)
        status = sample(v, &b->samples_ns[i], error);
    if (!status)
        status = read_sm_clock(b, &answer->found.sm_clock_khz, error);
    answer->found.samples_ns = b->samples_ns;
    answer->found.sample_count = count;
    return status;
}

/* Checks, unless the launch takes longer than variant->too_slow_ns: then *slow_ns is its time. A
 * first launch that may owe it to what only first ones pay for is not believed, but a sample. */
static at_status check_or_leave(device_bench *b, const device_variant *variant,
                                const loaded_variant *v, int64_t *slow_ns, outcome *result,
                                at_error *error)
{
    at_status status =
        check_within(b, v, CHECK_LAUNCHES, variant->too_slow_ns, slow_ns, result, error);
    if (status || *slow_ns == 0 || *slow_ns > variant->too_slow_ns + first_launch_ns)
        return status;
    notify(b, "sampling", 0, b->watchdog_ns);
    status =
        device_meter_sample(&v->stage->meter, v->kernels[0], &v->launches[0], NULL, slow_ns, error);
    if (status || *slow_ns > variant->too_slow_ns)
        return status;
    *slow_ns = 0;
    return check(b, v, CHECK_LAUNCHES, result, error);
}

void device_bench_try(device_bench *b, const device_variant *variant, size_t sample_count,
                      device_answer *answer)
{
    at_error error = {0};
    loaded_variant v = {0};
    outcome result = OUTCOME_OK;
    int64_t start_ns = clock_now_ns();
    int64_t slow_ns = 0;
    const bool whole = !variant->once[0];
    at_status status =
        whole ? load(b, variant, &v, &error)
              : check_loops(b, variant, CHECK_LAUNCHES, &answer->found.coverage, &result, &error);
    if (!status && whole && sample_count > 0)
        status = check_or_leave(b, variant, &v, &slow_ns, &result, &error);
    else if (!status && whole)
        status = check(b, &v, CHECK_LAUNCHES, &result, &error);
    if (!status && slow_ns > 0) {
        result = OUTCOME_TOO_SLOW;
        reserve_samples(b, 1);
        b->samples_ns[0] = slow_ns;
        answer->found.samples_ns = b->samples_ns;
        answer->found.sample_count = 1;
    }
    if (!status && whole && result == OUTCOME_OK)
        status = cover(b, &v, &answer->found.coverage, &error);
    int64_t checked_ns = clock_now_ns();
    answer->found.check_ns = checked_ns - start_ns;
    if (!status && result == OUTCOME_OK && sample_count > 0 && v.present[0] && !b->untimed) {
        status = try_samples(b, &v, sample_count, answer, &error);
        answer->found.measure_ns = clock_now_ns() - checked_ns;
    }
    answer->found.outcome = result;
    answer->printed = b->printed ? b->printed : "";
    if (result != OUTCOME_OK && result != OUTCOME_TOO_SLOW)
        answer->message = b->text;
    if (status)
        answer_failure(b, status, &error, answer);
    /* Unloading from a context that is gone may hang. */
    if (answer->usable)
        unload(b, &v);
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

/* Inserts a variant in the order of the ids. */
static void insert_held(device_bench *b, const loaded_variant *v)
{
    size_t at = b->held_count;
    memory_add(&b->held, &b->held_count, v, sizeof *v);
    for (; at > 0 && b->held[at - 1].id > v->id; at--)
        b->held[at] = b->held[at - 1];
    b->held[at] = *v;
}

/* Runs the check that a try left for later. */
static at_status check_ragged(device_bench *b, const loaded_variant *v, outcome *result,
                              at_error *error)
{
    loaded_variant ragged = *v;
    ragged.present[0] = false;
    return check(b, &ragged, CHECK_LAUNCHES, result, error);
}

void device_bench_hold(device_bench *b, uint64_t id, const device_variant *variant,
                       device_answer *answer)
{
    at_error error = {0};
    loaded_variant v = {0};
    at_status status = AT_OK;
    if (find_held(b, id))
        status = error_set(&error, AT_FORMAT, "a variant is held under this id already");
    if (!status)
        status = load(b, variant, &v, &error);
    v.id = id;
    if (!status && variant->unchecked)
        status = check_ragged(b, &v, &answer->found.outcome, &error);
    if (!status && answer->found.outcome != OUTCOME_OK) {
        answer->message = b->text;
        unload(b, &v);
        return;
    }
    if (!status) {
        /* Raises limits and loads lazily what has to be, outside any sample. */
        notify(b, "the first launch", 0, b->watchdog_ns);
        status = device_slot_restore(&v.stage->slots[0], &error);
    }
    if (!status)
        status = b->api->launch(b->device, v.kernels[0], &v.launches[0], v.stage->slots[0].buffers,
                                &error);
    if (!status)
        status = prepare(&v, &error);
    if (!status) {
        insert_held(b, &v);
        return;
    }
    answer_failure(b, status, &error, answer);
    if (answer->usable)
        unload(b, &v);
}

void device_bench_release(device_bench *b, uint64_t id)
{
    loaded_variant *v = find_held(b, id);
    if (!v)
        return;
    unload(b, v);
    size_t after = b->held_count - (size_t)(v - b->held) - 1;
    memmove(v, v + 1, after * sizeof *v);
    b->held_count--;
}

/* answer->found.id is the variant in progress, for a failure that must name one. */
static at_status sample_block(device_bench *b, const uint64_t *ids, size_t count, bool with_copy,
                              device_answer *answer, at_error *error)
{
    for (size_t i = 0; i < count; i++) {
        answer->found.id = ids[i];
        if (!find_held(b, ids[i]))
            return error_set(error, AT_FORMAT, "the variant is no longer held");
    }
    double before_khz = 0;
    reserve_samples(b, count);
    at_status status = read_sm_clock(b, &before_khz, error);
    if (!status && with_copy)
        status = device_meter_ceiling(&b->stages[0].meter, &answer->found.ceiling_ns, error);
    for (size_t i = 0; !status && i < count; i++) {
        answer->found.id = ids[i];
        notify(b, "sampling", i, b->watchdog_ns);
        status = sample(find_held(b, ids[i]), &b->samples_ns[i], error);
    }
    if (!status)
        status = read_sm_clock(b, &answer->found.sm_clock_khz, error);
    /* A block that is too short for a clock of its own has that of the time just before it. */
    if (answer->found.sm_clock_khz <= 0)
        answer->found.sm_clock_khz = before_khz;
    return status;
}

void device_bench_block(device_bench *b, const uint64_t *ids, size_t count, bool with_copy,
                        device_answer *answer)
{
    at_error error = {0};
    at_status status = sample_block(b, ids, count, with_copy, answer, &error);
    if (status) {
        answer_failure(b, status, &error, answer);
        return;
    }
    answer->found.id = 0;
    answer->found.samples_ns = b->samples_ns;
    answer->found.sample_count = count;
}

static at_status seed_slots(device_bench *b, device_stage *stage, uint64_t seed, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < b->slot_count; i++)
        if (stage->slots[i].seed != seed) {
            notify(b, "new contents", 0, CHECK_ROUNDS * CHECK_LAUNCHES * b->watchdog_ns);
            status = device_slot_seed(&stage->slots[i], seed, error);
        }
    return status;
}

/* A write far outside may have hit what belongs to another problem, or to the reference. */
static at_status check_elsewhere(device_bench *b, outcome *result, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < b->stage_count * b->slot_count; i++) {
        device_slot *s = slot_at(b, i);
        bool sound;
        status = device_slot_sound(s, &sound, error);
        if (status || sound)
            continue;
        *result = OUTCOME_WRONG_RESULT;
        snprintf(b->text, sizeof b->text,
                 "it wrote far outside: memory that it was not given has changed");
        status = device_slot_seed(s, s->seed, error);
    }
    return status;
}

void device_bench_recheck(device_bench *b, uint64_t id, uint64_t seed, device_answer *answer)
{
    at_error error = {0};
    const loaded_variant *v = find_held(b, id);
    at_status status = AT_OK;
    outcome result = OUTCOME_OK;
    int64_t start_ns = clock_now_ns();
    if (!v)
        status = error_set(&error, AT_FORMAT, "the variant is no longer held");
    if (!status)
        status = seed_slots(b, v->stage, seed, &error);
    if (!status)
        status = check(b, v, RECHECK_LAUNCHES, &result, &error);
    if (!status && result == OUTCOME_OK)
        status = check_elsewhere(b, &result, &error);
    answer->found.check_ns = clock_now_ns() - start_ns;
    answer->found.outcome = result;
    if (result != OUTCOME_OK)
        answer->message = b->text;
    if (status)
        answer_failure(b, status, &error, answer);
}

/* Chunks of launches with a reading between them (bench/energy.h). */
static at_status read_energy(device_bench *b, const loaded_variant *v, uint32_t chunks,
                             energy_estimate *out, at_error *error)
{
    energy_reading readings[ENERGY_READINGS];
    board_reading board;
    int64_t time_ns = 0;
    notify(b, "sampling", 0, b->watchdog_ns);
    at_status status = sample(v, &time_ns, error);
    uint64_t chunk = energy_chunk_launches(time_ns);
    int64_t limit_ns = b->watchdog_ns + 10 * (int64_t)chunk * time_ns;
    for (size_t i = 0; !status && i <= chunks; i++) {
        notify(b, "measuring energy", 0, limit_ns);
        /* The first chunk brings power to what it will be, and is not counted. */
        status = b->api->repeat(b->device, v->kernels[0], &v->launches[0],
                                v->stage->slots[0].buffers, chunk, error);
        if (!status)
            status = b->api->board(b->device, &board, error);
        readings[i] = (energy_reading){.now_ns = clock_now_ns(),
                                       .launches = i * chunk,
                                       .energy_mj = board.energy_mj,
                                       .power_w = board.power_w};
    }
    if (!status && !energy_estimate_launch(readings, chunks + 1, out))
        snprintf(b->text, sizeof b->text, "the board tells neither its energy nor its power");
    return status ? status : device_slot_restore(&v->stage->slots[0], error);
}

void device_bench_energy(device_bench *b, uint64_t id, uint32_t chunks, device_answer *answer)
{
    at_error error = {0};
    board_reading board;
    const loaded_variant *v = find_held(b, id);
    *b->text = '\0';
    if (!b->api->repeat || !b->api->board) {
        answer->message = "this kind of device has no board that tells its energy";
        return;
    }
    if (b->api->board(b->device, &board, &error)) {
        snprintf(b->text, sizeof b->text, "%s", error.message);
        answer->message = b->text;
        return;
    }
    answer->found.throttle = board.throttle;
    answer->found.others = b->api->others(b->device);
    at_status status = AT_OK;
    if (chunks && !v)
        status = error_set(&error, AT_FORMAT, "the variant is no longer held");
    if (!status && chunks)
        status = read_energy(b, v, chunks, &answer->found.energy, &error);
    answer->message = b->text;
    if (status)
        answer_failure(b, status, &error, answer);
}

/* One pass after the other: what each of them may take, and the buffers as they were. */
typedef struct passes {
    device_bench *bench;
    const loaded_variant *variant;
    uint64_t done;
} passes;

static at_status renew_pass(void *context, at_error *error)
{
    passes *p = context;
    notify(p->bench, "counting", p->done++,
           load_limit_ns + p->variant->launches[0].launch_count * p->bench->watchdog_ns);
    return device_slot_restore(&p->variant->stage->slots[0], error);
}

void device_bench_count(device_bench *b, uint64_t id, const char *const *metrics, size_t count,
                        device_answer *answer)
{
    at_error error = {0};
    const loaded_variant *v = find_held(b, id);
    at_status status = AT_OK;
    if (!b->api->count) {
        answer->message = "this kind of device has no hardware counters";
        return;
    }
    if (!b->counters)
        b->counters =
            memory_new((size_t)PLAN_MAX_LAUNCHES * DEVICE_MAX_METRICS, sizeof *b->counters);
    if (!v)
        status = error_set(&error, AT_FORMAT, "the variant is no longer held");
    if (!status) {
        passes p = {.bench = b, .variant = v};
        device_counting what = {metrics, count, b->cache, renew_pass, &p};
        notify(b, "opening the counters", 0, load_limit_ns);
        status = b->api->count(b->device, v->kernels[0], &v->launches[0],
                               v->stage->slots[0].buffers, &what, b->counters, &error);
    }
    if (status == AT_NO_DEVICE) {
        snprintf(b->text, sizeof b->text, "%s", error.message);
        answer->message = b->text;
    } else if (status) {
        answer_failure(b, status, &error, answer);
    } else {
        answer->found.counters = b->counters;
        answer->counter_count = count * v->launches[0].launch_count;
    }
}

/* NULL: there is none. */
static device_slot *find_slot(device_bench *b, uint32_t layout, uint32_t slot)
{
    return layout < b->stage_count && slot < b->slot_count ? &b->stages[layout].slots[slot] : NULL;
}

void device_bench_results(device_bench *b, uint32_t layout, uint32_t slot, device_answer *answer)
{
    const device_slot *s = find_slot(b, layout, slot);
    free(b->results);
    b->results = NULL;
    if (s)
        answer->found.results_bytes = device_slot_results(s, &b->results);
    answer->results = b->results;
}

void device_bench_compare(device_bench *b, uint32_t layout, uint32_t slot, const void *results,
                          size_t results_bytes, device_answer *answer)
{
    at_error error = {0};
    device_slot *s = find_slot(b, layout, slot);
    notify(b, "comparing with another device", 0, setup_limit_ns);
    at_status status = s ? device_slot_compare(s, results, results_bytes, &answer->found.outcome,
                                               b->text, sizeof b->text, &error)
                         : error_set(&error, AT_FORMAT, "there is no such problem");
    if (answer->found.outcome != OUTCOME_OK)
        answer->message = b->text;
    if (status)
        answer_failure(b, status, &error, answer);
}
