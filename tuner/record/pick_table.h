/* Records of a pattern, laid out for picking: equal problems and equal configurations have one
 * number, and the distance of all problems from another one is found by a scan over columns.
 *
 * Made of a set of records, which must outlive the table. Nothing changes a table once it is made:
 * any number of threads may use it. */
#ifndef AUTOTUNE_RECORD_PICK_TABLE_H
#define AUTOTUNE_RECORD_PICK_TABLE_H

#include "record/record.h"

/* Ranks entries: lower is what a caller without further wishes wants, measured for time, after the
 * kernels that run before it in a program, else cold. 0 to PICK_PREFERENCES - 1. */
enum { PICK_PREFERENCES = 6 };
int pick_preference(const record_entry *e);

/* The latest recorded baseline of the pattern; NULL when none is recorded. */
const record_values *pick_default(const record_set *set);

typedef struct pick_entry {
    uint32_t problem, configuration; /* numbers of the table */
    const record_entry *entry;
} pick_entry;

/* A problem on which a configuration was timed beside the default. */
typedef struct pick_seen {
    uint32_t problem, configuration; /* numbers of the table */
    const record_seen *seen;
} pick_seen;

typedef struct pick_record {
    const record *from;
    size_t place;                /* of its first candidate among all: portfolios, then entries */
    size_t kept_count;           /* configurations of its portfolios */
    uint32_t *portfolio_numbers; /* of these configurations, in a row */
    pick_entry *entries;         /* one for each of the record's */
    pick_seen *seen;             /* likewise */
} pick_record;

/* The value of a variable of a problem. */
typedef struct pick_cell {
    const value *value; /* NULL: the problem has no such variable */
    double scale;       /* pick_scale() of the value; NAN if it is no number */
} pick_cell;

typedef struct pick_table {
    record_classes problems, configurations;
    size_t column_count;
    const char **columns; /* the names of all variables */
    pick_cell *cells;     /* of the first problem, in the order of the columns; then of the next */
    size_t candidate_count; /* configurations of portfolios, and entries, of all records */
    size_t record_count;
    pick_record *records;
    const record_values *fallback; /* pick_default() */
} pick_table;

/* AT_NO_MEMORY; the caller calls pick_table_deinit() in any case. */
at_status pick_table_make(const record_set *set, pick_table *out, at_error *error);
void pick_table_deinit(pick_table *t);

/* Fills in the distance of each of the table's problems from `problem`: the sum over the variables
 * of both. Two numbers are as far apart as their pick_scale() is. Other values that are unlike, and
 * a missing value, are farther from any value than two numbers can be. False if out of memory. */
bool pick_table_distances(const pick_table *t, const record_values *problem, double *distances);

/* log2(1 + |x|), linear between powers of two, with the sign of x: sizes compare by their ratio,
 * and nothing but arithmetic is needed. */
double pick_scale(double x);

#endif
