#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "process/supervised.h"

static const unsigned char filler[1 << 20];

static outgoing *make(uint64_t id, size_t size_bytes)
{
    outgoing *o = memory_new(1, sizeof *o);
    o->message.type = 7;
    pack_put_u64(&o->message.body, id);
    pack_put_bytes(&o->message.body, filler, size_bytes);
    return o;
}

static void discard(outgoing *o)
{
    message_deinit(&o->message);
    free(o);
}

static void empty(outbox *b)
{
    for (outgoing *o; (o = outbox_pop(b));)
        discard(o);
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
    outbox q = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (uint64_t id = 1; id <= 3; id++)
        outbox_push(&q, make(id, 100));
    assert_false(outbox_started(&q));
    assert_int_equal(q.waiting.count, 3);
    assert_ok(outbox_send(&q, ends[0], &error), error);
    assert_true(outbox_started(&q));
    for (uint64_t id = 1; id <= 3; id++) {
        receive(ends[1], id);
        outgoing *o = outbox_pop(&q);
        o->message.body.position = 0;
        assert_int_equal(pack_get_u64(&o->message.body), id);
        discard(o);
    }
    assert_null(outbox_pop(&q));
    assert_false(outbox_started(&q));
    close(ends[0]);
    close(ends[1]);
}

TEST(a_full_socket_stops_sending_without_blocking)
{
    int ends[2];
    at_error error = {0};
    outbox q = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (uint64_t id = 1; id <= 3; id++)
        outbox_push(&q, make(id, 1 << 20));
    assert_ok(outbox_send(&q, ends[0], &error), error);
    assert_false(outbox_started(&q));
    assert_non_null(q.unsent);
    /* Reads and sends in turn until all three messages have arrived. */
    static unsigned char bytes[4 << 20];
    size_t have = 0;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 10000 && q.unsent; i++) {
        ssize_t n = read(ends[1], bytes + have, sizeof bytes - have);
        have += n > 0 ? (size_t)n : 0;
        assert_ok(outbox_send(&q, ends[0], &error), error);
    }
    assert_null(q.unsent);
    for (ssize_t n; (n = read(ends[1], bytes + have, sizeof bytes - have)) > 0;)
        have += (size_t)n;
    assert_int_equal(have, 3 * (MESSAGE_HEADER_BYTES + 16 + (1 << 20)));
    empty(&q);
    close(ends[0]);
    close(ends[1]);
}

static void fill_late(outgoing *o)
{
    pack_put_u64(&o->message.body, 5);
    pack_put_bytes(&o->message.body, filler, 100);
}

TEST(a_body_may_exist_only_while_it_is_sent)
{
    int ends[2];
    at_error error = {0};
    outbox q = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    outgoing *late = memory_new(1, sizeof *late);
    late->fill = fill_late;
    outbox_push(&q, late);
    assert_int_equal(late->message.body.size_bytes, 0);
    assert_ok(outbox_send(&q, ends[0], &error), error);
    assert_int_equal(late->message.body.size_bytes, 0);
    receive(ends[1], 5);
    empty(&q);
    close(ends[0]);
    close(ends[1]);
}

TEST(a_closed_peer_is_an_error_and_not_a_signal)
{
    int ends[2];
    at_error error = {0};
    outbox q = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[1]);
    outbox_push(&q, make(1, 10));
    assert_int_equal(outbox_send(&q, ends[0], &error), AT_WORKER);
    empty(&q);
    close(ends[0]);
}
