/* A session: everything that a run works with, opened in the right order.
 *
 * The compile workers start first, then the device worker, which reports its architecture early.
 * Then the script is loaded for that device, its space is enumerated, and the reference kernels are
 * compiled. Helper kernels of the device may still be compiling when the session is open; the
 * device does its set-up while the first variants compile. */
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

/* The kernels that run before the tuned kernel (--after).
 *
 * Each is a script or a kernel file with its own buffers and its default configuration. Variables
 * of its problem take the values of the tuned problem's variables with the same name. FILE@CAPTURE
 * is a kernel file for a captured launch. Buffers with the same name are the same buffer
 * (bench/meter.h); captured buffers at the same address get the same name here. */
enum { PREDECESSORS_NAMES_BYTES = 256 };

typedef struct predecessors {
    size_t count, script_count;
    script **scripts;                     /* owned */
    device_predecessor *list;             /* borrows from `compiled`; owned */
    compile_result *compiled;             /* owned */
    char names[PREDECESSORS_NAMES_BYTES]; /* names of the patterns, "produce, scale" */
    char hash[33];                        /* hash of everything about these kernels, or "" */
} predecessors;

/* A session points into itself, so it must not move after session_init(). */
typedef struct session {
    workers own;      /* in use unless settings.workers is set */
    workers *workers; /* the workers in use */
    script *script;
    space *space;
    bool space_timed_out;       /* a repeated run may get another space */
    problem_set problems;       /* of every layout; the tuned problem first (session_problems) */
    predecessors before;        /* kernels that run before the tuned kernel */
    size_t slots;               /* problems of each layout; 0 if the session only compiles */
    char reference_hash[33];    /* hash of the reference kernels and their launches */
    char reference_place[1024]; /* "file:line" of the reference kernel */
    ceiling_kind ceiling;       /* the ceiling of the tuned problem */
    double ceiling_rate;        /* recorded ceiling, in 10^9 per second; 0 if unknown or measured */
    int64_t enumerate_ns;       /* time to load the script and build the space */
    int64_t open_ns;            /* time until the device described itself */
    int64_t end_ns; /* time (clock_now_ns()) at which the run must end; 0 if there is no limit */
    problem_support support; /* helper kernels of the device, until the set-up is sent */
    /* The configuration whose kernels are compared with the script (problems.h). */
    uint16_t prototype[PATTERN_MAX_PARAMETERS];
    compile_result prototypes[PROTOTYPE_COUNT]; /* kept until all have arrived; owned */
    size_t prototypes_waiting;                  /* number of prototypes that are not compiled yet */
} session;

/* Opens a session; for an architecture without a device, only the compiler. The caller calls
 * session_deinit(), also after a failure, and gives the session its compile results (session_owns).
 * `shown` (may be NULL) shows the enumeration. Errors name the remedy: AT_NO_DEVICE,
 * AT_NO_TOOLCHAIN, AT_SCRIPT, AT_USAGE and others. */
at_status session_open(const settings *o, progress *shown, session *out, at_error *error);

/* Returns true if a compile result is for session_take(). */
bool session_owns(uint64_t compile_id);

/* Takes a compile result and its bytes; sends the devices their complete set-up. Returns AT_SCRIPT
 * if the kernels take other arguments than the script gives them. */
at_status session_take(session *s, compile_result *r, at_error *error);

/* Opens a session, and waits for the compile results that session_open() did not wait for. */
at_status session_init(const settings *o, progress *shown, session *out, at_error *error);
void session_deinit(session *s);

/* Returns true if a real GPU measures: not a simulated device, not an architecture alone. */
bool session_measures(const session *s);

/* Returns AT_INTERRUPTED when the run must end (session.end_ns), otherwise AT_OK. */
at_status session_check_time(const session *s, at_error *error);

/* Returns the work of a launch of the tuned problem, or 0 if unknown or without a device. */
uint64_t session_work(const session *s, work_unit unit);

/* Returns the time in which the ceiling does the problem's work: `measured_ns` (0 at first) if each
 * run measures the ceiling, otherwise the time by the recorded rate, or 0 if that is unknown. */
int64_t session_ceiling_ns(const session *s, int64_t measured_ns);

/* The problems of a session, by the device's slot. */
typedef struct session_problems {
    size_t count;
    problem_kind kinds[DEVICE_SLOTS]; /* PROBLEM_TUNED, then problems that only check variants */
    bool predicted_alone; /* the tuned problem is too large to simulate whole: times are predicted
                             from some blocks, and variants are checked on the other problems */
} session_problems;

/* Chooses the tuned problem and the ragged problems. A simulated device (`predicted`) checks
 * variants on problems that it runs in about a second (proof_problems.h). */
at_status session_choose_problems(script *s, bool predicted, session_problems *out,
                                  at_error *error);

#endif
