#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

void *memory_require(void *block)
{
    static const char said[] = "autotune: out of memory\n";
    if (block)
        return block;
    ssize_t written = write(STDERR_FILENO, said, sizeof said - 1);
    (void)written;
    _exit(MEMORY_EXIT);
}

void *memory_new(size_t count, size_t size)
{
    return memory_require(calloc(count ? count : 1, size));
}

void *memory_copy(const void *items, size_t count, size_t size)
{
    void *copy = memory_new(count, size);
    if (count)
        memcpy(copy, items, count * size);
    return copy;
}

char *memory_text(const char *text)
{
    return text ? memory_require(strdup(text)) : NULL;
}

FILE *memory_open(char **text, size_t *size_bytes)
{
    return memory_require(open_memstream(text, size_bytes));
}

void memory_close(FILE *stream)
{
    bool is_whole = !ferror(stream);
    is_whole = fclose(stream) == 0 && is_whole;
    memory_require(is_whole ? &is_whole : NULL);
}

void memory_add(void *items, size_t *count, const void *item, size_t size)
{
    memory_require(array_add(items, count, item, size) ? items : NULL);
}
