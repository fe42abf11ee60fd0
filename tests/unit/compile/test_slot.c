#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "compile/slot.h"

static compile_job *make_job(uint64_t id, size_t frame_bytes)
{
    compile_job *j = calloc(1, sizeof *j);
    assert_non_null(j);
    j->id = id;
    j->frame = malloc(frame_bytes);
    assert_non_null(j->frame);
    memset(j->frame, (int)id, frame_bytes);
    j->frame_bytes = frame_bytes;
    return j;
}

TEST(a_queue_keeps_its_order)
{
    compile_queue q = {0};
    assert_null(compile_queue_pop(&q));
    for (uint64_t i = 3; i < 6; i++)
        compile_queue_push(&q, make_job(i, 1));
    compile_queue_push_front(&q, make_job(2, 1));
    assert_int_equal(q.count, 4);
    for (uint64_t i = 2; i < 6; i++) {
        compile_job *j = compile_queue_pop(&q);
        assert_int_equal(j->id, i);
        compile_job_free(j);
    }
    assert_int_equal(q.count, 0);
    compile_queue_push_front(&q, make_job(1, 1));
    compile_queue_push(&q, make_job(2, 1));
    for (uint64_t i = 1; i < 3; i++) {
        compile_job *j = compile_queue_pop(&q);
        assert_int_equal(j->id, i);
        compile_job_free(j);
    }
}

static compile_batch *make_batch(uint64_t id, size_t frame_bytes)
{
    compile_queue q = {0};
    compile_queue_push(&q, make_job(id, frame_bytes));
    compile_batch *b = compile_batch_new(&q, 1);
    assert_non_null(b);
    return b;
}

TEST(returned_jobs_come_before_the_waiting_ones)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    compile_queue q = {0};
    compile_slot s = {.process = {.pid = 1, .fd = ends[0]}};
    compile_queue_push(&q, make_job(3, 10));
    compile_slot_give(&s, make_batch(1, 10));
    compile_slot_give(&s, make_batch(2, 10));
    assert_true(compile_slot_owes(&s));
    compile_slot_return(&s, &q);
    assert_int_equal(s.batch_count, 0);
    for (uint64_t i = 1; i < 4; i++) {
        compile_job *j = compile_queue_pop(&q);
        assert_int_equal(j->id, i);
        assert_false(j->alone);
        compile_job_free(j);
    }
    close(ends[0]);
    close(ends[1]);
}

TEST(a_batch_has_jobs_of_one_kind_up_to_a_limit)
{
    static const uint64_t kinds[] = {1, 1, 1, 2, 2, 2};
    static const bool alone[] = {false, false, false, false, true, false};
    static const size_t sizes[] = {2, 1, 1, 1, 1};
    compile_queue q = {0};
    for (uint64_t i = 0; i < 6; i++) {
        compile_job *j = make_job(i, 10);
        j->kind = kinds[i];
        j->alone = alone[i];
        compile_queue_push(&q, j);
    }
    uint64_t next = 0;
    for (size_t i = 0; i < 5; i++) {
        compile_batch *b = compile_batch_new(&q, 2);
        assert_non_null(b);
        assert_int_equal(b->size, sizes[i]);
        for (const compile_job *j = b->jobs.first; j; j = j->next)
            assert_int_equal(j->id, next++);
        compile_batch_free(b);
    }
    assert_int_equal(q.count, 0);
}

/* Which of them the worker died of is not known: the next time each is alone. */
TEST(what_is_left_of_a_batch_of_several_comes_back_marked)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    compile_queue q = {0};
    compile_slot s = {.process = {.pid = 1, .fd = ends[0]}, .greeted = true};
    for (uint64_t i = 0; i < 5; i++)
        compile_queue_push(&q, make_job(i, 10));
    compile_slot_give(&s, compile_batch_new(&q, 3));
    compile_slot_give(&s, compile_batch_new(&q, 2));
    compile_job_free(compile_slot_take_first(&s));
    assert_int_equal(compile_slot_first(&s)->id, 1);
    compile_slot_return(&s, &q);
    for (uint64_t i = 1; i < 5; i++) {
        compile_job *j = compile_queue_pop(&q);
        assert_int_equal(j->id, i);
        assert_int_equal(j->alone, i < 3);
        compile_job_free(j);
    }
    close(ends[0]);
    close(ends[1]);
}

/* A frame larger than the socket goes out in parts, and the one after it waits for its end. */
TEST(a_full_socket_is_not_waited_for)
{
    enum { LARGE = 4 << 20, SMALL = 100 };
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    compile_slot s = {.process = {.pid = 1, .fd = ends[0]}, .greeted = true};
    compile_slot_give(&s, make_batch(1, LARGE));
    compile_slot_give(&s, make_batch(2, SMALL));
    size_t first = s.batches[0]->size_bytes, all = first + s.batches[1]->size_bytes;
    assert_true(compile_slot_has_unsent(&s));
    assert_in_range(s.batches[0]->sent_bytes, 1, first - 1);
    assert_int_equal(s.batches[1]->sent_bytes, 0);
    size_t got = 0;
    static unsigned char bytes[65536];
    while (got < all) {
        ssize_t n = recv(ends[1], bytes, sizeof bytes, MSG_DONTWAIT);
        assert_true(n > 0);
        for (ssize_t i = 0; i < n; i++, got++)
            if (got >= first - LARGE && (got < first || got >= all - SMALL))
                assert_int_equal(bytes[i], got < first ? 1 : 2);
        compile_slot_flush(&s);
    }
    assert_false(compile_slot_has_unsent(&s));
    for (uint64_t i = 1; i < 3; i++) {
        compile_job *j = compile_slot_take_first(&s);
        assert_int_equal(j->id, i);
        compile_job_free(j);
    }
    assert_false(compile_slot_owes(&s));
    close(ends[0]);
    close(ends[1]);
}

TEST(a_dead_peer_does_no_harm)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[1]);
    compile_slot s = {.process = {.pid = 1, .fd = ends[0]}, .greeted = true};
    compile_slot_give(&s, make_batch(1, 10));
    assert_true(compile_slot_has_unsent(&s));
    compile_job_free(compile_slot_take_first(&s));
    close(ends[0]);
}
