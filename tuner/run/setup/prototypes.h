/* Has a script compared with what its kernels take (script/prototype.h): one compilation of one
 * variant, of which nothing is run. A source that does not compile is none of its business. */
#ifndef AUTOTUNE_RUN_SETUP_PROTOTYPES_H
#define AUTOTUNE_RUN_SETUP_PROTOTYPES_H

#include "compile/compile.h"
#include "script/emit.h"

/* Queues the compilation under an id. *asked is false for a kernel's own file, whose arguments come
 * from the compiler. Errors of emitting. */
at_status prototypes_submit(script *s, problem_kind problem, const uint16_t *indices,
                            compile_pool *pool, const char *arch, uint64_t id, bool *asked,
                            at_error *error);

/* Compares, once its result is there. AT_SCRIPT. */
at_status prototypes_take(script *s, problem_kind problem, const uint16_t *indices,
                          const compile_result *r, prototype_doubt *doubt, void *context,
                          at_error *error);

/* Does both, in a pool that compiles nothing else. */
at_status prototypes_check(script *s, problem_kind problem, const uint16_t *indices,
                           compile_pool *pool, const char *arch, prototype_doubt *doubt,
                           void *context, at_error *error);

/* Writes a doubt as a warning on stderr; the context is not read. */
void prototypes_warn(void *context, const char *path, int line, const char *text);

#endif
