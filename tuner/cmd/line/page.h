/* The output of a command: one JSON value, printed as it is for programs, or as text for people.
 *
 * templates/pages/<name>.tmpl writes the text. The template sees the members of the JSON value, the
 * members of a second value with the data that only the text needs, and `page`, which has
 * `columns`, `colour` and `utf8` of the terminal. gnuplot draws pictures from such text. */
#ifndef AUTOTUNE_CMD_LINE_PAGE_H
#define AUTOTUNE_CMD_LINE_PAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cmd/line/options.h"

/* ---- the terminal on stdout ---- */

/* Returns whether stdout is a terminal with colours (TERM is not dumb) and NO_COLOR is not set. */
bool terminal_wants_colour(void);

/* Returns the width of the terminal in columns, from 40 to `most`: $COLUMNS if it is set. Returns 0
 * if stdout is not a terminal. */
size_t terminal_columns(size_t most);

/* Returns the longest line to print, in columns: the width of the terminal, from 40 to 200, or 80
 * without a terminal. */
size_t terminal_page(void);

/* Writes bytes to the file `path`, as file_replace() does, or to stdout if `path` is NULL. AT_IO.
 */
at_status terminal_or_file(const char *path, const void *bytes, size_t size_bytes, at_error *error);

/* ---- pages ---- */

/* Prints `found` to stdout: with --json the JSON value, indented by `indent`; else the text that
 * the template <name>.tmpl makes of `found` and `also`. `also` may be NULL. Takes both references;
 * a NULL `found` is AT_NO_MEMORY. Other errors are those of script_render(), and AT_IO. */
at_status page_show(const options *o, const char *name, size_t indent, json_t *found, json_t *also,
                    at_error *error);

/* Runs the module lua/commands/<name>.lua on `given`, and shows the list of `found` and `also` that
 * the module returns. `data_path` is the file that the data comes from, for error messages; it is
 * NULL for several files. Takes `given`. Errors are those of script_compute() and page_show(). */
at_status page_answer(const options *o, const char *name, size_t indent, const char *data_path,
                      json_t *given, at_error *error);

/* Makes the text of a page. The caller frees *text. Takes `found` and `also`. */
at_status page_text(const char *name, json_t *found, json_t *also, char **text, at_error *error);

/* Runs gnuplot on a program whose last command draws and that sets no output. The caller frees
 * *picture, which is complete: nothing is written to a file. AT_NO_TOOLCHAIN, with the name of the
 * package, if gnuplot is missing; AT_IO if gnuplot fails, after it said why on stderr. */
at_status page_draw(const char *program, char **picture, size_t *size_bytes, at_error *error);

#endif
