/* Parts of the profiler (sim/profile.h). Only profile*.c and sector_set.c include this header. */
#ifndef AUTOTUNE_SIM_PROFILE_PARTS_H
#define AUTOTUNE_SIM_PROFILE_PARTS_H

#include "sim/profile.h"

/* A hash table of sectors of memory (sim/machine/counters.h), empty if zeroed. Each sector has a
 * word: the mask of its touched bytes, or a number of the caller. */
typedef struct sector_set {
    uint64_t *keys; /* sector + 1; 0 for a free entry */
    uint32_t *used; /* the word of each entry */
    size_t capacity, count;
} sector_set;

void sector_set_deinit(sector_set *s);
void sector_set_clear(sector_set *s);

/* Adds a sector, or adds bits to its word. Sets *is_new. Returns false without memory. */
bool sector_set_add(sector_set *s, uint64_t sector, uint32_t used, bool *is_new);

/* Makes *to equal to *from. Returns false without memory. */
bool sector_set_copy(sector_set *to, const sector_set *from);
bool sector_set_has(const sector_set *s, uint64_t sector);

/* Returns the index in keys[] and used[] of a sector that is in the set. */
size_t sector_set_index(const sector_set *s, uint64_t sector);

/* Returns the mean length of runs of adjacent sectors; 0 for an empty set. */
double sector_set_run_length(const sector_set *s);

/* The buffers that are read, in the order of their first read. */
typedef struct buffer_table {
    const sim_memory *memory;
    uint64_t bases[SIM_PROFILE_BUFFERS];
    size_t count;
    size_t last; /* buffer of the previous call, with addresses [last_from, last_to) */
    uint64_t last_from, last_to;
} buffer_table;

/* Returns the index of the buffer that contains the sector, and adds the buffer if it is missing.
 * Returns SIM_PROFILE_BUFFERS if no buffer contains the sector or the table is full. */
size_t buffer_table_find(buffer_table *t, uint64_t sector);

/* Samples reads to find the data that blocks share if they run at the same time. Fills out->wave
 * and the shares of out->buffers. Fills nothing if the kernel faults because only some of its warps
 * run. The chip holds `wave` blocks at a time. */
at_status sim_profile_wave(const sim_launch *launch, uint64_t wave, buffer_table *table,
                           sim_profile *out, at_error *error);

/* A counter from which each block takes a number. The number may show that the block is last. */
typedef struct ticket {
    uint64_t address;
    uint32_t bytes;
    uint64_t initial; /* value before the launch */
    uint64_t draws;
} ticket;
enum { MOST_TICKETS = 8 };

/* The atomics of the sampled blocks. A zeroed struct has no atomics. */
typedef struct atomics {
    sector_set lines;      /* groups of lines with atomics; the word is the index in `hot` */
    struct hot_lines *hot; /* owned */
    double sectors;        /* sectors of all atomics */
    ticket tickets[MOST_TICKETS];
    size_t ticket_count;
} atomics;

/* Notes an atomic of a warp before it is executed. Returns false if memory is exhausted. */
bool atomics_note(atomics *a, const sim_memory *memory, uint64_t cluster, const sim_instruction *c,
                  const sim_sectors *s);

/* Returns the group of lines with the most sectors. Numbers are multiplied by `scale` (launched
 * over sampled blocks), unless only one cluster uses the group. */
sim_hot atomics_find_hottest(const atomics *a, double scale);

/* If all `sampled` clusters drew tickets, runs a cluster that draws the last tickets, and raises
 * *clocks to the time of its end, in clocks. `total` is the number of clusters. Changes
 * l->clusters and restores the tickets. */
at_status atomics_run_last(const atomics *a, sim_launch *l, uint64_t sampled, uint64_t total,
                           double *clocks, at_error *error);

/* Restores the counters from which blocks took numbers. */
void atomics_put_back(const atomics *a, const sim_memory *memory);

void atomics_deinit(atomics *a);

#endif
