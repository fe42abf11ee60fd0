/* Finds the alignment and the variables of the addresses in a function's registers. */
#ifndef AUTOTUNE_SIM_DECODE_ADDRESSES_H
#define AUTOTUNE_SIM_DECODE_ADDRESSES_H

#include <stdint.h>

#include "ptx/module.h"

enum { ALIGNMENT_MOST = 16 };

/* Values for registers without an address, and for addresses whose variable is unknown. */
enum { OBJECTS_NONE = -1, OBJECTS_SEVERAL = -2 };

/* Fills `zeros` for each register of the function: the number of lowest bits that are zero in all
 * its values, at most ALIGNMENT_MOST. `addresses` has the addresses of all variables of the
 * module. */
void addresses_find_alignment(const ptx_module *module, const ptx_function *function,
                              const uint64_t *addresses, uint8_t *zeros);

/* Fills `objects` for each register: the variable from whose address moves and sums compute all its
 * values, OBJECTS_NONE or OBJECTS_SEVERAL. Only variables in shared, global or constant memory
 * count. PTX does not define where variables lie (PTX ISA, "State Spaces"), so such an address may
 * reach only its own variable. */
void addresses_find_objects(const ptx_module *module, const ptx_function *function,
                            int32_t *objects);

/* Returns the variable of an operand's address; `objects` has the variables of the registers. */
int32_t addresses_object(const ptx_module *module, const ptx_function *function,
                         const int32_t *objects, const ptx_operand *o);

#endif
