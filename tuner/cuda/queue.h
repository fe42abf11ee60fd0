/* The parts that the files of the cuda device share: its state, kernels, the stream that work is
 * queued on.
 *
 * Above it cuda/buffer.c owns memory and checks it, cuda/timer.c the clock and graphs of
 * launches, cuda/counters.c hardware counters; cuda/transfer.c moves data between host and device;
 * cuda/cuda.c opens the device and has its table of functions. No other room includes this. */
#ifndef AUTOTUNE_CUDA_QUEUE_H
#define AUTOTUNE_CUDA_QUEUE_H

#include "cuda/driver.h"
#include "cuda/host_memory.h"
#include "cuda/launcher.h"
#include "cuda/nvml.h"
#include "device/device.h"

/* Kernels of templates/device_support.cu. */
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

/* Words of the block in which support kernels leave their results; all start at zero, so a minimum
 * is kept as the maximum of the complement. The support source has the same list. */
typedef enum cuda_result {
    RESULT_WRONG,
    RESULT_FIRST_INVERTED,
    RESULT_MAGNITUDE,
    RESULT_SUM,
    RESULT_BEFORE_INVERTED,
    RESULT_AFTER_INVERTED,
    RESULT_COUNT
} cuda_result;

enum { CUDA_BLOCK_THREADS = 256 };

/* The clock's own memory: events, the gate that holds the stream back, the flush buffers. */
typedef struct cuda_clock {
    CUevent start, stop;
    volatile uint32_t *gate_host; /* pinned; the gate kernel polls it as `gate` */
    CUdeviceptr gate;
    uint32_t ticket; /* of the gate queued last */
    CUdeviceptr flush_write, flush_read;
    uint64_t flush_bytes;    /* of each */
    CUdeviceptr sm_counters; /* cycles and nanoseconds of each SM */
    uint64_t *sm_now;        /* pinned; sm_counters read back */
    uint64_t *sm_before;     /* the reading before that */
} cuda_clock;

struct device {
    cuda_driver cuda;
    device_properties properties;
    CUdevice handle;
    CUcontext context; /* NULL: not started */
    CUstream stream;
    CUmodule support[DEVICE_SUPPORT_PARTS]; /* NULL: there is no such part */
    cuda_module *modules;                   /* of kernels */
    cuda_textures textures;
    CUfunction support_kernels[SUPPORT_COUNT];
    CUdeviceptr results;
    uint64_t *results_host; /* pinned: RESULT_COUNT words, then two elements of a buffer */
    cuda_clock clock;
    bool scrubs;            /* the kernel that fills shared memory may take all of it */
    nvml *board;            /* NULL: not opened yet, or not available */
    struct cupti *counters; /* likewise */
    host_blocks host_blocks;
    CUstream transfer_streams[TRANSFER_MAX_STREAMS]; /* NULL: not needed yet */
    uint64_t transfers;                              /* checked so far */
    char complaint[160];                             /* of the last launch; empty: none */
    int64_t launch_ns;                               /* likewise; 0: not known */
};

struct device_buffer {
    char name[PLAN_NAME_BYTES];
    CUdeviceptr base; /* the allocation: guard band, contents, guard band */
    CUdeviceptr data; /* the contents; a multiple of 256 */
    uint64_t size_bytes;
    dtype guard_type; /* of the values in the guard bands, which are the buffer's own */
    int guard_pattern;
    uint64_t guard_salt;
};

struct device_kernel {
    cuda_module *module;
    cuda_launcher launcher;
};

/* Function of device_api: fills the shared memory of every SM. */
at_status cuda_scrub(device *d, int pattern, at_error *error);

const char *cuda_support_name(support_kernel kernel); /* "at_fill" ... */

/* Functions of device_api (device/device.h). */
at_status cuda_kernel_new(device *d, const device_image *image, const launch_plan *plan,
                          device_kernel **out, at_error *error);
void cuda_kernel_free(device *d, device_kernel *k);

/* Queues a support kernel on enough threads for `items` (a grid of full SMs at most). */
at_status cuda_support_queue(device *d, support_kernel kernel, uint64_t items, void **arguments,
                             at_error *error);

/* Queues a variant's launches. AT_COMPILE: refused, the device is fine; AT_DEVICE: it is not. */
at_status cuda_kernel_queue(device *d, device_kernel *k, const launch_plan *plan,
                            device_buffer *const *buffers, at_error *error);

/* Queues the next `most` launches of a walk over the plan. */
at_status cuda_kernel_queue_some(device *d, device_kernel *k, const launch_plan *plan,
                                 device_buffer *const *buffers, launch_walk *walk, uint32_t most,
                                 at_error *error);

/* Queues one of them. */
at_status cuda_kernel_queue_one(device *d, device_kernel *k, const launch_plan *plan,
                                uint32_t place, device_buffer *const *buffers, at_error *error);

/* Fills the module's constants, creates the textures and surfaces, fills their arrays, and raises
 * the limits of dynamic shared memory and clusters to what `plan` needs. AT_COMPILE when that is
 * not possible. */
at_status cuda_kernel_prepare(device *d, device_kernel *k, const launch_plan *plan,
                              device_buffer *const *buffers, at_error *error);

/* The same for the textures and surfaces of other buffers, before their launches are captured. */
at_status cuda_kernel_prepare_buffers(device *d, device_kernel *k, const launch_plan *plan,
                                      device_buffer *const *buffers, at_error *error);

/* Queues the copies back into the buffers of what the plan's surfaces may have written. */
at_status cuda_kernel_take_back(device *d, device_kernel *k, const launch_plan *plan,
                                device_buffer *const *buffers, at_error *error);

/* AT_OK for CUDA_SUCCESS; otherwise AT_DEVICE, as cuda_check(). */
at_status cuda_done(device *d, CUresult result, const char *what, at_error *error);

/* Waits for everything queued. AT_DEVICE when any of it faulted. */
at_status cuda_wait(device *d, const char *what, at_error *error);

/* Allocates device memory. AT_DEVICE, with the size and what is free in the message, when there is
 * not enough. */
at_status cuda_allocate(device *d, uint64_t size_bytes, const char *what, CUdeviceptr *out,
                        at_error *error);

/* In cuda/counters.c. */
at_status cuda_count(device *d, device_kernel *k, const launch_plan *plan,
                     device_buffer *const *buffers, const device_counting *what, double *values,
                     at_error *error);

void cuda_counters_free(device *d);

/* In cuda/transfer.c. Like device_api's launch, sample and repeat, for plans that transfer. The
 * kernel is NULL when the plan launches none. AT_NO_MEMORY: the host has not enough memory, the
 * device is fine. */
at_status cuda_transfer_launch(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, at_error *error);
at_status cuda_transfer_sample(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, device_cache cache, int64_t *time_ns,
                               at_error *error);
at_status cuda_transfer_repeat(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, uint64_t count, at_error *error);

/* Frees the host's memory and the streams. */
void cuda_transfers_free(device *d);

/* In cuda/buffer.c. The block in which support kernels leave results. AT_DEVICE. */
at_status cuda_results_new(device *d, at_error *error);
void cuda_results_free(device *d);

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

#endif
