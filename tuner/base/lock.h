/* Locks between processes that agree on the path of a file or folder.
 *
 * The lock is one of flock(2), so it ends with its process. On file systems that cannot lock a
 * folder (NFS), FOLDER/.lock is locked. A file system without any locks (ENOLCK) is an error.
 * Another user may have put something else at the path, so opening never blocks, and only files and
 * folders are accepted. */
#ifndef AUTOTUNE_BASE_LOCK_H
#define AUTOTUNE_BASE_LOCK_H

#include <sys/types.h>

#include "base/error.h"

typedef struct lock lock;

/* Opens the file or folder at `path`, or creates a file with that mode; does not lock it yet.
 * Rejects symbolic links to files. AT_IO. lock_close() frees the lock. */
at_status lock_open(const char *path, mode_t mode, lock **out, at_error *error);

/* Returns the file's descriptor, which the lock owns: for reading and, if allowed, for writing. */
int lock_descriptor(const lock *l);

/* Tries to lock for up to `timeout_ms`. Returns 0, EWOULDBLOCK if another process holds the lock,
 * or the errno value of the file system's refusal. */
int lock_acquire(lock *l, int timeout_ms);

/* Releases the lock, unless this process is a fork of the process that took it. */
void lock_release(lock *l);

/* Releases and frees the lock. `l` may be NULL. */
void lock_close(lock *l);

/* Returns 0 if the folder's file system supports flock(2) on folders, otherwise the errno value. */
int lock_probe(const char *folder);

/* Checks that the folder can be locked, or is locked by another process. AT_IO, with the remedy. */
at_status lock_check(const char *folder, at_error *error);

/* Opens the folder and locks it. AT_IO, with the remedy, if another process holds the lock for
 * `timeout_ms` or the file system has no locks. */
at_status lock_folder(const char *folder, int timeout_ms, lock **out, at_error *error);

#endif
