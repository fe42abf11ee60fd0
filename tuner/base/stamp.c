#include "base/stamp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool file_stamp_of(const char *path, file_stamp *out)
{
    struct stat s;
    *out = (file_stamp){0};
    if (stat(path, &s))
        return false;
    *out = (file_stamp){.device = s.st_dev,
                        .inode = s.st_ino,
                        .size_bytes = (uint64_t)s.st_size,
                        .modified_ns = ns_of(s.st_mtim),
                        .changed_ns = ns_of(s.st_ctim)};
    return true;
}

static bool file_stamp_same(const file_stamp *a, const file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
           a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

bool file_stamp_is_settled(const file_stamp *s)
{
    const int64_t fine_ns = 50000000, coarse_ns = INT64_C(2500000000);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t latest_ns = s->changed_ns > s->modified_ns ? s->changed_ns : s->modified_ns;
    const bool whole_seconds = s->changed_ns % 1000000000 == 0;
    return ns_of(now) - latest_ns > (whole_seconds ? coarse_ns : fine_ns);
}

bool stamped_files_add(stamped_files *f, const char *path, const file_stamp *stamp)
{
    const stamped_file added = {strdup(path), *stamp};
    if (added.path && array_add(&f->items, &f->count, &added, sizeof added))
        return true;
    free(added.path);
    return false;
}

bool stamped_files_same(const stamped_files *a, const stamped_files *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i].path, b->items[i].path) != 0 ||
            !file_stamp_same(&a->items[i].stamp, &b->items[i].stamp))
            return false;
    return true;
}

bool stamped_files_are_fresh(const stamped_files *f, size_t most)
{
    file_stamp now;
    for (size_t i = 0; i < f->count && i < most; i++)
        if (!file_stamp_of(f->items[i].path, &now) || !file_stamp_same(&now, &f->items[i].stamp))
            return false;
    return true;
}

void stamped_files_deinit(stamped_files *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->items[i].path);
    free(f->items);
    *f = (stamped_files){0};
}
