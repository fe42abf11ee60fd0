/* The verdict on a variant: its outcome, what its check covered, and the oracle. Every variant of a
 * run has exactly one outcome; it is counted in the summary, kept in the journal with its message,
 * and never ends the run. */
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

/* ---- coverage ----
 *
 * How much of a variant was run by a device that sees what its kernels do. It is part of
 * the verdict on the variant. */

enum { COVERAGE_TEXT_BYTES = 320, COVERAGE_PROBLEMS_BYTES = 1024 };

/* When all blocks of a problem run in the place of a sample: if that is affordable, which is
 * counted; at a higher price if no result could be compared otherwise, too; or always. */
typedef enum device_whole {
    DEVICE_WHOLE_CHEAP,
    DEVICE_WHOLE_NEEDED,
    DEVICE_WHOLE_ALWAYS
} device_whole;

typedef struct device_coverage {
    char problems[COVERAGE_PROBLEMS_BYTES]; /* that it was run on, in words; "" where nothing was
                                               covered */
    /* The tuned problem, if it is too large to be run whole: */
    uint64_t blocks; /* of all launches; 0: it was run whole, or not at all */
    uint64_t run;    /* of these */
    uint64_t
        cut; /* clusters, or blocks that are alone, that were left where they wait for others */
    uint64_t blind;    /* the same that needed what blocks would have written that were not run */
    bool whole;        /* all of them ran, and all results are compared */
    bool smaller;      /* no result of the tuned problem is compared, but those of smaller ones */
    uint64_t compared; /* elements, with what the reference makes of them */
    char skipped[COVERAGE_TEXT_BYTES]; /* why nothing of it was run, or compared; "": there is no
                                          reason to give */
    bool owes;                         /* that leaves the variant without a proof */
    /* Places in the sources ("file:line") of all problems together, separated by ", ": */
    char never[COVERAGE_TEXT_BYTES];  /* lines with instructions of which none was ever executed */
    char once[COVERAGE_TEXT_BYTES];   /* loops whose body no thread executed twice in turn */
    char stores[COVERAGE_TEXT_BYTES]; /* lines with stores to global memory of which none was ever
                                         executed, each with its condition */
    bool stored;                      /* a store to global memory was executed */
    char unwritten[2 * COVERAGE_TEXT_BYTES]; /* why results that agree say nothing: stores or
                                                outputs that no launch has reached; "": they do */
    bool together; /* what a block does may depend on what others do, or did in an earlier launch */
    char allowed[COVERAGE_TEXT_BYTES];   /* results that differ, as the script allows: "2 of 4096
                                            elements of dst" */
    char unwatched[COVERAGE_TEXT_BYTES]; /* buffers in which races were looked for only where some
                                            blocks of the tuned problem ran, or not at all */
} device_coverage;

/* Says why something was left out; the first reason stays. */
void coverage_skip(device_coverage *c, const char *what, const char *why);

/* Says the same of what the proof needs, in place of what was said before. */
void coverage_owe(device_coverage *c, const char *what, const char *why);

/* A copy on the heap, freed with free(); NULL for NULL, and without memory. */
device_coverage *coverage_copy(const device_coverage *c);

/* ---- oracles ----
 *
 * The oracle says which results of a variant are right. A reference kernel is independent of the
 * variants, so that agreeing with it is being right. Where the pattern has none, what its baseline
 * computes is the oracle: a variant that agrees with it makes no other mistake than the baseline
 * does. Results that were kept in files are what a program computed, or whatever made the files.
 * Data, races and accesses are judged alike under all three. */

typedef enum oracle_kind {
    ORACLE_REFERENCE, /* a kernel that shares nothing with the variants */
    ORACLE_BASELINE,  /* the pattern's own baseline */
    ORACLE_FILE,      /* results that were kept; the baseline where a problem has none */
    ORACLE_NONE,      /* nothing: results are not compared */
    ORACLE_KINDS
} oracle_kind;

/* "reference", "baseline", "file", "none", as records and --json have it; static storage. */
const char *oracle_name(oracle_kind kind);

/* The name that messages have for the kernel that makes the expected results; static storage. */
const char *oracle_kernel(oracle_kind kind);

/* Does the baseline run in the reference's place, for some problems at least? */
bool oracle_is_own(oracle_kind kind);

/* The words for elements that differ from its results: "are wrong"; static storage. */
const char *oracle_blame(oracle_kind kind);

/* False: there is none of that name. */
bool oracle_find(const char *name, oracle_kind *out);

#endif
