/* Tensor maps and textures of the fake driver: kernels get a handle, and find the view by it. */
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"

enum {
    MOST_VIEWS = 4096,
    TENSOR_UNIT = 16,
    TEXTURE_PITCH = 32,
    TEXTURE_ALIGNMENT = 256,
    MOST_BOX = 256
};

/* A map is a value, and stays; a texture is destroyed. */
static struct {
    size_t count;
    fake_view views[MOST_VIEWS];
} known;

static uint64_t note(const fake_view *view)
{
    size_t i = 0;
    while (i < known.count && (known.views[i].is_texture || view->is_texture ||
                               memcmp(&known.views[i], view, sizeof *view) != 0))
        i++;
    if (i == MOST_VIEWS)
        abort(); /* who makes so many makes one a launch */
    known.views[i] = *view;
    known.count += i == known.count;
    return i + 1;
}

const fake_view *fake_view_find(uint64_t handle)
{
    const fake_view *v = handle >= 1 && handle <= known.count ? &known.views[handle - 1] : NULL;
    return v && v->address ? v : NULL;
}

static uint32_t tensor_element(CUtensorMapDataType type)
{
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
        return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
        return 8;
    default:
        return 4;
    }
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *sizes, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    fake_view v;
    memset(&v, 0, sizeof v);
    v.address = (unsigned char *)address;
    v.element_bytes = tensor_element(type);
    if ((uintptr_t)map % 64 != 0 || (uintptr_t)address % TENSOR_UNIT != 0 || rank < 1 || rank > 5 ||
        interleave || promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return CUDA_ERROR_INVALID_VALUE;
    for (cuuint32_t i = 0; i < rank; i++) {
        if (sizes[i] < 1 || sizes[i] > UINT64_C(1) << 32 || box[i] < 1 || box[i] > MOST_BOX ||
            steps[i] != 1 ||
            (i + 1 < rank && (strides[i] % TENSOR_UNIT != 0 || strides[i] >= UINT64_C(1) << 40)))
            return CUDA_ERROR_INVALID_VALUE;
        v.size[i] = sizes[i];
        v.stride_bytes[i] = i + 1 < rank ? strides[i] : 0;
    }
    if (box[0] * v.element_bytes % TENSOR_UNIT != 0 ||
        (swizzle && box[0] * v.element_bytes > 16u << swizzle))
        return CUDA_ERROR_INVALID_VALUE;
    memset(map, 0xff, sizeof *map);
    map->opaque[0] = note(&v);
    return CUDA_SUCCESS;
}

static uint32_t texture_element(CUarray_format format)
{
    return format == CU_AD_FORMAT_UNSIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT8 ? 1
           : format == CU_AD_FORMAT_UNSIGNED_INT16 || format == CU_AD_FORMAT_SIGNED_INT16 ||
                   format == CU_AD_FORMAT_HALF
               ? 2
               : 4;
}

CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
    fake_view v;
    memset(&v, 0, sizeof v);
    v.is_texture = true;
    v.clamps = texture->addressMode[0] == CU_TR_ADDRESS_MODE_CLAMP;
    if (fake_is_capturing() || view)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (resource->resType == CU_RESOURCE_TYPE_LINEAR) {
        v.address = (unsigned char *)(uintptr_t)resource->res.linear.devPtr;
        v.element_bytes =
            texture_element(resource->res.linear.format) * resource->res.linear.numChannels;
        v.size[0] = resource->res.linear.sizeInBytes / v.element_bytes;
        v.size[1] = 1;
    } else {
        v.address = (unsigned char *)(uintptr_t)resource->res.pitch2D.devPtr;
        v.element_bytes =
            texture_element(resource->res.pitch2D.format) * resource->res.pitch2D.numChannels;
        v.size[0] = resource->res.pitch2D.width;
        v.size[1] = resource->res.pitch2D.height;
        v.stride_bytes[0] = resource->res.pitch2D.pitchInBytes;
        if (v.stride_bytes[0] % TEXTURE_PITCH != 0 ||
            v.stride_bytes[0] < v.size[0] * v.element_bytes)
            return CUDA_ERROR_INVALID_VALUE;
    }
    if ((uintptr_t)v.address % TEXTURE_ALIGNMENT != 0 || v.size[0] < 1 || v.size[1] < 1)
        return CUDA_ERROR_INVALID_VALUE;
    *object = note(&v);
    return CUDA_SUCCESS;
}

CUresult cuTexObjectDestroy(CUtexObject object)
{
    if (!fake_view_find(object) || !known.views[object - 1].is_texture)
        return CUDA_ERROR_INVALID_VALUE;
    known.views[object - 1].address = NULL;
    return CUDA_SUCCESS;
}
