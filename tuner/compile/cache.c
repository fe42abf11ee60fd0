#include "compile/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "compile/trim.h"

/* The layout of files and of what they hold; a change of either makes a cache of its own. */
#define LAYOUT "compile-2"

static const uint64_t default_limit_bytes = (uint64_t)1 << 30;
/* A worker's message may be as large. */
static const uint64_t max_entry_bytes = (uint64_t)256 << 20;
/* A use is noted by the file's time; once an hour is enough to tell old from new. */
enum { TOUCH_S = 3600 };

typedef struct entry_header {
    uint32_t magic, reserved;
    uint64_t key_high, key_low;
    uint64_t size_bytes;
    uint64_t hash_high, hash_low;
} entry_header;

/* "ATCC" on the machine that wrote it: a cache is not meant to travel. */
enum { MAGIC = 0x43435441 };

at_status compile_cache_folder(const char *dir, char *out, size_t out_bytes, at_error *error)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char here[COMPILE_CACHE_PATH_BYTES];
    int n;
    if (dir && dir[0] != '/' && !getcwd(here, sizeof here))
        return error_set_errno(error, errno, "cannot tell the current folder");
    if (dir)
        n = snprintf(out, out_bytes, "%s%s%s/" LAYOUT, dir[0] == '/' ? "" : here,
                     dir[0] == '/' ? "" : "/", dir);
    else if (xdg && xdg[0] == '/') /* the XDG specification: relative paths are to be ignored */
        n = snprintf(out, out_bytes, "%s/autotune/" LAYOUT, xdg);
    else if (home && *home)
        n = snprintf(out, out_bytes, "%s/.cache/autotune/" LAYOUT, home);
    else
        return error_set(error, AT_IO,
                         "there is no folder for the compile cache: neither "
                         "XDG_CACHE_HOME nor HOME is set");
    if (n < 0 || (size_t)n >= out_bytes)
        return error_set(error, AT_IO, "the path of the compile cache is too long");
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

/* One folder for each first byte of the key: folders of a few hundred files stay quick. */
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

/* AT_FORMAT: the file is not the entry that its name promises. */
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
