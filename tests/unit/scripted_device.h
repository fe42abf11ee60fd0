/* Plays a device worker at one end of a socket in this process, according to a script of bytes.
 * Unit tests and a fuzz target use this header.
 *
 * Each byte is a step of the tuner (a request) or of the device. The device may answer, repeat,
 * delay, falsify or omit an answer, or die. After the script the device behaves correctly, and
 * every request must be answered. */
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
    STEP_CLAIM,        /* the tuner waits for the answer to its latest request */
    STEP_MISSING,      /* the next request is read and never answered */
    STEP_DOUBLED,      /* the latest message is repeated */
    STEP_LATE,         /* a part of an earlier message is repeated */
    STEP_OTHER_KIND,   /* the next request gets an answer of the wrong kind */
    STEP_OTHER_NUMBER, /* the next request gets an answer with the wrong number */
    STEP_SWAPPED,      /* the next two requests get each other's answers */
    STEP_FEW_SAMPLES,  /* the answer has a sample too few */
    STEP_OTHER_ID,     /* the answer is about another variant */
    STEP_NOTE,         /* the device sends a note about the next request */
    STEP_OTHER_NOTE,   /* the device sends a note about another request */
    STEP_ENDLESS_NOTE, /* the device sends a note that asks for a timeout of a thousand years */
    STEP_IDLE_NOTE,    /* the device sends the note "waiting for a request" */
    STEP_OPENED,       /* the device sends its description */
    STEP_FAILED,       /* the device reports that it cannot be opened */
    STEP_UNKNOWN,      /* the device sends a message of unknown kind */
    STEP_HALF,         /* the device sends a part of a frame, and the socket closes */
    STEP_DEATH,        /* the socket closes */
    STEP_EXPIRY,       /* time passes until the watchdog acts */
    STEP_COUNT,
    /* An answer arrives in time, but is read after the deadline. The step takes long, so the
     * fuzzer does not use it. */
    STEP_READ_LATE = STEP_COUNT
} scripted_step;

typedef struct scripted_result {
    const char *wrong;      /* the broken rule, or NULL if no rule was broken */
    size_t asked, answered; /* number of requests, and of answered requests */
    size_t fine;            /* number of answers with the right result */
    int restarts;
    size_t held; /* number of variants that a new worker would load */
    int failed;  /* whether the tuner gave up the device */
} scripted_result;

scripted_result scripted_run(const uint8_t *script, size_t count);

#endif
