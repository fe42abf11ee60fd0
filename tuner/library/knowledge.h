/* An at_results knows this of a pattern: its records, and what its script says of configurations,
 * as they are on disk.
 *
 * Both are read when a pattern is asked for first, and again when the files have changed. Whoever
 * asks gets a snapshot that nothing changes, and keeps it as long as is needed: so any number of
 * threads may pick while others rewrite records. */
#ifndef AUTOTUNE_LIBRARY_KNOWLEDGE_H
#define AUTOTUNE_LIBRARY_KNOWLEDGE_H

#include <pthread.h>
#include <stdatomic.h>

#include "autotune.h"
#include "base/paths.h"
#include "base/stamp.h"
#include "device/arch.h"
#include "record/folders.h"
#include "record/pick_table.h"
#include "record/record.h"

typedef struct known_records {
    atomic_size_t references;
    stamped_files files; /* which they were read from */
    record_set set;
    pick_table table; /* of the set */
} known_records;

typedef struct known_script {
    atomic_size_t references;
    struct script_facts *facts; /* script/facts.h; NULL: there are none */
    bool only_lua;              /* ... but the script loads, and can be asked */
    char *path;                 /* of the script; NULL: it was not found */
    stamped_files sources;      /* what it was made of, the script first */
    pthread_mutex_t lock;       /* of what follows, if it is `only_lua`: */
    struct script *lua;         /* loaded for a device; NULL: not yet */
    arch_limits limits;
    struct pattern_variable *problem; /* as the script has it */
} known_script;

typedef struct known_pattern known_pattern;

/* A zeroed one, with an initialised lock, knows no pattern yet. */
typedef struct knowledge {
    record_folders folders; /* with absolute paths */
    paths share;
    bool has_share;
    pthread_mutex_t lock; /* of the list */
    size_t count;
    known_pattern **patterns;
} knowledge;

void knowledge_deinit(knowledge *k);

typedef struct knowledge_view {
    known_records *records; /* without any record, where there is none of the pattern */
    known_script *script;
} knowledge_view;

/* The pattern as it is on disk: a script's change is seen by the next call, one of records, of
 * modules and of where the script is after some milliseconds. `limits` is any device; NULL: its
 * script is not wanted, and not read. The caller releases the view, also after an error. AT_IO,
 * AT_NO_MEMORY. */
at_status knowledge_get(knowledge *k, const char *pattern_name, const arch_limits *limits,
                        knowledge_view *out, at_error *error);
void knowledge_release(knowledge_view *v);

/* The next knowledge_get() looks at all files. */
void knowledge_look_again(knowledge *k);

/* Gives the loaded script of one that is `only_lua`, for the device and the problem that the script
 * has, to one caller at a time: after AT_OK the caller calls known_script_answered(). */
at_status known_script_ask(const knowledge *k, known_script *s, const arch_limits *limits,
                           struct script **out, at_error *error);
void known_script_answered(known_script *s);

known_records *known_records_keep(known_records *r);
void known_records_release(known_records *r); /* NULL is fine */

#endif
