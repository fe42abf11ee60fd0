#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "record/pick.h"

/* Records of four GPUs: two of compute capability 9.0, one of 8.0 and one of 8.6. */
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
        assert_ok(record_parse(text, strlen(text), "r.json", NULL, &f.records[r], &error), error);
    }
    f.set = (record_set){.count = 4, .records = f.records};
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
    pick_candidate found;
    pick_rule rule = pick(&f->set, &target, &found);
    assert_true((found.entry != NULL) == (rule != PICK_DEFAULT));
    *tile = found.entry ? record_get(found.configuration, "tile")->integer : 0;
    return rule;
}

TEST_IN(the_same_gpu_and_problem_come_first, set_up, tear_down)
{
    int64_t tile;
    assert_int_equal(pick_for(*state, "NVIDIA H200", 9, 0, 8192, "float", &tile), PICK_EXACT);
    assert_int_equal(tile, 32);
    assert_int_equal(pick_for(*state, "NVIDIA A10", 8, 6, 8192, "double", &tile), PICK_EXACT);
    assert_int_equal(tile, 13);
}

TEST_IN(then_the_nearest_problem_by_ratio, set_up, tear_down)
{
    int64_t tile;
    assert_int_equal(pick_for(*state, "NVIDIA H200", 9, 0, 2000, "float", &tile), PICK_NEAREST);
    assert_int_equal(tile, 31);
    /* 3500 is nearer to 8192 by ratio, but nearer to 1024 by difference. */
    assert_int_equal(pick_for(*state, "NVIDIA H200", 9, 0, 3500, "float", &tile), PICK_NEAREST);
    assert_int_equal(tile, 32);
    /* A different type counts more than any difference of sizes. */
    assert_int_equal(pick_for(*state, "NVIDIA H200", 9, 0, 1024, "double", &tile), PICK_NEAREST);
    assert_int_equal(tile, 33);
}

TEST_IN(then_other_gpus_of_the_same_capability, set_up, tear_down)
{
    int64_t tile;
    assert_int_equal(pick_for(*state, "NVIDIA GH200", 9, 0, 8192, "float", &tile), PICK_CAPABILITY);
    assert_int_equal(tile, 22);
    assert_int_equal(pick_for(*state, "NVIDIA RTX A5000", 8, 6, 1024, "float", &tile),
                     PICK_CAPABILITY);
    assert_int_equal(tile, 11);
}

TEST_IN(then_of_the_same_major_capability, set_up, tear_down)
{
    int64_t tile;
    assert_int_equal(pick_for(*state, "NVIDIA RTX 4090", 8, 9, 1000, "float", &tile), PICK_MAJOR);
    assert_int_equal(tile, 1);
}

TEST_IN(and_the_default_at_last, set_up, tear_down)
{
    fixture *f = *state;
    int64_t tile;
    assert_int_equal(pick_for(f, "NVIDIA V100", 7, 0, 8192, "float", &tile), PICK_DEFAULT);
    const record_values *baseline = pick_default(&f->set);
    assert_non_null(baseline);
    /* The latest entries are of day 4. The first of them decides. */
    assert_int_equal(record_get(baseline, "tile")->integer, 1004);
    record_set none = {0};
    assert_null(pick_default(&none));
}

TEST_IN(warm_results_stand_back_behind_cold_ones, set_up, tear_down)
{
    fixture *f = *state;
    int64_t tile;
    /* The entries for a warm and a cold cache have the same problem. The entry of the next
     * problem is taken only if both are refused. */
    assert_int_equal(pick_for(f, "NVIDIA A100", 8, 0, 8192, "float", &tile), PICK_EXACT);
    assert_int_equal(tile, 2);
    assert_true(pick_preference(&f->records[0].entries[1]) <
                pick_preference(&f->records[0].entries[3]));
}

/* Accepts configurations whose tile is at least *least. */
static bool at_least(void *least, const record_values *configuration)
{
    return record_get(configuration, "tile")->integer >= *(int *)least;
}

static pick_rule pick_at_least(fixture *f, int least, const record_values *fallback,
                               pick_candidate *found)
{
    record_pair pairs[2] = {{"rows", {.kind = VALUE_INTEGER, .integer = 8192}},
                            {"dtype", {.kind = VALUE_STRING, .string = "float"}}};
    record_values problem = {2, pairs};
    pick_target target = {.gpu = "NVIDIA A100",
                          .major = 8,
                          .problem = &problem,
                          .fits = at_least,
                          .context = &least,
                          .fallback = fallback};
    return pick(&f->set, &target, found);
}

TEST_IN(impossible_configurations_are_never_picked, set_up, tear_down)
{
    record_pair tile[] = {{"tile", {.kind = VALUE_INTEGER, .integer = 20}}};
    record_values fallback = {1, tile};
    pick_candidate found;
    const struct {
        int least;
        pick_rule rule;
        int64_t tile;
    } cases[] = {{2, PICK_EXACT, 2},
                 {3, PICK_EXACT, 4},
                 {5, PICK_MAJOR, 12},
                 {15, PICK_DEFAULT, 20},
                 {21, PICK_OTHER, 22}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(pick_at_least(*state, cases[i].least, &fallback, &found), cases[i].rule);
        assert_int_equal(record_get(found.configuration, "tile")->integer, cases[i].tile);
    }
    assert_int_equal(pick_at_least(*state, 2000, &fallback, &found), PICK_NONE);
    assert_null(found.configuration);
}

#define TIME(median, low, high)                                                                    \
    "\"time\": {\"median_ns\": " #median ", \"low_ns\": " #low ", \"high_ns\": " #high "}"
#define BASELINE "\"baseline\": {\"configuration\": {\"tile\": 0}, " TIME(1000, 990, 1010) "}"

/* A portfolio of the tiles 1 to 3 for floats. The tree's order is 3, 1, 2 below 4096 rows, and
 * 2, 1, 3 from 4096 rows on. Tile 2 was slower than the default at 5000 rows. */
static const char portfolio[] =
    "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"G\","
    " \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": {\"rows\": 64, \"dtype\": "
    "\"float\"},"
    " \"configuration\": {\"tile\": 9}, \"baseline\": {\"configuration\": {\"tile\": 8}},"
    " \"time\": {\"median_ns\": 5, \"low_ns\": 4, \"high_ns\": 6}}],"
    " \"portfolios\": [{\"fixed\": {\"dtype\": \"float\"},"
    " \"configurations\": [{\"tile\": 1}, {\"tile\": 2}, {\"tile\": 3}],"
    " \"tree\": [{\"variable\": \"rows\", \"below\": 4096, \"then\": 1, \"else\": 2},"
    " {\"order\": [2, 0, 1]}, {\"order\": [1, 0, 2]}], \"problems\": ["
    "{\"problem\": {\"rows\": 5000, \"dtype\": \"float\"}, \"baseline_ns\": 100,"
    " \"times_ns\": [90, 110, null]},"
    "{\"problem\": {\"rows\": 20000, \"dtype\": \"float\"}, \"baseline_ns\": 100,"
    " \"times_ns\": [100, 100, 100]},"
    "{\"problem\": {\"rows\": 66, \"dtype\": \"float\"}, \"baseline_ns\": 100,"
    " \"times_ns\": [null, null, 50]},"
    "{\"problem\": {\"rows\": 50000, \"dtype\": \"float\"}, \"baseline_ns\": 100,"
    " \"times_ns\": [90, 80, null]}]}]}";

TEST(the_tree_of_a_portfolio_decides)
{
    at_error error = {0};
    record r;
    (void)state;
    assert_ok(record_parse(portfolio, strlen(portfolio), "r.json", NULL, &r, &error), error);
    fixture f = {.set = {1, f.records}, .records = {r}};
    const struct {
        const char *gpu;
        int minor;
        int64_t rows;
        const char *type;
        pick_rule rule;
        int64_t tile;
    } cases[] = {{"G", 0, 64, "float", PICK_EXACT, 9},
                 {"G", 0, 65, "float", PICK_PORTFOLIO, 3},
                 {"G", 0, 40000, "float", PICK_PORTFOLIO, 2},
                 /* Tile 2 was slower than the default at 5000 rows, so the next tile in the
                  * order is taken. */
                 {"G", 0, 6000, "float", PICK_PORTFOLIO, 1},
                 /* Tile 2 was no faster than the default, which is tile 8, near 20001 rows. */
                 {"G", 0, 20001, "float", PICK_DEFAULT, 8},
                 {"H", 0, 20001, "float", PICK_DEFAULT, 8},
                 {"G", 0, 6000, "double", PICK_NEAREST, 9},
                 {"H", 0, 65, "float", PICK_CAPABILITY, 3},
                 {"H", 2, 40000, "float", PICK_MAJOR, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        record_pair pairs[2] = {{"rows", {.kind = VALUE_INTEGER, .integer = cases[i].rows}},
                                {"dtype", {.kind = VALUE_STRING, .string = cases[i].type}}};
        record_values problem = {2, pairs};
        pick_target target = {
            .gpu = cases[i].gpu, .major = 9, .minor = cases[i].minor, .problem = &problem};
        pick_candidate found;
        assert_int_equal(pick(&f.set, &target, &found), cases[i].rule);
        assert_int_equal(record_get(found.configuration, "tile")->integer, cases[i].tile);
    }
    record_deinit(&r);
}

/* GPU G has two entries. That of 8192 rows has tile 1, another tile as contender, and 1000 ns
 * for the default. That of 1024 rows has tile 5, which was twice as fast as the default. GPU H,
 * of the same capability, has an entry of 8000 rows with tile 6. */
static const char beside_default[] =
    "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"%s\","
    " \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": {\"rows\": %d},"
    " \"configuration\": {\"tile\": %d}, %s}, {\"problem\": {\"rows\": 1024},"
    " \"configuration\": {\"tile\": 5}, " BASELINE ", " TIME(500, 490, 510) "}]}";

static pick_rule pick_beside_default(const char *measured, int64_t rows, int least, int64_t *tile)
{
    char texts[2][2048];
    at_error error = {0};
    fixture f = {.set = {2, f.records}};
    snprintf(texts[0], sizeof *texts, beside_default, "G", 8192, 1, measured);
    snprintf(texts[1], sizeof *texts, beside_default, "H", 8000, 6,
             BASELINE ", " TIME(500, 490, 510));
    for (int i = 0; i < 2; i++)
        assert_ok(record_parse(texts[i], strlen(texts[i]), "r.json", NULL, &f.records[i], &error),
                  error);
    record_pair pairs[] = {{"rows", {.kind = VALUE_INTEGER, .integer = rows}}};
    record_values problem = {1, pairs};
    pick_candidate found;
    pick_rule rule =
        pick(&f.set,
             &(pick_target){
                 .gpu = "G", .major = 9, .problem = &problem, .fits = at_least, .context = &least},
             &found);
    *tile = found.configuration ? record_get(found.configuration, "tile")->integer : -1;
    for (int i = 0; i < 2; i++)
        record_deinit(&f.records[i]);
    return rule;
}

/* The default is tile 0. */
TEST(a_configuration_of_another_problem_must_be_faster_than_the_default)
{
    static const struct {
        const char *measured;
        bool is_given;
    } cases[] = {
        {BASELINE ", " TIME(900, 890, 910), true},
        {BASELINE ", " TIME(1000, 990, 1010), false},
        /* The intervals overlap, or the medians differ by less than 1 %. */
        {BASELINE ", " TIME(950, 940, 995), false},
        {BASELINE ", " TIME(980, 979, 981), true},
        {BASELINE ", " TIME(991, 985, 989), false},
        {BASELINE ", " TIME(1100, 1090, 1110), false},
        /* The default was the best on that problem. */
        {"\"baseline\": {\"configuration\": {\"tile\": 1}, " TIME(900, 890,
                                                                  910) "}, " TIME(900, 890, 910),
         false},
        /* The default has no time, because it may have been wrong. Then the entry is taken. */
        {"\"baseline\": {\"configuration\": {\"tile\": 0}}, " TIME(900, 890, 910), true},
        {"\"baseline\": null, " TIME(900, 890, 910), true},
        {"\"speedup\": 1.001, " TIME(900, 890, 910), false},
        {"\"speedup\": 1.2, " TIME(900, 890, 910), true},
        {BASELINE ", \"measured\": {\"cache\": \"warm\"}, " TIME(1000, 990, 1010), false},
        /* The objective is energy, so the times do not matter. */
        {BASELINE ", \"measured\": {\"objective\": \"energy\"}, " TIME(1000, 990, 1010), true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t tile;
        pick_rule rule = pick_beside_default(cases[i].measured, 8000, 0, &tile);
        if (rule != (cases[i].is_given ? PICK_NEAREST : PICK_DEFAULT))
            fail_msg("%s: %s", cases[i].measured, pick_rule_name(rule));
        if (cases[i].is_given)
            assert_int_equal(tile, 1);
    }
}

TEST(the_record_of_the_same_problem_is_picked)
{
    int64_t tile;
    assert_int_equal(pick_beside_default(BASELINE ", " TIME(1000, 990, 1010), 8192, 0, &tile),
                     PICK_EXACT);
    assert_int_equal(tile, 1);
}

/* The nearest entry says that the default was as fast. Then no entry of another GPU or of a
 * farther problem is picked, even if its configuration was faster than the default. */
TEST(the_nearest_possible_entry_decides)
{
    int64_t tile;
    assert_int_equal(pick_beside_default(BASELINE ", " TIME(1000, 990, 1010), 8000, 0, &tile),
                     PICK_DEFAULT);
    assert_int_equal(tile, 0);
    assert_int_equal(pick_beside_default(BASELINE ", " TIME(1000, 990, 1010), 1000, 0, &tile),
                     PICK_NEAREST);
    assert_int_equal(tile, 5);
}

TEST(if_the_default_is_impossible_slower_configurations_are_picked)
{
    int64_t tile;
    assert_int_equal(pick_beside_default(BASELINE ", " TIME(1000, 990, 1010), 8000, 1, &tile),
                     PICK_NEAREST);
    assert_int_equal(tile, 1);
}

/* No entry says which configuration is the default. The portfolio was slower than the default at
 * 64 rows, so the entry for 64 rows is picked. */
TEST(without_a_known_default_a_portfolio_slower_than_the_default_is_skipped)
{
    static const char text[] =
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"G\","
        " \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": {\"rows\": 64}, "
        "\"configuration\":"
        " {\"tile\": 9}, " TIME(
            5, 4, 6) "}], \"portfolios\": [{\"fixed\": {}, \"configurations\": [{\"tile\": 1}],"
                     " \"tree\": [{\"order\": [0]}], \"problems\": [{\"problem\": {\"rows\": 64}, "
                     "\"baseline_ns\": 5,"
                     " \"times_ns\": [9]}]}]}";
    at_error error = {0};
    fixture f = {.set = {1, f.records}};
    assert_ok(record_parse(text, strlen(text), "r.json", NULL, &f.records[0], &error), error);
    record_pair pairs[] = {{"rows", {.kind = VALUE_INTEGER, .integer = 65}}};
    record_values problem = {1, pairs};
    pick_candidate found;
    assert_int_equal(
        pick(&f.set, &(pick_target){.gpu = "G", .major = 9, .problem = &problem}, &found),
        PICK_NEAREST);
    assert_int_equal(record_get(found.configuration, "tile")->integer, 9);
    record_deinit(&f.records[0]);
}

/* Reads a record of GPU "G" that has only a portfolio with these members. */
static void read_portfolio(fixture *f, const char *members)
{
    char text[2048];
    at_error error = {0};
    *f = (fixture){.set = {1, f->records}};
    snprintf(
        text, sizeof text,
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"G\","
        " \"compute_capability\": \"9.0\", \"entries\": [], \"portfolios\": [{\"fixed\": {}, %s}]}",
        members);
    assert_ok(record_parse(text, strlen(text), "r.json", NULL, &f->records[0], &error), error);
}

/* Each row has the first test of a tree, and the number of rows (with 64 columns) for which the
 * test is true. */
TEST(a_tree_tests_divisors_and_products)
{
    static const struct {
        const char *asks;
        int64_t rows;
        bool is_so;
    } cases[] = {{"\"multiple_of\": 4", 64, true},
                 {"\"multiple_of\": 4", 66, false},
                 {"\"times\": \"cols\", \"below\": 4096", 63, true},
                 {"\"times\": \"cols\", \"below\": 4096", 64, false},
                 {"\"times\": \"none\", \"below\": 4096", 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char members[1024];
        fixture f;
        snprintf(members, sizeof members,
                 "\"configurations\": [{\"tile\": 1}, {\"tile\": 2}], \"tree\": [{\"variable\": "
                 "\"rows\","
                 " %s, \"then\": 1, \"else\": 2}, {\"order\": [0, 1]}, {\"order\": [1, 0]}]",
                 cases[i].asks);
        read_portfolio(&f, members);
        record_pair pairs[2] = {{"rows", {.kind = VALUE_INTEGER, .integer = cases[i].rows}},
                                {"cols", {.kind = VALUE_INTEGER, .integer = 64}}};
        record_values problem = {2, pairs};
        pick_candidate found;
        pick(&f.set, &(pick_target){.gpu = "G", .major = 9, .problem = &problem}, &found);
        assert_int_equal(record_get(found.configuration, "tile")->integer, cases[i].is_so ? 1 : 2);
        record_deinit(&f.records[0]);
    }
}

/* The time on the nearest problem does not matter, because the tree was made from all problems. */
TEST(a_tree_that_has_the_default_decides_alone)
{
    static const struct {
        int default_at, time_ns, tile;
        bool possible; /* whether the default, tile 0, is possible */
        pick_rule rule;
    } cases[] = {{1, 9, 1, true, PICK_PORTFOLIO},
                 {0, 4, 0, true, PICK_DEFAULT},
                 {0, 4, 1, false, PICK_PORTFOLIO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char members[1024];
        fixture f;
        snprintf(
            members, sizeof members,
            "\"configurations\": [{\"tile\": 1}], \"tree\": [{\"order\": [0], \"default_at\": %d}],"
            " \"problems\": [{\"problem\": {\"rows\": 64}, \"baseline_ns\": 5, \"times_ns\": "
            "[%d]}]",
            cases[i].default_at, cases[i].time_ns);
        read_portfolio(&f, members);
        record_pair pairs[] = {{"rows", {.kind = VALUE_INTEGER, .integer = 65}}};
        record_pair tile[] = {{"tile", {.kind = VALUE_INTEGER, .integer = 0}}};
        record_values problem = {1, pairs}, fallback = {1, tile};
        int least = cases[i].possible ? 0 : 1;
        const pick_target target = {.gpu = "G",
                                    .major = 9,
                                    .problem = &problem,
                                    .fallback = &fallback,
                                    .fits = at_least,
                                    .context = &least};
        pick_candidate found;
        assert_int_equal(pick(&f.set, &target, &found), cases[i].rule);
        assert_int_equal(record_get(found.configuration, "tile")->integer, cases[i].tile);
        record_deinit(&f.records[0]);
    }
}

TEST(damaged_portfolios_are_refused)
{
    static const char *const damages[][2] = {
        {"[2, 0, 1]", "[2, 2, 1]"},
        {"[2, 0, 1]", "[2, 0, 3]"},
        {"[2, 0, 1]", "[2, 0]"},
        {"\"then\": 1", "\"then\": 0"},
        {"\"then\": 1", "\"then\": 9"},
        {"4096", "\"x\""},
        {"[90, 80, null]", "[90]"},
        {"\"rows\", \"below\"", "\"a b\", \"below\""},
        {"\"below\": 4096", "\"asks\": 1"},
        {"\"below\": 4096", "\"multiple_of\": 0"},
        {"\"below\": 4096", "\"multiple_of\": 4.5"},
        {"\"below\": 4096", "\"multiple_of\": 4, \"below\": 4"},
        {"\"below\": 4096", "\"times\": \"rows\", \"multiple_of\": 4"},
        {"\"below\": 4096", "\"times\": 3, \"below\": 4"},
        {"[2, 0, 1]", "[2, 0, 1], \"default_at\": 4"},
        {"[2, 0, 1]", "[2, 0, 1], \"default_at\": -1"},
        {"[2, 0, 1]", "[2, 0, 1], \"default_at\": \"0\""}};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char text[sizeof portfolio + 64];
        at_error error = {0};
        record r;
        const char *at = strstr(portfolio, damages[i][0]);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - portfolio), portfolio, damages[i][1],
                 at + strlen(damages[i][0]));
        assert_int_equal(record_parse(text, strlen(text), "r.json", NULL, &r, &error), AT_FORMAT);
    }
}

TEST(the_scale_is_log2_at_powers_of_two_and_monotone)
{
    for (int k = 0; k < 62; k++)
        assert_true(pick_scale(ldexp(1, k) - 1) == k || k > 52);
    double last = pick_scale(-1e6);
    for (double x = -1e6; x < 1e6; x += 977.3) {
        assert_true(pick_scale(x) >= last);
        assert_true(pick_scale(-x) == -pick_scale(x));
        last = pick_scale(x);
    }
    assert_true(isfinite(pick_scale(INFINITY)));
}

/* ---- distances, compared with a plain sum ---- */

static double value_distance(value a, value b)
{
    if (value_is_number(a) && value_is_number(b))
        return fabs(pick_scale(value_number(a)) - pick_scale(value_number(b)));
    return value_equal(a, b) ? 0 : 256;
}

static double distance_of(const record_values *a, const record_values *b)
{
    double d = 0;
    for (size_t i = 0; i < a->count; i++) {
        const value *v = record_get(b, a->pairs[i].name);
        d += v ? value_distance(a->pairs[i].value, *v) : 256;
    }
    for (size_t i = 0; i < b->count; i++)
        d += record_get(a, b->pairs[i].name) ? 0 : 256;
    return d;
}

enum { DRAWN = 200, VARIABLES = 5 };

/* Draws a problem. It has sizes, a type, a variable that some problems lack, and a variable that
 * is a number or a boolean. */
static record_values draw(rng *r, record_pair pairs[VARIABLES])
{
    static const char *const dtypes[] = {"float", "double", "half"};
    size_t n = 0;
    const int64_t size = (int64_t)rng_below(r, 40);
    pairs[n++] = (record_pair){"n", {.kind = VALUE_INTEGER, .integer = 128 * size}};
    pairs[n++] = (record_pair){"m", {.kind = VALUE_NUMBER, .number = (double)rng_below(r, 9)}};
    if (rng_below(r, 3))
        pairs[n++] = (record_pair){"dtype", {.kind = VALUE_STRING, .string = dtypes[size % 3]}};
    if (rng_below(r, 4) == 0)
        pairs[n++] = size % 2 ? (record_pair){"k", {.kind = VALUE_INTEGER, .integer = size}}
                              : (record_pair){"k", {.kind = VALUE_BOOLEAN, .boolean = true}};
    return (record_values){n, pairs};
}

TEST(a_distance_is_the_sum_over_the_variables_of_both)
{
    static record_pair pairs[DRAWN][VARIABLES];
    static record_entry entries[DRAWN];
    record from = {.gpu = "G", .entry_count = DRAWN, .entries = entries};
    const record_set set = {.count = 1, .records = &from};
    pick_table t;
    rng r = rng_seeded(13);
    for (size_t i = 0; i < DRAWN; i++)
        entries[i] = (record_entry){.problem = draw(&r, pairs[i])};
    assert_int_equal(pick_table_make(&set, &t, NULL), AT_OK);
    for (int n = 0; n < DRAWN; n++) {
        record_pair own[VARIABLES];
        double distances[DRAWN];
        record_values problem = draw(&r, own);
        if (n % 5 == 0)
            own[problem.count++] = (record_pair){"elsewhere", {.kind = VALUE_INTEGER}};
        assert_true(pick_table_distances(&t, &problem, distances));
        for (size_t i = 0; i < t.problems.count; i++)
            assert_true(fabs(distances[i] - distance_of(&problem, t.problems.members[i])) < 1e-9);
    }
    pick_table_deinit(&t);
}

/* Draws a problem of the records and changes some of its sizes. */
static record_values draw_problem(rng *r, const record_set *set, record_pair pairs[])
{
    const record *from = &set->records[rng_below(r, set->count)];
    const record_values *like = &from->entries[rng_below(r, from->entry_count)].problem;
    memcpy(pairs, like->pairs, like->count * sizeof *pairs);
    for (size_t i = 0; i < like->count; i++)
        if (pairs[i].value.kind == VALUE_INTEGER && rng_below(r, 2))
            pairs[i].value.integer = 1 + (int64_t)rng_below(r, 20000);
    return (record_values){like->count - rng_below(r, 2), pairs};
}

/* The order must be that of a plain sort. */
TEST(candidates_come_by_rule_then_distance)
{
    record_set set;
    pick_table made;
    rng r = rng_seeded(5);
    at_error error = {0};
    assert_ok(record_load_all(TEST_SOURCE_DIR "/results", "conv2d", &set, &error), error);
    assert_ok(pick_table_make(&set, &made, &error), error);
    for (int n = 0; n < 60; n++) {
        record_pair pairs[RECORD_MAX_VALUES];
        const record_values problem = draw_problem(&r, &set, pairs);
        const pick_target target = {
            .gpu = n % 2 ? "NVIDIA H200" : "?", .major = 9, .problem = &problem};
        pick_walk w;
        pick_candidate last = {0}, next;
        size_t entries = 0, all = 0;
        pick_walk_begin(&w, &made, &target);
        while (pick_walk_next(&w, &next)) {
            assert_true(next.rule > last.rule ||
                        (next.rule == last.rule && next.distance >= last.distance));
            if (next.entry) {
                entries++;
                const double distance = distance_of(&next.entry->problem, &problem);
                assert_true(next.distance > distance - 1e-9 && next.distance < distance + 1e-9);
            }
            last = next;
        }
        pick_walk_end(&w);
        for (size_t i = 0; i < set.count; i++)
            all += set.records[i].entry_count;
        assert_int_equal(entries, all);
    }
    pick_table_deinit(&made);
    record_set_deinit(&set);
}
