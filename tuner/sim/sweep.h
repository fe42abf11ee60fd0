/* Finds the elements that all threads of a grid write, without running each thread. The sweep
 * follows a program for a whole box of threads at once (sim/affine.h). It cuts the box where its
 * threads diverge: at a branch, where an index wraps, or where a quotient or a rounded float
 * changes. Loaded values are unknown, and the sweep fails if one of them decides where to write.
 * The result is exact for grids of any size: the number of written elements, and the sums of the
 * indices and of their squares. These sums tell whether the right elements were written. */
#ifndef AUTOTUNE_SIM_SWEEP_H
#define AUTOTUNE_SIM_SWEEP_H

#include "device/plan.h"
#include "sim/machine/run.h"

enum { SWEEP_MOST_BLOCKS = 8 };

typedef struct sim_sweep_buffer {
    uint64_t base, size_bytes;
    uint64_t end; /* number of elements that count */
    uint32_t element_bytes;
} sim_sweep_buffer;

/* Number and sums of the indices of written elements. An element counts each time it is written.
 * Sums are modulo 2^64. */
typedef struct sim_written {
    bool is_known;
    uint64_t count, sum, squares;
} sim_written;

typedef struct sim_sweep {
    bool ended; /* all threads were followed to their end; if not, `written` is not valid */
    sim_written written[PLAN_MAX_BUFFERS];
    /* linear indices of blocks whose threads take different paths, one block for each path */
    uint64_t blocks[SWEEP_MOST_BLOCKS];
    size_t block_count;
    /* whether a block writes outside all buffers, and the linear index of this block */
    bool is_outside;
    uint64_t outside;
    uint64_t work; /* instructions followed, counted once for each box */
} sim_sweep;

typedef enum sweep_aim {
    SWEEP_WRITES,    /* finds the written elements, and blocks whose threads take different paths */
    SWEEP_DIVERGENCE /* finds blocks in which the accesses of the threads change from one formula to
                        another, as at the end of a row or where a float is rounded. Keeps a random
                        sample, searched from the end of the grid. Sets only out->blocks */
} sweep_aim;

/* Sweeps a launch in at most `most` instructions. `seed` draws the sample of SWEEP_DIVERGENCE. */
void sim_sweep_run(const sim_launch *launch, const sim_sweep_buffer *buffers, size_t buffer_count,
                   uint64_t most, sweep_aim aim, uint64_t seed, sim_sweep *out);

/* Returns whether number and sums are those of the elements [0, end), each written once. */
bool sim_written_all(const sim_written *w, uint64_t end);

#endif
