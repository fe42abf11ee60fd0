/* State and functions that the files of the simulated device share. No other folder includes this
 * header. sim.c opens devices and predicts times. launch.c loads kernels and launches them.
 * buffer.c keeps, fills and compares contents on the host. data.c makes contents of problems that
 * are too large to be filled. coverage.c finds coverage. excerpt*.c check large problems. */
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
    /* The memory that kernels access; owns `bytes`, `valid` and `made`. Its base is `own_address`,
     * or the address of a variable whose contents the buffer receives. */
    sim_region region;
    uint64_t own_address; /* the buffer's own simulated address */
    device_buffer *next;
};

static inline uint64_t sim_buffer_chunks(const device_buffer *b)
{
    return (b->region.size_bytes + SIM_CHUNK_BYTES - 1) / SIM_CHUNK_BYTES;
}

/* Maps zeros. Only touched pages take memory. Free with munmap(). Returns NULL if room is short. */
uint8_t *sim_map(uint64_t size_bytes);
/* Sets mapped bytes to zero and returns their pages to the system. `bytes` may be NULL. */
void sim_map_clear(uint8_t *bytes, uint64_t size_bytes);

struct device {
    device_properties properties;
    sim_chip chip;
    device_buffer *buffers; /* sorted by `own_address` */
    sim_fault fault;        /* fault of the last launch */
    uint64_t
        most_work; /* limit of the work of each launch (sim_launch.work_limit); 0 for no limit */
    char *printed; /* text that the first launch printed since the text was last taken, or the
                      last launch that faulted; owned */
    uint32_t schedule;       /* schedule of the launches from now on */
    bool alone;              /* launches use one host thread */
    bool carries_on;         /* launches start with the variables that the previous launch left */
    char changed[64];        /* name of a variable that the previous launch changed */
    int64_t low_ns, high_ns; /* interval of nine in ten times, predicted for the last sample */
    uint64_t work;           /* work (sim_launch.work) of all launches since a kernel was loaded */
    uint64_t last_work;      /* work of the last launch */
    /* called with the number of clusters that have run; may be NULL */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
};

struct device_kernel {
    sim_kernel kernel;
    uint32_t registers;
    uint32_t image_shared_bytes; /* static shared memory of the image, as the compiler reports it */
    uint32_t stack_bytes, spill_bytes; /* as the compiler reports them, for a thread */
    uint8_t *ran[PLAN_MAX_LAUNCHES];   /* for each program: all bits of sim_launch.ran from all
                                          checked launches; owned */
    /* The last prediction, for the launch whose packed plan is `predicted`. */
    pack predicted;
    device_cache predicted_cache;
    int64_t predicted_ns;    /* 0 if nothing was predicted */
    int64_t low_ns, high_ns; /* interval that holds nine of ten times */
};

/* Returns the extents, in blocks, of a cluster of the launch at index `i`: 1 without clusters. */
const uint32_t *sim_device_cluster(const device_kernel *k, const launch_plan *plan, uint32_t i);

/* Returns whether the device cannot make a launch of the plan. *fault is the reason. */
bool sim_device_refuses(const device *d, const device_kernel *k, const launch_plan *plan,
                        sim_fault *fault);

/* Runs the launch at index `i` of the plan, or the blocks that `how` selects, with the limits,
 * checks and observers of `how`. The schedule is how->schedule if how->excerpt is given, otherwise
 * the device's. Constants must be set before. Adds up to SIM_PRINT_BYTES of output to *printed,
 * which the caller owns; `printed` may be NULL. Returns AT_OK and sets *fault if the kernel
 * faulted. Returns AT_COMPILE if the kernel cannot run on this device. */
at_status sim_device_run(const device *d, const device_kernel *k, const launch_plan *plan,
                         uint32_t i, device_buffer *const *buffers, const sim_launch *how,
                         char **printed, sim_fault *fault, at_error *error);

/* Sweeps the launch at index `i` of the plan (sim/sweep.h). Counts writes to the elements before
 * ends[] of each buffer. Returns AT_COMPILE if the kernel cannot run on this device. */
at_status sim_device_sweep(const device *d, const device_kernel *k, const launch_plan *plan,
                           uint32_t i, device_buffer *const *buffers, const problem_plan *problem,
                           const uint64_t *ends, uint64_t most, sweep_aim aim, sim_sweep *out,
                           at_error *error);

/* Sets the constants of a plan from buffers. Returns AT_COMPILE if the kernel lacks a constant. */
at_status sim_device_set_constants(const device_kernel *k, const launch_plan *plan,
                                   device_buffer *const *buffers, at_error *error);

/* Returns the outcome that a fault would have on a GPU: a crash if the GPU stops the kernel, a
 * wrong result if the kernel may run on. */
outcome sim_fault_outcome(sim_fault_kind kind);

/* Profiles `sample` blocks of the launch at index `i` and predicts its time. 0 is a default number
 * of blocks. If `warm` is true, the L2 holds the data. `counters` has one entry for each
 * instruction, or is NULL. Returns AT_OK with d->fault set after a fault. */
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
void sim_buffer_mark_written(device_buffer *b);
/* Makes all chunks of a buffer. Otherwise a chunk's contents are made at its first touch. */
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

/* Fills the elements from `first` to `end` - 1 of a buffer that begins at `bytes` (buffer_fill in
 * device/plan.h). Element i depends only on plan, seed and i, as on a GPU
 * (templates/device_support.cu). */
void sim_fill(uint8_t *bytes, const buffer_plan *plan, uint64_t seed, uint64_t first, uint64_t end);

/* The functions `covered` and `suspect` of device_analysis (device/device.h). A loop is a branch to
 * an earlier instruction without waits for other threads. If the compiler copied a loop, one
 * repeated copy is enough. */
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
