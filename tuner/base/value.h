/* Values that a pattern script can give a parameter or a problem variable, and element types.
 *
 * A value is a Lua integer, float, boolean or string. Values are small and passed by copy; a
 * string's bytes are borrowed from the maker of the value (the script, for everything that comes
 * from one). */
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

/* Is it an integer or a number? And which, as a double; NAN: neither. */
bool value_is_number(value v);
double value_number(value v);

/* Equal in kind and content; an integer equals a number of the same mathematical value, as in
 * Lua. */
bool value_equal(value a, value b);

/* Total order for stable output: booleans, then integers and numbers by magnitude, then strings
 * byte by byte. Negative, zero or positive, as strcmp. */
int value_compare(value a, value b);

/* Writes the value as people type it (64, 0.5, true, tile); numbers with the fewest digits that
 * read back the same. Returns what snprintf would. */
int value_format(value v, char *text, size_t size_bytes);

/* Reads what a person typed after NAME=: an integer (decimal or 0x), a number, true/false, else a
 * string that borrows `text`. Cannot fail. */
value value_parse(const char *text);

/* Element types of buffers. */
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
    const char *name;   /* as scripts write it: "float", "half", "int8" ... */
    const char *c_name; /* as CUDA C++ writes it: "float", "__half", "signed char" ... */
    size_t size_bytes;
    bool is_float;
} dtype_info;

/* Facts about a type; `type` must be below DTYPE_COUNT. Static storage. */
const dtype_info *dtype_get(dtype type);

/* Returns the bytes of `v` as an element of the type, in the low bits. Integers are cut off. */
uint64_t dtype_bits(dtype type, double v);

/* Finds a type by its script name; false when there is none. */
bool dtype_find(const char *name, dtype *type);

#endif
