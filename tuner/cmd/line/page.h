/* The output of a command: one JSON value, printed as it is for programs, or as text for people.
 *
 * templates/pages/<name>.tmpl writes the text. The template sees the members of the JSON value,
 * those of a second value with data for the text alone, and `page`: `columns`, `colour` and `utf8`
 * of the terminal. gnuplot draws pictures from such text. */
#ifndef AUTOTUNE_CMD_LINE_PAGE_H
#define AUTOTUNE_CMD_LINE_PAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cmd/line/options.h"

/* Returns whether stdout is a terminal with colours (TERM is not dumb) and NO_COLOR is not set. */
bool terminal_wants_colour(void);

/* Returns the terminal's columns, from 40 to `most` ($COLUMNS if set), or 0 without a terminal. */
size_t terminal_columns(size_t most);

/* Returns the longest line to print: the terminal's columns, from 40 to 200, or 80 without one. */
size_t terminal_page(void);

/* If `wanted`, wraps lines of stdout at terminal_columns() until terminal_wrap_end(). Returns the
 * stream for the latter. */
FILE *terminal_wrap_begin(bool wanted);
void terminal_wrap_end(FILE *whole);

/* Writes bytes to the file `path` (file_replace()), or to stdout if `path` is NULL. AT_IO. */
at_status terminal_or_file(const char *path, const void *bytes, size_t size_bytes, at_error *error);

/* Prints `found` to stdout: with --json as JSON, indented by `indent`; else as the text that the
 * template <name>.tmpl makes of `found` and `also`, which may be NULL. Takes both references; a
 * NULL `found` is AT_NO_MEMORY. Other errors are those of script_render(), and AT_IO. */
at_status page_show(const options *o, const char *name, size_t indent, json_t *found, json_t *also,
                    at_error *error);

/* Runs the module lua/commands/<name>.lua on `given`, which it takes, and shows the list of `found`
 * and `also` that the module returns. Errors name the data's file `data_path`, which is NULL for
 * several files. Errors are those of script_compute() and page_show(). */
at_status page_answer(const options *o, const char *name, size_t indent, const char *data_path,
                      json_t *given, at_error *error);

/* Makes the text of a page. The caller frees *text. Takes `found` and `also`. */
at_status page_text(const char *name, json_t *found, json_t *also, char **text, at_error *error);

/* Runs gnuplot on a program that sets no output and whose last command draws. The caller frees
 * *picture, which holds the whole picture. AT_NO_TOOLCHAIN with the package's name if gnuplot is
 * missing; AT_IO if gnuplot fails, after it said why on stderr. */
at_status page_draw(const char *program, char **picture, size_t *size_bytes, at_error *error);

#endif
