/* Arrays that grow one item at a time, to twice their room whenever it is full. */
#ifndef AUTOTUNE_BASE_ARRAY_H
#define AUTOTUNE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* ---- ascending numbers ----
 *
 * Orders numbers for qsort() and bsearch(), the smallest first. */

int ascending_u64(const void *a, const void *b);    /* of uint64_t */
int ascending_i64(const void *a, const void *b);    /* of int64_t */
int ascending_double(const void *a, const void *b); /* none of them NaN */

/* ---- arrays that grow ---- */

/* Makes room for one more in an array of `count` items of `size` bytes, which has room for the next
 * power of two. NULL when memory ran out (the old array stays); the new item is zeroed. */
void *array_grow(void *items, size_t count, size_t size);

/* Appends a copy of `*item`, of `size` bytes, to the array at `*items` (`items` is the address of a
 * pointer to its first item). False when memory ran out: nothing has changed then. */
bool array_add(void *items, size_t *count, const void *item, size_t size);

#endif
