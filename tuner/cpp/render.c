#include "cpp/render.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pack.h"

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

static int compare(const void *a, const void *b)
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
        qsort(c->all, c->count, sizeof *c->all, compare);
}

/* The ends of lines of what is left out; \v, which is a blank of C++, marks those that are empty
 * for it. */
static void put_lines(pack *out, const char *begin, const char *end)
{
    for (; begin < end; begin++) {
        if (*begin != '\n')
            continue;
        const bool empty = out->size_bytes == 0 || strchr("\n ", out->bytes[out->size_bytes - 1]);
        pack_append_text(out, empty ? "\v\n" : "\n");
    }
}

/* A directive has its place also in what is left out, if it is none that is left out itself:
 * conditions have to stay whole. */
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

/* The namespace of `using namespace X;`, which may be one of a header that is not here: declared on
 * the same line it is there. Not of a::b, nor of another's alias. */
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

/* Text that stays, with what has to stand before some of its declarations; *next: the first of the
 * unit's that may stand there. */
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
        /* The rest of the line that it ends on has nothing more, mostly. */
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
