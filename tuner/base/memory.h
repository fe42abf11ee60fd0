/* Memory of the program, which is there or ends it.
 *
 * A process that cannot have the few bytes that it works with can do nothing sensible any more: it
 * says so once on stderr and ends with MEMORY_EXIT. A worker is replaced then, as after any death;
 * a run goes on from its journal. Not for the rooms that the library is made of, which return
 * AT_NO_MEMORY to their caller (the test `house` looks), and not for what may be too large in
 * earnest, such as the buffers of a problem.
 *
 * The caller frees what it gets. */
#ifndef AUTOTUNE_BASE_MEMORY_H
#define AUTOTUNE_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

enum { MEMORY_EXIT = 5 };

/* `block`, which was allocated and is NULL without memory: then it does not return. */
void *memory_have(void *block);

/* `count` zeroed items of `size` bytes; of none a block that can be freed. */
void *memory_new(size_t count, size_t size);

/* A copy of `count` items of `size` bytes. */
void *memory_copy(const void *items, size_t count, size_t size);

/* A copy of a text; NULL for NULL. */
char *memory_text(const char *text);

/* A stream whose text is at `*text` once memory_close() has closed it. */
FILE *memory_open(char **text, size_t *size_bytes);
void memory_close(FILE *stream);

/* array_add() of base/array.h, which cannot fail. */
void memory_add(void *items, size_t *count, const void *item, size_t size);

#endif
