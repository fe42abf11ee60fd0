#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

void descriptor_hold_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int other_way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        /* A folder can be read and written even less, and is there when devices are not. */
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

int descriptor_lift(int fd)
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
    return descriptor_lift(fd);
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
