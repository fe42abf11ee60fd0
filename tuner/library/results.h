/* Results as at_open() gives them: what is known of patterns, and of the GPUs at hand. */
#ifndef AUTOTUNE_LIBRARY_RESULTS_H
#define AUTOTUNE_LIBRARY_RESULTS_H

#include <pthread.h>

#include "cuda/driver.h"
#include "device/device.h"
#include "library/pattern.h"

struct at_results {
    patterns known;
    char *folder;            /* as at_open() was given it; NULL: the known ones */
    struct tunings *tunings; /* library/tuning.h */
    pthread_mutex_t lock;    /* of what follows, which is read when it is asked for first */
    bool has_all;
    record_set all; /* of all patterns, for what cannot be read */
    cuda_driver cuda;
    size_t device_count;
    device_properties *devices; /* NULL: they are not listed yet; then nothing changes */
};

/* The GPU of the calling thread's current context. *out lives as long as the results. */
at_status library_device_of(at_results *results, const device_properties **out, at_error *error);

#endif
