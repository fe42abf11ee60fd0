/* The kernels that the program runs before the one that is tuned (--after): loaded, given the
 * tuned problem's sizes, compiled.
 *
 * Each is a script or a kernel's file with buffers of its own, at its default configuration. Its
 * problem's variables have the values that variables of the same names have in the tuned problem.
 * FILE@CAPTURE is a kernel's file for a launch that was captured. Buffers of one name are one
 * (bench/context.h); of captured launches those at one address, which get one name here. */
#ifndef AUTOTUNE_RUN_SETUP_BEFORE_H
#define AUTOTUNE_RUN_SETUP_BEFORE_H

#include "bench/client.h"
#include "compile/compile.h"
#include "run/setup/settings.h"
#include "script/script.h"

enum { PREDECESSORS_NAMES_BYTES = 256 };

typedef struct predecessors {
    size_t count, script_count;
    script **scripts;                     /* owned */
    device_predecessor *list;             /* owned; borrows from `compiled` */
    compile_result *compiled;             /* owned */
    char names[PREDECESSORS_NAMES_BYTES]; /* of the patterns, "produce, scale" */
    char hash[33];                        /* of all that they are; "" where there are none */
} predecessors;

/* Loads and compiles those of `o`, for the problem of `tuned` and a GPU; the pool compiles nothing
 * else. AT_USAGE, AT_SCRIPT, AT_COMPILE. *p is zeroed first and may be deinitialised whatever the
 * result. */
at_status predecessors_init(predecessors *p, const settings *o, script *tuned,
                            const device_properties *target, compile_pool *pool, at_error *error);
void predecessors_deinit(predecessors *p);

/* Sends the files that fill buffers of theirs, before the set-up. */
at_status predecessors_send(const predecessors *p, device_worker *w, at_error *error);

#endif
