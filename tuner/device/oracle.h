/* The oracle: what says which results of a variant are right.
 *
 * A reference kernel is independent of the variants, so that agreeing with it is being right.
 * Where the pattern has none, what its baseline computes is the oracle: a variant that agrees with
 * it makes no other mistake than the baseline does. Results that were kept in files are what a
 * program computed, or whatever made the files. Data, races and accesses are judged alike under
 * all three. */
#ifndef AUTOTUNE_DEVICE_ORACLE_H
#define AUTOTUNE_DEVICE_ORACLE_H

#include <stdbool.h>

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
