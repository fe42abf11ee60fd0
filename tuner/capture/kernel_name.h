/* Names of kernels: as a compiler mangles them, as people write them. */
#ifndef AUTOTUNE_CAPTURE_KERNEL_NAME_H
#define AUTOTUNE_CAPTURE_KERNEL_NAME_H

/* "_Z5scalePfi" as "scale(float*, int)"; the caller frees it. NULL: it is no mangled name, or there
 * is no C++ library (libstdc++ or libc++abi) on this machine that could tell. */
char *kernel_name_demangled(const char *mangled);

#endif
