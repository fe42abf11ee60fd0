/* The compiler's log: what a kernel needs, and the messages meant for people.
 *
 * ptxas, asked with -v, states for each kernel lines such as
 *   ptxas info    : Compiling entry function 'k' for 'sm_90'
 *   ptxas info    : Function properties for k
 *   ptxas         .     32 bytes stack frame, 32 bytes spill stores, 28 bytes spill loads
 *   ptxas info    : Used 64 registers, used 1 barriers, 4096 bytes smem, 368 bytes cmem[0]
 * among the front end's warnings and errors. */
#ifndef AUTOTUNE_COMPILE_LOG_H
#define AUTOTUNE_COMPILE_LOG_H

#include "compile/compile.h"

/* Reads the resources of kernel `entry`. AT_NOT_FOUND if the log lacks it. Figures that this ptxas
 * does not report (constant memory from sm_90 on: see compile/cubin.h) are 0; the constant bytes
 * are the sum of all banks, those of the module included. Any text is safe: figures that do not fit
 * become UINT32_MAX. */
at_status compile_log_read(const char *log, const char *entry, kernel_resources *out,
                           at_error *error);

/* Removes ptxas's informational lines in place, and trailing blank lines; beside errors warnings,
 * too. */
void compile_log_trim(char *log);

/* Finds where a source first has `word` after its head: "file:line" as its #line directives say.
 * False if it is nowhere. */
bool compile_source_place(const char *source, const char *word, char *place, size_t place_bytes);

#endif
