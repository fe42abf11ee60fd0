#include "bench/contents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

/* The first `got` bytes have arrived; `trouble` is the reason if the others do not. */
struct device_content {
    unsigned char key[DATA_KEY_BYTES];
    unsigned char *bytes; /* owned */
    uint64_t all, got;
    char trouble[512];
};

void device_contents_deinit(device_contents *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->items[i].bytes);
    free(c->items);
    *c = (device_contents){0};
}

static device_content *find(const device_contents *c, const unsigned char *key)
{
    for (size_t i = 0; i < c->count; i++)
        if (memcmp(c->items[i].key, key, sizeof c->items[i].key) == 0)
            return &c->items[i];
    return NULL;
}

/* Starts a file. Parts of it may have arrived before, or it may have been shorter. */
static void begin(device_contents *c, const device_chunk *chunk)
{
    device_content *one = find(c, chunk->key);
    if (!one) {
        device_content fresh = {.bytes = NULL};
        memcpy(fresh.key, chunk->key, sizeof fresh.key);
        memory_add(&c->items, &c->count, &fresh, sizeof fresh);
        one = &c->items[c->count - 1];
    }
    free(one->bytes);
    one->bytes = malloc(chunk->all_bytes ? (size_t)chunk->all_bytes : 1);
    one->all = chunk->all_bytes;
    one->got = 0;
    one->trouble[0] = '\0';
    if (!one->bytes)
        snprintf(one->trouble, sizeof one->trouble,
                 "there is no memory for the %" PRIu64 " bytes of a file", chunk->all_bytes);
}

at_status device_contents_take(device_contents *c, const device_chunk *chunk, at_error *error)
{
    if (chunk->offset == 0)
        begin(c, chunk);
    device_content *one = find(c, chunk->key);
    if (!one || chunk->all_bytes != one->all || chunk->size_bytes > one->all - one->got ||
        (!one->trouble[0] && chunk->offset != one->got))
        return error_set(error, AT_FORMAT, "a part of a file's contents is out of order");
    if (*chunk->trouble && !one->trouble[0])
        snprintf(one->trouble, sizeof one->trouble, "%s", chunk->trouble);
    if (one->trouble[0])
        return AT_OK;
    memcpy(one->bytes + one->got, chunk->bytes, chunk->size_bytes);
    one->got += chunk->size_bytes;
    return AT_OK;
}

at_status device_contents_find(const device_contents *c, const unsigned char *key,
                               uint64_t size_bytes, const void **out, at_error *error)
{
    const device_content *one = find(c, key);
    if (one && one->trouble[0])
        return error_set(error, AT_SCRIPT, "%s", one->trouble);
    if (!one || one->got < size_bytes)
        return error_set(error, AT_INTERNAL, "the contents of a file have not come");
    *out = one->bytes;
    return AT_OK;
}
