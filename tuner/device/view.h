/* Views of a buffer, passed to a kernel instead of its address: tensor maps, with which thread
 * blocks copy boxes between global and shared memory (compute capability 9.0 and newer), texture
 * objects and surface objects. Plain data; cuda/view.c makes the driver's objects.
 *
 * Surfaces, and textures that ask for it, are of a CUDA array: memory of the driver's own layout,
 * into which the buffer is copied before the launches, and from which what surfaces wrote is copied
 * back after them. */
#ifndef AUTOTUNE_DEVICE_VIEW_H
#define AUTOTUNE_DEVICE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"
#include "base/value.h"

enum {
    VIEW_MAX_RANK = 5,
    VIEW_TENSOR_BYTES = 128, /* of a CUtensorMap, an argument by value at a multiple of 64 */
    VIEW_TEXTURE_BYTES = 8,  /* of a CUtexObject or CUsurfObject */
    VIEW_MAX_BOX = 256,
    VIEW_MESSAGE_BYTES = 200
};

typedef enum view_kind { VIEW_NONE, VIEW_TENSOR, VIEW_TEXTURE, VIEW_SURFACE, VIEW_KINDS } view_kind;

/* The orders are those of CUtensorMapSwizzle, CUtensorMapL2promotion, CUfilter_mode and
 * CUaddress_mode. */
typedef enum view_filter { FILTER_POINT, FILTER_LINEAR, FILTER_COUNT } view_filter;
typedef enum view_address {
    ADDRESS_WRAP,
    ADDRESS_CLAMP,
    ADDRESS_MIRROR,
    ADDRESS_BORDER,
    ADDRESS_COUNT
} view_address;

/* Zeroed but for what is set, so that equal views are equal bytes. */
typedef struct view_plan {
    view_kind kind;
    uint32_t buffer;
    dtype type;                               /* of the buffer's elements */
    uint32_t rank;                            /* of an array 1 to 3, of another texture 1 or 2 */
    uint64_t size[VIEW_MAX_RANK];             /* innermost first; elements, of others texels */
    uint64_t stride_bytes[VIEW_MAX_RANK - 1]; /* from one row, plane ... to the next */
    /* Tensor maps have these. */
    uint32_t box[VIEW_MAX_RANK];
    uint32_t swizzle;     /* its place in view_swizzles() */
    uint32_t promotion;   /* its place in view_promotions(): bytes that L2 reads at once */
    uint32_t nan_outside; /* what lies outside reads as NaN, not as zero */
    /* Textures and surfaces have these; the layers of an array are its last dimension. */
    uint32_t channels; /* elements of a texel: 1, 2 or 4 */
    uint32_t in_array, layered;
    /* Textures have these. */
    view_filter filter;
    view_address address;
    uint32_t normalised; /* coordinates are in [0, 1) */
    uint32_t as_float;   /* integers of 8 and 16 bits read as [0, 1] or [-1, 1] */
} view_plan;

/* Bytes of the argument. */
uint32_t view_bytes(view_kind kind);

/* The member that is not valid. */
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

/* Are two views of the same CUDA array? */
bool view_same_array(const view_plan *a, const view_plan *b);

/* Can the view be made of a buffer with `count` elements (0: not known)? By the rules of
 * cuTensorMapEncodeTiled, cuTexObjectCreate and cuArray3DCreate (CUDA Driver API). If not,
 * *dimension gets the dimension at fault, and `message` what is wrong and what is allowed. */
view_fault view_check(const view_plan *view, uint64_t count, uint32_t *dimension,
                      char message[VIEW_MESSAGE_BYTES]);

/* Bytes of a swizzle, and bytes that L2 reads at once, as scripts give them: 0, 32, 64 ... */
const uint32_t *view_swizzles(size_t *count);
const uint32_t *view_promotions(size_t *count);

/* Words as scripts spell them, in the order of the enumerations. */
const char *const *view_filter_names(size_t *count);
const char *const *view_address_names(size_t *count);
const char *view_kind_name(view_kind kind); /* "tensor map", "texture", "surface" */

/* Write a view to a pack; read and check it. False: not valid. */
void view_put(pack *m, const view_plan *view);
bool view_get(pack *m, uint32_t buffer_count, view_plan *out);

#endif
