/* The log of the compiler: resources of kernels, messages for people, and remedies.
 *
 * With the option -v, ptxas reports each kernel in lines such as
 *   ptxas info    : Compiling entry function 'k' for 'sm_90'
 *   ptxas info    : Function properties for k
 *   ptxas         .     32 bytes stack frame, 32 bytes spill stores, 28 bytes spill loads
 *   ptxas info    : Used 64 registers, used 1 barriers, 4096 bytes smem, 368 bytes cmem[0]
 * among the warnings and errors of the front end. */
#ifndef AUTOTUNE_COMPILE_LOG_H
#define AUTOTUNE_COMPILE_LOG_H

#include <stddef.h>

#include "base/text.h"
#include "compile/compile.h"

/* Reads the resources of kernel `entry`. Returns AT_NOT_FOUND if they are not in the log. Figures
 * that this ptxas does not report are 0 (constant memory from sm_90 on: see compile/cubin.h).
 * Constant bytes are the sum of all banks, including the module's. Safe for any text: figures that
 * do not fit become UINT32_MAX. */
at_status compile_log_read(const char *log, const char *entry, kernel_resources *out,
                           at_error *error);

/* Removes the informational lines of ptxas and trailing blank lines, in place. If the log has
 * errors, also removes the warnings. */
void compile_log_trim(char *log);

/* Finds the first line with `word` after the first #line directive of a source. `place` receives
 * "file:line" by the #line directives. Returns false if no line has the word. */
bool compile_source_place(const char *source, const char *word, char *place, size_t place_bytes);

/* Restores the file names in the .file directives of `ptx`, in place. NVRTC puts its current folder
 * `folder`, which has the Toolkit's headers (compile/worker.c), before each relative name: of the
 * source, of #line directives and of headers that are given as text. All of these would look like
 * headers of the Toolkit. A name is restored if it is in `headers`, or if it is neither a file in
 * the folder nor built into NVRTC. Names that stay absolute are the Toolkit's. */
void file_names_restore(char *ptx, const char *folder, const source_header *headers,
                        size_t header_count);

/* Restores the folder of the source `name` in messages, which contain only the last part of the
 * name: `t.cu(3): error` becomes `kernels/t.cu(3): error`. The caller owns *log, which is
 * replaced; without memory it stays. */
void file_names_complete(char **log, const char *name);

/* Appends "; " and a remedy, if one is known, to the line of the first error in NVRTC's log.
 * Remedies are for names and headers that nvcc accepts, but NVRTC lacks or has in other headers.
 * `include_dir` is the folder of the Toolkit's headers, or "". The caller owns *log, which is
 * replaced; without memory it stays. */
void compile_log_add_remedy(char **log, const char *include_dir);

#endif
