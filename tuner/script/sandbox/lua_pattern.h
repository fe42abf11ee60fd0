/* A matcher of Lua's string patterns (Lua 5.4 reference manual, section 6.4.1) with counted steps.
 *
 * Lua's own matcher runs inside one C call, which no hook interrupts, and its time may grow as a
 * power of the text's length. The number of repetitions in a pattern does not tell whether it does:
 * "(%w+)%s*=%s*(.-)\n" has four and reads a line at once. This matcher gives the same results and
 * charges its steps to the sandbox. A pattern is compiled into items, with its sets of characters
 * as 256 bits each, so that a test of one character is one step. Everything here raises Lua's
 * errors. */
#ifndef AUTOTUNE_SCRIPT_SANDBOX_LUA_PATTERN_H
#define AUTOTUNE_SCRIPT_SANDBOX_LUA_PATTERN_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LUA_MATCH_MOST_CAPTURES = 32 }; /* as in Lua */

typedef struct lua_pattern lua_pattern;

enum { CAPTURE_OPEN = -1, CAPTURE_POSITION = -2 };

typedef struct lua_capture {
    const char *start;
    ptrdiff_t length; /* or CAPTURE_OPEN, CAPTURE_POSITION */
} lua_capture;

/* The matching of a pattern against a text. */
typedef struct lua_match {
    lua_State *L;
    const lua_pattern *pattern;
    const char *text, *end;
    lua_capture captures[LUA_MATCH_MOST_CAPTURES];
    int capture_count;
    int depth;      /* choices that wait for each other's outcome */
    uint64_t steps; /* not charged yet */
} lua_match;

/* Compiles a pattern without a leading ^ into a userdata, which it pushes. */
lua_pattern *lua_pattern_compile(lua_State *L, const char *pattern, size_t length);

/* Returns the end of the match that begins at `at`, with its captures in `m`, or NULL. */
const char *lua_match_at(lua_match *m, const char *at);

/* Counts steps, and charges them now and then. */
void lua_match_step(lua_match *m, uint64_t count);

/* Charges the steps that have not been charged yet. */
void lua_match_pay(lua_match *m);

#endif
