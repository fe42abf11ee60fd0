/* The outcome of a variant. Every variant of a run has exactly one outcome; it is counted in the
 * summary, kept in the journal with its message, and never ends the run. */
#ifndef AUTOTUNE_DEVICE_OUTCOME_H
#define AUTOTUNE_DEVICE_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

typedef enum outcome {
    OUTCOME_OK,
    OUTCOME_REJECTED, /* a constraint rules it out; of a run: not tried, because it is likely to
                         hang */
    OUTCOME_COMPILE_ERROR, /* the compiler refused the source */
    OUTCOME_LAUNCH_ERROR,  /* the device refused the launch (resources) */
    OUTCOME_WRONG_RESULT,  /* it ran and its output, guard bands or inputs are wrong */
    OUTCOME_CRASHED,       /* it took the compiler or the device's context down */
    OUTCOME_TIMEOUT,       /* it did not end within its time limit */
    OUTCOME_NOT_SIMULATED, /* a simulated device does not know what it executes: nothing is known of
                              it */
    OUTCOME_TOO_SLOW, /* its first launch took so long that it cannot be the fastest: it has that
                         one time, and was not checked */
    OUTCOME_COUNT
} outcome;

enum { FAULT_LINES = 5 };

/* A line of source; column 0: it is not known. */
typedef struct fault_line {
    char file[128]; /* relative to the script's folder; "": there is no line */
    uint32_t line, column;
} fault_line;

/* A fault of a kernel as fields, of which its message is the text. Everything but the kind may be
 * unknown. */
typedef struct device_fault {
    char kind[32]; /* "data race"; "": there is no fault, or no more than its text */
    fault_line lines[FAULT_LINES]; /* the place; then the calls through which it was inlined */
    bool has_thread;
    uint32_t thread[3], block[3];
    char space[8]; /* of the address: "global"; "": there is none */
    uint64_t address;
    char buffer[64]; /* the buffer or variable there, or the nearest; "": unknown */
    bool has_element;
    uint64_t element; /* of the buffer; its count or more: past the end */
} device_fault;

/* The name in tables, journals and JSON ("ok", "compile_error" ...). Static storage;
 * "unknown" for a number that is no outcome. */
const char *outcome_name(outcome o);

/* Finds an outcome by that name; false, leaving *out alone, when there is none. */
bool outcome_find(const char *name, outcome *out);

#endif
