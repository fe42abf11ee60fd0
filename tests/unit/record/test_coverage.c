/* What a proof covered, in records and in words. */
#include <string.h>

#include "check.h"
#include "record/coverage.h"

static const device_coverage some = {.problems = "the small problem n=64",
                                     .blocks = 2000000,
                                     .run = 32,
                                     .cut = 2,
                                     .blind = 1,
                                     .compared = 4096,
                                     .never = "a.cu:3",
                                     .once = "a.cu:7, a.cu:9"};

static void what_is_packed_is_unpacked(void **state)
{
    (void)state;
    json_t *packed = coverage_pack(&some);
    device_coverage back = coverage_unpack(packed);
    json_decref(packed);
    assert_memory_equal(&back, &some, sizeof some);
}

static void what_covers_nothing_is_null(void **state)
{
    (void)state;
    const device_coverage nothing = {.blocks = 0};
    json_t *packed = coverage_pack(&nothing), *none = coverage_pack(NULL);
    assert_true(json_is_null(packed));
    assert_true(json_is_null(none));
    json_decref(packed);
    json_decref(none);
    char text[COVERAGE_SENTENCE_BYTES];
    assert_false(coverage_sentence(&nothing, 0, text));
}

static void every_gap_has_its_sentence(void **state)
{
    (void)state;
    char text[COVERAGE_SENTENCE_BYTES];
    assert_true(coverage_sentence(&some, 0, text));
    assert_string_equal(
        text,
        "32 of the tuned problem's 2,000,000 blocks were run; 2 of them were left unfinished; 1 "
        "ended where they read what others write; 4,096 elements are the reference's");
    assert_true(coverage_sentence(&some, 1, text));
    assert_string_equal(text, "never executed: a.cu:3");
    assert_true(coverage_sentence(&some, 2, text));
    assert_non_null(strstr(text, "a.cu:7, a.cu:9"));
    assert_false(coverage_sentence(&some, 3, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_is_unpacked),
        cmocka_unit_test(what_covers_nothing_is_null),
        cmocka_unit_test(every_gap_has_its_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
