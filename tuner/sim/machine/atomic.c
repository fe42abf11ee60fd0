#include "sim/machine/atomic.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/half.h"
#include "sim/machine/bytes.h"
#include "sim/machine/repeat.h"
#include "sim/machine/strong.h"
#include "sim/machine/unwritten.h"
#include "sim/machine/watched.h"
#include "sim/program/operations.h"

static double to_double(uint64_t bits, ptx_type t)
{
    switch (t) {
    case PTX_F32:
        return float_of_bits((uint32_t)bits);
    case PTX_F64:
        return double_of_bits(bits);
    case PTX_F16:
        return half_to_float((uint16_t)bits);
    default:
        return bfloat_to_float((uint16_t)bits);
    }
}

static float flushed(float v)
{
    return fabsf(v) < 0x1p-126f ? copysignf(0.0f, v) : v;
}

/* PTX ISA, atom: additions of floats in global memory take and give zeros for subnormal numbers; in
 * shared memory not. */
static uint64_t add_float(uint64_t a, uint64_t b, ptx_type t, bool flush)
{
    if (t == PTX_F32 && flush)
        return bits_of_float(
            sim_float(flushed(flushed((float)to_double(a, t)) + flushed((float)to_double(b, t)))));
    if (t == PTX_F32)
        return bits_of_float(sim_float((float)to_double(a, t) + (float)to_double(b, t)));
    double v = to_double(a, t) + to_double(b, t);
    switch (t) {
    case PTX_F16:
        return half_from_double(v);
    case PTX_BF16:
        return bfloat_from_double(v);
    default:
        return bits_of_double(sim_double(v, to_double(a, t), to_double(b, t)));
    }
}

static bool is_less(uint64_t a, uint64_t b, ptx_type t)
{
    switch (t) {
    case PTX_S32:
        return (int32_t)a < (int32_t)b;
    case PTX_S64:
        return (int64_t)a < (int64_t)b;
    case PTX_U32:
    case PTX_B32:
        return (uint32_t)a < (uint32_t)b;
    case PTX_F16:
    case PTX_BF16:
        return to_double(a, t) < to_double(b, t);
    default:
        return a < b;
    }
}

static uint64_t combine(sim_atomic_op op, ptx_type t, bool flush, uint64_t old, uint64_t v,
                        uint64_t other)
{
    bool is_float = t == PTX_F32 || t == PTX_F64 || t == PTX_F16 || t == PTX_BF16;
    switch (op) {
    case SIM_ATOMIC_ADD:
        return is_float ? add_float(old, v, t, flush) : old + v;
    case SIM_ATOMIC_MIN:
        return is_less(v, old, t) ? v : old;
    case SIM_ATOMIC_MAX:
        return is_less(old, v, t) ? v : old;
    case SIM_ATOMIC_INC:
        return (uint32_t)old >= (uint32_t)v ? 0 : old + 1;
    case SIM_ATOMIC_DEC:
        return old == 0 || (uint32_t)old > (uint32_t)v ? v : old - 1;
    case SIM_ATOMIC_AND:
        return old & v;
    case SIM_ATOMIC_OR:
        return old | v;
    case SIM_ATOMIC_XOR:
        return old ^ v;
    case SIM_ATOMIC_EXCH:
        return v;
    default:
        return old == v ? other : old;
    }
}

/* Both halves of a packed pair. */
static uint64_t combine_pair(sim_atomic_op op, ptx_type half, uint64_t old, uint64_t v)
{
    uint64_t low = combine(op, half, false, old & 0xffff, v & 0xffff, 0) & 0xffff;
    uint64_t high = combine(op, half, false, old >> 16 & 0xffff, v >> 16 & 0xffff, 0) & 0xffff;
    return low | high << 16;
}

static uint64_t next_value(sim_atomic_op op, ptx_type t, bool flush, uint64_t old, uint64_t v,
                           uint64_t other)
{
    if (t == PTX_F16X2 || t == PTX_BF16X2)
        return combine_pair(op, t == PTX_F16X2 ? PTX_F16 : PTX_BF16, old, v);
    return combine(op, t, flush, old, v, other);
}

/* A compare-and-swap loop: blocks run on several host threads. */
#define APPLY(T)                                                                                   \
    do {                                                                                           \
        T *p = (T *)(void *)at;                                                                    \
        T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                              \
        while (!__atomic_compare_exchange_n(                                                       \
            p, &old, (T)next_value(op, type, flush, old, (T)operand, (T)other), false,             \
            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))                                                   \
            ;                                                                                      \
        return old;                                                                                \
    } while (0)

/* Does an atomic of 128 bits, exchanged or compared with `operand` and then exchanged with `other`:
 * lower half first. Tells whether the operand was found or its like does not matter. No other host
 * thread may apply one there meanwhile: what such programs do does not commute, and one thread runs
 * them.
 */
static bool exchange(uint8_t *at, sim_atomic_op op, const uint64_t operand[2],
                     const uint64_t other[2], uint64_t old[2])
{
    uint64_t *halves = (uint64_t *)(void *)at;
    const uint64_t *fresh = op == SIM_ATOMIC_CAS ? other : operand;
    for (int i = 0; i < 2; i++)
        old[i] = __atomic_load_n(&halves[i], __ATOMIC_SEQ_CST);
    if (op == SIM_ATOMIC_CAS && (old[0] != operand[0] || old[1] != operand[1]))
        return false;
    for (int i = 0; i < 2; i++)
        __atomic_store_n(&halves[i], fresh[i], __ATOMIC_SEQ_CST);
    return true;
}

uint64_t sim_atomic_apply(uint8_t *at, sim_atomic_op op, ptx_type type, bool flush,
                          uint64_t operand, uint64_t other)
{
    switch (ptx_type_bytes(type)) {
    case 2:
        APPLY(uint16_t);
    case 4:
        APPLY(uint32_t);
    default:
        APPLY(uint64_t);
    }
}

/* May the atomic come before another of its kind that is late? The result of both together is the
 * same then. */
static bool may_overtake(const sim_instruction *c)
{
    const ptx_type t = (ptx_type)c->type;
    const bool is_whole = t == PTX_U32 || t == PTX_S32 || t == PTX_U64 || t == PTX_S64 ||
                          t == PTX_B32 || t == PTX_B64;
    return c->d2 != 0 && c->vector == 1 && is_whole && c->op != SIM_ATOMIC_EXCH &&
           c->op != SIM_ATOMIC_CAS && c->op != SIM_ATOMIC_INC && c->op != SIM_ATOMIC_DEC;
}

static uint64_t operand_of(const sim_warp *w, const sim_instruction *c, int32_t first, int32_t v,
                           int l)
{
    const int32_t slot = first + v * SIM_HIGH_HALF;
    return c->width == 8 ? sim_lanes64(w, slot)[l] : sim_lanes32(w, slot)[l];
}

/* Tells what the atomic of a lane is about to do. A comparison that fails reads, and writes
 * nothing: who marks nodes by it may meet those that others read. */
static sim_touch touch_of(const sim_warp *w, const sim_instruction *c, int l, const sim_places *p,
                          uint32_t bytes)
{
    for (int32_t v = 0; c->op == SIM_ATOMIC_CAS && v < c->vector; v++) {
        const uint64_t sought = operand_of(w, c, c->b, v, l);
        if (memcmp(p->at[l] + (uint32_t)v * bytes, &sought, bytes) != 0)
            return SIM_TOUCH_READ;
    }
    return SIM_TOUCH_ATOMIC;
}

/* Does the atomic of a lane. False: it compared, and changed nothing. */
static bool apply_lane(const sim_warp *w, const sim_instruction *c, int l, ptx_space space,
                       const sim_places *p, uint64_t old[2])
{
    uint64_t operand[2] = {0}, other[2] = {0};
    for (int32_t v = 0; v < c->vector; v++) {
        operand[v] = operand_of(w, c, c->b, v, l);
        if (c->c != SIM_NO_SLOT)
            other[v] = operand_of(w, c, c->c, v, l);
    }
    if (c->vector == 2)
        return exchange(p->at[l], (sim_atomic_op)c->op, operand, other, old);
    old[0] = sim_atomic_apply(p->at[l], (sim_atomic_op)c->op, (ptx_type)c->type,
                              space == PTX_SPACE_GLOBAL, operand[0], other[0]);
    return c->op != SIM_ATOMIC_CAS || old[0] == operand[0];
}

/* Which lane is the first is left open, at each atomic anew: an adverse schedule begins with the
 * last one; or with either, where fewer are here than were given results, as these may say who
 * is. */
static bool begins_with_last(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t given = w->given;
    if (c->d2 != 0)
        w->given = mask;
    return b->adverse && ((mask & ~given) || mask == given || rng_below(&b->order, 2));
}

/* Finds the bits that nothing wrote of what a lane is about to get by an exchange. True: some of
 * what it gets back has no value. */
static bool find_lost(const sim_instruction *c, int lane, ptx_space space, const sim_places *p,
                      uint32_t bytes, uint64_t lost[2][SIM_LANES])
{
    uint64_t all = 0;
    for (uint32_t v = 0; v < c->vector; v++) {
        uint32_t first = v * bytes;
        all |= lost[v][lane] = sim_unwritten_bits(p, lane, space, bytes, &first);
    }
    return all != 0;
}

bool sim_atomic(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask, ptx_space space,
                const sim_places *p, uint32_t bytes)
{
    const uint32_t total = bytes * c->vector;
    uint64_t old[2][SIM_LANES], lost[2][SIM_LANES];
    uint32_t old32[SIM_LANES], losing = 0; /* lanes of which some of what they get has no value */
    _Alignas(8) uint8_t before[SIM_LANES][SIM_LATE_BYTES];
    bool changed = false;
    sim_race_access a = sim_race_access_of(b, w, c, 0);
    const bool backwards = begins_with_last(b, w, c, mask);
    sim_repeat_end(w);
    for (uint32_t left = mask; left;) {
        int l = backwards ? 31 - __builtin_clz(left) : __builtin_ctz(left);
        left &= ~(1u << l);
        if (b->launch->check && c->op == SIM_ATOMIC_EXCH && find_lost(c, l, space, p, bytes, lost))
            losing |= 1u << l;
        const bool late =
            may_overtake(c) && sim_find_late(b, w, c, 1u << l, space, p, total, before) != 0;
        if (b->launch->check &&
            (!sim_touch_lane(&a, l, space, p, total, touch_of(w, c, l, p, bytes), NULL) ||
             !sim_check_written(b, w, c, l, space, p, total, "atomic")))
            return false;
        b->met_unwritten = false;
        uint64_t was[2] = {0};
        const bool writes = apply_lane(w, c, l, space, p, was);
        for (uint32_t v = 0; v < c->vector; v++)
            changed = changed || sim_load_bytes(p->at[l] + v * bytes, bytes) != was[v];
        if (late)
            was[0] = sim_load_bytes(before[l], bytes);
        for (uint32_t i = 0;
             space == PTX_SPACE_GLOBAL && b->launch->excerpt && p->valid[l] && i < total; i++)
            __atomic_store_n(&p->valid[l][i], SIM_BYTE_UPDATED, __ATOMIC_RELAXED);
        for (uint32_t v = 0; v < c->vector; v++)
            old[v][l] = was[v];
        old32[l] = (uint32_t)was[0];
        if (!b->launch->check)
            continue;
        if (c->d2 != 0 && !late)
            sim_strong_read(b, w, c, l, space, p);
        /* A comparison that fails writes nothing. */
        if (writes)
            sim_strong_written(b, w, c, l, space, p);
        if (losing >> l & 1 && space == PTX_SPACE_SHARED)
            memset(p->owner->shared_valid + p->address[l], SIM_WRITTEN, total);
        else if (losing >> l & 1)
            sim_mark_written(b, p->valid[l], total, space);
    }
    if (c->releases)
        w->epoch++;
    if (changed)
        sim_note_change(b, w);
    else if (c->d2 != 0)
        sim_strong_looked(b, w, c, mask, space, p, bytes,
                          c->width == 8 ? NULL : sim_lanes32(w, c->b));
    if (c->d2 != 0 || b->program->communicates)
        sim_give_way(b, w, space);
    if (c->d2 == 0)
        return true;
    for (int32_t v = 0; c->width == 8 && v < c->vector; v++)
        sim_put64(w, c->d + v * SIM_HIGH_HALF, old[v], mask);
    if (c->width != 8)
        sim_put32(w, c->d, old32, mask);
    for (int32_t v = 0; v < c->vector; v++)
        SIM_EACH_OF(l, losing)
    if (!sim_lose_exchanged(b, w, c, l, space, p, c->d + v * SIM_HIGH_HALF, lost[v][l]))
        return false;
    return true;
}
