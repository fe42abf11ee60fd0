/* A texture that a kernel is given: what a CUtexObject stands for. */
#ifndef AUTOTUNE_SIM_MACHINE_TEXTURE_VIEW_H
#define AUTOTUNE_SIM_MACHINE_TEXTURE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_TEXTURE_HANDLES UINT64_C(0x7465785f00000000) /* and its place among the launch's */

typedef enum sim_texture_mode {
    SIM_TEXTURE_WRAP,
    SIM_TEXTURE_CLAMP,
    SIM_TEXTURE_MIRROR,
    SIM_TEXTURE_BORDER
} sim_texture_mode;

typedef struct sim_texture {
    uint64_t base, pitch_bytes;
    uint32_t size[2]; /* texels */
    uint32_t rank;
    uint32_t channels, bytes; /* elements of a texel, and of each */
    bool is_float, is_signed; /* elements */
    bool as_float;            /* integers are fractions */
    bool is_linear, is_normalised;
    sim_texture_mode mode;
} sim_texture;

#endif
