/* Allocations that cannot fail: if memory runs out, the process prints one line to stderr and exits
 * with MEMORY_EXIT. The tuner replaces such a worker, as after any crash. The user can
 * resume a run from its journal. The rooms of the library must not use this module (the test
 * `house` checks that): they return AT_NO_MEMORY. Buffers, whose size depends on the user's
 * problem, are not allocated by this module either.
 *
 * The caller frees every returned block. */
#ifndef AUTOTUNE_BASE_MEMORY_H
#define AUTOTUNE_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

enum { MEMORY_EXIT = 5 };

/* Returns `block`, the result of an allocation. Ends the process if it is NULL. */
void *memory_require(void *block);

/* Returns `count` zeroed items of `size` bytes, or a block to free if `count` is 0. */
void *memory_new(size_t count, size_t size);

/* Returns a copy of `count` items of `size` bytes. */
void *memory_copy(const void *items, size_t count, size_t size);

/* Returns a copy of a text. Returns NULL if `text` is NULL. */
char *memory_text(const char *text);

/* Opens a stream into memory. `*text` and `*size_bytes` are valid after memory_close(). */
FILE *memory_open(char **text, size_t *size_bytes);
void memory_close(FILE *stream);

/* Does the same as array_add() (base/array.h). */
void memory_add(void *items, size_t *count, const void *item, size_t size);

#endif
