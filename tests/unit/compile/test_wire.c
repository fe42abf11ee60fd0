#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compile/wire.h"

static const char *const options[] = {"-DTILE=32", "--use_fast_math"};

static const source_header included[] = {{"a.h", "#define A 1\n"}, {"sub/b.h", ""}};

static const compile_request request = {
    .id = 0x123456789abcdef0,
    .source = "extern \"C\" __global__ void k() {}\n",
    .name = "a b.cu",
    .entry = "k",
    .arch = "sm_90a",
    .options = options,
    .option_count = 2,
    .headers = included,
    .header_count = 2,
    .want_ptx = true,
    .ptx_alone = true,
};

static compile_result make_result(void)
{
    static unsigned char cubin[] = "\177ELF with a \0 inside";
    static char ptx[] = ".version 9.0", log[] = "a warning", symbols[] = "_Z5scalePf\nplain";
    return (compile_result){.id = 7,
                            .outcome = COMPILE_OK,
                            .cubin = cubin,
                            .cubin_bytes = sizeof cubin,
                            .ptx = ptx,
                            .ptx_bytes = sizeof ptx - 1,
                            .symbols = symbols,
                            .grouped = true,
                            .resources = {1, 2, 3, 4, 5, 6, 7},
                            .log = log,
                            .time_ns = 123456789012,
                            .cached = false};
}

TEST(a_request_crosses_unchanged)
{
    pack m = {0};
    compile_wire_put_request(&m, &request);
    const char *views[COMPILE_OPTIONS_MAX];
    source_header headers[SOURCE_HEADERS_MAX];
    compile_request back;
    assert_true(compile_wire_get_request(&m, views, headers, &back));
    assert_true(back.id == request.id);
    assert_string_equal(back.source, request.source);
    assert_string_equal(back.name, request.name);
    assert_string_equal(back.entry, request.entry);
    assert_string_equal(back.arch, request.arch);
    assert_true(back.want_ptx);
    assert_true(back.ptx_alone);
    assert_int_equal(back.option_count, 2);
    assert_string_equal(back.options[1], "--use_fast_math");
    assert_int_equal(back.header_count, 2);
    assert_string_equal(back.headers[0].text, "#define A 1\n");
    assert_string_equal(back.headers[1].name, "sub/b.h");
    pack_deinit(&m);
}

/* The first eight bytes are the id. The cache key covers only the bytes behind the id. */
TEST(the_id_comes_first_and_alone_differs)
{
    pack a = {0}, b = {0};
    compile_request other = request;
    other.id = 1;
    compile_wire_put_request(&a, &request);
    compile_wire_put_request(&b, &other);
    assert_int_equal(a.size_bytes, b.size_bytes);
    assert_memory_not_equal(a.bytes, b.bytes, 8);
    assert_memory_equal(a.bytes + 8, b.bytes + 8, a.size_bytes - 8);
    pack_deinit(&a);
    pack_deinit(&b);
}

TEST(a_result_crosses_unchanged)
{
    compile_result result = make_result(), back;
    pack m = {0};
    compile_wire_put_result(&m, &result);
    assert_true(compile_wire_get_result(&m, &back));
    assert_int_equal(back.id, result.id);
    assert_int_equal(back.time_ns, result.time_ns);
    assert_int_equal(back.cached, result.cached);
    assert_string_equal(back.symbols, result.symbols);
    assert_true(back.grouped);
    assert_int_equal(back.outcome, COMPILE_OK);
    assert_int_equal(back.cubin_bytes, result.cubin_bytes);
    assert_memory_equal(back.cubin, result.cubin, result.cubin_bytes);
    assert_string_equal(back.ptx, result.ptx);
    assert_int_equal(back.ptx_bytes, result.ptx_bytes);
    assert_string_equal(back.log, result.log);
    assert_memory_equal(&back.resources, &result.resources, sizeof result.resources);
    pack_deinit(&m);
}

TEST(cut_messages_are_refused)
{
    compile_result result = make_result(), back_result;
    const char *views[COMPILE_OPTIONS_MAX];
    source_header headers[SOURCE_HEADERS_MAX];
    compile_request back_request;
    pack whole[2] = {0};
    compile_wire_put_request(&whole[0], &request);
    compile_wire_put_result(&whole[1], &result);
    for (int i = 0; i < 2; i++)
        for (size_t n = 0; n < whole[i].size_bytes; n++) {
            pack cut = whole[i];
            cut.size_bytes = n;
            assert_false(i ? compile_wire_get_result(&cut, &back_result)
                           : compile_wire_get_request(&cut, views, headers, &back_request));
        }
    pack_deinit(&whole[0]);
    pack_deinit(&whole[1]);
}

static bool accepted(const compile_result *result)
{
    compile_result back;
    pack m = {0};
    compile_wire_put_result(&m, result);
    bool fine = compile_wire_get_result(&m, &back);
    pack_deinit(&m);
    return fine;
}

TEST(an_outcome_that_contradicts_its_image_is_refused)
{
    compile_result result = make_result();
    assert_true(accepted(&result));
    result.outcome = COMPILE_ERROR;
    assert_false(accepted(&result));
    result.cubin_bytes = 0; /* the result still has an image, its PTX */
    assert_false(accepted(&result));
    result.outcome = COMPILE_OK;
    assert_true(accepted(&result));
    result.ptx = NULL;
    assert_false(accepted(&result));
    result.outcome = COMPILE_ERROR;
    assert_true(accepted(&result));
    result.outcome = (compile_outcome)77;
    assert_false(accepted(&result));
}

TEST(too_many_options_are_refused)
{
    const char *many[COMPILE_OPTIONS_MAX + 1], *views[COMPILE_OPTIONS_MAX];
    source_header headers[SOURCE_HEADERS_MAX];
    for (size_t i = 0; i <= COMPILE_OPTIONS_MAX; i++)
        many[i] = "-DX";
    compile_request r = request, back;
    r.options = many;
    r.option_count = COMPILE_OPTIONS_MAX + 1;
    pack m = {0};
    compile_wire_put_request(&m, &r);
    assert_false(compile_wire_get_request(&m, views, headers, &back));
    pack_deinit(&m);
}
