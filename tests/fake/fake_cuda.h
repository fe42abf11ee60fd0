/* A CUDA driver without a GPU: device memory is host memory, and kernels are C functions that are
 * found by name and state the time that they take. The fake driver checks its callers strictly, and
 * fails in the way that a driver fails.
 *
 * Environment: FAKE_CUDA_INIT (error code that cuInit returns), FAKE_CUDA_DEVICES (number of
 * devices, 1), of which CUDA_VISIBLE_DEVICES ("1,0") selects the visible ones, FAKE_CUDA_NAMES
 * ("Fake A,Fake A,Fake B": names of the devices), FAKE_CUDA_SPEEDS ("100,300": each device's time
 * in percent of a kernel's time), FAKE_CUDA_SERIAL (number of the host among several, 0),
 * FAKE_CUDA_MEMORY (bytes of device memory), FAKE_CUDA_MODULES (limit of loaded modules),
 * FAKE_CUDA_OPEN_MS ("0,500": time to open each device), FAKE_CUDA_GONE (a file: once it exists,
 * all devices are gone, or only the device of the ordinal in it), FAKE_CUDA_EAGER (1: modules must
 * be loaded eagerly), FAKE_CUDA_ALLOCATION_MS and FAKE_CUDA_TIME_US (times of an allocation and of
 * a timed sample), FAKE_CUDA_TIMES (a file that grows by a byte for each timed sample),
 * FAKE_CUDA_INITS (a file that gets a line from each cuInit: the visible GPUs),
 * FAKE_CUDA_ATTRIBUTES (a file that gets a line for each launch with attributes: "KERNEL CLUSTER
 * policy cooperative"), FAKE_CUDA_PINNED (limit of pinned host memory in bytes), FAKE_CUDA_ANY
 * (kernels of unknown names exist and do nothing). fake_stream.h has the times of copies between
 * host and device. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts with which images must start. The rest is ignored, because each image has all kernels. */
#define FAKE_IMAGE "FAKE"
#define CUBIN_IMAGE "\177ELF"

typedef struct fake_launch {
    void **arguments;        /* as passed to cuLaunchKernel */
    uint64_t threads;        /* threads of the whole grid */
    unsigned char *variable; /* fake_constant of the module, set when the kernel runs */
} fake_launch;

/* The effect of a launch on the context. */
typedef enum fake_end { FAKE_OK, FAKE_HANGS, FAKE_ILLEGAL_ADDRESS, FAKE_MISALIGNED } fake_end;

typedef struct fake_kernel {
    const char *name;
    fake_end (*run)(const fake_launch *launch);
    unsigned shared_bytes; /* dynamic shared memory that each launch must have */
    unsigned arguments;    /* number of arguments */
    uint64_t (*takes_ns)(const fake_launch *launch); /* added to the name's time; may be NULL */
    const unsigned char *sizes; /* bytes of each argument; NULL stands for 8 bytes each */
} fake_kernel;

/* Finds a kernel by its name, which may end in "_<microseconds>". Returns NULL if it is unknown. */
const fake_kernel *fake_kernel_find(const char *name);

/* A tensor map, texture or surface, which a kernel gets in place of a buffer's address. */
typedef struct fake_view {
    unsigned char *address; /* NULL after the destruction of the view */
    bool is_texture, is_surface, clamps;
    uint32_t element_bytes; /* size of a texel */
    uint64_t size[5], stride_bytes[5];
} fake_view;

/* Finds a view by the first word of a tensor map, or by a handle. Returns NULL without a view. */
const fake_view *fake_view_find(uint64_t handle);

/* Returns whether a stream is being captured. */
bool fake_is_capturing(void);

/* Returns all existing allocations, for kernels that write out of bounds. */
size_t fake_allocations(const unsigned char ***starts, const size_t **sizes);

/* Stores the flag and the ticket of a queued gate. Synchronising while the gate is closed fails. */
void fake_gate(const volatile uint32_t *flag, uint32_t ticket);

/* Returns the time of the fake host and chip. The tuner's function of this name is replaced. */
int64_t autotune_host_clock_ns(void);

/* Returns the time of the fake chip, whose clock rate is 1.5 GHz. */
uint64_t fake_time_ns(void);

/* Adds `time_ns` to the duration of the running kernel. */
void fake_spend(uint64_t time_ns);

#endif
