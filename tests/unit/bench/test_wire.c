#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "bench/wire.h"

static launch_plan some_launch(void)
{
    launch_plan p = {.launch_count = 1,
                     .entries = "kernel",
                     .launches = {{.grid = {4, 5, 6},
                                   .block = {32, 2, 1},
                                   .cluster = {1, 1, 1},
                                   .dynamic_shared_bytes = 1000,
                                   .argument_count = 2}},
                     .argument_count = 2};
    p.arguments[0] = (argument_plan){.is_buffer = true, .buffer = 3, .size_bytes = 8};
    p.arguments[1] = (argument_plan){.size_bytes = 4, .bits = 77};
    return p;
}

TEST(a_variant_is_read_as_it_was_written)
{
    device_variant v = {.present = {true, true}, .once = "a.cu:7"};
    v.images[0] = (device_image){.bytes = "cubin", .size_bytes = 6, .registers = 40};
    v.launches[0] = v.launches[1] = some_launch();
    v.launches[1].launches[0].grid[0] = 9;
    pack m = {0};
    device_variant back;
    device_put_variant(&m, &v);
    device_get_variant(&m, &back);
    assert_true(pack_complete(&m));
    assert_true(back.present[1]);
    assert_string_equal(back.once, "a.cu:7");
    assert_string_equal(back.images[0].bytes, "cubin");
    assert_int_equal(back.images[0].registers, 40);
    assert_int_equal(back.images[1].size_bytes, 0);
    assert_memory_equal(&back.launches[0], &v.launches[0], sizeof v.launches[0]);
    assert_int_equal(back.launches[1].launches[0].grid[0], 9);
    pack_deinit(&m);
}

TEST(a_variant_without_slot_0_is_refused)
{
    device_variant v = {.present = {false, true}}, back;
    v.launches[1] = some_launch();
    pack m = {0};
    device_put_variant(&m, &v);
    device_get_variant(&m, &back);
    assert_false(pack_complete(&m));
    pack_deinit(&m);
}

TEST(properties_are_read_as_they_were_written)
{
    device_properties p = {.kind = "cuda",
                           .spec = "cuda:3",
                           .uuid = "GPU-1",
                           .driver = "580.1",
                           .cuda_version = 13000,
                           .arch = "sm_90",
                           .predicted = true};
    p.limits = (arch_limits){.name = "NVIDIA H200",
                             .major = 9,
                             .minor = 1,
                             .sm_count = 132,
                             .shared_per_sm_bytes = 233472,
                             .global_bytes = (size_t)140 << 30,
                             .clock_khz = 1980000,
                             .bandwidth_bytes_per_s = 4.8e12};
    pack m = {0};
    device_properties back;
    device_put_properties(&m, &p);
    device_get_properties(&m, &back);
    assert_true(pack_complete(&m));
    assert_string_equal(back.spec, "cuda:3");
    assert_string_equal(back.limits.name, "NVIDIA H200");
    assert_int_equal(back.limits.minor, 1);
    assert_int_equal(back.limits.sm_count, 132);
    assert_true(back.limits.global_bytes == p.limits.global_bytes);
    assert_int_equal(back.limits.clock_khz, 1980000);
    assert_true(back.limits.bandwidth_bytes_per_s == 4.8e12);
    assert_true(back.predicted);
    pack_deinit(&m);
}

static void put_some_answer(pack *m)
{
    int64_t samples_ns[] = {1, -2, INT64_MAX};
    double counters[] = {0.5, -1e300};
    const device_answer answer = {.usable = true,
                                  .message = "story",
                                  .counter_count = 2,
                                  .found = {.id = 9,
                                            .outcome = OUTCOME_WRONG_RESULT,
                                            .status = AT_DEVICE,
                                            .fault = {.kind = "data race",
                                                      .lines[4] = {"deep.cuh", 7, 3},
                                                      .has_thread = true,
                                                      .block = {1, 2, 3},
                                                      .address = UINT64_MAX,
                                                      .buffer = "dst"},
                                            .ceiling_ns = 5,
                                            .ready = {.floor_ns = 2, .batch = 8},
                                            .counters = counters,
                                            .sample_count = 3,
                                            .samples_ns = samples_ns}};
    device_put_answer(m, &answer);
}

TEST(an_answer_is_read_as_it_was_written)
{
    pack m = {0};
    device_answer back;
    put_some_answer(&m);
    assert_true(device_get_answer(&m, &back));
    assert_int_equal(back.found.id, 9);
    assert_int_equal(back.found.outcome, OUTCOME_WRONG_RESULT);
    assert_string_equal(back.message, "story");
    assert_string_equal(back.found.fault.kind, "data race");
    assert_string_equal(back.found.fault.lines[4].file, "deep.cuh");
    assert_int_equal(back.found.fault.lines[4].column, 3);
    assert_int_equal(back.found.fault.block[2], 3);
    assert_true(back.found.fault.address == UINT64_MAX);
    assert_string_equal(back.found.fault.buffer, "dst");
    assert_int_equal(back.found.ready.batch, 8);
    assert_int_equal(back.found.sample_count, 3);
    assert_true(back.found.samples_ns[2] == INT64_MAX);
    assert_int_equal(back.counter_count, 2);
    assert_true(back.found.counters[0] == 0.5 && back.found.counters[1] == -1e300);
    device_event_deinit(&back.found);
    pack_deinit(&m);
}

/* A damaged message must not cause a crash, a leak, or a count without data. */
TEST(damaged_messages_are_refused_or_harmless)
{
    rng random = rng_seeded(3);
    for (int round = 0; round < 20000; round++) {
        pack m = {0};
        device_answer answer;
        device_variant variant;
        device_properties properties;
        put_some_answer(&m);
        for (int i = 0; i < 3; i++)
            m.bytes[rng_below(&random, m.size_bytes)] = (unsigned char)rng_next(&random);
        m.size_bytes -= (size_t)rng_below(&random, m.size_bytes);
        if (device_get_answer(&m, &answer)) {
            assert_true(answer.found.outcome < OUTCOME_COUNT);
            assert_true(answer.found.sample_count + answer.counter_count <= m.size_bytes / 8);
            device_event_deinit(&answer.found);
        }
        m.position = 0;
        m.failed = false;
        device_get_variant(&m, &variant);
        m.position = 0;
        m.failed = false;
        device_get_properties(&m, &properties);
        pack_deinit(&m);
    }
}

TEST(a_chunk_is_read_as_it_was_written)
{
    const unsigned char key[DATA_KEY_BYTES] = {1, 2, 3};
    const device_chunk chunk = {
        .key = key, .all_bytes = 10, .offset = 4, .bytes = "abcd", .size_bytes = 4, .trouble = ""};
    device_chunk back;
    pack m = {0};
    device_put_chunk(&m, &chunk);
    device_get_chunk(&m, &back);
    assert_true(pack_complete(&m));
    assert_memory_equal(back.key, key, sizeof key);
    assert_int_equal(back.all_bytes, 10);
    assert_int_equal(back.offset, 4);
    assert_memory_equal(back.bytes, "abcd", 4);
    pack_deinit(&m);
}

TEST(chunks_make_a_file_in_order_or_say_why_not)
{
    const unsigned char key[DATA_KEY_BYTES] = {7}, other[DATA_KEY_BYTES] = {8};
    device_contents c = {0};
    at_error error = {0};
    const void *bytes;
    device_chunk first = {
        .key = key, .all_bytes = 6, .bytes = "abcd", .size_bytes = 4, .trouble = ""};
    device_chunk second = {
        .key = key, .all_bytes = 6, .offset = 4, .bytes = "ef", .size_bytes = 2, .trouble = ""};
    assert_int_equal(device_contents_take(&c, &second, &error), AT_FORMAT);
    assert_ok(device_contents_take(&c, &first, &error), error);
    assert_int_equal(device_contents_find(&c, key, 6, &bytes, &error), AT_INTERNAL);
    assert_ok(device_contents_take(&c, &second, &error), error);
    assert_int_equal(device_contents_take(&c, &second, &error), AT_FORMAT);
    assert_ok(device_contents_find(&c, key, 6, &bytes, &error), error);
    assert_memory_equal(bytes, "abcdef", 6);
    assert_int_equal(device_contents_find(&c, other, 1, &bytes, &error), AT_INTERNAL);
    second.trouble = "the variant changed";
    second.size_bytes = 0;
    assert_ok(device_contents_take(&c, &first, &error), error);
    assert_ok(device_contents_take(&c, &second, &error), error);
    assert_int_equal(device_contents_find(&c, key, 4, &bytes, &error), AT_SCRIPT);
    assert_string_equal(error.message, "the variant changed");
    device_contents_deinit(&c);
}
