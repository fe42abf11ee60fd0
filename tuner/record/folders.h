/* The folders in which records are searched: the folder that the user named, or else
 * $AUTOTUNE_RESULTS, ./results and the folder installed with autotune, in this order. The command
 * line and the library both use these functions. */
#ifndef AUTOTUNE_RECORD_FOLDERS_H
#define AUTOTUNE_RECORD_FOLDERS_H

#include "base/error.h"
#include "base/paths.h"
#include "record/record.h"

enum { RECORD_FOLDERS = 3 };

typedef struct record_folders {
    size_t count;
    char paths[RECORD_FOLDERS][PATHS_BYTES]; /* in the order of the search; some may not exist */
} record_folders;

/* Lists the folders: only `given`, or the known folders if `given` is NULL. `own` has the path of
 * the installed folder; it is NULL if the installation is unknown. */
void record_folders_find(const char *given, const paths *own, record_folders *out);

/* Reads the records of all the folders, like record_load_all(). Records of the same GPU and pattern
 * are in the order of their folders. A record is left out if earlier folders answer each of its
 * questions (record_find_question). AT_NOT_FOUND, with the names of the folders, if no folder
 * exists. */
at_status record_search(const record_folders *folders, const char *pattern_name, record_set *out,
                        at_error *error);

/* Writes the folders' names as "A, B and C", cut if they are too long. */
void record_folders_text(const record_folders *f, char *text, size_t size_bytes);

/* Returns the errors of record_search() for folders, but reads no record. */
at_status record_check_folders(const record_folders *folders, at_error *error);

#endif
