/* Asynchronous copies and mbarriers: PTX ISA, "mbarrier", "cp.async", "cp.async.bulk". */
#include "sim/decode/decoder.h"

/* Decodes an address in shared memory. It may be a generic address. */
static address_operand shared_address(decoder *d, const ptx_operand *o)
{
    ptx_space space = decode_space(d);
    if (space != PTX_SPACE_SHARED && space != PTX_SPACE_GENERIC)
        decode_unknown(d);
    return decode_address(d, o, space);
}

static sim_instruction *emit(decoder *d, sim_mbarrier_op op, const address_operand *at, int32_t b)
{
    sim_instruction *c = decode_emit(d, SIM_MBARRIER, SIM_CLASS_BARRIER);
    decode_put_address(c, at);
    c->op = (uint8_t)op;
    c->b = b;
    c->releases = !decode_has(d, "relaxed");
    c->acquires = c->releases ? SIM_ACQUIRES : SIM_ACQUIRES_NOTHING;
    c->scope = decode_has(d, "cluster") ? SIM_SCOPE_CLUSTER : SIM_SCOPE_BLOCK;
    return c;
}

/* Decodes mbarrier.OP [at]{, b} without a result. */
static at_status decode_plain(decoder *d, sim_mbarrier_op op, int operands)
{
    decode_count(d, operands, operands);
    address_operand at = shared_address(d, decode_operand(d, 0));
    emit(d, op, &at,
         operands > 1 ? decode_source(d, decode_operand(d, 1), 4, PTX_U32) : SIM_NO_SLOT);
    return d->status;
}

/* Decodes mbarrier.{arrive,arrive_drop}[.expect_tx, .noComplete] state, [at]{, count or bytes}. */
static at_status decode_arrive(decoder *d)
{
    const bool expects = decode_has(d, "expect_tx"), drops = decode_has(d, "arrive_drop"),
               completes = !decode_has(d, "noComplete");
    if (drops && expects)
        return decode_unknown(d);
    decode_count(d, expects ? 3 : 2, 3);
    address_operand at = shared_address(d, decode_operand(d, 1));
    int32_t b = SIM_NO_SLOT;
    if (d->statement->count > 2)
        b = decode_source(d, decode_operand(d, 2), 4, PTX_U32);
    destination to = decode_destination(d, decode_operand(d, 0), 8);
    sim_mbarrier_op op = expects      ? SIM_MBARRIER_ARRIVE_EXPECT
                         : drops      ? SIM_MBARRIER_ARRIVE_DROP
                         : !completes ? SIM_MBARRIER_ARRIVE_ONLY
                                      : SIM_MBARRIER_ARRIVE;
    emit(d, op, &at, b)->d = to.slot;
    return decode_finish(d, &to, false);
}

/* Decodes mbarrier.{test_wait,try_wait}[.parity] complete, [at], state or parity{, time}. */
static at_status decode_test(decoder *d)
{
    bool parity = decode_has(d, "parity");
    decode_count(d, 3, 4);
    int32_t p = decode_predicate(d, decode_operand(d, 0), true);
    address_operand at = shared_address(d, decode_operand(d, 1));
    int32_t b = decode_source(d, decode_operand(d, 2), parity ? 4 : 8, parity ? PTX_U32 : PTX_B64);
    emit(d, parity ? SIM_MBARRIER_TEST_PARITY : SIM_MBARRIER_TEST, &at, b)->d = p;
    return d->status;
}

/* Decodes mbarrier.pending_count.b64 count, state. */
static at_status decode_pending_count(decoder *d)
{
    decode_count(d, 2, 2);
    const int32_t state = decode_source(d, decode_operand(d, 1), 8, PTX_B64);
    const int32_t count =
        decode_step2(d, "shr.u64", state, decode_constant(d, SIM_MBARRIER_PENDING, 4));
    destination to = decode_destination(d, decode_operand(d, 0), 4);
    decode_compute(d, "narrow", to.slot, &count, 1);
    return decode_finish(d, &to, false);
}

at_status decode_mbarrier(decoder *d)
{
    if (decode_has(d, "pending_count"))
        return decode_pending_count(d);
    if (decode_has(d, "init"))
        return decode_plain(d, SIM_MBARRIER_INIT, 2);
    if (decode_has(d, "inval"))
        return decode_plain(d, SIM_MBARRIER_DROP, 1);
    if (decode_has(d, "complete_tx"))
        return decode_plain(d, SIM_MBARRIER_COMPLETE, 2);
    if (decode_has(d, "arrive") || decode_has(d, "arrive_drop"))
        return decode_arrive(d);
    if (decode_has(d, "expect_tx"))
        return decode_plain(d, SIM_MBARRIER_EXPECT, 2);
    if (decode_has(d, "test_wait") || decode_has(d, "try_wait"))
        return decode_test(d);
    return decode_unknown(d);
}

/* Decodes cp.async.bulk.commit_group and .wait_group. */
static at_status decode_group(decoder *d, bool commit)
{
    int64_t left = 0;
    if (commit)
        decode_count(d, 0, 0);
    else
        left = decode_groups(d);
    sim_instruction *c =
        decode_emit(d, commit ? SIM_BULK_COMMIT : SIM_BULK_WAIT, SIM_CLASS_CONTROL);
    c->offset = left;
    c->op = !commit && decode_has(d, "read");
    return d->status;
}

/* Returns the operation of cp.reduce, or -1 for a copy without a reduction. */
static int reduction_of(decoder *d)
{
    static const choice names[] = {
        {"add", SIM_ATOMIC_ADD}, {"min", SIM_ATOMIC_MIN}, {"max", SIM_ATOMIC_MAX},
        {"inc", SIM_ATOMIC_INC}, {"dec", SIM_ATOMIC_DEC}, {"and", SIM_ATOMIC_AND},
        {"or", SIM_ATOMIC_OR},   {"xor", SIM_ATOMIC_XOR}, {0}};
    int op = decode_choice(d, names, -1);
    /* The element type of a tensor comes from its map. */
    const bool names_type = op >= 0 && !decode_has(d, "tensor");
    if (decode_has(d, "reduce") != (op >= 0) || (names_type && d->op.type_count != 1) ||
        (names_type && !decode_atomic_fits((sim_atomic_op)op, d->op.types[0])))
        decode_unknown(d);
    return op;
}

/* Stores the shared address of a bulk copy, and the mbarrier on which the copy completes. */
static void put_shared(sim_instruction *c, const address_operand *shared,
                       const address_operand *barrier)
{
    c->b = shared->slot;
    c->op = shared->width;
    c->d2 = (int32_t)shared->offset;
    c->e = barrier->slot;
    c->vector = barrier->width;
    c->e_offset = (int32_t)barrier->offset;
}

/* Decodes cp{.reduce}.async.bulk.shared.{global,shared} [to], [from], bytes, [barrier]{, blocks}
 * and cp{.reduce}.async.bulk.global.shared [to], [from], bytes. A cache policy may follow. */
static at_status decode_copy(decoder *d)
{
    bool loads = decode_has(d, "mbarrier::complete_tx::bytes");
    bool moves = loads && !decode_has(d, "global"), spreads = decode_has(d, "multicast::cluster");
    int operands = (loads ? 4 : 3) + spreads + decode_has(d, "L2::cache_hint");
    decode_count(d, operands, operands);
    int reduction = reduction_of(d);
    ptx_space first = loads ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    address_operand to = decode_address(d, decode_operand(d, 0), first);
    address_operand from = decode_address(d, decode_operand(d, 1),
                                          loads && !moves ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED);
    int32_t blocks = SIM_NO_SLOT;
    if (spreads)
        blocks = decode_source(d, decode_operand(d, 4), 4, PTX_U32);
    int32_t bytes = decode_source(d, decode_operand(d, 2), 4, PTX_U32);
    address_operand barrier = {.slot = SIM_NO_SLOT};
    if (loads)
        barrier = decode_address(d, decode_operand(d, 3), PTX_SPACE_SHARED);
    sim_instruction *c = decode_emit(d,
                                     moves   ? SIM_BULK_MOVE
                                     : loads ? SIM_BULK_LOAD
                                             : SIM_BULK_STORE,
                                     moves ? SIM_CLASS_SHARED : SIM_CLASS_GLOBAL);
    decode_put_address(c, loads ? &from : &to);
    c->target = blocks;
    c->reduction = (int8_t)reduction;
    c->type = (uint8_t)(reduction >= 0 ? d->op.types[0] : PTX_B8);
    c->c = bytes;
    put_shared(c, loads ? &to : &from, &barrier);
    return d->status;
}

/* Decodes cp.async.bulk.tensor.Nd.shared.global [to], [map, {x, y ...}], [barrier]{, blocks} and
 * cp{.reduce}.async.bulk.tensor.Nd.global.shared [map, {x, y ...}], [from]. A cache policy may
 * follow. */
static at_status decode_tensor(decoder *d)
{
    static const char *const others[] = {"im2col",         "im2col_no_offs", "im2col::w",
                                         "im2col::w::128", "tile::gather4",  "tile::scatter4",
                                         "cta_group::1",   "cta_group::2"};
    const bool loads = decode_has(d, "mbarrier::complete_tx::bytes"),
               spreads = decode_has(d, "multicast::cluster");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (decode_has(d, others[i]))
            return decode_unknown(d);
    const int reduction = reduction_of(d);
    const int operands = (loads ? 3 : 2) + spreads + decode_has(d, "L2::cache_hint");
    decode_count(d, operands, operands);
    const ptx_operand *tensor = decode_operand(d, loads ? 1 : 0);
    if (d->status || tensor->kind != PTX_OPERAND_ADDRESS || tensor->count != 2)
        return decode_unknown(d);
    const ptx_operand *coordinates = decode_part(d, tensor, 1);
    ptx_operand map_only = *tensor;
    map_only.count = 1;
    const address_operand map = decode_address(d, &map_only, PTX_SPACE_GENERIC),
                          shared =
                              decode_address(d, decode_operand(d, loads ? 0 : 1), PTX_SPACE_SHARED);
    address_operand barrier = {.slot = SIM_NO_SLOT};
    int32_t blocks = SIM_NO_SLOT, slots[SIM_TENSOR_RANK] = {0};
    if (loads)
        barrier = decode_address(d, decode_operand(d, 2), PTX_SPACE_SHARED);
    if (spreads)
        blocks = decode_source(d, decode_operand(d, 3), 4, PTX_U32);
    if (coordinates->count < 1 || coordinates->count > SIM_TENSOR_RANK || map.width != 8)
        return decode_unknown(d);
    for (int i = 0; i < coordinates->count; i++)
        slots[i] = decode_source(d, decode_part(d, coordinates, i), 4, PTX_S32);
    sim_instruction *c = decode_emit(d, loads ? SIM_BULK_LOAD : SIM_BULK_STORE, SIM_CLASS_GLOBAL);
    decode_put_address(c, &map);
    c->target = blocks;
    c->reduction = (int8_t)reduction;
    c->target_count = coordinates->count;
    c->type = PTX_B8;
    put_shared(c, &shared, &barrier);
    c->list = (int32_t)d->program->list_count;
    decode_lists(d, slots, (size_t)coordinates->count);
    return d->status;
}

static at_status decode_bulk(decoder *d)
{
    bool loads = decode_has(d, "mbarrier::complete_tx::bytes");
    if (decode_has(d, "commit_group") || decode_has(d, "wait_group"))
        return decode_group(d, decode_has(d, "commit_group"));
    if (decode_has(d, "prefetch"))
        return decode_ignored(d);
    if (decode_has(d, "tensor"))
        return loads || decode_has(d, "bulk_group") ? decode_tensor(d) : decode_unknown(d);
    if (loads && decode_has(d, "reduce") && decode_has(d, "global"))
        return decode_unknown(d);
    return loads || decode_has(d, "bulk_group") ? decode_copy(d) : decode_unknown(d);
}

/* Decodes cp.async.mbarrier.arrive{.noinc} [at]. The arrival orders only this thread's copies. */
static at_status decode_copied(decoder *d)
{
    if (!decode_has(d, "async") || !decode_has(d, "arrive"))
        return decode_unknown(d);
    decode_count(d, 1, 1);
    address_operand at = shared_address(d, decode_operand(d, 0));
    sim_instruction *c = emit(
        d, decode_has(d, "noinc") ? SIM_MBARRIER_ARRIVE_COPIED : SIM_MBARRIER_ARRIVE_COPIED_MORE,
        &at, SIM_NO_SLOT);
    c->releases = false;
    c->acquires = SIM_ACQUIRES_NOTHING;
    return d->status;
}

/* Decodes cp.async.{ca,cg}.shared.global [to], [from], bytes{, bytes to read}{, cache policy}. */
static at_status decode_copy_async(decoder *d)
{
    decode_count(d, 3, 5);
    address_operand to = decode_address(d, decode_operand(d, 0), PTX_SPACE_SHARED);
    address_operand from = decode_address(d, decode_operand(d, 1), PTX_SPACE_GLOBAL);
    const ptx_operand *size = decode_operand(d, 2);
    if (size->kind != PTX_OPERAND_INTEGER ||
        (size->bits != 4 && size->bits != 8 && size->bits != 16))
        return decode_fail(d, "cp.async copies 4, 8 or 16 bytes");
    int32_t given = SIM_NO_SLOT;
    /* The bytes after the `given` ones become zeros. */
    if (d->statement->count > 3 && !decode_has(d, "L2::cache_hint"))
        given = decode_source(d, decode_operand(d, 3), 4, PTX_U32);
    sim_instruction *c = decode_emit(d, SIM_COPY_ASYNC, SIM_CLASS_GLOBAL);
    decode_put_address(c, &from);
    c->object = to.object;
    c->b = to.slot;
    c->op = to.width;
    c->d2 = (int32_t)to.offset;
    c->c = given;
    c->vector = (uint8_t)size->bits;
    return d->status;
}

int64_t decode_groups(decoder *d)
{
    decode_count(d, 1, 1);
    if (decode_operand(d, 0)->kind != PTX_OPERAND_INTEGER)
        decode_fail(d, "the number of groups must be a constant");
    return (int64_t)(decode_operand(d, 0)->bits & 0x7fffffff);
}

static at_status decode_thread_copy(decoder *d)
{
    if (!decode_has(d, "async") || decode_has(d, "mbarrier") || decode_has(d, "reduce"))
        return decode_unknown(d);
    bool commit = decode_has(d, "commit_group"), wait_all = decode_has(d, "wait_all");
    if (!commit && !wait_all && !decode_has(d, "wait_group"))
        return decode_copy_async(d);
    int64_t left = wait_all ? -1 : commit ? 0 : decode_groups(d);
    decode_emit(d, commit ? SIM_COPY_COMMIT : SIM_COPY_WAIT, SIM_CLASS_CONTROL)->offset = left;
    return d->status;
}

at_status decode_cp(decoder *d)
{
    if (decode_has(d, "mbarrier"))
        return decode_copied(d);
    return decode_has(d, "bulk") ? decode_bulk(d) : decode_thread_copy(d);
}
