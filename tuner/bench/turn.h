/* Turns at a GPU: what several runs time on one GPU at once has the others' kernels in it, and
 * neither can tell which times these are. So their device workers take turns, a request each.
 *
 * A turn is a lock (base/lock.h) of a file that is named for the GPU; a second file keeps those who
 * wait in order, as who has just had a turn could always take the next one. The end of a process
 * gives its turn back. Programs other than autotune take none.
 *
 * The files are in a folder of the user's own: $XDG_RUNTIME_DIR/autotune, /run/user/UID/autotune
 * where that is there without the variable, else autotune-UID in $TMPDIR or /tmp. Nobody else can
 * put anything in the way there, nor take turns: users who share a GPU agree on a folder that all
 * of them may write, by $AUTOTUNE_TURNS. Whatever is in it instead of a file is refused by name. */
#ifndef AUTOTUNE_BENCH_TURN_H
#define AUTOTUNE_BENCH_TURN_H

#include <stdint.h>

#include "base/error.h"

typedef struct gpu_turn gpu_turn;

/* Nobody is waited for longer: what has a turn may have been stopped. */
#define GPU_TURN_MOST_NS (INT64_C(60) * 1000000000)

/* Opens the files of the GPU with this UUID, and makes them where there are none. *out is NULL, for
 * which the functions below do nothing, where it has no UUID, or where no folder for them can be
 * made and none was asked for. AT_IO names what is in the way. gpu_turn_free() frees it. */
at_status gpu_turn_new(const char *uuid, gpu_turn **out, at_error *error);

/* Waits until no other process has a turn, at most `limit_ns`; `waits`, unless NULL, is called
 * before, where one has. After a wait that was in vain there are no turns any more for this
 * process. */
void gpu_turn_take(gpu_turn *t, int64_t limit_ns, void (*waits)(void *context), void *context);
void gpu_turn_give(gpu_turn *t);

/* Gives the turn back, too. `t` may be NULL. */
void gpu_turn_free(gpu_turn *t);

#endif
