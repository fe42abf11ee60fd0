#include "base/pack.h"
#include "base/rng.h"
#include "device/plan.h"
#include "script_fixture.h"

static bool tolerance_equal(tolerance a, tolerance b)
{
    return a.kind == b.kind && a.limit == b.limit && a.mismatches == b.mismatches;
}

static tolerance random_tolerance(rng *r)
{
    const tolerance_kind kind = (tolerance_kind)rng_below(r, TOLERANCE_KINDS);
    const double limit = (double)(1 + rng_below(r, 1000));
    static const double mismatches[] = {0, 1e-6, 0.5, 1, 4711};
    return (tolerance){.kind = kind,
                       .limit = kind == TOLERANCE_EXACT  ? 0
                                : kind == TOLERANCE_ULPS ? limit
                                                         : limit / 1e6,
                       .mismatches = mismatches[rng_below(r, 5)]};
}

static transfer_task random_task(rng *r, uint32_t buffer_count)
{
    transfer_task t;
    memset(&t, 0, sizeof t);
    t.direction = TRANSFER_TO_DEVICE + (transfer_direction)rng_below(r, 3);
    t.from = (uint32_t)rng_below(r, buffer_count);
    t.pieces = 1 + rng_below(r, 1000);
    t.pitch_bytes = 1 + rng_below(r, 1 << 20);
    t.to = (t.from + 1 + (uint32_t)rng_below(r, buffer_count - 1)) % buffer_count;
    return t;
}

/* Fills a zeroed plan with random values. */
static void random_transfer(rng *r, transfer_plan *t)
{
    t->task = random_task(r, PLAN_MAX_BUFFERS);
    t->memory = (host_memory)rng_below(r, HOST_MEMORIES);
    t->chunk_bytes = rng_below(r, 1 << 30);
    t->streams = 1 + (uint32_t)rng_below(r, TRANSFER_MAX_STREAMS);
    if (t->memory != HOST_MAPPED)
        t->staging = (host_staging)rng_below(r, STAGING_COUNT);
}

static problem_plan random_problem(rng *r)
{
    problem_plan p;
    memset(&p, 0, sizeof p);
    p.buffer_count = (uint32_t)rng_below(r, PLAN_MAX_BUFFERS + 1);
    for (uint32_t i = 0; i < p.buffer_count; i++) {
        buffer_plan *b = &p.buffers[i];
        snprintf(b->name, sizeof b->name, "buffer%u", i);
        b->role = (buffer_role)rng_below(r, 4);
        b->fill = (buffer_fill)rng_below(r, FILL_COUNT);
        b->type = (dtype)rng_below(r, DTYPE_COUNT);
        b->count = 2 + rng_below(r, PLAN_MAX_ELEMENTS - 1);
        b->fill_limit = 1 + rng_below(r, 100);
        b->fill_block = b->fill == FILL_LOCAL ? 1 + rng_below(r, 100) : 0;
        b->value_count = b->fill == FILL_VALUES ? 1 + (uint32_t)rng_below(r, PLAN_MAX_VALUES) : 0;
        for (uint32_t v = 0; v < b->value_count; v++)
            b->values[v] = (double)rng_below(r, 1000) / 8;
        b->repeats = rng_below(r, 2);
        b->rank = (uint32_t)rng_below(r, 5);
        for (uint32_t d = 0; d < b->rank; d++)
            b->shape[d] = rng_below(r, 1000);
    }
    const tolerance common = tolerance_of((double)rng_below(r, 1000) / 1e6);
    const bool own = rng_below(r, 2);
    for (uint32_t i = 0; i < p.buffer_count; i++)
        if (plan_is_compared(&p.buffers[i]))
            p.buffers[i].tolerance = own ? random_tolerance(r) : common;
    p.oracle = (oracle_kind)rng_below(r, ORACLE_KINDS);
    for (uint32_t i = 0; i < p.buffer_count; i++) {
        buffer_plan *b = &p.buffers[i];
        if (b->fill == FILL_FILE)
            b->data.bytes[rng_below(r, DATA_KEY_BYTES)] = 1;
        if (p.oracle == ORACLE_FILE && plan_is_compared(b))
            b->expected.bytes[rng_below(r, DATA_KEY_BYTES)] = 1;
    }
    p.traffic_bytes = rng_below(r, UINT64_MAX);
    p.flops = rng_below(r, 2) ? rng_below(r, UINT64_MAX) : 0;
    p.items = rng_below(r, 2) ? rng_below(r, UINT64_MAX) : 0;
    p.ceiling = (ceiling_kind)rng_below(r, CEILING_KINDS);
    p.seed = rng_below(r, UINT64_MAX);
    if (p.buffer_count > 1 && rng_below(r, 4) == 0)
        p.transfer = random_task(r, p.buffer_count);
    return p;
}

static void random_views(rng *r, launch_plan *p)
{
    p->view_count = (uint32_t)rng_below(r, 3);
    for (uint32_t i = 0; i < p->view_count; i++) {
        bool tensor = rng_below(r, 2);
        p->views[i] =
            (view_plan){.kind = tensor ? VIEW_TENSOR : VIEW_TEXTURE,
                        .buffer = (uint32_t)rng_below(r, PLAN_MAX_BUFFERS),
                        .type = DTYPE_FLOAT,
                        .rank = 2,
                        .size = {1 + rng_below(r, 1000), 1 + rng_below(r, 1000)},
                        .stride_bytes = {32 * (200 + rng_below(r, 100))},
                        .box = {tensor ? 4 : 0, tensor ? 1 + (uint32_t)rng_below(r, 256) : 0},
                        .swizzle = tensor ? (uint32_t)rng_below(r, 4) : 0,
                        .channels = 1,
                        .filter = tensor ? FILTER_POINT : (view_filter)rng_below(r, FILTER_COUNT),
                        .address = tensor ? ADDRESS_WRAP : ADDRESS_BORDER};
    }
}

static void random_arguments(rng *r, launch_plan *p, uint32_t count)
{
    static const uint16_t sizes[] = {1, 2, 4, 8, 3, 20};
    for (uint32_t i = 0; i < count; i++) {
        argument_plan *a = &p->arguments[p->argument_count++];
        a->is_buffer = rng_below(r, 2);
        if (p->view_count > 0 && rng_below(r, 3) == 0) {
            *a = (argument_plan){.is_view = true, .bits = rng_below(r, p->view_count)};
            a->buffer = (uint8_t)p->views[a->bits].buffer;
            a->size_bytes = (uint16_t)view_bytes(p->views[a->bits].kind);
            continue;
        }
        a->buffer = (uint8_t)rng_below(r, PLAN_MAX_BUFFERS);
        a->size_bytes = a->is_buffer ? 8 : sizes[rng_below(r, p->struct_bytes >= 20 ? 6 : 5)];
        a->bits = a->size_bytes > 8 ? rng_below(r, p->struct_bytes - 19) : rng_below(r, UINT64_MAX);
    }
}

static launch_plan random_launch(rng *r)
{
    launch_plan p;
    memset(&p, 0, sizeof p);
    p.struct_bytes = (uint32_t)rng_below(r, 3) * 40;
    for (uint32_t i = 0; i < p.struct_bytes; i++)
        p.structs[i] = (unsigned char)rng_below(r, 256);
    p.address_count = p.struct_bytes ? (uint32_t)rng_below(r, 4) : 0;
    for (uint32_t i = 0; i < p.address_count; i++)
        p.addresses[i] = (address_plan){.at = (uint16_t)rng_below(r, p.struct_bytes - 7),
                                        .buffer = (uint8_t)rng_below(r, PLAN_MAX_BUFFERS)};
    p.constant_count = (uint32_t)rng_below(r, 3);
    for (uint32_t i = 0; i < p.constant_count; i++) {
        snprintf(p.constants[i].name, sizeof p.constants[i].name, "constant_%u", i);
        p.constants[i].buffer = (uint32_t)rng_below(r, PLAN_MAX_BUFFERS);
    }
    p.compared_count = (uint32_t)rng_below(r, 3);
    for (uint32_t i = 0; i < p.compared_count; i++)
        p.compared[i] = (compared_plan){.buffer = i, .count = 1 + rng_below(r, PLAN_MAX_ELEMENTS)};
    random_views(r, &p);
    bool transfers = rng_below(r, 4) == 0;
    if (transfers)
        random_transfer(r, &p.transfer);
    p.launch_count = !transfers + (uint32_t)rng_below(r, 4);
    uint32_t group = 0, rounds = 0;
    for (uint32_t k = 0; k < p.launch_count; k++) {
        kernel_launch *l = &p.launches[k];
        char name[32];
        snprintf(name, sizeof name, "kernel_%u", (unsigned)rng_below(r, 1000));
        assert_true(plan_set_entry(&p, k, name));
        for (int i = 0; i < 3; i++) {
            l->grid[i] = 1 + (uint32_t)rng_below(r, UINT32_MAX);
            l->block[i] = 1 + (uint32_t)rng_below(r, 1024);
            l->cluster[i] = p.launch_count > 1 ? 1 + (uint32_t)rng_below(r, 4) : 1;
        }
        l->dynamic_shared_bytes = (uint32_t)rng_below(r, 1 << 18);
        l->balanced = rng_below(r, 2) && plan_cluster_blocks(l) > 1;
        l->cooperative = rng_below(r, 4) == 0;
        if (rng_below(r, 2)) {
            group = rng_below(r, 2) ? k + 1 : 0;
            rounds = group ? 2 + (uint32_t)rng_below(r, PLAN_MAX_ROUNDS - 1) : 0;
        }
        l->group = group;
        l->rounds = rounds;
        l->first_argument = p.argument_count;
        l->argument_count = (uint32_t)rng_below(r, PLAN_MAX_ARGUMENTS / 4 + 1);
        random_arguments(r, &p, l->argument_count);
    }
    return p;
}

TEST(plans_are_read_as_they_were_written)
{
    rng r = rng_seeded(1);
    for (int i = 0; i < 2000; i++) {
        problem_plan problem = random_problem(&r), problem_back;
        launch_plan launch = random_launch(&r), launch_back;
        pack m = {0}, again = {0};
        plan_put_problem(&m, &problem);
        plan_put_launch(&m, &launch);
        assert_true(plan_get_problem(&m, &problem_back));
        assert_true(plan_get_launch(&m, &launch_back));
        assert_true(pack_complete(&m));
        plan_put_problem(&again, &problem_back);
        plan_put_launch(&again, &launch_back);
        assert_int_equal(again.size_bytes, m.size_bytes);
        assert_memory_equal(again.bytes, m.bytes, m.size_bytes);
        pack_deinit(&m);
        pack_deinit(&again);
    }
}

/* Equal launches must pack equally, because the key of a measurement is made of packed launches. */
TEST(kernels_are_named_once_in_the_order_of_the_launches)
{
    launch_plan p, back;
    char entries[PLAN_ENTRIES_BYTES], longest[PLAN_ENTRIES_BYTES - 1];
    pack m = {0};
    memset(&p, 0, sizeof p);
    p.launch_count = 3;
    assert_true(plan_set_entry(&p, 0, "ns::scale<64, float>"));
    assert_true(plan_set_entry(&p, 1, "b"));
    assert_true(plan_set_entry(&p, 2, "ns::scale<64, float>"));
    plan_entries(&p, entries);
    assert_string_equal(entries, "ns::scale<64, float>\nb");
    assert_string_equal(plan_entry(&p, 2), "ns::scale<64, float>");
    assert_int_equal(plan_entry_place(&p, 1), 1);
    assert_int_equal(plan_entry_place(&p, 2), 0);
    char *symbol = plan_symbol(&p, 2, "_Z5scale\nb_at3_");
    assert_string_equal(symbol, "_Z5scale");
    free(symbol);
    symbol = plan_symbol(&p, 1, NULL);
    assert_string_equal(symbol, "b");
    free(symbol);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            p.launches[i].grid[k] = p.launches[i].block[k] = p.launches[i].cluster[k] = 1;
    plan_put_launch(&m, &p);
    assert_true(plan_get_launch(&m, &back));
    assert_memory_equal(&back, &p, sizeof p);
    pack_deinit(&m);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_false(plan_set_entry(&p, 1, longest));
    assert_false(plan_set_entry(&p, 1, ""));
    assert_false(plan_set_entry(&p, 1, "two\nlines"));
    memset(&p, 0, sizeof p);
    p.launch_count = 1;
    assert_true(plan_set_entry(&p, 0, longest));
    plan_entries(&p, entries);
    assert_string_equal(entries, longest);
}

/* The journal's keys are computed from the packed problem. */
TEST(other_data_and_another_oracle_make_another_problem)
{
    problem_plan p;
    pack packed[5] = {{0}};
    memset(&p, 0, sizeof p);
    p.buffer_count = 1;
    p.buffers[0] = (buffer_plan){.name = "y", .role = BUFFER_INOUT, .fill = FILL_FILE, .count = 8};
    for (int i = 0; i < 5; i++) {
        p.oracle = i == 1 ? ORACLE_BASELINE : i >= 2 ? ORACLE_FILE : ORACLE_REFERENCE;
        p.buffers[0].expected.bytes[7] = i >= 3;
        p.buffers[0].data.bytes[15] = i >= 4;
        plan_put_problem(&packed[i], &p);
    }
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < i; k++)
            if (packed[i].size_bytes == packed[k].size_bytes)
                assert_memory_not_equal(packed[i].bytes, packed[k].bytes, packed[k].size_bytes);
    for (int i = 0; i < 5; i++)
        pack_deinit(&packed[i]);
}

TEST(a_launch_that_is_balanced_packs_otherwise)
{
    launch_plan p, back;
    pack packed[2] = {{0}};
    memset(&p, 0, sizeof p);
    p.launch_count = 1;
    assert_true(plan_set_entry(&p, 0, "kernel"));
    for (int i = 0; i < 3; i++)
        p.launches[0].grid[i] = p.launches[0].block[i] = p.launches[0].cluster[i] = 4;
    for (int i = 0; i < 2; i++) {
        p.launches[0].balanced = i == 1;
        plan_put_launch(&packed[i], &p);
    }
    assert_int_equal(packed[0].size_bytes, packed[1].size_bytes);
    assert_memory_not_equal(packed[0].bytes, packed[1].bytes, packed[0].size_bytes);
    assert_true(plan_get_launch(&packed[1], &back) && back.launches[0].balanced);
    pack_deinit(&packed[0]);
    pack_deinit(&packed[1]);
}

TEST(no_launch_without_clusters_is_balanced)
{
    launch_plan p, back;
    pack m = {0};
    memset(&p, 0, sizeof p);
    p.launch_count = 1;
    assert_true(plan_set_entry(&p, 0, "kernel"));
    for (int i = 0; i < 3; i++)
        p.launches[0].grid[i] = p.launches[0].block[i] = p.launches[0].cluster[i] = 1;
    p.launches[0].cooperative = p.launches[0].balanced = true;
    plan_put_launch(&m, &p);
    assert_false(plan_get_launch(&m, &back));
    pack_deinit(&m);
}

/* A corrupt plan may be accepted only if its counts and enumeration values are in range. */
TEST(a_corrupt_plan_is_an_error_or_a_plan)
{
    rng r = rng_seeded(2);
    size_t refused = 0;
    for (int i = 0; i < 20000; i++) {
        problem_plan problem = random_problem(&r);
        launch_plan launch = random_launch(&r);
        pack m = {0};
        plan_put_problem(&m, &problem);
        plan_put_launch(&m, &launch);
        for (int flips = 0; flips < 3; flips++)
            m.bytes[rng_below(&r, m.size_bytes)] ^= (unsigned char)(1 + rng_below(&r, 255));
        if (rng_below(&r, 4) == 0)
            m.size_bytes = rng_below(&r, m.size_bytes);
        bool sound = plan_get_problem(&m, &problem);
        if (sound) {
            assert_in_range(problem.buffer_count, 0, PLAN_MAX_BUFFERS);
            for (uint32_t b = 0; b < problem.buffer_count; b++) {
                assert_in_range(problem.buffers[b].type, 0, DTYPE_COUNT - 1);
                assert_in_range(problem.buffers[b].role, 0, BUFFER_SCRATCH);
                assert_in_range(problem.buffers[b].rank, 0, 4);
                assert_in_range(problem.buffers[b].count, 1, PLAN_MAX_ELEMENTS);
                assert_in_range(problem.ceiling, 0, CEILING_KINDS - 1);
                assert_true(tolerance_is_valid(problem.buffers[b].tolerance));
                assert_non_null(memchr(problem.buffers[b].name, 0, PLAN_NAME_BYTES));
            }
            sound = plan_get_launch(&m, &launch);
        }
        if (sound && plan_transfers(&launch)) {
            assert_in_range(launch.transfer.streams, 1, TRANSFER_MAX_STREAMS);
            assert_in_range(launch.transfer.memory, 0, HOST_MEMORIES - 1);
            assert_in_range(launch.transfer.task.from, 0, PLAN_MAX_BUFFERS - 1);
            assert_true(launch.transfer.task.from != launch.transfer.task.to);
            assert_true(launch.transfer.task.pitch_bytes <=
                        TRANSFER_MAX_BYTES / launch.transfer.task.pieces);
        }
        if (sound) {
            assert_in_range(launch.launch_count, plan_transfers(&launch) ? 0 : 1,
                            PLAN_MAX_LAUNCHES);
            assert_in_range(launch.argument_count, 0, PLAN_MAX_ARGUMENTS);
            for (uint32_t k = 0; k < launch.launch_count; k++) {
                assert_in_range(launch.launches[k].group, 0, k + 1);
                assert_in_range(plan_rounds(&launch, k), 1, PLAN_MAX_ROUNDS);
            }
            for (uint32_t c = 0; c < launch.compared_count; c++) {
                assert_in_range(launch.compared[c].buffer, 0, PLAN_MAX_BUFFERS - 1);
                assert_in_range(launch.compared[c].count, 1, PLAN_MAX_ELEMENTS);
            }
            for (uint32_t a = 0; a < launch.argument_count; a++) {
                assert_in_range(launch.arguments[a].buffer, 0, PLAN_MAX_BUFFERS - 1);
                assert_in_range(launch.arguments[a].size_bytes, 1, PLAN_MAX_STRUCT_BYTES);
            }
        } else {
            assert_true(m.failed);
            refused++;
        }
        pack_deinit(&m);
    }
    assert_true(refused > 1000);
}

TEST(a_problem_is_evaluated)
{
    fixture_write("p.cu.tmpl", "x\n");
    script *s = fixture_load_pattern(&(fixture_pattern){
        .problem = "problem = { rows = 10, cols = 20, kind = 'half', how = 'modulo' }, ragged = { "
                   "rows = 3 },",
        .extra =
            "buffers = { b = at.inout { dtype = 'uint8', count = 'rows', fill = 'how', limit = "
            "'cols' },\n"
            "a = at.input { dtype = 'kind', count = 'rows * cols', shape = { 'rows', 'cols' } },\n"
            "c = at.scratch { dtype = \"kind == 'half' and 'float' or 'double'\", count = 1 } },\n"
            "tolerance = \"kind == 'half' and 1e-2 or 0\", traffic = 'rows * sizeof(kind)',"});
    problem_plan p;
    at_error error = {0};
    assert_ok(script_problem_plan(s, PROBLEM_TUNED, NULL, 42, &p, &error), error);
    assert_int_equal(p.buffer_count, 3);
    assert_string_equal(p.buffers[0].name, "b");
    assert_int_equal(p.buffers[0].role, BUFFER_INOUT);
    assert_int_equal(p.buffers[0].fill, FILL_MODULO);
    assert_int_equal(p.buffers[0].fill_limit, 20);
    assert_int_equal(p.buffers[1].type, DTYPE_HALF);
    assert_int_equal(p.buffers[1].count, 200);
    assert_int_equal(p.buffers[1].rank, 2);
    assert_int_equal(p.buffers[1].shape[1], 20);
    assert_int_equal(p.buffers[2].type, DTYPE_FLOAT);
    assert_true(tolerance_equal(p.buffers[0].tolerance, tolerance_of(1e-2)));
    assert_true(
        tolerance_equal(p.buffers[1].tolerance, tolerance_of(0))); /* inputs must be equal */
    assert_false(p.buffers[0].repeats);
    assert_int_equal(p.traffic_bytes, 20);
    assert_int_equal(p.seed, 42);
    assert_ok(script_problem_plan(s, PROBLEM_RAGGED, NULL, 42, &p, &error), error);
    assert_int_equal(p.buffers[1].count, 60);
    script_free(s);
}

TEST(each_buffer_has_its_own_tolerance_or_that_of_the_pattern)
{
    fixture_write("p.cu.tmpl", "x\n");
    script *s = fixture_load_pattern(&(fixture_pattern){
        .problem = "problem = { n = 10, allowed = 8 }, ragged = false,",
        .extra = "buffers = { a = at.output { dtype = 'float', count = 1, tolerance = at.ulps "
                 "'allowed // 2' },\n"
                 "b = at.inout { dtype = 'half', count = 1, tolerance = at.relative(1e-3) },\n"
                 "c = at.output { dtype = 'double', count = 1, tolerance = at.absolute(0.5) },\n"
                 "d = at.output { dtype = 'double', count = 1, tolerance = 0 },\n"
                 "e = at.output { dtype = 'double', count = 1, tolerance = 1e-4 },\n"
                 "f = at.output { dtype = 'int32', count = 1 },\n"
                 "g = at.output { dtype = 'int32', count = 9, tolerance = at.mismatches('2 / "
                 "allowed', at.ulps(3)) } },\n"
                 "tolerance = at.ulps(2), traffic = 1,"});
    static const tolerance expected[] = {{.kind = TOLERANCE_ULPS, .limit = 4},
                                         {.kind = TOLERANCE_RELATIVE, .limit = 1e-3},
                                         {.kind = TOLERANCE_ABSOLUTE, .limit = 0.5},
                                         {.kind = TOLERANCE_EXACT},
                                         {.kind = TOLERANCE_SCALED, .limit = 1e-4},
                                         {.kind = TOLERANCE_ULPS, .limit = 2},
                                         {.kind = TOLERANCE_ULPS, .limit = 3, .mismatches = 0.25}};
    problem_plan p;
    at_error error = {0};
    assert_ok(script_problem_plan(s, PROBLEM_TUNED, NULL, 42, &p, &error), error);
    for (uint32_t i = 0; i < 7; i++)
        assert_true(tolerance_equal(p.buffers[i].tolerance, expected[i]));
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(p.buffers[i].repeats, expected[i].kind == TOLERANCE_EXACT);
    script_free(s);
}

/* If all elements could differ, any result would be accepted. */
TEST(not_all_of_an_output_may_differ)
{
    fixture_write("p.cu.tmpl", "x\n");
    script *s = fixture_load_pattern(&(fixture_pattern){
        .problem = "problem = { n = 4 }, ragged = { n = 3 },",
        .extra = "buffers = { a = at.output { dtype = 'float', count = 'n' } },\n"
                 "tolerance = at.mismatches(3), traffic = 1,"});
    problem_plan p;
    at_error error = {0};
    assert_ok(script_problem_plan(s, PROBLEM_TUNED, NULL, 42, &p, &error), error);
    assert_false(p.buffers[0].repeats);
    assert_int_equal(script_problem_plan(s, PROBLEM_RAGGED, NULL, 42, &p, &error), AT_SCRIPT);
    assert_non_null(strstr(
        error.message, "allows 3 elements to differ, but a has only 3: every result would pass"));
    script_free(s);
}

/* By default all elements are results. */
TEST(the_number_of_results_may_depend_on_the_configuration)
{
    fixture_write("p.cu.tmpl", "x\n");
    script *s = fixture_load_pattern(&(fixture_pattern){
        .problem = "problem = { n = 64 }, ragged = false,",
        .space = "space = { block = { 1, 16, 200 } },",
        .baseline = "baseline = {},",
        .kernel = "kernel = { template = 'p.cu.tmpl', entry = 'k', args = {} },",
        .launch = "launch = { grid = 1, block = 32 },",
        .extra = "buffers = { a = at.input { dtype = 'int8', count = 1 },\n"
                 "b = at.output { dtype = 'float', count = 'n', compare = 'n // block' } },\n"
                 "traffic = 1,"});
    problem_plan problem;
    launch_plan p;
    at_error error = {0};
    assert_ok(script_problem_plan(s, PROBLEM_TUNED, NULL, 42, &problem, &error), error);
    static const uint64_t expected[] = {64, 4};
    for (uint16_t i = 0; i < 2; i++) {
        assert_ok(script_launch_plan(s, PROBLEM_TUNED, &i, &p, &error), error);
        assert_int_equal(p.compared_count, i);
        assert_int_equal(plan_result_count(&problem, &p, 0), 1);
        assert_int_equal(plan_result_count(&problem, &p, 1), expected[i]);
    }
    const uint16_t none = 2;
    assert_int_equal(script_launch_plan(s, PROBLEM_TUNED, &none, &p, &error), AT_SCRIPT);
    assert_non_null(strstr(error.message, "buffers.b.compare: "));
    script_free(s);
}

/* Returns the plan of a pattern whose result is double, with the members `extra`. */
static problem_plan plan_of(const char *extra)
{
    char text[512];
    problem_plan p;
    at_error error = {0};
    snprintf(text, sizeof text,
             "buffers = { a = at.output { dtype = 'double', count = 100 },\n"
             "b = at.input { dtype = 'uint8', count = 'n' } }, %s",
             extra);
    script *s = fixture_load_pattern(&(fixture_pattern){.extra = text});
    assert_ok(script_problem_plan(s, PROBLEM_TUNED, NULL, 1, &p, &error), error);
    script_free(s);
    return p;
}

TEST(the_ceiling_is_derived_from_the_work_unless_it_is_named)
{
    static const struct {
        const char *extra;
        ceiling_kind ceiling;
    } cases[] = {
        {"traffic = 'n',", CEILING_COPY},
        {"traffic = 'n', problem = { n = 1 << 20 },", CEILING_READ},
        {"traffic = 'n', problem = { n = 8 },", CEILING_WRITE},
        {"traffic = 'n', flops = '2 * n',", CEILING_COPY},
        {"flops = '2 * n',", CEILING_FP64},
        {"items = { keys = 'n' },", CEILING_NONE},
        {"items = { keys = 'n' }, ceiling = 'atomics',", CEILING_ATOMICS},
        {"traffic = 'n', ceiling = 'l2',", CEILING_L2},
        {"traffic = 'n', ceiling = \"n > 10 and 'none' or 'shared'\",", CEILING_NONE},
        {"traffic = 'n', flops = 'n', ceiling = 'fp32',", CEILING_FP32},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const problem_plan p = plan_of(cases[i].extra);
        if (plan_ceiling(&p) != cases[i].ceiling)
            fail_msg("%s: %s instead of %s", cases[i].extra, ceiling_get(plan_ceiling(&p))->name,
                     ceiling_get(cases[i].ceiling)->name);
    }
}

TEST(work_is_taken_from_the_script)
{
    const problem_plan p = plan_of("traffic = 'n', flops = '2.0 * n', items = { keys = '3 * n' },");
    assert_int_equal(plan_work(&p, WORK_BYTES), 1024);
    assert_int_equal(plan_work(&p, WORK_FLOPS), 2048);
    assert_int_equal(plan_work(&p, WORK_ITEMS), 3072);
}

typedef struct plan_case {
    const char *extra;
    const char *message;
} plan_case;

static const plan_case problem_cases[] = {
    {"buffers = { a = at.input { dtype = 'float', count = 'n - 1024' } },",
     "must be 1 at least, but is 0"},
    {"buffers = { a = at.input { dtype = 'float', count = 'n / 1000' } },", "gives 1.024"},
    {"buffers = { a = at.input { dtype = 'float', count = \"'n'\" } },",
     "gives a string, but a whole number is needed"},
    {"buffers = { a = at.input { dtype = 'float', count = '1 << 50' } },",
     "must be 281474976710656 at most, but is "},
    {"buffers = { a = at.input { dtype = 'n + 0', count = 1 } },",
     "gives a number, but a string is needed"},
    {"buffers = { a = at.input { dtype = \"dtype .. 'x'\", count = 1 } },",
     "did you mean 'float'?"},
    {"buffers = { a = at.input { dtype = 'float', count = 1, fill = 'modulo' } },",
     "needs a limit"},
    {"buffers = { a = at.input { dtype = 'float', count = 6, shape = { 2, 2 } } },",
     "the shape has 4 elements, but the count is 6"},
    {"tolerance = -1,", "is negative"},
    {"tolerance = '0/0',", "not a finite number"},
    {"tolerance = at.relative(1.5),", "would accept zeros"},
    {"tolerance = at.ulps 'n / 3',", "gives 341.333, but a whole number of ULPs"},
    {"tolerance = at.absolute '-n',", "is negative"},
    {"buffers = { a = at.output { dtype = 'float', count = 1, tolerance = at.absolute(-1) } },",
     "is negative"},
    {"buffers = { a = at.inout { dtype = 'float', count = 1, tolerance = '1e9 * 1e300' } },",
     "not a finite number"},
    {"traffic = 'n.x',", "attempt to index a number value"},
    {"flops = 0,", "must be 1 at least, but is 0"},
    {"items = { keys = 'n / 3' },", "items.keys: \"n / 3\""},
    {"traffic = 'n', ceiling = 'fp32',",
     "which is in floating-point operations a second, and the pattern gives no flops"},
    {"flops = 'n', ceiling = 'l2',", "and the pattern gives no traffic"},
    {"traffic = 'n', ceiling = 'launches',", "and the pattern gives no items"},
    {"traffic = 'n', ceiling = \"'l' .. n\",",
     "gives 'l1024', which is not a ceiling; the ceilings are none, copy, read"},
};

TEST(impossible_problems_are_errors)
{
    for (size_t i = 0; i < sizeof problem_cases / sizeof *problem_cases; i++) {
        script *s = fixture_load_pattern(&(fixture_pattern){.extra = problem_cases[i].extra});
        problem_plan p;
        at_error error = {0};
        assert_int_equal(script_problem_plan(s, PROBLEM_TUNED, NULL, 0, &p, &error), AT_SCRIPT);
        assert_contains(error.message, problem_cases[i].message);
        assert_int_equal(error.line, 10);
        script_free(s);
    }
}

TEST(a_launch_is_evaluated)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .problem = "problem = { n = 5000000000, f = 0.5, on = true },",
        .kernel = "kernel = { template = 'p.cu.tmpl', entry = 'k', shared = 'tile * 1000',\n"
                  "args = { 'a', 'tile', at.int64 'n', at.float 'f', at.double(3), at.uint32 '1 << "
                  "31', 'on', -7, at.bool 'not on', at.uint64(1) } },",
        .launch = "launch = { grid = { 'ceil_div(n, 1 << 20)', 2 }, block = { 32, 'tile', 4 } },",
        .extra =
            "buffers = { z = at.output { dtype = 'float', count = 1000 }, a = at.input { dtype = "
            "'float', count = 1 } },\n"
            "reference = at.reference { template = 'p.cu.tmpl', args = { 'z' } }, traffic = 1,"});
    launch_plan p;
    at_error error = {0};
    assert_ok(script_launch_plan(s, PROBLEM_TUNED, (uint16_t[]){2, 0}, &p, &error), error);
    assert_string_equal(plan_entry(&p, 0), "k");
    assert_int_equal(p.launches[0].grid[0], 4769);
    assert_int_equal(p.launches[0].grid[1], 2);
    assert_int_equal(p.launches[0].grid[2], 1);
    assert_int_equal(p.launches[0].block[1], 4);
    assert_int_equal(p.launches[0].block[2], 4);
    assert_int_equal(p.launches[0].dynamic_shared_bytes, 4000);
    assert_int_equal(p.argument_count, 10);
    assert_true(p.arguments[0].is_buffer && p.arguments[0].buffer == 1);
    static const uint64_t bits[][2] = {
        {4, 4},          {8, 5000000000}, {4, 0x3f000000}, {8, 0x4008000000000000},
        {4, 0x80000000}, {1, 1},          {4, 0xfffffff9}, {1, 0},
        {8, 1}};
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(p.arguments[i + 1].size_bytes, bits[i][0]);
        assert_true(p.arguments[i + 1].bits == bits[i][1]);
    }
    assert_ok(script_reference_plan(s, PROBLEM_TUNED, NULL, &p, &error), error);
    assert_string_equal(plan_entry(&p, 0), "reference");
    assert_int_equal(p.launches[0].grid[0], 4); /* one thread per element of the first output */
    assert_int_equal(p.launches[0].block[0], 256);
    assert_int_equal(p.argument_count, 1);
    script_free(s);
}

static const struct {
    const char *kernel, *launch, *message;
    int line;
} launch_cases[] = {
    {"args = { 'n * n * n * n' }", NULL, "does not fit an int; write at.int64(...)", 8},
    {"args = { 'n / 2' }", NULL, "write at.float(...)", 8},
    {"args = { 'dtype' }", NULL, "gives a string, which is neither a buffer nor a number", 8},
    {"args = { at.uint32 '-1' }", NULL, "must be 0 at least, but is -1", 8},
    {"args = { at.float '1e300' }", NULL, "does not fit a float", 8},
    {"args = { at.bool 'n' }", NULL, "gives a number, but true or false is needed", 8},
    {"args = { at.int32(false) }", NULL, "gives a boolean, but a whole number is needed", 8},
    {"shared = 'n - 2000'", NULL, "must be 0 at least, but is -", 8},
    {NULL, "grid = 'tile - 1', block = 1",
     "launch.grid: \"tile - 1\" must be 1 at least, but is 0, where tile is 1", 9},
    {NULL, "grid = { 1, 65536 }, block = 1", "must be 65535 at most, but is 65536", 9},
    {NULL, "grid = 1, block = 2048", "must be 1024 at most, but is 2048", 9},
    {NULL, "grid = 1, block = { 32, 64 }", "the block has 2048 threads; at most 1024 are allowed",
     9},
};

TEST(impossible_launches_are_errors)
{
    for (size_t i = 0; i < sizeof launch_cases / sizeof *launch_cases; i++) {
        char kernel[256], launch[256];
        snprintf(kernel, sizeof kernel, "kernel = { template = 'p.cu.tmpl', %s },",
                 or_else(launch_cases[i].kernel, ""));
        snprintf(launch, sizeof launch, "launch = { %s },",
                 or_else(launch_cases[i].launch, "grid = 1, block = 32"));
        script *s = fixture_load_pattern(&(fixture_pattern){.kernel = kernel, .launch = launch});
        launch_plan p;
        at_error error = {0};
        /* An impossible grid or block is no script error, because other values may be right. */
        assert_int_equal(script_launch_plan(s, PROBLEM_TUNED, (uint16_t[]){0, 0}, &p, &error),
                         launch_cases[i].launch ? AT_USAGE : AT_SCRIPT);
        assert_contains(error.message, launch_cases[i].message);
        assert_int_equal(error.line, launch_cases[i].line);
        assert_int_equal(script_reference_plan(s, PROBLEM_TUNED, NULL, &p, &error), AT_NOT_FOUND);
        script_free(s);
    }
}

TEST_GROUP(fixture_setup, fixture_teardown)
