/* Runs kernels with the parameters (in, out, n) on the simulated device. */
#ifndef AUTOTUNE_TESTS_SIMULATE_H
#define AUTOTUNE_TESTS_SIMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Threads of a block; the shared memory of the module has 8 bytes for each. */
enum { SIMULATE_THREADS = 128 };

/* Runs the kernel `k` of the PTX text over n threads on `in_words` words of input; fills
 * `out_words` words, which are zero before the run. Returns AT_FORMAT if the simulator rejects the
 * text and AT_DEVICE if the kernel is wrong. */
at_status simulate(const char *ptx, const uint64_t *in, size_t in_words, uint64_t *out,
                   size_t out_words, uint32_t n, at_error *error);

#endif
