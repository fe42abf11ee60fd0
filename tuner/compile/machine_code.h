/* Annotates lines of PTX with the machine code that ptxas made of each line.
 *
 * Input is PTX with line information and its cubin, of compute capability 7.0 or later. The section
 * .nv_debug_line_sass is a DWARF 2 line program that gives the line of PTX for each machine
 * instruction. An instruction has 16 bytes. Its upper bits contain the barrier that the instruction
 * sets at its end and the barriers for which it waits: Jia et al., "Dissecting the NVIDIA Volta GPU
 * Architecture via Microbenchmarking" (2018), section 2.1. The opcodes were found by compiling
 * kernels with one operation each for sm_80, sm_90 and sm_120. ptx/parse.h describes the form of a
 * note. */
#ifndef AUTOTUNE_COMPILE_MACHINE_CODE_H
#define AUTOTUNE_COMPILE_MACHINE_CODE_H

#include <stddef.h>

/* Returns a copy of the PTX with notes, which the caller frees, or NULL without line information or
 * memory. Safe for any bytes. */
char *machine_code_annotate(const void *cubin, size_t cubin_bytes, const char *ptx);

#endif
