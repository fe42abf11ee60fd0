/* The interface of a device, a real or a simulated GPU, for the device worker.
 *
 * An implementation (cuda/cuda.c, sim/sim.c) is a table of the functions that every device has,
 * with pointers to tables of optional capabilities. A device is used by one thread. Buffers have
 * guard bands of 64 KiB on both sides. After AT_DEVICE the device may be unusable, so a new worker
 * process replaces this process. */
#ifndef AUTOTUNE_DEVICE_DEVICE_H
#define AUTOTUNE_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/arch.h"
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
    char uuid[48];      /* UUID of the GPU; may be empty */
    char driver[32];    /* driver version, "580.159.04"; empty for a simulated device */
    int cuda_version;   /* newest CUDA version of the driver, 13000 for 13.0 */
    arch_limits limits; /* limits.name is the name of the device, "NVIDIA H200" */
    char arch[16];      /* "sm_90" */
    bool predicted;     /* times are predictions */
} device_properties;

/* A kernel image: a cubin for cuda, PTX for sim, with the resources that the compiler reported. */
typedef struct device_image {
    const void *bytes;
    size_t size_bytes;
    uint32_t registers; /* per thread; 0 if unknown */
    uint32_t static_shared_bytes;
    uint32_t stack_bytes; /* per thread: local memory of arrays and spilled registers */
    uint32_t spill_bytes; /* per thread: bytes of spill loads and stores, each counted once */
    const char *symbols;  /* names of the kernels in machine code, as for plan_symbol() */
    bool shared;          /* the image also has kernels of other variants */
} device_image;

/* The support kernels are divided into parts, so that these compile in parallel. */
enum { DEVICE_SUPPORT_PARTS = 2 };

typedef enum device_cache { DEVICE_CACHE_COLD, DEVICE_CACHE_WARM } device_cache;

typedef struct device_comparison {
    uint64_t wrong;           /* number of wrong elements */
    uint64_t first;           /* index of the first wrong element */
    uint64_t expected, found; /* bytes of that element, the first in the lowest bits */
    bool unwritten;           /* the device saw no launch that wrote the element */
} device_comparison;

typedef struct device_guard_report {
    bool intact;
    bool before;             /* the damage is before the buffer, not after it */
    uint64_t distance_bytes; /* distance of the nearest damaged byte, 1 if it is adjacent */
} device_guard_report;

/* The plan of an excerpt: a problem of which only some blocks run. All members are borrowed. */
typedef struct device_excerpt_plan {
    const problem_plan *problem;
    device_kernel *reference;
    const launch_plan *reference_launch;
    const device_image *filler; /* image of the kernel that fills inputs, or of size 0 */
    const launch_plan *filler_launch;
    /* The files of each buffer: its contents, and its expected results. An entry is NULL if there
     * is no file. The files must outlive the excerpt. */
    const void *const *contents;
    const void *const *answers;
    device_whole whole;
} device_excerpt_plan;

typedef struct device_excerpt_result {
    outcome result;
    const char *complaint;   /* a fault, valid until the next launch; NULL without a fault */
    uint32_t buffer;         /* first buffer with wrong elements, if there is no fault */
    device_comparison found; /* wrong elements of this buffer */
    uint64_t beyond;         /* wrong elements that differ by more than tolerance_of_rounding() */
    uint64_t compared;       /* compared elements of this buffer */
} device_excerpt_result;

typedef struct device_counting {
    const char *const *metrics; /* named as in Nsight Compute */
    size_t count;
    device_cache cache; /* DEVICE_CACHE_COLD: the L2 is flushed before each pass */
    /* Restores the contents of the buffers. Called before each pass. */
    at_status (*renew)(void *context, at_error *error);
    void *context;
} device_counting;

/* A kernel that runs before each sample of another kernel, to leave its data in the L2. */
typedef struct device_before {
    device_kernel *kernel;
    const launch_plan *plan;
    device_buffer *const *buffers;
} device_before;

/* The capability of hardware behind a driver. A device without this capability computes in this
 * process, and opens no file after open(). */
typedef struct device_hardware {
    /* Lists up to `capacity` devices with kind, spec and limits.name only, much faster than list().
     * Fails if the names are uncertain. */
    at_status (*list_names)(device_properties *out, size_t capacity, size_t *count,
                            at_error *error);
    /* Prepares an opened device. Called before any other function. */
    at_status (*start)(device *d, at_error *error);
    /* Loads the support kernels, compiled for this device. A part may have size 0. */
    at_status (*set_support)(device *d, const device_image support[DEVICE_SUPPORT_PARTS],
                             at_error *error);
    /* Fills both guard bands. Pattern 0 is a value that is noticed in an output: NaN or an extreme
     * value of the buffer's type. Patterns 1 to 3 are other values. */
    at_status (*guard)(device *d, device_buffer *b, const buffer_plan *plan, int pattern,
                       at_error *error);
    /* Fills the shared memory of all SMs with pattern 0 to 3, to hide earlier data. */
    at_status (*scrub)(device *d, int pattern, at_error *error);
    /* Returns the time of the last launch by the device's clock, in ns, or 0 if it is unknown. A
     * first launch includes loading the kernel and allocating its stack. */
    int64_t (*launch_ns)(const device *d);
    /* Keeps the chip busy for 300 ms, or until its highest clock. Called once per session. */
    at_status (*warm_up)(device *d, at_error *error);
    /* Sets `*khz` to the mean SM clock since the previous call, measured by counters on the chip.
     * Sets it to 0 in the first call, and if the previous call was less than 1 ms ago. In the
     * second case the next call measures from that previous call. */
    at_status (*sm_clock)(device *d, double *khz, at_error *error);
} device_hardware;

/* Batches of launches, for kernels that are too short for the device's clock. */
typedef struct device_batches {
    /* Records `launches` launches, timed together; launch i uses set i mod `set_count` of the
     * buffers. A NULL `k` launches an empty kernel. */
    at_status (*launches_new)(device *d, device_kernel *k, const launch_plan *plan,
                              device_buffer *const *const *sets, size_t set_count,
                              uint32_t launches, device_batch **out, at_error *error);
    /* Records copies from from[i] to to[i]. Either array may be NULL, as in sample_copy(). */
    at_status (*copies_new)(device *d, device_buffer *const *to, device_buffer *const *from,
                            size_t set_count, uint64_t size_bytes, uint32_t launches,
                            device_batch **out, at_error *error);
    void (*free)(device *d, device_batch *b);
    /* Runs the batch once. `*time_ns` is the mean time of its launches. */
    at_status (*sample)(device *d, device_batch *b, device_cache cache, int64_t *time_ns,
                        at_error *error);
} device_batches;

typedef struct device_energy {
    /* Queues `count` launches and waits for them. The caller measures their energy. */
    at_status (*repeat)(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, uint64_t count, at_error *error);
    /* Reads the board's figures. After AT_NO_DEVICE the device is still usable. */
    at_status (*board)(device *d, board_reading *out, at_error *error);
    /* Returns the number of other processes on the device. Call board() first. */
    uint32_t (*others)(device *d);
} device_energy;

typedef struct device_counters {
    /* Reads the counters of each launch of the plan, in as many passes as they need. A group runs
     * for one round. Writes values[launch * count + metric], NAN if the device lacks the metric.
     * AT_NO_DEVICE (no library, no permission) leaves the device usable. */
    at_status (*count)(device *d, device_kernel *k, const launch_plan *plan,
                       device_buffer *const *buffers, const device_counting *what, double *values,
                       at_error *error);
} device_counters;

/* The capability of a device that chooses the order of threads and observes each thread. */
typedef struct device_analysis {
    /* Sets the plan of a buffer, for messages. The plan must outlive the buffer. */
    void (*describe)(device_buffer *b, const buffer_plan *plan);
    /* Sets the schedule of the following launches: 0 runs blocks, warps and lanes in order, other
     * numbers select an adverse schedule. With `alone`, launches are slower and faults
     * reproducible. */
    void (*arrange)(device *d, uint32_t schedule, bool alone);
    /* Lets the following launches start with the module's variables as the last launch left them.
     * Returns the name of a changed variable, valid until the next call. Returns NULL if no
     * variable was changed. In that case, and if `plan` is NULL, launches start with the initial
     * values. */
    const char *(*carry_on)(device *d, const device_kernel *k, const launch_plan *plan);
    /* Limits the work of each following launch. If `most_work` is 0 there is no limit; the device
     * may raise a small limit. A launch that reaches the limit ends with a complaint, at the same
     * position every time. The device chooses the unit of work. */
    void (*limit_work)(device *d, uint64_t most_work);
    /* Returns the interval that holds 90 % of times, in ns, for the last prediction. */
    void (*interval)(const device *d, int64_t *low_ns, int64_t *high_ns);
    /* Returns the work of the last launch. */
    uint64_t (*work)(const device *d);
    /* Returns the facts of the last complaint. */
    const device_fault *(*fault)(const device *d);
    /* Returns whether the last complaint may depend on the number of host threads. A launch with
     * `alone` (arrange()) uses one host thread, so its complaint does not. */
    bool (*varies)(const device *d);
    /* Returns whether the kernel's results may depend on the order of its threads. With `exactly`,
     * rounding differences count. */
    bool (*depends_on_order)(const device_kernel *k, bool exactly);
    /* Writes "; " and a probable reason why results depend on the order of threads, as seen in the
     * kernel's launches so far. Writes "" if no reason is known. */
    void (*suspect)(const device_kernel *k, char *text, size_t bytes);
    /* Returns the text that kernels printed since the last call, in the first launch or the last
     * launch with a fault. The caller frees it. Returns NULL if there is no text. */
    char *(*take_printed)(device *d);
    /* Sets `never`, `once`, `stores`, `stored` and `together` of `*coverage` from all launches.
     * `kernels` has the variant's kernel for each problem; a line counts as executed if it was
     * executed for one problem. If coverage->once already names loops, loops that had a second
     * iteration are removed from it, and nothing is added. */
    at_status (*covered)(const device *d, const device_kernel *const *kernels, size_t count,
                         device_coverage *coverage, at_error *error);
    /* Sets a function that long launches call with the number of blocks that have run. */
    void (*watch)(device *d, void (*progress)(void *context, uint64_t done, uint64_t total),
                  void *context);
} device_analysis;

/* Excerpts of too large problems. Only some blocks run, and only accessed data are allocated. */
typedef struct device_excerpts {
    at_status (*make)(device *d, const device_excerpt_plan *plan, device_excerpt **out,
                      at_error *error);
    void (*free)(device *d, device_excerpt *x); /* `x` may be NULL. */
    /* Returns the buffers for device_api.sample(), with a NULL after the last. Their contents are
     * made when a kernel first accesses them. */
    device_buffer *const *(*buffers)(const device_excerpt *x);
    /* Restores the initial contents of the buffers that a variant may have written. */
    void (*reset)(device_excerpt *x);
    /* Runs all blocks of a variant if the cost is low enough (device_whole). Otherwise runs corners
     * of the grid, middles of its edges, and random neighbours. Adds to `*coverage` what it ran of
     * the tuned problem. AT_COMPILE if the launch is refused. */
    at_status (*check)(device *d, device_excerpt *x, device_kernel *k, const launch_plan *plan,
                       device_excerpt_result *out, device_coverage *coverage, at_error *error);
} device_excerpts;

/* A kind of device. A device_kernel argument may be NULL if the plan launches no kernel. */
typedef struct device_api {
    const char *kind; /* the part of a device name before the colon */
    bool transfers;   /* the device supports plans that transfer data between device and host */

    /* Each capability has all of its functions, or is NULL if the device lacks it. */
    const device_hardware *hardware;
    const device_batches *batches;
    const device_energy *energy;
    const device_counters *counters;
    const device_analysis *analysis;
    const device_excerpts *excerpts;

    /* Describes up to `capacity` devices and sets `*count`. AT_NO_DEVICE without a device. */
    at_status (*list)(device_properties *out, size_t capacity, size_t *count, at_error *error);
    /* Finds and describes the device. For hardware, start() must be called next. */
    at_status (*open)(const char *spec, device **out, at_error *error);
    void (*close)(device *d);
    const device_properties *(*properties)(const device *d);

    at_status (*buffer_new)(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                            at_error *error);
    void (*buffer_free)(device *d, device_buffer *b);
    /* Fills the buffer by `plan` and `seed`, and sets both guard bands. */
    at_status (*fill)(device *d, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                      at_error *error);
    /* Writes the contents of a file, which are the bytes of all elements of the plan. */
    at_status (*write)(device *d, device_buffer *b, const buffer_plan *plan, const void *contents,
                       at_error *error);
    /* Copies the first `size_bytes` of the buffer to `to`. */
    at_status (*read)(device *d, const device_buffer *b, void *to, uint64_t size_bytes,
                      at_error *error);
    /* Overwrites the contents with pattern 0 to 3 and sets both guard bands. */
    at_status (*poison)(device *d, device_buffer *b, int pattern, at_error *error);
    at_status (*copy)(device *d, device_buffer *to, const device_buffer *from, at_error *error);
    /* Computes a checksum of the first `size_bytes` of the buffer. */
    at_status (*checksum)(device *d, const device_buffer *b, uint64_t size_bytes, uint64_t *sum,
                          at_error *error);
    at_status (*guards)(device *d, const device_buffer *b, device_guard_report *out,
                        at_error *error);
    /* Compares the plan's elements by its tolerance. The caller allows for `mismatches`. */
    at_status (*compare)(device *d, const device_buffer *found, const device_buffer *expected,
                         const buffer_plan *plan, device_comparison *out, at_error *error);

    /* Loads the kernels of `plan` from one image. AT_COMPILE if the image or a launch cannot work
     * on this device. */
    at_status (*kernel_new)(device *d, const device_image *image, const launch_plan *plan,
                            device_kernel **out, at_error *error);
    void (*kernel_free)(device *d, device_kernel *k);

    /* Fills constants from buffers, runs the plan once, and waits. `buffers` has the problem's
     * buffers, with a NULL after the last if fewer than PLAN_MAX_BUFFERS. Every launch may access
     * all of them. AT_COMPILE if a launch is refused and the device is still usable; AT_DEVICE
     * after a fault. */
    at_status (*launch)(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, at_error *error);
    /* Returns a fault of the last launch, which returned AT_OK, and sets `*result` to the outcome.
     * The message is valid until the next launch. Returns NULL without a fault. */
    const char *(*complaint)(const device *d, outcome *result);

    /* Runs the plan once and times all its launches together. DEVICE_CACHE_COLD flushes the L2
     * first. The kernels of `before` then run untimed; their number is 0 on devices that predict
     * times. */
    at_status (*sample)(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, device_cache cache,
                        const device_before *before, size_t before_count, int64_t *time_ns,
                        at_error *error);
    /* Times a copy of `size_bytes` on the device like sample(). If `to` is NULL, `from` is only
     * read; if `from` is NULL, `to` is only written (not on a simulated device). */
    at_status (*sample_copy)(device *d, device_buffer *to, const device_buffer *from,
                             uint64_t size_bytes, device_cache cache, int64_t *time_ns,
                             at_error *error);
    /* Measures the time of an empty kernel and the resolution of the clock, in ns. */
    at_status (*floor)(device *d, int64_t *floor_ns, int64_t *tick_ns, at_error *error);
} device_api;

/* Returns the implementation for a spec ("cuda:0" ...), or NULL. */
const device_api *device_api_find(const char *spec);

/* Returns all kinds. The default device is the first found in this order. */
const device_api *const *device_apis(size_t *count);

/* Compares plan->count elements as multisets of records (device/tolerance.c). out->wrong is the
 * number of records of `found` without a match. out->first is the index of the first element of
 * such a record; out->expected is that element in an unmatched expected record. AT_NO_MEMORY. */
at_status multiset_compare(const buffer_plan *plan, const void *found, const void *expected,
                           device_comparison *out, at_error *error);

#endif
