/* File descriptors that the program did not open itself. */
#ifndef AUTOTUNE_BASE_DESCRIPTOR_H
#define AUTOTUNE_BASE_DESCRIPTOR_H

#include <stdbool.h>

/* Before anything else is opened: of the descriptors 0, 1 and 2 those that are closed are taken, so
 * that no file, socket or pipe becomes the standard input, output or error by being the next.
 * Reading and writing them fails, as it did. */
void descriptor_hold_standard(void);

bool descriptor_is_writable(int fd);

/* After a write() that failed: is it to be tried again? It was interrupted; or there was no room,
 * as whoever shares a pipe or terminal made it one that does not wait: then this waits for some. */
bool descriptor_try_again(int fd);

#endif
