/* Reads off the text of a file how names are used: how host code launches a kernel, and what a
 * name probably is.
 *
 * Only names and their places are looked at, nothing is evaluated, and the compiler is not asked:
 * the answers are guesses. Nothing here fails. */
#ifndef AUTOTUNE_CPP_USAGE_H
#define AUTOTUNE_CPP_USAGE_H

#include "cpp/unit.h"

enum { CPP_LAUNCH_PARTS = 4 }; /* grid, block, shared bytes, stream */

/* A launch: kernel<instance><<<grid, block, shared, stream>>>(arguments). */
typedef struct cpp_launch {
    size_t unit;
    int line;
    cpp_span all; /* between <<< and >>> */
    cpp_span parts[CPP_LAUNCH_PARTS];
    size_t part_count;
    cpp_span instance;  /* the kernel's template arguments; "" if it has none */
    cpp_span arguments; /* between the brackets */
    cpp_span before;    /* the text of the surrounding function up to the launch; "" outside one */
} cpp_launch;

/* Finds up to `capacity` launches of the kernel of that name, in the order of the text. Returns
 * their number. */
size_t cpp_find_launches(const cpp_unit *units, size_t count, cpp_span kernel, cpp_launch *out,
                         size_t capacity);

/* Tells whether the grid, the block or the shared bytes of a launch depend on a name: through
 * assignments earlier in the same function, through macros and through declarations of the file. */
bool cpp_launch_reads(const cpp_unit *units, size_t count, const cpp_launch *launch,
                      const char *name);

/* A value that a text gives a variable: by NAME = value, NAME(value), NAME{value} or
 * NAME.member = value. */
typedef struct cpp_assignment {
    cpp_span value, member; /* member: "" if the whole variable is set */
} cpp_assignment;

/* Finds up to `capacity` assignments of the variable, in the order of the text. Returns their
 * number. */
size_t cpp_assignments(cpp_span text, cpp_span name, cpp_assignment *out, size_t capacity);

/* Tells whether the text declares a variable of that name: a type stands before it, as in
 * int N = 4. */
bool cpp_is_declared(cpp_span text, const char *name);

/* Tells whether the name stands where a type does: before another name, or after const. */
bool cpp_is_type_like(cpp_span text, const char *name);

/* Tells whether elements of the array are indices of others: whether an element, or a variable
 * computed from one, stands in brackets or in a sum with an address. */
bool cpp_is_index_array(cpp_span text, const char *name);

/* Finds up to `capacity` words of device code that decide how a kernel computes but not what: in
 * extents of shared memory, factors of unrolling, steps of loops, and factors of a block's or a
 * thread's index. A word may occur several times. Returns their number. */
size_t cpp_shaping_words(cpp_span text, cpp_span *out, size_t capacity);

#endif
