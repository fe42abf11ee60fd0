/* The types and names of a model's columns in C, which lua/lib/identifiers.lua chooses.
 *
 * In: a model with its rows, default and problems. Out: its columns with type, identifier and
 * words, and the identifiers of its launch's buffers. */
#ifndef AUTOTUNE_EXPORT_COLUMNS_H
#define AUTOTUNE_EXPORT_COLUMNS_H

#include "export/model.h"

/* Also where they have names, which stay; there may be more words then. AT_USAGE for a problem
 * whose value is of another kind than its variable, AT_NO_MEMORY. */
at_status export_name_columns(export_model *m, at_error *error);

#endif
