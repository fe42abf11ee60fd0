#include <stdio.h>
#include <string.h>

#include "sim/machine/machine.h"

void sim_shared_reset(sim_block *b)
{
    if (!b->cells)
        return;
    uint32_t bytes = b->program->shared_cell_bytes;
    memset(b->shared_valid, 0, b->shared_bytes);
    size_t cells = (b->shared_bytes + bytes - 1) / bytes;
    memset(b->cells, 0, cells * sizeof *b->cells);
    if (b->far)
        memset(b->far, 0, cells * sizeof *b->far);
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

/* Does what thread `t` of warp `w` does now follow the accesses whose last was `last`, made by `readers`? Same thread:
 * yes. Same warp: when the two synchronised. Same block: when a barrier lies between, or where the warp has seen a
 * barrier in shared memory complete since. Other blocks: when a barrier of the cluster lies between. */
static bool follows(const sim_block *b, const sim_warp *w, uint32_t t, const sim_stamp *last, sim_readers readers)
{
    bool here = last->rank == b->rank && readers != SIM_READERS_BLOCKS;
    if (last->epoch == 0 || (here && last->epoch != b->epoch + 1) || sim_cluster_orders(b, w, last))
        return true;
    return here && ((readers == SIM_READERS_ONE && t == last->thread) || w->observed > last->moment ||
                    (readers != SIM_READERS_MANY && sim_warp_orders(w, t, last)));
}

static sim_stamp stamp_of(const sim_block *b, const sim_warp *w, uint32_t thread, bool strong)
{
    return (sim_stamp){.epoch = b->epoch + 1, .order = w->epoch, .moment = b->moment, .arrived = w->arrived,
                       .thread = (uint16_t)thread, .rank = (uint8_t)b->rank, .strong = strong};
}

/* An access in progress: by a thread of `block` to shared memory of `owner`. */
typedef struct access {
    sim_block *block, *owner;
    sim_warp *warp;
    const sim_instruction *instruction;
    int lane;
} access;

static bool report_race(const access *a, uint32_t offset, const char *what, const sim_stamp *other)
{
    const sim_block *b = a->block, *from = &b->cluster->blocks[other->rank];
    uint32_t position[3];
    char of[64] = "", by[64] = "";
    sim_thread_position(b, other->thread, position);
    if (a->owner != b)
        snprintf(of, sizeof of, " of block (%u,%u,%u)", a->owner->block[0], a->owner->block[1], a->owner->block[2]);
    if (from != b)
        snprintf(by, sizeof by, " of block (%u,%u,%u)", from->block[0], from->block[1], from->block[2]);
    return sim_fail(a->block, a->warp, a->instruction, a->lane, SIM_FAULT_RACE,
                    "shared memory byte %u of %u%s: %s thread (%u,%u,%u)%s without a barrier%s between", offset,
                    b->shared_bytes, of, what, position[0], position[1], position[2], by,
                    from != b ? " of the cluster" : "");
}

static bool check_write(const access *a, uint32_t offset, bool is_atomic, bool same_value)
{
    const sim_block *b = a->block;
    uint32_t t = a->warp->first_thread + (uint32_t)a->lane, n = offset / b->program->shared_cell_bytes;
    sim_cell *cell = &a->owner->cells[n];
    const sim_far_read *far = a->owner->far ? &a->owner->far[n] : NULL;
    /* Two atomics are ordered by the hardware; two writes of one value leave it there. */
    bool benign = is_atomic ? cell->write.strong : same_value;
    if (!benign && !follows(b, a->warp, t, &cell->write, SIM_READERS_ONE))
        return report_race(a, offset, "written by this thread and by", &cell->write);
    if (is_atomic || !same_value) {
        if (!follows(b, a->warp, t, &cell->read, (sim_readers)cell->readers))
            return report_race(a, offset, "written by this thread after a read by", &cell->read);
        if (far && !follows(b, a->warp, t, &far->read, (sim_readers)far->readers))
            return report_race(a, offset, "written by this thread after a read by", &far->read);
    }
    cell->write = stamp_of(b, a->warp, t, is_atomic);
    cell->engine = false;
    return true;
}

/* Adds a read to those of which `read` was the last. */
static void note_read(const access *a, sim_stamp *read, uint8_t *readers, const sim_stamp *now)
{
    bool same_block = read->rank == now->rank && *readers != SIM_READERS_BLOCKS;
    bool anew = read->epoch == 0 || (same_block ? read->epoch != now->epoch
                                                : sim_cluster_orders(a->block, a->warp, read));
    uint32_t arrived = read->arrived;
    *readers = (uint8_t)(anew || same_block
                             ? sim_readers_with((sim_readers)*readers, anew, read, now->thread)
                             : SIM_READERS_BLOCKS);
    *read = *now;
    if (!anew && arrived > now->arrived)
        read->arrived = arrived;
}

static bool check_read(const access *a, uint32_t offset)
{
    const sim_block *b = a->block;
    uint32_t t = a->warp->first_thread + (uint32_t)a->lane, n = offset / b->program->shared_cell_bytes;
    sim_cell *cell = &a->owner->cells[n];
    if (!follows(b, a->warp, t, &cell->write, SIM_READERS_ONE))
        return report_race(a, offset, "read by this thread after a write by", &cell->write);
    const sim_stamp now = stamp_of(b, a->warp, t, false);
    if (a->owner == b)
        note_read(a, &cell->read, &cell->readers, &now);
    else
        note_read(a, &a->owner->far[n].read, &a->owner->far[n].readers, &now);
    return true;
}

bool sim_shared_touch(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c, int lane,
                      uint32_t offset, uint32_t bytes, sim_touch touch, const uint8_t *fresh)
{
    if (!owner->cells)
        return true;
    const access a = {b, owner, w, c, lane};
    uint32_t step = b->program->shared_cell_bytes;
    if (touch != SIM_TOUCH_READ && owner->engine &&
        !sim_engine_allows_write(b, owner, w, c, lane, offset, bytes))
        return false;
    if (touch != SIM_TOUCH_WRITE) {
        for (uint32_t i = 0; i < bytes; i++)
            if (owner->shared_valid[offset + i] != SIM_WRITTEN)
                return sim_fail(b, w, c, lane, SIM_FAULT_UNINITIALISED,
                                owner->shared_valid[offset + i] == SIM_COPY_UNDER_WAY
                                    ? "shared memory byte %u of %u is read while a copy to it is on its way"
                                    : "shared memory byte %u of %u was never written",
                                offset + i, b->shared_bytes);
    }
    for (uint32_t at = offset; at < offset + bytes; at += step) {
        bool same = touch == SIM_TOUCH_WRITE && owner->shared_valid[at] == SIM_WRITTEN && fresh &&
                    memcmp(owner->shared + at, fresh + (at - offset), step) == 0;
        if (!(touch == SIM_TOUCH_READ ? check_read(&a, at) : check_write(&a, at, touch == SIM_TOUCH_ATOMIC, same)))
            return false;
    }
    if (touch == SIM_TOUCH_WRITE)
        memset(owner->shared_valid + offset, SIM_WRITTEN, bytes);
    return true;
}

bool sim_shared_begin_copy(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                           uint32_t offset, uint32_t bytes)
{
    if (!b->cells)
        return true;
    uint32_t step = b->program->shared_cell_bytes;
    const access a = {b, b, w, c, lane};
    for (uint32_t at = offset; at < offset + bytes; at += step)
        if (!check_write(&a, at, false, false))
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
        cell->write.rank = (uint8_t)b->rank;
        cell->write.thread = (uint16_t)thread;
        cell->engine = true;
    }
    memset(b->shared_valid + offset, SIM_WRITTEN, bytes);
}

bool sim_shared_leaves(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint32_t offset,
                       uint32_t bytes)
{
    if (!sim_shared_touch(b, b, w, c, lane, offset, bytes, SIM_TOUCH_READ, NULL))
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
