#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"

enum { PATH_BYTES = 4096, HOLDER_BYTES = 512, PAUSE_MS = 5, LOOK_EVERY = 10 };

/* How it locks: the first that works. A lock begins with the first way and goes on to the next one
 * that is possible when the file system refuses it (next_way), never back. */
typedef enum way {
    WAY_PATH,           /* flock(2) of the path itself */
    WAY_FILE_OF_FOLDER, /* flock(2) of FOLDER/.lock, where the path is a folder */
    WAY_HELD            /* a file by exclusive creation: PATH.held or FOLDER/.lock.held */
} way;

/* Open from lock_open() to lock_close(), taken or not; it is only while it is not taken that its
 * way changes. */
struct lock {
    int fd;
    bool folder, taken;
    pid_t taker; /* the process that took it */
    way way;
    char path[PATH_BYTES];
    char own[HOLDER_BYTES]; /* what its file by exclusive creation says; "" before that way */
};

/* ---- who holds a lock ---- */

/* The first line of a small file of the kernel. */
static void read_line(const char *path, char *out, size_t out_bytes)
{
    int fd = descriptor_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    ssize_t n = fd >= 0 ? read(fd, out, out_bytes - 1) : -1;
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
}

/* When the process began, in ticks since the boot (proc(5), stat); 0: that is not seen. *ended: it
 * waits for its parent to notice. */
static uint64_t process_start(long pid, bool *ended)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    read_line(path, line, sizeof line);
    /* The program's name, in parentheses, may have anything in it; the state is the field after it,
     * the start the 20th. */
    const char *at = strrchr(line, ')');
    *ended = at && at[1] == ' ' && strchr("ZX", at[2]);
    for (int field = 2; at && field < 22; field++)
        if ((at = strchr(at, ' ')))
            at++;
    return at ? strtoull(at, NULL, 10) : 0;
}

/* This kernel's boot, and the processes that are seen here; "" where that is hidden. */
static void read_here(char *out, size_t out_bytes)
{
    char boot[64];
    struct stat processes;
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    out[0] = '\0';
    if (boot[0] && stat("/proc/self/ns/pid", &processes) == 0)
        snprintf(out, out_bytes, "%s:%" PRIuMAX, boot, (uintmax_t)processes.st_ino);
}

static void describe_self(char out[HOLDER_BYTES])
{
    char host[256] = "", here[128];
    bool ended;
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (*c <= ' ' || *c == 127)
            *c = '?';
    read_here(here, sizeof here);
    snprintf(out, HOLDER_BYTES, "host %.200s here %s process %ld began %" PRIu64 "\n",
             host[0] ? host : "?", here[0] ? here : "?", (long)getpid(),
             process_start(getpid(), &ended));
}

typedef struct holder {
    char host[256], here[128];
    long pid;
    uint64_t start;
} holder;

static bool read_holder(const char *text, holder *out)
{
    return sscanf(text, "host %255s here %127s process %ld began %" SCNu64, out->host, out->here,
                  &out->pid, &out->start) == 4 &&
           out->pid > 0 && strchr(text, '\n');
}

/* Is it gone? Its number may have been given to another process, which began later. */
static bool is_gone(const holder *who)
{
    bool ended;
    uint64_t start = process_start(who->pid, &ended);
    return (kill((pid_t)who->pid, 0) != 0 && errno == ESRCH) || ended ||
           (start && start != who->start);
}

/* ---- by exclusive creation ---- */

static bool held_path(const lock *l, char out[PATH_BYTES])
{
    int n = snprintf(out, PATH_BYTES, "%s%s.held", l->path, l->folder ? "/.lock" : "");
    return n >= 0 && n < PATH_BYTES;
}

/* Writes its holder into a new file. Returns 0 or errno. */
static int create_held(const char *path, const char *own)
{
    int fd = descriptor_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno;
    size_t size = strlen(own);
    ssize_t n = write(fd, own, size);
    int code = n == (ssize_t)size ? 0 : n < 0 ? errno : ENOSPC;
    if (descriptor_close(fd) != 0 && !code)
        code = errno;
    if (code)
        unlink(path);
    return code;
}

/* Tells how many seconds ago the file was last written, by the clock of the file system. */
static int64_t age_s(const char *path, const struct stat *s)
{
    char probe[PATH_BYTES + 64];
    struct stat now = {0};
    if (time(NULL) - s->st_mtime < LOCK_STALE_S / 2)
        return 0; /* no clock is that wrong, and no probe needed */
    snprintf(probe, sizeof probe, "%s.%ld", path, (long)getpid());
    int fd = descriptor_open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool known = fd >= 0 && write(fd, "?", 1) == 1 && fstat(fd, &now) == 0;
    if (fd >= 0) {
        close(fd);
        unlink(probe);
    }
    return known ? (int64_t)now.st_mtime - (int64_t)s->st_mtime : 0;
}

static bool is_stale(const char *path, const char *text, const struct stat *s)
{
    holder who;
    char here[128];
    read_here(here, sizeof here);
    if (read_holder(text, &who) && here[0] && strcmp(here, who.here) == 0)
        return is_gone(&who);
    return age_s(path, s) > LOCK_STALE_S;
}

static bool read_held(const char *path, char text[HOLDER_BYTES], struct stat *s)
{
    int fd = descriptor_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0);
    ssize_t n =
        fd >= 0 && fstat(fd, s) == 0 && S_ISREG(s->st_mode) ? read(fd, text, HOLDER_BYTES - 1) : -1;
    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return n >= 0;
}

/* Removes a stale lock. Several processes may see the same one: only the one that links it to a
 * name of its own removes it, and nobody else does while that name exists. Another lock may be
 * there by then: only the one that was judged is removed. */
static void remove_stale(const char *path)
{
    char text[HOLDER_BYTES], again[HOLDER_BYTES], name[PATH_BYTES + 64];
    struct stat s, other;
    if (!read_held(path, text, &s) || !is_stale(path, text, &s))
        return;
    snprintf(name, sizeof name, "%s.%" PRIuMAX ".gone", path, (uintmax_t)s.st_ino);
    if (link(path, name) != 0) {
        bool left =
            errno == EEXIST && stat(name, &other) == 0 && age_s(name, &other) > LOCK_STALE_S;
        bool impossible = errno != EEXIST && errno != ENOENT;
        if (left)
            unlink(name);
        if (impossible)
            unlink(path);
        return;
    }
    if (read_held(name, again, &other) && strcmp(text, again) == 0)
        unlink(path);
    unlink(name);
}

static int take_held(const lock *l, bool look)
{
    char path[PATH_BYTES];
    if (!held_path(l, path))
        return ENAMETOOLONG;
    int code = create_held(path, l->own);
    if (code != EEXIST)
        return code;
    if (look)
        remove_stale(path);
    return EWOULDBLOCK;
}

static void give_held(const lock *l)
{
    char path[PATH_BYTES], text[HOLDER_BYTES];
    struct stat s;
    if (held_path(l, path) && read_held(path, text, &s) && strcmp(text, l->own) == 0)
        unlink(path);
}

/* ---- all ---- */

static at_status refuse(at_error *error, int code, const char *path)
{
    return error_set(error, AT_IO, "cannot open %s for a lock: %s", path, strerror(code));
}

/* Others may have made it, and a folder as /tmp may not let it be opened as if it could be made. */
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
                 /* Nothing but its owner opens a socket's place. */
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

/* NFS locks only what is open for writing, which a folder cannot be: a file in it. Then comes
 * exclusive creation. */
static void next_way(lock *l)
{
    char path[PATH_BYTES + 16];
    bool folder;
    if (l->way == WAY_PATH && l->folder) {
        snprintf(path, sizeof path, "%s/.lock", l->path);
        int fd = open_path(path, 0666);
        if (fd >= 0 && !check_kind(fd, path, &folder, NULL) && !folder) {
            close(l->fd);
            l->fd = fd;
            l->way = WAY_FILE_OF_FOLDER;
            return;
        }
        if (fd >= 0)
            close(fd);
    }
    describe_self(l->own);
    l->way = WAY_HELD;
}

static int try(lock *l, bool look)
{
    while (l->way != WAY_HELD) {
        if (flock(l->fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno == EWOULDBLOCK || errno == EINTR)
            return EWOULDBLOCK;
        next_way(l);
    }
    return take_held(l, look);
}

/* Waits by asking again: neither way has a time limit of its own. */
int lock_take(lock *l, int timeout_ms)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000 * 1000};
    int64_t deadline_ms = clock_now_ms() + timeout_ms;
    int code;
    for (unsigned i = 0; (code = try(l, i % LOOK_EVERY == 0)) == EWOULDBLOCK; i++) {
        /* A lock that was just found to be stale is gone by now. */
        if (l->way == WAY_HELD && i == 0)
            continue;
        if (clock_now_ms() >= deadline_ms)
            break;
        nanosleep(&pause, NULL);
    }
    l->taken = code == 0;
    l->taker = getpid();
    return code;
}

void lock_give(lock *l)
{
    const bool own = l->taken && l->taker == getpid();
    if (own && l->way == WAY_HELD)
        give_held(l);
    else if (own)
        flock(l->fd, LOCK_UN);
    l->taken = false;
}

void lock_close(lock *l)
{
    if (!l)
        return;
    lock_give(l);
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

at_status lock_folder(const char *folder, int timeout_ms, lock **out, at_error *error)
{
    at_status status = lock_open(folder, 0666, out, error);
    if (status)
        return status;
    int code = lock_take(*out, timeout_ms);
    if (!code)
        return AT_OK;
    char path[PATH_BYTES] = "", text[HOLDER_BYTES];
    struct stat s;
    holder who;
    if (code != EWOULDBLOCK)
        status = error_set(error, AT_IO, "cannot lock %s: %s", folder, strerror(code));
    else if ((*out)->way == WAY_HELD && held_path(*out, path) && read_held(path, text, &s) &&
             read_holder(text, &who))
        status = error_set(error, AT_IO,
                           "process %ld on %s has held the lock of %s for %d s; wait for it to "
                           "end, or remove %s if there "
                           "is no such process",
                           who.pid, who.host, folder, timeout_ms / 1000, path);
    else
        status = error_set(error, AT_IO,
                           "another process has held the lock of %s for %d s; wait for it to end",
                           folder, timeout_ms / 1000);
    lock_close(*out);
    *out = NULL;
    return status;
}
