#include "base/keymap.h"
#include "base/rng.h"
#include "check.h"

TEST(what_was_put_is_found_and_nothing_else)
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
