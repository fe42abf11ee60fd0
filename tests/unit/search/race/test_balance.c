#include <string.h>

#include "check.h"
#include "search/race/balance.h"

enum { MOST = 12 };

TEST(every_item_is_at_every_position_equally_often)
{
    for (size_t n = 1; n <= MOST; n++) {
        size_t at[MOST][MOST] = {{0}}, rows = balance_rows(n);
        for (size_t row = 0; row < rows; row++) {
            uint32_t order[MOST];
            balance_row(n, row, order);
            for (size_t i = 0; i < n; i++) {
                assert_true(order[i] < n);
                at[order[i]][i]++;
            }
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                assert_int_equal(at[i][j], rows / n);
    }
}

TEST(every_item_follows_every_other_equally_often)
{
    for (size_t n = 2; n <= MOST; n++) {
        size_t follows[MOST][MOST] = {{0}}, rows = balance_rows(n);
        for (size_t row = 0; row < rows; row++) {
            uint32_t order[MOST];
            balance_row(n, row, order);
            for (size_t i = 1; i < n; i++)
                follows[order[i - 1]][order[i]]++;
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                assert_int_equal(follows[i][j], i == j ? 0 : rows / n);
    }
}

TEST(rows_repeat_after_a_whole_design)
{
    for (size_t n = 1; n <= MOST; n++) {
        uint32_t first[MOST], again[MOST];
        balance_row(n, 1, first);
        balance_row(n, 1 + 3 * balance_rows(n), again);
        assert_memory_equal(first, again, n * sizeof *first);
    }
}
