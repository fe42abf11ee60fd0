/* Picks the recorded transpose for this GPU, and launches it. Without CUDA it picks for an H200. */
#include <autotune.h>
#include <stdio.h>
#ifdef WITH_CUDA
#include <cuda.h>

static int launch(const at_choice *choice, at_error *error)
{
    at_kernel *kernel = NULL;
    CUdeviceptr src, dst;
    const size_t bytes = (size_t)8192 * 8192 * sizeof(float);
    if (at_prepare(choice, NULL, &kernel, error))
        return 1;
    int failed =
        cuMemAlloc(&src, bytes) || cuMemAlloc(&dst, bytes) || cuMemsetD32(src, 0, bytes / 4);
    const uint64_t buffers[] = {src, dst}; /* in the order of at_kernel_buffer_name() */
    failed = failed || at_launch(kernel, NULL, buffers, error) || cuCtxSynchronize();
    if (!failed)
        puts("launched");
    at_kernel_free(kernel);
    return failed;
}

static void open_gpu(void)
{
    CUdevice device;
    CUcontext context;
    if (cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
        cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS)
        cuCtxSetCurrent(context);
}
#endif

int main(void)
{
    at_error error = {0};
    at_results *results = NULL;
    at_choice *choice = NULL;
    at_gpu h200 = {"NVIDIA H200", 9, 0}, here;
#ifdef WITH_CUDA
    open_gpu();
#endif
    const int has_gpu = at_current_gpu(&here, &error) == AT_OK;
    const at_variable problem[] = {at_integer("rows", 8192), at_integer("cols", 8192),
                                   at_text("dtype", "float")};
    int failed = at_open(NULL, &results, &error) ||
                 at_pick(results, "transpose", has_gpu ? NULL : &h200, problem, 3, &choice, &error);
    if (!failed)
        printf("%s: %s (%s)\n", has_gpu ? here.name : h200.name, at_choice_text(choice),
               at_rule_name(at_choice_rule(choice)));
#ifdef WITH_CUDA
    if (!failed && has_gpu)
        failed = launch(choice, &error);
#endif
    if (failed)
        fprintf(stderr, "%s\n", error.message);
    at_choice_free(choice);
    at_close(results);
    return failed;
}
