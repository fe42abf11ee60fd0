/* The value that a simulated kernel is passed for a CUtensorMap, in the place of a GPU's encoding.
 */
#ifndef AUTOTUNE_SIM_MACHINE_TENSOR_MAP_H
#define AUTOTUNE_SIM_MACHINE_TENSOR_MAP_H

#include "sim/program/program.h"

enum { SIM_TENSOR_MAP_BYTES = 128 };
#define SIM_TENSOR_MAGIC UINT64_C(0x70616d726f736e65)

/* Innermost dimensions first. */
typedef struct sim_tensor_map {
    uint64_t magic, base;
    uint64_t size[SIM_TENSOR_RANK]; /* elements */
    uint64_t stride_bytes[SIM_TENSOR_RANK - 1];
    uint16_t box[SIM_TENSOR_RANK];
    uint8_t rank, element_bytes;
    uint8_t swizzle; /* bits of the address that are exchanged: 0 to 3 */
    uint8_t nan_outside;
    uint8_t type; /* ptx_type of an element; PTX_B8: one that nothing is added to */
} sim_tensor_map;

#endif
