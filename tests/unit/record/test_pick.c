#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "record/pick.h"

/* Two GPUs of capability 9.0, one of 8.0 and one of 8.6. */
typedef struct fixture {
    record_set set;
    record records[4];
} fixture;

static const char *const heads[][2] = {
    {"NVIDIA A100", "8.0"}, {"NVIDIA A10", "8.6"}, {"NVIDIA H100", "9.0"}, {"NVIDIA H200", "9.0"}};

static void add_entry(char *text, size_t size, int rows, const char *type, int tile,
                      const char *cache)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used,
             "%s{\"problem\": {\"rows\": %d, \"dtype\": \"%s\"}, \"configuration\": {\"tile\": %d},"
             " \"time\": {\"median_ns\": 5, \"low_ns\": 4, \"high_ns\": 6},"
             " \"measured\": {\"cache\": \"%s\"}, \"date\": \"2026-01-0%d\","
             " \"baseline\": {\"configuration\": {\"tile\": %d}}}",
             text[used - 1] == '[' ? "" : ",", rows, type, tile, cache, tile % 10, 1000 + tile);
}

static int set_up(void **state)
{
    static fixture f;
    at_error error = {0};
    f = (fixture){0};
    for (int r = 0; r < 4; r++) {
        char text[4096];
        snprintf(text, sizeof text,
                 "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\","
                 " \"gpu\": \"%s\", \"compute_capability\": \"%s\", \"entries\": [",
                 heads[r][0], heads[r][1]);
        add_entry(text, sizeof text, 1024, "float", 10 * r + 1, "cold");
        add_entry(text, sizeof text, 8192, "float", 10 * r + 2, "cold");
        add_entry(text, sizeof text, 8192, "double", 10 * r + 3, "cold");
        add_entry(text, sizeof text, 8192, "float", 10 * r + 4, "warm");
        strcat(text, "]}");
        assert_ok(record_parse(text, strlen(text), "r.json", &f.records[r], &error), error);
    }
    f.set = (record_set){4, f.records};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    for (int r = 0; r < 4; r++)
        record_deinit(&f->records[r]);
    return 0;
}

static pick_rule pick_for(fixture *f, const char *gpu, int major, int minor, int64_t rows,
                          const char *type, int64_t *tile)
{
    record_pair pairs[2] = {{"rows", {.kind = VALUE_INTEGER, .integer = rows}},
                            {"dtype", {.kind = VALUE_STRING, .string = type}}};
    record_values problem = {2, pairs};
    pick_target target = {.gpu = gpu, .major = major, .minor = minor, .problem = &problem};
    const record_entry *entry;
    const record *from;
    pick_rule rule = pick(&f->set, &target, &entry, &from);
    assert_true((entry != NULL) == (rule != PICK_DEFAULT));
    *tile = entry ? record_get(&entry->configuration, "tile")->integer : 0;
    return rule;
}

static void the_same_gpu_and_problem_come_first(void **state)
{
    int64_t tile;
    assert_int_equal(pick_for(*state, "NVIDIA H200", 9, 0, 8192, "float", &tile), PICK_EXACT);
    assert_int_equal(tile, 32);
    assert_int_equal(pick_for(*state, "NVIDIA A10", 8, 6, 8192, "double", &tile), PICK_EXACT);
    assert_int_equal(tile, 13);
}

static void then_the_nearest_problem_by_ratio(void **state)
{
    int64_t tile;
    assert_int_equal(pick_for(*state, "NVIDIA H200", 9, 0, 2000, "float", &tile), PICK_NEAREST);
    assert_int_equal(tile, 31);
    /* Nearer to 8192 by ratio, to 1024 by difference. */
    assert_int_equal(pick_for(*state, "NVIDIA H200", 9, 0, 3500, "float", &tile), PICK_NEAREST);
    assert_int_equal(tile, 32);
    /* A type counts for more than any size. */
    assert_int_equal(pick_for(*state, "NVIDIA H200", 9, 0, 1024, "double", &tile), PICK_NEAREST);
    assert_int_equal(tile, 33);
}

static void then_other_gpus_of_the_same_capability(void **state)
{
    int64_t tile;
    assert_int_equal(pick_for(*state, "NVIDIA GH200", 9, 0, 8192, "float", &tile), PICK_CAPABILITY);
    assert_int_equal(tile, 22);
    assert_int_equal(pick_for(*state, "NVIDIA RTX A5000", 8, 6, 1024, "float", &tile),
                     PICK_CAPABILITY);
    assert_int_equal(tile, 11);
}

static void then_of_the_same_major_capability(void **state)
{
    int64_t tile;
    assert_int_equal(pick_for(*state, "NVIDIA RTX 4090", 8, 9, 1000, "float", &tile), PICK_MAJOR);
    assert_int_equal(tile, 1);
}

static void and_the_default_at_last(void **state)
{
    fixture *f = *state;
    int64_t tile;
    assert_int_equal(pick_for(f, "NVIDIA V100", 7, 0, 8192, "float", &tile), PICK_DEFAULT);
    const record_values *baseline = pick_default(&f->set);
    assert_non_null(baseline);
    /* Of the latest entries (dated the 4th) the first. */
    assert_int_equal(record_get(baseline, "tile")->integer, 1004);
    record_set none = {0};
    assert_null(pick_default(&none));
}

static void warm_results_stand_back_behind_cold_ones(void **state)
{
    fixture *f = *state;
    assert_true(pick_is_candidate(&f->records[0], 1));
    assert_false(pick_is_candidate(&f->records[0], 3));
}

static void the_scale_is_log2_at_powers_of_two_and_monotone(void **state)
{
    (void)state;
    for (int k = 0; k < 62; k++)
        assert_true(pick_scale(ldexp(1, k) - 1) == k || k > 52);
    double last = pick_scale(-1e6);
    for (double x = -1e6; x < 1e6; x += 977.3) {
        assert_true(pick_scale(x) >= last);
        assert_true(pick_scale(-x) == -pick_scale(x));
        last = pick_scale(x);
    }
    assert_true(isfinite(pick_scale(INFINITY)));
    assert_true(pick_value_distance((value){.kind = VALUE_NUMBER, .number = 1e300},
                                    (value){.kind = VALUE_NUMBER, .number = -1e300}) < PICK_UNLIKE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_same_gpu_and_problem_come_first),
        TEST(then_the_nearest_problem_by_ratio),
        TEST(then_other_gpus_of_the_same_capability),
        TEST(then_of_the_same_major_capability),
        TEST(and_the_default_at_last),
        TEST(warm_results_stand_back_behind_cold_ones),
        cmocka_unit_test(the_scale_is_log2_at_powers_of_two_and_monotone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
