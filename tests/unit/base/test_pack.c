#include "base/pack.h"
#include "check.h"

static void reading_past_the_end_fails_once_and_for_all(void **state)
{
    (void)state;
    pack m = {0};
    pack_put_u32(&m, 5);
    assert_int_equal(pack_get_u64(&m), 0);
    assert_int_equal(pack_get_u32(&m), 0);
    assert_false(pack_complete(&m));
    pack_deinit(&m);
}

static void a_length_that_lies_is_a_failure(void **state)
{
    (void)state;
    pack m = {0};
    pack_put_u64(&m, UINT64_MAX);
    size_t size;
    pack_get_bytes(&m, &size);
    assert_int_equal(size, 0);
    assert_true(m.failed);
    pack_deinit(&m);
}

static void a_string_must_end_where_its_length_says(void **state)
{
    (void)state;
    pack m = {0};
    pack_put_bytes(&m, "a\0b", 4);
    assert_string_equal(pack_get_string(&m), "");
    assert_true(m.failed);
    pack_deinit(&m);
}

/* Its callers take NULL for a lack of memory. */
static void nothing_put_into_an_empty_pack_has_a_place(void **state)
{
    (void)state;
    pack m = {0};
    assert_non_null(pack_grow(&m, 0));
    assert_false(m.failed);
    assert_int_equal(m.size_bytes, 0);
    pack_deinit(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_past_the_end_fails_once_and_for_all),
        cmocka_unit_test(a_length_that_lies_is_a_failure),
        cmocka_unit_test(a_string_must_end_where_its_length_says),
        cmocka_unit_test(nothing_put_into_an_empty_pack_has_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
