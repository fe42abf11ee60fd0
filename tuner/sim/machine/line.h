/* Lines: 32 pieces of memory side by side, watched as one while whole warps alone touch them, lane
 * after lane.
 *
 * Such a warp touches all pieces of a line in one way, so that what is remembered of one is what is
 * remembered of each, but for the lane: one cell stands for all (TOGETHER). Whatever touches the
 * line otherwise gives each piece a cell of its own first (APART). What is found is the same;
 * coalesced accesses cost a thirty-second of the time and of the memory. */
#ifndef AUTOTUNE_SIM_MACHINE_LINE_H
#define AUTOTUNE_SIM_MACHINE_LINE_H

#include "sim/machine/race.h"

enum { SIM_LINE_CELLS = 32 };

typedef enum sim_line_state {
    SIM_LINE_UNTOUCHED,
    SIM_LINE_TOGETHER,
    SIM_LINE_APART
} sim_line_state;

typedef struct sim_line {
    uint32_t run;  /* of shared memory: sim_block.run that the line is of */
    uint8_t state; /* sim_line_state */
    uint8_t first; /* the lane of the first cell */
    uint8_t shift; /* lanes have 1 << shift cells each */
    sim_cell cell; /* TOGETHER: stands for all, as the first of them */
} sim_line;

/* The lines of so many cells. */
static inline size_t sim_line_count(size_t cells)
{
    return (cells + SIM_LINE_CELLS - 1) / SIM_LINE_CELLS;
}

/* The lanes that the `j`-th line of a row takes, of which each has 1 << shift cells; *first is the
 * lowest of them. */
static inline uint32_t sim_line_lanes(uint32_t j, uint32_t shift, uint32_t *first)
{
    const uint32_t lanes = SIM_LANES >> shift;
    *first = j * lanes;
    return (lanes < SIM_LANES ? (1u << lanes) - 1 : UINT32_MAX) << *first;
}

/* May an access be one to a whole line: weak, by a warp that knows of nothing outside but by
 * barriers? (What lanes know of others may differ from lane to lane.) */
bool sim_line_suits(const sim_race_access *a, sim_touch touch);

/* The line is about to be touched by a whole warp, whose lanes from `first` on have 1 << shift
 * cells each; true: by way of line->cell, as that lane. `run`: 0 in global memory. */
static inline bool sim_line_join(sim_pool *pool, sim_line *line, uint32_t run, uint32_t first,
                                 uint32_t shift)
{
    if (line->state == SIM_LINE_UNTOUCHED || line->run != run) {
        line->state = SIM_LINE_TOGETHER;
        line->run = run;
        line->first = (uint8_t)first;
        line->shift = (uint8_t)shift;
        sim_set_clear(pool, &line->cell.writes);
        sim_set_clear(pool, &line->cell.reads);
        line->cell = (sim_cell){.run = run};
    }
    return line->state == SIM_LINE_TOGETHER && line->first == first && line->shift == shift;
}

/* One of its cells is about to be touched by itself: `cells` are the line's. */
void sim_line_part_now(sim_pool *pool, sim_line *line, sim_cell *cells, uint32_t run);
static inline void sim_line_part(sim_pool *pool, sim_line *line, sim_cell *cells, uint32_t run)
{
    if (line->state != SIM_LINE_APART || line->run != run)
        sim_line_part_now(pool, line, cells, run);
}

#endif
