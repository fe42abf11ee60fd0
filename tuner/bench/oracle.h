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

/* Fills inputs from `seed`, then with the filler; runs the reference and keeps its results.
 * AT_SCRIPT if that writes outside its buffers, does not agree with itself or, being a reference
 * kernel, leaves part of an output unwritten. */
at_status device_slot_seed(device_slot *s, uint64_t seed, at_error *error);

/* device_check_once(), and again where an earlier variant may have spoilt what is expected; of a
 * slot that is sampled some blocks. Where the oracle is in trouble and nothing else is wrong the
 * result is OUTCOME_NOT_SIMULATED: nothing says what is right. The slot is usable afterwards,
 * except after AT_DEVICE. */
at_status device_slot_check(device_slot *s, device_kernel *k, const launch_plan *launch,
                            device_check *how, at_error *error);

/* The oracle's results, buffer after buffer, in memory of the caller's (free); how many bytes. 0,
 * and NULL: it is not known, there is no memory, or the device does not let it be read. */
size_t device_slot_results(const device_slot *s, void **out);

/* Compares what the oracle made with what it made on another device, of the same seed. OUTCOME_OK,
 * or OUTCOME_WRONG_RESULT, with where they differ in `text`. AT_FORMAT: that is of other
 * buffers. */
at_status device_slot_compare(device_slot *s, const void *results, size_t results_bytes,
                              outcome *result, char *text, size_t text_bytes, at_error *error);

/* Are the inputs and the expected outputs unchanged? A variant that writes far outside its buffers
 * can hit those of another slot. */
at_status device_slot_sound(device_slot *s, bool *sound, at_error *error);

#endif
