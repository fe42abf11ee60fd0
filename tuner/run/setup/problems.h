/* The set-up of a device worker: the problems of every layout, their references and the kernels
 * that fill their inputs. Input: a script and the kinds of problems. Output: compile requests, and
 * after their results the problems in the order of device_worker_setup(). Also compares a script
 * with its kernels' parameters. */
#ifndef AUTOTUNE_RUN_SETUP_PROBLEMS_H
#define AUTOTUNE_RUN_SETUP_PROBLEMS_H

#include "bench/client.h"
#include "compile/compile.h"
#include "script/emit.h"
#include "script/script.h"
#include "space/space.h"

typedef struct problem_set {
    script *script;
    size_t slot_count; /* number of problems of each layout */
    problem_kind kinds[DEVICE_SLOTS];
    size_t layout_count;
    size_t layouts[DEVICE_MAX_LAYOUTS];          /* the script's layout numbers, ascending */
    device_problem *problems;                    /* by layout, then by slot; owned */
    problem_plan *plans;                         /* plans of the same problems; owned */
    uint16_t (*oracles)[PATTERN_MAX_PARAMETERS]; /* configuration of each baseline oracle, otherwise
                                                  * any configuration of the layout; owned */
    compile_result *compiled;                    /* reference and filler of each problem; owned */
    size_t waiting;                              /* compile results that have not arrived */
} problem_set;

typedef struct problem_support {
    uint64_t first_id;
    compile_result parts[DEVICE_SUPPORT_PARTS]; /* owned */
    size_t waiting;                             /* compile results that have not arrived */
} problem_support;

/* Evaluates the problems of every layout in `sp`. If `sp` is NULL, evaluates the layouts that can
 * be evaluated, the baseline's at least. Zeroes *set first, so that it may be deinitialised after
 * any result. */
at_status problem_set_init(problem_set *set, script *s, const space *sp, const problem_kind *kinds,
                           size_t slot_count, at_error *error);
void problem_set_deinit(problem_set *set);

/* Returns the number of a configuration's layout on the device (device_problem.layout), or
 * DEVICE_MAX_LAYOUTS if it is unknown. */
size_t problem_set_layout(const problem_set *set, const uint16_t *indices);

/* Queues references and fillers for compilation under ids from `first_id` on. Extends `hash` by
 * their sources and launches, and writes the first reference's "file:line" to `place`; both may be
 * NULL. */
at_status problem_set_submit(problem_set *set, compile_pool *pool, const char *arch, bool ptx,
                             uint64_t first_id, char hash[33], char *place, size_t place_bytes,
                             at_error *error);

/* Takes a result and its bytes. `id` is its id minus `first_id`. Returns AT_SCRIPT if the
 * compilation failed. */
at_status problem_set_take(problem_set *set, uint64_t id, compile_result *r, at_error *error);

/* Sends the set-up, once set->waiting is 0 and `support` is complete (NULL if it is not needed). */
at_status problem_set_send(problem_set *set, device_worker *w, const problem_support *support,
                           bool ptx, at_error *error);

/* Drops the kernels after the last device has got its set-up. Keeps the plans. */
void problem_set_sent(problem_set *set);

/* Queues the helper kernels that a GPU's set-up needs (`support` of device_worker_setup()), each
 * part under its own id from `first_id` on. */
at_status problem_support_submit(problem_support *s, compile_pool *pool, const char *arch,
                                 uint64_t first_id, at_error *error);
void problem_support_deinit(problem_support *s); /* `s` may be zeroed. */

/* Returns true if the compile result `id` is for problem_support_take(). */
bool problem_support_owns(uint64_t first_id, uint64_t id);

/* Takes a part and its bytes. Returns AT_SCRIPT if the part did not compile. */
at_status problem_support_take(problem_support *s, compile_result *r, at_error *error);

/* ---- prototypes ----
 *
 * Compare the arguments in a script with the parameters of its kernels (script/emit.h). One variant
 * and the reference are compiled, but not run. A source that does not compile is no error of these
 * functions. */

/* Queues the compilation. Sets *asked to false for a kernel's own file, whose arguments come from
 * the compiler, and for a reference that the pattern does not have. Errors are those of emission.
 */
at_status prototypes_submit(script *s, prototype_of of, problem_kind problem,
                            const uint16_t *indices, compile_pool *pool, const char *arch,
                            uint64_t id, bool *asked, at_error *error);

/* Compares once the result has arrived, unless the source did not compile. Returns AT_SCRIPT if the
 * arguments do not fit. */
at_status prototypes_take(script *s, prototype_of of, problem_kind problem, const uint16_t *indices,
                          const compile_result *r, prototype_warning *doubt, void *context,
                          at_error *error);

/* Queues the compilation and compares, in a pool that compiles nothing else. */
at_status prototypes_check(script *s, problem_kind problem, const uint16_t *indices,
                           compile_pool *pool, const char *arch, prototype_warning *doubt,
                           void *context, at_error *error);

/* Writes a warning about a doubtful argument to stderr. `context` is not used. */
void prototypes_warn(void *context, const char *path, int line, const char *text);

#endif
