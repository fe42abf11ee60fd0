/* The fixture of the GPU tests: the kernels of kernels.cu, compiled for this GPU; a device worker
 * that launches these kernels; a test runner, which exits with 77 without a GPU. */
#ifndef AUTOTUNE_GPU_FIXTURE_H
#define AUTOTUNE_GPU_FIXTURE_H

#include "bench/client.h"
#include "check.h"

enum { GPU_SKIPPED = 77 };

/* The GPU and the images compiled for it. All tests of a program share this struct. */
typedef struct gpu {
    device_properties properties;
    void *support, *kernels;
    size_t support_bytes, kernels_bytes;
} gpu;

/* Returns a path in the repository, in static storage. $AUTOTUNE_GPU_SOURCES is the repository's
 * folder. run.sh sets this variable, because the build folder may have been moved. */
const char *gpu_source(const char *below);

/* Finds the GPU. Returns AT_NO_DEVICE or AT_NO_TOOLCHAIN if the tests cannot run. */
at_status gpu_find(gpu *out, at_error *error);
void gpu_deinit(gpu *g);

/* A device worker on the GPU. Tests set it up and take its events. */
typedef struct gpu_bench {
    const gpu *gpu;
    device_worker *worker;
    device_problem problems[DEVICE_SLOTS];
    size_t problem_count;
    at_error error;
    device_event event; /* the event that was taken last */
    device_event ready; /* the event that ended the set-up */
} gpu_bench;

/* A problem with two buffers, src and dst, of `count` elements. If `dst_count` is not 0, dst has
 * `dst_count` elements. The ragged problem has `ragged` elements; 0 stands for no ragged problem.
 * The argument n of the kernel `reference` is `items`: a number of bytes, vectors or elements. */
typedef struct gpu_problem {
    dtype type;
    uint64_t count, dst_count, ragged;
    uint64_t items, ragged_items;
    const char *reference;
    buffer_role role; /* role of dst; 0 is BUFFER_OUTPUT */
    double tolerance;
} gpu_problem;

void gpu_begin(gpu_bench *b, const gpu *g, const gpu_problem *problem, device_cache cache);
void gpu_end(gpu_bench *b);

/* Returns a variant of a kernel of kernels.cu, for the tuned and the ragged problem. A `grid` of 0
 * stands for 16 blocks of 256 threads on each SM. */
device_variant gpu_variant(const gpu_bench *b, const char *entry, uint32_t grid);

/* Tries the variant and returns the resulting event. */
const device_event *gpu_try(gpu_bench *b, const device_variant *v, size_t samples);
const device_event *gpu_try_entry(gpu_bench *b, const char *entry, size_t samples);
void gpu_hold(gpu_bench *b, uint64_t id, const char *entry, uint32_t grid);
const device_event *gpu_block(gpu_bench *b, const uint64_t *ids, size_t count);

void gpu_expect(const device_event *e, outcome wanted, const char *words);

/* Returns the median of an event's samples. Does not reorder the samples. */
int64_t gpu_median(const device_event *e);

/* Finds the GPU and runs `tests` with the GPU as their state. Returns the result of main(). */
#define gpu_run(tests) gpu_run_tests((tests), sizeof(tests) / sizeof *(tests))
int gpu_run_tests(const struct CMUnitTest *tests, size_t count);

#endif
