/* Do exports of several patterns define the same name? autotune_a_b_kind may belong to the pattern
 * a and its column b, or to a pattern a_b. */
#ifndef AUTOTUNE_EXPORT_NAMES_H
#define AUTOTUNE_EXPORT_NAMES_H

#include "export/model.h"

/* AT_USAGE, naming both patterns and the name, when the models cannot share a program;
 * AT_NO_MEMORY. */
at_status export_check_names(const export_model *const *models, size_t count, at_error *error);

#endif
