#include "sim/holes.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/rng.h"

enum {
    LOW = 4,      /* of the first elements, and others of the first part of the buffer: */
    PART = 64,    /* where each is found, the way that blocks are found is right */
    ANYWHERE = 8, /* at random */
    GROUP = 4,    /* elements side by side: those left out lie between others */
    AROUND = 64,  /* so near to a hole there is something written on both sides */
    SIDES = 3     /* ends of rows for each argument that may be a side */
};

typedef struct search {
    sim_owners *variant, *reference;
    const buffer_plan *plan;
    uint32_t buffer;
    uint64_t end, size; /* elements; bytes of each */
    sim_hole *out;
    size_t asked, expected, found; /* places; those that the reference writes; both */
    uint64_t missing;              /* one that no block was found for; UINT64_MAX: none */
    bool is_certain;
    rng random;
} search;

static bool goes_on(const search *s)
{
    return !s->is_certain && !sim_owners_spent(s->variant) && !sim_owners_spent(s->reference) &&
           sim_owners_fault(s->variant)->kind == SIM_FAULT_NONE &&
           sim_owners_fault(s->reference)->kind == SIM_FAULT_NONE;
}

/* Do two blocks write in one place, and none here? */
static void judge_doubled(search *s, uint64_t element)
{
    uint64_t blocks[2], from;
    if (!sim_owners_doubled(s->variant, s->buffer, blocks, &from))
        return;
    s->is_certain = true;
    snprintf(s->out->why, sizeof s->out->why,
             "blocks %" PRIu64 " and %" PRIu64 " both write %s from element %" PRIu64
             " on, and no block writes element %" PRIu64
             ": an index is too large for its type or for its arithmetic",
             blocks[0], blocks[1], s->plan->name, from / s->size, element);
}

/* Is something written on both sides, and nothing here? */
static void judge_between(search *s, uint64_t element)
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
    snprintf(s->out->why, sizeof s->out->why,
             "no block writes element %" PRIu64
             " of %s, though those beside it are written: an index is rounded, as a float is from "
             "16777216 on",
             element, s->plan->name);
}

static at_status look(search *s, uint64_t element, at_error *error)
{
    bool expected = false, found = false;
    if (element >= s->end || !goes_on(s))
        return AT_OK;
    at_status status =
        sim_owners_write(s->reference, s->buffer, element * s->size, &expected, error);
    if (!status && expected)
        status = sim_owners_write(s->variant, s->buffer, element * s->size, &found, error);
    if (status || !goes_on(s))
        return status;
    /* The value that is there already may be the one that is due. */
    if (expected && !found && s->plan->role == BUFFER_INOUT)
        return AT_OK;
    s->asked++;
    s->expected += expected;
    s->found += expected && found;
    if (found && s->out->written_count < HOLES_MOST_PLACES)
        s->out->written[s->out->written_count++] = element;
    if (!expected || found)
        return AT_OK;
    s->missing = element;
    judge_doubled(s, element);
    if (!s->is_certain)
        judge_between(s, element);
    return AT_OK;
}

static at_status look_at_group(search *s, uint64_t element, at_error *error)
{
    at_status status = AT_OK;
    for (uint64_t k = 0; !status && k < GROUP; k++)
        status = look(s, element + k, error);
    return status;
}

/* Looks at the first elements or, with `further`, at others of the first part: if the way in which
 * blocks are found is right, every block is found there. */
static at_status look_where_all_is_small(search *s, bool further, bool *all, at_error *error)
{
    const size_t expected = s->expected, found = s->found;
    at_status status = AT_OK;
    for (uint64_t k = 0; !status && k < LOW; k++)
        status = look(s, further ? rng_below(&s->random, s->end / PART + 1) : k, error);
    *all = s->found > 0 && s->found - found == s->expected - expected;
    s->is_certain = false;
    return status;
}

/* Looks where the numbers of elements, and of bytes, no longer fit. */
static at_status look_where_numbers_end(search *s, at_error *error)
{
    static const uint64_t ends[] = {UINT64_C(1) << 24, UINT64_C(1) << 32, UINT64_C(1) << 31,
                                    UINT64_C(1) << 16};
    at_status status = AT_OK;
    for (size_t k = 0; !status && k < sizeof ends / sizeof *ends; k++) {
        status = look_at_group(s, ends[k], error);
        if (!status && s->size > 1)
            status = look_at_group(s, ends[k] / s->size, error);
    }
    return status;
}

/* Looks around the powers of two, from the largest down: a table, a logarithm or a multiplier that
 * stands for a division ends there. */
static at_status look_at_powers(search *s, at_error *error)
{
    at_status status = AT_OK;
    for (int k = 63; !status && k > 1; k--)
        for (int d = -1; !status && d <= 1; d++)
            status = look(s, (UINT64_C(1) << k) + (uint64_t)d, error);
    return status;
}

static bool may_be_a_size(const search *s, const argument_plan *a)
{
    return !a->is_buffer && (a->size_bytes == 4 || a->size_bytes == 8) && a->bits >= GROUP &&
           a->bits <= s->end / 2;
}

/* Looks where the rows begin whose number times another size no longer fits. */
static at_status look_where_products_end(search *s, const launch_plan *launch, at_error *error)
{
    static const uint64_t ends[] = {UINT64_C(1) << 24, UINT64_C(1) << 31, UINT64_C(1) << 32};
    at_status status = AT_OK;
    for (uint32_t k = 0; k < launch->argument_count; k++)
        for (uint32_t n = 0; n < launch->argument_count; n++) {
            const argument_plan *row = &launch->arguments[k], *other = &launch->arguments[n];
            if (!may_be_a_size(s, row) || !may_be_a_size(s, other))
                continue;
            for (size_t i = 0; !status && i < sizeof ends / sizeof *ends; i++)
                if (ends[i] / other->bits < s->end / row->bits)
                    status = look_at_group(s, (ends[i] / other->bits + 1) * row->bits - 2, error);
        }
    return status;
}

/* Looks at the first row, the last one, and where others end, if an argument is the length of one.
 */
static at_status look_where_rows_end(search *s, const launch_plan *launch, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t k = 0; k < launch->argument_count; k++) {
        const argument_plan *a = &launch->arguments[k];
        if (!may_be_a_size(s, a))
            continue;
        for (int n = 0; !status && n < SIDES; n++)
            status = look(s, rng_below(&s->random, a->bits), error);
        for (int n = 0; !status && n < SIDES; n++)
            status = look(s, s->end - 1 - rng_below(&s->random, a->bits), error);
        for (int n = 0; !status && n < SIDES; n++)
            status = look_at_group(
                s,
                (s->end / a->bits - rng_below(&s->random, s->end / a->bits / 2 + 1)) * a->bits - 2,
                error);
    }
    return status;
}

static at_status look_anywhere(search *s, at_error *error)
{
    at_status status = AT_OK;
    for (int k = 0; !status && k < ANYWHERE; k++)
        status = k % 2
                     ? look(s, rng_below(&s->random, s->end), error)
                     : look_at_group(s, s->end / 2 + rng_below(&s->random, s->end / 2 + 1), error);
    return status;
}

/* Can all blocks together write as much as is due? */
static bool are_too_few(const search *s, uint64_t blocks)
{
    const uint64_t most = sim_owners_most_bytes(s->variant, s->buffer);
    return most < UINT64_MAX &&
           (double)most * (double)blocks <
               (double)s->expected / (double)s->asked * (double)s->end * (double)s->size;
}

static void conclude(search *s, uint64_t blocks)
{
    sim_hole *out = s->out;
    if (s->is_certain) {
        out->kind = SIM_HOLE_CERTAIN;
    } else if (s->missing < UINT64_MAX && are_too_few(s, blocks)) {
        out->kind = SIM_HOLE_CERTAIN;
        snprintf(out->why, sizeof out->why,
                 "no block writes element %" PRIu64 " of %s: %" PRIu64
                 " blocks are too few, of which each writes %" PRIu64 " elements at most",
                 s->missing, s->plan->name, blocks,
                 sim_owners_most_bytes(s->variant, s->buffer) / s->size);
    } else if (s->missing < UINT64_MAX && 4 * s->found >= 3 * s->expected) {
        out->kind = SIM_HOLE_LIKELY;
        snprintf(out->why, sizeof out->why,
                 "no block was found that writes element %" PRIu64 " of %s", s->missing,
                 s->plan->name);
    }
}

at_status sim_holes_find(sim_owners *variant, sim_owners *reference, const buffer_plan *plan,
                         uint32_t i, uint64_t end, const launch_plan *launch, uint64_t seed,
                         sim_hole *out, at_error *error)
{
    search s = {.variant = variant,
                .reference = reference,
                .plan = plan,
                .buffer = i,
                .end = end,
                .size = dtype_get(plan->type)->size_bytes,
                .out = out,
                .missing = UINT64_MAX,
                .random = rng_seeded(seed)};
    bool all = false;
    *out = (sim_hole){.kind = SIM_HOLE_NONE};
    /* Blocks that take long leave room for the last element alone. */
    at_status status = end == 0 ? AT_OK : look_where_all_is_small(&s, false, &all, error);
    if (!status && all)
        status = look(&s, end - 1, error);
    if (!status && all)
        status = look_where_all_is_small(&s, true, &all, error);
    if (status || !all)
        return status;
    status = look_anywhere(&s, error);
    if (!status)
        status = look_where_numbers_end(&s, error);
    if (!status)
        status = look_at_powers(&s, error);
    if (!status)
        status = look_where_products_end(&s, launch, error);
    if (!status)
        status = look_where_rows_end(&s, launch, error);
    if (!status)
        conclude(&s, plan_grid_blocks(&launch->launches[0]) / sim_owners_cluster_blocks(variant));
    return status;
}
