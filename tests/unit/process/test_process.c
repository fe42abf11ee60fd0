#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "process/interrupt.h"
#include "process/message.h"
#include "process/process.h"

static const pack nothing;

/* Starts a worker with a body of the table below. */
static at_status start(worker_body body, worker *out, at_error *error);

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Sends the number of open descriptors. The descriptor that reads the list is not counted. */
static int count_descriptors(int fd, pack *settings)
{
    (void)settings;
    uint32_t count = 0;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));)
        count += e->d_name[0] != '.' && atoi(e->d_name) != dirfd(d);
    if (d)
        closedir(d);
    message m = {.type = 1};
    pack_put_u32(&m.body, count);
    message_send(fd, &m, NULL);
    message_deinit(&m);
    return 0;
}

static void a_worker_holds_its_socket_and_the_standard_descriptors(void **state)
{
    (void)state;
    at_error error = {0};
    int low = open("/dev/null", O_RDONLY), high = fcntl(low, F_DUPFD, 500);
    assert_true(low >= 0 && high >= 500);
    worker a, b;
    assert_ok(start(count_descriptors, &a, &error), error);
    assert_ok(start(count_descriptors, &b, &error), error);
    close(low);
    close(high);
    worker *const both[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        message m;
        assert_ok(message_receive(both[i]->fd, 60000, &m, &error), error);
        assert_int_equal(pack_get_u32(&m.body), 4);
        message_deinit(&m);
        worker_stop(both[i], NULL, 0);
    }
}

static int wait_for_ever(int fd, pack *settings)
{
    (void)settings;
    message m;
    message_receive(fd, -1, &m, NULL);
    return 3;
}

/* whether children wait after the fork, as on a busy machine */
static bool children_start_late;

static void start_late(void)
{
    if (children_start_late)
        sleep_ms(100);
}

static int answer_once(int fd, pack *settings)
{
    message m = {.type = 7};
    message_send(fd, &m, NULL);
    return wait_for_ever(fd, settings);
}

static void signals_that_interrupt_the_tuner_never_end_a_worker(void **state)
{
    (void)state;
    at_error error = {0};
    worker w;
    char why[128];
    message m;
    children_start_late = true;
    assert_ok(start(answer_once, &w, &error), error);
    children_start_late = false;
    size_t count;
    const int *interrupting = interrupt_signals(&count);
    for (size_t i = 0; i < count; i++)
        if (interrupting[i] != SIGTERM)
            assert_int_equal(kill(w.pid, interrupting[i]), 0);
    /* The worker sends this message after the signals, so the signals did not end it. */
    assert_ok(message_receive(w.fd, 60000, &m, &error), error);
    message_deinit(&m);
    assert_int_equal(worker_stop(&w, why, sizeof why), WORKER_NONE);
    assert_string_equal(why, "still running");
}

static int fault(int fd, pack *settings)
{
    (void)fd, (void)settings;
    abort();
}

static void a_kill_is_distinguished_from_a_fault_and_an_exit(void **state)
{
    (void)state;
    at_error error = {0};
    worker w;
    assert_ok(start(fault, &w, &error), error);
    assert_int_equal(worker_collect(&w, 60000, NULL, 0), WORKER_FAULTED);
    assert_ok(start(wait_for_ever, &w, &error), error);
    assert_int_equal(worker_collect(&w, 60000, NULL, 0), WORKER_EXITED);
    assert_ok(start(answer_once, &w, &error), error);
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    assert_int_equal(worker_collect(&w, 60000, NULL, 0), WORKER_KILLED);
}

static void the_end_of_a_worker_is_described(void **state)
{
    (void)state;
    at_error error = {0};
    worker w;
    char why[128];
    assert_ok(start(wait_for_ever, &w, &error), error);
    assert_int_equal(kill(w.pid, SIGKILL), 0);
    worker_collect(&w, 60000, why, sizeof why);
    assert_string_equal(why, "killed by signal 9 (Killed)");
    assert_int_equal(w.pid, 0);

    /* The worker ends when its socket closes, well within 60000 ms. */
    assert_ok(start(wait_for_ever, &w, &error), error);
    worker_collect(&w, 60000, why, sizeof why);
    assert_string_equal(why, "exited with status 3");
    worker_collect(&w, 0, why, sizeof why);
    assert_string_equal(why, "not running");
}

/* Keeps a pipe open until the process ends. The test waits until the pipe is closed. */
static int hold_the_pipe(int fd, pack *settings)
{
    (void)settings;
    message m;
    message_receive(fd, -1, &m, NULL);
    pause();
    return 0;
}

static void a_worker_does_not_outlive_its_parent(void **state)
{
    (void)state;
    int started[2], held[2];
    assert_int_equal(pipe(started), 0);
    assert_int_equal(pipe(held), 0);
    pid_t parent = fork();
    if (parent == 0) {
        worker w;
        close(held[0]);
        /* A worker keeps only the standard descriptors. */
        if (dup2(held[1], STDOUT_FILENO) < 0 || start(hold_the_pipe, &w, NULL) ||
            write(started[1], "!", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    char byte;
    close(held[1]);
    assert_int_equal(read(started[0], &byte, 1), 1);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    assert_int_equal(read(held[0], &byte, 1), 0);
    close(held[0]);
    close(started[0]);
    close(started[1]);
}

static int tell_threads(int fd, pack *settings)
{
    message m = {.type = 1};
    DIR *d = opendir("/proc/self/task");
    uint32_t count = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        count += e->d_name[0] != '.';
    if (d)
        closedir(d);
    pack_put_u32(&m.body, pack_get_u32(settings));
    pack_put_u32(&m.body, count);
    pack_put_u32(&m.body, children_start_late);
    message_send(fd, &m, NULL);
    message_deinit(&m);
    return 0;
}

static const worker_program programs[] = {
    {"count", count_descriptors}, {"wait", wait_for_ever},
    {"answer", answer_once},      {"fault", fault},
    {"hold", hold_the_pipe},      {"tell", tell_threads},
};

enum { PROGRAMS = sizeof programs / sizeof *programs };

static at_status start(worker_body body, worker *out, at_error *error)
{
    for (size_t i = 0; i < PROGRAMS; i++)
        if (programs[i].run == body)
            return worker_start(NULL, &programs[i], &nothing, out, error);
    return error_set(error, AT_INTERNAL, "not in the table");
}

static void *hold_a_lock_for_ever(void *lock)
{
    pthread_mutex_lock(lock);
    pause();
    return NULL;
}

/* A plain fork would copy the memory of the process while its other threads change this memory. */
static void a_worker_starts_clean_with_nothing_but_its_settings(void **state)
{
    (void)state;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    at_error error = {0};
    worker w;
    message m;
    pack settings = {0};
    assert_int_equal(pthread_create(&thread, NULL, hold_a_lock_for_ever, &lock), 0);
    pack_put_u32(&settings, 4711);
    children_start_late = true;
    assert_ok(worker_start(NULL, &programs[PROGRAMS - 1], &settings, &w, &error), error);
    children_start_late = false;
    assert_ok(message_receive(w.fd, 60000, &m, &error), error);
    assert_int_equal(pack_get_u32(&m.body), 4711);
    assert_int_equal(pack_get_u32(&m.body), 1);
    assert_int_equal(pack_get_u32(&m.body),
                     0); /* as at the start of main(), the global variable of the worker is 0 */
    message_deinit(&m);
    pack_deinit(&settings);
    worker_stop(&w, NULL, 0);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const worker_program *table[PROGRAMS + 1] = {NULL};
    for (size_t i = 0; i < PROGRAMS; i++)
        table[i] = &programs[i];
    worker_enter(argc, argv, table);
    pthread_atfork(NULL, NULL, start_late);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_holds_its_socket_and_the_standard_descriptors),
        cmocka_unit_test(signals_that_interrupt_the_tuner_never_end_a_worker),
        cmocka_unit_test(a_kill_is_distinguished_from_a_fault_and_an_exit),
        cmocka_unit_test(the_end_of_a_worker_is_described),
        cmocka_unit_test(a_worker_does_not_outlive_its_parent),
        cmocka_unit_test(a_worker_starts_clean_with_nothing_but_its_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
