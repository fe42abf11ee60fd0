#include <stdlib.h>

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

typedef struct sample {
    bool yes;
    int64_t below;
    double half;
    uint32_t small;
    char text[4];
    const char *view;
} sample;

static const pack_field sample_fields[] = {
    PACK_FIELD(sample, yes),   PACK_FIELD(sample, below), PACK_FIELD(sample, half),
    PACK_FIELD(sample, small), PACK_FIELD(sample, text),  PACK_FIELD(sample, view),
};

enum { SAMPLE_FIELDS = sizeof sample_fields / sizeof *sample_fields };

static void members_come_back_as_they_were(void **state)
{
    (void)state;
    pack m = {0};
    sample back = {0};
    const sample s = {.yes = true,
                      .below = -3,
                      .half = 0.5,
                      .small = UINT32_MAX,
                      .text = "abc",
                      .view = "long one"};
    pack_put_fields(&m, &s, sample_fields, SAMPLE_FIELDS);
    pack_get_fields(&m, &back, sample_fields, SAMPLE_FIELDS);
    assert_true(pack_complete(&m));
    assert_true(back.yes && back.below == -3 && back.half == 0.5 && back.small == UINT32_MAX);
    assert_string_equal(back.text, "abc");
    assert_string_equal(back.view, "long one");
    pack_deinit(&m);
}

static void a_text_that_is_longer_than_its_member_is_a_failure(void **state)
{
    (void)state;
    pack m = {0};
    sample back = {0};
    pack_put_string(&m, "four");
    pack_get_fields(&m, &back, &sample_fields[4], 1);
    assert_false(pack_complete(&m));
    assert_string_equal(back.text, "");
    pack_deinit(&m);
}

static void what_is_appended_makes_a_text(void **state)
{
    (void)state;
    pack p = {0};
    pack_append_text(&p, "a text");
    pack_append(&p, "!!", 1);
    char *text = pack_take_text(&p);
    assert_string_equal(text, "a text!");
    assert_null(p.bytes);
    free(text);
}

static void a_text_that_found_no_memory_is_none(void **state)
{
    (void)state;
    pack p = {0};
    pack_append_text(&p, "a text");
    p.failed = true;
    assert_null(pack_take_text(&p));
    assert_false(p.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_past_the_end_fails_once_and_for_all),
        cmocka_unit_test(a_length_that_lies_is_a_failure),
        cmocka_unit_test(a_string_must_end_where_its_length_says),
        cmocka_unit_test(nothing_put_into_an_empty_pack_has_a_place),
        cmocka_unit_test(members_come_back_as_they_were),
        cmocka_unit_test(a_text_that_is_longer_than_its_member_is_a_failure),
        cmocka_unit_test(what_is_appended_makes_a_text),
        cmocka_unit_test(a_text_that_found_no_memory_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
