/* Derived values in exported C: a struct that keeps them, and a function for each. */
#ifndef AUTOTUNE_EXPORT_DERIVED_H
#define AUTOTUNE_EXPORT_DERIVED_H

#include <stdio.h>

#include "export/model.h"

/* Prints the struct and the functions; nothing where the model has no derived values. A function
 * takes the device, the problem, the configuration, the struct and where failures are noted; it
 * evaluates its value once. */
void export_print_derived(const export_model *m, FILE *to);

/* Does a text in C call one of them? */
bool export_calls_derived(const char *c);

/* Prints the start of a function that does: `derived`, in which nothing has been evaluated yet. */
void export_print_underived(const export_model *m, FILE *to);

#endif
