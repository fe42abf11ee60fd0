/* The decisions of sites, kept as records: one file for each GPU and name of a site, one entry for
 * each problem, driver and version of the program's code.
 *
 * Driver and code are two more variables of the recorded problem, `at_driver` and `at_code`. An
 * entry that is of another driver, code or list of values is left alone, and said. Files are
 * changed under the lock of their folder and replaced whole, as all records; one that is no JSON
 * (half a file, of a program that did not) is put aside as FILE.damaged before it would be
 * overwritten. Not for several threads at once. */
#ifndef AUTOTUNE_LIBRARY_SITE_STORE_H
#define AUTOTUNE_LIBRARY_SITE_STORE_H

#include "base/error.h"
#include "base/stats.h"
#include "device/arch.h"
#include "library/site_space.h"
#include "record/record.h"
#include "record/summary.h"

typedef struct site_store site_store;

typedef struct site_key {
    const char *name;
    const at_variable *variables;
    size_t variable_count;
    const site_space *space;
} site_key;

/* Takes note of a problem, in one line. */
typedef void site_sayer(void *context, const char *text);

/* `folder` NULL: the user's own. Nothing is read or made yet. AT_IO without a folder for it,
 * AT_NO_MEMORY, AT_USAGE for a code that is no short line. */
at_status site_store_open(const char *folder, const arch_limits *gpu, const char *driver,
                          const char *code, site_store **out, at_error *error);
void site_store_close(site_store *s); /* NULL is fine */

/* The configuration that was decided for the key; false, with the reason said where there is one to
 * say, when there is none. A name's records are read once. */
bool site_store_find(site_store *s, const site_key *key, site_sayer *say, void *context,
                     uint32_t *out);

typedef struct site_decision {
    uint32_t configuration, fallback; /* fallback: the default */
    stats_summary time, baseline;     /* baseline: of the default; count 0: not known */
    run_verdict verdict;
} site_decision;

/* Writes what was decided, in place of an earlier entry of the same key. AT_IO, AT_FORMAT,
 * AT_NO_MEMORY leave the file as it was. */
at_status site_store_put(site_store *s, const site_key *key, const site_decision *d,
                         at_error *error);

#endif
