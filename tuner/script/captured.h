/* A launch that a program made of the kernel in a file, as the script is told of it: the kernel's
 * arguments have these values, and the problem is the one that they describe. */
#ifndef AUTOTUNE_SCRIPT_CAPTURED_H
#define AUTOTUNE_SCRIPT_CAPTURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct script_captured_argument {
    const void *bytes; /* its value */
    size_t size_bytes;
    bool is_pointer;     /* an address of memory that was captured; */
    bool holds_pointers; /* a structure with such addresses */
    /* Of a pointer: the files of the allocation's contents, where it points into them, and how many
     * bytes there are from there on. */
    const char *before, *after; /* after NULL: the launch changed nothing of it */
    uint64_t offset, left_bytes;
} script_captured_argument;

typedef struct script_captured {
    const char *path;   /* of the capture, for messages */
    const char *kernel; /* its name as people write it, with types */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    size_t argument_count;
    const script_captured_argument *arguments;
} script_captured;

#endif
