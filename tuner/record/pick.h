/* Picking a recorded configuration for a GPU and a problem at hand.
 *
 * In: records of one pattern. Out: the configuration that fits best and the rule that found it, in
 * this order: same GPU and problem; the same GPU's portfolio, as its tree says; same GPU, nearest
 * problem; same compute capability, then same major one (a portfolio before the nearest problem);
 * the pattern's default; a GPU that has nothing in common; none. A portfolio whose tree asks what
 * the script does not tell is passed over. Never one that the caller says is impossible. The first
 * that is possible decides: what was measured on another problem is only given if it was faster
 * than the default, beyond noise, on the nearest problem on which its GPU has timed both, or comes
 * before the default in its portfolio's tree, where that has the default; else the default is,
 * where that is possible. Only other configurations of portfolios are tried before, since they were
 * timed on the same problems. A configuration that was never timed beside the default is taken:
 * there the default was wrong, or not tried. Deterministic: of equals the first in the records'
 * order. The rules are the text that exported headers hold as well (templates/export/pick_rules.h),
 * compiled into both; a test holds the look-ups together. */
#ifndef AUTOTUNE_RECORD_PICK_H
#define AUTOTUNE_RECORD_PICK_H

#include <stdbool.h>
#include <stddef.h>

#include "record/pick_table.h"
#include "record/record.h"

typedef enum pick_rule {
    PICK_EXACT,      /* same GPU and problem */
    PICK_PORTFOLIO,  /* same GPU, by the tree of a portfolio */
    PICK_NEAREST,    /* same GPU, nearest problem */
    PICK_CAPABILITY, /* same compute capability */
    PICK_MAJOR,      /* same major compute capability */
    PICK_DEFAULT,    /* no record fits: the pattern's default */
    PICK_OTHER,      /* on another GPU, and the default is impossible */
    PICK_NONE        /* nothing that is known is possible */
} pick_rule;

typedef struct pick_candidate pick_candidate;

typedef enum pick_verdict {
    PICK_GOOD,
    PICK_IMPOSSIBLE,
    PICK_LEVEL, /* neither faster nor slower than the default there, beyond noise */
    PICK_SLOWER
} pick_verdict;

/* Computes, for the target's problem and GPU, a feature of a configuration: *out, or INFINITY where
 * that fails. False: there is no such feature, and who asks for it cannot be followed. */
typedef bool (*pick_asks)(void *context, const record_feature *feature,
                          const record_values *configuration, double *out);

typedef struct pick_target {
    const char *gpu; /* the device's own name */
    int major, minor;
    const record_values *problem;
    /* Is a configuration possible? NULL: any is. */
    bool (*fits)(void *context, const record_values *configuration);
    /* NULL: nobody computes any, and portfolios whose trees ask for one are left out. */
    pick_asks ask;
    void *context;                 /* of both */
    const record_values *fallback; /* the pattern's default; NULL: as recorded last */
    /* Is told of what is not given, and where that was (NULL: impossible here). NULL: no one is. */
    void (*refused)(void *context, const pick_candidate *c, pick_verdict verdict,
                    const record_seen *seen);
} pick_target;

struct pick_candidate {
    pick_rule rule;
    double distance; /* of the problems; of a portfolio the place in the tree's order */
    int preference;
    size_t place;                       /* among equals */
    const record *from;                 /* NULL: the default */
    const record_entry *entry;          /* NULL: of a portfolio, or the default */
    const record_values *configuration; /* NULL: PICK_NONE */
    uint32_t number;                    /* of the configuration in the table */
    int portfolio_place;                /* in its portfolio's order; -1: of none */
    int ahead; /* how many that has before the default; -1: it does not say, or there is none */
    bool lacks_memory; /* PICK_NONE for want of memory: nothing is known */
};

/* "exact", "portfolio", "nearest_problem", "same_capability", "same_major", "default", "other_gpu",
 * "none"; static storage. */
const char *pick_rule_name(pick_rule rule);

/* Goes through the candidates for a target, best first. */
typedef struct pick_walk {
    const pick_table *table;
    const pick_target *target;
    const record_values *fallback;
    size_t problem;    /* the number of the target's problem, or RECORD_NO_CLASS */
    double *distances; /* of the table's problems from the target's, once has_distances */
    bool has_distances;
    pick_rule rule; /* whose candidates are the items */
    size_t count, at;
    pick_candidate *items; /* those before `at` have been given */
    bool lacks_memory;     /* the walk has ended early */
} pick_walk;

/* The table and the target must outlive the walk, and the caller ends it. */
void pick_walk_begin(pick_walk *w, const pick_table *t, const pick_target *target);
void pick_walk_end(pick_walk *w);

/* The next candidate; false: there is no more, or w->lacks_memory. The last is the default, where
 * there is one, or one of an unlike GPU. */
bool pick_walk_next(pick_walk *w, pick_candidate *out);

/* Judges a candidate of the walk, alone. *seen, if given, is the problem on which it was no faster
 * than the default; untouched if a portfolio's tree says so. */
pick_verdict pick_judge(pick_walk *w, const pick_candidate *c, const record_seen **seen);

/* Picks a configuration for the target, by the rules above. */
pick_rule pick_from(const pick_table *t, const pick_target *target, pick_candidate *out);

/* The same, of records from which nothing else is picked. */
pick_rule pick(const record_set *set, const pick_target *target, pick_candidate *out);

#endif
