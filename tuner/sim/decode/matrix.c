/* Matrix products of a warp (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions") and of
 * a warpgroup ("Asynchronous Warpgroup Level Matrix Instructions").
 *
 * ldmatrix, stmatrix, movmatrix, and the loads and stores of wmma become simpler instructions.
 * Shuffles move an address from the lane that has it to the lanes that use it, and each lane loads
 * or stores its part of the matrix. So races and undefined values are found as for other
 * accesses. */
#include <stdio.h>
#include <string.h>

#include "sim/decode/decoder.h"
#include "sim/program/matrix.h"
#include "sim/program/warpgroup.h"

enum { ROW_BYTES = 16, WMMA_ALIGNMENT = 32 };

static int32_t constant(decoder *d, uint32_t v)
{
    return decode_constant(d, v, 4);
}

static int32_t lane_slot(decoder *d)
{
    static const ptx_operand lane = {.kind = PTX_OPERAND_SPECIAL, .text = {"%laneid", 7}};
    return decode_source(d, &lane, 4, PTX_U32);
}

/* Emits a shuffle of 32 bits from the lane whose number is in slot `from`. Returns the result. */
static int32_t shuffle(decoder *d, int32_t value, int32_t from)
{
    int32_t to = decode_new_slot(d, 4), all = constant(d, UINT32_MAX), clamp = constant(d, 31);
    sim_instruction *c = decode_emit(d, SIM_SHUFFLE, SIM_CLASS_WARP);
    c->op = SIM_SHUFFLE_INDEX;
    c->width = 4;
    c->d = to;
    c->a = value;
    c->b = from;
    c->c = clamp;
    c->e = all;
    c->extra = true;
    return to;
}

static int32_t shuffle_address(decoder *d, const address_operand *at, int32_t from)
{
    if (at->width == 4)
        return decode_step1(d, "extend.u", shuffle(d, at->slot, from));
    int32_t parts[2];
    for (uint32_t i = 0; i < 2; i++)
        parts[i] = shuffle(d, decode_step2(d, "field.8.4", at->slot, constant(d, 32 * i)), from);
    return decode_step2(d, "pack.2x32", parts[0], parts[1]);
}

/* Returns the registers of an operand, which is a vector or one register. */
static const ptx_operand *registers_of(decoder *d, const ptx_operand *o, int *count)
{
    *count = o->kind == PTX_OPERAND_VECTOR ? (int)o->count : 1;
    if (*count > SIM_MATRIX_REGISTERS)
        decode_fail(d, "a matrix fragment has %d registers, more than any instruction takes",
                    *count);
    return o->kind == PTX_OPERAND_VECTOR ? decode_part(d, o, 0) : o;
}

/* Transposes an 8 x 8 matrix of 16-bit elements. Each lane holds two elements of a row. */
static int32_t transpose(decoder *d, int32_t value)
{
    int32_t lane = lane_slot(d), row = decode_step2(d, "shr.u32", lane, constant(d, 2));
    int32_t odd = decode_step2(d, "and.b32", row, constant(d, 1));
    int32_t from = decode_step2(d, "shl.b32", decode_step2(d, "and.b32", lane, constant(d, 3)),
                                constant(d, 3));
    from = decode_step2(d, "add.u32", from, decode_step2(d, "shr.u32", row, constant(d, 1)));
    int32_t next = decode_step2(d, "add.u32", from, constant(d, 4));
    int32_t low = shuffle(d, value, from), high = shuffle(d, value, next);
    int32_t halves =
        decode_step(d, "mad.lo.u32", (int32_t[]){odd, constant(d, 0x2222), constant(d, 0x5410)}, 3);
    return decode_step(d, "prmt.b32", (int32_t[]){low, high, halves}, 3);
}

/* Decodes movmatrix.sync.aligned.m8n8.trans.b16 d, a. */
at_status decode_move(decoder *d)
{
    if (!decode_has(d, "m8n8") || !decode_has(d, "trans") || !decode_has(d, "b16"))
        return decode_unknown(d);
    int32_t moved = transpose(d, decode_source(d, decode_operand(d, 1), 4, PTX_B32));
    destination to = decode_destination(d, decode_operand(d, 0), 4);
    decode_compute(d, "mov.b32", to.slot, &moved, 1)->count_class = SIM_CLASS_WARP;
    return decode_finish(d, &to, false);
}

/* Decodes ldmatrix.sync.aligned.m8n8.x{1,2,4}{.trans}{.shared}.b16 r, [p], and stmatrix [p], r.
 * Lane i has the address of row i % 8 of matrix i / 8. */
at_status decode_rows(decoder *d)
{
    bool stores = strcmp(d->op.name, "stmatrix") == 0, turned = decode_has(d, "trans");
    static const choice counts[] = {{"x1", 1}, {"x2", 2}, {"x4", 4}, {0}};
    int matrices = decode_choice(d, counts, 0), count = 0;
    ptx_space space = decode_space(d);
    if (!decode_has(d, "m8n8") || !decode_has(d, "b16") || matrices == 0 ||
        (space != PTX_SPACE_SHARED && space != PTX_SPACE_GENERIC))
        return decode_unknown(d);
    address_operand at = decode_address(d, decode_operand(d, stores ? 0 : 1), space);
    const ptx_operand *registers = registers_of(d, decode_operand(d, stores ? 1 : 0), &count);
    if (count != matrices)
        decode_fail(d, "the operand must be a vector of %d registers", matrices);
    decode_alignment(d, &at, ROW_BYTES, matrices == 4 ? UINT32_MAX : (1u << 8 * matrices) - 1);
    int32_t lane = lane_slot(d), row = decode_step2(d, "shr.u32", lane, constant(d, 2));
    int32_t along = decode_step2(d, "shl.b32", decode_step2(d, "and.b32", lane, constant(d, 3)),
                                 constant(d, 2));
    int32_t addresses[4], values[4], wide = decode_step1(d, "extend.u", along);
    for (int i = 0; i < matrices; i++)
        addresses[i] = decode_step2(
            d, "add.u64",
            shuffle_address(d, &at, decode_step2(d, "add.u32", row, constant(d, 8 * (uint32_t)i))),
            wide);
    for (int i = 0; stores && i < matrices; i++) {
        values[i] = decode_source(d, &registers[i], 4, PTX_B32);
        values[i] = turned ? transpose(d, values[i]) : values[i];
    }
    for (int i = 0; i < matrices; i++) {
        const address_operand piece = {addresses[i], 8, at.offset, at.space, at.object};
        destination to = {SIM_NO_SLOT, SIM_NO_SLOT, 4};
        if (!stores)
            to = decode_destination(d, &registers[i], 4);
        int32_t slot = stores ? values[i] : turned ? decode_new_slot(d, 4) : to.slot;
        decode_access(d, stores ? SIM_STORE : SIM_LOAD, &piece, PTX_B32, &slot, 1)->extra = i > 0;
        if (!stores && turned)
            decode_compute(d, "mov.b32", to.slot, (int32_t[]){transpose(d, slot)}, 1)->extra = true;
        if (!stores)
            decode_finish(d, &to, false);
    }
    return d->status;
}

/* Reads the modifier "m16n8k16". Returns false if no such modifier is valid. */
static bool find_shape(const decoder *d, sim_matrix *x)
{
    for (int i = 0; i < d->op.count; i++) {
        char more;
        if (sscanf(d->op.modifiers[i], "m%dn%dk%d%c", &x->m, &x->n, &x->k, &more) == 3)
            return x->m > 0 && x->n > 0 && x->k > 0 && x->m % 8 == 0 && x->n % 8 == 0 &&
                   x->m <= SIM_MATRIX_SIDE && x->n <= SIM_MATRIX_SIDE && x->k <= SIM_MATRIX_DEPTH;
    }
    return false;
}

/* Finds the element types (sim_element) among the modifiers. Returns their number. */
static int find_elements(const decoder *d, int32_t found[4])
{
    int count = 0;
    for (int i = 0; i < d->op.count; i++) {
        sim_element e = sim_element_of(d->op.modifiers[i]);
        if (e != SIM_ELEMENT_COUNT && count < 4)
            found[count++] = (int32_t)e;
    }
    return count;
}

static bool is_integer(int32_t e)
{
    return e == SIM_ELEMENT_S8 || e == SIM_ELEMENT_U8 || e == SIM_ELEMENT_S4 ||
           e == SIM_ELEMENT_U4 || e == SIM_ELEMENT_B1;
}

static bool are_multiplied(const int32_t e[4])
{
    int32_t d = e[SIM_MATRIX_D], a = e[SIM_MATRIX_A], b = e[SIM_MATRIX_B], c = e[SIM_MATRIX_C];
    bool bytes = (a == SIM_ELEMENT_E4M3 || a == SIM_ELEMENT_E5M2) &&
                 (b == SIM_ELEMENT_E4M3 || b == SIM_ELEMENT_E5M2);
    bool singles = d == SIM_ELEMENT_F32 && c == SIM_ELEMENT_F32;
    bool either = (d == SIM_ELEMENT_F32 || d == SIM_ELEMENT_F16) &&
                  (c == SIM_ELEMENT_F32 || c == SIM_ELEMENT_F16);
    if (is_integer(a))
        return is_integer(b) &&
               sim_element_bits((sim_element)a) == sim_element_bits((sim_element)b) &&
               d == SIM_ELEMENT_S32 && c == SIM_ELEMENT_S32;
    if (a == SIM_ELEMENT_F64)
        return b == a && c == a && d == a;
    if (a == SIM_ELEMENT_F16 || bytes)
        return (b == a || bytes) && either;
    return (a == SIM_ELEMENT_BF16 || a == SIM_ELEMENT_TF32) && b == a && singles;
}

/* Returns the class by which products of that element type are counted. */
static sim_class class_of(int32_t element)
{
    return element == SIM_ELEMENT_F64    ? SIM_CLASS_DOUBLE
           : element == SIM_ELEMENT_TF32 ? SIM_CLASS_FLOAT
           : is_integer(element)         ? SIM_CLASS_INTEGER
                                         : SIM_CLASS_HALF;
}

/* Reads the selector of a sparse product. Returns the slot of its metadata. */
static int32_t decode_metadata(decoder *d, sim_matrix *x)
{
    const ptx_operand *selector = decode_operand(d, 5);
    decode_count(d, 6, 6);
    if (selector->kind != PTX_OPERAND_INTEGER ||
        selector->bits >= (uint64_t)sim_matrix_selectors(x) || x->n != 8)
        decode_unknown(d);
    x->selector = (int32_t)(selector->bits & 3);
    return decode_source(d, decode_operand(d, 4), 4, PTX_B32);
}

/* Prepares m8n8k4 of f16: four products, whose a and b are stored by rows or by columns. */
static void find_quads(const decoder *d, sim_matrix *x)
{
    int32_t flags[2] = {0};
    int count = 0;
    if (strcmp(d->op.name, "mma") != 0 || x->k != 4 || x->m != 8 ||
        x->elements[SIM_MATRIX_A] != SIM_ELEMENT_F16 || x->sparse)
        return;
    for (int i = 0; i < d->op.count && count < 2; i++) {
        const bool by_rows = strcmp(d->op.modifiers[i], "row") == 0;
        if (by_rows || strcmp(d->op.modifiers[i], "col") == 0)
            flags[count++] = by_rows;
    }
    x->quads = SIM_QUADS | (flags[0] ? 0 : SIM_QUADS_A_COLUMN) | (flags[1] ? SIM_QUADS_B_ROW : 0);
    x->m = x->n = 4 * 8;
}

/* Decodes mma.sync.aligned.SHAPE.row.col.D.A.B.C d, a, b, c, mma.sp with metadata and selector, and
 * wmma.mma with layouts. In wmma.mma, f16 names only D and C. Products of bits have .xor.popc or
 * .and.popc. */
at_status decode_multiply(decoder *d)
{
    static const char *const others[] = {"block_scale", "f8f6f4", "kind::f8f6f4", "rz", "rm", "rp"};
    sim_matrix x = {.sparse = decode_has(d, "sp::ordered_metadata") ? SIM_SPARSE_ORDERED
                              : decode_has(d, "sp")                 ? SIM_SPARSE
                                                                    : SIM_DENSE,
                    .exclusive = decode_has(d, "xor")};
    int found = find_elements(d, x.elements);
    if (found == 2) {
        x.elements[SIM_MATRIX_C] = x.elements[1];
        x.elements[SIM_MATRIX_A] = x.elements[SIM_MATRIX_B] = SIM_ELEMENT_F16;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (decode_has(d, others[i]))
            return decode_unknown(d);
    if ((found != 4 && found != 2) || !find_shape(d, &x) || !are_multiplied(x.elements) ||
        decode_has(d, "popc") != (x.elements[SIM_MATRIX_A] == SIM_ELEMENT_B1) ||
        decode_has(d, "popc") != (x.exclusive || decode_has(d, "and")))
        return decode_unknown(d);
    find_quads(d, &x);
    const ptx_operand *registers[4];
    int32_t slots[4 * SIM_MATRIX_REGISTERS];
    destination to[SIM_MATRIX_REGISTERS];
    for (int i = 0; i < 4; i++) {
        int count, least = sim_matrix_least(&x, (sim_operand)i);
        registers[i] = registers_of(d, decode_operand(d, i), &count);
        if (d->status || least == 0 || count % least)
            return decode_unknown(d);
        x.registers[i] = count;
    }
    const int32_t metadata = x.sparse ? decode_metadata(d, &x) : SIM_NO_SLOT;
    int n = 0;
    for (int i = 0; i < 4; i++) {
        bool wide = x.elements[i] == SIM_ELEMENT_F64;
        for (int k = 0; k < x.registers[i]; k++) {
            if (i == SIM_MATRIX_D)
                to[k] = decode_destination(d, &registers[i][k], wide ? 8 : 4);
            slots[n++] = i == SIM_MATRIX_D ? to[k].slot
                                           : decode_source(d, &registers[i][k], wide ? 8 : 4,
                                                           wide ? PTX_F64 : PTX_B32);
        }
    }
    sim_instruction *c = decode_emit(d, SIM_MATRIX, class_of(x.elements[SIM_MATRIX_A]));
    c->saturate = decode_has(d, "satfinite");
    c->e = metadata;
    c->list = (int32_t)d->program->list_count;
    decode_lists(d, (const int32_t *)(const void *)&x, sizeof x / sizeof(int32_t));
    decode_lists(d, slots, (size_t)n);
    for (int i = 0; i < x.registers[SIM_MATRIX_D]; i++)
        decode_finish(d, &to[i], false);
    return d->status;
}

/* A matrix in memory. Each lane has a fragment of it. */
typedef struct layout {
    sim_matrix x;
    sim_operand operand;
    address_operand at;
    int32_t stride;   /* 64-bit slot: number of elements from one line of the matrix to the next */
    int32_t lane;     /* 64-bit slot: number of elements before the lane's first element */
    bool lines_along; /* the elements of a lane are neighbours in memory */
    uint32_t bits;    /* bits of an element; less than 8 only if lines_along */
} layout;

static uint32_t bytes_of(const layout *f, int32_t elements)
{
    return (uint32_t)elements * f->bits / 8;
}

static int32_t wide_constant(decoder *d, uint64_t v)
{
    return decode_constant(d, v, 8);
}

/* Returns the address of the element that is `across` lines and `along` elements after the lane's
 * first element. */
static address_operand piece_at(decoder *d, const layout *f, int32_t across, int32_t along)
{
    int32_t lines = f->lines_along ? across : along, within = f->lines_along ? along : across;
    int32_t far = decode_step(
        d, "mad.lo.u64", (int32_t[]){f->stride, wide_constant(d, (uint64_t)lines), f->lane}, 3);
    const uint32_t whole = f->bits < 8 ? 8 / f->bits : 1, bytes = f->bits < 8 ? 1 : f->bits / 8;
    if (whole > 1)
        far = decode_step2(d, "shr.u64", far, constant(d, (uint32_t)__builtin_ctz(whole)));
    int32_t at =
        decode_step(d, "mad.lo.u64", (int32_t[]){far, wide_constant(d, bytes), f->at.slot}, 3);
    return (address_operand){at, 8, f->at.offset + bytes_of(f, within), f->at.space, f->at.object};
}

/* Computes the position of the lane's first element. `stride` may be NULL. */
static void prepare(decoder *d, layout *f, const ptx_operand *stride)
{
    const uint32_t of_lane = f->operand == SIM_MATRIX_C || f->operand == SIM_MATRIX_D
                                 ? 2
                                 : (uint32_t)sim_matrix_elements(&f->x, f->operand);
    int32_t lane = lane_slot(d), across = decode_step2(d, "shr.u32", lane, constant(d, 2));
    int32_t along = decode_step2(d, "mul.lo.u32", decode_step2(d, "and.b32", lane, constant(d, 3)),
                                 constant(d, of_lane));
    int32_t parts[2] = {decode_step1(d, "extend.u", across), decode_step1(d, "extend.u", along)};
    if (stride)
        f->stride = decode_source(d, stride, 8, PTX_U32);
    f->lane = decode_step(
        d, "mad.lo.u64",
        (int32_t[]){parts[f->lines_along ? 0 : 1], f->stride, parts[f->lines_along ? 1 : 0]}, 3);
    if (f->at.width == 4)
        f->at.slot = decode_step1(d, "extend.u", f->at.slot);
    f->at.width = 8;
}

static ptx_type piece_type(uint32_t bytes)
{
    return bytes == 1 ? PTX_B8 : bytes == 2 ? PTX_B16 : bytes == 4 ? PTX_B32 : PTX_B64;
}

/* Loads register `number` of the fragment, as a whole or element by element. */
static void load_register(decoder *d, const layout *f, int32_t number, int32_t to)
{
    const sim_fragment first = sim_matrix_fragment(&f->x, f->operand, number);
    int count = sim_matrix_elements(&f->x, f->operand);
    if (f->lines_along || count == 1) {
        address_operand at = piece_at(d, f, first.across, first.along);
        decode_access(d, SIM_LOAD, &at, piece_type(bytes_of(f, count)), &to, 1)->extra = number > 0;
        return;
    }
    int32_t parts[4];
    for (int e = 0; e < count; e++) {
        address_operand at = piece_at(d, f, first.across, first.along + e);
        parts[e] = decode_new_slot(d, 4);
        decode_access(d, SIM_LOAD, &at, piece_type(bytes_of(f, 1)), &parts[e], 1)->extra =
            number > 0 || e > 0;
    }
    decode_compute(d, count == 2 ? "pack.2x16" : "pack.4x8", to, parts, count)->extra = true;
}

static void store_register(decoder *d, const layout *f, int32_t number, int32_t from)
{
    const sim_fragment first = sim_matrix_fragment(&f->x, f->operand, number);
    int count = sim_matrix_elements(&f->x, f->operand);
    bool whole = f->lines_along || count == 1;
    for (int e = 0; e < (whole ? 1 : count); e++) {
        address_operand at = piece_at(d, f, first.across, first.along + e);
        int32_t part =
            whole ? from : decode_step2(d, "field.4.2", from, constant(d, 16 * (uint32_t)e));
        decode_access(d, SIM_STORE, &at, piece_type(bytes_of(f, whole ? count : 1)), &part, 1)
            ->extra = number > 0 || e > 0;
    }
}

static bool find_operand(const decoder *d, sim_operand *operand)
{
    static const choice names[] = {
        {"a", SIM_MATRIX_A}, {"b", SIM_MATRIX_B}, {"c", SIM_MATRIX_C}, {"d", SIM_MATRIX_D}, {0}};
    int found = decode_choice(d, names, -1);
    *operand = (sim_operand)found;
    return found >= 0;
}

/* Decodes wmma.load.{a,b,c}.sync.aligned.LAYOUT.SHAPE{.space}.TYPE r, [p]{, stride}, wmma.store. */
static at_status decode_fragment(decoder *d)
{
    bool stores = decode_has(d, "store"), rows = decode_has(d, "row");
    layout f = {.bits = 0};
    int32_t found[4];
    int count = 0;
    if (find_elements(d, found) != 1 || !find_shape(d, &f.x) || !find_operand(d, &f.operand) ||
        rows == decode_has(d, "col"))
        return decode_unknown(d);
    decode_count(d, 2, 3);
    f.x.elements[f.operand] = found[0];
    f.bits = sim_element_bits((sim_element)found[0]);
    f.lines_along = rows == (f.operand != SIM_MATRIX_B);
    if (f.bits < 8 && !f.lines_along)
        return decode_unknown(d);
    const ptx_operand *registers = registers_of(d, decode_operand(d, stores ? 1 : 0), &count);
    int32_t least = sim_matrix_least(&f.x, f.operand);
    if (d->status || least == 0 || count % least)
        return decode_unknown(d);
    int32_t row_length = f.operand == SIM_MATRIX_A ? f.x.k : f.x.n,
            column_length = f.operand == SIM_MATRIX_B ? f.x.k : f.x.m;
    f.stride = wide_constant(d, (uint64_t)(rows ? row_length : column_length));
    f.at = decode_address(d, decode_operand(d, stores ? 0 : 1), decode_space(d));
    decode_alignment(d, &f.at, WMMA_ALIGNMENT, UINT32_MAX);
    /* Registers are written after all loads, because they may include the address. */
    prepare(d, &f, d->statement->count > 2 ? decode_operand(d, 2) : NULL);
    const uint32_t width = f.bits == 64 ? 8 : 4;
    int32_t loaded[SIM_MATRIX_REGISTERS];
    for (int i = 0; i < least && !d->status; i++) {
        if (stores) {
            store_register(d, &f, i, decode_source(d, &registers[i], width, PTX_B32));
            continue;
        }
        loaded[i] = decode_new_slot(d, width);
        load_register(d, &f, i, loaded[i]);
    }
    for (int i = 0; i < count && !stores && !d->status; i++) {
        destination to = decode_destination(d, &registers[i], width);
        decode_compute(d, width == 8 ? "mov.b64" : "mov.b32", to.slot, &loaded[i % least], 1)
            ->extra = true;
        decode_finish(d, &to, false);
    }
    return d->status;
}

at_status decode_wmma(decoder *d)
{
    return decode_has(d, "mma") ? decode_multiply(d) : decode_fragment(d);
}

/* Decodes wgmma.fence, wgmma.commit_group and wgmma.wait_group n. */
static at_status decode_order(decoder *d, sim_kind kind)
{
    int64_t left = 0;
    if (kind == SIM_WARPGROUP_WAIT)
        left = decode_groups(d);
    else
        decode_count(d, 0, 0);
    decode_emit(d, kind, SIM_CLASS_CONTROL)->offset = left;
    return d->status;
}

static bool group_multiplies(const sim_matrix *x)
{
    const int32_t *e = x->elements, d = e[SIM_MATRIX_D], a = e[SIM_MATRIX_A], b = e[SIM_MATRIX_B];
    if ((uint32_t)x->k * sim_element_bits((sim_element)a) !=
        8 * SIM_WARPGROUP_BYTES * (x->sparse ? 2u : 1u))
        return false;
    switch (a) {
    case SIM_ELEMENT_F16:
        return b == a && (d == SIM_ELEMENT_F32 || d == SIM_ELEMENT_F16);
    case SIM_ELEMENT_BF16:
    case SIM_ELEMENT_TF32:
        return b == a && d == SIM_ELEMENT_F32;
    case SIM_ELEMENT_E4M3:
    case SIM_ELEMENT_E5M2:
        return (b == SIM_ELEMENT_E4M3 || b == SIM_ELEMENT_E5M2) &&
               (d == SIM_ELEMENT_F32 || d == SIM_ELEMENT_F16);
    case SIM_ELEMENT_S8:
    case SIM_ELEMENT_U8:
        return (b == SIM_ELEMENT_S8 || b == SIM_ELEMENT_U8) && d == SIM_ELEMENT_S32;
    default:
        return a == SIM_ELEMENT_B1 && b == a && d == SIM_ELEMENT_S32 && !x->sparse;
    }
}

static bool find_group_shape(const decoder *d, sim_matrix *x)
{
    char more;
    for (int i = 0; i < d->op.count; i++)
        if (sscanf(d->op.modifiers[i], "m64n%dk%d%c", &x->n, &x->k, &more) == 2)
            return x->n > 0 && x->n <= SIM_WARPGROUP_COLUMNS && x->n % 8 == 0;
    return false;
}

/* Reads the immediate operand `number`: 0 or `other`, or 1 or -1 if `other` is -1. Returns false
 * for any other operand. */
static bool find_flag(const decoder *d, int number, int64_t other, bool *is_other)
{
    const ptx_operand *o = decode_operand(d, number);
    const int64_t v = (int64_t)o->bits;
    *is_other = v == other;
    return o->kind == PTX_OPERAND_INTEGER && (v == other || v == (other < 0 ? 1 : 0));
}

/* Reads the signs of float products (scale-a, scale-b), then whether a and b are transposed. */
static bool find_flags(const decoder *d, sim_warpgroup_product *x, bool a_is_shared)
{
    const int32_t a = x->part.elements[SIM_MATRIX_A];
    const bool floats = x->part.elements[SIM_MATRIX_D] != SIM_ELEMENT_S32,
               turns = a == SIM_ELEMENT_F16 || a == SIM_ELEMENT_BF16;
    bool negates[2] = {false, false}, turned = false;
    int at = x->part.sparse ? 6 : 4;
    for (int i = 0; floats && i < 2; i++)
        if (!find_flag(d, at++, -1, &negates[i]))
            return false;
    x->negated = negates[0] != negates[1];
    for (int i = a_is_shared ? 0 : 1; turns && i < 2; i++) {
        if (!find_flag(d, at++, 1, &turned))
            return false;
        x->turned[i] = turned;
    }
    return d->statement->count == at;
}

/* Finds the slots of a vector of 32-bit registers. No other operand is possible: the accumulators
 * stay in these registers. */
static bool find_registers(decoder *d, const ptx_operand *o, int count, int32_t *slots)
{
    if (o->kind != PTX_OPERAND_VECTOR || o->count != count)
        return false;
    for (int i = 0; i < count; i++) {
        const ptx_operand *one = decode_part(d, o, i);
        if (one->kind != PTX_OPERAND_REGISTER || one->selector.length > 0 ||
            decode_register_width(d, one) != 4)
            return false;
        slots[i] = decode_register_slot(d, one);
    }
    return true;
}

static bool find_selector(const decoder *d, sim_matrix *x)
{
    const ptx_operand *o = decode_operand(d, 4);
    x->selector = (int32_t)(o->bits & 3);
    return o->kind == PTX_OPERAND_INTEGER && o->bits < (uint64_t)sim_matrix_selectors(x);
}

/* Decodes wgmma.mma_async{.sp}.sync.aligned.SHAPE{.satfinite}.D.A.B{.and.popc} d, a, b, {metadata,
 * selector,} scale-d, flags. */
static at_status decode_product(decoder *d)
{
    sim_warpgroup_product x = {
        .part = {.m = SIM_WARPGROUP_ROWS, .sparse = decode_has(d, "sp") ? SIM_SPARSE : SIM_DENSE}};
    int32_t slots[2 * SIM_WARPGROUP_COLUMNS];
    if (find_elements(d, x.part.elements) != 3 || !find_group_shape(d, &x.part) ||
        !group_multiplies(&x.part) ||
        decode_has(d, "popc") != (x.part.elements[SIM_MATRIX_A] == SIM_ELEMENT_B1) ||
        decode_has(d, "and") != decode_has(d, "popc"))
        return decode_unknown(d);
    const ptx_operand *a = decode_operand(d, 1);
    const bool a_is_shared = a->kind == PTX_OPERAND_REGISTER;
    const int of_d = sim_matrix_least(&x.part, SIM_MATRIX_D),
              of_a = a_is_shared ? 0 : sim_matrix_least(&x.part, SIM_MATRIX_A);
    x.part.registers[SIM_MATRIX_D] = of_d;
    x.part.registers[SIM_MATRIX_A] = of_a;
    if (!find_flags(d, &x, a_is_shared) || (x.part.sparse && !find_selector(d, &x.part)) ||
        !find_registers(d, decode_operand(d, 0), of_d, slots) ||
        (!a_is_shared && !find_registers(d, a, of_a, slots + of_d)))
        return decode_unknown(d);
    int32_t of_a_at = SIM_NO_SLOT;
    if (a_is_shared)
        of_a_at = decode_source(d, a, 8, PTX_B64);
    const int32_t of_b_at = decode_source(d, decode_operand(d, 2), 8, PTX_B64),
                  keeps = decode_predicate(d, decode_operand(d, x.part.sparse ? 5 : 3), false);
    const int32_t metadata =
        x.part.sparse ? decode_source(d, decode_operand(d, 3), 4, PTX_B32) : SIM_NO_SLOT;
    sim_instruction *c =
        decode_emit(d, SIM_WARPGROUP_PRODUCT, class_of(x.part.elements[SIM_MATRIX_A]));
    c->a = of_a_at;
    c->b = of_b_at;
    c->c = keeps;
    c->e = metadata;
    c->saturate = decode_has(d, "satfinite");
    c->list = (int32_t)d->program->list_count;
    decode_lists(d, (const int32_t *)(const void *)&x, sizeof x / sizeof(int32_t));
    decode_lists(d, slots, (size_t)(of_d + of_a));
    return d->status;
}

at_status decode_wgmma(decoder *d)
{
    static const sim_cost product = SIM_COST(MATRIX, 1);
    if (decode_has(d, "mma_async")) {
        d->cost = &product;
        return decode_product(d);
    }
    return decode_has(d, "fence")          ? decode_order(d, SIM_WARPGROUP_FENCE)
           : decode_has(d, "commit_group") ? decode_order(d, SIM_WARPGROUP_COMMIT)
           : decode_has(d, "wait_group")   ? decode_order(d, SIM_WARPGROUP_WAIT)
                                           : decode_unknown(d);
}
