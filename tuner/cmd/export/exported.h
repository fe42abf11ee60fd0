/* The model of a pattern that is exported: its records and, if the script is available, its
 * constraints in C. */
#ifndef AUTOTUNE_CMD_EXPORT_EXPORTED_H
#define AUTOTUNE_CMD_EXPORT_EXPORTED_H

#include "export/model.h"
#include "script/launch_c.h"
#include "script/script.h"

/* Like export_model_init(); `s` may be NULL. The model borrows from records and script. */
at_status exported_model(const char *pattern_name, const record_set *records, const script *s,
                         export_model *out, at_error *error);

/* The term_leaf of the names of an export_model. */
bool exported_spell(void *model, const char *name, term_type *type, char *text, size_t size_bytes);

#endif
