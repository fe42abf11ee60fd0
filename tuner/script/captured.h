/* A launch that a program made of the kernel in a file, as the script is told of it: the kernel's
 * arguments have these values, and the problem is the one that they describe. */
#ifndef AUTOTUNE_SCRIPT_CAPTURED_H
#define AUTOTUNE_SCRIPT_CAPTURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address of memory that was captured: the files of an allocation's contents, where it points
 * into them, and how many bytes there are from there on. */
typedef struct script_captured_pointer {
    uint32_t at; /* in the argument */
    uint64_t address;
    const char *before, *after; /* after NULL: the launch changed nothing of it */
    uint64_t offset, left_bytes;
} script_captured_pointer;

typedef struct script_captured_argument {
    const void *bytes; /* its value */
    size_t size_bytes;
    size_t pointer_count; /* of a structure several */
    const script_captured_pointer *pointers;
} script_captured_argument;

/* A variable of the kernel's module, and the file of its contents before the launch. */
typedef struct script_captured_variable {
    const char *name; /* mangled */
    const char *before;
    uint64_t size_bytes;
} script_captured_variable;

typedef struct script_captured {
    const char *path;   /* of the capture, for messages */
    const char *kernel; /* its name as people write it, with types */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    size_t argument_count;
    const script_captured_argument *arguments;
    size_t variable_count;
    const script_captured_variable *variables;
} script_captured;

#endif
