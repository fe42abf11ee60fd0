#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { PATH_BYTES = 4096, PAUSE_MS = 5 };

struct lock {
    int fd;
    bool folder; /* `fd` is a folder, not a file */
    bool taken;
    pid_t taker; /* the process that took the lock */
    char path[PATH_BYTES];
};

static at_status refuse(at_error *error, int code, const char *path)
{
    return error_set(error, AT_IO, "cannot open %s for a lock: %s", path, strerror(code));
}

/* First tries without O_CREAT: in a sticky folder (/tmp) the kernel may refuse O_CREAT for an
 * existing file of another user. */
static int open_path(const char *path, mode_t mode)
{
    static const int ways[] = {O_RDWR, O_RDONLY, O_RDWR | O_CREAT};
    int fd = descriptor_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && fd < 0; i++)
        fd = descriptor_open(path, ways[i] | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
    return fd;
}

static at_status check_kind(int fd, const char *path, bool *folder, at_error *error)
{
    struct stat s;
    if (fstat(fd, &s) != 0)
        return refuse(error, errno, path);
    *folder = S_ISDIR(s.st_mode);
    if (S_ISREG(s.st_mode) || *folder)
        return AT_OK;
    return error_set(error, AT_IO, "%s is %s, not a file that can be locked; remove it", path,
                     S_ISFIFO(s.st_mode)   ? "a pipe"
                     : S_ISSOCK(s.st_mode) ? "a socket"
                                           : "a device");
}

at_status lock_open(const char *path, mode_t mode, lock **out, at_error *error)
{
    *out = NULL;
    lock *l = calloc(1, sizeof *l);
    if (!l)
        return error_no_memory(error);
    l->fd = -1;
    int n = snprintf(l->path, sizeof l->path, "%s", path);
    at_status status = n < 0 || n >= PATH_BYTES ? refuse(error, ENAMETOOLONG, "a path") : AT_OK;
    if (!status && (l->fd = open_path(path, mode)) < 0) {
        struct stat s;
        status = errno == ELOOP
                     ? error_set(error, AT_IO,
                                 "%s is a link, not a file that can be locked; remove it", path)
                 : errno == ENXIO && lstat(path, &s) == 0
                     ? error_set(error, AT_IO,
                                 "%s is a socket, not a file that can be locked; remove it", path)
                     : refuse(error, errno, path);
    }
    if (!status)
        status = check_kind(l->fd, path, &l->folder, error);
    if (status)
        lock_close(l);
    else
        *out = l;
    return status;
}

int lock_descriptor(const lock *l)
{
    return l->fd;
}

/* Locks FOLDER/.lock in place of the folder, because NFS locks only files that are open for
 * writing. Returns false if `l` is a file already, or FOLDER/.lock cannot be opened. */
static bool use_file_of_folder(lock *l)
{
    char path[PATH_BYTES + 16];
    bool folder;
    snprintf(path, sizeof path, "%s/.lock", l->path);
    int fd = l->folder ? open_path(path, 0666) : -1;
    if (fd >= 0 && !check_kind(fd, path, &folder, NULL) && !folder) {
        close(l->fd);
        l->fd = fd;
        l->folder = false;
        return true;
    }
    if (fd >= 0)
        close(fd);
    return false;
}

static int try(lock *l)
{
    while (flock(l->fd, LOCK_EX | LOCK_NB) != 0) {
        const int code = errno;
        if (code == EWOULDBLOCK || code == EINTR)
            return EWOULDBLOCK;
        if (!use_file_of_folder(l))
            return code;
    }
    return 0;
}

/* Polls, because flock(2) has no timeout. */
int lock_acquire(lock *l, int timeout_ms)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000 * 1000};
    int64_t deadline_ms = clock_now_ms() + timeout_ms;
    int code;
    while ((code = try(l)) == EWOULDBLOCK && clock_now_ms() < deadline_ms)
        nanosleep(&pause, NULL);
    l->taken = code == 0;
    l->taker = getpid();
    return code;
}

void lock_release(lock *l)
{
    if (l->taken && l->taker == getpid())
        flock(l->fd, LOCK_UN);
    l->taken = false;
}

void lock_close(lock *l)
{
    if (!l)
        return;
    lock_release(l);
    if (l->fd >= 0)
        close(l->fd);
    free(l);
}

int lock_probe(const char *folder)
{
    const int fd = descriptor_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK, 0);
    const int code =
        fd < 0 || (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno != EWOULDBLOCK) ? errno : 0;
    if (fd >= 0)
        close(fd);
    return code;
}

static at_status refuse_lock(const char *folder, int code, at_error *error)
{
    return error_set(error, AT_IO,
                     "cannot lock %s: %s. Mount its file system with locks (NFS: a lock service; "
                     "Lustre: -o flock), or use a folder of a local disk",
                     folder, strerror(code));
}

at_status lock_check(const char *folder, at_error *error)
{
    lock *l;
    at_status status = lock_open(folder, 0666, &l, error);
    if (status)
        return status;
    const int code = lock_acquire(l, 0);
    lock_close(l);
    return code == 0 || code == EWOULDBLOCK ? AT_OK : refuse_lock(folder, code, error);
}

at_status lock_folder(const char *folder, int timeout_ms, lock **out, at_error *error)
{
    at_status status = lock_open(folder, 0666, out, error);
    if (status)
        return status;
    int code = lock_acquire(*out, timeout_ms);
    if (!code)
        return AT_OK;
    if (code == EWOULDBLOCK)
        status = error_set(error, AT_IO,
                           "another process has locked %s for more than %d s; wait until it ends",
                           folder, timeout_ms / 1000);
    else
        status = refuse_lock(folder, code, error);
    lock_close(*out);
    *out = NULL;
    return status;
}
