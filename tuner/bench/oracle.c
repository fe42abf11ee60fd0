#include "bench/oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static const char *reference_name(const device_slot *s)
{
    return oracle_kernel(s->plan.oracle);
}

static at_status fill(device_slot *s, uint32_t i, device_buffer *b, at_error *error)
{
    buffer_plan plan = s->plan.buffers[i];
    /* The filler writes what is an input to all others. */
    if (s->filler)
        plan.role = BUFFER_INOUT;
    if (s->contents[i])
        return s->api->write(s->device, b, &plan, s->contents[i], error);
    return s->api->fill(s->device, b, &plan, plan_buffer_seed(s->seed, i), error);
}

/* Runs the reference or the filler. */
static at_status launch(device_slot *s, const char *name, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, at_error *error)
{
    outcome result;
    at_status status = device_slot_launch(s, k, plan, buffers, 0, error);
    if (s->api->take_printed)
        free(s->api->take_printed(s->device)); /* nobody asks what it printed */
    const char *complaint =
        !status && s->api->complaint ? s->api->complaint(s->device, &result) : NULL;
    if (complaint && result == OUTCOME_TIMEOUT && s->proves)
        status = error_set(error, AT_NO_DEVICE, "%s" DEVICE_PROOF_ENDED, complaint);
    else if (complaint)
        status = error_set(error, result == OUTCOME_NOT_SIMULATED ? AT_NO_DEVICE : AT_DEVICE, "%s",
                           complaint);
    return device_slot_blame(name, status, error);
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
    at_status status =
        launch(s, DEVICE_FILLER_NAME, s->filler, &s->filler_launch, s->buffers, error);
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        status = check_guards(s, DEVICE_FILLER_NAME, i, s->buffers[i], error);
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
    device_buffer *view[PLAN_MAX_BUFFERS] = {NULL};
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++) {
        buffer_role role = s->plan.buffers[i].role;
        view[i] = plan_is_compared(&s->plan.buffers[i]) ? s->expected[i] : s->buffers[i];
        if (role == BUFFER_OUTPUT || role == BUFFER_SCRATCH)
            status = s->api->poison(s->device, view[i], device_slot_poison(s, pattern), error);
        else if (role == BUFFER_INOUT)
            status = fill_as_input(s, i, view[i], error);
    }
    int64_t start_ns = clock_now_ns();
    if (!status)
        status = launch(s, reference_name(s), s->reference, &s->reference_launch, view, error);
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
        status = check_guards(s, reference_name(s), i,
                              s->expected[i] ? s->expected[i] : s->buffers[i], error);
    return status;
}

/* Makes the expected results of a reference kernel. An element that it leaves alone keeps the
 * poison, which differs. A reference with atomics on floats may differ by itself. */
static at_status seed_reference(device_slot *s, at_error *error)
{
    uint64_t first[PLAN_MAX_BUFFERS] = {0};
    at_status status = run_reference(s, 0, error);
    if (!status)
        status = sum(s, false, first, error);
    if (!status)
        status = run_reference(s, 1, error);
    if (!status)
        status = sum(s, true, s->sums, error);
    if (!status)
        status = check_reference_guards(s, error);
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        if (s->plan.buffers[i].repeats && first[i] != s->sums[i])
            status = error_set(error, AT_SCRIPT,
                               "two runs of the reference kernel give different %s: it leaves "
                               "elements alone, or is not deterministic",
                               s->plan.buffers[i].name);
    return status;
}

enum { BASELINE_LAUNCHES = 2 }; /* beside the one that makes the expected results */

/* Makes the expected results of the baseline, and compares with them what it makes in further
 * launches. Sets s->trouble; *differs: that is of results. */
static at_status try_baseline(device_slot *s, bool *differs, at_error *error)
{
    char text[900] = "";
    device_check how = {.launches = BASELINE_LAUNCHES, .text = text, .text_bytes = sizeof text};
    *differs = false;
    s->trouble[0] = '\0';
    at_status status = run_reference(s, 0, error);
    if (!status)
        status = sum(s, true, s->sums, error);
    if (!status)
        status = check_reference_guards(s, error);
    if (!status)
        status = device_check_once(s, s->reference, &s->reference_launch, &how, differs, error);
    free(how.printed);
    if (!status && how.result != OUTCOME_OK)
        snprintf(s->trouble, sizeof s->trouble, "%s: %s", reference_name(s), text);
    return status;
}

/* Puts the results that files hold in the place of the baseline's. What that does wrong does not
 * concern others: it is judged as they are. */
static at_status seed_file(device_slot *s, at_error *error)
{
    at_status status = run_reference(s, 0, error);
    if (status == AT_SCRIPT || status == AT_NO_DEVICE) {
        error_clear(error);
        status = AT_OK;
    }
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        if (s->answers[i])
            status =
                s->api->write(s->device, s->expected[i], &s->plan.buffers[i], s->answers[i], error);
    return status ? status : sum(s, true, s->sums, error);
}

/* What it does wrong is told of the set-up or, where it does not concern what else is wrong with
 * variants, of them. */
static at_status tell_trouble(device_slot *s, at_status status, at_error *error)
{
    if (status == AT_SCRIPT || status == AT_NO_DEVICE)
        snprintf(s->trouble, sizeof s->trouble, "%s", error->message);
    s->keeps_before = s->keeps_before || s->trouble[0];
    if (!s->trouble[0])
        return status;
    if (!s->proves)
        return error_set(error, status ? status : AT_SCRIPT,
                         "%s\nThe pattern has no reference, so the baseline says what is right, "
                         "and nothing can be tuned against it: mend the kernel, or give the script "
                         "a reference = at.reference { ... }",
                         s->trouble);
    error_clear(error);
    return sum(s, true, s->sums, error);
}

static at_status seed_baseline(device_slot *s, at_error *error)
{
    bool differs;
    char first[sizeof s->trouble];
    /* Rounding at the edge of what is allowed is not to end a run later on. */
    if (s->is_judged) {
        at_status made = s->trouble[0] ? AT_OK : run_reference(s, 0, error);
        return made ? made : sum(s, true, s->sums, error);
    }
    s->is_judged = true;
    at_status status = try_baseline(s, &differs, error);
    if (!status && differs) {
        snprintf(first, sizeof first, "%s", s->trouble);
        s->keeps_before = true;
        status = try_baseline(s, &differs, error);
        if (!status && differs)
            snprintf(s->trouble, sizeof s->trouble,
                     "the baseline does not agree with itself, so that no variant can agree with "
                     "it (where that is rounding, say how much may be: tolerance = 1e-5, or "
                     "at.mismatches(...); 'autotune check' tells of races, and of reads beyond "
                     "buffers): %.600s",
                     first + strlen(reference_name(s)) + 2);
    }
    return tell_trouble(s, status, error);
}

at_status device_slot_seed(device_slot *s, uint64_t seed, at_error *error)
{
    /* Other data have other results than those that were kept. */
    s->seed = s->plan.oracle == ORACLE_FILE ? s->plan.seed : seed;
    if (s->sampled || s->absent)
        return AT_OK;
    at_status status = fill_inputs(s, error);
    if (status)
        return status;
    status = s->plan.oracle == ORACLE_BASELINE ? seed_baseline(s, error)
             : s->plan.oracle == ORACLE_FILE   ? seed_file(s, error)
             : s->plan.oracle == ORACLE_NONE   ? sum(s, true, s->sums, error)
                                               : seed_reference(s, error);
    if (status != AT_NO_DEVICE || !s->brief)
        return status;
    snprintf(s->trouble, sizeof s->trouble, "%s", error->message);
    error_clear(error);
    return sum(s, true, s->sums, error);
}

at_status device_slot_sound(device_slot *s, bool *sound, at_error *error)
{
    uint64_t now[PLAN_MAX_BUFFERS] = {0};
    at_status status = s->sampled || s->absent ? AT_OK : sum(s, true, now, error);
    *sound = !status && memcmp(now, s->sums, sizeof now) == 0;
    return status;
}

at_status device_slot_check(device_slot *s, device_kernel *k, const launch_plan *launch,
                            device_check *how, at_error *error)
{
    bool differs, sound;
    memset(s->differing, 0, sizeof s->differing);
    if (s->brief && s->trouble[0]) {
        how->result = OUTCOME_NOT_SIMULATED;
        snprintf(how->text, how->text_bytes, "nothing says what is right: %s", s->trouble);
        return AT_OK;
    }
    at_status status = device_check_once(s, k, launch, how, &differs, error);
    if (status || (s->sampled && how->result != OUTCOME_OK))
        return status;
    if (how->result == OUTCOME_OK) {
        if (!s->trouble[0] || how->slow_ns)
            return AT_OK;
        how->result = OUTCOME_NOT_SIMULATED;
        snprintf(how->text, how->text_bytes, "nothing says what is right: %s", s->trouble);
        return AT_OK;
    }
    /* A buffer that was hit is made again for the next variant. If the expected output was hit,
     * that may have been an earlier variant's doing: this one gets a second chance. */
    status = device_slot_sound(s, &sound, error);
    if (!status)
        status = device_slot_seed(s, s->seed, error);
    if (status || sound)
        return status;
    free(how->printed);
    status = device_check_once(s, k, launch, how, &differs, error);
    return status || how->result == OUTCOME_OK ? status : device_slot_seed(s, s->seed, error);
}

/* The bytes of all expected results. */
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
    if (s->api->bytes && !s->trouble[0] && size > 0)
        to = malloc((size_t)size);
    *out = to;
    for (uint32_t i = 0; to && i < s->plan.buffer_count; i++) {
        const size_t one = (size_t)plan_buffer_bytes(&s->plan.buffers[i]);
        if (!s->expected[i])
            continue;
        memcpy(to, s->api->bytes(s->expected[i]), one);
        to += one;
    }
    return to ? (size_t)size : 0;
}

static void tell_other(const device_slot *s, uint32_t i, const device_comparison *d, char *text,
                       size_t text_bytes)
{
    const buffer_plan *plan = &s->plan.buffers[i];
    char element[PLAN_NAME_BYTES + 96], here[ELEMENT_TEXT_BYTES], there[ELEMENT_TEXT_BYTES];
    plan_name_element(plan, d->first, element, sizeof element);
    element_tell(plan->type, &d->expected, here);
    element_tell(plan->type, &d->found, there);
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
        return error_set(error, AT_FORMAT, "the results are of other buffers");
    at_status status = s->seed == s->plan.seed ? AT_OK : device_slot_seed(s, s->plan.seed, error);
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
        tell_other(s, i, &found, text, text_bytes);
    }
    return status;
}
