/* Tests that fills have the contents that device/plan.h describes. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "sim/device.h"

enum { COUNT = 1000 };

static void make(const buffer_plan *plan, uint32_t out[COUNT])
{
    buffer_plan p = *plan;
    p.type = DTYPE_UINT32;
    p.count = COUNT;
    sim_fill((uint8_t *)out, &p, 7, 0, p.count);
}

TEST(a_permutation_has_every_index_once)
{
    for (uint32_t count = 1; count <= COUNT; count = count * 3 + 1) {
        uint32_t v[COUNT];
        bool seen[COUNT] = {false};
        const buffer_plan p = {.fill = FILL_PERMUTATION, .type = DTYPE_UINT32, .count = count};
        sim_fill((uint8_t *)v, &p, 7, 0, p.count);
        size_t moved = 0;
        for (uint32_t i = 0; i < count; i++) {
            assert_true(v[i] < count && !seen[v[i]]);
            seen[v[i]] = true;
            moved += v[i] != i;
        }
        assert_true(count < 40 || moved > count / 2);
    }
}

TEST(sorted_integers_ascend_below_their_limit)
{
    uint32_t v[COUNT];
    make(&(buffer_plan){.fill = FILL_SORTED, .fill_limit = 300}, v);
    for (int i = 1; i < COUNT; i++)
        assert_true(v[i] >= v[i - 1] && v[i] < 300);
    assert_true(v[0] < 2 && v[COUNT - 1] > 297);
}

TEST(offsets_ascend_from_zero_to_the_limit)
{
    uint32_t v[COUNT], longest = 0;
    make(&(buffer_plan){.fill = FILL_OFFSETS, .fill_limit = 9990}, v);
    assert_int_equal(v[0], 0);
    assert_int_equal(v[COUNT - 1], 9990);
    for (int i = 1; i < COUNT; i++) {
        assert_true(v[i] >= v[i - 1]);
        if (v[i] - v[i - 1] > longest)
            longest = v[i] - v[i - 1];
    }
    assert_in_range(longest, 15, 20);
}

TEST(local_integers_lie_in_the_window_of_their_block)
{
    uint32_t v[COUNT];
    make(&(buffer_plan){.fill = FILL_LOCAL, .fill_limit = 100, .fill_block = 32}, v);
    for (int i = 0; i < COUNT; i++) {
        uint32_t start = (uint32_t)i / 32 % 4 * 32;
        assert_true(v[i] >= start && v[i] < start + 32 && v[i] < 100);
    }
}

TEST(skewed_integers_are_small_more_often)
{
    uint32_t v[COUNT];
    size_t small = 0;
    make(&(buffer_plan){.fill = FILL_SKEWED, .fill_limit = 1 << 20}, v);
    for (int i = 0; i < COUNT; i++) {
        assert_true(v[i] < 1 << 20);
        small += v[i] < 1 << 10;
    }
    assert_in_range(small, COUNT / 3, 2 * COUNT / 3);
}

TEST(values_repeat)
{
    float v[COUNT];
    const buffer_plan p = {.fill = FILL_VALUES,
                           .type = DTYPE_FLOAT,
                           .count = COUNT,
                           .value_count = 3,
                           .values = {1, -0.5, 4}};
    sim_fill((uint8_t *)v, &p, 7, 0, p.count);
    assert_true(v[0] == 1 && v[1] == -0.5f && v[2] == 4 && v[3] == 1 && v[999] == 1);
    uint32_t w[COUNT];
    make(&(buffer_plan){.fill = FILL_VALUES, .value_count = 1, .values = {-1}}, w);
    assert_int_equal(w[COUNT - 1], UINT32_MAX);
}

TEST(limits_of_one_and_of_all_bits_are_right)
{
    static const buffer_fill fills[] = {FILL_MODULO, FILL_SORTED, FILL_SKEWED, FILL_LOCAL};
    for (size_t f = 0; f < 4; f++) {
        uint32_t v[COUNT];
        make(&(buffer_plan){.fill = fills[f], .fill_limit = 1, .fill_block = 5}, v);
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(v[i], 0);
        uint64_t wide[COUNT];
        uint64_t limit = fills[f] == FILL_SORTED ? INT64_MAX / COUNT : INT64_MAX;
        const buffer_plan p = {.fill = fills[f],
                               .type = DTYPE_INT64,
                               .count = COUNT,
                               .fill_limit = limit,
                               .fill_block = 1 << 20};
        sim_fill((uint8_t *)wide, &p, 7, 0, p.count);
        for (int i = 0; i < COUNT; i++)
            assert_true(wide[i] < limit);
    }
}
