/* Texts of data: a template over a table.
 *
 * In: a template in the language of lua/lib/template.lua, and a JSON object, whose members are
 * names in the template. Out: one text, or several files. A template may require() Lua modules
 * beside it and the tool's own in lua/lib. It runs in the sandbox of scripts, a user's template
 * with the limits of memory and time of scripts. Templates can call
 *
 *   json(value, indent)   returns its text; data of the table keeps the order of its members;
 *                         `indent` 0 or none: on one line
 *   names(table)          returns the names of its members in their order; pairs() sorts them
 *   has(table, name)      tells whether there is such a member; to read a missing one is an error
 *   object { { name, value }, ... }   returns a table whose members json() writes in this order
 *   slug(text)            returns the text as a part of a file's name: "nvidia-h200"
 *   refuse(message, kind, line)   ends with this message and, by `kind`, "usage" (the default,
 *                         AT_USAGE), "missing" (AT_NOT_FOUND) or "format" (AT_FORMAT); `line`
 *                         places the error in the file with the data, 0 in the whole file
 *   nearest_name(word, names)   returns the name that the word misspells, or nil
 *   parse_value(text)     returns the value that a person typed after NAME=
 *   file(name)            begins the text of another file
 *
 * and for texts that people read
 *
 *   cut(text, columns)    returns how many bytes fit on a line of so many characters, and how many
 *                         blanks the break replaces: base/wrap.h
 *   units.NAME(number)    time (from ns), duration (from s), size (from bytes), rate (10^9 a
 *                         second), count, percent (from a share): base/units.h
 *   spell(value)          returns a value as scripts and records write it: base/value.h
 *   ceiling_of(name)      returns its unit ("bytes", "flops" or "items") and its words, "the FP32
 *                         rate", or nil for an unknown name
 *   median_of(samples_ns) returns the median and the ends of its 95 % interval
 *
 * A member that is null is nil, an element that is null is false. Lines are written as they stand,
 * with blanks and empty lines. A line with only ${...} gives whole lines, with its indentation, or
 * none. Errors: AT_SCRIPT with the template's file and line, AT_IO, AT_NO_MEMORY. */
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
