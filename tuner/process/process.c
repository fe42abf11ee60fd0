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

/* The socket's number in the worker. */
enum { WORKER_FD = STDERR_FILENO + 1, NOT_EXECUTED = 127 };

static const char program_path[] = "/proc/self/exe";
static const char entry_argument[] = "--worker";

extern char **environ;

/* execve() does not change its arguments, but does not declare them so. */
static char *unconst(const char *text)
{
    char *same;
    memcpy(&same, &text, sizeof same);
    return same;
}

static void close_range_of(unsigned first, unsigned last)
{
#ifdef SYS_close_range
    /* One call instead of one for each number that the limit allows, which may be a million. */
    if (syscall(SYS_close_range, first, last, 0u) == 0)
        return;
#endif
    long limit = sysconf(_SC_OPEN_MAX);
    if (limit < 0 || limit > 65536)
        limit = 65536;
    for (unsigned fd = first; fd <= last && fd < (unsigned)limit; fd++)
        close((int)fd);
}

/* An inherited socket of another worker would keep that worker alive after the tuner's end. */
static void close_all_but(int keep)
{
    unsigned first = STDERR_FILENO + 1, kept = (unsigned)keep;
    if (kept > first)
        close_range_of(first, kept - 1);
    close_range_of(kept >= first ? kept + 1 : first, UINT_MAX);
}

/* Only calls that are safe in a child of a process with threads. */
static void become_worker(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before the line above */
        _exit(1);
    /* Ignored signals stay so in the new program. Handlers do not, but until then they would run
     * here. */
    static const int handled[] = {SIGTERM, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD, SIGABRT};
    for (size_t i = 0; i < sizeof handled / sizeof handled[0]; i++)
        signal(handled[i], SIG_DFL);
    /* Interrupts often go to all processes of the group at once: the tuner decides. */
    size_t count;
    const int *interrupting = interrupt_signals(&count);
    for (size_t i = 0; i < count; i++)
        if (interrupting[i] != SIGTERM)
            signal(interrupting[i], SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* They were held back from before the fork until here: none found the worker unprepared. */
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

static at_status send_settings(int fd, const pack *settings, at_error *error)
{
    message m = {.body = *settings};
    return message_send(fd, &m, error);
}

/* The machine gives no socket or no process. */
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
    /* One that is gone already is found by reading from it. */
    if (!status)
        send_settings(out->fd, settings, NULL);
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

/* Reaps the worker if it has ended by now. */
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
    if (why && why_size_bytes)
        snprintf(why, why_size_bytes, "not running");
    if (w->pid <= 0) {
        bool elsewhere = w->pid == WORKER_ELSEWHERE;
        close_socket(w);
        w->pid = 0;
        if (elsewhere && why && why_size_bytes)
            snprintf(why, why_size_bytes, "ended on another host");
        return elsewhere ? WORKER_KILLED : WORKER_NONE;
    }
    /* The order matters: a worker may well end because its socket closes. */
    int status = 0;
    bool ended = reap(w, &status);
    if (grace_ms > 0)
        close_socket(w);
    for (; !ended && grace_ms > 0; grace_ms--) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        ended = reap(w, &status);
    }
    if (ended) {
        if (why)
            describe_end(status, why, why_size_bytes);
    } else {
        kill(w->pid, SIGKILL);
        while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
            ;
        if (why)
            snprintf(why, why_size_bytes, "still running");
    }
    close_socket(w);
    w->pid = 0;
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
