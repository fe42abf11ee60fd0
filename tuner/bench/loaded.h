/* A variant on the device: loaded, checked on its problems, sampled. Also helpers for all requests:
 * notes to the tuner, answers for failures, memory for samples. */
#ifndef AUTOTUNE_BENCH_LOADED_H
#define AUTOTUNE_BENCH_LOADED_H

#include "bench/bench.h"

enum { LOADED_CHECK_ROUNDS = 2 }; /* rounds of a check: it is repeated if the slot was damaged */

/* Loads a variant for the slots in variant->present. After a failure nothing is loaded. */
at_status loaded_make(device_bench *b, const device_variant *variant, loaded_variant *v,
                      at_error *error);

/* Unloads a variant, which may be loaded in part. */
void loaded_free(device_bench *b, loaded_variant *v);

/* Returns slot `i`, counted over all layouts. */
device_slot *loaded_slot_at(const device_bench *b, size_t i);

at_status loaded_check(device_bench *b, const loaded_variant *v, int launches, outcome *result,
                       at_error *error);

/* Checks a variant on every slot. *result is as for device_slot_check(), with the reason in
 * b->text. If the first launch takes longer than `most_ns` (0: no limit), sets *slow_ns to its time
 * and checks nothing. */
at_status loaded_check_within(device_bench *b, const loaded_variant *v, int launches,
                              int64_t most_ns, int64_t *slow_ns, outcome *result, at_error *error);

/* Checks a variant on one slot after another until all loops in variant->once have had two
 * iterations, and adds the coverage of the slots where one of these loops had. Errors on other
 * slots are not reported, including a refused launch. */
at_status loaded_check_loops(device_bench *b, const device_variant *variant, int launches,
                             device_coverage *out, outcome *result, at_error *error);

/* Returns true if the oracle changes no result in those of `slots` that run completely. `covered`
 * is the coverage of the tuned problem and may be empty. */
bool loaded_is_idle(const device_slot *const *slots, size_t count, const device_coverage *covered);

at_status loaded_cover(device_bench *b, const loaded_variant *v, device_coverage *out,
                       at_error *error);

/* Prepares a variant for samples. */
at_status loaded_prepare(loaded_variant *v, at_error *error);

/* Takes a sample on slot 0, after loaded_prepare(). */
at_status loaded_sample(const loaded_variant *v, int64_t *time_ns, at_error *error);

#endif
