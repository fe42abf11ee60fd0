/* Preloaded: every third call that opens, flushes or closes a file fails once with EINTR. On
 * network and user-space file systems (NFS, FUSE) a signal does this if its handler was installed
 * without SA_RESTART. As on Linux, an interrupted close closes the descriptor.
 *
 * If $KILLED_FLUSHING is set, the first call that flushes kills its process instead. If
 * $WITHOUT_NAMELESS is set, creating a file without a name fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds the next definition of a function. ISO C cannot cast the result of dlsym() to a function
 * pointer. */
static void find_next(const char *name, void *to)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(to, &symbol, sizeof symbol);
}

static bool is_interrupted(void)
{
    static atomic_uint calls;
    if (atomic_fetch_add(&calls, 1) % 3 != 2)
        return false;
    errno = EINTR;
    return true;
}

int open(const char *path, int flags, ...)
{
    int (*next)(const char *, int, mode_t);
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    find_next("open", &next);
    if ((flags & O_TMPFILE) == O_TMPFILE && getenv("WITHOUT_NAMELESS")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return is_interrupted() ? -1 : next(path, flags, mode);
}

int fsync(int fd)
{
    int (*next)(int);
    find_next("fsync", &next);
    if (getenv("KILLED_FLUSHING"))
        kill(getpid(), SIGKILL);
    return is_interrupted() ? -1 : next(fd);
}

int close(int fd)
{
    int (*next)(int);
    find_next("close", &next);
    const int failed = next(fd);
    return !failed && is_interrupted() ? -1 : failed;
}
