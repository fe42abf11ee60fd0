/* What the simulator's tests share: CUDA source through the real NVRTC to a kernel, buffers at
 * known addresses, a launch. Functions fail the test when something that must work does not. */
#ifndef AUTOTUNE_SIM_FIXTURE_H
#define AUTOTUNE_SIM_FIXTURE_H

#include <stdbool.h>

#include "check.h"
#include "sim/kernel.h"
#include "sim/machine/run.h"

enum { SIM_TEST_BUFFERS = 8, SIM_TEST_ARGUMENTS = 16 };

typedef struct sim_test {
    char *ptx; /* NUL-terminated */
    sim_kernel kernel;
    sim_memory memory;
    uint8_t *valid[SIM_TEST_BUFFERS];
    int buffer_count;
    uint8_t parameters[512];
    uint32_t parameter_at;
    sim_counter *counters;
    sim_totals totals; /* of the last run */
    sim_fault fault;
    uint32_t cluster[3];                /* of a launch; 0: none */
    uint32_t schedule;                  /* sim_launch.schedule */
    sim_prints *prints;                 /* gets what is printed; NULL: nobody */
    uint64_t work_limit;                /* 0: none */
    uint64_t workspace;                 /* of the grid; 0: none */
    int threads;                        /* of the host; 0: two. One runs blocks in their order */
    const struct sim_texture *textures; /* borrowed */
    uint32_t texture_count;
} sim_test;

/* PTX that NVRTC makes of CUDA source; freed by the caller. */
char *sim_test_ptx(const char *source, const char *arch);

/* Compiles and decodes; `entry` NULL: the first kernel. */
void sim_test_init(sim_test *t, const char *source, const char *arch, const char *entry);
/* The same from PTX. */
void sim_test_init_ptx(sim_test *t, const char *ptx, const char *entry);
void sim_test_deinit(sim_test *t);

/* Adds a buffer of `size` borrowed bytes; returns its address. `written`: as if filled. */
uint64_t sim_test_buffer(sim_test *t, const char *name, void *bytes, uint64_t size, bool written);

/* Appends an argument: 4 or 8 bytes. */
void sim_test_u32(sim_test *t, uint32_t v);
void sim_test_u64(sim_test *t, uint64_t v);
void sim_test_f32(sim_test *t, float v);

/* Runs with grid and block of up to two dimensions; returns the kind of fault. */
sim_fault_kind sim_test_run(sim_test *t, uint32_t grid_x, uint32_t grid_y, uint32_t block_x,
                            uint32_t block_y, uint32_t dynamic_shared_bytes);

/* As above, and fails the test with the fault's message when there is one. */
void sim_test_run_well(sim_test *t, uint32_t grid_x, uint32_t grid_y, uint32_t block_x,
                       uint32_t block_y, uint32_t dynamic_shared_bytes);

#endif
