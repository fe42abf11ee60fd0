#include "check.h"

#include "run/portfolio/state.h"

TEST(a_search_leaves_time_for_all_problems)
{
    /* The budget is 300 variants for each of ten problems. */
    assert_int_equal(spending_search(30, 10, 0.01, 1000), 256);
    assert_int_equal(spending_search(30, 10, 0.01, 300), 0);
}

TEST(a_search_is_never_so_short_that_it_finds_nothing)
{
    assert_int_equal(spending_search(1, 50, 0.01, 1000), SPENDING_LEAST_SEARCHED);
    assert_int_equal(spending_search(-5, 50, 0.01, 1000), SPENDING_LEAST_SEARCHED);
}

TEST(the_time_limits_how_many_are_timed_on_every_problem)
{
    assert_int_equal(spending_everywhere(100, 50, 0.01), SPENDING_MOST_EVERYWHERE);
    assert_int_equal(spending_everywhere(20, 50, 0.01), 32);
    assert_int_equal(spending_everywhere(1, 50, 0.01), SPENDING_LEAST_EVERYWHERE);
    assert_int_equal(spending_everywhere(-1, 0, 0.01), SPENDING_LEAST_EVERYWHERE);
}
