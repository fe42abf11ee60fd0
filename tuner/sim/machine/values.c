#include "sim/machine/values.h"

#include "sim/machine/fault.h"
#include "sim/program/operations.h"
#include "sim/program/warpgroup.h"

/* Returns the lanes in which some bit of `bits` has no value. The width of a predicate is 0. */
static uint32_t lanes_missing(const sim_warp *w, int32_t slot, uint32_t width, uint64_t bits)
{
    uint32_t lanes = 0;
    if (slot < 0)
        return 0;
    if (width == 0)
        return *sim_missing32(w, slot);
    for (int l = 0; l < SIM_LANES; l++)
        lanes |= (uint32_t)(((width == 8 ? sim_missing64(w, slot)[l] : sim_missing32(w, slot)[l]) &
                             bits) != 0)
                 << l;
    return lanes;
}

/* Gives register `to` the origin of the bits that are missing in `from`. */
static void inherit(sim_warp *w, int32_t to, int32_t from)
{
    w->origin_of[to / SIM_SLOT_STEP] = w->origin_of[from / SIM_SLOT_STEP];
}

static void put(sim_warp *w, int32_t slot, uint32_t width, const uint64_t *missing, uint32_t mask)
{
    SIM_EACH_OF(l, mask)
    {
        if (width == 8)
            sim_missing64(w, slot)[l] = missing[l];
        else
            sim_missing32(w, slot)[l] = (uint32_t)missing[l];
    }
}

static void put_predicate(sim_warp *w, int32_t slot, uint32_t lanes, uint32_t mask)
{
    if (slot >= 0)
        *sim_missing32(w, slot) = (*sim_missing32(w, slot) & ~mask) | (lanes & mask);
}

/* Marks a result: it has no value in `lanes`, and a value in the other lanes of `mask`. */
static void put_whole(sim_warp *w, int32_t slot, uint32_t width, uint32_t lanes, uint32_t mask)
{
    uint64_t missing[SIM_LANES];
    if (slot < 0)
        return;
    if (width == 0) {
        put_predicate(w, slot, lanes, mask);
        return;
    }
    SIM_EACH_LANE(l) missing[l] = lanes >> l & 1 ? UINT64_MAX : 0;
    put(w, slot, width, missing, mask);
}

/* Checks that the register has a value in all lanes of `mask`, which need it for `what`. */
static bool need(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask, int32_t slot,
                 uint32_t width, const char *what)
{
    uint32_t lanes = lanes_missing(w, slot, width, UINT64_MAX) & mask;
    return lanes == 0 || sim_values_fail(b, w, c, __builtin_ctz(lanes), slot, what);
}

static uint64_t missing_of(const sim_warp *w, int32_t slot, uint32_t width, int l)
{
    return width == 8 ? sim_missing64(w, slot)[l] : sim_missing32(w, slot)[l];
}

/* Moves masks as the operation moves bits. If a selector has no value, all bits are missing. */
static void move_bits(const sim_warp *w, const sim_instruction *c, const int32_t slots[4],
                      int moved, uint64_t missing[SIM_LANES])
{
    union {
        uint32_t w32[SIM_LANES];
        uint64_t w64[SIM_LANES];
    } result;
    const void *sources[4];
    uint32_t lost = 0;
    for (int i = 0; i < 4; i++) {
        const uint8_t *from = i < moved ? w->missing : w->registers;
        sources[i] = from + (slots[i] < 0 ? 0 : slots[i]);
        if (i >= moved && c->widths[i])
            lost |= lanes_missing(w, slots[i], c->widths[i], UINT64_MAX);
    }
    c->compute(&result, sources);
    SIM_EACH_LANE(l)
    missing[l] = lost >> l & 1 ? UINT64_MAX : c->width == 8 ? result.w64[l] : result.w32[l];
}

static void compute_lane(const sim_warp *w, const sim_instruction *c, const int32_t slots[4], int l,
                         uint64_t *missing)
{
    uint64_t any = 0, x = 0, y = 0, xl = 0, yl = 0;
    for (int i = 0; i < 4; i++)
        if (c->widths[i] && slots[i] >= 0)
            any |= missing_of(w, slots[i], c->widths[i], l);
    if (c->widths[1]) {
        x = sim_lane(w, slots[0], c->widths[0], l), y = sim_lane(w, slots[1], c->widths[1], l);
        xl = missing_of(w, slots[0], c->widths[0], l),
        yl = missing_of(w, slots[1], c->widths[1], l);
    }
    bool alone = slots[0] == slots[1], zero = (xl == 0 && x == 0) || (yl == 0 && y == 0);
    switch ((sim_flow)c->flow) {
    case SIM_FLOW_AND:
        *missing = (xl & (y | yl)) | (yl & (x | xl));
        break;
    case SIM_FLOW_OR:
        *missing = (xl & (~y | yl)) | (yl & (~x | xl));
        break;
    case SIM_FLOW_BITWISE:
        *missing = any;
        break;
    case SIM_FLOW_EXCLUSIVE:
        *missing = alone ? 0 : any;
        break;
    case SIM_FLOW_DIFFERENCE:
        *missing = any && !alone ? UINT64_MAX : 0;
        break;
    case SIM_FLOW_PRODUCT:
        *missing = any && !zero ? UINT64_MAX : 0;
        break;
    case SIM_FLOW_HALVES:
        *missing = (any & 0xffff ? 0xffff : 0) | (any >> 16 & 0xffff ? 0xffff0000u : 0);
        break;
    default:
        *missing = any ? UINT64_MAX : 0;
    }
}

static void compute(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const int32_t slots[4] = {c->a, c->b, c->c, c->e};
    uint64_t missing[SIM_LANES];
    if (c->flow == SIM_FLOW_MOVES_ONE || c->flow == SIM_FLOW_MOVES_TWO ||
        c->flow == SIM_FLOW_MOVES_FOUR)
        move_bits(w, c, slots,
                  c->flow == SIM_FLOW_MOVES_ONE   ? 1
                  : c->flow == SIM_FLOW_MOVES_TWO ? 2
                                                  : 4,
                  missing);
    else
        SIM_EACH_LANE(l) compute_lane(w, c, slots, l, &missing[l]);
    for (int i = 3; i >= 0; i--)
        if (c->widths[i] && lanes_missing(w, slots[i], c->widths[i], UINT64_MAX) & mask)
            inherit(w, c->d, slots[i]);
    put(w, c->d, c->width, missing, mask);
}

static bool is_integer(ptx_type t)
{
    switch (t) {
    case PTX_U8:
    case PTX_S8:
    case PTX_B8:
    case PTX_U16:
    case PTX_S16:
    case PTX_B16:
    case PTX_U32:
    case PTX_S32:
    case PTX_B32:
    case PTX_U64:
    case PTX_S64:
    case PTX_B64:
        return true;
    default:
        return false;
    }
}

static void convert(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t bytes = ptx_type_bytes((ptx_type)c->source_type), width = bytes > 4 ? 8 : 4;
    uint32_t lanes = lanes_missing(w, c->a, width, sim_low_bits(bytes)) & mask;
    if (lanes)
        inherit(w, c->d, c->a);
    if (!is_integer((ptx_type)c->type) || !is_integer((ptx_type)c->source_type) || c->saturate ||
        c->relu) {
        put_whole(w, c->d, c->width, lanes, mask);
        return;
    }
    union {
        uint32_t w32[SIM_LANES];
        uint64_t w64[SIM_LANES];
    } result;
    uint64_t missing[SIM_LANES];
    const sim_conversion moves = {
        .to = (ptx_type)c->type, .from = (ptx_type)c->source_type, .rounding = (sim_rounding)c->op};
    sim_convert(&moves, &result, w->missing + c->a);
    SIM_EACH_LANE(l) missing[l] = c->width == 8 ? result.w64[l] : result.w32[l];
    put(w, c->d, c->width, missing, mask);
}

static uint32_t combine(uint32_t op, uint32_t x, uint32_t xl, uint32_t y, uint32_t yl)
{
    switch (op) {
    case SIM_LOGIC_AND:
        return (xl & (y | yl)) | (yl & (x | xl));
    case SIM_LOGIC_OR:
        return (xl & (~y | yl)) | (yl & (~x | xl));
    case SIM_LOGIC_XOR:
        return xl | yl;
    default:
        return xl;
    }
}

static void compare(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t bytes = ptx_type_bytes((ptx_type)c->type), width = bytes > 4 ? 8 : 4;
    uint32_t a = lanes_missing(w, c->a, width, sim_low_bits(bytes)),
             b = lanes_missing(w, c->b, width, sim_low_bits(bytes));
    uint32_t lanes = a | b, third = 0;
    if ((a | b) & mask)
        inherit(w, c->d, a & mask ? c->a : c->b);
    if (c->c != SIM_NO_SLOT) {
        /* A comparison without a value may give either result, so both results are tried. */
        third = *sim_missing32(w, c->c);
        if (third & mask)
            inherit(w, c->d, c->c);
        lanes = combine(c->op, UINT32_MAX, lanes, sim_predicate(w, c->c, c->negate_c), third) |
                combine(c->op, 0, lanes, sim_predicate(w, c->c, c->negate_c), third);
    }
    put_predicate(w, c->d, lanes, mask);
    put_predicate(w, c->d2, a | b | third, mask);
    if (c->d2 != SIM_NO_SLOT)
        inherit(w, c->d2, c->d);
}

static void logic(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t a = *sim_missing32(w, c->a), b = *sim_missing32(w, c->b);
    if ((a | b) & mask)
        inherit(w, c->d, a & mask ? c->a : c->b);
    put_predicate(w, c->d,
                  combine(c->op, sim_predicate(w, c->a, c->negate_a), a,
                          sim_predicate(w, c->b, c->negate_b), b),
                  mask);
}

static void select_lanes(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t p = sim_predicate(w, c->c, c->negate_c), lost = *sim_missing32(w, c->c);
    uint64_t missing[SIM_LANES];
    SIM_EACH_LANE(l)
    {
        bool same = sim_lane(w, c->a, c->width, l) == sim_lane(w, c->b, c->width, l);
        uint64_t a = missing_of(w, c->a, c->width, l), b = missing_of(w, c->b, c->width, l);
        missing[l] = !(lost >> l & 1) ? (p >> l & 1 ? a : b) : same ? a | b : UINT64_MAX;
        if ((mask >> l & 1) && missing[l])
            inherit(w, c->d, lost >> l & 1 ? c->c : p >> l & 1 ? c->a : c->b);
    }
    put(w, c->d, c->width, missing, mask);
}

static const char address[] = "the address", condition[] = "the condition",
                  operand[] = "an operand", metadata[] = "the metadata of a sparse row";

/* Returns the missing bits of a lane's result. *from gets the register that they come from. A
 * shuffle or a bit of a ballot reads one lane. Other operations read all lanes of the mask. */
static uint64_t missing_in_exchange(const sim_warp *w, const sim_instruction *const of[], int lane,
                                    int source, uint32_t lost, int32_t *from)
{
    const sim_instruction *c = of[lane];
    if (c->kind == SIM_SHUFFLE) {
        *from = of[source] ? of[source]->a : c->a;
        return of[source] ? sim_missing32(w, *from)[source] : 0;
    }
    lost &= sim_lanes32(w, c->e)[lane];
    *from = of[lost ? __builtin_ctz(lost) : lane]->a;
    bool is_ballot = c->kind == SIM_VOTE && c->op == SIM_VOTE_BALLOT;
    return is_ballot ? lost : lost ? UINT64_MAX : 0;
}

bool sim_values_exchange(sim_block *b, sim_warp *w, const sim_instruction *const of[],
                         const int8_t from[SIM_LANES], uint32_t mask)
{
    uint32_t lost = 0;
    uint64_t missing[SIM_LANES];
    int32_t lost_from[SIM_LANES];
    SIM_EACH_OF(l, mask)
    {
        const sim_instruction *c = of[l];
        bool shuffles = c->kind == SIM_SHUFFLE;
        if (!need(b, w, c, 1u << l, c->e, 4, operand) ||
            (shuffles && (!need(b, w, c, 1u << l, c->b, 4, operand) ||
                          !need(b, w, c, 1u << l, c->c, 4, operand))))
            return false;
        uint32_t width = c->kind == SIM_VOTE ? 0 : c->kind == SIM_MATCH ? c->source_width : 4;
        lost |= lanes_missing(w, c->a, width, UINT64_MAX) & 1u << l;
    }
    SIM_EACH_OF(l, mask) missing[l] = missing_in_exchange(w, of, l, from[l], lost, &lost_from[l]);
    SIM_EACH_OF(l, mask)
    {
        const sim_instruction *c = of[l];
        bool is_predicate = c->kind == SIM_VOTE && c->op != SIM_VOTE_BALLOT;
        if (missing[l])
            inherit(w, c->d, lost_from[l]);
        if (is_predicate)
            put_predicate(w, c->d, missing[l] ? UINT32_MAX : 0, 1u << l);
        else
            put(w, c->d, 4, missing, 1u << l);
        if (c->kind != SIM_VOTE)
            put_predicate(w, c->d2, c->kind != SIM_SHUFFLE && missing[l] ? UINT32_MAX : 0, 1u << l);
    }
    return true;
}

bool sim_values_multiply(sim_block *b, sim_warp *w, const sim_instruction *c)
{
    const sim_matrix *x = sim_matrix_of(b->program, c);
    if (x->sparse && !need(b, w, c, sim_matrix_metadata_lanes(x), c->e, 4, metadata))
        return false;
    const int32_t *slots = sim_matrix_slots(b->program, c, SIM_MATRIX_D), *first = slots;
    int all = 0;
    for (int i = SIM_MATRIX_D; i <= SIM_MATRIX_C; i++)
        all += x->registers[i];
    for (int i = all - 1; i >= x->registers[SIM_MATRIX_D]; i--) {
        uint32_t width = x->elements[SIM_MATRIX_A] == SIM_ELEMENT_F64 ? 8 : 4;
        first = lanes_missing(w, slots[i], width, UINT64_MAX) ? &slots[i] : first;
    }
    const uint16_t origin = w->origin_of[*first / SIM_SLOT_STEP];
    sim_matrix_mark_undefined(b->program, c, w->missing);
    for (int i = 0; first != slots && i < x->registers[SIM_MATRIX_D]; i++)
        w->origin_of[slots[i] / SIM_SLOT_STEP] = origin;
    return true;
}

static bool step_access(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    if (!need(b, w, c, mask, c->a, c->source_width, address))
        return false;
    for (int v = 0; c->kind == SIM_LOAD && v < c->vector; v++)
        put_whole(w, b->program->lists[c->list + v], c->width, 0, mask);
    if (c->kind != SIM_ATOMIC)
        return true;
    for (int32_t v = 0; v < c->vector; v++) {
        const int32_t further = v * SIM_HIGH_HALF;
        if (!need(b, w, c, mask, c->b + further, c->width, operand) ||
            (c->c != SIM_NO_SLOT && !need(b, w, c, mask, c->c + further, c->width, operand)))
            return false;
        if (c->d2 != 0)
            put_whole(w, c->d + further, c->width, 0, mask);
    }
    return true;
}

/* Checks instructions that do more than compute a result from registers. */
static bool step_other(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    bool fine = true;
    int results;
    switch (c->kind) {
    case SIM_COPY_ASYNC:
    case SIM_BULK_LOAD:
    case SIM_BULK_MOVE:
    case SIM_BULK_STORE:
        fine = need(b, w, c, mask, c->a, c->source_width, address) &&
               need(b, w, c, mask, c->b, c->op, address) && need(b, w, c, mask, c->c, 4, operand) &&
               need(b, w, c, mask, c->e, c->vector, address) &&
               (c->kind == SIM_COPY_ASYNC || c->kind == SIM_BULK_STORE ||
                need(b, w, c, mask, c->target, 4, operand));
        for (int32_t v = 0; c->kind != SIM_COPY_ASYNC && fine && v < c->target_count; v++)
            fine = need(b, w, c, mask, b->program->lists[c->list + v], 4, operand);
        break;
    case SIM_STORE_ASYNC:
        fine = need(b, w, c, mask, c->a, c->source_width, address) &&
               need(b, w, c, mask, c->e, (uint32_t)c->d2, address);
        for (int v = 0; fine && v < c->vector; v++)
            fine = need(b, w, c, mask, b->program->lists[c->list + v], c->width, "what it stores");
        break;
    case SIM_TEXTURE:
    case SIM_SURFACE:
        results = c->kind == SIM_TEXTURE ? c->vector : 0;
        fine = need(b, w, c, mask, c->a, 8, address);
        for (int v = 0; fine && v < c->target_count; v++)
            fine = need(b, w, c, mask, b->program->lists[c->list + results + v], 4, operand);
        for (int v = 0; fine && v < results; v++)
            put_whole(w, b->program->lists[c->list + v], 4, 0, mask);
        if (fine && c->kind == SIM_SURFACE) {
            put_whole(w, c->d, 8, 0, mask);
            put_predicate(w, c->d2, 0, mask);
        }
        break;
    case SIM_BRANCH_INDEXED:
        fine = need(b, w, c, mask, c->a, 4, condition);
        break;
    case SIM_CALLEE:
        fine = need(b, w, c, mask, c->a, 8, address);
        break;
    case SIM_BARRIER:
        fine = need(b, w, c, mask, c->a, 4, operand) && need(b, w, c, mask, c->b, 4, operand) &&
               need(b, w, c, mask, c->c, 0, operand);
        break;
    case SIM_WARP_BARRIER:
        fine = need(b, w, c, mask, c->a, 4, operand);
        break;
    case SIM_MBARRIER:
        fine = need(b, w, c, mask, c->a, c->source_width, address) &&
               need(b, w, c, mask, c->b, c->op == SIM_MBARRIER_TEST ? 8 : 4, operand);
        break;
    case SIM_WARPGROUP_PRODUCT:
        fine = need(b, w, c, mask, c->a, 8, address) && need(b, w, c, mask, c->b, 8, address) &&
               need(b, w, c, mask, c->c, 0, operand) &&
               need(b, w, c, sim_matrix_metadata_lanes(sim_matrix_of(b->program, c)), c->e, 4,
                    metadata);
        break;
    case SIM_DISCARD:
        fine = need(b, w, c, mask, c->a, c->source_width, address);
        break;
    case SIM_ALIGNED:
        fine = need(b, w, c, mask & (uint32_t)c->target, c->a, c->source_width, address);
        break;
    case SIM_CLUSTER_MAP:
        fine = need(b, w, c, mask, c->a, c->source_width, address) &&
               need(b, w, c, mask, c->b, 4, operand);
        break;
    default:
        break;
    }
    bool writes = c->kind == SIM_CALLEE || c->kind == SIM_CALL || c->kind == SIM_RETURN ||
                  c->kind == SIM_BARRIER || c->kind == SIM_MBARRIER || c->kind == SIM_CLUSTER_MAP ||
                  c->kind == SIM_ACTIVE_MASK || c->kind == SIM_CLOCK;
    bool is_test = c->kind == SIM_MBARRIER &&
                   (c->op == SIM_MBARRIER_TEST || c->op == SIM_MBARRIER_TEST_PARITY);
    if (fine && writes)
        put_whole(w, c->d, is_test ? 0 : c->kind == SIM_MBARRIER ? 8 : c->width, 0, mask);
    return fine;
}

static bool step(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    switch (c->kind) {
    case SIM_COMPUTE:
        compute(w, c, mask);
        return true;
    case SIM_CONVERT:
        convert(w, c, mask);
        return true;
    case SIM_COMPARE:
        compare(w, c, mask);
        return true;
    case SIM_LOGIC:
        logic(w, c, mask);
        return true;
    case SIM_SELECT:
        select_lanes(w, c, mask);
        return true;
    case SIM_SPACE_TEST:
        put_predicate(w, c->d, lanes_missing(w, c->a, 8, UINT64_MAX), mask);
        return true;
    case SIM_LOAD:
    case SIM_STORE:
    case SIM_ATOMIC:
        return step_access(b, w, c, mask);
    case SIM_SHUFFLE:
    case SIM_VOTE:
    case SIM_MATCH:
    case SIM_REDUCE:
        return true; /* sim_values_exchange() checks these when the lanes have met */
    default:
        return step_other(b, w, c, mask);
    }
}

bool sim_values_step(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t path = sim_top(w)->mask;
    uint32_t unsure = c->guard != SIM_NO_SLOT ? *sim_missing32(w, c->guard) & path : 0;
    bool is_pure = c->kind == SIM_COMPUTE || c->kind == SIM_CONVERT || c->kind == SIM_COMPARE ||
                   c->kind == SIM_LOGIC || c->kind == SIM_SELECT || c->kind == SIM_SPACE_TEST;
    if (unsure && !is_pure)
        return sim_values_fail(b, w, c, __builtin_ctz(unsure), c->guard, condition);
    if (!step(b, w, c, mask))
        return false;
    if (unsure) {
        bool is_number = c->kind == SIM_COMPUTE || c->kind == SIM_CONVERT || c->kind == SIM_SELECT;
        put_whole(w, c->d, is_number ? c->width : 0, UINT32_MAX, unsure);
        inherit(w, c->d, c->guard);
    }
    return true;
}

void sim_values_warpgroup(sim_block *b, sim_warp *w, const sim_instruction *c,
                          const uint32_t *a_pieces, const uint32_t *b_pieces, bool keeps)
{
    const sim_warpgroup_product *x = sim_warpgroup_product_of(b->program, c);
    const int32_t *d = sim_warpgroup_slots(b->program, c, SIM_MATRIX_D),
                  *a = sim_warpgroup_slots(b->program, c, SIM_MATRIX_A);
    sim_values_keep(b, w);
    uint16_t origin = b->met_unwritten ? sim_values_origin(b, (int32_t)(c - b->program->code),
                                                           "shared memory that nothing wrote")
                                       : SIM_ORIGIN_REGISTER;
    b->met_unwritten = false;
    for (int i = 0; i < x->part.registers[SIM_MATRIX_A]; i++)
        if (lanes_missing(w, a[i], 4, UINT64_MAX))
            origin = w->origin_of[a[i] / SIM_SLOT_STEP];
    for (int i = 0; keeps && i < x->part.registers[SIM_MATRIX_D]; i++)
        if (lanes_missing(w, d[i], 4, UINT64_MAX))
            origin = w->origin_of[d[i] / SIM_SLOT_STEP];
    if (sim_warpgroup_mark_undefined(b->program, c, b->shared_valid, a_pieces, b_pieces, keeps,
                                     w->missing))
        for (int i = 0; i < x->part.registers[SIM_MATRIX_D]; i++)
            w->origin_of[d[i] / SIM_SLOT_STEP] = origin;
}
