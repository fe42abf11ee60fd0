/* Preloaded into the tested program: corrupts data that the program sends and writes, according to
 * the plan in fault_state.h. Only the program's own calls are intercepted, which use the C
 * library's public names. */
#define _GNU_SOURCE
#include "fault_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static fault_state *state;

/* Finds the next definition of a function. memcpy() is needed, because ISO C cannot cast the result
 * of dlsym() to a function pointer. */
static void find_next(const char *name, void *to)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(to, &symbol, sizeof symbol);
}

__attribute__((constructor)) static void map_state(void)
{
    const char *path = getenv(FAULT_STATE_VARIABLE);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *at = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED)
        state = at;
}

static uint64_t scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Returns whether a fault is injected at this chance. Sets *draw to random bits for the fault. */
static bool strikes(fault_kind *kind, uint64_t *draw)
{
    if (!state)
        return false;
    uint64_t chance = atomic_fetch_add(&kind->chances, 1);
    if (kind == &state->frames && state->signal && chance + 1 == state->signal_at)
        kill(state->program, state->signal);
    if (atomic_load(&state->frames.chances) < state->begin)
        return false;
    *draw = scramble(state->seed + (chance + 1) * UINT64_C(0x9e3779b97f4a7c15));
    if (*draw % kind->one_in != 0)
        return false;
    uint64_t done = atomic_load(&kind->done);
    while (done < kind->quota)
        if (atomic_compare_exchange_weak(&kind->done, &done, done + 1)) {
            *draw = scramble(*draw);
            return true;
        }
    return false;
}

ssize_t send(int fd, const void *bytes, size_t size_bytes, int flags)
{
    ssize_t (*next)(int, const void *, size_t, int);
    find_next("send", &next);
    uint64_t draw;
    unsigned char *spoilt;
    if (size_bytes == 0 || !strikes(&state->frames, &draw) || !(spoilt = malloc(size_bytes)))
        return next(fd, bytes, size_bytes, flags);
    memcpy(spoilt, bytes, size_bytes);
    spoilt[draw / 8 % size_bytes] ^= (unsigned char)(1u << draw % 8);
    ssize_t sent = next(fd, spoilt, size_bytes, flags);
    free(spoilt);
    return sent;
}

static bool is_file(int fd)
{
    struct stat s;
    return fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
}

ssize_t write(int fd, const void *bytes, size_t size_bytes)
{
    ssize_t (*next)(int, const void *, size_t);
    find_next("write", &next);
    uint64_t draw;
    if (!is_file(fd) || !strikes(&state->writes, &draw))
        return next(fd, bytes, size_bytes);
    /* Every second failing write writes a part before it fails, as on a full disk. */
    if (draw % 2 && size_bytes > 1)
        return next(fd, bytes, size_bytes / 2);
    errno = ENOSPC;
    return -1;
}

int fsync(int fd)
{
    int (*next)(int);
    find_next("fsync", &next);
    uint64_t draw;
    if (!strikes(&state->writes, &draw))
        return next(fd);
    errno = EIO;
    return -1;
}

int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    find_next("rename", &next);
    uint64_t draw;
    const char *end = strrchr(to, '.');
    if (state && state->refuses_records && end && strcmp(end, ".json") == 0) {
        errno = ENOSPC;
        return -1;
    }
    if (!strikes(&state->writes, &draw))
        return next(from, to);
    errno = ENOSPC;
    return -1;
}
