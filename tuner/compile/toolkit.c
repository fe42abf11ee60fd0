#include "compile/toolkit.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* The Toolkit's headers lie about eight folders deep. */
enum { DEEPEST = 16 };

static uint64_t hash_file(const char *path, const struct stat *s)
{
    struct {
        int64_t size_bytes, changed_s, changed_ns;
    } facts = {(int64_t)s->st_size, (int64_t)s->st_mtim.tv_sec, (int64_t)s->st_mtim.tv_nsec};
    return XXH3_64bits_withSeed(path, strlen(path), XXH3_64bits(&facts, sizeof facts));
}

/* `path` is relative to the top and "" there; the sum does not depend on the order. */
static uint64_t hash_folder(int parent, const char *name, const char *path, int depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    uint64_t sum = 0;
    if (!d && fd >= 0)
        close(fd);
    for (struct dirent *e; d && (e = readdir(d));) {
        char below[PATH_MAX];
        struct stat s;
        int n = snprintf(below, sizeof below, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || n < 0 ||
            (size_t)n >= sizeof below || fstatat(dirfd(d), e->d_name, &s, 0) != 0)
            continue;
        if (S_ISREG(s.st_mode))
            sum += hash_file(below, &s);
        else if (S_ISDIR(s.st_mode) && depth < DEEPEST)
            sum += hash_folder(dirfd(d), e->d_name, below, depth + 1);
    }
    if (d)
        closedir(d);
    return sum;
}

uint64_t toolkit_hash(const char *include_dir)
{
    return hash_folder(AT_FDCWD, include_dir, "", 0);
}
