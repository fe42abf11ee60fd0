/* The output of a command: one JSON value, printed as it is for programs, or as text for users.
 *
 * templates/pages/<name>.tmpl writes the text. The template sees the members of the JSON value, the
 * members of a second value that only the text needs, and `page`: `columns`, `colour` and `utf8` of
 * the terminal. For pictures, the text is a program for gnuplot. */
#ifndef AUTOTUNE_CMD_LINE_PAGE_H
#define AUTOTUNE_CMD_LINE_PAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cmd/line/options.h"

/* Returns whether stdout is a terminal with colours (TERM is not dumb) and NO_COLOR is not set. */
bool terminal_wants_colour(void);

/* Returns the columns of the terminal or of $COLUMNS, limited to 40 ... `most`; 0 if stdout is no
 * terminal and $COLUMNS is not set. */
size_t terminal_columns(size_t most);

/* Returns the longest line to print: terminal_columns(200), or 80 if that is 0. */
size_t terminal_page(void);

/* If `wanted`, wraps lines of stdout at terminal_columns() until terminal_wrap_end(). Returns the
 * stream to pass to terminal_wrap_end(). */
FILE *terminal_wrap_begin(bool wanted);
void terminal_wrap_end(FILE *whole);

/* Fails if `path` is a regular file that autotune may not replace by `bytes`: an operand, the
 * file of --from or --template, or any file that is neither empty nor an earlier output. An earlier
 * output names autotune and a version in its first lines, or begins as the new output does.
 * AT_USAGE. */
at_status output_check(const options *o, const char *path, const void *bytes, size_t size_bytes,
                       at_error *error);

/* Writes bytes to the file `path` (output_check(), file_replace()), or to stdout if `path` is NULL.
 * AT_USAGE, AT_IO. */
at_status output_write(const options *o, const char *path, const void *bytes, size_t size_bytes,
                       at_error *error);

/* Prints `text` to `to`. Faults name a line without a folder: "kernel.cu:12" or "kernel.cu(12)". If
 * that file lies beside the file `beside`, its folder is added. `beside` may be NULL. */
void page_put(const char *beside, const char *text, FILE *to);

/* Called after a write to stdout failed. Sets AT_IO, with the reason. */
at_status output_failed(at_error *error);

/* Prints `found` to stdout: with --json as JSON, indented by `indent`; otherwise as the text that
 * the template <name>.tmpl makes from `found` and `also`, which may be NULL. Takes over both.
 * AT_NO_MEMORY if `found` is NULL, the errors of script_render(), AT_IO. */
at_status page_show(const options *o, const char *name, size_t indent, json_t *found, json_t *also,
                    at_error *error);

/* Runs the module lua/commands/<name>.lua on `given`, and shows `found` and `also`, which the
 * module returns as a list. Takes over `given`. Messages name the data's file `data_path`, which is
 * NULL for several files. Errors are those of script_compute() and page_show(). */
at_status page_answer(const options *o, const char *name, size_t indent, const char *data_path,
                      json_t *given, at_error *error);

/* Makes the text of a page. Takes over `found` and `also`. The caller frees *text. */
at_status page_text(const char *name, json_t *found, json_t *also, char **text, at_error *error);

/* Runs gnuplot on `program`, which must not set an output. *picture gets the whole picture, which
 * the caller frees. AT_NO_TOOLCHAIN if gnuplot is missing; AT_IO if gnuplot fails, after gnuplot
 * printed the reason on stderr. */
at_status page_draw(const char *program, char **picture, size_t *size_bytes, at_error *error);

#endif
