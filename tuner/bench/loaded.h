/* A variant on the device: loaded, checked on its problems, sampled. */
#ifndef AUTOTUNE_BENCH_LOADED_H
#define AUTOTUNE_BENCH_LOADED_H

#include "bench/bench.h"

enum { LOADED_CHECK_ROUNDS = 2 }; /* of a check: all again when the slot was unsound */

/* Loads a variant for the slots that it is present on. On failure nothing is loaded. */
at_status loaded_make(device_bench *b, const device_variant *variant, loaded_variant *v,
                      at_error *error);

/* Unloads what is loaded of it. */
void loaded_free(device_bench *b, loaded_variant *v);

/* Slot `i` of all layouts' together. */
device_slot *loaded_slot_at(const device_bench *b, size_t i);

at_status loaded_check(device_bench *b, const loaded_variant *v, int launches, outcome *result,
                       at_error *error);

/* Checks on every slot; *result as of device_slot_check, why in b->text. Where the first launch
 * takes longer than `most_ns` (0: however long), *slow_ns is its time, and nothing is checked. */
at_status loaded_check_within(device_bench *b, const loaded_variant *v, int launches,
                              int64_t most_ns, int64_t *slow_ns, outcome *result, at_error *error);

/* Checks on one slot after the other until the loops of variant->once have gone round twice, and
 * covers those where one did. What goes wrong on the others is not told: a launch that is refused
 * there, too. */
at_status loaded_check_loops(device_bench *b, const device_variant *variant, int launches,
                             device_coverage *out, outcome *result, at_error *error);

/* Notes the coverage of a variant's check. */
/* Does the oracle leave all results in `slots` as they were, as far as these are run whole?
 * `covered` has what ran of the tuned problem; it may be empty. */
bool loaded_is_idle(const device_slot *const *slots, size_t count, const device_coverage *covered);

at_status loaded_cover(device_bench *b, const loaded_variant *v, device_coverage *out,
                       at_error *error);

/* Makes it ready to be sampled. */
at_status loaded_prepare(loaded_variant *v, at_error *error);

/* A timed sample on its first slot, which loaded_prepare() has made ready. */
at_status loaded_sample(const loaded_variant *v, int64_t *time_ns, at_error *error);

#endif
