/* The files of the bench share these: notes to the tuner, answers of failures, room for samples.
 * From the top down: bench.c serves requests, setup.c the first one, loaded.c has a variant on the
 * device. */
#ifndef AUTOTUNE_BENCH_STATE_H
#define AUTOTUNE_BENCH_STATE_H

#include "bench/bench.h"

/* Limits of what does not depend on the variant, far above what it takes. */
static const int64_t bench_setup_limit_ns = INT64_C(120) * 1000000000;
static const int64_t bench_load_limit_ns = INT64_C(20) * 1000000000;

/* Says what comes next, and how long it may take. */
void bench_notify(device_bench *b, const char *what, uint64_t index, int64_t limit_ns);

/* Turns a failure into an answer. */
void bench_answer_failure(device_bench *b, at_status status, const at_error *error,
                          device_answer *answer);

/* Makes room for so many in b->samples_ns. */
void bench_reserve_samples(device_bench *b, size_t count);

/* `count` is at least 1. */
int64_t bench_median_ns(const int64_t *samples_ns, size_t count);

/* 0: not known. */
at_status bench_sm_clock(device_bench *b, double *khz, at_error *error);

#endif
