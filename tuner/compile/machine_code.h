/* Notes at the ends of lines of PTX: what ptxas made of each.
 *
 * In: PTX with line information and the cubin that was compiled with it, of compute capability 7.0
 * or later. Its section .nv_debug_line_sass, a line program of DWARF 2, tells of which line of PTX
 * each machine instruction is. An instruction has 16 bytes; the upper ones tell which of six
 * barriers it sets when it ends and which it waits for: Jia et al., "Dissecting the NVIDIA Volta
 * GPU Architecture via Microbenchmarking" (2018), section 2.1. Opcodes were read off kernels of one
 * operation each, compiled for sm_80, sm_90 and sm_120. ptx/notes.h has the form of a note. */
#ifndef AUTOTUNE_COMPILE_MACHINE_CODE_H
#define AUTOTUNE_COMPILE_MACHINE_CODE_H

#include <stddef.h>

/* The PTX with its notes, which the caller frees; NULL: the cubin tells nothing, or no memory. Any
 * bytes are safe. */
char *machine_code_annotate(const void *cubin, size_t cubin_bytes, const char *ptx);

#endif
