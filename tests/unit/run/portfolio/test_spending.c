#include "check.h"

#include "run/portfolio/spending.h"

static void a_search_is_as_long_as_there_is_time_for_on_all(void **state)
{
    (void)state;
    /* 300 variants for each of ten. */
    assert_int_equal(spending_search(30, 10, 0.01, 1000), 256);
    assert_int_equal(spending_search(30, 10, 0.01, 300), 0);
}

static void a_search_is_never_so_short_that_it_finds_nothing(void **state)
{
    (void)state;
    assert_int_equal(spending_search(1, 50, 0.01, 1000), SPENDING_LEAST_SEARCHED);
    assert_int_equal(spending_search(-5, 50, 0.01, 1000), SPENDING_LEAST_SEARCHED);
}

static void as_many_are_timed_everywhere_as_there_is_time_for(void **state)
{
    (void)state;
    assert_int_equal(spending_everywhere(100, 50, 0.01), SPENDING_MOST_EVERYWHERE);
    assert_int_equal(spending_everywhere(20, 50, 0.01), 32);
    assert_int_equal(spending_everywhere(1, 50, 0.01), SPENDING_LEAST_EVERYWHERE);
    assert_int_equal(spending_everywhere(-1, 0, 0.01), SPENDING_LEAST_EVERYWHERE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_is_as_long_as_there_is_time_for_on_all),
        cmocka_unit_test(a_search_is_never_so_short_that_it_finds_nothing),
        cmocka_unit_test(as_many_are_timed_everywhere_as_there_is_time_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
