/* A kernel with the parameters (in, out, n) on the simulated device. */
#ifndef AUTOTUNE_TESTS_SIMULATE_H
#define AUTOTUNE_TESTS_SIMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    SIMULATE_THREADS = 128
}; /* of a block; as many words of 8 bytes fit in what the module declares */

/* Runs the kernel `k` of the PTX text over n threads on `in_words` words of input; fills
 * `out_words` words, which the kernel finds zeroed. AT_FORMAT: the simulator does not take the
 * text. AT_DEVICE: the kernel is at fault. */
at_status simulate(const char *ptx, const uint64_t *in, size_t in_words, uint64_t *out,
                   size_t out_words, uint32_t n, at_error *error);

#endif
