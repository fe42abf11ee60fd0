/* Values of parameters and problem variables, and element types of buffers.
 *
 * A value is a Lua integer, float, boolean or string. A string borrows its bytes, usually from the
 * script. */
#ifndef AUTOTUNE_BASE_VALUE_H
#define AUTOTUNE_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum value_kind { VALUE_INTEGER, VALUE_NUMBER, VALUE_BOOLEAN, VALUE_STRING } value_kind;

typedef struct value {
    value_kind kind;
    union {
        int64_t integer;
        double number;
        bool boolean;
        const char *string; /* borrowed, NUL-terminated */
    };
} value;

/* Returns whether the value is an integer or a number. */
bool value_is_number(value v);

/* Returns an integer or a number as a double, NAN for other values. */
double value_number(value v);

/* Returns whether two values are equal. As in Lua, 2 equals 2.0. */
bool value_equal(value a, value b);

/* Compares like strcmp(), in a total order: booleans, integers and numbers, strings by bytes. */
int value_compare(value a, value b);

/* Writes the value as people type it, with the fewest digits that are read back exactly. Returns
 * the result of snprintf(). */
int value_format(value v, char *text, size_t size_bytes);

/* Parses the text after NAME= on the command line: an integer (decimal or 0x), a number, true or
 * false. Other text becomes a string that borrows `text`. */
value value_parse(const char *text);

typedef enum dtype {
    DTYPE_INT8,
    DTYPE_UINT8,
    DTYPE_INT16,
    DTYPE_UINT16,
    DTYPE_INT32,
    DTYPE_UINT32,
    DTYPE_INT64,
    DTYPE_UINT64,
    DTYPE_HALF,
    DTYPE_BFLOAT16,
    DTYPE_FLOAT,
    DTYPE_DOUBLE,
    DTYPE_COUNT
} dtype;

typedef struct dtype_info {
    const char *name;   /* name in scripts: "float", "half", "int8" ... */
    const char *c_name; /* name in CUDA C++: "float", "__half", "signed char" ... */
    size_t size_bytes;
    bool is_float;
} dtype_info;

/* Returns the description of a type below DTYPE_COUNT, in static storage. */
const dtype_info *dtype_get(dtype type);

/* Returns `v` as an element of the type, in the low bits. Integers are truncated. */
uint64_t dtype_bits(dtype type, double v);

/* Finds a type by its name in scripts. Returns false if no type has that name. */
bool dtype_find(const char *name, dtype *type);

#endif
