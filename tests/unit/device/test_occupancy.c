#include <string.h>

/* This header of the Toolkit computes the expected values. */
#include <cuda_occupancy.h>
#include <stdlib.h>

#include "check.h"
#include "device/arch.h"

enum { UNKNOWN_TO_ORACLE = -1 };

static int oracle(const arch_limits *a, int threads, int registers, size_t shared_bytes)
{
    const cudaOccDeviceProp device = {
        .computeMajor = a->major,
        .computeMinor = a->minor,
        .maxThreadsPerBlock = a->max_threads_per_block,
        .maxThreadsPerMultiprocessor = a->max_threads_per_sm,
        .regsPerBlock = a->registers_per_sm,
        .regsPerMultiprocessor = a->registers_per_sm,
        .warpSize = a->warp_size,
        .sharedMemPerBlock = 48 * 1024,
        .sharedMemPerMultiprocessor = a->shared_per_sm_bytes,
        .numSms = a->sm_count,
        .sharedMemPerBlockOptin = a->max_shared_per_block_bytes,
        .reservedSharedMemPerBlock = a->shared_reserved_bytes,
    };
    const cudaOccFuncAttributes function = {
        .maxThreadsPerBlock = a->max_threads_per_block,
        .numRegs = registers,
        .sharedSizeBytes = 0,
        .partitionedGCConfig = PARTITIONED_GC_OFF,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = a->max_shared_per_block_bytes,
        .numBlockBarriers = 1,
    };
    const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccResult result = {.activeBlocksPerMultiprocessor = 0};
    cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function,
                                                                 &state, threads, shared_bytes);
    if (error == CUDA_OCC_ERROR_UNKNOWN_DEVICE)
        return UNKNOWN_TO_ORACLE;
    assert_int_equal(error, CUDA_OCC_SUCCESS);
    return result.activeBlocksPerMultiprocessor;
}

TEST(blocks_agree_with_the_toolkits_calculator_everywhere)
{
    static const int registers[] = {0,  1,  16, 24, 31, 32,  33,  40,  48,  56,
                                    63, 64, 65, 72, 96, 104, 127, 128, 168, 255};
    size_t count;
    const arch_limits *table = arch_table(&count);
    for (size_t i = 0; i < count; i++) {
        /* An old Toolkit may lack architectures of the table, but none up to Hopper (9.x). */
        if (table[i].major > 9 && oracle(&table[i], 32, 32, 0) == UNKNOWN_TO_ORACLE)
            continue;
        for (int threads = 1; threads <= 1056; threads += threads < 64 ? 31 : 32)
            for (size_t r = 0; r < sizeof registers / sizeof registers[0]; r++)
                for (size_t shared = 0; shared <= table[i].max_shared_per_block_bytes + 1024;
                     shared += 1013) {
                    occupancy o = occupancy_compute(&table[i], threads, registers[r], shared);
                    int expected = oracle(&table[i], threads, registers[r], shared);
                    if (o.blocks_per_sm != expected)
                        fail_msg("%s, %d threads, %d registers, %zu bytes: %d blocks, expected %d",
                                 table[i].name, threads, registers[r], shared, o.blocks_per_sm,
                                 expected);
                }
    }
}

TEST(the_largest_shared_memory_fits_once_and_a_byte_more_does_not)
{
    size_t count;
    const arch_limits *table = arch_table(&count);
    for (size_t i = 0; i < count; i++) {
        size_t most = table[i].max_shared_per_block_bytes;
        assert_int_equal(occupancy_compute(&table[i], 128, 32, most).blocks_per_sm, 1);
        occupancy over = occupancy_compute(&table[i], 128, 32, most + 1);
        assert_int_equal(over.blocks_per_sm, 0);
        assert_int_equal(over.limit, OCCUPANCY_IMPOSSIBLE);
    }
}

TEST(the_limiting_resource_is_named)
{
    static const struct {
        int threads, registers;
        size_t shared_bytes;
        int blocks;
        double fraction;
        occupancy_limit limit;
    } cases[] = {
        {256, 32, 0, 8, 1.0, OCCUPANCY_REGISTERS},
        {256, 16, 0, 8, 1.0, OCCUPANCY_THREADS},
        {32, 16, 0, 32, 0.5, OCCUPANCY_BLOCKS},
        {1024, 40, 0, 1, 0.5, OCCUPANCY_REGISTERS},
        {1024, 65, 0, 0, 0.0, OCCUPANCY_IMPOSSIBLE},
        {256, 32, 64 * 1024, 3, 0.375, OCCUPANCY_SHARED},
        {0, 32, 0, 0, 0.0, OCCUPANCY_IMPOSSIBLE},
    };
    at_error error = {0};
    arch_limits hopper;
    assert_ok(arch_find("sm_90", &hopper, &error), error);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        occupancy o =
            occupancy_compute(&hopper, cases[i].threads, cases[i].registers, cases[i].shared_bytes);
        assert_int_equal(o.blocks_per_sm, cases[i].blocks);
        assert_true(o.fraction == cases[i].fraction);
        assert_int_equal(o.limit, cases[i].limit);
    }
    assert_string_equal(occupancy_limit_name(OCCUPANCY_SHARED), "shared");
    assert_string_equal(occupancy_limit_name(OCCUPANCY_IMPOSSIBLE), "impossible");
}
