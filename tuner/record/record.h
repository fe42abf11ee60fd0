/* Records: what is kept of runs, one JSON file for each GPU and pattern,
 * results/<gpu>/<pattern>.json.
 *
 * In: the summary of a run on a real device. Out: the file, with the run's entry merged into it;
 * and for the exporters and the library the entries as plain data. results/README.md documents the
 * schema. Files may come from other people: everything is bounded and checked when it is read
 * (sizes, types, names that are identifiers, no control characters). A writer treats a file that it
 * cannot understand as an error and leaves it alone; a reader leaves out only the entries that it
 * cannot understand. Merging reads, changes and replaces the file atomically, under a lock of its
 * folder; members that this version does not know are kept. */
#ifndef AUTOTUNE_RECORD_RECORD_H
#define AUTOTUNE_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "base/value.h"
#include "record/classes.h"

struct pattern;     /* space/pattern.h */
struct run_summary; /* record/summary.h */

enum {
    RECORD_VERSION = 1,
    RECORD_NAME_BYTES = 64,  /* of a pattern, variable or parameter, with the NUL */
    RECORD_TEXT_BYTES = 256, /* of a string value or a GPU's name, with the NUL */
    RECORD_MAX_VALUES = 64,  /* variables of a problem, parameters of a configuration */
    RECORD_MAX_ENTRIES = 10000,
    RECORD_MAX_KEPT = 16,   /* configurations of a portfolio */
    RECORD_MAX_NODES = 255, /* of its tree */
    RECORD_MAX_CONTENDERS = 16,
    RECORD_AFTER_BYTES = RECORD_TEXT_BYTES,
    RECORD_FILE_BYTES = 16 << 20 /* a record of a hundred problems is some 200 KiB */
};

typedef struct record_pair {
    const char *name; /* an identifier */
    value value;
} record_pair;

typedef struct record_values { /* in the file's order */
    size_t count;
    record_pair *pairs;
} record_values;

typedef struct record_contender {
    record_values configuration;
    int64_t time_ns, time_low_ns, time_high_ns;
} record_contender;

/* The fastest configuration for one problem. */
typedef struct record_entry {
    record_values problem;
    record_values configuration;
    record_values baseline; /* the pattern's default; count 0: not recorded */
    int64_t baseline_ns, baseline_low_ns,
        baseline_high_ns;   /* its median and interval; 0: not recorded */
    size_t place;           /* among the file's entries, from 0 */
    size_t contender_count; /* what came next to the best, best first */
    record_contender contenders[RECORD_MAX_CONTENDERS];
    int64_t time_ns, time_low_ns, time_high_ns; /* median of a launch, its 95 % interval */
    double gbps, gflops, gitems;                /* 0: not recorded */
    double ceiling_fraction, speedup;           /* likewise */
    const char *item, *ceiling; /* what items are, what the share is of; "" when not recorded */
    bool warm_cache;            /* measured with the data in the L2 */
    const char *after;  /* patterns whose kernels ran before each sample, "a, b"; "": none did */
    bool energy;        /* chosen for energy, not for time */
    const char *oracle; /* what said that its results are right: oracle_name() */
    const char *date, *tool;                                        /* "" when not recorded */
    const char *effort, *script_hash, *template_hash, *source_hash; /* likewise */
} record_entry;

/* A number that a tree asks for beside a problem's variables; who computes it does so by the
 * pattern's script, where that has a feature of this name and definition (pattern_feature). */
typedef struct record_feature {
    const char *name;
    const char *definition;
} record_feature;

/* A node of a portfolio's tree. A leaf has the portfolio's configurations in the order in which
 * they are to be tried. Any other node tests one variable, or its product with another: is it below
 * `bound`; or, if `bound` is no number, equal to it; or, if `multiple_of` is not 0, a whole
 * multiple of that? Or it tests a feature of one of the portfolio's configurations: is that below
 * `bound`? What cannot be computed (a division by zero) is not. */
typedef struct record_node {
    const char *variable;          /* or the feature's name; NULL: a leaf */
    const record_feature *feature; /* NULL: a variable is asked for */
    bool is_of_one; /* the feature is that of the configuration at place `of`; else of any, for it
                       reads no parameters */
    size_t of;
    const char *times; /* the other; NULL: the variable alone is asked for */
    int64_t multiple_of;
    value bound;
    size_t then, otherwise;
    uint8_t order[RECORD_MAX_KEPT];
    bool has_default;   /* the pattern's default has a place in the order: */
    uint8_t default_at; /* so many come before it */
} record_node;

/* Few configurations that serve a range of problems. */
typedef struct record_portfolio {
    record_values
        fixed; /* variables that have these values, else the portfolio is not for the problem */
    size_t configuration_count;
    record_values *configurations;
    size_t feature_count;
    record_feature *features; /* those that nodes ask for */
    size_t node_count;
    record_node *nodes; /* the root first */
    size_t held_out;    /* problems that it was tried on; 0: none */
    double mean_regret,
        worst_regret; /* there: by how much slower than the problem's own best, relative */
    const char *date;
    size_t place; /* among the file's portfolios, from 0 */
} record_portfolio;

/* A difference of two medians that is less than this share of them is noise. */
#define RECORD_NOISE 0.01

/* How a configuration compares with the pattern's default. */
typedef enum record_standing {
    RECORD_LEVEL, /* neither of the others */
    RECORD_FASTER,
    RECORD_SLOWER
} record_standing;

/* A configuration that was timed beside the pattern's default. */
typedef struct record_seen {
    const record_values *problem;
    const record_values *configuration;
    bool warm_cache; /* measured with the data in the L2 */
    record_standing standing;
} record_seen;

typedef struct record {
    char *path;
    const char *pattern, *gpu;
    int major, minor; /* compute capability */
    size_t entry_count;
    record_entry *entries;
    record_classes problems; /* of the entries */
    keymap questions;        /* the first entry of each (record_find_question) */
    size_t portfolio_count;
    record_portfolio *portfolios;
    size_t seen_count;
    record_seen *seen;            /* borrows from entries and portfolios */
    record_values *seen_problems; /* of portfolios */
    size_t seen_problem_count;
    void *root; /* the parsed file, which owns the texts */
} record;

/* A part that could not be read, and was left out. */
typedef struct record_fault {
    char *path;        /* of the file */
    char pointer[192]; /* JSON pointer to what is at fault, "/entries/2"; "": the whole file */
    int line;          /* of the file; 0 not known */
    char *message;     /* with the remedy */
    char *text;        /* "FILE:LINE: MESSAGE" */
} record_fault;

typedef struct record_faults {
    size_t count;
    record_fault *items;
} record_faults;

typedef struct record_set {
    size_t count;
    record *records; /* by GPU name, then pattern */
    record_faults faults;
} record_set;

/* The entry of these records for a run's GPU, problem, cache mode and objective; NULL: none. */
const record_entry *record_find_entry(const record *r, const struct run_summary *s);

/* The change that merging made. */
typedef enum record_change {
    RECORD_ADDED, /* the first entry for its problem */
    RECORD_REPLACED,
    RECORD_KEPT /* the earlier entry is faster, and this run did not try its configuration */
} record_change;

/* <results_dir>/<slug>/<pattern>.json. AT_USAGE when the pattern's name cannot be a file's name. */
at_status record_path(const char *results_dir, const char *gpu, const char *pattern_name, char *out,
                      size_t out_bytes, at_error *error);

/* Fails if record_merge() would fail for a reason that is known beforehand: makes the folders,
 * reads the existing file, tries to write. A run calls it before its first measurement. */
at_status record_check_writable(const char *results_dir, const char *gpu, const char *pattern_name,
                                at_error *error);

/* Merges the run's best configuration into its file: one entry a problem (and cache mode, and
 * objective). Writes the path to s->record_path. AT_USAGE for a run with predicted times, which
 * never enter a record, or without a best; AT_FORMAT for a file of another version or damaged
 * (which stays as it is); AT_IO. */
at_status record_merge(const char *results_dir, struct run_summary *s, record_change *change,
                       at_error *error);

/* Parses and checks one file's text; `path` is for messages. Parts that cannot be understood are
 * left out, and noted in `faults` (the caller's); NULL: they are AT_FORMAT, as it is if nothing of
 * the file can be understood. The caller frees with record_deinit on AT_OK. */
at_status record_parse(const char *text, size_t size_bytes, const char *path, record_faults *faults,
                       record *out, at_error *error);

/* Reads one file: as record_parse without faults, and AT_NOT_FOUND, AT_IO. */
at_status record_read(const char *path, record *out, at_error *error);
void record_deinit(record *r);

/* Adds the message of `error`, about `pointer` in a file, to the faults. AT_NO_MEMORY. */
at_status record_faults_add(record_faults *faults, const char *path, const char *pointer,
                            const at_error *why, at_error *error);
void record_faults_deinit(record_faults *faults);

/* Reads the records of all GPUs under `results_dir` (or of one GPU, if that is its folder), for one
 * pattern (NULL: all). Entries and portfolios that cannot be understood are left out and noted in
 * out->faults; so are whole files with bad syntax, head or version. AT_NOT_FOUND if the folder does
 * not exist; finding no record is no error (count 0). */
at_status record_load_all(const char *results_dir, const char *pattern_name, record_set *out,
                          at_error *error);
void record_set_deinit(record_set *set);

/* The same names with equal values, in whatever order? */
bool record_same_values(const record_values *a, const record_values *b);

/* The first entry of the record `in` that answers the same question as one of the record `of`: GPU,
 * pattern, problem, cache, objective; NULL: none. Found in constant time. */
const record_entry *record_find_question(const record *in, const record *of,
                                         const record_entry *like);

/* The value of a variable; NULL when there is none of that name. */
const value *record_get(const record_values *values, const char *name);

/* The places of a recorded configuration's values among those of the pattern's parameters; false
 * where a parameter has none, or one that the script does not list (any more). */
bool record_indices(const struct pattern *p, const record_values *configuration, uint16_t *indices);

/* Writes "tile=64,vec=4,..." in the file's order, as far as it fits. */
void record_format_values(const record_values *values, char *text, size_t size_bytes);

/* {name: value, ...}: a new reference, NULL when out of memory. */
struct json_t *record_pack_values(const record_values *values);

#endif
