/* A pattern: what a script describes, as plain data.
 *
 * Everything here is owned by the script that loaded it (script/script.h) and lives as long as it
 * does. Expressions stay in Lua; they are evaluated through script/script.h. */
#ifndef AUTOTUNE_SPACE_PATTERN_H
#define AUTOTUNE_SPACE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/value.h"
#include "space/space.h"

enum { PATTERN_MAX_PARAMETERS = 64, PATTERN_MAX_VARIABLES = 64 };

typedef struct pattern_variable {
    const char *name;
    value value;
} pattern_variable;

/* The values that a variable may have: those from `least` to `most`, or one of a few; with neither
 * any of its kind. */
typedef struct pattern_domain {
    bool is_range;
    value least, most;
    size_t value_count;
    const value *values;
} pattern_domain;

enum { PATTERN_MAX_FEATURES = 8, PATTERN_MAX_DEFINITION_BYTES = 2000 };

/* A number that a choice among configurations may ask, beside the variables of a problem
 * (`choose_by` in the script). */
typedef struct pattern_feature {
    const char *name;
    /* Its expression, and those of the derived values that it reads, or their hash where they are
     * long: "a * waves; waves = ...". Two features of a name and definition are the same. */
    const char *definition;
    bool of_configuration; /* it reads parameters */
} pattern_feature;

enum { PATTERN_MAX_RAGGED = 3, PATTERN_MAX_LARGER = 12 };

/* Which problem: the one to tune; the smaller one that a simulated device tunes; that one without
 * the user's --set, or one that is derived for proofs where the script names none; ragged ones that
 * only check edges (no dimension divisible by any tile): PROBLEM_RAGGED, PROBLEM_RAGGED + 1 ...;
 * and larger ones that only prove, which script_set_problem() makes: PROBLEM_LARGER ... */
typedef enum problem_kind {
    PROBLEM_TUNED,
    PROBLEM_SIMULATED,
    PROBLEM_SMALL,
    PROBLEM_RAGGED,
    PROBLEM_LARGER = PROBLEM_RAGGED + PATTERN_MAX_RAGGED,
    PROBLEM_KINDS = PROBLEM_LARGER + PATTERN_MAX_LARGER
} problem_kind;

typedef struct pattern {
    const char *path; /* of the script, as found */
    const char *name;
    const char *summary;
    /* problem_count variables; problems[kind][i] is variable i in that problem. A script that rules
     * out a ragged problem (ragged = false) or names no simulated one has the tuned values there
     * and has_problem[kind] false. */
    size_t problem_count;
    const pattern_variable *problems[PROBLEM_KINDS];
    bool has_problem[PROBLEM_KINDS];
    const int64_t *most;           /* that each variable may be; 0: nothing larger, or no integer */
    const pattern_domain *domains; /* of each variable */
    size_t ragged_count;           /* PROBLEM_RAGGED to PROBLEM_RAGGED + ragged_count - 1 */
    size_t parameter_count;
    const space_parameter *parameters;
    size_t constraint_count;
    const space_constraint *constraints;
    size_t feature_count;
    const pattern_feature *features;
    const uint16_t *baseline; /* value indices, one a parameter: the script's default */
    size_t start_count;
    const uint16_t *const
        *starts; /* likewise: what the script expects to be good; not every problem allows each */
    const char *template_path;  /* as found */
    const char *filler_path;    /* as found; NULL when no kernel of the script fills inputs */
    const char *reference_path; /* as found; NULL when the pattern has no reference (spill) */
    const char *item;           /* what it counts, "keys"; "" when it gives no items */
    bool transfers;   /* variants move data between host and device: nothing simulates that */
    bool is_captured; /* its problem is a launch of a program's: there is no other */
    bool measurable;  /* false: only emit, inspect and space make sense */
} pattern;

#endif
