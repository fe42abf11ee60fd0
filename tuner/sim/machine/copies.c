#include "sim/machine/copies.h"

#include <string.h>

#include "sim/machine/clock.h"
#include "sim/machine/global.h"
#include "sim/machine/order.h"
#include "sim/machine/race.h"
#include "sim/machine/shared.h"

void sim_copy_commit(sim_warp *w, uint32_t mask)
{
    SIM_EACH_OF(l, mask)
    w->copy_groups[l]++;
}

/* The thread may use what it brought, as if it had read there and written here now. Others that an
 * mbarrier told may, too, where it tracks the copy. */
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
    for (size_t i = 0; i < w->copy_count; i++)
        w->copies[i].tracked = w->copies[i].tracked || w->copies[i].lane == (uint32_t)lane;
    return w->copies_begun;
}

void sim_copy_land(sim_block *b, sim_warp *w, int lane, uint32_t before)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->copy_count; i++)
        if (w->copies[i].lane == (uint32_t)lane && w->copies[i].number < before)
            land_copy(b, w, &w->copies[i]);
        else
            w->copies[kept++] = w->copies[i];
    w->copy_count = kept;
}

/* The thread itself knows of a copy that it waited for, whoever else will. */
static void learn_of(sim_block *b, sim_warp *w, const sim_copy *copy)
{
    sim_clock *landed = NULL;
    if (!copy->tracked)
        return;
    sim_order_copies(b, w, (int)copy->lane, copy->number + 1, &landed);
    sim_order_get(b, w, (int)copy->lane, landed);
    sim_clock_drop(landed);
}

bool sim_copy_wait(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->copy_count; i++) {
        const sim_copy *copy = &w->copies[i];
        /* offset: groups that may stay in flight; -1: none, and copies not committed land too. */
        uint64_t group = w->copy_groups[copy->lane];
        uint64_t landed = c->offset < 0                 ? UINT64_MAX
                          : (uint64_t)c->offset < group ? group - (uint64_t)c->offset
                                                        : 0;
        if (copy->group >= landed || !(mask >> copy->lane & 1))
            w->copies[kept++] = *copy;
        else {
            land_copy(b, w, copy);
            learn_of(b, w, copy);
        }
    }
    if (kept < w->copy_count)
        sim_note_change(b, w);
    w->copy_count = kept;
    return true;
}
