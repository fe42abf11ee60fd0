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

/* Copies of files that fill buffers or contain expected results. The worker cannot open the files
 * itself, and may be on another host. A file arrives in chunks, in order, before the set-up that
 * needs it; it is known by the hash of its contents (base/data_file.h) and kept as long as the
 * worker lives. Initialise with zeroes. */
typedef struct device_contents {
    device_content *items; /* owned */
    size_t count;
} device_contents;

typedef struct device_chunk {
    const unsigned char *key;
    uint64_t all_bytes; /* bytes of the file that are sent in total, from its start */
    uint64_t offset;    /* offset of this chunk */
    const void *bytes;  /* borrowed */
    size_t size_bytes;
    const char *trouble; /* reason if the file cannot be read; otherwise "" */
} device_chunk;

void device_contents_deinit(device_contents *c);

/* Copies a chunk. Returns AT_FORMAT if the chunk does not follow the one before it or exceeds the
 * file. A lack of memory and a file that cannot be read are reported by device_contents_find(). */
at_status device_contents_take(device_contents *c, const device_chunk *chunk, at_error *error);

/* Finds the first `size_bytes` of a file; the address stays valid. Returns AT_SCRIPT with the
 * reason if the tuner could not read the file, AT_INTERNAL if it was not sent. */
at_status device_contents_find(const device_contents *c, const unsigned char *key,
                               uint64_t size_bytes, const void **out, at_error *error);

#endif
