/* Paths: the program's own files, the user's script, names for output files; the version. */
#ifndef AUTOTUNE_BASE_PATHS_H
#define AUTOTUNE_BASE_PATHS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { PATHS_BYTES = 4096, PATHS_SLUG_BYTES = 64 };

typedef struct paths {
    char lua_dir[PATHS_BYTES];      /* installed pattern scripts; autotune's own Lua is in lib/ */
    char template_dir[PATHS_BYTES]; /* installed templates */
} paths;

/* Finds the folder share/autotune: $AUTOTUNE_SHARE, otherwise ../share/autotune relative to the
 * folder of the running binary. AT_NOT_FOUND names the folder that was tried. */
at_status paths_find(paths *out, at_error *error);

/* Writes the path of a file in share/autotune to `out`. Returns false if the path is too long. */
bool paths_shared_file(const paths *p, const char *name, char *out, size_t out_bytes);

/* Finds a script and writes its path to `out`. A name with a slash is a path. Other names are
 * looked up in the current folder, then among the installed scripts; .lua or .cu may be left out.
 * AT_USAGE names the folders and the script with the most similar name. */
at_status paths_find_script(const paths *p, const char *name, char *out, size_t out_bytes,
                            at_error *error);

/* Finds the name in a folder that is nearest to a misspelt one (nearest_name()); `name` may begin
 * with folders below `folder`. Returns false if no name is near. */
bool paths_nearest_file(const char *folder, const char *name, char out[NAME_MAX + 1]);

/* Makes a file name of a name: "NVIDIA H200" gives "nvidia-h200" (lower-case letters, digits,
 * single hyphens). The file name is never empty, and is cut to PATHS_SLUG_BYTES. */
void paths_slug(const char *name, char out[PATHS_SLUG_BYTES]);

/* Returns the part of `path` below `folder`. Returns NULL if the path is not in that folder. */
const char *paths_below(const char *folder, const char *path);

/* Returns the version of autotune ("0.1.0"), in static storage. */
const char *version_text(void);

#endif
