
static cudaError_t autotune_${p.name}_fill(const autotune_plan *plan,
                                  const autotune_${p.name}_buffers *buffers,
                                  cudaStream_t stream)
{
    cudaError_t status = cudaSuccess;
% for k in ipairs(p.kernels) do
%   for _, constant in ipairs(p.launch.constants) do
%     local symbol = "autotune_" .. p.name .. "_kernel_" .. k - 1 .. "::" .. constant.name
    if (plan->kernel == ${k - 1} && status == cudaSuccess)
        status = plan->buffer_bytes[${constant.buffer}] > sizeof ${symbol}
                     ? cudaErrorInvalidValue
                     : cudaMemcpyToSymbolAsync(${symbol}, buffers->${p.launch.buffers[constant.buffer + 1].identifier},
                                               plan->buffer_bytes[${constant.buffer}], 0,
                                               cudaMemcpyDeviceToDevice, stream);
%   end
% end
    return status;
}
