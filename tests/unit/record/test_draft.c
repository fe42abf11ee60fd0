/* Tests how portfolios are written into records. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "record/merge.h"
#include "record/pick.h"
#include "temporary.h"

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
    arch_limits gpu;
    record_pair fixed[1], configuration[2], problem[2];
    record_values configurations[2];
    record_node nodes[3];
    record_portfolio portfolio;
    int64_t times_ns[2];
    draft_problem row;
    portfolio_draft draft;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    temporary_make(f->folder);
    snprintf(f->gpu.name, sizeof f->gpu.name, "NVIDIA X");
    f->gpu.major = 9;
    f->fixed[0] = (record_pair){"dtype", {.kind = VALUE_STRING, .string = "float"}};
    for (int i = 0; i < 2; i++) {
        f->configuration[i] = (record_pair){"tile", {.kind = VALUE_INTEGER, .integer = 16 << i}};
        f->configurations[i] = (record_values){1, &f->configuration[i]};
    }
    f->nodes[0] = (record_node){.variable = "rows",
                                .multiple_of = 4,
                                .then = 1,
                                .otherwise = 2,
                                .bound = {.kind = VALUE_INTEGER, .integer = 4}};
    f->nodes[1] = (record_node){.order = {1, 0}, .has_default = true, .default_at = 1};
    f->nodes[2] = (record_node){.order = {0, 1}};
    f->portfolio = (record_portfolio){.fixed = {1, f->fixed},
                                      .configuration_count = 2,
                                      .configurations = f->configurations,
                                      .node_count = 3,
                                      .nodes = f->nodes,
                                      .held_out = 7,
                                      .mean_regret = 0.0125,
                                      .worst_regret = 0.05,
                                      .date = "2026-01-01T00:00:00Z"};
    f->problem[0] = (record_pair){"rows", {.kind = VALUE_INTEGER, .integer = 63}};
    f->problem[1] = f->fixed[0];
    f->times_ns[0] = 120;
    f->row = (draft_problem){{2, f->problem}, 100, f->times_ns};
    f->draft = (portfolio_draft){"p", &f->gpu, &f->portfolio, 1, &f->row, "s", "t"};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    temporary_remove(((fixture *)*state)->folder);
    free(*state);
    return 0;
}

static void merge(fixture *f, char path[4096])
{
    at_error error = {0};
    assert_ok(draft_merge(f->folder, &f->draft, path, 4096, &error), error);
}

TEST_IN(what_was_merged_is_read_and_picked, setup, teardown)
{
    fixture *f = *state;
    char path[4096];
    at_error error = {0};
    record r;
    merge(f, path);
    assert_ok(record_read(path, &r, &error), error);
    assert_int_equal(r.portfolio_count, 1);
    assert_int_equal(r.portfolios[0].held_out, 7);
    assert_float_equal(r.portfolios[0].mean_regret, 0.0125, 1e-9);
    assert_true(r.portfolios[0].nodes[1].has_default && !r.portfolios[0].nodes[2].has_default);
    assert_int_equal(r.portfolios[0].nodes[1].default_at, 1);
    record_set set = {.count = 1, .records = &r};
    for (int64_t rows = 62; rows < 66; rows++) {
        record_pair pairs[] = {{"rows", {.kind = VALUE_INTEGER, .integer = rows}}, f->fixed[0]};
        record_values problem = {2, pairs};
        pick_candidate found;
        pick(&set, &(pick_target){.gpu = "NVIDIA X", .major = 9, .problem = &problem}, &found);
        /* The first configuration was slower than the default on a problem nearby. */
        assert_int_equal(record_get(found.configuration, "tile")->integer, 32);
    }
    record_deinit(&r);
}

/* Computes the feature "the tile divided by 10". Returns false for other features. */
static bool tell_tile(void *context, const record_feature *feature,
                      const record_values *configuration, double *out)
{
    *(int *)context += 1;
    *out = (double)record_get(configuration, "tile")->integer / 10;
    return strcmp(feature->name, "tenth") == 0 && strcmp(feature->definition, "tile / 10") == 0;
}

static const record_values *picked(const record *r, pick_feature ask, int *asked)
{
    record_pair pairs[] = {{"rows", {.kind = VALUE_INTEGER, .integer = 9999}},
                           {"dtype", {.kind = VALUE_STRING, .string = "float"}}};
    const record_values problem = {2, pairs};
    pick_candidate found;
    *asked = 0;
    pick(&(record_set){.count = 1, .records = (record *)(uintptr_t)r},
         &(pick_target){
             .gpu = "NVIDIA X", .major = 9, .problem = &problem, .ask = ask, .context = asked},
         &found);
    return found.configuration;
}

/* The tree's question is about a feature of the second configuration. */
TEST_IN(a_feature_in_a_tree_is_read_and_evaluated, setup, teardown)
{
    fixture *f = *state;
    record_feature features[] = {{"unused", "n"}, {"tenth", "tile / 10"}};
    char path[4096];
    at_error error = {0};
    int asked;
    f->portfolio.feature_count = 2;
    f->portfolio.features = features;
    f->nodes[0].feature = &features[1];
    f->nodes[0].variable = features[1].name;
    f->nodes[0].is_of_one = true;
    f->nodes[0].of = 1;
    f->nodes[0].times = NULL;
    f->nodes[0].multiple_of = 0;
    f->nodes[1].default_at = 2;
    f->nodes[2].has_default = true;
    f->nodes[2].default_at = 2;
    const int64_t second = record_get(&f->configurations[1], "tile")->integer;
    for (int below = 0; below < 2; below++) {
        record r;
        f->nodes[0].bound =
            (value){.kind = VALUE_NUMBER, .number = (double)second / 10 + (below ? 0.5 : -0.5)};
        merge(f, path);
        assert_ok(record_read(path, &r, &error), error);
        assert_int_equal(r.portfolio_count, 1);
        assert_int_equal(r.portfolios[0].feature_count, 1);
        assert_string_equal(r.portfolios[0].features[0].definition, "tile / 10");
        assert_int_equal(r.portfolios[0].nodes[0].of, 1);
        const record_values *found = picked(&r, tell_tile, &asked);
        assert_non_null(found);
        assert_true(asked > 0);
        assert_true(record_same_values(found, &f->configurations[below]));
        /* The script has no such feature, or defines it differently. */
        assert_null(picked(&r, NULL, &asked));
        r.portfolios[0].features[0].definition = "tile / 11";
        assert_null(picked(&r, tell_tile, &asked));
        record_deinit(&r);
    }
}

TEST_IN(a_later_portfolio_of_the_same_kind_replaces_the_earlier, setup, teardown)
{
    fixture *f = *state;
    char path[4096];
    at_error error = {0};
    record r;
    merge(f, path);
    f->portfolio.held_out = 9;
    merge(f, path);
    f->fixed[0].value.string = "half";
    merge(f, path);
    assert_ok(record_read(path, &r, &error), error);
    assert_int_equal(r.portfolio_count, 2);
    assert_int_equal(r.portfolios[0].held_out, 9);
    assert_string_equal(r.portfolios[1].fixed.pairs[0].value.string, "half");
    record_deinit(&r);
}

TEST_IN(what_else_is_in_the_file_stays, setup, teardown)
{
    fixture *f = *state;
    static const char old[] = "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": "
                              "\"p\", \"gpu\": \"NVIDIA X\","
                              " \"compute_capability\": \"9.0\", \"later\": 5, \"entries\": "
                              "[{\"problem\": {\"rows\": 64},"
                              " \"configuration\": {\"tile\": 9}, \"time\": {\"median_ns\": 5, "
                              "\"low_ns\": 4, \"high_ns\": 6}}]}";
    char path[4096], *text;
    at_error error = {0};
    record r;
    snprintf(path, sizeof path, "%s/nvidia-x", f->folder);
    assert_ok(file_make_folder(path, &error), error);
    strcat(path, "/p.json");
    assert_ok(file_replace(path, old, strlen(old), &error), error);
    merge(f, path);
    assert_ok(record_read(path, &r, &error), error);
    assert_int_equal(r.entry_count, 1);
    assert_int_equal(r.portfolio_count, 1);
    record_deinit(&r);
    assert_ok(file_read(path, 1 << 20, &text, NULL, &error), error);
    assert_non_null(strstr(text, "\"later\": 5"));
    free(text);
}

TEST_IN(what_was_impossible_has_no_time, setup, teardown)
{
    fixture *f = *state;
    char *text;
    at_error error = {0};
    f->row.baseline_ns = 0;
    assert_ok(draft_format(&f->draft, &text, &error), error);
    assert_non_null(strstr(text, "[120,null]"));
    assert_null(strstr(text, "baseline_ns"));
    free(text);
}
