/* Lines of 128 bytes of memory on which atomics follow one another. */
#ifndef AUTOTUNE_SIM_HOT_LINES_H
#define AUTOTUNE_SIM_HOT_LINES_H

#include "sim/profile.h"
#include "sim/sector_set.h"

typedef struct hot_lines { /* zeroed: none */
    sector_set lines;      /* those with atomics; `used`: their place in: */
    struct hot_line *hot;  /* owned */
    double sectors;        /* of all atomics */
} hot_lines;

/* Notes an atomic of a warp of that cluster. False: no memory. */
bool hot_lines_note(hot_lines *h, uint64_t cluster, const sim_instruction *c, const sim_sectors *s);

/* The line with the most sectors, and its word with the most operations; `scale`: of what was noted
 * to all that is launched. A line that a single cluster alone updates gets no hotter with more. */
sim_hot hot_lines_find(const hot_lines *h, double scale);

void hot_lines_deinit(hot_lines *h);

#endif
