/* Loops that have no end, known by a state that comes again.
 *
 * A warp that only computes: while it reads nothing that others may change and changes nothing
 * outside its registers, what it does next follows from registers and paths alone. If both are the
 * same at a branch back as they were there before, it goes round for ever. The state that looks are
 * compared with is replaced after 1, 2, 4 ... of them (R. P. Brent, "An improved Monte Carlo
 * factorization algorithm", 1980).
 *
 * Warps that poll: lanes that come to the same poll with the same registers, while nothing has
 * changed in memory, come there again until something does. If that holds of all lanes that do not
 * wait at a barrier, nothing ever does. Lanes that tell each other something by other ways than
 * memory end what is known of them. */
#ifndef AUTOTUNE_SIM_MACHINE_REPEAT_H
#define AUTOTUNE_SIM_MACHINE_REPEAT_H

#include "sim/machine/machine.h"

/* A warp takes a branch back, by the lanes of `mask`: false, with a fault, where its loop has no
 * end. */
bool sim_repeat_branch(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* It has done more than compute since. */
static inline void sim_repeat_end(sim_warp *w)
{
    w->loop.branch = NULL;
}

/* Lanes poll there, or wait there for others of their warp. */
void sim_repeat_poll(const sim_block *b, sim_warp *w, int32_t pc, uint32_t mask);

/* Lanes have learned by other ways than memory, or changed memory of their own. */
void sim_repeat_forget(sim_warp *w);

/* Do all that run wait for ever, for what none of them will change? False: that is not known. */
bool sim_repeat_is_stuck(const sim_cluster *cl);

/* Has the warp seen that lately? From now on it has. Looks of one loop seldom share a set, and
 * more than its places hardly ever: they would seem new for ever. */
static inline bool sim_has_seen(sim_warp *w, uint64_t found)
{
    enum { PLACES = 4 };
    uint64_t *set = &w->polls.seen[found % (SIM_SEEN / PLACES) * PLACES];
    for (int i = 0; i < PLACES; i++)
        if (set[i] == found)
            return true;
    for (int i = PLACES - 1; i > 0; i--)
        set[i] = set[i - 1];
    set[0] = found;
    return false;
}

/* A warp has looked at memory that others may change, and changed nothing itself. `found` stands
 * for where it looked and what was there: one that finds what it had found is polling.
 * `is_global`: other blocks may change it. */
static inline void sim_note_poll(const sim_block *b, sim_warp *w, const sim_instruction *c,
                                 uint32_t mask, uint64_t found, bool is_global)
{
    enum { NEWS_LOOKS = 4 };
    /* What the warp of an earlier block has seen in this place counts for nothing. */
    if (!sim_has_seen(w, found ^ (uint64_t)b->number << 32)) {
        w->polls.news = NEWS_LOOKS;
        return;
    }
    w->polls.news -= w->polls.news > 0;
    b->cluster->idle_polls++;
    w->polls.looked = w->executed;
    if (is_global)
        w->polls.asked = w->executed;
    sim_repeat_poll(b, w, (int32_t)(c - b->program->code), mask);
    w->polls.pc = (int32_t)(c - b->program->code);
    w->polls.mask = mask;
    if (++w->polls.count >= SIM_SLICE_POLLS)
        w->polls.slice_end = w->executed;
}

#endif
