#include "device/ceiling.h"

#include <stdio.h>
#include <string.h>

static const ceiling_info ceilings[CEILING_KINDS] = {
    [CEILING_DEFAULT] = {"", "", WORK_BYTES, false},
    [CEILING_NONE] = {"none", "nothing", WORK_BYTES, false},
    [CEILING_COPY] = {"copy", "a copy of the same bytes", WORK_BYTES, true},
    [CEILING_READ] = {"read", "a read of the same bytes", WORK_BYTES, true},
    [CEILING_WRITE] = {"write", "a write of the same bytes", WORK_BYTES, true},
    [CEILING_L2] = {"l2", "the bandwidth of the L2", WORK_BYTES, false},
    [CEILING_SHARED] = {"shared", "the bandwidth of shared memory", WORK_BYTES, false},
    [CEILING_FP32] = {"fp32", "the FP32 rate", WORK_FLOPS, false},
    [CEILING_FP64] = {"fp64", "the FP64 rate", WORK_FLOPS, false},
    [CEILING_ATOMICS] = {"atomics", "the rate of atomic additions", WORK_ITEMS, false},
    [CEILING_HOST_TO_DEVICE] = {"host_to_device", "the bandwidth to the device", WORK_BYTES, false},
    [CEILING_DEVICE_TO_HOST] = {"device_to_host", "the bandwidth to the host", WORK_BYTES, false},
    [CEILING_LAUNCHES] = {"launches", "the rate of launches", WORK_ITEMS, false},
    [CEILING_PINNED] = {"pinned", "a pinned copy of the same bytes", WORK_BYTES, true},
    [CEILING_BLOCKS] = {"blocks", "the rate of blocks", WORK_ITEMS, false},
    [CEILING_ROUND_TRIPS] = {"round_trips", "the rate of round trips to DRAM", WORK_ITEMS, false},
    [CEILING_PIECES_READ] = {"pieces_read", "the bandwidth of short reads", WORK_BYTES, false},
    [CEILING_PIECES_WRITTEN] = {"pieces_written", "the bandwidth of short writes", WORK_BYTES,
                                false},
    [CEILING_ONE_WORD] = {"one_word", "the rate of additions to one word", WORK_ITEMS, false},
    [CEILING_ONE_FLOAT] = {"one_float", "the rate of additions to one float", WORK_ITEMS, false},
    [CEILING_ONE_DOUBLE] = {"one_double", "the rate of additions to one double", WORK_ITEMS, false},
    [CEILING_L1] = {"l1", "the bandwidth of the L1s", WORK_BYTES, false},
};

const ceiling_info *ceiling_get(ceiling_kind kind)
{
    return &ceilings[kind];
}

bool ceiling_find(const char *name, ceiling_kind *out)
{
    for (int i = CEILING_NONE; i < CEILING_KINDS; i++)
        if (strcmp(ceilings[i].name, name) == 0) {
            *out = (ceiling_kind)i;
            return true;
        }
    return false;
}

const char *work_rate_name(work_unit unit, const char *item, char out[WORK_RATE_BYTES])
{
    if (unit == WORK_ITEMS)
        snprintf(out, WORK_RATE_BYTES, "G%s/s", item && *item ? item : "items");
    else
        snprintf(out, WORK_RATE_BYTES, "%s", unit == WORK_BYTES ? "GB/s" : "GFLOP/s");
    return out;
}
