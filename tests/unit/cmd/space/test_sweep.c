#include "check.h"

#include <stdio.h>
#include <string.h>

#include "cmd/space/inspection.h"
#include "device/arch.h"
#include "script/script.h"

/* Loads scale.lua. In its space, block is a power of two from 32 to 1024, vec is 1, 2 or 4, and
 * cached is a boolean. */
static int load(void **state)
{
    arch_limits sm_90;
    script *s;
    at_error error = {0};
    if (arch_find("sm_90", &sm_90, &error) ||
        script_load(TEST_SOURCE_DIR "/tests/fixtures/scale.lua",
                    &(script_options){.lua_dir = TEST_SOURCE_DIR "/lua",
                                      .template_dir = TEST_SOURCE_DIR "/templates",
                                      .device = sm_90},
                    &s, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return -1;
    }
    *state = s;
    return 0;
}

static int unload(void **state)
{
    script_free(*state);
    return 0;
}

static at_status make(script *s, const script_setting *overs, size_t count, sweep *out,
                      at_error *error)
{
    return sweep_init(s, "vec=2", overs, count, out, error);
}

static void format_row(const script *s, const sweep *w, size_t row, char *text, size_t size_bytes)
{
    uint16_t indices[8];
    sweep_row(w, row, indices);
    script_format_configuration(s, indices, text, size_bytes);
}

TEST(without_an_axis_there_is_one_configuration)
{
    sweep w;
    char text[128];
    assert_int_equal(make(*state, NULL, 0, &w, NULL), AT_OK);
    assert_int_equal(w.row_count, 1);
    format_row(*state, &w, 0, text, sizeof text);
    assert_string_equal(text, "block=256,vec=2,cached=true");
    sweep_deinit(&w);
}

TEST(dots_stand_for_the_values_between)
{
    sweep w;
    const script_setting over = {"block", "32,64,...,1024"};
    assert_int_equal(make(*state, &over, 1, &w, NULL), AT_OK);
    assert_int_equal(w.row_count, 6);
    for (size_t i = 0; i < 6; i++) {
        char text[128], expected[128];
        format_row(*state, &w, i, text, sizeof text);
        snprintf(expected, sizeof expected, "block=%d,vec=2,cached=true", 32 << i);
        assert_string_equal(text, expected);
    }
    sweep_deinit(&w);
}

TEST(dots_go_downwards_too)
{
    sweep w;
    char text[128];
    const script_setting over = {"block", "1024,...,128"};
    assert_int_equal(make(*state, &over, 1, &w, NULL), AT_OK);
    assert_int_equal(w.row_count, 4);
    format_row(*state, &w, 1, text, sizeof text);
    assert_string_equal(text, "block=512,vec=2,cached=true");
    sweep_deinit(&w);
}

TEST(several_axes_span_their_product_the_first_varying_slowest)
{
    sweep w;
    char text[128];
    const script_setting overs[] = {{"block", "64,128"}, {"vec", "1,2,4"}};
    assert_int_equal(make(*state, overs, 2, &w, NULL), AT_OK);
    assert_int_equal(w.row_count, 6);
    format_row(*state, &w, 4, text, sizeof text);
    assert_string_equal(text, "block=128,vec=2,cached=true");
    assert_int_equal(sweep_position(&w, 4, 0), 1);
    assert_int_equal(sweep_position(&w, 4, 1), 1);
    sweep_deinit(&w);
}

TEST(an_invalid_sweep_is_refused)
{
    static const struct {
        const char *name, *list, *says;
    } cases[] = {
        {"blok", "64", "did you mean 'block'?"},
        {"block", "64,65", "'65' is not a value of block; it has 32, 64"},
        {"block", "64,64", "twice"},
        {"block", "...,64", "'...' must stand between two values"},
        {"block", "64,...", "'...' must stand between two values"},
        {"block", "64,...,...,256", "'...' must stand between two values"},
        {"block", "64,...,256,...,32", "twice"},
        {"block", "", "must stand between two values"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sweep w;
        at_error error = {0};
        const script_setting over = {cases[i].name, cases[i].list};
        assert_int_equal(make(*state, &over, 1, &w, &error), AT_USAGE);
        assert_non_null(strstr(error.message, cases[i].says));
        sweep_deinit(&w);
    }
}

TEST_GROUP(load, unload)
