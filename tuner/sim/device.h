/* State and functions that the files of the simulated device share. No other room includes this
 * header. sim.c opens devices and predicts times; launch.c loads kernels and launches them;
 * buffer.c keeps, fills and compares contents, all on the host; data.c makes the contents of
 * problems that are too large to be filled; coverage.c finds coverage; excerpt*.c check large
 * problems. */
#ifndef AUTOTUNE_SIM_DEVICE_H
#define AUTOTUNE_SIM_DEVICE_H

#include "base/pack.h"
#include "device/device.h"
#include "sim/chip.h"
#include "sim/kernel.h"
#include "sim/machine/run.h"
#include "sim/model.h"
#include "sim/sweep.h"

struct device_buffer {
    /* The memory that kernels access; owns `bytes`, `valid` and `made`. Its base is `place`, or the
     * address of the variable whose contents the buffer receives. */
    sim_region region;
    uint64_t place; /* simulated address of its own */
    device_buffer *next;
};

/* Returns the number of chunks of a buffer. */
static inline uint64_t sim_buffer_chunks(const device_buffer *b)
{
    return (b->region.size_bytes + SIM_CHUNK_BYTES - 1) / SIM_CHUNK_BYTES;
}

/* Maps zeros; only touched pages take memory. Free with munmap(). Returns NULL without room. */
uint8_t *sim_map(uint64_t size_bytes);
/* Sets mapped bytes to zero and gives their pages back. `bytes` may be NULL. */
void sim_map_clear(uint8_t *bytes, uint64_t size_bytes);

struct device {
    device_properties properties;
    sim_chip chip;
    device_buffer *buffers; /* sorted by `place` */
    sim_fault fault;        /* fault of the last launch */
    uint64_t most_work; /* limit of the work of each launch (sim_launch.work_limit); 0: no limit */
    char *printed;      /* owned; output of the first launch since it was taken, or of the last that
                           faulted */
    uint32_t schedule;  /* schedule of the launches from now on */
    bool alone;         /* launches run on one host thread */
    bool carries_on;    /* launches keep the variables that the previous launch left */
    char changed[64];   /* name of a variable that the previous launch changed */
    int64_t low_ns, high_ns; /* interval that holds nine in ten times, of the last sample */
    uint64_t work;           /* work (sim_launch.work) of all launches since a kernel was loaded */
    uint64_t last_work;      /* work of the last launch */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
    void *progress_context;
};

struct device_kernel {
    sim_kernel kernel;
    uint32_t registers;
    uint32_t image_shared_bytes;       /* static shared memory, as the compiler reports it */
    uint32_t stack_bytes, spill_bytes; /* of a thread, as the compiler reports them */
    uint8_t *ran[PLAN_MAX_LAUNCHES];   /* owned; for each program, the union of sim_launch.ran over
                                          all checked launches */
    /* The last prediction. It is valid for the launch that `predicted` packs. */
    pack predicted;
    device_cache predicted_cache;
    int64_t predicted_ns;    /* 0 if nothing was predicted yet */
    int64_t low_ns, high_ns; /* interval that holds nine in ten times */
};

/* Returns the extents of a cluster of the launch at index `i`, in blocks: 1 without clusters. */
const uint32_t *sim_device_cluster(const device_kernel *k, const launch_plan *plan, uint32_t i);

/* Returns whether the device cannot make a launch of the plan. *fault then says why. */
bool sim_device_refuses(const device *d, const device_kernel *k, const launch_plan *plan,
                        sim_fault *fault);

/* Runs the launch at index `i` of the plan, or its blocks that `how` selects, with the limits,
 * checks and observers of `how`. how->schedule is used only with how->excerpt, otherwise the
 * device's schedule. Constants must be set before. Adds up to SIM_PRINT_BYTES of output to
 * *printed, which the caller owns; `printed` may be NULL. Returns AT_OK with *fault set if the
 * kernel faulted, AT_COMPILE if it cannot run on this device. */
at_status sim_device_run(const device *d, const device_kernel *k, const launch_plan *plan,
                         uint32_t i, device_buffer *const *buffers, const sim_launch *how,
                         char **printed, sim_fault *fault, at_error *error);

/* Sweeps the launch at index `i` of the plan (sim/sweep.h), counting elements before ends[] of each
 * buffer. Returns AT_COMPILE if the kernel cannot run on this device. */
at_status sim_device_sweep(const device *d, const device_kernel *k, const launch_plan *plan,
                           uint32_t i, device_buffer *const *buffers, const problem_plan *problem,
                           const uint64_t *ends, uint64_t most, sweep_aim aim, sim_sweep *out,
                           at_error *error);

/* Sets the constants of a plan from buffers. Returns AT_COMPILE if the kernel lacks a constant. */
at_status sim_device_set_constants(const device_kernel *k, const launch_plan *plan,
                                   device_buffer *const *buffers, at_error *error);

/* Returns the outcome of a fault: wrong if it depends on timing, a crash if it stops a GPU. */
outcome sim_fault_outcome(sim_fault_kind kind);

/* Profiles `sample` blocks (0: a default number) of the launch at index `i` and predicts its time.
 * `warm`: the L2 holds the data. `counters` (or NULL) has one entry per instruction. Returns AT_OK
 * with d->fault set after a fault. */
at_status sim_device_profile(device *d, const device_kernel *k, const launch_plan *plan, uint32_t i,
                             device_buffer *const *buffers, uint64_t sample, bool warm,
                             sim_counter *counters, sim_profile *profile,
                             sim_prediction *prediction, at_error *error);

/* Functions of device_api: device/device.h has their contracts. */
at_status sim_kernel_load(device *d, const device_image *image, const launch_plan *plan,
                          device_kernel **out, at_error *error);
void sim_kernel_unload(device *d, device_kernel *k);
at_status sim_device_launch(device *d, device_kernel *k, const launch_plan *plan,
                            device_buffer *const *buffers, at_error *error);
at_status sim_buffer_new(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                         at_error *error);
void sim_buffer_free(device *d, device_buffer *b);
/* Marks all bytes as written. */
void sim_buffer_mark_written(device_buffer *b);
/* Makes all chunks of a buffer whose contents are made on first touch. */
void sim_buffer_make_all(const device_buffer *b);
at_status sim_buffer_fill(device *d, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                          at_error *error);
at_status sim_buffer_read(device *d, const device_buffer *b, void *to, uint64_t size_bytes,
                          at_error *error);
at_status sim_buffer_write(device *d, device_buffer *b, const buffer_plan *plan,
                           const void *contents, at_error *error);
at_status sim_buffer_poison(device *d, device_buffer *b, int pattern, at_error *error);
at_status sim_buffer_copy(device *d, device_buffer *to, const device_buffer *from, at_error *error);
at_status sim_buffer_checksum(device *d, const device_buffer *b, uint64_t size_bytes, uint64_t *sum,
                              at_error *error);
at_status sim_buffer_guards(device *d, const device_buffer *b, device_guard_report *out,
                            at_error *error);
at_status sim_buffer_compare(device *d, const device_buffer *found, const device_buffer *expected,
                             const buffer_plan *plan, device_comparison *out, at_error *error);

/* Fills elements `first` to `end` - 1 of a buffer that begins at `bytes` (buffer_fill in
 * device/plan.h). Element i depends only on plan, seed and i, as on a GPU
 * (templates/device_support.cu). */
void sim_fill(uint8_t *bytes, const buffer_plan *plan, uint64_t seed, uint64_t first, uint64_t end);

/* Finds executed lines and repeated loops of variants. A loop is a branch to an earlier instruction
 * that waits for no other thread. A loop that the compiler copied was repeated if any copy was. */
at_status sim_find_coverage(const device *d, const device_kernel *const *kernels, size_t count,
                            device_coverage *coverage, at_error *error);
void sim_suggest_cause(const device_kernel *k, char *text, size_t bytes);

at_status sim_excerpt_new(device *d, const device_excerpt_plan *plan, device_excerpt **out,
                          at_error *error);
void sim_excerpt_free(device *d, device_excerpt *x);
device_buffer *const *sim_excerpt_buffers(const device_excerpt *x);
void sim_excerpt_reset(device_excerpt *x);
at_status sim_excerpt_check(device *d, device_excerpt *x, device_kernel *k, const launch_plan *plan,
                            device_excerpt_result *out, device_coverage *coverage, at_error *error);

#endif
