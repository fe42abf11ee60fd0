#define _GNU_SOURCE /* for clone(), F_SETSIG and environ */
#include "process/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

/* The thread sanitizer takes clone() for a fork, after which the process may begin no thread. */
#ifdef __SANITIZE_THREAD__
extern int __clone(int (*run)(void *), void *stack, int flags, void *context, ...);
#define clone __clone
#endif

enum { STACK_BYTES = 64 * 1024, LOWEST_PRIORITY = 19, NOT_EXECUTED = 127 };

/* Arguments and results of both clones, which share the memory of this waiting process. */
typedef struct start {
    const char *path;
    const char *const *arguments;
    char **environment;
    int life, said, none; /* the program's ends of the two pipes, and /dev/null */
    long most_files;
    struct itimerval limit;
    char *stack; /* stack for the clone that becomes the program */
    pid_t pid;
    int code; /* errno of the call that failed; 0 if the program runs */
} start;

/* Makes a system call without the C library: a sanitizer, or a library that watches descriptors,
 * would take the clones' calls for calls of this process. */
static long call(long number, long a, long b, long c)
{
    return syscall(number, a, b, c);
}

static void close_from(unsigned first, long most_files)
{
#ifdef SYS_close_range
    if (call(SYS_close_range, first, UINT_MAX, 0) == 0)
        return;
#endif
    for (long fd = first; fd < most_files; fd++)
        call(SYS_close, fd, 0, 0);
}

/* Makes the kernel send SIGTERM when the pipe on standard input closes. Returns false if the pipe
 * has closed already, because then no signal comes. */
static bool watch_life(void)
{
    struct pollfd life = {.fd = STDIN_FILENO};
    return call(SYS_fcntl, STDIN_FILENO, F_SETOWN, call(SYS_getpid, 0, 0, 0)) == 0 &&
           call(SYS_fcntl, STDIN_FILENO, F_SETSIG, SIGTERM) == 0 &&
           call(SYS_fcntl, STDIN_FILENO, F_SETFL, O_RDONLY | O_NONBLOCK | O_ASYNC) == 0 &&
           syscall(SYS_ppoll, &life, 1, &(struct timespec){0}, NULL, 0) == 0;
}

static int become_program(void *context)
{
    start *s = context;
    call(SYS_setsid, 0, 0, 0);
    if (call(SYS_dup3, s->life, STDIN_FILENO, 0) == STDIN_FILENO &&
        call(SYS_dup3, s->none, STDOUT_FILENO, 0) == STDOUT_FILENO &&
        call(SYS_dup3, s->said, STDERR_FILENO, 0) == STDERR_FILENO && watch_life()) {
        close_from(STDERR_FILENO + 1, s->most_files);
        call(SYS_setpriority, PRIO_PROCESS, 0, LOWEST_PRIORITY);
        call(SYS_setitimer, ITIMER_REAL, (long)(uintptr_t)&s->limit, 0);
        call(SYS_execve, (long)(uintptr_t)s->path, (long)(uintptr_t)s->arguments,
             (long)(uintptr_t)s->environment);
    }
    s->code = errno ? errno : EIO;
    _exit(NOT_EXECUTED);
}

/* Starts the program and ends, so that the program is not a child of the original process. */
static int become_parent(void *context)
{
    start *s = context;
    s->pid = clone(become_program, s->stack, CLONE_VM | CLONE_VFORK | SIGCHLD, s);
    if (s->pid < 0)
        s->code = errno;
    _exit(0);
}

/* Runs both clones and returns the errno of the first failure, or 0. During this all signals are
 * blocked, so that no handler runs in a clone; the program unblocks its own signals
 * (interrupt.h). */
static int run_clones(start *s)
{
    char *stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED)
        return errno;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->stack = stacks + STACK_BYTES;
    pid_t parent = clone(become_parent, stacks + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, s);
    if (parent < 0)
        s->code = errno;
    while (parent > 0 && waitpid(parent, NULL, __WCLONE) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stacks, 2 * STACK_BYTES);
    return s->code;
}

static bool is_left_out(const char *assignment, const char *const *without)
{
    for (; *without; without++) {
        size_t n = strlen(*without);
        if (strncmp(assignment, *without, n) == 0 && assignment[n] == '=')
            return true;
    }
    return false;
}

/* Returns the environment without the variables of `without`, or NULL without memory. The caller
 * frees the list; the strings are borrowed. */
static char **list_environment(const char *const *without)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (!is_left_out(environ[i], without))
            list[kept++] = environ[i];
    return list;
}

/* Makes a pipe of descriptors above 2, because become_program() replaces 0, 1 and 2. */
static bool make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        ends[i] = descriptor_move_up(ends[i]);
    return ends[0] >= 0 && ends[1] >= 0;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

at_status beside_start(const char *path, const char *const *arguments, const char *const *without,
                       unsigned limit_s, beside *out, at_error *error)
{
    int life[2] = {-1, -1}, said[2] = {-1, -1}, none = -1, code = 0;
    *out = (beside){.life = -1, .said = -1};
    if (access(path, X_OK) != 0)
        return error_set(error, AT_NOT_FOUND, "there is no program at %s", path);
    char **environment = list_environment(without);
    if (!environment)
        return error_no_memory(error);
    none = descriptor_open("/dev/null", O_WRONLY | O_CLOEXEC, 0);
    if (none < 0 || !make_pipe(life) || !make_pipe(said))
        code = errno;
    if (!code) {
        start s = {.path = path,
                   .arguments = arguments,
                   .environment = environment,
                   .life = life[0],
                   .said = said[1],
                   .none = none,
                   .most_files = sysconf(_SC_OPEN_MAX),
                   .limit.it_value.tv_sec = (time_t)limit_s};
        code = run_clones(&s);
        out->pid = s.pid;
    }
    free(environment);
    close_if_open(none);
    close_if_open(life[0]);
    close_if_open(said[1]);
    if (code) {
        close_if_open(life[1]);
        close_if_open(said[0]);
        return error_set(error, AT_IO, "cannot start %s: %s", path, strerror(code));
    }
    fcntl(said[0], F_SETFL, O_NONBLOCK);
    out->life = life[1];
    out->said = said[0];
    return AT_OK;
}

/* Appends to b->text, which keeps the last BESIDE_OUTPUT_BYTES - 1 bytes of the output. */
static void keep_output(beside *b, const char *text, size_t size_bytes)
{
    size_t most = sizeof b->text - 1;
    if (size_bytes > most) {
        text += size_bytes - most;
        size_bytes = most;
    }
    size_t left = b->text_bytes + size_bytes > most ? most - size_bytes : b->text_bytes;
    memmove(b->text, b->text + b->text_bytes - left, left);
    memcpy(b->text + left, text, size_bytes);
    b->text_bytes = left + size_bytes;
    b->text[b->text_bytes] = '\0';
}

bool beside_ended(beside *b)
{
    char text[1024];
    while (b->said >= 0) {
        ssize_t n = read(b->said, text, sizeof text);
        if (n > 0)
            keep_output(b, text, (size_t)n);
        else if (n < 0 && errno == EAGAIN)
            return false;
        else if (n == 0 || errno != EINTR) {
            close(b->said);
            b->said = -1;
        }
    }
    close_if_open(b->life);
    b->life = -1;
    /* If this process adopts orphans, as the first of a container does, it must reap the
     * program. */
    if (b->pid > 0)
        waitpid(b->pid, NULL, WNOHANG);
    b->pid = 0;
    return true;
}

void beside_stop(beside *b)
{
    close_if_open(b->life);
    close_if_open(b->said);
    b->life = b->said = -1;
}
