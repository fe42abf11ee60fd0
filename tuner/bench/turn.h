/* Sharing a GPU: turns between processes of autotune, and pauses for other programs.
 *
 * If several runs measured on one GPU at once, their times would contain each other's kernels. So
 * their device workers take turns of one request each. A turn is a lock (base/lock.h) of a file
 * that is named after the GPU. A second lock keeps waiting processes in order; otherwise the
 * process that just had a turn could always take the next turn. A process that ends gives its turn
 * back. Other programs take no turns.
 *
 * The files are in a folder of the user: $XDG_RUNTIME_DIR/autotune; without the variable,
 * /run/user/UID/autotune if it exists, or autotune-UID in $TMPDIR or /tmp. Other users cannot write
 * there, so they take no turns; users who share a GPU can set $AUTOTUNE_TURNS to a common folder.
 * If the name of a file is used by something else, the error names it. */
#ifndef AUTOTUNE_BENCH_TURN_H
#define AUTOTUNE_BENCH_TURN_H

#include <stdint.h>

#include "base/error.h"

typedef struct gpu_turn gpu_turn;

/* longest wait for a turn, in ns: the process that has it may be suspended */
#define GPU_TURN_MOST_NS (INT64_C(60) * 1000000000)

/* Opens the files of the GPU with this UUID, and creates missing files. *out is NULL if the GPU has
 * no UUID, or if no folder can be made and $AUTOTUNE_TURNS is not set; the functions below then do
 * nothing. Returns AT_IO if something else has the name of a file. The caller calls
 * gpu_turn_free(). */
at_status gpu_turn_new(const char *uuid, gpu_turn **out, at_error *error);

/* Waits at most `limit_ns` for the turn, and takes it. Calls `waits`, which may be NULL, before a
 * wait. If the wait was in vain, this process takes no more turns. */
void gpu_turn_take(gpu_turn *t, int64_t limit_ns, void (*waits)(void *context), void *context);
void gpu_turn_give(gpu_turn *t);

/* Frees `t`, which may be NULL. If this process has the turn, gives it back. */
void gpu_turn_free(gpu_turn *t);

/* ---- pauses for other programs ----
 *
 * A worker may use a share of the GPU's time. Its work is the time on the host's clock, which is at
 * least the time for which the GPU is busy. A rest comes only after about GPU_PACE_WORK_NS of work,
 * so rests are few. Time without work gives no credit for later work. */

/* approximate work between two rests, in ns */
#define GPU_PACE_WORK_NS (INT64_C(5) * 1000000)

typedef struct gpu_pace {
    double share;     /* greater than 0; 1 or more means no rests */
    int64_t begun_ns; /* start of the work that is not counted yet */
    int64_t due_ns;   /* time at which the work so far is exactly the share of the elapsed time */
} gpu_pace;

/* Starts counting work after a rest or a time without work. */
void gpu_pace_begin(gpu_pace *p, int64_t now_ns);

/* Counts the work since gpu_pace_begin() or the last call. Returns the time to rest now, or 0. */
int64_t gpu_pace_rest(gpu_pace *p, int64_t now_ns);

#endif
