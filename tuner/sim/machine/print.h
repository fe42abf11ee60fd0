/* Keeps what the threads of a launch print, by printf.
 *
 * Each block collects its own text, in the order in which its threads run; here the texts of blocks
 * are kept in the order of their clusters, so that the whole does not depend on the number of host
 * threads. It is bounded: the first blocks are kept, and that there was more is said. */
#ifndef AUTOTUNE_SIM_MACHINE_PRINT_H
#define AUTOTUNE_SIM_MACHINE_PRINT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/program/program.h"

typedef struct sim_block sim_block;
typedef struct sim_warp sim_warp;

enum { SIM_PRINT_BYTES = 16384 };

typedef struct sim_printed { /* by one block */
    uint64_t order;
    char *text; /* owned; not NUL-terminated */
    size_t bytes;
} sim_printed;

typedef struct sim_prints {
    pthread_mutex_t lock;
    sim_printed *blocks; /* owned; by order */
    size_t count;
    size_t bytes; /* of all, at most SIM_PRINT_BYTES but for the last block's */
    bool cut;     /* there was more */
} sim_prints;
void sim_prints_init(sim_prints *p);
void sim_prints_deinit(sim_prints *p);

/* All that blocks up to `last` printed; NULL: nothing, or there is no memory. The caller frees
 * it. */
char *sim_prints_text(const sim_prints *p, uint64_t last);

/* printf, whose text the block keeps until its end; and a failed assertion, which ends the run. The
 * variables that the call hands over lie in local memory, at lists[target] and what follows
 * there. */
bool sim_print(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_assertion(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Hands over what the block printed, before it becomes another and before it is freed. */
void sim_print_end(sim_block *b);

#endif
