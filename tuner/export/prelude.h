/* The part that all exported headers share: the rules, the device, and the functions that
 * translated constraints (script/constraint_c.h) and look-ups call. The first header included
 * defines it. */
#ifndef AUTOTUNE_EXPORT_PRELUDE_H
#define AUTOTUNE_EXPORT_PRELUDE_H

#include <stdio.h>

#include "export/model.h"

void export_print_prelude(const export_model *m, FILE *to);

#endif
