/* JSON texts in and out, on top of jansson: positions in errors, digits that read back the same,
 * and the values of scripts.
 *
 * What is read may come from anyone: sizes and depth are bounded, duplicate names are refused. */
#ifndef AUTOTUNE_BASE_JSON_TEXT_H
#define AUTOTUNE_BASE_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/value.h"

/* Parses `text`; `path` names it in errors: AT_FORMAT with the line, and the column in the message.
 * The caller owns *out (json_decref). */
at_status json_text_parse(const char *text, size_t size_bytes, const char *path, json_t **out,
                          at_error *error);

/* Writes the text, members in their order, with the fewest digits with which every real number
 * reads back the same. `indent` 0: one line. The caller frees *out; it has no trailing newline.
 * AT_NO_MEMORY. */
at_status json_text_format(const json_t *root, size_t indent, char **out, at_error *error);

/* Writes the text and a newline to a stream, and takes `root`. AT_NO_MEMORY, also when `root` is
 * NULL: what was put together has failed. */
at_status json_text_print(json_t *root, size_t indent, FILE *to, at_error *error);

/* The path of a file or folder: a string, or where it is not UTF-8 {"bytes": "6eff"}, all its bytes
 * in hexadecimal. New reference, NULL when out of memory. */
json_t *json_path(const char *path);
json_t *json_path_of(const char *path, size_t size_bytes);

/* The words of a compiler, driver or kernel, with a ? for each byte that is no UTF-8; NULL: null.
 * New reference, NULL when out of memory. */
json_t *json_said(const char *text);

/* A script's value as JSON (new reference), NULL when out of memory or not valid UTF-8. */
json_t *json_from_value(value v);

/* Adds a member or an element (taking it). When that fails (no memory, not UTF-8, NULL)
 * the whole is freed and becomes NULL, as it then stays: callers check once, at the end. */
void json_put(json_t **object, const char *name, json_t *member);
void json_append(json_t **array, json_t *element);

/* {name: value, ...} (new reference), NULL as above. */
json_t *json_from_values(const char *const *names, const value *values, size_t count);

/* The other way of json_from_value(); a string borrows from `j`. False when it is not a value
 * (null, array, object, NULL: no member). */
bool json_to_value(const json_t *j, value *out);

/* A count as an integer, INT64_MAX when it is larger; and one that was multiplied or summed as a
 * real number, rounded (null when not finite). New references. */
json_t *json_count(uint64_t count);
json_t *json_count_rounded(double count);

/* A real rounded to `digits` significant decimal digits (new reference; null when not finite):
 * figures are kept as precise as they are known, not to the last bit. */
json_t *json_rounded(double v, int digits);
/* All of its digits, for what rounds them itself (new reference; null when not finite). */
json_t *json_exact(double v);

#endif
