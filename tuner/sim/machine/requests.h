/* Counts what a GPU makes of accesses to memory (counters.h), and shows the sectors of global
 * memory to the launch's observer. */
#ifndef AUTOTUNE_SIM_MACHINE_REQUESTS_H
#define AUTOTUNE_SIM_MACHINE_REQUESTS_H

#include "sim/machine/machine.h"

/* Counts an access of `bytes` a lane as one request. */
void sim_count_request(sim_block *b, const sim_instruction *c, uint32_t mask, ptx_space space,
                       const uint64_t *address, uint32_t bytes);

/* Counts it as the requests that ptxas makes of it (sim/decode/reshape.h). */
void sim_count_requests(sim_block *b, const sim_instruction *c, uint32_t mask, ptx_space space,
                        const uint64_t *address, uint32_t bytes);

#endif
