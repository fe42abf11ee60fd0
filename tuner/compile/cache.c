#include "compile/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"

/* ---- the size limit ----
 *
 * The file `size` beside the entries holds their total size, so that storing an entry does not
 * require listing all of them. Above the limit the entries are listed, which corrects the total. */

enum {
    SHARDS = 256,
    NAME_BYTES = 40,
    PATH_BYTES = 4096,
    STALE_S = 3600 /* age in s after which the writer of a temporary file must be dead */
};

typedef struct entry {
    struct timespec used;
    uint64_t size_bytes;
    unsigned shard;
    char name[NAME_BYTES];
} entry;

typedef struct entry_list {
    entry *entries;
    size_t count;
    uint64_t total_bytes;
} entry_list;

static at_status list_shard(const char *dir, unsigned shard, entry_list *l, at_error *error)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%02x", dir, shard);
    DIR *d = opendir(path);
    if (!d)
        return AT_OK;
    at_status status = AT_OK;
    time_t now = time(NULL);
    for (struct dirent *e; !status && (e = readdir(d));) {
        struct stat s;
        if (e->d_name[0] == '.' || strlen(e->d_name) >= NAME_BYTES ||
            fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode))
            continue;
        if (strncmp(e->d_name, "tmp-", 4) == 0) {
            if (s.st_mtime + STALE_S < now)
                unlinkat(dirfd(d), e->d_name, 0);
            continue;
        }
        entry item = {.used = s.st_mtim, .size_bytes = (uint64_t)s.st_size, .shard = shard};
        snprintf(item.name, sizeof item.name, "%s", e->d_name);
        if (!array_add(&l->entries, &l->count, &item, sizeof item))
            status = error_no_memory(error);
        l->total_bytes += item.size_bytes;
    }
    closedir(d);
    return status;
}

static int by_use(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec)
        return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Removes the least recently used entries until at most `target_bytes` are left (*left_bytes). */
static at_status trim(const char *dir, uint64_t target_bytes, uint64_t *left_bytes, at_error *error)
{
    entry_list l = {.entries = NULL};
    at_status status = AT_OK;
    for (unsigned shard = 0; shard < SHARDS && !status; shard++)
        status = list_shard(dir, shard, &l, error);
    if (!status && l.count > 0)
        qsort(l.entries, l.count, sizeof *l.entries, by_use);
    for (size_t i = 0; i < l.count && !status && l.total_bytes > target_bytes; i++) {
        char path[PATH_BYTES + NAME_BYTES];
        snprintf(path, sizeof path, "%s/%02x/%s", dir, l.entries[i].shard, l.entries[i].name);
        if (unlink(path) == 0 || errno == ENOENT)
            l.total_bytes -= l.entries[i].size_bytes;
    }
    free(l.entries);
    *left_bytes = l.total_bytes;
    return status;
}

enum { SUM_LOCK_MS = 5000 };

/* Opens and locks a file of the cache. Returns NULL and sets *code on failure and time-out. */
static lock *open_locked(const char *dir, const char *name, int timeout_ms, int *code)
{
    char path[PATH_BYTES];
    lock *l;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    *code = lock_open(path, 0600, &l, NULL) ? EIO : lock_acquire(l, timeout_ms);
    if (!*code)
        return l;
    lock_close(l);
    return NULL;
}

/* Adds `bytes` to the total, or makes them the total if `replace`. *sum is the new total. A missing
 * or damaged file counts as a full cache, so that trim() corrects the total. */
static at_status update_sum(const char *dir, uint64_t bytes, bool replace, uint64_t *sum,
                            at_error *error)
{
    int code;
    lock *l = open_locked(dir, "size", SUM_LOCK_MS, &code);
    if (!l)
        return error_set_errno(error, code, "cannot lock the compile cache, %s/size", dir);
    uint64_t old = 0;
    ssize_t n = replace ? 0 : pread(lock_descriptor(l), &old, sizeof old, 0);
    if (!replace && n != (ssize_t)sizeof old)
        old = UINT64_MAX;
    *sum = bytes > UINT64_MAX - old ? UINT64_MAX : old + bytes;
    n = pwrite(lock_descriptor(l), sum, sizeof *sum, 0);
    code = errno;
    lock_close(l);
    if (n == (ssize_t)sizeof *sum)
        return AT_OK;
    return error_set_errno(error, n < 0 ? code : ENOSPC, "cannot write the compile cache, %s/size",
                           dir);
}

/* Adds `added_bytes` to the total of the cache in `dir`. Above the limit, removes leftovers of
 * interrupted writers and the least recently used entries until nine tenths of the limit are left.
 * Only one process trims at a time; other processes continue. Returns AT_IO, AT_NO_MEMORY. */
static at_status compile_cache_account(const char *dir, uint64_t added_bytes, uint64_t limit_bytes,
                                       at_error *error)
{
    uint64_t sum;
    int code;
    at_status status = update_sum(dir, added_bytes, false, &sum, error);
    if (status || sum <= limit_bytes)
        return status;
    lock *l = open_locked(dir, "trimming", 0, &code);
    if (!l)
        return AT_OK;
    status = trim(dir, limit_bytes / 10 * 9, &sum, error);
    if (!status)
        status = update_sum(dir, sum, true, &sum, error);
    lock_close(l);
    return status;
}

/* Version of the file layout and of the entries' contents. A new version uses a new folder. */
#define LAYOUT "compile-2"

static const uint64_t default_limit_bytes = (uint64_t)1 << 30;
/* Equal to the largest message of a worker. */
static const uint64_t max_entry_bytes = (uint64_t)256 << 20;
/* The modification time of an entry is its last use, updated at most once an hour. */
enum { TOUCH_S = 3600 };

typedef struct entry_header {
    uint32_t magic, reserved;
    uint64_t key_high, key_low;
    uint64_t size_bytes;
    uint64_t hash_high, hash_low;
} entry_header;

/* "ATCC" in the byte order of this machine: caches are not portable. */
enum { MAGIC = 0x43435441 };

at_status compile_cache_folder(const char *dir, char *out, size_t out_bytes, at_error *error)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char here[COMPILE_CACHE_PATH_BYTES];
    int n;
    if (dir && dir[0] != '/' && !getcwd(here, sizeof here))
        return error_set_errno(error, errno, "cannot find the current folder");
    if (dir)
        n = snprintf(out, out_bytes, "%s%s%s/" LAYOUT, dir[0] == '/' ? "" : here,
                     dir[0] == '/' ? "" : "/", dir);
    else if (xdg && xdg[0] == '/') /* The XDG specification demands to ignore a relative path. */
        n = snprintf(out, out_bytes, "%s/autotune/" LAYOUT, xdg);
    else if (home && *home)
        n = snprintf(out, out_bytes, "%s/.cache/autotune/" LAYOUT, home);
    else
        return error_set(error, AT_IO,
                         "there is no folder for the compile cache: neither "
                         "XDG_CACHE_HOME nor HOME is set");
    if (n < 0 || (size_t)n >= out_bytes)
        return error_set(
            error, AT_IO,
            "the path of the compile cache is too long: set XDG_CACHE_HOME to a shorter one");
    return AT_OK;
}

at_status compile_cache_open(const char *dir, uint64_t limit_bytes, compile_cache *out,
                             at_error *error)
{
    *out = (compile_cache){.limit_bytes = limit_bytes ? limit_bytes : default_limit_bytes};
    at_status status = compile_cache_folder(dir, out->dir, sizeof out->dir, error);
    return status ? status : file_make_private_folder(out->dir, error);
}

compile_key compile_cache_key(const char *identity, const void *request, size_t request_bytes)
{
    uint64_t seed = XXH3_64bits(identity, strlen(identity));
    XXH128_hash_t h = XXH3_128bits_withSeed(request, request_bytes, seed);
    return (compile_key){.high = h.high64, .low = h.low64};
}

enum { ENTRY_PATH_BYTES = COMPILE_CACHE_PATH_BYTES + 64 };

/* Writes the path of an entry. A folder for each first byte keeps folders small. */
static void entry_path(const compile_cache *c, compile_key key, char path[ENTRY_PATH_BYTES])
{
    snprintf(path, ENTRY_PATH_BYTES, "%s/%02x/%016llx%016llx", c->dir, (unsigned)(key.high >> 56),
             (unsigned long long)key.high, (unsigned long long)key.low);
}

static entry_header describe(compile_key key, const void *bytes, size_t size_bytes)
{
    XXH128_hash_t h = XXH3_128bits(bytes, size_bytes);
    return (entry_header){.magic = MAGIC,
                          .key_high = key.high,
                          .key_low = key.low,
                          .size_bytes = size_bytes,
                          .hash_high = h.high64,
                          .hash_low = h.low64};
}

static bool read_whole(int fd, void *bytes, size_t size_bytes)
{
    unsigned char *at = bytes;
    while (size_bytes > 0) {
        ssize_t n = read(fd, at, size_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size_bytes -= (size_t)n;
    }
    return true;
}

static at_status read_entry(int fd, const struct stat *s, compile_key key, unsigned char **bytes,
                            size_t *size_bytes)
{
    entry_header header;
    if (!S_ISREG(s->st_mode) || s->st_size < (off_t)sizeof header ||
        (uint64_t)s->st_size > max_entry_bytes || !read_whole(fd, &header, sizeof header) ||
        header.magic != MAGIC || header.size_bytes != (uint64_t)s->st_size - sizeof header)
        return AT_FORMAT;
    *size_bytes = (size_t)header.size_bytes;
    *bytes = malloc(*size_bytes + 1);
    if (!*bytes)
        return AT_NO_MEMORY;
    if (read_whole(fd, *bytes, *size_bytes)) {
        entry_header expected = describe(key, *bytes, *size_bytes);
        if (memcmp(&header, &expected, sizeof header) == 0)
            return AT_OK;
    }
    free(*bytes);
    *bytes = NULL;
    return AT_FORMAT;
}

at_status compile_cache_get(const compile_cache *c, compile_key key, unsigned char **bytes,
                            size_t *size_bytes)
{
    *bytes = NULL;
    *size_bytes = 0;
    char path[ENTRY_PATH_BYTES];
    entry_path(c, key, path);
    int fd = descriptor_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0);
    if (fd < 0)
        return AT_NOT_FOUND;
    struct stat s;
    at_status status = AT_IO;
    if (fstat(fd, &s) == 0 && file_is_private(&s))
        status = read_entry(fd, &s, key, bytes, size_bytes);
    if (status == AT_OK && s.st_mtime + TOUCH_S < time(NULL))
        futimens(fd, NULL);
    if (status == AT_FORMAT)
        unlink(path);
    close(fd);
    return status == AT_OK || status == AT_NO_MEMORY ? status : AT_NOT_FOUND;
}

static at_status write_entry(const char *path, const entry_header *header, const void *bytes,
                             size_t size_bytes, at_error *error)
{
    int fd = descriptor_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set_errno(error, errno, "cannot write the compile cache, %s", path);
    at_status status = file_write_all(fd, path, header, sizeof *header, error);
    if (!status)
        status = file_write_all(fd, path, bytes, size_bytes, error);
    if (descriptor_close(fd) != 0 && !status)
        status = error_set_errno(error, errno, "cannot write the compile cache, %s", path);
    return status;
}

at_status compile_cache_put(compile_cache *c, compile_key key, const void *bytes, size_t size_bytes,
                            at_error *error)
{
    char path[ENTRY_PATH_BYTES], temporary[ENTRY_PATH_BYTES + 64];
    entry_path(c, key, path);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return error_set_errno(error, errno, "cannot write the compile cache, %s", path);
    snprintf(temporary, sizeof temporary, "%s/tmp-%ld-%u", path, (long)getpid(), c->serial++);
    *slash = '/';
    entry_header header = describe(key, bytes, size_bytes);
    at_status status = write_entry(temporary, &header, bytes, size_bytes, error);
    if (!status && rename(temporary, path) != 0)
        status = error_set_errno(error, errno, "cannot write the compile cache, %s", path);
    if (status) {
        unlink(temporary);
        return status;
    }
    return compile_cache_account(c->dir, sizeof header + size_bytes, c->limit_bytes, error);
}
