
static const void *autotune_${p.name}_address(int kernel, int entry)
{
% for k, kernel in ipairs(p.kernels) do
%   for e, name in ipairs(kernel.entries) do
%     if name ~= "" then
    if (kernel == ${k - 1} && entry == ${e - 1})
        return ${entries.address(p.name, k, e, name)};
%     end
%   end
% end
    return nullptr;
}
% if #p.launch.constants > 0 then
%   include "export/fill.cu"
% end

cudaError_t autotune_${p.name}_plan(const autotune_device *device, const autotune_${p.name}_problem *problem,
                            autotune_${p.name}_choice *choice, autotune_plan *plan)
{
    cudaError_t status = device ? cudaSuccess : current_device(&device);
    if (status != cudaSuccess)
        return status;
    const autotune_${p.name}_choice best = autotune_${p.name}_find(device, problem);
    if (choice)
        *choice = best;
    if (best.rule == AUTOTUNE_RULE_NONE)
        return cudaErrorNotSupported;
    if (!autotune_${p.name}_evaluate(device, problem, &best.config, plan))
        return cudaErrorInvalidValue;
    plan->rule = best.rule;
    plan->kernel = autotune_${p.name}_kernel(device, problem, &best.config);
    for (int i = 0; i < plan->launch_count && status == cudaSuccess; i++) {
        const void *kernel = autotune_${p.name}_address(plan->kernel, plan->launches[i].entry);
        status = kernel ? allow(kernel, plan->launches[i]) : cudaErrorNotSupported;
    }
    return status;
}

cudaError_t autotune_${p.name}_run(const autotune_plan *plan,
                           const autotune_${p.name}_buffers *buffers, cudaStream_t stream)
{
% local addresses = {}
% for i, buffer in ipairs(p.launch.buffers) do addresses[i] = "buffers->" .. buffer.identifier end
% if #addresses > 0 then
    const void *const addresses[] = {${table.concat(addresses, ", ")}};
% else
    const void *const addresses[] = {nullptr};
    (void)buffers;
% end
% if #p.launch.constants > 0 then
    cudaError_t status = autotune_${p.name}_fill(plan, buffers, stream);
% else
    cudaError_t status = cudaSuccess;
% end
    int place = -1;
    unsigned round = 0;
    while (status == cudaSuccess && autotune_launch_next(plan, &place, &round)) {
        const autotune_launch &launch = plan->launches[place];
        const void *kernel = autotune_${p.name}_address(plan->kernel, launch.entry);
        status = kernel ? queue(*plan, launch, kernel, addresses, stream) : cudaErrorNotSupported;
    }
    return status;
}

cudaError_t autotune_${p.name}_launch(const autotune_${p.name}_problem *problem,
                              const autotune_${p.name}_buffers *buffers, cudaStream_t stream)
{
    autotune_plan plan;
    cudaError_t status = autotune_${p.name}_plan(nullptr, problem, nullptr, &plan);
    return status == cudaSuccess ? autotune_${p.name}_run(&plan, buffers, stream) : status;
}
