/* The files of the bench share these: notes to the tuner, answers of failures, room for samples.
 * From the top down: bench.c serves requests, setup.c the first one, loaded.c has a variant on the
 * device. */
#ifndef AUTOTUNE_BENCH_STATE_H
#define AUTOTUNE_BENCH_STATE_H

#include "bench/bench.h"

/* Time limits of steps that do not depend on the variant, far above the usual time. */
static const int64_t bench_setup_limit_ns = INT64_C(120) * 1000000000;
static const int64_t bench_load_limit_ns = INT64_C(20) * 1000000000;

/* Announces the next step and its time limit to the tuner. */
void bench_notify(device_bench *b, const char *what, uint64_t index, int64_t limit_ns);

/* Fills in an answer for a failure. */
void bench_answer_failure(device_bench *b, at_status status, const at_error *error,
                          device_answer *answer);

/* Grows b->samples_ns to hold `count` samples. */
void bench_reserve_samples(device_bench *b, size_t count);

/* Returns the median; `count` is at least 1. */
int64_t bench_median_ns(const int64_t *samples_ns, size_t count);

/* Measures the SM clock; 0 if it is unknown. */
at_status bench_sm_clock(device_bench *b, double *khz, at_error *error);

#endif
