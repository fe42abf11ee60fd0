#include "check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/request_queue.h"

static request *make(uint64_t id, size_t size_bytes)
{
    static const unsigned char filler[1 << 20];
    message m;
    request *r;
    m = (message){.type = 7};
    pack_put_u64(&m.body, id);
    pack_put_bytes(&m.body, filler, size_bytes);
    r = request_new(&m, id);
    assert_null(m.body.bytes);
    return r;
}

static void receive(int fd, uint64_t id)
{
    message m;
    at_error error = {0};
    size_t size;
    assert_ok(message_receive(fd, 5000, &m, &error), error);
    assert_int_equal(pack_get_u64(&m.body), id);
    pack_get_bytes(&m.body, &size);
    assert_true(pack_complete(&m.body));
    message_deinit(&m);
}

TEST(requests_leave_in_order_and_none_counts_as_started_before_it_is_whole)
{
    int ends[2];
    at_error error = {0};
    request_queue q = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (uint64_t id = 1; id <= 3; id++)
        request_queue_append(&q, make(id, 100));
    assert_false(request_queue_started(&q));
    assert_int_equal(q.count, 3);
    assert_ok(request_queue_send(&q, ends[0], &error), error);
    assert_true(request_queue_started(&q));
    for (uint64_t id = 1; id <= 3; id++) {
        receive(ends[1], id);
        request *r = request_queue_pop(&q);
        assert_int_equal(r->id, id);
        request_free(r);
    }
    assert_null(request_queue_pop(&q));
    assert_false(request_queue_started(&q));
    close(ends[0]);
    close(ends[1]);
}

TEST(a_full_socket_stops_sending_without_blocking)
{
    int ends[2];
    at_error error = {0};
    request_queue q = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (uint64_t id = 1; id <= 3; id++)
        request_queue_append(&q, make(id, 1 << 20));
    assert_ok(request_queue_send(&q, ends[0], &error), error);
    assert_false(request_queue_started(&q));
    assert_non_null(q.unsent);
    /* The reader takes what there is, the writer goes on, until all three have arrived. */
    static unsigned char bytes[4 << 20];
    size_t have = 0;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 10000 && q.unsent; i++) {
        ssize_t n = read(ends[1], bytes + have, sizeof bytes - have);
        have += n > 0 ? (size_t)n : 0;
        assert_ok(request_queue_send(&q, ends[0], &error), error);
    }
    assert_null(q.unsent);
    for (ssize_t n; (n = read(ends[1], bytes + have, sizeof bytes - have)) > 0;)
        have += (size_t)n;
    assert_int_equal(have, 3 * (MESSAGE_HEADER_BYTES + 16 + (1 << 20)));
    request_queue_deinit(&q);
    close(ends[0]);
    close(ends[1]);
}

TEST(rewinding_drops_replays_and_sends_the_rest_again)
{
    int ends[2];
    at_error error = {0};
    request_queue q = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    request *replay, *first = make(1, 10);
    replay = request_replay(first);
    assert_true(replay->silent);
    request_queue_append(&q, replay);
    request_queue_append(&q, first);
    request_queue_append(&q, make(2, 10));
    assert_int_equal(q.count, 2);
    assert_ok(request_queue_send(&q, ends[0], &error), error);
    receive(ends[1], 1);
    receive(ends[1], 1);
    receive(ends[1], 2);
    request_queue_rewind(&q);
    assert_int_equal(q.count, 2);
    assert_false(request_queue_started(&q));
    assert_ok(request_queue_send(&q, ends[0], &error), error);
    receive(ends[1], 1);
    receive(ends[1], 2);
    request_queue_deinit(&q);
    close(ends[0]);
    close(ends[1]);
}

TEST(a_peer_that_is_gone_is_an_error_not_a_signal)
{
    int ends[2];
    at_error error = {0};
    request_queue q = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[1]);
    request_queue_append(&q, make(1, 10));
    assert_int_equal(request_queue_send(&q, ends[0], &error), AT_WORKER);
    request_queue_deinit(&q);
    close(ends[0]);
}
