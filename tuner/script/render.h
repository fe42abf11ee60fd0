/* Texts of data: a template over a table.
 *
 * In: a template in lua/lib/template.lua's language, and a JSON object, whose members are names in
 * it. Out: one text, or several files. A template may require() Lua modules: those beside it, and
 * the tool's own in lua/lib. It runs in the sandbox of scripts, one that is not the tool's under
 * the same limits of memory and time. Beside Lua's own functions it has
 *
 *   json(value, indent)   its text; what came with the table is written as it came, members in
 *                         their order; `indent` 0 or none: on one line
 *   names(table)          the names of its members, in their order; pairs() sorts them
 *   has(table, name)      is there such a member? Elsewhere a name that is missing is an error
 *   object { { name, value }, ... }   a table whose members json() writes in this order
 *   slug(text)            as a part of a file's name: "nvidia-h200"
 *   refuse(message, kind, line)   ends it with this message and, by `kind`, "usage" (or none:
 *                         AT_USAGE), "missing" (AT_NOT_FOUND) or "format" (AT_FORMAT); `line`, 0
 *                         for the whole, places the error in the file that the data is from
 *   nearest_name(word, names)   the name that the word misspells, or nil
 *   parse_value(text)     the value that a person typed after NAME=
 *   file(name)            what follows is the text of another file
 *
 * and for people, in commands and pages,
 *
 *   cut(text, columns)    how many bytes of it go on a line of so many characters, and how many
 *                         blanks the break replaces: base/wrap.h
 *   units.NAME(number)    time (of ns), duration (of s), size (of bytes), rate (10^9 a second),
 *                         count, percent (of a share): base/units.h
 *   spell(value)          a value as scripts and records spell it: base/value.h
 *   ceiling_of(name)      its unit ("bytes", "flops" or "items") and its words, "the FP32
 *                         rate"; nil for an unknown name
 *   median_of(samples_ns) the median and the ends of its 95 % interval
 *
 * A member that is null is nil, an element that is null is false. Lines are written as they stand,
 * blanks and empty lines included; a line that is nothing but ${...} gives whole lines, with its
 * indentation, or none. Errors: AT_SCRIPT with the template's file and line, AT_IO, AT_NO_MEMORY.
 */
#ifndef AUTOTUNE_SCRIPT_RENDER_H
#define AUTOTUNE_SCRIPT_RENDER_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

typedef struct rendered_file {
    char *name; /* as given to file(); owned. "": what is written before the first file() */
    char *text; /* NUL-terminated; owned */
    size_t size_bytes;
} rendered_file;

typedef struct rendered {
    size_t count; /* without a first text that is empty, where there are others */
    rendered_file *files;
} rendered;

/* Renders the tool's own template `name`, below its folder of templates ("export/header.tmpl").
 * `table` is borrowed; NULL (it could not be made) is AT_NO_MEMORY. The caller frees *text. */
at_status script_render(const char *name, const json_t *table, char **text, at_error *error);

/* Renders a template into files: the tool's own `name`, or, where `path` is given, the file there,
 * whose folder comes before the tool's for what it includes and requires. The caller frees *out
 * with rendered_deinit() on AT_OK. */
at_status script_render_files(const char *name, const char *path, const json_t *table,
                              rendered *out, at_error *error);

/* Calls the function that the tool's own module `module` ("commands.importance") returns, with
 * `data` as its argument. *out is the value that the function returns, a new reference. `data_path`
 * is the file that the data is from, for errors; it may be NULL. `data` is borrowed; NULL is
 * AT_NO_MEMORY. Errors as script_render(), and those of refuse(). */
at_status script_compute(const char *module, const char *data_path, const json_t *data,
                         json_t **out, at_error *error);

void rendered_deinit(rendered *r); /* a zeroed one is fine */

#endif
