/* A kernel's source among others in one .cu file.
 *
 * NVRTC compiles one source at a time; a file for nvcc has many, with the same names, so each goes
 * into a namespace of its own. C linkage, which ignores namespaces, is removed. Includes of the
 * Toolkit move before the namespaces; other included files become text within them. Macros are
 * undefined at the end of the source that defines them. */
#ifndef AUTOTUNE_EXPORT_CUDA_SOURCE_H
#define AUTOTUNE_EXPORT_CUDA_SOURCE_H

#include "base/error.h"
#include "base/source_header.h"
#include "export/kernels.h"

/* `headers` are the files that the source and its headers include, other than the Toolkit's. *out
 * is the caller's on AT_OK; has_entry stays false. AT_FORMAT for a circle of includes,
 * AT_NO_MEMORY. */
at_status export_cuda_source(const char *source, const source_header *headers, size_t header_count,
                             export_source *out, at_error *error);

#endif
