#include "base/stamp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/descriptor.h"
#include "base/file.h"

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static file_stamp stamp_of(const struct stat *s)
{
    return (file_stamp){.device = s->st_dev,
                        .inode = s->st_ino,
                        .size_bytes = (uint64_t)s->st_size,
                        .modified_ns = ns_of(s->st_mtim),
                        .changed_ns = ns_of(s->st_ctim)};
}

bool file_stamp_of(const char *path, file_stamp *out)
{
    struct stat s;
    const bool found = stat(path, &s) == 0;
    *out = found ? stamp_of(&s) : (file_stamp){0};
    return found;
}

bool file_stamp_of_opened(const char *path, file_stamp *out)
{
    int fd;
    struct stat s;
    *out = (file_stamp){0};
    if (file_open_regular(path, &fd, NULL, NULL))
        return false;
    const bool found = fstat(fd, &s) == 0;
    if (found)
        *out = stamp_of(&s);
    descriptor_close(fd);
    return found;
}

bool file_stamp_same(const file_stamp *a, const file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
           a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

int64_t file_stamp_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ns_of(now);
}

bool file_stamp_of_new(const char *folder, file_stamp *out)
{
    /* A day that no file is written on. */
    const struct timespec long_ago[2] = {{.tv_sec = 86400}, {.tv_sec = 86400}};
    int fd;
    struct stat s, set;
    if (file_open_nameless(folder, &fd, NULL))
        return false;
    const bool known = fstat(fd, &s) == 0 && futimens(fd, long_ago) == 0 && fstat(fd, &set) == 0;
    descriptor_close(fd);
    if (known)
        *out = stamp_of(&s);
    return known && s.st_ctim.tv_nsec != 0 && ns_of(set.st_ctim) >= ns_of(s.st_ctim);
}

bool file_stamp_is_settled(const file_stamp *s, int64_t since_ns)
{
    const int64_t fine_ns = 50000000, coarse_ns = INT64_C(2500000000);
    const int64_t latest_ns = s->changed_ns > s->modified_ns ? s->changed_ns : s->modified_ns;
    const bool whole_seconds = s->changed_ns % 1000000000 == 0;
    return since_ns - latest_ns > (whole_seconds ? coarse_ns : fine_ns);
}

static const pack_field fields[] = {
    PACK_FIELD(file_stamp, device),     PACK_FIELD(file_stamp, inode),
    PACK_FIELD(file_stamp, size_bytes), PACK_FIELD(file_stamp, modified_ns),
    PACK_FIELD(file_stamp, changed_ns),
};

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

bool stamped_files_are_settled(const stamped_files *f, int64_t since_ns)
{
    for (size_t i = 0; i < f->count; i++)
        if (!file_stamp_is_settled(&f->items[i].stamp, since_ns))
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

void stamped_files_put(pack *p, const stamped_files *f)
{
    pack_put_u64(p, f->count);
    for (size_t i = 0; i < f->count; i++) {
        pack_put_string(p, f->items[i].path);
        pack_put_fields(p, &f->items[i].stamp, fields, sizeof fields / sizeof *fields);
    }
}

void stamped_files_get(pack *p, stamped_files *out)
{
    *out = (stamped_files){0};
    const uint64_t count = pack_get_u64(p);
    while (!p->failed && out->count < count) {
        file_stamp stamp = {0};
        const char *path = pack_get_string(p);
        pack_get_fields(p, &stamp, fields, sizeof fields / sizeof *fields);
        if (!p->failed && !stamped_files_add(out, path, &stamp))
            p->failed = true;
    }
}
