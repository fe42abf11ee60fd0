#include "base/nearest.h"
#include "check.h"

static const char *const names[] = {"rows", "cols", "tile", "block", "algorithm"};

static const char *near(const char *typed)
{
    return nearest_name(typed, names, sizeof names / sizeof *names);
}

static void one_slip_is_forgiven(void **state)
{
    (void)state;
    assert_string_equal(near("row"), "rows");
    assert_string_equal(near("clos"), "cols");
    assert_string_equal(near("tyle"), "tile");
    assert_string_equal(near("bloock"), "block");
    assert_string_equal(near("algoritm"), "algorithm");
    assert_string_equal(near("block"), "block");
}

static void another_word_is_not(void **state)
{
    (void)state;
    assert_null(near("warp"));
    assert_null(near(""));
    assert_null(
        near("a_name_that_is_far_longer_than_any_that_a_person_would_ever_mistype_by_a_letter"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_slip_is_forgiven),
        cmocka_unit_test(another_word_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
