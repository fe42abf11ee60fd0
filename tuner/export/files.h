/* The files that an exporter writes: names and texts in memory.
 *
 * Owned by whoever initialised it. Names have no slash in them. */
#ifndef AUTOTUNE_EXPORT_FILES_H
#define AUTOTUNE_EXPORT_FILES_H

#include <stddef.h>

enum { EXPORT_FILE_NAME_BYTES = 160 };

typedef struct export_file {
    char name[EXPORT_FILE_NAME_BYTES];
    char *text; /* owned */
    size_t size_bytes;
} export_file;

typedef struct export_files {
    size_t count;
    export_file *files;
} export_files;

/* Adds a file, whose text it owns in any case. If the name is taken, "-2" (or more) goes before its
 * extension. */
void export_files_add(export_files *f, const char *name, char *text, size_t size_bytes);

void export_files_deinit(export_files *f); /* a zeroed one is fine */

#endif
