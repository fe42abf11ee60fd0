#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "process/process.h"

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Tells how many descriptors it has, besides the one that counting takes. */
static int count_descriptors(int fd, void *context)
{
    (void)context;
    uint32_t count = 0;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));)
        count += e->d_name[0] != '.' && atoi(e->d_name) != dirfd(d);
    if (d)
        closedir(d);
    message m;
    message_init(&m, 1);
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
    assert_ok(worker_start("first", count_descriptors, NULL, &a, &error), error);
    assert_ok(worker_start("second", count_descriptors, NULL, &b, &error), error);
    close(low);
    close(high);
    worker *const both[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        message m;
        assert_ok(message_receive(both[i]->fd, 5000, &m, &error), error);
        assert_int_equal(pack_get_u32(&m.body), 4);
        message_deinit(&m);
        worker_stop(both[i], NULL, 0);
    }
}

static int wait_for_ever(int fd, void *context)
{
    (void)context;
    message m;
    message_receive(fd, -1, &m, NULL);
    return 3;
}

static void the_terminals_signals_leave_a_worker_alone(void **state)
{
    (void)state;
    at_error error = {0};
    worker w;
    char why[128];
    assert_ok(worker_start("deaf", wait_for_ever, NULL, &w, &error), error);
    sleep_ms(50);
    assert_int_equal(kill(w.pid, SIGINT), 0);
    assert_int_equal(kill(w.pid, SIGHUP), 0);
    sleep_ms(50);
    worker_stop(&w, why, sizeof why);
    assert_string_equal(why, "still running");
}

static void how_a_worker_ended_is_told(void **state)
{
    (void)state;
    at_error error = {0};
    worker w;
    char why[128];
    assert_ok(worker_start("killed", wait_for_ever, NULL, &w, &error), error);
    assert_int_equal(kill(w.pid, SIGKILL), 0);
    worker_collect(&w, 5000, why, sizeof why);
    assert_string_equal(why, "killed by signal 9 (Killed)");
    assert_int_equal(w.pid, 0);

    /* Closing the socket is what lets it end; the grace is what lets that be seen. */
    assert_ok(worker_start("ends", wait_for_ever, NULL, &w, &error), error);
    worker_collect(&w, 5000, why, sizeof why);
    assert_string_equal(why, "exited with status 3");
    worker_collect(&w, 0, why, sizeof why);
    assert_string_equal(why, "not running");
}

static bool is_gone(pid_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return true;
    /* An orphan that nobody has reaped yet has ended all the same. */
    bool gone = !fgets(line, sizeof line, f) || strstr(line, ") Z ") || strstr(line, ") X ");
    fclose(f);
    return gone;
}

static void a_worker_does_not_outlive_its_parent(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        worker w;
        if (worker_start("orphan", wait_for_ever, NULL, &w, NULL))
            _exit(1);
        ssize_t n = write(ends[1], &w.pid, sizeof w.pid);
        (void)n;
        pause();
        _exit(0);
    }
    pid_t orphan;
    assert_int_equal(read(ends[0], &orphan, sizeof orphan), sizeof orphan);
    assert_false(is_gone(orphan));
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    for (int i = 0; i < 500 && !is_gone(orphan); i++)
        sleep_ms(10);
    assert_true(is_gone(orphan));
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_holds_its_socket_and_the_standard_descriptors),
        cmocka_unit_test(the_terminals_signals_leave_a_worker_alone),
        cmocka_unit_test(how_a_worker_ended_is_told),
        cmocka_unit_test(a_worker_does_not_outlive_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
