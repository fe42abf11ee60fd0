#include <stdlib.h>

#include "sim/machine/machine.h"

/* A kernel may count its questions before it gives up. */
enum { STALLED_ROUNDS = 1000 };

at_status sim_cluster_init(sim_cluster *cl, const sim_launch *launch, sim_watch *watch, at_error *error)
{
    uint32_t size = (uint32_t)sim_launch_cluster_blocks(launch);
    *cl = (sim_cluster){.launch = launch, .blocks = calloc(size, sizeof *cl->blocks)};
    if (!cl->blocks)
        return error_set(error, AT_NO_MEMORY, "no memory to simulate a cluster of %u blocks", size);
    at_status status = AT_OK;
    while (cl->size < size && !status) {
        status = sim_block_init(&cl->blocks[cl->size], launch, cl, cl->size, watch, error);
        cl->size++;
    }
    return status;
}

void sim_cluster_deinit(sim_cluster *cl)
{
    for (uint32_t r = 0; r < cl->size; r++)
        sim_block_deinit(&cl->blocks[r]);
    free(cl->blocks);
    *cl = (sim_cluster){0};
}

static void start(sim_cluster *cl, uint64_t index)
{
    const sim_launch *l = cl->launch;
    uint32_t of[3], first[3];
    for (int k = 0; k < 3; k++)
        of[k] = l->cluster[0] == 0 ? 1 : l->cluster[k];
    for (int k = 0; k < 3; k++) {
        first[k] = (uint32_t)(index % (l->grid[k] / of[k])) * of[k];
        index /= l->grid[k] / of[k];
    }
    cl->completed = 0;
    cl->fault.kind = SIM_FAULT_NONE;
    for (uint32_t r = 0; r < cl->size; r++) {
        const uint32_t at[3] = {first[0] + r % of[0], first[1] + r / of[0] % of[1], first[2] + r / of[0] / of[1]};
        sim_block_start(&cl->blocks[r], at);
    }
}

/* Nothing can go on: warps wait, or poll what nothing completes. */
static void report_standstill(sim_cluster *cl, bool polling)
{
    for (uint32_t r = 0; r < cl->size && cl->fault.kind == SIM_FAULT_NONE; r++) {
        (polling ? sim_engine_report_stall : sim_report_deadlock)(&cl->blocks[r]);
        cl->fault = cl->blocks[r].fault;
    }
}

void sim_cluster_run(sim_cluster *cl, uint64_t index)
{
    start(cl, index);
    for (uint32_t idle = 0, left = cl->size; left > 0;) {
        bool on = false, polling = false;
        left = 0;
        for (uint32_t r = 0; r < cl->size; r++) {
            sim_block *b = &cl->blocks[r];
            sim_turn turn = sim_block_turn(b);
            if (turn == SIM_TURN_FAULT) {
                cl->fault = b->fault;
                return;
            }
            on = on || turn == SIM_TURN_ON;
            polling = polling || turn == SIM_TURN_POLLING;
            left += !b->ended;
        }
        if (sim_cluster_barrier_open(cl) || on || left == 0) {
            idle = 0;
        } else if (!polling || ++idle == STALLED_ROUNDS) {
            report_standstill(cl, polling);
            return;
        }
    }
}
