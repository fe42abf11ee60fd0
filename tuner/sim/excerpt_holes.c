#include "sim/excerpt_holes.h"

#include <inttypes.h>
#include <stdio.h>

#include "sim/excerpt_compare.h"
#include "sim/owners.h"

/* At least so much is spent on places, of which each may need a block of its own. */
static const uint64_t most_at_places = 1 << 20;

/* Instructions that all sweeps together follow that look for an element. */
static const uint64_t most_sought = 1 << 24;

/* Does the reference write all results? One that cannot be followed is believed: one that leaves
 * some alone is refused on smaller problems. A baseline may leave some. */
static at_status writes_all(const excerpt_check *c, uint32_t i, bool *all, at_error *error)
{
    const device_excerpt *x = c->excerpt;
    sim_sweep swept;
    at_status status =
        sim_device_sweep(x->device, x->reference, &x->reference_launch, 0, x->view, &x->plan,
                         c->ends, EXCERPT_MOST_SWEPT, false, &swept, error);
    *all = !status && (swept.ended && swept.written[i].is_known
                           ? sim_written_all(&swept.written[i], c->ends[i])
                           : x->plan.oracle == ORACLE_REFERENCE);
    return status;
}

/* Finds how many elements before `end` are written beyond those that are there, in *beyond; *known
 * tells whether that could be found. */
static at_status count_before(const excerpt_check *c, uint32_t i, uint64_t end, int64_t *beyond,
                              uint64_t *work, bool *known, at_error *error)
{
    const device_excerpt *x = c->excerpt;
    uint64_t ends[PLAN_MAX_BUFFERS] = {0};
    sim_sweep swept;
    ends[i] = end;
    at_status status = sim_device_sweep(x->device, c->kernel, c->plan, 0, sim_data_buffers(x->data),
                                        &x->plan, ends, EXCERPT_MOST_SWEPT, false, &swept, error);
    *work += swept.work;
    *known = !status && swept.ended && swept.written[i].is_known && *work < most_sought;
    *beyond = (int64_t)(swept.written[i].count - end);
    return status;
}

/* Seeks an element that is not written: between two places where fewer are written than there are.
 * *found says if there are such places among those that were looked at, *element which it is; the
 * buffer's end: that would take too long. */
static at_status seek(const excerpt_check *c, uint32_t i, bool *found, uint64_t *element,
                      at_error *error)
{
    enum { PARTS = 16 };
    const uint64_t end = c->ends[i];
    uint64_t from = 0, to = 0, work = c->swept.work;
    int64_t before = 0, after = 0;
    bool known = true;
    at_status status = AT_OK;
    *element = end;
    *found = c->swept.written[i].count < end;
    if (*found) {
        to = end;
        after = (int64_t)(c->swept.written[i].count - end);
    }
    for (uint64_t n = 1; !status && known && !*found && n <= PARTS; n++) {
        from = to;
        before = after;
        to = end / PARTS * n + (n == PARTS ? end % PARTS : 0);
        status = count_before(c, i, to, &after, &work, &known, error);
        *found = known && after < before;
    }
    while (!status && *found && known && from + 1 < to) {
        const uint64_t middle = from + (to - from) / 2;
        int64_t here;
        status = count_before(c, i, middle, &here, &work, &known, error);
        if (here < before) {
            to = middle;
        } else {
            from = middle;
            before = here;
        }
    }
    if (known && *found)
        *element = from;
    return status;
}

/* Does the whole grid leave results alone? */
static at_status find_unwritten(const excerpt_check *c, uint32_t i, const buffer_plan *plan,
                                sim_hole *hole, at_error *error)
{
    const sim_written *w = &c->swept.written[i];
    const uint64_t end = c->ends[i];
    uint64_t element = end;
    bool due = false, found = false;
    if (!c->swept.ended || !w->is_known || plan->role != BUFFER_OUTPUT)
        return AT_OK;
    if (sim_written_all(w, end)) {
        hole->kind = SIM_HOLE_NONE;
        return AT_OK;
    }
    at_status status = writes_all(c, i, &due, error);
    if (!status && due)
        status = seek(c, i, &found, &element, error);
    /* As many as there are, but others. */
    if (status || !due || (!found && w->count > end))
        return status;
    hole->kind = SIM_HOLE_CERTAIN;
    if (element < end)
        snprintf(hole->why, sizeof hole->why,
                 "no block writes element %" PRIu64 " of %s: the whole grid writes %" PRIu64
                 " elements, and %" PRIu64 " are due",
                 element, plan->name, w->count, end);
    else
        snprintf(hole->why, sizeof hole->why,
                 "no block writes some elements of %s: the whole grid writes %" PRIu64
                 " elements%s, and %" PRIu64 " are due",
                 plan->name, w->count, w->count < end ? "" : ", some of them twice", end);
    return AT_OK;
}

at_status excerpt_find_holes(excerpt_check *c, device_excerpt_result *out, at_error *error)
{
    device_excerpt *x = c->excerpt;
    const uint64_t most = c->spend > most_at_places ? c->spend : most_at_places;
    sim_data_reset(x->data);
    sim_data_reset_twins(x->data);
    at_status status = AT_OK;
    sim_owners *variant =
        sim_owners_new(x->device, c->kernel, c->plan, sim_data_buffers(x->data), most);
    sim_owners *reference =
        sim_owners_new(x->device, x->reference, &x->reference_launch, x->view, most);
    for (uint32_t i = 0; !status && i < x->plan.buffer_count && out->result == OUTCOME_OK; i++) {
        sim_hole hole;
        buffer_plan plan = x->plan.buffers[i];
        if (!plan_is_compared(&plan) || plan.record)
            continue;
        if (x->overwritten[i])
            plan.role = BUFFER_OUTPUT;
        status = sim_holes_find(variant, reference, &plan, i, c->ends[i], c->plan, x->plan.seed,
                                &hole, error);
        if (status)
            break;
        excerpt_compare_places(c, i, &hole, out);
        if (out->result != OUTCOME_OK)
            continue;
        if (hole.kind != SIM_HOLE_CERTAIN)
            status = find_unwritten(c, i, &plan, &hole, error);
        if (status || hole.kind == SIM_HOLE_NONE)
            continue;
        if (hole.kind == SIM_HOLE_LIKELY)
            coverage_owe(c->coverage, "a result may be missing", hole.why);
        else
            out->result = OUTCOME_WRONG_RESULT;
        snprintf(c->fault.message, sizeof c->fault.message, "%s", hole.why);
    }
    const sim_fault *fault = sim_owners_fault(variant);
    if (!status && out->result == OUTCOME_OK && fault->kind != SIM_FAULT_NONE)
        c->fault = *fault;
    sim_owners_free(variant);
    sim_owners_free(reference);
    return status;
}
