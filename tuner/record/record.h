/* Records: the winners of tuning runs, one JSON file for each GPU and pattern,
 * results/<gpu>/<pattern>.json. docs/development/records.md documents the schema.
 *
 * A file may come from another person. Reading therefore bounds and checks everything: sizes,
 * types, names (identifiers), texts (no control characters). A writer reports a file that it cannot
 * understand as an error and does not change it. A reader leaves out only the entries that it
 * cannot understand. Merging replaces the file atomically, under a lock of its folder. Members that
 * this version does not know are kept. */
#ifndef AUTOTUNE_RECORD_RECORD_H
#define AUTOTUNE_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "base/value.h"

struct pattern;     /* space/pattern.h */
struct run_summary; /* record/summary.h */

enum {
    RECORD_VERSION = 1,
    RECORD_NAME_BYTES = 64,  /* size of a pattern's, variable's or parameter's name, with the NUL */
    RECORD_TEXT_BYTES = 256, /* size of a string value or the name of a GPU, with the NUL */
    RECORD_MAX_VALUES = 64,  /* most variables of a problem, most parameters of a configuration */
    RECORD_MAX_ENTRIES = 10000,
    RECORD_MAX_KEPT = 16,   /* most configurations of a portfolio */
    RECORD_MAX_NODES = 255, /* most nodes of a portfolio's tree */
    RECORD_MAX_CONTENDERS = 16,
    RECORD_AFTER_BYTES = RECORD_TEXT_BYTES,
    RECORD_FILE_BYTES = 16 << 20, /* largest file; a record of 100 problems has about 200 KiB */
    RECORD_PATH_BYTES = 4096
};

typedef struct record_pair {
    const char *name; /* an identifier */
    value value;
} record_pair;

typedef struct record_values { /* name-value pairs, in the file's order */
    size_t count;
    record_pair *pairs;
} record_values;

/* Equivalence classes of record_values: equal problems (or configurations) get the same number,
 * from 0 in the order of their first members. A look-up takes constant time. The struct borrows the
 * values, which must outlive it. A zeroed struct is empty and valid. */
typedef struct record_classes {
    size_t count;
    const record_values **members; /* the first member of each class; the array is owned */
    keymap numbers; /* class numbers; the key is the hash of the values, or the next free key */
} record_classes;

#define RECORD_NO_CLASS ((size_t)-1)

typedef struct record_contender {
    record_values configuration;
    int64_t time_ns, time_low_ns, time_high_ns;
} record_contender;

/* The fastest configuration for one problem. Members that the file lacks are 0 or "". */
typedef struct record_entry {
    record_values problem;
    record_values configuration;
    record_values baseline; /* the pattern's default; count 0 if it is not recorded */
    int64_t baseline_ns, baseline_low_ns, baseline_high_ns; /* of the default, 95 % interval */
    size_t place;           /* index in the file's array of entries */
    size_t contender_count; /* the next best configurations, fastest first */
    record_contender contenders[RECORD_MAX_CONTENDERS];
    int64_t time_ns, time_low_ns, time_high_ns; /* median time of a launch and its 95 % interval */
    double gbps, gflops, gitems;                /* 10^9 bytes, flops, items per second */
    double ceiling_fraction;                    /* share of the ceiling that was reached */
    double speedup;                             /* time of the default over this time */
    const char *item, *ceiling;                 /* name of an item; name of the ceiling */
    bool warm_cache;                            /* measured with the data in the L2 cache */
    const char *after;                          /* patterns run before each sample, "a, b"; or "" */
    bool energy;                                /* the run minimised energy, not time */
    const char *oracle;      /* source of the expected results, as oracle_name() spells it */
    const char *date, *tool; /* "" when not recorded */
    const char *effort, *script_hash, *template_hash, *source_hash;
} record_entry;

/* A number, besides a problem's variables, that a portfolio's tree tests. The pattern's script
 * computes it if the script has a feature of this name and definition (pattern_feature). */
typedef struct record_feature {
    const char *name;
    const char *definition;
} record_feature;

/* A node of a portfolio's tree.
 *
 * A leaf gives the order in which to try the portfolio's configurations. An inner node has a test:
 * if it is true, the walk continues at `then`, otherwise at `otherwise`. There are three kinds of
 * test. (1) A variable, or the product of two variables, is below `bound`. (2) A variable equals
 * `bound`, which is a text or a boolean, or is a multiple of `multiple_of` (if `multiple_of` is not
 * 0). (3) A feature of one of the portfolio's configurations is below `bound`. A value that cannot
 * be computed makes the test false. */
typedef struct record_node {
    const char *variable;          /* variable or feature that is tested; NULL in a leaf */
    const record_feature *feature; /* NULL if a variable is tested */
    bool is_of_one;                /* the feature reads the parameters of configuration `of` */
    size_t of;
    const char *times; /* second factor; NULL if the variable alone is tested */
    int64_t multiple_of;
    value bound;
    size_t then, otherwise;
    uint8_t order[RECORD_MAX_KEPT];
    bool has_default;   /* the order says where the pattern's default ranks */
    uint8_t default_at; /* number of configurations that rank before the default */
} record_node;

/* A few configurations that serve a range of problems. */
typedef struct record_portfolio {
    record_values fixed; /* the portfolio serves only problems with these values */
    size_t configuration_count;
    record_values *configurations;
    size_t feature_count;
    record_feature *features; /* the features that nodes test */
    size_t node_count;
    record_node *nodes;               /* the root first */
    size_t held_out;                  /* number of problems that only test the portfolio */
    double mean_regret, worst_regret; /* extra time on these problems over each problem's best */
    const char *date;
    size_t place; /* index in the file's array of portfolios */
} record_portfolio;

/* Two medians that differ by less than this share are taken as equal: the difference is noise. */
#define RECORD_NOISE 0.01

/* How the time of a configuration compares with the time of the pattern's default. */
typedef enum record_standing {
    RECORD_EQUAL, /* equal, within noise */
    RECORD_FASTER,
    RECORD_SLOWER
} record_standing;

/* A comparison of a configuration with the pattern's default, timed on one problem in one run. */
typedef struct record_comparison {
    const record_values *problem;
    const record_values *configuration;
    bool warm_cache; /* measured with the data in the L2 cache */
    record_standing standing;
} record_comparison;

typedef struct record {
    char *path;
    const char *pattern, *gpu;
    int major, minor; /* compute capability */
    size_t entry_count;
    record_entry *entries;
    record_classes problems; /* classes of the entries' problems */
    keymap questions;        /* index of the first entry for each question (record_find_question) */
    size_t portfolio_count;
    record_portfolio *portfolios;
    size_t comparison_count;
    record_comparison *seen;      /* comparisons; they borrow from entries and portfolios */
    record_values *seen_problems; /* the portfolios' problems; owned */
    size_t seen_problem_count;
    void *root; /* the parsed file (json_t), which owns the texts */
} record;

/* A part of a file that could not be read and was left out. */
typedef struct record_fault {
    char *path;        /* path of the file */
    char pointer[192]; /* JSON pointer to the part, "/entries/2"; "" for the whole file */
    int line;          /* line of the file; 0 if unknown */
    char *message;     /* what is wrong, and the remedy */
    char *text;        /* "FILE:LINE: MESSAGE" */
} record_fault;

typedef struct record_faults {
    size_t count;
    record_fault *items;
} record_faults;

typedef struct record_set {
    size_t count;
    record *records; /* sorted by the name of the GPU, then by pattern */
    record_faults faults;
} record_set;

/* Returns the entry for the run's problem, cache mode and objective, or NULL if there is none. */
const record_entry *record_find_entry(const record *r, const struct run_summary *s);

/* The change that a merge made. */
typedef enum record_change {
    RECORD_ADDED, /* the first entry for its problem */
    RECORD_REPLACED,
    RECORD_KEPT /* the earlier entry is faster, and this run did not time its configuration */
} record_change;

/* Writes the path <results_dir>/<slug>/<pattern>.json. AT_USAGE if the name is invalid. */
at_status record_path(const char *results_dir, const char *gpu, const char *pattern_name, char *out,
                      size_t out_bytes, at_error *error);

/* Checks, before a run measures, that record_merge() can write: makes the folders, reads the
 * existing file, and tests that the folder is writable. Errors as record_merge(). */
at_status record_check_writable(const char *results_dir, const char *gpu, const char *pattern_name,
                                at_error *error);

/* Merges the run's best configuration into its file, which has one entry for each problem, cache
 * mode and objective. Writes the path to s->record_path. AT_USAGE if the times are predicted (never
 * recorded) or the run has no best configuration. AT_FORMAT if the file is damaged or of another
 * version; it stays unchanged. AT_IO. */
at_status record_merge(const char *results_dir, struct run_summary *s, record_change *change,
                       at_error *error);

/* Parses and checks the text of one file; `path` is for messages. Bad parts are left out and added
 * to `faults`, which the caller frees. If `faults` is NULL, bad parts are errors. AT_FORMAT if no
 * part of the file can be understood. After AT_OK the caller frees `*out` with record_deinit(). */
at_status record_parse(const char *text, size_t size_bytes, const char *path, record_faults *faults,
                       record *out, at_error *error);

/* Reads one file, like record_parse() without faults. Also AT_NOT_FOUND, AT_IO. */
at_status record_read(const char *path, record *out, at_error *error);
void record_deinit(record *r);

/* Adds a fault with message and line of `why`, for `pointer` in the file `path`. AT_NO_MEMORY. */
at_status record_faults_add(record_faults *faults, const char *path, const char *pointer,
                            const at_error *why, at_error *error);
void record_faults_deinit(record_faults *faults);

/* Returns the line, from 1, on which the value of the JSON pointer (RFC 6901) begins. If the value
 * is missing, returns the line of the last existing value on the way. `text` is valid JSON. */
int json_pointer_line(const char *text, const char *pointer);

/* Reads the records of one pattern (all patterns if `pattern_name` is NULL), of all GPUs under
 * `results_dir`, or of one GPU if `results_dir` is its folder. Bad entries, portfolios and files
 * are left out and added to out->faults. AT_NOT_FOUND if the folder does not exist; without records
 * the count is 0. */
at_status record_load_all(const char *results_dir, const char *pattern_name, record_set *out,
                          at_error *error);
void record_set_deinit(record_set *set);

/* Returns whether both have the same names with equal values, in any order. */
bool record_same_values(const record_values *a, const record_values *b);

/* Returns the number of the class of `v`, which is added if it is new (record_same_values). Returns
 * RECORD_NO_CLASS if memory ran out. */
size_t record_class_of(record_classes *c, const record_values *v);

/* Returns the number of the class of `v`, or RECORD_NO_CLASS. */
size_t record_class_find(const record_classes *c, const record_values *v);

/* Frees the table and leaves empty classes. */
void record_classes_deinit(record_classes *c);

/* Returns the first entry of `in` for the question of `like`, an entry of `of`, or NULL. The
 * question of an entry is its GPU, pattern, problem, cache mode, preceding kernels and objective.
 * Takes constant time. */
const record_entry *record_find_question(const record *in, const record *of,
                                         const record_entry *like);

/* Returns the value of the variable `name`, or NULL. */
const value *record_get(const record_values *values, const char *name);

/* Writes the index of each value of a recorded configuration in the pattern's list of that
 * parameter. Returns false if a parameter has no value, or a value that is not listed. */
bool record_indices(const struct pattern *p, const record_values *configuration, uint16_t *indices);

/* Writes "tile=64,vec=4,..." in the file's order, cut if it is too long. */
void record_format_values(const record_values *values, char *text, size_t size_bytes);

/* Returns {name: value, ...} as a new reference, or NULL if memory ran out. */
struct json_t *record_pack_values(const record_values *values);

#endif
