#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/turn.h"
#include "check.h"
#include "temporary.h"

static const int64_t second_ns = INT64_C(1000000000);

/* Memory that the processes share. */
typedef struct board {
    volatile int inside, met, waits, go;
    volatile int taken[2];
} board;

static board *shared;
static char folder[TEMPORARY_BYTES];

static int make_folder(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    temporary_make(folder);
    return shared != MAP_FAILED && setenv("AUTOTUNE_TURNS", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    temporary_remove(folder);
    return 0;
}

static int clear_board(void **state)
{
    (void)state;
    *shared = (board){0};
    return 0;
}

static void count_wait(void *context)
{
    (void)context;
    shared->waits++;
}

static void await(const volatile int *what)
{
    int64_t end_ns = clock_now_ns() + 10 * second_ns;
    while (!*what && clock_now_ns() < end_ns)
        usleep(1000);
    assert_true(*what);
}

static void assert_ended_well(pid_t child)
{
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

static gpu_turn *open_turns(const char *uuid)
{
    gpu_turn *t;
    at_error error = {0};
    assert_ok(gpu_turn_new(uuid, &t, &error), error);
    return t;
}

/* Takes turns of 1 ms each, without pauses between them. */
static void take_turns(int me, int count)
{
    gpu_turn *t = open_turns("GPU-1");
    for (int i = 0; i < count; i++) {
        gpu_turn_take(t, 10 * second_ns, NULL, NULL);
        shared->met |= shared->inside;
        shared->inside = 1;
        usleep(1000);
        shared->taken[me]++;
        shared->inside = 0;
        gpu_turn_give(t);
    }
    gpu_turn_free(t);
}

/* Starts a process that takes a turn and keeps it. */
static pid_t hold(void)
{
    pid_t child = fork();
    if (child == 0) {
        gpu_turn *t = open_turns("GPU-1");
        gpu_turn_take(t, second_ns, NULL, NULL);
        shared->go = 1;
        pause();
        _exit(0);
    }
    await(&shared->go);
    return child;
}

static void end(pid_t child)
{
    int how;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &how, 0), child);
}

TEST_IN(processes_never_have_a_turn_at_once, clear_board, NULL)
{
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            take_turns(0, 30);
            _exit(0);
        }
    }
    for (int i = 0; i < 3; i++)
        assert_ended_well(children[i]);
    assert_false(shared->met);
    assert_true(shared->taken[0] == 90);
}

TEST_IN(a_process_between_two_turns_lets_others_in, clear_board, NULL)
{
    pid_t greedy = fork();
    if (greedy == 0) {
        take_turns(0, 2000);
        _exit(0);
    }
    await(&shared->taken[0]);
    take_turns(1, 20);
    assert_true(shared->taken[0] < 1000);
    end(greedy);
}

TEST_IN(another_gpu_has_turns_of_its_own, clear_board, NULL)
{
    pid_t child = hold();
    gpu_turn *t = open_turns("GPU-2");
    gpu_turn_take(t, 10 * second_ns, count_wait, NULL);
    assert_int_equal(shared->waits, 0);
    gpu_turn_free(t);
    end(child);
}

TEST_IN(a_process_that_ends_gives_its_turn_back, clear_board, NULL)
{
    end(hold());
    gpu_turn *t = open_turns("GPU-1");
    gpu_turn_take(t, 10 * second_ns, count_wait, NULL);
    assert_int_equal(shared->waits, 0);
    gpu_turn_free(t);
}

TEST_IN(a_turn_is_waited_for_once_and_no_longer_than_the_limit, clear_board, NULL)
{
    pid_t child = hold();
    gpu_turn *t = open_turns("GPU-1");
    int64_t start_ns = clock_now_ns();
    gpu_turn_take(t, second_ns / 10, count_wait, NULL);
    assert_true(clock_now_ns() - start_ns >= second_ns / 10 - second_ns / 100);
    gpu_turn_give(t);
    gpu_turn_take(t, 10 * second_ns, count_wait, NULL);
    assert_int_equal(shared->waits, 1);
    gpu_turn_free(t);
    end(child);
}

TEST_IN(without_a_folder_for_files_there_are_no_turns, clear_board, NULL)
{
    assert_null(open_turns(""));
    assert_null(open_turns("../GPU-1"));
    unsetenv("AUTOTUNE_TURNS");
    setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
    setenv("TMPDIR", "/nowhere", 1);
    gpu_turn *t = open_turns("GPU-1");
    /* A session without $XDG_RUNTIME_DIR may still have a folder in /run/user. */
    char of_session[64];
    snprintf(of_session, sizeof of_session, "/run/user/%lu", (unsigned long)geteuid());
    if (access(of_session, F_OK) != 0)
        assert_null(t);
    gpu_turn_free(t);
    setenv("AUTOTUNE_TURNS", folder, 1);
    gpu_turn_take(NULL, second_ns, count_wait, NULL);
    gpu_turn_give(NULL);
    gpu_turn_free(NULL);
    assert_int_equal(shared->waits, 0);
}

static void assert_refused(const char *uuid, const char *path, const char *what)
{
    gpu_turn *t;
    at_error error = {0};
    assert_int_equal(gpu_turn_new(uuid, &t, &error), AT_IO);
    assert_null(t);
    if (!strstr(error.message, path) || !strstr(error.message, what))
        fail_msg("no '%s' and '%s' in: %s", path, what, error.message);
}

TEST_IN(a_path_that_is_no_file_is_refused_by_name_at_once, clear_board, NULL)
{
    char path[TEMPORARY_BYTES + 32];
    static const char *const suffixes[] = {"turn", "next"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/autotune-GPU-3.%s", folder, suffixes[i]);
        assert_int_equal(symlink("/tmp/turn_elsewhere", path), 0);
        assert_refused("GPU-3", path, "is a link");
        assert_int_not_equal(access("/tmp/turn_elsewhere", F_OK), 0);
        unlink(path);
        assert_int_equal(mkfifo(path, 0666), 0);
        assert_refused("GPU-3", path, "is a pipe");
        unlink(path);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
        assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
        assert_refused("GPU-3", path, "is a socket");
        close(fd);
        unlink(path);
    }
    setenv("AUTOTUNE_TURNS", "/nowhere", 1);
    assert_refused("GPU-3", "/nowhere/autotune-GPU-3.turn", "No such file");
    setenv("AUTOTUNE_TURNS", folder, 1);
}

static void assert_has(const char *inside, const char *name)
{
    char path[2 * TEMPORARY_BYTES];
    struct stat s;
    snprintf(path, sizeof path, "%s/%s", inside, name);
    if (stat(path, &s) != 0)
        fail_msg("no %s", path);
}

TEST_IN(the_folder_is_the_users_own, clear_board, NULL)
{
    char own[TEMPORARY_BYTES], name[64], path[2 * TEMPORARY_BYTES];
    temporary_make(own);
    unsetenv("AUTOTUNE_TURNS");
    setenv("XDG_RUNTIME_DIR", own, 1);
    gpu_turn_free(open_turns("GPU-4"));
    assert_has(own, "autotune/autotune-GPU-4.turn");
    /* A session folder of another user, such as /proc/1 of root, is not used. */
    setenv("XDG_RUNTIME_DIR", geteuid() ? "/proc/1" : "/nowhere", 1);
    setenv("TMPDIR", own, 1);
    snprintf(name, sizeof name, "/run/user/%lu", (unsigned long)geteuid());
    if (access(name, F_OK) != 0) {
        gpu_turn_free(open_turns("GPU-4"));
        snprintf(name, sizeof name, "autotune-%lu/autotune-GPU-4.turn", (unsigned long)geteuid());
        assert_has(own, name);
        /* If another user has made a file of this name, it is not used. */
        snprintf(path, sizeof path, "%s/autotune-%lu", own, (unsigned long)geteuid());
        temporary_remove(path);
        assert_int_equal(symlink(folder, path), 0);
        assert_refused("GPU-4", path, "must be a folder, but is not: remove it");
        assert_refused("GPU-4", path, "set AUTOTUNE_TURNS to another folder");
        unlink(path);
    }
    setenv("AUTOTUNE_TURNS", folder, 1);
    temporary_remove(own);
}

TEST_GROUP(make_folder, remove_folder)
