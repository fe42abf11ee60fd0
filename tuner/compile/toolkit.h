/* Identifies the headers of a CUDA Toolkit, on which the code of a source that includes them
 * depends. */
#ifndef AUTOTUNE_COMPILE_TOOLKIT_H
#define AUTOTUNE_COMPILE_TOOLKIT_H

#include <stdint.h>

/* A hash of path, size and modification time of every file below `include_dir`, independent of the
 * order in which the file system lists them. The contents, tens of megabytes, are not read. */
uint64_t toolkit_hash(const char *include_dir);

#endif
