/* Records of a pattern, laid out for picking: what is compared with a problem stands in columns,
 * equal problems and equal configurations are one, and what was seen of a configuration stands
 * together.
 *
 * Made of a set of records, which then must outlive it, or read from bytes (record/pick_index.h).
 * Nothing changes a table once it is made: any number of threads may use it. */
#ifndef AUTOTUNE_RECORD_PICK_TABLE_H
#define AUTOTUNE_RECORD_PICK_TABLE_H

#include "base/keymap.h"
#include "record/pick_near.h"
#include "record/record.h"

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
    pick_near near; /* of their problems; of none, where they are few */
} pick_group;

typedef struct pick_record {
    const record *from; /* of a table that was read it has no entries */
    size_t place;       /* of its first candidate among all: portfolios, then entries */
    size_t kept_count;  /* configurations of its portfolios */
    uint32_t first_entry, entry_count;
    uint32_t first_problem, problem_count; /* among record_problems */
    pick_near near;                        /* of these */
    uint32_t *portfolio_numbers;           /* of the portfolios' configurations, in a row */
} pick_record;

/* A table that was read has this instead of a set. */
typedef struct pick_owned {
    unsigned char *bytes; /* that were read, in which the texts are */
    size_t size_bytes;
    record_values *problems, *configurations, fallback;
    record_pair *problem_pairs, *configuration_pairs, *fallback_pairs;
    size_t record_count;
    record *records; /* with their portfolios, whose configurations' pairs are those above */
} pick_owned;

typedef struct pick_table {
    record_classes problems, configurations;
    pick_points points;        /* the problems */
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
} pick_table;

/* AT_NO_MEMORY; the caller calls pick_table_deinit() in any case. */
at_status pick_table_make(const record_set *set, pick_table *out, at_error *error);
void pick_table_deinit(pick_table *t);

/* Works out what follows from problems, entries, records and what was seen. `orders`, if given, is
 * what pick_table_orders() gave of the same table; what it is instead makes it slower, not wrong.
 * False: no memory. */
bool pick_table_finish(pick_table *t, const uint32_t *orders, size_t order_count);

/* The orders of all its trees (pick_near_make()), one after the other. NULL: no memory. The caller
 * frees it. */
uint32_t *pick_table_orders(const pick_table *t, size_t *count);

/* Finds what was seen of a configuration; NULL: nothing. */
const pick_group *pick_table_group(const pick_table *t, size_t record, uint32_t configuration,
                                   bool warm_cache);

#endif
