/* PTX statements to a decoded program.
 *
 * In: a parsed module and the name of a kernel. Out: a sim_program ready to run, which borrows the
 * module. Function calls are inlined. An instruction that the simulator does not know becomes
 * SIM_UNKNOWN, which ends a run that executes it. */
#ifndef AUTOTUNE_SIM_DECODE_DECODE_H
#define AUTOTUNE_SIM_DECODE_DECODE_H

#include "base/error.h"
#include "sim/program/program.h"

/* Decodes `entry` (NULL: the first kernel). On success *out owns the program. Errors: AT_NOT_FOUND
 * for an unknown kernel, AT_FORMAT, AT_NO_MEMORY. */
at_status sim_decode(const ptx_module *module, const char *entry, sim_program **out,
                     at_error *error);

void sim_program_free(sim_program *p); /* NULL is fine */

#endif
