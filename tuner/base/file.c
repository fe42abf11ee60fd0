#define _GNU_SOURCE /* for O_TMPFILE */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void descriptor_reserve_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int other_way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        /* If there is no /dev/null, opens a folder, which can be neither read nor written. */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", other_way) < 0 && open("/", O_RDONLY) < 0)
            return;
    }
}

bool descriptor_is_writable(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

bool descriptor_try_again(int fd)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1) >= 0 || errno == EINTR;
    return errno == EINTR;
}

int descriptor_move_up(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int lifted = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), code = errno;
    close(fd);
    errno = code;
    return lifted;
}

int descriptor_open(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags, mode);
    while (fd < 0 && errno == EINTR);
    return descriptor_move_up(fd);
}

int descriptor_sync(int fd)
{
    int failed;
    do
        failed = fsync(fd);
    while (failed && errno == EINTR);
    return failed;
}

int descriptor_close(int fd)
{
    return close(fd) != 0 && errno != EINTR ? -1 : 0;
}

enum { PATH_BYTES = 4096, PROBE_BYTES = 4096 };

static const char *remedy(int code)
{
    static const struct {
        int code;
        const char *text;
    } remedies[] = {
        {ENOSPC, "; free some space or choose another folder"},
        {EDQUOT, "; free some of the quota or choose another folder"},
        {EFBIG, "; raise the limit on file sizes (ulimit -f)"},
        {EROFS, "; choose a folder that can be written"},
        {EACCES, "; choose a folder that you may write"},
        {ENOTDIR, "; a part of the path is a file"},
        {ENXIO, "; nobody reads this pipe or socket"},
    };
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (remedies[i].code == code)
            return remedies[i].text;
    return "";
}

static at_status io_error(at_error *error, int code, const char *what, const char *path)
{
    return error_set(error, AT_IO, "cannot %s %s: %s%s", what, path, strerror(code), remedy(code));
}

static at_status path_too_long(at_error *error, const char *path)
{
    return error_set(error, AT_IO, "the path is too long (%zu bytes): %.100s...", strlen(path),
                     path);
}

/* Reads to the end, because the size in struct stat is wrong for /proc and for growing files. */
static at_status read_all(int fd, const char *path, size_t limit_bytes, char **out,
                          size_t *size_bytes, at_error *error)
{
    size_t used = 0, capacity = 16 * 1024;
    char *text = malloc(capacity);
    while (text) {
        ssize_t n = read(fd, text + used, capacity - used - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int code = errno;
            free(text);
            return io_error(error, code, "read", path);
        }
        used += (size_t)n;
        if (used > limit_bytes) {
            free(text);
            return error_set(error, AT_FORMAT, "%s is larger than the limit of %zu bytes", path,
                             limit_bytes);
        }
        if (n == 0) {
            text[used] = '\0';
            *out = text;
            *size_bytes = used;
            return AT_OK;
        }
        if (capacity - used < 4096) {
            char *larger = realloc(text, capacity * 2);
            if (!larger)
                free(text);
            text = larger;
            capacity *= 2;
        }
    }
    return error_no_memory(error);
}

at_status file_open_regular(const char *path, int *fd, uint64_t *size_bytes, at_error *error)
{
    struct stat s;
    *fd = descriptor_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (*fd < 0 && errno == ENOENT)
        return error_set(error, AT_NOT_FOUND, "there is no file %s", path);
    if (*fd < 0)
        return io_error(error, errno, "open", path);
    if (fstat(*fd, &s) == 0 && S_ISREG(s.st_mode)) {
        if (size_bytes)
            *size_bytes = (uint64_t)s.st_size;
        return AT_OK;
    }
    descriptor_close(*fd);
    *fd = -1;
    return error_set(error, AT_IO, "%s is %s, not a file", path,
                     S_ISDIR(s.st_mode) ? "a folder" : "a device or pipe");
}

at_status file_read(const char *path, size_t limit_bytes, char **out, size_t *size_bytes,
                    at_error *error)
{
    *out = NULL;
    int fd;
    size_t size = 0;
    at_status status = file_open_regular(path, &fd, NULL, error);
    if (status)
        return status;
    status = read_all(fd, path, limit_bytes, out, &size, error);
    descriptor_close(fd);
    if (size_bytes)
        *size_bytes = size;
    return status;
}

at_status file_write_all(int fd, const char *path, const void *bytes, size_t size_bytes,
                         at_error *error)
{
    const char *at = bytes;
    while (size_bytes > 0) {
        ssize_t n = write(fd, at, size_bytes);
        if (n < 0 && descriptor_try_again(fd))
            continue;
        if (n < 0)
            return io_error(error, errno, "write", path);
        at += n;
        size_bytes -= (size_t)n;
    }
    return AT_OK;
}

static at_status split(const char *path, char folder[PATH_BYTES], const char **name,
                       at_error *error)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    size_t length = slash ? (size_t)(slash - path) : 1;
    if (strlen(path) >= PATH_BYTES - 64)
        return path_too_long(error, path);
    if (!slash)
        strcpy(folder, ".");
    else if (length == 0)
        strcpy(folder, "/");
    else
        snprintf(folder, PATH_BYTES, "%.*s", (int)length, path);
    return AT_OK;
}

/* Flushes a folder, if its file system can, so that a rename in it is on the disk. */
static at_status sync_folder(const char *folder, at_error *error)
{
    int fd = descriptor_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return io_error(error, errno, "open", folder);
    int failed = descriptor_sync(fd) != 0 && errno != EINVAL && errno != ENOTSUP ? errno : 0;
    descriptor_close(fd);
    return failed ? io_error(error, failed, "flush", folder) : AT_OK;
}

/* Creates a temporary file in the folder of `path`, with the mode of the umask. The file's name
 * begins with at most 128 bytes of the name in `path`, which may have the maximum length. */
static at_status create_beside(const char *path, char out[PATH_BYTES], int *fd, at_error *error)
{
    char folder[PATH_BYTES];
    const char *name;
    at_status status = split(path, folder, &name, error);
    if (status)
        return status;
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        int n = snprintf(out, PATH_BYTES, "%s/.%.128s.%ld-%u.tmp", folder, name, (long)getpid(),
                         attempt);
        if (n < 0 || n >= PATH_BYTES)
            return path_too_long(error, path);
        *fd = descriptor_open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0)
            return AT_OK;
        if (errno == ENOENT && access(folder, F_OK) != 0)
            return error_set(error, AT_IO, "there is no folder %s: make it first", folder);
        if (errno != EEXIST)
            return io_error(error, errno, "create a file in", folder);
    }
    return io_error(error, EEXIST, "create a file in", folder);
}

/* Writes, flushes and closes. On NFS a full disk may be reported only by close(2). */
static at_status fill_and_close(int fd, const char *path, const void *bytes, size_t size_bytes,
                                at_error *error)
{
    at_status status = file_write_all(fd, path, bytes, size_bytes, error);
    if (!status && descriptor_sync(fd) != 0 && errno != EINVAL && errno != ENOTSUP &&
        errno != EROFS)
        status = io_error(error, errno, "write", path);
    if (descriptor_close(fd) != 0 && !status)
        status = io_error(error, errno, "write", path);
    return status;
}

static at_status write_beside_and_rename(const char *path, const void *bytes, size_t size_bytes,
                                         at_error *error)
{
    char temporary[PATH_BYTES];
    int fd;
    at_status status = create_beside(path, temporary, &fd, error);
    if (status)
        return status;
    status = fill_and_close(fd, path, bytes, size_bytes, error);
    if (!status && rename(temporary, path) != 0)
        status = io_error(error, errno, "replace", path);
    if (status)
        unlink(temporary);
    return status;
}

/* Blocks all signals, so that no signal ends the process while the temporary file exists. */
static void hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

static at_status replace_regular(const char *path, const void *bytes, size_t size_bytes,
                                 at_error *error)
{
    char folder[PATH_BYTES];
    const char *name;
    sigset_t before;
    at_status status = split(path, folder, &name, error);
    if (status)
        return status;
    hold_signals(&before);
    status = write_beside_and_rename(path, bytes, size_bytes, error);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status ? status : sync_folder(folder, error);
}

/* Opens a device or a pipe without waiting: a pipe without a reader is an error. */
static at_status open_to_write(const char *path, int *fd, at_error *error)
{
    *fd = descriptor_open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (*fd < 0)
        return io_error(error, errno, "write", path);
    fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
    return AT_OK;
}

at_status file_replace(const char *path, const void *bytes, size_t size_bytes, at_error *error)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return replace_regular(path, bytes, size_bytes, error);
    if (S_ISDIR(s.st_mode))
        return io_error(error, EISDIR, "write", path);
    if (!S_ISREG(s.st_mode)) {
        int fd;
        at_status status = open_to_write(path, &fd, error);
        return status ? status : fill_and_close(fd, path, bytes, size_bytes, error);
    }
    /* Renaming would replace a file that its owner has protected. */
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return error_set(error, AT_IO, "cannot write %s: %s; chmod u+w allows it", path,
                         strerror(errno));
    char *real = realpath(path, NULL);
    if (!real)
        return io_error(error, errno, "resolve", path);
    at_status status = replace_regular(real, bytes, size_bytes, error);
    free(real);
    return status;
}

static bool is_link_to_nothing(const char *path)
{
    struct stat s;
    return stat(path, &s) != 0 && errno == ENOENT && lstat(path, &s) == 0;
}

/* Makes a folder and its parents. The umask applies to `mode`, the mode of the last component. */
static at_status make_folder(const char *path, mode_t mode, at_error *error)
{
    char part[PATH_BYTES];
    size_t length = strlen(path);
    if (length >= sizeof part)
        return path_too_long(error, path);
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        char kept = part[i];
        part[i] = '\0';
        const int code = mkdir(part, kept ? 0777 : mode) != 0 ? errno : 0;
        if (code && code != EEXIST)
            return io_error(error, code, "make the folder", part);
        if (code && is_link_to_nothing(part))
            return error_set(error, AT_IO, "cannot make the folder %s: %s is a broken link", path,
                             part);
        part[i] = kept;
    }
    struct stat s;
    if (stat(path, &s) != 0)
        return io_error(error, errno, "make the folder", path);
    return S_ISDIR(s.st_mode) ? AT_OK : io_error(error, ENOTDIR, "make the folder", path);
}

at_status file_make_folder(const char *path, at_error *error)
{
    return make_folder(path, 0777, error);
}

bool file_is_private(const struct stat *s)
{
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

at_status file_make_private_folder(const char *path, at_error *error)
{
    struct stat s;
    at_status status = make_folder(path, 0700, error);
    if (status)
        return status;
    int fd = descriptor_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0 || fstat(fd, &s) != 0)
        status = io_error(error, errno, "open", path);
    else if (s.st_uid != geteuid())
        status = error_set(error, AT_IO,
                           "the folder %s belongs to another user: what is in it is not read; "
                           "choose another folder",
                           path);
    else if (!file_is_private(&s))
        status = error_set(error, AT_IO,
                           "others may write the folder %s: what is in it is not read; remove "
                           "it, or chmod 700 it if you know what it holds",
                           path);
    else if ((s.st_mode & 077) != 0 && fchmod(fd, 0700) != 0)
        status = io_error(error, errno, "close to others", path);
    if (fd >= 0)
        descriptor_close(fd);
    return status;
}

/* Opens a new file without a name. The file disappears when it is closed. AT_IO. */
static at_status open_nameless(const char *folder, int *fd, at_error *error)
{
    char path[PATH_BYTES], temporary[PATH_BYTES];
    sigset_t before;
    if (strlen(folder) >= PATH_BYTES - 64)
        return path_too_long(error, folder);
    *fd = descriptor_open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (*fd >= 0)
        return AT_OK;
    /* Without O_TMPFILE a named file is made and unlinked. Any other error occurs again. */
    snprintf(path, sizeof path, "%s/probe", folder);
    hold_signals(&before);
    at_status status = create_beside(path, temporary, fd, error);
    if (!status)
        unlink(temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

at_status file_check_writable(const char *folder, at_error *error)
{
    int fd;
    at_status status = open_nameless(folder, &fd, error);
    if (status)
        return status;
    /* On a full disk an empty file can be created, but no data written. */
    char block[PROBE_BYTES];
    memset(block, 'x', sizeof block);
    return fill_and_close(fd, folder, block, sizeof block, error);
}
