#include "bench/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { TURN_PATH_BYTES = 4096 };

struct gpu_turn {
    int turn, next; /* files: of who has the turn, of who has the next one */
    bool over;
};

/* Also what another user has made, which a folder as /tmp may not let open as if it could be made; but no link. */
static int open_shared(const char *folder, const char *uuid, const char *suffix)
{
    char path[TURN_PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s/autotune-%s.%s", folder, uuid, suffix);
    if (n < 0 || n >= TURN_PATH_BYTES)
        return -1;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 || errno != ENOENT ? fd : open(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
}

gpu_turn *gpu_turn_new(const char *uuid)
{
    const char *folder = getenv("TMPDIR");
    gpu_turn *t = *uuid && !strchr(uuid, '/') ? calloc(1, sizeof *t) : NULL;
    if (!t)
        return NULL;
    if (!folder || !*folder)
        folder = "/tmp";
    t->turn = open_shared(folder, uuid, "turn");
    t->next = open_shared(folder, uuid, "next");
    if (t->turn >= 0 && t->next >= 0)
        return t;
    gpu_turn_free(t);
    return NULL;
}

/* Until a time; errno's value where it is not there by then. */
static int lock_until(int fd, int64_t end_ns)
{
    int64_t left_ns = end_ns - clock_now_ns();
    return file_lock(fd, left_ns > 0 ? (int)(left_ns / 1000000) : 0);
}

void gpu_turn_take(gpu_turn *t, int64_t limit_ns, void (*waits)(void *context), void *context)
{
    if (!t || t->over)
        return;
    bool next = file_lock(t->next, 0) == 0;
    if (!next || file_lock(t->turn, 0) != 0) {
        int64_t end_ns = clock_now_ns() + limit_ns;
        if (waits)
            waits(context);
        if (!next)
            next = lock_until(t->next, end_ns) == 0;
        t->over = !next || lock_until(t->turn, end_ns) != 0;
    }
    if (next)
        file_release(t->next);
}

void gpu_turn_give(gpu_turn *t)
{
    if (t && !t->over)
        file_release(t->turn);
}

void gpu_turn_free(gpu_turn *t)
{
    if (!t)
        return;
    if (t->turn >= 0)
        close(t->turn);
    if (t->next >= 0)
        close(t->next);
    free(t);
}
