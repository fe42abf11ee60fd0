#include "bench/loaded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"
#include "base/text.h"
#include "bench/meter.h"

void bench_notify(device_bench *b, const char *what, uint64_t index, int64_t limit_ns)
{
    const device_note note = {.what = what,
                              .index = index,
                              .limit_ns =
                                  limit_ns < DEVICE_NOTE_MOST_NS ? limit_ns : DEVICE_NOTE_MOST_NS};
    b->notify(b->notify_context, &note);
}

void bench_answer_failure(device_bench *b, at_status status, const at_error *error,
                          device_answer *answer)
{
    snprintf(b->text, sizeof b->text, "%s", error->message);
    answer->message = b->text;
    answer->found.status = status;
    bool refused = status == AT_COMPILE || status == AT_FORMAT || status == AT_NO_MEMORY;
    bool unknown = status == AT_NO_DEVICE;
    bool lost = status == AT_WORKER; /* an earlier worker held the variant */
    answer->found.outcome = refused   ? OUTCOME_LAUNCH_ERROR
                            : unknown ? OUTCOME_NOT_SIMULATED
                                      : OUTCOME_CRASHED;
    answer->usable = refused || unknown || lost;
    answer->found.sample_count = 0;
}

void bench_reserve_samples(device_bench *b, size_t count)
{
    if (count <= b->sample_capacity)
        return;
    b->samples_ns = memory_require(realloc(b->samples_ns, count * sizeof *b->samples_ns));
    b->sample_capacity = count;
}

int64_t bench_median_ns(const int64_t *samples_ns, size_t count)
{
    stats_summary all;
    stats_summarise_copy(samples_ns, count, &all);
    return all.median_ns;
}

at_status bench_sm_clock(device_bench *b, double *khz, at_error *error)
{
    *khz = 0;
    return b->api->hardware ? b->api->hardware->sm_clock(b->device, khz, error) : AT_OK;
}

/* Factor for the time limit on a device that counts work: its limit of work ends a kernel first. */
enum { LAST_RESORT = 30 };

void loaded_free(device_bench *b, loaded_variant *v)
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
                         "there are no expected results on %s: no configuration near the baseline "
                         "is valid for this problem. Give the script a reference",
                         v->stage->slots[i].label);
    at_status status = device_slot_accepts(&v->stage->slots[i], launch, error);
    if (!status && plan_transfers(launch) && !b->api->transfers)
        status = error_set(error, AT_COMPILE,
                           "the %s device has no host memory, so transfers are not possible",
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

at_status loaded_make(device_bench *b, const device_variant *variant, loaded_variant *v,
                      at_error *error)
{
    *v = (loaded_variant){0};
    if (b->slot_count == 0)
        return error_set(error, AT_INTERNAL, "the device worker is not set up");
    if (variant->layout >= b->stage_count)
        return error_set(error, AT_FORMAT, "no problem was set up for the variant's layout");
    v->stage = &b->stages[variant->layout];
    v->launch_ns = variant->launch_ns;
    bench_notify(b, "loading", 0, bench_load_limit_ns);
    at_status status = AT_OK;
    for (int i = 0; !status && (size_t)i < b->slot_count; i++)
        if (variant->present[i])
            status = load_slot(b, variant, i, v, error);
    if (status)
        loaded_free(b, v);
    return status;
}

device_slot *loaded_slot_at(const device_bench *b, size_t i)
{
    return &b->stages[i / b->slot_count].slots[i % b->slot_count];
}

static at_status repair_slots(device_bench *b, const device_slot *but, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < b->stage_count * b->slot_count; i++) {
        device_slot *s = loaded_slot_at(b, i);
        bool sound = true;
        if (s != but)
            status = device_slot_sound(s, &sound, error);
        if (!status && !sound)
            status = device_slot_seed(s, s->seed, error);
    }
    return status;
}

at_status loaded_check_within(device_bench *b, const loaded_variant *v, int launches,
                              int64_t most_ns, int64_t *slow_ns, outcome *result, at_error *error)
{
    *result = OUTCOME_OK;
    *slow_ns = 0;
    free(b->printed);
    b->printed = NULL;
    for (size_t i = 0; i < b->slot_count && *result == OUTCOME_OK && !*slow_ns; i++) {
        if (!v->present[i] || v->stage->slots[i].timed)
            continue;
        /* A device that counts work ends a kernel at its own limit and reports the position. Time,
         * which depends on the machine, is only the last resort then. */
        const device_slot *s = &v->stage->slots[i];
        const int64_t limit_ns = s->sampled && s->whole != DEVICE_WHOLE_CHEAP
                                     ? INT64_MAX
                                     : (b->api->analysis ? LAST_RESORT : 1) * LOADED_CHECK_ROUNDS *
                                           launches * b->watchdog_ns;
        bench_notify(b,
                     s->sampled ? "checking blocks of the tuned problem"
                     : i > 0    ? "checking on a ragged problem"
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
        b->fault = one.fault;
        *slow_ns = one.slow_ns;
        /* Keep the output of the first slot, or of the slot where the check fails. */
        char **dropped = !b->printed || *result != OUTCOME_OK ? &b->printed : &one.printed;
        free(*dropped);
        if (dropped == &b->printed)
            b->printed = one.printed;
        if (!status && *result != OUTCOME_OK)
            status = repair_slots(b, &v->stage->slots[i], error);
        if (status || *result != OUTCOME_OK) {
            b->failed_slot = (uint32_t)i;
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

at_status loaded_check(device_bench *b, const loaded_variant *v, int launches, outcome *result,
                       at_error *error)
{
    int64_t slow_ns;
    return loaded_check_within(b, v, launches, 0, &slow_ns, result, error);
}

/* Appends the buffers whose results differ within the allowed number of mismatches. */
static void add_allowed_mismatches(const device_slot *s, const launch_plan *launch,
                                   device_coverage *out)
{
    for (uint32_t i = 0; i < s->plan.buffer_count; i++)
        if (s->differing[i] > 0)
            text_add(out->allowed, sizeof out->allowed, "%s%llu of %llu elements of %s%s%s",
                     out->allowed[0] ? ", " : "", (unsigned long long)s->differing[i],
                     (unsigned long long)plan_result_count(&s->plan, launch, i),
                     s->plan.buffers[i].name, *s->label ? " on " : "", s->label);
}

static bool is_changed(const device_slot *const *slots, size_t count, uint32_t i)
{
    bool any = false;
    for (size_t k = 0; k < count; k++)
        any = any || (!slots[k]->sampled && slots[k]->changes[i]);
    return any;
}

bool loaded_is_idle(const device_slot *const *slots, size_t count, const device_coverage *covered)
{
    bool any = covered->compared > 0 || covered->owes;
    for (uint32_t i = 0; i < slots[0]->plan.buffer_count; i++)
        any = any || is_changed(slots, count, i);
    return !any && oracle_is_own(slots[0]->plan.oracle);
}

/* Returns the name of an output that the oracle changes in no completely run slot, or NULL. */
static const char *find_unused(const device_slot *const *slots, size_t count)
{
    const problem_plan *plan = &slots[0]->plan;
    bool is_whole = false;
    for (size_t k = 0; k < count; k++)
        is_whole = is_whole || !slots[k]->sampled;
    for (uint32_t i = 0; is_whole && i < plan->buffer_count; i++)
        if (plan->buffers[i].role == BUFFER_OUTPUT && !is_changed(slots, count, i))
            return plan->buffers[i].name;
    return NULL;
}

/* Explains why agreement with the oracle proves nothing: the oracle changes no result, or a store
 * or an output is never reached. Agreement with a reference always proves something. */
static void explain_agreement(const device_slot *const *slots, size_t count, device_coverage *out)
{
    const bool agrees = slots[0]->plan.oracle == ORACLE_BASELINE;
    const char *unused = find_unused(slots, count);
    const bool idle = loaded_is_idle(slots, count, out);
    if (idle && out->stored)
        snprintf(out->unwritten, sizeof out->unwritten,
                 "the kernel leaves all results as they were before the launch, so a variant that "
                 "does nothing would pass: give the at.inout buffers other contents");
    else if (idle)
        snprintf(out->unwritten, sizeof out->unwritten, "the kernel wrote nothing on any problem");
    else if (agrees && unused)
        snprintf(out->unwritten, sizeof out->unwritten,
                 "nothing wrote the output %s on any problem", unused);
    else if (agrees && out->stores[0])
        snprintf(
            out->unwritten, sizeof out->unwritten,
            "a store was not executed on any problem: give the script a problem that executes it");
    if (out->unwritten[0] && out->stores[0])
        text_add(out->unwritten, sizeof out->unwritten, ". Never executed: %s", out->stores);
}

at_status loaded_cover(device_bench *b, const loaded_variant *v, device_coverage *out,
                       at_error *error)
{
    const device_kernel *kernels[DEVICE_SLOTS] = {NULL};
    const device_slot *slots[DEVICE_SLOTS];
    size_t count = 0, slot_count = 0;
    device_coverage allowed = {0};
    char problems[COVERAGE_PROBLEMS_BYTES] = "", once[COVERAGE_TEXT_BYTES];
    memcpy(once, out->once, sizeof once);
    for (size_t i = 0; i < b->slot_count; i++) {
        const device_slot *s = &v->stage->slots[i];
        if (!v->present[i] || s->timed)
            continue;
        slots[slot_count++] = s;
        text_add(problems, sizeof problems, "%s%s%s", problems[0] ? ", " : "",
                 s->sampled && !s->coverage.whole ? "blocks of " : "", s->label);
        if (s->sampled)
            *out = s->coverage;
        add_allowed_mismatches(&v->stage->slots[i], &v->launches[i], &allowed);
        if (v->kernels[i] && (i == 0 || v->kernels[i] != v->kernels[0]))
            kernels[count++] = v->kernels[i];
    }
    memcpy(out->allowed, allowed.allowed, sizeof out->allowed);
    memcpy(out->once, once, sizeof out->once);
    if (!b->api->analysis)
        return AT_OK;
    memcpy(out->problems, problems, sizeof out->problems);
    at_status status = b->api->analysis->covered(b->device, kernels, count, out, error);
    if (!status && slot_count > 0)
        explain_agreement(slots, slot_count, out);
    return status;
}

at_status loaded_check_loops(device_bench *b, const device_variant *variant, int launches,
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
        status = loaded_make(b, &one, &v, error);
        if (status == AT_COMPILE) {
            status = error_ignore(status, AT_COMPILE, error);
            continue;
        }
        if (!status)
            status = loaded_check(b, &v, launches, result, error);
        if (!status)
            status = loaded_cover(b, &v, &found, error);
        if (!status && strcmp(found.once, out->once) == 0) {
            *result = OUTCOME_OK;
        } else if (!status) {
            memcpy(out->once, found.once, sizeof out->once);
            text_add(out->problems, sizeof out->problems, "%s%s", out->problems[0] ? ", " : "",
                     found.problems);
        }
        if (!status)
            loaded_free(b, &v);
    }
    return status;
}

at_status loaded_sample(const loaded_variant *v, int64_t *time_ns, at_error *error)
{
    return device_meter_sample(&v->stage->meter, v->kernels[0], &v->launches[0], v->batch, time_ns,
                               error);
}

at_status loaded_prepare(loaded_variant *v, at_error *error)
{
    return device_meter_prepare(&v->stage->meter, v->kernels[0], &v->launches[0], v->launch_ns,
                                &v->batch, error);
}
