#include "sim/machine/schedule.h"

#include <stdlib.h>

#include "sim/machine/barrier.h"
#include "sim/machine/copies.h"
#include "sim/machine/fault.h"
#include "sim/machine/repeat.h"

/* Number of turns in which warps only poll, before a deadlock is reported. It is large, because a
 * kernel may count its polls and then give up. */
enum { STALLED_ROUNDS = 1000 };

at_status sim_cluster_init(sim_cluster *cl, const sim_launch *launch, sim_watch *watch,
                           at_error *error)
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
    sim_clocks_deinit(&cl->brought);
    sim_clocks_deinit(&cl->passed);
    sim_clock_drop(cl->fenced);
    free(cl->blocks);
    *cl = (sim_cluster){0};
}

void sim_cluster_start(sim_cluster *cl, uint64_t position)
{
    const sim_launch *l = cl->launch;
    uint64_t index = l->clusters ? l->clusters[position] : position;
    uint32_t of[3], first[3];
    cl->number = (uint32_t)index + 1;
    for (int k = 0; k < 3; k++) {
        of[k] = l->cluster[0] == 0 ? 1 : l->cluster[k];
        first[k] = (uint32_t)(index % (l->grid[k] / of[k])) * of[k];
        index /= l->grid[k] / of[k];
    }
    cl->position = position;
    cl->completed = 0;
    sim_clocks_deinit(&cl->brought);
    sim_clocks_deinit(&cl->passed);
    sim_clock_drop(cl->fenced);
    cl->fenced = NULL;
    cl->left = cl->size;
    cl->standstill = 0;
    cl->changes = cl->idle_polls = 0;
    cl->fault.kind = SIM_FAULT_NONE;
    for (uint32_t r = 0; r < cl->size; r++) {
        const uint32_t at[3] = {first[0] + r % of[0], first[1] + r / of[0] % of[1],
                                first[2] + r / of[0] / of[1]};
        sim_block_start(&cl->blocks[r], at);
    }
}

/* Records the fault of a cluster whose warps all wait, or poll mbarriers that stay incomplete. */
static void report_standstill(sim_cluster *cl, bool polling)
{
    for (uint32_t r = 0; r < cl->size && cl->fault.kind == SIM_FAULT_NONE; r++) {
        (polling ? sim_mbarrier_report_stall : sim_report_deadlock)(&cl->blocks[r]);
        cl->fault = cl->blocks[r].fault;
    }
}

bool sim_cluster_turn(sim_cluster *cl)
{
    const bool adverse = cl->launch->schedule != 0;
    const uint32_t first = adverse ? (uint32_t)rng_below(&cl->blocks[0].order, cl->size) : 0;
    bool on = false, polling = false;
    cl->yielded = false;
    cl->left = 0;
    for (uint32_t i = 0; i < cl->size; i++) {
        const uint32_t r = adverse ? cl->size - 1 - i : i;
        sim_block *b = &cl->blocks[(first + r) % cl->size];
        if (adverse && cl->size > 1 && !b->ended && rng_below(&b->order, 2)) {
            polling = true; /* no standstill: the block may run in the next turn */
            cl->left++;
            continue;
        }
        sim_turn turn = sim_block_turn(b);
        if (turn == SIM_TURN_FAULT) {
            cl->fault = b->fault;
            return false;
        }
        on = on || turn == SIM_TURN_ON;
        polling = polling || turn == SIM_TURN_POLLING;
        cl->left += !b->ended;
    }
    if (sim_cluster_barrier_open(cl) || on || cl->left == 0) {
        cl->standstill = 0;
    } else if (!polling || ++cl->standstill == STALLED_ROUNDS) {
        report_standstill(cl, polling);
        return false;
    }
    return cl->left > 0;
}

void sim_cluster_report_waiting(sim_cluster *cl, sim_fault_kind kind, const char *what)
{
    for (uint32_t r = 0; r < cl->size; r++) {
        sim_block *b = &cl->blocks[r];
        for (uint32_t i = 0; i < b->warp_count; i++) {
            const sim_warp *w = &b->warps[i];
            if (w->wait.state == SIM_DONE || w->polls.mask == 0)
                continue;
            sim_fail(b, w, &b->program->code[w->polls.pc], __builtin_ctz(w->polls.mask), kind, "%s",
                     what);
            cl->fault = b->fault;
            return;
        }
    }
}

void sim_cluster_run(sim_cluster *cl, uint64_t position)
{
    sim_cluster_start(cl, position);
    while (sim_cluster_turn(cl)) {
        if (!sim_repeat_is_stuck(cl))
            continue;
        sim_cluster_report_waiting(cl, SIM_FAULT_DEADLOCK, SIM_NOBODY_CHANGES);
        return;
    }
}

/* Returns whether a warp polls memory that other clusters may change. If `ever` is true, any
 * earlier poll of such memory counts, too. */
static bool polls_others(const sim_cluster *cl, bool ever)
{
    for (uint32_t r = 0; r < cl->size; r++)
        for (uint32_t i = 0; i < cl->blocks[r].warp_count; i++) {
            const sim_warp *w = &cl->blocks[r].warps[i];
            const bool is_recent = w->wait.state != SIM_DONE &&
                                   w->executed - w->polls.last_global <= SIM_BETWEEN_POLLS;
            if (w->polls.last_global > 0 && (ever || is_recent))
                return true;
        }
    return false;
}

/* Returns whether the cluster ended because it waited for other clusters. A kernel may give up such
 * a wait by a trap or an assertion. */
static bool waits_for_others(const sim_cluster *cl)
{
    const sim_fault_kind kind = cl->fault.kind;
    const bool gave_up = kind == SIM_FAULT_TRAP || kind == SIM_FAULT_ASSERTION;
    return ((kind == SIM_FAULT_BUDGET || kind == SIM_FAULT_DEADLOCK) && polls_others(cl, false)) ||
           (gave_up && polls_others(cl, true));
}

bool sim_excerpt_goes_on(const sim_launch *launch)
{
    const sim_excerpt *x = launch->excerpt;
    return x->begun < x->least || __atomic_load_n(launch->work, __ATOMIC_RELAXED) < x->enough;
}

bool sim_cluster_ended_for_others(const sim_cluster *cl)
{
    sim_excerpt *x = cl->launch->excerpt;
    uint64_t *count = NULL;
    if (!x)
        return false;
    if (waits_for_others(cl))
        count = &x->waiting;
    else if (cl->fault.kind == SIM_FAULT_UNSEEN)
        count = &x->blind;
    if (count && cl->position < 64)
        __atomic_fetch_or(&x->unfinished, UINT64_C(1) << cl->position, __ATOMIC_RELAXED);
    if (count)
        __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
    return count != NULL;
}

void sim_cluster_sum_counters(const sim_cluster *cl)
{
    for (uint32_t r = 0; r < cl->size; r++)
        for (size_t i = 0; cl->blocks[r].counters && i < cl->launch->program->code_count; i++)
            sim_counter_sum(&cl->launch->counters[i], &cl->blocks[r].counters[i]);
}

uint64_t sim_cluster_bytes(const sim_launch *launch)
{
    return sim_launch_cluster_blocks(launch) * sim_block_bytes(launch);
}
