/* PTX in what a module is loaded from: PTX text, machine code, or a fat binary of both. */
#ifndef AUTOTUNE_CAPTURE_IMAGE_H
#define AUTOTUNE_CAPTURE_IMAGE_H

#include <stddef.h>

#include "base/error.h"

/* Finds the PTX that has the kernel, of several the one for the newest architecture up to `arch`
 * ("sm_90"), as the driver would take it. *ptx, NUL-terminated, is the caller's. `path` is for
 * messages. AT_NO_DEVICE: it has machine code alone, or is compressed in a way for which this
 * machine has no library; AT_NOT_FOUND: no PTX has the kernel; AT_FORMAT: it is damaged;
 * AT_NO_MEMORY. Part of what is loaded into programs: it ends no process. */
at_status image_ptx(const char *bytes, size_t size_bytes, const char *kernel, const char *arch,
                    const char *path, char **ptx, at_error *error);

enum { IMAGE_NAME_BYTES = 256 };

/* The next variable of a module's PTX, of global or constant memory: its name, and where to look
 * for more. NULL: there is none. Longer names are left out. */
const char *image_next_variable(const char *ptx, char name[IMAGE_NAME_BYTES]);

#endif
