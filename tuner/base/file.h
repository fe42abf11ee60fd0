/* Files: descriptors, whole files that are read or replaced, folders.
 *
 * Every error names the path, the operating system's reason, and the remedy if it is known. The
 * process should ignore SIGXFSZ, so that a limit on file sizes is an error like any other. */
#ifndef AUTOTUNE_BASE_FILE_H
#define AUTOTUNE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

/* ---- descriptors ----
 * System calls, repeated if a signal interrupts them. On NFS and FUSE, open, fsync and close block,
 * and the program that uses the library may have signal handlers without SA_RESTART. */

/* Opens each of the descriptors 0, 1 and 2 that is closed, so that no file opened later becomes
 * standard input, output or error. Reading and writing them still fails. Called first in main(). */
void descriptor_reserve_standard(void);

/* Returns whether `fd` is open for writing. */
bool descriptor_is_writable(int fd);

/* Called after a failed write(), with its errno: returns whether to write again. If a non-blocking
 * pipe or terminal is full, waits until it has room. */
bool descriptor_try_again(int fd);

/* Call open(2) or fsync(2), again if a signal interrupts the call. descriptor_open() never returns
 * 0, 1 or 2, even if these are closed: output of the program must not end up in the file. */
int descriptor_open(const char *path, int flags, mode_t mode);
int descriptor_sync(int fd);

/* Moves the open file to a descriptor above 2, which is closed on exec; `fd` is closed if it was
 * moved. Returns -1, with errno, if `fd` is -1 or no descriptor is free. */
int descriptor_move_up(int fd);

/* Calls close(2), which always closes the descriptor, so an interrupted close is not a failure. */
int descriptor_close(int fd);

/* ---- files ---- */

/* Opens a regular file for reading; the caller closes `*fd`. `size_bytes` may be NULL. Never
 * blocks, not even on a named pipe. AT_NOT_FOUND; AT_IO, also for anything but a regular file. */
at_status file_open_regular(const char *path, int *fd, uint64_t *size_bytes, at_error *error);

/* Reads a regular file into `*out`, which is NUL-terminated and freed by the caller. `*size_bytes`
 * (may be NULL) excludes the NUL. AT_NOT_FOUND; AT_FORMAT beyond `limit_bytes`; AT_IO. */
at_status file_read(const char *path, size_t limit_bytes, char **out, size_t *size_bytes,
                    at_error *error);

/* Creates the file or replaces its contents atomically, by a temporary file that is flushed and
 * renamed: after a crash the file has either the old or the new contents. If `path` is a symbolic
 * link, its target is replaced. A path that is not a regular file, such as a pipe, is written
 * directly. A read-only file is not replaced. AT_IO: the old file is unchanged. */
at_status file_replace(const char *path, const void *bytes, size_t size_bytes, at_error *error);

/* Writes all bytes to `fd`. `path` is for the message. AT_IO. */
at_status file_write_all(int fd, const char *path, const void *bytes, size_t size_bytes,
                         at_error *error);

/* ---- folders ---- */

/* Makes the folder and its parents, as mkdir -p does. */
at_status file_make_folder(const char *path, at_error *error);

/* Returns whether a file or folder belongs to this user and no other user may write it. */
bool file_is_private(const struct stat *s);

/* Makes a folder whose files are trusted. A new folder gets mode 0700; an existing folder loses the
 * access of other users. AT_IO, with the remedy, if it belongs to another user or others may write
 * it. */
at_status file_make_private_folder(const char *path, at_error *error);

/* Checks with a temporary file that file_replace() can write in the existing `folder`. */
at_status file_check_writable(const char *folder, at_error *error);

#endif
