/* The CUDA driver, opened at run time: a table of its functions, and its error messages.
 *
 * The library is $AUTOTUNE_LIBCUDA, or libcuda.so.1; nothing links to it. The macros of cuda.h give
 * the fields their versioned names (cuMemAlloc_v2), so that each symbol matches its declaration. */
#ifndef AUTOTUNE_CUDA_DRIVER_H
#define AUTOTUNE_CUDA_DRIVER_H

#include <cuda.h>
#include <stdbool.h>
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
    void *library;    /* owned; NULL if not open */
    char version[32]; /* version of the driver package ("580.159.04"); empty if unknown */
    int cuda_version; /* newest CUDA version that the driver supports: 13000 for 13.0 */
    CUDA_DRIVER_FUNCTIONS(CUDA_DRIVER_FIELD)
    /* Returns the host's time in ns. The fake driver of tests, whose copies take no real time,
     * replaces it by a symbol autotune_host_clock_ns. */
    int64_t (*clock_ns)(void);
} cuda_driver;

/* Opens the library, finds every function and calls cuInit. AT_NO_DEVICE if the library, a function
 * (the driver is too old) or a GPU is missing. */
at_status cuda_driver_open(cuda_driver *out, at_error *error);

/* Closes the library. `cuda` may be zeroed or half open. */
void cuda_driver_close(cuda_driver *cuda);

/* Returns AT_OK, or `status` with the message "WHAT: driver's text (name)". */
at_status cuda_check(const cuda_driver *cuda, CUresult result, at_status status, const char *what,
                     at_error *error);

/* Returns AT_COMPILE if the context is usable after this failure, otherwise AT_DEVICE. */
at_status cuda_refusal_status(CUresult result);

typedef struct library_symbol {
    const char *name;
    size_t offset; /* offset of the function pointer in the table */
} library_symbol;

/* Writes the address of each symbol of an open library to `table`, NULL if the library lacks it.
 * Returns the name of the first missing symbol, NULL if all exist. */
const char *library_find_symbols(void *library, const library_symbol *symbols, size_t count,
                                 void *table);

/* ---- visible GPUs ----
 * cuInit initialises every visible GPU: 0.86 to 0.88 s on a host with four H200s, 0.18 to 0.19 s
 * with one visible. A process that uses one GPU therefore hides the others by $CUDA_VISIBLE_DEVICES
 * before it opens the driver. */

/* Returns the number of GPUs by the host's device files (/dev/nvidia0 ...), 0 if it is unknown. */
size_t visible_count(void);

/* Sets $CUDA_VISIBLE_DEVICES so that of the visible GPUs only `ordinal` stays visible. Returns its
 * new ordinal, 0. Changes nothing and returns `ordinal` in three cases: no other GPU is visible;
 * `ordinal` does not exist; neither the variable nor `present` (0 if unknown) tells which GPUs are
 * visible. Called before the driver is opened, and only in the GPU's worker, because it changes the
 * environment. */
int visible_show_only(size_t present, int ordinal);

#endif
