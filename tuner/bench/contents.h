/* A device worker's copies of the files that fill buffers, or say what is right: it can open none
 * itself, and may be on another host.
 *
 * They come in chunks, in order, before the set-up that needs them; each is known by the hash of
 * the whole (base/data_file.h), and is kept as long as the worker lives. */
#ifndef AUTOTUNE_BENCH_CONTENTS_H
#define AUTOTUNE_BENCH_CONTENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/data_file.h"
#include "base/error.h"

typedef struct device_content device_content;

/* Zero-initialise. */
typedef struct device_contents {
    device_content *items; /* owned */
    size_t count;
} device_contents;

typedef struct device_chunk {
    const unsigned char *key;
    uint64_t all_bytes; /* that come of the file, from its beginning on */
    uint64_t offset;    /* of this chunk */
    const void *bytes;  /* borrowed */
    size_t size_bytes;
    const char *trouble; /* why there are no bytes: the file cannot be read; "": there are */
} device_chunk;

void device_contents_deinit(device_contents *c);

/* Takes a copy of a chunk. AT_FORMAT: it does not follow the one before, or leads beyond the end.
 * A lack of memory, like a file that could not be read, is told when the contents are needed. */
at_status device_contents_take(device_contents *c, const device_chunk *chunk, at_error *error);

/* The first `size_bytes` of a file; they stay where they are. AT_SCRIPT: they could not be had, as
 * the message says. AT_INTERNAL: they have not come. */
at_status device_contents_find(const device_contents *c, const unsigned char *key,
                               uint64_t size_bytes, const void **out, at_error *error);

#endif
