/* A device worker's process that is played from a script, at one end of a socket in this process.
 *
 * The script is bytes. Each byte is a step, either of the tuner (a request) or of the device (an
 * answer; a repeated, late, wrong or missing answer; a death). After the script the device behaves
 * correctly, and every request must be answered. Used by the unit tests and by a fuzz target. */
#ifndef AUTOTUNE_TESTS_SCRIPTED_DEVICE_H
#define AUTOTUNE_TESTS_SCRIPTED_DEVICE_H

#include <stddef.h>
#include <stdint.h>

typedef enum scripted_step {
    STEP_BEHAVE, /* the device sends its next message */
    STEP_TRY,
    STEP_HOLD,
    STEP_BLOCK,
    STEP_RECHECK,
    STEP_ENERGY,
    STEP_RELEASE,
    STEP_CLAIM,        /* the tuner waits for the answer to the latest request */
    STEP_MISSING,      /* the next request is read and never answered */
    STEP_DOUBLED,      /* the latest message is repeated */
    STEP_LATE,         /* a part of an earlier message is repeated */
    STEP_OTHER_KIND,   /* an answer to the next request, of the wrong kind */
    STEP_OTHER_NUMBER, /* ... with the wrong number */
    STEP_SWAPPED,      /* the answers to the next two requests, swapped */
    STEP_FEW_SAMPLES,  /* an answer with a sample too few */
    STEP_OTHER_ID,     /* an answer about another variant */
    STEP_NOTE,         /* a note on the next request */
    STEP_OTHER_NOTE,   /* a note on another request */
    STEP_ENDLESS_NOTE, /* a note that asks for a thousand years */
    STEP_IDLE_NOTE,    /* "waiting for a request" */
    STEP_OPENED,       /* the description of the device */
    STEP_FAILED,       /* "the device cannot be opened" */
    STEP_UNKNOWN,      /* a message of unknown kind */
    STEP_HALF,         /* a part of a frame, and the end of the stream */
    STEP_DEATH,        /* the socket closes */
    STEP_EXPIRY,       /* time passes until the watchdog acts */
    STEP_COUNT,
    /* An answer in time that is read when the time is up. This step takes a while, so the fuzzer
       does not use it. */
    STEP_READ_LATE = STEP_COUNT
} scripted_step;

/* The result of the run. */
typedef struct scripted_result {
    const char *wrong;      /* the broken rule; NULL if every answer was right and belonged to its
                               request */
    size_t asked, answered; /* answered requests */
    size_t fine;            /* answers with the right result */
    int restarts;
    int failed; /* the tuner gave the device up */
} scripted_result;

scripted_result scripted_run(const uint8_t *script, size_t count);

#endif
