/* A batch of requests, answered in a compile worker.
 *
 * What is not in the cache is compiled together where it fits together (compile/group.h), and alone where it
 * does not or where that failed: a member's answer is what it would be alone. */
#ifndef AUTOTUNE_COMPILE_BATCH_H
#define AUTOTUNE_COMPILE_BATCH_H

#include "compile/compiler.h"

/* Receives the requests that a COMPILE_BATCH announces and sends a COMPILE_RESULT for each, in their order.
 * AT_WORKER when the tuner is gone or speaks nonsense. */
at_status batch_answer(compiler *c, message *batch);

#endif
