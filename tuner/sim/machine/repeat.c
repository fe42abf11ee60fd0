#include "sim/machine/repeat.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "sim/machine/fault.h"

enum {
    LOOK_EVERY = 64,          /* branches back */
    LOOK_FROM = 1 << 14,      /* instructions */
    POLLS_BEFORE = 1 << 13,   /* of a cluster, in which nothing changed */
    POLLS_FOR_SOME = 1 << 14, /* after which some lanes of a warp speak for all: others may wait for
                                 these where they are to meet */
    ONE_POLL_IN = 31          /* is looked at: a prime, so that each of a loop's polls is */
};

static size_t path_bytes(const sim_warp *w)
{
    return (size_t)w->depth * sizeof *w->paths;
}

static void keep(const sim_block *b, sim_warp *w, const sim_instruction *c)
{
    const size_t registers = b->program->register_bytes;
    if (!w->kept)
        w->kept = malloc(registers + sizeof w->paths);
    if (!w->kept)
        return;
    w->kept_for = w->kept_branch ? 2 * w->kept_for : 1;
    w->kept_looks = 0;
    w->kept_branch = c;
    w->kept_depth = w->depth;
    memcpy(w->kept, w->registers, registers);
    memcpy(w->kept + registers, w->paths, path_bytes(w));
}

static bool is_as_kept(const sim_block *b, const sim_warp *w, const sim_instruction *c)
{
    const size_t registers = b->program->register_bytes;
    return w->kept_branch == c && w->kept_depth == w->depth &&
           memcmp(w->kept + registers, w->paths, path_bytes(w)) == 0 &&
           memcmp(w->kept, w->registers, registers) == 0;
}

bool sim_repeat_branch(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    if (++w->back_branches % LOOK_EVERY != 0 || w->executed < LOOK_FROM)
        return true;
    if (w->kept_branch && is_as_kept(b, w, c))
        return sim_fail(b, w, c, __builtin_ctz(mask), SIM_FAULT_ENDLESS,
                        "all that its loop computes with is again what it was, and nothing else "
                        "can end it");
    if (!w->kept_branch || ++w->kept_looks >= w->kept_for)
        keep(b, w, c);
    return true;
}

/* The hash of all that decides where the warp goes: what it merely counts is left out. */
static uint64_t state_of(const sim_block *b, const sim_warp *w)
{
    const size_t steps = b->program->register_bytes / SIM_SLOT_STEP;
    uint64_t state = b->moment;
    for (size_t i = 0; i < steps; i++)
        if (b->program->deciding[i])
            state = XXH3_64bits_withSeed(w->registers + i * SIM_SLOT_STEP, SIM_SLOT_STEP, state);
    return state;
}

void sim_repeat_poll(const sim_block *b, sim_warp *w, int32_t pc, uint32_t mask)
{
    if (b->cluster->idle_polls < POLLS_BEFORE || ++w->polls_met % ONE_POLL_IN != 0)
        return;
    if (w->polled_change != b->cluster->changes) {
        sim_repeat_forget(w);
        w->polled_change = b->cluster->changes;
    }
    const uint64_t state = state_of(b, w);
    const bool is_again = w->polled_mask == mask && w->polled_pc == pc && w->polled_state == state;
    if (is_again)
        w->stuck |= mask;
    if (!is_again && w->polled_mask && ++w->polled_looks < w->polled_for)
        return;
    w->polled_for = w->polled_mask ? 2 * w->polled_for : 1;
    w->polled_looks = 0;
    w->polled_mask = mask;
    w->polled_pc = pc;
    w->polled_state = state;
}

void sim_repeat_forget(sim_warp *w)
{
    w->stuck = w->polled_mask = 0;
}

bool sim_repeat_is_stuck(const sim_cluster *cl)
{
    const bool is_long = cl->idle_polls > POLLS_FOR_SOME;
    if (cl->idle_polls < POLLS_BEFORE)
        return false;
    for (uint32_t r = 0; r < cl->size; r++)
        for (uint32_t i = 0; i < cl->blocks[r].warp_count; i++) {
            const sim_warp *w = &cl->blocks[r].warps[i];
            const uint32_t unknown = w->live & ~w->stuck;
            const bool knows =
                w->polled_change == cl->changes && w->stuck != 0 && (unknown == 0 || is_long);
            if (w->state != SIM_DONE && w->state != SIM_WAITING && !knows)
                return false;
        }
    return true;
}
