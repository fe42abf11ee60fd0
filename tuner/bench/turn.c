#include "bench/turn.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/memory.h"

enum { TURN_PATH_BYTES = 4096 };

/* A process waits for the lock `next`, then holds `next` and waits for the lock `turn`, then has
 * its turn and holds only `turn`. If `over` is set, it has waited too long and takes no more
 * turns. */
struct gpu_turn {
    lock *turn, *next;
    bool over;
};

/* Another user may have put a file in the way in /tmp that this user cannot remove. */
static at_status explain_turns(at_error *error)
{
    return error_prefix(error,
                        "cannot take turns at the GPU (set AUTOTUNE_TURNS to another folder)");
}

static bool is_own_folder(const char *path)
{
    struct stat s;
    return path[0] == '/' && lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid();
}

/* Makes a folder that only this user may access. *made is false if there is no place for it. */
static at_status make_own_folder(char out[TURN_PATH_BYTES], bool *made, at_error *error)
{
    char run[64];
    const char *of_session = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
    struct stat s;
    int n;
    snprintf(run, sizeof run, "/run/user/%lu", (unsigned long)geteuid());
    /* After su or sudo, which keep the variable, the folder is another user's. */
    if (of_session && is_own_folder(of_session))
        n = snprintf(out, TURN_PATH_BYTES, "%s/autotune", of_session);
    else if (is_own_folder(run))
        n = snprintf(out, TURN_PATH_BYTES, "%s/autotune", run);
    else
        n = snprintf(out, TURN_PATH_BYTES, "%s/autotune-%lu",
                     temporary && *temporary ? temporary : "/tmp", (unsigned long)geteuid());
    *made = n >= 0 && n < TURN_PATH_BYTES && (mkdir(out, 0700) == 0 || errno == EEXIST);
    if (!*made)
        return AT_OK;
    at_status status =
        lstat(out, &s) == 0 && S_ISDIR(s.st_mode)
            ? file_make_private_folder(out, error)
            : error_set(error, AT_IO, "%s must be a folder, but is not: remove it", out);
    return status ? explain_turns(error) : AT_OK;
}

static at_status open_turn(const char *folder, const char *uuid, const char *suffix, lock **out,
                           at_error *error)
{
    char path[TURN_PATH_BYTES + 128];
    int n = snprintf(path, sizeof path, "%s/autotune-%s.%s", folder, uuid, suffix);
    if (n < 0 || (size_t)n >= sizeof path)
        return error_set(error, AT_IO,
                         "the path of the folder for turns at the GPU is too long: set "
                         "AUTOTUNE_TURNS to a shorter one");
    at_status status = lock_open(path, 0644, out, error);
    /* Every user who may access the folder may use the file, whatever the umask of its creator. */
    if (!status)
        fchmod(lock_descriptor(*out), 0644);
    return status;
}

at_status gpu_turn_new(const char *uuid, gpu_turn **out, at_error *error)
{
    char folder[TURN_PATH_BYTES];
    const char *common = getenv("AUTOTUNE_TURNS");
    at_status status = AT_OK;
    bool made = true;
    *out = NULL;
    if (!*uuid || strchr(uuid, '/'))
        return AT_OK;
    if (!common || !*common)
        status = make_own_folder(folder, &made, error);
    if (status || !made)
        return status;
    gpu_turn *t = memory_new(1, sizeof *t);
    common = common && *common ? common : folder;
    status = open_turn(common, uuid, "turn", &t->turn, error);
    if (!status)
        status = open_turn(common, uuid, "next", &t->next, error);
    if (status)
        gpu_turn_free(t);
    else
        *out = t;
    return status ? explain_turns(error) : AT_OK;
}

static bool lock_until(lock *l, int64_t end_ns)
{
    int64_t left_ns = end_ns - clock_now_ns();
    return lock_acquire(l, left_ns > 0 ? (int)(left_ns / 1000000) : 0) == 0;
}

void gpu_turn_take(gpu_turn *t, int64_t limit_ns, void (*waits)(void *context), void *context)
{
    if (!t || t->over)
        return;
    bool is_next = lock_acquire(t->next, 0) == 0;
    bool has_turn = is_next && lock_acquire(t->turn, 0) == 0;
    if (!has_turn) {
        int64_t end_ns = clock_now_ns() + limit_ns;
        if (waits)
            waits(context);
        is_next = is_next || lock_until(t->next, end_ns);
        has_turn = is_next && lock_until(t->turn, end_ns);
    }
    t->over = !has_turn;
    if (is_next)
        lock_release(t->next);
}

void gpu_turn_give(gpu_turn *t)
{
    if (t && !t->over)
        lock_release(t->turn);
}

void gpu_turn_free(gpu_turn *t)
{
    if (!t)
        return;
    lock_close(t->turn);
    lock_close(t->next);
    free(t);
}

void gpu_pace_begin(gpu_pace *p, int64_t now_ns)
{
    p->begun_ns = now_ns;
}

int64_t gpu_pace_rest(gpu_pace *p, int64_t now_ns)
{
    if (p->share >= 1)
        return 0;
    if (p->due_ns < p->begun_ns)
        p->due_ns = p->begun_ns;
    p->due_ns += (int64_t)((double)(now_ns - p->begun_ns) / p->share);
    p->begun_ns = now_ns;
    int64_t rest_ns = p->due_ns - now_ns;
    return (double)rest_ns * p->share > (double)GPU_PACE_WORK_NS * (1 - p->share) ? rest_ns : 0;
}
