#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- ascending numbers ---- */

int ascending_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int ascending_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int ascending_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- arrays that grow ---- */

void *array_grow(void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0) {
        size_t capacity = count ? count * 2 : 1;
        if (size > 0 && capacity > SIZE_MAX / size)
            return NULL;
        /* Items may have no bytes: configurations of a space without parameters. */
        items = realloc(items, capacity * size + !size);
    }
    if (items)
        memset((char *)items + count * size, 0, size);
    return items;
}

bool array_add(void *items, size_t *count, const void *item, size_t size)
{
    void *grown;
    memcpy(&grown, items, sizeof grown);
    grown = array_grow(grown, *count, size);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof grown);
    memcpy((char *)grown + (*count)++ * size, item, size);
    return true;
}
