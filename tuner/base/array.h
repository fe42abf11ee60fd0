/* Arrays that grow one item at a time, to twice their room whenever it is full. */
#ifndef AUTOTUNE_BASE_ARRAY_H
#define AUTOTUNE_BASE_ARRAY_H

#include <stddef.h>

/* Makes room for one more in an array of `count` items of `size` bytes, which has room for the next
 * power of two. NULL when memory ran out (the old array stays); the new item is zeroed. */
void *array_grow(void *items, size_t count, size_t size);

#endif
