/* Tests the shipped patterns and the patterns of other tests. Each script must load, and each
 * space must have about the expected size. Sampled variants of the tuned, the ragged and the
 * simulated problem must compile without a warning. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "compile/compile.h"
#include "script/emit.h"
#include "script/script.h"

enum { MOST_PARAMETERS = 64, SAMPLES = 1, MOST_MEMBERS = 256 };

typedef struct subject {
    const char *path;     /* path in the source tree */
    uint64_t least, most; /* limits of the number of valid configurations of the tuned problem */
    bool may_spill;       /* whether variants may spill: the pattern studies spilling */
} subject;

static const subject subjects[] = {
    {"lua/aos_soa.lua", 100, 4000, false},
    {"lua/bank_conflict.lua", 60, 8000, false},
    {"lua/ceilings/atomics.lua", 40, 40, false},
    {"lua/ceilings/copy.lua", 96, 96, false},
    {"lua/ceilings/flops.lua", 45, 45, false},
    {"lua/ceilings/l1.lua", 26, 26, false},
    {"lua/ceilings/l2.lua", 60, 108, false},
    {"lua/ceilings/launches.lua", 6, 6, false},
    {"lua/ceilings/read.lua", 144, 144, false},
    {"lua/ceilings/shared.lua", 36, 36, false},
    {"lua/ceilings/write.lua", 144, 144, false},
    {"lua/batched_transpose.lua", 1000, 4000, false},
    {"lua/conv2d.lua", 500, 4000, false},
    {"lua/dot.lua", 1000, 8000, false},
    {"lua/gather.lua", 500, 4000, false},
    {"lua/histogram.lua", 500, 4000, false},
    {"lua/loop_order.lua", 500, 4000, false},
    {"lua/matmul.lua", 500, 8000, true}, /* spills a few bytes */
    {"lua/misaligned.lua", 500, 8000, false},
    {"lua/rgb.lua", 500, 4000, false},
    {"lua/spill.lua", 1000, 8000, true},
    {"lua/stencil1d.lua", 500, 4000, false},
    {"lua/strided.lua", 500, 8000, false},
    {"lua/transpose.lua", 2000, 8000, false},
    {"lua/vector_add.lua", 50, 100, false},
    {"tests/bench/transpose_132.lua", 132, 132, false},
};

static script *load_for(const char *arch, const char *path, const script_setting *settings,
                        size_t setting_count)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", TEST_SOURCE_DIR, path);
    script_options options = {.lua_dir = TEST_SOURCE_DIR "/lua",
                              .template_dir = TEST_SOURCE_DIR "/templates",
                              .settings = settings,
                              .setting_count = setting_count};
    at_error error = {0};
    assert_ok(arch_find(arch, &options.device, &error), error);
    script *s;
    assert_ok(script_load(name, &options, &s, &error), error);
    return s;
}

static script *load(const char *path, const script_setting *settings, size_t setting_count)
{
    return load_for("sm_90", path, settings, setting_count);
}

/* Sources that are being compiled. Compiling many sources together takes half the time. */
typedef struct batch {
    compile_pool *pool;
    const char *arch;
    bool may_spill;
    size_t count;
    struct {
        emitted source;
        char what[1024], entries[PLAN_ENTRIES_BYTES];
    } members[MOST_MEMBERS];
} batch;

/* Submits a source to the compiler. The batch keeps the source until its result arrives. */
static void submit(batch *b, const char *what, const launch_plan *plan, const emitted *source)
{
    at_error error = {0};
    assert_true(b->count < MOST_MEMBERS);
    size_t i = b->count++;
    b->members[i].source = *source;
    snprintf(b->members[i].what, sizeof b->members[i].what, "%s", what);
    plan_entries(plan, b->members[i].entries);
    const compile_request request = {.id = i,
                                     .source = source->source,
                                     .name = b->members[i].what,
                                     .entry = b->members[i].entries,
                                     .arch = b->arch,
                                     .options = source->options,
                                     .option_count = source->option_count,
                                     .headers = source->includes.headers,
                                     .header_count = source->includes.count};
    assert_ok(compile_submit(b->pool, &request, &error), error);
}

/* Returns the number of variants sampled for each problem: $AUTOTUNE_SAMPLES, or SAMPLES. */
static int samples_wanted(void)
{
    const char *wanted = getenv("AUTOTUNE_SAMPLES");
    return wanted ? atoi(wanted) : SAMPLES;
}

/* Returns whether the kernel has an array in local memory, which its template must avoid. Spills
 * do not count, because some variants need more registers than exist. The tuner reports spills. */
static bool is_in_memory(const kernel_resources *r)
{
    return r->stack_bytes > 0 && (samples_wanted() == SAMPLES || r->spill_store_bytes == 0);
}

static void take_all(batch *b)
{
    for (size_t n = 0; n < b->count; n++) {
        at_error error = {0};
        compile_result result;
        assert_ok(compile_take(b->pool, 120 * 1000, &result, &error), error);
        assert_true(result.id < b->count);
        const char *what = b->members[result.id].what;
        emitted *source = &b->members[result.id].source;
        if (result.outcome != COMPILE_OK || strstr(result.log, "warning"))
            fail_msg("%s: %s\n%s", what, result.log, source->source);
        if (!b->may_spill && is_in_memory(&result.resources))
            fail_msg("%s: %u bytes of stack\n%s", what, result.resources.stack_bytes,
                     source->source);
        compile_result_deinit(&result);
    }
    for (size_t i = 0; i < b->count; i++)
        emitted_deinit(&b->members[i].source);
    b->count = 0;
}

static void submit_reference(batch *b, script *s, problem_kind problem)
{
    at_error error = {0};
    emitted source;
    launch_plan plan;
    if (!script_pattern(s)->reference_path)
        return;
    assert_ok(script_reference_plan(s, problem, NULL, &plan, &error), error);
    assert_ok(emit_reference(s, problem, NULL, true, &source, &error), error);
    submit(b, "reference", &plan, &source);
}

static void submit_variant(batch *b, script *s, problem_kind problem, const space *all, rng *random)
{
    at_error error = {0};
    uint16_t indices[MOST_PARAMETERS];
    char what[1024];
    emitted source;
    launch_plan launch;
    space_at(all, rng_below(random, space_count(all)), indices);
    script_format_configuration(s, indices, what, sizeof what);
    assert_ok(emit_variant(s, problem, indices, true, &source, &error), error);
    assert_ok(script_launch_plan(s, problem, indices, &launch, &error), error);
    submit(b, what, &launch, &source);
}

static void submit_sample(batch *b, script *s, problem_kind problem)
{
    at_error error = {0};
    space *all;
    problem_plan plan;
    assert_ok(script_space(s, problem, &all, &error), error);
    assert_ok(script_problem_plan(s, problem, NULL, 1, &plan, &error), error);
    assert_true(plan.traffic_bytes > 0 || plan.flops > 0 || plan.items > 0);
    submit_reference(b, s, problem);
    rng random = rng_seeded(problem);
    for (int i = 0; i < samples_wanted(); i++)
        submit_variant(b, s, problem, all, &random);
    space_free(all);
}

TEST(every_pattern_emits_variants_that_compile_without_warnings)
{
    at_error error = {0};
    batch *b = *state;
    b->arch = "sm_90";
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        script *s = load(subjects[i].path, NULL, 0);
        const pattern *p = script_pattern(s);
        space *all;
        assert_ok(script_space(s, PROBLEM_TUNED, &all, &error), error);
        if (space_count(all) < subjects[i].least || space_count(all) > subjects[i].most)
            fail_msg("%s: %llu configurations", p->name, (unsigned long long)space_count(all));
        space_free(all);
        for (int problem = 0; problem < PROBLEM_KINDS; problem++)
            if (p->has_problem[problem] || problem == PROBLEM_TUNED)
                submit_sample(b, s, (problem_kind)problem);
        b->may_spill = subjects[i].may_spill;
        take_all(b);
        script_free(s);
    }
}

TEST(every_pattern_compiles_for_every_architecture)
{
    static const char *const archs[] = {"sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"};
    at_error error = {0};
    batch *b = *state;
    b->may_spill = true;
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
        b->arch = archs[a];
        for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
            script *s = load_for(archs[a], subjects[i].path, NULL, 0);
            space *all;
            assert_ok(script_space(s, PROBLEM_TUNED, &all, &error), error);
            rng random = rng_seeded(a);
            submit_variant(b, s, PROBLEM_TUNED, all, &random);
            space_free(all);
            script_free(s);
        }
        take_all(b);
    }
}

TEST(every_baseline_is_a_valid_configuration)
{
    at_error error = {0};
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        script *s = load(subjects[i].path, NULL, 0);
        const pattern *p = script_pattern(s);
        for (int problem = 0; problem < PROBLEM_KINDS; problem++) {
            bool valid;
            size_t broken;
            assert_ok(script_valid(s, (problem_kind)problem, p->baseline, &valid, &broken, &error),
                      error);
            if (!valid)
                fail_msg("%s: the baseline breaks \"%s\"", p->name, p->constraints[broken].text);
        }
        script_free(s);
    }
}

TEST(every_start_is_a_valid_configuration_of_the_problem_that_scripts_name)
{
    static const char *const paths[] = {"lua/matmul.lua", "lua/transfer.lua"};
    at_error error = {0};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        script *s = load(paths[i], NULL, 0);
        const pattern *p = script_pattern(s);
        assert_true(p->start_count > 0);
        for (size_t k = 0; k < p->start_count; k++) {
            bool valid;
            size_t broken;
            assert_ok(script_valid(s, PROBLEM_TUNED, p->starts[k], &valid, &broken, &error), error);
            if (!valid)
                fail_msg("%s: start %zu breaks \"%s\"", p->name, k + 1,
                         p->constraints[broken].text);
        }
        script_free(s);
    }
}

TEST(transpose_compiles_for_every_element_type_and_for_odd_sizes)
{
    batch *b = *state;
    b->arch = "sm_90";
    b->may_spill = false;
    static const script_setting variations[][3] = {
        {{"dtype", "double"}, {"rows", "8192"}, {"cols", "8192"}},
        {{"dtype", "half"}, {"rows", "8192"}, {"cols", "4096"}},
        {{"dtype", "int8"}, {"rows", "1000"}, {"cols", "3000"}},
        {{"dtype", "float"}, {"rows", "1001"}, {"cols", "7"}},
        {{"dtype", "float"}, {"rows", "1"}, {"cols", "1"}},
        {{"dtype", "float"}, {"rows", "65536"}, {"cols", "131072"}},
    };
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++) {
        script *s = load("lua/transpose.lua", variations[i], 3);
        submit_sample(b, s, PROBLEM_TUNED);
        take_all(b);
        script_free(s);
    }
}

TEST(a_divisible_problem_has_no_bounds_checks_and_a_ragged_one_has)
{
    at_error error = {0};
    script *s = load("lua/transpose.lua", NULL, 0);
    static const bool checked[PROBLEM_KINDS] = {[PROBLEM_RAGGED] = true};
    for (int problem = 0; problem < PROBLEM_KINDS; problem++) {
        emitted source;
        assert_ok(emit_variant(s, (problem_kind)problem, script_pattern(s)->baseline, false,
                               &source, &error),
                  error);
        assert_int_equal(strstr(source.source, "continue") != NULL, checked[problem]);
        emitted_deinit(&source);
    }
    script_free(s);
}

static uint32_t cluster_of(script *s, problem_kind problem, const uint16_t *indices)
{
    at_error error = {0};
    launch_plan launch;
    assert_ok(script_launch_plan(s, problem, indices, &launch, &error), error);
    return launch.launches[0].cluster[0];
}

/* Counts variants of sums of columns. *may gets the number of variants whose blocks may share
 * columns. *do_share gets the number of these whose blocks share columns on a checked problem. */
static void count_sharing(const char *arch, const char *type, size_t *may, size_t *do_share)
{
    const script_setting settings[] = {{"axis", "columns"}, {"dtype", type}};
    at_error error = {0};
    space *all;
    script *s = load_for(arch, "lua/loop_order.lua", settings, 2);
    assert_ok(script_space(s, PROBLEM_TUNED, &all, &error), error);
    *may = *do_share = 0;
    for (uint64_t i = 0; i < space_count(all); i++) {
        uint16_t indices[MOST_PARAMETERS];
        char text[1024];
        bool shares = false;
        space_at(all, i, indices);
        script_format_configuration(s, indices, text, sizeof text);
        if (!strstr(text, "cluster=8"))
            continue;
        for (size_t k = 0; k < script_pattern(s)->ragged_count; k++) {
            bool valid;
            problem_kind ragged = (problem_kind)(PROBLEM_RAGGED + k);
            assert_ok(script_valid(s, ragged, indices, &valid, NULL, &error), error);
            shares = shares || (valid && cluster_of(s, ragged, indices) > 1);
        }
        ++*may;
        *do_share += shares;
    }
    space_free(all);
    script_free(s);
}

TEST(shared_columns_are_checked_on_problems_where_blocks_share_them)
{
    static const char *const types[] = {"float", "double", "half", "int32", "uint8"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t may, do_share;
        count_sharing("sm_90", types[i], &may, &do_share);
        assert_true(may > 50);
        if (do_share != may)
            fail_msg("%s: of %zu variants %zu are checked as parts of clusters", types[i], may,
                     do_share);
    }
    /* Blocks share columns only within clusters, which sm_80 does not have. */
    size_t may, do_share;
    count_sharing("sm_80", "float", &may, &do_share);
    assert_int_equal(may, 0);
}

/* Returns the first launch of the configuration on the script's problem. */
static kernel_launch launch_of(const char *arch, const char *path, const script_setting *settings,
                               size_t count, const char *configuration)
{
    at_error error = {0};
    uint16_t indices[MOST_PARAMETERS];
    launch_plan plan;
    script *s = load_for(arch, path, settings, count);
    assert_ok(script_parse_configuration(s, configuration, indices, &error), error);
    assert_ok(script_launch_plan(s, PROBLEM_TUNED, indices, &plan, &error), error);
    script_free(s);
    return plan.launches[0];
}

/* The number of a tile's columns must not depend on the width of loads that the rows allow. */
TEST(the_columns_of_a_tile_do_not_depend_on_the_width_of_loads)
{
    static const struct {
        const char *cols;
        uint32_t grid;
    } widths[] = {{"1024", 32 * 8}, {"1022", 32 * 8}, {"1023", 32 * 8}, {"33", 2 * 8}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const script_setting settings[] = {
            {"axis", "columns"}, {"rows", "12872"}, {"cols", widths[i].cols}};
        static const char taken[] = "algorithm=tile,block=512,lanes=8,cluster=8,vec=4,unroll=2";
        const kernel_launch launch = launch_of("sm_90", "lua/loop_order.lua", settings, 3, taken);
        assert_int_equal(launch.grid[0], widths[i].grid);
        assert_int_equal(launch.block[0], 512);
        assert_int_equal(launch.cluster[0], 8);
    }
}

/* The size of a team is derived from the elements of a thread, or from the threads that occupy
 * enough multiprocessors. */
TEST(teams_grow_with_the_row_and_if_there_are_few_rows)
{
    static const struct {
        const char *rows, *cols, *waves;
        uint32_t grid, threads;
    } teams[] = {
        {"560", "500", "0", 560 / 4, 4 * 32}, /* one warp for each row */
        {"4844", "1470", "0", 4844, 128},     {"977", "2756", "0", 977, 256},
        {"4463", "6206", "0", 4463, 512},     {"863", "15458", "0", 863, 1024},
        {"560", "4096", "2", 560, 512},       {"9000", "4096", "2", 9000, 256},
        {"100", "1024", "2", 100, 256}, /* a team has no more threads than loads */
    };
    for (size_t i = 0; i < sizeof teams / sizeof *teams; i++) {
        const script_setting settings[] = {{"rows", teams[i].rows}, {"cols", teams[i].cols}};
        char taken[100];
        snprintf(taken, sizeof taken,
                 "algorithm=team,block=128,share=16,waves=%s,vec=4,unroll=2,load_hint=streaming",
                 teams[i].waves);
        const kernel_launch launch = launch_of("sm_90", "lua/loop_order.lua", settings, 2, taken);
        assert_int_equal(launch.grid[0], teams[i].grid);
        assert_int_equal(launch.block[0], teams[i].threads);
    }
}

static int start_pool(void **state)
{
    at_error error = {0};
    const compile_options options = {.jobs = 1, .use_cache = true};
    batch *b = calloc(1, sizeof *b);
    assert_non_null(b);
    if (compile_pool_new(&options, &b->pool, &error))
        fail_msg("%s", error.message);
    *state = b;
    return 0;
}

static int stop_pool(void **state)
{
    batch *b = *state;
    compile_pool_free(b->pool);
    free(b);
    return 0;
}

TEST(on_gpus_with_clusters_blocks_share_the_tiles_of_small_products)
{
    static const script_setting few[] = {{"m", "128"}, {"n", "128"}, {"k", "1024"}};
    static const script_setting large[] = {{"m", "32768"}, {"n", "32768"}, {"k", "1024"}};
    script *many = load("lua/matmul.lua", large, 3), *s = load("lua/matmul.lua", few, 3);
    script *older = load_for("sm_80", "lua/matmul.lua", few, 3);
    const pattern *p = script_pattern(s);
    size_t sharing = 0;
    for (size_t i = 0; i < p->start_count; i++) {
        char text[CONFIGURATION_BYTES];
        script_format_configuration(s, p->starts[i], text, sizeof text);
        bool may = strstr(text, "overhead=0") == NULL;
        sharing += may;
        assert_int_equal(cluster_of(many, PROBLEM_TUNED, p->starts[i]), 1);
        bool valid;
        size_t broken;
        at_error error = {0};
        assert_ok(script_valid(older, PROBLEM_TUNED, p->starts[i], &valid, &broken, &error), error);
        assert_int_equal(valid, !may);
        /* Each variant that may share a tile is checked on a problem in which it shares tiles. */
        assert_int_equal(cluster_of(s, PROBLEM_TUNED, p->starts[i]) > 1, may);
        assert_int_equal(cluster_of(s, PROBLEM_RAGGED, p->starts[i]) > 1, may);
    }
    assert_true(sharing > 0);
    script_free(many);
    script_free(s);
    script_free(older);
}

/* If there are few tiles, many blocks share a tile. With more tiles, fewer blocks share a tile:
 * the number with which the product ends soonest. With very many tiles, blocks share none. */
TEST(the_fastest_number_of_blocks_shares_a_tile)
{
    static const struct {
        const char *m, *n, *k;
        uint32_t least, most;
    } products[] = {
        {"132", "512", "4096", 8, 8},  {"143", "1565", "2782", 4, 8}, {"512", "256", "2048", 5, 8},
        {"653", "1399", "1024", 2, 4}, {"2048", "4352", "512", 1, 2}, {"132", "512", "16", 1, 2},
    };
    static const char tile[] =
        "algorithm=tile,tile_m=64,tile_n=128,tile_k=8,thread_m=8,thread_n=8,lanes_m=4,"
        "layout_a=columns,pad=4,vec=4,staging=async,stages=4,unroll=8,registers=168,group=8,"
        "overhead=2";
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const script_setting settings[] = {
            {"m", products[i].m}, {"n", products[i].n}, {"k", products[i].k}};
        const kernel_launch launch = launch_of("sm_90", "lua/matmul.lua", settings, 3, tile);
        if (launch.cluster[0] < products[i].least || launch.cluster[0] > products[i].most)
            fail_msg("%s x %s x %s: %u blocks", products[i].m, products[i].n, products[i].k,
                     launch.cluster[0]);
    }
}

TEST_GROUP(start_pool, stop_pool)
