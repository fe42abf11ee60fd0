/* A session: everything a run works with, opened in the right order.
 *
 * The compile workers start first, then the device worker, which reports its architecture long
 * before it is ready. Then the script is loaded for that device and its space is enumerated. Then
 * the reference kernels are compiled. The device's own kernels, which take longer, may still be
 * compiling when the session is open, and the device sets up when it has them: both continue while
 * the first variants compile. */
#ifndef AUTOTUNE_RUN_SETUP_SESSION_H
#define AUTOTUNE_RUN_SETUP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bench/client.h"
#include "compile/compile.h"
#include "report/progress.h"
#include "run/setup/problems.h"
#include "run/setup/settings.h"
#include "run/setup/workers.h"
#include "script/script.h"
#include "space/space.h"

/* The kernels that the program runs before the one that is tuned (--after): loaded, given the
 * tuned problem's sizes, compiled.
 *
 * Each is a script or a kernel's file with buffers of its own, at its default configuration. Its
 * problem's variables have the values that variables of the same names have in the tuned problem.
 * FILE@CAPTURE is a kernel's file for a launch that was captured. Buffers of one name are one
 * (bench/context.h); of captured launches those at one address, which get one name here. */
enum { PREDECESSORS_NAMES_BYTES = 256 };

typedef struct predecessors {
    size_t count, script_count;
    script **scripts;                     /* owned */
    device_predecessor *list;             /* owned; borrows from `compiled` */
    compile_result *compiled;             /* owned */
    char names[PREDECESSORS_NAMES_BYTES]; /* of the patterns, "produce, scale" */
    char hash[33];                        /* of all that they are; "" where there are none */
} predecessors;

/* It points into itself: it stays where session_init() was given it. */
typedef struct session {
    workers own;      /* unless settings.workers has some */
    workers *workers; /* those in use */
    script *script;
    space *space;
    bool space_timed_out;       /* the same run may have another space the next time */
    problem_set problems;       /* of every layout; the tuned one first (session_problems) */
    predecessors before;        /* of the tuned kernel */
    size_t slots;               /* of each layout; 0: compile only */
    char reference_hash[33];    /* of the reference kernels and how they are launched */
    char reference_place[1024]; /* "file:line" of the reference kernel */
    ceiling_kind ceiling;       /* that the tuned problem's shares refer to */
    double ceiling_rate;  /* kept for this GPU, 10^9 a second; 0: none, or each run measures it */
    int64_t enumerate_ns; /* loading the script, building the space */
    trace *trace;         /* or NULL */
    int64_t open_ns;      /* until the device was described */
    int64_t end_ns; /* when the run must end (clock_now_ns()), whatever is under way; 0: never */
    problem_support
        support; /* the device's own kernels, until the set-up is sent (session_take()) */
    /* The configuration whose kernels are compared with the script (script/prototype.h), until that
     * is done. */
    uint16_t prototype[PATTERN_MAX_PARAMETERS];
    bool prototype_waiting;
} session;

/* Opens a session. With an architecture and no device only the compiler is opened. Errors name the
 * remedy: AT_NO_DEVICE, AT_NO_TOOLCHAIN, AT_SCRIPT, AT_USAGE ... The caller calls session_deinit,
 * also after a failure. `shown` (NULL: none) shows how far the space is enumerated. Whoever takes
 * the pool's results next hands the session its own. */
at_status session_open(const settings *o, progress *shown, session *out, at_error *error);

/* Is a result of the pool the session's? */
bool session_owns(uint64_t compile_id);

/* Takes it, with its bytes, and sends the devices their set-up. AT_SCRIPT if the kernels take other
 * arguments than the script gives them. */
at_status session_take(session *s, compile_result *r, at_error *error);

/* Waits for what session_open() left to come, while nothing else compiles. */
at_status session_settle(session *s, at_error *error);

/* Opens a session and settles it. */
at_status session_init(const settings *o, progress *shown, session *out, at_error *error);
void session_deinit(session *s);

/* Is there a real GPU to measure on? Not on a simulated device, nor for an architecture alone. */
bool session_measures(const session *s);

/* Returns AT_INTERRUPTED when the run must end (session.end_ns), else AT_OK. */
at_status session_check_time(const session *s, at_error *error);

/* The work that a launch of the tuned problem gets done; 0: not given, or compile only. */
uint64_t session_work(const session *s, work_unit unit);

/* The time in which the ceiling does the problem's work: `measured_ns`, if each run measures this
 * ceiling (0: not yet), else by the rate that is kept. 0: not known. */
int64_t session_ceiling_ns(const session *s, int64_t measured_ns);

/* The problems of a session, by the slot of the device that holds each. */
typedef struct session_problems {
    size_t count;
    problem_kind kinds[DEVICE_SLOTS]; /* PROBLEM_TUNED first, then those that only check variants */
    bool predicted_alone; /* the tuned problem is too large to be run whole on a simulated device:
                             its times are predicted from a sample of blocks, and variants are
                             checked on the others alone */
} session_problems;

/* Chooses the tuned problem and, to check variants on, the ragged ones. A simulated device
 * (`predicted`) checks variants on problems that it runs within a second (proof_problems.h). */
at_status session_choose_problems(script *s, bool predicted, session_problems *out,
                                  at_error *error);

#endif
