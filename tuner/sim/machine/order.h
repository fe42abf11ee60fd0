/* The order of the operations of a launch: program order, barriers of warps, blocks and clusters,
 * mbarriers, and what was read from where it was released (PTX ISA, "memory consistency model",
 * causality order).
 *
 * What a thread does is ordered by sim_warp_order.epoch, which grows whenever its warp synchronises
 * or releases. Its knowledge of others has three parts: all that its block did before the last
 * barrier of the whole block (sim_block.epoch); all that its warp did before the last barrier of
 * the whole warp (sim_warp_order.met); a clock of any others, which most kernels never need.
 * Barriers join what their participants know.
 *
 * Two rules are wider than the ISA's, as CUDA's own documentation and samples rely on them and GPUs
 * keep them. A fence also serves the threads that its thread meets at a barrier: before it (all
 * fence, then one sets the flag), or after it (one looks at the flag, then all fence). And an
 * atomic that names no order, and whose result is used, acquires loosely: what its own block
 * released, wholly; what other blocks did, as far as no cache can have it from before (the last
 * block to take a ticket adds up what the others left, which nobody had read yet). */
#ifndef AUTOTUNE_SIM_MACHINE_ORDER_H
#define AUTOTUNE_SIM_MACHINE_ORDER_H

#include "sim/machine/clock.h"
#include "sim/machine/history.h"
#include "sim/machine/race.h"

/* The clocks of what a thread knows of others. */
enum {
    SIM_CLOCK_KNOWN,  /* happened before what it does now */
    SIM_CLOCK_FENCED, /* was known at its last fence; by sim_reach of the fence */
    SIM_CLOCK_SEEN = SIM_CLOCK_FENCED +
                     SIM_REACHES, /* read where it was released, not yet acquired; by sim_reach */
    SIM_CLOCK_LOOSE = SIM_CLOCK_SEEN + SIM_REACHES, /* acquired loosely of other blocks */
    SIM_CLOCK_READ,       /* whose reads are over, though not whose writes have arrived */
    SIM_CLOCK_PROXIED,    /* was known at its last fence between proxies */
    SIM_CLOCK_SEQUENTIAL, /* was known at sequentially consistent fences before its own ones, */
    SIM_CLOCK_SEEN_SEQUENTIAL, /* and of this as SIM_CLOCK_SEEN; by sim_reach */
    SIM_CLOCK_COUNT = SIM_CLOCK_SEEN_SEQUENTIAL + SIM_REACHES
};

typedef struct sim_clocks {
    sim_clock *of[SIM_CLOCK_COUNT]; /* owned */
    sim_clock
        *polled; /* what the thread read last where it was released, which has been joined; owned */
    bool acquired; /* then, and did not only see it */
} sim_clocks;

void sim_clocks_deinit(sim_clocks *clocks); /* of one that is all 0, too */

/* Does what the lane does now follow that access? */
bool sim_order_follows(const sim_block *b, const sim_warp *w, int lane, const sim_stamp *access);
/* Is it a read that is over, whether or not its thread's writes can be seen yet? */
bool sim_order_follows_read(const sim_warp *w, int lane, const sim_stamp *access);
/* Was it acquired loosely? */
bool sim_order_follows_loosely(const sim_warp *w, int lane, const sim_stamp *access);
/* May the lane no longer read what was there before that write? It follows the write, or acquired
 * it loosely, or a sequentially consistent fence before it follows one after the write (PTX ISA,
 * "Fence-SC"). The order of such fences may have been the other one, so that it excuses no race; it
 * is known in adverse schedules alone. */
bool sim_order_has_reached(const sim_block *b, const sim_warp *w, int lane,
                           const sim_stamp *access);
/* How far apart is the thread of an access? */
sim_reach sim_order_reach(const sim_block *b, const sim_stamp *access);

/* Warps begin anew: they know nothing. */
void sim_order_reset(sim_block *b);
void sim_order_deinit(sim_block *b);

/* The lanes of `mask` meet. */
void sim_order_warp(sim_block *b, sim_warp *w, uint32_t mask);
/* All warps that wait at that barrier meet; no other is left. */
void sim_order_block(sim_block *b, uint32_t barrier);
/* A barrier of some: what a warp brings to it, and what it takes away. */
void sim_order_bring(sim_block *b, sim_warp *w, sim_clocks *to);
void sim_order_take(sim_block *b, sim_warp *w, const sim_clocks *from);
/* It brings what it has fenced alone: a relaxed arrival. */
void sim_order_bring_fenced(sim_block *b, sim_warp *w, sim_clocks *to);

/* Lanes have got values of others, lane l of from[l]: they know of other warps what those have
 * acquired, as cooperative groups rely on, and nothing of what their own warp did. */
void sim_order_exchange(sim_block *b, sim_warp *w, uint32_t mask, const int8_t from[SIM_LANES]);

/* One lane releases into a clock, and acquires from it: an mbarrier. */
void sim_order_give(sim_block *b, sim_warp *w, int lane, sim_clock **to);
void sim_order_get(sim_block *b, sim_warp *w, int lane, sim_clock *from);
/* The lane learns of reads alone: its own writes may follow them. */
void sim_order_get_reads(sim_block *b, sim_warp *w, int lane, sim_clock *from);

/* The copies by a lane whose numbers are below `before`, and that an mbarrier tracks, have landed
 * for whoever knows the clock. */
void sim_order_copies(sim_block *b, const sim_warp *w, int lane, uint32_t before, sim_clock **to);

/* All lanes of the warp learn of the operations of that unit of their block, up to the number. */
void sim_order_learn(sim_block *b, sim_warp *w, uint32_t unit, uint32_t until);

void sim_order_fence(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
void sim_order_proxy_fence(sim_block *b, sim_warp *w, uint32_t mask);
/* Was the access known at a proxy fence that happened before what the lane does now? */
bool sim_order_proxied(const sim_warp *w, int lane, const sim_stamp *access);

/* The lane has read that write by a strong access. */
void sim_order_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                    const sim_write *from);
/* Fills in what readers of `to`, a strong write of the lane, acquire. `before` is the write that a
 * read-modify-write reads, else NULL. Returns false if it is nothing. */
bool sim_order_write(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     const sim_write *before, sim_write *to);
/* Adds to `to`, a read-modify-write of `from`, what `from` releases. Does likewise. */
bool sim_order_hand_on(sim_block *b, const sim_write *from, sim_write *to);

#endif
