/* Locks between processes, by a path that they know in common: of a file, or of a folder.
 *
 * A lock is flock(2)'s, so it ends with its process, whatever way. A file system that refuses to
 * lock a folder, as NFS does, may lock FOLDER/.lock. One without locks (ENOLCK, as NFS and Lustre
 * without their lock services) is an error.
 *
 * What is at the path may be another user's: it is never waited for, and refused unless it is a
 * file or a folder. */
#ifndef AUTOTUNE_BASE_LOCK_H
#define AUTOTUNE_BASE_LOCK_H

#include <sys/types.h>

#include "base/error.h"

typedef struct lock lock;

/* Opens the file or folder at `path`, or makes a file of that mode; takes nothing yet. A link to a
 * file is not followed. AT_IO names what is in the way. lock_close() frees it. */
at_status lock_open(const char *path, mode_t mode, lock **out, at_error *error);

/* The file's descriptor, open for reading, and for writing where that is allowed; it remains the
 * lock's. */
int lock_descriptor(const lock *l);

/* Waits up to `timeout_ms`. Returns 0, or why not: EWOULDBLOCK when another has it, or what the
 * file system says. */
int lock_take(lock *l, int timeout_ms);

/* A fork of the process that took it gives nothing back. */
void lock_give(lock *l);

/* Gives the lock back, too. `l` may be NULL. */
void lock_close(lock *l);

/* How the folder's file system locks, without taking anything: 0 by flock(2), else what it says
 * against that. */
int lock_probe(const char *folder);

/* Checks that the folder can be locked, now or later. AT_IO with the remedy. */
at_status lock_check(const char *folder, at_error *error);

/* Opens and takes in one; AT_IO with the remedy when another has it, or there can be none. */
at_status lock_folder(const char *folder, int timeout_ms, lock **out, at_error *error);

#endif
