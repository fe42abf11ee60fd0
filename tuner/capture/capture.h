/* A captured launch, as `autotune capture` left it in a folder: capture.json, which
 * schemas/capture.json describes, and files of raw bytes. */
#ifndef AUTOTUNE_CAPTURE_CAPTURE_H
#define AUTOTUNE_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The file in the folder, and what it says that it is. */
#define CAPTURE_FILE "capture.json"
#define CAPTURE_SCHEMA "autotune-capture"
enum { CAPTURE_VERSION = 1 };

typedef struct captured_argument {
    uint32_t offset, size_bytes; /* in the parameters */
} captured_argument;

typedef struct captured_pointer {
    uint32_t offset; /* in the parameters: of eight bytes */
    uint32_t allocation;
    uint64_t allocation_offset; /* at most its size */
} captured_pointer;

typedef struct captured_allocation {
    uint64_t address, size_bytes;
    char *before; /* owned; path of the contents before the launch, size_bytes of them */
    char *after;  /* owned; NULL: the launch changed nothing */
} captured_allocation;

/* A variable of the kernel's module. */
typedef struct captured_variable {
    char *name; /* owned; mangled */
    uint64_t size_bytes;
    char *before; /* owned; path of its contents before the launch */
} captured_variable;

/* A launch, all of whose memory is there. */
typedef struct captured_launch {
    char *path;             /* owned; of capture.json, for messages */
    char *kernel, *mangled; /* owned */
    char arch[16];
    uint32_t grid[3], block[3], cluster[3]; /* cluster: all 1 where there are none */
    uint32_t dynamic_shared_bytes;
    bool cooperative;
    uint64_t count; /* launches of the same kernel, grid and block */
    size_t argument_count, pointer_count, allocation_count, variable_count;
    captured_argument *arguments;     /* owned */
    captured_pointer *pointers;       /* owned */
    captured_allocation *allocations; /* owned */
    captured_variable *variables;     /* owned */
    bool variables_unread;            /* the module has others, too */
    unsigned char *parameters;        /* owned */
    size_t parameter_bytes;
    char *module; /* owned; path of what the kernel was loaded from; NULL: it was not seen */
} captured_launch;

/* Reads a launch: `name` is the folder, or "DIR:2" for its second. On success the caller frees it
 * with captured_deinit(). AT_NOT_FOUND: the folder holds no capture or none of that number;
 * AT_USAGE: it holds several and `name` has no number; AT_FORMAT: it is damaged, or the launch is
 * not whole. */
at_status captured_read(const char *name, captured_launch *out, at_error *error);
void captured_deinit(captured_launch *c);

/* How many launches the folder has, whole or not. Errors as captured_read(). */
at_status captured_count(const char *dir, size_t *count, at_error *error);

#endif
