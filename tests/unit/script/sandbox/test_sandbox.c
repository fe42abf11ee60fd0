#include <time.h>

#include "script/sandbox/sandbox.h"
#include "script_fixture.h"

static void expect(const char *text, const char *message)
{
    fixture_write("p.lua", text);
    script *s;
    at_error error;
    at_status status = fixture_load(&s, &error);
    script_free(s);
    if (status != AT_SCRIPT || !strstr(error.message, message))
        fail_msg("%s: %s \"%s\" instead of \"%s\"", text, status_name(status), error.message,
                 message);
}

static const char passed[] = "the script returns no pattern";

TEST(nothing_leads_out_of_the_sandbox)
{
    expect(
        "for _, name in ipairs { 'io', 'os', 'debug', 'package', 'load', 'loadstring', "
        "'loadfile',\n"
        "'dofile', 'collectgarbage', 'setmetatable', 'getmetatable', 'rawset', 'rawget', 'pcall',\n"
        "'xpcall', 'coroutine', 'next', 'print', 'warn', '_G', 'utf8', 'ffi' } do\n"
        "  if _ENV[name] ~= nil then error(name .. ' is there') end\n"
        "end",
        passed);
    static const char *const missing[] = {"string.dump", "math.random", "math.randomseed",
                                          "table.move",  "string.pack", "string.unpack"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        char text[64];
        snprintf(text, sizeof text, "local f = %s", missing[i]);
        expect(text, "has no field");
    }
    expect("('').dump(function() end)", "string has no field 'dump'");
}

TEST(shared_tables_cannot_be_changed)
{
    expect("string.rep = nil", "shared and cannot be changed");
    expect("string.mine = 1", "shared and cannot be changed");
    expect("table.insert(math, 1)", "shared and cannot be changed");
    expect("require('autotune').mine = 1 assert(require 'autotune'.mine == 1)", passed);
    expect("x = 1 assert(x == 1 and _ENV.x == 1)", passed);
}

TEST(the_sandbox_has_what_scripts_need)
{
    expect(
        "assert(('a,b'):gsub(',', ';') == 'a;b' and ('x'):rep(3, '-') == 'x-x-x')\n"
        "assert(('%d %s'):format(3, 'x') == '3 x' and #('abc'):upper() == 3)\n"
        "assert(math.max(1, 2) == 2 and math.type(1) == 'integer' and math.pi > 3)\n"
        "local t = { 3, 1, 2 } table.sort(t) assert(table.concat(t) == '123')\n"
        "table.insert(t, 4) table.insert(t, 1, 0) assert(table.remove(t) == 4 and #t == 4)\n"
        "assert(select('#', table.unpack(t)) == 4 and tostring(nil) == 'nil')\n"
        "assert(tonumber('0x10') == 16 and tonumber('z', 36) == 35)\n"
        "local seen = '' for k, v in ('a=1 b=2'):gmatch '(%w)=(%w)' do seen = seen .. k .. v end\n"
        "assert(seen == 'a1b2')",
        passed);
}

TEST(pairs_visits_keys_in_order)
{
    expect(
        "local seen = ''\n"
        "for k, v in pairs { z = 1, a = 2, [3] = 3, [-1] = 4, [true] = 5, m = 6, [1.5] = 7 } do\n"
        "  seen = seen .. tostring(k) .. v .. ' '\n"
        "end\n"
        "assert(seen == '-14 1.57 33 a2 m6 z1 true5 ', seen)\n"
        "local t = { a = 1, b = 2, c = 3 } local n = 0\n"
        "for k in pairs(t) do t.c = nil t.new = 1 n = n + 1 end assert(n == 2)\n"
        "for _ in pairs {} do error 'empty' end",
        passed);
    expect("pairs { [{}] = 1 }", "a key is a table");
    expect("pairs(nil)", "table expected, got nil");
}

TEST(endless_loops_end)
{
    static const struct {
        const char *text;
        int line;
    } cases[] = {
        {"\nwhile true do end", 2},
        {"local function f() return f() end\nf()", 1},
        {"for i = 1, math.huge do local x = i .. '' end", 1},
        {"\n\n::a:: goto a", 3},
        {"local t = {} for i = 1, math.huge do t[i % 10] = {} end", 1},
        {"while true do ('x'):rep(1000) end", 1},
        {"while true do string.find('a', 'b') end", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_write("p.lua", cases[i].text);
        script_options options = fixture_options();
        options.instruction_limit = 3000000;
        script *s;
        at_error error = {0};
        assert_int_equal(script_load(fixture_path("p.lua"), &options, &s, &error), AT_SCRIPT);
        assert_contains(error.message, "ran for more than 3000000 instructions");
        assert_int_equal(error.line, cases[i].line);
    }
}

/* Lua takes the length of this small table to be more than 2^60. To find it, Lua tries powers of
 * two as long as these are keys. The names put the keys into the table's hash part. */
#define EIGHT(x) #x "0=1," #x "1=1," #x "2=1," #x "3=1," #x "4=1," #x "5=1," #x "6=1," #x "7=1,"
#define LONG_BORDER                                                                                \
    "local t = {" EIGHT(a) EIGHT(b) EIGHT(c) EIGHT(d) EIGHT(e) EIGHT(f) EIGHT(g) EIGHT(h) EIGHT(i) \
        EIGHT(j) EIGHT(k) EIGHT(l) EIGHT(m) EIGHT(n) EIGHT(o) EIGHT(p)                             \
            EIGHT(q) "}\n"                                                                         \
                     "local i = 1 while i > 0 do t[i] = 1 i = i * 2 end assert(#t > 1 << 60) "

/* One call of a C function can do much work, so a limit of Lua instructions is not enough. */
TEST(work_inside_of_c_functions_is_bounded)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"('x'):rep(1 << 40)", "would make more than"},
        {"('x'):rep(math.maxinteger, 'y')", "would make more than"},
        {"assert((''):rep(math.maxinteger) == '')", passed},
        {"local s = ('a'):rep(1 << 20) while true do s:find('b') end", "ran for more than"},
        {"local s = ('a'):rep(1 << 20) while true do s:match('^a*') end", "ran for more than"},
        {"local s = ('a'):rep(1 << 20) while true do s:find('b', -#s) end", "ran for more than"},
        {"local s = ('a'):rep(1 << 20) while true do s:gsub('b', '') end", "ran for more than"},
        {"local s = ('a'):rep(1 << 20) while true do for _ in s:gmatch('b') do end end",
         "ran for more than"},
        {"local s, i = ('a'):rep(1 << 18), 1 while i do i = s:find('a', i + 1, true) end", passed},
        {"local s, t = ('x'):rep(1 << 22), {} for i = 1, 1000 do t[i] = s end table.sort(t)",
         "ran for more than"},
        {"local s, t = ('x'):rep(1 << 22), {} while true do t = ('%.1s'):format(s) end", ""},
        {"local s, t = ('x'):rep(1 << 22), 1 while t < 1 << 18 do t = t + #s:sub(t, t) end",
         passed},
        {LONG_BORDER "table.insert(t, 1, 1)", "ran for more than"},
        {LONG_BORDER "table.remove(t, 1)", "ran for more than"},
        {LONG_BORDER "table.sort(t)", "ran for more than"},
        {LONG_BORDER "table.concat(t)", "ran for more than"},
        {"table.concat({}, '', 1, math.maxinteger)", "invalid value"},
        {"table.unpack({}, 1, math.maxinteger)", "too many results to unpack"},
        {"('%s'):rep(100000):format()", "no value"},
        {"('%99999d'):format(1)", "invalid conversion"},
        {"local s = ('x'):rep(1 << 20) while true do s = s .. s end", "KiB of memory"},
        {"local s = ('x'):rep(1 << 25) while true do local _ = s == s:reverse() end",
         "ran for more than"},
    };
    struct timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].text, cases[i].message);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    assert_true(end.tv_sec - start.tv_sec < 60);
}

TEST(a_limit_cannot_be_caught)
{
    /* The limit also applies to functions that table.sort() and gsub() call. */
    expect("table.sort({ 3, 2, 1 }, function() while true do end end)", "ran for more than");
    expect("('x'):gsub('x', function() while true do end end)", "ran for more than");
    expect("local t = {} for i = 1, 9 do t[i] = i end table.sort(t, function() return true end)",
           "invalid order function");
}

TEST(a_deep_text_is_an_error_and_no_crash)
{
    static char text[1 << 20];
    memset(text, '(', sizeof text - 1);
    expect(text, "nested too deeply");
    memset(text, '{', sizeof text - 1);
    expect(text, "");
    for (size_t i = 0; i + 10 < sizeof text; i += 2)
        memcpy(text + i, "-x", 2);
    memcpy(text, "x=", 2);
    expect(text, "");
}

/* The memory limit rises in small steps, so each allocation of Lua fails in turn. */
TEST(memory_may_run_out_anywhere)
{
    script_options options = fixture_options();
    at_error error;
    size_t failures = 0;
    for (size_t limit = 1; limit < (size_t)4 << 20; limit += 97 * TEST_STRIDE) {
        script *s;
        options.memory_limit_bytes = limit;
        error = (at_error){0};
        at_status status =
            script_load(TEST_SOURCE_DIR "/tests/fixtures/scale.lua", &options, &s, &error);
        if (status == AT_OK) {
            script_free(s);
            assert_true(failures > 100);
            return;
        }
        failures++;
        assert_int_equal(status, AT_SCRIPT);
        assert_contains(error.message, "KiB of memory");
    }
    fail_msg("the pattern needs more than 4 MiB");
}

static int raise_here(lua_State *L)
{
    sandbox_raise(L, AT_USAGE, "file", 7, "%s", "mine");
}

TEST(a_raised_error_keeps_its_message)
{
    sandbox box;
    at_error error = {0};
    assert_ok(sandbox_init(&box, "none", 0, 0, &error), error);
    assert_ok(sandbox_open_library(&box, &error), error);
    assert_int_equal(sandbox_call(&box, raise_here, NULL, true, &error), AT_USAGE);
    assert_string_equal(error.file, "file");
    assert_string_equal(error.message, "mine");
    assert_int_equal(error.line, 7);
    sandbox_deinit(&box);
    assert_int_equal(sandbox_init(&box, "none", 100, 0, &error), AT_SCRIPT);
    assert_null(box.L);
}

TEST_GROUP(fixture_setup, fixture_teardown)

TEST(habits_of_other_languages_get_a_remedy)
{
    static const struct {
        const char *message, *text;
        int line;
        const char *hint;
    } habits[] = {
        {"')' expected near '='", "block = 64", 0, "write =="},
        {"unexpected symbol near '*'", "a ** 2", 0, "1 << 9"},
        {"unexpected symbol near '*'", "x\ny = 2 ** 9,\n", 2, "1 << 9"},
        {"unexpected symbol near '*'", "x ** 2\ny = *,\n", 2, NULL},
        {"'}' expected near '='", "{\n \"block\" = 64,\n", 2, "no quotes"},
        {"'}' expected near '='", "{\n b = c = 64,\n", 2, NULL},
        {"'}' expected (to close '{' at line 1) near 'b'", "{ a = 1\n b = 2", 2, "comma missing"},
        {"'}' expected near <eof>", "{ a = 1", 1, NULL},
        {"'}' expected near '2'", "{ 1 2 4 }", 1, "comma missing"},
        {"')' expected near '='", "a = at.pow2(64, 1024, b = 1", 1, "is a ) missing"},
        {"')' expected near ','", "vec = ( 1, 2, 4 )", 1, "have braces"},
        {"unexpected symbol near '['", "vec = [1, 2, 4]", 1, "has braces"},
        {"malformed number near '8n'", "8n", 0, "has a sign"},
        {"<name> expected near '3'", "{ a: 3", 1, "not a colon"},
    };
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        const char *hint = sandbox_syntax_hint(habits[i].message, habits[i].text, habits[i].line);
        if (habits[i].hint ? !strstr(hint, habits[i].hint) : *hint != '\0')
            fail_msg("%s in %s: '%s'", habits[i].message, habits[i].text, hint);
    }
}
