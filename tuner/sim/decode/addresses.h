/* Alignment and variables of the addresses in a function's registers, from its instructions. */
#ifndef AUTOTUNE_SIM_DECODE_ADDRESSES_H
#define AUTOTUNE_SIM_DECODE_ADDRESSES_H

#include <stdint.h>

#include "ptx/module.h"

enum { ALIGNMENT_MOST = 16 };

/* Values that stand for no variable: the register holds a plain number, or its variable is
 * unknown. */
enum { OBJECTS_NONE = -1, OBJECTS_SEVERAL = -2 };

/* Fills `zeros` for each register of the function: the number of lowest bits, at most
 * ALIGNMENT_MOST, that are zero in every value of it. `addresses` has the address of each variable
 * of the module. */
void addresses_find_alignment(const ptx_module *module, const ptx_function *function,
                              const uint64_t *addresses, uint8_t *zeros);

/* Fills `objects` for each register: the variable of shared, global or constant memory from whose
 * address moves and sums compute all its values, OBJECTS_NONE or OBJECTS_SEVERAL. PTX does not
 * define where variables lie (PTX ISA, "State Spaces"), so such an address may reach only that
 * variable. */
void addresses_find_objects(const ptx_module *module, const ptx_function *function,
                            int32_t *objects);

/* Returns the variable that an operand is computed from, with the `objects` of the registers. */
int32_t addresses_object(const ptx_module *module, const ptx_function *function,
                         const int32_t *objects, const ptx_operand *o);

#endif
