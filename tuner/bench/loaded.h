/* A variant on the device: loaded, checked on its problems, sampled. Also helpers for requests. */
#ifndef AUTOTUNE_BENCH_LOADED_H
#define AUTOTUNE_BENCH_LOADED_H

#include "bench/bench.h"

/* Time limits of steps that do not depend on the variant, far above the usual time. */
static const int64_t bench_setup_limit_ns = INT64_C(120) * 1000000000;
static const int64_t bench_load_limit_ns = INT64_C(20) * 1000000000;

/* Announces the next step and its time limit to the tuner. */
void bench_notify(device_bench *b, const char *what, uint64_t index, int64_t limit_ns);

/* Makes an answer of the failure `status`, whose message it copies to b->text. */
void bench_answer_failure(device_bench *b, at_status status, const at_error *error,
                          device_answer *answer);

/* Makes room for `count` samples in b->samples_ns. */
void bench_reserve_samples(device_bench *b, size_t count);

/* Returns the median; `count` is at least 1. */
int64_t bench_median_ns(const int64_t *samples_ns, size_t count);

/* Measures the SM clock; 0 if it is unknown. */
at_status bench_sm_clock(device_bench *b, double *khz, at_error *error);

enum { LOADED_CHECK_ROUNDS = 2 }; /* a check runs again if the slot was damaged */

/* Loads a variant for the slots in variant->present. After a failure nothing is loaded. */
at_status loaded_make(device_bench *b, const device_variant *variant, loaded_variant *v,
                      at_error *error);

/* Unloads a variant, which may be loaded in part. */
void loaded_free(device_bench *b, loaded_variant *v);

/* Returns slot `i`, counted over all layouts. */
device_slot *loaded_slot_at(const device_bench *b, size_t i);

/* Checks a variant on every slot. *result is as for device_slot_check(), with the reason in
 * b->text. If the first launch takes longer than `most_ns` (0 for no limit), sets *slow_ns to its
 * time and checks nothing. */
at_status loaded_check_within(device_bench *b, const loaded_variant *v, int launches,
                              int64_t most_ns, int64_t *slow_ns, outcome *result, at_error *error);

at_status loaded_check(device_bench *b, const loaded_variant *v, int launches, outcome *result,
                       at_error *error);

/* Checks a variant on one slot after another until all loops in variant->once have had two
 * iterations. Adds the coverage of slots where one of these loops had two iterations. Errors on
 * other slots are not reported, including a refused launch. */
at_status loaded_check_loops(device_bench *b, const device_variant *variant, int launches,
                             device_coverage *out, outcome *result, at_error *error);

/* Returns true if the oracle changes no result in the slots that run completely. `covered` is the
 * coverage of the tuned problem and may be empty. */
bool loaded_is_idle(const device_slot *const *slots, size_t count, const device_coverage *covered);

/* Adds the coverage of the checks of a variant to *out. */
at_status loaded_cover(device_bench *b, const loaded_variant *v, device_coverage *out,
                       at_error *error);

/* Prepares sampling on slot 0, as device_meter_prepare(), with the same errors. */
at_status loaded_prepare(loaded_variant *v, at_error *error);

/* Takes a sample on slot 0, after loaded_prepare(). */
at_status loaded_sample(const loaded_variant *v, int64_t *time_ns, at_error *error);

#endif
