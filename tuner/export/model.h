/* The model that an exporter writes, as plain columns and rows: names that are safe in source code,
 * types that hold every recorded value, words for texts.
 *
 * In: the records of one pattern and, if it was found, its script. Out: the model, which borrows
 * from both. Names and texts in records are not trusted: every identifier in the model has only
 * letters, digits and underscores, is no keyword or macro of the language, and is unique; so is the
 * combination of a column and a word, in upper case. */
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
    const char *name; /* in script and records */
    char identifier[EXPORT_IDENTIFIER_BYTES];
    export_type type;
    bool mixed; /* some words are not texts in the script */
    size_t word_count;
    export_word *words; /* owned */
} export_column;

/* A recorded configuration: of an entry, or of a portfolio. */
typedef struct export_row {
    const record *from;
    const record_entry *entry; /* NULL: the configuration is a portfolio's */
    size_t portfolio, place;   /* which of the model's portfolios, and the place in it */
    const record_values *configuration;
    size_t next_alike; /* the next row of an equal configuration, from 1; 0: none */
    bool first;        /* an entry, and the first choice among those of its GPU and problem */
} export_row;

/* A constraint of the pattern. */
typedef struct export_constraint {
    const char *text; /* as the script spells it */
    char *c;          /* owned; NULL: it cannot be translated to C */
} export_constraint;

/* A value that follows from parameters, problem and device, as a function. */
typedef struct export_derived {
    const char *name;     /* in the script */
    export_type type;     /* EXPORT_WORD: a text */
    char *c, *assignment; /* owned: its value, and statements that assign it */
} export_derived;

/* A problem on which a GPU has timed a configuration beside the default. */
typedef struct export_seen {
    const record *from;
    const record_seen *seen;
    size_t first_row; /* the first row of an equal configuration, from 1; 0: none */
} export_seen;

/* A value that the trees of portfolios may ask for beside the problem's variables. */
typedef struct export_feature {
    const pattern_feature *of;
    /* Owned; NULL: it cannot be translated, and portfolios that ask for it serve nothing. */
    char *c, *assignment;
} export_feature;

typedef struct export_model {
    const char *pattern;
    const pattern *script;     /* what its script describes; NULL: it was not found. Borrowed */
    const record_set *records; /* borrowed */
    size_t problem_count;
    const record_values *problems; /* of export_model_add_problems(); borrowed */
    size_t column_count, variable_count, parameter_count;
    export_column *columns;                /* owned */
    export_column *variables, *parameters; /* the first of the columns, and the others */
    size_t row_count;
    export_row *rows; /* owned; in the records' order, cold and for time first */
    size_t portfolio_count;
    const record_portfolio **portfolios; /* owned array */
    size_t seen_count;       /* of configurations that were no faster than the default somewhere */
    export_seen *seen;       /* owned */
    size_t constraint_count; /* of export_model_add_constraint() */
    export_constraint *constraints; /* owned */
    size_t derived_count;           /* of export_model_add_derived() */
    export_derived *derived;        /* owned; each after those that it reads */
    size_t feature_count;           /* of the script */
    export_feature features[PATTERN_MAX_FEATURES];
    record_values defaults; /* pairs owned */
    export_launch launch;   /* owned; zeroed unless kernels are exported */
    export_kernels kernels; /* owned; likewise */
    size_t skipped;         /* entries of other variables or parameters */
} export_model;

/* Variables, parameters and the default are those of the latest entry if `p` is NULL. AT_NOT_FOUND
 * without script and entries, AT_SCRIPT for a name that no record can hold, AT_NO_MEMORY. */
at_status export_model_init(export_model *m, const char *pattern_name, const record_set *records,
                            const pattern *p, at_error *error);
void export_model_deinit(export_model *m);

/* Adds a constraint: its text (borrowed) and its C, which the model owns (NULL: none). */
void export_model_add_constraint(export_model *m, const char *text, char *c);

/* Adds a derived value that constraints and launches may name, after those that it reads: its name
 * (borrowed), its type and its C in both forms, which the model owns. */
void export_model_add_derived(export_model *m, const char *name, export_type type, char *c,
                              char *assignment);

/* Gives a feature its C in both forms, which the model owns. */
void export_model_set_feature(export_model *m, size_t feature, char *c, char *assignment);

/* Adds problems' values to the words of the variables, and names the launch's buffers; the problems
 * have all variables and outlive the model. AT_USAGE for a value of another kind than its variable,
 * AT_NO_MEMORY. */
at_status export_model_add_problems(export_model *m, const record_values *problems, size_t count,
                                    at_error *error);

/* Writes the variable or parameter of this name as an expression in autotune_<pattern>_fits(),
 * which needs no brackets. Returns its column; NULL: there is none, or it has values of several
 * kinds. */
const export_column *export_spell(const export_model *m, const char *name, char *text,
                                  size_t size_bytes);

/* Writes a call of the derived value of this name, likewise. NULL: there is none. */
const export_derived *export_spell_derived(const export_model *m, const char *name, char *text,
                                           size_t size_bytes);

/* Does this problem have exactly the model's variables? */
bool export_has_variables(const export_model *m, const record_values *problem);

/* Does what was seen tell of the row, which has an equal configuration? */
bool export_tells_of(const export_model *m, const export_seen *s, const export_row *r);

#endif
