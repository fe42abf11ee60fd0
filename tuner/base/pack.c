#include "base/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

void pack_deinit(pack *p)
{
    free(p->bytes);
    *p = (pack){0};
}

unsigned char *pack_grow(pack *p, size_t size_bytes)
{
    if (p->failed)
        return NULL;
    /* The result is NULL only after a failure, even if 0 bytes are added to an empty pack. */
    if (!p->bytes || size_bytes > p->capacity_bytes - p->size_bytes) {
        size_t capacity = p->capacity_bytes ? p->capacity_bytes : 256;
        while (capacity - p->size_bytes < size_bytes) {
            if (capacity > SIZE_MAX / 2) {
                p->failed = true;
                return NULL;
            }
            capacity *= 2;
        }
        unsigned char *bytes = realloc(p->bytes, capacity);
        if (!bytes) {
            p->failed = true;
            return NULL;
        }
        p->bytes = bytes;
        p->capacity_bytes = capacity;
    }
    unsigned char *at = p->bytes + p->size_bytes;
    p->size_bytes += size_bytes;
    return at;
}

void pack_append(pack *p, const void *bytes, size_t size_bytes)
{
    unsigned char *at = pack_grow(p, size_bytes);
    if (at && size_bytes)
        memcpy(at, bytes, size_bytes);
}

void pack_append_text(pack *p, const char *text)
{
    pack_append(p, text, strlen(text));
}

char *pack_take_text(pack *p)
{
    pack_append(p, "", 1);
    char *text = p->failed ? NULL : (char *)p->bytes;
    if (!text)
        free(p->bytes);
    *p = (pack){0};
    return text;
}

void pack_store(unsigned char *at, uint64_t v, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        at[i] = (unsigned char)(v >> (8 * i));
}

uint64_t pack_load(const unsigned char *at, size_t size_bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < size_bytes; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

static void put(pack *p, uint64_t v, size_t size_bytes)
{
    unsigned char *at = pack_grow(p, size_bytes);
    if (at)
        pack_store(at, v, size_bytes);
}

void pack_put_u32(pack *p, uint32_t v)
{
    put(p, v, 4);
}

void pack_put_u64(pack *p, uint64_t v)
{
    put(p, v, 8);
}

void pack_put_f64(pack *p, double v)
{
    put(p, bits_of_double(v), 8);
}

void pack_put_bytes(pack *p, const void *bytes, size_t size_bytes)
{
    put(p, size_bytes, 8);
    pack_append(p, bytes, size_bytes);
}

void pack_put_string(pack *p, const char *text)
{
    pack_put_bytes(p, text ? text : "", text ? strlen(text) + 1 : 1);
}

static const unsigned char *take(pack *p, size_t size_bytes)
{
    if (p->failed || p->size_bytes - p->position < size_bytes) {
        p->failed = true;
        return NULL;
    }
    const unsigned char *at = p->bytes + p->position;
    p->position += size_bytes;
    return at;
}

uint32_t pack_get_u32(pack *p)
{
    const unsigned char *at = take(p, 4);
    return at ? (uint32_t)pack_load(at, 4) : 0;
}

uint64_t pack_get_u64(pack *p)
{
    const unsigned char *at = take(p, 8);
    return at ? pack_load(at, 8) : 0;
}

double pack_get_f64(pack *p)
{
    return double_of_bits(pack_get_u64(p));
}

const void *pack_get_bytes(pack *p, size_t *size_bytes)
{
    uint64_t size = pack_get_u64(p);
    const unsigned char *at = size <= SIZE_MAX ? take(p, (size_t)size) : NULL;
    *size_bytes = at ? (size_t)size : 0;
    return at ? (const void *)at : "";
}

const char *pack_get_string(pack *p)
{
    size_t size;
    const char *text = pack_get_bytes(p, &size);
    if (size == 0 || memchr(text, '\0', size) != text + size - 1) {
        p->failed = true;
        return "";
    }
    return text;
}

void pack_put_fields(pack *p, const void *from, const pack_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const void *at = (const char *)from + fields[i].offset;
        uint64_t number = 0;
        switch (fields[i].kind) {
        case PACK_NUMBER:
            memcpy(&number, at, fields[i].size_bytes);
            put(p, number, fields[i].size_bytes);
            break;
        case PACK_BOOLEAN:
            pack_put_u32(p, *(const bool *)at);
            break;
        case PACK_TEXT:
            pack_put_string(p, at);
            break;
        case PACK_VIEW:
            pack_put_string(p, *(const char *const *)at);
            break;
        }
    }
}

void pack_get_fields(pack *p, void *to, const pack_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *at = (char *)to + fields[i].offset;
        const size_t size = fields[i].size_bytes;
        const char *text = fields[i].kind >= PACK_TEXT ? pack_get_string(p) : "";
        uint64_t number = 0;
        switch (fields[i].kind) {
        case PACK_NUMBER: {
            const unsigned char *bytes = take(p, size);
            number = bytes ? pack_load(bytes, size) : 0;
            memcpy(at, &number, size);
            break;
        }
        case PACK_BOOLEAN:
            number = pack_get_u32(p);
            p->failed = p->failed || number > 1;
            *(bool *)at = number == 1;
            break;
        case PACK_TEXT:
            p->failed = p->failed || strlen(text) >= size;
            memcpy(at, p->failed ? "" : text, p->failed ? 1 : strlen(text) + 1);
            break;
        case PACK_VIEW:
            *(const char **)at = text;
            break;
        }
    }
}

bool pack_complete(const pack *p)
{
    return !p->failed && p->position == p->size_bytes;
}

void hash_text(XXH128_hash_t hash, char text[HASH_TEXT_BYTES])
{
    snprintf(text, HASH_TEXT_BYTES, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}
