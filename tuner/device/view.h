/* Views of a buffer, which kernels get instead of its address: tensor maps, texture objects and
 * surface objects. With a tensor map, blocks of threads copy boxes between global and shared memory
 * (compute capability 9.0 and newer). Views are plain data; cuda/view.c makes the driver's objects.
 *
 * Surfaces, and textures on request, use a CUDA array: memory in the driver's layout. The buffer is
 * copied to the array before the launches. After them, the array of a surface is copied back. */
#ifndef AUTOTUNE_DEVICE_VIEW_H
#define AUTOTUNE_DEVICE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"
#include "base/value.h"

enum {
    VIEW_MAX_RANK = 5,
    VIEW_TENSOR_BYTES = 128, /* size of a CUtensorMap, passed by value, aligned to 64 */
    VIEW_TEXTURE_BYTES = 8,  /* size of a CUtexObject or CUsurfObject */
    VIEW_MAX_BOX = 256,
    VIEW_MESSAGE_BYTES = 200
};

typedef enum view_kind { VIEW_NONE, VIEW_TENSOR, VIEW_TEXTURE, VIEW_SURFACE, VIEW_KINDS } view_kind;

/* The order is that of CUfilter_mode and CUaddress_mode. */
typedef enum view_filter { FILTER_POINT, FILTER_LINEAR, FILTER_COUNT } view_filter;
typedef enum view_address {
    ADDRESS_WRAP,
    ADDRESS_CLAMP,
    ADDRESS_MIRROR,
    ADDRESS_BORDER,
    ADDRESS_COUNT
} view_address;

/* Unused members are zero, so that equal views have equal bytes. */
typedef struct view_plan {
    view_kind kind;
    uint32_t buffer;
    dtype type;    /* element type of the buffer */
    uint32_t rank; /* dimensions; arrays: 1 to 3, plus layers; other textures: 1 or 2 */
    uint64_t size[VIEW_MAX_RANK]; /* innermost first; in elements (tensor maps) or texels */
    uint64_t stride_bytes[VIEW_MAX_RANK - 1]; /* from one row, plane ... to the next */
    /* The next members are for tensor maps only. */
    uint32_t box[VIEW_MAX_RANK];
    uint32_t swizzle;     /* index in view_swizzles(), the order of CUtensorMapSwizzle */
    uint32_t promotion;   /* index in view_promotions(), the order of CUtensorMapL2promotion */
    uint32_t nan_outside; /* elements outside read as NaN, otherwise as zero */
    /* The next members are for textures and surfaces. An array's layers are its last dimension. */
    uint32_t channels; /* elements of a texel: 1, 2 or 4 */
    uint32_t in_array, layered;
    /* The next members are for textures only. */
    view_filter filter;
    view_address address;
    uint32_t normalised; /* coordinates are in [0, 1) */
    uint32_t as_float;   /* integers of 8 and 16 bits are scaled to [0, 1] or [-1, 1] */
} view_plan;

/* Returns the size of the argument in bytes. */
uint32_t view_bytes(view_kind kind);

/* The first invalid member of a view. */
typedef enum view_fault {
    VIEW_FINE,
    VIEW_BAD_TYPE,
    VIEW_BAD_SIZE,
    VIEW_BAD_STRIDE,
    VIEW_BAD_BOX,
    VIEW_BAD_SWIZZLE,
    VIEW_BAD_OUTSIDE,
    VIEW_BAD_CHANNELS,
    VIEW_BAD_FILTER,
    VIEW_BAD_ADDRESS,
    VIEW_BAD_READS,
    VIEW_BAD_MEMORY
} view_fault;

/* Returns whether two views share a CUDA array. */
bool view_same_array(const view_plan *a, const view_plan *b);

/* Checks a view of a buffer with `count` elements (0 if unknown) by the rules of
 * cuTensorMapEncodeTiled, cuTexObjectCreate and cuArray3DCreate (CUDA Driver API). A fault sets
 * `*dimension` and `message`, which continues a sentence about the wrong field ("has 6 sides"). */
view_fault view_check(const view_plan *view, uint64_t count, uint32_t *dimension,
                      char message[VIEW_MESSAGE_BYTES]);

/* Return the swizzles, or the L2 promotions, that scripts can give, in bytes. */
const uint32_t *view_swizzles(size_t *count);
const uint32_t *view_promotions(size_t *count);

/* Return the names that scripts use, in the order of the enumerations. */
const char *const *view_filter_names(size_t *count);
const char *const *view_address_names(size_t *count);

/* Returns "tensor map", "texture" or "surface". */
const char *view_kind_name(view_kind kind);

void view_put(pack *m, const view_plan *view);

/* Reads a view and checks it. Returns false if it is not valid. */
bool view_get(pack *m, uint32_t buffer_count, view_plan *out);

#endif
