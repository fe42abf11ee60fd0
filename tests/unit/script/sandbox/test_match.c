#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "script/sandbox/sandbox.h"

/* Compares the functions in `own` with Lua's on random patterns: their results, and which calls
 * fail. */
static const char compare[] =
    "local own, lua, seed, rounds = ...\n"
    "local state = seed\n"
    "local function draw(n)\n"
    "  state = (state * 6364136223846793005 + 1442695040888963407)\n"
    "  return (state >> 33) % n + 1\n"
    "end\n"
    "local pieces = { 'a', 'b', '.', '%', '[', ']', '^', '$', '(', ')', '()', '*', '+', '-', '?',\n"
    "  '%b', '%f', '%1', '%2', '%0', '%a', '%D', '%s', '%w', '%%', '[^', '[a-b]', '[%a-]', "
    "'%b()',\n"
    "  '(a*)', '[]a]', '%f[%w]', '1', ' ', '(.-)', 'x', '\\0' }\n"
    "local letters = { 'a', 'b', 'ab', '(', ')', ' ', '1', 'x', 'A', '\\0', '-', '\\200', '%', ']' "
    "}\n"
    "local with = { 'x', '%0', '%1', '<%1%%>', '%2', '%', '%z', '', { a = 'q', b = false, ab = 7 "
    "},\n"
    "  function(a, b) return b or a end, function() end, function() return {} end, 12 }\n"
    "local function text(from, most)\n"
    "  local parts = {}\n"
    "  for i = 1, draw(most + 1) - 1 do parts[i] = from[draw(#from)] end\n"
    "  return table.concat(parts)\n"
    "end\n"
    "local function all(f, ...)\n"
    "  local r = table.pack(pcall(f, ...))\n"
    "  if not r[1] then return 'error' end\n"
    "  for i = 1, r.n do r[i] = math.type(r[i]) == 'integer' and r[i] or tostring(r[i]) end\n"
    "  return table.concat(r, '|', 1, r.n)\n"
    "end\n"
    "local function each(gmatch, ...)\n"
    "  local seen = {}\n"
    "  for a, b in gmatch(...) do seen[#seen + 1] = tostring(a) .. ',' .. tostring(b) end\n"
    "  return table.concat(seen, ';')\n"
    "end\n"
    "local failed = 0\n"
    "for i = 1, rounds do\n"
    "  local s, p = text(letters, 9), text(pieces, 6)\n"
    "  local first, plain = draw(14) - 7, draw(8) == 1\n"
    "  local r, most = with[draw(#with)], draw(3) == 1 and draw(4) - 2 or nil\n"
    "  local function check(what, a, b)\n"
    "    if a ~= b then\n"
    "      error(('%s(%q, %q, %d): %s instead of %s'):format(what, s, p, first, a, b), 0)\n"
    "    end\n"
    "    failed = failed + (a == 'error' and 1 or 0)\n"
    "  end\n"
    "  check('find', all(own.find, s, p, first, plain), all(lua.find, s, p, first, plain))\n"
    "  check('match', all(own.match, s, p, first), all(lua.match, s, p, first))\n"
    "  check('gmatch', all(each, own.gmatch, s, p, first), all(each, lua.gmatch, s, p, first))\n"
    "  check('gsub', all(own.gsub, s, p, r, most), all(lua.gsub, s, p, r, most))\n"
    "end\n"
    "assert(failed > rounds // 10 and failed < rounds * 3)\n";

static void push_own(lua_State *L)
{
    sandbox_push_environment(L);
    lua_getfield(L, -1, "string");
    lua_remove(L, -2);
}

static void open_box(sandbox *box, uint64_t instruction_limit)
{
    at_error error = {0};
    assert_ok(sandbox_init(box, "patterns", 0, instruction_limit, &error), error);
    assert_ok(sandbox_open_library(box, &error), error);
}

static int run_comparison(lua_State *L)
{
    static const luaL_Reg libraries[] = {{"_G", luaopen_base},
                                         {"math", luaopen_math},
                                         {"string", luaopen_string},
                                         {"table", luaopen_table},
                                         {NULL, NULL}};
    lua_newtable(L); /* the sandbox has no globals */
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    for (const luaL_Reg *one = libraries; one->name; one++) {
        lua_pushcfunction(L, one->func);
        lua_call(L, 0, 1);
        lua_setglobal(L, one->name);
    }
    if (luaL_loadstring(L, compare) != LUA_OK)
        return lua_error(L);
    push_own(L);
    lua_getglobal(L, "string");
    lua_pushinteger(L, 1);
    lua_pushinteger(L, 40000);
    lua_call(L, 4, 0);
    return 0;
}

TEST(random_patterns_match_as_lua_matches_them)
{
    sandbox box;
    at_error error = {0};
    open_box(&box, UINT64_C(1) << 40);
    assert_ok(sandbox_call(&box, run_comparison, NULL, false, &error), error);
    sandbox_deinit(&box);
}

typedef struct call {
    const char *name, *text, *pattern;
} call;

static int run_call(lua_State *L)
{
    const call *c = lua_touserdata(L, 1);
    push_own(L);
    lua_getfield(L, -1, c->name);
    lua_pushstring(L, c->text);
    lua_pushstring(L, c->pattern);
    lua_call(L, 2, 0);
    return 0;
}

TEST(what_is_wrong_with_a_pattern_is_said_as_lua_says_it)
{
    static const struct {
        const char *pattern, *message;
    } cases[] = {
        {"a%", "malformed pattern (ends with '%')"},
        {"[a", "malformed pattern (missing ']')"},
        {"%bx", "malformed pattern (missing arguments to '%b')"},
        {"%fa", "missing '[' after '%f' in pattern"},
        {"%1", "invalid capture index %1"},
        {"(a", "unfinished capture"},
        {"a)", "invalid pattern capture"},
        {"()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()", "too many captures"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sandbox box;
        at_error error = {0};
        call c = {"match", "aaa", cases[i].pattern};
        open_box(&box, 0);
        assert_int_equal(sandbox_call(&box, run_call, &c, false, &error), AT_SCRIPT);
        if (!strstr(error.message, cases[i].message))
            fail_msg("%s: \"%s\"", cases[i].pattern, error.message);
        sandbox_deinit(&box);
    }
}

static bool stop_at_once(void *context)
{
    ++*(int *)context;
    return true;
}

TEST(matching_can_be_stopped)
{
    static char text[1 << 16];
    memset(text, 'a', sizeof text - 1);
    sandbox box;
    at_error error = {0};
    int asked = 0;
    call c = {"find", text, ".-.-b"};
    open_box(&box, UINT64_C(1) << 40);
    box.stop = stop_at_once;
    box.stop_context = &asked;
    assert_int_equal(sandbox_call(&box, run_call, &c, false, &error), AT_INTERRUPTED);
    assert_int_equal(asked, 1);
    sandbox_deinit(&box);
}
