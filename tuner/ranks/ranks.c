#include "ranks/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"

enum { HELLO_MS = 60 * 1000 }; /* time for all ranks to start */

typedef struct rank_of {
    const rank_hosts *all;
    uint32_t rank;
} rank_of;

struct rank_hosts {
    int fd;
    ranks_hello hello;
    rank_of ranks[CLUSTER_MOST_RANKS];
    worker_host hosts[CLUSTER_MOST_RANKS];
};

static at_status send_open(int fd, const ranks_open *wanted, int passed, at_error *error)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    ranks_open copy = *wanted;
    struct iovec data = {.iov_base = &copy, .iov_len = sizeof copy};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &passed, sizeof passed);
    ssize_t n;
    do
        n = sendmsg(fd, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof copy
               ? AT_OK
               : error_set_errno(error, errno, "the connection to the other ranks is lost");
}

static at_status start_there(void *context, const char *program, worker *out, at_error *error)
{
    const rank_of *where = context;
    ranks_open wanted = {.rank = where->rank};
    int ends[2];
    snprintf(wanted.program, sizeof wanted.program, "%s", program);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set_errno(error, errno, "cannot make a socket for a worker of rank %u",
                               where->rank);
    at_status status = send_open(where->all->fd, &wanted, ends[1], error);
    close(ends[1]);
    if (status)
        close(ends[0]);
    else
        *out = (worker){.pid = WORKER_ELSEWHERE, .fd = ends[0]};
    return status;
}

static at_status take_hello(rank_hosts *c, at_error *error)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    ssize_t n = poll(&p, 1, HELLO_MS) == 1 ? recv(c->fd, &c->hello, sizeof c->hello, 0) : -1;
    if (n != (ssize_t)sizeof c->hello || c->hello.ranks < 1 || c->hello.ranks > CLUSTER_MOST_RANKS)
        return error_set(error, AT_WORKER, "the connection to the other ranks does not answer");
    return AT_OK;
}

at_status ranks_join(rank_hosts **out, at_error *error)
{
    *out = NULL;
    const char *number = getenv(CLUSTER_VARIABLE);
    if (!number)
        return AT_OK;
    rank_hosts *c = memory_new(1, sizeof *c);
    c->fd = (int)strtol(number, NULL, 10);
    fcntl(c->fd, F_SETFD, FD_CLOEXEC);
    at_status status = take_hello(c, error);
    if (status) {
        free(c);
        return status;
    }
    for (uint32_t i = 0; i < c->hello.ranks; i++) {
        c->ranks[i] = (rank_of){.all = c, .rank = i};
        c->hosts[i] = (worker_host){.start = start_there, .context = &c->ranks[i]};
    }
    *out = c;
    return AT_OK;
}

void ranks_leave(rank_hosts *c)
{
    if (!c)
        return;
    close(c->fd);
    free(c);
}

size_t ranks_count(const rank_hosts *c)
{
    return c ? c->hello.ranks : 1;
}

size_t ranks_cores(const rank_hosts *c, size_t rank)
{
    return c ? c->hello.cores[rank] : 0;
}

const worker_host *ranks_host(const rank_hosts *c, size_t rank)
{
    return c && rank > 0 ? &c->hosts[rank] : NULL;
}

static bool several(const char *variable)
{
    const char *text = getenv(variable);
    return text && strtol(text, NULL, 10) > 1;
}

bool ranks_launched(void)
{
    if (getenv(CLUSTER_VARIABLE))
        return false;
    bool by_slurm = (getenv("PMIX_RANK") || getenv("PMI_RANK")) && several("SLURM_STEP_NUM_TASKS");
    return several("OMPI_COMM_WORLD_SIZE") || several("PMI_SIZE") || by_slurm;
}

at_status ranks_become_one(char *const *argv, at_error *error)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof "-rank");
    if (n > 0) {
        memcpy(path + n, "-rank", sizeof "-rank");
        execv(path, argv);
    }
    return error_set(
        error, AT_USAGE,
        "autotune was started as one of several MPI ranks, but was built without MPI: build it "
        "with -DAUTOTUNE_MPI=ON (libopenmpi-dev), or start it without mpirun or srun");
}
