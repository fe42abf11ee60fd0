/* Products of matrices by a warp, and how their fragments come from memory and go there. PTX ISA,
 * "Warp Level Matrix Multiply-Accumulate Instructions".
 *
 * ldmatrix, stmatrix, movmatrix and wmma's loads and stores are made of what there is: an address
 * goes from the lane that has it to those that use it by a shuffle, and each lane loads or stores
 * what it holds of the matrix. So races and missing values are found as everywhere. */
#include <stdio.h>
#include <string.h>

#include "sim/decode/decoder.h"
#include "sim/program/matrix.h"

enum { ROW_BYTES = 16, WMMA_ALIGNMENT = 32 };

static int32_t constant(decoder *d, uint32_t v)
{
    return decode_constant(d, v, 4);
}

static int32_t step(decoder *d, const char *name, int32_t a, int32_t b)
{
    return decode_step(d, name, (int32_t[]){a, b}, 2);
}

static int32_t lane_slot(decoder *d)
{
    static const ptx_operand lane = {.kind = PTX_OPERAND_SPECIAL, .text = {"%laneid", 7}};
    return decode_source(d, &lane, 4, PTX_U32);
}

/* Shuffles 32 bits, from the lane that `from` names. */
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

/* An address, of 64 bits afterwards. */
static int32_t shuffle_address(decoder *d, const place *at, int32_t from)
{
    if (at->width == 4)
        return decode_step(d, "extend.u", (int32_t[]){shuffle(d, at->slot, from)}, 1);
    int32_t parts[2];
    for (uint32_t i = 0; i < 2; i++)
        parts[i] = shuffle(d, step(d, "field.8.4", at->slot, constant(d, 32 * i)), from);
    return step(d, "pack.2x32", parts[0], parts[1]);
}

/* The registers of an operand, a vector or one. */
static const ptx_operand *registers_of(decoder *d, const ptx_operand *o, int *count)
{
    *count = o->kind == PTX_OPERAND_VECTOR ? (int)o->count : 1;
    if (*count > SIM_MATRIX_REGISTERS)
        decode_fail(d, "%d registers of a fragment", *count);
    return o->kind == PTX_OPERAND_VECTOR ? decode_part(d, o, 0) : o;
}

/* Turns a lane's part of an 8 x 8 matrix of 16 bits, two of a row, into its part of the transposed
 * one. */
static int32_t transpose(decoder *d, int32_t value)
{
    int32_t lane = lane_slot(d), row = step(d, "shr.u32", lane, constant(d, 2));
    int32_t odd = step(d, "and.b32", row, constant(d, 1));
    int32_t from = step(d, "shl.b32", step(d, "and.b32", lane, constant(d, 3)), constant(d, 3));
    from = step(d, "add.u32", from, step(d, "shr.u32", row, constant(d, 1)));
    int32_t next = step(d, "add.u32", from, constant(d, 4));
    int32_t low = shuffle(d, value, from), high = shuffle(d, value, next);
    int32_t halves =
        decode_step(d, "mad.lo.u32", (int32_t[]){odd, constant(d, 0x2222), constant(d, 0x5410)}, 3);
    return decode_step(d, "prmt.b32", (int32_t[]){low, high, halves}, 3);
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a */
at_status decode_move(decoder *d)
{
    if (!decode_has(d, "m8n8") || !decode_has(d, "trans") || !decode_has(d, "b16"))
        return decode_unknown(d);
    int32_t moved = transpose(d, decode_source(d, decode_operand(d, 1), 4, PTX_B32));
    destination to = decode_destination(d, decode_operand(d, 0), 4);
    decode_compute(d, "mov.b32", to.slot, &moved, 1)->count_class = SIM_CLASS_WARP;
    return decode_finish(d, &to, false);
}

/* ldmatrix.sync.aligned.m8n8.x{1,2,4}{.trans}{.shared}.b16 r, [p]; stmatrix with [p], r. Lane i has
 * the address of a row of matrix i / 8. */
at_status decode_rows(decoder *d)
{
    bool stores = strcmp(d->op.name, "stmatrix") == 0, turned = decode_has(d, "trans");
    static const choice counts[] = {{"x1", 1}, {"x2", 2}, {"x4", 4}, {0}};
    int matrices = decode_choice(d, counts, 0), count = 0;
    ptx_space space = decode_space(d);
    if (!decode_has(d, "m8n8") || !decode_has(d, "b16") || matrices == 0 ||
        (space != PTX_SPACE_SHARED && space != PTX_SPACE_GENERIC))
        return decode_unknown(d);
    place at = decode_address(d, decode_operand(d, stores ? 0 : 1), space);
    const ptx_operand *registers = registers_of(d, decode_operand(d, stores ? 1 : 0), &count);
    if (count != matrices)
        decode_fail(d, "a vector of %d registers is needed", matrices);
    decode_alignment(d, &at, ROW_BYTES, matrices == 4 ? UINT32_MAX : (1u << 8 * matrices) - 1);
    int32_t lane = lane_slot(d), row = step(d, "shr.u32", lane, constant(d, 2));
    int32_t along = step(d, "shl.b32", step(d, "and.b32", lane, constant(d, 3)), constant(d, 2));
    int32_t addresses[4], values[4], wide = decode_step(d, "extend.u", &along, 1);
    for (int i = 0; i < matrices; i++)
        addresses[i] = step(
            d, "add.u64",
            shuffle_address(d, &at, step(d, "add.u32", row, constant(d, 8 * (uint32_t)i))), wide);
    for (int i = 0; stores && i < matrices; i++) {
        values[i] = decode_source(d, &registers[i], 4, PTX_B32);
        values[i] = turned ? transpose(d, values[i]) : values[i];
    }
    for (int i = 0; i < matrices; i++) {
        const place piece = {addresses[i], 8, at.offset, at.space, at.object};
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

/* The modifier "m16n8k16". */
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

int decode_elements(const decoder *d, int32_t found[4])
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

/* Do such operands go together? */
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

sim_class decode_matrix_class(int32_t element)
{
    return element == SIM_ELEMENT_F64    ? SIM_CLASS_DOUBLE
           : element == SIM_ELEMENT_TF32 ? SIM_CLASS_FLOAT
           : is_integer(element)         ? SIM_CLASS_INTEGER
                                         : SIM_CLASS_HALF;
}

/* Operands 4 and 5 of a sparse product: the slot of the metadata, and the selector. */
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

/* m8n8k4 of f16: four products, with a and b by rows or columns. */
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

/* mma.sync.aligned.SHAPE.row.col.D.A.B.C d, a, b, c; mma.sp with metadata and its selector, too;
 * wmma.mma with layouts, and of f16 with D.C alone; of bits with .xor.popc or .and.popc. */
at_status decode_multiply(decoder *d)
{
    static const char *const others[] = {"block_scale", "f8f6f4", "kind::f8f6f4", "rz", "rm", "rp"};
    sim_matrix x = {.sparse = decode_has(d, "sp::ordered_metadata") ? SIM_SPARSE_ORDERED
                              : decode_has(d, "sp")                 ? SIM_SPARSE
                                                                    : SIM_DENSE,
                    .exclusive = decode_has(d, "xor")};
    int found = decode_elements(d, x.elements);
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
    sim_instruction *c = decode_emit(d, SIM_MATRIX, decode_matrix_class(x.elements[SIM_MATRIX_A]));
    c->saturate = decode_has(d, "satfinite");
    c->e = metadata;
    c->list = (int32_t)d->program->list_count;
    decode_lists(d, (const int32_t *)(const void *)&x, sizeof x / sizeof(int32_t));
    decode_lists(d, slots, (size_t)n);
    for (int i = 0; i < x.registers[SIM_MATRIX_D]; i++)
        decode_finish(d, &to[i], false);
    return d->status;
}

/* A fragment in memory: `stride` elements lie between lines, which go along a lane's elements or
 * across. */
typedef struct layout {
    sim_matrix x;
    sim_operand operand;
    place at;
    int32_t stride; /* of 64 bits, as are the next two */
    int32_t lane;   /* where the lane's first element is, in elements */
    bool lines_along;
    uint32_t bits; /* of an element; below 8 its lines go along */
} layout;

/* Bytes of so many elements. */
static uint32_t bytes_of(const layout *f, int32_t elements)
{
    return (uint32_t)elements * f->bits / 8;
}

static int32_t wide_constant(decoder *d, uint64_t v)
{
    return decode_constant(d, v, 8);
}

/* The address of what lies so far from the fragment's first element. */
static place piece_at(decoder *d, const layout *f, int32_t across, int32_t along)
{
    int32_t lines = f->lines_along ? across : along, within = f->lines_along ? along : across;
    int32_t far = decode_step(
        d, "mad.lo.u64", (int32_t[]){f->stride, wide_constant(d, (uint64_t)lines), f->lane}, 3);
    const uint32_t whole = f->bits < 8 ? 8 / f->bits : 1, bytes = f->bits < 8 ? 1 : f->bits / 8;
    if (whole > 1)
        far = step(d, "shr.u64", far, constant(d, (uint32_t)__builtin_ctz(whole)));
    int32_t at =
        decode_step(d, "mad.lo.u64", (int32_t[]){far, wide_constant(d, bytes), f->at.slot}, 3);
    return (place){at, 8, f->at.offset + bytes_of(f, within), f->at.space, f->at.object};
}

static void prepare(decoder *d, layout *f, const ptx_operand *stride)
{
    const uint32_t of_lane = f->operand == SIM_MATRIX_C || f->operand == SIM_MATRIX_D
                                 ? 2
                                 : (uint32_t)sim_matrix_elements(&f->x, f->operand);
    int32_t lane = lane_slot(d), across = step(d, "shr.u32", lane, constant(d, 2));
    int32_t along =
        step(d, "mul.lo.u32", step(d, "and.b32", lane, constant(d, 3)), constant(d, of_lane));
    int32_t parts[2] = {decode_step(d, "extend.u", &across, 1),
                        decode_step(d, "extend.u", &along, 1)};
    if (stride)
        f->stride = decode_source(d, stride, 8, PTX_U32);
    f->lane = decode_step(
        d, "mad.lo.u64",
        (int32_t[]){parts[f->lines_along ? 0 : 1], f->stride, parts[f->lines_along ? 1 : 0]}, 3);
    if (f->at.width == 4)
        f->at.slot = decode_step(d, "extend.u", &f->at.slot, 1);
    f->at.width = 8;
}

static ptx_type piece_type(uint32_t bytes)
{
    return bytes == 1 ? PTX_B8 : bytes == 2 ? PTX_B16 : bytes == 4 ? PTX_B32 : PTX_B64;
}

/* A register of the fragment, loaded as a whole or element by element. */
static void load_register(decoder *d, const layout *f, int32_t number, int32_t to)
{
    const sim_fragment first = sim_matrix_fragment(&f->x, f->operand, number);
    int count = sim_matrix_elements(&f->x, f->operand);
    if (f->lines_along || count == 1) {
        place at = piece_at(d, f, first.across, first.along);
        decode_access(d, SIM_LOAD, &at, piece_type(bytes_of(f, count)), &to, 1)->extra = number > 0;
        return;
    }
    int32_t parts[4];
    for (int e = 0; e < count; e++) {
        place at = piece_at(d, f, first.across, first.along + e);
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
        place at = piece_at(d, f, first.across, first.along + e);
        int32_t part = whole ? from : step(d, "field.4.2", from, constant(d, 16 * (uint32_t)e));
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

/* wmma.load.{a,b,c}.sync.aligned.LAYOUT.SHAPE{.space}.TYPE r, [p]{, stride}; wmma.store.d with
 * [p], r. */
static at_status decode_fragment(decoder *d)
{
    bool stores = decode_has(d, "store"), rows = decode_has(d, "row");
    layout f = {.bits = 0};
    int32_t found[4];
    int count = 0;
    if (decode_elements(d, found) != 1 || !find_shape(d, &f.x) || !find_operand(d, &f.operand) ||
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
    /* Registers that are loaded may be those of the address: they are filled at the end. */
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
