#include <stdlib.h>

#include "base/pack.h"
#include "check.h"

TEST(reading_past_the_end_fails_once_and_for_all)
{
    pack m = {0};
    pack_put_u32(&m, 5);
    assert_int_equal(pack_get_u64(&m), 0);
    assert_int_equal(pack_get_u32(&m), 0);
    assert_false(pack_complete(&m));
    pack_deinit(&m);
}

TEST(a_wrong_length_is_a_failure)
{
    pack m = {0};
    pack_put_u64(&m, UINT64_MAX);
    size_t size;
    pack_get_bytes(&m, &size);
    assert_int_equal(size, 0);
    assert_true(m.failed);
    pack_deinit(&m);
}

TEST(a_string_must_end_where_its_length_says)
{
    pack m = {0};
    pack_put_bytes(&m, "a\0b", 4);
    assert_string_equal(pack_get_string(&m), "");
    assert_true(m.failed);
    pack_deinit(&m);
}

/* A pack whose memory is NULL would be taken for a lack of memory. */
TEST(zero_bytes_put_into_an_empty_pack_allocate_memory)
{
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

TEST(members_come_back_as_they_were)
{
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

TEST(a_text_that_is_longer_than_its_member_is_a_failure)
{
    pack m = {0};
    sample back = {0};
    pack_put_string(&m, "four");
    pack_get_fields(&m, &back, &sample_fields[4], 1);
    assert_false(pack_complete(&m));
    assert_string_equal(back.text, "");
    pack_deinit(&m);
}

TEST(appended_pieces_make_a_text)
{
    pack p = {0};
    pack_append_text(&p, "a text");
    pack_append(&p, "!!", 1);
    char *text = pack_take_text(&p);
    assert_string_equal(text, "a text!");
    assert_null(p.bytes);
    free(text);
}

TEST(a_text_without_memory_is_null)
{
    pack p = {0};
    pack_append_text(&p, "a text");
    p.failed = true;
    assert_null(pack_take_text(&p));
    assert_false(p.failed);
}

TEST(a_pack_grows_before_its_bytes_are_full)
{
    static const unsigned char bytes[200] = {7};
    pack p = {0};
    for (int i = 0; i < 5; i++)
        pack_append(&p, bytes, sizeof bytes);
    assert_int_equal(p.size_bytes, 5 * sizeof bytes);
    assert_true(p.capacity_bytes >= p.size_bytes);
    assert_memory_equal(p.bytes + 4 * sizeof bytes, bytes, sizeof bytes);
    pack_deinit(&p);
}
