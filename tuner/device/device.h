/* The interface of a device: what a device worker can ask of a GPU, real or simulated.
 *
 * One implementation a file (cuda/cuda.c, sim/sim.c): a table of the functions that every device
 * has, with pointers to tables of the capabilities that it may have. A device is opened, used and
 * closed by one thread of one process. Buffers have 64 KiB guard bands on both sides. After
 * AT_DEVICE the device may be unusable: the process gives up and another takes over. */
#ifndef AUTOTUNE_DEVICE_DEVICE_H
#define AUTOTUNE_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/arch.h"
#include "device/measurement.h"
#include "device/outcome.h"
#include "device/plan.h"

enum { DEVICE_GUARD_BYTES = 64 * 1024 };

typedef struct device device;
typedef struct device_buffer device_buffer;
typedef struct device_kernel device_kernel;
typedef struct device_batch device_batch;
typedef struct device_excerpt device_excerpt;

typedef struct device_properties {
    char kind[16];      /* "cuda" or "sim" */
    char spec[32];      /* "cuda:0", "sim:sm_90" */
    char uuid[48];      /* empty where there is none */
    char driver[32];    /* driver version, "580.159.04"; empty for a simulated device */
    int cuda_version;   /* that the driver supports, 13000 for 13.0 */
    arch_limits limits; /* limits.name is the device's own name, "NVIDIA H200" */
    char arch[16];      /* "sm_90" */
    bool predicted;     /* its times are predictions */
} device_properties;

/* A kernel image: a cubin for cuda, PTX for sim, with the resources that the compiler reported. */
typedef struct device_image {
    const void *bytes;
    size_t size_bytes;
    uint32_t registers; /* a thread, for occupancy; 0 unknown */
    uint32_t static_shared_bytes;
    uint32_t stack_bytes; /* a thread: local memory, of arrays and of spilled registers */
    uint32_t spill_bytes; /* a thread: what instructions that spill load and store, each once */
    const char *symbols;  /* what its kernels are called in it (plan_symbol()) */
    bool shared;          /* kernels of other variants are in it, too */
} device_image;

/* The device's own kernels come in parts, which compile side by side; a whole is a part, too. */
enum { DEVICE_SUPPORT_PARTS = 2 };

typedef enum device_cache { DEVICE_CACHE_COLD, DEVICE_CACHE_WARM } device_cache;

typedef struct device_comparison {
    uint64_t wrong;           /* elements that differ */
    uint64_t first;           /* index of the first of them */
    uint64_t expected, found; /* its bytes, the first in the lowest bits */
    bool unwritten;           /* no launch wrote the one found, as far as the device knows that */
} device_comparison;

typedef struct device_guard_report {
    bool intact;
    bool before;             /* damage lies before the buffer (else after it) */
    uint64_t distance_bytes; /* from the buffer's edge to the nearest damaged byte, 1-based */
} device_guard_report;

/* The parts of a problem of which blocks are sampled; borrowed. */
typedef struct device_excerpt_plan {
    const problem_plan *problem;
    device_kernel *reference;
    const launch_plan *reference_launch;
    const device_image *filler; /* of size 0: none */
    const launch_plan *filler_launch;
    const void *const *contents; /* of buffers that files fill; NULL for others. They outlive the
                                    excerpt, */
    const void *const *answers;  /* like the results that files hold */
    device_whole whole;
} device_excerpt_plan;

/* The results of some blocks of a variant. */
typedef struct device_excerpt_result {
    outcome result;          /* OUTCOME_OK: nothing wrong */
    const char *complaint;   /* a fault; lives until the next launch. NULL: none */
    uint32_t buffer;         /* where there is none: the first whose elements are wrong, */
    device_comparison found; /* and which; of `compared` elements of it */
    uint64_t compared;
} device_excerpt_result;

/* Which counters are read, and how buffers are restored between passes. */
typedef struct device_counting {
    const char *const *metrics; /* Nsight Compute's names */
    size_t count;
    device_cache cache; /* cold: the L2 is flushed before each pass */
    /* Called before each pass: gives the buffers their contents back. */
    at_status (*renew)(void *context, at_error *error);
    void *context;
} device_counting;

/* A kernel that runs before each sample of another, so that the L2 holds what it leaves there. */
typedef struct device_before {
    device_kernel *kernel;
    const launch_plan *plan;
    device_buffer *const *buffers;
} device_before;

/* Real hardware behind a driver. A device without it is computed in this process, and needs no file
 * once it is open. */
typedef struct device_hardware {
    /* Fills up to `capacity` descriptions with kind, spec and limits.name alone, much faster than
     * the whole list. Fails where that is not certain. */
    at_status (*list_names)(device_properties *out, size_t capacity, size_t *count,
                            at_error *error);
    /* Makes an open device ready for everything else. */
    at_status (*start)(device *d, at_error *error);
    /* Gives the device-side helper code (fill, poison, compare ...) compiled for this device, in
     * parts of which some may have size 0. */
    at_status (*set_support)(device *d, const device_image support[DEVICE_SUPPORT_PARTS],
                             at_error *error);
    /* Sets both guard bands to values of the buffer's type that would show in an output: for
     * pattern 0 NaN or extreme ones, for 1 to 3 others. */
    at_status (*guard)(device *d, device_buffer *b, const buffer_plan *plan, int pattern,
                       at_error *error);
    /* Fills shared memory, so that the next kernel finds nothing useful there; pattern 0 to 3. */
    at_status (*scrub)(device *d, int pattern, at_error *error);
    /* Returns the time of the last launch on the device's own clock, in ns, with the costs of a
     * first launch: loading the kernel, memory for its stack. 0 if it is not known. */
    int64_t (*launch_ns)(const device *d);
    /* Keeps the chip busy until its clocks have settled (300 ms or more, unless the board says that
     * they are at their top); once a session. */
    at_status (*warm_up)(device *d, at_error *error);
    /* Measures the mean SM clock since the call before, from counters on the chip. 0 in the first
     * call, and less than 1 ms after the one before (the next call then covers that time, too). */
    at_status (*sm_clock)(device *d, double *khz, at_error *error);
} device_hardware;

/* Batches, for kernels that are too short for the device's clock. */
typedef struct device_batches {
    /* Records `launches` launches, each on the next of `set_count` sets of buffers, to be timed as
     * one. `k` NULL: an empty kernel. */
    at_status (*launches_new)(device *d, device_kernel *k, const launch_plan *plan,
                              device_buffer *const *const *sets, size_t set_count,
                              uint32_t launches, device_batch **out, at_error *error);
    /* Records copies from from[i] to to[i]; either array may be NULL, as in sample_copy. */
    at_status (*copies_new)(device *d, device_buffer *const *to, device_buffer *const *from,
                            size_t set_count, uint64_t size_bytes, uint32_t launches,
                            device_batch **out, at_error *error);
    void (*free)(device *d, device_batch *b);
    /* Runs the batch once; *time_ns is the average of its launches. */
    at_status (*sample)(device *d, device_batch *b, device_cache cache, int64_t *time_ns,
                        at_error *error);
} device_batches;

/* A board that tells its energy. */
typedef struct device_energy {
    /* Queues `count` launches and waits for them all, while energy is measured. */
    at_status (*repeat)(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, uint64_t count, at_error *error);
    /* Reads the board's figures. AT_NO_DEVICE says why there are none; the device is fine. */
    at_status (*board)(device *d, board_reading *out, at_error *error);
    /* Counts the other processes that compute on the device; valid once board() has succeeded. */
    uint32_t (*others)(device *d);
} device_energy;

/* Hardware counters. */
typedef struct device_counters {
    /* Reads counters of each launch of the plan, of a group's in its first round, in as many passes
     * as they need: values[launch * count + metric], NAN for a metric that the device does not
     * have. AT_NO_DEVICE says why they cannot be read (no library, no permission); the device is
     * fine. */
    at_status (*count)(device *d, device_kernel *k, const launch_plan *plan,
                       device_buffer *const *buffers, const device_counting *what, double *values,
                       at_error *error);
} device_counters;

/* A device that chooses the order of threads and sees what each of them does. */
typedef struct device_analysis {
    /* Tells the device what the buffer holds, for messages. The plan is borrowed until the buffer
     * is freed. */
    void (*describe)(device_buffer *b, const buffer_plan *plan);
    /* Sets the schedule of the launches that follow: 0 is in the order of blocks, warps and lanes,
     * any other number is adverse, each in its own way. `alone`: what they do wrong is the same
     * every time, which takes longer. */
    void (*arrange)(device *d, uint32_t schedule, bool alone);
    /* Launches that follow find the variables of the kernel's module as its last launch left them,
     * and not as the module defines them. Returns the name of a variable that differs, which lives
     * until the next call; NULL if none does: then, and if `plan` is NULL, launches begin anew. */
    const char *(*carry_on)(device *d, const device_kernel *k, const launch_plan *plan);
    /* Launches that follow end when they have done so much work, or a little of the device's own
     * choice if that is more, with a complaint that says where they are; 0: they may take any. Work
     * is counted in a unit of the device's own, so that a launch ends at the same place every
     * time. */
    void (*give_up_after)(device *d, uint64_t most_work);
    /* Returns the work of the last launch. */
    uint64_t (*work)(const device *d);
    /* Returns the fields of the last complaint. */
    const device_fault *(*fault)(const device *d);
    /* Tells whether that complaint may be another one on a machine of more or fewer cores, unless
     * the launch runs alone. */
    bool (*varies)(const device *d);
    /* Tells whether the results of the kernel may depend on the order in which its threads run, as
     * far as its code tells. `exactly`: by a rounding, too. */
    bool (*hangs_on_order)(const device_kernel *k, bool exactly);
    /* Writes "; " and what launches of the kernel so far did that may be why its results depend on
     * the order, or "". */
    void (*suspect)(const device_kernel *k, char *text, size_t bytes);
    /* Takes what kernels printed since it was last taken, in the first launch or in the last that
     * did something wrong. Returns NULL if they printed nothing. The caller frees it. */
    char *(*take_printed)(device *d);
    /* Sets `never`, `once`, `stores`, `stored` and `together` of *coverage: the places of a
     * variant's kernels, one a problem, that no launch so far has executed. It is enough that one
     * problem executed code that several have. Where coverage->once names loops already, those that
     * went round twice are taken off it and nothing else is set. */
    at_status (*covered)(const device *d, const device_kernel *const *kernels, size_t count,
                         device_coverage *coverage, at_error *error);
    /* Has `progress` called with the blocks of a launch that have run, by launches that may take
     * minutes. */
    void (*watch)(device *d, void (*progress)(void *context, uint64_t done, uint64_t total),
                  void *context);
} device_analysis;

/* Problems too large to be run whole: their data exist where they are touched. */
typedef struct device_excerpts {
    at_status (*make)(device *d, const device_excerpt_plan *plan, device_excerpt **out,
                      at_error *error);
    void (*free)(device *d, device_excerpt *x); /* `x` may be NULL. */
    /* Runs blocks of a variant: the first and last of each side of the grid, and some between. Adds
     * to all of *coverage that is of the tuned problem. AT_COMPILE: the launch was refused. */
    at_status (*check)(device *d, device_excerpt *x, device_kernel *k, const launch_plan *plan,
                       device_excerpt_result *out, device_coverage *coverage, at_error *error);
} device_excerpts;

/* The functions that every device has, and its capabilities. A kernel may be NULL if the plan
 * launches none. */
typedef struct device_api {
    const char *kind; /* the part of a device name before the colon */
    bool transfers;   /* launch, sample and repeat take plans that move data between the device and
                         a host */

    /* Capabilities; NULL if the device lacks them. A capability has all of its functions. */
    const device_hardware *hardware;
    const device_batches *batches;
    const device_energy *energy;
    const device_counters *counters;
    const device_analysis *analysis;
    const device_excerpts *excerpts;

    /* Fills up to `capacity` descriptions of devices that exist; sets *count. AT_NO_DEVICE says why
     * there are none. */
    at_status (*list)(device_properties *out, size_t capacity, size_t *count, at_error *error);
    /* Finds and describes the device. Hardware is started before anything else is asked of it. */
    at_status (*open)(const char *spec, device **out, at_error *error);
    void (*close)(device *d);
    const device_properties *(*properties)(const device *d);

    at_status (*buffer_new)(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                            at_error *error);
    void (*buffer_free)(device *d, device_buffer *b);
    /* Writes the contents that `plan` and `seed` say, and sets both guard bands. */
    at_status (*fill)(device *d, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                      at_error *error);
    /* Writes contents that come from a file: as many bytes as the plan's elements have. */
    at_status (*write)(device *d, device_buffer *b, const buffer_plan *plan, const void *contents,
                       at_error *error);
    /* Copies the first `size_bytes` of the contents, which the buffer has, to `to`. */
    at_status (*read)(device *d, const device_buffer *b, void *to, uint64_t size_bytes,
                      at_error *error);
    /* Overwrites contents with pattern 0 to 3 and sets both guard bands. */
    at_status (*poison)(device *d, device_buffer *b, int pattern, at_error *error);
    at_status (*copy)(device *d, device_buffer *to, const device_buffer *from, at_error *error);
    /* Computes the checksum of the first `size_bytes`, which the buffer has. */
    at_status (*checksum)(device *d, const device_buffer *b, uint64_t size_bytes, uint64_t *sum,
                          at_error *error);
    at_status (*guards)(device *d, const device_buffer *b, device_guard_report *out,
                        at_error *error);
    /* Compares the plan's count of elements, each with its tolerance. The caller judges how many
     * may differ. */
    at_status (*compare)(device *d, const device_buffer *found, const device_buffer *expected,
                         const buffer_plan *plan, device_comparison *out, at_error *error);

    /* Loads the kernels that `plan` launches, all of one image. AT_COMPILE when the image or a
     * launch cannot work on this device. */
    at_status (*kernel_new)(device *d, const device_image *image, const launch_plan *plan,
                            device_kernel **out, at_error *error);
    void (*kernel_free)(device *d, device_kernel *k);

    /* Fills constants from buffers, runs the plan once, and waits. `buffers` are those of the
     * problem; NULL follows the last, unless there are PLAN_MAX_BUFFERS. All of them may be
     * accessed by every launch of the plan. AT_COMPILE: the launch was refused (resources), the
     * device is fine. AT_DEVICE: it faulted. */
    at_status (*launch)(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, at_error *error);
    /* Returns what the last launch did wrong although it returned AT_OK, and sets *result to the
     * variant's outcome; NULL if nothing was wrong. The message lives until the next launch. */
    const char *(*complaint)(const device *d, outcome *result);

    /* Runs the plan once, timed as a whole. Cold: the L2 is flushed first, and the launches are
     * queued after the flush; between them and the flush those of `before` run, in their order.
     * Where times are predicted `before_count` is 0. */
    at_status (*sample)(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, device_cache cache,
                        const device_before *before, size_t before_count, int64_t *time_ns,
                        at_error *error);
    /* Times one device-to-device copy of `size_bytes`, under the same rules: the ceiling. `to`
     * NULL: `from` is only read; `from` NULL: `to` is only written (not on a simulated device). */
    at_status (*sample_copy)(device *d, device_buffer *to, const device_buffer *from,
                             uint64_t size_bytes, device_cache cache, int64_t *time_ns,
                             at_error *error);
    /* Measures the time of an empty kernel, and the clock's resolution. */
    at_status (*floor)(device *d, int64_t *floor_ns, int64_t *tick_ns, at_error *error);
} device_api;

/* The implementation for a spec ("cuda:0" ...); NULL when no kind matches. */
const device_api *device_api_find(const char *spec);
/* All kinds, in the order in which a default device is looked for. */
const device_api *const *device_apis(size_t *count);

/* In device/multiset.c. Compares plan->count elements as a multiset of records. out->wrong counts
 * records without a partner; `first` is the index of the first element of one of them in `found`,
 * `expected` the first element of a record that has no partner there. AT_NO_MEMORY. */
at_status multiset_compare(const buffer_plan *plan, const void *found, const void *expected,
                           device_comparison *out, at_error *error);

#endif
