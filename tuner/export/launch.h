/* The parts of exported launches: the plan of a launch and the functions that evaluate it
 * (script/launch_c.h), in C11 and C++17; and the functions that queue it, in a .cu file. */
#ifndef AUTOTUNE_EXPORT_LAUNCH_H
#define AUTOTUNE_EXPORT_LAUNCH_H

#include <stdio.h>

#include "export/model.h"

/* The plan's types and functions; the first header that is included defines them. */
void export_print_plan(FILE *to);

/* autotune_<pattern>_evaluate(): a configuration's launches on a device, for a problem. The model must
 * have a launch. */
void export_print_evaluate(const export_model *m, FILE *to);

/* The C++ functions that queue launches, in an unnamed namespace. */
void export_print_queue(FILE *to);

#endif
