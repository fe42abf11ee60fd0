#include "bench/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of the work of a launch in a proof (device_analysis.limit_work), several seconds of a core.
 * Counted work gives the same verdict on every machine. */
static const uint64_t PROOF_WORK = UINT64_C(1) << 28, BRIEF_WORK = UINT64_C(1) << 25;

static at_status new_buffer(device_slot *s, uint32_t i, const char *prefix, device_buffer **out,
                            at_error *error)
{
    char name[PLAN_NAME_BYTES + 16];
    snprintf(name, sizeof name, "%s%s", prefix, s->plan.buffers[i].name);
    uint64_t size = plan_buffer_bytes(&s->plan.buffers[i]);
    at_status status = s->api->buffer_new(s->device, name, size, out, error);
    if (!status && s->api->analysis)
        s->api->analysis->describe(*out, &s->plan.buffers[i]);
    return status;
}

at_status device_slot_accepts(const device_slot *s, const launch_plan *launch, at_error *error)
{
    at_status status = plan_check_buffers(launch, s->plan.buffer_count, error);
    for (uint32_t i = 0; !status && i < launch->compared_count; i++) {
        const buffer_plan *plan = &s->plan.buffers[launch->compared[i].buffer];
        if (!plan_is_compared(plan) || launch->compared[i].count > plan->count)
            status = error_set(
                error, AT_FORMAT,
                "%" PRIu64 " elements of %s are to be compared, but it has only %" PRIu64,
                launch->compared[i].count, plan->name, plan_is_compared(plan) ? plan->count : 0);
    }
    return status;
}

at_status device_slot_blame(const char *kernel, at_status status, at_error *error)
{
    if (status != AT_COMPILE && status != AT_DEVICE && status != AT_NO_DEVICE)
        return status;
    error->status = status == AT_NO_DEVICE ? AT_NO_DEVICE : AT_SCRIPT;
    return error_prefix(error, "%s", kernel);
}

/* Makes the excerpt of a problem. A problem without room for it is not checked. */
static at_status new_excerpt(device_slot *s, const device_problem *problem, at_error *error)
{
    at_error trouble = {0};
    const device_excerpt_plan plan = {&s->plan,         s->reference,      &s->reference_launch,
                                      &problem->filler, &s->filler_launch, s->contents,
                                      s->answers,       problem->whole};
    at_status status = s->api->excerpts->make(s->device, &plan, &s->excerpt, &trouble);
    if (status == AT_NO_MEMORY)
        return error_set(error, status, "%s", trouble.message);
    if (!status && s->timed)
        memcpy(s->buffers, s->api->excerpts->buffers(s->excerpt),
               s->plan.buffer_count * sizeof *s->buffers);
    if (!status)
        return AT_OK;
    s->api->excerpts->free(s->device, s->excerpt);
    s->excerpt = NULL;
    if (s->timed)
        return error_set(error, status, "%s", trouble.message);
    snprintf(s->coverage.skipped, sizeof s->coverage.skipped, "%s", trouble.message);
    s->coverage.owes = true;
    return AT_OK;
}

static at_status find_contents(device_slot *s, const device_contents *contents, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++) {
        const buffer_plan *b = &s->plan.buffers[i];
        const uint64_t size = plan_buffer_bytes(b);
        if (b->fill == FILL_FILE)
            status = device_contents_find(contents, b->data.bytes, size, &s->contents[i], error);
        if (!status && s->plan.oracle == ORACLE_FILE && plan_is_compared(b))
            status = device_contents_find(contents, b->expected.bytes, size, &s->answers[i], error);
    }
    return status;
}

at_status device_slot_init(device_slot *s, const device_api *api, device *d,
                           const device_problem *problem, const device_contents *contents,
                           at_error *error)
{
    *s = (device_slot){.api = api,
                       .device = d,
                       .plan = problem->plan,
                       .reference_launch = problem->reference_launch,
                       .filler_launch = problem->filler_launch};
    memcpy(s->label, problem->label, sizeof s->label);
    s->sampled = problem->sampled;
    s->timed = problem->sampled && problem->timed;
    s->whole = problem->whole;
    s->absent = problem->absent;
    s->proves = problem->proves;
    s->brief = problem->brief;
    if (s->absent)
        return AT_OK;
    if (s->sampled && !api->excerpts)
        return error_set(error, AT_FORMAT, "the %s device cannot run a sample of the blocks",
                         api->kind);
    at_status status = find_contents(s, contents, error);
    if (!status)
        status = device_slot_accepts(s, &s->reference_launch, error);
    if (!status)
        status = device_slot_accepts(s, &s->filler_launch, error);
    for (uint32_t i = 0; !status && !s->sampled && i < s->plan.buffer_count; i++) {
        const buffer_plan *plan = &s->plan.buffers[i];
        /* A list of results may be shorter than its buffer, so a part may stay unwritten. */
        s->keeps_unwritten = s->keeps_unwritten || plan->record;
        status = new_buffer(s, i, "", &s->buffers[i], error);
        if (!status && plan_is_compared(plan) && s->plan.oracle != ORACLE_NONE)
            status = new_buffer(s, i, s->plan.oracle == ORACLE_REFERENCE ? "expected " : "",
                                &s->expected[i], error);
        if (!status && plan->role == BUFFER_INOUT)
            status = new_buffer(s, i, "input of ", &s->pristine[i], error);
    }
    if (status)
        return status;
    status = api->kernel_new(d, &problem->reference, &s->reference_launch, &s->reference, error);
    if (status)
        return device_slot_blame(oracle_kernel(s->plan.oracle), status, error);
    if (s->sampled)
        return new_excerpt(s, problem, error);
    if (problem->filler.size_bytes)
        status = api->kernel_new(d, &problem->filler, &s->filler_launch, &s->filler, error);
    return device_slot_blame(DEVICE_FILLER_NAME, status, error);
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
        if (!s->timed)
            free_buffer(s, &s->buffers[i]);
        free_buffer(s, &s->expected[i]);
        free_buffer(s, &s->pristine[i]);
        free(s->replacement[i]);
        s->replacement[i] = NULL;
    }
    if (s->excerpt)
        s->api->excerpts->free(s->device, s->excerpt);
    s->excerpt = NULL;
    if (s->reference)
        s->api->kernel_free(s->device, s->reference);
    if (s->filler)
        s->api->kernel_free(s->device, s->filler);
    s->reference = s->filler = NULL;
}

at_status device_slot_launch(device_slot *s, device_kernel *k, const launch_plan *launch,
                             device_buffer *const *buffers, uint64_t most_work, at_error *error)
{
    const uint64_t most = s->brief ? BRIEF_WORK : PROOF_WORK;
    const bool ends = s->proves && (most_work == 0 || most_work > most);
    const device_analysis *analysis = s->api->analysis;
    if (analysis)
        analysis->limit_work(s->device, ends ? most : most_work);
    at_status status = s->api->launch(s->device, k, launch, buffers, error);
    if (analysis)
        analysis->limit_work(s->device, 0);
    return status;
}

int device_slot_poison(const device_slot *s, int pattern)
{
    enum { KEPT_PATTERN = 2 }; /* zeroes on a GPU, so that additions to an output are not lost */
    return s->keeps_unwritten ? KEPT_PATTERN : pattern;
}

buffer_plan device_slot_compared(const device_slot *s, const launch_plan *launch, uint32_t i)
{
    buffer_plan compared = s->plan.buffers[i];
    compared.count = plan_result_count(&s->plan, launch, i);
    return compared;
}

at_status device_slot_sum(const device_slot *s, const launch_plan *launch, uint32_t i,
                          const device_buffer *b, uint64_t *sum, at_error *error)
{
    const buffer_plan compared = device_slot_compared(s, launch, i);
    return s->api->checksum(s->device, b, plan_buffer_bytes(&compared), sum, error);
}

at_status device_slot_restore(device_slot *s, at_error *error)
{
    at_status status = AT_OK;
    if (s->timed)
        s->api->excerpts->reset(s->excerpt);
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        if (s->pristine[i])
            status = s->api->copy(s->device, s->buffers[i], s->pristine[i], error);
    return status;
}

static uint64_t results_bytes_of(const device_slot *s)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < s->plan.buffer_count; i++)
        size += s->expected[i] ? plan_buffer_bytes(&s->plan.buffers[i]) : 0;
    return size;
}

size_t device_slot_results(const device_slot *s, void **out)
{
    const uint64_t size = results_bytes_of(s);
    unsigned char *to = NULL;
    at_status status = AT_OK;
    if (!s->oracle_error[0] && size > 0)
        to = malloc((size_t)size);
    *out = to;
    for (uint32_t i = 0; to && !status && i < s->plan.buffer_count; i++) {
        const uint64_t one = plan_buffer_bytes(&s->plan.buffers[i]);
        if (!s->expected[i])
            continue;
        status = s->api->read(s->device, s->expected[i], to, one, NULL);
        to += one;
    }
    if (status || !to) {
        free(*out);
        *out = NULL;
        return 0;
    }
    return (size_t)size;
}

static void describe_difference(const device_slot *s, uint32_t i, const device_comparison *d,
                                char *text, size_t text_bytes)
{
    const buffer_plan *plan = &s->plan.buffers[i];
    char element[PLAN_NAME_BYTES + 96], here[ELEMENT_TEXT_BYTES], there[ELEMENT_TEXT_BYTES];
    plan_name_element(plan, d->first, element, sizeof element);
    element_format(plan->type, &d->expected, here);
    element_format(plan->type, &d->found, there);
    snprintf(text, text_bytes,
             "%" PRIu64 " of %" PRIu64 " elements of %s differ, first %s: %s on the GPU, %s on the "
             "simulated device",
             d->wrong, plan->count, plan->name, element, here, there);
}

at_status device_slot_compare(device_slot *s, const void *results, size_t results_bytes,
                              outcome *result, char *text, size_t text_bytes, at_error *error)
{
    const unsigned char *from = results;
    *result = OUTCOME_OK;
    if (results_bytes != results_bytes_of(s))
        return error_set(error, AT_FORMAT, "the results belong to other buffers");
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && *result == OUTCOME_OK && i < s->plan.buffer_count; i++) {
        const buffer_plan *plan = &s->plan.buffers[i];
        device_buffer *other = NULL;
        device_comparison found = {0};
        if (!s->expected[i])
            continue;
        status = s->api->buffer_new(s->device, plan->name, plan_buffer_bytes(plan), &other, error);
        if (!status)
            status = s->api->write(s->device, other, plan, from, error);
        if (!status)
            status = s->api->compare(s->device, other, s->expected[i], plan, &found, error);
        if (other)
            s->api->buffer_free(s->device, other);
        from += plan_buffer_bytes(plan);
        if (status || found.wrong <= tolerance_mismatches(plan->tolerance, plan->count))
            continue;
        *result = OUTCOME_WRONG_RESULT;
        describe_difference(s, i, &found, text, text_bytes);
    }
    return status;
}
