#include "check.h"

#include <string.h>

#include "cuda/launcher.h"

/* Arguments of the last calls of the fake driver's functions. */
static struct {
    CUtensorMapDataType type;
    cuuint32_t rank;
    cuuint64_t size[5], stride[4];
    cuuint32_t box[5], step[5];
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill outside;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_ARRAY3D_DESCRIPTOR array;
    CUDA_MEMCPY3D copy;
    size_t made, destroyed, arrays, arrays_destroyed;
    CUresult result;
} asked;

static CUresult CUDAAPI encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                               void *address, const cuuint64_t *sizes, const cuuint64_t *strides,
                               const cuuint32_t *box, const cuuint32_t *steps,
                               CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                               CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill outside)
{
    (void)promotion;
    assert_int_equal(interleave, CU_TENSOR_MAP_INTERLEAVE_NONE);
    asked.type = type;
    asked.rank = rank;
    memcpy(asked.size, sizes, rank * sizeof *sizes);
    memcpy(asked.stride, strides, (rank - 1) * sizeof *strides);
    memcpy(asked.box, box, rank * sizeof *box);
    memcpy(asked.step, steps, rank * sizeof *steps);
    asked.swizzle = swizzle;
    asked.outside = outside;
    map->opaque[0] = (cuuint64_t)(uintptr_t)address;
    return asked.result;
}

static CUresult CUDAAPI create(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                               const CUDA_TEXTURE_DESC *texture,
                               const CUDA_RESOURCE_VIEW_DESC *view)
{
    assert_null(view);
    asked.resource = *resource;
    asked.texture = *texture;
    *out = ++asked.made;
    return asked.result;
}

static CUresult CUDAAPI destroy(CUtexObject object)
{
    assert_true(object > 0 && object <= asked.made);
    asked.destroyed++;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI create_surface(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource)
{
    asked.resource = *resource;
    *out = ++asked.made;
    return asked.result;
}

static CUresult CUDAAPI create_array(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *of)
{
    asked.array = *of;
    *out = (CUarray)(uintptr_t)++asked.arrays;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_array(CUarray array)
{
    assert_non_null(array);
    asked.arrays_destroyed++;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI copy_array(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    assert_null(stream);
    asked.copy = *copy;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI name_error(CUresult result, const char **text)
{
    (void)result;
    *text = "error";
    return CUDA_SUCCESS;
}

static const cuda_driver driver = {.cuTensorMapEncodeTiled = encode,
                                   .cuTexObjectCreate = create,
                                   .cuTexObjectDestroy = destroy,
                                   .cuSurfObjectCreate = create_surface,
                                   .cuSurfObjectDestroy = destroy,
                                   .cuArray3DCreate = create_array,
                                   .cuArrayDestroy = destroy_array,
                                   .cuMemcpy3DAsync = copy_array,
                                   .cuGetErrorName = name_error,
                                   .cuGetErrorString = name_error};

static int reset(void **state)
{
    (void)state;
    memset(&asked, 0, sizeof asked);
    return 0;
}

TEST_IN(a_map_is_encoded_as_it_is_described, reset, NULL)
{
    const view_plan v = {.kind = VIEW_TENSOR,
                         .type = DTYPE_HALF,
                         .rank = 3,
                         .size = {64, 20, 5},
                         .stride_bytes = {128, 2560},
                         .box = {32, 4, 1},
                         .swizzle = 2,
                         .nan_outside = 1,
                         .channels = 1};
    CUtensorMap map;
    at_error error = {0};
    assert_ok(cuda_view_encode(&driver, &v, 4096, &map, &error), error);
    assert_int_equal(map.opaque[0], 4096);
    assert_int_equal(asked.type, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    assert_int_equal(asked.rank, 3);
    assert_memory_equal(asked.size, ((cuuint64_t[]){64, 20, 5}), 3 * sizeof(cuuint64_t));
    assert_memory_equal(asked.stride, ((cuuint64_t[]){128, 2560}), 2 * sizeof(cuuint64_t));
    assert_memory_equal(asked.box, ((cuuint32_t[]){32, 4, 1}), 3 * sizeof(cuuint32_t));
    assert_memory_equal(asked.step, ((cuuint32_t[]){1, 1, 1}), 3 * sizeof(cuuint32_t));
    assert_int_equal(asked.swizzle, CU_TENSOR_MAP_SWIZZLE_64B);
    assert_int_equal(asked.outside, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}

TEST_IN(a_map_that_the_driver_refuses_is_no_fault_of_the_device, reset, NULL)
{
    const view_plan v = {.kind = VIEW_TENSOR,
                         .type = DTYPE_FLOAT,
                         .rank = 1,
                         .size = {64},
                         .box = {32},
                         .channels = 1};
    CUtensorMap map;
    at_error error = {0};
    asked.result = CUDA_ERROR_INVALID_VALUE;
    assert_int_equal(cuda_view_encode(&driver, &v, 4096, &map, &error), AT_COMPILE);
    assert_non_null(strstr(error.message, "the tensor map was refused"));
}

TEST_IN(textures_are_made_once_and_freed_with_their_memory, reset, NULL)
{
    const view_plan line = {.kind = VIEW_TEXTURE,
                            .type = DTYPE_UINT8,
                            .rank = 1,
                            .size = {64},
                            .channels = 4,
                            .address = ADDRESS_CLAMP};
    const view_plan image = {.kind = VIEW_TEXTURE,
                             .type = DTYPE_FLOAT,
                             .rank = 2,
                             .size = {60, 7},
                             .stride_bytes = {256},
                             .channels = 1,
                             .filter = FILTER_LINEAR,
                             .address = ADDRESS_BORDER,
                             .normalised = 1};
    cuda_textures t = {0};
    CUtexObject first, again, other, second;
    at_error error = {0};
    assert_ok(cuda_textures_get(&t, &driver, &line, 4096, &first, &error), error);
    assert_int_equal(asked.resource.resType, CU_RESOURCE_TYPE_LINEAR);
    assert_int_equal(asked.resource.res.linear.sizeInBytes, 256);
    assert_int_equal(asked.resource.res.linear.format, CU_AD_FORMAT_UNSIGNED_INT8);
    assert_int_equal(asked.texture.flags, CU_TRSF_READ_AS_INTEGER);
    assert_ok(cuda_textures_get(&t, &driver, &line, 4096, &again, &error), error);
    assert_true(first == again);
    assert_ok(cuda_textures_get(&t, &driver, &line, 8192, &other, &error), error);
    assert_ok(cuda_textures_get(&t, &driver, &image, 4096, &second, &error), error);
    assert_int_equal(asked.made, 3);
    assert_int_equal(asked.resource.resType, CU_RESOURCE_TYPE_PITCH2D);
    assert_int_equal(asked.resource.res.pitch2D.pitchInBytes, 256);
    assert_int_equal(asked.resource.res.pitch2D.height, 7);
    assert_int_equal(asked.texture.addressMode[1], CU_TR_ADDRESS_MODE_BORDER);
    assert_int_equal(asked.texture.filterMode, CU_TR_FILTER_MODE_LINEAR);
    assert_int_equal(asked.texture.flags, CU_TRSF_NORMALIZED_COORDINATES);
    cuda_textures_drop(&t, &driver, 4096, 1024);
    assert_int_equal(asked.destroyed, 2);
    assert_ok(cuda_textures_get(&t, &driver, &line, 8192, &again, &error), error);
    assert_true(again == other);
    cuda_textures_drop(&t, &driver, 0, UINT64_MAX);
    assert_int_equal(asked.destroyed, 3);
    assert_null(t.entries);
}

static view_plan array_of(view_kind kind, uint32_t rank, bool layered)
{
    view_plan v = {.kind = kind,
                   .type = DTYPE_INT16,
                   .rank = rank,
                   .size = {60, 7, 5},
                   .stride_bytes = {240, 240 * 7},
                   .channels = 2,
                   .in_array = 1,
                   .layered = layered};
    for (uint32_t i = rank; i < 3; i++)
        v.size[i] = v.stride_bytes[i - 1] = 0;
    return v;
}

TEST_IN(views_of_one_array_share_it_and_free_it_last, reset, NULL)
{
    const view_plan surface = array_of(VIEW_SURFACE, 2, false),
                    texture = array_of(VIEW_TEXTURE, 2, false);
    cuda_textures t = {0};
    CUtexObject first, second, other;
    at_error error = {0};
    assert_ok(cuda_textures_get(&t, &driver, &surface, 4096, &first, &error), error);
    assert_int_equal(asked.array.Format, CU_AD_FORMAT_SIGNED_INT16);
    assert_int_equal(asked.array.NumChannels, 2);
    assert_int_equal(asked.resource.resType, CU_RESOURCE_TYPE_ARRAY);
    assert_ptr_equal(asked.resource.res.array.hArray, (CUarray)1);
    assert_ok(cuda_textures_get(&t, &driver, &texture, 4096, &second, &error), error);
    assert_ptr_equal(asked.resource.res.array.hArray, (CUarray)1);
    assert_ok(cuda_textures_get(&t, &driver, &surface, 8192, &other, &error), error);
    assert_int_equal(asked.arrays, 2);
    cuda_textures_drop(&t, &driver, 4096, 1024);
    assert_int_equal(asked.destroyed, 2);
    assert_int_equal(asked.arrays_destroyed, 1);
    cuda_textures_drop(&t, &driver, 0, UINT64_MAX);
    assert_int_equal(asked.arrays_destroyed, 2);
}

TEST_IN(an_array_has_the_sides_and_layers_of_its_view, reset, NULL)
{
    static const struct {
        uint32_t rank;
        bool layered;
        size_t width, height, depth, copied_height, copied_depth;
        unsigned flags;
    } cases[] = {
        {1, false, 60, 0, 0, 1, 1, CUDA_ARRAY3D_SURFACE_LDST},
        {2, false, 60, 7, 0, 7, 1, CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_TEXTURE_GATHER},
        {3, false, 60, 7, 5, 7, 5, CUDA_ARRAY3D_SURFACE_LDST},
        {2, true, 60, 0, 7, 1, 7, CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED},
        {3, true, 60, 7, 5, 7, 5, CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const view_plan v = array_of(VIEW_SURFACE, cases[i].rank, cases[i].layered);
        cuda_textures t = {0};
        CUtexObject made;
        at_error error = {0};
        assert_ok(cuda_textures_get(&t, &driver, &v, 4096, &made, &error), error);
        assert_int_equal(asked.array.Width, cases[i].width);
        assert_int_equal(asked.array.Height, cases[i].height);
        assert_int_equal(asked.array.Depth, cases[i].depth);
        assert_int_equal(asked.array.Flags, cases[i].flags);
        assert_ok(cuda_textures_copy(&t, &driver, &v, 4096, false, NULL, &error), error);
        assert_int_equal(asked.copy.srcDevice, 4096);
        assert_int_equal(asked.copy.srcMemoryType, CU_MEMORYTYPE_DEVICE);
        assert_int_equal(asked.copy.dstMemoryType, CU_MEMORYTYPE_ARRAY);
        assert_int_equal(asked.copy.WidthInBytes, 240);
        assert_int_equal(asked.copy.srcPitch, 240);
        assert_int_equal(asked.copy.Height, cases[i].copied_height);
        assert_int_equal(asked.copy.Depth, cases[i].copied_depth);
        assert_ok(cuda_textures_copy(&t, &driver, &v, 4096, true, NULL, &error), error);
        assert_int_equal(asked.copy.srcMemoryType, CU_MEMORYTYPE_ARRAY);
        assert_int_equal(asked.copy.dstDevice, 4096);
        cuda_textures_drop(&t, &driver, 0, UINT64_MAX);
    }
}
