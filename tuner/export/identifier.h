/* Identifiers of an export model, made from the names and texts of records and scripts: safe in C
 * and C++, and unique in the model. */
#ifndef AUTOTUNE_EXPORT_IDENTIFIER_H
#define AUTOTUNE_EXPORT_IDENTIFIER_H

#include "export/model.h"

/* Names a column of the model, whose name is known. */
void export_name_column(export_model *m, export_column *c);

/* Names a word of a named column, so that its constant differs from all other constants. */
void export_name_word(const export_model *m, export_column *c, export_word *w);

/* Adds a buffer to the launch, as a member of a struct. */
void export_launch_add_buffer(export_launch *l, const char *name, bool is_input);

#endif
