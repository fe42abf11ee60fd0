/* Exporters: what was recorded, in forms that other programs use without autotune.
 *
 * An exporter is a name and a function that writes models as files. Adding one is adding a file and
 * a line of the table in export/export.c. */
#ifndef AUTOTUNE_EXPORT_EXPORT_H
#define AUTOTUNE_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "export/files.h"
#include "export/model.h"

typedef struct exporter {
    const char *name;      /* as --format takes it */
    const char *extension; /* of the file that it writes, ".h" */
    bool several;          /* patterns may share a file; else each has files of its own */
    bool pair;             /* it writes two files, of one stem */
    bool kernels;          /* models have a launch and kernels */
    /* Adds files for the models; `stem` is the file's name without its extension. AT_USAGE for
     * something that the format cannot express, AT_NO_MEMORY. */
    at_status (*write)(const export_model *const *models, size_t count, const char *stem,
                       export_files *files, at_error *error);
} exporter;

/* AT_USAGE for an unknown name, listing those that are known. */
at_status exporter_find(const char *name, const exporter **out, at_error *error);

extern const exporter export_header; /* export/header.c */
extern const exporter export_cuda;   /* export/cuda.c */
extern const exporter export_json;   /* export/json.c */
extern const exporter export_wisdom; /* export/wisdom.c */
extern const exporter export_t4;     /* export/t4.c */

#endif
