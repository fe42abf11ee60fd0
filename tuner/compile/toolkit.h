/* Which headers a CUDA Toolkit has: they decide what a source that includes them compiles to. */
#ifndef AUTOTUNE_COMPILE_TOOLKIT_H
#define AUTOTUNE_COMPILE_TOOLKIT_H

#include <stdint.h>

/* A hash of the path, size and time of change of every file below `include_dir`, whatever the order
 * in which the file system lists them. Their bytes, tens of megabytes, are not read. */
uint64_t toolkit_hash(const char *include_dir);

#endif
