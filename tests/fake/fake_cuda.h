/* A CUDA driver without a GPU: device memory is host memory, kernels are C functions found by name,
 * time is what kernels say they take. It checks what its caller does as strictly as it can and
 * fails the way a driver fails.
 *
 * Environment: FAKE_CUDA_INIT (error code that cuInit returns), FAKE_CUDA_DEVICES (how many, 1), of
 * which CUDA_VISIBLE_DEVICES ("1,0") names those that are shown, FAKE_CUDA_NAMES ("Fake A,Fake
 * A,Fake B": of the devices), FAKE_CUDA_SPEEDS ("100,300": what each takes of a kernel's time, in
 * percent), FAKE_CUDA_SERIAL (which of several hosts this is, 0), FAKE_CUDA_MEMORY (bytes there
 * are), FAKE_CUDA_MODULES (how many may be loaded at once), FAKE_CUDA_OPEN_MS ("0,500": how long
 * each takes to be found), FAKE_CUDA_GONE (once this file exists there is no device any more, or,
 * if it holds a number, none of that ordinal), FAKE_CUDA_EAGER (1: modules must be loaded eagerly),
 * FAKE_CUDA_ALLOCATION_MS and FAKE_CUDA_TIME_US (an allocation and a timed sample take so long),
 * FAKE_CUDA_TIMES (a file that grows by a byte for each timed sample), FAKE_CUDA_INITS (a file that
 * gets a line from each cuInit: the GPUs that it is shown), FAKE_CUDA_ATTRIBUTES (a file that gets
 * a line for each launch with attributes: "KERNEL CLUSTER policy cooperative"), FAKE_CUDA_PINNED
 * (bytes of the host's memory that may be pinned at once), FAKE_CUDA_ANY (kernels of unknown names
 * exist and do nothing). What copies between host and device
 * take: fake_stream.h. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every image starts with one of these; what follows does not matter. A cubin stands for the
 * kernels of the same names here. */
#define FAKE_IMAGE "FAKE"
#define CUBIN_IMAGE "\177ELF"

typedef struct fake_launch {
    void **arguments;        /* as cuLaunchKernel gets them */
    uint64_t threads;        /* of the whole grid */
    unsigned char *variable; /* fake_constant of its module; set where it runs */
} fake_launch;

/* What a launch does to the context. */
typedef enum fake_end { FAKE_OK, FAKE_HANGS, FAKE_ILLEGAL_ADDRESS, FAKE_MISALIGNED } fake_end;

typedef struct fake_kernel {
    const char *name;
    fake_end (*run)(const fake_launch *launch);
    unsigned shared_bytes; /* dynamic shared memory that it must be launched with */
    unsigned arguments;    /* how many, of 8 bytes each; a kernel with others cannot be captured */
    uint64_t (*takes_ns)(const fake_launch *launch); /* besides what its name says; NULL: nothing */
    const unsigned char *sizes;                      /* of the arguments; NULL: 8 bytes each */
} fake_kernel;

/* The kernel of that name, with or without "_<microseconds>" at its end. NULL: there is none. */
const fake_kernel *fake_kernel_find(const char *name);

/* A kernel is given it of a buffer instead of the address: a tensor map, a texture or a surface.
 */
typedef struct fake_view {
    unsigned char *address; /* NULL: destroyed */
    bool is_texture, is_surface, clamps;
    uint32_t element_bytes; /* of a texel */
    uint64_t size[5], stride_bytes[5];
} fake_view;

/* By the first word of a tensor map, or by a handle; NULL: there is none. */
const fake_view *fake_view_find(uint64_t handle);

/* Are launches recorded at present? */
bool fake_is_capturing(void);

/* All memory allocated at present, for a kernel that writes where it should not. */
size_t fake_allocations(const unsigned char ***starts, const size_t **sizes);

/* The flag and the ticket of a gate queued: waiting before the flag gets there is a mistake. */
void fake_gate(const volatile uint32_t *flag, uint32_t ticket);

/* The time of the fake host, which is the fake chip's: what a tuner asks for in place of its
 * own. */
int64_t autotune_host_clock_ns(void);

/* Cycles and nanoseconds of the fake chip: 1.5 GHz. */
uint64_t fake_time_ns(void);

/* The kernel that is running takes this much longer. */
void fake_spend(uint64_t time_ns);

#endif
