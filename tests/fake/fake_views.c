/* Tensor maps, textures and surfaces of the fake driver, which kernels find by a handle. */
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "fake_stream.h"

enum {
    MOST_VIEWS = 4096,
    TENSOR_UNIT = 16,
    TEXTURE_PITCH = 32,
    TEXTURE_ALIGNMENT = 256,
    MOST_BOX = 256
};

struct CUarray_st {
    CUDA_ARRAY3D_DESCRIPTOR of;
    size_t row_bytes, rows;
    unsigned char bytes[];
};

/* Tensor maps are values and are never freed. Textures can be destroyed. */
static struct {
    size_t count;
    fake_view views[MOST_VIEWS];
} known;

static uint64_t note(const fake_view *view)
{
    size_t i = 0;
    while (i < known.count && (known.views[i].is_texture || view->is_texture || view->is_surface ||
                               memcmp(&known.views[i], view, sizeof *view) != 0))
        i++;
    if (i == MOST_VIEWS)
        abort(); /* a program must not make a tensor map for each launch */
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

CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *of)
{
    const size_t row_bytes = of->Width * texture_element(of->Format) * of->NumChannels,
                 height = of->Height ? of->Height : 1, depth = of->Depth ? of->Depth : 1;
    const bool is_plane = of->Height > 0 && of->Depth == 0;
    if (fake_is_capturing() || row_bytes == 0 ||
        ((of->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) && !is_plane))
        return CUDA_ERROR_INVALID_VALUE;
    *array = calloc(1, sizeof **array + row_bytes * height * depth);
    if (!*array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    **array = (struct CUarray_st){.of = *of, .row_bytes = row_bytes, .rows = height * depth};
    return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray array)
{
    for (size_t i = 0; i < known.count; i++)
        if (known.views[i].address == array->bytes)
            return CUDA_ERROR_INVALID_VALUE; /* the array still has a view */
    free(array);
    return CUDA_SUCCESS;
}

/* Supports only copies of whole arrays. */
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    const bool back = copy->srcMemoryType == CU_MEMORYTYPE_ARRAY;
    CUarray array = back ? copy->srcArray : copy->dstArray;
    const size_t pitch = back ? copy->dstPitch : copy->srcPitch,
                 bytes = array->row_bytes * array->rows;
    unsigned char *memory = (unsigned char *)(uintptr_t)(back ? copy->dstDevice : copy->srcDevice);
    if (!stream || fake_is_capturing() || copy->WidthInBytes != array->row_bytes ||
        copy->Height * copy->Depth != array->rows || pitch != array->row_bytes ||
        (back ? copy->dstMemoryType : copy->srcMemoryType) != CU_MEMORYTYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    fake_changed();
    memcpy(back ? memory : array->bytes, back ? array->bytes : memory, bytes);
    return CUDA_SUCCESS;
}

static void show_array(CUarray array, fake_view *v)
{
    v->address = array->bytes;
    v->element_bytes = texture_element(array->of.Format) * array->of.NumChannels;
    v->size[0] = array->of.Width;
    v->size[1] = array->rows;
    v->stride_bytes[0] = array->row_bytes;
}

CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource)
{
    fake_view v;
    memset(&v, 0, sizeof v);
    v.is_surface = true;
    if (fake_is_capturing() || resource->resType != CU_RESOURCE_TYPE_ARRAY ||
        !(resource->res.array.hArray->of.Flags & CUDA_ARRAY3D_SURFACE_LDST))
        return CUDA_ERROR_INVALID_VALUE;
    show_array(resource->res.array.hArray, &v);
    *object = note(&v);
    return CUDA_SUCCESS;
}

/* Textures and surfaces share one range of handles. */
static CUresult forget(uint64_t object, bool is_surface)
{
    fake_view *v = fake_view_find(object) ? &known.views[object - 1] : NULL;
    if (!v || !(is_surface ? v->is_surface : v->is_texture))
        return CUDA_ERROR_INVALID_VALUE;
    v->address = NULL;
    return CUDA_SUCCESS;
}

CUresult cuSurfObjectDestroy(CUsurfObject object)
{
    return forget(object, true);
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
    if (resource->resType == CU_RESOURCE_TYPE_ARRAY) {
        show_array(resource->res.array.hArray, &v);
        *object = note(&v);
        return CUDA_SUCCESS;
    }
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
    return forget(object, false);
}
