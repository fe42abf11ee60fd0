/* The capture: the tables that the library left of a program's processes (capture/layout.h), as one
 * JSON value. schemas/capture.json describes it. */
#ifndef AUTOTUNE_CAPTURE_TABLES_H
#define AUTOTUNE_CAPTURE_TABLES_H

#include <jansson.h>

#include "base/error.h"

/* Reads the tables of all processes in the folder and removes them; *out, which the caller owns,
 * has the members "launches" (those of most time first, or of most launches where none is timed),
 * "graph_launches", "dropped", "matched", "matched_recorded", "processes", "trouble" (texts) and
 * "captured". AT_IO, AT_FORMAT. */
at_status tables_read(const char *dir, json_t **out, at_error *error);

#endif
