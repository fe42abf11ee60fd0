/* What the files of the simulated device share; no other room includes this.
 *
 * sim/sim.c opens, loads and launches; sim/buffer.c keeps contents: fill, poison, comparison,
 * checksum, all on the host. */
#ifndef AUTOTUNE_SIM_DEVICE_H
#define AUTOTUNE_SIM_DEVICE_H

#include "device/device.h"
#include "sim/chip.h"
#include "sim/kernel.h"
#include "sim/model.h"
#include "sim/machine/run.h"

struct device_buffer {
    char name[64];
    uint64_t base;       /* simulated address */
    uint64_t size_bytes;
    uint8_t *bytes;
    uint8_t *valid;      /* for each byte, whether it was written; NULL: all were */
    bool read_only;      /* an input */
    device_buffer *next;
};

struct device {
    device_properties properties;
    sim_chip chip;
    device_buffer *buffers; /* by base */
    sim_fault fault;     /* of the last launch */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* of profiles; may be NULL */
    void *progress_context;
};

struct device_kernel {
    sim_kernel kernel;
    uint32_t registers;
    uint32_t image_shared_bytes; /* static, as the compiler says */
    /* The last prediction: it does not change while the launch does not. */
    launch_plan predicted;
    device_cache predicted_cache;
    int64_t predicted_ns; /* 0: none yet */
};

/* Runs `sample` blocks (0: a default) of the launch at place `i` of the plan, and predicts. `counters`
 * may be NULL. AT_OK with d->fault set when the kernel faulted. */
at_status sim_device_profile(device *d, const device_kernel *k, const launch_plan *plan,
                             uint32_t i, device_buffer *const *buffers, uint64_t sample, bool warm,
                             sim_counter *counters, sim_profile *profile,
                             sim_prediction *prediction, at_error *error);

/* Functions of device_api (device/device.h). */
at_status sim_buffer_new(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                         at_error *error);
void sim_buffer_free(device *d, device_buffer *b);
at_status sim_buffer_fill(device *d, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                          at_error *error);
at_status sim_buffer_poison(device *d, device_buffer *b, int pattern, at_error *error);
at_status sim_buffer_copy(device *d, device_buffer *to, const device_buffer *from,
                          at_error *error);
at_status sim_buffer_checksum(device *d, const device_buffer *b, uint64_t size_bytes, uint64_t *sum,
                              at_error *error);
at_status sim_buffer_guards(device *d, const device_buffer *b, device_guard_report *out,
                            at_error *error);
at_status sim_buffer_compare(device *d, const device_buffer *found, const device_buffer *expected,
                             const buffer_plan *plan, device_comparison *out, at_error *error);

#endif
