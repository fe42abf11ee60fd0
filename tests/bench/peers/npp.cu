/* rgb and conv2d beside NPP. */
#include "peer.h"

#if __has_include(<nppi.h>)
#include <nppi.h>

static NppStreamContext context_of(cudaStream_t stream)
{
    NppStreamContext context{};
    cudaDeviceProp properties;
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    context.hStream = stream;
    context.nCudaDeviceId = device;
    context.nMultiProcessorCount = properties.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context.nSharedMemPerBlock = properties.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = properties.major;
    context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    check(cudaStreamGetFlags(stream, &context.nStreamFlags), "cudaStreamGetFlags");
    return context;
}

static void check_npp(NppStatus status, const char *what)
{
    if (status != NPP_SUCCESS)
        throw std::runtime_error(std::string(what) + " failed with status " +
                                 std::to_string((int)status));
}

static std::function<void()> make_planes(Bench &bench)
{
    const int side = 16384;
    const Npp8u *src = bench.buffer<Npp8u>("src");
    Npp8u *plane[3];
    for (Npp8u *&p : plane)
        p = static_cast<Npp8u *>(bench.memory((size_t)side * side));
    const NppStreamContext context = context_of(bench.stream);
    Npp8u *r = plane[0], *g = plane[1], *b = plane[2];
    return [=] {
        Npp8u *const planes[3] = {r, g, b};
        check_npp(nppiCopy_8u_C3P3R_Ctx(src, 3 * side, planes, side, {side, side}, context),
                  "nppiCopy_8u_C3P3R");
    };
}

/* The interior of the image, because NPP's borders are not zeros. */
static std::function<void()> make_filter(Bench &bench)
{
    const int side = 16384;
    const Npp32f *src = bench.buffer<Npp32f>("src");
    Npp32f *to = static_cast<Npp32f *>(bench.memory((size_t)side * side * 4));
    Npp32f *weights = static_cast<Npp32f *>(bench.memory(9 * 4));
    const NppStreamContext context = context_of(bench.stream);
    return [=] {
        check_npp(nppiFilter_32f_C1R_Ctx(src + side + 1, side * 4, to + side + 1, side * 4,
                                         {side - 2, side - 2}, weights, {3, 3}, {1, 1}, context),
                  "nppiFilter_32f_C1R");
    };
}
#else
static std::function<void()> make_planes(Bench &)
{
    throw std::runtime_error("this CUDA Toolkit has no NPP (nppi.h)");
}
#define make_filter make_planes
#endif

std::vector<Row> rows()
{
    Row rgb;
    rgb.pattern = "rgb";
    rgb.problem = {at_integer("n", 1 << 28), at_text("layout", "packed")};
    rgb.shown = "2^28 pixels";
    rgb.peer = "nppiCopy_8u_C3P3R";
    rgb.least_ratio = 1.2;
    rgb.least_share = 0.90;
    rgb.bytes = 6.0 * (1 << 28);
    rgb.fill = Element::Bytes;
    rgb.make = make_planes;

    Row conv;
    conv.pattern = "conv2d";
    conv.problem = {at_integer("rows", 16384), at_integer("cols", 16384), at_integer("size", 3),
                    at_text("dtype", "float")};
    conv.shown = "16384^2 floats, 3x3";
    conv.peer = "nppiFilter_32f_C1R";
    conv.least_ratio = 1.5;
    conv.least_share = 0.92;
    conv.bytes = 8.0 * 16384 * 16384;
    conv.make = make_filter;
    conv.shapes = [](Bench &bench) {
        return streams(bench, {bench.buffer<void>("src")}, bench.buffer<void>("dst"),
                       4 * (size_t)16384 * 16384);
    };
    return {rgb, conv};
}
