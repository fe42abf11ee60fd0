#include "capture/inject/inject.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes a folder for the process, with a suffix, because exec() keeps the process number. */
static int make_folder(const char *dir)
{
    enum { MOST_PROGRAMS = 1000 };
    char path[4096];
    for (int i = 0; i < MOST_PROGRAMS; i++) {
        if (snprintf(path, sizeof path, "%s/%ld.%d", dir, (long)getpid(), i) >= (int)sizeof path)
            return -1;
        if (mkdir(path, 0700) == 0)
            return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return -1;
}

bool launch_table_open(launch_table *r, const char *dir)
{
    r->folder = make_folder(dir);
    int fd = r->folder < 0
                 ? -1
                 : openat(r->folder, CAPTURE_TABLE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    void *mapped = ftruncate(fd, sizeof *r->table) == 0
                       ? mmap(NULL, sizeof *r->table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                       : MAP_FAILED;
    close(fd);
    if (mapped == MAP_FAILED)
        return false;
    r->table = mapped;
    r->table->magic = CAPTURE_MAGIC;
    ssize_t n = readlink("/proc/self/exe", r->table->program, sizeof r->table->program - 1);
    r->table->program[n < 0 ? 0 : n] = '\0';
    return true;
}

/* FNV-1a over the members that distinguish rows. */
static uint32_t hash(const char *name, const capture_row *key)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    const uint32_t *words = key->grid;
    for (size_t i = 0; i < (offsetof(capture_row, count) - offsetof(capture_row, grid)) / 4; i++)
        h = (h ^ words[i]) * UINT64_C(0x100000001b3);
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (uint32_t)(h ^ h >> 32);
}

static bool is_alike(const capture_table *t, const capture_row *row, const char *name,
                     const capture_row *key)
{
    const size_t from = offsetof(capture_row, grid), to = offsetof(capture_row, count);
    return memcmp((const char *)row + from, (const char *)key + from, to - from) == 0 &&
           strcmp(t->names + row->name, name) == 0;
}

/* Returns the start of the name in `names`, adding a new name. Returns UINT32_MAX without room. */
static uint32_t find_name(capture_table *t, const char *name)
{
    const size_t bytes = strlen(name) + 1;
    for (uint32_t i = 0; i < t->row_count; i++)
        if (strcmp(t->names + t->rows[i].name, name) == 0)
            return t->rows[i].name;
    if (bytes > CAPTURE_NAMES_BYTES - t->names_bytes)
        return UINT32_MAX;
    memcpy(t->names + t->names_bytes, name, bytes);
    t->names_bytes += (uint32_t)bytes;
    return t->names_bytes - (uint32_t)bytes;
}

static uint32_t find_bucket(const launch_table *r, const char *name, const capture_row *key)
{
    uint32_t at = hash(name, key) % ROWS_BUCKETS;
    while (r->buckets[at] && !is_alike(r->table, &r->table->rows[r->buckets[at] - 1], name, key))
        at = (at + 1) % ROWS_BUCKETS;
    return at;
}

capture_row *launch_table_known(const launch_table *r, const char *name, const capture_row *key)
{
    const uint32_t row = r->buckets[find_bucket(r, name, key)];
    return row ? &r->table->rows[row - 1] : NULL;
}

capture_row *launch_table_find(launch_table *r, const char *name, const capture_row *key)
{
    capture_table *t = r->table;
    const uint32_t at = find_bucket(r, name, key);
    if (r->buckets[at])
        return &t->rows[r->buckets[at] - 1];
    const uint32_t begin = t->row_count < CAPTURE_MOST_ROWS ? find_name(t, name) : UINT32_MAX;
    if (begin == UINT32_MAX)
        return NULL;
    capture_row *row = &t->rows[t->row_count];
    *row = *key;
    row->name = begin;
    row->count = row->refused = row->timed = row->time_ns = row->fastest_ns = 0;
    r->buckets[at] = ++t->row_count;
    return row;
}

void launch_table_trouble(char trouble[CAPTURE_TROUBLE_BYTES], const char *format, ...)
{
    va_list arguments;
    if (trouble[0])
        return;
    va_start(arguments, format);
    vsnprintf(trouble, CAPTURE_TROUBLE_BYTES, format, arguments);
    va_end(arguments);
}
