#include "sim/machine/repeat.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "sim/machine/fault.h"

enum {
    LOOK_EVERY = 64,          /* backward branches between two comparisons */
    LOOK_FROM = 1 << 14,      /* instructions of a warp before the first comparison */
    STEER_FROM = 1 << 18,     /* the same for comparisons of the steering registers alone */
    POLLS_BEFORE = 1 << 13,   /* idle polls of a cluster before the first comparison */
    POLLS_FOR_SOME = 1 << 14, /* idle polls after which it is enough that some lanes of a warp
                                 repeat: the other lanes may wait for them */
    ONE_POLL_IN = 31 /* one poll in this many is compared; a prime, so that each poll of a loop is
                        compared at some time */
};

static size_t path_bytes(const sim_warp *w)
{
    return (size_t)w->flow.depth * sizeof *w->flow.paths;
}

static void keep(const sim_block *b, sim_warp *w, const sim_instruction *c)
{
    const size_t registers = b->program->register_bytes;
    sim_warp_loop *k = &w->loop;
    if (!k->kept)
        k->kept = memory_require(malloc(registers + sizeof w->flow.paths));
    k->interval = k->branch ? 2 * k->interval : 1;
    k->comparisons = 0;
    k->branch = c;
    k->depth = w->flow.depth;
    memcpy(k->kept, w->registers, registers);
    memcpy(k->kept + registers, w->flow.paths, path_bytes(w));
}

static bool is_as_kept(const sim_block *b, const sim_warp *w, const sim_instruction *c)
{
    const size_t registers = b->program->register_bytes;
    const sim_warp_loop *k = &w->loop;
    return k->branch == c && k->depth == w->flow.depth &&
           memcmp(k->kept + registers, w->flow.paths, path_bytes(w)) == 0 &&
           memcmp(k->kept, w->registers, registers) == 0;
}

/* Returns whether the registers that decide all branches are the same again at this branch. */
static bool is_steered_again(const sim_block *b, sim_warp *w, const sim_instruction *c)
{
    const sim_program *p = b->program;
    sim_warp_loop *k = &w->loop;
    uint64_t state = XXH3_64bits(w->flow.paths, path_bytes(w));
    for (size_t i = 0; i < p->steering_count; i++)
        state = XXH3_64bits_withSeed(w->registers + p->steering[i], SIM_SLOT_STEP, state);
    if (k->steered == c && k->steering == state)
        return true;
    if (k->steered && ++k->steering_comparisons < k->steering_interval)
        return false;
    k->steering_interval = k->steered ? 2 * k->steering_interval : 1;
    k->steering_comparisons = 0;
    k->steered = c;
    k->steering = state;
    return false;
}

bool sim_repeat_branch(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    if (++w->loop.branches % LOOK_EVERY != 0 || w->executed < LOOK_FROM)
        return true;
    if (w->loop.branch && is_as_kept(b, w, c))
        return sim_fail(b, w, c, __builtin_ctz(mask), SIM_FAULT_ENDLESS,
                        "its loop is in the same state again, and nothing else can end it");
    if (b->program->steering && w->executed >= STEER_FROM && is_steered_again(b, w, c))
        return sim_fail(b, w, c, __builtin_ctz(mask), SIM_FAULT_ENDLESS,
                        "all values that its branches depend on are the same again");
    if (!w->loop.branch || ++w->loop.comparisons >= w->loop.interval)
        keep(b, w, c);
    return true;
}

/* Returns a hash of the registers that decide the control flow, and of b->moment. */
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
    sim_warp_stuck *k = &w->stuck;
    if (b->cluster->idle_polls < POLLS_BEFORE || ++k->polls % ONE_POLL_IN != 0)
        return;
    if (k->change != b->cluster->changes) {
        sim_repeat_forget(w);
        k->change = b->cluster->changes;
    }
    const uint64_t state = state_of(b, w);
    const bool is_again = k->mask == mask && k->pc == pc && k->state == state;
    if (is_again)
        k->lanes |= mask;
    if (!is_again && k->mask && ++k->comparisons < k->interval)
        return;
    k->interval = k->mask ? 2 * k->interval : 1;
    k->comparisons = 0;
    k->mask = mask;
    k->pc = pc;
    k->state = state;
}

void sim_repeat_forget(sim_warp *w)
{
    w->stuck.lanes = w->stuck.mask = 0;
}

bool sim_repeat_is_stuck(const sim_cluster *cl)
{
    const bool is_long = cl->idle_polls > POLLS_FOR_SOME;
    if (cl->idle_polls < POLLS_BEFORE)
        return false;
    for (uint32_t r = 0; r < cl->size; r++)
        for (uint32_t i = 0; i < cl->blocks[r].warp_count; i++) {
            const sim_warp *w = &cl->blocks[r].warps[i];
            const uint32_t unknown = w->live & ~w->stuck.lanes;
            const bool knows =
                w->stuck.change == cl->changes && w->stuck.lanes != 0 && (unknown == 0 || is_long);
            if (w->wait.state != SIM_DONE && w->wait.state != SIM_WAITING && !knows)
                return false;
        }
    return true;
}

/* Returns whether the warp has found this hash recently. Adds a new hash. The table has room for
 * the polls of almost any loop: in a larger loop, every poll would seem new for ever. */
static bool has_seen(sim_warp *w, uint64_t found)
{
    enum { WAYS = 4 };
    uint64_t *set = &w->polls.seen[found % (SIM_SEEN_POLLS / WAYS) * WAYS];
    for (int i = 0; i < WAYS; i++)
        if (set[i] == found)
            return true;
    memmove(&set[1], &set[0], (WAYS - 1) * sizeof *set);
    set[0] = found;
    return false;
}

void sim_note_poll(const sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                   uint64_t found, bool is_global)
{
    enum { FRESH_POLLS = 4 };
    /* The block's number tells its polls from those of an earlier block in `b`. */
    if (!has_seen(w, found ^ (uint64_t)b->number << 32)) {
        w->polls.fresh = FRESH_POLLS;
        return;
    }
    w->polls.fresh -= w->polls.fresh > 0;
    b->cluster->idle_polls++;
    w->polls.last = w->executed;
    if (is_global)
        w->polls.last_global = w->executed;
    w->polls.pc = (int32_t)(c - b->program->code);
    w->polls.mask = mask;
    sim_repeat_poll(b, w, w->polls.pc, mask);
    if (++w->polls.count >= SIM_SLICE_POLLS)
        w->polls.slice_end = w->executed;
}
