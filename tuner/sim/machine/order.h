/* The order of the operations of a launch: the causality order of the PTX ISA ("memory consistency
 * model"). Program order, barriers of warps, blocks and clusters, mbarriers, and reads of released
 * writes establish it.
 *
 * A thread knows an operation that happened before the thread's next operation. The number of a
 * warp's operation is sim_warp_order.epoch, which grows whenever the warp synchronises or releases.
 * A thread knows all operations of its block before the last barrier of the whole block
 * (sim_block.epoch), and all operations of its warp before the last barrier of the whole warp
 * (sim_warp_order.barrier_epoch). Clocks hold the other known operations; most kernels never need
 * clocks. At a barrier, each thread learns the operations that the other threads know.
 *
 * Two rules are wider than the ISA's, because CUDA's documentation and samples rely on them and
 * GPUs keep them. First, a fence also works across a barrier: all threads fence and meet, then one
 * thread sets the flag; or one thread reads the flag, then all threads meet and fence. Second, an
 * atomic without a memory order acquires loosely if its result is used: all releases of its own
 * block, and releases of other blocks for data of which no cache can hold an older value. So the
 * last block to take a ticket may add up results of other blocks in memory that no thread has
 * read. */
#ifndef AUTOTUNE_SIM_MACHINE_ORDER_H
#define AUTOTUNE_SIM_MACHINE_ORDER_H

#include "sim/machine/history.h"

/* The clocks of a thread: operations that the thread knows, or will know after its next fence. */
enum {
    SIM_CLOCK_KNOWN,  /* operations that happened before its next operation */
    SIM_CLOCK_FENCED, /* operations known at its last fence, by sim_reach of the fence */
    SIM_CLOCK_SEEN =
        SIM_CLOCK_FENCED +
        SIM_REACHES, /* operations of releases that it read but has not acquired, by sim_reach */
    SIM_CLOCK_LOOSE =
        SIM_CLOCK_SEEN + SIM_REACHES, /* operations of other blocks that it acquired loosely */
    SIM_CLOCK_READ,       /* operations whose reads are over; their writes may not have arrived */
    SIM_CLOCK_PROXIED,    /* operations known at its last proxy fence */
    SIM_CLOCK_SEQUENTIAL, /* operations known at sequentially consistent fences before its own */
    SIM_CLOCK_SEEN_SEQUENTIAL, /* operations for SIM_CLOCK_SEQUENTIAL, of releases that it read but
                                  has not acquired, by sim_reach */
    SIM_CLOCK_COUNT = SIM_CLOCK_SEEN_SEQUENTIAL + SIM_REACHES
};

typedef struct sim_clocks {
    sim_clock *of[SIM_CLOCK_COUNT]; /* owned */
    sim_clock *polled; /* clock of the release that the thread read last, already added to `of`;
                          owned */
    bool acquired;     /* the thread acquired that release; false if it only read the write */
} sim_clocks;

void sim_clocks_deinit(sim_clocks *clocks); /* `clocks` may be all zeros */

/* Returns whether the lane's next operation follows `access`. */
bool sim_order_follows(const sim_block *b, const sim_warp *w, int lane, const sim_stamp *access);
/* Returns whether a completed access is in the lane's clock of the kind `clock`. */
bool sim_order_knows(const sim_warp *w, int lane, int clock, const sim_stamp *access);
/* Returns whether the lane may no longer read a value older than the write `access`. This is so in
 * three cases: the lane follows the write, acquired it loosely, or passed a sequentially consistent
 * fence after a fence that follows the write (PTX ISA, "Fence-SC"). The third case does not make a
 * race impossible, because these fences may also have another order. */
bool sim_order_has_reached(const sim_block *b, const sim_warp *w, int lane,
                           const sim_stamp *access);
/* Returns the smallest reach that includes the block and the thread of the access. */
sim_reach sim_order_reach(const sim_block *b, const sim_stamp *access);

/* Empties the clocks of the warps of a block that starts. */
void sim_order_reset(sim_block *b);
void sim_order_deinit(sim_block *b);

/* Orders the lanes of `mask`, which meet at a barrier. */
void sim_order_warp(sim_block *b, sim_warp *w, uint32_t mask);
/* Orders all warps of the block, which meet at `barrier`. */
void sim_order_block(sim_block *b, uint32_t barrier);
/* Add a warp's known operations to a barrier's clocks *to; add a barrier's clocks to a warp. */
void sim_order_arrive(sim_block *b, sim_warp *w, sim_clocks *to);
void sim_order_leave(sim_block *b, sim_warp *w, const sim_clocks *from);
/* Adds what a relaxed arrival passes on: the operations known at the warp's last fence. */
void sim_order_arrive_relaxed(const sim_warp *w, sim_clocks *to);

/* Notes that lane l got a value from lane from[l]. Lane l learns the operations of other warps that
 * lane from[l] knows, as cooperative groups require, but none of its own warp. */
void sim_order_exchange(sim_block *b, sim_warp *w, uint32_t mask, const int8_t from[SIM_LANES]);

/* Adds the operations that a lane knows to the clock of an mbarrier. */
void sim_order_release(sim_block *b, sim_warp *w, int lane, sim_clock **to);
/* Adds a clock of an mbarrier to one of the lane's clocks, SIM_CLOCK_KNOWN or SIM_CLOCK_READ. */
void sim_order_acquire(sim_block *b, sim_warp *w, int lane, int clock, sim_clock *from);

/* Adds the lane's copies with numbers below `before`, which an mbarrier tracks, to *to. */
void sim_order_copies(sim_block *b, const sim_warp *w, int lane, uint32_t before, sim_clock **to);

/* Adds the operations of a unit of the block, up to number `until`, to the clocks of all lanes. */
void sim_order_learn(sim_block *b, sim_warp *w, uint32_t unit, uint32_t until);

/* Execute a fence, or a proxy fence, of the lanes of `mask`. */
void sim_order_fence(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
void sim_order_proxy_fence(sim_block *b, sim_warp *w, uint32_t mask);

/* Notes that the lane has read the write `from` by a strong access. */
void sim_order_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                    const sim_write *from);
/* Fills in the clocks that readers of `to`, a strong write of the lane, acquire. `before` is the
 * earlier write whose releases `to` passes on, or NULL. Returns false if all clocks are empty. */
bool sim_order_write(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     const sim_write *before, sim_write *to);
/* Adds the releases of `from`, which may be NULL, to the later write `to`, which passes them on.
 * Returns false if `to` then has no releases. */
bool sim_order_propagate(const sim_write *from, sim_write *to);

#endif
