/* A kernel's source among others in one .cu file.
 *
 * NVRTC is given one source at a time; a file for nvcc has many, with the same names. So each goes into a
 * namespace: C linkage is taken out of it, which knows no namespaces; what it includes of the Toolkit comes
 * before all of them, and the text of what it includes beside itself into it; and what it defines for the
 * preprocessor is undefined at its end. */
#ifndef AUTOTUNE_EXPORT_CUDA_SOURCE_H
#define AUTOTUNE_EXPORT_CUDA_SOURCE_H

#include "base/error.h"
#include "base/source_header.h"
#include "export/kernels.h"

/* `headers` are the files that the source, and they themselves, include beside it. *out is the caller's on
 * AT_OK; has_entry stays false. AT_FORMAT when includes go in a circle, AT_NO_MEMORY. */
at_status export_cuda_source(const char *source, const source_header *headers, size_t header_count,
                             export_source *out, at_error *error);

#endif
