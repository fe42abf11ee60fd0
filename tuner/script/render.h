/* Renders data as text: a template over a table.
 *
 * Input: a template in the language of lua/lib/template.lua, and a JSON object, whose members are
 * names in the template. Output: one text, or several files. A template may require() Lua modules
 * beside it and the tool's own in lua/lib. It runs in the sandbox of scripts; a user's template
 * also has the scripts' limits of memory and time. Templates can call
 *
 *   json(value, indent)   returns its text; data of the table keeps the order of its members;
 *                         without `indent`, or with 0, it has one line
 *   names(table)          returns the names of its members in their order; pairs() sorts them
 *   has(table, name)      tells whether a member exists; reading a missing member is an error
 *   object { { name, value }, ... }   returns a table whose members json() writes in this order
 *   slug(text)            returns the text as a part of a file's name: "nvidia-h200"
 *   refuse(message, kind, line)   fails with this message. `kind` is "usage" (the default,
 *                         AT_USAGE), "missing" (AT_NOT_FOUND) or "format" (AT_FORMAT); `line`
 *                         is the line of the file with the data, 0 for the whole file
 *   nearest_name(word, names)   returns the name that the word misspells, or nil
 *   parse_value(text)     returns the value that a person typed after NAME=
 *   file(name)            begins the text of another file
 *
 * and for texts that people read
 *
 *   cut(text, columns)    returns how many bytes fit on a line of `columns` characters, and how
 *                         many blanks the break replaces: base/wrap.h
 *   units.NAME(number)    time (from ns), duration (from s), size (from bytes), rate (10^9 a
 *                         second), count, percent (from a share): base/text.h
 *   spell(value)          returns a value in the form of scripts and records: base/value.h
 *   ceiling_of(name)      returns its unit ("bytes", "flops" or "items") and its words, "the FP32
 *                         rate", or nil for an unknown name
 *   median_of(samples_ns) returns the median and the ends of its 95 % interval
 *
 * A null member is nil, a null element is false. Lines keep their blanks, and empty lines stay. A
 * line with only ${...} becomes the lines of its value, with its indentation, or disappears.
 * Errors: AT_SCRIPT with the template's file and line, AT_IO, AT_NO_MEMORY. */
#ifndef AUTOTUNE_SCRIPT_RENDER_H
#define AUTOTUNE_SCRIPT_RENDER_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

typedef struct rendered_file {
    char *name; /* name given to file(), or "" for the text before the first file(); owned */
    char *text; /* ends with NUL; owned */
    size_t size_bytes;
} rendered_file;

typedef struct rendered {
    size_t count; /* number of texts; an empty first text is left out if others follow */
    rendered_file *files;
} rendered;

/* Renders the tool's own template `name` ("export/header.tmpl"). `table` is borrowed; NULL stands
 * for a table that could not be made and gives AT_NO_MEMORY. The caller frees *text. */
at_status script_render(const char *name, const json_t *table, char **text, at_error *error);

/* Renders a template into files: the tool's own template `name`, or the file at `path` if that is
 * not NULL. Modules and files of the folder of `path` are then found first. On AT_OK the caller
 * frees *out. */
at_status script_render_files(const char *name, const char *path, const json_t *table,
                              rendered *out, at_error *error);

/* Calls the function that the tool's own module ("commands.importance") returns with `data`, and
 * sets *out to its result, a new reference. Errors name `data_path`, which may be NULL. `data` is
 * borrowed; NULL gives AT_NO_MEMORY. Errors as script_render(), and those of refuse(). */
at_status script_compute(const char *module, const char *data_path, const json_t *data,
                         json_t **out, at_error *error);

void rendered_deinit(rendered *r); /* `r` may be zeroed */

#endif
