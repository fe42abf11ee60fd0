#include "sim/machine/access.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "sim/machine/atomic.h"
#include "sim/machine/fault.h"
#include "sim/machine/global.h"
#include "sim/machine/peers.h"
#include "sim/machine/places.h"
#include "sim/machine/repeat.h"
#include "sim/machine/shared.h"
#include "sim/machine/values.h"
#include "sim/program/operations.h"

/* Others may write the marks meanwhile. */
static bool all_written(const uint8_t *valid, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        if (!__atomic_load_n(&valid[i], __ATOMIC_RELAXED))
            return false;
    return true;
}

/* Tells, in a later launch of an excerpt, whether the blocks that did run wrote these bytes, or
 * nothing may write them. */
static bool is_seen(const sim_region *r, const uint8_t *valid, uint32_t bytes)
{
    for (uint32_t i = 0; !r->read_only && i < bytes; i++) {
        uint8_t state = valid ? __atomic_load_n(&valid[i], __ATOMIC_RELAXED) : 0;
        if (state != SIM_BYTE_WRITTEN && state < SIM_BYTE_LAST)
            return false;
    }
    return true;
}

static bool look_for_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                               ptx_space space, const sim_places *p, uint32_t bytes,
                               const char *what)
{
    const bool in_region = space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST;
    const sim_region *region = in_region ? p->region[lane] : NULL;
    const sim_excerpt *x = b->launch->excerpt;
    if (region && x && x->later && !is_seen(region, p->valid[lane], bytes))
        return sim_fail(b, w, c, lane, SIM_FAULT_UNSEEN, "it reads what other blocks write");
    if (!p->valid[lane] || (region && region->filled) || all_written(p->valid[lane], bytes))
        return true;
    if (sim_values_may_lack(c)) {
        b->met_unwritten = true;
        return true;
    }
    char where[SIM_PLACE_BYTES];
    sim_memory_describe(b->launch->memory, p->address[lane], where, sizeof where);
    return sim_fail(b, w, c, lane, SIM_FAULT_UNINITIALISED,
                    "%s of %u bytes that nothing wrote at %s", what, bytes, where);
}

static inline bool check_written(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                                 ptx_space space, const sim_places *p, uint32_t bytes,
                                 const char *what)
{
    /* Bytes of an excerpt that have no map may still be unseen. */
    return (!p->valid[lane] && !b->launch->excerpt) ||
           look_for_unwritten(b, w, c, lane, space, p, bytes, what);
}

/* Does a strong access to that space find what others released? */
static bool is_released(const sim_block *b, ptx_space space, const sim_places *p)
{
    return space == PTX_SPACE_SHARED ? p->owner->releases.count > 0
                                     : space == PTX_SPACE_GLOBAL && b->watch->releases.count > 0;
}

/* Races, where the space is watched for them. */
static bool touch(sim_race_access *a, int lane, ptx_space space, const sim_places *p,
                  uint32_t bytes, sim_touch kind, const uint8_t *fresh)
{
    sim_race_access_by(a, lane);
    if (space == PTX_SPACE_SHARED) {
        a->owner = p->owner;
        return sim_shared_touch(a, (uint32_t)p->address[lane], bytes, kind, fresh);
    }
    if (space == PTX_SPACE_GLOBAL) {
        const sim_region *r = a->region = p->region[lane];
        return !sim_is_watched(a->block->watch, r) ||
               sim_global_touch(a, p->address[lane] - r->base, bytes, kind, fresh);
    }
    return true;
}

/* Are the lanes' bytes side by side, those of all lanes? */
static bool is_row(uint32_t mask, const sim_places *p, uint32_t bytes)
{
    uint64_t apart = 0;
    if (mask != UINT32_MAX)
        return false;
    SIM_EACH_LANE(l) apart |= p->address[l] ^ (p->address[0] + (uint64_t)l * bytes);
    return apart == 0;
}

/* Touches at once what can be, and returns the lanes that are left; *fine as of touch(). */
static uint32_t touch_together(sim_race_access *a, uint32_t mask, ptx_space space,
                               const sim_places *p, uint32_t bytes, sim_touch kind,
                               const uint8_t *fresh, bool *fine)
{
    if (space == PTX_SPACE_SHARED) {
        a->owner = p->owner;
        if (kind == SIM_TOUCH_READ && p->address[0] == p->address[1]) {
            uint64_t apart = 0;
            SIM_EACH_OF(l, mask) apart |= p->address[l] ^ p->address[__builtin_ctz(mask)];
            return apart == 0 && sim_shared_read_word(
                                     a, mask, (uint32_t)p->address[__builtin_ctz(mask)], bytes)
                       ? 0
                       : mask;
        }
        return is_row(mask, p, bytes) ? mask & ~sim_shared_touch_row(a, (uint32_t)p->address[0],
                                                                     bytes, kind, fresh, fine)
                                      : mask;
    }
    if (space != PTX_SPACE_GLOBAL || !is_row(mask, p, bytes) || p->region[0] != p->region[31])
        return mask;
    a->region = p->region[0];
    return mask &
           ~sim_global_touch_row(a, p->address[0] - a->region->base, bytes, kind, fresh, fine);
}

/* A place that a strong access has read, or written, is where threads synchronise. */
static void note_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      ptx_space space, const sim_places *p)
{
    if (space == PTX_SPACE_SHARED)
        sim_shared_read(b, p->owner, w, c, lane, (uint32_t)p->address[lane]);
    else if (space == PTX_SPACE_GLOBAL)
        sim_global_read(b, w, c, lane, p->address[lane]);
}

static void note_written(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                         ptx_space space, const sim_places *p)
{
    if (space == PTX_SPACE_SHARED)
        sim_shared_written(b, p->owner, w, c, lane, (uint32_t)p->address[lane]);
    else if (space == PTX_SPACE_GLOBAL)
        sim_global_written(b, w, c, lane, p->address[lane]);
}

/* Other blocks may write the same bytes: plain accesses are relaxed atomics of the host. */
static uint64_t load_bytes(const uint8_t *at, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return __atomic_load_n(at, __ATOMIC_RELAXED);
    case 2:
        return __atomic_load_n((const uint16_t *)(const void *)at, __ATOMIC_RELAXED);
    case 4:
        return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_RELAXED);
    default:
        return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_RELAXED);
    }
}

static void store_bytes(uint8_t *at, uint32_t bytes, uint64_t v)
{
    switch (bytes) {
    case 1:
        __atomic_store_n(at, (uint8_t)v, __ATOMIC_RELAXED);
        break;
    case 2:
        __atomic_store_n((uint16_t *)(void *)at, (uint16_t)v, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n((uint32_t *)(void *)at, (uint32_t)v, __ATOMIC_RELAXED);
        break;
    default:
        __atomic_store_n((uint64_t *)(void *)at, v, __ATOMIC_RELAXED);
        break;
    }
}

static uint64_t extend(uint64_t v, ptx_type type)
{
    switch (type) {
    case PTX_S8:
        return (uint64_t)(int64_t)(int8_t)v;
    case PTX_S16:
        return (uint64_t)(int64_t)(int16_t)v;
    default:
        return v;
    }
}

static void load_element(sim_warp *w, const sim_instruction *c, uint32_t mask, const sim_places *p,
                         int32_t to, uint32_t skip, uint32_t bytes)
{
    uint32_t r32[SIM_LANES];
    uint64_t r64[SIM_LANES];
    if (c->width == 8) {
        SIM_EACH_OF(l, mask)
        r64[l] = load_bytes(p->at[l] + skip, bytes);
        sim_put64(w, to, r64, mask);
        return;
    }
    if (bytes == 4 && mask == UINT32_MAX) {
        SIM_EACH_LANE(l)
        r32[l] =
            __atomic_load_n((const uint32_t *)(const void *)(p->at[l] + skip), __ATOMIC_RELAXED);
    } else {
        SIM_EACH_OF(l, mask)
        r32[l] = (uint32_t)extend(load_bytes(p->at[l] + skip, bytes), (ptx_type)c->type);
    }
    sim_put32(w, to, r32, mask);
}

/* Stands for the instruction, where its lanes look, what they find there and what they offer for
 * it. */
static uint64_t look_at(const sim_block *b, const sim_instruction *c, uint32_t mask,
                        const sim_places *p, uint32_t bytes, const uint32_t *offered)
{
    uint64_t sum = (uint64_t)(c - b->program->code);
    SIM_EACH_OF(l, mask)
    for (uint32_t v = 0; v < c->vector; v++)
        sum = (sum ^ p->address[l] ^ load_bytes(p->at[l] + v * bytes, bytes) << 20 ^
               (offered ? (uint64_t)offered[l] << 40 : 0)) *
                  UINT64_C(0x9e3779b97f4a7c15) +
              (uint64_t)l;
    return sum ^ sum >> 32;
}

static void tell_byte(const sim_block *b, int lane, ptx_space space, const sim_places *p,
                      uint32_t byte, char *text, size_t size_bytes)
{
    uint64_t at = p->address[lane] + byte;
    char where[SIM_PLACE_BYTES];
    if (space == PTX_SPACE_SHARED) {
        sim_shared_name(p->owner, (uint32_t)at, where, sizeof where);
        snprintf(text, size_bytes, "%s, to which no value was written", where);
    } else if (space == PTX_SPACE_LOCAL) {
        snprintf(text, size_bytes, "local memory byte %" PRIu64 " of %u, which was never written",
                 at, b->program->local_bytes);
    } else {
        sim_memory_describe(b->launch->memory, at, where, sizeof where);
        snprintf(text, size_bytes, "%s, which nothing wrote", where);
    }
}

/* The map of a lane's bytes that were written; NULL: all were. */
static const uint8_t *written_of(const sim_places *p, int lane, ptx_space space)
{
    if (space == PTX_SPACE_SHARED)
        return p->owner->shared_valid + p->address[lane];
    bool in_region = space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST;
    return in_region && p->region[lane]->filled ? NULL : p->valid[lane];
}

/* The bits that nothing wrote of `bytes` after `first`, which becomes the first such byte. */
static uint64_t unwritten_bits(const uint8_t *written, uint32_t bytes, uint32_t *first)
{
    uint64_t bits = 0;
    const uint32_t from = *first;
    for (uint32_t i = bytes; i-- > 0;)
        if (!__atomic_load_n(&written[from + i], __ATOMIC_RELAXED)) {
            bits |= UINT64_C(0xff) << 8 * i;
            *first = from + i;
        }
    return bits;
}

/* The bits of what the lanes have loaded that nothing wrote have no value. */
static bool lose_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                           ptx_space space, const sim_places *p, uint32_t bytes)
{
    const int32_t *slots = b->program->lists + c->list;
    bool is_signed = c->type == PTX_S8 || c->type == PTX_S16 || c->type == PTX_S32;
    b->met_unwritten = false;
    SIM_EACH_OF(l, mask)
    {
        const uint8_t *written = written_of(p, l, space);
        for (int v = 0; written && v < c->vector; v++) {
            uint32_t first = (uint32_t)v * bytes;
            uint64_t bits = unwritten_bits(written, bytes, &first);
            if (bits == 0)
                continue;
            if (is_signed && bits >> (8 * bytes - 1) & 1)
                bits |= UINT64_MAX << (8 * bytes - 1);
            char where[SIM_ORIGIN_BYTES];
            tell_byte(b, l, space, p, first, where, sizeof where);
            const uint8_t *local = space == PTX_SPACE_LOCAL ? &written[first] : NULL;
            if (!sim_values_lose(b, w, c, l, slots[v], bits, where, local))
                return false;
        }
    }
    return true;
}

/* Is it what no launch changes, all of it written? */
static bool is_constant(uint32_t mask, ptx_space space, const sim_places *p)
{
    bool all = space == PTX_SPACE_PARAM || space == PTX_SPACE_CONST || space == PTX_SPACE_GLOBAL;
    if (all && space != PTX_SPACE_PARAM && p->only)
        return p->only->read_only && !p->only->valid;
    SIM_EACH_OF(l, space == PTX_SPACE_PARAM || !all ? 0 : mask)
    all = all && p->region[l]->read_only && !p->valid[l];
    return all;
}

/* So many bytes of a strong read at most may be found as they were. */
enum { MOST_LATE_BYTES = 16 };

/* In an adverse schedule a store that nothing orders before the read comes late, the first time.
 * Returns the lanes that find what it replaced. */
static uint32_t find_late(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                          ptx_space space, const sim_places *p, uint32_t total,
                          uint8_t before[SIM_LANES][MOST_LATE_BYTES])
{
    uint32_t late = 0;
    if (!b->adverse || !b->launch->check || !c->scope || space != PTX_SPACE_GLOBAL ||
        total > MOST_LATE_BYTES)
        return 0;
    sim_race_access a = sim_race_access_of(b, w, c, 0);
    SIM_EACH_OF(l, mask)
    {
        sim_race_access_by(&a, l);
        a.region = p->region[l];
        if (sim_is_watched(b->watch, a.region) &&
            sim_global_late(&a, p->address[l] - a.region->base, total, before[l]))
            late |= 1u << l;
    }
    return late;
}

static void load_before(sim_warp *w, const sim_instruction *c, uint32_t late, const sim_places *p,
                        const int32_t *slots, uint32_t bytes,
                        uint8_t before[SIM_LANES][MOST_LATE_BYTES])
{
    sim_places then = *p;
    SIM_EACH_OF(l, late) then.at[l] = before[l];
    for (int v = 0; v < c->vector; v++)
        load_element(w, c, late, &then, slots[v], (uint32_t)v * bytes, bytes);
}

/* In an adverse schedule others often have their turn between what a warp found in a place that
 * threads share and what it makes of it. */
static void give_way(sim_block *b, sim_warp *w, ptx_space space)
{
    if (!b->adverse || !rng_below(&b->order, 2))
        return;
    w->slice_end = w->executed;
    b->cluster->gave_way = b->cluster->gave_way || space == PTX_SPACE_GLOBAL;
}

static bool load(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                 ptx_space space, const sim_places *p, uint32_t bytes)
{
    uint32_t total = bytes * c->vector;
    _Alignas(8) uint8_t before[SIM_LANES][MOST_LATE_BYTES];
    const uint32_t late = find_late(b, w, c, mask, space, p, total, before);
    const bool constant = is_constant(mask, space, p);
    if (!constant)
        sim_repeat_end(w);
    if (b->launch->check && !constant) {
        sim_race_access a = sim_race_access_of(b, w, c, 0);
        bool fine = true;
        const uint32_t left =
            touch_together(&a, mask, space, p, total, SIM_TOUCH_READ, NULL, &fine);
        SIM_EACH_OF(l, fine ? mask : 0)
        fine = fine && (!(left >> l & 1) || touch(&a, l, space, p, total, SIM_TOUCH_READ, NULL)) &&
               check_written(b, w, c, l, space, p, total, "read");
        if (!fine)
            return false;
    }
    const int32_t *slots = b->program->lists + c->list;
    for (int v = 0; v < c->vector; v++)
        load_element(w, c, mask, p, slots[v], (uint32_t)v * bytes, bytes);
    if (late)
        load_before(w, c, late, p, slots, bytes, before);
    if (b->met_unwritten && !lose_unwritten(b, w, c, mask, space, p, bytes))
        return false;
    for (uint32_t m = c->scope && b->launch->check && is_released(b, space, p) ? mask & ~late : 0;
         m; m &= m - 1)
        note_read(b, w, c, __builtin_ctz(m), space, p);
    if (c->scope && space != PTX_SPACE_LOCAL && late == 0)
        sim_note_poll(b, w, c, mask, look_at(b, c, mask, p, bytes, NULL),
                      space == PTX_SPACE_GLOBAL);
    if (c->scope && space != PTX_SPACE_LOCAL)
        give_way(b, w, space);
    return true;
}

static void mark_written(const sim_block *b, uint8_t *valid, uint32_t bytes, ptx_space space)
{
    const sim_excerpt *x = space == PTX_SPACE_GLOBAL ? b->launch->excerpt : NULL;
    const uint64_t mark = !x         ? SIM_BYTE_WRITTEN
                          : x->apart ? x->mark + b->cluster->position
                                     : x->mark;
    for (uint32_t i = 0; valid && i < bytes; i++)
        __atomic_store_n(&valid[i], (uint8_t)mark, __ATOMIC_RELAXED);
}

/* A lane stores what has no value in part: the gaps of a structure, which stay unwritten; or a
 * value that is missing: false, with a fault. A thread's own memory may hold such, and a block's:
 * a tile has places beyond the problem's end, and who uses what was put there is found then. Parts
 * are the elements of a vector, the halves of one. */
static bool store_missing(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                          ptx_space space, const sim_places *p, uint32_t bytes)
{
    const int32_t *slots = b->program->lists + c->list;
    uint32_t part = c->vector > 1 || bytes < 4 ? bytes : bytes / 2, kept = 0;
    const uint64_t whole = part < 8 ? (UINT64_C(1) << 8 * part) - 1 : UINT64_MAX;
    uint8_t *written =
        space == PTX_SPACE_SHARED ? p->owner->shared_valid + p->address[lane] : p->valid[lane];
    int32_t lost = SIM_NO_SLOT;
    bool broken = false;
    for (int v = 0; v < c->vector; v++) {
        uint64_t missing = sim_values_missing(w, c, lane, slots[v]);
        for (uint32_t at = 0; at < bytes; at += part) {
            uint64_t of_part = missing >> 8 * at & whole;
            kept += of_part == 0;
            broken = broken || (of_part != 0 && of_part != whole);
            for (uint32_t i = 0; written && of_part && i < part; i++)
                if (of_part >> 8 * i & 0xff)
                    __atomic_store_n(&written[(uint32_t)v * bytes + at + i], 0, __ATOMIC_RELAXED);
        }
        lost = missing ? slots[v] : lost;
        if (missing && space == PTX_SPACE_LOCAL)
            sim_values_keep(b, w, slots[v], &written[(uint32_t)v * bytes], bytes);
    }
    if (lost == SIM_NO_SLOT || space == PTX_SPACE_LOCAL || space == PTX_SPACE_SHARED ||
        (kept > 0 && !broken && written))
        return true;
    return sim_values_fail(b, w, c, lane, lost, "what it stores");
}

/* Stores element `v` of each lane; true: something has another value now. */
static inline bool store_elements(const sim_warp *w, const sim_instruction *c, uint32_t mask,
                                  const sim_places *p, int32_t slot, uint32_t skip, uint32_t bytes)
{
    const uint64_t of_type = bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
    uint64_t changed = 0;
    SIM_EACH_OF(l, mask)
    {
        const uint64_t fresh = c->width == 8 ? sim_lanes64(w, slot)[l] : sim_lanes32(w, slot)[l];
        changed |= (load_bytes(p->at[l] + skip, bytes) ^ fresh) & of_type;
        store_bytes(p->at[l] + skip, bytes, fresh);
    }
    return changed != 0;
}

/* Returns what each lane stores, one after the other: in the registers themselves or in `packed`.
 */
static const uint8_t *pack_fresh(const sim_block *b, const sim_warp *w, const sim_instruction *c,
                                 uint32_t mask, uint32_t bytes, uint8_t *packed)
{
    const int32_t *slots = b->program->lists + c->list;
    const uint32_t width = c->width == 8 ? 8 : 4;
    if (c->vector == 1 && bytes == width)
        return w->registers + slots[0];
    SIM_EACH_OF(l, mask)
    for (uint32_t v = 0; v < c->vector; v++)
        memcpy(packed + ((uint32_t)l * c->vector + v) * bytes,
               w->registers + slots[v] + (uint32_t)l * width, bytes);
    return packed;
}

/* False, with a fault: it stores what has no value. */
static bool store_lane(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       ptx_space space, const sim_places *p, uint32_t bytes, bool *changed)
{
    const int32_t *slots = b->program->lists + c->list;
    for (int v = 0; v < c->vector; v++)
        *changed |= store_elements(w, c, 1u << lane, p, slots[v], (uint32_t)v * bytes, bytes);
    mark_written(b, p->valid[lane], bytes * c->vector, space);
    if (b->launch->check && c->scope)
        note_written(b, w, c, lane, space, p);
    return !w->lacks || !b->launch->check || store_missing(b, w, c, lane, space, p, bytes);
}

static bool store(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                  ptx_space space, const sim_places *p, uint32_t bytes)
{
    const uint32_t total = bytes * c->vector;
    const int32_t *slots = b->program->lists + c->list;
    const bool watch = b->launch->check && (space == PTX_SPACE_SHARED || space == PTX_SPACE_GLOBAL);
    /* Local memory is nobody else's. */
    bool changed = space == PTX_SPACE_LOCAL, fine = true;
    uint8_t packed[SIM_LANES * 64];
    const uint8_t *fresh = watch ? pack_fresh(b, w, c, mask, bytes, packed) : NULL;
    sim_race_access a = sim_race_access_of(b, w, c, 0);
    const uint32_t left =
        watch ? touch_together(&a, mask, space, p, total, SIM_TOUCH_WRITE, fresh, &fine) : 0;
    sim_repeat_end(w);
    if (left == 0 && !w->lacks && c->scope == 0) {
        for (int v = 0; fine && v < c->vector; v++)
            changed |= bytes == 4
                           ? store_elements(w, c, mask, p, slots[v], (uint32_t)v * 4, 4)
                           : store_elements(w, c, mask, p, slots[v], (uint32_t)v * bytes, bytes);
        SIM_EACH_OF(l, fine ? mask : 0) mark_written(b, p->valid[l], total, space);
    } else {
        /* Lanes may write to one place: each looks at what the one before it left. */
        SIM_EACH_OF(l, fine ? mask : 0)
        fine = fine &&
               (!(left >> l & 1) ||
                touch(&a, l, space, p, total, SIM_TOUCH_WRITE, fresh + (uint32_t)l * total)) &&
               store_lane(b, w, c, l, space, p, bytes, &changed);
    }
    if (!fine)
        return false;
    if (c->releases)
        w->epoch++;
    if (space == PTX_SPACE_LOCAL)
        sim_repeat_forget(w);
    else if (changed)
        sim_note_change(b, w);
    return true;
}

/* Does the atomic of a lane. False: it compared, and changed nothing. */
static bool apply(const sim_warp *w, const sim_instruction *c, int l, ptx_space space,
                  const sim_places *p, uint64_t old[2])
{
    uint64_t operand[2] = {0}, other[2] = {0};
    for (int32_t v = 0; v < c->vector; v++) {
        const int32_t from = c->b + v * SIM_HIGH_HALF, second = c->c + v * SIM_HIGH_HALF;
        operand[v] = c->width == 8 ? sim_lanes64(w, from)[l] : sim_lanes32(w, from)[l];
        if (c->c != SIM_NO_SLOT)
            other[v] = c->width == 8 ? sim_lanes64(w, second)[l] : sim_lanes32(w, second)[l];
    }
    if (c->vector == 2)
        return sim_atomic_exchange(p->at[l], (sim_atomic_op)c->op, operand, other, old);
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
    const uint8_t *written = written_of(p, lane, space);
    uint64_t all = 0;
    for (uint32_t v = 0; written && v < c->vector; v++) {
        uint32_t first = v * bytes;
        all |= lost[v][lane] = unwritten_bits(written, bytes, &first);
    }
    return all != 0;
}

/* Those bits of what the lanes got by an exchange have no value. */
static bool lose_exchanged(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                           ptx_space space, const sim_places *p, uint64_t lost[2][SIM_LANES])
{
    SIM_EACH_OF(l, mask)
    for (int32_t v = 0; v < c->vector; v++) {
        char where[SIM_ORIGIN_BYTES];
        tell_byte(b, l, space, p, 0, where, sizeof where);
        if (lost[v][l] &&
            !sim_values_lose(b, w, c, l, c->d + v * SIM_HIGH_HALF, lost[v][l], where, NULL))
            return false;
    }
    return true;
}

static bool atomic(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                   ptx_space space, const sim_places *p, uint32_t bytes)
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
        if (b->launch->check && (!touch(&a, l, space, p, total, SIM_TOUCH_ATOMIC, NULL) ||
                                 !check_written(b, w, c, l, space, p, total, "atomic")))
            return false;
        b->met_unwritten = false;
        uint64_t was[2] = {0};
        const bool writes = apply(w, c, l, space, p, was);
        for (uint32_t i = 0;
             space == PTX_SPACE_GLOBAL && b->launch->excerpt && p->valid[l] && i < total; i++)
            __atomic_store_n(&p->valid[l][i], SIM_BYTE_UPDATED, __ATOMIC_RELAXED);
        for (uint32_t v = 0; v < c->vector; v++) {
            old[v][l] = was[v];
            changed = changed || load_bytes(p->at[l] + v * bytes, bytes) != was[v];
        }
        old32[l] = (uint32_t)was[0];
        if (!b->launch->check)
            continue;
        if (c->d2 != 0)
            note_read(b, w, c, l, space, p);
        /* A comparison that fails writes nothing. */
        if (writes)
            note_written(b, w, c, l, space, p);
        if (losing >> l & 1 && space == PTX_SPACE_SHARED)
            memset(p->owner->shared_valid + p->address[l], SIM_WRITTEN, total);
        else if (losing >> l & 1)
            mark_written(b, p->valid[l], total, space);
    }
    if (c->releases)
        w->epoch++;
    if (changed)
        sim_note_change(b, w);
    else if (c->d2 != 0)
        sim_note_poll(b, w, c, mask,
                      look_at(b, c, mask, p, bytes, c->width == 8 ? NULL : sim_lanes32(w, c->b)),
                      space == PTX_SPACE_GLOBAL);
    if (c->d2 == 0)
        return true;
    give_way(b, w, space);
    for (int32_t v = 0; c->width == 8 && v < c->vector; v++)
        sim_put64(w, c->d + v * SIM_HIGH_HALF, old[v], mask);
    if (c->width != 8)
        sim_put32(w, c->d, old32, mask);
    return lose_exchanged(b, w, c, losing, space, p, lost);
}

static void count_access(sim_block *b, const sim_instruction *c, uint32_t mask, ptx_space space,
                         const uint64_t *address, uint32_t bytes)
{
    sim_counter *n = b->counters ? &b->counters[c - b->program->code] : NULL;
    if (space == PTX_SPACE_SHARED && n) {
        if (c->kind == SIM_ATOMIC)
            sim_counter_add_shared_atomic(n, address, mask, bytes);
        else
            sim_counter_add_shared(n, address, mask, bytes, c->kind == SIM_STORE);
    } else if (space == PTX_SPACE_LOCAL && n) {
        /* Local memory is interleaved so that lanes at the same offset share sectors. */
        n->requests++;
        n->bytes += (uint64_t)__builtin_popcount(mask) * bytes;
        n->sectors += ((uint64_t)__builtin_popcount(mask) * bytes + 31) / 32;
    } else if (space == PTX_SPACE_CONST && n) {
        sim_counter_add_constant(n, address, mask);
    } else if (space == PTX_SPACE_GLOBAL && (n || b->launch->observer)) {
        sim_sectors s;
        sim_sectors_collect(address, mask, bytes, &s);
        if (n)
            sim_counter_add_sectors(n, &s);
        if (n && c->kind == SIM_ATOMIC)
            sim_counter_add_turns(n, address, mask);
        if (b->launch->observer)
            b->launch->observer(
                b->launch->observer_context, c,
                c->kind == SIM_STORE || c->kind == SIM_ATOMIC || c->kind == SIM_BULK_STORE, &s);
    }
}

/* Counts what the GPU makes of the access. */
static void count_shape(sim_block *b, const sim_instruction *c, uint32_t mask, ptx_space space,
                        const uint64_t *address, uint32_t bytes)
{
    if (!c->shape.reshaped) {
        count_access(b, c, mask, space, address, bytes);
        return;
    }
    for (int i = 0; i < c->shape.count; i++) {
        uint64_t moved[SIM_LANES];
        SIM_EACH_LANE(l) moved[l] = address[l] + (uint64_t)(int64_t)c->shape.pieces[i].skip;
        count_access(b, c, mask, space, moved, c->shape.pieces[i].bytes);
    }
}

static bool access_space(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                         ptx_space space, sim_places *p)
{
    uint32_t bytes = ptx_type_bytes((ptx_type)c->type), total = bytes * c->vector;
    if (!sim_places_find(b, w, c, mask, space, total, c->kind != SIM_LOAD, p))
        return false;
    count_shape(b, c, mask, space, p->address, total);
    if (c->kind == SIM_LOAD)
        return load(b, w, c, mask, space, p, bytes);
    if (c->kind == SIM_STORE)
        return store(b, w, c, mask, space, p, bytes);
    return atomic(b, w, c, mask, space, p, bytes);
}

/* Shared memory of whichever block of the cluster: one after the other. */
static bool access_cluster(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                           sim_places *p)
{
    while (mask) {
        uint64_t peer = p->address[__builtin_ctz(mask)] / SIM_PEER_BYTES;
        uint32_t together = 0;
        SIM_EACH_OF(l, mask)
        {
            if (p->address[l] / SIM_PEER_BYTES != peer)
                continue;
            together |= 1u << l;
            p->owner = sim_cluster_owner(b, w, c, l, &p->address[l], true);
            if (!p->owner)
                return false;
        }
        if (!access_space(b, w, c, together, PTX_SPACE_SHARED, p))
            return false;
        mask &= ~together;
    }
    return true;
}

bool sim_access(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    sim_places p;
    p.owner = b;
    w->accesses++;
    sim_places_address(w, c->a, c->source_width, c->offset, p.address);
    if (c->cluster)
        return access_cluster(b, w, c, mask, &p);
    if (c->space != PTX_SPACE_GENERIC)
        return access_space(b, w, c, mask, (ptx_space)c->space, &p);
    /* Each lane's address says where it points. */
    static const struct {
        uint64_t window;
        ptx_space space;
    } windows[] = {{SIM_SHARED_WINDOW, PTX_SPACE_SHARED},
                   {SIM_LOCAL_WINDOW, PTX_SPACE_LOCAL},
                   {SIM_PARAM_WINDOW, PTX_SPACE_PARAM}};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        uint32_t inside = 0;
        SIM_EACH_OF(l, mask)
        {
            if (p.address[l] - windows[i].window >= SIM_WINDOW_BYTES)
                continue;
            inside |= 1u << l;
            p.address[l] -= windows[i].window;
        }
        if (inside && windows[i].space == PTX_SPACE_PARAM && c->kind != SIM_LOAD)
            return sim_fail(b, w, c, __builtin_ctz(inside), SIM_FAULT_READ_ONLY,
                            "write to an argument of the kernel");
        if (inside && !(windows[i].space == PTX_SPACE_SHARED
                            ? access_cluster(b, w, c, inside, &p)
                            : access_space(b, w, c, inside, windows[i].space, &p)))
            return false;
        mask &= ~inside;
    }
    return mask == 0 || access_space(b, w, c, mask, PTX_SPACE_GLOBAL, &p);
}

static bool resolve_bulk(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                         uint64_t address, uint32_t bytes, bool is_write, sim_places *p)
{
    p->address[lane] = address;
    if (!sim_places_find_global(b, w, c, 1u << lane, bytes, is_write, p))
        return false;
    for (uint32_t at = 0; at < bytes; at += 16 * SIM_LANES) {
        sim_places piece;
        uint32_t left = (bytes - at) / 16,
                 lanes = left >= SIM_LANES ? UINT32_MAX : (1u << left) - 1;
        SIM_EACH_LANE(l) piece.address[l] = address + at + 16u * (uint32_t)l;
        count_access(b, c, lanes, PTX_SPACE_GLOBAL, piece.address, 16);
    }
    return true;
}

void sim_count_texels(sim_block *b, const sim_instruction *c, uint32_t mask,
                      const uint64_t *address, uint32_t bytes)
{
    count_access(b, c, mask, PTX_SPACE_GLOBAL, address, bytes);
}

bool sim_texel(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
               uint32_t bytes, uint8_t *to)
{
    sim_places p = {.owner = b};
    p.address[lane] = address;
    w->accesses++;
    if (!sim_places_find_global(b, w, c, 1u << lane, bytes, false, &p))
        return false;
    if (b->launch->check && !is_constant(1u << lane, PTX_SPACE_GLOBAL, &p)) {
        sim_race_access a = sim_race_access_of(b, w, c, lane);
        if (!touch(&a, lane, PTX_SPACE_GLOBAL, &p, bytes, SIM_TOUCH_READ, NULL) ||
            !check_written(b, w, c, lane, PTX_SPACE_GLOBAL, &p, bytes, "read"))
            return false;
    }
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)load_bytes(p.at[lane] + i, 1);
    return true;
}

/* Tells where it was found, for the end of the copy. */
static void tell_place(const sim_places *p, int lane, const sim_region **region, uint64_t *offset)
{
    *region = p->region[lane];
    *offset = p->address[lane] - p->region[lane]->base;
}

bool sim_bulk_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
                   uint32_t bytes, uint32_t number, uint8_t *to, const sim_region **region,
                   uint64_t *offset)
{
    sim_places p;
    if (!resolve_bulk(b, w, c, lane, address, bytes, false, &p))
        return false;
    tell_place(&p, lane, region, offset);
    if (b->launch->check &&
        (!sim_global_begin(b, w, c, lane, *region, *offset, bytes, SIM_TOUCH_READ, number, true) ||
         !check_written(b, w, c, lane, PTX_SPACE_GLOBAL, &p, bytes, "copy")))
        return false;
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)load_bytes(p.at[lane] + i, 1);
    return true;
}

bool sim_bulk_write(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, ptx_type type,
                    uint64_t address, uint32_t bytes, uint32_t number, const uint8_t *from,
                    const sim_region **region, uint64_t *offset)
{
    sim_places p;
    if (!resolve_bulk(b, w, c, lane, address, bytes, true, &p))
        return false;
    tell_place(&p, lane, region, offset);
    const bool adds = c->reduction >= 0;
    if (b->launch->check &&
        (!sim_global_begin(b, w, c, lane, *region, *offset, bytes,
                           adds ? SIM_TOUCH_ATOMIC : SIM_TOUCH_WRITE, number, true) ||
         (adds && !check_written(b, w, c, lane, PTX_SPACE_GLOBAL, &p, bytes, "atomic"))))
        return false;
    const uint32_t each = adds ? ptx_type_bytes(type) : 1;
    for (uint32_t i = 0; i < bytes; i += each) {
        uint64_t operand = load_bytes(from + i, each);
        if (adds)
            sim_atomic_apply(p.at[lane] + i, (sim_atomic_op)c->reduction, type, true, operand, 0);
        else
            store_bytes(p.at[lane] + i, 1, operand);
    }
    if (!adds)
        mark_written(b, p.valid[lane], bytes, PTX_SPACE_GLOBAL);
    return true;
}

/* Reads now; what it writes to shared memory appears when the thread waits for the group, so that a
 * kernel that forgets to wait reads what was there before. */
bool sim_copy_async(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    sim_places from, to;
    to.owner = b;
    uint32_t bytes = c->vector, reading = mask, given[SIM_LANES];
    sim_places_address(w, c->a, c->source_width, c->offset, from.address);
    sim_places_address(w, c->b, c->op, c->d2, to.address);
    SIM_EACH_LANE(l)
    {
        given[l] = c->c == SIM_NO_SLOT ? bytes : sim_lanes32(w, c->c)[l];
        given[l] = given[l] > bytes ? bytes : given[l];
        reading &= given[l] == 0 ? ~(1u << l) : UINT32_MAX;
    }
    if (reading && !sim_places_check_alignment(b, w, c, reading, from.address, bytes))
        return false;
    /* What is not read is filled with zeros, and need not be there. */
    for (uint32_t left = reading; left;) {
        const uint32_t first = given[__builtin_ctz(left)];
        uint32_t alike = 0;
        SIM_EACH_OF(l, left)
        alike |= given[l] == first ? 1u << l : 0;
        if (!sim_places_find_global(b, w, c, alike, first, false, &from))
            return false;
        left &= ~alike;
    }
    if (!sim_places_find(b, w, c, mask, PTX_SPACE_SHARED, bytes, true, &to))
        return false;
    if (reading)
        count_access(b, c, reading, PTX_SPACE_GLOBAL, from.address, bytes);
    SIM_EACH_OF(l, mask)
    {
        sim_copy copy = {.lane = (uint32_t)l,
                         .to = (uint32_t)to.address[l],
                         .bytes = bytes,
                         .group = w->copy_groups[l],
                         .number = w->copies_begun,
                         .instruction = c};
        if (given[l] && b->launch->check) {
            copy.from_bytes = given[l];
            tell_place(&from, l, &copy.from, &copy.from_at);
            if (!sim_global_begin(b, w, c, l, copy.from, copy.from_at, given[l], SIM_TOUCH_READ,
                                  copy.number, false) ||
                !check_written(b, w, c, l, PTX_SPACE_GLOBAL, &from, given[l], "copy"))
                return false;
        }
        if (!sim_shared_begin(b, b, w, c, l, copy.to, bytes, SIM_TOUCH_WRITE, copy.number, false))
            return false;
        if (given[l])
            memcpy(copy.data, from.at[l], given[l]);
        if (!array_add(&w->copies, &w->copy_count, &copy, sizeof copy))
            return sim_fail(b, w, c, l, SIM_FAULT_INTERNAL, "no memory for asynchronous copies");
    }
    w->copies_begun++;
    return true;
}
