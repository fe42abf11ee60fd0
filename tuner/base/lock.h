/* Locks between processes, by a path that they know in common: of a file, or of a folder.
 *
 * A lock is flock(2)'s where the file system has that: it ends with its process, whatever way. File
 * systems without (ENOLCK, as on NFS and Lustre without their lock services) are found out by the
 * first attempt. There a lock is a file beside the path, PATH.held (of a folder:
 * FOLDER/.lock.held), that is made exclusively and says which process on which host made it. A
 * process that was killed leaves it, so one is removed
 *   - when its process is seen to be gone: it ran under this kernel's present boot, in this
 * container;
 *   - when it is of another host, where none can look, and older than LOCK_STALE_S by the file
 * system's own clock. So a lock is not held for longer than that. Two hosts of which one has flock
 * and one has not do not see each other's locks.
 *
 * What is at the path may be another user's: it is never waited for, and refused unless it is a
 * file or a folder. */
#ifndef AUTOTUNE_BASE_LOCK_H
#define AUTOTUNE_BASE_LOCK_H

#include <sys/types.h>

#include "base/error.h"

enum { LOCK_STALE_S = 600 };

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

/* Opens and takes in one; AT_IO with the remedy when another has it, or there can be none. */
at_status lock_folder(const char *folder, int timeout_ms, lock **out, at_error *error);

#endif
