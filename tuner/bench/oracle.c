#include "bench/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

static const char *reference_name(const device_slot *s)
{
    return oracle_kernel(s->plan.oracle);
}

static at_status fill(device_slot *s, uint32_t i, device_buffer *b, at_error *error)
{
    buffer_plan plan = s->plan.buffers[i];
    /* The filler writes buffers that are inputs of the other kernels, and inputs are read-only. */
    if (s->filler)
        plan.role = BUFFER_INOUT;
    if (s->contents[i])
        return s->api->write(s->device, b, &plan, s->contents[i], error);
    return s->api->fill(s->device, b, &plan, plan_buffer_seed(s->seed, i), error);
}

static at_status launch(device_slot *s, const char *name, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, uint64_t most_work, at_error *error)
{
    outcome result;
    at_status status = device_slot_launch(s, k, plan, buffers, most_work, error);
    if (s->api->analysis)
        free(s->api->analysis->take_printed(s->device)); /* not needed */
    const char *complaint = status ? NULL : s->api->complaint(s->device, &result);
    if (complaint && result == OUTCOME_TIMEOUT && s->proves)
        status = error_set(error, AT_NO_DEVICE,
                           "%s: the proof's work ends there. Give the kernel less work, for "
                           "example a thread for each row in place of each element ('autotune help "
                           "scripts'), or give the script a smaller problem: simulated = { ... }",
                           complaint);
    else if (complaint)
        status = error_set(error, result == OUTCOME_NOT_SIMULATED ? AT_NO_DEVICE : AT_DEVICE, "%s",
                           complaint);
    return device_slot_blame(name, status, error);
}

/* Returns AT_SCRIPT if the kernel `name` has written around buffer `i`, whose memory is `b`. */
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
        launch(s, DEVICE_FILLER_NAME, s->filler, &s->filler_launch, s->buffers, 0, error);
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        status = check_guards(s, DEVICE_FILLER_NAME, i, s->buffers[i], error);
    return status;
}

/* Gives a buffer and its guard bands the contents of the variants' buffer before a launch. */
static at_status fill_as_input(device_slot *s, uint32_t i, device_buffer *b, at_error *error)
{
    if (s->replacement[i])
        return s->api->write(s->device, b, &s->plan.buffers[i], s->replacement[i], error);
    at_status status = fill(s, i, b, error);
    if (!status && s->filler)
        status =
            s->api->copy(s->device, b, b == s->pristine[i] ? s->buffers[i] : s->pristine[i], error);
    return status;
}

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

/* Runs the reference with `expected` in place of the outputs, and notes which outputs it changes.
 * `most_work` is as for device_slot_launch(). */
static at_status run_reference(device_slot *s, int pattern, uint64_t most_work, at_error *error)
{
    device_buffer *view[PLAN_MAX_BUFFERS] = {NULL};
    uint64_t before[PLAN_MAX_BUFFERS] = {0};
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++) {
        buffer_role role = s->plan.buffers[i].role;
        view[i] = plan_is_compared(&s->plan.buffers[i]) ? s->expected[i] : s->buffers[i];
        if (role == BUFFER_OUTPUT || role == BUFFER_SCRATCH)
            status = s->api->poison(s->device, view[i], device_slot_poison(s, pattern), error);
        else if (role == BUFFER_INOUT)
            status = fill_as_input(s, i, view[i], error);
        if (!status && s->expected[i])
            status = device_slot_sum(s, &s->reference_launch, i, s->expected[i], &before[i], error);
    }
    int64_t start_ns = clock_now_ns();
    if (!status)
        status = launch(s, reference_name(s), s->reference, &s->reference_launch, view, most_work,
                        error);
    s->reference_wall_ns = clock_now_ns() - start_ns;
    s->reference_work = s->api->analysis ? s->api->analysis->work(s->device) : 0;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++) {
        uint64_t after;
        if (!s->expected[i])
            continue;
        status = device_slot_sum(s, &s->reference_launch, i, s->expected[i], &after, error);
        s->changes[i] = !status && after != before[i];
    }
    return status;
}

/* ---- in-outs that hold the results before the launch ----
 *
 * If a launch was captured after the program had run the kernel on the same data, its buffers hold
 * the results already, and a variant that writes nothing would be right. So elements that hold
 * their results before the launch are replaced, if the oracle's results do not depend on them. */

typedef struct inout {
    uint64_t count;            /* compared elements; 0 if all of them are wrong before a launch */
    size_t size;               /* bytes per element */
    double magnitude;          /* largest magnitude in `after` */
    const unsigned char *most; /* the element of `after` with this magnitude */
    unsigned char *before, *after; /* owned; contents before and after a launch of the oracle */
    unsigned char *now;            /* owned; contents after a launch from altered contents */
} inout;

static void inout_deinit(inout *x)
{
    free(x->before);
    free(x->after);
    free(x->now);
    *x = (inout){0};
}

static bool is_right(const device_slot *s, uint32_t i, const inout *x, uint64_t element,
                     const unsigned char *found)
{
    const unsigned char *expected = x->after + element * x->size;
    const buffer_plan *plan = &s->plan.buffers[i];
    return memcmp(found, expected, x->size) == 0 ||
           tolerance_accepts(plan->tolerance, x->magnitude, plan->type, found, expected);
}

/* Writes a value that differs from `from` by more than rounding. */
static void write_different_value(dtype type, unsigned char *to, const unsigned char *from)
{
    const size_t size = dtype_get(type)->size_bytes;
    memmove(to, from, size);
    if (!dtype_get(type)->is_float)
        to[0] ^= 1;
    else if (element_magnitude(type, from, 1) > 0)
        to[size - 1] ^= 0x80;
    else
        memset(to + size - 2, 0x3f, 2); /* about 1 */
}

/* Gives each element the buffer's next value that differs from its own, so that indices stay valid.
 * If all elements are equal, each gets the opposite value. */
static void alter_elements(dtype type, const inout *x, unsigned char *to)
{
    const unsigned char *other = NULL;
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t e = x->count; e-- > 0;) {
            const unsigned char *own = x->before + e * x->size,
                                *next = x->before + (e + 1) % x->count * x->size;
            if (memcmp(own, next, x->size) != 0)
                other = next;
            if (other)
                memcpy(to + e * x->size, other, x->size);
            else
                write_different_value(type, to + e * x->size, own);
        }
}

static at_status read_inout(device_slot *s, uint32_t i, inout *x, at_error *error)
{
    const buffer_plan *plan = &s->plan.buffers[i];
    const uint64_t bytes = plan_buffer_bytes(plan);
    const buffer_plan compared = device_slot_compared(s, &s->reference_launch, i);
    device_comparison d;
    at_status status =
        s->api->compare(s->device, s->pristine[i], s->expected[i], &compared, &d, error);
    if (status || d.wrong == compared.count)
        return status;
    x->size = dtype_get(plan->type)->size_bytes;
    x->before = memory_new(bytes, 1);
    x->after = memory_new(bytes, 1);
    x->now = memory_new(bytes, 1);
    status = s->api->read(s->device, s->pristine[i], x->before, bytes, error);
    if (!status)
        status = s->api->read(s->device, s->expected[i], x->after, bytes, error);
    x->count = status ? 0 : compared.count;
    x->magnitude = element_magnitude(plan->type, x->after, x->count);
    x->most = x->after;
    for (uint64_t e = 0; e < x->count && x->magnitude > 0; e++)
        if (element_magnitude(plan->type, x->after + e * x->size, 1) >= x->magnitude)
            x->most = x->after + e * x->size;
    return status;
}

/* Makes an element of `altered` wrong. If its value is right, tries the largest result, then a
 * value that differs from the largest result. */
static void replace(const device_slot *s, uint32_t i, const inout *x, uint64_t element,
                    unsigned char *altered)
{
    unsigned char *to = altered + element * x->size;
    if (is_right(s, i, x, element, to))
        memcpy(to, x->most, x->size);
    if (is_right(s, i, x, element, to))
        write_different_value(s->plan.buffers[i].type, to, x->most);
}

/* Keeps elements of `altered` that held their result before and get the same result from the
 * altered contents. Restores all other elements. Returns the number of kept elements. */
static uint64_t keep_independent(const device_slot *s, uint32_t i, const inout *x,
                                 unsigned char *altered)
{
    uint64_t kept = 0;
    for (uint64_t e = 0; e < x->count; e++) {
        const uint64_t at = e * x->size;
        const bool is_left = memcmp(x->before + at, x->after + at, x->size) == 0 &&
                             memcmp(altered + at, x->now + at, x->size) == 0;
        if (!is_left && is_right(s, i, x, e, x->before + at) && is_right(s, i, x, e, x->now + at)) {
            replace(s, i, x, e, altered);
            kept++;
        } else {
            memcpy(altered + at, x->before + at, x->size);
        }
    }
    return kept;
}

/* Runs the oracle from altered contents of one in-out. Leaves in s->replacement[i] the contents to
 * use instead, or NULL. If the launch fails, the oracle depends on the altered contents. */
static at_status try_altered(device_slot *s, uint32_t i, int pattern, inout *x, at_error *error)
{
    const uint64_t bytes = plan_buffer_bytes(&s->plan.buffers[i]);
    enum { MOST_TIMES = 4 };
    unsigned char *altered = memory_copy(x->before, bytes, 1);
    alter_elements(s->plan.buffers[i].type, x, altered);
    s->replacement[i] = altered;
    at_status status = run_reference(s, pattern, MOST_TIMES * s->reference_work, error);
    if (!status)
        status = s->api->read(s->device, s->expected[i], x->now, bytes, error);
    const bool failed = status && !s->api->hardware;
    if (failed)
        error_clear(error);
    if (failed || (!status && keep_independent(s, i, x, altered) == 0)) {
        free(altered);
        s->replacement[i] = NULL;
        return AT_OK;
    }
    return status;
}

/* Restores elements of s->replacement[i] for which the oracle's result is not right. *all becomes
 * false if too many are wrong. */
static at_status restore_wrong_elements(device_slot *s, uint32_t i, inout *x, bool *all,
                                        at_error *error)
{
    at_status status = s->api->read(s->device, s->expected[i], x->now,
                                    plan_buffer_bytes(&s->plan.buffers[i]), error);
    uint64_t wrong = 0;
    for (uint64_t e = 0; !status && e < x->count; e++) {
        const uint64_t at = e * x->size;
        if (is_right(s, i, x, e, x->now + at))
            continue;
        wrong++;
        if (s->replacement[i])
            memcpy(s->replacement[i] + at, x->before + at, x->size);
    }
    *all = *all && wrong <= tolerance_mismatches(s->plan.buffers[i].tolerance, x->count);
    return status;
}

static void forget_replacements(device_slot *s)
{
    for (uint32_t i = 0; i < s->plan.buffer_count; i++) {
        free(s->replacement[i]);
        s->replacement[i] = NULL;
    }
}

/* Runs the oracle from all replaced contents until its results do not change by the replacement. */
static at_status settle_replacements(device_slot *s, int pattern, inout x[PLAN_MAX_BUFFERS],
                                     at_error *error)
{
    enum { MOST_ROUNDS = 4 };
    at_status status = AT_OK;
    bool all = false;
    for (int round = 0; !status && !all && round <= MOST_ROUNDS; round++) {
        if (round == MOST_ROUNDS) {
            forget_replacements(s);
            snprintf(s->oracle_error, sizeof s->oracle_error,
                     "results were not compared: the kernel also reads the memory of its results, "
                     "and other contents there change other results");
        }
        all = true;
        status = run_reference(s, pattern, 0, error);
        for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
            if (x[i].count > 0)
                status = restore_wrong_elements(s, i, &x[i], &all, error);
    }
    return status;
}

/* Replaces contents of in-outs that hold results before the launch, unless the oracle reads them
 * before it writes them, and makes `expected` and s->changes again. */
static at_status replace_results(device_slot *s, int pattern, at_error *error)
{
    inout x[PLAN_MAX_BUFFERS] = {{0}};
    bool any = false;
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        if (s->pristine[i] && s->expected[i] && !s->plan.buffers[i].record)
            status = read_inout(s, i, &x[i], error);
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        if (x[i].count > 0) {
            unsigned char *others[PLAN_MAX_BUFFERS];
            memcpy(others, s->replacement, sizeof others);
            memset(s->replacement, 0, sizeof s->replacement);
            status = try_altered(s, i, pattern, &x[i], error);
            others[i] = s->replacement[i];
            memcpy(s->replacement, others, sizeof others);
            any = true;
        }
    if (!status && any)
        status = settle_replacements(s, pattern, x, error);
    for (uint32_t i = 0; i < s->plan.buffer_count; i++) {
        if (!status && s->replacement[i])
            status = fill_as_input(s, i, s->pristine[i], error);
        inout_deinit(&x[i]);
    }
    s->has_replacement = !status;
    return status;
}

static at_status note_changes(device_slot *s, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++) {
        const buffer_plan compared = device_slot_compared(s, &s->reference_launch, i);
        device_comparison d = {0};
        if (!s->pristine[i] || !s->expected[i])
            continue;
        status = s->api->compare(s->device, s->pristine[i], s->expected[i], &compared, &d, error);
        s->changes[i] = d.wrong > tolerance_mismatches(compared.tolerance, compared.count);
    }
    return status;
}

static at_status run_baseline(device_slot *s, at_error *error)
{
    at_status status = run_reference(s, 0, 0, error);
    if (!status && !s->has_replacement)
        status = replace_results(s, 0, error);
    return status ? status : note_changes(s, error);
}

/* Computes a sum of each expected buffer, and with `inputs` of each input. No buffer is both. */
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

/* Compares two further runs of the reference, and reports different elements of buffer `i`. The
 * variants' buffer keeps the first results. If runs may differ (plan.repeats is false), reports
 * only elements that nothing wrote. */
static at_status report_unrepeated(device_slot *s, uint32_t i, at_error *error)
{
    buffer_plan plan = device_slot_compared(s, &s->reference_launch, i);
    device_comparison d;
    char element[PLAN_NAME_BYTES + 96], once[ELEMENT_TEXT_BYTES], again[ELEMENT_TEXT_BYTES];
    if (plan.repeats)
        plan.tolerance = (tolerance){.kind = TOLERANCE_EXACT};
    plan.record = 0;
    at_status status = run_reference(s, 0, 0, error);
    if (!status)
        status = s->api->copy(s->device, s->buffers[i], s->expected[i], error);
    if (!status)
        status = run_reference(s, 1, 0, error);
    if (!status)
        status = s->api->compare(s->device, s->expected[i], s->buffers[i], &plan, &d, error);
    if (status || (!plan.repeats && !(d.wrong > 0 && d.unwritten)))
        return status;
    plan_name_element(&plan, d.first, element, sizeof element);
    element_format(plan.type, &d.expected, once);
    element_format(plan.type, &d.found, again);
    if (d.unwritten)
        return error_set(error, AT_SCRIPT,
                         "two runs of the reference kernel give different %s: %" PRIu64
                         " of %" PRIu64 " elements differ, and nothing wrote the first of them, "
                         "%s. Let the reference write all elements; or make the buffer an "
                         "in-out, which keeps the others (at.inout; in a kernel file, not in "
                         "outputs); or correct its count",
                         plan.name, d.wrong, plan.count, element);
    return error_set(error, AT_SCRIPT,
                     "two runs of the reference kernel give different %s: %" PRIu64 " of %" PRIu64
                     " elements differ, the first is %s: %s and %s. The kernel does not write all "
                     "elements, or is not deterministic",
                     plan.name, d.wrong, plan.count, element, once, again);
}

/* Makes the expected results by two launches of a reference kernel. Elements that it does not write
 * keep the poison, which differs between the launches. Float atomics may differ, too. */
static at_status seed_reference(device_slot *s, at_error *error)
{
    uint64_t first[PLAN_MAX_BUFFERS] = {0};
    at_status status = run_reference(s, 0, 0, error);
    if (!status)
        status = sum(s, false, first, error);
    if (!status)
        status = run_reference(s, 1, 0, error);
    if (!status)
        status = sum(s, true, s->sums, error);
    if (!status)
        status = check_reference_guards(s, error);
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        if (s->expected[i] && first[i] != s->sums[i] &&
            (s->plan.buffers[i].repeats || (!s->api->hardware && !s->plan.buffers[i].record)))
            status = report_unrepeated(s, i, error);
    return status;
}

enum { BASELINE_LAUNCHES = 2 }; /* launches besides the launch that makes the expected results */

/* Makes the expected results with the baseline, and compares further launches with them. Sets
 * s->oracle_error, and *differs if results differ. */
static at_status try_baseline(device_slot *s, bool *differs, at_error *error)
{
    char text[900] = "";
    device_check how = {.launches = BASELINE_LAUNCHES, .text = text, .text_bytes = sizeof text};
    *differs = false;
    s->oracle_error[0] = '\0';
    at_status status = run_baseline(s, error);
    if (!status)
        status = sum(s, true, s->sums, error);
    if (!status)
        status = check_reference_guards(s, error);
    if (!status)
        status = device_check_once(s, s->reference, &s->reference_launch, &how, differs, error);
    free(how.printed);
    if (!status && how.result != OUTCOME_OK)
        snprintf(s->oracle_error, sizeof s->oracle_error, "%s: %s", reference_name(s), text);
    return status;
}

/* Reports an error of the oracle: for the set-up, or in proofs for each variant, which may have
 * other errors as well. */
static at_status report_oracle_error(device_slot *s, at_status status, at_error *error)
{
    if (status == AT_SCRIPT || status == AT_NO_DEVICE)
        snprintf(s->oracle_error, sizeof s->oracle_error, "%s", error->message);
    s->keeps_unwritten = s->keeps_unwritten || s->oracle_error[0];
    if (!s->oracle_error[0])
        return status;
    if (!s->proves)
        return error_set(error, status ? status : AT_SCRIPT,
                         "%s\nThe pattern has no reference, so the baseline's results are the "
                         "expected ones, and they are wrong: correct the kernel, or give the "
                         "script a reference = at.reference { ... }",
                         s->oracle_error);
    error_clear(error);
    return sum(s, true, s->sums, error);
}

/* Replaces the baseline's results by the results in files. The baseline's errors do not matter
 * then: it is checked like a variant. */
static at_status seed_file(device_slot *s, at_error *error)
{
    at_status status = run_baseline(s, error);
    if (status == AT_SCRIPT || status == AT_NO_DEVICE) {
        error_clear(error);
        status = AT_OK;
    }
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++)
        if (s->answers[i])
            status =
                s->api->write(s->device, s->expected[i], &s->plan.buffers[i], s->answers[i], error);
    if (!status)
        status = sum(s, true, s->sums, error);
    return s->oracle_error[0] ? report_oracle_error(s, status, error) : status;
}

static at_status seed_baseline(device_slot *s, at_error *error)
{
    bool differs;
    char first[sizeof s->oracle_error];
    /* The baseline is judged once: a rounding error near the tolerance must not end a run. */
    if (s->is_judged) {
        at_status made = s->oracle_error[0] ? AT_OK : run_baseline(s, error);
        return made ? made : sum(s, true, s->sums, error);
    }
    s->is_judged = true;
    at_status status = try_baseline(s, &differs, error);
    if (!status && differs) {
        snprintf(first, sizeof first, "%s", s->oracle_error);
        s->keeps_unwritten = true;
        status = try_baseline(s, &differs, error);
        if (!status && differs)
            snprintf(s->oracle_error, sizeof s->oracle_error,
                     "two runs of the baseline differ, so no variant can be compared with it. If "
                     "the cause is rounding, give a tolerance = 1e-5 or at.mismatches(...). "
                     "'autotune check' finds races and reads beyond buffers: %.600s",
                     first + strlen(reference_name(s)) + 2);
    }
    return report_oracle_error(s, status, error);
}

at_status device_slot_seed(device_slot *s, uint64_t seed, at_error *error)
{
    /* The results in files are for one seed only. */
    if (s->plan.oracle == ORACLE_FILE)
        seed = s->plan.seed;
    if (s->seed != seed)
        forget_replacements(s);
    s->has_replacement = s->has_replacement && s->seed == seed;
    s->seed = seed;
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
    snprintf(s->oracle_error, sizeof s->oracle_error, "%s", error->message);
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
    if (s->brief && s->oracle_error[0]) {
        how->result = OUTCOME_NOT_SIMULATED;
        snprintf(how->text, how->text_bytes, "there are no expected results: %s", s->oracle_error);
        return AT_OK;
    }
    at_status status = device_check_once(s, k, launch, how, &differs, error);
    if (status || (s->sampled && how->result != OUTCOME_OK))
        return status;
    if (how->result == OUTCOME_OK) {
        if (!s->oracle_error[0] || how->slow_ns)
            return AT_OK;
        how->result = OUTCOME_NOT_SIMULATED;
        snprintf(how->text, how->text_bytes, "there are no expected results: %s", s->oracle_error);
        return AT_OK;
    }
    /* Buffers that were hit are made again for the next variant. If the expected results were hit,
     * this variant is checked again: an earlier variant may have done that. */
    status = device_slot_sound(s, &sound, error);
    if (!status)
        status = device_slot_seed(s, s->seed, error);
    if (status || sound)
        return status;
    free(how->printed);
    status = device_check_once(s, k, launch, how, &differs, error);
    return status || how->result == OUTCOME_OK ? status : device_slot_seed(s, s->seed, error);
}
