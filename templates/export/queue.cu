namespace {

/* Largest cluster, in blocks, that every device supports without a permission (CUDA C++ Programming
   Guide). */
const unsigned portable_cluster_blocks = 8;

/* The current device. Its properties are read once for each thread and device. */
cudaError_t current_device(const autotune_device **out)
{
    static thread_local int known = -1;
    static thread_local cudaDeviceProp properties;
    static thread_local autotune_device device;
    int ordinal = 0;
    cudaError_t status = cudaGetDevice(&ordinal);
    if (status == cudaSuccess && known != ordinal) {
        known = -1;
        status = autotune_device_of(ordinal, &properties, &device);
        known = status == cudaSuccess ? ordinal : -1;
    }
    *out = &device;
    return status;
}

/* Permits a kernel the resources that a launch needs beyond the defaults. */
cudaError_t allow(const void *kernel, const autotune_launch &launch)
{
    cudaFuncAttributes attributes;
    cudaError_t status = cudaSuccess;
    if (launch.shared_bytes > 0)
        status = cudaFuncGetAttributes(&attributes, kernel);
    if (launch.shared_bytes > 0 && status == cudaSuccess &&
        static_cast<unsigned>(attributes.maxDynamicSharedSizeBytes) < launch.shared_bytes)
        status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(launch.shared_bytes));
    if (autotune_cluster_blocks(&launch) > portable_cluster_blocks && status == cudaSuccess)
        status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return status;
}

/* Queues one launch of a plan. */
cudaError_t queue(const autotune_plan &plan, const autotune_launch &launch, const void *kernel,
                  const void *const *buffers, cudaStream_t stream)
{
    const void *arguments[128];
    cudaLaunchAttribute attributes[3] = {};
    cudaLaunchConfig_t config = {};
    for (int i = 0; i < launch.argument_count; i++) {
        const autotune_argument &a = plan.arguments[launch.first_argument + i];
        arguments[i] = a.buffer >= 0      ? static_cast<const void *>(&buffers[a.buffer])
                       : a.size_bytes > 8 ? static_cast<const void *>(plan.structs + a.bits)
                                          : static_cast<const void *>(&a.bits);
    }
    config.gridDim = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
    config.blockDim = dim3(launch.block[0], launch.block[1], launch.block[2]);
    config.dynamicSmemBytes = launch.shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    if (launch.cooperative) {
        attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
        attributes[config.numAttrs++].val.cooperative = 1;
    }
    if (autotune_cluster_blocks(&launch) > 1) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attributes[config.numAttrs].val.clusterDim.x = launch.cluster[0];
        attributes[config.numAttrs].val.clusterDim.y = launch.cluster[1];
        attributes[config.numAttrs++].val.clusterDim.z = launch.cluster[2];
    }
    if (launch.balanced) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
        attributes[config.numAttrs++].val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicyLoadBalancing;
    }
    return cudaLaunchKernelExC(&config, kernel, const_cast<void **>(arguments));
}

} // namespace
