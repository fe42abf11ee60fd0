#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cuda/launcher.h"

struct cuda_texture {
    view_plan view;
    CUdeviceptr address;
    CUtexObject object; /* texture object, or a CUsurfObject, which has the same type */
    CUarray array;      /* NULL if the view is of the memory itself */
    bool owns_array;    /* false if the array belongs to another view of the same memory */
};

/* Tensor copies do no arithmetic, so signed integers can be treated as unsigned. */
static CUtensorMapDataType tensor_type(dtype type)
{
    static const CUtensorMapDataType types[DTYPE_COUNT] = {
        [DTYPE_INT8] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
        [DTYPE_UINT8] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
        [DTYPE_INT16] = CU_TENSOR_MAP_DATA_TYPE_UINT16,
        [DTYPE_UINT16] = CU_TENSOR_MAP_DATA_TYPE_UINT16,
        [DTYPE_INT32] = CU_TENSOR_MAP_DATA_TYPE_INT32,
        [DTYPE_UINT32] = CU_TENSOR_MAP_DATA_TYPE_UINT32,
        [DTYPE_INT64] = CU_TENSOR_MAP_DATA_TYPE_INT64,
        [DTYPE_UINT64] = CU_TENSOR_MAP_DATA_TYPE_UINT64,
        [DTYPE_HALF] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        [DTYPE_BFLOAT16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        [DTYPE_FLOAT] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        [DTYPE_DOUBLE] = CU_TENSOR_MAP_DATA_TYPE_FLOAT64};
    return types[type];
}

static CUarray_format texture_format(dtype type)
{
    static const CUarray_format formats[DTYPE_COUNT] = {
        [DTYPE_INT8] = CU_AD_FORMAT_SIGNED_INT8,   [DTYPE_UINT8] = CU_AD_FORMAT_UNSIGNED_INT8,
        [DTYPE_INT16] = CU_AD_FORMAT_SIGNED_INT16, [DTYPE_UINT16] = CU_AD_FORMAT_UNSIGNED_INT16,
        [DTYPE_INT32] = CU_AD_FORMAT_SIGNED_INT32, [DTYPE_UINT32] = CU_AD_FORMAT_UNSIGNED_INT32,
        [DTYPE_HALF] = CU_AD_FORMAT_HALF,          [DTYPE_FLOAT] = CU_AD_FORMAT_FLOAT};
    return formats[type];
}

at_status cuda_view_encode(const cuda_driver *cuda, const view_plan *v, CUdeviceptr address,
                           CUtensorMap *out, at_error *error)
{
    cuuint64_t sizes[VIEW_MAX_RANK], strides[VIEW_MAX_RANK];
    cuuint32_t box[VIEW_MAX_RANK], steps[VIEW_MAX_RANK];
    for (uint32_t i = 0; i < v->rank; i++) {
        sizes[i] = v->size[i];
        strides[i] = i + 1 < v->rank ? v->stride_bytes[i] : 0;
        box[i] = v->box[i];
        steps[i] = 1;
    }
    CUresult result = cuda->cuTensorMapEncodeTiled(
        out, tensor_type(v->type), v->rank, (void *)(uintptr_t)address, sizes, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)v->swizzle,
        (CUtensorMapL2promotion)v->promotion,
        v->nan_outside ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                       : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return cuda_check(cuda, result, cuda_refusal_status(result), "the tensor map was refused",
                      error);
}

/* Returns the extents of an array for the driver: an array of one-dimensional layers has the height
 * 0, and its depth is the number of layers. */
static void sides_of(const view_plan *v, size_t *width, size_t *height, size_t *depth)
{
    const uint32_t sides = v->layered ? v->rank - 1 : v->rank;
    *width = (size_t)v->size[0];
    *height = sides > 1 ? (size_t)v->size[1] : 0;
    *depth = v->layered || sides > 2 ? (size_t)v->size[v->rank - 1] : 0;
}

static CUresult make_array(const cuda_driver *cuda, const view_plan *v, CUarray *out)
{
    CUDA_ARRAY3D_DESCRIPTOR array;
    memset(&array, 0, sizeof array);
    sides_of(v, &array.Width, &array.Height, &array.Depth);
    array.Format = texture_format(v->type);
    array.NumChannels = v->channels;
    /* The driver allows gathers only from planes. */
    array.Flags = CUDA_ARRAY3D_SURFACE_LDST | (v->layered ? CUDA_ARRAY3D_LAYERED : 0) |
                  (v->rank == 2 && !v->layered ? CUDA_ARRAY3D_TEXTURE_GATHER : 0);
    return cuda->cuArray3DCreate(out, &array);
}

static CUDA_RESOURCE_DESC resource_of(const view_plan *v, CUdeviceptr address, CUarray array)
{
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    if (array) {
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = array;
    } else if (v->rank == 1) {
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear.devPtr = address;
        resource.res.linear.format = texture_format(v->type);
        resource.res.linear.numChannels = v->channels;
        resource.res.linear.sizeInBytes =
            (size_t)(v->size[0] * v->channels * dtype_get(v->type)->size_bytes);
    } else {
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D.devPtr = address;
        resource.res.pitch2D.format = texture_format(v->type);
        resource.res.pitch2D.numChannels = v->channels;
        resource.res.pitch2D.width = (size_t)v->size[0];
        resource.res.pitch2D.height = (size_t)v->size[1];
        resource.res.pitch2D.pitchInBytes = (size_t)v->stride_bytes[0];
    }
    return resource;
}

static CUresult make(const cuda_driver *cuda, const view_plan *v, const CUDA_RESOURCE_DESC *of,
                     CUtexObject *out)
{
    static const CUaddress_mode modes[] = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP,
                                           CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_BORDER};
    CUDA_TEXTURE_DESC texture;
    if (v->kind == VIEW_SURFACE)
        return cuda->cuSurfObjectCreate(out, of);
    memset(&texture, 0, sizeof texture);
    for (int i = 0; i < 3; i++)
        texture.addressMode[i] = modes[v->address];
    texture.filterMode =
        v->filter == FILTER_LINEAR ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    texture.flags = (v->as_float || dtype_get(v->type)->is_float ? 0 : CU_TRSF_READ_AS_INTEGER) |
                    (v->normalised ? CU_TRSF_NORMALIZED_COORDINATES : 0);
    return cuda->cuTexObjectCreate(out, of, &texture, NULL);
}

static void destroy(const cuda_driver *cuda, const struct cuda_texture *t)
{
    if (t->view.kind == VIEW_SURFACE)
        cuda->cuSurfObjectDestroy(t->object);
    else
        cuda->cuTexObjectDestroy(t->object);
}

static CUarray find_array(const cuda_textures *t, const view_plan *view, CUdeviceptr address)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->entries[i].address == address && view_same_array(&t->entries[i].view, view))
            return t->entries[i].array;
    return NULL;
}

at_status cuda_textures_get(cuda_textures *t, const cuda_driver *cuda, const view_plan *view,
                            CUdeviceptr address, CUtexObject *out, at_error *error)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->entries[i].address == address &&
            memcmp(&t->entries[i].view, view, sizeof *view) == 0) {
            *out = t->entries[i].object;
            return AT_OK;
        }
    struct cuda_texture made = {
        .view = *view, .address = address, .array = find_array(t, view, address)};
    CUresult result = CUDA_SUCCESS;
    made.owns_array = view->in_array && !made.array;
    if (made.owns_array)
        result = make_array(cuda, view, &made.array);
    if (result != CUDA_SUCCESS)
        return cuda_check(cuda, result, cuda_refusal_status(result), "the CUDA array was refused",
                          error);
    const CUDA_RESOURCE_DESC of = resource_of(view, address, made.array);
    at_status status = AT_OK;
    result = make(cuda, view, &of, &made.object);
    if (result != CUDA_SUCCESS)
        status = cuda_check(cuda, result, cuda_refusal_status(result),
                            view->kind == VIEW_SURFACE ? "the surface was refused"
                                                       : "the texture was refused",
                            error);
    if (!status && !array_add(&t->entries, &t->count, &made, sizeof made)) {
        destroy(cuda, &made);
        status = error_no_memory(error);
    }
    if (status && made.owns_array)
        cuda->cuArrayDestroy(made.array);
    *out = made.object;
    return status;
}

at_status cuda_textures_copy(const cuda_textures *t, const cuda_driver *cuda, const view_plan *view,
                             CUdeviceptr address, bool back, CUstream stream, at_error *error)
{
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    sides_of(view, &copy.WidthInBytes, &copy.Height, &copy.Depth);
    copy.WidthInBytes *= (size_t)view->channels * dtype_get(view->type)->size_bytes;
    copy.Height = copy.Height > 0 ? copy.Height : 1;
    copy.Depth = copy.Depth > 0 ? copy.Depth : 1;
    copy.srcMemoryType = back ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE;
    copy.dstMemoryType = back ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_ARRAY;
    copy.srcDevice = copy.dstDevice = address;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes;
    copy.srcHeight = copy.dstHeight = copy.Height;
    copy.srcArray = copy.dstArray = find_array(t, view, address);
    return cuda_check(cuda, cuda->cuMemcpy3DAsync(&copy, stream), AT_DEVICE,
                      back ? "cannot copy a surface's array into its buffer"
                           : "cannot copy a buffer into a CUDA array",
                      error);
}

void cuda_textures_drop(cuda_textures *t, const cuda_driver *cuda, CUdeviceptr first,
                        uint64_t size_bytes)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->entries[i].address - first < size_bytes)
            destroy(cuda, &t->entries[i]);
    for (size_t i = 0; i < t->count; i++) {
        const struct cuda_texture *e = &t->entries[i];
        if (e->address - first >= size_bytes)
            t->entries[kept++] = *e;
        else if (e->owns_array)
            cuda->cuArrayDestroy(e->array);
    }
    t->count = kept;
    if (kept == 0) {
        free(t->entries);
        t->entries = NULL;
    }
}
