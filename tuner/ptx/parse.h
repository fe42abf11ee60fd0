/* Parses PTX text.
 *
 * The parser knows the grammar of PTX but not its instructions: an opcode stays text, which
 * sim/decode/decode.h interprets. Every statement has its PTX line and the source line of its .loc
 * directive. Text that is not PTX is an error. A statement whose form the parser does not know is
 * kept as `unreadable`, and such a declaration declares nothing. Both matter only if the statement
 * is executed or the name is used. */
#ifndef AUTOTUNE_PTX_PARSE_H
#define AUTOTUNE_PTX_PARSE_H

#include "base/error.h"
#include "ptx/module.h"

/* Parses `size` bytes. On success, *out is a module that the caller frees with ptx_module_free().
 * Messages call the text `name`. Returns AT_FORMAT, with `name` and the line, or AT_NO_MEMORY. */
at_status ptx_parse(const char *text, size_t size, const char *name, ptx_module **out,
                    at_error *error);

/* Reads the notes in the text of a module into its statements. `text` is the text that the module
 * was parsed from. A note is a comment that counts the machine instructions which ptxas emits for
 * the line (compile/machine_code.h):
 *
 *   fma.rn.f32 %f5, %f1, %f2, %f3; //@ 4 1 0 0 0 0 0
 *
 * The numbers are: instructions that PTX has too (float arithmetic, memory accesses, shuffles,
 * matrix products), integer instructions, integer products, special functions, accesses to local
 * memory, other instructions, and the words of global loads that a thread has pending when it waits
 * for a load of this line. */
void ptx_read_notes(ptx_module *m, const char *text, size_t size_bytes);

#endif
