#include "cpp/need.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* A macro or a declaration, under one of its names. */
typedef struct named {
    uint64_t key; /* of the name */
    size_t unit, index;
    bool is_macro;
} named;

/* Words that are met are looked up once each, in the order of `met`. Two words of one key count as
 * the same: then more is wanted than need be. */
typedef struct search {
    cpp_unit *units;
    size_t count;
    named *all; /* by key */
    size_t named_count;
    keymap words;
    uint64_t *met;
    size_t met_count;
    bool is_device; /* functions that nothing annotates */
    bool failed;
} search;

static void meet(search *s, uint64_t key)
{
    uint64_t value;
    if (keymap_get(&s->words, key, &value))
        return;
    s->failed = s->failed || !keymap_put(&s->words, key, 0) ||
                !array_add(&s->met, &s->met_count, &key, sizeof key);
}

static void add_words(search *s, cpp_span text)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l))
        if (t.kind == CPP_DIRECTIVE) /* a condition within a function, #define NAME VALUE */
            add_words(s, (cpp_span){t.span.text + 1, t.span.length - 1});
        else if (t.kind == CPP_WORD)
            meet(s, cpp_span_key(t.span));
}

/* An annotation by a macro of a header that is not here: FORCE_DEVICE. */
static bool sounds_like_device(cpp_span text)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l))
        for (size_t i = 0; t.kind == CPP_WORD && i + 6 <= t.span.length; i++)
            if (strncmp(t.span.text + i, "DEVICE", 6) == 0 ||
                strncmp(t.span.text + i, "KERNEL", 6) == 0)
                return true;
    return false;
}

/* Is it a call such as DEFINE_KERNELS(float)? Nobody knows what it declares without expanding it.
 */
static bool is_macro_call(const search *s, const cpp_declaration *d)
{
    return d->head.length == 0 && !d->has_body && cpp_find_macro(s->units, s->count, d->name);
}

/* Is it a macro such as END_TABLE() for "};", which ends what the declaration before it began? */
static bool ends_another(const search *s, const cpp_declaration *d)
{
    if (d->kind != CPP_FUNCTION || !is_macro_call(s, d))
        return false;
    const cpp_span value = cpp_find_macro(s->units, s->count, d->name)->value;
    cpp_lexer l = cpp_lexer_make(value.text, value.length, 1);
    int depth = 0;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END && depth >= 0; t = cpp_next(&l)) {
        depth += cpp_is(t, "{");
        depth -= cpp_is(t, "}");
    }
    return depth < 0;
}

static void want_ends(search *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 1; k < s->units[i].declaration_count; k++) {
            cpp_declaration *d = &s->units[i].declarations[k];
            if (d[-1].wanted && !d->wanted && ends_another(s, d))
                d->wanted = true;
        }
}

static bool is_device_function(const search *s, const cpp_declaration *d)
{
    static const char *const words[] = {"__device__", "__global__", "constexpr", "consteval", NULL};
    const cpp_span where = is_macro_call(s, d) ? d->span : d->head;
    return cpp_text_has(s->units, s->count, where, words) || sounds_like_device(where);
}

/* Does it name a type that only the host has? */
static bool names_host_type(const cpp_declaration *d)
{
    static const char *const names[] = {
        "vector",   "string",   "map",     "unordered_map", "set",          "list",
        "deque",    "mutex",    "thread",  "unique_ptr",    "shared_ptr",   "function",
        "ofstream", "ifstream", "ostream", "istream",       "ostringstream"};
    cpp_lexer l = cpp_lexer_make(d->span.text, d->span.length, 1);
    bool std = false;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        for (size_t i = 0; std && i < sizeof names / sizeof *names; i++)
            if (cpp_is(t, names[i]))
                return true;
        std = cpp_is(t, "std") || (std && cpp_is(t, "::"));
    }
    return false;
}

/* Does a class have data that only the host can have? */
static bool has_host_data(const cpp_unit *u, size_t i)
{
    const char *end = u->declarations[i].span.text + u->declarations[i].span.length;
    for (size_t k = i + 1; k < u->declaration_count && u->declarations[k].span.text < end; k++)
        if (u->declarations[k].kind == CPP_VARIABLE && names_host_type(&u->declarations[k]))
            return true;
    return false;
}

/* Is it using namespace std::chrono or the like? What is below std is the host's. */
static bool is_below_std(const cpp_declaration *d)
{
    cpp_lexer l = cpp_lexer_make(d->span.text, d->span.length, 1);
    cpp_next(&l);
    cpp_next(&l);
    return cpp_is(cpp_next(&l), "std") && cpp_is(cpp_next(&l), "::");
}

/* Is it one of several functions from which decltype chooses, such as auto has_size(...) -> no?
 * Nothing calls them. */
static bool is_for_decltype(const cpp_declaration *d)
{
    if (d->has_body || names_host_type(d))
        return false;
    cpp_lexer l = cpp_lexer_make(d->span.text, d->span.length, 1);
    cpp_token before = {0};
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (cpp_is(t, "->") || cpp_is(t, "...") || (cpp_is(before, "-") && cpp_is(t, ">")))
            return true;
        before = t;
    }
    return d->template_of.length > 0;
}

/* May device code use it, if it names it? */
static bool is_usable(const search *s, const cpp_unit *u, size_t i)
{
    const cpp_declaration *d = &u->declarations[i];
    static const char *const storage[] = {
        "__device__", "__constant__", "__managed__",         "__shared__", "const", "constexpr",
        "texture",    "surface",      "cudaTextureObject_t", "extern",     NULL};
    switch (d->kind) {
    case CPP_FUNCTION:
        return s->is_device || is_device_function(s, d) || (d->member && d->is_special) ||
               is_for_decltype(d);
    case CPP_VARIABLE:
        return d->member || cpp_text_has(s->units, s->count, d->span, storage);
    case CPP_TYPE:
        return !has_host_data(u, i);
    case CPP_ALIAS:
        return !names_host_type(d);
    case CPP_USING:
        return !is_below_std(d);
    default:
        return true;
    }
}

/* Is it wanted whatever is named? */
static bool is_always_named(const search *s, const cpp_unit *u, const cpp_declaration *d)
{
    if (d->member || d->kind == CPP_USING || d->kind == CPP_OTHER || d->name_count == 0 ||
        (d->kind == CPP_FUNCTION && is_macro_call(s, d)))
        return true;
    for (size_t i = 0; i < d->name_count; i++)
        if (cpp_span_is(u->names[d->first_name + i], "operator"))
            return true;
    return false;
}

static void want(search *s, cpp_unit *u, size_t i)
{
    cpp_declaration *d = &u->declarations[i];
    if (d->wanted || !is_usable(s, u, i))
        return;
    d->wanted = true;
    if (d->member) /* its class, if that is wanted, names what it needs */
        return;
    if (d->kind == CPP_TYPE && d->has_body) {
        /* Looks at the members one by one, because what is left out wants nothing. */
        const char *end = d->span.text + d->span.length, *at = d->span.text;
        for (size_t k = i + 1; k < u->declaration_count && u->declarations[k].member &&
                               u->declarations[k].span.text < end;
             k++) {
            const cpp_declaration *m = &u->declarations[k];
            if (m->span.text >= at && !is_usable(s, u, k)) {
                add_words(s, (cpp_span){at, (size_t)(m->span.text - at)});
                at = m->span.text + m->span.length;
            }
        }
        if (at < end)
            add_words(s, (cpp_span){at, (size_t)(end - at)});
        return;
    }
    add_words(s, d->span);
}

static void add_named(search *s, named n, cpp_span name)
{
    n.key = cpp_span_key(name);
    s->failed = s->failed || !array_add(&s->all, &s->named_count, &n, sizeof n);
}

static int compare_keys(const void *a, const void *b)
{
    const named *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void index_names(search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const cpp_unit *u = &s->units[i];
        for (size_t k = 0; k < u->macro_count; k++)
            add_named(s, (named){.unit = i, .index = k, .is_macro = true}, u->macros[k].name);
        for (size_t k = 0; k < u->declaration_count; k++)
            for (size_t n = 0; n < u->declarations[k].name_count; n++)
                add_named(s, (named){.unit = i, .index = k},
                          u->names[u->declarations[k].first_name + n]);
    }
    if (s->named_count > 0)
        qsort(s->all, s->named_count, sizeof *s->all, compare_keys);
}

static void want_named(search *s, uint64_t key)
{
    size_t low = 0, high = s->named_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->all[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->named_count && s->all[low].key == key; low++) {
        cpp_unit *u = &s->units[s->all[low].unit];
        if (s->all[low].is_macro)
            add_words(s, u->macros[s->all[low].index].value);
        else
            want(s, u, s->all[low].index);
    }
}

at_status cpp_need(cpp_unit *units, size_t count, const cpp_span *roots, size_t root_count,
                   bool is_device, at_error *error)
{
    search s = {.units = units, .count = count, .is_device = is_device};
    index_names(&s);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < units[i].declaration_count; k++)
            units[i].declarations[k].wanted = false;
    for (size_t i = 0; i < root_count; i++)
        add_words(&s, roots[i]);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < units[i].declaration_count; k++)
            if (is_always_named(&s, &units[i], &units[i].declarations[k]))
                want(&s, &units[i], k);
    for (size_t i = 0; i < s.met_count && !s.failed; i++)
        want_named(&s, s.met[i]);
    want_ends(&s);
    keymap_deinit(&s.words);
    free(s.met);
    free(s.all);
    return s.failed ? error_no_memory(error) : AT_OK;
}
