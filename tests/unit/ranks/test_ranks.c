#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "ranks/ranks.h"

/* the relay's end of the socket; the test acts as the relay */
static int relay;

static int be_the_relay(void **state)
{
    (void)state;
    int ends[2];
    char number[16];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        return -1;
    relay = ends[0];
    snprintf(number, sizeof number, "%d", ends[1]);
    return setenv(CLUSTER_VARIABLE, number, 1);
}

static int be_no_relay(void **state)
{
    (void)state;
    if (relay >= 0)
        close(relay);
    return unsetenv(CLUSTER_VARIABLE);
}

static void greet(uint32_t ranks)
{
    const ranks_hello hello = {.ranks = ranks, .cores = {4, 8, 16}};
    assert_int_equal(send(relay, &hello, sizeof hello, 0), sizeof hello);
}

/* Receives one message: the tuner's request for a worker, with a socket. */
static int take_open(ranks_open *out)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec data = {.iov_base = out, .iov_len = sizeof *out};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    int passed;
    assert_int_equal(recvmsg(relay, &m, 0), sizeof *out);
    assert_non_null(CMSG_FIRSTHDR(&m));
    memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof passed);
    return passed;
}

TEST_IN(without_a_relay_there_is_one_rank_and_everything_runs_here, be_the_relay, be_no_relay)
{
    at_error error = {0};
    rank_hosts *c;
    close(relay);
    relay = -1;
    unsetenv(CLUSTER_VARIABLE);
    assert_ok(ranks_join(&c, &error), error);
    assert_null(c);
    assert_int_equal(ranks_count(c), 1);
    assert_int_equal(ranks_cores(c, 0), 0);
    assert_null(ranks_host(c, 0));
    ranks_leave(c);
}

TEST_IN(ranks_and_their_cores_are_as_the_relay_says, be_the_relay, be_no_relay)
{
    at_error error = {0};
    rank_hosts *c;
    greet(3);
    assert_ok(ranks_join(&c, &error), error);
    assert_int_equal(ranks_count(c), 3);
    assert_int_equal(ranks_cores(c, 2), 16);
    assert_null(ranks_host(c, 0));
    assert_non_null(ranks_host(c, 1));
    ranks_leave(c);
}

TEST_IN(the_relay_connects_the_socket_to_a_worker_of_another_rank, be_the_relay, be_no_relay)
{
    at_error error = {0};
    rank_hosts *c;
    worker w;
    ranks_open wanted;
    char word[4] = "";
    greet(3);
    assert_ok(ranks_join(&c, &error), error);
    const worker_host *host = ranks_host(c, 2);
    assert_ok(host->start(host->context, "a worker", &w, &error), error);
    assert_int_equal(w.pid, WORKER_ELSEWHERE);
    int there = take_open(&wanted);
    assert_int_equal(wanted.rank, 2);
    assert_string_equal(wanted.program, "a worker");
    assert_int_equal(write(there, "yes", 4), 4);
    assert_int_equal(read(w.fd, word, sizeof word), 4);
    assert_string_equal(word, "yes");
    close(there);
    worker_stop(&w, NULL, 0);
    ranks_leave(c);
}

TEST_IN(a_relay_that_is_gone_starts_nothing, be_the_relay, be_no_relay)
{
    at_error error = {0};
    rank_hosts *c;
    worker w;
    greet(2);
    assert_ok(ranks_join(&c, &error), error);
    close(relay);
    relay = -1;
    const worker_host *host = ranks_host(c, 1);
    assert_int_not_equal(host->start(host->context, "a worker", &w, &error), AT_OK);
    ranks_leave(c);
}

TEST_IN(an_invalid_message_of_the_relay_is_an_error, be_the_relay, be_no_relay)
{
    at_error error = {0};
    rank_hosts *c;
    greet(CLUSTER_MOST_RANKS + 1);
    assert_int_equal(ranks_join(&c, &error), AT_WORKER);
    assert_null(c);
    assert_int_equal(send(relay, "hello", 5, 0), 5);
    assert_int_equal(ranks_join(&c, &error), AT_WORKER);
}

TEST_IN(several_ranks_are_recognised_by_the_variables_of_their_launcher, be_the_relay, be_no_relay)
{
    static const struct {
        const char *variable, *text;
        bool several;
    } launches[] = {{"OMPI_COMM_WORLD_SIZE", "1", false},
                    {"OMPI_COMM_WORLD_SIZE", "4", true},
                    {"PMI_SIZE", "2", true},
                    {"SLURM_STEP_NUM_TASKS", "2", false}};
    assert_false(ranks_launched()); /* this process already has a relay */
    unsetenv(CLUSTER_VARIABLE);
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        setenv(launches[i].variable, launches[i].text, 1);
        assert_int_equal(ranks_launched(), launches[i].several);
        unsetenv(launches[i].variable);
    }
    setenv("SLURM_STEP_NUM_TASKS", "2", 1);
    setenv("PMIX_RANK", "0", 1);
    assert_true(ranks_launched());
    unsetenv("SLURM_STEP_NUM_TASKS");
    unsetenv("PMIX_RANK");
}

static int prepare(void **state)
{
    (void)state;
    /* The test may itself run under a launcher, which sets these variables. */
    static const char *const launchers[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK",
                                            "PMIX_RANK", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        unsetenv(launchers[i]);
    return 0;
}

TEST_GROUP(prepare, NULL)
