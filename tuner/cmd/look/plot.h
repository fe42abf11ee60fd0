/* Pictures of recorded measurements, drawn by gnuplot. */
#ifndef AUTOTUNE_CMD_LOOK_PLOT_H
#define AUTOTUNE_CMD_LOOK_PLOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/folders.h"

/* Returns the file's name as UTF-8 text, a new reference: a kernel that the file does not name is
 * called so. */
json_t *plot_file_name(const char *path);

/* Lists the ceilings {name, unit, rate} for a roofline, rate 0 if unknown, with the rates that were
 * measured on that GPU: of the folder of records that `file` lies in, else of the first of
 * `folders` (NULL: none) that has any. *any tells whether a rate is known. Errors as
 * ceilings_read(). */
at_status plot_ceilings(const char *file, const record_folders *folders, const char *gpu,
                        json_t **out, bool *any, at_error *error);

/* Draws what lua/commands/plot.lua makes of `given` (which documents it) from the file `path`: has
 * gnuplot run the program that templates/pages/plot_<kind>.tmpl writes. The picture, text for the
 * terminal, is the caller's to free. *drawn, if not NULL, is what the module returned, a new
 * reference. Takes `given`. AT_USAGE for an unknown kind or parameter, AT_NOT_FOUND where the
 * recording lacks what the kind draws, saying what does have it, AT_NO_TOOLCHAIN, with the
 * package's name, where there is no gnuplot, AT_IO when it fails. */
at_status plot_draw(const char *path, json_t *given, char **picture, size_t *size_bytes,
                    json_t **drawn, at_error *error);

#endif
