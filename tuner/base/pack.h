/* Values as bytes: what a message carries, what a key is made of.
 *
 * A writer appends little-endian fields to a growing buffer; a reader takes them off in the same
 * order. Every overrun, and every lack of memory, sets one flag that stays set, so that callers
 * check once at the end. A zeroed pack is empty and owns nothing. */
#ifndef AUTOTUNE_BASE_PACK_H
#define AUTOTUNE_BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pack {
    unsigned char *bytes; /* owned */
    size_t size_bytes, capacity_bytes;
    size_t position; /* of the next field to read */
    bool failed;     /* ran out of memory while writing, or of bytes while reading */
} pack;

void pack_deinit(pack *p); /* leaves an empty one */

void pack_put_u32(pack *p, uint32_t v);
void pack_put_u64(pack *p, uint64_t v);
void pack_put_f64(pack *p, double v);
void pack_put_bytes(pack *p, const void *bytes, size_t size_bytes); /* length, then bytes */
void pack_put_string(pack *p, const char *text);                    /* NULL as "" */

uint32_t pack_get_u32(pack *p);
uint64_t pack_get_u64(pack *p);
double pack_get_f64(pack *p);
/* A view of the bytes, valid until pack_deinit; *size_bytes is 0 and the result "" after a
 * failure. */
const void *pack_get_bytes(pack *p, size_t *size_bytes);
/* A NUL-terminated view, checked to contain no other NUL. */
const char *pack_get_string(pack *p);

/* True when everything was read, nothing is left over and nothing failed. */
bool pack_complete(const pack *p);

/* Members of a struct, named once for both directions. Numbers and enumerations are as large as the
 * member, for ends that are of one build. */
typedef struct pack_field {
    size_t offset, size_bytes;
    enum { PACK_NUMBER, PACK_BOOLEAN, PACK_TEXT, PACK_VIEW } kind;
} pack_field;

/* A number, an enumeration, a bool, a text in an array of char, or a const char *, which is read as
 * a view. */
/* clang-format off */
#define PACK_KIND(field)                                                                           \
    _Generic(field, bool: PACK_BOOLEAN, char *: PACK_TEXT, const char *: PACK_VIEW,                \
             default: PACK_NUMBER)
#define PACK_FIELD(type, member)                                                                   \
    {offsetof(type, member), sizeof(((type *)0)->member), PACK_KIND(((type *)0)->member)}
/* clang-format on */
/* The table and its length, as arguments of the functions below. */
#define PACK_FIELDS(table) (table), sizeof(table) / sizeof *(table)

void pack_put_fields(pack *p, const void *from, const pack_field *fields, size_t count);
/* A text that is longer than its array is a failure. */
void pack_get_fields(pack *p, void *to, const pack_field *fields, size_t count);

/* Makes room for `size_bytes` more at the end and returns where they go; NULL after a failure. */
unsigned char *pack_grow(pack *p, size_t size_bytes);

/* Bytes alone, without their length: for a text that is put together. */
void pack_append(pack *p, const void *bytes, size_t size_bytes);
void pack_append_text(pack *p, const char *text);
/* The text that was appended, ended by NUL and owned by the caller; NULL: no memory. The pack is
 * empty then. */
char *pack_take_text(pack *p);

/* One little-endian number of `size_bytes` (at most 8), for fields at a fixed place. */
void pack_store(unsigned char *at, uint64_t v, size_t size_bytes);
uint64_t pack_load(const unsigned char *at, size_t size_bytes);

#endif
