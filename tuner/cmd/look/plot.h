/* Pictures of recorded measurements, which gnuplot draws. */
#ifndef AUTOTUNE_CMD_LOOK_PLOT_H
#define AUTOTUNE_CMD_LOOK_PLOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/folders.h"

/* Returns the file's name as UTF-8, a new reference: the name of kernels that lack one. */
json_t *plot_file_name(const char *path);

/* Lists the ceilings {name, unit, rate} of that GPU for a roofline; an unknown rate is 0. The rates
 * come from the folder of records around `file`, or else from the first of `folders` that has any;
 * `folders` may be NULL. *any is whether a rate is known. Errors are those of ceilings_read(). */
at_status plot_ceilings(const char *file, const record_folders *folders, const char *gpu,
                        json_t **out, bool *any, at_error *error);

/* Draws the recording `path`: lua/commands/plot.lua, which documents `given`, makes the data for
 * templates/pages/plot_<kind>.tmpl, which writes a program for gnuplot. Takes `given`. The caller
 * frees *picture. *drawn, unless `drawn` is NULL, is the module's result, a new reference. AT_USAGE
 * for an unknown kind or parameter; AT_NOT_FOUND if the recording lacks the data; else as
 * page_draw(). */
at_status plot_draw(const char *path, json_t *given, char **picture, size_t *size_bytes,
                    json_t **drawn, at_error *error);

#endif
