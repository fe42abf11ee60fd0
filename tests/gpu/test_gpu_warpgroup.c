/* Products of matrices by warpgroups (wgmma), on a GPU of compute capability 9.0: each form of
 * unit.sim/machine.warpgroup, beside the product by rows and columns that the simulated device is
 * held to.
 *
 * Integers must be equal. Floats may differ by what such a GPU's accumulators lack: how much they
 * do is printed. Exit status: 0 all do, 1 one does not, 77 there is no such GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "sim_fixture.h"
#include "warpgroup_forms.h"

enum { SKIPPED = 77 };

/* More would be another product. Sums of 8-bit floats keep around 14 bits on such a GPU
 * (DeepSeek-V3 Technical Report, 3.3.2), others more. */
static const double most_apart = 0x1p-9;

static bool open_gpu(cuda_driver *cuda, CUcontext *context)
{
    at_error error = {0};
    CUdevice device;
    int major = 0;
    if (cuda_driver_open(cuda, &error) || cuda->cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuda->cuDevicePrimaryCtxRetain(context, device) != CUDA_SUCCESS ||
        cuda->cuCtxSetCurrent(*context) != CUDA_SUCCESS)
        return false;
    cuda->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    return major == 9;
}

/* The form's kernel on the GPU, with the data of `d`; false when the driver refuses something. */
static bool run_on_gpu(const cuda_driver *cuda, const char *ptx, const warpgroup_form *f,
                       warpgroup_data *d)
{
    CUmodule module = NULL;
    CUfunction function;
    CUdeviceptr image = 0, a = 0, of_d = 0;
    int keeps = f->keeps;
    void *arguments[] = {&image, &a, &of_d, &d->at_a, &d->at_b, &keeps};
    bool ok =
        cuda->cuModuleLoadData(&module, ptx) == CUDA_SUCCESS &&
        cuda->cuModuleGetFunction(&function, module, "k") == CUDA_SUCCESS &&
        cuda->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 WARPGROUP_IMAGE_BYTES) == CUDA_SUCCESS &&
        cuda->cuMemAlloc(&image, sizeof d->image) == CUDA_SUCCESS &&
        cuda->cuMemAlloc(&a, sizeof d->a_registers) == CUDA_SUCCESS &&
        cuda->cuMemAlloc(&of_d, sizeof d->d_registers) == CUDA_SUCCESS &&
        cuda->cuMemcpyHtoDAsync(image, d->image, sizeof d->image, NULL) == CUDA_SUCCESS &&
        cuda->cuMemcpyHtoDAsync(a, d->a_registers, sizeof d->a_registers, NULL) == CUDA_SUCCESS &&
        cuda->cuMemcpyHtoDAsync(of_d, d->d_registers, sizeof d->d_registers, NULL) ==
            CUDA_SUCCESS &&
        cuda->cuLaunchKernel(function, 1, 1, 1, WARPGROUP_THREADS, 1, 1, WARPGROUP_IMAGE_BYTES,
                             NULL, arguments, NULL) == CUDA_SUCCESS &&
        cuda->cuMemcpyDtoHAsync(d->d_registers, of_d, sizeof d->d_registers, NULL) ==
            CUDA_SUCCESS &&
        cuda->cuStreamSynchronize(NULL) == CUDA_SUCCESS;
    const CUdeviceptr all[] = {image, a, of_d};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            cuda->cuMemFree(all[i]);
    if (module)
        cuda->cuModuleUnload(module);
    return ok;
}

int main(void)
{
    static warpgroup_data d;
    static char text[32768];
    cuda_driver cuda;
    CUcontext context;
    int failed = 0, count = 0;
    if (!open_gpu(&cuda, &context)) {
        printf("skipped: there is no GPU of compute capability 9.0\n");
        return SKIPPED;
    }
    for (const warpgroup_form *f = warpgroup_forms; f->types; f++, count++) {
        int row = 0, column = 0;
        warpgroup_fill(f, &d);
        warpgroup_kernel(f, text, sizeof text);
        char *ptx = sim_test_ptx(text, "sm_90a");
        const bool ran = run_on_gpu(&cuda, ptx, f, &d);
        const double distance = ran ? warpgroup_distance(f, &d, &row, &column) : 0;
        const bool fine = ran && distance <= most_apart;
        printf("%s wgmma %s, n %d, swizzle %d%s%s%s%s: ", fine ? "ok  " : "FAIL", f->types, f->n,
               f->swizzle, f->a_in_registers ? ", a in registers" : "",
               f->turned_a ? ", a turned" : "", f->turned_b ? ", b turned" : "",
               f->base ? ", base offset" : "");
        if (ran)
            printf("off by %.3g of the sum of sizes at most, in row %d, column %d\n", distance, row,
                   column);
        else
            printf("the GPU does not run this\n");
        failed += !fine;
        free(ptx);
    }
    printf("%d forms of wgmma, %d differ\n", count, failed);
    return failed > 0;
}
