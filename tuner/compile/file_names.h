/* The names of source files in PTX.
 *
 * NVRTC puts its current folder, where the Toolkit's headers lie (compile/worker.c), before each
 * name that is relative: those of the source, of #line directives and of headers that are given as
 * text then look like headers of the Toolkit. Here they get the names back under which they were
 * written; what is absolute afterwards is a file of the Toolkit. */
#ifndef AUTOTUNE_COMPILE_FILE_NAMES_H
#define AUTOTUNE_COMPILE_FILE_NAMES_H

#include <stddef.h>

#include "base/text.h"

/* Renames the files of the .file directives of `ptx`, in place: a name below `folder` that is one
 * of `headers`, or none of the folder's own files nor of NVRTC's built-in ones. The text does not
 * grow. */
void file_names_restore(char *ptx, const char *folder, const source_header *headers,
                        size_t header_count);

/* Gives the source its folder back in a log, where messages begin with the last part of its name
 * alone: `t.cu(3): error` becomes `kernels/t.cu(3): error`. Without memory the log stays. */
void file_names_complete(char **log, const char *name);

#endif
