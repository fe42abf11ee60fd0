#include "script/match.h"

#include <ctype.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "script/sandbox.h"

/* Steps of the matcher in the time of one VM instruction, roughly, and how many go by unpaid. */
enum { STEPS_PER_INSTRUCTION = 4, STEPS_AT_ONCE = 4096 };

/* As in Lua: of captures, and of choices that wait for each other's outcome. */
enum { MOST_CAPTURES = 32, MOST_DEPTH = 200 };

typedef enum item_kind {
    ITEM_SINGLE,   /* one character of a set, with a quantifier perhaps */
    ITEM_OPEN,     /* ( */
    ITEM_POSITION, /* () */
    ITEM_CLOSE,    /* ) */
    ITEM_BALANCE,  /* %bxy */
    ITEM_FRONTIER, /* %f[set] */
    ITEM_AGAIN,    /* %1 */
    ITEM_END,      /* $ behind everything else */
    ITEM_DONE,
    ITEM_BAD       /* an error, if matching comes here */
} item_kind;

typedef struct item {
    uint8_t kind;
    char quantifier;      /* of a single: * + - ? or 0 */
    uint8_t first, last;  /* of %b; a single without a set is the character `first` */
    int32_t set;          /* -1: none */
    const char *complaint;
} item;

typedef struct char_set {
    uint64_t bits[4];
} char_set;

/* A compiled pattern: one userdata, the sets before the items. */
typedef struct program {
    size_t set_count, item_count;
    char_set *sets;
    item *items;
} program;

typedef struct capture {
    const char *start;
    ptrdiff_t length; /* or one of these two */
} capture;

enum { CAPTURE_OPEN = -1, CAPTURE_POSITION = -2 };

typedef struct matcher {
    lua_State *L;
    const program *program;
    const char *text, *end;
    capture captures[MOST_CAPTURES];
    int capture_count;
    int depth;
    uint64_t steps; /* not yet charged */
} matcher;

static void pay(matcher *m)
{
    uint64_t steps = m->steps;
    m->steps = 0;
    sandbox_charge(m->L, steps / STEPS_PER_INSTRUCTION);
}

static void step(matcher *m, uint64_t count)
{
    m->steps += count;
    if (m->steps >= STEPS_AT_ONCE)
        pay(m);
}

/* ---- compiling ---- */

static void include(char_set *set, unsigned char c)
{
    set->bits[c >> 6] |= UINT64_C(1) << (c & 63);
}

static bool includes(const char_set *set, unsigned char c)
{
    return set->bits[c >> 6] >> (c & 63) & 1;
}

static bool is_of_class(int c, int letter, bool *is_class)
{
    *is_class = true;
    switch (letter) {
    case 'a':
        return isalpha(c);
    case 'c':
        return iscntrl(c);
    case 'd':
        return isdigit(c);
    case 'g':
        return isgraph(c);
    case 'l':
        return islower(c);
    case 'p':
        return ispunct(c);
    case 's':
        return isspace(c);
    case 'u':
        return isupper(c);
    case 'w':
        return isalnum(c);
    case 'x':
        return isxdigit(c);
    default:
        *is_class = false;
        return false;
    }
}

/* What follows a %: a class, its complement when in upper case, else the character itself. */
static void include_class(char_set *set, unsigned char letter)
{
    bool is_class;
    for (int c = 0; c < 256; c++) {
        bool holds = is_of_class(c, tolower(letter), &is_class);
        if (is_class ? holds != (isupper(letter) != 0) : c == letter)
            include(set, (unsigned char)c);
    }
}

/* The place of the ] that ends the set whose [ is before `at`, or NULL. */
static const char *end_of_set(const char *at, const char *end)
{
    if (at < end && *at == '^')
        at++;
    do { /* what comes first is no end, not even a ] */
        if (at == end)
            return NULL;
        bool escapes = *at++ == '%';
        if (escapes && at < end)
            at++;
    } while (at == end || *at != ']');
    return at;
}

/* Fills the set that is spelt from `at` up to its ]. */
static void fill_set(char_set *set, const char *at, const char *end)
{
    bool negated = at < end && *at == '^';
    for (at += negated; at < end; at++) {
        if (*at == '%' && at + 1 <= end) {
            include_class(set, (unsigned char)*++at);
        } else if (end - at > 2 && at[1] == '-') {
            for (int c = (unsigned char)at[0]; c <= (unsigned char)at[2]; c++)
                include(set, (unsigned char)c);
            at += 2;
        } else {
            include(set, (unsigned char)*at);
        }
    }
    for (int i = 0; i < 4 && negated; i++)
        set->bits[i] = ~set->bits[i];
}

/* Reads the set that begins behind a [; *at ends up behind its ]. False when it has none. */
static bool read_set(program *p, item *out, const char **at, const char *end)
{
    const char *close = end_of_set(*at, end);
    if (!close)
        return false;
    out->set = (int32_t)p->set_count++;
    fill_set(&p->sets[out->set], *at, close);
    *at = close + 1;
    return true;
}

/* %b, %f and %0 to %9, with *at behind the %; false for anything else. */
static bool read_special(program *p, item *out, const char **at, const char *end)
{
    if (**at == 'b') {
        out->kind = ITEM_BALANCE;
        if (end - *at < 3) {
            out->kind = ITEM_BAD;
            out->complaint = "malformed pattern (missing arguments to '%b')";
            return true;
        }
        out->first = (uint8_t)(*at)[1];
        out->last = (uint8_t)(*at)[2];
        *at += 3;
        return true;
    }
    if (**at == 'f') {
        ++*at;
        out->kind = ITEM_FRONTIER;
        if (*at == end || **at != '[') {
            out->kind = ITEM_BAD;
            out->complaint = "missing '[' after '%f' in pattern";
        } else {
            ++*at;
            if (!read_set(p, out, at, end)) {
                out->kind = ITEM_BAD;
                out->complaint = "malformed pattern (missing ']')";
            }
        }
        return true;
    }
    if (!isdigit((unsigned char)**at))
        return false;
    out->kind = ITEM_AGAIN;
    out->first = (uint8_t)(*(*at)++ - '0');
    return true;
}

static void read_single(program *p, item *out, const char **at, const char *end)
{
    char c = *(*at)++;
    out->kind = ITEM_SINGLE;
    out->first = (uint8_t)c;
    if (c == '%' && *at == end) {
        out->kind = ITEM_BAD;
        out->complaint = "malformed pattern (ends with '%')";
        return;
    }
    if (c == '%') {
        bool is_class;
        out->first = (uint8_t)*(*at)++;
        is_of_class(0, tolower(out->first), &is_class);
        if (is_class) {
            out->set = (int32_t)p->set_count++;
            include_class(&p->sets[out->set], out->first);
        }
    } else if (c == '.') {
        out->set = (int32_t)p->set_count++;
        memset(&p->sets[out->set], 0xff, sizeof *p->sets);
    } else if (c == '[' && !read_set(p, out, at, end)) {
        out->kind = ITEM_BAD;
        out->complaint = "malformed pattern (missing ']')";
        return;
    }
    if (*at < end && strchr("*+-?", **at) && **at != '\0')
        out->quantifier = *(*at)++;
}

static void read_item(program *p, item *out, const char **at, const char *end)
{
    *out = (item){.set = -1};
    char c = **at;
    if (c == '(' && end - *at > 1 && (*at)[1] == ')') {
        out->kind = ITEM_POSITION;
        *at += 2;
    } else if (c == '(' || c == ')') {
        out->kind = c == '(' ? ITEM_OPEN : ITEM_CLOSE;
        ++*at;
    } else if (c == '$' && end - *at == 1) {
        out->kind = ITEM_END;
        ++*at;
    } else if (c == '%' && end - *at > 1) {
        const char *behind = *at + 1;
        if (read_special(p, out, &behind, end))
            *at = behind;
        else
            read_single(p, out, at, end);
    } else {
        read_single(p, out, at, end);
    }
}

/* Pushes the compiled pattern. */
static program *compile(lua_State *L, const char *pattern, size_t length)
{
    const char *at = pattern, *end = pattern + length;
    size_t most_sets = 0;
    for (size_t i = 0; i < length; i++)
        most_sets += pattern[i] == '[' || pattern[i] == '%' || pattern[i] == '.';
    sandbox_charge(L, length + 4 * most_sets);
    size_t set_bytes = most_sets * sizeof(char_set), head_bytes = (sizeof(program) + 15) & ~(size_t)15;
    program *p =
        lua_newuserdatauv(L, head_bytes + set_bytes + (length + 1) * sizeof(item), 0);
    *p = (program){.sets = (char_set *)(void *)((char *)p + head_bytes)};
    p->items = (item *)(void *)((char *)p->sets + set_bytes);
    memset(p->sets, 0, set_bytes);
    bool bad = false;
    while (at < end && !bad) {
        read_item(p, &p->items[p->item_count], &at, end);
        bad = p->items[p->item_count++].kind == ITEM_BAD;
    }
    if (!bad)
        p->items[p->item_count++] = (item){.kind = ITEM_DONE, .set = -1};
    return p;
}

/* ---- matching ---- */

static bool holds(const matcher *m, const item *i, const char *at)
{
    if (at >= m->end)
        return false;
    unsigned char c = (unsigned char)*at;
    return i->set < 0 ? c == i->first : includes(&m->program->sets[i->set], c);
}

/* Behind the text that begins with `first` and goes on to the `last` that balances it, or NULL. */
static const char *balance(matcher *m, const item *i, const char *at)
{
    size_t open = 1;
    const char *c = at + 1;
    if (at >= m->end || (unsigned char)*at != i->first)
        return NULL;
    for (; c < m->end; c++) {
        if ((unsigned char)*c == i->last) {
            if (--open == 0)
                break;
        } else if ((unsigned char)*c == i->first) {
            open++;
        }
    }
    step(m, (uint64_t)(c - at));
    return c < m->end ? c + 1 : NULL;
}

static bool at_frontier(const matcher *m, const item *i, const char *at)
{
    const char_set *set = &m->program->sets[i->set];
    unsigned char before = at > m->text ? (unsigned char)at[-1] : '\0';
    unsigned char here = at < m->end ? (unsigned char)*at : '\0';
    return !includes(set, before) && includes(set, here);
}

/* Behind a repetition of capture `number`, or NULL. */
static const char *again(matcher *m, int number, const char *at)
{
    if (number < 1 || number > m->capture_count ||
        m->captures[number - 1].length == CAPTURE_OPEN)
        luaL_error(m->L, "invalid capture index %%%d", number);
    const capture *c = &m->captures[number - 1];
    if (c->length < 0 || m->end - at < c->length)
        return NULL;
    step(m, (uint64_t)c->length / 8);
    return memcmp(c->start, at, (size_t)c->length) == 0 ? at + c->length : NULL;
}

static const char *match_items(matcher *m, const item *i, const char *at);

/* match_items() for one of several choices. */
static const char *try_items(matcher *m, const item *i, const char *at)
{
    if (++m->depth > MOST_DEPTH)
        luaL_error(m->L, "pattern too complex");
    const char *end = match_items(m, i, at);
    m->depth--;
    return end;
}

/* The longest repetition first. */
static const char *repeat_most(matcher *m, const item *i, const char *at)
{
    const char *last = at;
    while (holds(m, i, last)) {
        last++;
        step(m, 1);
    }
    for (const char *least = at + (i->quantifier == '+'); last >= least; last--) {
        const char *end = try_items(m, i + 1, last);
        if (end)
            return end;
    }
    return NULL;
}

static const char *repeat_least(matcher *m, const item *i, const char *at)
{
    for (;; at++) {
        const char *end = try_items(m, i + 1, at);
        if (end)
            return end;
        if (!holds(m, i, at))
            return NULL;
        step(m, 1);
    }
}

static const char *open_capture(matcher *m, const item *i, const char *at)
{
    if (m->capture_count >= MOST_CAPTURES)
        luaL_error(m->L, "too many captures");
    m->captures[m->capture_count++] =
        (capture){at, i->kind == ITEM_POSITION ? CAPTURE_POSITION : CAPTURE_OPEN};
    const char *end = try_items(m, i + 1, at);
    if (!end)
        m->capture_count--;
    return end;
}

static const char *close_capture(matcher *m, const item *i, const char *at)
{
    int c = m->capture_count;
    while (--c >= 0 && m->captures[c].length != CAPTURE_OPEN)
        ;
    if (c < 0)
        luaL_error(m->L, "invalid pattern capture");
    m->captures[c].length = at - m->captures[c].start;
    const char *end = try_items(m, i + 1, at);
    if (!end)
        m->captures[c].length = CAPTURE_OPEN;
    return end;
}

/* Where a match of the items from `i` on ends that begins at `at`; NULL: there is none. */
static const char *match_items(matcher *m, const item *i, const char *at)
{
    for (;; i++) {
        step(m, 1);
        switch ((item_kind)i->kind) {
        case ITEM_DONE:
            return at;
        case ITEM_END:
            return at == m->end ? at : NULL;
        case ITEM_OPEN:
        case ITEM_POSITION:
            return open_capture(m, i, at);
        case ITEM_CLOSE:
            return close_capture(m, i, at);
        case ITEM_BALANCE:
            if (!(at = balance(m, i, at)))
                return NULL;
            break;
        case ITEM_AGAIN:
            if (!(at = again(m, i->first, at)))
                return NULL;
            break;
        case ITEM_FRONTIER:
            if (!at_frontier(m, i, at))
                return NULL;
            break;
        case ITEM_BAD:
            luaL_error(m->L, "%s", i->complaint);
            return NULL;
        case ITEM_SINGLE:
            if (i->quantifier == '*' || i->quantifier == '+')
                return repeat_most(m, i, at);
            if (i->quantifier == '-')
                return repeat_least(m, i, at);
            if (holds(m, i, at)) {
                const char *end = i->quantifier ? try_items(m, i + 1, at + 1) : NULL;
                if (end)
                    return end;
                at += !i->quantifier;
            } else if (!i->quantifier) {
                return NULL;
            }
            break;
        }
    }
}

static const char *match_at(matcher *m, const char *at)
{
    m->capture_count = 0;
    m->depth = 0;
    return match_items(m, m->program->items, at);
}

/* ---- the functions ---- */

static void push_capture(const matcher *m, int index, const char *start, const char *end)
{
    if (index >= m->capture_count) {
        if (index != 0)
            luaL_error(m->L, "invalid capture index %%%d", index + 1);
        lua_pushlstring(m->L, start, (size_t)(end - start));
        return;
    }
    const capture *c = &m->captures[index];
    if (c->length == CAPTURE_OPEN)
        luaL_error(m->L, "unfinished capture");
    if (c->length == CAPTURE_POSITION)
        lua_pushinteger(m->L, c->start - m->text + 1);
    else
        lua_pushlstring(m->L, c->start, (size_t)c->length);
}

/* All captures, or the whole match where there are none; nothing at all without `start`. */
static int push_captures(const matcher *m, const char *start, const char *end)
{
    int count = m->capture_count == 0 && start ? 1 : m->capture_count;
    luaL_checkstack(m->L, count, "too many captures");
    for (int i = 0; i < count; i++)
        push_capture(m, i, start, end);
    return count;
}

/* Where a search begins; past the end: beyond `length`. */
static size_t first_place(lua_State *L, int argument, size_t length)
{
    lua_Integer place = luaL_optinteger(L, argument, 1);
    if (place > 0)
        return (size_t)place - 1;
    if (place == 0 || place < -(lua_Integer)length)
        return 0;
    return (size_t)((lua_Integer)length + place);
}

static const char *find_plain(matcher *m, const char *at, const char *wanted, size_t length)
{
    if (length == 0)
        return at;
    while ((size_t)(m->end - at) >= length) {
        size_t places = (size_t)(m->end - at) - length + 1, same = 1;
        const char *first = memchr(at, wanted[0], places);
        step(m, (first ? (size_t)(first - at) : places) / 8 + 1);
        if (!first)
            return NULL;
        while (same < length && first[same] == wanted[same])
            same++;
        step(m, same);
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

static matcher begin(lua_State *L, const char *text, size_t length)
{
    return (matcher){.L = L, .text = text, .end = text + length};
}

static int find(lua_State *L, bool wants_place)
{
    size_t length, pattern_length;
    const char *text = luaL_checklstring(L, 1, &length);
    const char *pattern = luaL_checklstring(L, 2, &pattern_length);
    size_t first = first_place(L, 3, length);
    matcher m = begin(L, text, length);
    if (first > length) {
        lua_pushnil(L);
        return 1;
    }
    if (wants_place && (lua_toboolean(L, 4) || is_plain(pattern, pattern_length))) {
        const char *found = find_plain(&m, text + first, pattern, pattern_length);
        pay(&m);
        if (!found) {
            lua_pushnil(L);
            return 1;
        }
        lua_pushinteger(L, found - text + 1);
        lua_pushinteger(L, found - text + (lua_Integer)pattern_length);
        return 2;
    }
    bool anchored = pattern_length > 0 && pattern[0] == '^';
    m.program = compile(L, pattern + anchored, pattern_length - anchored);
    for (const char *at = text + first; at <= m.end; at++) {
        const char *end = match_at(&m, at);
        if (!end && anchored)
            break;
        if (!end)
            continue;
        pay(&m);
        if (!wants_place)
            return push_captures(&m, at, end);
        lua_pushinteger(L, at - text + 1);
        lua_pushinteger(L, end - text);
        return push_captures(&m, NULL, NULL) + 2;
    }
    pay(&m);
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
    matcher m = begin(L, text, length);
    m.program = lua_touserdata(L, lua_upvalueindex(2));
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
    for (size_t i = (size_t)lua_tointeger(L, lua_upvalueindex(3)); i <= length; i++) {
        const char *end = match_at(&m, text + i);
        if (!end || end - text == last)
            continue;
        pay(&m);
        lua_pushinteger(L, end - text);
        lua_copy(L, -1, lua_upvalueindex(3));
        lua_replace(L, lua_upvalueindex(4));
        return push_captures(&m, text + i, end);
    }
    pay(&m);
    return 0;
}

int match_gmatch(lua_State *L)
{
    size_t length, pattern_length;
    luaL_checklstring(L, 1, &length);
    const char *pattern = luaL_checklstring(L, 2, &pattern_length);
    size_t first = first_place(L, 3, length);
    lua_pushvalue(L, 1);
    compile(L, pattern, pattern_length);
    lua_pushinteger(L, (lua_Integer)(first > length ? length + 1 : first));
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, next_match, 4);
    return 1;
}

/* The replacement string, with %0 to %9 filled in. */
static void add_string(matcher *m, luaL_Buffer *out, const char *start, const char *end)
{
    size_t length;
    const char *with = lua_tolstring(m->L, 3, &length);
    step(m, length / 8 + 1);
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
static bool add_replacement(matcher *m, luaL_Buffer *out, const char *start, const char *end)
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
    matcher m = begin(L, text, length);
    m.program = compile(L, pattern + anchored, pattern_length - anchored);
    const char *at = text, *last = NULL;
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    while (count < most) {
        const char *end = match_at(&m, at);
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
    pay(&m);
    if (changed) {
        luaL_addlstring(&out, at, (size_t)(m.end - at));
        luaL_pushresult(&out);
    } else {
        lua_pushvalue(L, 1);
    }
    lua_pushinteger(L, count);
    return 2;
}
