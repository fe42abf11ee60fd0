/* Turns at a GPU: what several runs time on one GPU at once has the others' kernels in it, and neither can tell which
 * times these are. So their device workers take turns, a request each.
 *
 * A turn is a lock of a file that is named for the GPU, in $TMPDIR or /tmp; a second file keeps those who wait in order,
 * as who has just had a turn could always take the next one. The end of a process gives its turn back. Programs other
 * than autotune take none. */
#ifndef AUTOTUNE_BENCH_TURN_H
#define AUTOTUNE_BENCH_TURN_H

#include <stdint.h>

typedef struct gpu_turn gpu_turn;

/* Nobody is waited for longer: what has a turn may have been stopped. */
#define GPU_TURN_MOST_NS (INT64_C(60) * 1000000000)

/* Opens the files of the GPU with this UUID, and makes them where there are none. NULL, for which the functions below
 * do nothing: it has no UUID, or there can be no such files. gpu_turn_free() frees it. */
gpu_turn *gpu_turn_new(const char *uuid);

/* Waits until no other process has a turn, at most `limit_ns`; `waits`, unless NULL, is called before, where one has.
 * After a wait that was in vain there are no turns any more for this process. */
void gpu_turn_take(gpu_turn *t, int64_t limit_ns, void (*waits)(void *context), void *context);
void gpu_turn_give(gpu_turn *t);

/* Gives it back, too. Takes NULL. */
void gpu_turn_free(gpu_turn *t);

#endif
