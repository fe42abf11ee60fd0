#include "sim/machine/execute.h"

#include <string.h>

#include "sim/machine/fault.h"
#include "sim/machine/lane_memory.h"
#include "sim/machine/repeat.h"
#include "sim/machine/strong.h"
#include "sim/machine/values.h"
#include "sim/machine/watch.h"
#include "sim/program/operations.h"

/* Executes an exchange with `operand`, or a compare-and-swap of `operand` and `other`, of 128 bits
 * (lower half first). Returns whether it wrote. The halves may be accessed one by one, because
 * programs with these atomics run on one host thread. */
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

/* The operands of a lane's atomic; `other` is the new value of a compare-and-swap. */
typedef struct operands {
    uint64_t first[2], other[2];
} operands;

static operands operands_of(const sim_warp *w, const sim_instruction *c, int l)
{
    operands o = {{0}, {0}};
    for (int32_t v = 0; v < c->vector; v++) {
        o.first[v] = sim_lane(w, c->b + v * SIM_HIGH_HALF, c->width, l);
        if (c->c != SIM_NO_SLOT)
            o.other[v] = sim_lane(w, c->c + v * SIM_HIGH_HALF, c->width, l);
    }
    return o;
}

/* Executes a lane's atomic on `at`. Returns false if a compare-and-swap did not swap. */
static bool apply_lane(const sim_instruction *c, const operands *o, ptx_space space, uint8_t *at,
                       uint64_t old[2])
{
    if (c->vector == 2)
        return exchange(at, (sim_atomic_op)c->op, o->first, o->other, old);
    old[0] = sim_atomic_apply(at, (sim_atomic_op)c->op, (ptx_type)c->type,
                              space == PTX_SPACE_GLOBAL, o->first[0], o->other[0]);
    return c->op != SIM_ATOMIC_CAS || old[0] == o->first[0];
}

/* Returns whether lanes execute an atomic in reverse order, as a GPU may. An adverse schedule
 * decides at random if results of the last atomic may have selected the lanes of `mask`. */
static bool runs_backwards(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t given = w->order.last_atomic;
    if (c->d2 != 0)
        w->order.last_atomic = mask;
    return b->adverse && ((mask & ~given) || mask == given || rng_below(&b->order, 2));
}

/* Sets `lost` to the uninitialised bits that an exchange reads. Returns whether there are any. */
static bool find_missing(const sim_instruction *c, int lane, const sim_lane_memory *p,
                         uint32_t bytes, uint64_t lost[2][SIM_LANES])
{
    uint64_t all = 0;
    for (uint32_t v = 0; v < c->vector; v++) {
        uint32_t first = v * bytes;
        all |= lost[v][lane] = sim_unwritten_bits(p, lane, bytes, &first);
    }
    return all != 0;
}

static bool execute_atomic(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                           const sim_lane_memory *p, uint32_t bytes)
{
    const uint32_t total = bytes * c->vector;
    uint64_t old[2][SIM_LANES], lost[2][SIM_LANES];
    uint32_t old32[SIM_LANES], losing = 0; /* lanes whose exchange reads uninitialised bits */
    bool changed = false;
    sim_race_access a = sim_race_access_of(b, w, c, 0);
    const bool backwards = runs_backwards(b, w, c, mask);
    sim_repeat_end(w);
    for (uint32_t left = mask; left;) {
        int l = backwards ? 31 - __builtin_clz(left) : __builtin_ctz(left);
        left &= ~(1u << l);
        if (b->launch->check && c->op == SIM_ATOMIC_EXCH && find_missing(c, l, p, bytes, lost))
            losing |= 1u << l;
        const operands o = operands_of(w, c, l);
        const void *const sought = c->op == SIM_ATOMIC_CAS ? o.first : NULL;
        _Alignas(SIM_WRITE_BYTES) uint8_t older[SIM_WRITE_BYTES];
        const int from = sim_strong_choose(b, w, l, p, total, sought, older);
        uint8_t *const at = from == SIM_READS_MEMORY ? p->at[l] : older;
        /* A compare-and-swap that fails counts as a read, because it changes nothing. */
        const sim_touch touch =
            sought && memcmp(at, sought, total) != 0 ? SIM_TOUCH_READ : SIM_TOUCH_ATOMIC;
        if (b->launch->check && (!sim_touch_lane(&a, l, p, total, touch, NULL) ||
                                 !sim_check_written(b, w, c, l, p, total, "atomic")))
            return false;
        b->met_unwritten = false;
        uint64_t was[2] = {0};
        const bool writes = apply_lane(c, &o, p->space, at, was);
        for (uint32_t v = 0; v < c->vector; v++)
            changed = changed || sim_load_bytes(at + v * bytes, bytes) != was[v];
        sim_strong_updated(b, w, c, l, p, total, from, was, writes, at, o.first[0]);
        for (uint32_t i = 0; p->space == PTX_SPACE_GLOBAL && p->valid[l] && i < total; i++)
            __atomic_store_n(&p->valid[l][i], SIM_BYTE_UPDATED, __ATOMIC_RELAXED);
        for (uint32_t v = 0; v < c->vector; v++)
            old[v][l] = was[v];
        old32[l] = (uint32_t)was[0];
        if (!b->launch->check)
            continue;
        if (losing >> l & 1 && p->space == PTX_SPACE_SHARED)
            memset(p->owner->shared_valid + p->address[l], SIM_WRITTEN, total);
        else if (losing >> l & 1)
            sim_mark_written(b, p->valid[l], total, p->space);
    }
    if (c->releases)
        w->order.epoch++;
    if (changed)
        sim_note_change(b, w);
    else if (c->d2 != 0)
        sim_strong_poll(b, w, c, mask, p, bytes, c->width == 8 ? NULL : sim_lanes32(w, c->b));
    if (c->d2 != 0 || b->program->communicates)
        sim_yield(b, w, p->space);
    if (c->d2 == 0)
        return true;
    for (int32_t v = 0; c->width == 8 && v < c->vector; v++)
        sim_put64(w, c->d + v * SIM_HIGH_HALF, old[v], mask);
    if (c->width != 8)
        sim_put32(w, c->d, old32, mask);
    for (int32_t v = 0; v < c->vector; v++)
        SIM_EACH_OF(l, losing)
    sim_mark_missing_bits(b, w, c, l, p, 0, c->d + v * SIM_HIGH_HALF, lost[v][l]);
    return true;
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

static void load_element(sim_warp *w, const sim_instruction *c, uint32_t mask,
                         const sim_lane_memory *p, int32_t to, uint32_t skip, uint32_t bytes)
{
    uint32_t r32[SIM_LANES];
    uint64_t r64[SIM_LANES];
    if (c->width == 8) {
        SIM_EACH_OF(l, mask)
        r64[l] = sim_load_bytes(p->at[l] + skip, bytes);
        sim_put64(w, to, r64, mask);
        return;
    }
    if (bytes == 4 && mask == UINT32_MAX) {
        SIM_EACH_LANE(l)
        r32[l] =
            __atomic_load_n((const uint32_t *)(const void *)(p->at[l] + skip), __ATOMIC_RELAXED);
    } else {
        SIM_EACH_OF(l, mask)
        r32[l] = (uint32_t)extend(sim_load_bytes(p->at[l] + skip, bytes), (ptx_type)c->type);
    }
    sim_put32(w, to, r32, mask);
}

/* Executes strong loads. Returns the lanes that loaded an older value than memory holds. */
static uint32_t load_strongly(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                              const sim_lane_memory *p, uint32_t bytes)
{
    _Alignas(SIM_WRITE_BYTES) uint8_t value[SIM_LANES][SIM_WRITE_BYTES];
    const uint32_t stale = sim_strong_read(b, w, c, mask, p, bytes * c->vector, value);
    sim_lane_memory older;
    SIM_EACH_OF(l, stale) older.at[l] = value[l];
    for (int v = 0; stale && v < c->vector; v++)
        load_element(w, c, stale, &older, b->program->lists[c->list + v], (uint32_t)v * bytes,
                     bytes);
    return stale;
}

static uint32_t find_dropping(const sim_block *b, const sim_warp *w, const sim_instruction *c)
{
    const sim_instruction *by = &b->program->code[c->drops];
    const uint32_t holds = sim_is_comparison(by)
                               ? by->compare(w->registers + by->a, w->registers + by->b)
                               : sim_predicate(w, by->d, false);
    return c->drops_negated ? ~holds : holds;
}

static bool load(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                 const sim_lane_memory *p, uint32_t bytes)
{
    uint32_t total = bytes * c->vector;
    const bool constant = sim_is_constant(mask, p);
    if (!constant)
        sim_repeat_end(w);
    if (b->launch->check && !constant) {
        sim_race_access a = sim_race_access_of(b, w, c, 0);
        bool fine = true;
        const uint32_t used = c->drops < 0 ? mask : mask & ~find_dropping(b, w, c);
        const uint32_t left =
            used ? sim_touch_together(&a, used, p, total, SIM_TOUCH_READ, NULL, &fine) : 0;
        SIM_EACH_OF(l, fine ? mask : 0)
        fine = fine &&
               (!(left >> l & 1) || sim_touch_lane(&a, l, p, total, SIM_TOUCH_READ, NULL)) &&
               sim_check_written(b, w, c, l, p, total, "read");
        if (!fine)
            return false;
    }
    const int32_t *slots = b->program->lists + c->list;
    for (int v = 0; v < c->vector; v++)
        load_element(w, c, mask, p, slots[v], (uint32_t)v * bytes, bytes);
    const uint32_t stale = c->scope ? load_strongly(b, w, c, mask, p, bytes) : 0;
    if (b->met_unwritten)
        sim_mark_missing_bytes(b, w, c, mask, p, bytes);
    if (c->scope && p->space != PTX_SPACE_LOCAL && stale == 0)
        sim_strong_poll(b, w, c, mask, p, bytes, NULL);
    if (c->scope && p->space != PTX_SPACE_LOCAL)
        sim_yield(b, w, p->space);
    return true;
}

static inline bool store_elements(const sim_warp *w, const sim_instruction *c, uint32_t mask,
                                  const sim_lane_memory *p, int32_t slot, uint32_t skip,
                                  uint32_t bytes)
{
    const uint64_t of_type = bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
    uint64_t changed = 0;
    SIM_EACH_OF(l, mask)
    {
        const uint64_t fresh = sim_lane(w, slot, c->width, l);
        changed |= (sim_load_bytes(p->at[l] + skip, bytes) ^ fresh) & of_type;
        sim_store_bytes(p->at[l] + skip, bytes, fresh);
    }
    return changed != 0;
}

/* Returns the bytes that the lanes store, lane by lane, in the register or in `packed`. */
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

/* Stores a lane's elements. Returns false, with a fault, if a value is missing. */
static bool store_lane(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       const sim_lane_memory *p, uint32_t bytes, const uint8_t *fresh,
                       bool *changed)
{
    const int32_t *slots = b->program->lists + c->list;
    if (fresh && c->scope && !sim_strong_store(b, w, c, lane, p, fresh, bytes * c->vector))
        return *changed = true;
    for (int v = 0; v < c->vector; v++)
        *changed |= store_elements(w, c, 1u << lane, p, slots[v], (uint32_t)v * bytes, bytes);
    sim_mark_written(b, p->valid[lane], bytes * c->vector, p->space);
    return !w->missing || !b->launch->check || sim_store_missing(b, w, c, lane, p, bytes);
}

static bool store(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                  const sim_lane_memory *p, uint32_t bytes)
{
    const uint32_t total = bytes * c->vector;
    const int32_t *slots = b->program->lists + c->list;
    const bool watch =
        b->launch->check && (p->space == PTX_SPACE_SHARED || p->space == PTX_SPACE_GLOBAL);
    bool changed = false, fine = true;
    uint8_t packed[SIM_LANES * 64];
    const uint8_t *fresh = watch ? pack_fresh(b, w, c, mask, bytes, packed) : NULL;
    sim_race_access a = sim_race_access_of(b, w, c, 0);
    const uint32_t left =
        watch ? sim_touch_together(&a, mask, p, total, SIM_TOUCH_WRITE, fresh, &fine) : 0;
    sim_repeat_end(w);
    if (left == 0 && !w->missing && c->scope == 0) {
        for (int v = 0; fine && v < c->vector; v++)
            changed |= bytes == 4
                           ? store_elements(w, c, mask, p, slots[v], (uint32_t)v * 4, 4)
                           : store_elements(w, c, mask, p, slots[v], (uint32_t)v * bytes, bytes);
        SIM_EACH_OF(l, fine ? mask : 0) sim_mark_written(b, p->valid[l], total, p->space);
    } else {
        /* Lanes may write the same bytes, so the lanes are checked one after another. */
        SIM_EACH_OF(l, fine ? mask : 0)
        fine =
            fine &&
            (!(left >> l & 1) ||
             sim_touch_lane(&a, l, p, total, SIM_TOUCH_WRITE, fresh + (uint32_t)l * total)) &&
            store_lane(b, w, c, l, p, bytes, fresh ? fresh + (uint32_t)l * total : NULL, &changed);
    }
    if (!fine)
        return false;
    if (c->releases)
        w->order.epoch++;
    if (p->space == PTX_SPACE_LOCAL)
        sim_repeat_forget(w);
    else if (changed)
        sim_note_change(b, w);
    if (c->scope && p->space != PTX_SPACE_LOCAL)
        sim_yield(b, w, p->space);
    return true;
}

static bool access_space(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                         sim_lane_memory *p)
{
    uint32_t bytes = ptx_type_bytes((ptx_type)c->type), total = bytes * c->vector;
    if (!sim_lane_memory_find(b, w, c, mask, total, c->kind != SIM_LOAD, p))
        return false;
    sim_count_requests(b, c, mask, p->space, p->address, total);
    if (c->kind == SIM_LOAD)
        return load(b, w, c, mask, p, bytes);
    if (c->kind == SIM_STORE)
        return store(b, w, c, mask, p, bytes);
    return execute_atomic(b, w, c, mask, p, bytes);
}

/* Accesses shared memory in several blocks of the cluster, one block at a time. */
static bool access_cluster(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                           sim_lane_memory *p)
{
    p->space = PTX_SPACE_SHARED;
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
        if (!access_space(b, w, c, together, p))
            return false;
        mask &= ~together;
    }
    return true;
}

bool sim_access(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    sim_lane_memory p;
    p.owner = b;
    p.space = (ptx_space)c->space;
    w->accesses++;
    sim_lane_addresses(w, c->a, c->source_width, c->offset, p.address);
    if (c->cluster)
        return access_cluster(b, w, c, mask, &p);
    if (c->space != PTX_SPACE_GENERIC)
        return access_space(b, w, c, mask, &p);
    /* A generic address lies in the window of its space. Other addresses are in global memory. */
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
        p.space = windows[i].space;
        if (inside && p.space == PTX_SPACE_PARAM && c->kind != SIM_LOAD)
            return sim_fail(b, w, c, __builtin_ctz(inside), SIM_FAULT_READ_ONLY,
                            "write to an argument of the kernel");
        if (inside &&
            !(p.space == PTX_SPACE_SHARED ? access_cluster : access_space)(b, w, c, inside, &p))
            return false;
        mask &= ~inside;
    }
    p.space = PTX_SPACE_GLOBAL;
    return mask == 0 || access_space(b, w, c, mask, &p);
}

bool sim_discard(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t bytes = c->vector;
    uint8_t unknown[UINT8_MAX];
    sim_lane_memory p;
    p.owner = b;
    p.space = PTX_SPACE_GLOBAL;
    memset(unknown, 0xa5, sizeof unknown);
    sim_lane_addresses(w, c->a, c->source_width, c->offset, p.address);
    if (!sim_lane_memory_find(b, w, c, mask, bytes, true, &p))
        return false;
    sim_race_access a = sim_race_access_of(b, w, c, 0);
    SIM_EACH_OF(l, mask)
    {
        if (b->launch->check && !sim_touch_lane(&a, l, &p, bytes, SIM_TOUCH_WRITE, unknown))
            return false;
        memcpy(p.at[l], unknown, bytes);
        if (p.valid[l])
            memset(p.valid[l], SIM_NEVER_WRITTEN, bytes);
    }
    sim_note_change(b, w);
    return true;
}
