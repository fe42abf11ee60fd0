/* Patterns as the library knows them: their records and scripts, which are read once, and which
 * configurations a script allows for a problem and a device. */
#ifndef AUTOTUNE_LIBRARY_PATTERN_H
#define AUTOTUNE_LIBRARY_PATTERN_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/paths.h"
#include "device/arch.h"
#include "library/library.h"
#include "record/folders.h"
#include "record/pick.h"
#include "script/script.h"

/* The folders of the scripts, templates and records that were installed with the library; false
 * when they are not found. */
bool library_find_share(paths *out);

/* ---- what is read once ---- */

/* The records of a pattern. Nothing changes them; choices keep them. */
typedef struct pattern_records {
    atomic_size_t references;
    record_set set;
    pick_table table; /* of the set */
} pattern_records;

typedef struct known_pattern known_pattern;

/* The patterns that an at_results has read. A zeroed list with an initialised lock is empty. */
typedef struct patterns {
    record_folders folders; /* with absolute paths */
    paths share;
    bool has_share;
    pthread_mutex_t lock; /* of the list */
    size_t count;
    known_pattern **items;
} patterns;

/* One pattern, which one thread at a time works with. */
typedef struct pattern_view {
    pattern_records *records;        /* empty if the pattern has none */
    script *script;                  /* loaded for the device; NULL: there is none that loads */
    const pattern_variable *problem; /* the problem of the script itself */
    known_pattern *pattern;
} pattern_view;

void patterns_deinit(patterns *all);

/* Waits until no other thread works with the pattern. Reads its records, if that was not done, and
 * its script, if that was not done for the device of `limits`; NULL: the script is not wanted.
 * After AT_OK the caller calls patterns_leave(). AT_IO, AT_NO_MEMORY. */
at_status patterns_enter(patterns *all, const char *name, const arch_limits *limits,
                         pattern_view *out, at_error *error);
void patterns_leave(pattern_view *v);

/* The next patterns_enter() of each pattern reads its records again. */
void patterns_read_again(patterns *all);

pattern_records *pattern_records_keep(pattern_records *r);
void pattern_records_release(pattern_records *r); /* NULL is fine */

/* ---- the script for a choice ---- */

/* Loads the script of the choice's pattern, for its problem and the device's limits; `o` may be
 * NULL. AT_NOT_FOUND, AT_USAGE, AT_SCRIPT. The caller frees *out. */
at_status library_load_script(const at_choice *c, const at_kernel_options *o,
                              const arch_limits *limits, script_compiler compiler, script **out,
                              at_error *error);

/* Reads `text`, typed after a variable's name (--set), for the variable of the tuned problem at
 * `place`, as lua/lib/problem.lua does. False: the variable cannot have that value. The value
 * borrows from `text`. */
bool library_read_setting(const pattern *p, size_t place, const char *text, value *out);

typedef struct library_check {
    script *script;
    const space_constraint
        *broken; /* by the last that did not fit; NULL: it is not of the script's space */
} library_check;

/* pick_target.fits for a library_check: is the configuration in the script's space and valid? */
bool library_fits(void *check, const record_values *configuration);

/* pick_target.ask for a library_check. */
bool library_ask(void *check, const record_feature *feature, const record_values *configuration,
                 double *out);

/* The problem that the script was loaded for; borrows from both. */
record_values library_problem(const pattern *p, record_pair pairs[RECORD_MAX_VALUES]);

/* The pattern's default; borrows from both. */
record_values library_default(const pattern *p, record_pair pairs[RECORD_MAX_VALUES]);

/* AT_NOT_FOUND, saying which constraint the default breaks. */
at_status library_refuse(const at_choice *c, script *s, at_error *error);

#endif
