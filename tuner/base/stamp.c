#include "base/stamp.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

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

bool file_stamp_same(const file_stamp *a, const file_stamp *b)
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

static const pack_field fields[] = {
    PACK_FIELD(file_stamp, device),      PACK_FIELD(file_stamp, inode),
    PACK_FIELD(file_stamp, size_bytes),  PACK_FIELD(file_stamp, modified_ns),
    PACK_FIELD(file_stamp, changed_ns),
};

void file_stamp_put(pack *p, const file_stamp *s)
{
    pack_put_fields(p, s, fields, sizeof fields / sizeof *fields);
}

file_stamp file_stamp_get(pack *p)
{
    file_stamp s = {0};
    pack_get_fields(p, &s, fields, sizeof fields / sizeof *fields);
    return s;
}
