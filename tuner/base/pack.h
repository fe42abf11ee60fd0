/* Values as bytes, for messages between processes and for hash keys; hashes as text.
 *
 * A writer appends little-endian fields to a growing buffer; a reader takes them in the same order.
 * Reading beyond the end, and running out of memory, set `failed`: callers check once, at the end.
 * A zeroed pack is empty and owns nothing. */
#ifndef AUTOTUNE_BASE_PACK_H
#define AUTOTUNE_BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

typedef struct pack {
    unsigned char *bytes; /* owned */
    size_t size_bytes, capacity_bytes;
    size_t position; /* offset of the next field to read */
    bool failed;     /* memory ran out while writing, or a reader went beyond the end */
} pack;

/* Frees the bytes and leaves an empty pack. */
void pack_deinit(pack *p);

/* Append a field. The length precedes bytes and strings; a NULL string is written as "". */
void pack_put_u32(pack *p, uint32_t v);
void pack_put_u64(pack *p, uint64_t v);
void pack_put_f64(pack *p, double v);
void pack_put_bytes(pack *p, const void *bytes, size_t size_bytes);
void pack_put_string(pack *p, const char *text);

/* Read the next field. After a failure numbers are 0, and bytes and strings are empty. The last two
 * return views into the pack, valid until pack_deinit(); a string is NUL-terminated and has no NUL
 * inside. */
uint32_t pack_get_u32(pack *p);
uint64_t pack_get_u64(pack *p);
double pack_get_f64(pack *p);
const void *pack_get_bytes(pack *p, size_t *size_bytes);
const char *pack_get_string(pack *p);

/* Returns whether all bytes were read and nothing failed. */
bool pack_complete(const pack *p);

/* A member of a struct, for tables that serve both directions. A number or enumeration takes as
 * many bytes as the member, so both ends must be of the same build. */
typedef struct pack_field {
    size_t offset, size_bytes;
    enum { PACK_NUMBER, PACK_BOOLEAN, PACK_TEXT, PACK_VIEW } kind;
} pack_field;

/* PACK_FIELD describes a number, an enumeration, a bool, a text in an array of char, or a const
 * char *, which is read as a view. */
/* clang-format off */
#define PACK_KIND(field)                                                                           \
    _Generic(field, bool: PACK_BOOLEAN, char *: PACK_TEXT, const char *: PACK_VIEW,                \
             default: PACK_NUMBER)
#define PACK_FIELD(type, member)                                                                   \
    {offsetof(type, member), sizeof(((type *)0)->member), PACK_KIND(((type *)0)->member)}
/* clang-format on */
#define PACK_FIELDS(table) (table), sizeof(table) / sizeof *(table)

/* Append or read all members of a table. Reading a text that is longer than its array fails. */
void pack_put_fields(pack *p, const void *from, const pack_field *fields, size_t count);
void pack_get_fields(pack *p, void *to, const pack_field *fields, size_t count);

/* Appends `size_bytes` undefined bytes and returns their address. Returns NULL after a failure. */
unsigned char *pack_grow(pack *p, size_t size_bytes);

/* Append bytes without their length, to build a text. */
void pack_append(pack *p, const void *bytes, size_t size_bytes);
void pack_append_text(pack *p, const char *text);

/* Moves the text, NUL-terminated, to the caller, who frees it. Returns NULL if memory ran out. */
char *pack_take_text(pack *p);

/* Write and read a little-endian number of `size_bytes` (at most 8) at a fixed address. */
void pack_store(unsigned char *at, uint64_t v, size_t size_bytes);
uint64_t pack_load(const unsigned char *at, size_t size_bytes);

enum { HASH_TEXT_BYTES = 33 };

/* Writes a hash as in records: 32 hexadecimal digits, the high half first, and a NUL. */
void hash_text(XXH128_hash_t hash, char text[HASH_TEXT_BYTES]);

#endif
