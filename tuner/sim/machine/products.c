#include "sim/machine/products.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/machine/execute.h"
#include "sim/machine/fault.h"
#include "sim/machine/paths.h"
#include "sim/machine/values.h"
#include "sim/machine/watch.h"
#include "sim/program/matrix.h"
#include "sim/program/warpgroup.h"

/* Checks that the metadata of a sparse product gives a valid position for each element. */
static bool check_metadata(sim_block *b, const sim_warp *w, const sim_instruction *c)
{
    int lane;
    return sim_matrix_metadata_is_valid(b->program, c, w->registers, &lane) ||
           sim_fail(b, w, c, lane, SIM_FAULT_SHUFFLE,
                    "the metadata of lane %d, 0x%08x, does not give the place of each element",
                    lane, sim_lanes32(w, c->e)[lane]);
}

bool sim_multiply(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    bool early;
    if (!sim_has_all_lanes(b, w, c, mask, &early))
        return early;
    if (w->missing && !sim_values_multiply(b, w, c))
        return false;
    if (sim_matrix_of(b->program, c)->sparse && !check_metadata(b, w, c))
        return false;
    sim_matrix_multiply(b->program, c, w->registers);
    return true;
}

enum { WARPS = SIM_WARPGROUP_WARPS, PIECE_BYTES = SIM_WARPGROUP_CHUNK_BYTES };

typedef struct part { /* a warp's part of a product that is under way */
    uint32_t number;  /* number of the product in its warpgroup */
    sim_warp *warp;
    const sim_instruction *instruction;
    uint64_t descriptors[2];
} part;

struct sim_warpgroup {
    part *parts; /* owned */
    size_t part_count;
};

typedef struct register_use { /* the products that use a register, by their number from 1 on; 0 for
                                 no product */
    uint32_t filled; /* last product that fills the register, or the register from which the value
                        was moved */
    uint32_t read;   /* last product that reads the register as a fragment of matrix a */
    uint32_t fences; /* 1 + number of wgmma.fence before the value was computed; 0 for a value from
                        before the first wgmma instruction */
} register_use;

struct sim_products {
    uint32_t begun, waited; /* number of products issued; number of products known to be complete */
    uint32_t fences;
    uint32_t *groups; /* `begun` at the commit of each group that may still be under way; owned */
    size_t group_count;
    uint64_t hash; /* hash of all products so far and their operands */
    const sim_instruction *last;
    register_use *registers; /* state of each register, by slot / SIM_SLOT_STEP; NULL if races are
                                not checked; owned */
};

static uint32_t group_of(const sim_warp *w)
{
    return w->first_thread / SIM_LANES / WARPS;
}

static sim_products *products_of(sim_block *b, sim_warp *w)
{
    if (!b->warpgroups)
        b->warpgroups = memory_new(b->warp_count / WARPS + 1, sizeof *b->warpgroups);
    if (!w->products)
        w->products = memory_new(1, sizeof *w->products);
    if (!w->products->registers && b->launch->check)
        w->products->registers = memory_new(b->program->register_bytes / SIM_SLOT_STEP + 1,
                                            sizeof *w->products->registers);
    return w->products;
}

void sim_warpgroups_reset(sim_block *b)
{
    for (uint32_t i = 0; b->warpgroups && i < b->warp_count; i++) {
        sim_products *s = b->warps[i].products;
        b->warpgroups[i / WARPS].part_count = 0;
        if (!s)
            continue;
        free(s->registers);
        s->registers = NULL;
        s->group_count = 0;
        s->begun = s->waited = s->fences = 0;
        s->hash = 0;
    }
}

void sim_warpgroups_free(sim_block *b)
{
    for (uint32_t i = 0; b->warpgroups && i < b->warp_count; i++) {
        sim_products *s = b->warps[i].products;
        free(b->warpgroups[i / WARPS].parts);
        b->warpgroups[i / WARPS].parts = NULL;
        if (!s)
            continue;
        free(s->registers);
        free(s->groups);
        free(s);
    }
    free(b->warpgroups);
}

/* Returns the instruction of a product under way. `number` counts the warp's products from 1. */
static const sim_instruction *find_product(const sim_block *b, const sim_warp *w, uint32_t number)
{
    const sim_warpgroup *g = &b->warpgroups[group_of(w)];
    for (size_t i = 0; i < g->part_count; i++)
        if (g->parts[i].number + 1 == number && g->parts[i].warp == w)
            return g->parts[i].instruction;
    return w->products->last;
}

static bool report_misuse(sim_block *b, const sim_warp *w, const sim_instruction *c,
                          uint32_t number, const char *what)
{
    char place[PTX_LOCATION_BYTES];
    ptx_format_location(b->program->module, find_product(b, w, number)->location, place,
                        sizeof place);
    return sim_fail(b, w, c, 0, SIM_FAULT_RACE,
                    "it %s of the wgmma at %s, for which no wgmma.wait_group has waited", what,
                    place);
}

static register_use *use_of(const sim_products *s, int32_t slot)
{
    return &s->registers[slot / SIM_SLOT_STEP];
}

static bool moves(const sim_instruction *c)
{
    return c->kind == SIM_COMPUTE &&
           (c->flow == SIM_FLOW_MOVES_ONE || c->flow == SIM_FLOW_MOVES_TWO ||
            c->flow == SIM_FLOW_MOVES_FOUR);
}

bool sim_warpgroup_step(sim_block *b, sim_warp *w, const sim_instruction *c)
{
    const sim_products *s = w->products;
    if (!s->registers || (c->kind >= SIM_WARPGROUP_FENCE && c->kind <= SIM_WARPGROUP_WAIT))
        return true;
    const bool only_moves = moves(c);
    sim_operands o;
    register_use now = {.fences = only_moves ? 0 : s->fences + 1};
    sim_operands_of(b->program, c, &o);
    for (int i = 0; i < o.read_count; i++) {
        const register_use *h = use_of(s, o.reads[i]);
        if (h->filled > s->waited && !only_moves)
            return report_misuse(b, w, c, h->filled, "uses an accumulator");
        if (only_moves && h->filled > s->waited && h->filled > now.filled)
            now.filled = h->filled;
        if (only_moves && h->fences > now.fences)
            now.fences = h->fences;
    }
    for (int i = 0; i < o.write_count; i++) {
        register_use *h = use_of(s, o.writes[i]);
        if (h->filled > s->waited && now.filled == 0)
            return report_misuse(b, w, c, h->filled, "writes to an accumulator");
        if (h->read > s->waited && !only_moves)
            return report_misuse(b, w, c, h->read, "writes to a fragment");
        *h = now;
    }
    return true;
}

/* Returns whether two products have the same shape, so that they may fill the same accumulators. */
static bool are_alike(const sim_block *b, const sim_instruction *c, const sim_instruction *other)
{
    const sim_matrix *x = &sim_warpgroup_product_of(b->program, c)->part,
                     *y = &sim_warpgroup_product_of(b->program, other)->part;
    return x->n == y->n && x->k == y->k && x->elements[SIM_MATRIX_D] == y->elements[SIM_MATRIX_D];
}

/* Checks the registers of a product, and marks them as used. A wgmma.fence must lie between earlier
 * writes to these registers and the product. Two products under way may fill the same accumulators
 * only if they have the same shape. */
static bool take_registers(sim_block *b, sim_warp *w, const sim_instruction *c)
{
    sim_products *s = w->products;
    const sim_warpgroup_product *x = sim_warpgroup_product_of(b->program, c);
    if (!b->launch->check)
        return true;
    if (s->fences == 0)
        return sim_fail(b, w, c, 0, SIM_FAULT_RACE,
                        "there is no wgmma.fence before the first product of the warp");
    for (int operand = SIM_MATRIX_D; operand <= SIM_MATRIX_A; operand++) {
        const int32_t *slots = sim_warpgroup_slots(b->program, c, (sim_operand)operand);
        for (int i = 0; i < x->part.registers[operand]; i++) {
            register_use *h = use_of(s, slots[i]);
            if (h->fences > s->fences)
                return sim_fail(b, w, c, 0, SIM_FAULT_RACE,
                                "%s was computed after the last wgmma.fence",
                                operand == SIM_MATRIX_D ? "an accumulator" : "a fragment of a");
            if (operand == SIM_MATRIX_A && h->filled > s->waited)
                return report_misuse(b, w, c, h->filled, "reads, as a fragment, an accumulator");
            if (operand == SIM_MATRIX_D && h->filled > s->waited &&
                !are_alike(b, c, find_product(b, w, h->filled)))
                return report_misuse(b, w, c, h->filled,
                                     "adds with another shape to an accumulator");
            if (operand == SIM_MATRIX_A)
                h->read = s->begun + 1;
            else
                *h = (register_use){.filled = s->begun + 1};
        }
    }
    return true;
}

/* Checks the metadata of a sparse product, and that its layout of matrix b is known. */
static bool take_metadata(sim_block *b, sim_warp *w, const sim_instruction *c, uint64_t of_b)
{
    const sim_products *s = w->products;
    const sim_warpgroup_product *x = sim_warpgroup_product_of(b->program, c);
    if (!x->part.sparse)
        return true;
    if (!sim_warpgroup_layout_is_known(x, of_b))
        return sim_fail(
            b, w, c, 0, SIM_FAULT_UNKNOWN,
            "this layout of operand b is not simulated: its swizzle is shorter than a column");
    if (!check_metadata(b, w, c))
        return false;
    const register_use *h = b->launch->check ? use_of(s, c->e) : NULL;
    return !h || h->filled <= s->waited ||
           report_misuse(b, w, c, h->filled, "reads, as metadata, an accumulator");
}

static bool begin(sim_block *b, sim_warp *w, const sim_instruction *c, const uint32_t *pieces,
                  int count)
{
    for (int i = 0; i < count; i++) {
        if (pieces[i] > b->shared_bytes || b->shared_bytes - pieces[i] < PIECE_BYTES)
            return sim_fail(
                b, w, c, 0, SIM_FAULT_BOUNDS,
                "its descriptor leads to shared memory byte %u, but the block has %u bytes",
                pieces[i], b->shared_bytes);
        if (b->launch->check && !sim_shared_begin(b, b, w, c, 0, pieces[i], PIECE_BYTES,
                                                  SIM_TOUCH_READ, w->products->begun, true))
            return false;
    }
    return true;
}

/* Reads the descriptors of a product, and whether it is added to d. Checks that all lanes agree. */
static bool find_descriptors(sim_block *b, sim_warp *w, const sim_instruction *c, part *of,
                             bool *keeps)
{
    const int32_t slots[2] = {c->a, c->b};
    const uint32_t kept = sim_predicate(w, c->c, false);
    bool alike = kept == 0 || kept == UINT32_MAX;
    for (int i = 0; i < 2; i++) {
        const uint64_t *lanes = slots[i] == SIM_NO_SLOT ? NULL : sim_lanes64(w, slots[i]);
        of->descriptors[i] = lanes ? lanes[0] : 0;
        for (int l = 0; lanes && l < SIM_LANES; l++)
            alike = alike && lanes[l] == lanes[0];
    }
    *keeps = kept != 0;
    return alike || sim_fail(b, w, c, 0, SIM_FAULT_SHUFFLE,
                             "its descriptors or scale-d are not the same in all lanes");
}

static bool multiply(sim_block *b, sim_warp *w, const sim_instruction *c)
{
    sim_products *s = w->products;
    const sim_warpgroup_product *x = sim_warpgroup_product_of(b->program, c);
    const uint32_t own = w->first_thread / SIM_LANES % WARPS;
    part of = {.number = s->begun, .warp = w, .instruction = c};
    uint32_t pieces[2][SIM_WARPGROUP_CHUNKS];
    int counts[2] = {0, 0};
    bool keeps;
    if ((group_of(w) + 1) * WARPS * SIM_LANES > b->thread_count)
        return sim_fail(b, w, c, 0, SIM_FAULT_SHUFFLE,
                        "wgmma needs four whole warps, but the block has %u threads",
                        b->thread_count);
    if (!find_descriptors(b, w, c, &of, &keeps) || !take_registers(b, w, c) ||
        !take_metadata(b, w, c, of.descriptors[1]))
        return false;
    for (int i = 0; i < 2; i++)
        if (i == 1 || c->a != SIM_NO_SLOT)
            counts[i] = sim_warpgroup_chunks(x, i ? SIM_MATRIX_B : SIM_MATRIX_A, of.descriptors[i],
                                             own, pieces[i]);
    if (!begin(b, w, c, pieces[0], counts[0]) || !begin(b, w, c, pieces[1], counts[1]))
        return false;
    if (w->missing || b->met_unwritten)
        sim_values_warpgroup(b, w, c, pieces[0], pieces[1], keeps);
    sim_warpgroup_multiply(b->program, c, b->shared, pieces[0], pieces[1], keeps, w->registers);
    const uint64_t parts[] = {(uint64_t)(c - b->program->code), of.descriptors[0],
                              of.descriptors[1], keeps};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        s->hash = (s->hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15) + (s->hash >> 29);
    s->last = c;
    s->begun++;
    sim_warpgroup *g = &b->warpgroups[group_of(w)];
    memory_add(&g->parts, &g->part_count, &of, sizeof of);
    return true;
}

/* Returns the number of the last product that must be complete when a wait ends. */
static uint32_t needed(const sim_products *s, const sim_instruction *c)
{
    const size_t stay = (size_t)c->offset;
    return s->group_count > stay ? s->groups[s->group_count - 1 - stay] : s->waited;
}

/* Returns whether all live warps of the warpgroup have issued the products up to `until`. */
static bool may_pass(const sim_block *b, const sim_warp *w, uint32_t until)
{
    const uint32_t first = group_of(w) * WARPS;
    for (uint32_t i = first; i < first + WARPS && i < b->warp_count; i++) {
        const sim_warp *other = &b->warps[i];
        if (other->wait.state != SIM_DONE && until > 0 &&
            (!other->products || other->products->begun < until))
            return false;
    }
    return true;
}

/* Ends the reads of shared memory by a warp's part of a product. */
static void land(sim_block *b, const part *of)
{
    const sim_warpgroup_product *x = sim_warpgroup_product_of(b->program, of->instruction);
    const uint32_t own = of->warp->first_thread / SIM_LANES % WARPS;
    const sim_stamp landed = {.block = b->number,
                              .epoch = of->warp->first_thread,
                              .order = of->number + 1,
                              .lanes = 1,
                              .pc = (int32_t)(of->instruction - b->program->code),
                              .unit = (uint16_t)(SIM_UNIT_PRODUCTS + group_of(of->warp))};
    uint32_t pieces[SIM_WARPGROUP_CHUNKS];
    for (int i = of->instruction->a == SIM_NO_SLOT ? 1 : 0; i < 2; i++) {
        const int count = sim_warpgroup_chunks(x, i ? SIM_MATRIX_B : SIM_MATRIX_A,
                                               of->descriptors[i], own, pieces);
        for (int k = 0; k < count; k++)
            sim_shared_land(b, b, of->warp, of->instruction, 0, pieces[k], PIECE_BYTES, false,
                            of->number, &landed);
    }
}

static void pass(sim_block *b, sim_warp *w, const sim_instruction *c)
{
    sim_products *s = w->products;
    sim_warpgroup *g = &b->warpgroups[group_of(w)];
    const uint32_t until = needed(s, c);
    const size_t stay = (size_t)c->offset;
    size_t kept = 0;
    for (size_t i = 0; i < g->part_count; i++)
        if (g->parts[i].number >= until)
            g->parts[kept++] = g->parts[i];
        else if (b->launch->check)
            land(b, &g->parts[i]);
    g->part_count = kept;
    s->waited = until;
    if (s->group_count > stay) {
        memmove(s->groups, s->groups + (s->group_count - stay), stay * sizeof *s->groups);
        s->group_count = stay;
    }
    if (until > 0)
        sim_order_learn(b, w, SIM_UNIT_PRODUCTS + group_of(w), until);
}

static bool wait(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    if (may_pass(b, w, needed(w->products, c))) {
        pass(b, w, c);
        return true;
    }
    w->polls.last = w->executed;
    sim_wait(w, SIM_BARRIER_OF_WARPGROUP, (int32_t)(c - b->program->code), mask);
    return true;
}

bool sim_warpgroups_open(sim_block *b)
{
    bool any = false;
    for (uint32_t i = 0; b->warpgroups && i < b->warp_count; i++) {
        sim_warp *w = &b->warps[i];
        const sim_instruction *c = &b->program->code[w->wait.pc];
        if (!sim_waits(w, SIM_BARRIER_OF_WARPGROUP) || !may_pass(b, w, needed(w->products, c)))
            continue;
        pass(b, w, c);
        w->wait.state = SIM_READY;
        any = true;
    }
    return any;
}

void sim_warpgroup_report(sim_block *b, sim_warp *w)
{
    sim_fail(b, w, &b->program->code[w->wait.pc], 0, SIM_FAULT_BARRIER,
             "it waits for products (wgmma) that not all four warps of its warpgroup have begun: "
             "the others wait elsewhere");
}

bool sim_warpgroup_execute(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    bool early;
    if (!sim_has_all_lanes(b, w, c, mask, &early))
        return early;
    sim_products *s = products_of(b, w);
    switch (c->kind) {
    case SIM_WARPGROUP_FENCE:
        s->fences++;
        return true;
    case SIM_WARPGROUP_PRODUCT:
        return multiply(b, w, c);
    case SIM_WARPGROUP_COMMIT:
        memory_add(&s->groups, &s->group_count, &s->begun, sizeof s->begun);
        return true;
    default:
        return wait(b, w, c, mask);
    }
}

bool sim_warpgroups_allow_end(sim_block *b)
{
    if (b->launch->access_limit || b->launch->one_warp_only)
        return true;
    for (uint32_t i = 0; b->warpgroups && i < b->warp_count; i++) {
        const sim_warpgroup *g = &b->warpgroups[i / WARPS];
        const sim_warp *w = &b->warps[i], *first = &b->warps[i / WARPS * WARPS];
        const sim_products *s = w->products, *of_first = first->products;
        if (g->part_count > 0)
            return sim_fail(b, g->parts->warp, g->parts->instruction, 0, SIM_FAULT_RACE,
                            "the block ends while it may still read shared memory: no "
                            "wgmma.wait_group has waited for it");
        if ((s ? s->hash : 0) != (of_first ? of_first->hash : 0)) {
            const bool more = !of_first || (s && s->begun > of_first->begun);
            return sim_fail(b, more ? w : first, (more ? s : of_first)->last, 0, SIM_FAULT_SHUFFLE,
                            "it and its operands are not the same in all four warps of the "
                            "warpgroup: warps %u and %u execute %u and %u products",
                            i / WARPS * WARPS, i, of_first ? of_first->begun : 0, s ? s->begun : 0);
        }
    }
    return true;
}
