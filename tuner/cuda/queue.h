/* The state of the cuda device, and the functions that its files share; for this room only.
 *
 * queue.c loads modules and queues kernels; buffer.c allocates, fills and checks memory; timer.c
 * times launches and batches; counters.c reads hardware counters; transfer.c and host_memory.c move
 * data; cuda.c opens the device. The tables device_api and device_hardware are in
 * device/device.h. */
#ifndef AUTOTUNE_CUDA_QUEUE_H
#define AUTOTUNE_CUDA_QUEUE_H

#include "cuda/driver.h"
#include "cuda/launcher.h"
#include "device/device.h"

typedef enum support_kernel {
    SUPPORT_FILL,
    SUPPORT_GUARDS_SET,
    SUPPORT_GUARDS_CHECK,
    SUPPORT_COMPARE_EXACT,
    SUPPORT_MAGNITUDE,
    SUPPORT_COMPARE_CLOSE,
    SUPPORT_CHECKSUM,
    SUPPORT_FLUSH_WRITE,
    SUPPORT_FLUSH_READ,
    SUPPORT_GATE,
    SUPPORT_EMPTY,
    SUPPORT_CLOCK,
    SUPPORT_SCRUB,
    SUPPORT_COUNT
} support_kernel;

/* The words of the result block, as in templates/device_support.cu. All start at zero, so a minimum
 * is stored as the maximum of the complement. */
typedef enum cuda_result {
    RESULT_WRONG,
    RESULT_FIRST_INVERTED,
    RESULT_MAGNITUDE,
    RESULT_SUM,
    RESULT_BEFORE_INVERTED,
    RESULT_AFTER_INVERTED,
    RESULT_COUNT
} cuda_result;

enum { CUDA_BLOCK_THREADS = 256, HOST_BLOCKS = 32 };

typedef struct cuda_clock {
    CUevent start, stop;
    volatile uint32_t *gate_host; /* pinned; the gate kernel polls it as `gate` */
    CUdeviceptr gate;
    uint32_t ticket; /* number of the gate that was queued last */
    CUdeviceptr flush_write, flush_read;
    uint64_t flush_bytes;    /* size of each flush buffer */
    CUdeviceptr sm_counters; /* cycles and nanoseconds of each SM */
    uint64_t *sm_now;        /* pinned; the last reading of sm_counters */
    uint64_t *sm_before;     /* the reading before `sm_now` */
} cuda_clock;

/* The purpose of a block of host memory. A transfer needs at most one block for each. */
typedef enum host_use { HOST_FROM, HOST_TO, HOST_STAGE_UP, HOST_STAGE_DOWN } host_use;

typedef struct host_block {
    host_use use;
    host_memory memory;
    uint64_t size_bytes;
    unsigned char *bytes;
    CUdeviceptr mapped; /* address for kernels; 0 unless `memory` is HOST_MAPPED */
    uint64_t last_used; /* number of the last transfer that used the block */
} host_block;

typedef struct host_blocks {
    host_block items[HOST_BLOCKS];
    size_t count;
    uint64_t transfer; /* number of the current transfer */
} host_blocks;

struct device {
    cuda_driver cuda;
    device_properties properties;
    CUdevice handle;
    CUcontext context; /* NULL before start */
    CUstream stream;
    CUmodule support[DEVICE_SUPPORT_PARTS]; /* NULL for a part that does not exist */
    struct cuda_module *modules;            /* loaded modules of variants */
    cuda_textures textures;
    CUfunction support_kernels[SUPPORT_COUNT];
    CUdeviceptr results;
    uint64_t *results_host; /* pinned: RESULT_COUNT words, then two elements of a buffer */
    cuda_clock clock;
    bool scrubs;            /* the scrub kernel's limit of shared memory was raised */
    struct nvml *board;     /* NULL before nvml_open(), or if NVML is not available */
    struct cupti *counters; /* NULL before cupti_open(), or if CUPTI is not available */
    host_blocks host_blocks;
    CUstream transfer_streams[TRANSFER_MAX_STREAMS]; /* each NULL until it is needed */
    uint64_t transfers;                              /* number of checked transfers so far */
    char complaint[160];                             /* fault found in the last launch, or empty */
    int64_t launch_ns;                               /* time of the last launch; 0 if unknown */
};

struct device_buffer {
    char name[PLAN_NAME_BYTES];
    CUdeviceptr base; /* the allocation: guard band, contents, guard band */
    CUdeviceptr data; /* the contents, aligned to 256 bytes */
    uint64_t size_bytes;
    dtype guard_type; /* type of the values in the guard bands: the buffer's own */
    int guard_pattern;
    uint64_t guard_salt;
};

struct device_kernel {
    struct cuda_module *module;
    cuda_launcher launcher;
};

/* ---- the stream and its kernels (queue.c) ---- */

/* Converts CUDA_SUCCESS to AT_OK and any other result to AT_DEVICE, as cuda_check() does. */
at_status cuda_done(device *d, CUresult result, const char *what, at_error *error);

/* Waits for all queued work. Returns AT_DEVICE if a part of it failed. */
at_status cuda_wait(device *d, const char *what, at_error *error);

/* Allocates device memory. AT_DEVICE; the message has the requested and the free size. */
at_status cuda_allocate(device *d, uint64_t size_bytes, const char *what, CUdeviceptr *out,
                        at_error *error);

/* Allocates zeroed pinned host memory with flags of cuMemHostAlloc. AT_DEVICE. */
at_status cuda_allocate_pinned(device *d, size_t size_bytes, unsigned flags, void **out,
                               at_error *error);

/* Loads an image at any address in host memory. Returns the driver's result. */
CUresult cuda_module_load(const cuda_driver *cuda, const device_image *image, CUmodule *out);

/* Unloads the modules of freed kernels, except the `kept` most recently used. */
void cuda_modules_drop(device *d, size_t kept);

/* Returns the name of a support kernel: "at_fill" ... */
const char *cuda_support_name(support_kernel kernel);

/* Queues a support kernel with a thread per item, but at most a grid of full SMs. */
at_status cuda_support_queue(device *d, support_kernel kernel, uint64_t items, void **arguments,
                             at_error *error);

/* Implements device_hardware.scrub. */
at_status cuda_scrub(device *d, int pattern, at_error *error);

/* Implement device_api.kernel_new and device_api.kernel_free. */
at_status cuda_kernel_new(device *d, const device_image *image, const launch_plan *plan,
                          device_kernel **out, at_error *error);
void cuda_kernel_free(device *d, device_kernel *k);

/* Prepares the module for `plan`. Resets its variables, and fills its constants. Creates textures
 * and surfaces, and fills their arrays. Raises the limits of dynamic shared memory and clusters.
 * AT_COMPILE if that is refused. */
at_status cuda_kernel_prepare(device *d, device_kernel *k, const launch_plan *plan,
                              device_buffer *const *buffers, at_error *error);

/* Prepares only textures and surfaces for further sets of buffers, before launches are captured. */
at_status cuda_kernel_prepare_buffers(device *d, device_kernel *k, const launch_plan *plan,
                                      device_buffer *const *buffers, at_error *error);

/* Queues all launches of the plan. Returns AT_COMPILE if a launch is refused and the device is
 * still usable, AT_DEVICE after other failures. */
at_status cuda_kernel_queue(device *d, device_kernel *k, const launch_plan *plan,
                            device_buffer *const *buffers, at_error *error);

/* Queues the next `most` launches of a walk over the plan. */
at_status cuda_kernel_queue_some(device *d, device_kernel *k, const launch_plan *plan,
                                 device_buffer *const *buffers, launch_walk *walk, uint32_t most,
                                 at_error *error);

/* Queues launch `index` of the plan. */
at_status cuda_kernel_queue_one(device *d, device_kernel *k, const launch_plan *plan,
                                uint32_t index, device_buffer *const *buffers, at_error *error);

/* Queues the copies of surfaces and constants, which kernels may have written, to their buffers. */
at_status cuda_kernel_take_back(device *d, device_kernel *k, const launch_plan *plan,
                                device_buffer *const *buffers, at_error *error);

/* Writes address and size of each buffer that the plan names; leaves the other ranges alone. */
void cuda_ranges(const launch_plan *plan, device_buffer *const *buffers,
                 cuda_range out[PLAN_MAX_BUFFERS]);

/* ---- buffers (buffer.c) ---- */

/* Allocates and frees the result block. AT_DEVICE. */
at_status cuda_results_new(device *d, at_error *error);
void cuda_results_free(device *d);

/* Implement members of device_api, and device_hardware.guard. */
at_status cuda_buffer_new(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                          at_error *error);
void cuda_buffer_free(device *d, device_buffer *b);
at_status cuda_buffer_fill(device *d, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                           at_error *error);
at_status cuda_buffer_read(device *d, const device_buffer *b, void *to, uint64_t size_bytes,
                           at_error *error);
at_status cuda_buffer_write(device *d, device_buffer *b, const buffer_plan *plan,
                            const void *contents, at_error *error);
at_status cuda_buffer_guard(device *d, device_buffer *b, const buffer_plan *plan, int pattern,
                            at_error *error);
at_status cuda_buffer_poison(device *d, device_buffer *b, int pattern, at_error *error);
at_status cuda_buffer_copy(device *d, device_buffer *to, const device_buffer *from,
                           at_error *error);
at_status cuda_buffer_checksum(device *d, const device_buffer *b, uint64_t size_bytes,
                               uint64_t *sum, at_error *error);
at_status cuda_buffer_guards(device *d, const device_buffer *b, device_guard_report *out,
                             at_error *error);
at_status cuda_buffer_compare(device *d, const device_buffer *found, const device_buffer *expected,
                              const buffer_plan *plan, device_comparison *out, at_error *error);

/* ---- times (timer.c) ---- */

/* Allocates and frees events, gate, flush buffers (each twice the L2) and counters. AT_DEVICE. */
at_status cuda_clock_new(device *d, at_error *error);
void cuda_clock_free(device *d);

/* Queues the kernels that flush the L2. */
at_status cuda_flush_queue(device *d, at_error *error);

/* Runs the plan once and waits. Uses no gate, because loading code might wait for the gate. */
at_status cuda_launch(device *d, device_kernel *k, const launch_plan *plan,
                      device_buffer *const *buffers, int64_t *time_ns, at_error *error);

/* Implement members of device_api and device_hardware. Sampling allocates nothing. */
at_status cuda_sample(device *d, device_kernel *k, const launch_plan *plan,
                      device_buffer *const *buffers, device_cache cache,
                      const device_before *before, size_t before_count, int64_t *time_ns,
                      at_error *error);
at_status cuda_sample_copy(device *d, device_buffer *to, const device_buffer *from,
                           uint64_t size_bytes, device_cache cache, int64_t *time_ns,
                           at_error *error);
at_status cuda_warm_up(device *d, at_error *error);
at_status cuda_floor(device *d, int64_t *floor_ns, int64_t *tick_ns, at_error *error);
at_status cuda_sm_clock(device *d, double *khz, at_error *error);

/* Batches: many launches in one graph, for kernels too short for two events. */
extern const device_batches cuda_batches;

extern const device_counters cuda_counters;

/* Frees the functions of CUPTI; the library stays loaded. */
void cuda_counters_free(device *d);

/* ---- transfers (transfer.c) ---- */

/* Implement launch, sample and repeat for plans that transfer. `k` is NULL if the plan launches no
 * kernel. AT_NO_MEMORY if the host has too little memory; the device stays usable. */
at_status cuda_transfer_launch(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, at_error *error);
at_status cuda_transfer_sample(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, device_cache cache, int64_t *time_ns,
                               at_error *error);
at_status cuda_transfer_repeat(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, uint64_t count, at_error *error);

/* Frees the host blocks and the streams. */
void cuda_transfers_free(device *d);

/* ---- host memory (host_memory.c) ----
 * Blocks stay allocated for all variants that need a block of the same kind, because pinning takes
 * longer than most transfers. All blocks together take at most half of the host's memory; the least
 * recently used block is freed first. With several NUMA nodes, the memory is on the node whose core
 * touched it first. */

/* Begins a transfer: blocks of earlier transfers may be freed from now on. */
void host_blocks_begin(host_blocks *pool);

/* Finds or allocates a block, which the pool owns and keeps until the next transfer begins. A
 * staging block may be larger than requested, so that variants with different chunks share it.
 * AT_NO_MEMORY, with the requested size, if the host has too little memory; AT_DEVICE. */
at_status host_block_get(host_blocks *pool, const cuda_driver *cuda, host_use use,
                         host_memory memory, uint64_t size_bytes, host_block *out, at_error *error);

/* Frees all blocks. No transfer may be running. */
void host_blocks_free(host_blocks *pool, const cuda_driver *cuda);

#endif
