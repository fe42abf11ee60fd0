/* Picks a recorded configuration for a GPU and a problem.
 *
 * Input: the records of one pattern, and a target: GPU, problem, and a function that tells which
 * configurations are possible. Output: the best configuration, and the rule that found it. The
 * rules are tried in the order of pick_rule, and within a rule the nearest problem comes first. On
 * another GPU of the same (major) compute capability, portfolios come before entries. A portfolio
 * is skipped if its tree tests a feature that the script does not have.
 *
 * The first possible configuration is picked, with one exception. A configuration that was measured
 * on another problem must be faster than the pattern's default, beyond noise. If the portfolio's
 * tree ranks the default, the order in the tree decides. Otherwise a comparison on another problem
 * decides: the nearest problem on which the configuration's GPU timed both. If the configuration is
 * not faster, the default is picked, if it is possible. Before the default, only the other
 * configurations of the same portfolio are tried, because they were timed on the same problems. If
 * the default was never timed beside a configuration (it was wrong or not tried), the configuration
 * is accepted.
 *
 * Picking is deterministic: among equals, the first in the records' order wins.
 * templates/export/pick_rules.h has the rules themselves, for this room and for exported headers; a
 * test compares the two. */
#ifndef AUTOTUNE_RECORD_PICK_H
#define AUTOTUNE_RECORD_PICK_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

/* Returns the rank of an entry's way of measuring, 0 (best) to PICK_PREFERENCES - 1: time comes
 * before energy; within both, in context comes first, then cold, then warm. */
enum { PICK_PREFERENCES = 6 };
int pick_preference(const record_entry *e);

/* Returns the pattern's default that was recorded last, or NULL. */
const record_values *pick_default(const record_set *set);

typedef struct pick_entry {
    uint32_t problem, configuration; /* class numbers in the table */
    const record_entry *entry;
} pick_entry;

/* A comparison of a configuration with the default, with class numbers. */
typedef struct pick_comparison {
    uint32_t problem, configuration; /* class numbers in the table */
    const record_comparison *seen;
} pick_comparison;

typedef struct pick_record {
    const record *from;
    size_t place;                /* index of its first candidate; portfolios come before entries */
    size_t kept_count;           /* number of configurations in the record's portfolios */
    uint32_t *portfolio_numbers; /* class numbers of these configurations */
    pick_entry *entries;         /* one for each entry of the record */
    pick_comparison *seen;       /* one for each comparison of the record */
} pick_record;

/* The value of one variable of one problem. */
typedef struct pick_cell {
    const value *value; /* NULL if the problem does not have the variable */
    double scale;       /* pick_scale() of the value; NAN if it is not a number */
} pick_cell;

typedef struct pick_table {
    record_classes problems, configurations;
    size_t column_count;
    const char **columns;   /* names of all variables */
    pick_cell *cells;       /* one row of columns for each problem */
    size_t candidate_count; /* portfolios' configurations plus entries, in all records */
    size_t record_count;
    pick_record *records;
    const record_values *fallback; /* pick_default() */
} pick_table;

/* Makes the table of a set of records, which must outlive it. The table never changes, so any
 * number of threads may use it. AT_NO_MEMORY. The caller calls pick_table_deinit() in any case. */
at_status pick_table_make(const record_set *set, pick_table *out, at_error *error);
void pick_table_deinit(pick_table *t);

/* Writes the distance of each problem of the table from `problem`: the sum over all variables of
 * both problems. Two numbers differ by the difference of their pick_scale(). Unequal values of
 * other kinds, and missing values, differ by more than any two numbers. Returns false if memory ran
 * out. */
bool pick_table_distances(const pick_table *t, const record_values *problem, double *distances);

/* Returns log2(1 + |x|), linear between powers of two, with the sign of x. With this scale sizes
 * are compared by their ratio. */
double pick_scale(double x);

typedef enum pick_rule {
    PICK_EXACT,      /* same GPU and problem */
    PICK_PORTFOLIO,  /* same GPU, by the tree of a portfolio */
    PICK_NEAREST,    /* same GPU, nearest problem */
    PICK_CAPABILITY, /* same compute capability */
    PICK_MAJOR,      /* same major compute capability */
    PICK_DEFAULT,    /* no record fits, or the default is as good: the pattern's default */
    PICK_OTHER,      /* another GPU; the default is impossible */
    PICK_NONE        /* no known configuration is possible */
} pick_rule;

typedef struct pick_candidate pick_candidate;

typedef enum pick_verdict {
    PICK_GOOD,
    PICK_IMPOSSIBLE,
    PICK_EQUAL, /* as fast as the default on the nearest problem, within noise */
    PICK_SLOWER
} pick_verdict;

/* Computes a feature of a configuration for the target's problem and GPU. `*out` is INFINITY if the
 * computation fails. Returns false if the script has no such feature. */
typedef bool (*pick_feature)(void *context, const record_feature *feature,
                             const record_values *configuration, double *out);

typedef struct pick_target {
    const char *gpu; /* name of the device */
    int major, minor;
    const record_values *problem;
    /* Returns whether a configuration is possible. NULL if every configuration is possible. */
    bool (*fits)(void *context, const record_values *configuration);
    /* If NULL, portfolios whose trees test a feature are skipped. */
    pick_feature ask;
    void *context;                 /* passed to the functions */
    const record_values *fallback; /* the pattern's default; NULL for pick_default() */
    /* Called for each refused candidate, with the deciding comparison or NULL. May be NULL. */
    void (*refused)(void *context, const pick_candidate *c, pick_verdict verdict,
                    const record_comparison *seen);
} pick_target;

struct pick_candidate {
    pick_rule rule;
    double distance; /* distance of the problems, or autotune_rank() in a portfolio */
    int preference;
    size_t place;                       /* order among candidates that are equal otherwise */
    const record *from;                 /* NULL for the default */
    const record_entry *entry;          /* NULL for a portfolio and for the default */
    const record_values *configuration; /* NULL if the rule is PICK_NONE */
    uint32_t number;                    /* class number of the configuration */
    int portfolio_place;                /* index in the order of its portfolio; -1 for an entry */
    int ahead;         /* configurations before the default in that order; -1 if unknown */
    bool lacks_memory; /* the rule is PICK_NONE because memory is short */
};

/* Returns "exact", "portfolio", "nearest_problem", "same_capability", "same_major", "default",
 * "other_gpu" or "none". */
const char *pick_rule_name(pick_rule rule);

/* A walk through the candidates for a target, best first. */
typedef struct pick_walk {
    const pick_table *table;
    const pick_target *target;
    const record_values *fallback;
    size_t problem;    /* class number of the target's problem, or RECORD_NO_CLASS */
    double *distances; /* distances of the table's problems from the target's; NULL until needed */
    bool has_distances;
    pick_rule rule; /* the rule whose candidates are in `items` */
    size_t count, at;
    pick_candidate *items; /* candidates; those before `at` were returned */
    bool lacks_memory;     /* the walk has ended early, because memory is short */
} pick_walk;

/* Begins a walk. The table and the target must outlive it. The caller calls pick_walk_end(). */
void pick_walk_begin(pick_walk *w, const pick_table *t, const pick_target *target);
void pick_walk_end(pick_walk *w);

/* Gives the next candidate. The default and candidates of GPUs of another major compute capability
 * come last. Returns false after the last candidate, or with w->lacks_memory. */
bool pick_walk_next(pick_walk *w, pick_candidate *out);

/* Judges a candidate of the walk. If a comparison shows that the candidate is no faster than the
 * default, writes that comparison to `*seen` (may be NULL). Otherwise leaves `*seen` alone. */
pick_verdict pick_judge(pick_walk *w, const pick_candidate *c, const record_comparison **seen);

/* Picks a configuration for the target, by the rules above. Returns out->rule. */
pick_rule pick_from(const pick_table *t, const pick_target *target, pick_candidate *out);

/* Like pick_from(), with a table that is made for this call. */
pick_rule pick(const record_set *set, const pick_target *target, pick_candidate *out);

#endif
