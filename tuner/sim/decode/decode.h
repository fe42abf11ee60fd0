/* Decodes a kernel of a parsed module into a sim_program, which borrows the module. Calls of
 * functions are inlined where possible. An unknown instruction becomes SIM_UNKNOWN,
 * which ends a run that executes it. */
#ifndef AUTOTUNE_SIM_DECODE_DECODE_H
#define AUTOTUNE_SIM_DECODE_DECODE_H

#include "base/error.h"
#include "sim/program/program.h"

/* Decodes the kernel `entry`, or the first kernel if `entry` is NULL. The caller frees *out with
 * sim_program_free(). Returns AT_NOT_FOUND for an unknown kernel, AT_FORMAT or AT_NO_MEMORY. */
at_status sim_decode(const ptx_module *module, const char *entry, sim_program **out,
                     at_error *error);

/* Frees a program. `p` may be NULL. */
void sim_program_free(sim_program *p);

#endif
