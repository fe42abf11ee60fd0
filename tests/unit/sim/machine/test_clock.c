/* Tests that vector clocks and histories of releases lose no known operation and add none. */
#include "check.h"

#include "sim/machine/clock.h"
#include "sim/machine/history.h"

enum { BLOCKS = 3, WARPS = 2, LANES = 32, UNTIL = 6 };

/* a clock as plain arrays: the last known operation of each lane */
typedef struct plain {
    uint32_t until[BLOCKS][WARPS][LANES]; /* number of the last known operation, plus 1 */
    uint32_t epoch[BLOCKS];
} plain;

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void give(sim_clock **clock, plain *p, uint32_t *seed)
{
    uint32_t block = next(seed) % BLOCKS, warp = next(seed) % WARPS, until = next(seed) % UNTIL;
    uint32_t lanes = next(seed) & next(seed);
    lanes |= 1u << next(seed) % LANES;
    sim_known k = {.block = block + 1, .unit = warp, .lanes = lanes, .until = until};
    if (next(seed) % 4 == 0) {
        k = (sim_known){.block = block + 1, .unit = SIM_UNIT_BLOCK, .lanes = 1, .until = until + 1};
        if (p->epoch[block] < until + 1)
            p->epoch[block] = until + 1;
    } else {
        for (int l = 0; l < LANES; l++)
            if ((lanes >> l & 1) && p->until[block][warp][l] < until + 1)
                p->until[block][warp][l] = until + 1;
    }
    sim_clock_add(clock, &k, 1);
}

static void assert_same(const sim_clock *clock, const plain *p)
{
    for (uint32_t b = 0; b < BLOCKS; b++) {
        assert_int_equal(sim_clock_epoch(clock, b + 1), p->epoch[b]);
        for (uint32_t w = 0; w < WARPS; w++)
            for (uint32_t order = 0; order < UNTIL; order++) {
                uint32_t expected = 0;
                for (int l = 0; l < LANES; l++)
                    expected |= (uint32_t)(p->until[b][w][l] > order) << l;
                assert_int_equal(sim_clock_lanes(clock, b + 1, w, UINT32_MAX, order), expected);
            }
    }
}

TEST(a_clock_holds_exactly_the_added_operations)
{
    uint32_t seed = 1;
    for (int round = 0; round < 200; round++) {
        sim_clock *clock = NULL;
        plain p = {0};
        assert_same(clock, &p);
        for (int i = 0; i < 12; i++)
            give(&clock, &p, &seed);
        assert_same(clock, &p);
        sim_clock_drop(clock);
    }
}

TEST(a_join_has_the_entries_of_both_clocks_and_keeps_the_other)
{
    uint32_t seed = 2;
    for (int round = 0; round < 200; round++) {
        sim_clock *a = NULL, *b = NULL;
        plain p = {0}, q = {0}, both;
        for (int i = 0; i < 8; i++) {
            give(&a, &p, &seed);
            give(&b, &q, &seed);
        }
        both = p;
        for (int i = 0; i < BLOCKS; i++) {
            both.epoch[i] = p.epoch[i] > q.epoch[i] ? p.epoch[i] : q.epoch[i];
            for (int w = 0; w < WARPS; w++)
                for (int l = 0; l < LANES; l++)
                    if (both.until[i][w][l] < q.until[i][w][l])
                        both.until[i][w][l] = q.until[i][w][l];
        }
        sim_clock *shared = sim_clock_keep(a);
        sim_clock_join(&a, b);
        assert_same(a, &both);
        assert_same(b, &q);
        assert_same(shared, &p);
        /* If all operations are known, the join must return the same clock. */
        const sim_clock *before = a;
        sim_clock_join(&a, b);
        assert_ptr_equal(a, before);
        sim_clock_drop(a);
        sim_clock_drop(b);
        sim_clock_drop(shared);
    }
}

TEST(a_location_exists_until_overlapping_bytes_are_forgotten)
{
    enum { PLACES = 500, BYTES = 4 };
    sim_history h = {0};
    uint32_t there[PLACES + 1] = {
        0}; /* bytes of the location at each address; 0 if there is no location */
    uint32_t seed = 3;
    for (int i = 0; i < 5000; i++) {
        const uint64_t at = 1 + next(&seed) % PLACES;
        const uint32_t wide = at % 2 == 0 && at < PLACES ? 2 : 1;
        if (next(&seed) % 2) {
            sim_location *x = sim_history_put(&h, at * BYTES, wide * BYTES);
            assert_non_null(x);
            if (wide == 2)
                there[at + 1] = 0;
            if (there[at - 1] > BYTES)
                there[at - 1] = 0;
            assert_int_equal(x->count, there[at] ? 1 : 0);
            if (x->count == 0)
                assert_non_null(sim_location_insert(x, 0));
            there[at] = wide * BYTES;
        } else {
            sim_history_forget(&h, at * BYTES, BYTES);
            there[at] = 0;
            if (there[at - 1] > BYTES)
                there[at - 1] = 0;
        }
        const uint64_t asked = 1 + next(&seed) % PLACES;
        const sim_location *found = sim_history_find(&h, asked * BYTES);
        assert_int_equal(found ? found->bytes : 0, there[asked]);
    }
    sim_history_clear(&h);
    for (uint64_t at = 1; at <= PLACES; at++)
        assert_null(sim_history_find(&h, at * BYTES));
    sim_history_deinit(&h);
}

TEST(a_location_keeps_its_writes_in_coherence_order)
{
    sim_history h = {0};
    sim_location *x = sim_history_put(&h, 64, 4);
    assert_non_null(x);
    for (uint32_t i = 0; i < 2 * SIM_MOST_WRITES; i++) {
        sim_write *write = sim_location_insert(x, x->count);
        assert_non_null(write);
        write->by.block = i;
    }
    assert_int_equal(x->count, SIM_MOST_WRITES);
    sim_write *between = sim_location_insert(x, 2);
    between->by.block = 99;
    /* The oldest write was removed to make space. */
    assert_int_equal(between - x->writes, 1);
    assert_int_equal(x->writes[0].by.block, SIM_MOST_WRITES + 1);
    assert_int_equal(x->writes[2].by.block, SIM_MOST_WRITES + 2);
    assert_int_equal(sim_location_newest(x)->by.block, 2 * SIM_MOST_WRITES - 1);
    sim_history_deinit(&h);
}
