/* Which file beside another includes it.
 *
 * A kernel's file may be a piece of another, which has types and macros above the line that
 * includes it: then that one is the file to name. Text is read, nothing else; nothing fails. */
#ifndef AUTOTUNE_SCRIPT_INCLUDER_H
#define AUTOTUNE_SCRIPT_INCLUDER_H

#include <stdbool.h>
#include <stddef.h>

/* The name, in the folder of `path`, of the first C or C++ file in the alphabet that has an
 * #include line of it. */
bool script_find_includer(const char *path, char *out, size_t size_bytes);

#endif
