/* Picking a recorded configuration for a GPU and a problem at hand.
 *
 * In: records of one pattern. Out: the entry that fits best and the rule that found it, in this
 * order: same GPU and problem; same GPU, nearest problem; same compute capability, nearest problem;
 * same major compute capability, nearest problem; nothing, so that the pattern's default is left.
 * Deterministic: of equals the first in the records' order. The exported header holds the same rules
 * as C text (export/header.c), and a test holds them together. */
#ifndef AUTOTUNE_RECORD_PICK_H
#define AUTOTUNE_RECORD_PICK_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

typedef enum pick_rule {
    PICK_EXACT,      /* same GPU and problem */
    PICK_NEAREST,    /* same GPU, nearest problem */
    PICK_CAPABILITY, /* same compute capability */
    PICK_MAJOR,      /* same major compute capability */
    PICK_DEFAULT     /* no record fits: the pattern's default */
} pick_rule;

enum { PICK_RULES = PICK_DEFAULT + 1 };

/* What one variable that differs in kind, text or truth, or is missing on one side, adds to a
 * distance: more than any two sizes can differ. */
#define PICK_UNLIKE 256.0

typedef struct pick_target {
    const char *gpu; /* the device's own name */
    int major, minor;
    const record_values *problem;
    /* May a configuration be used? NULL: any may. Asked only of those that would be picked. */
    bool (*fits)(void *context, const record_entry *entry);
    void *context;
} pick_target;

/* "exact", "nearest_problem", "same_capability", "same_major", "default"; static storage. */
const char *pick_rule_name(pick_rule rule);

/* How far two values are apart: for numbers the difference of pick_scale(), else 0 or PICK_UNLIKE.
 */
double pick_value_distance(value a, value b);

/* log2(1 + |x|), linear between powers of two, with the sign of x: sizes compare by their ratio, and
 * nothing but arithmetic is needed. */
double pick_scale(double x);

/* May pick() ever return this entry? Of those for one problem only the first measured cold, for
 * time; where there is none such, warm, and then for energy. */
bool pick_is_candidate(const record *r, size_t entry);

/* *entry and *from are NULL for PICK_DEFAULT. */
pick_rule pick(const record_set *set, const pick_target *target, const record_entry **entry,
               const record **from);

/* The latest recorded baseline of the pattern; NULL when none is recorded. */
const record_values *pick_default(const record_set *set);

#endif
