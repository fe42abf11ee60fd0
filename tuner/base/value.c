#include "base/value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

bool value_is_number(value v)
{
    return v.kind == VALUE_INTEGER || v.kind == VALUE_NUMBER;
}

double value_number(value v)
{
    return v.kind == VALUE_INTEGER ? (double)v.integer : v.kind == VALUE_NUMBER ? v.number : NAN;
}

/* Compares exactly, even if the integer has no exact double. */
static int compare_integer_number(int64_t integer, double number)
{
    if (isnan(number))
        return -1;
    if (number >= 9223372036854775808.0)
        return -1;
    if (number < -9223372036854775808.0)
        return 1;
    int64_t whole = (int64_t)number;
    if (integer != whole)
        return integer < whole ? -1 : 1;
    double fraction = number - (double)whole;
    return fraction > 0 ? -1 : fraction < 0;
}

static int compare_numeric(value a, value b)
{
    if (a.kind == VALUE_INTEGER && b.kind == VALUE_INTEGER)
        return (a.integer > b.integer) - (a.integer < b.integer);
    if (a.kind == VALUE_INTEGER)
        return compare_integer_number(a.integer, b.number);
    if (b.kind == VALUE_INTEGER)
        return -compare_integer_number(b.integer, a.number);
    return (a.number > b.number) - (a.number < b.number);
}

int value_compare(value a, value b)
{
    if (value_is_number(a) && value_is_number(b))
        return compare_numeric(a, b);
    static const int rank[] = {
        [VALUE_BOOLEAN] = 0, [VALUE_INTEGER] = 1, [VALUE_NUMBER] = 1, [VALUE_STRING] = 2};
    if (rank[a.kind] != rank[b.kind])
        return rank[a.kind] - rank[b.kind];
    if (a.kind == VALUE_BOOLEAN)
        return (int)a.boolean - (int)b.boolean;
    return strcmp(a.string, b.string);
}

bool value_equal(value a, value b)
{
    return value_compare(a, b) == 0;
}

int value_format(value v, char *text, size_t size_bytes)
{
    switch (v.kind) {
    case VALUE_INTEGER:
        return snprintf(text, size_bytes, "%" PRId64, v.integer);
    case VALUE_BOOLEAN:
        return snprintf(text, size_bytes, "%s", v.boolean ? "true" : "false");
    case VALUE_STRING:
        return snprintf(text, size_bytes, "%s", v.string);
    case VALUE_NUMBER:
        break;
    }
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, v.number);
        if (strtod(digits, NULL) == v.number)
            break;
    }
    /* Without ".0" the number 2.0 would be parsed as the integer 2. */
    bool looks_integer = isfinite(v.number) && !strpbrk(digits, ".eE");
    return snprintf(text, size_bytes, "%s%s", digits, looks_integer ? ".0" : "");
}

value value_parse(const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return (value){.kind = VALUE_BOOLEAN, .boolean = text[0] == 't'};
    /* strtoll() and strtod() accept leading blanks, inf and nan. Here such texts are strings. */
    if (strchr("+-.0123456789", text[0]) && text[0] != '\0') {
        char *end;
        errno = 0;
        bool hexadecimal = strncmp(text + strspn(text, "+-"), "0x", 2) == 0;
        long long integer = strtoll(text, &end, hexadecimal ? 16 : 10);
        if (*end == '\0' && end != text && errno == 0)
            return (value){.kind = VALUE_INTEGER, .integer = integer};
        double number = strtod(text, &end);
        if (*end == '\0' && end != text && isfinite(number))
            return (value){.kind = VALUE_NUMBER, .number = number};
    }
    return (value){.kind = VALUE_STRING, .string = text};
}

static const dtype_info dtypes[DTYPE_COUNT] = {
    [DTYPE_INT8] = {"int8", "signed char", 1, false},
    [DTYPE_UINT8] = {"uint8", "unsigned char", 1, false},
    [DTYPE_INT16] = {"int16", "short", 2, false},
    [DTYPE_UINT16] = {"uint16", "unsigned short", 2, false},
    [DTYPE_INT32] = {"int32", "int", 4, false},
    [DTYPE_UINT32] = {"uint32", "unsigned int", 4, false},
    [DTYPE_INT64] = {"int64", "long long", 8, false},
    [DTYPE_UINT64] = {"uint64", "unsigned long long", 8, false},
    [DTYPE_HALF] = {"half", "__half", 2, true},
    [DTYPE_BFLOAT16] = {"bfloat16", "__nv_bfloat16", 2, true},
    [DTYPE_FLOAT] = {"float", "float", 4, true},
    [DTYPE_DOUBLE] = {"double", "double", 8, true},
};

const dtype_info *dtype_get(dtype type)
{
    return &dtypes[type];
}

uint64_t dtype_bits(dtype type, double v)
{
    switch (type) {
    case DTYPE_HALF:
        return half_from_float((float)v);
    case DTYPE_BFLOAT16:
        return bfloat_from_float((float)v);
    case DTYPE_FLOAT:
        return bits_of_float((float)v);
    case DTYPE_DOUBLE:
        return bits_of_double(v);
    default:
        return (uint64_t)(int64_t)v;
    }
}

bool dtype_find(const char *name, dtype *type)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            *type = (dtype)i;
            return true;
        }
    }
    return false;
}
