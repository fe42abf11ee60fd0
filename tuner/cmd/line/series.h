/* A series of values of a problem variable, written as --over NAME=1,2,4,...,64.
 *
 * "..." between whole numbers continues the series of the up to three numbers before it: by ones
 * after one number; after two or three numbers by their common difference, or else by their common
 * factor. */
#ifndef AUTOTUNE_CMD_LINE_SERIES_H
#define AUTOTUNE_CMD_LINE_SERIES_H

#include <stddef.h>

#include "base/error.h"
#include "cmd/line/options.h"

enum { SERIES_MOST = 1000 };

/* Checks the --over of a command that varies problem variables. There must be from one to `most`,
 * each given once, with values, and not by --set too. `form` is the form that messages show:
 * "NAME=LO..HI". AT_USAGE. */
at_status series_check(const options *o, const char *verb, const char *form, size_t most,
                       at_error *error);

typedef struct series {
    size_t count;
    char **texts; /* owned, like each text */
} series;

/* Parses the list of values; `name` is for messages. AT_USAGE if "..." cannot reach the value after
 * it, if a value occurs twice, or if there are more than SERIES_MOST values. The caller calls
 * series_deinit, also after a failure. */
at_status series_parse(const char *name, const char *list, series *out, at_error *error);
/* Frees the values. Accepts a zeroed series. */
void series_deinit(series *s);

#endif
