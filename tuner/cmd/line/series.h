/* A series of values, spelt as --over NAME=1,2,4,...,64: for variables of a problem, which have no
 * list of values that "..." could stand for.
 *
 * "..." between whole numbers continues the series of the up to three numbers before it: after one
 * number, by ones; after two or three, by their common difference if they have one, else by their
 * factor. */
#ifndef AUTOTUNE_CMD_LINE_SERIES_H
#define AUTOTUNE_CMD_LINE_SERIES_H

#include <stddef.h>

#include "base/error.h"
#include "cmd/line/options.h"

enum { SERIES_MOST = 1000 };

/* Checks the --over of a command that goes over variables of the problem: there is at least one and
 * `most` at most, each is given once, with values, and not by --set too. `form` says how it is
 * spelt: "NAME=LO..HI". AT_USAGE. */
at_status series_check(const options *o, const char *verb, const char *form, size_t most,
                       at_error *error);

typedef struct series {
    size_t count;
    char **texts; /* owned, and so is each text */
} series;

/* `name` is for errors: AT_USAGE if "..." cannot be continued to the value that follows it, if a
 * value occurs twice, or if there are more than SERIES_MOST. The caller calls series_deinit, also
 * after a failure. */
at_status series_parse(const char *name, const char *list, series *out, at_error *error);
void series_deinit(series *s);

#endif
