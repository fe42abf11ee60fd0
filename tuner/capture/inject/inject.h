/* The parts of the library that CUDA loads into a program: modules.c knows the images of loaded
 * modules, rows.c keeps the table of launches, snapshot.c captures one launch, inject.c watches the
 * program and calls the other three. The caller holds one lock during every call. */
#ifndef AUTOTUNE_CAPTURE_INJECT_INJECT_H
#define AUTOTUNE_CAPTURE_INJECT_INJECT_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/layout.h"

/* ---- images of modules ---- */

typedef struct module_image module_image;

typedef struct modules {
    module_image *first;
} modules;

/* Remembers the image, or the file, from which `handle` was loaded. An image within a file of the
 * program is remembered by its address. Any other image is copied, because its memory may be
 * reused. If memory ran out, the image is not remembered. */
void modules_add(modules *m, const void *handle, const void *image);
void modules_add_file(modules *m, const void *handle, const char *path);
void modules_remove(modules *m, const void *handle);

/* Returns the bytes of the image, or NULL if the image is unknown or a file. The bytes may be gone
 * if the program closed the library that holds them. */
const void *modules_bytes(const modules *m, const void *handle, size_t *size_bytes);

/* Writes the image to a new file `name` in a folder. Returns its size, or 0 on failure. */
uint64_t modules_write(const modules *m, const void *handle, int folder, const char *name);

/* Writes all the bytes. Returns false on an error. */
bool inject_write_all(int to, const char *bytes, size_t size_bytes);

/* ---- the table of launches (capture/layout.h) ---- */

enum { ROWS_BUCKETS = 1 << 15 }; /* twice the rows, so that probes are short */

typedef struct launch_table {
    capture_table *table;           /* mapped file; NULL without a table */
    int folder;                     /* folder of this process */
    uint32_t buckets[ROWS_BUCKETS]; /* 1 + index of a row; 0 in an empty bucket */
} launch_table;

/* Makes the folder and the table of this process. Returns false if they cannot be made. */
bool launch_table_open(launch_table *r, const char *dir);

/* Finds or adds the row for launches like `key` of the kernel `name`; ignores the name and the
 * counts in `key`. Returns NULL if there is no room. */
capture_row *launch_table_find(launch_table *r, const char *name, const capture_row *key);

/* Finds a row like launch_table_find(), but adds none. Returns NULL if no row exists. */
capture_row *launch_table_known(const launch_table *r, const char *name, const capture_row *key);

/* Writes why launches are missing, unless a reason was written before. */
void launch_table_trouble(char trouble[CAPTURE_TROUBLE_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Calls X(name) for driver functions. All except the last three exist since CUDA 12.0. */
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

/* The capture of one launch into `out`, which is launch number `place` of the table. */
typedef struct snapshot {
    const snapshot_driver *driver;
    const modules *modules;
    capture_launch *out;
    int folder, place;
    uint64_t limit_bytes;
} snapshot;

/* Returns the driver that the program has loaded, or NULL. */
void *snapshot_find_library(void);

/* Finds the functions in the driver that the program has loaded. Returns the name of the first
 * function that the driver lacks, or NULL. */
const char *snapshot_find_driver(snapshot_driver *out);

/* Captures a launch before it runs: module, arguments, and the contents of all memory to which the
 * arguments point. `kernel` is the mangled name. The arguments are in `arguments` or in `extra`.
 * First waits for all work on the GPU. On failure returns false and writes out->trouble. */
bool snapshot_before(const snapshot *s, const char *kernel, CUfunction function, void **arguments,
                     void **extra);
/* Waits for the launch, and captures the memory after it. */
void snapshot_after(const snapshot *s);

#endif
