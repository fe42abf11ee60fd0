#include "base/rng.h"
#include "check.h"
#include "run/variant/queue.h"

enum { COUNT = 8 };

static void make(candidate items[COUNT])
{
    for (uint64_t i = 0; i < COUNT; i++)
        items[i] = (candidate){.id = i};
}

static void what_is_pushed_comes_out_in_that_order(void **state)
{
    (void)state;
    candidate items[COUNT];
    queue q = {0};
    make(items);
    for (int round = 0; round < 2; round++) {
        for (size_t i = COUNT; i-- > 0;)
            queue_push(&q, &items[i]);
        assert_int_equal(q.count, COUNT);
        for (size_t i = COUNT; i-- > 0;)
            assert_ptr_equal(queue_pop(&q), &items[i]);
        assert_null(queue_pop(&q));
        assert_int_equal(q.count, 0);
    }
}

static void what_is_inserted_comes_out_as_it_was_asked_for_however_it_compiled(void **state)
{
    (void)state;
    candidate items[COUNT];
    uint64_t places[COUNT] = {0, 1, 2, 3, 4, 5, 6, 7};
    rng r = rng_seeded(7);
    for (int round = 0; round < 200; round++) {
        queue q = {0};
        make(items);
        rng_shuffle(&r, places, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            queue_insert(&q, &items[places[i]]);
        assert_int_equal(q.count, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            assert_ptr_equal(queue_pop(&q), &items[i]);
        assert_null(queue_pop(&q));
    }
}

/* What was taken in between changes nothing of that. */
static void an_early_one_that_comes_late_is_next(void **state)
{
    (void)state;
    candidate items[COUNT];
    queue q = {0};
    make(items);
    for (size_t i = 1; i < COUNT; i++)
        queue_insert(&q, &items[i]);
    assert_ptr_equal(queue_pop(&q), &items[1]);
    queue_insert(&q, &items[0]);
    assert_ptr_equal(queue_pop(&q), &items[0]);
    for (size_t i = 2; i < COUNT; i++)
        assert_ptr_equal(queue_pop(&q), &items[i]);
    queue_insert(&q, &items[0]);
    assert_ptr_equal(queue_pop(&q), &items[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_pushed_comes_out_in_that_order),
        cmocka_unit_test(what_is_inserted_comes_out_as_it_was_asked_for_however_it_compiled),
        cmocka_unit_test(an_early_one_that_comes_late_is_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
