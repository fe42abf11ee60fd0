#include "sim/machine/atomic.h"

#include <string.h>

#include "sim/machine/bytes.h"
#include "sim/machine/repeat.h"
#include "sim/machine/strong.h"
#include "sim/machine/unwritten.h"
#include "sim/machine/watched.h"
#include "sim/program/operations.h"

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

static uint64_t operand_of(const sim_warp *w, const sim_instruction *c, int32_t first, int32_t v,
                           int l)
{
    const int32_t slot = first + v * SIM_HIGH_HALF;
    return c->width == 8 ? sim_lanes64(w, slot)[l] : sim_lanes32(w, slot)[l];
}

/* What the atomic of a lane works with: first operands, and what a compare-and-swap puts there. */
typedef struct operands {
    uint64_t first[2], other[2];
} operands;

static operands operands_of(const sim_warp *w, const sim_instruction *c, int l)
{
    operands o = {{0}, {0}};
    for (int32_t v = 0; v < c->vector; v++) {
        o.first[v] = operand_of(w, c, c->b, v, l);
        if (c->c != SIM_NO_SLOT)
            o.other[v] = operand_of(w, c, c->c, v, l);
    }
    return o;
}

/* Does the atomic of a lane on `at`. False: it compared, and changed nothing. */
static bool apply_lane(const sim_instruction *c, const operands *o, ptx_space space, uint8_t *at,
                       uint64_t old[2])
{
    if (c->vector == 2)
        return exchange(at, (sim_atomic_op)c->op, o->first, o->other, old);
    old[0] = sim_atomic_apply(at, (sim_atomic_op)c->op, (ptx_type)c->type,
                              space == PTX_SPACE_GLOBAL, o->first[0], o->other[0]);
    return c->op != SIM_ATOMIC_CAS || old[0] == o->first[0];
}

/* Which lane is the first is left open, at each atomic anew: an adverse schedule begins with the
 * last one; or with either, where fewer are here than were given results, as these may say who
 * is. */
static bool begins_with_last(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t given = w->order.given;
    if (c->d2 != 0)
        w->order.given = mask;
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
    bool changed = false;
    sim_race_access a = sim_race_access_of(b, w, c, 0);
    const bool backwards = begins_with_last(b, w, c, mask);
    sim_repeat_end(w);
    for (uint32_t left = mask; left;) {
        int l = backwards ? 31 - __builtin_clz(left) : __builtin_ctz(left);
        left &= ~(1u << l);
        if (b->launch->check && c->op == SIM_ATOMIC_EXCH && find_lost(c, l, space, p, bytes, lost))
            losing |= 1u << l;
        const operands o = operands_of(w, c, l);
        const void *const sought = c->op == SIM_ATOMIC_CAS ? o.first : NULL;
        _Alignas(SIM_WRITE_BYTES) uint8_t older[SIM_WRITE_BYTES];
        const int from = sim_strong_choose(b, w, l, space, p, total, sought, older);
        uint8_t *const at = from == SIM_READS_MEMORY ? p->at[l] : older;
        /* A comparison that fails reads, and writes nothing: who marks nodes by it may meet those
         * that others read. */
        const sim_touch touch =
            sought && memcmp(at, sought, total) != 0 ? SIM_TOUCH_READ : SIM_TOUCH_ATOMIC;
        if (b->launch->check && (!sim_touch_lane(&a, l, space, p, total, touch, NULL) ||
                                 !sim_check_written(b, w, c, l, space, p, total, "atomic")))
            return false;
        b->met_unwritten = false;
        uint64_t was[2] = {0};
        const bool writes = apply_lane(c, &o, space, at, was);
        for (uint32_t v = 0; v < c->vector; v++)
            changed = changed || sim_load_bytes(at + v * bytes, bytes) != was[v];
        sim_strong_updated(b, w, c, l, space, p, total, from, was, writes, at, o.first[0]);
        for (uint32_t i = 0;
             space == PTX_SPACE_GLOBAL && b->launch->excerpt && p->valid[l] && i < total; i++)
            __atomic_store_n(&p->valid[l][i], SIM_BYTE_UPDATED, __ATOMIC_RELAXED);
        for (uint32_t v = 0; v < c->vector; v++)
            old[v][l] = was[v];
        old32[l] = (uint32_t)was[0];
        if (!b->launch->check)
            continue;
        if (losing >> l & 1 && space == PTX_SPACE_SHARED)
            memset(p->owner->shared_valid + p->address[l], SIM_WRITTEN, total);
        else if (losing >> l & 1)
            sim_mark_written(b, p->valid[l], total, space);
    }
    if (c->releases)
        w->order.epoch++;
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
