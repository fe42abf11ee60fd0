/* A folder of a test's own, removed with everything in it. */
#ifndef AUTOTUNE_TEMPORARY_H
#define AUTOTUNE_TEMPORARY_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

#endif
