#include "sim/machine/line.h"

#include <string.h>

#include "sim/machine/machine.h"

bool sim_line_suits(const sim_race_access *a, sim_touch touch)
{
    return touch != SIM_TOUCH_ATOMIC && a->stamp.scope == 0 && !a->warp->order.clocks;
}

/* A set of one cell as that of another, whose lane is `lanes`. */
static sim_set copy_of(sim_pool *pool, const sim_set *set, uint32_t lanes)
{
    sim_set copy = {.last = set->last};
    copy.last.lanes = lanes;
    if (!set->more || set->more->count == 0)
        return copy;
    /* Without memory the older ones are given up, as in a set that is full. */
    copy.more = sim_pool_take(pool, set->more->class);
    if (!copy.more)
        return copy;
    memcpy(copy.more, set->more, sizeof *set->more + set->more->count * sizeof *set->more->stamps);
    for (uint32_t i = 0; i < copy.more->count; i++)
        copy.more->stamps[i].lanes = lanes;
    return copy;
}

void sim_line_part_now(sim_pool *pool, sim_line *line, sim_cell *cells, uint32_t run)
{
    const bool together = line->state == SIM_LINE_TOGETHER && line->run == run;
    for (uint32_t i = 0; together && i < SIM_LINE_CELLS; i++) {
        const uint32_t lanes = 1u << (line->first + (i >> line->shift));
        sim_set_clear(pool, &cells[i].writes);
        sim_set_clear(pool, &cells[i].reads);
        cells[i] = line->cell;
        cells[i].writes = copy_of(pool, &line->cell.writes, lanes);
        cells[i].reads = copy_of(pool, &line->cell.reads, lanes);
    }
    line->state = SIM_LINE_APART;
    line->run = run;
}
