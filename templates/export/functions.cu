
static const void *autotune_$_address(int kernel, int entry)
{
@addresses@
    return nullptr;
}
@fill@

cudaError_t autotune_$_plan(const autotune_device *device, const autotune_$_problem *problem,
                            autotune_$_choice *choice, autotune_plan *plan)
{
    cudaError_t status = device ? cudaSuccess : current_device(&device);
    if (status != cudaSuccess)
        return status;
    const autotune_$_choice best = autotune_$_find(device, problem);
    if (choice)
        *choice = best;
    if (best.rule == AUTOTUNE_RULE_NONE)
        return cudaErrorNotSupported;
    if (!autotune_$_evaluate(device, problem, &best.config, plan))
        return cudaErrorInvalidValue;
    plan->rule = best.rule;
    plan->kernel = autotune_$_kernel(device, problem, &best.config);
    for (int i = 0; i < plan->launch_count && status == cudaSuccess; i++) {
        const void *kernel = autotune_$_address(plan->kernel, plan->launches[i].entry);
        status = kernel ? allow(kernel, plan->launches[i]) : cudaErrorNotSupported;
    }
    return status;
}

cudaError_t autotune_$_run(const autotune_plan *plan,
                           const autotune_$_buffers *buffers, cudaStream_t stream)
{
@begin@
    int place = -1;
    unsigned round = 0;
    while (status == cudaSuccess && autotune_launch_next(plan, &place, &round)) {
        const autotune_launch &launch = plan->launches[place];
        const void *kernel = autotune_$_address(plan->kernel, launch.entry);
        status = kernel ? queue(*plan, launch, kernel, addresses, stream) : cudaErrorNotSupported;
    }
    return status;
}

cudaError_t autotune_$_launch(const autotune_$_problem *problem,
                              const autotune_$_buffers *buffers, cudaStream_t stream)
{
    autotune_plan plan;
    cudaError_t status = autotune_$_plan(nullptr, problem, nullptr, &plan);
    return status == cudaSuccess ? autotune_$_run(&plan, buffers, stream) : status;
}
