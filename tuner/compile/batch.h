/* A batch of requests, answered in a compile worker.
 *
 * Requests that are not in the cache are compiled together if they fit together (compile/group.h),
 * and alone if they do not or if that failed: a member gets the answer that it would get alone. */
#ifndef AUTOTUNE_COMPILE_BATCH_H
#define AUTOTUNE_COMPILE_BATCH_H

#include "compile/compiler.h"

/* Receives the requests of a batch and sends a COMPILE_RESULT for each, in order. AT_WORKER if the
 * tuner is gone or sends nonsense. */
at_status batch_answer(compiler *c);

#endif
