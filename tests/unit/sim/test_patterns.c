/* Tests each algorithm of each pattern on the simulated device. Its kernels must be right, and
 * mistakes in its template must be found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/problem.h"
#include "check.h"
#include "compile/compile.h"
#include "script/emit.h"
#include "script/script.h"
#include "sim/sim.h"

enum { MOST_VALUES = 32 }; /* largest number of values of a parameter */
enum { SAMPLE = 2 };       /* configurations of a sample that are checked even with old values */

static bool is_sample;
static size_t most_checked = SIZE_MAX; /* largest number of checked configurations of a pattern */

typedef struct bench {
    script *script;
    compile_pool *pool;
    device *device;
    device_slot slot;
    compile_result reference;
    problem_kind problem;
} bench;

static compile_result compile(bench *b, const emitted *source, const launch_plan *launch)
{
    at_error error = {0};
    compile_result r;
    char entries[PLAN_ENTRIES_BYTES];
    plan_entries(launch, entries);
    assert_ok(compile_submit(b->pool,
                             &(compile_request){.source = source->source,
                                                .name = "variant.cu",
                                                .entry = entries,
                                                .arch = "sm_90",
                                                .options = source->options,
                                                .option_count = source->option_count,
                                                .headers = source->includes.headers,
                                                .header_count = source->includes.count,
                                                .want_ptx = true},
                             &error),
              error);
    assert_ok(compile_take(b->pool, -1, &r, &error), error);
    if (r.outcome != COMPILE_OK)
        fail_msg("%s", r.log);
    return r;
}

static device_image image_of(const compile_result *r)
{
    return (device_image){.bytes = r->ptx,
                          .size_bytes = r->ptx_bytes,
                          .registers = r->resources.registers,
                          .static_shared_bytes = r->resources.static_shared_bytes,
                          .symbols = r->symbols};
}

static void open_bench(bench *b, const char *path, const script_setting *settings, size_t count)
{
    at_error error = {0};
    char name[4096];
    snprintf(name, sizeof name, "%s/lua/%s", TEST_SOURCE_DIR, path);
    script_options options = {.lua_dir = TEST_SOURCE_DIR "/lua",
                              .template_dir = TEST_SOURCE_DIR "/templates",
                              .settings = settings,
                              .setting_count = count};
    device_problem *problem = calloc(1, sizeof *problem);
    assert_non_null(problem);
    *b = (bench){0};
    assert_ok(device_sim_api.open("sim:sm_90", &b->device, &error), error);
    options.device = device_sim_api.properties(b->device)->limits;
    assert_ok(script_load(name, &options, &b->script, &error), error);
    b->problem =
        script_pattern(b->script)->has_problem[PROBLEM_RAGGED] ? PROBLEM_RAGGED : PROBLEM_SIMULATED;
    assert_ok(compile_pool_new(&(compile_options){.jobs = 1, .use_cache = true}, &b->pool, &error),
              error);
    assert_ok(script_problem_plan(b->script, b->problem, NULL, 1, &problem->plan, &error), error);
    assert_ok(
        script_reference_plan(b->script, b->problem, NULL, &problem->reference_launch, &error),
        error);
    emitted source;
    assert_ok(emit_reference(b->script, b->problem, NULL, false, &source, &error), error);
    b->reference = compile(b, &source, &problem->reference_launch);
    emitted_deinit(&source);
    problem->reference = image_of(&b->reference);
    assert_ok(device_slot_init(&b->slot, &device_sim_api, b->device, problem, &(device_contents){0},
                               &error),
              error);
    assert_ok(device_slot_seed(&b->slot, 1, &error), error);
    free(problem);
}

static void close_bench(bench *b)
{
    device_slot_deinit(&b->slot);
    device_sim_api.close(b->device);
    compile_result_deinit(&b->reference);
    compile_pool_free(b->pool);
    script_free(b->script);
}

/* Replaces the first `from` in the source. Fails the test if the source does not contain `from`. */
static void mutate(emitted *source, const char *from, const char *to)
{
    char *at = strstr(source->source, from);
    if (!at)
        fail_msg("nothing to mutate: %s", from);
    size_t before = (size_t)(at - source->source), rest = strlen(at + strlen(from));
    char *text = malloc(before + strlen(to) + rest + 1);
    assert_non_null(text);
    memcpy(text, source->source, before);
    strcpy(text + before, to);
    strcat(text, at + strlen(from));
    free(source->source);
    source->source = text;
    source->size_bytes = strlen(text);
}

/* Checks a variant. If `from` is not NULL, first mutates the source. `story` gets the message. */
static outcome check(bench *b, const uint16_t *indices, const char *from, const char *to,
                     char *story, size_t story_bytes)
{
    at_error error = {0};
    emitted source;
    launch_plan launch;
    device_kernel *kernel;
    device_check how = {.launches = 2, .text = story, .text_bytes = story_bytes};
    story[0] = '\0';
    assert_ok(script_launch_plan(b->script, b->problem, indices, &launch, &error), error);
    assert_ok(emit_variant(b->script, b->problem, indices, false, &source, &error), error);
    if (from)
        mutate(&source, from, to);
    compile_result r = compile(b, &source, &launch);
    device_image image = image_of(&r);
    assert_ok(device_sim_api.kernel_new(b->device, &image, &launch, &kernel, &error), error);
    assert_ok(device_slot_check(&b->slot, kernel, &launch, &how, &error), error);
    free(how.printed);
    device_sim_api.kernel_free(b->device, kernel);
    compile_result_deinit(&r);
    emitted_deinit(&source);
    return how.result;
}

/* Returns whether the configuration has a value that is new in `seen`, and adds all of its
 * values to `seen`. If `is_sample_full`, numbers do not count: a number only decides how often
 * or how much code runs, but other values select code. */
static bool note_values(const pattern *p, const uint16_t *indices, bool is_sample_full,
                        bool seen[][MOST_VALUES])
{
    bool is_new = false;
    for (size_t i = 0; i < p->parameter_count; i++) {
        bool counts = !is_sample_full || p->parameters[i].values[indices[i]].kind != VALUE_INTEGER;
        is_new = is_new || (counts && !seen[i][indices[i]]);
        seen[i][indices[i]] = true;
    }
    return is_new;
}

/* Checks random configurations until each value of each parameter has occurred. In a sample,
 * this applies only to values that are not numbers. */
static void check_pattern(const char *path, const script_setting *settings, size_t setting_count)
{
    bench b;
    at_error error = {0};
    space *s;
    char story[2048], text[1024];
    open_bench(&b, path, settings, setting_count);
    assert_ok(script_space(b.script, b.problem, &s, &error), error);
    const pattern *p = script_pattern(b.script);
    uint64_t count = space_count(s), seed = 12345;
    size_t checked = 0;
    uint16_t *indices = calloc(p->parameter_count, sizeof *indices);
    bool(*seen)[MOST_VALUES] = calloc(p->parameter_count, sizeof *seen);
    assert_true(indices && seen);
    for (int tries = 0; tries < 4000 && checked < most_checked; tries++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        space_at(s, (seed >> 20) % count, indices);
        if (!note_values(p, indices, is_sample && checked >= SAMPLE, seen))
            continue;
        checked++;
        script_format_configuration(b.script, indices, text, sizeof text);
        outcome result = check(&b, indices, NULL, NULL, story, sizeof story);
        if (result != OUTCOME_OK)
            fail_msg("%s %s: %s: %s", path, text, outcome_name(result), story);
    }
    free(seen);
    free(indices);
    space_free(s);
    close_bench(&b);
}

static void every_value_of_every_parameter_is_right(void **state)
{
    check_pattern(*state, NULL, 0);
}

static void patterns_are_right_for_other_types_and_problems(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        script_setting setting;
    } others[] = {
        {"aos_soa.lua", {"layout", "packed"}},        {"aos_soa.lua", {"layout", "tiles"}},
        {"aos_soa.lua", {"operation", "scale"}},      {"aos_soa.lua", {"operation", "set"}},
        {"aos_soa.lua", {"operation", "convert"}},    {"aos_soa.lua", {"fields", "8"}},
        {"batched_transpose.lua", {"dtype", "int8"}}, {"conv2d.lua", {"dtype", "half"}},
        {"gather.lua", {"order", "local"}},           {"histogram.lua", {"values", "1"}},
        {"loop_order.lua", {"axis", "columns"}},      {"loop_order.lua", {"dtype", "int8"}},
        {"matmul.lua", {"dtype", "double"}},          {"rgb.lua", {"layout", "padded"}},
        {"stencil1d.lua", {"dtype", "int8"}},         {"stencil1d.lua", {"radius", "8"}},
        {"ceilings/flops.lua", {"dtype", "double"}},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_pattern(others[i].path, &others[i].setting, 1);
}

static void mistakes_in_templates_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } mutations[] = {
        {"__syncthreads();", ""},
        {"tile[in_y + y][in_x]", "tile[in_y + y][in_x + 2]"},
        {"tile[out_x][out_y + x]", "tile[out_x][out_y + x + 1]"},
        {"in_row * cols", "(in_row + 1) * cols"},
        {">= rows", "> rows"},
    };
    bench b;
    at_error error = {0};
    char story[2048];
    open_bench(&b, "transpose.lua", NULL, 0);
    uint16_t indices[64];
    assert_ok(script_parse_configuration(b.script, "", indices, &error), error);
    assert_int_equal(check(&b, indices, NULL, NULL, story, sizeof story), OUTCOME_OK);
    for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++) {
        outcome result =
            check(&b, indices, mutations[i].from, mutations[i].to, story, sizeof story);
        if (result != OUTCOME_WRONG_RESULT && result != OUTCOME_CRASHED)
            fail_msg("mutation %zu (%s): %s", i, mutations[i].from, outcome_name(result));
    }
    /* The device still works after the mutants. */
    assert_int_equal(check(&b, indices, NULL, NULL, story, sizeof story), OUTCOME_OK);
    close_bench(&b);
}

/* Without arguments, checks the patterns' own problems. The argument "types" checks only other
 * types and problems, which takes as long as all other tests. "sample", alone or after "types",
 * ignores numbers after two configurations of a pattern. "few" checks only these two. */
int main(int argc, char **argv)
{
#define PATTERN(name)                                                                              \
    {                                                                                              \
        "every value of every parameter of " name " is right",                                     \
            every_value_of_every_parameter_is_right, NULL, NULL, (char[])                          \
        {                                                                                          \
            name ".lua"                                                                            \
        }                                                                                          \
    }
    const struct CMUnitTest tests[] = {
        PATTERN("transpose"),
        PATTERN("strided"),
        PATTERN("misaligned"),
        PATTERN("vector_add"),
        PATTERN("bank_conflict"),
        PATTERN("dot"),
        PATTERN("matmul"),
        PATTERN("conv2d"),
        PATTERN("gather"),
        PATTERN("loop_order"),
        PATTERN("rgb"),
        PATTERN("batched_transpose"),
        PATTERN("aos_soa"),
        PATTERN("histogram"),
        PATTERN("stencil1d"),
        PATTERN("ceilings/atomics"),
        PATTERN("ceilings/copy"),
        PATTERN("ceilings/flops"),
        PATTERN("ceilings/l1"),
        PATTERN("ceilings/l2"),
        PATTERN("ceilings/launches"),
        PATTERN("ceilings/read"),
        PATTERN("ceilings/shared"),
        PATTERN("ceilings/write"),
        cmocka_unit_test(mistakes_in_templates_are_found),
    };
    const struct CMUnitTest types[] = {
        cmocka_unit_test(patterns_are_right_for_other_types_and_problems),
    };
    is_sample = argc > 1 && strcmp(argv[argc - 1], "sample") == 0;
    if (argc > 1 && strcmp(argv[1], "few") == 0)
        most_checked = SAMPLE;
    if (argc > 1 && strcmp(argv[1], "types") == 0)
        return cmocka_run_group_tests(types, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
