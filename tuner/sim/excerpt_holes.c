/* Finds results that no block of a kernel writes, for a kernel that is too large to be run whole.
 *
 * Large sizes fail where an index overflows: 24 bits of a float or a product, 31 or 32 bits of
 * elements or bytes, a grid that is cut at a limit, a quotient that is rounded at the end of a row.
 * This module looks at elements in these places, at random elements, and at the ends of buffers: if
 * the reference writes an element, a block of the variant must write it, too. If no block is found,
 * this does not prove a hole (sim/owners.h). A hole is certain if two blocks, or two threads of a
 * block, write one element and no thread writes the element beside it. A hole is also certain if
 * all blocks together write too little. */
#include <inttypes.h>
#include <stdio.h>

#include "base/rng.h"
#include "sim/excerpt.h"

enum { MOST_ELEMENTS = 512 }; /* limit of the elements that are compared */

typedef enum hole_kind {
    HOLE_NONE,
    HOLE_LIKELY, /* no block was found that writes the element */
    HOLE_CERTAIN
} hole_kind;

typedef struct hole {
    hole_kind kind;
    char why[320];                   /* one sentence */
    uint64_t written[MOST_ELEMENTS]; /* elements that blocks of both kernels wrote */
    size_t written_count;
} hole;

enum {
    LOW = 4,      /* number of elements looked at, first at the start of a buffer, then at random in
                     its first part; the search continues if blocks are found for all of them */
    PART = 64,    /* the first part is 1 / PART of the buffer */
    ANYWHERE = 8, /* number of random elements looked at */
    GROUP = 4,    /* number of elements looked at side by side: holes are between written ones */
    AROUND = 64,  /* a hole has written elements on both sides within this distance, in elements */
    SIDES = 3     /* number of elements looked at in the first row, in the last row, and at ends of
                     other rows, for each argument that may be the length of a row */
};

typedef struct search {
    sim_owners *variant, *reference;
    const buffer_plan *plan;
    uint32_t buffer;
    uint64_t end, size; /* number of elements that are results; bytes of an element */
    hole *out;
    size_t asked, expected, found; /* number of elements that were looked at; that the reference
                                      writes; that both kernels write */
    uint64_t missing;              /* element for which no block was found, or UINT64_MAX */
    bool is_certain;
    rng random;
    at_status status; /* status of the first error */
    at_error *error;
} search;

static bool goes_on(const search *s)
{
    return !s->status && !s->is_certain && !sim_owners_is_exhausted(s->variant) &&
           !sim_owners_is_exhausted(s->reference) &&
           sim_owners_fault(s->variant)->kind == SIM_FAULT_NONE &&
           sim_owners_fault(s->reference)->kind == SIM_FAULT_NONE;
}

static void check_overlap(search *s, uint64_t element)
{
    uint64_t blocks[2], from;
    if (!sim_owners_find_overlap(s->variant, s->buffer, blocks, &from))
        return;
    s->is_certain = true;
    snprintf(s->out->why, sizeof s->out->why,
             "blocks %" PRIu64 " and %" PRIu64 " both write %s from element %" PRIu64
             " on, and no block writes element %" PRIu64
             ": an index is too large for its type or for its arithmetic",
             blocks[0], blocks[1], s->plan->name, from / s->size, element);
}

static void check_neighbours(search *s, uint64_t element)
{
    bool before = false, after = false;
    for (uint64_t d = 1; d < AROUND; d++) {
        before = before || (element >= d &&
                            sim_owners_has_written(s->variant, s->buffer, (element - d) * s->size));
        after = after || (element + d < s->end &&
                          sim_owners_has_written(s->variant, s->buffer, (element + d) * s->size));
    }
    if (!before || !after)
        return;
    s->is_certain = true;
    snprintf(
        s->out->why, sizeof s->out->why,
        "no block writes element %" PRIu64
        " of %s, though the elements beside it are written: an index is rounded, as a float is "
        "from 16777216 on",
        element, s->plan->name);
}

static void look_at(search *s, uint64_t element)
{
    bool expected = false, found = false;
    if (element >= s->end || !goes_on(s))
        return;
    s->status = sim_owners_write(s->reference, s->buffer, element * s->size, &expected, s->error);
    if (!s->status && expected)
        s->status = sim_owners_write(s->variant, s->buffer, element * s->size, &found, s->error);
    /* In an in-out buffer, the initial contents may already be the expected result. */
    if (!goes_on(s) || (expected && !found && s->plan->role == BUFFER_INOUT))
        return;
    s->asked++;
    s->expected += expected;
    s->found += expected && found;
    if (found && s->out->written_count < MOST_ELEMENTS)
        s->out->written[s->out->written_count++] = element;
    if (!expected || found)
        return;
    s->missing = element;
    check_overlap(s, element);
    if (!s->is_certain)
        check_neighbours(s, element);
}

static void look_at_group(search *s, uint64_t element)
{
    for (uint64_t k = 0; k < GROUP; k++)
        look_at(s, element + k);
}

/* Looks at the first elements of the buffer or, if `further`, at random elements of its first part.
 * Returns whether a block was found for each element that the reference writes. */
static bool finds_first_elements(search *s, bool further)
{
    const size_t expected = s->expected, found = s->found;
    for (uint64_t k = 0; k < LOW; k++)
        look_at(s, further ? rng_below(&s->random, s->end / PART + 1) : k);
    s->is_certain = false;
    return !s->status && s->found > 0 && s->found - found == s->expected - expected;
}

static void look_anywhere(search *s)
{
    for (int k = 0; k < ANYWHERE; k++)
        if (k % 2)
            look_at(s, rng_below(&s->random, s->end));
        else
            look_at_group(s, s->end / 2 + rng_below(&s->random, s->end / 2 + 1));
}

static void look_where_numbers_end(search *s)
{
    static const uint64_t ends[] = {UINT64_C(1) << 24, UINT64_C(1) << 32, UINT64_C(1) << 31,
                                    UINT64_C(1) << 16};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        look_at_group(s, ends[k]);
        if (s->size > 1)
            look_at_group(s, ends[k] / s->size);
    }
}

/* Looks around powers of two, from the largest on, because tables and logarithms end there. */
static void look_at_powers(search *s)
{
    for (int k = 63; k > 1; k--)
        for (int d = -1; d <= 1; d++)
            look_at(s, (UINT64_C(1) << k) + (uint64_t)d);
}

static bool may_be_a_size(const search *s, const argument_plan *a)
{
    return !a->is_buffer && (a->size_bytes == 4 || a->size_bytes == 8) && a->bits >= GROUP &&
           a->bits <= s->end / 2;
}

/* Looks at the starts of rows where the product of row number and another size overflows. */
static void look_where_products_end(search *s, const launch_plan *launch)
{
    static const uint64_t ends[] = {UINT64_C(1) << 24, UINT64_C(1) << 31, UINT64_C(1) << 32};
    for (uint32_t k = 0; k < launch->argument_count; k++)
        for (uint32_t n = 0; n < launch->argument_count; n++) {
            const argument_plan *row = &launch->arguments[k], *other = &launch->arguments[n];
            if (!may_be_a_size(s, row) || !may_be_a_size(s, other))
                continue;
            for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
                if (ends[i] / other->bits < s->end / row->bits)
                    look_at_group(s, (ends[i] / other->bits + 1) * row->bits - 2);
        }
}

/* Looks at the first, the last and other rows, for each argument that may be a row's length. */
static void look_where_rows_end(search *s, const launch_plan *launch)
{
    for (uint32_t k = 0; k < launch->argument_count; k++) {
        const argument_plan *a = &launch->arguments[k];
        if (!may_be_a_size(s, a))
            continue;
        const uint64_t rows = s->end / a->bits;
        for (int n = 0; n < SIDES; n++)
            look_at(s, rng_below(&s->random, a->bits));
        for (int n = 0; n < SIDES; n++)
            look_at(s, s->end - 1 - rng_below(&s->random, a->bits));
        for (int n = 0; n < SIDES; n++)
            look_at_group(s, (rows - rng_below(&s->random, rows / 2 + 1)) * a->bits - 2);
    }
}

/* Returns whether all blocks together write fewer bytes than expected. */
static bool is_too_little(const search *s, uint64_t blocks)
{
    const uint64_t most = sim_owners_most_bytes(s->variant, s->buffer);
    return most < UINT64_MAX &&
           (double)most * (double)blocks <
               (double)s->expected / (double)s->asked * (double)s->end * (double)s->size;
}

static void conclude(search *s, uint64_t blocks)
{
    hole *out = s->out;
    if (s->is_certain) {
        out->kind = HOLE_CERTAIN;
    } else if (s->missing < UINT64_MAX && is_too_little(s, blocks)) {
        out->kind = HOLE_CERTAIN;
        snprintf(out->why, sizeof out->why,
                 "no block writes element %" PRIu64 " of %s: %" PRIu64
                 " blocks are too few: each writes at most %" PRIu64 " elements",
                 s->missing, s->plan->name, blocks,
                 sim_owners_most_bytes(s->variant, s->buffer) / s->size);
    } else if (s->missing < UINT64_MAX && 4 * s->found >= 3 * s->expected) {
        out->kind = HOLE_LIKELY;
        snprintf(out->why, sizeof out->why,
                 "no block was found that writes element %" PRIu64 " of %s", s->missing,
                 s->plan->name);
    }
}

/* Looks for a hole before element `end` of buffer `i`. `launch` is the variant's launch. */
static at_status look_for_holes(sim_owners *variant, sim_owners *reference, const buffer_plan *plan,
                                uint32_t i, uint64_t end, const launch_plan *launch, uint64_t seed,
                                hole *out, at_error *error)
{
    search s = {.variant = variant,
                .reference = reference,
                .plan = plan,
                .buffer = i,
                .end = end,
                .size = dtype_get(plan->type)->size_bytes,
                .out = out,
                .missing = UINT64_MAX,
                .random = rng_seeded(seed),
                .error = error};
    *out = (hole){.kind = HOLE_NONE};
    if (end == 0 || !finds_first_elements(&s, false))
        return s.status;
    /* The last element comes next, because the budget may not suffice for more. */
    look_at(&s, end - 1);
    if (!finds_first_elements(&s, true))
        return s.status;
    look_anywhere(&s);
    look_where_numbers_end(&s);
    look_at_powers(&s);
    look_where_products_end(&s, launch);
    look_where_rows_end(&s, launch);
    if (!s.status)
        conclude(&s, plan_grid_blocks(&launch->launches[0]) / sim_owners_cluster_blocks(variant));
    return s.status;
}

/* Lowest budget of work for the search, because each element may need a block of its own. */
static const uint64_t least_search_work = 1 << 20;

/* Most instructions of all sweeps that search one unwritten element. */
static const uint64_t most_sought = 1 << 26;

/* Numbers of writes to the elements before an index. An element counts each time it is written. */
typedef struct counted {
    uint64_t variant, reference;
} counted;

typedef struct gap_search {
    const excerpt_check *check;
    uint32_t buffer;
    bool trusted;  /* no sweep can follow the reference, but it writes each element once */
    bool known;    /* all counts so far are exact */
    uint64_t work; /* instructions of the sweeps so far */
} gap_search;

/* Counts the writes of the variant or the reference to elements before `end`. Clears g->known if
 * the sweep cannot count them, or if the search has become too long. */
static at_status count_writes(gap_search *g, bool of_reference, uint64_t end, sim_written *out,
                              at_error *error)
{
    const excerpt_check *c = g->check;
    const device_excerpt *x = c->excerpt;
    uint64_t ends[PLAN_MAX_BUFFERS] = {0};
    sim_sweep swept;
    ends[g->buffer] = end;
    at_status status =
        sim_device_sweep(x->device, of_reference ? x->reference : c->kernel,
                         of_reference ? &x->reference_launch : c->plan, 0,
                         of_reference ? x->view : sim_data_buffers(x->data), &x->plan, ends,
                         EXCERPT_MOST_SWEPT, SWEEP_WRITES, &swept, error);
    *out = swept.written[g->buffer];
    g->work += swept.work;
    g->known = g->known && !status && swept.ended && out->is_known && g->work < most_sought;
    return status;
}

static at_status count_before(gap_search *g, uint64_t end, counted *out, at_error *error)
{
    sim_written variant, reference = {.count = end};
    at_status status = count_writes(g, false, end, &variant, error);
    if (!status && !g->trusted)
        status = count_writes(g, true, end, &reference, error);
    *out = (counted){variant.count, reference.count};
    return status;
}

/* Returns whether the variant writes less than the reference between two indices. */
static bool is_less(const counted *before, const counted *after)
{
    return after->variant - before->variant < after->reference - before->reference;
}

/* Finds an element that the reference writes and the variant does not, by bisection: between two
 * indices the variant writes less. *found tells whether there are such indices. *element is the
 * element, or the end of the buffer if the search takes too long. */
static at_status find_gap(gap_search *g, const counted *total, bool *found, uint64_t *element,
                          at_error *error)
{
    enum { PARTS = 16 };
    const uint64_t end = g->check->ends[g->buffer];
    uint64_t from = 0, to = end;
    counted before = {0}, after = *total;
    at_status status = AT_OK;
    *element = end;
    *found = is_less(&before, &after);
    if (!*found) {
        to = 0;
        after = before;
    }
    for (uint64_t n = 1; !status && g->known && !*found && n <= PARTS; n++) {
        from = to;
        before = after;
        to = end / PARTS * n + (n == PARTS ? end % PARTS : 0);
        status = count_before(g, to, &after, error);
        *found = g->known && is_less(&before, &after);
    }
    while (!status && *found && g->known && from + 1 < to) {
        const uint64_t middle = from + (to - from) / 2;
        counted here;
        status = count_before(g, middle, &here, error);
        if (is_less(&before, &here)) {
            to = middle;
            after = here;
        } else {
            from = middle;
            before = here;
        }
    }
    if (g->known && *found && after.variant == before.variant)
        *element = from;
    return status;
}

static at_status find_unwritten(const excerpt_check *c, uint32_t i, const buffer_plan *plan,
                                hole *out, at_error *error)
{
    const device_excerpt *x = c->excerpt;
    const sim_written *w = &c->swept.written[i];
    const uint64_t end = c->ends[i];
    gap_search g = {.check = c, .buffer = i, .known = true, .work = c->swept.work};
    sim_written needed;
    uint64_t element = end;
    bool found = false;
    if (!c->swept.ended || !w->is_known || plan->role != BUFFER_OUTPUT)
        return AT_OK;
    if (sim_written_all(w, end)) {
        out->kind = HOLE_NONE;
        return AT_OK;
    }
    at_status status = count_writes(&g, true, end, &needed, error);
    /* A reference that no sweep can follow is trusted, since small problems show whether it leaves
     * results out. A baseline is not trusted. */
    if (!status && !g.known && x->plan.oracle == ORACLE_REFERENCE) {
        g.known = g.trusted = true;
        g.work = c->swept.work;
        needed = (sim_written){.count = end};
    }
    if (status || !g.known)
        return status;
    const bool is_once = g.trusted || sim_written_all(&needed, end);
    status = find_gap(&g, &(counted){w->count, needed.count}, &found, &element, error);
    /* If the reference writes each element once, fewer writes leave an element out, and so do as
     * many writes of other elements. */
    if (status || (element == end && (!is_once || (!found && w->count > end))))
        return status;
    out->kind = HOLE_CERTAIN;
    if (element < end)
        snprintf(out->why, sizeof out->why,
                 "no block writes element %" PRIu64 " of %s: the whole grid writes %" PRIu64
                 " elements, but %" PRIu64 " are needed",
                 element, plan->name, w->count, needed.count);
    else
        snprintf(out->why, sizeof out->why,
                 "no block writes some elements of %s: the whole grid writes %" PRIu64
                 " elements%s, but %" PRIu64 " are needed",
                 plan->name, w->count, w->count < end ? "" : ", some of them twice", end);
    return AT_OK;
}

at_status excerpt_find_holes(excerpt_check *c, device_excerpt_result *out, at_error *error)
{
    device_excerpt *x = c->excerpt;
    const uint64_t most = c->budget > least_search_work ? c->budget : least_search_work;
    sim_data_reset(x->data);
    sim_data_reset_expected(x->data);
    at_status status = AT_OK;
    sim_owners *variant =
        sim_owners_new(x->device, c->kernel, c->plan, sim_data_buffers(x->data), most);
    sim_owners *reference =
        sim_owners_new(x->device, x->reference, &x->reference_launch, x->view, most);
    for (uint32_t i = 0; !status && i < x->plan.buffer_count && out->result == OUTCOME_OK; i++) {
        hole found;
        buffer_plan plan = x->plan.buffers[i];
        if (!plan_is_compared(&plan) || plan.record)
            continue;
        if (x->overwritten[i])
            plan.role = BUFFER_OUTPUT;
        status = look_for_holes(variant, reference, &plan, i, c->ends[i], c->plan, x->plan.seed,
                                &found, error);
        if (status)
            break;
        excerpt_compare_elements(c, i, found.written, found.written_count, out);
        if (out->result != OUTCOME_OK)
            continue;
        if (found.kind != HOLE_CERTAIN)
            status = find_unwritten(c, i, &plan, &found, error);
        if (status || found.kind == HOLE_NONE)
            continue;
        if (found.kind == HOLE_LIKELY)
            coverage_set_unproven(c->coverage, "a result may be missing", found.why);
        else
            out->result = OUTCOME_WRONG_RESULT;
        snprintf(c->fault.message, sizeof c->fault.message, "%s", found.why);
    }
    const sim_fault *fault = sim_owners_fault(variant);
    if (!status && out->result == OUTCOME_OK && fault->kind != SIM_FAULT_NONE)
        c->fault = *fault;
    sim_owners_free(variant);
    sim_owners_free(reference);
    return status;
}
