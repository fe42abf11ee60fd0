/* Reads how a file's own host code launches a kernel: kernel<<<grid, block, shared, stream>>>(...).
 *
 * In: units. Out: places in their texts, and what the numbers of a launch come from, as far as
 * names tell: assignments before it in the same function, macros, declarations of the file. Nothing
 * is evaluated, and nothing here fails. */
#ifndef AUTOTUNE_CPP_LAUNCH_H
#define AUTOTUNE_CPP_LAUNCH_H

#include "cpp/unit.h"

enum { CPP_LAUNCH_PARTS = 4 }; /* grid, block, shared bytes, stream */

typedef struct cpp_launch {
    size_t unit;
    int line;
    cpp_span all; /* between <<< and >>> */
    cpp_span parts[CPP_LAUNCH_PARTS];
    size_t part_count;
    cpp_span instance;  /* between < and > of the kernel's template arguments; "": there are none */
    cpp_span arguments; /* between its brackets */
    cpp_span before;    /* of the function that it stands in, what is above it; "": of none */
} cpp_launch;

/* Up to `capacity` launches of the kernel of that name, in the order of the text; returns how many
 * it wrote. */
size_t cpp_find_launches(const cpp_unit *units, size_t count, cpp_span kernel, cpp_launch *out,
                         size_t capacity);

/* Does the name stand in what grid, block or shared bytes come from? */
bool cpp_launch_reads(const cpp_unit *units, size_t count, const cpp_launch *launch,
                      const char *name);

/* Finds the texts that give the variable its value in `text`, in order: up to `capacity` of what
 * stands after NAME = or within NAME(...) and NAME{...}, with `member` that of NAME.member = ...;
 * returns how many. */
typedef struct cpp_assignment {
    cpp_span value, member;
} cpp_assignment;
size_t cpp_assignments(cpp_span text, cpp_span name, cpp_assignment *out, size_t capacity);

#endif
