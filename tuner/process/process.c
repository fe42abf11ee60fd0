#include "process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/interrupt.h"
#include "process/message.h"

/* WORKER_FD is the worker's end of its socket, NOT_EXECUTED the exit status if execve() fails. */
enum { WORKER_FD = STDERR_FILENO + 1, NOT_EXECUTED = 127 };

static const char program_path[] = "/proc/self/exe";
static const char entry_argument[] = "--worker";

extern char **environ;

/* Removes const, because execve() declares its arguments without const but does not change them. */
static char *unconst(const char *text)
{
    char *same;
    memcpy(&same, &text, sizeof same);
    return same;
}

static void close_range_of(unsigned first, unsigned last)
{
#ifdef SYS_close_range
    /* A single call, because the limit on descriptors may be a million. */
    if (syscall(SYS_close_range, first, last, 0u) == 0)
        return;
#endif
    long limit = sysconf(_SC_OPEN_MAX);
    if (limit < 0 || limit > 65536)
        limit = 65536;
    for (unsigned fd = first; fd <= last && fd < (unsigned)limit; fd++)
        close((int)fd);
}

/* Closes all descriptors but the standard ones and `keep`: an inherited socket of another worker
 * would keep that worker alive after the end of the tuner. */
static void close_all_but(int keep)
{
    unsigned first = STDERR_FILENO + 1, kept = (unsigned)keep;
    if (kept > first)
        close_range_of(first, kept - 1);
    close_range_of(kept >= first ? kept + 1 : first, UINT_MAX);
}

/* Prepares the child for execve(), by calls that are safe after a fork of several threads. */
static void become_worker(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* The parent died before the prctl() above. */
        _exit(1);
    /* Ignored signals stay ignored in the new program. Handlers are removed here, so that no
     * handler of the parent runs in the child before execve(). */
    static const int handled[] = {SIGTERM, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD, SIGABRT};
    for (size_t i = 0; i < sizeof handled / sizeof handled[0]; i++)
        signal(handled[i], SIG_DFL);
    /* An interrupt often reaches all processes of the group; only the tuner reacts. */
    size_t count;
    const int *interrupting = interrupt_signals(&count);
    for (size_t i = 0; i < count; i++)
        if (interrupting[i] != SIGTERM)
            signal(interrupting[i], SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* worker_spawn() blocked the signals, so no signal arrived before it was ignored above. */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void execute(const char *path, const char *name, int fd, pid_t parent)
{
    char *const arguments[] = {unconst(name), unconst(entry_argument), NULL};
    become_worker(parent);
    close_all_but(fd);
    if (fd == WORKER_FD ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, WORKER_FD) == WORKER_FD)
        execve(path, arguments, environ);
    _exit(NOT_EXECUTED);
}

/* Sets an error for a failed system call, with a remedy if a limit was reached. */
static at_status refuse(at_error *error, int code, const char *what, const char *name)
{
    const char *remedy =
        code == EMFILE || code == ENFILE ? "; raise the limit of open files (ulimit -n)"
        : code == EAGAIN ? "; raise the limit of processes (ulimit -u, or pids.max of the cgroup)"
                         : "";
    return error_set(error, AT_IO, "cannot %s the %s worker: %s%s", what, name, strerror(code),
                     remedy);
}

at_status worker_start(const worker_host *host, const worker_program *program, const pack *settings,
                       worker *out, at_error *error)
{
    *out = (worker){.fd = -1};
    if (settings->failed)
        return error_no_memory(error);
    at_status status = host ? host->start(host->context, program->name, out, error)
                            : worker_spawn(program_path, program->name, out, error);
    /* If the worker has died already, the first read from its socket reports the end. */
    if (!status)
        message_send(out->fd, &(message){.body = *settings}, NULL);
    return status;
}

at_status worker_spawn(const char *path, const char *name, worker *out, at_error *error)
{
    *out = (worker){.fd = -1};
    int ends[2];
    if (access(path, X_OK) != 0)
        return error_set_errno(error, errno, "cannot start the %s worker from %s", name, path);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return refuse(error, errno, "make a socket for", name);
    pid_t parent = getpid();
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    int code = errno;
    if (pid == 0)
        execute(path, name, ends[1], parent);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return refuse(error, code, "start", name);
    }
    *out = (worker){.pid = pid, .fd = ends[0]};
    return AT_OK;
}

void worker_enter(int argc, char *const *argv, const worker_program *const *programs)
{
    if (argc != 2 || strcmp(argv[1], entry_argument) != 0)
        return;
    for (; *programs; programs++) {
        if (strcmp(argv[0], (*programs)->name) != 0)
            continue;
        message settings;
        prctl(PR_SET_NAME, argv[0]);
        fcntl(WORKER_FD, F_SETFD, FD_CLOEXEC);
        if (message_receive(WORKER_FD, -1, &settings, NULL))
            _exit(NOT_EXECUTED);
        int result = (*programs)->run(WORKER_FD, &settings.body);
        message_deinit(&settings);
        _exit(result);
    }
}

static void describe_end(int status, char *why, size_t why_size_bytes)
{
    if (WIFEXITED(status))
        snprintf(why, why_size_bytes, "exited with status %d", WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        snprintf(why, why_size_bytes, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(why, why_size_bytes, "ended in an unknown way");
}

static worker_end kind_of_end(int status)
{
    static const int own[] = {SIGSEGV, SIGBUS,  SIGABRT, SIGFPE,  SIGILL,
                              SIGSYS,  SIGTRAP, SIGXCPU, SIGXFSZ, SIGPIPE};
    if (!WIFSIGNALED(status))
        return WORKER_EXITED;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (WTERMSIG(status) == own[i])
            return WORKER_FAULTED;
    return WORKER_KILLED;
}

static bool reap(worker *w, int *status)
{
    pid_t ended;
    do
        ended = waitpid(w->pid, status, WNOHANG);
    while (ended < 0 && errno == EINTR);
    return ended != 0;
}

static void close_socket(worker *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

worker_end worker_collect(worker *w, int grace_ms, char *why, size_t why_size_bytes)
{
    const bool elsewhere = w->pid == WORKER_ELSEWHERE, none = w->pid <= 0;
    char unused[1];
    int status = 0;
    if (!why) {
        why = unused;
        why_size_bytes = sizeof unused;
    }
    /* Look for the end before closing the socket: closing it may be the reason for the end. */
    bool ended = none || reap(w, &status);
    if (grace_ms > 0)
        close_socket(w);
    for (; !ended && grace_ms > 0; grace_ms--) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        ended = reap(w, &status);
    }
    if (none) {
        snprintf(why, why_size_bytes, elsewhere ? "ended on another host" : "not running");
    } else if (ended) {
        describe_end(status, why, why_size_bytes);
    } else {
        kill(w->pid, SIGKILL);
        while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
            ;
        snprintf(why, why_size_bytes, "still running");
    }
    close_socket(w);
    w->pid = 0;
    if (none)
        return elsewhere ? WORKER_KILLED : WORKER_NONE;
    return ended ? kind_of_end(status) : WORKER_NONE;
}

void worker_kill(const worker *w)
{
    if (w->pid > 0)
        kill(w->pid, SIGKILL);
}

worker_end worker_stop(worker *w, char *why, size_t why_size_bytes)
{
    return worker_collect(w, 0, why, why_size_bytes);
}

enum { SHORT_WAIT_MS = 10 };

void poll_set_start(poll_set *s, int timeout_ms)
{
    s->count = 0;
    s->timeout_ms = timeout_ms;
}

void poll_set_add(poll_set *s, int fd, bool unsent)
{
    if (fd < 0)
        return;
    if (s->count == POLL_SET_MOST) {
        poll_set_shorten(s, SHORT_WAIT_MS);
        return;
    }
    s->fds[s->count++] =
        (struct pollfd){.fd = fd, .events = (short)(POLLIN | (unsent ? POLLOUT : 0))};
}

void poll_set_shorten(poll_set *s, int deadline_ms)
{
    if (deadline_ms >= 0 && (s->timeout_ms < 0 || deadline_ms < s->timeout_ms))
        s->timeout_ms = deadline_ms;
}

int poll_set_wait(poll_set *s)
{
    return poll(s->fds, (nfds_t)s->count, s->timeout_ms);
}
