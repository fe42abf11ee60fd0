/* Notes after lines of PTX that say what ptxas made of them (compile/machine_code.h):
 *
 *   fma.rn.f32 %f5, %f1, %f2, %f3; //@ 4 1 0 0 0 0 0
 *
 * Machine instructions of the line: those that PTX has, too (arithmetic on floats, accesses to
 * memory, shuffles, products of matrices), of integers, products of integers, special ones,
 * accesses to local memory, others; then the words of loads from global memory that a thread has
 * under way when it waits for a load of the line. */
#ifndef AUTOTUNE_PTX_NOTES_H
#define AUTOTUNE_PTX_NOTES_H

#include "ptx/module.h"

/* Reads the notes of the text that the module was parsed from into its statements. */
void ptx_read_notes(ptx_module *m, const char *text, size_t size_bytes);

#endif
