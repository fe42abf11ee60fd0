/* Exporters: what was recorded, in forms that other programs use without autotune.
 *
 * An exporter is a name and a template over the table that docs/development/record_table.md
 * describes. Adding one is adding a template to templates/export and a line of the table in
 * export/export.c. */
#ifndef AUTOTUNE_EXPORT_EXPORT_H
#define AUTOTUNE_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "export/model.h"

/* ---- files ----
 *
 * The files that an exporter writes: names and texts in memory.
 *
 * Owned by whoever initialised it. Names have no slash in them. */

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

void export_files_deinit(export_files *f); /* a zeroed one is fine */

/* ---- exporters ---- */

typedef struct exporter {
    const char *name;          /* as --format takes it */
    const char *extension;     /* of the file that it writes, ".h" */
    const char *template_name; /* the tool's own */
    const char *path;          /* of a user's template, in its place; NULL: none */
    bool several;              /* patterns may share a file; else each has files of its own */
    bool pair;                 /* it writes two files, of one stem */
    bool kernels;              /* models have a launch and kernels */
} exporter;

/* AT_USAGE for an unknown name, listing those that are known. */
at_status exporter_find(const char *name, const exporter **out, at_error *error);

/* Adds files for the models; `stem` is the file's name without its extension. AT_USAGE for
 * something that the format cannot express, AT_SCRIPT at a place of the template, AT_NO_MEMORY. */
at_status exporter_write(const exporter *e, const export_model *const *models, size_t count,
                         const char *stem, export_files *files, at_error *error);

#endif
