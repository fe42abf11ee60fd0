/* File descriptors: what is asked of one that the program did not open itself, and calls that a
 * signal interrupts. Opening, flushing and closing wait where a file system is that of another
 * machine or of a program (NFS, FUSE), and a handler without SA_RESTART, which a program that uses
 * the library may have, ends that wait. */
#ifndef AUTOTUNE_BASE_DESCRIPTOR_H
#define AUTOTUNE_BASE_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/types.h>

/* Before anything else is opened: of the descriptors 0, 1 and 2 those that are closed are taken, so
 * that no file, socket or pipe becomes the standard input, output or error by being the next.
 * Reading and writing them fails, as it did. */
void descriptor_hold_standard(void);

bool descriptor_is_writable(int fd);

/* After a write() that failed: is it to be tried again? It was interrupted; or there was no room,
 * as whoever shares a pipe or terminal made it one that does not wait: then this waits for some. */
bool descriptor_try_again(int fd);

/* open(2) and fsync(2), as often as they are interrupted. What is opened is no standard descriptor,
 * though these be closed: what the program, or another of its threads, prints is not to be written
 * there. */
int descriptor_open(const char *path, int flags, mode_t mode);
int descriptor_sync(int fd);

/* The same open file, closed in programs that are executed, as another descriptor than 0, 1 and 2;
 * -1, with errno, where `fd` is -1 or there is none. `fd` is gone, unless it is what is returned.
 */
int descriptor_lift(int fd);

/* close(2): the descriptor is free after it, whatever it returns. To be interrupted is no failure:
 * on Linux the descriptor is closed then, and what was written is flushed later. */
int descriptor_close(int fd);

#endif
