/* Compares what the kernels of a variant take, as the compiler has it, with what the script gives
 * them.
 *
 * PTX says how many bytes a parameter has, not what a pointer leads to: a buffer of doubles whose
 * kernel reads floats computes something, and a reference with the same mistake agrees. So a source
 * is compiled that also tells the kernels' types (cpp/signature.h), once for a script. Types that
 * may well differ are no mistake: void, structs, vectors, bytes, bits packed into wider words. */
#ifndef AUTOTUNE_SCRIPT_PROTOTYPE_H
#define AUTOTUNE_SCRIPT_PROTOTYPE_H

#include "script/emit.h"

/* Emits the variant with what tells its kernels' types; `plan` is its launch. Errors as
 * emit_variant(). */
at_status prototype_emit(script *s, problem_kind problem, const uint16_t *indices,
                         const launch_plan *plan, emitted *out, at_error *error);

/* Told of what is odd but may be meant, with the line of the script. */
typedef void prototype_doubt(void *context, const char *path, int line, const char *text);

/* Compares the script with the PTX of that source. AT_SCRIPT, with the script's line: the number of
 * arguments, a size, numbers where the kernel has a pointer, or elements that are read as what they
 * are not. Nothing is said of a kernel that the PTX does not tell of. */
at_status prototype_compare(script *s, problem_kind problem, const uint16_t *indices,
                            const launch_plan *plan, const char *ptx, prototype_doubt *doubt,
                            void *context, at_error *error);

#endif
