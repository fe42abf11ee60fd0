/* Records of a pattern, laid out for picking: what is compared with a problem stands in columns,
 * equal problems and equal configurations are one, and what was seen of a configuration stands
 * together.
 *
 * Made of a set of records, which then must outlive it, or read from bytes (record/pick_index.h).
 * Nothing changes a table once it is made: any number of threads may use it. */
#ifndef AUTOTUNE_RECORD_PICK_TABLE_H
#define AUTOTUNE_RECORD_PICK_TABLE_H

#include <stdatomic.h>

#include "base/keymap.h"
#include "record/record.h"

/* The distance of two values: for numbers the difference of their pick_scale(); else 0, or, where
 * they differ, PICK_UNLIKE, which a missing one is apart from any, too. */
double pick_value_distance(value a, value b);

/* The distance of what is not alike. */
#define PICK_UNLIKE 256.0

/* log2(1 + |x|), linear between powers of two, with the sign of x: sizes compare by their ratio,
 * and nothing but arithmetic is needed. */
double pick_scale(double x);

/* Ranks entries: lower is what a caller without further wishes wants, measured for time, after the
 * kernels that run before it in a program, else cold. 0 to PICK_PREFERENCES - 1. */
enum { PICK_PREFERENCES = 6 };
int pick_preference(const record_entry *e);

/* The latest recorded baseline of the pattern; NULL when none is recorded. */
const record_values *pick_default(const record_set *set);

#define PICK_NO_ENTRY UINT32_MAX

typedef struct pick_entry {
    uint32_t record, problem, configuration; /* their numbers */
    uint32_t next;  /* with the same problem; PICK_NO_ENTRY: there is none */
    int preference; /* pick_preference() */
    bool warm_cache;
    int64_t time_ns;
    const record_entry *entry; /* NULL: the table was read */
} pick_entry;

/* One of the problems on which a configuration was timed beside the default. */
typedef struct pick_seen {
    uint32_t problem;
    record_standing standing;
    const record_seen *seen; /* NULL: the table was read */
} pick_seen;

typedef struct pick_group { /* of one record, configuration and way of measuring */
    uint64_t key;           /* which these are */
    uint32_t first, count;
} pick_group;

typedef struct pick_record {
    const record *from; /* of a table that was read it has no entries */
    size_t place;       /* of its first candidate among all: portfolios, then entries */
    size_t kept_count;  /* configurations of its portfolios */
    uint32_t first_entry, entry_count;
    uint32_t first_problem, problem_count; /* among record_problems */
    bool in_a_row;                         /* their numbers follow each other */
    uint32_t *portfolio_numbers;           /* of the portfolios' configurations, in a row */
} pick_record;

/* A variable of problems. */
typedef struct pick_column {
    const char *name;
    double *numbers;  /* pick_scale() of each problem's value; NAN: it is no number */
    uint32_t *others; /* PICK_MISSING, PICK_NUMBER, or the number of a value that is none */
    bool same;        /* all problems have the same value, which is no number */
    bool all_numbers; /* all have a number */
} pick_column;

enum { PICK_MISSING, PICK_NUMBER, PICK_FIRST_OTHER };

/* A table that was read has this instead of a set. */
typedef struct pick_owned {
    unsigned char *bytes; /* in which the texts are */
    record_values *problems, *configurations, fallback;
    record_pair *problem_pairs, *configuration_pairs, *fallback_pairs;
    size_t record_count;
    record *records; /* with their portfolios, whose configurations' pairs are those above */
} pick_owned;

typedef struct pick_table {
    record_classes problems, configurations;
    size_t column_count;
    pick_column *columns;
    size_t other_count;
    value *others;             /* from PICK_FIRST_OTHER on */
    keymap other_places;       /* by hash */
    uint32_t *first_entry;     /* of each problem */
    uint32_t *record_problems; /* of the first record, then of the next */
    size_t entry_count;
    pick_entry *entries;
    size_t record_count;
    pick_record *records;
    size_t seen_count, group_count;
    pick_seen *seen;
    pick_group *groups;
    keymap group_places;           /* by their keys */
    const record_values *fallback; /* pick_default(); NULL: none is recorded */
    pick_owned *owned;             /* NULL: it was made of a set */
    _Atomic(double *) spare;       /* pick_table_distances(): memory for the next one who asks */
} pick_table;

/* AT_NO_MEMORY; the caller calls pick_table_deinit() in any case. */
at_status pick_table_make(const record_set *set, pick_table *out, at_error *error);
void pick_table_deinit(pick_table *t);

/* Works out what follows from problems, entries and records. False: no memory. */
bool pick_table_finish(pick_table *t);

/* Works out how far each problem is from this one: the sum over all variables of both
 * (pick_value_distance). The caller gives it back. NULL: no memory. */
double *pick_table_distances(const pick_table *t, const record_values *problem);
void pick_table_give_back(const pick_table *t, double *distances); /* NULL is fine */

/* Finds what was seen of a configuration; NULL: nothing. */
const pick_group *pick_table_group(const pick_table *t, size_t record, uint32_t configuration,
                                   bool warm_cache);

#endif
