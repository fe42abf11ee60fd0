/* Lua's string patterns (Lua 5.4 reference manual, section 6.4.1), matched in counted steps.
 *
 * Lua's own matcher runs inside one C call that no hook interrupts, and some patterns take time
 * that grows as a power of the text's length. How often a pattern repeats does not tell these from
 * the others: "(%w+)%s*=%s*(.-)\n" has four repetitions and reads a line at once. This one gives
 * the same results and charges its steps to the sandbox as it goes. A pattern is compiled into
 * items, with its sets of characters as 256 bits each, so that testing one character is one step.
 * Everything here raises Lua's errors. */
#ifndef AUTOTUNE_SCRIPT_SANDBOX_LUA_PATTERN_H
#define AUTOTUNE_SCRIPT_SANDBOX_LUA_PATTERN_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LUA_MATCH_MOST_CAPTURES = 32 }; /* as in Lua */

typedef struct lua_pattern lua_pattern;

typedef struct lua_capture {
    const char *start;
    ptrdiff_t length; /* or one of these two */
} lua_capture;

enum { CAPTURE_OPEN = -1, CAPTURE_POSITION = -2 };

/* The matching of a pattern against a text. */
typedef struct lua_match {
    lua_State *L;
    const lua_pattern *pattern;
    const char *text, *end;
    lua_capture captures[LUA_MATCH_MOST_CAPTURES];
    int capture_count;
    int depth;
    uint64_t steps; /* not yet charged */
} lua_match;

/* Compiles a pattern (without a leading '^') into a userdata, which it pushes. */
lua_pattern *lua_pattern_compile(lua_State *L, const char *pattern, size_t length);

/* The end of the match that begins at `at`, with its captures in `m`; NULL: there is none. */
const char *lua_match_at(lua_match *m, const char *at);

/* Counts steps, and charges them now and then; lua_match_pay() charges the rest. */
void lua_match_step(lua_match *m, uint64_t count);
void lua_match_pay(lua_match *m);

#endif
