/* Finds the program's own files and the user's script, and names the files that it writes. */
#ifndef AUTOTUNE_BASE_PATHS_H
#define AUTOTUNE_BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { PATHS_BYTES = 4096, PATHS_SLUG_BYTES = 64 };

typedef struct paths {
    char lua_dir[PATHS_BYTES];      /* the installed pattern scripts; in lib/ the tool's own Lua */
    char template_dir[PATHS_BYTES]; /* installed templates */
} paths;

/* Finds share/autotune: $AUTOTUNE_SHARE if set, else beside the running binary (../share/autotune),
 * which is right for an installed tree and for a build tree. AT_NOT_FOUND says where it looked. */
at_status paths_find(paths *out, at_error *error);

/* The path of another file beside them: "results", "schemas/record.json". False: the path is too
 * long. */
bool paths_share(const paths *p, const char *name, char *out, size_t out_bytes);

/* Resolves a script name: with a slash as it is; without, in the current folder, then among the
 * installed scripts; ".lua" and ".cu" may be left out. AT_USAGE names where it looked and the
 * nearest installed script. */
at_status paths_find_script(const paths *p, const char *name, char *out, size_t out_bytes,
                            at_error *error);

/* A name as part of a path, "NVIDIA H200" -> "nvidia-h200": lower-case letters, digits and single
 * hyphens; never empty; what is too long is cut. */
void paths_slug(const char *name, char out[PATHS_SLUG_BYTES]);

/* The part of a path after a folder that it begins with, and the slash; NULL: it does not. */
const char *paths_below(const char *folder, const char *path);

/* Returns the version of autotune, "0.1.0", in static storage. */
const char *version_text(void);

#endif
