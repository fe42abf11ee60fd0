/* A record's file while it is changed: read, or begun, under the lock of its folder, and replaced
 * whole. For the modules that write records. */
#ifndef AUTOTUNE_RECORD_STORE_H
#define AUTOTUNE_RECORD_STORE_H

#include "base/error.h"
#include "base/lock.h"
#include "device/arch.h"
#include "record/record.h"

enum { RECORD_PATH_BYTES = 4096 };

typedef struct record_store {
    char path[RECORD_PATH_BYTES];
    record old; /* as it was; what is done to old.root is what is written */
    lock *lock;
} record_store;

/* A record of that GPU and pattern without entries: a new root (json_t); NULL when out of
 * memory. */
void *record_store_empty(const arch_limits *gpu, const char *pattern_name);

/* Makes the folder, waits for its lock, reads. AT_FORMAT for a file of another version, of another
 * GPU or damaged; AT_IO, AT_USAGE, AT_NO_MEMORY. After AT_OK the caller closes it. */
at_status record_store_open(record_store *s, const char *results_dir, const arch_limits *gpu,
                            const char *pattern_name, at_error *error);
at_status record_store_write(record_store *s, at_error *error);
void record_store_close(record_store *s);

#endif
