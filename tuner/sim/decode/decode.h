/* Decodes PTX statements into a program.
 *
 * The input is a parsed module and the name of a kernel; the output is a sim_program that is ready
 * to run. The program borrows the module. Function calls are inlined where possible. An instruction
 * that the simulator does not know becomes SIM_UNKNOWN, which ends a run that executes it. */
#ifndef AUTOTUNE_SIM_DECODE_DECODE_H
#define AUTOTUNE_SIM_DECODE_DECODE_H

#include "base/error.h"
#include "sim/program/program.h"

/* Decodes the kernel `entry`, or the first kernel if `entry` is NULL. On success, *out is a program
 * that the caller frees with sim_program_free(). Returns AT_NOT_FOUND for an unknown kernel,
 * AT_FORMAT or AT_NO_MEMORY. */
at_status sim_decode(const ptx_module *module, const char *entry, sim_program **out,
                     at_error *error);

/* Frees a program. `p` may be NULL. */
void sim_program_free(sim_program *p);

#endif
