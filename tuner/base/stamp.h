/* Stamps tell two states of a file apart without reading it: for what is kept of a file's contents,
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

/* Likewise, of a regular file that is opened for it: NFS then asks its server, where it else tells
 * for some seconds what it was told before. */
bool file_stamp_of_opened(const char *path, file_stamp *out);

/* Nanoseconds since 1970. */
int64_t file_stamp_now_ns(void);

/* The stamp that a file of the folder would get now: what time it is by the clock that stamps its
 * files, which may be another machine's. False: nothing can be written there, or its times of
 * change do not tell whether a file was written to: they are whole seconds, or follow the time of
 * writing, which anyone may set (some file systems of programs). */
bool file_stamp_of_new(const char *folder, file_stamp *out);

bool file_stamp_same(const file_stamp *a, const file_stamp *b);

/* Is the stamp so old that no change from `since_ns` on, when the file was about to be read, can
 * have left it as it is? File systems keep times in grains: of some milliseconds, or, where they
 * know whole seconds only, of up to two. */
bool file_stamp_is_settled(const file_stamp *s, int64_t since_ns);

/* Files that something was made of, as they were then. */
typedef struct stamped_file {
    char *path;
    file_stamp stamp;
} stamped_file;

typedef struct stamped_files { /* a zeroed one is empty */
    size_t count;
    stamped_file *items;
} stamped_files;

/* False when out of memory. */
bool stamped_files_add(stamped_files *f, const char *path, const file_stamp *stamp);
/* The same files in the same state? */
bool stamped_files_same(const stamped_files *a, const stamped_files *b);
/* Are the first `most` of them as they were? */
bool stamped_files_are_fresh(const stamped_files *f, size_t most);
/* Are all stamps settled? */
bool stamped_files_are_settled(const stamped_files *f, int64_t since_ns);
void stamped_files_deinit(stamped_files *f);

void stamped_files_put(pack *p, const stamped_files *f);
/* The caller calls stamped_files_deinit(), also after a failure of the pack. */
void stamped_files_get(pack *p, stamped_files *out);

#endif
