#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *array_grow(void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0) {
        size_t capacity = count ? count * 2 : 1;
        if (capacity > SIZE_MAX / size)
            return NULL;
        items = realloc(items, capacity * size);
    }
    if (items)
        memset((char *)items + count * size, 0, size);
    return items;
}
