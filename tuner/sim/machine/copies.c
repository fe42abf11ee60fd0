/* cp.async: a copy reads its source at once, and writes its destination when it lands. */
#include "sim/machine/copies.h"

#include <string.h>

#include "base/memory.h"
#include "sim/machine/clock.h"
#include "sim/machine/execute.h"
#include "sim/machine/fault.h"
#include "sim/machine/lane_memory.h"
#include "sim/machine/order.h"
#include "sim/machine/race.h"
#include "sim/machine/values.h"
#include "sim/machine/watch.h"
#include "sim/program/operations.h"

bool sim_copy_async(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    sim_lane_memory from, to;
    to.owner = b;
    to.space = PTX_SPACE_SHARED;
    uint32_t bytes = c->vector, reading = mask, given[SIM_LANES];
    sim_lane_addresses(w, c->a, c->source_width, c->offset, from.address);
    sim_lane_addresses(w, c->b, c->op, c->d2, to.address);
    SIM_EACH_LANE(l)
    {
        given[l] = c->c == SIM_NO_SLOT ? bytes : sim_lanes32(w, c->c)[l];
        given[l] = given[l] > bytes ? bytes : given[l];
        reading &= given[l] == 0 ? ~(1u << l) : UINT32_MAX;
    }
    if (reading && !sim_check_alignment(b, w, c, reading, from.address, bytes))
        return false;
    /* Source bytes beyond given[l] are not read, so these bytes need not exist. */
    for (uint32_t left = reading; left;) {
        const uint32_t first = given[__builtin_ctz(left)];
        uint32_t alike = 0;
        SIM_EACH_OF(l, left)
        alike |= given[l] == first ? 1u << l : 0;
        if (!sim_lane_memory_find_global(b, w, c, alike, first, false, &from))
            return false;
        left &= ~alike;
    }
    if (!sim_lane_memory_find(b, w, c, mask, bytes, true, &to))
        return false;
    if (reading)
        sim_count_request(b, c, reading, PTX_SPACE_GLOBAL, from.address, bytes);
    SIM_EACH_OF(l, mask)
    {
        sim_copy copy = {.lane = (uint32_t)l,
                         .to = (uint32_t)to.address[l],
                         .bytes = bytes,
                         .group = w->copies.groups[l],
                         .number = w->copies.begun,
                         .instruction = c};
        if (given[l] && b->launch->check) {
            copy.from_bytes = given[l];
            sim_lane_memory_region(&from, l, &copy.from, &copy.from_at);
            if (!sim_global_begin(b, w, c, l, copy.from, copy.from_at, given[l], SIM_TOUCH_READ,
                                  copy.number, false) ||
                !sim_check_written(b, w, c, l, &from, given[l], "copy"))
                return false;
        }
        if (given[l])
            memcpy(copy.data, from.at[l], given[l]);
        if (!sim_shared_begin_async(b, w, &copy))
            return false;
        memory_add(&w->copies.list, &w->copies.count, &copy, sizeof copy);
    }
    w->copies.begun++;
    return true;
}

bool sim_copy_commit(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    (void)b, (void)c;
    SIM_EACH_OF(l, mask)
    w->copies.groups[l]++;
    return true;
}

/* Lands a copy: the thread reads the source and writes the destination at this time. If an mbarrier
 * tracks the copy, other threads that see the mbarrier's phase complete may use the data. */
static void land_copy(sim_block *b, sim_warp *w, const sim_copy *copy)
{
    int lane = (int)copy->lane;
    sim_stamp landed = sim_race_access_of(b, w, copy->instruction, lane).stamp;
    if (copy->tracked) {
        landed.order = copy->number;
        landed.unit = (uint16_t)(SIM_UNIT_COPIES + landed.unit);
    }
    if (copy->from)
        sim_global_land(b, w, copy->instruction, lane, copy->from, copy->from_at, copy->from_bytes,
                        false, copy->number, &landed);
    sim_shared_land(b, b, w, copy->instruction, lane, copy->to, copy->bytes, true, copy->number,
                    &landed);
    memcpy(b->shared + copy->to, copy->data, copy->bytes);
}

uint32_t sim_copy_track(sim_warp *w, int lane)
{
    for (size_t i = 0; i < w->copies.count; i++)
        w->copies.list[i].tracked =
            w->copies.list[i].tracked || w->copies.list[i].lane == (uint32_t)lane;
    return w->copies.begun;
}

void sim_copy_land(sim_block *b, sim_warp *w, int lane, uint32_t before)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->copies.count; i++)
        if (w->copies.list[i].lane == (uint32_t)lane && w->copies.list[i].number < before)
            land_copy(b, w, &w->copies.list[i]);
        else
            w->copies.list[kept++] = w->copies.list[i];
    w->copies.count = kept;
}

/* Adds a tracked copy to the operations that its waiting thread knows. */
static void learn_copy(sim_block *b, sim_warp *w, const sim_copy *copy)
{
    sim_clock *landed = NULL;
    if (!copy->tracked)
        return;
    sim_order_copies(b, w, (int)copy->lane, copy->number + 1, &landed);
    sim_order_acquire(b, w, (int)copy->lane, SIM_CLOCK_KNOWN, landed);
    sim_clock_drop(landed);
}

bool sim_copy_wait(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->copies.count; i++) {
        const sim_copy *copy = &w->copies.list[i];
        /* The newest c->offset groups may stay under way. If c->offset is -1, all copies land, even
         * if they are in no committed group. */
        uint64_t group = w->copies.groups[copy->lane];
        uint64_t landed = c->offset < 0                 ? UINT64_MAX
                          : (uint64_t)c->offset < group ? group - (uint64_t)c->offset
                                                        : 0;
        if (copy->group >= landed || !(mask >> copy->lane & 1))
            w->copies.list[kept++] = *copy;
        else {
            land_copy(b, w, copy);
            learn_copy(b, w, copy);
        }
    }
    if (kept < w->copies.count)
        sim_note_change(b, w);
    w->copies.count = kept;
    return true;
}
