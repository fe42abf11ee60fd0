/* Results that no block of a kernel writes, of one too large to be run whole.
 *
 * What goes wrong at large sizes alone goes wrong where an index is too large for its arithmetic:
 * 24 bits of a float or of a product, 31 or 32 bits of elements or of bytes, a grid that is cut at
 * a limit, a quotient that is rounded at the end of a row. Places there, at random and at the ends
 * are looked at: what the reference's blocks write there must be written by blocks of the kernel,
 * too. These are found as far as they write as evenly as the first ones (sim/owners.h); where that
 * leads to no block, there need not be a hole. One is certain where two blocks, or two threads of a
 * block, write in one place while a place beside is left, or where the blocks are too few. */
#ifndef AUTOTUNE_SIM_HOLES_H
#define AUTOTUNE_SIM_HOLES_H

#include "sim/device.h"
#include "sim/owners.h"

enum { HOLES_MOST_PLACES = 512 };

typedef enum sim_hole_kind {
    SIM_HOLE_NONE,
    SIM_HOLE_LIKELY, /* no block was found */
    SIM_HOLE_CERTAIN
} sim_hole_kind;

typedef struct sim_hole {
    sim_hole_kind kind;
    char why[320];                       /* in one sentence */
    uint64_t written[HOLES_MOST_PLACES]; /* elements that both write, of which each has run what was
                                            needed for it */
    size_t written_count;
} sim_hole;

/* Looks for one in buffer `i`, of which the elements before `end` are results. Both kernels have
 * run nothing but what these owners ran; `launch` is the variant's. AT_NO_MEMORY. */
at_status sim_holes_find(sim_owners *variant, sim_owners *reference, const buffer_plan *plan,
                         uint32_t i, uint64_t end, const launch_plan *launch, uint64_t seed,
                         sim_hole *out, at_error *error);

#endif
