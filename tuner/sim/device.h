/* The state that the files of the simulated device share; no other room includes this.
 *
 * sim/sim.c opens and predicts; sim/launch.c loads and launches; sim/buffer.c keeps contents: fill,
 * poison, comparison, checksum, all on the host; sim/data.c has those of problems that are too
 * large to be filled. */
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
    char name[64];
    uint64_t base;  /* simulated address: its place, or of the variable whose contents it holds */
    uint64_t place; /* simulated address that no other buffer has */
    uint64_t size_bytes;
    uint8_t *bytes;
    uint8_t *valid; /* for each byte, whether it was written; NULL: all were */
    bool read_only; /* an input */
    bool filled;    /* as sim_region's, like the next three */
    uint8_t *made;
    sim_make make;
    void *context;
    const buffer_plan *plan;
    device_buffer *next;
};

/* The number of chunks of a buffer. */
static inline uint64_t sim_buffer_chunks(const device_buffer *b)
{
    return (b->size_bytes + SIM_CHUNK_BYTES - 1) / SIM_CHUNK_BYTES;
}

/* Zeros, of which only the pages that something touches take memory; NULL: there is no room. Any
 * size. */
uint8_t *sim_map(uint64_t size_bytes);
/* Makes them zeros again. */
void sim_map_clear(uint8_t *bytes, uint64_t size_bytes);

struct device {
    device_properties properties;
    sim_chip chip;
    device_buffer *buffers; /* by base */
    sim_fault fault;        /* of the last launch */
    uint64_t most_work;     /* of each of those that follow; 0: any */
    char *printed;     /* owned; by the first launch since it was taken, or the last that faulted */
    uint32_t schedule; /* of those that follow */
    bool alone;        /* on one host thread */
    bool carries_on;   /* launches find the module's variables as the last one left them, */
    char changed[64];  /* and this is the name of one that the last one had changed */
    uint64_t work;     /* as sim_launch's, of launches since a kernel was loaded, */
    uint64_t last_work;                                             /* and of the last one */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
    void *progress_context;
};

struct device_kernel {
    sim_kernel kernel;
    uint32_t registers;
    uint32_t image_shared_bytes; /* static, as the compiler says, like these: */
    uint32_t stack_bytes, spill_bytes;
    uint8_t *ran[PLAN_MAX_LAUNCHES]; /* owned; sim_launch.ran of each program, of all launches that
                                        were checked */
    /* The last prediction: it does not change while the launch, here packed, does not. */
    pack predicted;
    device_cache predicted_cache;
    int64_t predicted_ns; /* 0: none yet */
};

/* Which blocks of a launch run, and how. */
typedef struct sim_part {
    const uint64_t *clusters; /* as sim_launch's */
    uint64_t count;
    uint64_t instruction_limit, block_limit; /* as sim_launch's, like these: */
    uint64_t work_limit, lane_limit;
    bool check;
    bool shows; /* its progress */
    sim_excerpt *excerpt;
    uint64_t *work, *lanes; /* as sim_launch's */
    sim_observer observer;
    void *observer_context;
    uint32_t schedule;    /* as sim_launch's, of an excerpt */
    bool first_warp_only; /* as sim_launch's */
    int threads;          /* of the host; 0: as many as cores */
    char **printed; /* an owned text to which is added what threads print, as long as there is room;
                       NULL: it is dropped */
    char *unwatched; /* as sim_launch's */
} sim_part;

/* Blocks of a cluster along each axis: 1 where blocks are alone. */
const uint32_t *sim_device_cluster(const device_kernel *k, const launch_plan *plan, uint32_t i);

/* Does the plan have a launch that the device cannot make, as *fault then says? */
bool sim_device_refuses(const device *d, const device_kernel *k, const launch_plan *plan,
                        sim_fault *fault);

/* Runs a part of the launch at place `i` of the plan; constants are set before. AT_OK with *fault
 * set when the kernel faulted. AT_COMPILE: it cannot run on this device. */
at_status sim_device_run(const device *d, const device_kernel *k, const launch_plan *plan,
                         uint32_t i, device_buffer *const *buffers, const sim_part *part,
                         sim_fault *fault, at_error *error);

/* Follows all threads of the launch at place `i` of the plan (sim/sweep.h), of each buffer the
 * elements before ends[]; with `parts` sim_sweep_part(). AT_COMPILE: it cannot run on this device.
 */
at_status sim_device_sweep(const device *d, const device_kernel *k, const launch_plan *plan,
                           uint32_t i, device_buffer *const *buffers, const problem_plan *problem,
                           const uint64_t *ends, uint64_t most, bool parts, sim_sweep *out,
                           at_error *error);

/* Fills the constants of a plan from buffers. AT_COMPILE for one that the kernel lacks. */
at_status sim_device_set_constants(const device_kernel *k, const launch_plan *plan,
                                   device_buffer *const *buffers, at_error *error);

/* The outcome of a variant with a fault. Results that depend on luck are wrong results; a fault
 * that stops a GPU is a crash. */
outcome sim_fault_outcome(sim_fault_kind kind);

/* Runs `sample` blocks (0: a default) of the launch at place `i` of the plan, and predicts.
 * `counters` may be NULL. AT_OK with d->fault set when the kernel faulted. */
at_status sim_device_profile(device *d, const device_kernel *k, const launch_plan *plan, uint32_t i,
                             device_buffer *const *buffers, uint64_t sample, bool warm,
                             sim_counter *counters, sim_profile *profile,
                             sim_prediction *prediction, at_error *error);

/* Functions of device_api (device/device.h). */
at_status sim_kernel_load(device *d, const device_image *image, const launch_plan *plan,
                          device_kernel **out, at_error *error);
void sim_kernel_unload(device *d, device_kernel *k);
at_status sim_device_launch(device *d, device_kernel *k, const launch_plan *plan,
                            device_buffer *const *buffers, at_error *error);
const char *sim_device_complaint(const device *d, outcome *result);
const device_fault *sim_device_fault(const device *d);
at_status sim_buffer_new(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                         at_error *error);
void sim_buffer_free(device *d, device_buffer *b);
/* Marks all of it as written. */
void sim_buffer_forget_valid(device_buffer *b);
/* Makes all that is absent of a buffer whose contents are made where they are touched. */
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

#endif
