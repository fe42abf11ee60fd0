/* Tests which files and system calls each process may use (the table in CONTRIBUTING.md). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bench/worker.h"
#include "check.h"
#include "compile/worker.h"
#include "process/confine.h"
#include "temporary.h"

typedef struct folders {
    char include[TEMPORARY_BYTES], cache[TEMPORARY_BYTES], other[TEMPORARY_BYTES];
} folders;

static int set_up(void **state)
{
    static folders f;
    char *const all[] = {f.include, f.cache, f.other};
    for (size_t i = 0; i < 3; i++) {
        char path[TEMPORARY_BYTES + 16];
        temporary_make(all[i]);
        snprintf(path, sizeof path, "%s/file", all[i]);
        FILE *file = fopen(path, "w");
        if (!file)
            return -1;
        fputs("contents", file);
        fclose(file);
    }
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    folders *f = *state;
    temporary_remove(f->include);
    temporary_remove(f->cache);
    temporary_remove(f->other);
    return 0;
}

static void confine_compile_worker(const folders *f)
{
    compile_worker_confine(f->include, f->cache);
}

static void confine_compile_worker_without_cache(const folders *f)
{
    compile_worker_confine(f->include, NULL);
}

static void confine_simulated_device(const folders *f)
{
    (void)f;
    device_worker_confine(true);
}

static void confine_gpu(const folders *f)
{
    (void)f;
    device_worker_confine(false);
}

static bool reads(const char *folder)
{
    char path[TEMPORARY_BYTES + 16];
    snprintf(path, sizeof path, "%s/file", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0;
}

static bool writes(const char *folder)
{
    char path[TEMPORARY_BYTES + 16], moved[TEMPORARY_BYTES + 16];
    snprintf(path, sizeof path, "%s/new", folder);
    snprintf(moved, sizeof moved, "%s/moved", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && write(fd, "x", 1) == 1 && rename(path, moved) == 0 && unlink(moved) == 0;
}

static bool reads_what_all_may_read(void)
{
    static const char *const paths[] = {"/etc/passwd", "/proc/self/environ", "/dev/zero", "/"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (open(paths[i], O_RDONLY | O_CLOEXEC) >= 0)
            return true;
    return false;
}

static bool runs_programs(void)
{
    execl("/bin/true", "true", (char *)NULL);
    return errno != EPERM && errno != EACCES;
}

static bool makes_sockets(void)
{
    int ends[2];
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_DGRAM, 0) >= 0 ||
           socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0;
}

/* bits of the exit status, one for each action that succeeded */
enum {
    READS_INCLUDE = 1,
    WRITES_INCLUDE = 2,
    READS_CACHE = 4,
    WRITES_CACHE = 8,
    READS_OTHER = 16,
    WRITES_OTHER = 32,
    MAKES_SOCKETS = 64,
    EVERYTHING = 127
};

/* the exit status if a program could be run, because the program exits with 0 */
enum { RAN_A_PROGRAM = 0 };

static int try_all(const folders *f)
{
    return (reads(f->include) ? READS_INCLUDE : 0) | (writes(f->include) ? WRITES_INCLUDE : 0) |
           (reads(f->cache) ? READS_CACHE : 0) | (writes(f->cache) ? WRITES_CACHE : 0) |
           (reads(f->other) || reads_what_all_may_read() ? READS_OTHER : 0) |
           (writes(f->other) ? WRITES_OTHER : 0) | (makes_sockets() ? MAKES_SOCKETS : 0);
}

typedef struct row {
    const char *process;
    void (*confine)(const folders *);
    int may;
} row;

static const row table[] = {
    {"compile worker", confine_compile_worker, READS_INCLUDE | READS_CACHE | WRITES_CACHE},
    {"compile worker without a cache", confine_compile_worker_without_cache, READS_INCLUDE},
    {"device worker, simulated", confine_simulated_device, 0},
    {"device worker, GPU", confine_gpu, EVERYTHING},
};

static int exit_status_of(const folders *f, void (*confine)(const folders *), bool run_program)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        confine(f);
        if (run_program)
            _exit(runs_programs() ? RAN_A_PROGRAM : 1);
        _exit(try_all(f));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void skip_without_kernel_support(void)
{
    confinement c = confine_available();
    if (c.landlock_version == 0 || !c.seccomp)
        skip();
}

TEST_IN(each_process_opens_exactly_the_files_of_its_row, set_up, tear_down)
{
    skip_without_kernel_support();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int may = exit_status_of(*state, table[i].confine, false);
        if (may != table[i].may)
            fail_msg("%s: may %d, not %d", table[i].process, may, table[i].may);
    }
}

TEST_IN(no_worker_runs_a_program, set_up, tear_down)
{
    skip_without_kernel_support();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (exit_status_of(*state, table[i].confine, true) == RAN_A_PROGRAM)
            fail_msg("%s runs programs", table[i].process);
}

TEST_IN(a_link_out_of_a_folder_leads_nowhere, set_up, tear_down)
{
    skip_without_kernel_support();
    const folders *f = *state;
    char link_path[TEMPORARY_BYTES + 16], target[TEMPORARY_BYTES + 16];
    snprintf(link_path, sizeof link_path, "%s/link", f->include);
    snprintf(target, sizeof target, "%s/file", f->other);
    assert_int_equal(symlink(target, link_path), 0);
    pid_t pid = fork();
    if (pid == 0) {
        confine_compile_worker(f);
        _exit(open(link_path, O_RDONLY | O_CLOEXEC) >= 0);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_IN(a_descriptor_that_is_open_stays_of_use, set_up, tear_down)
{
    const folders *f = *state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        confine_compile_worker(f);
        _exit(send(ends[1], "hello", 5, MSG_NOSIGNAL) == 5 ? 0 : 1);
    }
    char text[5];
    assert_int_equal(recv(ends[0], text, 5, 0), 5);
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(ends[0]);
    close(ends[1]);
}

TEST_IN(with_confinement_off_a_process_can_do_everything, set_up, tear_down)
{
    setenv("AUTOTUNE_CONFINE", "off", 1);
    assert_true(confine_available().off);
    assert_int_equal(exit_status_of(*state, confine_simulated_device, false), EVERYTHING);
    unsetenv("AUTOTUNE_CONFINE");
    assert_false(confine_available().off);
}
