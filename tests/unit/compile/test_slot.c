#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "compile/wire.h"

typedef struct fixture {
    compile_slot slot;
    queue waiting;
    int peer;
} fixture;

static void setup(fixture *f)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    *f = (fixture){.slot.child = supervised_make(), .peer = ends[1]};
    f->slot.child.process.fd = ends[0];
    f->slot.greeted = true;
}

static void teardown(fixture *f)
{
    compile_slot_return(&f->slot, &f->waiting);
    for (compile_job *j; (j = queue_pop(&f->waiting));)
        compile_job_free(j);
    close(f->slot.child.process.fd);
    close(f->peer);
}

static compile_job *submit(fixture *f, uint64_t id, size_t body_bytes)
{
    compile_job *j = calloc(1, sizeof *j);
    assert_non_null(j);
    j->id = id;
    unsigned char *body = pack_grow(&j->out.message.body, body_bytes);
    assert_non_null(body);
    memset(body, (int)id, body_bytes);
    queue_push(&f->waiting, j);
    return j;
}

static void assert_taken(fixture *f, uint64_t id)
{
    compile_job *j = compile_slot_take_first(&f->slot);
    assert_int_equal(j->id, id);
    compile_job_free(j);
}

/* Asserts that the jobs `first` to `last` wait in this order. The jobs up to `last_alone` must
 * be marked to be tried alone. */
static void assert_waiting(const fixture *f, uint64_t first, uint64_t last, uint64_t last_alone)
{
    uint64_t next = first;
    for (const compile_job *j = f->waiting.first; j; j = queue_next(j), next++) {
        assert_int_equal(j->id, next);
        assert_int_equal(j->alone, next <= last_alone);
    }
    assert_int_equal(next, last + 1);
}

TEST(returned_jobs_come_before_the_waiting_ones)
{
    fixture f;
    setup(&f);
    for (uint64_t i = 1; i < 4; i++)
        submit(&f, i, 10);
    compile_slot_give(&f.slot, &f.waiting, 1);
    compile_slot_give(&f.slot, &f.waiting, 1);
    compile_slot_return(&f.slot, &f.waiting);
    assert_int_equal(f.slot.batch_count, 0);
    assert_null(compile_slot_first(&f.slot));
    assert_waiting(&f, 1, 3, 0);
    teardown(&f);
}

/* The worker recognises the end of a batch by the other type of the last request. */
TEST(a_batch_has_jobs_of_one_kind_up_to_a_limit)
{
    static const uint64_t kinds[] = {1, 1, 1, 2, 2, 2};
    static const bool alone[] = {false, false, false, false, true, false};
    static const size_t sizes[] = {2, 1, 1, 1, 1};
    fixture f;
    setup(&f);
    for (uint64_t i = 0; i < 6; i++) {
        compile_job *j = submit(&f, i, 10);
        j->kind = kinds[i];
        j->alone = alone[i];
    }
    uint64_t next = 0;
    for (size_t i = 0; i < 5; i++) {
        compile_slot_give(&f.slot, &f.waiting, 2);
        assert_int_equal(f.slot.batches[0].size, sizes[i]);
        for (size_t left = sizes[i]; left > 0; left--) {
            message m;
            assert_int_equal(message_receive(f.peer, 1000, &m, NULL), AT_OK);
            assert_int_equal(m.type, left > 1 ? COMPILE_REQUEST_MORE : COMPILE_REQUEST);
            message_deinit(&m);
            assert_taken(&f, next++);
        }
    }
    assert_int_equal(f.waiting.count, 0);
    teardown(&f);
}

/* Each job that is left may have killed the worker, so each is tried alone the next time. */
TEST(jobs_left_of_a_batch_are_marked_to_be_tried_alone)
{
    fixture f;
    setup(&f);
    for (uint64_t i = 0; i < 5; i++)
        submit(&f, i, 10);
    compile_slot_give(&f.slot, &f.waiting, 3);
    compile_slot_give(&f.slot, &f.waiting, 2);
    assert_taken(&f, 0);
    assert_int_equal(compile_slot_first(&f.slot)->id, 1);
    compile_slot_return(&f.slot, &f.waiting);
    assert_waiting(&f, 1, 4, 2);
    teardown(&f);
}

/* A request larger than the socket buffer is sent in parts. The next request waits until the
 * last part is sent. */
TEST(a_full_socket_is_not_waited_for)
{
    enum { LARGE = 4 << 20, SMALL = 100, ALL = LARGE + SMALL + 2 * MESSAGE_HEADER_BYTES };
    fixture f;
    setup(&f);
    submit(&f, 1, LARGE);
    submit(&f, 2, SMALL);
    compile_slot_give(&f.slot, &f.waiting, 1);
    compile_slot_give(&f.slot, &f.waiting, 1);
    assert_ptr_equal(f.slot.child.out.unsent, compile_slot_first(&f.slot));
    assert_in_range(f.slot.child.out.sent_bytes, 1, LARGE);
    static unsigned char bytes[ALL];
    for (size_t got = 0; got < ALL;) {
        ssize_t n = recv(f.peer, bytes + got, ALL - got, MSG_DONTWAIT);
        assert_true(n > 0);
        got += (size_t)n;
        compile_slot_flush(&f.slot);
    }
    assert_null(f.slot.child.out.unsent);
    assert_int_equal(bytes[MESSAGE_HEADER_BYTES], 1);
    assert_int_equal(bytes[MESSAGE_HEADER_BYTES + LARGE - 1], 1);
    assert_int_equal(bytes[ALL - SMALL], 2);
    assert_taken(&f, 1);
    assert_taken(&f, 2);
    teardown(&f);
}

TEST(a_dead_peer_does_no_harm)
{
    fixture f;
    setup(&f);
    close(f.peer);
    submit(&f, 1, 10);
    compile_slot_give(&f.slot, &f.waiting, 1);
    assert_non_null(f.slot.child.out.unsent);
    assert_taken(&f, 1);
    teardown(&f);
}
