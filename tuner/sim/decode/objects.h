/* Finds the variables that the addresses in a function's registers come from, as far as the
 * instructions that compute them show. Where variables lie is open (PTX ISA, "State Spaces"): an
 * address that is computed from that of a variable reaches that variable alone, whatever lies
 * beside it here. */
#ifndef AUTOTUNE_SIM_DECODE_OBJECTS_H
#define AUTOTUNE_SIM_DECODE_OBJECTS_H

#include <stdint.h>

#include "ptx/module.h"

enum { OBJECTS_NONE = -1, OBJECTS_SEVERAL = -2 };

/* Fills `objects`, one for each register of the function: the variable of shared, global or
 * constant memory whose address, and no other, its value is made of by moves and sums, whichever
 * instruction wrote it; OBJECTS_NONE, a number; OBJECTS_SEVERAL, not known. */
void objects_find(const ptx_module *module, const ptx_function *function, int32_t *objects);

/* Tells the same of an operand: it looks a register up in `objects`. */
int32_t objects_of(const ptx_module *module, const ptx_function *function, const int32_t *objects,
                   const ptx_operand *o);

#endif
