/* The heap of a simulated device, from which kernels take memory by malloc() and new. CUDA C++
 * Programming Guide, "Dynamic Global Memory Allocation".
 *
 * Its memory is a region of global memory, of which only what was given and not taken back may be
 * accessed. Nothing is given twice, so that a use after free() is found whatever came between; what
 * is there at a time is what a GPU has unless a program asks for more. Programs that use it run on
 * one host thread. */
#ifndef AUTOTUNE_SIM_MACHINE_HEAP_H
#define AUTOTUNE_SIM_MACHINE_HEAP_H

#include "sim/machine/memory.h"
#include "sim/program/program.h"

typedef struct sim_heap sim_heap;
struct sim_block;
struct sim_warp;

sim_heap *sim_heap_new(void);        /* NULL: no memory */
void sim_heap_free(sim_heap *heap);  /* NULL is fine */
void sim_heap_reset(sim_heap *heap); /* all of it is free, and nothing was written */
sim_region sim_heap_region(const sim_heap *heap);

/* malloc() or free() by the lanes of the mask. */
bool sim_heap_call(struct sim_block *b, struct sim_warp *w, const sim_instruction *c,
                   uint32_t mask);

#endif
