/* Exporters write records in formats that other programs use without autotune. An exporter is a row
 * of the table in export/export.c and a template in templates/export.
 * docs/development/record_table.md describes the data of the template. */
#ifndef AUTOTUNE_EXPORT_EXPORT_H
#define AUTOTUNE_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "export/model.h"

/* The files that an exporter writes: names without slashes, and texts in memory. */

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

void export_files_deinit(export_files *f); /* `f` may be zeroed */

typedef struct exporter {
    const char *name;          /* the word of --format */
    const char *extension;     /* extension of the file, such as ".h" */
    const char *template_name; /* an installed template */
    const char *path;          /* a user's template instead of the installed one; may be NULL */
    bool several;              /* several patterns may share a file */
    bool pair;                 /* the exporter writes two files with one stem */
    bool kernels;              /* the models must have a launch and kernels */
} exporter;

/* Finds an exporter. AT_USAGE for an unknown name; the message lists the known names. */
at_status exporter_find(const char *name, const exporter **out, at_error *error);

/* Adds the files of the models; `stem` is the file's name without its extension. AT_USAGE if the
 * format cannot express the models, AT_SCRIPT if a line of the template fails, AT_NO_MEMORY. */
at_status exporter_write(const exporter *e, const export_model *const *models, size_t count,
                         const char *stem, export_files *files, at_error *error);

#endif
