/* The table of what is exported: what the templates of exporters, and users' own, are given.
 *
 * docs/development/record_table.md describes it. */
#ifndef AUTOTUNE_EXPORT_TABLE_H
#define AUTOTUNE_EXPORT_TABLE_H

#include <jansson.h>

#include "export/model.h"

/* A new reference; NULL when out of memory. `stem`: of the files' names. */
json_t *export_table(const export_model *const *models, size_t count, const char *stem);

#endif
