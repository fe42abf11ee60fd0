/* A series of values of a problem variable, written as --over NAME=1,2,4,...,64.
 *
 * "..." continues the two or three whole numbers before it with their common difference or, if they
 * have none, their common factor. A single number is continued in steps of 1. */
#ifndef AUTOTUNE_CMD_LINE_SERIES_H
#define AUTOTUNE_CMD_LINE_SERIES_H

#include <stddef.h>

#include "base/error.h"
#include "cmd/line/options.h"

enum { SERIES_MOST = 1000 };

/* Checks the --over of a command that varies one to `most` problem variables: each variable is
 * given once, with values, and not also by --set. Messages show `form`, "NAME=LO..HI". AT_USAGE. */
at_status series_check(const options *o, const char *verb, const char *form, size_t most,
                       at_error *error);

typedef struct series {
    size_t count;
    char **texts; /* owned, like each text */
} series;

/* Parses the list of values; messages call the variable `name`. AT_USAGE if "..." cannot reach the
 * value after it, if a value is repeated, or for more than SERIES_MOST values. The caller always
 * calls series_deinit(). */
at_status series_parse(const char *name, const char *list, series *out, at_error *error);
void series_deinit(series *s); /* `s` may be zeroed */

#endif
