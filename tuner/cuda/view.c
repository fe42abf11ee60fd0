#include "cuda/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct cuda_texture {
    view_plan view;
    CUdeviceptr address;
    CUtexObject object;
};

/* Elements are copied, not computed with: signed integers go as unsigned ones. */
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

static CUresult make(const cuda_driver *cuda, const view_plan *v, CUdeviceptr address,
                     CUtexObject *out)
{
    static const CUaddress_mode modes[] = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP,
                                           CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_BORDER};
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    if (v->rank == 1) {
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
    for (int i = 0; i < 3; i++)
        texture.addressMode[i] = modes[v->address];
    texture.filterMode =
        v->filter == FILTER_LINEAR ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    texture.flags = (v->as_float || dtype_get(v->type)->is_float ? 0 : CU_TRSF_READ_AS_INTEGER) |
                    (v->normalised ? CU_TRSF_NORMALIZED_COORDINATES : 0);
    return cuda->cuTexObjectCreate(out, &resource, &texture, NULL);
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
    CUresult result = make(cuda, view, address, out);
    if (result != CUDA_SUCCESS)
        return cuda_check(cuda, result, cuda_refusal_status(result), "the texture was refused",
                          error);
    const struct cuda_texture made = {.view = *view, .address = address, .object = *out};
    if (array_add(&t->entries, &t->count, &made, sizeof made))
        return AT_OK;
    cuda->cuTexObjectDestroy(*out);
    return error_no_memory(error);
}

void cuda_textures_drop(cuda_textures *t, const cuda_driver *cuda, CUdeviceptr first,
                        uint64_t size_bytes)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->entries[i].address - first < size_bytes)
            cuda->cuTexObjectDestroy(t->entries[i].object);
        else
            t->entries[kept++] = t->entries[i];
    }
    t->count = kept;
    if (kept == 0) {
        free(t->entries);
        t->entries = NULL;
    }
}
