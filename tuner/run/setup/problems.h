/* The set-up of a device worker: the problems of every layout, their references, and what fills
 * their inputs.
 *
 * In: a script, and which of its problems are wanted. Out: compile requests, and once their results
 * are in, the problems in the order that device_worker_setup() wants. */
#ifndef AUTOTUNE_RUN_SETUP_PROBLEMS_H
#define AUTOTUNE_RUN_SETUP_PROBLEMS_H

#include "bench/client.h"
#include "compile/compile.h"
#include "script/emit.h"
#include "script/script.h"
#include "space/space.h"

typedef struct problem_set {
    script *script;
    size_t slot_count; /* of each layout */
    problem_kind kinds[DEVICE_SLOTS];
    size_t layout_count;
    size_t layouts[DEVICE_MAX_LAYOUTS];          /* as the script numbers them, ascending */
    device_problem *problems;                    /* owned; layout after layout, slot after slot */
    problem_plan *plans;                         /* owned; the same ones' */
    uint16_t (*oracles)[PATTERN_MAX_PARAMETERS]; /* owned; the configuration that each oracle is, or
                                                    any of its layout */
    compile_result *compiled;                    /* owned; reference and filler of each problem */
    size_t waiting;                              /* compile results to come */
} problem_set;

/* The device's own kernels. */
typedef struct problem_support {
    uint64_t first_id;
    compile_result parts[DEVICE_SUPPORT_PARTS]; /* owned */
    size_t waiting;                             /* compile results to come */
} problem_support;

/* Evaluates the problems of every layout that a configuration of `sp` has; if `sp` is NULL, of the
 * layouts that can be evaluated, with the baseline's at least. *set is zeroed first and may be
 * deinitialised whatever the result. */
at_status problem_set_init(problem_set *set, script *s, const space *sp, const problem_kind *kinds,
                           size_t slot_count, at_error *error);
void problem_set_deinit(problem_set *set);

/* The layout of a configuration, as the device numbers it; DEVICE_MAX_LAYOUTS when it has none. */
size_t problem_set_layout(const problem_set *set, const uint16_t *indices);

/* Queues the references and fillers for compilation under ids from `first_id` on. `hash` (NULL: not
 * wanted) is extended by their sources and launches; `place` (of `place_bytes`) is where the first
 * reference is. */
at_status problem_set_submit(problem_set *set, compile_pool *pool, const char *arch, bool ptx,
                             uint64_t first_id, char hash[33], char *place, size_t place_bytes,
                             at_error *error);

/* Takes the result with that id (counted from `first_id`), and its bytes with it. AT_SCRIPT if it
 * did not compile. */
at_status problem_set_take(problem_set *set, uint64_t id, compile_result *r, at_error *error);

/* Once set->waiting is 0, and nothing of the support code is to come (NULL: none is needed): sends
 * the set-up. */
at_status problem_set_send(problem_set *set, device_worker *w, const problem_support *support,
                           bool ptx, at_error *error);

/* Drops the kernels, when no set-up follows. The plans stay. */
void problem_set_sent(problem_set *set);

/* Compiles the kernel that prepares the inputs of a layout's first problem to PTX, in a pool that
 * compiles nothing else; *out stays zeroed where there is none. AT_COMPILE. */
at_status problem_set_compile_filler(const problem_set *set, size_t layout, compile_pool *pool,
                                     const char *arch, compile_result *out, at_error *error);

/* Queues the helper kernels that a GPU's set-up needs, the `support` of device_worker_setup(),
 * under as many ids from `first_id` on as it has parts. */
at_status problem_support_submit(problem_support *s, compile_pool *pool, const char *arch,
                                 uint64_t first_id, at_error *error);
void problem_support_deinit(problem_support *s); /* a zeroed one is fine */

/* Is the compile result with that id one of them? */
bool problem_support_owns(uint64_t first_id, uint64_t id);

/* Takes it, and its bytes with it. AT_SCRIPT if it did not compile. */
at_status problem_support_take(problem_support *s, compile_result *r, at_error *error);

/* ---- prototypes ----
 *
 * Has a script compared with what its kernels take (script/emit.h): one compilation of one
 * variant, of which nothing is run. A source that does not compile is none of its business. */

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
