/* Finds the alignment and the variables of the addresses in a function's registers. */
#ifndef AUTOTUNE_SIM_DECODE_ADDRESSES_H
#define AUTOTUNE_SIM_DECODE_ADDRESSES_H

#include <stdint.h>

#include "ptx/module.h"

enum { ALIGNMENT_MOST = 16 };

/* Values for registers without an address, and for addresses whose variable is unknown. */
enum { OBJECTS_NONE = -1, OBJECTS_SEVERAL = -2 };

/* Fills `zeros` for each register: the number of lowest bits that are zero in all its values, at
 * most ALIGNMENT_MOST. `addresses` has the address of each variable of the module. */
void addresses_find_alignment(const ptx_module *module, const ptx_function *function,
                              const uint64_t *addresses, uint8_t *zeros);

/* Fills `objects` for each register: the variable whose address is the base of all values of the
 * register, OBJECTS_NONE or OBJECTS_SEVERAL. Follows addresses through moves and sums. Only
 * variables in shared, global or constant memory count. Code may reach only this variable by the
 * address, because PTX does not define where variables lie (PTX ISA, "State Spaces"). */
void addresses_find_objects(const ptx_module *module, const ptx_function *function,
                            int32_t *objects);

/* Returns the variable of an operand's address; `objects` has the variables of the registers. */
int32_t addresses_object(const ptx_module *module, const ptx_function *function,
                         const int32_t *objects, const ptx_operand *o);

#endif
