#include "sim/machine/shared.h"

#include <string.h>

#include "sim/machine/fault.h"

void sim_shared_reset(sim_block *b)
{
    b->run++;
    if (b->shared_valid)
        memset(b->shared_valid, 0, b->shared_bytes);
}

static uint64_t release_at(uint32_t offset)
{
    return SIM_SHARED_WINDOW + offset;
}

/* The cell of a byte; one of an earlier block in this place is empty. */
static sim_cell *cell_of(sim_block *owner, uint32_t offset)
{
    sim_cell *cell = &owner->cells[offset >> __builtin_ctz(owner->program->shared_cell_bytes)];
    if (cell->run != owner->run) {
        sim_set_clear(&owner->watch->pool, &cell->writes);
        sim_set_clear(&owner->watch->pool, &cell->reads);
        cell->strong = cell->observed = 0;
        cell->stale = cell->noncoherent = false;
        cell->run = owner->run;
    }
    return cell;
}

static bool all_written(const uint8_t *valid, uint32_t bytes)
{
    static const uint8_t whole[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    _Static_assert(SIM_WRITTEN == 1, "what `whole` has");
    switch (bytes) {
    case 4:
        return memcmp(valid, whole, 4) == 0;
    case 8:
        return memcmp(valid, whole, 8) == 0;
    case 16:
        return memcmp(valid, whole, 16) == 0;
    default:
        return false; /* to be looked at byte by byte */
    }
}

/* A load that is not used is no fault. */
static bool check_written(const sim_race_access *a, uint32_t bytes)
{
    const uint8_t *valid = a->owner->shared_valid + a->offset;
    if (all_written(valid, bytes))
        return true;
    for (uint32_t i = 0; i < bytes; i++)
        if (valid[i] == SIM_NEVER_WRITTEN && a->instruction->kind == SIM_LOAD) {
            a->block->met_unwritten = true;
        } else if (valid[i] != SIM_WRITTEN) {
            char place[SIM_PLACE_BYTES];
            sim_shared_name(a->owner, (uint32_t)a->offset + i, place, sizeof place);
            return sim_fail(a->block, a->warp, a->instruction, a->lane, SIM_FAULT_UNINITIALISED,
                            "%s was never written", place);
        }
    return true;
}

bool sim_shared_touch(sim_race_access *a, uint32_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh)
{
    sim_block *owner = a->owner;
    if (!owner->cells)
        return true;
    uint32_t step = owner->program->shared_cell_bytes;
    for (uint32_t at = offset; at < offset + bytes; at += step) {
        sim_cell *cell = cell_of(owner, at);
        a->offset = at;
        if (touch == SIM_TOUCH_READ) {
            if (!sim_race_read(a, cell))
                return false;
            continue;
        }
        bool same = touch == SIM_TOUCH_WRITE && owner->shared_valid[at] == SIM_WRITTEN && fresh &&
                    memcmp(owner->shared + at, fresh + (at - offset), step) == 0;
        if (!sim_race_write(a, cell, same))
            return false;
        if (touch == SIM_TOUCH_WRITE && a->stamp.scope == 0 && owner->releases.count > 0)
            sim_releases_remove(&owner->releases, release_at(at));
    }
    a->offset = offset;
    if (touch != SIM_TOUCH_WRITE)
        return check_written(a, bytes);
    memset(owner->shared_valid + offset, SIM_WRITTEN, bytes);
    return true;
}

void sim_shared_read(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                     int lane, uint32_t offset)
{
    sim_order_read(b, w, c, lane, &owner->releases, release_at(offset));
}

void sim_shared_written(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                        int lane, uint32_t offset)
{
    sim_order_write(b, w, c, lane, &owner->releases, release_at(offset));
}

bool sim_shared_begin(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                      int lane, uint32_t offset, uint32_t bytes, sim_touch touch, uint32_t number,
                      bool bulk)
{
    if (!owner->cells)
        return true;
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.owner = owner;
    for (uint32_t at = offset; at < offset + bytes; at += b->program->shared_cell_bytes) {
        a.offset = at;
        if (!sim_race_begin(&a, cell_of(owner, at), touch, number, bulk))
            return false;
    }
    a.offset = offset;
    return touch == SIM_TOUCH_WRITE || check_written(&a, bytes);
}

void sim_shared_land(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                     int lane, uint32_t offset, uint32_t bytes, bool writes, uint32_t number,
                     const sim_stamp *landed)
{
    if (!owner->cells)
        return;
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.owner = owner;
    for (uint32_t at = offset; at < offset + bytes; at += b->program->shared_cell_bytes)
        sim_race_land(&a, cell_of(owner, at), writes, number, landed);
    if (writes)
        memset(owner->shared_valid + offset, SIM_WRITTEN, bytes);
}

void sim_shared_visit(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                      int lane)
{
    if (!owner->cells)
        return;
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.owner = owner;
    a.stamp.scope = 0;
    sim_set_add(&a, &owner->visits, &a.stamp);
}
