#include "base/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

at_status json_text_parse(const char *text, size_t size_bytes, const char *path, json_t **out,
                          at_error *error)
{
    json_error_t e;
    *out = json_loadb(text, size_bytes, JSON_REJECT_DUPLICATES, &e);
    if (*out)
        return AT_OK;
    /* If memory runs out, jansson may leave the message empty. */
    if (json_error_code(&e) == json_error_out_of_memory || e.text[0] == '\0')
        return error_no_memory(error);
    return error_set_at(error, AT_FORMAT, path, e.line > 0 ? e.line : 0,
                        "not valid JSON at line %d, column %d: %s", e.line, e.column, e.text);
}

at_status json_text_format(const json_t *root, size_t indent, char **out, at_error *error)
{
    size_t flags = (indent ? JSON_INDENT(indent) : JSON_COMPACT) | JSON_ENCODE_ANY;
    /* 15 digits print a short decimal as it was typed; 17 are always exact. */
    for (int digits = 15; digits <= 17; digits++) {
        *out = json_dumps(root, flags | JSON_REAL_PRECISION(digits));
        if (!*out)
            break;
        json_t *again = json_loads(*out, JSON_DECODE_ANY, NULL);
        bool same = digits == 17 || (again && json_equal(root, again));
        json_decref(again);
        if (same)
            return AT_OK;
        free(*out);
    }
    *out = NULL;
    return error_no_memory(error);
}

at_status json_text_print(json_t *root, size_t indent, FILE *to, at_error *error)
{
    char *text = NULL;
    at_status status = root ? json_text_format(root, indent, &text, error) : error_no_memory(error);
    if (!status)
        fprintf(to, "%s\n", text);
    free(text);
    json_decref(root);
    return status;
}

json_t *json_path_bytes(const char *path, size_t size_bytes)
{
    static const char digits[] = "0123456789abcdef";
    json_t *whole = json_stringn(path, size_bytes);
    /* If `path` is valid text and `whole` is NULL, memory ran out. */
    char *hex = whole || plain_text_is_line(path, size_bytes) ? NULL : malloc(2 * size_bytes + 1);
    if (!hex)
        return whole;
    for (size_t i = 0; i < size_bytes; i++) {
        hex[2 * i] = digits[(unsigned char)path[i] >> 4];
        hex[2 * i + 1] = digits[(unsigned char)path[i] & 15];
    }
    whole = json_pack("{ss%}", "bytes", hex, 2 * size_bytes);
    free(hex);
    return whole;
}

json_t *json_path(const char *path)
{
    return json_path_bytes(path, strlen(path));
}

/* Returns the length of the UTF-8 character at the start of `text`, or 0 if it is not UTF-8. */
static size_t character(const char *text)
{
    for (size_t length = 1; length <= 4 && text[length - 1]; length++) {
        json_t *one = json_stringn(text, length);
        json_decref(one);
        if (one)
            return length;
    }
    return 0;
}

json_t *json_foreign_text(const char *text)
{
    json_t *whole = text ? json_string(text) : json_null();
    char *plain = whole ? NULL : strdup(text);
    if (!plain)
        return whole;
    for (char *c = plain; *c;) {
        size_t length = character(c);
        if (length == 0)
            *c = '?';
        c += length ? length : 1;
    }
    whole = json_string(plain);
    free(plain);
    return whole;
}

json_t *json_from_value(value v)
{
    switch (v.kind) {
    case VALUE_INTEGER:
        return json_integer(v.integer);
    case VALUE_NUMBER:
        return json_real(v.number);
    case VALUE_BOOLEAN:
        return json_boolean(v.boolean);
    case VALUE_STRING:
        return json_string(v.string);
    }
    return NULL;
}

void json_put(json_t **object, const char *name, json_t *member)
{
    if (json_object_set_new(*object, name, member) != 0) {
        json_decref(*object);
        *object = NULL;
    }
}

void json_append(json_t **array, json_t *element)
{
    if (json_array_append_new(*array, element) != 0) {
        json_decref(*array);
        *array = NULL;
    }
}

json_t *json_from_values(const char *const *names, const value *values, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        json_put(&object, names[i], json_from_value(values[i]));
    return object;
}

bool json_to_value(const json_t *j, value *out)
{
    if (!j)
        return false;
    switch (json_typeof(j)) {
    case JSON_INTEGER:
        *out = (value){.kind = VALUE_INTEGER, .integer = json_integer_value(j)};
        return true;
    case JSON_REAL:
        *out = (value){.kind = VALUE_NUMBER, .number = json_real_value(j)};
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        *out = (value){.kind = VALUE_BOOLEAN, .boolean = json_is_true(j)};
        return true;
    case JSON_STRING:
        *out = (value){.kind = VALUE_STRING, .string = json_string_value(j)};
        return true;
    default:
        return false;
    }
}

json_t *json_count(uint64_t count)
{
    return json_integer(count < INT64_MAX ? (json_int_t)count : INT64_MAX);
}

json_t *json_count_rounded(double count)
{
    return isfinite(count) ? json_count(count < 0x1p63 ? (uint64_t)round(count) : UINT64_MAX)
                           : json_null();
}

json_t *json_rounded(double v, int digits)
{
    char text[40];
    if (!isfinite(v))
        return json_null();
    snprintf(text, sizeof text, "%.*g", digits, v);
    return json_real(strtod(text, NULL));
}

json_t *json_exact(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}
