/* Tests that different variants have different identities. */
#include "check.h"

#include <string.h>

#include "run/variant/sources.h"

/* Offsets of fields in a launch plan. A change of any of these bytes must change the identity. */
#define OF(field) offsetof(launch_plan, field)
static const size_t changed_bytes[] = {
    OF(entries[0]),
    OF(launches[0].grid[0]),
    OF(launches[0].grid[1]),
    OF(launches[0].grid[2]),
    OF(launches[0].block[0]),
    OF(launches[0].block[1]),
    OF(launches[0].block[2]),
    OF(launches[0].cluster[0]),
    OF(launches[0].cluster[1]),
    OF(launches[0].cluster[2]),
    OF(launches[0].dynamic_shared_bytes),
    OF(launches[0].balanced),
    OF(launches[0].cooperative),
    OF(launches[0].argument_count),
    OF(launches[1].first_argument),
    OF(launches[1].grid[0]),
    OF(arguments[0].bits),
    OF(arguments[0].size_bytes),
    OF(arguments[0].is_buffer),
    OF(arguments[0].is_view),
    OF(arguments[0].buffer),
    OF(arguments[1].bits),
    OF(structs[0]),
    OF(structs[31]),
    OF(addresses[0].at),
    OF(addresses[0].buffer),
    OF(constants[0].name),
    OF(constants[0].buffer),
    OF(constants[0].is_result),
    OF(views[0].kind),
    OF(views[0].buffer),
    OF(views[0].type),
    OF(views[0].rank),
    OF(views[0].size[0]),
    OF(views[0].stride_bytes[0]),
    OF(views[0].box[0]),
    OF(views[0].swizzle),
    OF(views[0].promotion),
    OF(views[0].nan_outside),
    OF(views[0].channels),
    OF(views[0].filter),
    OF(views[0].address),
    OF(views[0].normalised),
    OF(views[0].as_float),
    OF(transfer.memory),
    OF(transfer.staging),
    OF(transfer.chunk_bytes),
    OF(transfer.streams),
    OF(transfer.task.direction),
    OF(transfer.task.pieces),
    OF(transfer.task.pitch_bytes),
    OF(compared[0].buffer),
    OF(compared[0].count),
};
enum { CHANGES = sizeof changed_bytes / sizeof *changed_bytes };

static const launch_plan common = {
    .launch_count = 2,
    .entries = "one\0two",
    .launches =
        {{.grid = {4, 1, 1}, .block = {64, 1, 1}, .cluster = {1, 1, 1}, .argument_count = 2},
         {.entry = 4,
          .grid = {1, 1, 1},
          .block = {64, 1, 1},
          .cluster = {1, 1, 1},
          .first_argument = 1,
          .argument_count = 1}},
    .argument_count = 2,
    .arguments = {{.bits = 5, .size_bytes = 4}, {.bits = 9, .size_bytes = 4}},
    .struct_bytes = 32,
    .address_count = 1,
    .addresses = {{.at = 8, .buffer = 1}},
    .constant_count = 1,
    .constants = {{.name = "weights", .buffer = 1}},
    .view_count = 1,
    .views = {{.kind = VIEW_TENSOR, .buffer = 1, .rank = 2, .size = {64, 64}, .box = {8, 8}}},
    .compared_count = 1,
    .compared = {{.buffer = 1, .count = 64}},
    .transfer = {.task = {.direction = TRANSFER_BOTH, .pieces = 2}, .streams = 1},
};

static journal_key identify(const identity_part *parts, size_t count, uint32_t layout)
{
    return identity_of(parts, count, layout);
}

static void assert_differs(journal_key a, journal_key b)
{
    assert_memory_not_equal(a.bytes, b.bytes, sizeof a.bytes);
}

TEST(each_part_of_a_launch_makes_another_variant)
{
    journal_key keys[CHANGES + 1];
    keys[CHANGES] = identify(&(identity_part){"abc", &common}, 1, 0);
    for (size_t i = 0; i < CHANGES; i++) {
        launch_plan plan = common;
        ((unsigned char *)&plan)[changed_bytes[i]] ^= 1;
        keys[i] = identify(&(identity_part){"abc", &plan}, 1, 0);
        for (size_t k = 0; k < i; k++)
            assert_differs(keys[k], keys[i]);
        assert_differs(keys[CHANGES], keys[i]);
    }
}

TEST(text_layout_and_problems_make_another_variant)
{
    const identity_part a = {"abc", &common}, b = {"abd", &common}, none = {0};
    const journal_key keys[] = {
        identify(&a, 1, 0),
        identify(&b, 1, 0),
        identify(&a, 1, 1),
        identify((identity_part[]){a, a}, 2, 0),
        identify((identity_part[]){a, b}, 2, 0),
        identify((identity_part[]){b, a}, 2, 0),
        identify((identity_part[]){a, none, a}, 3, 0),
        identify((identity_part[]){a, a, none}, 3, 0),
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t k = 0; k < i; k++)
            assert_differs(keys[k], keys[i]);
}

/* A run that defers the check on ragged problems knows less about a variant. */
TEST(a_deferred_check_makes_another_variant)
{
    static candidate c;
    static sources all;
    c = (candidate){.present = {true, true}};
    c.launches[0] = c.launches[1] = common;
    strcpy(all.of[0].hash, "abc");
    strcpy(all.of[1].hash, "def");
    identity_by_source(&c, &all);
    const journal_key at_once = c.source;
    sources_defer_ragged(&all, &c);
    identity_by_source(&c, &all);
    assert_differs(at_once, c.source);
}
