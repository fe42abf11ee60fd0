/* The files that an exporter writes: names and texts in memory.
 *
 * Owned by whoever initialised it. Names have no slash in them. */
#ifndef AUTOTUNE_EXPORT_FILES_H
#define AUTOTUNE_EXPORT_FILES_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

enum { EXPORT_FILE_NAME_BYTES = 160 };

typedef struct export_file {
    char name[EXPORT_FILE_NAME_BYTES];
    char *text;
    size_t size_bytes;
    FILE *stream; /* where the text is written until it is closed */
} export_file;

typedef struct export_files {
    size_t count;
    export_file **files;
} export_files;

/* Opens another file for writing. If the name is taken, "-2" (or more) goes before its extension.
 * *to is valid until export_files_close(). AT_NO_MEMORY. */
at_status export_files_open(export_files *f, const char *name, FILE **to, at_error *error);

/* Closes the file opened last. AT_NO_MEMORY when not all of it was written. */
at_status export_files_close(export_files *f, at_error *error);

void export_files_deinit(export_files *f); /* a zeroed one is fine */

#endif
