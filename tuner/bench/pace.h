/* A share of a GPU's time: how long to leave it to other programs between two pieces of work.
 *
 * In: when work begins, and each point at which it could be interrupted. Out: the time to rest
 * there. Work counts for as long as it lasted, which is at least as long as the GPU was busy with
 * it. Rests are put off until GPU_PACE_WORK_NS have been worked, so that they are few; time without
 * work is no credit. A pure calculation on the host's clock, without a wait. */
#ifndef AUTOTUNE_BENCH_PACE_H
#define AUTOTUNE_BENCH_PACE_H

#include <stdint.h>

/* Work without a rest, roughly. */
#define GPU_PACE_WORK_NS (INT64_C(5) * 1000000)

typedef struct gpu_pace {
    double share;     /* above 0; 1 or more: there is no rest */
    int64_t begun_ns; /* of the work that is not counted yet */
    int64_t due_ns;   /* when the work so far will have been the share of its time */
} gpu_pace;

/* Work begins now: after a rest, or after time without any. */
void gpu_pace_begin(gpu_pace *p, int64_t now_ns);

/* Counts the work since it began, or since the last call; returns the time to rest before more. */
int64_t gpu_pace_rest(gpu_pace *p, int64_t now_ns);

#endif
