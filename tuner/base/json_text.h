/* JSON on top of jansson: errors with positions, numbers that are read back exactly, values of
 * scripts.
 *
 * Inputs are not trusted: jansson bounds their depth, and duplicate names are rejected. Functions
 * that return a json_t * return a new reference, or NULL if memory ran out. */
#ifndef AUTOTUNE_BASE_JSON_TEXT_H
#define AUTOTUNE_BASE_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/value.h"

/* Parses `text`; errors name `path`, line and column (AT_FORMAT). The caller releases `*out`. */
at_status json_text_parse(const char *text, size_t size_bytes, const char *path, json_t **out,
                          at_error *error);

/* Writes JSON text without a trailing newline; the caller frees `*out`. Members keep their order.
 * Numbers get the fewest digits (15 to 17) that are read back exactly. `indent` 0 gives one line.
 * AT_NO_MEMORY. */
at_status json_text_format(const json_t *root, size_t indent, char **out, at_error *error);

/* Prints JSON text and a newline, and releases `root`. AT_NO_MEMORY, also if `root` is NULL because
 * building it failed. */
at_status json_text_print(json_t *root, size_t indent, FILE *to, at_error *error);

/* Returns the path of a file or folder as a string. A path that is not UTF-8 becomes {"bytes":
 * "6eff"}, with all its bytes in hexadecimal. */
json_t *json_path(const char *path);
json_t *json_path_bytes(const char *path, size_t size_bytes);

/* Returns text of a compiler, driver or kernel as a string, with `?` for each byte that is not
 * UTF-8. NULL becomes null. */
json_t *json_foreign_text(const char *text);

/* Returns a script's value as JSON. Returns NULL also if a string is not UTF-8. */
json_t *json_from_value(value v);

/* Adds a member or an element, and takes its reference. If that fails (no memory, not UTF-8, NULL
 * member), the whole object is released and stays NULL: callers check once, at the end. */
void json_put(json_t **object, const char *name, json_t *member);
void json_append(json_t **array, json_t *element);

/* Returns {name: value, ...}. Returns NULL also if a string is not UTF-8. */
json_t *json_from_values(const char *const *names, const value *values, size_t count);

/* Converts JSON to a script's value; a string borrows from `j`. Returns false for other JSON. */
bool json_to_value(const json_t *j, value *out);

/* Returns a count as an integer, at most INT64_MAX. */
json_t *json_count(uint64_t count);

/* Returns a real count rounded to an integer, or null if it is not finite. */
json_t *json_count_rounded(double count);

/* Returns a number rounded to `digits` significant decimal digits, the precision of a measurement,
 * or null if it is not finite. */
json_t *json_rounded(double v, int digits);

/* Returns a number with all its digits, or null if it is not finite. */
json_t *json_exact(double v);

#endif
