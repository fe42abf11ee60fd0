#include "base/text.h"
#include "check.h"

static const char *const names[] = {"rows", "cols", "tile", "block", "algorithm"};

static const char *near(const char *typed)
{
    return nearest_name(typed, names, sizeof names / sizeof *names);
}

TEST(one_slip_is_forgiven)
{
    assert_string_equal(near("row"), "rows");
    assert_string_equal(near("clos"), "cols");
    assert_string_equal(near("tyle"), "tile");
    assert_string_equal(near("bloock"), "block");
    assert_string_equal(near("algoritm"), "algorithm");
    assert_string_equal(near("block"), "block");
}

TEST(of_names_that_are_as_near_the_one_that_begins_alike_is_meant)
{
    static const char *const both[] = {"how", "rows", "low"};
    assert_string_equal(nearest_name("row", both, 3), "rows");
}

TEST(another_word_is_not)
{
    assert_null(near("warp"));
    assert_null(near(""));
    assert_null(
        near("a_name_that_is_far_longer_than_any_that_a_person_would_ever_mistype_by_a_letter"));
}
