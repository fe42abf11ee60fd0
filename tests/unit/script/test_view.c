/* Tests tensor maps, textures and surfaces among the arguments: their plans, and messages about
 * those that are impossible. */
#include "script_fixture.h"

#include <stdlib.h>

static const char buffers[] = "buffers = { src = at.input { dtype = 'float', count = 4800 }, wide "
                              "= at.input { dtype = 'double', count = 8 }, "
                              "bytes = at.input { dtype = 'uint8', count = 256 } },";

static script *load(const char *arguments, const char *extra, int major, at_error *error,
                    at_status wanted)
{
    char kernel[512], more[512];
    script *s = NULL;
    script_options options = fixture_options();
    snprintf(kernel, sizeof kernel, "kernel = { template = 'p.cu.tmpl', args = { %s } },",
             arguments);
    snprintf(more, sizeof more, "%s%s", buffers, extra);
    fixture_write_pattern(&(fixture_pattern){
        .problem = "problem = { rows = 48, cols = 100 },", .kernel = kernel, .extra = more});
    options.device.major = major;
    *error = (at_error){0};
    assert_int_equal(script_load(fixture_path("p.lua"), &options, &s, error), wanted);
    return s;
}

static launch_plan plan_of(const char *arguments)
{
    at_error error;
    launch_plan plan;
    script *s = load(arguments, "", 9, &error, AT_OK);
    assert_ok(script_launch_plan(s, PROBLEM_TUNED, NULL, &plan, &error), error);
    script_free(s);
    return plan;
}

TEST(a_tensor_map_has_sizes_strides_and_a_box)
{
    launch_plan p = plan_of(
        "'src', at.tensor { buffer = 'src', size = { 'cols', 'rows' }, box = { '16 * tile', 8 }, "
        "swizzle = 64, l2 = 128, outside = 'nan' }, 3");
    assert_int_equal(p.argument_count, 3);
    assert_int_equal(p.view_count, 1);
    assert_true(p.arguments[1].is_view && !p.arguments[1].is_buffer);
    assert_int_equal(p.arguments[1].size_bytes, 128);
    const view_plan *v = &p.views[p.arguments[1].bits];
    assert_int_equal(v->kind, VIEW_TENSOR);
    assert_int_equal(v->rank, 2);
    assert_int_equal(v->size[0], 100);
    assert_int_equal(v->size[1], 48);
    assert_int_equal(v->stride_bytes[0], 400);
    assert_int_equal(v->box[0], 16);
    assert_int_equal(v->box[1], 8);
    size_t count;
    assert_int_equal(view_swizzles(&count)[v->swizzle], 64);
    assert_int_equal(view_promotions(&count)[v->promotion], 128);
    assert_true(v->nan_outside);
}

TEST(a_texture_has_one_side_or_two)
{
    launch_plan p = plan_of("at.texture { buffer = 'src', size = 'rows' }, at.texture { buffer = "
                            "'bytes', size = { 8, 2 }, "
                            "strides = 64, channels = 4, filter = 'linear', address = 'wrap', "
                            "coordinates = 'normalised', "
                            "reads = 'float' }");
    assert_int_equal(p.view_count, 2);
    assert_int_equal(p.arguments[0].size_bytes, 8);
    assert_int_equal(p.views[0].rank, 1);
    assert_int_equal(p.views[0].size[0], 48);
    assert_int_equal(p.views[0].address, ADDRESS_CLAMP);
    assert_int_equal(p.views[1].stride_bytes[0], 64);
    assert_int_equal(p.views[1].channels, 4);
    assert_int_equal(p.views[1].filter, FILTER_LINEAR);
    assert_int_equal(p.views[1].address, ADDRESS_WRAP);
    assert_true(p.views[1].normalised && p.views[1].as_float);
}

TEST(surfaces_volumes_and_layers_are_arrays)
{
    launch_plan p = plan_of("at.surface { buffer = 'src', size = { 8, 4, 5 }, channels = 4 }, "
                            "at.texture { buffer = 'bytes', size = { 8, 4 }, layers = 3 }");
    assert_int_equal(p.views[0].kind, VIEW_SURFACE);
    assert_true(p.views[0].in_array && !p.views[0].layered);
    assert_int_equal(p.views[0].stride_bytes[0], 8 * 16);
    assert_int_equal(p.views[0].stride_bytes[1], 4 * 8 * 16);
    assert_true(p.views[1].in_array && p.views[1].layered);
    assert_int_equal(p.views[1].rank, 3);
    assert_int_equal(p.views[1].size[2], 3);
    assert_int_equal(p.views[1].stride_bytes[1], 32);
    p = plan_of("at.texture { buffer = 'src', size = { 25, 2 }, memory = 'array' }");
    assert_true(p.views[0].in_array && p.views[0].rank == 2);
}

TEST(mistakes_are_reported_when_the_script_is_loaded)
{
    static const struct {
        const char *arguments, *extra, *message;
    } cases[] = {
        {"at.tensor { buffer = 'scr', size = 8, box = 8 }", "",
         "kernel.args[1].buffer is 'scr'; write the name of a buffer; did you mean 'src'?"},
        {"at.tensor { size = 8, box = 8 }", "", "buffer is missing"},
        {"at.tensor { buffer = 'src', box = 8 }", "",
         "size is missing; write the number of elements along each side, the row"},
        {"at.tensor { buffer = 'src', size = { 8, 8 }, box = 8 }", "",
         "box has 1 sides, and size has 2"},
        {"at.tensor { buffer = 'src', size = { 8, 8 } }", "", "box is missing"},
        {"at.tensor { buffer = 'src', size = { 8, 8 }, box = { 8, 8 }, strides = { 8, 64 } }", "",
         "strides has"},
        {"at.tensor { buffer = 'src', size = { 1, 2, 3, 4, 5, 6 }, box = 8 }", "",
         "has 6 items; at most 5 are allowed"},
        {"at.tensor { buffer = 'src', size = 8, box = 8, filter = 'point' }", "",
         "filter: there is no such field"},
        {"at.texture { buffer = 'src', size = { 1, 2, 3, 4 } }", "",
         "has 4 items; at most 3 are allowed"},
        {"at.surface { buffer = 'src', size = 8, strides = 32 }", "",
         "strides: there is no such field"},
        {"at.texture { buffer = 'src', size = 8, filter = 'liner' }", "", "did you mean 'linear'?"},
        {"at.texture { buffer = 'src', size = 8 }",
         "transfer = { from = 'src', to = 'dst', direction = 'to_device', memory = 'pinned' },",
         ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_error error;
        load(cases[i].arguments, cases[i].extra, 9, &error, AT_SCRIPT);
        assert_contains(error.message, cases[i].message);
        assert_true(error.line == (*cases[i].message ? 8 : 10));
    }
}

TEST(impossible_views_are_reported_with_line_and_remedy)
{
    static const struct {
        const char *arguments, *message;
        int major;
    } cases[] = {
        {"at.tensor { buffer = 'src', size = 64, box = 8 }",
         "write where = { \"device.major >= 9\" }", 8},
        {"at.tensor { buffer = 'src', size = { 'cols - 1', 'rows' }, box = { 8, 8 } }",
         "must be a multiple of 16 below 2^40", 9},
        {"at.tensor { buffer = 'src', size = { 96, 48 }, strides = 98, box = { 8, 8 } }",
         "kernel.args[1].strides", 9},
        {"at.tensor { buffer = 'src', size = { 96, 48 }, box = { 8, 300 } }",
         "kernel.args[1].box[2]", 9},
        {"at.tensor { buffer = 'src', size = { 96, 48 }, box = { 6, 8 } }",
         "rows have 24 bytes; they must be a multiple of 16", 9},
        {"at.tensor { buffer = 'src', size = { 96, 48 }, box = { 16, 8 }, swizzle = 32 }",
         "narrow the box", 9},
        {"at.tensor { buffer = 'src', size = { 96, 48 }, box = { 16, 8 }, swizzle = 48 }",
         "bytes; only 0, 32, 64 and 128 are possible", 9},
        {"at.tensor { buffer = 'src', size = { 96, 51 }, box = { 16, 8 } }",
         "needs 19584 bytes, but the buffer has 19200", 9},
        {"at.tensor { buffer = 'bytes', size = 64, box = 16, outside = 'nan' }",
         "gives NaN, which uint8 does not have", 9},
        {"at.texture { buffer = 'wide', size = 8 }", "is of double, which textures cannot have", 9},
        {"at.texture { buffer = 'src', size = 8, filter = 'linear' }",
         "textures of one dimension in a buffer are not interpolated", 9},
        {"at.texture { buffer = 'bytes', size = { 32, 4 }, filter = 'linear' }",
         "integers are not interpolated", 9},
        {"at.texture { buffer = 'src', size = { 'cols', 'rows' } }",
         "a multiple of 32: pad the rows", 9},
        {"at.texture { buffer = 'src', size = { 8, 4, 2 }, memory = 'buffer' }",
         "textures in a buffer have one or two dimensions", 9},
        {"at.texture { buffer = 'src', size = { 8, 4 }, strides = 16, memory = 'array' }",
         "rows that follow one another, here every 32 bytes", 9},
        {"at.surface { buffer = 'wide', size = 8 }", "is of double, which surfaces cannot have", 9},
        {"at.surface { buffer = 'src', size = { 2, 2 }, layers = 4000 }", "at most 2048", 9},
        {"at.surface { buffer = 'src', size = { 2, 2, 2 }, layers = 2 }", "layers have 1 or 2", 9},
        {"at.surface { buffer = 'src', size = 4801 }",
         "needs 19204 bytes, but the buffer has 19200", 9},
        {"at.surface { buffer = 'src', size = 8 }, 'src'", "uses src as a CUDA array", 9},
        {"at.texture { buffer = 'src', size = { 96, 48 }, address = 'wrap' }",
         "needs coordinates = \"normalised\"", 9},
        {"at.texture { buffer = 'src', size = 8, channels = 3 }", "a texel has 1, 2 or 4 elements",
         9},
        {"at.texture { buffer = 'src', size = 8, reads = 'float' }", "integers of 8 and 16 bits",
         9},
        {"at.texture { buffer = 'src', size = 4801 }",
         "needs 19204 bytes, but the buffer has 19200", 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_error error;
        launch_plan plan;
        script *s = load(cases[i].arguments, "", cases[i].major, &error, AT_OK);
        assert_int_equal(script_launch_plan(s, PROBLEM_TUNED, NULL, &plan, &error), AT_SCRIPT);
        assert_contains(error.message, cases[i].message);
        assert_int_equal(error.line, 8);
        script_free(s);
    }
}

TEST_GROUP(fixture_setup, fixture_teardown)
