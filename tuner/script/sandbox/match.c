#include "script/sandbox/match.h"

#include <ctype.h>
#include <lauxlib.h>
#include <string.h>

#include "script/sandbox/lua_pattern.h"

static void push_capture(const lua_match *m, int index, const char *start, const char *end)
{
    if (index >= m->capture_count) {
        if (index != 0)
            luaL_error(m->L, "invalid capture index %%%d", index + 1);
        lua_pushlstring(m->L, start, (size_t)(end - start));
        return;
    }
    const lua_capture *c = &m->captures[index];
    if (c->length == CAPTURE_OPEN)
        luaL_error(m->L, "unfinished capture");
    if (c->length == CAPTURE_POSITION)
        lua_pushinteger(m->L, c->start - m->text + 1);
    else
        lua_pushlstring(m->L, c->start, (size_t)c->length);
}

/* All captures, or the whole match where there are none; nothing at all without `start`. */
static int push_captures(const lua_match *m, const char *start, const char *end)
{
    int count = m->capture_count == 0 && start ? 1 : m->capture_count;
    luaL_checkstack(m->L, count, "too many captures");
    for (int i = 0; i < count; i++)
        push_capture(m, i, start, end);
    return count;
}

/* The place where a search begins; past the end: beyond `length`. */
static size_t first_place(lua_State *L, int argument, size_t length)
{
    lua_Integer place = luaL_optinteger(L, argument, 1);
    if (place > 0)
        return (size_t)place - 1;
    if (place == 0 || place < -(lua_Integer)length)
        return 0;
    return (size_t)((lua_Integer)length + place);
}

static const char *find_plain(lua_match *m, const char *at, const char *wanted, size_t length)
{
    if (length == 0)
        return at;
    while ((size_t)(m->end - at) >= length) {
        size_t places = (size_t)(m->end - at) - length + 1, same = 1;
        const char *first = memchr(at, wanted[0], places);
        lua_match_step(m, (first ? (size_t)(first - at) : places) / 8 + 1);
        if (!first)
            return NULL;
        while (same < length && first[same] == wanted[same])
            same++;
        lua_match_step(m, same);
        if (same == length)
            return first;
        at = first + 1;
    }
    return NULL;
}

static bool is_plain(const char *pattern, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (pattern[i] != '\0' && strchr("^$*+?.([%-", pattern[i]))
            return false;
    return true;
}

static lua_match begin(lua_State *L, const char *text, size_t length)
{
    return (lua_match){.L = L, .text = text, .end = text + length};
}

static int find(lua_State *L, bool wants_place)
{
    size_t length, pattern_length;
    const char *text = luaL_checklstring(L, 1, &length);
    const char *pattern = luaL_checklstring(L, 2, &pattern_length);
    size_t first = first_place(L, 3, length);
    lua_match m = begin(L, text, length);
    if (first > length) {
        lua_pushnil(L);
        return 1;
    }
    if (wants_place && (lua_toboolean(L, 4) || is_plain(pattern, pattern_length))) {
        const char *found = find_plain(&m, text + first, pattern, pattern_length);
        lua_match_pay(&m);
        if (!found) {
            lua_pushnil(L);
            return 1;
        }
        lua_pushinteger(L, found - text + 1);
        lua_pushinteger(L, found - text + (lua_Integer)pattern_length);
        return 2;
    }
    bool anchored = pattern_length > 0 && pattern[0] == '^';
    m.pattern = lua_pattern_compile(L, pattern + anchored, pattern_length - anchored);
    for (const char *at = text + first; at <= m.end; at++) {
        const char *end = lua_match_at(&m, at);
        if (!end && anchored)
            break;
        if (!end)
            continue;
        lua_match_pay(&m);
        if (!wants_place)
            return push_captures(&m, at, end);
        lua_pushinteger(L, at - text + 1);
        lua_pushinteger(L, end - text);
        return push_captures(&m, NULL, NULL) + 2;
    }
    lua_match_pay(&m);
    lua_pushnil(L);
    return 1;
}

int match_find(lua_State *L)
{
    return find(L, true);
}

int match_match(lua_State *L)
{
    return find(L, false);
}

/* Upvalues: the text, the compiled pattern, where to go on, where the last match ended or -1. */
static int next_match(lua_State *L)
{
    size_t length;
    const char *text = lua_tolstring(L, lua_upvalueindex(1), &length);
    lua_match m = begin(L, text, length);
    m.pattern = lua_touserdata(L, lua_upvalueindex(2));
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
    for (size_t i = (size_t)lua_tointeger(L, lua_upvalueindex(3)); i <= length; i++) {
        const char *end = lua_match_at(&m, text + i);
        if (!end || end - text == last)
            continue;
        lua_match_pay(&m);
        lua_pushinteger(L, end - text);
        lua_copy(L, -1, lua_upvalueindex(3));
        lua_replace(L, lua_upvalueindex(4));
        return push_captures(&m, text + i, end);
    }
    lua_match_pay(&m);
    return 0;
}

int match_gmatch(lua_State *L)
{
    size_t length, pattern_length;
    luaL_checklstring(L, 1, &length);
    const char *pattern = luaL_checklstring(L, 2, &pattern_length);
    size_t first = first_place(L, 3, length);
    lua_pushvalue(L, 1);
    lua_pattern_compile(L, pattern, pattern_length);
    lua_pushinteger(L, (lua_Integer)(first > length ? length + 1 : first));
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, next_match, 4);
    return 1;
}

/* The replacement string, with %0 to %9 filled in. */
static void add_string(lua_match *m, luaL_Buffer *out, const char *start, const char *end)
{
    size_t length;
    const char *with = lua_tolstring(m->L, 3, &length);
    lua_match_step(m, length / 8 + 1);
    for (const char *stop = with + length; with < stop;) {
        const char *percent = memchr(with, '%', (size_t)(stop - with));
        luaL_addlstring(out, with, (size_t)((percent ? percent : stop) - with));
        if (!percent)
            return;
        char what = percent + 1 < stop ? percent[1] : '\0';
        if (what == '%')
            luaL_addchar(out, '%');
        else if (what == '0')
            luaL_addlstring(out, start, (size_t)(end - start));
        else if (isdigit((unsigned char)what)) {
            push_capture(m, what - '1', start, end);
            luaL_tolstring(m->L, -1, NULL); /* a position is a number */
            lua_remove(m->L, -2);
            luaL_addvalue(out);
        } else
            luaL_error(m->L, "invalid use of '%%' in replacement string");
        with = percent + 2;
    }
}

/* Adds what stands for the match; false when that is the match itself. */
static bool add_replacement(lua_match *m, luaL_Buffer *out, const char *start, const char *end)
{
    lua_State *L = m->L;
    switch (lua_type(L, 3)) {
    case LUA_TFUNCTION:
        lua_pushvalue(L, 3);
        lua_call(L, push_captures(m, start, end), 1);
        break;
    case LUA_TTABLE:
        push_capture(m, 0, start, end);
        lua_gettable(L, 3);
        break;
    default:
        add_string(m, out, start, end);
        return true;
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(out, start, (size_t)(end - start));
        return false;
    }
    if (!lua_isstring(L, -1))
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    luaL_addvalue(out);
    return true;
}

int match_gsub(lua_State *L)
{
    size_t length, pattern_length;
    const char *text = luaL_checklstring(L, 1, &length);
    const char *pattern = luaL_checklstring(L, 2, &pattern_length);
    int type = lua_type(L, 3);
    luaL_argexpected(L,
                     type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
                         type == LUA_TTABLE,
                     3, "string/function/table");
    lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)length + 1), count = 0;
    bool anchored = pattern_length > 0 && pattern[0] == '^', changed = false;
    lua_match m = begin(L, text, length);
    m.pattern = lua_pattern_compile(L, pattern + anchored, pattern_length - anchored);
    const char *at = text, *last = NULL;
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    while (count < most) {
        const char *end = lua_match_at(&m, at);
        if (end && end != last) {
            count++;
            changed |= add_replacement(&m, &out, at, end);
            at = last = end;
        } else if (at < m.end) {
            luaL_addchar(&out, *at++);
        } else {
            break;
        }
        if (anchored)
            break;
    }
    lua_match_pay(&m);
    if (changed) {
        luaL_addlstring(&out, at, (size_t)(m.end - at));
        luaL_pushresult(&out);
    } else {
        lua_pushvalue(L, 1);
    }
    lua_pushinteger(L, count);
    return 2;
}
