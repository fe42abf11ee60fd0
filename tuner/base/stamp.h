/* What tells two states of a file apart without reading it: for what is kept of a file's contents,
 * and must not outlive them. */
#ifndef AUTOTUNE_BASE_STAMP_H
#define AUTOTUNE_BASE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"

typedef struct file_stamp {
    uint64_t device, inode, size_bytes;
    int64_t modified_ns, changed_ns; /* since 1970 */
} file_stamp;

/* False, with a zeroed stamp, when there is no such file. */
bool file_stamp_of(const char *path, file_stamp *out);

bool file_stamp_same(const file_stamp *a, const file_stamp *b);

/* Is the stamp so old that no later change of the file can leave it as it is? File systems keep
 * times in grains: of some milliseconds, or, where they know whole seconds only, of up to two. */
bool file_stamp_is_settled(const file_stamp *s);

void file_stamp_put(pack *p, const file_stamp *s);
file_stamp file_stamp_get(pack *p);

#endif
