/* The findings of a command, for programs and for people: one JSON value, printed as it is or
 * written as text by a template in templates/pages.
 *
 * The template's names are the members of the value, and of a second one with what only text needs;
 * `page` has `columns`, `colour` and `utf8` of the terminal. */
#ifndef AUTOTUNE_CMD_LINE_PAGE_H
#define AUTOTUNE_CMD_LINE_PAGE_H

#include <jansson.h>

#include "cmd/line/options.h"

/* Prints `found` to stdout: with --json the object, indented by `indent`; else the text that
 * templates/pages/<name>.tmpl makes of it and of `also` (NULL: nothing more is needed). Takes both;
 * `found` NULL (it could not be made) is AT_NO_MEMORY. Errors as script_render(); AT_IO. */
at_status page_show(const options *o, const char *name, size_t indent, json_t *found, json_t *also,
                    at_error *error);

/* Prints what the module lua/commands/<name>.lua makes of `given`: a list of `found` and `also`, of
 * which page_show() prints one. `data_path` is the file that the data is from, for errors; NULL if
 * it is from several. Takes `given`. Errors as script_compute() and page_show(). */
at_status page_answer(const options *o, const char *name, size_t indent, const char *data_path,
                      json_t *given, at_error *error);

/* The text alone; the caller frees it. Takes both. */
at_status page_text(const char *name, json_t *found, json_t *also, char **text, at_error *error);

#endif
