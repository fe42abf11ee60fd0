/* A device worker's process that is played from a script: an end of a socket, in this process.
 *
 * What a device says in which order is the script's: each of its bytes is a step, of the tuner (a
 * request) or of the device (an answer, a doubled one, a late one, one of another kind, none, a
 * death). When the script ends the device behaves, and everything that was asked must be answered.
 * Used by the unit tests and by a fuzz target. */
#ifndef AUTOTUNE_TESTS_SCRIPTED_DEVICE_H
#define AUTOTUNE_TESTS_SCRIPTED_DEVICE_H

#include <stddef.h>
#include <stdint.h>

typedef enum scripted_step {
    STEP_BEHAVE, /* the device says what it should say next */
    STEP_TRY,
    STEP_HOLD,
    STEP_BLOCK,
    STEP_RECHECK,
    STEP_ENERGY,
    STEP_RELEASE,
    STEP_CLAIM,        /* the latest request's answer is awaited by name */
    STEP_MISSING,      /* the next request is read and never answered */
    STEP_DOUBLED,      /* what was said last is said again */
    STEP_LATE,         /* something of what was said before is said again */
    STEP_OTHER_KIND,   /* an answer to the next request, as if it had been of another kind */
    STEP_OTHER_NUMBER, /* ... with another's number */
    STEP_SWAPPED,      /* the answers of the next two requests in the wrong order */
    STEP_FEW_SAMPLES,  /* an answer with a sample too few */
    STEP_OTHER_ID,     /* an answer about another variant */
    STEP_NOTE,         /* a note on the next request */
    STEP_OTHER_NOTE,   /* a note on another */
    STEP_ENDLESS_NOTE, /* a note that asks for a thousand years */
    STEP_IDLE_NOTE,    /* "waiting for a request" */
    STEP_OPENED,       /* the description of the device */
    STEP_FAILED,       /* "the device cannot be opened" */
    STEP_UNKNOWN,      /* a message of no kind */
    STEP_HALF,         /* a part of a frame, and the end */
    STEP_DEATH,        /* the socket closes */
    STEP_EXPIRY,       /* time passes until the watchdog looks */
    STEP_COUNT,
    /* An answer in time, read when the time is up. It takes a moment: no fuzzer comes here. */
    STEP_READ_LATE = STEP_COUNT
} scripted_step;

/* What became of the run. */
typedef struct scripted_result {
    const char *wrong; /* NULL: every answer was right, and to its question; else the rule broken */
    size_t asked, answered; /* requests that have an answer */
    size_t fine;            /* of the answers: with the right result */
    int restarts;
    int failed; /* the device was given up */
} scripted_result;

scripted_result scripted_run(const uint8_t *script, size_t count);

#endif
