/* Tests the coverage of a proof in records and in sentences. */
#include <stdlib.h>

#include "check.h"
#include "record/schema.h"
#include "rendered.h"

static const device_coverage some = {.problems = "the small problem n=64",
                                     .blocks = 2000000,
                                     .run = 32,
                                     .cut = 2,
                                     .blind = 1,
                                     .compared = 4096,
                                     .never = "a.cu:3",
                                     .once = "a.cu:7, a.cu:9"};

TEST(every_part_has_its_member)
{
    json_t *packed = coverage_pack(&some), *tuned = json_object_get(packed, "tuned");
    assert_int_equal(json_integer_value(json_object_get(tuned, "blocks")), 2000000);
    assert_int_equal(json_integer_value(json_object_get(tuned, "compared")), 4096);
    assert_string_equal(json_string_value(json_object_get(packed, "never_ran")), "a.cu:3");
    assert_true(json_is_null(json_object_get(packed, "skipped")));
    json_decref(packed);
}

TEST(coverage_of_nothing_is_null)
{
    const device_coverage nothing = {.blocks = 0};
    json_t *packed = coverage_pack(&nothing), *none = coverage_pack(NULL);
    assert_true(json_is_null(packed));
    assert_true(json_is_null(none));
    json_decref(packed);
    json_decref(none);
}

TEST(a_separate_line_says_that_no_result_of_the_tuned_problem_was_compared)
{
    const device_coverage smaller = {
        .problems =
            "the small problem n=64 m=3, the ragged problem n=7, blocks of the tuned problem "
            "n=512 m=3",
        .smaller = true};
    char *text = render_page(
        "check_variant",
        json_pack("{ss ss so so sn}", "verdict", "proven_smaller", "configuration", "a=1",
                  "message", json_null(), "covered", coverage_pack(&smaller), "not_run"),
        json_pack("{ss ss sb}", "said", "", "oracle", "reference", "said_before", 0), 80, false);
    assert_string_equal(
        text, "proven      a=1\n"
              "            for n = 64, m = 3; n = 7 alone: no result at n = 512, m = 3 was\n"
              "            compared\n");
    free(text);
}

TEST(every_gap_has_its_sentence)
{
    char *text =
        render_page("check_variant",
                    json_pack("{ss ss so so sn}", "verdict", "proven", "configuration", "a=1",
                              "message", json_null(), "covered", coverage_pack(&some), "not_run"),
                    json_pack("{ss ss sb}", "said", "one line\nanother", "oracle", "reference",
                              "said_before", 0),
                    80, false);
    assert_string_equal(
        text, "proven      a=1\n"
              "            32 of the tuned problem's 2,000,000 blocks were run; 2 of them were\n"
              "            left where they wait for others; 1 ended where they read what others\n"
              "            write; 4,096 elements of these equal the reference's\n"
              "            never executed, as compiled: a.cu:3\n"
              "            loops whose body, as compiled, ran once at most (it may hold several\n"
              "            rounds), whatever the problem: a.cu:7, a.cu:9\n"
              "            | one line\n"
              "            | another\n");
    free(text);
}
