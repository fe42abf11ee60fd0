#define _GNU_SOURCE /* ppoll */
/* autotune-rank: the program that runs on each rank of an MPI launch.
 *
 * Rank 0 starts the tuner and forwards bytes between the tuner and the workers on the other ranks.
 * Each other rank starts the workers that rank 0 requests, confined as usual and without MPI. No
 * rank waits for another: a rank that sends nothing for SILENCE_MS is lost with its workers. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "process/interrupt.h"
#include "ranks/channel.h"
#include "ranks/mail.h"
#include "ranks/ranks.h"

enum {
    BEAT_MS = 1000,         /* time between heartbeats */
    SILENCE_MS = 20 * 1000, /* time without letters after which a rank is lost */
    BUSY_MS = 20,           /* time of frequent polling after a letter */
    LEAVE_MS = 10 * 1000    /* time for sending the last letters at the end */
};

typedef struct relay {
    mail *mail;
    channel_table channels;
    char program[PATH_MAX]; /* path of autotune */
    pid_t tuner;            /* rank 0: process id; 0 once the tuner has ended */
    int code;               /* exit code of the tuner */
    int control;            /* rank 0: socket to the tuner; -1 if closed */
    uint32_t last_channel;
    bool over;
    int64_t beat_ns, letter_ns; /* when the last heartbeat was sent; when the last letter came */
    int64_t heard_ns[CLUSTER_MOST_RANKS];
    bool dropped[CLUSTER_MOST_RANKS];
    ranks_hello hello;
    uint32_t greeted;
} relay;

static uint32_t usable_cores(const mail *m)
{
    size_t usable = cores_usable(), of_host = mail_ranks_of_host(m);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    /* Ranks that are not bound to cores of their own share the cores of the host. */
    if (online > 0 && usable * of_host > (size_t)online)
        usable = (size_t)online / of_host;
    return usable > 0 ? (uint32_t)usable : 1;
}

static void become_tuner(const relay *r, int fd, pid_t parent, char **argv)
{
    char number[16];
    snprintf(number, sizeof number, "%d", fd);
    setenv(CLUSTER_VARIABLE, number, 1);
    /* In its own process group, the tuner gets an interrupt once, from watch_tuner(). */
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    interrupt_release();
    if (getppid() == parent)
        execv(r->program, argv);
    _exit(127);
}

static at_status start_tuner(relay *r, char **argv, at_error *error)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        return error_set_errno(error, errno, "cannot make a socket for the tuner");
    r->tuner = fork();
    if (r->tuner == 0) {
        close(ends[0]);
        become_tuner(r, ends[1], parent, argv);
    }
    close(ends[1]);
    r->control = ends[0];
    return r->tuner < 0 ? error_set_errno(error, errno, "cannot start the tuner") : AT_OK;
}

static void close_control(relay *r)
{
    if (r->control >= 0)
        close(r->control);
    r->control = -1;
}

/* Receives the tuner's request for a worker, and the socket to connect to this worker. */
static void take_request(relay *r)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    ranks_open wanted;
    struct iovec data = {.iov_base = &wanted, .iov_len = sizeof wanted};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(r->control, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    struct cmsghdr *c = n == (ssize_t)sizeof wanted ? CMSG_FIRSTHDR(&m) : NULL;
    if (!c || c->cmsg_type != SCM_RIGHTS) {
        close_control(r);
        return;
    }
    worker end = {.pid = WORKER_ELSEWHERE};
    memcpy(&end.fd, CMSG_DATA(c), sizeof end.fd);
    if (wanted.rank == 0 || wanted.rank >= mail_ranks(r->mail) || mail_lost(r->mail, wanted.rank)) {
        close(end.fd);
        return;
    }
    channel_add(&r->channels, wanted.rank, ++r->last_channel, end);
    mail_send(r->mail, wanted.rank, LETTER_OPEN, r->last_channel, wanted.program,
              sizeof wanted.program);
}

static void greet(relay *r, uint32_t rank, const letter *l)
{
    if (r->tuner == 0 || r->greeted == mail_ranks(r->mail) || r->hello.cores[rank] ||
        l->size_bytes != sizeof(uint32_t))
        return;
    memcpy(&r->hello.cores[rank], l->bytes, sizeof(uint32_t));
    if (++r->greeted == mail_ranks(r->mail))
        send(r->control, &r->hello, sizeof r->hello, MSG_NOSIGNAL);
}

static void watch_tuner(relay *r)
{
    int status, signal_number = interrupt_take();
    if (r->tuner > 0 && signal_number)
        kill(r->tuner, signal_number);
    if (r->tuner <= 0 || waitpid(r->tuner, &status, WNOHANG) != r->tuner)
        return;
    r->tuner = 0;
    r->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r->over = true;
}

static void open_worker(relay *r, uint32_t rank, const letter *l)
{
    char name[CLUSTER_NAME_BYTES];
    worker w;
    if (l->size_bytes != sizeof name)
        return;
    memcpy(name, l->bytes, sizeof name);
    name[sizeof name - 1] = '\0';
    if (worker_spawn(r->program, name, &w, NULL))
        mail_send(r->mail, rank, LETTER_CLOSE, l->channel, NULL, 0);
    else
        channel_add(&r->channels, rank, l->channel, w);
}

static void deliver(relay *r, uint32_t rank, const letter *l)
{
    channel *c = channel_find(&r->channels, rank, l->channel);
    r->letter_ns = r->heard_ns[rank] = clock_now_ns();
    switch (l->kind) {
    case LETTER_HELLO:
        greet(r, rank, l);
        break;
    case LETTER_OPEN:
        if (mail_rank(r->mail) != 0 && !c)
            open_worker(r, rank, l);
        break;
    case LETTER_DATA:
        if (!c)
            break;
        channel_put(c, l->bytes, l->size_bytes);
        if (!channel_flush(c))
            c->closing = true; /* forward() notices that the socket is closed */
        break;
    case LETTER_CLOSE:
        if (c) {
            c->closing = true;
            if (mail_rank(r->mail) != 0 || !channel_flush(c))
                channel_remove(&r->channels, c);
        }
        break;
    case LETTER_QUIT:
        r->over = r->over || mail_rank(r->mail) != 0;
        break;
    default:
        break;
    }
}

/* Forwards bytes from the socket to the other rank, as long as the rank can take them. Returns
 * false if the socket is closed. */
static bool forward(relay *r, channel *c)
{
    unsigned char bytes[MAIL_MOST_BYTES];
    while (mail_has_room(r->mail, c->rank)) {
        ssize_t n = recv(c->worker.fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return true;
        if (n <= 0)
            return false;
        mail_send(r->mail, c->rank, LETTER_DATA, c->number, bytes, (size_t)n);
        r->letter_ns = clock_now_ns();
    }
    return true;
}

static void serve(relay *r, const struct pollfd *ready, size_t count)
{
    /* The loop runs backwards: channel_remove() moves the last channel to the removed place. */
    for (size_t i = count; i-- > 0;) {
        channel *c = &r->channels.items[i];
        bool open = true;
        if (ready[i].revents & POLLOUT)
            open = channel_flush(c);
        if (open && ready[i].revents & (POLLIN | POLLHUP | POLLERR))
            open = forward(r, c);
        if (open)
            continue;
        if (!c->closing)
            mail_send(r->mail, c->rank, LETTER_CLOSE, c->number, NULL, 0);
        channel_remove(&r->channels, c);
    }
}

static void lose_rank(relay *r, uint32_t rank)
{
    mail_lose(r->mail, rank);
    r->dropped[rank] = true;
    if (mail_rank(r->mail) != 0) {
        r->over = true;
        return;
    }
    fprintf(stderr, "autotune: rank %u is lost\n", rank);
    for (size_t i = r->channels.count; i-- > 0;)
        if (r->channels.items[i].rank == rank)
            channel_remove(&r->channels, &r->channels.items[i]);
}

static void send_heartbeats(relay *r)
{
    int64_t now_ns = clock_now_ns();
    if (now_ns - r->beat_ns < BEAT_MS * INT64_C(1000000))
        return;
    /* After this process was stopped, missing heartbeats say nothing about the other ranks. */
    bool slept = now_ns - r->beat_ns > SILENCE_MS / 2 * INT64_C(1000000);
    r->beat_ns = now_ns;
    for (uint32_t i = 0; i < mail_ranks(r->mail); i++) {
        if (i == mail_rank(r->mail) || (i != 0 && mail_rank(r->mail) != 0) || r->dropped[i])
            continue;
        if (slept || r->heard_ns[i] == 0)
            r->heard_ns[i] = now_ns;
        mail_send(r->mail, i, LETTER_BEAT, 0, NULL, 0);
        if (mail_lost(r->mail, i) || now_ns - r->heard_ns[i] > SILENCE_MS * INT64_C(1000000))
            lose_rank(r, i);
    }
}

static void poll_once(relay *r)
{
    size_t count = r->channels.count;
    struct pollfd *fds = memory_new(count + 1, sizeof *fds);
    uint32_t from;
    const letter *l;
    for (size_t i = 0; i < count; i++) {
        const channel *c = &r->channels.items[i];
        fds[i] = (struct pollfd){.fd = c->worker.fd,
                                 .events = (short)((mail_has_room(r->mail, c->rank) ? POLLIN : 0) |
                                                   (c->waiting_bytes ? POLLOUT : 0))};
    }
    fds[count] = (struct pollfd){.fd = r->control, .events = POLLIN};
    bool busy = clock_now_ns() - r->letter_ns < BUSY_MS * INT64_C(1000000);
    ppoll(fds, (nfds_t)count + 1,
          &(struct timespec){.tv_nsec = busy ? 100 * 1000 : 2 * 1000 * 1000}, NULL);
    serve(r, fds, count);
    if (fds[count].revents)
        take_request(r);
    for (int i = 0; i < 64 && mail_take(r->mail, &from, &l); i++)
        deliver(r, from, l);
    free(fds);
    if (mail_rank(r->mail) == 0)
        watch_tuner(r);
    send_heartbeats(r);
}

static at_status find_program(char *out, at_error *error)
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    size_t ending = strlen("-rank");
    if (n <= (ssize_t)ending || strncmp(out + n - ending, "-rank", ending) != 0)
        return error_set(error, AT_IO, "cannot find autotune beside autotune-rank");
    out[(size_t)n - ending] = '\0';
    return AT_OK;
}

static at_status run(relay *r, char **argv, at_error *error)
{
    uint32_t cores;
    at_status status = find_program(r->program, error);
    if (!status)
        status = mail_open(CLUSTER_MOST_RANKS, &r->mail, error);
    if (status)
        return status;
    cores = usable_cores(r->mail);
    r->hello.ranks = mail_ranks(r->mail);
    r->beat_ns = clock_now_ns();
    if (mail_rank(r->mail) == 0) {
        r->hello.cores[0] = cores;
        r->greeted = 1;
        status = start_tuner(r, argv, error);
        if (!status && r->greeted == r->hello.ranks)
            send(r->control, &r->hello, sizeof r->hello, MSG_NOSIGNAL);
    } else {
        mail_send(r->mail, 0, LETTER_HELLO, 0, &cores, sizeof cores);
    }
    while (!status && !r->over)
        poll_once(r);
    for (uint32_t i = 1; mail_rank(r->mail) == 0 && i < mail_ranks(r->mail); i++)
        mail_send(r->mail, i, LETTER_QUIT, 0, NULL, 0);
    return status;
}

int main(int argc, char **argv)
{
    at_error error = {0};
    relay *r = calloc(1, sizeof *r);
    (void)argc;
    if (!r)
        return 5;
    r->control = -1;
    descriptor_reserve_standard();
    signal(SIGCHLD, SIG_DFL);
    interrupt_hold();
    signal(SIGPIPE, SIG_IGN);
    at_status status = run(r, argv, &error);
    if (status) {
        fprintf(stderr, "autotune: %s\n", error.message);
        r->code = 4;
    }
    int code = r->code;
    channel_table_deinit(&r->channels);
    close_control(r);
    if (r->mail)
        mail_close(r->mail, LEAVE_MS, code);
    free(r);
    return code;
}
