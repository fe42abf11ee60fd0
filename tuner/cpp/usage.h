/* Guesses from the text of a file how host code launches a kernel, and how names are used. The
 * functions evaluate nothing, use no compiler, and never fail. */
#ifndef AUTOTUNE_CPP_USAGE_H
#define AUTOTUNE_CPP_USAGE_H

#include "cpp/unit.h"

enum { CPP_LAUNCH_PARTS = 4 }; /* grid, block, shared bytes, stream */

/* a launch: kernel<instance><<<grid, block, shared, stream>>>(arguments) */
typedef struct cpp_launch {
    size_t unit;
    int line;
    cpp_span all; /* the text between <<< and >>> */
    cpp_span parts[CPP_LAUNCH_PARTS];
    size_t part_count;
    cpp_span instance;  /* the kernel's template arguments; "" if it has none */
    cpp_span arguments; /* the text between the brackets */
    cpp_span before;    /* text of the calling function up to the launch; "" outside functions */
} cpp_launch;

/* Finds up to `capacity` launches of a kernel, in the order of the text. Returns their number. */
size_t cpp_find_launches(const cpp_unit *units, size_t count, cpp_span kernel, cpp_launch *out,
                         size_t capacity);

/* Tells whether the grid, block or shared bytes depend on `name`, also through earlier assignments
 * in the same function, and through macros and declarations of the file. */
bool cpp_launch_reads(const cpp_unit *units, size_t count, const cpp_launch *launch,
                      const char *name);

typedef struct cpp_place {
    size_t unit;
    int line;
} cpp_place;

/* Finds up to `capacity` places that read the macro `name` for other kernels than the one that
 * cpp_need() marked: these kernels, and their launches. Returns their number. */
size_t cpp_find_other_uses(const cpp_unit *units, size_t count, const char *name, cpp_place *out,
                           size_t capacity);

/* an assignment: NAME = value, NAME(value), NAME{value} or NAME.member = value */
typedef struct cpp_assignment {
    cpp_span value, member; /* `member` is "" if the whole variable is set */
} cpp_assignment;

/* Finds up to `capacity` assignments to `name`, in the order of the text. Returns their number. */
size_t cpp_assignments(cpp_span text, cpp_span name, cpp_assignment *out, size_t capacity);

#endif
