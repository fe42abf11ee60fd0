/* What every exported header has in common: the rules, the device, and the functions that constraints
 * in C (script/constraint_c.h) and look-ups call. The first header that is included defines it. */
#ifndef AUTOTUNE_EXPORT_PRELUDE_H
#define AUTOTUNE_EXPORT_PRELUDE_H

#include <stdio.h>

void export_print_prelude(FILE *to);

#endif
