/* Replaces flock(), to fail as on a file system without locks. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"
#include "check.h"
#include "temporary.h"

static int refused_with; /* the errno value with which flock() fails, or 0 */
static bool refuses_folders;

int flock(int fd, int operation)
{
    struct stat s;
    errno = refused_with ? refused_with : EBADF;
    if (refused_with || (refuses_folders && fstat(fd, &s) == 0 && S_ISDIR(s.st_mode)))
        return -1;
    return (int)syscall(SYS_flock, fd, operation);
}

typedef struct fixture {
    char folder[TEMPORARY_BYTES], file[TEMPORARY_BYTES + 32];
    at_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    temporary_make(f.folder);
    snprintf(f.file, sizeof f.file, "%s/file", f.folder);
    refused_with = 0;
    refuses_folders = false;
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    refused_with = 0;
    refuses_folders = false;
    temporary_remove(f->folder);
    return 0;
}

static int set_up_without_locks(void **state)
{
    set_up(state);
    refused_with = ENOLCK;
    return 0;
}

static void a_lock_excludes_others_until_it_is_closed(void **state)
{
    fixture *f = *state;
    lock *first, *second;
    assert_ok(lock_folder(f->folder, 0, &first, &f->error), f->error);
    assert_int_equal(lock_folder(f->folder, 20, &second, &f->error), AT_IO);
    assert_null(second);
    assert_non_null(strstr(f->error.message, "another process has locked"));
    assert_non_null(strstr(f->error.message, "wait until it ends"));
    lock_close(first);
    assert_ok(lock_folder(f->folder, 0, &second, &f->error), f->error);
    lock_close(second);
}

static void a_lock_survives_a_fork(void **state)
{
    fixture *f = *state;
    lock *l, *other;
    assert_ok(lock_folder(f->folder, 0, &l, &f->error), f->error);
    pid_t child = fork();
    if (child == 0) {
        lock_close(l);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(lock_folder(f->folder, 20, &other, &f->error), AT_IO);
    lock_close(l);
    assert_ok(lock_folder(f->folder, 0, &other, &f->error), f->error);
    lock_close(other);
}

static void a_lock_ends_with_its_process(void **state)
{
    fixture *f = *state;
    lock *l;
    pid_t child = fork();
    if (child == 0)
        _exit(lock_folder(f->folder, 0, &l, &f->error) == AT_OK ? 0 : 1);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_ok(lock_folder(f->folder, 0, &l, &f->error), f->error);
    lock_close(l);
}

static void a_lock_ends_with_its_process_before_anybody_reaps_it(void **state)
{
    fixture *f = *state;
    lock *l;
    siginfo_t how;
    pid_t child = fork();
    if (child == 0)
        _exit(lock_folder(f->folder, 0, &l, &f->error) == AT_OK ? 0 : 1);
    assert_int_equal(waitid(P_PID, (id_t)child, &how, WEXITED | WNOWAIT), 0);
    assert_ok(lock_folder(f->folder, 0, &l, &f->error), f->error);
    lock_close(l);
    waitpid(child, NULL, 0);
}

static void a_file_is_locked_as_a_folder_is(void **state)
{
    fixture *f = *state;
    lock *first, *second;
    assert_ok(lock_open(f->file, 0600, &first, &f->error), f->error);
    assert_ok(lock_open(f->file, 0600, &second, &f->error), f->error);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lock_acquire(first, 0), 0);
        assert_int_equal(lock_acquire(second, 10), EWOULDBLOCK);
        lock_release(first);
        assert_int_equal(lock_acquire(second, 0), 0);
        lock_release(second);
    }
    lock_close(first);
    lock_close(second);
}

/* Many processes increment a number in a file. No increment is lost, although some processes are
 * killed while they hold the lock. */
static void no_increment_is_lost_if_processes_are_killed(void **state)
{
    enum { PROCESSES = 6, ROUNDS = 60 };
    fixture *f = *state;
    int *counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(counts != MAP_FAILED);
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] != 0)
            continue;
        for (int round = 0; round < ROUNDS; round++) {
            lock *l;
            if (lock_folder(f->folder, 60000, &l, NULL))
                _exit(1);
            int inside = ++counts[1];
            struct timespec pause = {.tv_nsec = 200000};
            nanosleep(&pause, NULL);
            counts[2] += inside != 1;
            counts[1] = 0;
            counts[0]++;
            if (i < 2 && round == 10 * (i + 1)) /* the process is killed while it holds the lock */
                kill(getpid(), SIGKILL);
            lock_close(l);
        }
        _exit(0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int how;
        assert_int_equal(waitpid(children[i], &how, 0), children[i]);
        assert_int_equal(how, i < 2 ? SIGKILL : 0);
    }
    assert_int_equal(counts[2], 0);
    assert_int_equal(counts[0], (PROCESSES - 2) * ROUNDS + 11 + 21);
    munmap(counts, 4096);
}

static void a_file_system_without_locks_is_an_error_with_the_remedy(void **state)
{
    fixture *f = *state;
    lock *l;
    assert_int_equal(lock_folder(f->folder, 60, &l, &f->error), AT_IO);
    assert_null(l);
    assert_non_null(strstr(f->error.message, f->folder));
    assert_non_null(strstr(f->error.message, "use a folder of a local disk"));
    assert_int_equal(lock_check(f->folder, &f->error), AT_IO);
    assert_ok(lock_open(f->file, 0600, &l, &f->error), f->error);
    assert_int_equal(lock_acquire(l, 60), ENOLCK);
    lock_close(l);
}

/* NFS grants a lock only on a descriptor for writing, and folders cannot be opened for writing.
 * So a file in the folder is locked. */
static void a_file_is_locked_in_place_of_a_folder_that_cannot_be_locked(void **state)
{
    fixture *f = *state;
    lock *first, *second;
    refuses_folders = true;
    assert_ok(lock_check(f->folder, &f->error), f->error);
    assert_ok(lock_folder(f->folder, 0, &first, &f->error), f->error);
    assert_int_equal(lock_folder(f->folder, 20, &second, &f->error), AT_IO);
    assert_non_null(strstr(f->error.message, "wait until it ends"));
    lock_close(first);
}

static void a_path_that_is_no_lock_file_is_refused_by_name(void **state)
{
    fixture *f = *state;
    lock *l;
    assert_int_equal(mkfifo(f->file, 0600), 0);
    assert_int_equal(lock_open(f->file, 0600, &l, &f->error), AT_IO);
    assert_null(l);
    assert_non_null(strstr(f->error.message, f->file));
    assert_non_null(strstr(f->error.message, "is a pipe"));
    assert_int_equal(lock_open("/dev/null", 0600, &l, &f->error), AT_IO);
    assert_non_null(strstr(f->error.message, "/dev/null is a device"));
    assert_int_equal(lock_open("/no/such/folder/file", 0600, &l, &f->error), AT_IO);
    lock_close(NULL);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_lock_excludes_others_until_it_is_closed),
        CASE(a_lock_survives_a_fork),
        CASE(a_lock_ends_with_its_process),
        CASE(a_lock_ends_with_its_process_before_anybody_reaps_it),
        CASE(a_file_is_locked_as_a_folder_is),
        CASE(no_increment_is_lost_if_processes_are_killed),
        CASE(a_file_is_locked_in_place_of_a_folder_that_cannot_be_locked),
        CASE(a_path_that_is_no_lock_file_is_refused_by_name),
        cmocka_unit_test_setup_teardown(a_file_system_without_locks_is_an_error_with_the_remedy,
                                        set_up_without_locks, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
