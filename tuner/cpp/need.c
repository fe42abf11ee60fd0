#include "cpp/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pack.h"

/* a name of a macro or a declaration */
typedef struct named {
    uint64_t key; /* cpp_span_key() of the name */
    size_t unit, index;
    bool is_macro;
} named;

/* The search for wanted declarations. `queue` has words to look up, each once. If two words have
 * equal keys, the declarations of both are wanted, which does no harm. */
typedef struct search {
    cpp_unit *units;
    size_t count;
    named *all; /* sorted by key */
    size_t named_count;
    keymap words;
    uint64_t *queue;
    size_t queue_count;
    bool is_device; /* functions without an annotation are device functions */
    bool failed;
} search;

static void add_key(search *s, uint64_t key)
{
    uint64_t value;
    if (keymap_get(&s->words, key, &value))
        return;
    s->failed = s->failed || !keymap_put(&s->words, key, 0) ||
                !array_add(&s->queue, &s->queue_count, &key, sizeof key);
}

static void add_words(search *s, cpp_span text)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l))
        if (t.kind == CPP_DIRECTIVE) /* an #if or a #define inside a function */
            add_words(s, (cpp_span){t.span.text + 1, t.span.length - 1});
        else if (t.kind == CPP_WORD)
            add_key(s, cpp_span_key(t.span));
}

/* Guesses from words such as FORCE_DEVICE whether macros, whose header may be missing, annotate a
 * device function. */
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

static bool is_macro_call(const search *s, const cpp_declaration *d)
{
    return d->head.length == 0 && !d->has_body && cpp_find_macro(s->units, s->count, d->name);
}

/* Tells whether a macro such as END_TABLE() for "};" ends the declaration before it. */
static bool ends_another(const search *s, const cpp_declaration *d)
{
    return d->kind == CPP_FUNCTION && is_macro_call(s, d) &&
           cpp_opened_scopes(cpp_find_macro(s->units, s->count, d->name)) < 0;
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

static bool names_host_type(const cpp_declaration *d)
{
    static const char *const names[] = {
        "vector",   "string",   "map",     "unordered_map", "set",           "list",
        "deque",    "mutex",    "thread",  "unique_ptr",    "shared_ptr",    "function",
        "ofstream", "ifstream", "ostream", "istream",       "ostringstream", NULL};
    cpp_lexer l = cpp_lexer_make(d->span.text, d->span.length, 1);
    bool std = false;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (std && cpp_is_any(t, names))
            return true;
        std = cpp_is(t, "std") || (std && cpp_is(t, "::"));
    }
    return false;
}

static bool has_host_data(const cpp_unit *u, size_t i)
{
    const char *end = u->declarations[i].span.text + u->declarations[i].span.length;
    for (size_t k = i + 1; k < u->declaration_count && u->declarations[k].span.text < end; k++)
        if (u->declarations[k].kind == CPP_VARIABLE && names_host_type(&u->declarations[k]))
            return true;
    return false;
}

/* Tells whether a declaration is `using namespace std::...`, which only host code can use. */
static bool is_below_std(const cpp_declaration *d)
{
    cpp_lexer l = cpp_lexer_make(d->span.text, d->span.length, 1);
    cpp_next(&l);
    cpp_next(&l);
    return cpp_is(cpp_next(&l), "std") && cpp_is(cpp_next(&l), "::");
}

/* Tells whether a declaration looks like `auto has_size(...) -> no`, a prototype for decltype.
 * Nothing calls these functions, so they need no annotation. */
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

/* Tells whether device code may use declaration `i`. */
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

/* Tells whether a declaration is wanted, although no wanted text names it. */
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
    if (d->member) /* the class was searched with its members */
        return;
    if (d->kind == CPP_TYPE && d->has_body) {
        /* Members that device code cannot use are cut, so their words do not count. */
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
    for (size_t i = 0; i < s.queue_count && !s.failed; i++)
        want_named(&s, s.queue[i]);
    want_ends(&s);
    keymap_deinit(&s.words);
    free(s.queue);
    free(s.all);
    return s.failed ? error_no_memory(error) : AT_OK;
}

typedef struct cuts {
    cpp_span *all;
    size_t count;
    bool failed;
} cuts;

static void cut(cuts *c, cpp_span s)
{
    if (s.length > 0 && !array_add(&c->all, &c->count, &s, sizeof s))
        c->failed = true;
}

static int compare_places(const void *a, const void *b)
{
    const cpp_span *x = a, *y = b;
    return x->text < y->text ? -1 : x->text > y->text;
}

static bool is_given(cpp_span name, const cpp_span *given, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cpp_spans_equal(given[i], name))
            return true;
    return false;
}

static void collect(const cpp_unit *u, const cpp_span *given, size_t given_count, cuts *c)
{
    cut(c, u->own_comment);
    for (size_t i = 0; i < u->declaration_count; i++)
        if (!u->declarations[i].wanted)
            cut(c, u->declarations[i].span);
    for (size_t i = 0; i < u->macro_count; i++)
        if (is_given(u->macros[i].name, given, given_count))
            cut(c, u->macros[i].span);
    for (size_t i = 0; i < u->include_count; i++)
        if (u->includes[i].is_missing || u->includes[i].is_ahead)
            cut(c, u->includes[i].span);
    if (c->count > 0)
        qsort(c->all, c->count, sizeof *c->all, compare_places);
}

/* Replaces a cut text by its ends of lines, with \v in lines that became empty. */
static void put_lines(pack *out, const char *begin, const char *end)
{
    for (; begin < end; begin++) {
        if (*begin != '\n')
            continue;
        const bool empty = out->size_bytes == 0 || strchr("\n ", out->bytes[out->size_bytes - 1]);
        pack_append_text(out, empty ? "\v\n" : "\n");
    }
}

/* Replaces a cut text by its ends of lines and its directives, because every #if needs its #endif.
 * A cut text that is one directive is cut completely. */
static void put_directives(pack *out, cpp_span s)
{
    const char *at = s.text, *end = s.text + s.length;
    cpp_lexer l = cpp_lexer_make(s.text, s.length, 1);
    l.at_line_start = s.text[0] != '#';
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (t.kind != CPP_DIRECTIVE)
            continue;
        put_lines(out, at, t.span.text);
        pack_append(out, t.span.text, t.span.length);
        at = t.span.text + t.span.length;
    }
    put_lines(out, at, end);
}

/* Returns the namespace X of `using namespace X;`, or "" if X is std, a nested namespace or an
 * alias. The caller declares X on the same line: the header that does so may be missing. */
static cpp_span used_namespace(const cpp_unit *u, const cpp_declaration *d)
{
    cpp_lexer l = cpp_lexer_make(d->span.text, d->span.length, 1);
    cpp_next(&l);
    cpp_next(&l);
    cpp_span name = cpp_next(&l).span;
    bool plain = cpp_is(cpp_next(&l), ";") && !cpp_span_is(name, "std");
    for (size_t i = 0; i < u->declaration_count; i++) {
        const cpp_declaration *other = &u->declarations[i];
        plain = plain && !(other->kind == CPP_ALIAS && other->name_count > 0 &&
                           cpp_spans_equal(u->names[other->first_name], name));
    }
    return plain ? name : (cpp_span){name.text, 0};
}

/* Appends a text that is not cut, and declares the namespaces that it uses. *next is the index of
 * the text's first declaration. */
static void put_kept(pack *out, const cpp_unit *u, const char *at, const char *end, size_t *next)
{
    for (; *next < u->declaration_count && u->declarations[*next].span.text < end; ++*next) {
        const cpp_declaration *d = &u->declarations[*next];
        if (d->span.text < at)
            continue;
        pack_append(out, at, (size_t)(d->span.text - at));
        at = d->span.text;
        cpp_span used = d->kind == CPP_USING ? used_namespace(u, d) : (cpp_span){NULL, 0};
        if (used.length > 0) {
            pack_append_text(out, "namespace ");
            pack_append(out, used.text, used.length);
            pack_append_text(out, " {} ");
        }
    }
    pack_append(out, at, (size_t)(end - at));
}

char *cpp_render(const cpp_unit *u, const cpp_span *given, size_t given_count)
{
    cuts c = {0};
    pack out = {0};
    collect(u, given, given_count, &c);
    const char *at = cpp_lexer_make(u->text, u->length, 1).at, *end = u->text + u->length;
    size_t next = 0;
    for (size_t i = 0; i < c.count; i++) {
        const char *begin = c.all[i].text, *after = begin + c.all[i].length;
        if (begin < at)
            continue;
        put_kept(&out, u, at, begin, &next);
        put_directives(&out, c.all[i]);
        /* Usually the rest of the line on which the cut ends is empty. */
        const char *rest = after + strspn(after, " \t\r");
        const bool empty = out.size_bytes == 0 || strchr("\n ", out.bytes[out.size_bytes - 1]);
        pack_append_text(&out, empty && *rest == '\n' ? "\v" : " ");
        at = after;
    }
    put_kept(&out, u, at, end, &next);
    free(c.all);
    char *text = pack_take_text(&out);
    if (!c.failed)
        return text;
    free(text);
    return NULL;
}
