#include "sim/machine/access.h"

#include <string.h>

#include "sim/machine/atomic.h"
#include "sim/machine/bytes.h"
#include "sim/machine/fault.h"
#include "sim/machine/peers.h"
#include "sim/machine/places.h"
#include "sim/machine/repeat.h"
#include "sim/machine/requests.h"
#include "sim/machine/strong.h"
#include "sim/machine/unwritten.h"
#include "sim/machine/watched.h"
#include "sim/program/operations.h"

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

/* Reads strongly, and loads what the lanes find that read older writes. Returns these lanes. */
static uint32_t load_strongly(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                              ptx_space space, const sim_places *p, uint32_t bytes)
{
    _Alignas(SIM_WRITE_BYTES) uint8_t value[SIM_LANES][SIM_WRITE_BYTES];
    const uint32_t stale = sim_strong_read(b, w, c, mask, space, p, bytes * c->vector, value);
    sim_places older;
    SIM_EACH_OF(l, stale) older.at[l] = value[l];
    for (int v = 0; stale && v < c->vector; v++)
        load_element(w, c, stale, &older, b->program->lists[c->list + v], (uint32_t)v * bytes,
                     bytes);
    return stale;
}

/* Returns the lanes that use nothing of what they load (sim/decode/deciding.h). */
static uint32_t find_dropping(const sim_block *b, const sim_warp *w, const sim_instruction *c)
{
    const sim_instruction *by = &b->program->code[c->drops];
    const uint32_t holds = sim_is_comparison(by)
                               ? by->compare(w->registers + by->a, w->registers + by->b)
                               : sim_predicate(w, by->d, false);
    return c->drops_negated ? ~holds : holds;
}

static bool load(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                 ptx_space space, const sim_places *p, uint32_t bytes)
{
    uint32_t total = bytes * c->vector;
    const bool constant = sim_is_constant(mask, space, p);
    if (!constant)
        sim_repeat_end(w);
    if (b->launch->check && !constant) {
        sim_race_access a = sim_race_access_of(b, w, c, 0);
        bool fine = true;
        const uint32_t used = c->drops < 0 ? mask : mask & ~find_dropping(b, w, c);
        const uint32_t left =
            used ? sim_touch_together(&a, used, space, p, total, SIM_TOUCH_READ, NULL, &fine) : 0;
        SIM_EACH_OF(l, fine ? mask : 0)
        fine = fine &&
               (!(left >> l & 1) || sim_touch_lane(&a, l, space, p, total, SIM_TOUCH_READ, NULL)) &&
               sim_check_written(b, w, c, l, space, p, total, "read");
        if (!fine)
            return false;
    }
    const int32_t *slots = b->program->lists + c->list;
    for (int v = 0; v < c->vector; v++)
        load_element(w, c, mask, p, slots[v], (uint32_t)v * bytes, bytes);
    const uint32_t stale = c->scope ? load_strongly(b, w, c, mask, space, p, bytes) : 0;
    if (b->met_unwritten && !sim_lose_unwritten(b, w, c, mask, space, p, bytes))
        return false;
    if (c->scope && space != PTX_SPACE_LOCAL && stale == 0)
        sim_strong_looked(b, w, c, mask, space, p, bytes, NULL);
    if (c->scope && space != PTX_SPACE_LOCAL)
        sim_give_way(b, w, space);
    return true;
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
        changed |= (sim_load_bytes(p->at[l] + skip, bytes) ^ fresh) & of_type;
        sim_store_bytes(p->at[l] + skip, bytes, fresh);
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

/* `fresh` is what the lane stores, or NULL where nobody watches. False, with a fault: it stores
 * what has no value. */
static bool store_lane(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       ptx_space space, const sim_places *p, uint32_t bytes, const uint8_t *fresh,
                       bool *changed)
{
    const int32_t *slots = b->program->lists + c->list;
    if (fresh && c->scope && !sim_strong_store(b, w, c, lane, space, p, fresh, bytes * c->vector))
        return *changed = true;
    for (int v = 0; v < c->vector; v++)
        *changed |= store_elements(w, c, 1u << lane, p, slots[v], (uint32_t)v * bytes, bytes);
    sim_mark_written(b, p->valid[lane], bytes * c->vector, space);
    return !w->lacks || !b->launch->check || sim_store_missing(b, w, c, lane, space, p, bytes);
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
        watch ? sim_touch_together(&a, mask, space, p, total, SIM_TOUCH_WRITE, fresh, &fine) : 0;
    sim_repeat_end(w);
    if (left == 0 && !w->lacks && c->scope == 0) {
        for (int v = 0; fine && v < c->vector; v++)
            changed |= bytes == 4
                           ? store_elements(w, c, mask, p, slots[v], (uint32_t)v * 4, 4)
                           : store_elements(w, c, mask, p, slots[v], (uint32_t)v * bytes, bytes);
        SIM_EACH_OF(l, fine ? mask : 0) sim_mark_written(b, p->valid[l], total, space);
    } else {
        /* Lanes may write to one place: each looks at what the one before it left. */
        SIM_EACH_OF(l, fine ? mask : 0)
        fine = fine &&
               (!(left >> l & 1) || sim_touch_lane(&a, l, space, p, total, SIM_TOUCH_WRITE,
                                                   fresh + (uint32_t)l * total)) &&
               store_lane(b, w, c, l, space, p, bytes, fresh ? fresh + (uint32_t)l * total : NULL,
                          &changed);
    }
    if (!fine)
        return false;
    if (c->releases)
        w->order.epoch++;
    if (space == PTX_SPACE_LOCAL)
        sim_repeat_forget(w);
    else if (changed)
        sim_note_change(b, w);
    if (c->scope && space != PTX_SPACE_LOCAL)
        sim_give_way(b, w, space);
    return true;
}

static bool access_space(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                         ptx_space space, sim_places *p)
{
    uint32_t bytes = ptx_type_bytes((ptx_type)c->type), total = bytes * c->vector;
    if (!sim_places_find(b, w, c, mask, space, total, c->kind != SIM_LOAD, p))
        return false;
    sim_count_requests(b, c, mask, space, p->address, total);
    if (c->kind == SIM_LOAD)
        return load(b, w, c, mask, space, p, bytes);
    if (c->kind == SIM_STORE)
        return store(b, w, c, mask, space, p, bytes);
    return sim_atomic(b, w, c, mask, space, p, bytes);
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

bool sim_discard(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t bytes = c->vector;
    uint8_t unknown[UINT8_MAX];
    sim_places p;
    p.owner = b;
    memset(unknown, 0xa5, sizeof unknown);
    sim_places_address(w, c->a, c->source_width, c->offset, p.address);
    if (!sim_places_find(b, w, c, mask, PTX_SPACE_GLOBAL, bytes, true, &p))
        return false;
    sim_race_access a = sim_race_access_of(b, w, c, 0);
    SIM_EACH_OF(l, mask)
    {
        if (b->launch->check &&
            !sim_touch_lane(&a, l, PTX_SPACE_GLOBAL, &p, bytes, SIM_TOUCH_WRITE, unknown))
            return false;
        memcpy(p.at[l], unknown, bytes);
        if (p.valid[l])
            memset(p.valid[l], SIM_NEVER_WRITTEN, bytes);
    }
    sim_note_change(b, w);
    return true;
}
