#include "script/emit.h"
#include "script_fixture.h"

TEST(the_scale_pattern_is_read_as_it_is_written)
{
    script_options options = fixture_options();
    at_error error = {0};
    script *s;
    assert_ok(script_load(TEST_SOURCE_DIR "/tests/fixtures/scale.lua", &options, &s, &error),
              error);
    const pattern *p = script_pattern(s);
    assert_string_equal(p->name, "scale");
    assert_string_equal(p->summary, "Copies an array, scaled");
    assert_true(p->measurable);
    assert_int_equal(p->problem_count, 3);
    assert_string_equal(p->problems[PROBLEM_TUNED][0].name, "n");
    assert_int_equal(p->problems[PROBLEM_TUNED][0].value.integer, 1 << 20);
    assert_int_equal(p->problems[PROBLEM_RAGGED][0].value.integer, 1003);
    assert_int_equal(p->problems[PROBLEM_SIMULATED][0].value.integer, 1 << 14);
    assert_int_equal(p->problems[PROBLEM_TUNED][1].value.kind, VALUE_NUMBER);
    assert_string_equal(p->problems[PROBLEM_RAGGED][2].value.string, "float");
    assert_true(p->has_problem[PROBLEM_RAGGED] && p->has_problem[PROBLEM_SIMULATED]);
    assert_int_equal(p->parameter_count, 3);
    assert_string_equal(p->parameters[0].name, "block");
    assert_int_equal(p->parameters[0].value_count, 6);
    assert_int_equal(p->parameters[0].values[5].integer, 1024);
    assert_int_equal(p->parameters[2].values[0].kind, VALUE_BOOLEAN);
    assert_int_equal(p->baseline[0], 3);
    assert_int_equal(p->constraint_count, 4);
    assert_string_equal(p->constraints[2].text, "cached or vec > 1");
    assert_int_equal(p->constraints[2].line, 19);
    assert_int_equal(p->constraints[0].parameter_count, 1);
    assert_int_equal(p->constraints[0].parameters[0], 1);
    assert_int_equal(p->constraints[2].parameter_count, 2);
    script_free(s);
}

TEST(parameters_come_in_source_order)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .space =
            "space = { zeta = { 1 }, --[[ alpha = ]] mid = at.list(1, 2), ['alpha'] = { 3 } },",
        .baseline = "baseline = { mid = 2 }, -- zeta and alpha have one value",
    });
    const pattern *p = script_pattern(s);
    assert_int_equal(p->parameter_count, 3);
    assert_string_equal(p->parameters[0].name, "zeta");
    assert_string_equal(p->parameters[1].name, "mid");
    assert_string_equal(p->parameters[2].name, "alpha");
    assert_int_equal(p->baseline[1], 1);
    script_free(s);
}

TEST(a_list_of_pairs_gives_the_order_itself)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .space = "space = { { 'tile', { 1, 2 } }, { 'mode', 'only' }, { 'aa', true } },",
        .baseline = "baseline = { tile = 2 },",
    });
    const pattern *p = script_pattern(s);
    assert_string_equal(p->parameters[0].name, "tile");
    assert_string_equal(p->parameters[1].name, "mode");
    assert_string_equal(p->parameters[1].values[0].string, "only");
    assert_string_equal(p->parameters[2].name, "aa");
    script_free(s);
}

TEST(computed_spaces_come_in_alphabetical_order)
{
    fixture_write("p.lua", "local at = require 'autotune'\n"
                           "local space = {}\n"
                           "for _, name in ipairs { 'c', 'a', 'b' } do space[name] = { 1 } end\n"
                           "return at.pattern { name = 'p', problem = {}, space = space,\n"
                           "kernel = { template = 'p.cu.tmpl' } }\n");
    script *s;
    at_error error;
    fixture_write("p.cu.tmpl", "// nothing\n");
    assert_ok(fixture_load(&s, &error), error);
    const pattern *p = script_pattern(s);
    assert_string_equal(p->parameters[0].name, "a");
    assert_string_equal(p->parameters[1].name, "b");
    assert_string_equal(p->parameters[2].name, "c");
    assert_false(p->measurable);
    assert_false(p->has_problem[PROBLEM_RAGGED]);
    script_free(s);
    unlink(fixture_path("p.cu.tmpl"));
}

/* A pattern with a mistake, the line of the mistake, and the message about it. */
typedef struct bad_case {
    fixture_pattern pattern;
    int line;
    const char *message;
} bad_case;

static const bad_case bad_cases[] = {
    {{.extra = "sumary = 'x',"}, 10, "sumary: there is no such field; did you mean 'summary'?"},
    {{.extra = "'stray',"}, 2, "a value without a name"},
    {{.problem = ""}, 2, "problem is missing"},
    {{.problem = "problem = { n = {} },"}, 4, "problem.n is a table"},
    {{.problem = "problem = { n = 0/0 },"}, 4, "problem.n is not a finite number"},
    {{.problem = "problem = { min = 1 },"}, 4, "'min' is the name of a helper"},
    {{.problem = "problem = { ['end'] = 1 },"},
     4,
     "'end' is a reserved word of Lua; choose another name"},
    {{.problem = "problem = { ['a b'] = 1 },"}, 4, "'a b' is not a valid name"},
    {{.problem = "problem = { __n = 1 },"}, 4, "reserved"},
    {{.space = ""}, 7, "baseline.mode: the space has no such parameter"},
    {{.space = "space = {},"}, 7, "baseline.mode: the space has no such parameter"},
    {{.space = "space = { tile = {} },"}, 5, "space.tile has no values"},
    {{.space = "space = {\n tile = { 1, 1 } },"}, 6, "space.tile has 1 twice"},
    {{.space = "space = { tile = { 1, 1.0 } },"}, 5, "has 1.0 twice"},
    {{.space = "space = { tile = { true, 'true' } },"},
     5,
     "the text 'true' and the boolean true, which look alike"},
    {{.space = "space = { tile = { 'false', 1, false } },"},
     5,
     "the text 'false' and the boolean false"},
    {{.space = "space = { tile = { 16, '0x10' } },"},
     5,
     "the text '0x10' and the number 16, which look alike"},
    {{.space = "space = { tile = at.when('n > 1', { 2, 4 }, { '2' }) },"},
     5,
     "the text '2' and the number 2"},
    {{.space = "space = { tile = { {} } },"}, 5, "value 1 is a table"},
    {{.space = "space = { tile = { 1, x = 2 } },"},
     5,
     "without names and holes; put several values of one name in braces: NAME = { 1, 2 }"},
    {{.space = "space = { tile = { 'a,b' } },"}, 5, "cannot be written in --config"},
    {{.space = "space = { tile = { 1/0 } },"}, 5, "not a finite number"},
    {{.space = "space = { n = { 1 } },"}, 5, "a problem variable already has this name"},
    {{.space = "space = { tile = at.pow2(3, 8) },"}, 5, "3 is not a power of two"},
    {{.space = "space = { tile = at.pow2(16, 8) },"}, 5, "no power of two in this range"},
    {{.space = "space = { tile = at.range(1, 4, 0) },"}, 5, "the step is 0"},
    {{.space = "space = { tile = at.range(1, 2.5) },"}, 5, "must be an integer, not 2.5"},
    {{.space = "space = { tile = at.range(1, 1 << 40) },"}, 5, "more than 65535"},
    {{.space = "space = { tile = at.pow(1, 2) },"}, 5, "there is no at.pow; did you mean 'pow2'?"},
    {{.where = "where = { 'tile > 0',\n 'tille > 1' },"},
     7,
     "where[2]: \"tille > 1\": there is no 'tille'; did you mean 'tile'?"},
    {{.where = "where = { 'tile >' },"}, 6, "\"tile >\": unexpected symbol at its end"},
    {{.where = "where = { '(tile > 1' },"}, 6, "\"(tile > 1\": a ( has no )"},
    {{.where = "where = { 'tile > 1)' },"}, 6, "\"tile > 1)\": a ) has no ("},
    {{.where = "where = { 'tile > 2n' },"}, 6, "malformed number near '2n'; a product has a sign"},
    {{.where = "where = { '2 x tile > 1' },"}, 6, "an operator is missing before 'x'"},
    {{.where = "where = { 'tile = 2' },"}, 6, "\"tile = 2\": unexpected '='; write == to compare"},
    {{.space = "space = { tile = 8..128 },"}, 5, "a range is at.range(1, 8)"},
    {{.where = "where = { '' },"}, 6, "the expression is empty"},
    {{.where = "where = { 3 },"}, 6, "write a string, for example"},
    {{.where = "where = { x = 'tile > 0' },"}, 6, "without names and holes"},
    {{.where = "where = { 'device.max_sharde_per_block > tile' },"},
     6,
     "did you mean 'device.max_shared_per_block'?"},
    {{.where = "where = { '(function() return true end)()' },"}, 6, "cannot define a function"},
    {{.where = "where = { 'true) return (false' },"}, 6, "expected"},
    {{.baseline = "baseline = { tile = 3, mode = 'a' },"},
     7,
     "3 is not a value of this parameter: 1, 2, 4"},
    {{.baseline = "baseline = { tiles = 1 },"}, 7, "did you mean 'tile'?"},
    {{.extra = "starts = 4,"}, 10, "starts is 4; write starts = { { tile = 32 }, { tile = 64 } }"},
    {{.extra = "starts = { tile = 4 },"}, 10, "starts must be a list without names and holes"},
    {{.extra = "starts = {\n{ tile = 4 },\n4 },"}, 12, "starts[2] is 4; write starts = { {"},
    {{.extra = "starts = {\n{ tile = 4 },\n{ tile = 3 } },"},
     12,
     "starts[2].tile: 3 is not a value of this parameter: 1, 2, 4"},
    {{.extra = "starts = {\n{ tiles = 4 } },"},
     11,
     "starts[1].tiles: the space has no such parameter; did you mean"},
    {{.extra = "starts = { {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {} },"},
     10,
     "starts has 17 items; at most 16 are allowed"},
    {{.kernel = ""}, 2, "kernel is missing"},
    {{.kernel = "kernel = {},"}, 8, "kernel.template is missing"},
    {{.kernel = "kernel = { template = 'q.cu.tmpl' },"}, 8, "there is no template 'q.cu.tmpl'"},
    {{.kernel = "kernel = { template = '../p.cu.tmpl' },"}, 8, "there is no template"},
    {{.kernel = "kernel = { template = '/etc/passwd' },"}, 8, "there is no template"},
    {{.kernel = "kernel = { template = 'p.cu.tmpl', entry = 'a b' },"},
     8,
     "is not the name of a kernel"},
    {{.kernel = "kernel = { template = 'p.cu.tmpl', args = { 'm' } },"},
     8,
     "kernel.args[1]: \"m\": there is no 'm'; did you mean 'n'?"},
    {{.kernel = "kernel = { template = 'p.cu.tmpl', args = { 'n', nil, 'n' } },"}, 8, "holes"},
    {{.kernel = "kernel = { template = 'p.cu.tmpl', options = { '-D${' } },"},
     8,
     "a ${ has no closing }"},
    {{.kernel = "kernel = { template = 'p.cu.tmpl', launch = 1 },"},
     8,
     "kernel.launch: there is no such field"},
    {{.launch = "launch = { grid = { 1, 2, 3, 4 }, block = 1 },"},
     9,
     "has 4 items; at most 3 are allowed"},
    {{.launch = "launch = { block = 1 },"}, 9, "launch.grid is missing"},
    {{.extra = "buffers = { a = { dtype = 'float' } },"}, 10, "write at.input, at.output"},
    {{.extra = "buffers = { a = at.input { count = 1 } },"}, 10, "buffers.a.dtype is missing"},
    {{.extra = "buffers = { a = at.input { dtype = 'flaot', count = 1 } },"},
     10,
     "did you mean 'float'?"},
    {{.extra = "buffers = { a = at.input { dtype = 'float', count = 'tile' } },"},
     10,
     "'tile' is a parameter, but this must be the same for all variants"},
    {{.extra = "buffers = { a = at.output { dtype = 'float', count = 1, fill = 'bits' } },"},
     10,
     "only at.input and at.inout are filled,"},
    {{.extra = "buffers = { a = at.input { dtype = 'float', count = 1, fill = 'modolo' } },"},
     10,
     "did you mean 'modulo'?"},
    {{.extra = "buffers = { n = at.input { dtype = 'float', count = 1 } },"},
     10,
     "a problem variable already has this name"},
    {{.extra = "buffers = { a = at.input { dtype = 'float', count = 1, size = 2 } },"},
     10,
     "there is no such field"},
    {{.extra = "reference = { template = 'p.cu.tmpl' },"}, 10, "write at.reference"},
    {{.extra = "reference = at.reference { template = 'p.cu.tmpl' },"}, 10, "has no grid"},
    {{.extra = "buffers = { a = at.output { dtype = 'float', count = 1 } },\n"
               "reference = at.reference { template = 'p.cu.tmpl' },"},
     2,
     "traffic is missing"},
    {{.extra = "tolerance = 'tile',"}, 10, "'tile' is a parameter"},
    {{.extra = "flops = 'tile',"}, 10, "'tile' is a parameter"},
    {{.extra = "ceiling = 'fp23',"}, 10, "ceiling: 'fp23' is none of none, copy, read"},
    {{.extra = "ceiling = 'fp23',"}, 10, "did you mean 'fp32'?"},
    {{.extra = "items = 'n',"}, 10, "items is 'n'; write items = { keys = \"n\" }"},
    {{.extra = "items = {},"}, 10, "items is empty; write one name"},
    {{.extra = "items = { a = 1, b = 2 },"}, 10, "items has more than one name"},
    {{.extra = "items = { 1 },"}, 10, "1 is not a valid name of items"},
    {{.extra = "tolerance = { ulps = 4 },"}, 10, "is a table; write 0"},
    {{.extra = "tolerance = true,"}, 10, "is true; write 0"},
    {{.extra = "tolerance = at.ulps(),"},
     10,
     "at.ulps takes a number or an expression, not nothing"},
    {{.extra = "tolerance = at.relativ(1),"}, 10, "did you mean 'relative'?"},
    {{.extra = "tolerance = at.mismatches(),"},
     10,
     "at.mismatches takes a share or a number of elements, not nothing"},
    {{.extra = "tolerance = at.mismatches('tile'),"}, 10, "'tile' is a parameter"},
    {{.extra = "tolerance = at.mismatches(1, {}),"}, 10, "is a table; write 0"},
    {{.extra = "tolerance = at.mismatches(1, at.mismatches(1)),"},
     10,
     "at.mismatches must not contain another"},
    {{.extra = "buffers = { a = at.output { dtype = 'float', count = 1, order = 'no' } },"},
     10,
     "buffers.a.order is 'no'; the only possible value is order = \"any\", which compares elements "
     "in any order"},
    {{.extra = "buffers = { a = at.input { dtype = 'float', count = 1, order = 'any' } },"},
     10,
     "buffers.a.order: only at.output and at.inout are compared, and this is at.input"},
    {{.extra = "buffers = { a = at.scratch { dtype = 'float', count = 1, compare = 1 } },"},
     10,
     "buffers.a.compare: only at.output and at.inout are compared, and this is at.scratch"},
    {{.extra = "buffers = { a = at.input { dtype = 'float', count = 1, tolerance = 0 } },"},
     10,
     "buffers.a.tolerance: only at.output and at.inout are compared, and this is at.input"},
    {{.extra = "deterministic = 1,"}, 10, "write true or false"},
    {{.launch = "launches = { { launches = { { grid = 1, block = 1 } } } },"},
     9,
     "for example times = \"steps"},
    {{.launch = "launches = { { times = 2, launches = {} } },"},
     9,
     "launches[1].launches is empty"},
    {{.launch = "launches = { { times = 2, grid = 1, launches = { { grid = 1, block = 1 } } } },"},
     9,
     "launches[1].grid: there is no such field"},
    {{.launch = "launches = { { times = 2, launches = { { times = 2, grid = 1, block = 1 } } } },"},
     9,
     "launches[1].launches[1].times must not be a group: a group of launches cannot contain "
     "another group"},
    {{.extra = "ragged = { m = 3 },"},
     10,
     "ragged.m: the problem has no such variable; did you mean 'n'?"},
    {{.extra = "ragged = { n = 'x' },"},
     10,
     "is 'x', but the problem has 1024; both must have the same type"},
    {{.extra = "nil + 1,"}, 10, "attempt to perform arithmetic on a nil value"},
    {{.extra = "traffic = 8 * m,"}, 10, "nil value (global 'm'); an expression over problem"},
    {{.launch = "launch = { grid = m, block = 1 },"},
     9,
     "launch.grid is an undefined name; put texts and expressions in quotes"},
    {{.extra = "x = = 1,"}, 10, "unexpected symbol near '='"},
    {{.extra = "summary = 3,"}, 10, "summary is 3"},
};

TEST(every_mistake_is_reported_with_its_line)
{
    for (size_t i = 0; i < sizeof bad_cases / sizeof *bad_cases; i++) {
        fixture_write_pattern(&bad_cases[i].pattern);
        fixture_expect_failure(bad_cases[i].message, bad_cases[i].line);
    }
}

/* Each field gets each kind of value. The value must be accepted, or the error must name a line. */
TEST(any_value_in_any_field_is_accepted_or_an_error)
{
    static const char *const fields[] = {
        "name = %s,",
        "summary = %s,",
        "problem = %s,",
        "ragged = %s,",
        "problem = { n = at.one_of(%s) },",
        "problem = { n = at.one_of { 1, %s } },",
        "problem = { n = at.within(%s, 1, 4) },",
        "layout = %s,",
        "layout = { %s },",
        "launches = %s,",
        "launches = { %s },",
        "launches = { { grid = 1, block = 1, when = %s } },",
        "launches = { { grid = 1, block = 1, entry = %s } },",
        "launches = { { grid = 1, block = 1, args = %s } },",
        "launches = { { grid = 1, block = 1, cluster = %s } },",
        "launches = { { grid = 1, block = 1, balanced = %s } },",
        "launches = { { grid = 1, block = 1, cooperative = %s } },",
        "kernel = { template = 'p.cu.tmpl', constants = %s },",
        "kernel = { template = 'p.cu.tmpl', constants = { a = %s } },",
        "kernel = { template = 'p.cu.tmpl', args = { at.struct(%s) } },",
        "kernel = { template = 'p.cu.tmpl', args = { at.struct { at.half(%s) } } },",
        "buffers = { a = at.input { dtype = 'int8', count = 1, values = %s } },",
        "buffers = { a = at.input { dtype = 'int8', count = 1, fill = at.values(%s) } },",
        "buffers = { a = at.input { dtype = 'int8', count = 1, fill = at.constant(%s) } },",
        "buffers = { a = at.input { dtype = 'int8', count = 1, block = %s } },",
        "prepare = %s,",
        "prepare = at.kernel(%s),",
        "prepare = at.kernel { template = 'p.cu.tmpl', grid = %s },",
        "simulated = %s,",
        "space = %s,",
        "space = { tile = %s },",
        "space = { %s },",
        "space = { { 'tile', %s } },",
        "space = { tile = at.when(%s, { 1, 2 }), mode = 'a' },",
        "space = { tile = at.when('n > 1', %s), mode = 'a' },",
        "space = { tile = at.when('n < 1', { 1, 2 }, %s), mode = 'a' },",
        "derived = %s,",
        "derived = { x = %s },",
        "where = %s,",
        "where = { %s },",
        "baseline = %s,",
        "baseline = { tile = %s, mode = 'a' },",
        "buffers = %s,",
        "buffers = { %s },",
        "buffers = { a = %s },",
        "buffers = { a = at.input(%s) },",
        "buffers = { a = at.input { dtype = %s, count = 1 } },",
        "buffers = { a = at.input { dtype = 'int8', count = %s } },",
        "buffers = { a = at.input { dtype = 'int8', count = 1, fill = %s } },",
        "buffers = { a = at.input { dtype = 'int8', count = 1, limit = %s } },",
        "buffers = { a = at.input { dtype = 'int8', count = 1, shape = %s } },",
        "kernel = %s,",
        "kernel = { template = %s },",
        "kernel = { template = 'p.cu.tmpl', entry = %s },",
        "kernel = { template = 'p.cu.tmpl', args = %s },",
        "kernel = { template = 'p.cu.tmpl', args = { %s } },",
        "kernel = { template = 'p.cu.tmpl', args = { at.int64(%s) } },",
        "kernel = { template = 'p.cu.tmpl', shared = %s },",
        "kernel = { template = 'p.cu.tmpl', options = %s },",
        "kernel = { template = 'p.cu.tmpl', options = { %s } },",
        "launch = %s,",
        "launch = { grid = %s, block = 1 },",
        "launch = { grid = 1, block = { %s } },",
        "traffic = %s,",
        "flops = %s,",
        "items = %s,",
        "items = { keys = %s },",
        "ceiling = %s,",
        "tolerance = %s,",
        "tolerance = at.ulps(%s),",
        "tolerance = at.relative(%s),",
        "tolerance = at.mismatches(%s),",
        "tolerance = at.mismatches(1, %s),",
        "buffers = { a = at.output { dtype = 'int8', count = 1, compare = %s } },",
        "buffers = { a = at.output { dtype = 'int8', count = 1, tolerance = %s } },",
        "buffers = { a = at.output { dtype = 'int8', count = 1, tolerance = at.absolute(%s) } },",
        "deterministic = %s,",
        "reference = %s,",
        "reference = at.reference(%s),",
        "reference = at.reference { template = 'p.cu.tmpl', grid = %s },",
        "[%s] = 1,"};
    static const char *const values[] = {"3",
                                         "-1",
                                         "0.5",
                                         "0/0",
                                         "true",
                                         "false",
                                         "'x'",
                                         "''",
                                         "'tile'",
                                         "'\\0\\n'",
                                         "{}",
                                         "{ 3 }",
                                         "{ x = 3 }",
                                         "{ {} }",
                                         "{ [{}] = 1 }",
                                         "{ 1, nil, 3 }",
                                         "at",
                                         "at.pow2",
                                         "at.input {}",
                                         "at.int32(1)",
                                         "at.reference {}",
                                         "at.reference",
                                         "('x'):rep(5000)",
                                         "{ ('y'):rep(5000) }",
                                         "math",
                                         "{ math }",
                                         "nil"};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (size_t v = f % TEST_STRIDE; v < sizeof values / sizeof *values; v += TEST_STRIDE) {
            char text[512];
            const char *hole = strstr(fields[f], "%s");
            snprintf(text, sizeof text, "%.*s%s%s", (int)(hole - fields[f]), fields[f], values[v],
                     hole + 2);
            fixture_write_pattern(&(fixture_pattern){.extra = text});
            script *s;
            at_error error;
            at_status status = fixture_load(&s, &error);
            if (status != AT_OK && (status != AT_SCRIPT || error.line < 1 || error.line > 11 ||
                                    strlen(error.message) > 1000))
                fail_msg("%s: %s:%d: %s", text, status_name(status), error.line, error.message);
            script_free(s);
        }
}

typedef struct text_case {
    const char *text;
    int line;
    const char *message;
} text_case;

static const text_case text_cases[] = {
    {"", 0, "the script returns no pattern"},
    {"return { name = 'x' }", 0, "the script returns no pattern"},
    {"return true", 0, "the script returns no pattern"},
    {"x = (", 1, "unexpected symbol"},
    {"local at = require 'autotune'\nlocal p = at.pattern { name = 'p' }", 2, "problem is missing"},
    {"require 'nothing'", 1, "there is no 'nothing.lua'"},
    {"\n\nrequire '../x'", 3, "not a module's name"},
    {"require 'a..b'", 1, "not a module's name"},
    {"require '/etc/passwd'", 1, "not a module's name"},
    {"error 'mine'", 1, "mine"},
    {"error { 'table' }", 1, "an error with a table instead of a message"},
    {"\nassert(false, 'no')", 2, "no"},
    {"local function f() return 1 + f() end f()", 1, "stack overflow"},
    {"local at = require 'autotune' at.pattern(3)", 1, "takes a table"},
    {"\x1bLua", 0, "compiled Lua"},
    {"\xef\xbb\xbf\x1bLua", 0, "compiled Lua"},
    {"#!/usr/bin/env autotune\n\nboom()", 3, "attempt to call a nil value (global 'boom')"},
    {"\xef\xbb\xbf\nboom()", 2, "boom"},
    {"return at.pattern {}", 1, "a script begins with local at = require \"autotune\""},
    {"\r\n\r\nboom()\r\n", 3, "boom"},
};

TEST(texts_that_are_no_pattern_are_errors)
{
    for (size_t i = 0; i < sizeof text_cases / sizeof *text_cases; i++) {
        fixture_write("p.lua", text_cases[i].text);
        fixture_expect_failure(text_cases[i].message, text_cases[i].line);
    }
}

TEST(errors_name_the_file)
{
    script *s;
    at_error error;
    fixture_write("p.lua", "\nrequire 'sub.helper'");
    assert_int_equal(mkdir(fixture_path("sub"), 0777), 0);
    fixture_write("sub/helper.lua", "\n\nlocal x = nil + 1");
    assert_int_equal(fixture_load(&s, &error), AT_SCRIPT);
    assert_string_equal(error.file, fixture_path("sub/helper.lua"));
    assert_int_equal(error.line, 3);
    fixture_write("sub/helper.lua", "\nx =");
    assert_int_equal(fixture_load(&s, &error), AT_SCRIPT);
    assert_string_equal(error.file, fixture_path("sub/helper.lua"));
    assert_int_equal(error.line, 2);
    fixture_write("sub/helper.lua", "return require 'sub.helper'");
    assert_int_equal(fixture_load(&s, &error), AT_SCRIPT);
    assert_contains(error.message, "requires itself");
    assert_int_equal(symlink("/etc/hostname", fixture_path("outside.lua")), 0);
    fixture_write("p.lua", "require 'outside'");
    assert_int_equal(fixture_load(&s, &error), AT_SCRIPT);
    assert_contains(error.message, "there is no 'outside.lua'");
}

TEST(modules_of_the_scripts_folder_load_once)
{
    fixture_write("mine.lua", "local name = ... return { name = name, at = require 'autotune' }");
    fixture_write("p.cu.tmpl", "// x\n");
    fixture_write("p.lua", "local mine = require 'mine'\n"
                           "assert(mine == require 'mine' and mine.name == 'mine')\n"
                           "assert(mine.at == require 'autotune')\n"
                           "return mine.at.pattern { name = 'p', problem = {}, space = { a = 1 },\n"
                           "kernel = { template = 'p.cu.tmpl' } }");
    script *s;
    at_error error;
    assert_ok(fixture_load(&s, &error), error);
    char before[33], after[33];
    script_hash(s, before);
    assert_int_equal(strlen(before), 32);
    script_free(s);
    fixture_write("mine.lua", "return { name = 'mine', at = require 'autotune' }");
    assert_ok(fixture_load(&s, &error), error);
    script_hash(s, after);
    assert_string_not_equal(before, after);
    script_free(s);
    unlink(fixture_path("p.cu.tmpl"));
}

TEST(a_path_that_is_no_file_is_an_io_error)
{
    script_options options = fixture_options();
    script *s;
    at_error error = {0};
    assert_int_equal(script_load(fixture_dir, &options, &s, &error), AT_IO);
    assert_contains(error.message, "is a folder");
    assert_int_equal(script_load(fixture_path("none.lua"), &options, &s, &error), AT_NOT_FOUND);
    assert_contains(error.message, "there is no file");
    assert_int_equal(script_load("/dev/zero", &options, &s, &error), AT_IO);
    assert_contains(error.message, "device or pipe");
    assert_int_equal(mkfifo(fixture_path("pipe.lua"), 0600), 0);
    assert_int_equal(script_load(fixture_path("pipe.lua"), &options, &s, &error), AT_IO);
    assert_int_equal(script_load("", &options, &s, &error), AT_NOT_FOUND);
    FILE *f = fopen(fixture_path("large.lua"), "wb");
    assert_int_equal(ftruncate(fileno(f), 100 << 20), 0);
    fclose(f);
    assert_int_equal(script_load(fixture_path("large.lua"), &options, &s, &error), AT_IO);
    assert_contains(error.message, "larger than");
}

static at_status load_with(const char *name, const char *text, script **s, at_error *error)
{
    script_options options = fixture_options();
    script_setting settings[] = {{"n", "8"}, {name, text}};
    options.settings = settings;
    options.setting_count = 2;
    *error = (at_error){0};
    return script_load(fixture_path("p.lua"), &options, s, error);
}

TEST(settings_override_the_problem)
{
    fixture_write_pattern(&(fixture_pattern){
        .problem = "problem = { n = 1, f = 1.5, b = true, s = 'x', names = 1 },\n"
                   "ragged = { n = 7 }, simulated = { n = 5, s = 'sim' },"});
    script *s;
    at_error error;
    assert_ok(load_with("f", "2", &s, &error), error);
    const pattern *p = script_pattern(s);
    assert_int_equal(p->problems[PROBLEM_TUNED][0].value.integer, 8);
    assert_int_equal(p->problems[PROBLEM_RAGGED][0].value.integer, 7);
    /* --set also replaces the value of the simulated problem. */
    assert_int_equal(p->problems[PROBLEM_SIMULATED][0].value.integer, 8);
    assert_string_equal(p->problems[PROBLEM_SIMULATED][3].value.string, "sim");
    assert_int_equal(p->problems[PROBLEM_TUNED][1].value.kind, VALUE_NUMBER);
    assert_true(p->problems[PROBLEM_TUNED][1].value.number == 2.0);
    script_free(s);
    assert_ok(load_with("s", "8", &s, &error), error);
    assert_string_equal(script_pattern(s)->problems[PROBLEM_TUNED][3].value.string, "8");
    script_free(s);
    assert_ok(load_with("n", "1e3", &s, &error), error);
    assert_int_equal(script_pattern(s)->problems[PROBLEM_TUNED][0].value.integer, 1000);
    script_free(s);
    assert_ok(load_with("b", "false", &s, &error), error);
    assert_false(script_pattern(s)->problems[PROBLEM_TUNED][2].value.boolean);
    script_free(s);
}

/* Asserts the grid and the source of the tuned problem's baseline. */
static void expect_variant(script *s, uint32_t grid, const char *source)
{
    launch_plan plan;
    emitted variant;
    at_error error = {0};
    const uint16_t *baseline = script_pattern(s)->baseline;
    assert_ok(script_launch_plan(s, PROBLEM_TUNED, baseline, &plan, &error), error);
    assert_int_equal(plan.launches[0].grid[0], grid);
    assert_ok(emit_variant(s, PROBLEM_TUNED, baseline, false, &variant, &error), error);
    assert_contains(variant.source, source);
    emitted_deinit(&variant);
}

TEST(expressions_and_templates_see_a_problem_that_is_set_later)
{
    fixture_write("set.cu.tmpl", "// ${s} ${f} ${n} ${twice}\n__global__ void set(int *) {}\n");
    script *s = fixture_load_pattern(&(fixture_pattern){
        .problem = "problem = { n = 4, f = 1.5, s = 'x' }, ragged = { n = 7 }, derived = { twice = "
                   "\"2 * n\" },",
        .kernel = "buffers = { out = at.output { dtype = 'int32', count = 'n' } },"
                  "kernel = { template = 'set.cu.tmpl', entry = 'set', args = { 'out' } },",
        .launch = "launch = { grid = \"s == 'x' and twice or n\", block = 32 },"});
    expect_variant(s, 8, "// x 1.5 4 8\n");
    char text[] = "other";
    const pattern_variable set[] = {{"s", {.kind = VALUE_STRING, .string = text}},
                                    {"n", {.kind = VALUE_INTEGER, .integer = 6}},
                                    {"f", {.kind = VALUE_INTEGER, .integer = 3}}};
    at_error error = {0};
    assert_ok(script_set_problem(s, PROBLEM_TUNED, set, 3, &error), error);
    text[0] = '?'; /* the script has its own copy of the text */
    expect_variant(s, 6, "// other 3.0 6 12\n");
    const pattern *p = script_pattern(s);
    for (size_t i = 0; i < p->problem_count; i++)
        if (strcmp(p->problems[PROBLEM_RAGGED][i].name, "n") == 0)
            assert_int_equal(p->problems[PROBLEM_RAGGED][i].value.integer, 7);
    const pattern_variable unknown = {"m", {.kind = VALUE_INTEGER, .integer = 6}};
    assert_int_equal(script_set_problem(s, PROBLEM_TUNED, &unknown, 1, &error), AT_USAGE);
    const pattern_variable wrong = {"n", {.kind = VALUE_STRING, .string = "6"}};
    assert_int_equal(script_set_problem(s, PROBLEM_TUNED, &wrong, 1, &error), AT_USAGE);
    script_free(s);
}

TEST(texts_that_no_record_can_hold_are_refused_at_once)
{
    static const struct {
        fixture_pattern pattern;
        const char *message;
        int line;
    } cases[] = {
        {{.where = "where = { 'tile < 2\\0 and false' },"}, "contains a NUL character", 6},
        {{.kernel = "kernel = { template = 'p.cu.tmpl', options = { '-DA\\0B' } },"},
         "contains a NUL character",
         8},
        {{.kernel = "kernel = { template = 'p.cu.tmpl', entry = 'k\\0' },"},
         "contains a NUL character",
         8},
        {{.space = "space = { tile = { 1 }, mode = { 'a', '\\xff' } },"},
         "value 2 is not UTF-8",
         5},
        {{.space = "space = { tile = { 1 }, mode = { 'a', ('x'):rep(256) } },"},
         "value 2 is a string of 256 bytes; at most 255 are allowed",
         5},
        {{.problem = "problem = { n = 1, dtype = 'float', s = '\\xc3' },"}, "UTF-8", 4},
        {{.problem = "problem = { n = 1, dtype = 'float', s = 'a\\0b' },"},
         "control characters",
         4},
        {{.problem = "problem = { n = 1, dtype = 'float', s = ('x'):rep(300) },"}, "300 bytes", 4},
        {{.problem = "problem = { n = 1, dtype = 'float', s = 'x' },",
          .extra = "ragged = { s = '\\27[2J' },"},
         "control characters",
         10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_write_pattern(&cases[i].pattern);
        fixture_expect_failure(cases[i].message, cases[i].line);
    }
    fixture_write_pattern(&(fixture_pattern){.problem = "problem = { n = 1, s = 'x' },"});
    script *s;
    at_error error;
    assert_int_equal(load_with("s", "\xff", &s, &error), AT_USAGE);
    assert_contains(error.message, "--set s is not UTF-8");
}

TEST(a_patterns_name_must_fit_records_headers_and_c)
{
    static const char *const refused[] = {"my-pattern", "1st", "a b", "a/b", "\\27[31m", "a\\0b"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char text[256];
        snprintf(text, sizeof text, "return require 'autotune'.pattern {\nname = '%s' }\n",
                 refused[i]);
        fixture_write("p.lua", text);
        fixture_expect_failure(i < 5 ? "is not a valid name of a pattern" : "NUL", 2);
    }
}

TEST(settings_of_the_wrong_kind_are_usage_errors)
{
    fixture_write_pattern(
        &(fixture_pattern){.problem = "problem = { n = 1, scale = 1.5, b = true },"});
    script *s;
    at_error error;
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        {"n", "x", "the script's value is 1, so this must be an integer"},
        {"n", "1.5", "must be an integer"},
        {"b", "1", "must be a boolean"},
        {"scale", "big", "must be a number"},
        {"scael", "1", "no such variable; did you mean 'scale'?"},
        {"", "1", "no such variable; it has n, scale, b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(load_with(cases[i].name, cases[i].text, &s, &error), AT_USAGE);
        assert_contains(error.message, cases[i].message);
    }
}

TEST_GROUP(fixture_setup, fixture_teardown)
