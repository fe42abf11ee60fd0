/* The contents that a slot's buffers are to have: inputs as filled, results as the oracle makes
 * them, and how variants are held to these.
 *
 * A reference kernel writes all of its outputs and is deterministic, or it is refused. A baseline
 * as the oracle has to agree with itself as every variant has to agree with it: it is checked like
 * one, under the schedules of a check. Elements that it leaves alone keep what was there before:
 * where that is so outputs have the same contents before each launch, of it and of the variants. */
#ifndef AUTOTUNE_BENCH_ORACLE_H
#define AUTOTUNE_BENCH_ORACLE_H

#include "bench/check.h"

/* Fills the inputs from `seed`, runs the filler and the reference, and keeps the expected results.
 * Returns AT_SCRIPT if the reference writes out of bounds or does not agree with itself, or if a
 * reference kernel leaves a part of an output unwritten. */
at_status device_slot_seed(device_slot *s, uint64_t seed, at_error *error);

/* Checks a kernel by device_check_once(), and again if an earlier variant may have damaged the
 * expected results. If s->trouble is set and no other error is found, the result is
 * OUTCOME_NOT_SIMULATED: there are no expected results. The slot is usable afterwards, except after
 * AT_DEVICE. */
at_status device_slot_check(device_slot *s, device_kernel *k, const launch_plan *launch,
                            device_check *how, at_error *error);

/* Copies the results of the oracle, buffer after buffer, to *out, which the caller frees. Returns
 * the number of bytes, or 0 (and *out NULL) if the results are unknown, the device cannot read them
 * or there is no memory. */
size_t device_slot_results(const device_slot *s, void **out);

/* Compares the results of the oracle with those of another device for the same seed. *result is
 * OUTCOME_OK, or OUTCOME_WRONG_RESULT with the difference in `text`. Returns AT_FORMAT if the
 * results are of other buffers. */
at_status device_slot_compare(device_slot *s, const void *results, size_t results_bytes,
                              outcome *result, char *text, size_t text_bytes, at_error *error);

/* Sets *sound to true if the inputs and the expected results are unchanged. A variant that writes
 * far out of bounds can hit them in any slot. */
at_status device_slot_sound(device_slot *s, bool *sound, at_error *error);

#endif
