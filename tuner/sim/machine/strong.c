#include "sim/machine/strong.h"

#include <string.h>

#include "base/memory.h"
#include "sim/machine/lane_memory.h"
#include "sim/machine/race.h"
#include "sim/machine/repeat.h"
#include "sim/machine/watch.h"
#include "sim/program/operations.h"

enum {
    MOST_STALE_READS = 4, /* times that a thread may read a write which is not the newest */
    MOST_STRONG_ACCESSES = 1 << 10 /* strong accesses of a warp after which other warps run */
};

/* Returns the history of the memory that a lane accesses, or NULL if strong reads there can only
 * return the newest write. Blocks on several host threads do not communicate in global memory. */
static sim_history *history_of(const sim_block *b, const sim_lane_memory *p, int lane)
{
    if (!b->launch->check)
        return NULL;
    if (p->space == PTX_SPACE_SHARED)
        return p->owner->cells ? &p->owner->history : NULL;
    return p->space == PTX_SPACE_GLOBAL && !b->watch->concurrent &&
                   sim_is_watched(b->watch, p->region[lane])
               ? &b->watch->history
               : NULL;
}

static uint64_t address_of(const sim_lane_memory *p, int lane)
{
    return p->address[lane] + (p->space == PTX_SPACE_SHARED ? SIM_SHARED_WINDOW : 0);
}

static bool keeps_older(const sim_block *b, uint32_t bytes)
{
    return b->adverse && b->program->reorders && bytes <= SIM_WRITE_BYTES;
}

/* Returns whether the lane follows the access of at least one of the stamp's lanes. */
static bool has_reached_any(const sim_block *b, const sim_warp *w, int lane, const sim_stamp *s)
{
    if (!w->order.clocks && s->block != b->number)
        return false;
    sim_stamp one = *s;
    for (uint32_t m = s->lanes; m; m &= m - 1) {
        one.lanes = m & -m;
        if (sim_order_has_reached(b, w, lane, &one))
            return true;
    }
    return false;
}

/* Returns the index of the oldest write that the lane may still read. */
static uint32_t find_floor(const sim_block *b, const sim_warp *w, int lane, const sim_location *x)
{
    for (uint32_t i = x->count - 1; i > 0; i--) {
        const sim_write *write = &x->writes[i];
        bool passed = sim_order_has_reached(b, w, lane, &write->by);
        for (uint32_t k = 0; k < write->reader_count && !passed; k++)
            passed = has_reached_any(b, w, lane, &write->readers[k]);
        if (passed)
            return i;
    }
    return 0;
}

/* Returns the lane's entry among the readers of a write, or NULL. */
static sim_stamp *find_reader(const sim_block *b, const sim_warp *w, int lane,
                              const sim_write *write)
{
    const uint32_t unit = w->first_thread / SIM_LANES;
    for (uint32_t k = 0; k < write->reader_count; k++) {
        sim_stamp *s = &write->readers[k];
        if (s->block == b->number && s->unit == unit && s->lanes >> lane & 1)
            return s;
    }
    return NULL;
}

static bool is_exhausted(const sim_block *b, const sim_warp *w, int lane, const sim_write *write)
{
    const sim_stamp *s = find_reader(b, w, lane, write);
    return s ? s->seen >= MOST_STALE_READS * (uint32_t)__builtin_popcount(s->lanes)
             : write->reader_count == SIM_MOST_READERS;
}

/* Notes that the lane has read a write. Later reads of the lane return no older write. */
static void note_reader(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        sim_location *x, uint32_t index)
{
    sim_write *write = &x->writes[index];
    const bool is_stale = index + 1 < x->count;
    sim_stamp *s = find_reader(b, w, lane, write);
    write->observed = true;
    if (x->count == 1)
        return;
    if (s) {
        s->seen += is_stale;
        return;
    }
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.stamp.seen = is_stale;
    sim_stamp *last = write->reader_count > 0 ? &write->readers[write->reader_count - 1] : NULL;
    if (last && last->block == a.stamp.block && last->unit == a.stamp.unit &&
        last->order == a.stamp.order) {
        last->lanes |= a.stamp.lanes;
        last->seen += is_stale;
        return;
    }
    if (!write->readers)
        write->readers = memory_new(SIM_MOST_READERS, sizeof *write->readers);
    /* Without room for this reader, the older writes are dropped: no lane may read them any
     * more. */
    if (write->reader_count == SIM_MOST_READERS)
        sim_location_drop(x, index);
    else
        write->readers[write->reader_count++] = a.stamp;
}

/* Returns whether a write may be inserted before the write with index `index`. */
static bool may_precede(const sim_location *x, uint32_t index)
{
    for (; index < x->count && x->writes[index].update; index++)
        if (!x->writes[index].movable || x->writes[index].observed)
            return false;
    return true;
}

typedef enum preference { TO_NEWEST, TO_NEWER, TO_OLDER, TO_OLDEST } preference;

/* Draws whether the lanes of an instruction prefer old or new writes. The schedule selects a mode.
 * AT_RANDOM finds mistakes in store buffering. AFTER_NEW prefers old writes after a new one, which
 * finds mistakes in message passing. No interleaving of the accesses shows these mistakes. */
static preference draw_preference(sim_block *b, const sim_warp *w, uint32_t mask, bool reads)
{
    enum { AT_RANDOM, OLD, AFTER_NEW, MODES, OF = 8 };
    const uint32_t mode = reads ? b->launch->schedule / 4 % MODES : AT_RANDOM,
                   old = mode == AT_RANDOM                            ? OF / 2
                         : mode == OLD || (w->order.chose_new & mask) ? OF - 1
                                                                      : 1;
    const bool far = rng_below(&b->order, 2);
    return rng_below(&b->order, OF) >= old ? (far ? TO_NEWEST : TO_NEWER)
                                           : (far ? TO_OLDEST : TO_OLDER);
}

static uint32_t draw_index(sim_block *b, preference how, uint32_t oldest, uint32_t newest)
{
    if (how == TO_NEWEST || oldest == newest)
        return newest;
    return how == TO_OLDEST
               ? oldest
               : oldest + (how == TO_NEWER) + (uint32_t)rng_below(&b->order, newest - oldest);
}

/* Notes whether the lane has read a new write of another thread. */
static void note_choice(const sim_block *b, sim_warp *w, int lane, const sim_write *write,
                        preference how)
{
    const sim_stamp *s = &write->by;
    const bool is_own =
        s->block == b->number && s->unit == w->first_thread / SIM_LANES && s->lanes == 1u << lane;
    if (how >= TO_OLDER)
        w->order.chose_new &= ~(1u << lane);
    else if (s->block != 0 && !is_own)
        w->order.chose_new |= 1u << lane;
}

uint32_t sim_strong_read(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                         const sim_lane_memory *p, uint32_t bytes,
                         uint8_t value[SIM_LANES][SIM_WRITE_BYTES])
{
    const sim_history *h = history_of(b, p, __builtin_ctz(mask));
    if (!h || h->count == 0)
        return 0;
    const bool chooses = keeps_older(b, bytes);
    const preference how = chooses ? draw_preference(b, w, mask, true) : TO_NEWEST;
    uint32_t stale = 0;
    SIM_EACH_OF(l, mask)
    {
        sim_location *x = sim_history_find(h, address_of(p, l));
        if (!x || x->count == 0)
            continue;
        uint32_t index = x->count - 1;
        if (how != TO_NEWEST && x->bytes == bytes && index > 0)
            index = draw_index(b, how, find_floor(b, w, l, x), index);
        while (index + 1 < x->count && is_exhausted(b, w, l, &x->writes[index]))
            index++;
        if (index + 1 < x->count) {
            memcpy(value[l], x->writes[index].value, bytes);
            stale |= 1u << l;
        }
        sim_order_read(b, w, c, l, &x->writes[index]);
        if (chooses) {
            note_choice(b, w, l, &x->writes[index], how);
            note_reader(b, w, c, l, x, index);
        }
    }
    return stale;
}

/* Inserts a write of the lane before the write with index `index`. */
static sim_write *insert(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                         sim_location *x, uint32_t index)
{
    sim_write *write = sim_location_insert(x, index);
    const sim_race_access a = sim_race_access_of(b, w, c, lane);
    write->by = a.stamp;
    write->cluster = b->cluster->number;
    return write;
}

/* Returns the earlier write whose releases the write at `index` passes on (PTX ISA, "release
 * pattern"): for a read-modify-write the write that it read, otherwise the last write of the same
 * thread. Returns NULL if there is no such write. */
static const sim_write *find_predecessor(const sim_location *x, uint32_t index)
{
    const sim_write *write = &x->writes[index];
    if (write->update)
        return index > 0 ? write - 1 : NULL;
    while (index-- > 0) {
        const sim_stamp *s = &x->writes[index].by;
        if (s->block == write->by.block && s->unit == write->by.unit && s->lanes == write->by.lanes)
            return &x->writes[index];
    }
    return NULL;
}

/* Replaces the only write of a location. Keeps the new write only if it releases anything. */
static void replace(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, sim_history *h,
                    uint64_t at, uint32_t bytes)
{
    sim_location *x = sim_history_find(h, at);
    if (!x && !w->order.clocks && !c->releases)
        return;
    x = sim_history_put(h, at, bytes);
    sim_write *write = insert(b, w, c, lane, x, x->count);
    write->update = c->kind == SIM_ATOMIC ? c : NULL;
    if (!sim_order_write(b, w, c, lane, find_predecessor(x, x->count - 1), write))
        sim_history_forget(h, at, bytes);
    else
        sim_location_drop(x, x->count - 1);
}

/* Returns the location of an access, made if needed. Its newest write gets the value `old`. A new
 * location starts with the value from before all strong writes. */
static sim_location *open_location(sim_history *h, uint64_t at, uint32_t bytes, const void *old)
{
    sim_location *x = sim_history_put(h, at, bytes);
    if (x->count == 0)
        sim_location_insert(x, 0);
    memcpy(sim_location_newest(x)->value, old, bytes);
    return x;
}

/* Recomputes the values of the read-modify-writes that follow the write at `index`. */
static void pass_on(sim_location *x, uint32_t index, bool flush)
{
    for (; index + 1 < x->count && x->writes[index + 1].update; index++) {
        sim_write *next = &x->writes[index + 1];
        memcpy(next->value, x->writes[index].value, x->bytes);
        sim_atomic_apply(next->value, (sim_atomic_op)next->update->op, (ptx_type)next->update->type,
                         flush, next->operand, 0);
        sim_order_propagate(next - 1, next);
    }
}

bool sim_strong_store(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_lane_memory *p, const uint8_t *fresh, uint32_t bytes)
{
    sim_history *h = history_of(b, p, lane);
    if (!h)
        return true;
    if (!keeps_older(b, bytes)) {
        replace(b, w, c, lane, h, address_of(p, lane), bytes);
        return true;
    }
    sim_location *x = open_location(h, address_of(p, lane), bytes, p->at[lane]);
    uint32_t index = x->count;
    const preference how = draw_preference(b, w, 0, false);
    if (how != TO_NEWEST && x->count > 1)
        index = draw_index(b, how, find_floor(b, w, lane, x) + 1, index);
    while (!may_precede(x, index))
        index++;
    sim_write *write = insert(b, w, c, lane, x, index);
    index = (uint32_t)(write - x->writes);
    memcpy(write->value, fresh, bytes);
    sim_order_write(b, w, c, lane, find_predecessor(x, index), write);
    if (index + 1 == x->count)
        return true;
    pass_on(x, index, p->space == PTX_SPACE_GLOBAL);
    memcpy(p->at[lane], sim_location_newest(x)->value, bytes);
    return false;
}

int sim_strong_choose(sim_block *b, const sim_warp *w, int lane, const sim_lane_memory *p,
                      uint32_t bytes, const void *sought, uint8_t *value)
{
    sim_history *h = history_of(b, p, lane);
    if (!h || !keeps_older(b, bytes))
        return SIM_READS_MEMORY;
    sim_location *x = sim_history_find(h, address_of(p, lane));
    const preference how = draw_preference(b, w, 1u << lane, true);
    if (!x || x->count <= 1 || x->bytes != bytes || how == TO_NEWEST)
        return SIM_READS_MEMORY;
    memcpy(sim_location_newest(x)->value, p->at[lane], bytes);
    uint32_t index = draw_index(b, how, find_floor(b, w, lane, x), x->count - 1);
    /* If the list is full, the oldest write is dropped for the new one. */
    index += index == 0 && x->count == SIM_MOST_WRITES;
    for (; index + 1 < x->count; index++) {
        const sim_write *write = &x->writes[index];
        const bool only_reads = sought && memcmp(write->value, sought, bytes) != 0;
        if (only_reads ? !is_exhausted(b, w, lane, write) : may_precede(x, index + 1))
            break;
    }
    if (index + 1 == x->count)
        return SIM_READS_MEMORY;
    memcpy(value, x->writes[index].value, bytes);
    return (int)index;
}

void sim_strong_updated(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        const sim_lane_memory *p, uint32_t bytes, int from, const uint64_t *old,
                        bool writes, const uint8_t *fresh, uint64_t operand)
{
    sim_history *h = history_of(b, p, lane);
    const uint64_t at = h ? address_of(p, lane) : 0;
    if (!h)
        return;
    sim_location *x = sim_history_find(h, at);
    if (!keeps_older(b, bytes)) {
        if (c->d2 != 0 && x && x->count > 0)
            sim_order_read(b, w, c, lane, sim_location_newest(x));
        if (writes)
            replace(b, w, c, lane, h, at, bytes);
        return;
    }
    if (writes && from == SIM_READS_MEMORY) {
        uint8_t before[SIM_WRITE_BYTES];
        for (uint32_t i = 0; i < c->vector; i++)
            memcpy(before + i * (bytes / c->vector), &old[i], bytes / c->vector);
        x = open_location(h, at, bytes, before);
    }
    if (!x || x->count == 0)
        return;
    uint32_t index = from == SIM_READS_MEMORY ? x->count - 1 : (uint32_t)from;
    if (c->d2 != 0) {
        sim_order_read(b, w, c, lane, &x->writes[index]);
        x->writes[index].observed = true;
    }
    if (!writes) {
        note_reader(b, w, c, lane, x, index);
        return;
    }
    sim_write *write = insert(b, w, c, lane, x, index + 1);
    index = (uint32_t)(write - x->writes);
    write->update = c;
    write->operand = operand;
    write->movable = c->d2 == 0 && c->op != SIM_ATOMIC_CAS && c->vector == 1;
    memcpy(write->value, fresh, bytes);
    sim_order_write(b, w, c, lane, find_predecessor(x, index), write);
    if (index + 1 == x->count)
        return;
    pass_on(x, index, p->space == PTX_SPACE_GLOBAL);
    memcpy(p->at[lane], sim_location_newest(x)->value, bytes);
}

/* Returns a hash of the instruction, the addresses, the values there, and the operands. */
static uint64_t hash_poll(const sim_block *b, const sim_instruction *c, uint32_t mask,
                          const sim_lane_memory *p, uint32_t bytes, const uint32_t *offered)
{
    uint64_t sum = (uint64_t)(c - b->program->code);
    SIM_EACH_OF(l, mask)
    for (uint32_t v = 0; v < c->vector; v++)
        sum = (sum ^ p->address[l] ^ sim_load_bytes(p->at[l] + v * bytes, bytes) << 20 ^
               (offered ? (uint64_t)offered[l] << 40 : 0)) *
                  UINT64_C(0x9e3779b97f4a7c15) +
              (uint64_t)l;
    return sum ^ sum >> 32;
}

void sim_strong_poll(const sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                     const sim_lane_memory *p, uint32_t bytes, const uint32_t *offered)
{
    sim_note_poll(b, w, c, mask, hash_poll(b, c, mask, p, bytes, offered),
                  p->space == PTX_SPACE_GLOBAL);
}

/* Returns whether the warp's last read found the same values again, and no new value recently. */
static bool polls(const sim_warp *w)
{
    return w->polls.last == w->executed && w->polls.fresh == 0;
}

bool sim_strong_waits(sim_block *b, const sim_warp *w, const sim_instruction *c)
{
    enum { SELDOM = 2, OFTEN = 8 }; /* one read in this many is not delayed */
    const bool reads = c->kind == SIM_LOAD || (c->kind == SIM_ATOMIC && c->d2 != 0);
    return reads && c->scope != 0 && b->program->reorders && w->flow.stalled == 0 && !polls(w) &&
           rng_below(&b->order, b->launch->schedule / 2 % 2 ? SELDOM : OFTEN) != 0;
}

void sim_yield(sim_block *b, sim_warp *w, ptx_space space)
{
    const bool surely = space == PTX_SPACE_GLOBAL && sim_is_eager(b->launch);
    const bool is_long = ++w->order.strong_accesses >= MOST_STRONG_ACCESSES;
    if (!is_long && (!b->adverse || !b->program->writes_strongly || polls(w) ||
                     (!surely && !rng_below(&b->order, 2))))
        return;
    w->order.strong_accesses = 0;
    w->polls.slice_end = w->executed;
    b->cluster->yielded = b->cluster->yielded || space == PTX_SPACE_GLOBAL;
}
