/* Pictures of recorded measurements, which gnuplot draws. */
#ifndef AUTOTUNE_CMD_LOOK_PLOT_H
#define AUTOTUNE_CMD_LOOK_PLOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/folders.h"

/* Returns the file's name as UTF-8, a new reference. It is the title of unnamed kernels. */
json_t *plot_file_name(const char *path);

/* Lists the ceilings {name, unit, rate} of `gpu` for a roofline; an unknown rate is 0. The rates
 * come from the folder of records that contains `file` or, if that has none, from the first of
 * `folders` (may be NULL) that has rates. *any says whether a rate is known. Errors are those of
 * ceilings_read(). */
at_status plot_ceilings(const char *file, const record_folders *folders, const char *gpu,
                        json_t **out, bool *any, at_error *error);

/* Draws the recorded measurements in `path`. lua/commands/plot.lua, which documents `given`, makes
 * the data; templates/pages/plot_<kind>.tmpl writes a program for gnuplot. Takes over `given`. The
 * caller frees *picture. *drawn (`drawn` may be NULL) is the result of the Lua module, a new
 * reference. AT_USAGE for an unknown kind or parameter; AT_NOT_FOUND if the file lacks the data;
 * other errors are those of page_draw(). */
at_status plot_draw(const char *path, json_t *given, char **picture, size_t *size_bytes,
                    json_t **drawn, at_error *error);

#endif
