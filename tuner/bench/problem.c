#include "bench/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* Making and freeing. */

static at_status new_buffer(device_slot *s, uint32_t i, const char *prefix, device_buffer **out,
                            at_error *error)
{
    char name[PLAN_NAME_BYTES + 16];
    snprintf(name, sizeof name, "%s%s", prefix, s->plan.buffers[i].name);
    uint64_t size = plan_buffer_bytes(&s->plan.buffers[i]);
    at_status status = s->api->buffer_new(s->device, name, size, out, error);
    if (!status && s->api->describe)
        s->api->describe(*out, &s->plan.buffers[i]);
    return status;
}

at_status device_slot_accepts(const device_slot *s, const launch_plan *launch, at_error *error)
{
    at_status status = plan_fits(launch, s->plan.buffer_count, error);
    for (uint32_t i = 0; !status && i < launch->compared_count; i++) {
        const buffer_plan *plan = &s->plan.buffers[launch->compared[i].buffer];
        if (!plan_is_compared(plan) || launch->compared[i].count > plan->count)
            status = error_set(
                error, AT_FORMAT, "%" PRIu64 " elements of %s are to be compared, it has %" PRIu64,
                launch->compared[i].count, plan->name, plan_is_compared(plan) ? plan->count : 0);
    }
    return status;
}

/* Blames the script, not the device, for an error of the reference or the filler; code that is not
 * simulated is nobody's fault. */
static at_status blame(const char *kernel, at_status status, at_error *error)
{
    if (status != AT_COMPILE && status != AT_DEVICE && status != AT_NO_DEVICE)
        return status;
    error->status = status == AT_NO_DEVICE ? AT_NO_DEVICE : AT_SCRIPT;
    return error_prefix(error, "%s", kernel);
}

static const char reference_name[] = "the reference kernel";
static const char filler_name[] = "the kernel that prepares inputs";

/* A problem for which there is no room is not looked at. */
static at_status new_excerpt(device_slot *s, const device_problem *problem, at_error *error)
{
    at_error trouble = {0};
    const device_excerpt_plan plan = {&s->plan, s->reference, &s->reference_launch,
                                      &problem->filler, &s->filler_launch};
    at_status status = s->api->excerpt_new(s->device, &plan, &s->excerpt, &trouble);
    if (status == AT_NO_MEMORY)
        return error_set(error, status, "%s", trouble.message);
    if (!status)
        return AT_OK;
    s->api->excerpt_free(s->device, s->excerpt);
    s->excerpt = NULL;
    snprintf(s->coverage.skipped, sizeof s->coverage.skipped, "%s", trouble.message);
    return AT_OK;
}

at_status device_slot_init(device_slot *s, const device_api *api, device *d,
                           const device_problem *problem, at_error *error)
{
    *s = (device_slot){.api = api,
                       .device = d,
                       .plan = problem->plan,
                       .reference_launch = problem->reference_launch,
                       .filler_launch = problem->filler_launch};
    memcpy(s->label, problem->label, sizeof s->label);
    s->sampled = problem->sampled;
    if (s->sampled && !api->excerpt_new)
        return error_set(error, AT_FORMAT, "a %s device runs no samples of blocks", api->kind);
    at_status status = device_slot_accepts(s, &s->reference_launch, error);
    if (!status)
        status = device_slot_accepts(s, &s->filler_launch, error);
    for (uint32_t i = 0; !status && !s->sampled && i < s->plan.buffer_count; i++) {
        const buffer_plan *plan = &s->plan.buffers[i];
        status = new_buffer(s, i, "", &s->buffers[i], error);
        if (!status && plan_is_compared(plan))
            status = new_buffer(s, i, "expected ", &s->expected[i], error);
        if (!status && plan->role == BUFFER_INOUT)
            status = new_buffer(s, i, "input of ", &s->pristine[i], error);
    }
    if (status)
        return status;
    status = api->kernel_new(d, &problem->reference, &s->reference_launch, &s->reference, error);
    if (status)
        return blame(reference_name, status, error);
    if (s->sampled)
        return new_excerpt(s, problem, error);
    if (problem->filler.size_bytes)
        status = api->kernel_new(d, &problem->filler, &s->filler_launch, &s->filler, error);
    return blame(filler_name, status, error);
}

static void free_buffer(device_slot *s, device_buffer **b)
{
    if (*b)
        s->api->buffer_free(s->device, *b);
    *b = NULL;
}

void device_slot_deinit(device_slot *s)
{
    for (uint32_t i = 0; i < PLAN_MAX_BUFFERS; i++) {
        free_buffer(s, &s->buffers[i]);
        free_buffer(s, &s->expected[i]);
        free_buffer(s, &s->pristine[i]);
    }
    if (s->excerpt)
        s->api->excerpt_free(s->device, s->excerpt);
    s->excerpt = NULL;
    if (s->reference)
        s->api->kernel_free(s->device, s->reference);
    if (s->filler)
        s->api->kernel_free(s->device, s->filler);
    s->reference = s->filler = NULL;
}

/* Contents. */

static at_status fill(device_slot *s, uint32_t i, device_buffer *b, at_error *error)
{
    buffer_plan plan = s->plan.buffers[i];
    /* The filler writes what is an input to all others. */
    if (s->filler)
        plan.role = BUFFER_INOUT;
    return s->api->fill(s->device, b, &plan, plan_buffer_seed(s->seed, i), error);
}

/* Runs the reference or the filler. */
static at_status launch(device_slot *s, const char *name, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, at_error *error)
{
    at_status status = s->api->launch(s->device, k, plan, buffers, error);
    outcome result;
    if (s->api->take_printed)
        free(s->api->take_printed(s->device)); /* nobody asks what it printed */
    const char *complaint =
        !status && s->api->complaint ? s->api->complaint(s->device, &result) : NULL;
    if (complaint)
        status = error_set(error, result == OUTCOME_NOT_SIMULATED ? AT_NO_DEVICE : AT_DEVICE, "%s",
                           complaint);
    return blame(name, status, error);
}

/* Whether the kernel called `name` left the memory around the contents of b, its buffer i,
 * alone. */
static at_status check_guards(device_slot *s, const char *name, uint32_t i, const device_buffer *b,
                              at_error *error)
{
    device_guard_report report;
    at_status status = s->api->guards(s->device, b, &report, error);
    if (status || report.intact)
        return status;
    return error_set(error, AT_SCRIPT, "%s writes %" PRIu64 " bytes %s buffer %s", name,
                     report.distance_bytes, report.before ? "before" : "past",
                     s->plan.buffers[i].name);
}

static at_status run_filler(device_slot *s, at_error *error)
{
    at_status status = launch(s, filler_name, s->filler, &s->filler_launch, s->buffers, error);
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        status = check_guards(s, filler_name, i, s->buffers[i], error);
    return status;
}

/* Gives a buffer, with its guard bands, what the variants' own has before a launch. */
static at_status fill_as_input(device_slot *s, uint32_t i, device_buffer *b, at_error *error)
{
    at_status status = fill(s, i, b, error);
    if (!status && s->filler)
        status =
            s->api->copy(s->device, b, b == s->pristine[i] ? s->buffers[i] : s->pristine[i], error);
    return status;
}

/* Fills everything that variants read. */
static at_status fill_inputs(device_slot *s, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++) {
        buffer_role role = s->plan.buffers[i].role;
        if (role == BUFFER_INPUT || role == BUFFER_INOUT || s->filler)
            status = fill(s, i, s->buffers[i], error);
    }
    if (!status && s->filler)
        status = run_filler(s, error);
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        if (s->pristine[i])
            status = fill_as_input(s, i, s->pristine[i], error);
    return status;
}

/* The reference's view of the buffers: its outputs are `expected`. */
static at_status run_reference(device_slot *s, int pattern, at_error *error)
{
    device_buffer *view[PLAN_MAX_BUFFERS];
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++) {
        buffer_role role = s->plan.buffers[i].role;
        view[i] = plan_is_compared(&s->plan.buffers[i]) ? s->expected[i] : s->buffers[i];
        if (role == BUFFER_OUTPUT || role == BUFFER_SCRATCH)
            status = s->api->poison(s->device, view[i], pattern, error);
        else if (role == BUFFER_INOUT)
            status = fill_as_input(s, i, view[i], error);
    }
    int64_t start_ns = clock_now_ns();
    if (!status)
        status = launch(s, reference_name, s->reference, &s->reference_launch, view, error);
    s->reference_wall_ns = clock_now_ns() - start_ns;
    s->reference_work = s->api->work ? s->api->work(s->device) : 0;
    return status;
}

/* Sums the expected buffers, and the inputs if `inputs`; each buffer is one, the other or
 * neither. */
static at_status sum(device_slot *s, bool inputs, uint64_t *sums, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++) {
        bool is_input = s->plan.buffers[i].role == BUFFER_INPUT;
        if (is_input ? inputs : s->expected[i] != NULL)
            status = s->api->checksum(s->device, is_input ? s->buffers[i] : s->expected[i],
                                      plan_buffer_bytes(&s->plan.buffers[i]), &sums[i], error);
    }
    return status;
}

static at_status check_reference_guards(device_slot *s, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        status = check_guards(s, reference_name, i, s->expected[i] ? s->expected[i] : s->buffers[i],
                              error);
    return status;
}

at_status device_slot_seed(device_slot *s, uint64_t seed, at_error *error)
{
    s->seed = seed;
    if (s->sampled)
        return AT_OK;
    uint64_t first[PLAN_MAX_BUFFERS] = {0};
    at_status status = fill_inputs(s, error);
    if (!status)
        status = run_reference(s, 0, error);
    if (!status)
        status = sum(s, false, first, error);
    if (!status)
        status = run_reference(s, 1, error);
    if (!status)
        status = sum(s, true, s->sums, error);
    if (!status)
        status = check_reference_guards(s, error);
    /* An element that the reference leaves alone keeps the poison, which differs. A reference with
     * atomics on floats may differ by itself. */
    for (uint32_t i = 0; !status && s->plan.deterministic && i < s->plan.buffer_count; i++)
        if (s->expected[i] && first[i] != s->sums[i])
            status = error_set(error, AT_SCRIPT,
                               "two runs of the reference kernel give different %s: it leaves "
                               "elements alone, or is not deterministic",
                               s->plan.buffers[i].name);
    return status;
}

at_status device_slot_restore(device_slot *s, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        if (s->pristine[i])
            status = s->api->copy(s->device, s->buffers[i], s->pristine[i], error);
    return status;
}

at_status device_slot_sound(device_slot *s, bool *sound, at_error *error)
{
    uint64_t now[PLAN_MAX_BUFFERS] = {0};
    at_status status = s->sampled ? AT_OK : sum(s, true, now, error);
    *sound = !status && memcmp(now, s->sums, sizeof now) == 0;
    return status;
}
