/* Loads, stores, atomics and fences. */
#include <string.h>

#include "sim/decode/addresses.h"
#include "sim/decode/decoder.h"

ptx_space decode_space(const decoder *d)
{
    static const choice spaces[] = {
        {"global", PTX_SPACE_GLOBAL},      {"shared", PTX_SPACE_SHARED},
        {"shared::cta", PTX_SPACE_SHARED}, {"shared::cluster", PTX_SPACE_SHARED},
        {"local", PTX_SPACE_LOCAL},        {"const", PTX_SPACE_CONST},
        {"param", PTX_SPACE_PARAM},        {"param::entry", PTX_SPACE_PARAM},
        {"param::func", PTX_SPACE_PARAM},  {0}};
    return (ptx_space)decode_choice(d, spaces, PTX_SPACE_GENERIC);
}

static sim_class class_of(ptx_space space)
{
    static const sim_class classes[] = {
        [PTX_SPACE_GENERIC] = SIM_CLASS_GLOBAL, [PTX_SPACE_GLOBAL] = SIM_CLASS_GLOBAL,
        [PTX_SPACE_SHARED] = SIM_CLASS_SHARED,  [PTX_SPACE_LOCAL] = SIM_CLASS_LOCAL,
        [PTX_SPACE_CONST] = SIM_CLASS_CONSTANT, [PTX_SPACE_PARAM] = SIM_CLASS_CONSTANT};
    return classes[space];
}

static uint8_t vector_of(const decoder *d)
{
    return decode_has(d, "v2") ? 2 : decode_has(d, "v4") ? 4 : decode_has(d, "v8") ? 8 : 1;
}

/* Returns an address's space. The .param variables of a called function are in local memory. */
static ptx_space actual_space(const decoder *d, const ptx_operand *base, ptx_space space)
{
    if (space != PTX_SPACE_PARAM || base->kind != PTX_OPERAND_VARIABLE)
        return space;
    const ptx_function *kernel = &d->module->functions[d->program->function];
    bool own = base->index >= kernel->first_parameter &&
               base->index < kernel->first_parameter + kernel->parameter_count;
    return own ? PTX_SPACE_PARAM : PTX_SPACE_LOCAL;
}

address_operand decode_address(decoder *d, const ptx_operand *o, ptx_space space)
{
    address_operand at = {.slot = SIM_NO_SLOT,
                          .width = 8,
                          .offset = o->offset,
                          .space = space,
                          .object = OBJECTS_NONE};
    if (o->kind != PTX_OPERAND_ADDRESS || o->count != 1) {
        decode_fail(d, "the operand must be an address in brackets, such as [a]");
        return at;
    }
    const ptx_operand *base = decode_part(d, o, 0);
    at.space = actual_space(d, base, space);
    if (base->kind == PTX_OPERAND_REGISTER) {
        at.width = (uint8_t)decode_register_width(d, base);
        if (at.width == 0)
            decode_fail(d, "the operand must be an address, not a predicate");
    }
    if (base->kind == PTX_OPERAND_VARIABLE) {
        /* If the opcode has no state space, the variable decides it. */
        const ptx_variable *v = &d->module->variables[base->index];
        if (space == PTX_SPACE_GENERIC)
            at.space = v->space;
        else if (space == PTX_SPACE_PARAM ? v->space != PTX_SPACE_PARAM : v->space != space)
            decode_fail(d, "%.*s is not in %s memory",
                        (int)(v->name.length > 60 ? 60 : v->name.length), v->name.at,
                        ptx_space_name(space));
    }
    at.object = addresses_object(d->module, d->frame->function, d->frame->objects, base);
    at.slot = decode_source(d, base, at.width, PTX_U64);
    return at;
}

void decode_put_address(sim_instruction *c, const address_operand *p)
{
    c->a = p->slot;
    c->source_width = p->width;
    c->offset = p->offset;
    c->space = (uint8_t)p->space;
    c->object = p->object;
}

void decode_alignment(decoder *d, const address_operand *at, uint32_t bytes, uint32_t lanes)
{
    sim_instruction *c = decode_emit(d, SIM_ALIGNED, SIM_CLASS_CONTROL);
    decode_put_address(c, at);
    c->vector = (uint8_t)bytes;
    c->target = (int32_t)lanes;
    c->extra = true;
}

/* Notes the size of an access if it is the smallest access to shared or global memory so far. */
static void note_cell(decoder *d, ptx_space space, ptx_type type)
{
    uint32_t bytes = ptx_type_bytes(type);
    if ((space == PTX_SPACE_SHARED || space == PTX_SPACE_GENERIC) &&
        bytes < d->program->shared_cell_bytes)
        d->program->shared_cell_bytes = bytes;
    if ((space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC) &&
        bytes < d->program->global_cell_bytes)
        d->program->global_cell_bytes = bytes;
}

static sim_scope scope_of(const decoder *d)
{
    return decode_has(d, "cta")       ? SIM_SCOPE_BLOCK
           : decode_has(d, "cluster") ? SIM_SCOPE_CLUSTER
                                      : SIM_SCOPE_GPU;
}

/* Stores the memory order of an access: strength, release, acquire and scope (PTX ISA). */
static void put_order(const decoder *d, sim_instruction *c)
{
    bool both = decode_has(d, "acq_rel") || decode_has(d, "sc");
    bool acquires = both || decode_has(d, "acquire"),
         ordered = decode_has(d, "relaxed") || decode_has(d, "mmio");
    c->releases = both || decode_has(d, "release");
    ordered = ordered || acquires || c->releases;
    c->is_volatile = !ordered && decode_has(d, "volatile");
    c->noncoherent = decode_has(d, "nc");
    c->acquires = acquires                            ? SIM_ACQUIRES
                  : c->kind == SIM_ATOMIC && !ordered ? SIM_ACQUIRES_LOOSELY
                                                      : SIM_ACQUIRES_NOTHING;
    bool strong = ordered || c->is_volatile || c->kind == SIM_ATOMIC;
    c->scope = (uint8_t)(strong ? scope_of(d) : SIM_SCOPE_NONE);
}

static ptx_type memory_type(decoder *d)
{
    if (d->op.type_count == 1 && d->op.types[0] != PTX_PRED)
        return d->op.types[0];
    decode_unknown(d);
    return PTX_B32;
}

typedef struct transfer {
    ptx_type type;
    address_operand at;
    const ptx_operand *registers; /* the first of `count` registers */
    uint32_t width;
    uint8_t count;
    bool is_wide; /* a 128-bit register, accessed as two elements of 64 bits */
} transfer;

/* Stores whether a shared address may be in another block. Generic addresses contain the block. */
static void put_cluster(const decoder *d, sim_instruction *c)
{
    c->cluster = c->space == PTX_SPACE_SHARED && decode_has(d, "shared::cluster");
}

/* Decodes a load or store. `address` and `registers` are the numbers of its operands. */
static transfer transfer_of(decoder *d, int address, int registers)
{
    decode_count(d, 2, 3);
    transfer t = {.type = memory_type(d), .count = vector_of(d)};
    t.width = type_lane_bytes(t.type);
    t.at = decode_address(d, decode_operand(d, address), decode_space(d));
    t.is_wide = t.type == PTX_B128;
    if (t.is_wide && t.count > 1)
        decode_unknown(d);
    if (t.is_wide) {
        t.type = PTX_B64;
        t.count = 2;
        t.registers = decode_operand(d, registers);
    } else {
        t.registers = decode_registers(d, decode_operand(d, registers), t.count);
    }
    return t;
}

sim_instruction *decode_access(decoder *d, sim_kind kind, const address_operand *at, ptx_type type,
                               const int32_t *slots, int count)
{
    note_cell(d, at->space, type);
    sim_instruction *c = decode_emit(d, kind, class_of(at->space));
    decode_put_address(c, at);
    c->type = (uint8_t)type;
    c->vector = (uint8_t)count;
    c->width = (uint8_t)type_lane_bytes(type);
    c->list = (int32_t)d->program->list_count;
    decode_lists(d, slots, (size_t)count);
    return c;
}

static sim_instruction *emit_transfer(decoder *d, sim_kind kind, const transfer *t,
                                      const int32_t *slots)
{
    sim_instruction *c = decode_access(d, kind, &t->at, t->type, slots, t->count);
    put_cluster(d, c);
    put_order(d, c);
    c->shape =
        d->frame
            ->shapes[d->statement - &d->module->statements[d->frame->function->first_statement]];
    return c;
}

static sim_hint hint_of(const decoder *d)
{
    const bool allocates = !decode_has(d, "L1::no_allocate");
    return decode_has(d, "L2::256B") ? (allocates ? SIM_HINT_WIDE : SIM_HINT_WIDE_NO_ALLOCATE)
           : !allocates              ? SIM_HINT_NO_ALLOCATE
           : decode_has(d, "cs")     ? SIM_HINT_STREAMING
           : decode_has(d, "cg")     ? SIM_HINT_L2
                                     : SIM_HINT_NONE;
}

at_status decode_load(decoder *d)
{
    static const sim_cost parameter = SIM_COST(OTHER, 1), constant = SIM_COST(INTEGER, 0);
    const ptx_space space = decode_space(d);
    d->cost = space == PTX_SPACE_PARAM   ? &parameter
              : space == PTX_SPACE_CONST ? &constant
                                         : d->cost;
    transfer t = transfer_of(d, 1, 0);
    destination to[8];
    int32_t slots[8];
    const int32_t wide = t.is_wide ? decode_wide(d, t.registers, true) : SIM_NO_SLOT;
    for (int i = 0; i < t.count && !d->status; i++) {
        to[i] = t.is_wide ? (destination){wide + i * SIM_HIGH_HALF, SIM_NO_SLOT, 8}
                          : decode_destination(d, &t.registers[i], t.width);
        slots[i] = to[i].slot;
    }
    if (d->status)
        return d->status;
    emit_transfer(d, SIM_LOAD, &t, slots)->op = (uint8_t)hint_of(d);
    for (int i = 0; i < t.count; i++)
        decode_finish(d, &to[i], type_is_signed(t.type));
    return d->status;
}

bool decode_atomic_fits(sim_atomic_op op, ptx_type t)
{
    bool is_float = t == PTX_F32 || t == PTX_F64 || t == PTX_F16 || t == PTX_BF16 ||
                    t == PTX_F16X2 || t == PTX_BF16X2;
    bool is_short = ptx_type_bytes(t) < 4;
    bool bits = t == PTX_B32 || t == PTX_B64 || t == PTX_U32 || t == PTX_U64 || t == PTX_S32 ||
                t == PTX_S64;
    switch (op) {
    case SIM_ATOMIC_ADD:
        return is_float || (bits && t != PTX_B32 && t != PTX_B64);
    case SIM_ATOMIC_MIN:
    case SIM_ATOMIC_MAX:
        return bits || t == PTX_F16X2 || t == PTX_BF16X2 || t == PTX_F16 || t == PTX_BF16;
    case SIM_ATOMIC_INC:
    case SIM_ATOMIC_DEC:
        return t == PTX_U32;
    case SIM_ATOMIC_EXCH:
    case SIM_ATOMIC_CAS:
        return bits || t == PTX_B16 || t == PTX_B128;
    default:
        return bits && !is_short;
    }
}

static const choice atomics[] = {{"add", SIM_ATOMIC_ADD},
                                 {"min", SIM_ATOMIC_MIN},
                                 {"max", SIM_ATOMIC_MAX},
                                 {"inc", SIM_ATOMIC_INC},
                                 {"dec", SIM_ATOMIC_DEC},
                                 {"and", SIM_ATOMIC_AND},
                                 {"or", SIM_ATOMIC_OR},
                                 {"xor", SIM_ATOMIC_XOR},
                                 {"exch", SIM_ATOMIC_EXCH},
                                 {"cas", SIM_ATOMIC_CAS},
                                 {0}};

/* Returns whether an atomic may be a vector: 4 to 16 bytes, not shared, .add of floats or .min and
 * .max of halves. */
static bool vector_fits(sim_atomic_op op, ptx_type t, uint32_t count, ptx_space space)
{
    bool halves = t == PTX_F16 || t == PTX_BF16 || t == PTX_F16X2 || t == PTX_BF16X2;
    uint32_t bytes = ptx_type_bytes(t) * count;
    return count == 1 ||
           (bytes >= 4 && bytes <= 16 && space != PTX_SPACE_SHARED &&
            (op == SIM_ATOMIC_ADD ? halves || t == PTX_F32
                                  : halves && (op == SIM_ATOMIC_MIN || op == SIM_ATOMIC_MAX)));
}

/* Returns element `i` of a vector operand; a scalar operand is returned as it is. */
static const ptx_operand *element_at(const decoder *d, const ptx_operand *o, int i)
{
    return o->kind == PTX_OPERAND_VECTOR ? decode_part(d, o, i) : o;
}

/* Decodes {st,red.OP}.async.mbarrier::complete_tx::bytes{.shared::cluster}{.v2,.v4}.type [to],
 * values, [barrier]. */
static at_status decode_store_async(decoder *d)
{
    const bool reduces = strcmp(d->op.name, "red") == 0;
    const int op = reduces ? decode_choice(d, atomics, -1) : -1;
    if (!decode_has(d, "mbarrier::complete_tx::bytes") || d->op.type_count != 1 ||
        (reduces && (op < 0 || !decode_atomic_fits((sim_atomic_op)op, d->op.types[0]))))
        return decode_unknown(d);
    decode_count(d, 3, 3);
    const ptx_type type = d->op.types[0];
    const int count = decode_has(d, "v2") ? 2 : decode_has(d, "v4") ? 4 : 1;
    address_operand to = decode_address(d, decode_operand(d, 0), PTX_SPACE_SHARED);
    address_operand barrier = decode_address(d, decode_operand(d, 2), PTX_SPACE_SHARED);
    if (ptx_type_bytes(type) < 4 || ptx_type_bytes(type) > 8)
        return decode_unknown(d);
    const ptx_operand *values = decode_registers(d, decode_operand(d, 1), count);
    int32_t slots[4];
    for (int i = 0; i < count && !d->status; i++)
        slots[i] = decode_source(d, &values[i], type_lane_bytes(type), type);
    if (d->status)
        return d->status;
    sim_instruction *c = decode_access(d, SIM_STORE_ASYNC, &to, type, slots, count);
    c->e = barrier.slot;
    c->e_offset = (int32_t)barrier.offset;
    c->d2 = barrier.width;
    c->reduction = (int8_t)op;
    return d->status;
}

at_status decode_store(decoder *d)
{
    if (decode_has(d, "async"))
        return decode_store_async(d);
    if (decode_has(d, "bulk"))
        return decode_unknown(d);
    transfer t = transfer_of(d, 0, 1);
    if (t.at.space == PTX_SPACE_PARAM || t.at.space == PTX_SPACE_CONST)
        decode_fail(d, "%s memory cannot be written", ptx_space_name(t.at.space));
    int32_t slots[8];
    const int32_t wide = t.is_wide ? decode_wide(d, t.registers, false) : SIM_NO_SLOT;
    for (int i = 0; i < t.count && !d->status; i++)
        slots[i] = t.is_wide ? wide + i * SIM_HIGH_HALF
                             : decode_source(d, &t.registers[i], t.width, t.type);
    if (!d->status)
        emit_transfer(d, SIM_STORE, &t, slots);
    return d->status;
}

/* Decodes atom{.exch,.cas}.b128 d, [a], b[, c], which is one atomic of two 64-bit halves. */
static at_status decode_wide_atomic(decoder *d, sim_atomic_op op, ptx_space space)
{
    const int sources = op == SIM_ATOMIC_CAS ? 2 : 1;
    decode_count(d, 2 + sources, 3 + sources);
    const address_operand at = decode_address(d, decode_operand(d, 1), space);
    const int32_t fresh = decode_wide(d, decode_operand(d, 2), false),
                  other = sources == 2 ? decode_wide(d, decode_operand(d, 3), false) : SIM_NO_SLOT,
                  old = decode_wide(d, decode_operand(d, 0), true);
    note_cell(d, at.space, PTX_B64);
    sim_instruction *c = decode_emit(d, SIM_ATOMIC, SIM_CLASS_ATOMIC);
    decode_put_address(c, &at);
    put_cluster(d, c);
    put_order(d, c);
    c->op = (uint8_t)op;
    c->type = PTX_B64;
    c->vector = 2;
    c->width = 8;
    c->d = old;
    c->d2 = 1;
    c->b = fresh;
    c->c = other;
    return d->status;
}

/* Decodes atom[.space].OP.type d, [a], b[, c] and red. Each element of a vector is one atomic. */
at_status decode_atomic(decoder *d)
{
    bool is_red = strcmp(d->op.name, "red") == 0;
    if (is_red && decode_has(d, "async"))
        return decode_store_async(d);
    int op = decode_choice(d, atomics, -1), count = vector_of(d);
    ptx_type type = memory_type(d);
    ptx_space space = decode_space(d);
    bool reachable =
        space == PTX_SPACE_GENERIC || space == PTX_SPACE_GLOBAL || space == PTX_SPACE_SHARED;
    if (op < 0 || !decode_atomic_fits((sim_atomic_op)op, type) ||
        !vector_fits((sim_atomic_op)op, type, (uint32_t)count, space) || decode_has(d, "async") ||
        !reachable || (type == PTX_B128 && (is_red || count > 1)))
        return decode_unknown(d);
    if (type == PTX_B128)
        return decode_wide_atomic(d, (sim_atomic_op)op, space);
    int shift = is_red ? 0 : 1, sources = op == SIM_ATOMIC_CAS ? 2 : 1;
    decode_count(d, shift + 1 + sources, shift + 2 + sources);
    uint32_t width = type_lane_bytes(type);
    static const ptx_operand sink = {.kind = PTX_OPERAND_SINK};
    const ptx_operand *results = is_red ? &sink : decode_operand(d, 0),
                      *operands = decode_operand(d, shift + 1);
    if (count > 1 &&
        (operands->kind != PTX_OPERAND_VECTOR || operands->count != count ||
         (!is_red && (results->kind != PTX_OPERAND_VECTOR || results->count != count))))
        return decode_fail(d, "the operand must be a vector of %d registers", count);
    address_operand at = decode_address(d, decode_operand(d, shift), space);
    int32_t b[8], c2 = SIM_NO_SLOT;
    for (int i = 0; i < count; i++)
        b[i] = decode_source(d, element_at(d, operands, i), width, type);
    if (sources == 2)
        c2 = decode_source(d, decode_operand(d, shift + 2), width, type);
    note_cell(d, at.space, type);
    if (count > 1)
        decode_alignment(d, &at, ptx_type_bytes(type) * (uint32_t)count, UINT32_MAX);
    for (int i = 0; i < count && !d->status; i++, at.offset += ptx_type_bytes(type)) {
        destination to = decode_destination(d, element_at(d, results, i), width);
        sim_instruction *c = decode_emit(d, SIM_ATOMIC, SIM_CLASS_ATOMIC);
        decode_put_address(c, &at);
        put_cluster(d, c);
        put_order(d, c);
        c->op = (uint8_t)op;
        c->type = (uint8_t)type;
        c->width = to.width;
        c->d = to.slot;
        c->d2 = !is_red; /* the old value may be read */
        c->b = b[i];
        c->c = c2;
        c->extra = i > 0;
        decode_finish(d, &to, type_is_signed(type));
    }
    return d->status;
}

at_status decode_isspacep(decoder *d)
{
    int32_t p = decode_predicate(d, decode_operand(d, 0), true);
    int32_t a = decode_source(d, decode_operand(d, 1), 8, PTX_U64);
    sim_instruction *c = decode_emit(d, SIM_SPACE_TEST, SIM_CLASS_PREDICATE);
    c->space = (uint8_t)decode_space(d);
    c->d = p;
    c->a = a;
    return d->status;
}

/* Decodes instructions that affect only speed. The result of createpolicy is zero. */
at_status decode_ignored(decoder *d)
{
    if (strcmp(d->op.name, "createpolicy") == 0) {
        decode_count(d, 1, 5);
        destination to = decode_destination(d, decode_operand(d, 0), 8);
        int32_t zero = decode_constant(d, 0, 8);
        decode_compute(d, "mov.b64", to.slot, &zero, 1);
        return decode_finish(d, &to, false);
    }
    decode_emit(d, SIM_NOTHING, SIM_CLASS_CONTROL);
    return d->status;
}

/* Decodes discard{.global}.L2 [a], 128. */
at_status decode_discard(decoder *d)
{
    const address_operand at = decode_address(d, decode_operand(d, 0), PTX_SPACE_GLOBAL);
    const ptx_operand *bytes = decode_operand(d, 1);
    if (bytes->kind != PTX_OPERAND_INTEGER || bytes->bits != 128)
        return decode_unknown(d);
    sim_instruction *c = decode_emit(d, SIM_DISCARD, SIM_CLASS_CONTROL);
    decode_put_address(c, &at);
    c->vector = (uint8_t)bytes->bits;
    return d->status;
}

at_status decode_fence(decoder *d)
{
    sim_instruction *c = decode_emit(d, SIM_FENCE, SIM_CLASS_BARRIER);
    c->proxy = decode_has(d, "proxy");
    c->scope = (uint8_t)(c->proxy ? SIM_SCOPE_NONE : scope_of(d));
    /* From compute capability 7.0 on, membar is a synonym of fence.sc (PTX ISA, "membar"). */
    c->op = strcmp(d->op.name, "membar") == 0 || decode_has(d, "sc");
    return d->status;
}
