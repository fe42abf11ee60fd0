
static cudaError_t autotune_$_fill(const autotune_plan *plan,
                                  const autotune_$_buffers *buffers,
                                  cudaStream_t stream)
{
    cudaError_t status = cudaSuccess;
@copies@
    return status;
}
