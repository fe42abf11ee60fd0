/* Sets of sectors of memory (sim/machine/counters.h) with a word for each: the bytes that were
 * touched of it, or what else its user keeps there. Open addressing. */
#ifndef AUTOTUNE_SIM_SECTOR_SET_H
#define AUTOTUNE_SIM_SECTOR_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sector_set { /* zeroed: empty */
    uint64_t *keys;         /* sector + 1; 0: empty */
    uint32_t *used;
    size_t capacity, count;
} sector_set;

void sector_set_deinit(sector_set *s);
void sector_set_clear(sector_set *s);

/* Adds bytes of a sector; *is_new says whether the sector was not there. False: no memory. */
bool sector_set_add(sector_set *s, uint64_t sector, uint32_t used, bool *is_new);
bool sector_set_has(const sector_set *s, uint64_t sector);

/* The place of a sector that is in the set, in keys[] and used[]. */
size_t sector_set_place(const sector_set *s, uint64_t sector);

/* Sectors over runs of neighbours; 0 for an empty set. */
double sector_set_run_length(const sector_set *s);

#endif
