/* log2(1 + |x|), linear between powers of two, with the sign of x: sizes compare by
 * their ratio. */
AUTOTUNE_FUNCTION double autotune_scale(double x)
{
    double size = 1 + (x < 0 ? -x : x), power = 0;
    if (!(size < 1e30))
        size = 1e30;
    while (size >= 2) {
        size /= 2;
        power += 1;
    }
    power += size - 1;
    return x < 0 ? -power : power;
}

/* How far two sizes are apart. */
AUTOTUNE_FUNCTION double autotune_apart(double a, double b)
{
    double d = autotune_scale(a) - autotune_scale(b);
    return d < 0 ? -d : d;
}

#if defined(CUDART_VERSION) && !defined(__CUDACC_RTC__)
/* Fills in a device of the CUDA runtime; the name is in `properties`, which must outlive it. */
AUTOTUNE_UNUSED static inline cudaError_t
autotune_device_of(int ordinal, struct cudaDeviceProp *properties, autotune_device *out)
{
    static const struct {
        enum cudaDeviceAttr attribute;
        size_t offset;
    } fields[] = {
        {cudaDevAttrComputeCapabilityMajor, offsetof(autotune_device, major)},
        {cudaDevAttrComputeCapabilityMinor, offsetof(autotune_device, minor)},
        {cudaDevAttrMultiProcessorCount, offsetof(autotune_device, sm_count)},
        {cudaDevAttrWarpSize, offsetof(autotune_device, warp_size)},
        {cudaDevAttrMaxThreadsPerBlock, offsetof(autotune_device, max_threads_per_block)},
        {cudaDevAttrMaxThreadsPerMultiProcessor, offsetof(autotune_device, max_threads_per_sm)},
        {cudaDevAttrMaxBlocksPerMultiprocessor, offsetof(autotune_device, max_blocks_per_sm)},
        {cudaDevAttrMaxRegistersPerMultiprocessor, offsetof(autotune_device, registers_per_sm)},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, offsetof(autotune_device, shared_per_sm)},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin,
         offsetof(autotune_device, max_shared_per_block)},
        {cudaDevAttrL2CacheSize, offsetof(autotune_device, l2_bytes)},
        {cudaDevAttrClockRate, offsetof(autotune_device, clock_khz)},
    };
    int memory_khz = 0, bus_bits = 0;
    size_t i;
    cudaError_t status = cudaGetDeviceProperties(properties, ordinal);
    memset(out, 0, sizeof *out);
    for (i = 0; i < sizeof fields / sizeof *fields && status == cudaSuccess; i++) {
        int v = 0;
        int64_t wide;
        status = cudaDeviceGetAttribute(&v, fields[i].attribute, ordinal);
        wide = v;
        memcpy((char *)out + fields[i].offset, &wide, sizeof wide);
    }
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, ordinal);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, ordinal);
    out->name = properties->name;
    out->max_registers_per_thread = 255;
    out->global_bytes = (int64_t)properties->totalGlobalMem;
    out->bandwidth = 2.0 * memory_khz * 1000.0 * bus_bits / 8.0;
    return status;
}
#endif
