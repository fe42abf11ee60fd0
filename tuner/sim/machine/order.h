/* The order of the operations of a launch: program order, barriers of warps, blocks and clusters,
 * mbarriers, and reads of released writes (PTX ISA, "memory consistency model", causality order).
 *
 * Operations of a thread are ordered by sim_warp_order.epoch, which grows whenever its warp
 * synchronises or releases. A thread knows all that its block did before the last barrier of the
 * whole block (sim_block.epoch), all that its warp did before the last barrier of the whole warp
 * (sim_warp_order.met), and a clock of other operations, which most kernels never need. Barriers
 * join the knowledge of their participants.
 *
 * Two rules are wider than the ISA's, because CUDA's documentation and samples rely on them and
 * GPUs keep them. First, a fence also serves the threads that its thread meets at a barrier, before
 * the fence (all fence, then one sets the flag) or after it (one reads the flag, then all fence).
 * Second, an atomic without a stated order, whose result is used, acquires loosely: all releases of
 * its own block, and releases of other blocks as far as no cache can hold an older value. So the
 * last block to take a ticket may add up results of other blocks that no thread has read yet. */
#ifndef AUTOTUNE_SIM_MACHINE_ORDER_H
#define AUTOTUNE_SIM_MACHINE_ORDER_H

#include "sim/machine/history.h"

/* The clocks of a thread: its knowledge of others. */
enum {
    SIM_CLOCK_KNOWN,  /* happened before its next operation */
    SIM_CLOCK_FENCED, /* was known at its last fence; by sim_reach of the fence */
    SIM_CLOCK_SEEN = SIM_CLOCK_FENCED +
                     SIM_REACHES, /* was read from a release, not acquired yet; by sim_reach */
    SIM_CLOCK_LOOSE = SIM_CLOCK_SEEN + SIM_REACHES, /* was acquired loosely of other blocks */
    SIM_CLOCK_READ,       /* operations whose reads are over; their writes may not have arrived */
    SIM_CLOCK_PROXIED,    /* was known at its last proxy fence */
    SIM_CLOCK_SEQUENTIAL, /* was known at sequentially consistent fences before its own */
    SIM_CLOCK_SEEN_SEQUENTIAL, /* the same, as read from a release; by sim_reach */
    SIM_CLOCK_COUNT = SIM_CLOCK_SEEN_SEQUENTIAL + SIM_REACHES
};

typedef struct sim_clocks {
    sim_clock *of[SIM_CLOCK_COUNT]; /* owned */
    sim_clock *polled; /* the release that the thread read last, already joined; owned */
    bool acquired;     /* the thread acquired it; false: it only saw it */
} sim_clocks;

void sim_clocks_deinit(sim_clocks *clocks); /* also of all zeros */

/* Returns whether the lane's next operation follows `access`. */
bool sim_order_follows(const sim_block *b, const sim_warp *w, int lane, const sim_stamp *access);
/* Returns whether a completed access is in one of the lane's clocks, SIM_CLOCK_... */
bool sim_order_knows(const sim_warp *w, int lane, int clock, const sim_stamp *access);
/* Returns whether the lane may no longer read a value from before the write `access`: the lane
 * follows the write, acquired it loosely, or passed a sequentially consistent fence after a fence
 * that follows it (PTX ISA, "Fence-SC"). Such fences have an order in adverse schedules alone,
 * where it could also be the other order: it excuses no race. */
bool sim_order_has_reached(const sim_block *b, const sim_warp *w, int lane,
                           const sim_stamp *access);
/* Returns the smallest reach that includes the block and the thread of the access. */
sim_reach sim_order_reach(const sim_block *b, const sim_stamp *access);

/* Makes the warps of a block that starts know nothing. */
void sim_order_reset(sim_block *b);
void sim_order_deinit(sim_block *b);

/* Orders the lanes of `mask` at a barrier. */
void sim_order_warp(sim_block *b, sim_warp *w, uint32_t mask);
/* Orders all warps of the block at `barrier`. */
void sim_order_block(sim_block *b, uint32_t barrier);
/* Add a warp's knowledge to a barrier of some warps, and the barrier's knowledge to a warp. */
void sim_order_arrive(sim_block *b, sim_warp *w, sim_clocks *to);
void sim_order_leave(sim_block *b, sim_warp *w, const sim_clocks *from);
/* Adds only the warp's fenced knowledge: a relaxed arrival. */
void sim_order_arrive_relaxed(const sim_warp *w, sim_clocks *to);

/* Notes that lane l got a value of lane from[l]. It learns what that lane has acquired of other
 * warps, as cooperative groups require, and nothing of their own warp. */
void sim_order_exchange(sim_block *b, sim_warp *w, uint32_t mask, const int8_t from[SIM_LANES]);

/* Adds a lane's knowledge to the clock of an mbarrier. */
void sim_order_release(sim_block *b, sim_warp *w, int lane, sim_clock **to);
/* Adds a clock of an mbarrier to one of the lane's clocks, SIM_CLOCK_KNOWN or SIM_CLOCK_READ. */
void sim_order_acquire(sim_block *b, sim_warp *w, int lane, int clock, sim_clock *from);

/* Adds to *to the lane's copies that an mbarrier tracks and whose numbers are below `before`. */
void sim_order_copies(sim_block *b, const sim_warp *w, int lane, uint32_t before, sim_clock **to);

/* Adds the operations of a unit of the block, up to the number `until`, to all lanes' knowledge. */
void sim_order_learn(sim_block *b, sim_warp *w, uint32_t unit, uint32_t until);

/* Execute a fence, or a proxy fence, of the lanes of `mask`. */
void sim_order_fence(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
void sim_order_proxy_fence(sim_block *b, sim_warp *w, uint32_t mask);

/* Notes that the lane has read the write `from` by a strong access. */
void sim_order_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                    const sim_write *from);
/* Fills in the clocks that readers of `to`, a strong write of the lane, acquire. `before` is the
 * write that a read-modify-write reads, otherwise NULL. Returns false if all clocks are empty. */
bool sim_order_write(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     const sim_write *before, sim_write *to);
/* Adds the releases of `from` to `to`, its read-modify-write. Returns false if there are no
 * clocks. */
bool sim_order_propagate(const sim_write *from, sim_write *to);

#endif
