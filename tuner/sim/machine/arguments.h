/* The format of tensor maps, textures and surfaces for simulated kernels. GPUs keep it opaque. */
#ifndef AUTOTUNE_SIM_MACHINE_ARGUMENTS_H
#define AUTOTUNE_SIM_MACHINE_ARGUMENTS_H

#include "sim/program/program.h"

enum { SIM_TENSOR_MAP_BYTES = 128 };
#define SIM_TENSOR_MAGIC UINT64_C(0x70616d726f736e65)

/* A CUtensorMap. The innermost dimension comes first. */
typedef struct sim_tensor_map {
    uint64_t magic, base;
    uint64_t size[SIM_TENSOR_RANK]; /* size of each dimension, in elements */
    uint64_t stride_bytes[SIM_TENSOR_RANK - 1];
    uint16_t box[SIM_TENSOR_RANK]; /* size of the box along each dimension, in elements */
    uint8_t rank, element_bytes;
    uint8_t swizzle; /* number of address bits that the swizzle changes: 0 to 3 */
    uint8_t nan_outside;
    uint8_t type; /* ptx_type of an element; PTX_B8 for types without arithmetic */
} sim_tensor_map;

/* A CUtexObject or CUsurfObject is this number plus an index into sim_launch.textures. */
#define SIM_TEXTURE_HANDLES UINT64_C(0x7465785f00000000)

typedef enum sim_texture_mode {
    SIM_TEXTURE_WRAP,
    SIM_TEXTURE_CLAMP,
    SIM_TEXTURE_MIRROR,
    SIM_TEXTURE_BORDER
} sim_texture_mode;

typedef struct sim_texture {
    uint64_t base;            /* address of the first texel */
    uint64_t step_bytes[3];   /* distance between neighbouring texels, rows and planes */
    uint64_t layer_bytes;     /* distance between neighbouring layers */
    uint32_t size[3];         /* size along each dimension, in texels */
    uint32_t rank;            /* number of dimensions; 0 for neither texture nor surface */
    uint32_t layers;          /* number of layers; 0 for a texture without layers */
    uint32_t channels, bytes; /* elements of a texel, bytes of an element */
    bool is_float, is_signed; /* type of the elements */
    bool as_float;            /* reads return an integer divided by its type's maximum */
    bool is_linear, is_normalised;
    bool in_array, is_surface;
    sim_texture_mode mode;
} sim_texture;

#endif
