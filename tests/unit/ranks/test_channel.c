#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "ranks/channel.h"

/* Adds a channel. Returns the other end of the channel's socket. */
static int add(channel_table *t, uint32_t rank, uint32_t number)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    channel_add(t, rank, number, (worker){.pid = WORKER_ELSEWHERE, .fd = ends[0]});
    return ends[1];
}

TEST(a_channel_is_found_by_rank_and_number)
{
    channel_table t = {0};
    int peers[] = {add(&t, 1, 7), add(&t, 2, 7), add(&t, 2, 8)};
    assert_int_equal(channel_find(&t, 2, 7)->rank, 2);
    assert_null(channel_find(&t, 1, 8));
    channel_remove(&t, channel_find(&t, 1, 7));
    assert_null(channel_find(&t, 1, 7));
    assert_int_equal(channel_find(&t, 2, 8)->number, 8);
    char byte;
    assert_int_equal(read(peers[0], &byte, 1), 0); /* closing the channel closes its socket */
    channel_table_deinit(&t);
    for (size_t i = 0; i < 3; i++)
        close(peers[i]);
}

/* If the socket does not take all bytes at once, the bytes still arrive completely and in order,
 * and no call blocks. */
TEST(bytes_that_the_socket_does_not_take_wait)
{
    enum { BYTES = 4 << 20 };
    channel_table t = {0};
    int peer = add(&t, 1, 1);
    channel *c = channel_find(&t, 1, 1);
    unsigned char *sent = malloc(BYTES), *got = malloc(BYTES);
    size_t received = 0;
    assert_true(sent && got);
    for (size_t i = 0; i < BYTES; i++)
        sent[i] = (unsigned char)(i * 7 + i / 251);
    channel_put(c, sent, BYTES / 2);
    channel_put(c, sent + BYTES / 2, BYTES / 2);
    while (received < BYTES) {
        assert_true(channel_flush(c));
        ssize_t n = read(peer, got + received, BYTES - received);
        assert_true(n > 0);
        received += (size_t)n;
    }
    assert_memory_equal(got, sent, BYTES);
    assert_int_equal(c->waiting_bytes, 0);
    channel_table_deinit(&t);
    close(peer);
    free(sent);
    free(got);
}

TEST(a_closing_channel_lives_until_all_is_written)
{
    channel_table t = {0};
    int peer = add(&t, 1, 1);
    channel *c = channel_find(&t, 1, 1);
    char word[5] = "";
    assert_true(channel_flush(c)); /* no bytes wait */
    channel_put(c, "last", 5);
    c->closing = true;
    assert_false(channel_flush(c));
    assert_int_equal(read(peer, word, sizeof word), 5);
    assert_string_equal(word, "last");
    channel_table_deinit(&t);
    close(peer);
}

TEST(a_closed_peer_ends_the_channel)
{
    channel_table t = {0};
    close(add(&t, 1, 1));
    channel *c = channel_find(&t, 1, 1);
    channel_put(c, "word", 5);
    assert_false(channel_flush(c));
    channel_table_deinit(&t);
}
