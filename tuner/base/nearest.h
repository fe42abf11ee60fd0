/* The nearest valid name, for "did you mean" in error messages. */
#ifndef AUTOTUNE_BASE_NEAREST_H
#define AUTOTUNE_BASE_NEAREST_H

#include <stddef.h>

/* The name with the smallest edit distance (insert, delete, replace, swap of neighbours: Damerau,
 * "optimal string alignment") to `typed`, or NULL when none is near enough to be what was meant:
 * at most a third of the typed letters, at least one. The first of equals. Names are borrowed. */
const char *nearest_name(const char *typed, const char *const *names, size_t count);

#endif
