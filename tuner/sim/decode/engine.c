/* Barriers in shared memory and the bulk copies that report to them. PTX ISA, "mbarrier" and
 * "cp.async.bulk". */
#include "sim/decode/decoder.h"

/* An address in shared memory, which may be given as a generic one. */
static at_status shared_address(decoder *d, const ptx_operand *o, place *out)
{
    ptx_space space = decode_space(d);
    if (space != PTX_SPACE_SHARED && space != PTX_SPACE_GENERIC)
        return decode_unknown(d);
    return decode_address(d, o, space, out);
}

static at_status emit(decoder *d, sim_mbarrier_op op, const place *at, int32_t b, sim_instruction **out)
{
    sim_instruction *c = decode_emit(d, SIM_MBARRIER, SIM_CLASS_BARRIER);
    if (!c)
        return AT_NO_MEMORY;
    decode_put_place(c, at);
    c->op = (uint8_t)op;
    c->b = b;
    *out = c;
    return AT_OK;
}

/* mbarrier.OP [at]{, b}: nothing comes back. */
static at_status decode_plain(decoder *d, sim_mbarrier_op op, int operands)
{
    place at = {0};
    int32_t b = SIM_NO_SLOT;
    sim_instruction *c;
    at_status status = decode_count(d, operands, operands);
    if (!status)
        status = shared_address(d, decode_operand(d, 0), &at);
    if (!status && operands > 1)
        status = decode_source(d, decode_operand(d, 1), 4, PTX_U32, &b);
    return status ? status : emit(d, op, &at, b, &c);
}

/* mbarrier.arrive[.expect_tx] state, [at]{, count or bytes}. */
static at_status decode_arrive(decoder *d)
{
    bool expects = decode_has(d, "expect_tx");
    place at = {0};
    int32_t to = SIM_NO_SLOT, widen = SIM_NO_SLOT, b = SIM_NO_SLOT;
    sim_instruction *c;
    if (decode_has(d, "noComplete"))
        return decode_unknown(d);
    at_status status = decode_count(d, expects ? 3 : 2, 3);
    if (!status)
        status = shared_address(d, decode_operand(d, 1), &at);
    if (!status && d->statement->count > 2)
        status = decode_source(d, decode_operand(d, 2), 4, PTX_U32, &b);
    if (!status)
        status = decode_destination(d, decode_operand(d, 0), 8, &to, &widen);
    if (!status)
        status = emit(d, expects ? SIM_MBARRIER_ARRIVE_EXPECT : SIM_MBARRIER_ARRIVE, &at, b, &c);
    if (status)
        return status;
    c->d = to;
    return decode_finish(d, to, widen, 8, false);
}

/* mbarrier.test_wait[.parity] complete, [at], state or parity{, time}; try_wait likewise. */
static at_status decode_test(decoder *d)
{
    bool parity = decode_has(d, "parity");
    place at = {0};
    int32_t p = SIM_NO_SLOT, b = SIM_NO_SLOT;
    sim_instruction *c;
    at_status status = decode_count(d, 3, 4);
    if (!status)
        status = decode_predicate(d, decode_operand(d, 0), true, &p);
    if (!status)
        status = shared_address(d, decode_operand(d, 1), &at);
    if (!status)
        status = decode_source(d, decode_operand(d, 2), parity ? 4 : 8, parity ? PTX_U32 : PTX_B64, &b);
    if (!status)
        status = emit(d, parity ? SIM_MBARRIER_TEST_PARITY : SIM_MBARRIER_TEST, &at, b, &c);
    if (status)
        return status;
    c->d = p;
    return AT_OK;
}

at_status decode_mbarrier(decoder *d)
{
    if (decode_has(d, "init"))
        return decode_plain(d, SIM_MBARRIER_INIT, 2);
    if (decode_has(d, "inval"))
        return decode_plain(d, SIM_MBARRIER_DROP, 1);
    if (decode_has(d, "complete_tx"))
        return decode_plain(d, SIM_MBARRIER_COMPLETE, 2);
    if (decode_has(d, "arrive"))
        return decode_arrive(d);
    if (decode_has(d, "expect_tx"))
        return decode_plain(d, SIM_MBARRIER_EXPECT, 2);
    if (decode_has(d, "test_wait") || decode_has(d, "try_wait"))
        return decode_test(d);
    return decode_unknown(d);
}

/* What stays under way after a wait must be a constant. */
static at_status decode_group(decoder *d, bool commit)
{
    at_status status = decode_count(d, commit ? 0 : 1, commit ? 0 : 1);
    if (!status && !commit && decode_operand(d, 0)->kind != PTX_OPERAND_INTEGER)
        status = decode_fail(d, "the number of groups must be a constant");
    sim_instruction *c =
        status ? NULL : decode_emit(d, commit ? SIM_BULK_COMMIT : SIM_BULK_WAIT, SIM_CLASS_CONTROL);
    if (!c)
        return status ? status : AT_NO_MEMORY;
    c->offset = commit ? 0 : (int64_t)(decode_operand(d, 0)->bits & 0x7fffffff);
    return AT_OK;
}

/* cp.async.bulk.shared.global [to], [from], bytes, [barrier] and cp.async.bulk.global.shared [to],
 * [from], bytes; either may end in a cache policy. Which of the two spaces is first says the way. */
static at_status decode_copy(decoder *d)
{
    place to = {0}, from = {0}, barrier = {0};
    int32_t bytes = SIM_NO_SLOT;
    bool loads = decode_has(d, "mbarrier::complete_tx::bytes");
    int operands = (loads ? 4 : 3) + decode_has(d, "L2::cache_hint");
    at_status status = decode_count(d, operands, operands);
    if (!status)
        status = decode_address(d, decode_operand(d, 0), loads ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, &to);
    if (!status)
        status = decode_address(d, decode_operand(d, 1), loads ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED, &from);
    if (!status)
        status = decode_source(d, decode_operand(d, 2), 4, PTX_U32, &bytes);
    if (!status && loads)
        status = decode_address(d, decode_operand(d, 3), PTX_SPACE_SHARED, &barrier);
    if (status)
        return status;
    sim_instruction *c = decode_emit(d, loads ? SIM_BULK_LOAD : SIM_BULK_STORE, SIM_CLASS_GLOBAL);
    if (!c)
        return AT_NO_MEMORY;
    const place *global = loads ? &from : &to, *shared = loads ? &to : &from;
    decode_put_place(c, global);
    c->b = shared->slot;
    c->op = shared->width;
    c->d2 = (int32_t)shared->offset;
    c->c = bytes;
    c->e = loads ? barrier.slot : SIM_NO_SLOT;
    c->vector = barrier.width;
    c->e_offset = (int32_t)barrier.offset;
    return AT_OK;
}

static at_status decode_bulk(decoder *d)
{
    bool loads = decode_has(d, "mbarrier::complete_tx::bytes") && decode_has(d, "global");
    if (decode_has(d, "commit_group") || decode_has(d, "wait_group"))
        return decode_group(d, decode_has(d, "commit_group"));
    if (decode_has(d, "tensor") || decode_has(d, "reduce") ||
        decode_has(d, "multicast::cluster"))
        return decode_unknown(d);
    if (decode_has(d, "prefetch"))
        return decode_ignored(d);
    return loads || decode_has(d, "bulk_group") ? decode_copy(d) : decode_unknown(d);
}

at_status decode_cp(decoder *d)
{
    return decode_has(d, "bulk") ? decode_bulk(d) : decode_thread_copy(d);
}
