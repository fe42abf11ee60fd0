/* Arithmetic, moves, conversions, comparisons and selections. */
#include <stdio.h>
#include <string.h>

#include "sim/decode/decoder.h"

static bool is_short_float(ptx_type t)
{
    return t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2;
}

/* Returns the operand types that .ftz flushes. */
static uint8_t flush_of(const decoder *d, ptx_type type)
{
    if (!decode_has(d, "ftz") || (type != PTX_F32 && !is_short_float(type)))
        return SIM_FLUSH_NOTHING;
    bool is_brain = type == PTX_BF16 || type == PTX_BF16X2;
    return type == PTX_F32 ? SIM_FLUSH_FLOATS : is_brain ? SIM_FLUSH_BFLOATS : SIM_FLUSH_HALVES;
}

/* Returns how .ftz finds a tiny result. After the listed operations, .ftz flushes a result that was
 * below the smallest normal number before rounding. */
static uint8_t tiny_of(const decoder *d)
{
    static const struct {
        const char *name;
        sim_tiny tiny;
    } rows[] = {{"mul", SIM_TINY_PRODUCT},
                {"fma", SIM_TINY_SUM},
                {"mad", SIM_TINY_SUM},
                {"div", SIM_TINY_QUOTIENT},
                {"rcp", SIM_TINY_RECIPROCAL}};
    const bool is_directed = decode_has(d, "rz") || decode_has(d, "rm") || decode_has(d, "rp");
    if (decode_has(d, "approx") || decode_has(d, "full"))
        return SIM_TINY_NEVER;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(d->op.name, rows[i].name) == 0)
            return (uint8_t)(rows[i].tiny | (is_directed ? SIM_TINY_DIRECTED : 0));
    return SIM_TINY_NEVER;
}

/* Writes the opcode without the modifiers that do not change the operation. Rounding to nearest is
 * the default. CUDA's headers write .relu after the type, the ISA writes it before the type. */
static void canonical_name(const decoder *d, ptx_type type, char *name, size_t size)
{
    const bool is_last = d->op.count > 1 && strcmp(d->op.modifiers[d->op.count - 1], "relu") == 0;
    size_t n = (size_t)snprintf(name, size, "%s%s", d->op.name, is_last ? ".relu" : "");
    for (int i = 0; i < d->op.count - is_last && n < size; i++) {
        const char *m = d->op.modifiers[i];
        bool dropped = strcmp(m, "rn") == 0 ||
                       (strcmp(m, "ftz") == 0 && type != PTX_F64 && type != PTX_F32X2) ||
                       (strcmp(m, "sat") == 0 && (type == PTX_F32 || type == PTX_F64));
        if (!dropped)
            n += (size_t)snprintf(name + n, size - n, ".%s", m);
    }
}

static const char *const logic_names[] = {[SIM_LOGIC_AND] = "and",
                                          [SIM_LOGIC_OR] = "or",
                                          [SIM_LOGIC_XOR] = "xor",
                                          [SIM_LOGIC_NOT] = "not",
                                          [SIM_LOGIC_MOVE] = "mov"};

/* Decodes and.pred, or.pred, xor.pred, not.pred and mov.pred. */
static at_status decode_logic(decoder *d)
{
    int op = -1;
    for (int i = 0; i <= SIM_LOGIC_MOVE; i++)
        if (strcmp(d->op.name, logic_names[i]) == 0)
            op = i;
    if (op < 0)
        return decode_unknown(d);
    /* An operation costs less than one instruction, because ptxas often joins two operations. */
    static const sim_cost binary = SIM_COST(INTEGER, 0.6f);
    bool unary = op >= SIM_LOGIC_NOT;
    d->cost = unary ? d->cost : &binary;
    decode_count(d, unary ? 2 : 3, unary ? 2 : 3);
    int32_t to = decode_predicate(d, decode_operand(d, 0), true);
    /* %is_explicit_cluster can be read as a predicate, because all its bits are equal. */
    const ptx_operand *first = decode_operand(d, 1);
    int32_t a = first->kind == PTX_OPERAND_SPECIAL ? decode_source(d, first, 4, PTX_B32)
                                                   : decode_predicate(d, first, false);
    int32_t b = unary ? a : decode_predicate(d, decode_operand(d, 2), false);
    sim_instruction *c = decode_emit(d, SIM_LOGIC, SIM_CLASS_PREDICATE);
    c->op = (uint8_t)op;
    c->d = to;
    c->a = a;
    c->b = b;
    c->negate_a = first->negated;
    c->negate_b = !unary && decode_operand(d, 2)->negated;
    return d->status;
}

at_status decode_arithmetic(decoder *d)
{
    if (d->op.type_count == 0)
        return decode_unknown(d);
    ptx_type type = d->op.types[d->op.type_count - 1];
    if (type == PTX_PRED)
        return decode_logic(d);
    char name[OPCODE_BYTES];
    canonical_name(d, type, name, sizeof name);
    const sim_operation *op = sim_operation_find(name);
    if (!op || strchr(name, '.') == NULL)
        return decode_unknown(d);
    decode_count(d, op->sources + 1, op->sources + 1);
    int32_t sources[4];
    for (int i = 0; i < op->sources; i++)
        sources[i] = decode_source(d, decode_operand(d, i + 1), op->widths[i], type);
    destination to = decode_destination(d, decode_operand(d, 0), op->width);
    sim_instruction *c = decode_compute(d, name, to.slot, sources, op->sources);
    c->flush = flush_of(d, type);
    c->op = c->flush ? tiny_of(d) : SIM_TINY_NEVER;
    c->saturate = decode_has(d, "sat") && type == PTX_F32;
    c->rule = c->saturate ? RULE_NUMBERS : c->rule;
    return decode_finish(d, &to, type_is_signed(type));
}

/* Decodes mov.b64 %rd, {%r1, %r2}. */
static at_status decode_pack(decoder *d, const ptx_operand *parts, uint32_t bytes)
{
    static const struct {
        uint32_t bytes;
        int count;
        const char *name;
    } packs[] = {{2, 2, "pack.2x8"},
                 {4, 2, "pack.2x16"},
                 {4, 4, "pack.4x8"},
                 {8, 2, "pack.2x32"},
                 {8, 4, "pack.4x16"}};
    for (size_t k = 0; k < sizeof packs / sizeof *packs; k++) {
        if (packs[k].bytes != bytes || packs[k].count != parts->count)
            continue;
        int32_t sources[4];
        for (int i = 0; i < parts->count; i++)
            sources[i] = decode_source(d, decode_part(d, parts, i), 4, PTX_B32);
        destination to = decode_destination(d, decode_operand(d, 0), bytes < 4 ? 4 : bytes);
        decode_compute(d, packs[k].name, to.slot, sources, parts->count);
        return decode_finish(d, &to, false);
    }
    return decode_fail(d, "this way to pack registers is not supported");
}

/* Decodes mov.b64 {%r1, %r2}, %rd. */
static at_status decode_unpack(decoder *d, const ptx_operand *parts, uint32_t bytes)
{
    uint32_t part = parts->count > 0 ? bytes / (uint32_t)parts->count : 0;
    char name[32];
    snprintf(name, sizeof name, "field.%u.%u", bytes, part);
    if (part * (uint32_t)parts->count != bytes || !sim_operation_find(name))
        return decode_fail(d, "this way to unpack a register is not supported");
    int32_t from[2] = {decode_source(d, decode_operand(d, 1), bytes < 4 ? 4 : bytes, PTX_B64)};
    for (int i = 0; i < parts->count; i++) {
        from[1] = decode_constant(d, (uint64_t)part * 8 * (uint64_t)i, 4);
        destination to = decode_destination(d, decode_part(d, parts, i), 4);
        decode_compute(d, name, to.slot, from, 2)->extra = i > 0;
        decode_finish(d, &to, false);
    }
    return d->status;
}

/* Decodes mov.b128 %q, %p, mov.b128 %q, {%rd1, %rd2} and mov.b128 {%rd1, %rd2}, %q. */
static at_status decode_wide_mov(decoder *d, const ptx_operand *to, const ptx_operand *from)
{
    const bool packs = from->kind == PTX_OPERAND_VECTOR, unpacks = to->kind == PTX_OPERAND_VECTOR;
    if ((packs && (from->count != 2 || unpacks)) || (unpacks && to->count != 2))
        return decode_fail(d, "the operand must be a vector of 2 registers");
    int32_t read = packs ? SIM_NO_SLOT : decode_wide(d, from, false), read_of[2];
    for (int i = 0; i < 2; i++)
        read_of[i] = packs ? decode_source(d, decode_part(d, from, i), 8, PTX_B64)
                           : read + i * SIM_HIGH_HALF;
    const int32_t written = unpacks ? SIM_NO_SLOT : decode_wide(d, to, true);
    for (int i = 0; i < 2; i++) {
        destination half = {written + i * SIM_HIGH_HALF, SIM_NO_SLOT, 8};
        if (unpacks)
            half = decode_destination(d, decode_part(d, to, i), 8);
        decode_compute(d, "mov.b64", half.slot, &read_of[i], 1)->extra = i > 0;
        decode_finish(d, &half, false);
    }
    return d->status;
}

at_status decode_mov(decoder *d)
{
    ptx_type type = d->op.types[0];
    if (type == PTX_PRED)
        return decode_logic(d);
    const ptx_operand *to = decode_operand(d, 0), *from = decode_operand(d, 1);
    if (type == PTX_B128)
        return decode_wide_mov(d, to, from);
    if (from->kind == PTX_OPERAND_VECTOR)
        return decode_pack(d, from, ptx_type_bytes(type));
    if (to->kind == PTX_OPERAND_VECTOR)
        return decode_unpack(d, to, ptx_type_bytes(type));
    return decode_arithmetic(d);
}

static sim_rounding rounding_of(const decoder *d)
{
    static const choice roundings[] = {
        {"rn", SIM_ROUND_NEAREST},       {"rz", SIM_ROUND_ZERO},
        {"rm", SIM_ROUND_DOWN},          {"rp", SIM_ROUND_UP},
        {"rna", SIM_ROUND_AWAY},         {"rni", SIM_ROUND_INTEGER_NEAREST},
        {"rzi", SIM_ROUND_INTEGER_ZERO}, {"rmi", SIM_ROUND_INTEGER_DOWN},
        {"rpi", SIM_ROUND_INTEGER_UP},   {0}};
    return (sim_rounding)decode_choice(d, roundings, SIM_ROUND_NONE);
}

static sim_instruction *emit_convert(decoder *d, ptx_type to, ptx_type from, int32_t result,
                                     int32_t source)
{
    sim_instruction *c = decode_emit(d, SIM_CONVERT, SIM_CLASS_CONVERT);
    c->type = (uint8_t)to;
    c->source_type = (uint8_t)from;
    c->op = (uint8_t)rounding_of(d);
    c->flush = decode_has(d, "ftz") &&
               !is_short_float(to); /* an H100 does not flush floats that are converted to halves */
    c->saturate = decode_has(d, "sat");
    c->finite = decode_has(d, "satfinite");
    c->relu = decode_has(d, "relu");
    c->width = (uint8_t)type_lane_bytes(to);
    c->d = result;
    c->a = source;
    return c;
}

static bool is_packed(ptx_type t)
{
    return t == PTX_F16X2 || t == PTX_BF16X2 || t == PTX_E4M3X2 || t == PTX_E5M2X2;
}

/* Decodes cvt.TYPEx2.f32 d, high, low and cvt.TYPEx2.TYPEx2 d, a, element by element. */
static at_status decode_packed_cvt(decoder *d, ptx_type to, ptx_type from)
{
    bool unpacks = is_packed(from);
    ptx_type element = to == PTX_F16X2 ? PTX_F16 : to == PTX_BF16X2 ? PTX_BF16 : to;
    ptx_type source_element = from == PTX_F16X2 ? PTX_F16 : from;
    bool bytes = to == PTX_E4M3X2 || to == PTX_E5M2X2;
    if (!is_packed(to) || !sim_conversion_exists(element, source_element) ||
        (!unpacks && from != PTX_F32))
        return decode_unknown(d);
    decode_count(d, unpacks ? 2 : 3, unpacks ? 2 : 3);
    int32_t parts[4] = {decode_constant(d, 0, 4)};
    parts[2] = parts[3] = parts[0];
    for (int i = 0; i < 2; i++) {
        int32_t source = decode_source(d, decode_operand(d, unpacks ? 1 : 2 - i), 4, from);
        uint32_t width = ptx_type_bytes(from) / 2;
        if (unpacks)
            source =
                decode_step(d, width == 2 ? "field.4.2" : "field.4.1",
                            (int32_t[]){source, decode_constant(d, 8 * width * (uint32_t)i, 4)}, 2);
        parts[i] = decode_new_slot(d, 4);
        emit_convert(d, element, source_element, parts[i], source)->extra = true;
    }
    destination slot = decode_destination(d, decode_operand(d, 0), 4);
    decode_compute(d, bytes ? "pack.4x8" : "pack.2x16", slot.slot, parts, bytes ? 4 : 2)
        ->count_class = SIM_CLASS_CONVERT;
    return decode_finish(d, &slot, false);
}

/* Returns the cost of a conversion. Of the conversions between integers, only sign extension to 64
 * bits takes an instruction. */
static const sim_cost *conversion_cost(const opcode *op)
{
    static const sim_cost special = SIM_COST(SPECIAL, 1), integer = SIM_COST(INTEGER, 1),
                          none = SIM_COST(INTEGER, 0);
    bool is_float = false, is_special = false;
    for (int i = 0; i < op->type_count; i++) {
        const ptx_type t = op->types[i];
        is_float = is_float || t == PTX_F64 || t == PTX_F32 || t == PTX_F16 || t == PTX_F16X2;
        is_special = is_special || t == PTX_F16 || t == PTX_F16X2 || ptx_type_bytes(t) == 8;
    }
    const bool widens =
        op->type_count == 2 && op->types[0] == PTX_S64 && type_is_signed(op->types[1]);
    return is_float && is_special ? &special : is_float || widens ? &integer : &none;
}

at_status decode_cvt(decoder *d)
{
    d->cost = conversion_cost(&d->op);
    if (decode_has(d, "pack"))
        return decode_arithmetic(d);
    if (d->op.type_count != 2)
        return decode_unknown(d);
    ptx_type to = d->op.types[0], from = d->op.types[1];
    if (is_short_float(to) && is_packed(to) && from == PTX_F32 && !decode_has(d, "relu") &&
        !decode_has(d, "rz") && !decode_has(d, "satfinite"))
        return decode_arithmetic(d);
    if (is_packed(to) || is_packed(from))
        return decode_packed_cvt(d, to, from);
    if (!sim_conversion_exists(to, from))
        return decode_unknown(d);
    decode_count(d, 2, 2);
    int32_t source = decode_source(d, decode_operand(d, 1), type_lane_bytes(from), from);
    destination slot = decode_destination(d, decode_operand(d, 0), type_lane_bytes(to));
    emit_convert(d, to, from, slot.slot, source);
    return decode_finish(d, &slot, type_is_signed(to));
}

at_status decode_cvta(decoder *d)
{
    static const struct {
        const char *space;
        uint64_t window;
    } spaces[] = {{"global", 0},
                  {"const", 0},
                  {"shared", SIM_SHARED_WINDOW},
                  {"shared::cta", SIM_SHARED_WINDOW},
                  {"shared::cluster", SIM_SHARED_WINDOW},
                  {"local", SIM_LOCAL_WINDOW},
                  {"param", SIM_PARAM_WINDOW},
                  {"param::entry", SIM_PARAM_WINDOW}};
    decode_count(d, 2, 2);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (!decode_has(d, spaces[i].space))
            continue;
        int32_t from[2] = {decode_source(d, decode_operand(d, 1), 8, PTX_U64),
                           decode_constant(d, spaces[i].window, 8)};
        destination to = decode_destination(d, decode_operand(d, 0), 8);
        decode_compute(d, decode_has(d, "to") ? "space.sub" : "space.add", to.slot, from, 2);
        return decode_finish(d, &to, false);
    }
    return decode_unknown(d);
}

static ptx_type element_of(ptx_type type)
{
    return type == PTX_F16X2 ? PTX_F16 : type == PTX_BF16X2 ? PTX_BF16 : type;
}

sim_instruction *decode_compare(decoder *d, const char *comparison, ptx_type type, int32_t to,
                                int32_t a, int32_t b)
{
    sim_rule rule;
    sim_compare compare = sim_compare_find(comparison, element_of(type), &rule);
    if (!compare)
        decode_unknown(d);
    sim_instruction *c = decode_emit(d, SIM_COMPARE, SIM_CLASS_PREDICATE);
    c->compare = compare;
    c->rule = (uint8_t)rule;
    c->number = (uint8_t)sim_order_of(type);
    c->type = (uint8_t)type;
    c->flush = flush_of(d, type);
    c->d = to;
    c->a = a;
    c->b = b;
    return c;
}

sim_instruction *decode_select(decoder *d, const destination *to, int32_t a, int32_t b, int32_t p)
{
    sim_instruction *c = decode_emit(d, SIM_SELECT, SIM_CLASS_MOVE);
    c->d = to->slot;
    c->a = a;
    c->b = b;
    c->c = p;
    c->width = to->width;
    return c;
}

/* Combines a comparison with the predicate `third` (or SIM_NO_SLOT) by the opcode's logic. */
static sim_instruction *combine_with(decoder *d, sim_instruction *c, int32_t third)
{
    static const choice logics[] = {
        {"and", SIM_LOGIC_AND}, {"or", SIM_LOGIC_OR}, {"xor", SIM_LOGIC_XOR}, {0}};
    int combine = decode_choice(d, logics, -1);
    if ((third != SIM_NO_SLOT) != (combine >= 0))
        decode_unknown(d);
    c->c = third;
    c->negate_c = decode_operand(d, 3)->negated;
    c->op = (uint8_t)(combine >= 0 ? combine : 0);
    return c;
}

/* Decodes setp.CMP[.BOOL].TYPE p[|q], a, b[, c]. */
at_status decode_setp(decoder *d)
{
    if (d->op.count < 2)
        return decode_unknown(d);
    ptx_type type = d->op.types[0];
    uint32_t width = type_lane_bytes(type);
    /* For a packed type, q is the result of the high halves. */
    int32_t q, third = SIM_NO_SLOT;
    int32_t p = decode_predicate(d, decode_pair(d, decode_operand(d, 0), &q), true);
    int32_t a = decode_source(d, decode_operand(d, 1), width, type);
    int32_t b = decode_source(d, decode_operand(d, 2), width, type);
    if (d->statement->count == 4)
        third = decode_predicate(d, decode_operand(d, 3), false);
    combine_with(d, decode_compare(d, d->op.modifiers[0], type, p, a, b), third)->d2 = q;
    return d->status;
}

at_status decode_selp(decoder *d)
{
    ptx_type type = d->op.types[0];
    uint32_t width = type_lane_bytes(type);
    int32_t a = decode_source(d, decode_operand(d, 1), width, type);
    int32_t b = decode_source(d, decode_operand(d, 2), width, type);
    int32_t p = decode_predicate(d, decode_operand(d, 3), false);
    destination to = decode_destination(d, decode_operand(d, 0), width);
    decode_select(d, &to, a, b, p)->negate_c = decode_operand(d, 3)->negated;
    return decode_finish(d, &to, type_is_signed(type));
}

/* Returns the bits of a true result. For packed types, these are the bits of the low half. */
static uint64_t true_of(ptx_type type, bool packed)
{
    switch (packed && element_of(type) == type ? PTX_U16 : element_of(type)) {
    case PTX_F32:
        return 0x3f800000u;
    case PTX_F16:
        return 0x3c00u;
    case PTX_BF16:
        return 0x3f80u;
    case PTX_U16:
    case PTX_S16:
        return 0xffffu;
    default:
        return UINT32_MAX;
    }
}

/* Decodes set.CMP[.BOOL].DTYPE.STYPE d, a, b[, c]. A true result has all bits set, or is 1.0.
 * Halves of a packed type are compared separately. */
at_status decode_set(decoder *d)
{
    if (d->op.count < 3)
        return decode_unknown(d);
    ptx_type to = d->op.types[0], from = d->op.types[1];
    const bool packed = element_of(from) != from, is_mask = to == PTX_U32 || to == PTX_S32;
    if (type_lane_bytes(to) != 4 || (packed != (element_of(to) != to) && !(packed && is_mask)))
        return decode_unknown(d);
    int32_t p = decode_new_slot(d, 0), q = packed ? decode_new_slot(d, 0) : SIM_NO_SLOT,
            third = SIM_NO_SLOT;
    int32_t a = decode_source(d, decode_operand(d, 1), type_lane_bytes(from), from);
    int32_t b = decode_source(d, decode_operand(d, 2), type_lane_bytes(from), from);
    if (d->statement->count == 4)
        third = decode_predicate(d, decode_operand(d, 3), false);
    int32_t yes = decode_constant(d, true_of(to, packed), 4), no = decode_constant(d, 0, 4);
    int32_t yes_above = packed ? decode_constant(d, true_of(to, packed) << 16, 4) : SIM_NO_SLOT;
    destination slot = decode_destination(d, decode_operand(d, 0), 4);
    combine_with(d, decode_compare(d, d->op.modifiers[0], from, p, a, b), third)->d2 = q;
    decode_select(d, &slot, yes, no, p)->extra = true;
    if (packed) {
        const destination above = {decode_new_slot(d, 4), SIM_NO_SLOT, 4};
        decode_select(d, &above, yes_above, no, q)->extra = true;
        decode_compute(d, "or.b32", slot.slot, (int32_t[]){slot.slot, above.slot}, 2)->extra = true;
    }
    return decode_finish(d, &slot, false);
}

/* Decodes testp.CLASS.TYPE p, a. */
at_status decode_testp(decoder *d)
{
    char name[32];
    snprintf(name, sizeof name, "testp.%s", d->op.count == 2 ? d->op.modifiers[0] : "");
    int32_t p = decode_predicate(d, decode_operand(d, 0), true);
    int32_t a =
        decode_source(d, decode_operand(d, 1), type_lane_bytes(d->op.types[0]), d->op.types[0]);
    decode_compare(d, name, d->op.types[0], p, a, a);
    return d->status;
}

/* Decodes lop3.b32 d, a, b, c, table, and lop3.BOOL.b32 d|p, ..., table, q: p = (d != 0) BOOL q. */
at_status decode_lop3(decoder *d)
{
    if (d->op.count < 2)
        return decode_arithmetic(d);
    static const choice logics[] = {{"and", SIM_LOGIC_AND}, {"or", SIM_LOGIC_OR}, {0}};
    int combine = decode_choice(d, logics, -1);
    if (combine < 0 || d->op.types[0] != PTX_B32)
        return decode_unknown(d);
    int32_t p, sources[4];
    const ptx_operand *target = decode_pair(d, decode_operand(d, 0), &p);
    for (int i = 0; i < 4; i++)
        sources[i] = decode_source(d, decode_operand(d, i + 1), 4, PTX_B32);
    int32_t q = decode_predicate(d, decode_operand(d, 5), false);
    int32_t zero = decode_constant(d, 0, 4), found = decode_step(d, "lop3.b32", sources, 4);
    destination to = decode_destination(d, target, 4);
    if (p != SIM_NO_SLOT) {
        sim_instruction *c = decode_compare(d, "ne", PTX_U32, p, found, zero);
        c->op = (uint8_t)combine;
        c->c = q;
        c->negate_c = decode_operand(d, 5)->negated;
        c->extra = true;
    }
    decode_compute(d, "mov.b32", to.slot, &found, 1)->count_class = SIM_CLASS_INTEGER;
    return decode_finish(d, &to, false);
}

/* Decodes slct.DTYPE.{s32,f32} d, a, b, c: selects a where c >= 0, and b elsewhere. */
at_status decode_slct(decoder *d)
{
    ptx_type type = d->op.types[0], test = d->op.types[1];
    uint32_t width = type_lane_bytes(type);
    if (type_lane_bytes(test) != 4)
        return decode_unknown(d);
    int32_t p = decode_new_slot(d, 0);
    int32_t a = decode_source(d, decode_operand(d, 1), width, type);
    int32_t b = decode_source(d, decode_operand(d, 2), width, type);
    int32_t value = decode_source(d, decode_operand(d, 3), 4, test);
    int32_t zero = decode_constant(d, 0, 4);
    destination slot = decode_destination(d, decode_operand(d, 0), width);
    decode_compare(d, "ge", test, p, value, zero);
    decode_select(d, &slot, a, b, p)->extra = true;
    return decode_finish(d, &slot, type_is_signed(type));
}
