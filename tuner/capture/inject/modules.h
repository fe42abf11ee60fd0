/* The images of modules and libraries that a program has loaded. One lock of the caller's is held
 * over every call. */
#ifndef AUTOTUNE_CAPTURE_INJECT_MODULES_H
#define AUTOTUNE_CAPTURE_INJECT_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct module_image module_image;

typedef struct modules {
    module_image *first;
} modules;

/* Notes what `handle` was loaded from. An image that a file of the program holds is remembered by
 * its address, any other is copied: its memory may be the program's again as soon as it is loaded.
 * A lack of memory leaves it out. */
void modules_add(modules *m, const void *handle, const void *image);
void modules_add_file(modules *m, const void *handle, const char *path);
void modules_remove(modules *m, const void *handle);

/* The bytes of the image; NULL: it is not known, or is a file's. They may be gone if a library of
 * the program that held them was closed. */
const void *modules_bytes(const modules *m, const void *handle, size_t *size_bytes);

/* Writes the image to a new file `name` in a folder. Returns its size; 0: it is not known, or
 * cannot be written. */
uint64_t modules_write(const modules *m, const void *handle, int folder, const char *name);

#endif
