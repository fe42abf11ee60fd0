#include "script/emit.h"
#include "script_fixture.h"

/* Loads p.lua with this template and emits its baseline: tile 1, mode a, n 1024, dtype float. */
static at_status emit_text(const char *text, bool line_marks, emitted *out, at_error *error)
{
    fixture_write("p.cu.tmpl", text);
    fixture_write_pattern(&(fixture_pattern){0});
    script *s;
    *out = (emitted){0};
    at_status status = fixture_load(&s, error);
    if (status)
        return status;
    uint16_t indices[2];
    assert_ok(script_parse_configuration(s, "", indices, error), *error);
    status = emit_variant(s, PROBLEM_TUNED, indices, line_marks, out, error);
    script_free(s);
    return status;
}

static void expect_emitted(const char *text, bool line_marks, const char *wanted)
{
    emitted out;
    at_error error = {0};
    assert_ok(emit_text(text, line_marks, &out, &error), error);
    assert_string_equal(out.source, wanted);
    assert_int_equal(out.size_bytes, strlen(wanted));
    emitted_deinit(&out);
}

/* Asserts which variables and fields of `device` the template reads, for example "n sm_count ". */
static void expect_read(const char *text, const char *wanted)
{
    fixture_write("p.cu.tmpl", text);
    fixture_write_pattern(&(fixture_pattern){0});
    script *s;
    emitted plain, out;
    emit_reads reads;
    at_error error = {0};
    uint16_t indices[2];
    char read[64] = "";
    size_t count;
    const device_field *fields = device_fields(&count);
    assert_ok(fixture_load(&s, &error), error);
    assert_ok(script_parse_configuration(s, "", indices, &error), error);
    assert_ok(emit_variant(s, PROBLEM_TUNED, indices, false, &plain, &error), error);
    assert_ok(emit_variant_tracking(s, PROBLEM_TUNED, indices, &reads, &out, &error), error);
    assert_string_equal(out.source, plain.source);
    for (size_t i = 0; i < script_pattern(s)->problem_count; i++)
        if (reads.problem[i])
            strcat(strcat(read, script_pattern(s)->problems[PROBLEM_TUNED][i].name), " ");
    for (size_t i = 0; i < count; i++)
        if (reads.device[i])
            strcat(strcat(read, fields[i].name), " ");
    assert_string_equal(read, wanted);
    emitted_deinit(&plain);
    emitted_deinit(&out);
    script_free(s);
}

TEST(variables_and_device_fields_that_a_template_reads_are_noted)
{
    expect_read("a ${tile} ${mode}\n", "");
    expect_read("% if tile > 5 then\n${n}\n% end\nb\n", "");
    expect_read("% if n % 4 == 0 then\nc\n% end\n", "n ");
    expect_read("${ctype(dtype)} ${device.sm_count * 2}\n", "dtype sm_count ");
    expect_read("% local function f() return n end\n${f()}\n", "n ");
}

TEST(values_are_written_as_cuda_reads_them)
{
    expect_emitted("a ${tile} ${n} ${mode} ${dtype}\n", false, "a 1 1024 a float\n");
    expect_emitted("${1.0} ${0.1} ${1e300} ${1 / 3} ${2^53}x\n", false,
                   "1.0 0.1 1e+300 0.33333333333333331 9007199254740992.0x\n");
    expect_emitted("b ${tile == 1} ${'x'}${'y'} ${-3}\n", false, "b true xy -3\n");
    expect_emitted("c ${({ a = '}' }).a} ${\"\\\"}\"}\n", false, "c } \"}\n");
    expect_emitted(
        "d ${ctype 'half'} ${sizeof 'half'} ${bits_type 'double'} ${ceil_div(n, 1000)}\n", false,
        "d __half 2 unsigned long long 2\n");
    expect_emitted(
        "e ${vector_type(dtype, 4)} ${word_type(16)} ${device.sm_count} ${math.max(1, 2)}\n", false,
        "e float4 uint4 132 2\n");
}

/* The work must grow with the number of lines, and use at most a tenth of the limit of scripts. */
TEST(a_template_may_have_ten_thousand_lines)
{
    enum { LINES = 10 * 1000 };
    static const char line[] = "    x[%6d] += y[${tile}]; // what\n";
    static const char wanted[] = "    x[%6d] += y[1]; // what\n";
    char *text = malloc(LINES * 64), *expected = malloc(LINES * 64);
    assert_true(text && expected);
    size_t used = 0, expected_used = 0;
    for (int i = 0; i < LINES; i++) {
        used += (size_t)sprintf(text + used, line, i);
        expected_used += (size_t)sprintf(expected + expected_used, wanted, i);
    }
    emitted out;
    at_error error = {0};
    assert_ok(emit_text(text, false, &out, &error), error);
    assert_string_equal(out.source, expected);
    emitted_deinit(&out);
    free(text);
    free(expected);
}

TEST(emitted_text_counts_as_memory_of_the_script)
{
    fixture_write("p.cu.tmpl",
                  "% local s = ('x'):rep(1 << 16)\n% for i = 1, 1000 do\n${s}\n% end\n");
    fixture_write_pattern(&(fixture_pattern){0});
    script_options options = fixture_options();
    options.memory_limit_bytes = (size_t)8 << 20;
    script *s;
    emitted out;
    at_error error = {0};
    assert_ok(script_load(fixture_path("p.lua"), &options, &s, &error), error);
    assert_int_equal(emit_variant(s, PROBLEM_TUNED, (uint16_t[]){0, 0}, false, &out, &error),
                     AT_SCRIPT);
    assert_contains(error.message, "needs more than 8192 KiB of memory");
    script_free(s);
}

TEST(signs_of_the_template_language_can_be_escaped)
{
    expect_emitted("%% a\n  %% b\na % b\n$${x} $$ $x {}\n", false,
                   "% a\n  % b\na % b\n${x} $$ $x {}\n");
}

TEST(lua_lines_leave_no_trace)
{
    expect_emitted("% for i = 1, 2 do\n    x${i};  \t\n  % if i == 1 then\n\ty;\n  % end\n% end\n",
                   false, "    x1;\n\ty;\n    x2;\n");
    expect_emitted("\n\n\na\n\n\n\nb\n% local x = 1\n\n\nc\n\n\n", false, "a\n\nb\n\nc\n");
    expect_emitted("a\r\n% local x = 1\r\nb ${x}\r\n", false, "a\nb 1\n");
    expect_emitted("no end", false, "no end\n");
    expect_emitted("", false, "");
    expect_emitted("% local x = 1", false, "");
}

TEST(a_lone_expression_may_be_many_lines_or_none)
{
    expect_emitted("{\n    ${'a;\\nb;'}\n    ${''}\n}\n", false, "{\n    a;\n    b;\n}\n");
    expect_emitted("${dtype_header 'half'}\n${dtype_header(dtype)}\nx\n", false,
                   "#include <cuda_fp16.h>\nx\n");
}

TEST(line_marks_appear_where_line_numbers_differ)
{
    expect_emitted(
        "a\nb\n% if true then\nc\n% end\nd\n", true,
        "#line 1 \"p.cu.tmpl\"\na\nb\n#line 4 \"p.cu.tmpl\"\nc\n#line 6 \"p.cu.tmpl\"\nd\n");
    expect_emitted("a\n\nb\n", true, "#line 1 \"p.cu.tmpl\"\na\n\nb\n");
    /* A directive inside a macro would end the macro, so line marks come after the macro. */
    expect_emitted(
        "#define X \\\n% local y = 1\n    a \\\n    b\nc\n", true,
        "#line 1 \"p.cu.tmpl\"\n#define X \\\n    a \\\n    b\n#line 5 \"p.cu.tmpl\"\nc\n");
}

TEST(included_templates_share_names_and_keep_their_lines)
{
    fixture_write("block.tmpl", "% function twice(x)\n    ${x}; ${x};\n% end\n% shared = 7\n");
    expect_emitted("a\n% include \"block.tmpl\"\n% twice 'b'\nc ${shared}\n", true,
                   "#line 1 \"p.cu.tmpl\"\na\n#line 2 \"block.tmpl\"\n    b; b;\n"
                   "#line 4 \"p.cu.tmpl\"\nc 7\n");
    expect_emitted(
        "% for _, name in ipairs { 'block' } do\n% include(name .. '.tmpl')\n% end\nx ${shared}\n",
        false, "x 7\n");
}

TEST(names_do_not_outlive_a_variant)
{
    fixture_write("p.cu.tmpl", "% if tile == 1 then mine = 1 tile = 9 end\n${tile} ${mine}\n");
    script *s = fixture_load_pattern(&(fixture_pattern){0});
    emitted out;
    at_error error = {0};
    uint16_t indices[] = {0, 0};
    assert_ok(emit_variant(s, PROBLEM_TUNED, indices, false, &out, &error), error);
    assert_string_equal(out.source, "9 1\n");
    emitted_deinit(&out);
    indices[0] = 1;
    assert_int_equal(emit_variant(s, PROBLEM_TUNED, indices, false, &out, &error), AT_SCRIPT);
    assert_contains(error.message, "there is no 'mine'");
    assert_null(out.source);
    script_free(s);
}

typedef struct template_case {
    const char *text;
    int line;
    const char *message;
} template_case;

static const template_case template_cases[] = {
    {"a\n${tille}\n", 2, "there is no 'tille'; did you mean 'tile'?"},
    {"\n\n% if tile == 1 then\n\n", 4,
     "'end' expected (to close 'if' at line 3) at the end of the template"},
    {"% if tile == 1\na\n% end\n", 2, "'then' expected at the end of the line"},
    {"% x = = 1\n", 1, "unexpected symbol near '='"},
    {"a ${tile\n", 1, "a ${ has no closing }"},
    {"a\nb ${}\n", 2, "${} is empty"},
    {"a ${tile +}\n", 1, "${tile +}: unexpected symbol at the end"},
    {"a ${tile) .. (tile}\n", 1, "')' expected"},
    {"a ${tile -- one}\n", 1, "a comment is not allowed inside ${...}"},
    {"a\n% local t = {}\nb ${t.x}\n", 3, "${t.x} is nil"},
    {"a ${{}} b\n", 1, "${{}} is a table"},
    {"a ${1 / 0}\n", 1, "is not a finite number"},
    {"a\n% local x = nil + 1\n", 2, "attempt to perform arithmetic on a nil value"},
    {"${vector_type('half', 4)}\n", 1,
     "CUDA has no vector of 4 elements of type half; write word_type(8), which moves as many "
     "bytes"},
    {"${vector_type('double', 8)}\n", 1, "CUDA has no vector of 8 elements of type double"},
    {"a\n% error 'mine'\n", 2, "mine"},
    {"a ${sizeof 'flaot'}\n", 1, "did you mean 'float'?"},
    {"a ${device.sm_cont}\n", 1, "device has no field 'sm_cont'; did you mean 'sm_count'?"},
    {"% io.open 'x'\n", 1, "there is no 'io'"},
    {"% string.rep = nil\n", 1, "cannot be changed"},
    {"a\n% include 'none.tmpl'\n", 2, "there is no template 'none.tmpl'"},
    {"a\n% include '../p.lua'\n", 2, "there is no template '../p.lua'"},
    {"a\n% include('no' .. 'ne')\n", 2, "there is no template 'none'"},
    {"a\n% include(3)\n", 2, "there is no template '3'"},
    {"a\n% include 'p.cu.tmpl'\n", 2, "include each other too deeply"},
    {"\n% while true do end\n", 2, "ran for more than"},
    {"\n% while true do\na\n% end\n", 0, ""},
    {"% local function f() f() return 1 end f()\n", 1, "stack overflow"},
};

TEST(a_line_may_have_many_expressions)
{
    enum { COUNT = 1000 };
    static char text[COUNT * 6 + 16];
    for (size_t i = 0; i < COUNT; i++)
        strcat(text, "<${1}>");
    emitted out;
    at_error error;
    assert_ok(emit_text(text, false, &out, &error), error);
    size_t found = 0;
    for (const char *at = out.source; (at = strstr(at, "<1>")); at++)
        found++;
    assert_int_equal(found, COUNT);
    emitted_deinit(&out);
}

TEST(mistakes_in_a_template_are_reported_with_their_line)
{
    for (size_t i = 0; i < sizeof template_cases / sizeof *template_cases; i++) {
        const template_case *c = &template_cases[i];
        emitted out;
        at_error error;
        assert_int_equal(emit_text(c->text, true, &out, &error), AT_SCRIPT);
        if (!strstr(error.message, c->message) || (c->line && error.line != c->line))
            fail_msg("\"%s\": line %d: %s", c->text, error.line, error.message);
        if (c->line)
            assert_string_equal(error.file, fixture_path("p.cu.tmpl"));
    }
}

TEST(errors_in_an_included_template_name_it)
{
    emitted out;
    at_error error;
    fixture_write("block.tmpl", "\n% function f() return g end\n");
    assert_int_equal(emit_text("% include 'block.tmpl'\n\n\n${f()}\n", true, &out, &error),
                     AT_SCRIPT);
    assert_contains(error.message, "there is no 'g'");
    assert_string_equal(error.file, fixture_path("block.tmpl"));
    assert_int_equal(error.line, 2);
    fixture_write("block.tmpl", "\n\n% if\n");
    assert_int_equal(emit_text("% include 'block.tmpl'\n", true, &out, &error), AT_SCRIPT);
    assert_string_equal(error.file, fixture_path("block.tmpl"));
    assert_int_equal(error.line, 3);
}

TEST(the_reference_knows_no_parameters)
{
    fixture_write("p.cu.tmpl", "x\n");
    fixture_write("r.cu.tmpl", "r ${n}\n");
    static const fixture_pattern with_reference = {
        .extra = "buffers = { a = at.output { dtype = 'dtype', count = 'n' } },\n"
                 "reference = at.reference { template = 'r.cu.tmpl' }, traffic = 'n', ragged = { n "
                 "= 7 },"};
    script *s = fixture_load_pattern(&with_reference);
    emitted out;
    at_error error = {0};
    assert_ok(emit_reference(s, PROBLEM_RAGGED, NULL, false, &out, &error), error);
    assert_string_equal(out.source, "r 7\n");
    emitted_deinit(&out);
    script_free(s);
    fixture_write("r.cu.tmpl", "\nr ${tile}\n");
    s = fixture_load_pattern(&with_reference);
    assert_int_equal(emit_reference(s, PROBLEM_TUNED, NULL, false, &out, &error), AT_SCRIPT);
    assert_contains(error.message, "the parameter 'tile'");
    assert_int_equal(error.line, 2);
    script_free(s);
    s = fixture_load_pattern(&(fixture_pattern){0});
    assert_int_equal(emit_reference(s, PROBLEM_TUNED, NULL, false, &out, &error), AT_NOT_FOUND);
    script_free(s);
}

TEST(options_may_depend_on_the_configuration)
{
    fixture_write("p.cu.tmpl", "x\n");
    script *s = fixture_load_pattern(&(fixture_pattern){
        .kernel = "kernel = { template = 'p.cu.tmpl', options = { '--use_fast_math', "
                  "'--maxrregcount=${tile * 16}', '${tile == 1 and \"\" or \"-DX\"}' } },"});
    emitted one, two;
    at_error error = {0};
    assert_ok(emit_variant(s, PROBLEM_TUNED, (uint16_t[]){0, 0}, false, &one, &error), error);
    assert_ok(emit_variant(s, PROBLEM_TUNED, (uint16_t[]){2, 0}, false, &two, &error), error);
    assert_int_equal(one.option_count, 2);
    assert_string_equal(one.options[0], "--use_fast_math");
    assert_string_equal(one.options[1], "--maxrregcount=16");
    assert_int_equal(two.option_count, 3);
    assert_string_equal(two.options[1], "--maxrregcount=64");
    assert_string_equal(two.options[2], "-DX");
    assert_string_equal(one.source, two.source);
    assert_string_not_equal(one.hash, two.hash);
    emitted_deinit(&one);
    emitted_deinit(&two);
    script_free(s);
}

TEST(hashes_follow_the_contents)
{
    emitted one, two;
    at_error error = {0};
    assert_ok(emit_text("a ${tile}\n", false, &one, &error), error);
    assert_ok(emit_text("a 1\n", false, &two, &error), error);
    assert_string_equal(one.hash, two.hash);
    assert_int_equal(strlen(one.hash), 32);
    emitted_deinit(&two);
    assert_ok(emit_text("a 2\n", false, &two, &error), error);
    assert_string_not_equal(one.hash, two.hash);
    emitted_deinit(&one);
    emitted_deinit(&two);
}

/* The hash must include files with computed names, whichever variant is emitted first. */
TEST(the_template_hash_covers_every_include)
{
    char before[33], after[33], emitted_hash[33];
    at_error error = {0};
    fixture_write("p.cu.tmpl", "% include(mode .. '.tmpl')\n");
    fixture_write("a.tmpl", "a\n");
    fixture_write("b.tmpl", "b\n");
    script *s = fixture_load_pattern(&(fixture_pattern){0});
    emit_template_hash(s, before);
    emitted out;
    assert_ok(emit_variant(s, PROBLEM_TUNED, (uint16_t[]){0, 1}, false, &out, &error), error);
    assert_string_equal(out.source, "b\n");
    emitted_deinit(&out);
    emit_template_hash(s, emitted_hash);
    assert_string_equal(before, emitted_hash);
    script_free(s);
    fixture_write("b.tmpl", "c\n");
    s = fixture_load_pattern(&(fixture_pattern){0});
    emit_template_hash(s, after);
    assert_string_not_equal(before, after);
    script_free(s);
}

/* Each allocation of an emission fails in turn. */
TEST(memory_may_run_out_while_emitting)
{
    script_options options = fixture_options();
    size_t failures = 0, successes = 0;
    for (size_t limit = 150000; limit < 500000; limit += 1009 * TEST_STRIDE) {
        script *s;
        at_error error = {0};
        options.memory_limit_bytes = limit;
        if (script_load(TEST_SOURCE_DIR "/tests/fixtures/scale.lua", &options, &s, &error))
            continue;
        uint16_t indices[] = {0, 2, 0};
        emitted out;
        for (int round = 0; round < 3; round++) {
            at_status status = emit_variant(s, PROBLEM_TUNED, indices, true, &out, &error);
            if (status) {
                assert_int_equal(status, AT_SCRIPT);
                assert_contains(error.message, "KiB of memory");
                failures++;
            } else {
                successes++;
                emitted_deinit(&out);
            }
        }
        script_free(s);
    }
    assert_true(successes > 0);
    (void)failures; /* all tries may succeed, because collecting garbage may free enough memory */
}

TEST(a_nul_does_not_cut_the_source)
{
    emitted out;
    at_error error = {0};
    assert_int_equal(emit_text("a ${'x\\0y'}\nb\n", true, &out, &error), AT_SCRIPT);
    assert_contains(error.message, "NUL");
    assert_string_equal(error.file, "p.cu.tmpl");
}

TEST(included_text_is_part_of_the_source)
{
    emitted first, second;
    at_error error = {0};
    fixture_write("mine.h", "#define MINE 1\n");
    assert_ok(emit_text("#include \"mine.h\"\n", false, &first, &error), error);
    fixture_write("mine.h", "#define MINE 2\n");
    assert_ok(emit_text("#include \"mine.h\"\n", false, &second, &error), error);
    assert_int_equal(first.includes.count, 1);
    assert_string_equal(first.includes.headers[0].text, "#define MINE 1\n");
    assert_string_not_equal(first.hash, second.hash);
    emitted_deinit(&first);
    emitted_deinit(&second);
    assert_int_equal(emit_text("a\n#include \"/etc/passwd\"\n", true, &first, &error), AT_SCRIPT);
    assert_string_equal(error.file, "p.cu.tmpl");
    assert_int_equal(error.line, 2);
}

TEST_GROUP(fixture_setup, fixture_teardown)
