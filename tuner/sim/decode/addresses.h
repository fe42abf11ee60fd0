/* Facts about the addresses in the registers of a function, from the instructions that compute
 * them: their alignment, and the variables that they come from. */
#ifndef AUTOTUNE_SIM_DECODE_ADDRESSES_H
#define AUTOTUNE_SIM_DECODE_ADDRESSES_H

#include <stdint.h>

#include "ptx/module.h"

enum { ALIGNMENT_MOST = 16 };

/* Values that stand for no variable: the register holds a plain number, or its variable is
 * unknown. */
enum { OBJECTS_NONE = -1, OBJECTS_SEVERAL = -2 };

/* Fills `zeros` for each register of the function: the number of lowest bits, at most
 * ALIGNMENT_MOST, that are zero in every value of the register. `addresses` has the address of each
 * variable of the module. */
void addresses_find_alignment(const ptx_module *module, const ptx_function *function,
                              const uint64_t *addresses, uint8_t *zeros);

/* Fills `objects` for each register of the function: the variable of shared, global or constant
 * memory from whose address all values of the register are computed by moves and sums, or
 * OBJECTS_NONE or OBJECTS_SEVERAL. PTX does not define where variables lie (PTX ISA, "State
 * Spaces"), so an address that is computed from a variable may reach only that variable. */
void addresses_find_objects(const ptx_module *module, const ptx_function *function,
                            int32_t *objects);

/* Returns the variable that an operand is computed from, with the `objects` of the registers. */
int32_t addresses_object(const ptx_module *module, const ptx_function *function,
                         const int32_t *objects, const ptx_operand *o);

#endif
