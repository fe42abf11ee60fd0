#include "compile/trim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/lock.h"

enum {
    SHARDS = 256,
    NAME_BYTES = 40,
    PATH_BYTES = 4096,
    STALE_S = 3600 /* a temporary file this old has lost its writer */
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

/* Walks, removes, and says what is left. */
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

/* Opens a file of the cache and locks it; NULL where that cannot be within the time. */
static lock *open_locked(const char *dir, const char *name, int timeout_ms, int *code)
{
    char path[PATH_BYTES];
    lock *l;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    *code = lock_open(path, 0600, &l, NULL) ? EIO : lock_take(l, timeout_ms);
    if (!*code)
        return l;
    lock_close(l);
    return NULL;
}

/* Changes the sum: adds, or sets when `replace`. *sum is the new one. A missing or damaged file
 * counts as an overfull cache, which the walk puts right. */
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

at_status compile_cache_account(const char *dir, uint64_t added_bytes, uint64_t limit_bytes,
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
