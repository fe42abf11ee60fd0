/* Parses PTX text. The parser knows the grammar of PTX but not its instructions: an opcode stays
 * text, which sim/decode/decode.h interprets. Each statement has its PTX line and the source line
 * of its .loc directive. Text that is not PTX is an error. A statement of unknown form is kept as
 * `unreadable`, and a declaration of unknown form declares nothing: they matter only if they are
 * used. */
#ifndef AUTOTUNE_PTX_PARSE_H
#define AUTOTUNE_PTX_PARSE_H

#include "base/error.h"
#include "ptx/module.h"

/* Parses `size` bytes of text, which messages call `name`. The caller frees *out with
 * ptx_module_free(). Returns AT_NO_MEMORY, or AT_FORMAT with `name` and the line. */
at_status ptx_parse(const char *text, size_t size, const char *name, ptx_module **out,
                    at_error *error);

/* Reads notes into the statements of a module. The module was parsed from `text`. A note is a
 * comment that counts the machine instructions that ptxas emits for the line
 * (compile/machine_code.h):
 *
 *   fma.rn.f32 %f5, %f1, %f2, %f3; //@ 4 1 0 0 0 0 0
 *
 * The numbers are: instructions that also exist in PTX (float arithmetic, memory accesses,
 * shuffles, matrix products), integer instructions, integer products, special functions, accesses
 * to local memory, other instructions, and words of global loads that are pending when a thread
 * waits for this line. */
void ptx_read_notes(ptx_module *m, const char *text, size_t size_bytes);

#endif
