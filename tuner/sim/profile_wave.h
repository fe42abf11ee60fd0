/* The part of a profile that is of all blocks that run at the same time, and the buffers that they
 * read. */
#ifndef AUTOTUNE_SIM_PROFILE_WAVE_H
#define AUTOTUNE_SIM_PROFILE_WAVE_H

#include "sim/profile.h"

/* The buffers that are read, in the order in which they were met. */
typedef struct buffer_table {
    const sim_memory *memory;
    uint64_t bases[SIM_PROFILE_BUFFERS];
    size_t count, last; /* last: that a sector was of, of these addresses: */
    uint64_t last_from, last_to;
} buffer_table;

/* The buffer that has the sector; SIM_PROFILE_BUFFERS: none, or one too many. */
size_t buffer_table_find(buffer_table *t, uint64_t sector);

/* Fills the wave of *out, and its buffers' part of it: `wave` blocks are on the chip. A kernel that
 * needs its other warps may fault here; then there is nothing to say. */
at_status sim_profile_wave(const sim_launch *launch, uint64_t wave, buffer_table *table,
                           sim_profile *out, at_error *error);

#endif
