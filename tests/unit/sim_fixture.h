/* Helpers for tests of the simulator. They compile CUDA source with the real NVRTC, place buffers
 * at known addresses, and launch kernels. If a step fails that must succeed, the test fails. */
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
    sim_totals totals; /* totals of the last run */
    sim_fault fault;
    uint32_t cluster[3]; /* blocks of a cluster; 0 for no clusters */
    uint32_t schedule;   /* sim_launch.schedule */
    sim_prints *prints;  /* gets the text that the kernel prints; may be NULL */
    uint64_t work_limit; /* 0 for no limit */
    uint64_t workspace;  /* bytes of the grid's workspace; 0 for no workspace */
    int threads;         /* number of host threads; 0 stands for 2. With 1, blocks run in order */
    const struct sim_texture *textures; /* borrowed */
    uint32_t texture_count;
} sim_test;

/* Returns the PTX that NVRTC makes of CUDA source. The caller frees the PTX. */
char *sim_test_ptx(const char *source, const char *arch);

/* Compiles and decodes the kernel `entry`, or the first kernel if `entry` is NULL. */
void sim_test_init(sim_test *t, const char *source, const char *arch, const char *entry);
/* Decodes the kernel `entry` of PTX. */
void sim_test_init_ptx(sim_test *t, const char *ptx, const char *entry);
void sim_test_deinit(sim_test *t);

/* Adds a buffer of `size` bytes, which the caller owns. If `written`, its contents count as
 * initialised. Returns the address of the buffer. */
uint64_t sim_test_buffer(sim_test *t, const char *name, void *bytes, uint64_t size, bool written);

/* Append an argument of 4 or 8 bytes. */
void sim_test_u32(sim_test *t, uint32_t v);
void sim_test_u64(sim_test *t, uint64_t v);
void sim_test_f32(sim_test *t, float v);

/* Runs the kernel. Grid and block have up to two dimensions. Returns the kind of the fault. */
sim_fault_kind sim_test_run(sim_test *t, uint32_t grid_x, uint32_t grid_y, uint32_t block_x,
                            uint32_t block_y, uint32_t dynamic_shared_bytes);

/* Runs the kernel in the same way. If there is a fault, fails the test with the fault's message. */
void sim_test_run_well(sim_test *t, uint32_t grid_x, uint32_t grid_y, uint32_t block_x,
                       uint32_t block_y, uint32_t dynamic_shared_bytes);

#endif
