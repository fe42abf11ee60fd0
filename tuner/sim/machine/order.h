/* The order of the operations of a launch: program order, barriers of warps, blocks and clusters,
 * mbarriers, and what was read from where it was released (PTX ISA, "memory consistency model",
 * causality order).
 *
 * What a thread does is ordered by sim_warp.epoch, which grows whenever its warp synchronises or
 * releases. Its knowledge of others has three parts: all that its block did before the last barrier
 * of the whole block (sim_block.epoch); all that its warp did before the last barrier of the whole
 * warp (sim_warp.met); a clock of any others, which most kernels never need. Barriers join what
 * their participants know.
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
#include "sim/machine/race.h"
#include "sim/machine/release.h"

/* The clocks of what a thread knows of others. */
enum {
    SIM_LORE_KNOWN,  /* happened before what it does now */
    SIM_LORE_FENCED, /* was known at its last fence; by sim_reach of the fence */
    SIM_LORE_SEEN = SIM_LORE_FENCED +
                    SIM_REACHES, /* read where it was released, not yet acquired; by sim_reach */
    SIM_LORE_LOOSE = SIM_LORE_SEEN + SIM_REACHES, /* acquired loosely of other blocks */
    SIM_LORE_READ,       /* whose reads are over, though not whose writes have arrived */
    SIM_LORE_PROXIED,    /* was known at its last fence between proxies */
    SIM_LORE_SEQUENTIAL, /* was known at sequentially consistent fences before its last such fence
                          */
    SIM_LORE_CLOCKS
};

typedef struct sim_lore {
    sim_clock *clocks[SIM_LORE_CLOCKS]; /* owned */
    sim_clock
        *polled; /* what the thread read last where it was released, which has been joined; owned */
    bool acquired; /* then, and did not only see it */
} sim_lore;

void sim_lore_deinit(sim_lore *lore); /* of one that is all 0, too */

/* Does what the lane does now follow that access? */
bool sim_order_follows(const sim_block *b, const sim_warp *w, int lane, const sim_stamp *access);
/* Is it a read that is over, whether or not its thread's writes can be seen yet? */
bool sim_order_follows_read(const sim_warp *w, int lane, const sim_stamp *access);
/* Was it acquired loosely? */
bool sim_order_follows_loosely(const sim_warp *w, int lane, const sim_stamp *access);
/* Is it before one of two sequentially consistent fences, and what the lane does after the other?
 * Such fences have one order (PTX ISA, "Fence-SC"): whatever comes after the second finds what was
 * stored before the first. The order may have been the other one, so that nothing is excused from
 * being a race. Known in adverse schedules alone. */
bool sim_order_is_fenced(const sim_warp *w, int lane, const sim_stamp *access);
/* Is it so, or was it acquired, loosely or not, or only read where it was released? */
bool sim_order_has_seen(const sim_warp *w, int lane, const sim_stamp *access);
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
void sim_order_bring(sim_block *b, sim_warp *w, sim_lore *to);
void sim_order_take(sim_block *b, sim_warp *w, const sim_lore *from);
/* It brings what it has fenced alone: a relaxed arrival. */
void sim_order_bring_fenced(sim_block *b, sim_warp *w, sim_lore *to);

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

/* A strong read or write of the lane at address `at` of what `releases` is about. */
void sim_order_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                    const sim_releases *releases, uint64_t at);
void sim_order_write(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     sim_releases *releases, uint64_t at);

#endif
