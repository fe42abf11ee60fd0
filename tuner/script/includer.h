/* Finds the file beside another that includes it.
 *
 * A kernel's file may be a piece of another, which has types and macros above the line that
 * includes it: then that one is the file to name. Text is read, nothing else; nothing fails. */
#ifndef AUTOTUNE_SCRIPT_INCLUDER_H
#define AUTOTUNE_SCRIPT_INCLUDER_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the name of the first C or C++ file, in the order of the alphabet, in the folder of `path`
 * that has an #include line of it. False, and "": there is none. */
bool script_find_includer(const char *path, char *out, size_t size_bytes);

#endif
