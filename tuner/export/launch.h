/* What exported launches have in common: the plan of a launch and the functions that evaluate one
 * (script/launch_c.h), for C11 and C++17; and what a .cu file needs to queue one. */
#ifndef AUTOTUNE_EXPORT_LAUNCH_H
#define AUTOTUNE_EXPORT_LAUNCH_H

#include <stdio.h>

#include "export/model.h"

/* The plan's types and functions; the first header that is included defines them. */
void export_print_plan(FILE *to);

/* autotune_<pattern>_evaluate(): a configuration's launches on a device, for a problem. Of a model with a
 * launch. */
void export_print_evaluate(const export_model *m, FILE *to);

/* The C++ functions that queue launches, in an unnamed namespace. */
void export_print_queue(FILE *to);

#endif
