/* Plays a device worker according to a script, at one end of a socket in this process.
 *
 * The script is a sequence of bytes. Each byte is a step: of the tuner (a request) or of the device
 * (an answer; a repeated, late, wrong or missing answer; a death). After the script the device
 * behaves correctly, and every request must be answered. Unit tests and a fuzz target use this. */
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
    STEP_OTHER_KIND,   /* the next request gets an answer of the wrong kind */
    STEP_OTHER_NUMBER, /* the next request gets an answer with the wrong number */
    STEP_SWAPPED,      /* the next two requests get each other's answers */
    STEP_FEW_SAMPLES,  /* the answer lacks a sample */
    STEP_OTHER_ID,     /* the answer is about another variant */
    STEP_NOTE,         /* the device sends a note about the next request */
    STEP_OTHER_NOTE,   /* the device sends a note about another request */
    STEP_ENDLESS_NOTE, /* the device sends a note that asks for a timeout of a thousand years */
    STEP_IDLE_NOTE,    /* the device sends the note "waiting for a request" */
    STEP_OPENED,       /* the device describes itself */
    STEP_FAILED,       /* the device says that it cannot be opened */
    STEP_UNKNOWN,      /* the device sends a message of unknown kind */
    STEP_HALF,         /* the device sends a part of a frame, then the socket closes */
    STEP_DEATH,        /* the socket closes */
    STEP_EXPIRY,       /* time passes until the watchdog acts */
    STEP_COUNT,
    /* An answer arrives in time but is read after the deadline. The step takes a while, so the
     * fuzzer does not use it. */
    STEP_READ_LATE = STEP_COUNT
} scripted_step;

/* The results of the run. */
typedef struct scripted_result {
    const char *wrong;      /* the rule that was broken; NULL if none was */
    size_t asked, answered; /* number of requests, and of answered requests */
    size_t fine;            /* number of answers with the right result */
    int restarts;
    size_t held; /* number of variants that a new worker would load */
    int failed;  /* whether the tuner gave up the device */
} scripted_result;

scripted_result scripted_run(const uint8_t *script, size_t count);

#endif
