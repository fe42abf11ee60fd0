#include "bench/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

typedef struct check {
    device_slot *slot;
    const launch_plan *launch;
    device_check *how;
    uint64_t sums[PLAN_MAX_BUFFERS]; /* sums of the outputs after the first launch */
    bool differs;                    /* the contents of an output are wrong */
} check;

static bool found_wrong(const check *c)
{
    return c->how->result != OUTCOME_OK;
}

static void keep_fault(check *c)
{
    const device_slot *s = c->slot;
    if (s->api->analysis)
        c->how->fault = *s->api->analysis->fault(s->device);
}

static void blame_contents(check *c, const char *kind, const buffer_plan *plan)
{
    c->how->result = OUTCOME_WRONG_RESULT;
    c->how->fault = (device_fault){0};
    snprintf(c->how->fault.kind, sizeof c->how->fault.kind, "%s", kind);
    snprintf(c->how->fault.buffer, sizeof c->how->fault.buffer, "%s", plan->name);
}

static at_status prepare(check *c, int pattern, at_error *error)
{
    device_slot *s = c->slot;
    const device_hardware *hardware = s->api->hardware;
    at_status status = device_slot_restore(s, error);
    for (uint32_t i = 0; !status && i < s->plan.buffer_count; i++) {
        buffer_role role = s->plan.buffers[i].role;
        if (role == BUFFER_OUTPUT || role == BUFFER_SCRATCH)
            status =
                s->api->poison(s->device, s->buffers[i], device_slot_poison(s, pattern), error);
        if (!status && hardware)
            status = hardware->guard(s->device, s->buffers[i], &s->plan.buffers[i], pattern, error);
    }
    if (!status && hardware)
        status = hardware->scrub(s->device, pattern, error);
    return status;
}

/* A single mismatch among this many results may be due to rounding: of a value that is compared
 * with a bound, for example. */
enum { RARE = 1000000 };

static void report_difference(check *c, const buffer_plan *all, const buffer_plan *plan,
                              const device_comparison *d)
{
    char element[PLAN_NAME_BYTES + 96], close[TOLERANCE_TEXT_BYTES], expected[ELEMENT_TEXT_BYTES],
        found[ELEMENT_TEXT_BYTES], allowed[64] = "";
    const bool exact = plan->tolerance.kind == TOLERANCE_EXACT,
               sampled = c->slot->sampled && !c->slot->coverage.whole, records = plan->record > 1;
    const char *begins = records ? "one that begins with " : "";
    plan_name_element(plan, d->first, element, sizeof element);
    tolerance_format(plan->tolerance, close);
    element_format(plan->type, &d->expected, expected);
    element_format(plan->type, &d->found, found);
    if (plan->tolerance.mismatches > 0)
        snprintf(allowed, sizeof allowed, " (%" PRIu64 " may be)",
                 tolerance_mismatches(plan->tolerance, plan->count));
    blame_contents(c, "wrong result", plan);
    c->how->fault.has_element = true;
    c->how->fault.element = d->first;
    c->differs = true;
    snprintf(c->how->text, c->how->text_bytes,
             "%" PRIu64 " of %s%" PRIu64
             " %selements of %s %s%s, first %s: expected %s%s%s, found %s%s",
             d->wrong, plan->count < all->count && !sampled ? "the first " : "", plan->count,
             sampled ? "compared " : "", plan->name, oracle_blame(c->slot->plan.oracle), allowed,
             element, expected, exact ? "" : " ", exact ? "" : close, found,
             d->unwritten ? ", which was there before: nothing wrote it" : "");
    if (plan->record)
        snprintf(c->how->text, c->how->text_bytes,
                 "%" PRIu64 " of %" PRIu64 " %s of %s, in any order, %s%s: %s%s is missing, and "
                 "%s has %s%s too often%s%s",
                 d->wrong, plan->count / plan->record, records ? "records" : "elements", plan->name,
                 oracle_blame(c->slot->plan.oracle), allowed, begins, expected, element, begins,
                 found, exact ? "" : ", each ", exact ? "" : close);
    if (d->wrong <= plan->count / RARE && plan->tolerance.mismatches == 0)
        text_add(c->how->text, c->how->text_bytes,
                 "; rounding may flip a discrete result: at.mismatches() allows that");
}

static const char all_near[] = "all differences are small: ";

/* Adds to the message which tolerance would allow the difference. A sum in another order may be
 * intended, but only the pattern can allow it. */
static void suggest_tolerance(check *c, const char *near, dtype type)
{
    text_add(c->how->text, c->how->text_bytes,
             "; %sif that is rounding, tolerance = %.0e allows it", near,
             tolerance_of_rounding(type).limit);
}

/* Suggests a tolerance if results that must be equal bit for bit differ only by rounding. */
static at_status report_rounding(check *c, uint32_t i, const buffer_plan *compared, at_error *error)
{
    device_slot *s = c->slot;
    buffer_plan near = *compared;
    near.tolerance = tolerance_of_rounding(compared->type);
    if (!tolerance_is_exact(compared->tolerance) || tolerance_is_exact(near.tolerance))
        return AT_OK;
    device_comparison d;
    at_status status = s->api->compare(s->device, s->buffers[i], s->expected[i], &near, &d, error);
    if (!status && d.wrong == 0)
        suggest_tolerance(c, all_near, compared->type);
    return status;
}

static at_status compare_outputs(check *c, at_error *error)
{
    device_slot *s = c->slot;
    for (uint32_t i = 0; i < s->plan.buffer_count && !found_wrong(c); i++) {
        if (!s->expected[i])
            continue;
        device_comparison d;
        const buffer_plan compared = device_slot_compared(s, c->launch, i);
        at_status status =
            s->api->compare(s->device, s->buffers[i], s->expected[i], &compared, &d, error);
        if (status)
            return status;
        if (d.wrong > s->differing[i])
            s->differing[i] = d.wrong;
        if (d.wrong <= tolerance_mismatches(compared.tolerance, compared.count))
            continue;
        report_difference(c, &s->plan.buffers[i], &compared, &d);
        status = report_rounding(c, i, &compared, error);
        if (status)
            return status;
    }
    return AT_OK;
}

static at_status check_guards(check *c, at_error *error)
{
    device_slot *s = c->slot;
    for (uint32_t i = 0; i < s->plan.buffer_count && !found_wrong(c); i++) {
        device_guard_report report;
        at_status status = s->api->guards(s->device, s->buffers[i], &report, error);
        if (status)
            return status;
        if (report.intact)
            continue;
        blame_contents(c, "out of bounds", &s->plan.buffers[i]);
        snprintf(c->how->text, c->how->text_bytes,
                 "the variant wrote outside its buffers: the nearest changed byte is byte %" PRIu64
                 " %s buffer %s",
                 report.distance_bytes, report.before ? "before" : "past the end of",
                 s->plan.buffers[i].name);
    }
    return AT_OK;
}

/* Checks the inputs. A changed input explains later wrong outputs, so it replaces other errors. */
static at_status check_inputs(check *c, at_error *error)
{
    device_slot *s = c->slot;
    for (uint32_t i = 0; i < s->plan.buffer_count; i++) {
        if (s->plan.buffers[i].role != BUFFER_INPUT)
            continue;
        uint64_t sum;
        at_status status = s->api->checksum(s->device, s->buffers[i],
                                            plan_buffer_bytes(&s->plan.buffers[i]), &sum, error);
        if (status)
            return status;
        if (sum == s->sums[i])
            continue;
        blame_contents(c, "changed input", &s->plan.buffers[i]);
        c->differs = false;
        snprintf(c->how->text, c->how->text_bytes, "the variant changed its input %s",
                 s->plan.buffers[i].name);
    }
    return AT_OK;
}

/* Checks that the results of all launches are equal bit for bit. Skips buffers that need not
 * repeat, and buffers with an exact comparison, which were checked already. */
static at_status sum_outputs(check *c, int pattern, at_error *error)
{
    device_slot *s = c->slot;
    for (uint32_t i = 0; i < s->plan.buffer_count && !found_wrong(c); i++) {
        const buffer_plan *plan = &s->plan.buffers[i];
        if (!plan->repeats || (tolerance_is_exact(plan->tolerance) && !s->oracle_error[0]))
            continue;
        uint64_t sum;
        at_status status = device_slot_sum(s, c->launch, i, s->buffers[i], &sum, error);
        if (status)
            return status;
        if (pattern == 0)
            c->sums[i] = sum;
        if (c->sums[i] == sum)
            continue;
        blame_contents(c, "wrong result", &s->plan.buffers[i]);
        c->differs = true;
        snprintf(c->how->text, c->how->text_bytes,
                 "two launches on the same inputs give different %s%s", s->plan.buffers[i].name,
                 s->api->analysis ? "" : " (a race?)");
        if (tolerance_is_exact(plan->tolerance) &&
            !tolerance_is_exact(tolerance_of_rounding(plan->type)))
            suggest_tolerance(c, "", plan->type);
    }
    return AT_OK;
}

static void note_printed(check *c, bool is_wrong)
{
    const device_analysis *analysis = c->slot->api->analysis;
    char *printed = analysis ? analysis->take_printed(c->slot->device) : NULL;
    if (!c->how->printed || is_wrong) {
        free(c->how->printed);
        c->how->printed = printed;
    } else {
        free(printed);
    }
}

/* Launches once and gets the device's complaint. If the complaint may vary with other parallel work
 * of the device, launches again without such work, because a complaint must be repeatable. */
static at_status launch_once(check *c, int pattern, uint32_t schedule, device_kernel *k,
                             at_error *error)
{
    device_slot *s = c->slot;
    const device_analysis *analysis = s->api->analysis;
    at_status status = AT_OK;
    bool alone = false, again = true;
    while (again && !status) {
        status = prepare(c, pattern, error);
        if (status)
            break;
        if (analysis)
            analysis->arrange(s->device, schedule, alone);
        status = device_slot_launch(s, k, c->launch, s->buffers, c->how->most_work, error);
        const char *complaint = status ? NULL : s->api->complaint(s->device, &c->how->result);
        note_printed(c, complaint != NULL);
        if (complaint) {
            keep_fault(c);
            snprintf(c->how->text, c->how->text_bytes, "%s%s", complaint,
                     s->proves && c->how->result == OUTCOME_TIMEOUT
                         ? ": the proof's work ends there. If the kernel does end, give the script "
                           "a smaller problem: simulated = { ... }"
                         : "");
        }
        again = complaint && analysis && !alone && analysis->varies(s->device) &&
                (c->how->result == OUTCOME_WRONG_RESULT || c->how->result == OUTCOME_TIMEOUT);
        alone = true;
    }
    if (analysis)
        analysis->arrange(s->device, 0, false);
    return status;
}

/* Checks one launch, which has a schedule of its own. Checks guard bands first, because a damaged
 * band explains more than the elements that the same error damaged. */
static at_status check_launch(check *c, int pattern, device_kernel *k, at_error *error)
{
    const device_slot *s = c->slot;
    const device_hardware *hardware = s->api->hardware;
    at_status status = launch_once(c, pattern, (uint32_t)pattern, k, error);
    if (status || found_wrong(c))
        return status;
    if (pattern == 0 && c->how->most_ns > 0 && hardware &&
        hardware->launch_ns(s->device) > c->how->most_ns) {
        c->how->slow_ns = hardware->launch_ns(s->device);
        return AT_OK;
    }
    status = check_guards(c, error);
    if (!status && !s->oracle_error[0])
        status = compare_outputs(c, error);
    return status ? status : sum_outputs(c, pattern, error);
}

/* Copies the results of a launch to new buffers. The caller calls free_copies() after any result.
 */
static at_status copy_results(const check *c, device_buffer *copies[PLAN_MAX_BUFFERS],
                              at_error *error)
{
    const device_slot *s = c->slot;
    at_status status = AT_OK;
    for (uint32_t i = 0; i < s->plan.buffer_count && !status; i++) {
        const buffer_plan *plan = &s->plan.buffers[i];
        if (!s->expected[i] || plan->record)
            continue;
        status =
            s->api->buffer_new(s->device, plan->name, plan_buffer_bytes(plan), &copies[i], error);
        if (!status)
            status = s->api->copy(s->device, copies[i], s->buffers[i], error);
    }
    return status;
}

static void free_copies(const check *c, device_buffer *copies[PLAN_MAX_BUFFERS])
{
    for (uint32_t i = 0; i < c->slot->plan.buffer_count; i++)
        if (copies[i])
            c->slot->api->buffer_free(c->slot->device, copies[i]);
}

/* Sets *differ if the results of the last launch differ from the copies by more than the tolerance.
 * Sums in another order may differ within the tolerance. */
static at_status compare_copies(const check *c, device_buffer *const copies[PLAN_MAX_BUFFERS],
                                bool *differ, at_error *error)
{
    const device_slot *s = c->slot;
    at_status status = AT_OK;
    *differ = false;
    for (uint32_t i = 0; i < s->plan.buffer_count && !status; i++) {
        const buffer_plan compared = device_slot_compared(s, c->launch, i);
        device_comparison d = {0};
        if (copies[i])
            status = s->api->compare(s->device, s->buffers[i], copies[i], &compared, &d, error);
        *differ = *differ || d.wrong > tolerance_mismatches(compared.tolerance, compared.count);
    }
    return status;
}

/* Adds to the message if the wrong result depends on the order of threads: if launches under
 * earlier schedules were right, or a launch under another schedule gives other results. */
static at_status report_order(check *c, uint32_t schedule, device_kernel *k, at_error *error)
{
    char text[1024];
    bool depends = schedule > 0;
    if (!depends) {
        device_buffer *here[PLAN_MAX_BUFFERS] = {NULL};
        const device_fault fault = c->how->fault;
        snprintf(text, sizeof text, "%s", c->how->text);
        at_status status = copy_results(c, here, error);
        if (!status)
            status = launch_once(c, 0, 1, k, error);
        if (!status)
            status = compare_copies(c, here, &depends, error);
        free_copies(c, here);
        if (status)
            return status;
        c->how->result = OUTCOME_WRONG_RESULT;
        c->how->fault = fault;
        snprintf(c->how->text, c->how->text_bytes, "%s", text);
    }
    snprintf(text, sizeof text, "%s", c->how->text);
    if (depends)
        snprintf(c->how->text, c->how->text_bytes,
                 "the result depends on the order in which blocks, warps and threads run, or in "
                 "which their stores become visible. CUDA promises no order: in %s order %s",
                 schedule > 0 ? "another" : "their", text);
    if (depends) {
        c->slot->api->analysis->suspect(k, text, sizeof text);
        text_add(c->how->text, c->how->text_bytes, "%s", text);
    }
    return AT_OK;
}

/* Returns the cost of a launch: the work of the device and the bytes of the buffers.
 * BYTES_OF_A_UNIT bytes are filled and compared in about the time of a unit of work. */
static uint64_t cost_of(const device_slot *s)
{
    enum { BYTES_OF_A_UNIT = 16 };
    return s->api->analysis->work(s->device) + plan_problem_bytes(&s->plan) / BYTES_OF_A_UNIT;
}

/* Returns true if the last bits of a result are compared, or launches must agree. */
static bool is_exact(const device_slot *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->plan.buffer_count; i++) {
        const buffer_plan *plan = &s->plan.buffers[i];
        any =
            any || plan->repeats || (plan_is_compared(plan) && tolerance_is_exact(plan->tolerance));
    }
    return any;
}

/* Returns true if the kernel is to be launched again. If results may depend on the order of
 * threads, several orders are tried: more if a launch is cheap, and many if it is tiny, because a
 * few threads that share a few addresses show all possible results within some hundred orders. */
static bool needs_launch(const check *c, int launches, const device_kernel *k)
{
    enum {
        MOST_ORDERS = 24,
        MOST_COST = 3 << 20,
        MOST_TINY_ORDERS = 256,
        MOST_TINY_COST = 1 << 19
    };
    const device_analysis *analysis = c->slot->api->analysis;
    if (launches < c->how->launches)
        return true;
    if (!analysis || !analysis->depends_on_order(k, is_exact(c->slot)))
        return false;
    const uint64_t cost = (uint64_t)launches * cost_of(c->slot);
    return (launches < MOST_ORDERS && cost <= MOST_COST) ||
           (launches < MOST_TINY_ORDERS && cost <= MOST_TINY_COST);
}

/* Launches again with the module's variables as the last launch left them, because tuning on a GPU
 * launches the kernel repeatedly. A kernel that is right only once cannot be timed, but the single
 * launch is not wrong. The oracle's own kernel is not checked. */
static at_status check_second(check *c, device_kernel *k, at_error *error)
{
    const device_slot *s = c->slot;
    const device_analysis *analysis = s->api->analysis;
    const char *left =
        analysis && k != s->reference ? analysis->carry_on(s->device, k, c->launch) : NULL;
    char text[1024];
    at_status status = AT_OK;
    if (!left)
        return AT_OK;
    for (int pattern = 0; !status && !found_wrong(c) && needs_launch(c, pattern, k); pattern++)
        status = check_launch(c, pattern, k, error);
    if (!status && found_wrong(c)) {
        snprintf(text, sizeof text, "%s", c->how->text);
        snprintf(c->how->text, c->how->text_bytes,
                 "the second launch is wrong, because it finds '%s' as the first launch left it. "
                 "Let the kernel reset the variable, or fill it before each launch: kernel = { "
                 "constants = { %s = \"BUFFER\" } }. The difference: %s",
                 left, left, text);
        c->how->result = OUTCOME_NOT_SIMULATED;
        c->differs = false;
    }
    analysis->carry_on(s->device, k, NULL);
    return status;
}

static at_status check_once(check *c, device_kernel *k, at_error *error)
{
    c->how->result = OUTCOME_OK;
    c->how->text[0] = '\0';
    c->differs = false;
    at_status status = AT_OK;
    int pattern = 0;
    for (; !status && !found_wrong(c) && !c->how->slow_ns && needs_launch(c, pattern, k); pattern++)
        status = check_launch(c, pattern, k, error);
    if (!status && !c->how->slow_ns)
        status = check_inputs(c, error);
    if (!status && !found_wrong(c) && !c->how->slow_ns)
        status = check_second(c, k, error);
    return status || !c->differs || !c->slot->api->analysis
               ? status
               : report_order(c, (uint32_t)pattern - 1, k, error);
}

static at_status check_excerpt(check *c, device_kernel *k, const launch_plan *launch,
                               at_error *error)
{
    device_slot *s = c->slot;
    device_excerpt_result found;
    c->how->result = OUTCOME_OK;
    c->how->text[0] = '\0';
    if (!s->excerpt)
        return AT_OK;
    s->coverage = (device_coverage){0};
    at_status status =
        s->api->excerpts->check(s->device, s->excerpt, k, launch, &found, &s->coverage, error);
    if (status || found.result == OUTCOME_OK)
        return status;
    buffer_plan compared = s->plan.buffers[found.buffer];
    compared.count = found.compared;
    c->how->result = found.result;
    if (found.complaint) {
        keep_fault(c);
        snprintf(c->how->text, c->how->text_bytes, "%s", found.complaint);
    } else {
        report_difference(c, &s->plan.buffers[found.buffer], &compared, &found.found);
        if (tolerance_is_exact(compared.tolerance) && found.beyond == 0)
            suggest_tolerance(c, all_near, compared.type);
    }
    return AT_OK;
}

at_status device_check_once(device_slot *s, device_kernel *k, const launch_plan *launch,
                            device_check *how, bool *differs, at_error *error)
{
    check c = {.slot = s, .launch = launch, .how = how};
    how->printed = NULL;
    how->fault = (device_fault){0};
    at_status status = s->sampled ? check_excerpt(&c, k, launch, error) : check_once(&c, k, error);
    *differs = c.differs && found_wrong(&c);
    return status;
}
