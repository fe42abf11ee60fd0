/* Shared by the GPU tests: the kernels of kernels.cu compiled for this GPU, a device worker with
 * these kernels, and a test runner with exit code 77 if there is no GPU. */
#ifndef AUTOTUNE_GPU_FIXTURE_H
#define AUTOTUNE_GPU_FIXTURE_H

#include "bench/client.h"
#include "check.h"

enum { GPU_SKIPPED = 77 };

/* The GPU, as listed, and the images compiled for it; made once for all tests of a program. */
typedef struct gpu {
    device_properties properties;
    void *support, *kernels;
    size_t support_bytes, kernels_bytes;
} gpu;

/* Returns a path below the repository: below $AUTOTUNE_GPU_SOURCES, which run.sh sets because a
 * build folder may have been moved, or else where the program was built. The text is static. */
const char *gpu_source(const char *below);

/* Finds the GPU. AT_NO_DEVICE and AT_NO_TOOLCHAIN say why no test can run. */
at_status gpu_find(gpu *out, at_error *error);
void gpu_deinit(gpu *g);

/* A worker on that GPU, for tests to set up and to take events from. */
typedef struct gpu_bench {
    const gpu *gpu;
    device_worker *worker;
    device_problem problems[DEVICE_SLOTS];
    size_t problem_count;
    at_error error;
    device_event event; /* the latest event */
    device_event ready; /* results of the set-up */
} gpu_bench;

/* Sets up two buffers, src and dst, of `count` elements (`dst_count` of dst, if not 0), and
 * `ragged` elements in slot 1 (0: no slot 1). The reference is `reference`, launched with `items`
 * (the kernel's unit: bytes, vectors, elements). */
typedef struct gpu_problem {
    dtype type;
    uint64_t count, dst_count, ragged;
    uint64_t items, ragged_items;
    const char *reference;
    buffer_role role; /* kind of dst; 0: BUFFER_OUTPUT */
    double tolerance;
} gpu_problem;

void gpu_begin(gpu_bench *b, const gpu *g, const gpu_problem *problem, device_cache cache);
void gpu_end(gpu_bench *b);

/* A kernel of kernels.cu on both slots; if `grid` is 0, 16 blocks of 256 threads on each SM. */
device_variant gpu_variant(const gpu_bench *b, const char *entry, uint32_t grid);

/* Tries the variant and returns its event. */
const device_event *gpu_try(gpu_bench *b, const device_variant *v, size_t samples);
const device_event *gpu_try_entry(gpu_bench *b, const char *entry, size_t samples);
void gpu_hold(gpu_bench *b, uint64_t id, const char *entry, uint32_t grid);
const device_event *gpu_block(gpu_bench *b, const uint64_t *ids, size_t count);

void gpu_expect(const device_event *e, outcome wanted, const char *words);

/* Returns the median of an event's samples, without reordering them. */
int64_t gpu_median(const device_event *e);

/* Finds the GPU, runs `tests` with it as their state, and returns main()'s result. */
#define gpu_run(tests) gpu_run_tests((tests), sizeof(tests) / sizeof *(tests))
int gpu_run_tests(const struct CMUnitTest *tests, size_t count);

#endif
