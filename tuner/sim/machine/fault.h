/* Faults: what went wrong, and where. */
#ifndef AUTOTUNE_SIM_MACHINE_FAULT_H
#define AUTOTUNE_SIM_MACHINE_FAULT_H

#include "sim/machine/machine.h"

/* Records a fault of one lane; returns false, so that a handler can return it. */
bool sim_fail(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
              sim_fault_kind kind, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Adds the address to the fault that was just recorded, and the buffer or variable that has it;
 * `owner` is the block whose shared memory it is of, and may be NULL for other spaces. Returns
 * false, too. */
bool sim_fault_touches(sim_block *b, const sim_block *owner, ptx_space space, uint64_t address);

/* A variable's name as it was declared: of one inside a function the last part of "_ZZ1kE4tile". */
ptx_text sim_declared_name(ptx_text name);

/* Names a place in the block's shared memory: "byte 4 of tile (shared memory byte 12 of 512)". */
void sim_shared_name(const sim_block *b, uint32_t offset, char *text, size_t size_bytes);

/* The branch back of the innermost loop around an instruction, which says where it is whatever the
 * moment; the instruction itself where it is in none. */
const sim_instruction *sim_loop_around(const sim_program *p, int32_t pc);
void sim_thread_position(const sim_block *b, uint32_t thread, uint32_t position[3]);

#endif
