/* Finds the powers of two that divide the values of a function's registers, as far as the
 * instructions that compute them show. */
#ifndef AUTOTUNE_SIM_DECODE_ALIGNMENT_H
#define AUTOTUNE_SIM_DECODE_ALIGNMENT_H

#include <stdint.h>

#include "ptx/module.h"

enum { ALIGNMENT_MOST = 16 };

/* Fills `zeros`, one for each register of the function: how many of the lowest bits are zero in
 * every value that it can have, at most ALIGNMENT_MOST. `addresses` are those of the module's
 * variables. */
void alignment_find(const ptx_module *module, const ptx_function *function,
                    const uint64_t *addresses, uint8_t *zeros);

#endif
