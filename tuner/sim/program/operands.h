/* Which slots an instruction reads and writes.
 *
 * In: a decoded instruction. Out: slots, as sim/program/program.h has them; those of predicates,
 * too. Nothing here allocates or fails. */
#ifndef AUTOTUNE_SIM_PROGRAM_OPERANDS_H
#define AUTOTUNE_SIM_PROGRAM_OPERANDS_H

#include "sim/program/program.h"

enum { SIM_MOST_OPERANDS = 144 }; /* wgmma has 128 accumulators */

typedef struct sim_operands {
    int32_t reads[SIM_MOST_OPERANDS], writes[SIM_MOST_OPERANDS];
    int read_count, write_count;
} sim_operands;

/* All slots of an instruction of the program: its guard is among those that it reads. */
void sim_operands_of(const sim_program *p, const sim_instruction *c, sim_operands *out);

#endif
