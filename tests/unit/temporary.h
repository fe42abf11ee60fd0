/* A temporary folder for a test, which is removed with its contents, and a fixture with a file
 * in such a folder. */
#ifndef AUTOTUNE_TEMPORARY_H
#define AUTOTUNE_TEMPORARY_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "check.h"

enum { TEMPORARY_BYTES = 64 };

static inline void temporary_make(char out[TEMPORARY_BYTES])
{
    snprintf(out, TEMPORARY_BYTES, "/tmp/autotune-test-XXXXXX");
    assert_non_null(mkdtemp(out));
}

static inline void temporary_remove(const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[4096];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (unlink(path) != 0)
            temporary_remove(path);
    }
    if (d)
        closedir(d);
    rmdir(folder);
}

typedef struct temporary_file {
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 64];
    at_error error;
} temporary_file;

/* Set-up of a test: makes the folder. The file `name` in it does not exist yet. */
static inline int temporary_file_set_up(void **state, const char *name)
{
    static temporary_file f;
    f = (temporary_file){0};
    temporary_make(f.folder);
    snprintf(f.path, sizeof f.path, "%s/%s", f.folder, name);
    *state = &f;
    return 0;
}

static inline int temporary_file_tear_down(void **state)
{
    temporary_remove(((temporary_file *)*state)->folder);
    return 0;
}

#endif
