/* The data of an exported pattern, as plain columns and rows: names that are safe in source code,
 * types that hold every recorded value, and words for texts.
 *
 * Input: the records of one pattern and, if found, its script; the model borrows from both. Names
 * and texts in records are not trusted. Every identifier in the model consists of letters, digits
 * and underscores, is not a keyword or macro of the language, and is unique. COLUMN_WORD, in upper
 * case, is also unique for each word of a column. */
#ifndef AUTOTUNE_EXPORT_MODEL_H
#define AUTOTUNE_EXPORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "export/kernels.h"
#include "record/record.h"
#include "space/pattern.h"

typedef enum export_type {
    EXPORT_INTEGER, /* fits 32 bits */
    EXPORT_LONG,
    EXPORT_NUMBER,
    EXPORT_BOOLEAN,
    EXPORT_WORD /* one of `words` */
} export_type;

typedef struct export_word {
    char text[RECORD_TEXT_BYTES];
    char identifier[EXPORT_IDENTIFIER_BYTES]; /* upper case, without a prefix */
} export_word;

/* A variable of the problem or a parameter of the configuration. */
typedef struct export_column {
    const char *name; /* as in the script and records */
    char identifier[EXPORT_IDENTIFIER_BYTES];
    export_type type;
    bool mixed; /* some of `words` stand for values that are not texts in the script */
    size_t word_count;
    export_word *words; /* owned */
} export_column;

typedef struct export_row {
    const record *from;
    const record_entry *entry; /* NULL for a portfolio's configuration */
    size_t portfolio, place;   /* index of the portfolio, and of the configuration in it */
    const record_values *configuration;
    size_t
        next_alike; /* 1 + index of the next row with an equal configuration; 0 if there is none */
    bool first;     /* the first row of its GPU and problem: programs prefer it */
} export_row;

typedef struct export_constraint {
    const char *text; /* as the script writes it */
    char *c;          /* the constraint in C; owned; NULL if C cannot express it */
} export_constraint;

/* A value that follows from parameters, problem and device, written as a function. */
typedef struct export_derived {
    const char *name;     /* in the script */
    export_type type;     /* EXPORT_WORD for a text */
    char *c, *assignment; /* owned; C of the value, and of statements that assign the value */
} export_derived;

/* A problem on which a configuration was timed against the default. */
typedef struct export_seen {
    const record *from;
    const record_comparison *seen;
    size_t first_row; /* 1 + index of the first row with an equal configuration; 0 if none */
} export_seen;

/* A value that a portfolio's tree may test besides the problem's variables. */
typedef struct export_feature {
    const pattern_feature *of;
    /* The feature in C, owned. If NULL, portfolios that test the feature are not used. */
    char *c, *assignment;
} export_feature;

typedef struct export_model {
    const char *pattern;
    const pattern *script;     /* borrowed; NULL if the script was not found */
    const record_set *records; /* borrowed */
    size_t problem_count;
    const record_values *problems; /* set by export_model_add_problems(); borrowed */
    size_t column_count, variable_count, parameter_count;
    export_column *columns;                /* owned */
    export_column *variables, *parameters; /* the first columns, and the other columns */
    size_t row_count;
    export_row *rows; /* owned; within each record, sorted by pick_preference() */
    size_t portfolio_count;
    const record_portfolio **portfolios; /* owned array */
    size_t comparison_count;             /* timings; always faster configurations are left out */
    export_seen *seen;                   /* owned */
    size_t constraint_count;             /* added by export_model_add_constraint() */
    export_constraint *constraints;      /* owned */
    size_t derived_count;                /* added by export_model_add_derived() */
    export_derived *derived;             /* owned; each follows the values that it reads */
    size_t feature_count;                /* number of features in the script */
    export_feature features[PATTERN_MAX_FEATURES];
    record_values defaults; /* the default; its pairs are owned */
    export_launch launch;   /* owned; zeroed unless kernels are exported */
    export_kernels kernels; /* owned; zeroed unless kernels are exported */
    size_t skipped;         /* entries left out: they have other variables or parameters */
} export_model;

/* Makes a model. If `p` is NULL, variables, parameters and default come from the latest entry.
 * AT_NOT_FOUND without script and entry; AT_SCRIPT if a name is too long for records. */
at_status export_model_init(export_model *m, const char *pattern_name, const record_set *records,
                            const pattern *p, at_error *error);
/* Frees what the model owns, and zeroes it. Accepts a zeroed model. */
void export_model_deinit(export_model *m);

/* Adds a constraint. Borrows `text`; takes over `c`, which may be NULL. */
void export_model_add_constraint(export_model *m, const char *text, char *c);

/* Adds a derived value for constraints and launches, after the values that it reads. Borrows
 * `name`; takes over `c` and `assignment` (export_derived). */
void export_model_add_derived(export_model *m, const char *name, export_type type, char *c,
                              char *assignment);

/* Sets the C of a feature. Takes over `c` and `assignment`. */
void export_model_set_feature(export_model *m, size_t feature, char *c, char *assignment);

/* Adds values of problems to the variables' words, and names the launch's buffers. The problems
 * have all variables and outlive the model. AT_USAGE if a value has another type than its variable.
 */
at_status export_model_add_problems(export_model *m, const record_values *problems, size_t count,
                                    at_error *error);

/* Writes the variable or parameter `name` as an expression for autotune_<pattern>_fits() without
 * brackets. Returns its column; NULL if the name is unknown or has values of several types. */
const export_column *export_spell(const export_model *m, const char *name, char *text,
                                  size_t size_bytes);

/* Writes a call of the derived value `name`. Returns NULL if there is no such value. */
const export_derived *export_spell_derived(const export_model *m, const char *name, char *text,
                                           size_t size_bytes);

/* Returns whether this problem has exactly the model's variables. */
bool export_has_variables(const export_model *m, const record_values *problem);

/* Returns whether the timing `s` applies to the row `r`, whose configuration is equal. */
bool export_tells_of(const export_model *m, const export_seen *s, const export_row *r);

#endif
