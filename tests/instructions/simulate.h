/* Runs kernels with the parameters (in, out, n) on the simulated device. */
#ifndef AUTOTUNE_TESTS_SIMULATE_H
#define AUTOTUNE_TESTS_SIMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Threads of a block. The shared memory of the module has 8 bytes for each thread. */
enum { SIMULATE_THREADS = 128 };

/* Runs the kernel `k` of the PTX text with n threads. `in` is the input, and `out` gets the output,
 * which is zero before the run. Returns AT_FORMAT if the simulator rejects the text, and AT_DEVICE
 * if the kernel has a fault. */
at_status simulate(const char *ptx, const uint64_t *in, size_t in_words, uint64_t *out,
                   size_t out_words, uint32_t n, at_error *error);

#endif
