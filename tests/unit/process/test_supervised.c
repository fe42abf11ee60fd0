#include "process/supervised.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "framed.h"

TEST(a_request_is_blamed_for_its_third_death)
{
    worker_blame b = {0};
    assert_false(worker_blame_add(&b, DEATH_EXITED));
    assert_false(worker_blame_add(&b, DEATH_INVALID));
    assert_true(worker_blame_add(&b, DEATH_EXITED));
}

TEST(after_eight_kills_from_outside_the_worker_is_given_up)
{
    worker_blame b = {0};
    assert_false(worker_blame_add(&b, DEATH_EXITED));
    for (int i = 1; i < 8; i++)
        assert_false(worker_blame_add(&b, DEATH_KILLED));
    assert_true(worker_blame_add(&b, DEATH_KILLED));
}

TEST(a_late_request_is_blamed_at_once)
{
    worker_blame b = {0};
    assert_true(worker_blame_add(&b, DEATH_TIMEOUT));
}

/* Starts a child that ends by this signal, or with exit status 3 if the signal is 0. Sets *peer
 * to the child's end of the socket. */
static supervised start(int signal_number, int *peer)
{
    int ends[2];
    supervised s = supervised_make();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (signal_number) {
            signal(signal_number, SIG_DFL);
            raise(signal_number);
        }
        _exit(3);
    }
    s.process = (worker){.pid = pid, .fd = ends[0]};
    *peer = ends[1];
    supervised_begin(&s, INT64_C(1000000000));
    return s;
}

TEST(a_killed_process_is_distinguished_from_a_crash)
{
    static const struct {
        int signal_number;
        worker_death death;
        const char *how;
    } cases[] = {{0, DEATH_EXITED, "exited with status 3"},
                 {SIGABRT, DEATH_EXITED, "killed by signal 6"},
                 {SIGKILL, DEATH_KILLED, "killed by signal 9"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int peer;
        char how[128];
        supervised s = start(cases[i].signal_number, &peer);
        assert_int_equal(supervised_end(&s, DEATH_EXITED, 1000, how, sizeof how), cases[i].death);
        assert_non_null(strstr(how, cases[i].how));
        assert_int_equal(s.process.pid, 0);
        assert_int_equal(supervised_left_ms(&s), -1);
        close(peer);
    }
}

/* Returns a supervised worker that has a socket but no process. */
static supervised listening(int *peer)
{
    int ends[2];
    supervised s = supervised_make();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    s.process.fd = ends[0];
    *peer = ends[1];
    return s;
}

TEST(an_invalid_message_and_a_closed_socket_count_as_deaths)
{
    for (int speaks = 0; speaks < 2; speaks++) {
        int peer;
        message m;
        worker_death death;
        supervised s = listening(&peer);
        assert_int_equal(supervised_take(&s, &m, &death), AT_NOT_FOUND);
        if (speaks)
            assert_int_equal(write(peer, "xxxxxxxxxxxxxxxxxxxxxxxx", 24), 24);
        else
            close(peer);
        assert_int_equal(supervised_take(&s, &m, &death), AT_WORKER);
        assert_int_equal(death, speaks ? DEATH_INVALID : DEATH_EXITED);
        supervised_stop(&s);
        if (speaks)
            close(peer);
    }
}

TEST(half_a_message_of_one_process_is_not_continued_by_the_next)
{
    int peer;
    message said = {.type = 4}, m;
    worker_death death;
    size_t bytes;
    pack_put_string(&said.body, "whole");
    unsigned char *frame = framed(&said, &bytes);
    supervised s = listening(&peer);
    assert_int_equal(write(peer, frame, bytes / 2), bytes / 2);
    assert_int_equal(supervised_take(&s, &m, &death), AT_NOT_FOUND);
    supervised_stop(&s);
    close(peer);
    s = listening(&peer);
    assert_int_equal(write(peer, frame, bytes), bytes);
    assert_int_equal(supervised_take(&s, &m, &death), AT_OK);
    assert_string_equal(pack_get_string(&m.body), "whole");
    message_deinit(&m);
    message_deinit(&said);
    free(frame);
    supervised_stop(&s);
    close(peer);
}

TEST(a_deadline_is_in_whole_milliseconds_and_passes)
{
    supervised s = supervised_make();
    assert_int_equal(supervised_left_ms(&s), -1);
    assert_false(supervised_is_late(&s));
    supervised_expect(&s, INT64_C(3600) * 1000000000 * 1000);
    assert_int_equal(supervised_left_ms(&s), 3600000);
    supervised_expect(&s, INT64_C(1000000000));
    assert_in_range(supervised_left_ms(&s), 1, 1000);
    supervised_expect(&s, 0);
    assert_true(supervised_is_late(&s));
    assert_int_equal(supervised_left_ms(&s), 0);
}
