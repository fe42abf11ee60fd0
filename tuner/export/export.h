/* Exporters: what was recorded, in forms that other programs use without autotune.
 *
 * An exporter is a name and a function that writes a model as text. Adding one is adding a file and
 * a line of the table in export/export.c. */
#ifndef AUTOTUNE_EXPORT_EXPORT_H
#define AUTOTUNE_EXPORT_EXPORT_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "export/model.h"

typedef struct exporter {
    const char *name;    /* as --format takes it */
    const char *summary; /* one line */
    void (*write)(const export_model *m, FILE *to);
} exporter;

/* All exporters; static storage. */
const exporter *const *exporters(size_t *count);

/* AT_USAGE for an unknown name, listing those that are known. */
at_status exporter_find(const char *name, const exporter **out, at_error *error);

extern const exporter export_header; /* export/header.c */

#endif
