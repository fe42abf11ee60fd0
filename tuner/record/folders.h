/* The folders that records are read from.
 *
 * In: the folder that was asked for, or none. Out: the records of that folder, or of all known
 * folders: $AUTOTUNE_RESULTS, ./results and the one installed with autotune, in this order. The
 * command line and the library both use this function. */
#ifndef AUTOTUNE_RECORD_FOLDERS_H
#define AUTOTUNE_RECORD_FOLDERS_H

#include "base/error.h"
#include "base/paths.h"
#include "record/record.h"

enum { RECORD_FOLDERS = 3 };

typedef struct record_folders {
    size_t count;
    char paths[RECORD_FOLDERS][PATHS_BYTES]; /* as they are searched; some may not exist */
} record_folders;

/* Names the folders: `given` alone; NULL: the known ones, of which the installed one belongs to
 * `own` (NULL: it is not known where). */
void record_folders_find(const char *given, const paths *own, record_folders *out);

/* Like record_load_all(), of all the folders. Records of one GPU and pattern are in the order of
 * their folders; one whose entries are all repeated from folders before it is left out.
 * AT_NOT_FOUND, naming the folders, when there is none of them. */
at_status record_search(const record_folders *folders, const char *pattern_name, record_set *out,
                        at_error *error);

/* Writes their names as a sentence has them, "A, B and C", as far as they fit. */
void record_folders_text(const record_folders *f, char *text, size_t size_bytes);

/* AT_NOT_FOUND, AT_IO and their messages as record_search(), for folders in which nothing is
 * read. */
at_status record_check_folders(const record_folders *folders, at_error *error);

#endif
