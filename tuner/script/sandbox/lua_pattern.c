#include "script/sandbox/lua_pattern.h"

#include <ctype.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <string.h>

#include "script/sandbox/sandbox.h"

/* steps of matching in about the time of one VM instruction; steps between two charges */
enum { STEPS_PER_INSTRUCTION = 4, STEPS_AT_ONCE = 4096 };

/* most choices that wait for each other's outcome, as in Lua */
enum { MOST_DEPTH = 200 };

typedef enum item_kind {
    ITEM_SINGLE,   /* one character of a set, perhaps with a quantifier */
    ITEM_OPEN,     /* ( */
    ITEM_POSITION, /* () */
    ITEM_CLOSE,    /* ) */
    ITEM_BALANCE,  /* %bxy */
    ITEM_FRONTIER, /* %f[set] */
    ITEM_AGAIN,    /* %1 */
    ITEM_END,      /* $ at the end */
    ITEM_DONE,
    ITEM_BAD /* an error that is raised if the matching comes to it */
} item_kind;

typedef struct item {
    uint8_t kind;
    char quantifier;     /* of a single: * + - ? or 0 */
    uint8_t first, last; /* of %b; `first` is also the character of a single without a set */
    int32_t set;         /* index of the set, or -1 */
    const char *complaint;
} item;

typedef struct char_set {
    uint64_t bits[4];
} char_set;

struct lua_pattern {
    size_t set_count, item_count;
    char_set *sets;
    item *items;
};

void lua_match_pay(lua_match *m)
{
    uint64_t steps = m->steps;
    m->steps = 0;
    sandbox_charge(m->L, steps / STEPS_PER_INSTRUCTION);
}

void lua_match_step(lua_match *m, uint64_t count)
{
    m->steps += count;
    if (m->steps >= STEPS_AT_ONCE)
        lua_match_pay(m);
}

static void include(char_set *set, unsigned char c)
{
    set->bits[c >> 6] |= UINT64_C(1) << (c & 63);
}

static bool includes(const char_set *set, unsigned char c)
{
    return set->bits[c >> 6] >> (c & 63) & 1;
}

typedef int (*char_class)(int);

/* Returns the test of a class such as %a, or NULL if the letter names no class. */
static char_class class_of(unsigned char letter)
{
    static const char letters[] = "acdglpsuwx";
    static const char_class classes[] = {isalpha, iscntrl, isdigit, isgraph, islower,
                                         ispunct, isspace, isupper, isalnum, isxdigit};
    const char *found = letter ? strchr(letters, tolower(letter)) : NULL;
    return found ? classes[found - letters] : NULL;
}

/* Includes the characters of %letter: those of a class, of its complement (upper case), or the
 * letter itself. */
static void include_class(char_set *set, unsigned char letter)
{
    const char_class holds = class_of(letter);
    for (int c = 0; c < 256; c++)
        if (holds ? (holds(c) != 0) != (isupper(letter) != 0) : c == letter)
            include(set, (unsigned char)c);
}

/* Returns the place of the ] that ends the set whose [ is before `at`, or NULL. */
static const char *end_of_set(const char *at, const char *end)
{
    if (at < end && *at == '^')
        at++;
    do { /* the first character does not end the set, not even a ] */
        if (at == end)
            return NULL;
        bool escapes = *at++ == '%';
        if (escapes && at < end)
            at++;
    } while (at == end || *at != ']');
    return at;
}

/* Fills the set that is written from `at` up to its ]. */
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

static const char no_bracket[] = "malformed pattern (missing ']')";

/* Makes an item that raises an error if the matching comes to it. */
static void complain(item *out, const char *complaint)
{
    *out = (item){.kind = ITEM_BAD, .set = -1, .complaint = complaint};
}

/* Reads the set that begins behind a [ and leaves *at behind its ]. */
static void read_set(lua_pattern *p, item *out, const char **at, const char *end)
{
    const char *close = end_of_set(*at, end);
    if (!close) {
        complain(out, no_bracket);
        return;
    }
    out->set = (int32_t)p->set_count++;
    fill_set(&p->sets[out->set], *at, close);
    *at = close + 1;
}

/* Reads %b, %f and %0 to %9, with *at behind the %. Returns false for anything else. */
static bool read_special(lua_pattern *p, item *out, const char **at, const char *end)
{
    const char letter = *(*at)++;
    if (letter == 'b' && end - *at < 2) {
        complain(out, "malformed pattern (missing arguments to '%b')");
    } else if (letter == 'b') {
        *out = (item){
            .kind = ITEM_BALANCE, .first = (uint8_t)(*at)[0], .last = (uint8_t)(*at)[1], .set = -1};
        *at += 2;
    } else if (letter == 'f' && (*at == end || **at != '[')) {
        complain(out, "missing '[' after '%f' in pattern");
    } else if (letter == 'f') {
        ++*at;
        out->kind = ITEM_FRONTIER;
        read_set(p, out, at, end);
    } else {
        out->kind = ITEM_AGAIN;
        out->first = (uint8_t)(letter - '0');
        return isdigit((unsigned char)letter);
    }
    return true;
}

static void read_single(lua_pattern *p, item *out, const char **at, const char *end)
{
    char c = *(*at)++;
    *out = (item){.kind = ITEM_SINGLE, .first = (uint8_t)c, .set = -1};
    if (c == '%' && *at == end) {
        complain(out, "malformed pattern (ends with '%')");
    } else if (c == '%') {
        out->first = (uint8_t) * (*at)++;
        if (class_of(out->first)) {
            out->set = (int32_t)p->set_count++;
            include_class(&p->sets[out->set], out->first);
        }
    } else if (c == '.') {
        out->set = (int32_t)p->set_count++;
        memset(&p->sets[out->set], 0xff, sizeof *p->sets);
    } else if (c == '[') {
        read_set(p, out, at, end);
    }
    if (out->kind == ITEM_SINGLE && *at < end && strchr("*+-?", **at) && **at != '\0')
        out->quantifier = *(*at)++;
}

static void read_item(lua_pattern *p, item *out, const char **at, const char *end)
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

lua_pattern *lua_pattern_compile(lua_State *L, const char *pattern, size_t length)
{
    const char *at = pattern, *end = pattern + length;
    size_t most_sets = 0;
    for (size_t i = 0; i < length; i++)
        most_sets += pattern[i] == '[' || pattern[i] == '%' || pattern[i] == '.';
    sandbox_charge(L, length + 4 * most_sets);
    size_t set_bytes = most_sets * sizeof(char_set),
           head_bytes = (sizeof(lua_pattern) + 15) & ~(size_t)15;
    lua_pattern *p = lua_newuserdatauv(L, head_bytes + set_bytes + (length + 1) * sizeof(item), 0);
    *p = (lua_pattern){.sets = (char_set *)(void *)((char *)p + head_bytes)};
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

static bool holds(const lua_match *m, const item *i, const char *at)
{
    if (at >= m->end)
        return false;
    unsigned char c = (unsigned char)*at;
    return i->set < 0 ? c == i->first : includes(&m->pattern->sets[i->set], c);
}

/* Returns the end of the text that %bxy matches at `at`, or NULL. */
static const char *balance(lua_match *m, const item *i, const char *at)
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
    lua_match_step(m, (uint64_t)(c - at));
    return c < m->end ? c + 1 : NULL;
}

static bool at_frontier(const lua_match *m, const item *i, const char *at)
{
    const char_set *set = &m->pattern->sets[i->set];
    unsigned char before = at > m->text ? (unsigned char)at[-1] : '\0';
    unsigned char here = at < m->end ? (unsigned char)*at : '\0';
    return !includes(set, before) && includes(set, here);
}

/* Returns the end of a repetition of capture `number` at `at`, or NULL. */
static const char *again(lua_match *m, int number, const char *at)
{
    if (number < 1 || number > m->capture_count || m->captures[number - 1].length == CAPTURE_OPEN)
        luaL_error(m->L, "invalid capture index %%%d", number);
    const lua_capture *c = &m->captures[number - 1];
    if (c->length < 0 || m->end - at < c->length)
        return NULL;
    lua_match_step(m, (uint64_t)c->length / 8);
    return memcmp(c->start, at, (size_t)c->length) == 0 ? at + c->length : NULL;
}

static const char *match_items(lua_match *m, const item *i, const char *at);

/* Tries one of several choices with match_items(). */
static const char *try_items(lua_match *m, const item *i, const char *at)
{
    if (++m->depth > MOST_DEPTH)
        luaL_error(m->L, "pattern too complex");
    const char *end = match_items(m, i, at);
    m->depth--;
    return end;
}

/* Tries the longest repetition first. */
static const char *repeat_most(lua_match *m, const item *i, const char *at)
{
    const char *last = at;
    while (holds(m, i, last)) {
        last++;
        lua_match_step(m, 1);
    }
    for (const char *least = at + (i->quantifier == '+'); last >= least; last--) {
        const char *end = try_items(m, i + 1, last);
        if (end)
            return end;
    }
    return NULL;
}

static const char *repeat_least(lua_match *m, const item *i, const char *at)
{
    for (;; at++) {
        const char *end = try_items(m, i + 1, at);
        if (end)
            return end;
        if (!holds(m, i, at))
            return NULL;
        lua_match_step(m, 1);
    }
}

static const char *open_capture(lua_match *m, const item *i, const char *at)
{
    if (m->capture_count >= LUA_MATCH_MOST_CAPTURES)
        luaL_error(m->L, "too many captures");
    m->captures[m->capture_count++] =
        (lua_capture){at, i->kind == ITEM_POSITION ? CAPTURE_POSITION : CAPTURE_OPEN};
    const char *end = try_items(m, i + 1, at);
    if (!end)
        m->capture_count--;
    return end;
}

static const char *close_capture(lua_match *m, const item *i, const char *at)
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

/* Returns the end of a match of the items from `i` on that begins at `at`, or NULL. */
static const char *match_items(lua_match *m, const item *i, const char *at)
{
    for (;; i++) {
        lua_match_step(m, 1);
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

const char *lua_match_at(lua_match *m, const char *at)
{
    m->capture_count = 0;
    m->depth = 0;
    return match_items(m, m->pattern->items, at);
}
