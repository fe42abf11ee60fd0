#include <string.h>

#include "sim/machine/machine.h"

/* How many threads read a cell since the last barrier: one (`reader`), several of the reader's warp,
 * or threads of several warps. */
enum { SIM_READERS_ONE, SIM_READERS_WARP, SIM_READERS_MANY };

void sim_shared_reset(sim_block *b)
{
    if (!b->cells)
        return;
    uint32_t bytes = b->program->shared_cell_bytes;
    memset(b->shared_valid, 0, b->shared_bytes);
    memset(b->cells, 0, (b->shared_bytes + bytes - 1) / bytes * sizeof *b->cells);
}

void sim_warp_synchronised(sim_warp *w, uint32_t mask)
{
    w->syncs[++w->epoch % SIM_SYNCS] = mask;
}

bool sim_warp_orders(const sim_warp *w, uint32_t thread, uint32_t other, uint32_t order)
{
    uint32_t both = 1u << thread % SIM_LANES | 1u << other % SIM_LANES;
    /* What is further back than is remembered passes as ordered. */
    if (w->epoch - order > SIM_SYNCS)
        return true;
    for (uint32_t e = w->epoch; e > order; e--)
        if ((w->syncs[e % SIM_SYNCS] & both) == both)
            return true;
    return false;
}

/* Is an access by thread `t` of warp `w` ordered after one by `other`, made at warp epoch `order` of
 * its warp and at `moment` in the current block epoch? Same thread: yes. Same warp: when the two
 * synchronised. Else where the warp has seen a barrier in shared memory complete since. */
static bool ordered(const sim_warp *w, uint32_t t, uint32_t other, uint32_t order, uint32_t moment)
{
    return t == other || w->observed > moment ||
           (other / SIM_LANES == t / SIM_LANES && sim_warp_orders(w, t, other, order));
}

static bool report_race(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
                        uint32_t offset, const char *what, uint32_t other)
{
    uint32_t position[3];
    sim_thread_position(b, other, position);
    return sim_fail(b, w, c, lane, SIM_FAULT_RACE,
                    "shared memory byte %u of %u: %s thread (%u,%u,%u) without a barrier between",
                    offset, b->shared_bytes, what, position[0], position[1], position[2]);
}

static bool check_write(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        uint32_t offset, sim_cell *cell, bool is_atomic, bool same_value)
{
    uint32_t t = w->first_thread + (uint32_t)lane, now = b->epoch + 1;
    /* Two atomics are ordered by the hardware; two writes of one value leave it there. */
    bool benign = is_atomic ? cell->atomic : same_value;
    if (cell->write_epoch == now && !benign && !ordered(w, t, cell->writer, cell->write_order, cell->write_moment))
        return report_race(b, w, c, lane, offset, "written by this thread and by", cell->writer);
    if (cell->read_epoch == now && !(same_value && !is_atomic)) {
        bool fine = cell->many_readers == SIM_READERS_ONE
                        ? ordered(w, t, cell->reader, cell->read_order, cell->read_moment)
                        : w->observed > cell->read_moment ||
                              (cell->many_readers == SIM_READERS_WARP &&
                              cell->reader / SIM_LANES == t / SIM_LANES &&
                              sim_warp_orders(w, t, cell->reader, cell->read_order));
        if (!fine)
            return report_race(b, w, c, lane, offset, "written by this thread after a read by",
                               cell->reader);
    }
    cell->write_epoch = now;
    cell->write_order = w->epoch;
    cell->write_moment = b->moment;
    cell->writer = (uint16_t)t;
    cell->atomic = is_atomic;
    cell->engine = false;
    return true;
}

static bool check_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       uint32_t offset, sim_cell *cell)
{
    uint32_t t = w->first_thread + (uint32_t)lane, now = b->epoch + 1;
    if (cell->write_epoch == now && !ordered(w, t, cell->writer, cell->write_order, cell->write_moment))
        return report_race(b, w, c, lane, offset, "read by this thread after a write by",
                           cell->writer);
    if (cell->read_epoch != now) {
        cell->read_epoch = now;
        cell->many_readers = SIM_READERS_ONE;
    } else if (cell->reader != t) {
        if (cell->reader / SIM_LANES != t / SIM_LANES)
            cell->many_readers = SIM_READERS_MANY;
        else if (cell->many_readers == SIM_READERS_ONE)
            cell->many_readers = SIM_READERS_WARP;
    }
    cell->reader = (uint16_t)t;
    cell->read_order = w->epoch;
    cell->read_moment = b->moment;
    return true;
}

bool sim_shared_touch(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      uint32_t offset, uint32_t bytes, sim_touch touch, const uint8_t *fresh)
{
    if (!b->cells)
        return true;
    uint32_t step = b->program->shared_cell_bytes;
    if (touch != SIM_TOUCH_READ && b->engine && !sim_engine_allows_write(b, w, c, lane, offset, bytes))
        return false;
    if (touch != SIM_TOUCH_WRITE) {
        for (uint32_t i = 0; i < bytes; i++)
            if (b->shared_valid[offset + i] != SIM_WRITTEN)
                return sim_fail(b, w, c, lane, SIM_FAULT_UNINITIALISED,
                                b->shared_valid[offset + i] == SIM_COPY_UNDER_WAY
                                    ? "shared memory byte %u of %u is read while a copy to it is on its way"
                                    : "shared memory byte %u of %u was never written",
                                offset + i, b->shared_bytes);
    }
    for (uint32_t at = offset; at < offset + bytes; at += step) {
        sim_cell *cell = &b->cells[at / step];
        bool same = touch == SIM_TOUCH_WRITE && b->shared_valid[at] == SIM_WRITTEN && fresh &&
                    memcmp(b->shared + at, fresh + (at - offset), step) == 0;
        bool fine = touch == SIM_TOUCH_READ
                        ? check_read(b, w, c, lane, at, cell)
                        : check_write(b, w, c, lane, at, cell, touch == SIM_TOUCH_ATOMIC, same);
        if (!fine)
            return false;
    }
    if (touch == SIM_TOUCH_WRITE)
        memset(b->shared_valid + offset, SIM_WRITTEN, bytes);
    return true;
}

bool sim_shared_begin_copy(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                           uint32_t offset, uint32_t bytes)
{
    if (!b->cells)
        return true;
    uint32_t step = b->program->shared_cell_bytes;
    for (uint32_t at = offset; at < offset + bytes; at += step)
        if (!check_write(b, w, c, lane, at, &b->cells[at / step], false, false))
            return false;
    memset(b->shared_valid + offset, SIM_COPY_UNDER_WAY, bytes);
    return true;
}

void sim_shared_end_copy(sim_block *b, uint32_t thread, uint32_t offset, uint32_t bytes)
{
    if (!b->cells)
        return;
    uint32_t step = b->program->shared_cell_bytes;
    for (uint32_t at = offset; at < offset + bytes; at += step) {
        sim_cell *cell = &b->cells[at / step];
        cell->write_epoch = b->epoch + 1;
        cell->write_moment = b->moment;
        cell->writer = (uint16_t)thread;
        cell->engine = true;
    }
    memset(b->shared_valid + offset, SIM_WRITTEN, bytes);
}

bool sim_shared_leaves(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint32_t offset,
                       uint32_t bytes)
{
    if (!sim_shared_touch(b, w, c, lane, offset, bytes, SIM_TOUCH_READ, NULL))
        return false;
    uint32_t step = b->program->shared_cell_bytes;
    for (uint32_t at = offset; b->cells && at < offset + bytes; at += step) {
        const sim_cell *cell = &b->cells[at / step];
        uint32_t position[3];
        if (cell->engine || sim_engine_sees(b, cell, w->first_thread + (uint32_t)lane))
            continue;
        sim_thread_position(b, cell->writer, position);
        return sim_fail(b, w, c, lane, SIM_FAULT_RACE,
                        "shared memory byte %u of %u: copied by the engine after a write by thread (%u,%u,%u) "
                        "without a fence.proxy.async between",
                        at, b->shared_bytes, position[0], position[1], position[2]);
    }
    return true;
}
