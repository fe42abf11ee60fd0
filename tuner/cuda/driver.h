/* The CUDA driver, opened at run time: a table of its functions, and its error messages.
 *
 * The library is $AUTOTUNE_LIBCUDA, or libcuda.so.1 as the system finds it; nothing links to it.
 * cuda.h's macros give the fields their versioned names (cuMemAlloc_v2), so that the function found
 * is the one declared. */
#ifndef AUTOTUNE_CUDA_DRIVER_H
#define AUTOTUNE_CUDA_DRIVER_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* clang-format off */
#define CUDA_DRIVER_FUNCTIONS(X)                                                                   \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString)                          \
    X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetUuid) X(cuDeviceTotalMem)   \
    X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxSetFlags) X(cuDevicePrimaryCtxRetain)              \
    X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent) X(cuCtxGetCurrent) X(cuCtxGetDevice)           \
    X(cuMemGetInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemHostAlloc) X(cuMemFreeHost)                  \
    X(cuMemHostGetDevicePointer) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync)    \
    X(cuMemsetD8Async) X(cuTensorMapEncodeTiled) X(cuTexObjectCreate) X(cuTexObjectDestroy)        \
    X(cuSurfObjectCreate) X(cuSurfObjectDestroy) X(cuArray3DCreate) X(cuArrayDestroy)              \
    X(cuMemcpy3DAsync)                                                                             \
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuModuleGetGlobal)              \
    X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuLaunchKernel) X(cuLaunchKernelEx)              \
    X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamQuery)              \
    X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventQuery) X(cuEventElapsedTime)      \
    X(cuStreamIsCapturing) X(cuThreadExchangeStreamCaptureMode)                                    \
    X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuGraphInstantiate) X(cuGraphUpload)           \
    X(cuGraphLaunch) X(cuGraphDestroy) X(cuGraphExecDestroy)
/* clang-format on */

#define CUDA_DRIVER_FIELD(f) __typeof__(f) *f;

typedef struct cuda_driver {
    void *library;    /* owned; NULL: not open */
    char version[32]; /* of the driver package, "580.159.04"; empty where the system does not say */
    int cuda_version; /* newest CUDA that the driver supports: 13000 for 13.0 */
    CUDA_DRIVER_FUNCTIONS(CUDA_DRIVER_FIELD)
    /* The host's clock in nanoseconds. A test's fake driver, whose copies take no real time,
     * replaces it by exporting autotune_host_clock_ns. */
    int64_t (*clock_ns)(void);
} cuda_driver;

/* Opens the library, finds every function and calls cuInit. AT_NO_DEVICE says in one line what is
 * missing: the library, a function (the driver is too old), a GPU. */
at_status cuda_driver_open(cuda_driver *out, at_error *error);

/* Fine on a zeroed or half-open driver. */
void cuda_driver_close(cuda_driver *cuda);

/* AT_OK for CUDA_SUCCESS; otherwise `status` with "<what>: <driver's sentence> (<its name>)". */
at_status cuda_check(const cuda_driver *cuda, CUresult result, at_status status, const char *what,
                     at_error *error);

/* AT_COMPILE for an error of a load or launch that leaves the context usable, else AT_DEVICE. */
at_status cuda_refusal_status(CUresult result);

/* ---- visible GPUs ----
 *
 * Which GPUs the driver shows to this process.
 *
 * cuInit wakes up every GPU that it shows: on a host of four H200s it took 0.86 to 0.88 s, with one
 * of them shown 0.18 to 0.19 s. What uses one GPU asks for that one alone, by
 * $CUDA_VISIBLE_DEVICES, before the driver starts. */

/* How many GPUs the host has for all that its files tell; 0: they do not tell. */
size_t visible_present(void);

/* Sets $CUDA_VISIBLE_DEVICES so that GPU `ordinal`, of those that are shown now, is shown alone.
 * Returns its ordinal from then on: 0, or `ordinal` where nothing is changed: when no other GPU is
 * shown, when none has that ordinal (the driver will say so), and when neither the variable nor
 * `present` (0: not known) tells which are shown. To be called before the driver is opened, and
 * only in the GPU's worker, because it changes the process's environment. */
int visible_show_alone(size_t present, int ordinal);

#endif
