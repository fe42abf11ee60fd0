#include "base/array.h"

#include "base/rng.h"
#include "check.h"

/* ---- queues ---- */

typedef struct numbered {
    queue_item item;
    int number;
} numbered;

enum { COUNT = 5 };

static void fill(queue *q, numbered items[COUNT])
{
    *q = (queue){0};
    for (int i = 0; i < COUNT; i++) {
        items[i].number = i;
        queue_push(q, &items[i]);
    }
}

/* Pops all items. Their numbers must be those of a list that ends with -1. */
static void assert_drains(queue *q, const int *numbers)
{
    for (; *numbers >= 0; numbers++) {
        const numbered *n = queue_pop(q);
        assert_non_null(n);
        assert_int_equal(n->number, *numbers);
    }
    assert_null(queue_pop(q));
    assert_int_equal(q->count, 0);
}

TEST(items_leave_in_the_order_in_which_they_came)
{
    numbered items[COUNT];
    queue q;
    fill(&q, items);
    assert_int_equal(q.count, COUNT);
    assert_drains(&q, (int[]){0, 1, 2, 3, 4, -1});
}

TEST(an_item_put_in_front_leaves_first)
{
    numbered items[COUNT], first = {.number = 7};
    queue q = {0};
    queue_push_front(&q, &first);
    assert_drains(&q, (int[]){7, -1});
    fill(&q, items);
    queue_push_front(&q, &first);
    assert_drains(&q, (int[]){7, 0, 1, 2, 3, 4, -1});
}

TEST(any_item_can_be_taken_out_and_others_can_follow)
{
    static const int left[COUNT][COUNT + 1] = {
        {1, 2, 3, 4, 7, -1}, {0, 2, 3, 4, 7, -1}, {0, 1, 3, 4, 7, -1},
        {0, 1, 2, 4, 7, -1}, {0, 1, 2, 3, 7, -1},
    };
    for (int i = 0; i < COUNT; i++) {
        numbered items[COUNT], last = {.number = 7};
        queue q;
        fill(&q, items);
        queue_remove(&q, &items[i]);
        queue_push(&q, &last);
        assert_drains(&q, left[i]);
    }
}

TEST(items_moved_to_the_front_keep_their_order)
{
    numbered items[COUNT], others[2] = {{.number = 7}, {.number = 8}};
    queue q, to = {0};
    fill(&q, items);
    queue_push(&to, &others[0]);
    queue_move_front(&q, &to);
    queue_push(&to, &others[1]);
    assert_int_equal(q.count, 0);
    assert_drains(&to, (int[]){0, 1, 2, 3, 4, 7, 8, -1});
    fill(&q, items);
    queue_move_front(&q, &to);
    queue_move_front(&q, &to);
    assert_drains(&to, (int[]){0, 1, 2, 3, 4, -1});
}

/* ---- hash maps ---- */

TEST(only_keys_that_were_put_are_found)
{
    enum { KEYS = 20000 };
    keymap m = {0};
    uint64_t v = 7;
    assert_false(keymap_get(&m, 0, &v));
    assert_int_equal(v, 7);
    for (uint64_t k = 0; k < KEYS; k++)
        assert_true(keymap_put(&m, k * k, k));
    for (uint64_t k = 0; k < KEYS; k++) {
        assert_true(keymap_get(&m, k * k, &v));
        assert_int_equal(v, k);
        assert_false(keymap_get(&m, k * k + 3 * KEYS * (uint64_t)KEYS, &v));
    }
    assert_int_equal(m.count, KEYS);
    keymap_deinit(&m);
}

TEST(putting_a_key_again_replaces_its_value)
{
    keymap m = {0};
    uint64_t v;
    assert_true(keymap_put(&m, UINT64_MAX, 1));
    assert_true(keymap_put(&m, UINT64_MAX, 0));
    assert_true(keymap_get(&m, UINT64_MAX, &v));
    assert_int_equal(v, 0);
    assert_int_equal(m.count, 1);
    keymap_deinit(&m);
}
