/* Images of modules: PTX text, machine code, or a fat binary of both; and the names of their
 * kernels. The library that is loaded into programs has this file, so it never ends the process. */
#ifndef AUTOTUNE_CAPTURE_IMAGE_H
#define AUTOTUNE_CAPTURE_IMAGE_H

#include <stddef.h>

#include "base/error.h"

/* Finds the PTX that has the kernel. Like the driver, takes the PTX for the newest architecture up
 * to `arch` ("sm_90"). `*ptx` is NUL-terminated and freed by the caller. `path` is for messages.
 * AT_NO_DEVICE without PTX or a library to decompress it; AT_NOT_FOUND if no PTX has the kernel;
 * AT_FORMAT if the image is damaged; AT_NO_MEMORY. */
at_status image_ptx(const char *bytes, size_t size_bytes, const char *kernel, const char *arch,
                    const char *path, char **ptx, at_error *error);

/* Returns the size that an image states, in bytes. The driver trusts this size, too. */
size_t image_size_bytes(const void *image);

enum { IMAGE_NAME_BYTES = 256 };

/* Finds the next variable in global or constant memory that a module's PTX declares, and writes its
 * name. Returns where to continue, or NULL at the end. Skips names that are too long. */
const char *image_next_variable(const char *ptx, char name[IMAGE_NAME_BYTES]);

/* Returns the readable name, "scale(float*, int)" for "_Z5scalePfi"; the caller frees it. Returns
 * NULL if the name is not mangled, or this machine has no libstdc++ or libc++abi. */
char *kernel_name_demangled(const char *mangled);

#endif
