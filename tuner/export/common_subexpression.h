/* Common subexpressions of what constraint_c.h gives: an estimate that is the least of many has the
 * same calls in it again and again, which compilers find only after they have put each in place.
 *
 * Only what is evaluated in any case is evaluated before: what stands behind a `?`, `&&` or `||`
 * may be there because it would fail elsewhere. */
#ifndef AUTOTUNE_EXPORT_COMMON_SUBEXPRESSION_H
#define AUTOTUNE_EXPORT_COMMON_SUBEXPRESSION_H

#include <stdio.h>

/* Prints statements that give `target` the value of the expression `c`, indented by `indent`
 * blanks: calls of whole numbers that stand in it more than once become constants, and a choice
 * between two values becomes an `if`. Where there is no memory for that, one assignment of `c` as
 * it is. */
void export_print_assignment(const char *target, const char *c, int indent, FILE *to);

#endif
