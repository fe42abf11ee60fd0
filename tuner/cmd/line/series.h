/* A series of values as --over NAME=1,2,4,...,64 spells it, for variables of a problem, which have no
 * list of values that "..." could stand for.
 *
 * "..." between whole numbers goes on as the up to three numbers before it do: with one, by ones; with two
 * or three, by their difference where they have one in common, else by their factor. */
#ifndef AUTOTUNE_CMD_LINE_SERIES_H
#define AUTOTUNE_CMD_LINE_SERIES_H

#include <stddef.h>

#include "base/error.h"

enum { SERIES_MOST = 1000 };

typedef struct series {
    size_t count;
    char **texts; /* owned, each one too */
} series;

/* `name` is for errors: AT_USAGE when "..." cannot be continued to what follows it, a value comes twice, or
 * there are more than SERIES_MOST. The caller calls series_deinit, also after a failure. */
at_status series_parse(const char *name, const char *list, series *out, at_error *error);
void series_deinit(series *s);

#endif
