/* The patterns of an at_results: their records and scripts, which are read once; and the
 * configurations that a script allows for a problem and a device. */
#ifndef AUTOTUNE_LIBRARY_PATTERN_H
#define AUTOTUNE_LIBRARY_PATTERN_H

#include <pthread.h>
#include <stdatomic.h>

#include "autotune.h"
#include "base/paths.h"
#include "device/arch.h"
#include "record/folders.h"
#include "record/pick.h"
#include "script/script.h"

/* Finds the installed folders of scripts, templates and records. Returns false without them. */
bool library_find_share(paths *out);

/* The records of a pattern. The records never change; choices share them by counting references. */
typedef struct pattern_records {
    atomic_size_t references;
    record_set set;
    pick_table table; /* table of `set` */
} pattern_records;

typedef struct known_pattern known_pattern;

/* The patterns that were read so far. A zeroed list with an initialised lock is empty. */
typedef struct patterns {
    record_folders folders; /* absolute paths of the folders of records */
    paths share;
    bool has_share;
    pthread_mutex_t lock; /* guards the list */
    size_t count;
    known_pattern **items;
} patterns;

/* A pattern, locked for the calling thread. */
typedef struct pattern_view {
    pattern_records *records; /* empty if the pattern has no records */
    script *script; /* loaded for the device; NULL if there is no script, or it does not load */
    const pattern_variable *problem; /* problem that the script states */
    known_pattern *pattern;
} pattern_view;

/* Frees all patterns, which no thread may be using. */
void patterns_deinit(patterns *all);

/* Locks a pattern: waits until no other thread uses it. Reads its records, unless they were read
 * before. Loads its script for the device of `limits`, unless `limits` is NULL or the script was
 * loaded before. After AT_OK the caller calls patterns_leave(). AT_IO, AT_NO_MEMORY. */
at_status patterns_enter(patterns *all, const char *name, const arch_limits *limits,
                         pattern_view *out, at_error *error);
void patterns_leave(pattern_view *v);

/* Makes the next patterns_enter() of each pattern read its records again. */
void patterns_read_again(patterns *all);

/* Add and release a reference; the last release frees the records. */
pattern_records *pattern_records_keep(pattern_records *r);
void pattern_records_release(pattern_records *r); /* `r` may be NULL */

/* Loads the script of the choice's pattern for its problem and the device of `limits`. `o` may be
 * NULL. The caller frees `*out`. AT_NOT_FOUND, AT_USAGE, AT_SCRIPT. */
at_status library_load_script(const at_choice *c, const at_kernel_options *o,
                              const arch_limits *limits, script_compiler compiler, script **out,
                              at_error *error);

/* Converts `text` to a value for the variable `place` of the tuned problem, as --set does. The
 * value borrows from `text`. Returns false if the variable cannot have this value. */
bool library_parse_setting(const pattern *p, size_t place, const char *text, value *out);

typedef struct library_check {
    script *script;
    const space_constraint *broken; /* constraint that refused the last configuration, or NULL */
} library_check;

/* Implements pick_target.fits for a library_check: whether the configuration is valid. */
bool library_fits(void *check, const record_values *configuration);

/* Implements pick_target.ask for a library_check. */
bool library_feature(void *check, const record_feature *feature, const record_values *configuration,
                     double *out);

/* Returns the problem that the script was loaded for; borrows from both arguments. */
record_values library_script_problem(const pattern *p, record_pair pairs[RECORD_MAX_VALUES]);

/* Returns the pattern's default; borrows from both arguments. */
record_values library_default(const pattern *p, record_pair pairs[RECORD_MAX_VALUES]);

/* Returns AT_NOT_FOUND with the constraint that the default breaks. */
at_status library_refuse_default(const at_choice *c, script *s, at_error *error);

#endif
