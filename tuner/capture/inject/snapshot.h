/* One launch: its arguments, and the memory that they point at, before and after it.
 *
 * The driver is asked from within its own callback: everything else that the program does on the
 * GPU is waited for first. */
#ifndef AUTOTUNE_CAPTURE_INJECT_SNAPSHOT_H
#define AUTOTUNE_CAPTURE_INJECT_SNAPSHOT_H

#include <cuda.h>
#include <stdbool.h>

#include "capture/inject/modules.h"
#include "capture/layout.h"

/* X(name): what is asked of the driver. All but the last three are in CUDA 12.0. */
#define SNAPSHOT_DRIVER_FUNCTIONS(X)                                                               \
    X(cuCtxGetDevice)                                                                              \
    X(cuCtxSynchronize)                                                                            \
    X(cuDeviceGetAttribute)                                                                        \
    X(cuDeviceGetName)                                                                             \
    X(cuFuncGetModule)                                                                             \
    X(cuGetErrorString)                                                                            \
    X(cuLibraryGetGlobal)                                                                          \
    X(cuMemcpyDtoH)                                                                                \
    X(cuModuleGetGlobal)                                                                           \
    X(cuPointerGetAttribute)                                                                       \
    X(cuStreamIsCapturing)                                                                         \
    X(cuThreadExchangeStreamCaptureMode)                                                           \
    X(cuKernelGetLibrary)                                                                          \
    X(cuKernelGetParamInfo)                                                                        \
    X(cuFuncGetParamInfo)

typedef struct snapshot_driver {
#define SNAPSHOT_MEMBER(name) __typeof__(&name) name;
    SNAPSHOT_DRIVER_FUNCTIONS(SNAPSHOT_MEMBER)
#undef SNAPSHOT_MEMBER
} snapshot_driver;

/* The path to which the launch at `place` of the table is written. */
typedef struct snapshot {
    const snapshot_driver *driver;
    const modules *modules;
    capture_launch *out;
    int folder, place;
    uint64_t limit_bytes;
} snapshot;

/* The driver that the program has loaded; NULL: none. */
void *snapshot_find_library(void);

/* Finds the functions in the driver that the program has loaded. The name of the first that it
 * lacks, as by an old driver; NULL: none. */
const char *snapshot_find_driver(snapshot_driver *out);

/* Takes what there is before the launch of `kernel`, its mangled name: one of `arguments` and
 * `extra` holds the kernel's. False: out->trouble says why it cannot be captured. */
bool snapshot_before(const snapshot *s, const char *kernel, CUfunction function, void **arguments,
                     void **extra);
/* Waits for the launch, and takes what it left. */
void snapshot_after(const snapshot *s);

#endif
