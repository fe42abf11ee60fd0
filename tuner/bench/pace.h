/* A share of a GPU's time: how long to leave it to other programs between two pieces of work.
 *
 * In: when work begins, and each point at which it could be interrupted. Out: the time to rest
 * there. Work counts for as long as it lasted, which is at least as long as the GPU was busy with
 * it. Rests are put off until GPU_PACE_WORK_NS have been worked, so that they are few; time without
 * work is no credit. A pure calculation on the host's clock, without a wait. */
#ifndef AUTOTUNE_BENCH_PACE_H
#define AUTOTUNE_BENCH_PACE_H

#include <stdint.h>

/* Approximate work without a rest. */
#define GPU_PACE_WORK_NS (INT64_C(5) * 1000000)

typedef struct gpu_pace {
    double share;     /* greater than 0; 1 or more means no rests */
    int64_t begun_ns; /* start of the work that is not counted yet */
    int64_t due_ns;   /* time at which the work so far is exactly the share of the elapsed time */
} gpu_pace;

/* Starts counting work: after a rest or a time without work. */
void gpu_pace_begin(gpu_pace *p, int64_t now_ns);

/* Counts the work since gpu_pace_begin() or the last call. Returns the time to rest before more
 * work, or 0. */
int64_t gpu_pace_rest(gpu_pace *p, int64_t now_ns);

#endif
