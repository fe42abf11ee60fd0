/* Whole files: read with a limit, replaced atomically; folders made.
 *
 * Every error names the path and the operating system's reason, and says what to do where that is
 * known (a full disk, a read-only folder). A file is replaced by writing a temporary one in the
 * same folder, flushing it to the disk and renaming it, so that a reader, a crash or a full disk
 * finds either the old contents or the new, never a part. The process is expected to ignore
 * SIGXFSZ, so that a limit on file sizes is an error like any other. */
#ifndef AUTOTUNE_BASE_FILE_H
#define AUTOTUNE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

/* Opens a regular file for reading; *fd is the caller's to close, *size_bytes (may be NULL) what it
 * has now. Never waits: a named pipe without a writer would hold its reader for ever.
 * AT_NOT_FOUND when there is none, AT_IO for the rest, what is no regular file included. */
at_status file_open_regular(const char *path, int *fd, uint64_t *size_bytes, at_error *error);

/* Reads the regular file into *out, NUL-terminated, owned by the caller (free); *size_bytes (may be
 * NULL) excludes the NUL. AT_NOT_FOUND when there is none, AT_FORMAT when it is larger than
 * `limit_bytes`, AT_IO for the rest (a folder or a pipe included). */
at_status file_read(const char *path, size_t limit_bytes, char **out, size_t *size_bytes,
                    at_error *error);

/* Opens the file to be written from its beginning, or makes it; *fd is the caller's to close. Never
 * waits for a reader: AT_IO for a named pipe that has none. */
at_status file_open_to_write(const char *path, int *fd, at_error *error);

/* Replaces the file's contents, or makes it. A path that is no regular file (/dev/stdout, a pipe
 * that is read) is written to; a symbolic link keeps pointing where it points. AT_IO leaves the old
 * file whole. */
at_status file_replace(const char *path, const void *bytes, size_t size_bytes, at_error *error);

/* Writes all of it, whatever write() takes at a time. `path` is for the message. */
at_status file_write_all(int fd, const char *path, const void *bytes, size_t size_bytes,
                         at_error *error);

/* Makes the folder and its parents, as mkdir -p. */
at_status file_make_folder(const char *path, at_error *error);

/* Whether a file or folder is this user's and no one else may write it. */
bool file_is_private(const struct stat *s);

/* Like file_make_folder(), for a folder whose files are believed when they are read. It is made
 * with mode 0700, and one that others may read is closed to them. AT_IO, with the remedy, when it
 * belongs to another user or others may write it: then nothing in it is to be believed. */
at_status file_make_private_folder(const char *path, at_error *error);

/* Fails where file_replace() of a file in the existing `folder` would: tries, and leaves no
 * file. */
at_status file_check_writable(const char *folder, at_error *error);

#endif
