/* A texture or a surface that a kernel is given: what a CUtexObject or a CUsurfObject stands for.
 */
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
    uint64_t base;
    uint64_t step_bytes[3];   /* from a texel, a row and a plane to the next, */
    uint64_t layer_bytes;     /* and from a layer */
    uint32_t size[3];         /* texels */
    uint32_t rank;            /* sides; 0: it is neither texture nor surface */
    uint32_t layers;          /* 0: it has none */
    uint32_t channels, bytes; /* elements of a texel, and of each */
    bool is_float, is_signed; /* elements */
    bool as_float;            /* integers are fractions */
    bool is_linear, is_normalised;
    bool in_array, is_surface;
    sim_texture_mode mode;
} sim_texture;

#endif
