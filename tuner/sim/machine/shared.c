#include <string.h>

#include "sim/machine/machine.h"

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

static bool same_warp(uint32_t thread, uint32_t other)
{
    return thread / SIM_LANES == other / SIM_LANES;
}

bool sim_warp_orders(const sim_warp *w, uint32_t thread, const sim_stamp *access)
{
    uint32_t both = 1u << thread % SIM_LANES | 1u << access->thread % SIM_LANES;
    if (!same_warp(thread, access->thread))
        return false;
    /* What is further back than is remembered passes as ordered. */
    if (w->epoch - access->order > SIM_SYNCS)
        return true;
    for (uint32_t e = w->epoch; e > access->order; e--)
        if ((w->syncs[e % SIM_SYNCS] & both) == both)
            return true;
    return false;
}

sim_readers sim_readers_with(sim_readers readers, bool anew, const sim_stamp *last, uint32_t thread)
{
    if (anew)
        return SIM_READERS_ONE;
    if (!same_warp(thread, last->thread))
        return SIM_READERS_MANY;
    return readers == SIM_READERS_ONE && last->thread != thread ? SIM_READERS_WARP : readers;
}

/* Is an access by thread `t` of warp `w` ordered after one in the current block epoch? Same thread: yes. Same warp:
 * when the two synchronised. Else where the warp has seen a barrier in shared memory complete since. */
static bool ordered(const sim_warp *w, uint32_t t, const sim_stamp *access)
{
    return t == access->thread || w->observed > access->moment || sim_warp_orders(w, t, access);
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
    bool benign = is_atomic ? cell->write.strong : same_value;
    const sim_stamp *read = &cell->read;
    if (cell->write.epoch == now && !benign && !ordered(w, t, &cell->write))
        return report_race(b, w, c, lane, offset, "written by this thread and by", cell->write.thread);
    if (read->epoch == now && !(same_value && !is_atomic)) {
        bool fine = cell->readers == SIM_READERS_ONE
                        ? ordered(w, t, read)
                        : w->observed > read->moment ||
                              (cell->readers == SIM_READERS_WARP && sim_warp_orders(w, t, read));
        if (!fine)
            return report_race(b, w, c, lane, offset, "written by this thread after a read by", read->thread);
    }
    cell->write = (sim_stamp){now, w->epoch, b->moment, (uint16_t)t, is_atomic};
    cell->engine = false;
    return true;
}

static bool check_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       uint32_t offset, sim_cell *cell)
{
    uint32_t t = w->first_thread + (uint32_t)lane, now = b->epoch + 1;
    if (cell->write.epoch == now && !ordered(w, t, &cell->write))
        return report_race(b, w, c, lane, offset, "read by this thread after a write by", cell->write.thread);
    cell->readers = (uint8_t)sim_readers_with(cell->readers, cell->read.epoch != now, &cell->read, t);
    cell->read = (sim_stamp){now, w->epoch, b->moment, (uint16_t)t, false};
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
        cell->write.epoch = b->epoch + 1;
        cell->write.moment = b->moment;
        cell->write.thread = (uint16_t)thread;
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
        sim_thread_position(b, cell->write.thread, position);
        return sim_fail(b, w, c, lane, SIM_FAULT_RACE,
                        "shared memory byte %u of %u: copied by the engine after a write by thread (%u,%u,%u) "
                        "without a fence.proxy.async between",
                        at, b->shared_bytes, position[0], position[1], position[2]);
    }
    return true;
}
