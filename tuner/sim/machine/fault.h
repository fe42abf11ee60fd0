/* Faults: what a kernel does wrong, and where. */
#ifndef AUTOTUNE_SIM_MACHINE_FAULT_H
#define AUTOTUNE_SIM_MACHINE_FAULT_H

#include "sim/machine/machine.h"

/* Records a fault of one lane in b->fault. Always returns false, which the caller may return. */
bool sim_fail(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
              sim_fault_kind kind, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Adds the address, and the buffer or variable that contains it, to the fault just recorded.
 * `owner` is the block of a shared address, otherwise it may be NULL. Always returns false. */
bool sim_fault_add_address(sim_block *b, const sim_block *owner, ptx_space space, uint64_t address);

/* Returns the name of a variable as the CUDA source declares it. PTX mangles the name of a variable
 * inside a function: the result is "tile" for "_ZZ1kE4tile". */
ptx_text sim_declared_name(ptx_text name);

/* Names a byte of the block's shared memory: "byte 4 of tile (shared memory byte 12 of 512)". */
void sim_shared_name(const sim_block *b, uint32_t offset, char *text, size_t size_bytes);

/* Returns the backward branch of the innermost loop around the instruction at `pc`. Returns the
 * instruction itself if it is in no loop. */
const sim_instruction *sim_loop_around(const sim_program *p, int32_t pc);

/* Computes the position in its block of the thread with the linear index `thread`. */
void sim_thread_position(const sim_block *b, uint32_t thread, uint32_t position[3]);

#endif
