/* Arrays that grow, of one launch: taken and given back in powers of two, and freed all at once.
 * Several host threads may use a pool. */
#ifndef AUTOTUNE_SIM_MACHINE_POOL_H
#define AUTOTUNE_SIM_MACHINE_POOL_H

#include <stdbool.h>
#include <stddef.h>

enum { SIM_POOL_CLASSES = 32 };

typedef struct sim_pool {
    void *free[SIM_POOL_CLASSES]; /* lists of pieces given back, of 1 << class bytes */
    void *chunks;                 /* list of what is owned */
    char *at;                     /* into the newest chunk */
    size_t left_bytes;
    bool lock;
} sim_pool; /* all 0 is an empty pool */

/* A piece of 1 << class bytes, aligned for anything, of any content; NULL: no memory. class: 4 or
 * more. */
void *sim_pool_take(sim_pool *pool, int class);
void sim_pool_give(sim_pool *pool, void *piece, int class);
void sim_pool_deinit(sim_pool *pool);

#endif
