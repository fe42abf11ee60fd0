/* A pattern: the contents of a script as plain data, owned by the loaded script. Expressions stay
 * in Lua and are evaluated by script/script.h. */
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

/* The values that a variable may have: a range, a list, or any value of its kind. */
typedef struct pattern_domain {
    bool is_range;
    value least, most;
    size_t value_count;
    const value *values;
} pattern_domain;

enum { PATTERN_MAX_FEATURES = 8, PATTERN_MAX_DEFINITION_BYTES = 2000 };

/* A number by which a configuration is chosen (`choose_by`), besides the problem's variables. */
typedef struct pattern_feature {
    const char *name;
    /* The feature's expression and the derived values that it reads ("a * waves; waves = ..."), or
     * a hash of a long text. Features with the same name and definition are the same. */
    const char *definition;
    bool of_configuration; /* its expression reads parameters */
} pattern_feature;

enum { PATTERN_MAX_RAGGED = 3, PATTERN_MAX_LARGER = 12 };

/* The problems of a pattern. */
typedef enum problem_kind {
    PROBLEM_TUNED,
    PROBLEM_SIMULATED, /* smaller, for tuning on a simulated device */
    PROBLEM_SMALL,     /* the simulated problem without --set; derived if the script has none */
    PROBLEM_RAGGED,    /* first of several problems that no tile divides, to check edges */
    PROBLEM_LARGER = PROBLEM_RAGGED + PATTERN_MAX_RAGGED, /* first of several problems for proofs
                                                           * only, made by script_set_problem() */
    PROBLEM_KINDS = PROBLEM_LARGER + PATTERN_MAX_LARGER
} problem_kind;

typedef struct pattern {
    const char *path; /* path of the script */
    const char *name;
    const char *summary;
    /* problems[kind][i] is variable i. If the script lacks a problem, has_problem[kind] is false
     * and problems[kind] has the values of the tuned problem. */
    size_t problem_count;
    const pattern_variable *problems[PROBLEM_KINDS];
    bool has_problem[PROBLEM_KINDS];
    const int64_t *most; /* largest value of each variable; 0 if it is no integer or has a list */
    const pattern_domain *domains; /* one for each variable */
    size_t ragged_count;           /* PROBLEM_RAGGED to PROBLEM_RAGGED + ragged_count - 1 */
    size_t parameter_count;
    const space_parameter *parameters;
    size_t constraint_count;
    const space_constraint *constraints;
    size_t feature_count;
    const pattern_feature *features;
    const uint16_t *baseline; /* default configuration of the script: a value index per parameter */
    size_t start_count;
    /* Configurations that the script expects to be good. A problem may exclude some of these. */
    const uint16_t *const *starts;
    const char *template_path;
    const char *filler_path;    /* kernel that fills inputs; may be NULL */
    const char *reference_path; /* may be NULL */
    const char *item; /* plural name of the things that `items` counts ("keys"); may be empty */
    bool transfers;   /* variants transfer data between host and device; cannot be simulated */
    bool is_captured; /* its only problem is a captured launch of a program */
    bool measurable;  /* false if only emit, inspect and space are possible */
} pattern;

#endif
