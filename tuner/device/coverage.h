/* Coverage: how much of a variant was run by a device that sees what its kernels do. It is part of
 * the verdict on the variant. */
#ifndef AUTOTUNE_DEVICE_COVERAGE_H
#define AUTOTUNE_DEVICE_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
