/* Finds what all threads of a grid write, without running each.
 *
 * A program is followed for a whole box of threads at once (sim/affine.h): registers are functions
 * of the thread's place, and the box is cut where its threads part, be it at a branch, where an
 * index wraps or where a quotient or a rounded float changes. Memory is not looked at: what was
 * loaded is unknown, and so is a kernel in which that decides where it writes. What comes out is
 * exact, for grids of any size: how many elements are written, and which, as far as their sum and
 * the sum of their squares tell. */
#ifndef AUTOTUNE_SIM_SWEEP_H
#define AUTOTUNE_SIM_SWEEP_H

#include "device/plan.h"
#include "sim/machine/run.h"

enum { SWEEP_MOST_BLOCKS = 8 };

typedef struct sim_sweep_buffer {
    uint64_t base, size_bytes, end; /* elements from `end` on do not count */
    uint32_t element_bytes;
} sim_sweep_buffer;

/* Elements that are written, as often as they are; sums modulo 2^64. */
typedef struct sim_written {
    bool is_known;
    uint64_t count, sum, squares;
} sim_written;

typedef struct sim_sweep {
    bool ended; /* all threads were followed to their end; nothing else is known if not, */
    sim_written written[PLAN_MAX_BUFFERS];
    /* but blocks whose threads go different ways, one for each way; linear indices */
    uint64_t blocks[SWEEP_MOST_BLOCKS];
    size_t block_count;
    /* and a block that writes outside of all buffers */
    bool is_outside;
    uint64_t outside;
    uint64_t work; /* instructions, each for a box */
} sim_sweep;

/* Follows at most `most` instructions. */
void sim_sweep_run(const sim_launch *launch, const sim_sweep_buffer *buffers, size_t buffer_count,
                   uint64_t most, sim_sweep *out);

/* Finds blocks in which what their threads read or write changes from one rule to another, as at
 * the end of a row or where a float is rounded: some of them, at random, the last first.
 * out->blocks alone is set. */
void sim_sweep_part(const sim_launch *launch, const sim_sweep_buffer *buffers, size_t buffer_count,
                    uint64_t most, uint64_t seed, sim_sweep *out);

/* Are these the elements [0, end), each once? */
bool sim_written_all(const sim_written *w, uint64_t end);

#endif
