#include "sim/excerpt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/rng.h"

/* Chunks of a buffer for which reference blocks run. */
enum { MOST_CHUNKS = 1024, FEWEST_CHUNKS = 16 };

/* Budget of the reference if the normal budget is too small for FEWEST_CHUNKS: a proof needs
 * results from several blocks, and from several places of each block. */
static const uint64_t most_for_fewest = 1 << 25;

/* Returns whether no result of a block depends on when other blocks run. If one does, it may differ
 * from the reference's result, because not all blocks run. */
static bool is_independent(const device_kernel *k, const launch_plan *plan)
{
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        const sim_program *p = k->kernel.programs[i];
        for (size_t n = 0; n < p->code_count; n++) {
            const sim_instruction *c = &p->code[n];
            if (sim_reaches_global(c) &&
                ((c->kind == SIM_ATOMIC && c->d2 != 0) || (c->kind == SIM_LOAD && c->scope)))
                return false;
        }
    }
    return true;
}

typedef struct comparing {
    const excerpt_check *check;
    uint32_t buffer;
    const buffer_plan *plan;
    const device_buffer *found, *expected;
    uint64_t size;
    size_t most_chunks; /* most chunks for which reference blocks run */
    sim_owners *owners; /* runs blocks of the reference */
    bool is_scarce;     /* fewer chunks than FEWEST_CHUNKS have compared elements, although the
                           variant wrote more */
    double magnitude;   /* largest magnitude of the expected elements that are known */
    device_excerpt_result *out;
} comparing;

static comparing comparing_of(const excerpt_check *c, uint32_t buffer, device_excerpt_result *out)
{
    const device_excerpt *x = c->excerpt;
    return (comparing){.check = c,
                       .buffer = buffer,
                       .plan = &x->plan.buffers[buffer],
                       .found = sim_data_buffers(x->data)[buffer],
                       .expected = x->view[buffer],
                       .size = dtype_get(x->plan.buffers[buffer].type)->size_bytes,
                       .out = out};
}

/* Returns whether the last launch wrote all bytes of an element, in clusters that ended.
 * `unfinished` has one bit for each cluster that did not end. */
static bool is_final(const comparing *c, const device_buffer *b, uint64_t element,
                     uint64_t unfinished)
{
    for (uint64_t i = element * c->size; i < (element + 1) * c->size; i++)
        if (b->region.valid[i] < SIM_BYTE_LAST ||
            unfinished >> (b->region.valid[i] - SIM_BYTE_LAST) & 1)
            return false;
    return true;
}

static bool is_found(const comparing *c, uint64_t element)
{
    return is_final(c, c->found, element, c->check->unfinished);
}

static bool is_expected(const comparing *c, uint64_t element)
{
    return is_final(c, c->expected, element, 0);
}

static void elements_of(const comparing *c, uint64_t chunk, uint64_t *first, uint64_t *end)
{
    *first = chunk * SIM_CHUNK_BYTES / c->size;
    *end = (chunk + 1) * SIM_CHUNK_BYTES / c->size;
    if (*end > c->check->ends[c->buffer])
        *end = c->check->ends[c->buffer];
}

static void note_magnitude(comparing *c, uint64_t element)
{
    c->magnitude =
        fmax(c->magnitude,
             element_magnitude(c->plan->type, c->expected->region.bytes + element * c->size, 1));
}

/* Runs the reference block that writes the first or the last element that the variant wrote in a
 * chunk. */
static at_status compute_expected(comparing *c, uint64_t chunk, bool is_last, at_error *error)
{
    bool owned;
    uint64_t first, end;
    elements_of(c, chunk, &first, &end);
    for (uint64_t n = first; n < end; n++) {
        const uint64_t i = is_last ? end - 1 - (n - first) : n;
        if (is_found(c, i))
            return sim_owners_write(c->owners, c->buffer, i * c->size, &owned, error);
    }
    return AT_OK;
}

static void note_magnitudes(comparing *c, uint64_t chunk)
{
    uint64_t first, end;
    elements_of(c, chunk, &first, &end);
    for (uint64_t i = first; i < end; i++)
        if (is_expected(c, i))
            note_magnitude(c, i);
}

static void compare_chunk(comparing *c, uint64_t chunk)
{
    /* The tolerance scales with the largest expected element. Only some elements are known here, so
     * the tolerance is widened. A wrong index causes larger errors than rounding. */
    static const double slack = 16;
    device_comparison *d = &c->out->found;
    const tolerance rounding = tolerance_of_rounding(c->plan->type);
    uint64_t first, end;
    elements_of(c, chunk, &first, &end);
    for (uint64_t i = first; i < end; i++) {
        const uint8_t *a = c->found->region.bytes + i * c->size,
                      *b = c->expected->region.bytes + i * c->size;
        if (!is_found(c, i) || !is_expected(c, i))
            continue;
        c->out->compared++;
        if (tolerance_accepts(c->plan->tolerance, slack * c->magnitude, c->plan->type, a, b))
            continue;
        c->out->beyond += !tolerance_accepts(rounding, slack * c->magnitude, c->plan->type, a, b);
        if (d->wrong++ == 0 || i < d->first) {
            d->first = i;
            d->expected = d->found = 0;
            memcpy(&d->expected, b, c->size);
            memcpy(&d->found, a, c->size);
        }
    }
}

/* Returns how many compared elements may be wrong. */
static uint64_t allowed(const tolerance *t, uint64_t compared)
{
    enum { SAMPLE_SLACK = 4 }; /* wrong elements may lie close together */
    if (t->mismatches >= 1)
        return tolerance_mismatches(*t, compared);
    return t->mismatches > 0 ? SAMPLE_SLACK * (tolerance_mismatches(*t, compared) + 1) : 0;
}

/* If too many elements are wrong, sets the result to wrong and returns true. */
static bool reject_if_wrong(const comparing *c)
{
    device_excerpt_result *out = c->out;
    if (out->found.wrong <= allowed(&c->plan->tolerance, out->compared))
        return false;
    out->buffer = c->buffer;
    out->result = OUTCOME_WRONG_RESULT;
    return true;
}

/* The lowest and the highest chunk that a cluster wrote, by the mark of the cluster. Mistakes at
 * the ends of loops show there. */
typedef struct chunk_ends {
    uint64_t lowest[UINT8_MAX + 1], highest[UINT8_MAX + 1];
    bool has[UINT8_MAX + 1];
} chunk_ends;

/* Returns the mark of the cluster that wrote the first result of a chunk, or 0. */
static uint8_t writer_of(const comparing *c, uint64_t chunk)
{
    uint64_t first, end;
    elements_of(c, chunk, &first, &end);
    for (uint64_t i = first; i < end; i++)
        if (is_found(c, i))
            return c->found->region.valid[i * c->size];
    return 0;
}

/* Moves a chunk to `place`. */
static void bring(uint64_t *chunks, size_t count, uint64_t chunk, size_t place)
{
    for (size_t i = place; i < count; i++)
        if (chunks[i] == chunk) {
            chunks[i] = chunks[place];
            chunks[place] = chunk;
            return;
        }
}

/* Orders chunks at random, but puts first those at the ends of the buffer, then those at the ends
 * of each cluster's writes. */
static void order_chunks(const comparing *c, uint64_t *chunks, size_t count, chunk_ends *ends)
{
    rng r = rng_seeded(c->check->excerpt->plan.seed);
    size_t place = 0;
    *ends = (chunk_ends){.has = {false}};
    qsort(chunks, count, sizeof *chunks, ascending_u64);
    for (size_t i = 0; i < count; i++) {
        const uint8_t writer = writer_of(c, chunks[i]);
        if (writer > 0 && !ends->has[writer])
            ends->lowest[writer] = chunks[i];
        ends->has[writer] = true;
        ends->highest[writer] = chunks[i];
    }
    const uint64_t first = chunks[0], last = chunks[count - 1];
    rng_shuffle(&r, chunks, count);
    bring(chunks, count, first, place++);
    bring(chunks, count, last, place++);
    for (size_t writer = 1; writer <= UINT8_MAX; writer++)
        if (ends->has[writer]) {
            bring(chunks, count, ends->highest[writer], place++);
            bring(chunks, count, ends->lowest[writer], place++);
        }
}

/* Runs reference blocks for chunks that the variant wrote, as far as the budget goes. Compares all
 * elements that both kernels then have written: a block of the reference often writes more elements
 * than those for which it runs. */
static at_status compare_buffer(comparing *c, at_error *error)
{
    size_t count;
    const uint64_t *touched = sim_data_touched(c->check->excerpt->data, c->buffer, &count);
    uint64_t *chunks = memory_copy(touched, count, sizeof *chunks);
    chunk_ends ends;
    if (count > 0)
        order_chunks(c, chunks, count, &ends);
    at_status status = AT_OK;
    c->out->compared = c->out->beyond = 0;
    c->out->found = (device_comparison){0};
    for (size_t i = 0; !status && i < count && i < c->most_chunks; i++)
        status = compute_expected(c, chunks[i], chunks[i] == ends.highest[writer_of(c, chunks[i])],
                                  error);
    for (size_t i = 0; !status && i < count; i++)
        note_magnitudes(c, chunks[i]);
    size_t reached = 0;
    for (size_t i = 0; !status && i < count; i++) {
        const uint64_t before = c->out->compared;
        compare_chunk(c, chunks[i]);
        reached += i < FEWEST_CHUNKS && c->out->compared > before;
    }
    c->is_scarce = reached < count && reached < FEWEST_CHUNKS;
    free(chunks);
    return status;
}

/* Returns whether elements are compared by index. A multiset cannot be compared in part. */
static bool is_by_index(const buffer_plan *b)
{
    return plan_is_compared(b) && !b->record;
}

/* Sets *is_scarce if few elements of a buffer are compared. */
static at_status compare_buffers(excerpt_check *c, sim_owners *owners, size_t most_chunks,
                                 bool *is_scarce, device_excerpt_result *out, at_error *error)
{
    device_excerpt *x = c->excerpt;
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < x->plan.buffer_count; i++) {
        comparing one = comparing_of(c, i, out);
        if (!is_by_index(one.plan))
            continue;
        one.owners = owners;
        one.most_chunks = most_chunks;
        status = compare_buffer(&one, error);
        *is_scarce = *is_scarce || one.is_scarce;
        c->coverage->compared += out->compared;
        if (!status && reject_if_wrong(&one))
            return AT_OK;
    }
    return status;
}

/* Returns whether blocks wrote final results. A partial sum over some blocks is not final. */
static bool has_results(const excerpt_check *c)
{
    const device_excerpt *x = c->excerpt;
    for (uint32_t i = 0; i < x->plan.buffer_count; i++) {
        const comparing one = comparing_of(c, i, NULL);
        size_t count = 0;
        const uint64_t *touched =
            is_by_index(one.plan) ? sim_data_touched(x->data, i, &count) : NULL;
        for (size_t k = 0; k < count; k++) {
            uint64_t first, end;
            elements_of(&one, touched[k], &first, &end);
            for (; first < end; first++)
                if (is_found(&one, first))
                    return true;
        }
    }
    return false;
}

/* Returns whether the warps of a block do not depend on each other. */
static bool has_warps_apart(const device_kernel *k, const launch_plan *plan)
{
    const sim_program *p = k->kernel.programs[0];
    for (size_t n = 0; n < p->code_count; n++)
        if (p->code[n].kind == SIM_BARRIER || p->code[n].kind == SIM_MBARRIER)
            return false;
    return p->static_shared_bytes + plan->launches[0].dynamic_shared_bytes == 0 &&
           !sim_program_reserves(p);
}

/* Compares results with a reference whose blocks take long. Single warps run if warps are
 * independent. If this compares nothing, whole blocks run: the first warp may write nothing, so
 * that its place tells nothing of other warps. Resets the data, which stopped blocks may have
 * changed. */
static at_status compare_fewest(excerpt_check *c, sim_owners **owners, device_excerpt_result *out,
                                at_error *error)
{
    device_excerpt *x = c->excerpt;
    const uint64_t compared = c->coverage->compared;
    const bool apart = has_warps_apart(x->reference, &x->reference_launch);
    bool is_scarce = false;
    at_status status = AT_OK;
    for (int single = apart; !status && single >= 0 && c->coverage->compared == compared;
         single--) {
        sim_owners_free(*owners);
        sim_data_reset_expected(x->data);
        *owners =
            sim_owners_new(x->device, x->reference, &x->reference_launch, x->view, most_for_fewest);
        if (single)
            sim_owners_run_single_warps(*owners);
        status = compare_buffers(c, *owners, FEWEST_CHUNKS, &is_scarce, out, error);
    }
    return status;
}

static const char *reason(const excerpt_check *c, bool ended, const sim_owners *owners)
{
    const bool is_reference = c->excerpt->plan.oracle == ORACLE_REFERENCE;
    if (!ended)
        return "no block that was run came to its end";
    if (sim_owners_is_exhausted(owners) && has_results(c))
        return is_reference ? "a block of the reference takes too long at this size: give the "
                              "reference smaller blocks, or less work for an element"
                            : "a block of the baseline takes too long at this size: give the "
                              "script a reference";
    return is_reference ? "no blocks of the reference were found that write the same "
                          "elements; 'autotune check --whole' compares all elements"
                        : "no blocks of the baseline were found that write the same "
                          "elements; 'autotune check --whole' compares all elements";
}

at_status excerpt_compare(excerpt_check *c, device_excerpt_result *out, at_error *error)
{
    device_excerpt *x = c->excerpt;
    sim_owners *owners;
    const bool is_single = plan_total_launches(&x->reference_launch) == 1;
    const bool apart =
        is_independent(c->kernel, c->plan) && is_independent(x->reference, &x->reference_launch);
    const char *why = !is_single                  ? "the reference has several launches"
                      : c->launched < c->launches ? "later launches were not run"
                      : !apart ? "the results depend on communication between blocks"
                               : NULL;
    if (why) {
        (!is_single && has_results(c) ? coverage_set_unproven : coverage_set_skipped)(
            c->coverage, "results were not compared", why);
        return AT_OK;
    }
    uint64_t as_much = c->spent < EXCERPT_MOST_SPENT / 2 ? c->spent : EXCERPT_MOST_SPENT / 2;
    /* The work of a reference block is estimated from the work of the variant's whole grid. */
    const uint64_t reference_blocks = plan_grid_blocks(&x->reference_launch.launches[0]);
    if (c->coverage->run == 0 ||
        c->spent / c->coverage->run * c->coverage->blocks / reference_blocks > as_much)
        as_much = 0;
    const bool ended = c->coverage->cut + c->coverage->blind < c->coverage->run;
    owners = sim_owners_new(x->device, x->reference, &x->reference_launch, x->view,
                            c->budget > as_much ? c->budget : as_much);
    const uint64_t compared = c->coverage->compared;
    bool is_scarce = false;
    at_status status = compare_buffers(c, owners, MOST_CHUNKS, &is_scarce, out, error);
    if (!status && out->result == OUTCOME_OK && is_scarce && ended &&
        (sim_owners_is_exhausted(owners) || c->coverage->compared == compared) &&
        sim_owners_fault(owners)->kind == SIM_FAULT_NONE && has_results(c)) {
        c->coverage->compared = compared;
        status = compare_fewest(c, &owners, out, error);
    }
    const sim_fault *fault = sim_owners_fault(owners);
    if (!status && out->result == OUTCOME_OK && fault->kind != SIM_FAULT_NONE)
        status =
            error_set(error, AT_SCRIPT, "%s: %s", oracle_kernel(x->plan.oracle), fault->message);
    if (!status && c->coverage->compared == 0)
        (has_results(c) ? coverage_set_unproven : coverage_set_skipped)(
            c->coverage, "results were not compared", reason(c, ended, owners));
    sim_owners_free(owners);
    return status;
}

void excerpt_compare_elements(const excerpt_check *c, uint32_t buffer, const uint64_t *elements,
                              size_t count, device_excerpt_result *out)
{
    comparing one = comparing_of(c, buffer, out);
    out->compared = out->beyond = 0;
    out->found = (device_comparison){0};
    for (size_t i = 0; i < count; i++)
        note_magnitude(&one, elements[i]);
    for (size_t i = 0; i < count; i++) {
        const uint64_t chunk = elements[i] * one.size / SIM_CHUNK_BYTES;
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && elements[k] * one.size / SIM_CHUNK_BYTES != chunk;
        if (is_new)
            compare_chunk(&one, chunk);
    }
    reject_if_wrong(&one);
}
