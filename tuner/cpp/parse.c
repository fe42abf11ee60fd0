/* The parser of a unit (cpp/unit.h), token by token. parse_scope() has the grammar. */
#include "cpp/unit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { MAX_DEPTH = 200, MAX_CONDITIONS = 64 };

typedef struct parser {
    cpp_unit *u;
    cpp_lexer lexer;
    cpp_token token;         /* the next token, not taken yet */
    const cpp_macro *scopes; /* macros of other units that open or close a scope */
    size_t scope_count;
    int opened;  /* number of scopes that macros have opened */
    bool failed; /* memory is short */
    int depth;
} parser;

/* words before brackets that are not the name of a function */
static const char *const attributes[] = {
    "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__align__",     "alignas",
    "__attribute__",     "__declspec",       "decltype",    "noexcept",      "sizeof",
    "__block_size__",    "explicit",         "__typeof__",  "static_assert", "asm",
    "__builtin_align__", "requires",         NULL};

static void add(parser *p, void *items, size_t *count, const void *item, size_t size)
{
    if (!array_add(items, count, item, size))
        p->failed = true;
}

static cpp_span from_to(const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    return (cpp_span){begin, (size_t)(end - begin)};
}

static const char *end_of(cpp_token t)
{
    return t.span.text + t.span.length;
}

static void read_define(parser *p, cpp_lexer *l, cpp_token directive)
{
    cpp_token name = cpp_next(l);
    if (name.kind != CPP_WORD)
        return;
    cpp_macro m = {.name = name.span, .span = directive.span, .line = directive.line};
    m.has_parameters = l->at < l->end && *l->at == '(';
    if (m.has_parameters)
        for (cpp_token t = cpp_next(l); t.kind != CPP_END && !cpp_is(t, ")");)
            t = cpp_next(l);
    m.value = cpp_trim(l->at, l->end);
    add(p, &p->u->macros, &p->u->macro_count, &m, sizeof m);
}

/* Returns the header of #include NAME: the quoted value of the last #define NAME so far, or "". */
static cpp_span included_macro(const parser *p, cpp_token name)
{
    for (size_t i = p->u->macro_count; i-- > 0 && name.kind == CPP_WORD;) {
        const cpp_macro *m = &p->u->macros[i];
        if (cpp_spans_equal(m->name, name.span) && m->value.length > 0 &&
            strchr("\"<", m->value.text[0]))
            return m->value;
    }
    return (cpp_span){NULL, 0};
}

static void read_include(parser *p, cpp_lexer *l, cpp_token directive)
{
    while (l->at < l->end && isspace((unsigned char)*l->at))
        l->at++;
    cpp_lexer word = *l;
    cpp_span text = {l->at, (size_t)(l->end - l->at)};
    if (text.length > 0 && !strchr("\"<", text.text[0]))
        text = included_macro(p, cpp_next(&word));
    if (text.length == 0)
        return;
    const char open = text.text[0], *begin = text.text + 1;
    const char *end = memchr(begin, open == '<' ? '>' : '"', text.length - 1);
    if (!end)
        return;
    cpp_include i = {.span = directive.span,
                     .name = from_to(begin, end),
                     .line = directive.line,
                     .is_quoted = open == '"'};
    add(p, &p->u->includes, &p->u->include_count, &i, sizeof i);
}

static void read_directive(parser *p, cpp_token directive)
{
    cpp_lexer l = cpp_lexer_make(directive.span.text + 1, directive.span.length - 1, 1);
    l.at_line_start = false;
    cpp_token word = cpp_next(&l);
    if (cpp_is(word, "define"))
        read_define(p, &l, directive);
    else if (cpp_is(word, "include"))
        read_include(p, &l, directive);
}

static bool is_conditional(cpp_token directive, const char *name)
{
    const char *at = directive.span.text + 1, *end = end_of(directive);
    while (at < end && isspace((unsigned char)*at))
        at++;
    return (size_t)(end - at) >= strlen(name) && strncmp(at, name, strlen(name)) == 0;
}

static void take(parser *p)
{
    p->token = cpp_next(&p->lexer);
}

/* Skips brackets and the text in them; the opening bracket is the next token. #else restores the
 * nesting depth of its #if. */
static void skip_group(parser *p)
{
    int depth = 0, saved[MAX_CONDITIONS], conditions = 0;
    do {
        cpp_token t = p->token;
        if (t.kind == CPP_END)
            return;
        if (t.kind == CPP_DIRECTIVE) {
            read_directive(p, t);
            if (is_conditional(t, "if") && conditions < MAX_CONDITIONS)
                saved[conditions++] = depth;
            else if (is_conditional(t, "el") && conditions > 0)
                depth = saved[conditions - 1];
            else if (is_conditional(t, "endif") && conditions > 0)
                conditions--;
        }
        depth += cpp_nesting(t);
        take(p);
    } while (depth > 0);
}

/* Skips template parameters, and returns them. If > is missing, stops at ; or { and returns "". */
static cpp_span skip_angles(parser *p)
{
    const char *begin = end_of(p->token);
    int depth = 0;
    while (p->token.kind != CPP_END && !cpp_is(p->token, ";") && !cpp_is(p->token, "{")) {
        if (cpp_is(p->token, "(") || cpp_is(p->token, "[")) {
            skip_group(p);
            continue;
        }
        depth += cpp_is(p->token, "<");
        depth -= cpp_is(p->token, ">");
        const char *end = p->token.span.text;
        take(p);
        if (depth == 0)
            return from_to(begin, end);
    }
    return (cpp_span){begin, 0};
}

static void parse_scope(parser *p, const char *scope, bool member);

typedef struct progress {
    cpp_declaration d;
    cpp_token last;      /* the last token that was taken */
    cpp_token first;     /* the first token behind template<...> */
    cpp_token type_word; /* class, struct, union or enum; its kind is CPP_END if there is none */
    cpp_token last_word;
    cpp_token operator_word;
    bool called;        /* a name with brackets was read, as in a function */
    bool initialised;   /* = was read */
    bool colon;         /* the : of a constructor or a base was read */
    size_t first_inner; /* index of the declaration's first member in unit.declarations */
} progress;

static void append_name(parser *p, progress *g, cpp_span name)
{
    if (g->d.name_count == 0)
        g->d.first_name = p->u->name_count;
    add(p, &p->u->names, &p->u->name_count, &name, sizeof name);
    g->d.name_count++;
}

static void add_name(parser *p, progress *g, cpp_span name)
{
    for (size_t i = 0; i < g->d.name_count; i++)
        if (cpp_spans_equal(p->u->names[g->d.first_name + i], name))
            return;
    append_name(p, g, name);
}

static void add_enumerators(parser *p, progress *g, const char *begin, const char *end)
{
    cpp_lexer l = cpp_lexer_make(begin, (size_t)(end - begin), 1);
    bool name_next = false;
    int depth = 0;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (t.kind == CPP_DIRECTIVE)
            continue;
        if (t.kind == CPP_WORD && name_next)
            append_name(p, g, t.span);
        depth += cpp_nesting(t);
        name_next = depth == 1 && (cpp_is(t, "{") || cpp_is(t, ","));
    }
}

/* Tells whether the word after `struct` was a macro, as in struct ALIGNED(16) name. */
static bool is_macro_of_type(const parser *p, const progress *g)
{
    return g->type_word.kind == CPP_WORD && g->d.name_count == 1 &&
           cpp_spans_equal(g->last.span, p->u->names[g->d.first_name]) && p->token.kind == CPP_WORD;
}

/* Reads brackets, such as a function's parameters. The next token is (. */
static void read_brackets(parser *p, progress *g)
{
    const bool names = (g->last.kind == CPP_WORD && !cpp_is_any(g->last, attributes)) ||
                       g->operator_word.kind == CPP_WORD || cpp_is(g->last, ">");
    const cpp_token name = g->operator_word.kind == CPP_WORD ? g->operator_word : g->last_word;
    const bool is_name = names && name.kind == CPP_WORD && !g->initialised && !g->colon;
    const char *begin = end_of(p->token);
    cpp_lexer inside = p->lexer;
    if (cpp_is(cpp_next(&inside), "*")) /* as in float (*f)(int) */
        add_name(p, g, cpp_next(&inside).span);
    skip_group(p);
    if (is_macro_of_type(p, g)) {
        g->d.name_count = 0;
        return;
    }
    if (!is_name)
        return;
    const char *end = p->token.span.text;
    while (end > begin && end[-1] != ')')
        end--;
    g->called = true;
    g->d.name = name.span;
    g->d.parameters = from_to(begin, end > begin ? end - 1 : begin);
    g->d.head = from_to(g->d.span.text, name.span.text);
}

/* Tells whether a macro call stands in place of a declaration: brackets follow the first word, and
 * the next token begins a line. */
static bool is_macro_call(const parser *p, const progress *g)
{
    static const char *const goes_on[] = {"const",    "noexcept", "override", "final",
                                          "volatile", "requires", "try",      NULL};
    return g->called && !g->d.member && g->d.template_of.length == 0 &&
           cpp_spans_equal(g->d.name, g->first.span) && p->token.kind == CPP_WORD &&
           p->token.begins_line && !cpp_is_any(p->token, goes_on);
}

static void parse_members(parser *p)
{
    take(p); /* { */
    parse_scope(p, "", true);
    if (cpp_is(p->token, "}"))
        take(p);
}

/* Returns true if the brace ended the declaration. */
static bool read_brace(parser *p, progress *g)
{
    const char *begin = p->token.span.text;
    if (g->type_word.kind == CPP_WORD && !g->called && !g->initialised) {
        g->d.kind = CPP_TYPE;
        if (cpp_is(g->type_word, "enum")) {
            skip_group(p);
            add_enumerators(p, g, begin, p->token.span.text);
        } else {
            parse_members(p);
        }
        g->d.has_body = true;
        return false;
    }
    const bool member_initialiser = g->colon && g->last.kind == CPP_WORD;
    skip_group(p);
    if (!g->called || g->initialised || member_initialiser)
        return false;
    g->d.has_body = true;
    return true;
}

/* Reads the name of an operator. The next token is the word `operator`. */
static void read_operator(parser *p, progress *g)
{
    g->operator_word = p->token;
    take(p);
    if (cpp_is(p->token, "(")) {
        skip_group(p);
        return;
    }
    while (p->token.kind != CPP_END && !cpp_is(p->token, "(") && !cpp_is(p->token, ";") &&
           !cpp_is(p->token, "{"))
        take(p);
}

/* Adds the last word if it is a name: the first word of a type, or a variable's word before = [ ; ,
 * { ( or : */
static void note_name(parser *p, progress *g)
{
    static const char *const ends[] = {"=", "[", ";", ",", "{", "(", ":", NULL};
    const bool of_type = g->type_word.kind == CPP_WORD && g->d.name_count == 0 &&
                         p->token.kind == CPP_WORD && !cpp_is_any(p->token, attributes);
    if (of_type)
        add_name(p, g, p->token.span);
    if (g->last.kind != CPP_WORD || !cpp_is_any(p->token, ends) || g->initialised)
        return;
    if (!cpp_is_any(g->last, attributes) && !cpp_spans_equal(g->last.span, g->type_word.span))
        add_name(p, g, g->last.span);
}

static void classify(progress *g)
{
    static const char *const aliases[] = {"typedef", "using", NULL};
    cpp_lexer l = cpp_lexer_make(g->d.span.text, g->d.span.length, 1);
    if (cpp_is(cpp_next(&l), "using") && cpp_is(cpp_next(&l), "namespace"))
        g->d.kind = CPP_USING;
    else if (cpp_is_any(g->first, aliases))
        g->d.kind = CPP_ALIAS;
    else if (cpp_is(g->first, "static_assert") || cpp_is(g->first, "asm"))
        g->d.kind = CPP_OTHER;
    else if (g->d.kind == CPP_TYPE)
        ;
    else if (g->called)
        g->d.kind = CPP_FUNCTION;
    else if (g->type_word.kind == CPP_WORD && g->d.name_count <= 1 && !g->initialised)
        g->d.kind = CPP_TYPE; /* struct X; */
    else
        g->d.kind = CPP_VARIABLE;
}

/* Adds a constant, declared as const or constexpr NAME = VALUE; or NAME{VALUE}; */
static void note_constant(parser *p, const progress *g, const char *value, const char *end)
{
    static const char *const words[] = {"const", "constexpr", NULL};
    bool constant = false;
    cpp_lexer l = cpp_lexer_make(g->d.span.text, (size_t)(value - g->d.span.text), 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        constant = constant || cpp_is_any(t, words);
        if (cpp_is(t, "*") || cpp_is(t, "[") || cpp_is(t, "<"))
            return;
    }
    if (!constant || g->d.name_count != 1 || g->d.member)
        return;
    cpp_macro m = {.name = p->u->names[g->d.first_name],
                   .value = from_to(value, end),
                   .span = g->d.span,
                   .line = g->d.line,
                   .is_constant = true};
    add(p, &p->u->macros, &p->u->macro_count, &m, sizeof m);
}

static void step(parser *p, progress *g, bool *ends, const char **value)
{
    static const char *const type_words[] = {"class", "struct", "union", "enum", NULL};
    cpp_token t = p->token;
    note_name(p, g);
    if (t.kind == CPP_DIRECTIVE)
        read_directive(p, t);
    if (cpp_is(t, "("))
        read_brackets(p, g);
    else if (cpp_is(t, "["))
        skip_group(p);
    else if (cpp_is(t, "{")) {
        if (!g->called && !g->initialised && g->type_word.kind == CPP_END && !*value)
            *value = t.span.text;
        *ends = read_brace(p, g);
    } else if (cpp_is(t, "operator"))
        read_operator(p, g);
    else {
        take(p);
        *ends = cpp_is(t, ";");
        if (cpp_is(t, "=")) {
            *value = p->token.span.text;
            g->d.is_special = g->called;
            g->initialised = true;
        } else if (cpp_is(t, ",") && !g->called)
            g->initialised = false;
        else if (cpp_is(t, ":"))
            g->colon = true;
        if (cpp_is_any(t, type_words) && g->type_word.kind == CPP_END && !g->called)
            g->type_word = t;
    }
    if (t.kind == CPP_WORD && !cpp_is_any(t, attributes) &&
        !(g->type_word.kind == CPP_WORD && g->colon))
        g->last_word = t;
    if (t.kind != CPP_DIRECTIVE)
        g->last = t;
    *ends = *ends || is_macro_call(p, g);
}

static void add_declaration(parser *p, progress *g, const char *scope)
{
    g->d.scope = strdup(scope);
    if (!g->d.scope)
        p->failed = true;
    /* Members were read first. The declaration moves to the place before them. */
    add(p, &p->u->declarations, &p->u->declaration_count, &g->d, sizeof g->d);
    if (p->failed)
        return;
    cpp_declaration *all = p->u->declarations;
    memmove(all + g->first_inner + 1, all + g->first_inner,
            (p->u->declaration_count - 1 - g->first_inner) * sizeof *all);
    all[g->first_inner] = g->d;
}

static void parse_declaration(parser *p, const char *scope, bool member)
{
    progress g = {.first_inner = p->u->declaration_count};
    g.d = (cpp_declaration){.kind = CPP_OTHER,
                            .span.text = p->token.span.text,
                            .line = p->token.line,
                            .member = member};
    while (cpp_is(p->token, "template")) {
        take(p);
        if (cpp_is(p->token, "<"))
            g.d.template_of = skip_angles(p);
    }
    g.first = p->token;
    const char *value = NULL, *end = p->token.span.text;
    bool ends = false;
    while (!ends && !p->failed && p->token.kind != CPP_END && !cpp_is(p->token, "}")) {
        step(p, &g, &ends, &value);
        /* Skipped groups belong to the declaration. */
        end = p->token.kind == CPP_END ? p->lexer.end : p->token.span.text;
    }
    g.d.span = cpp_trim(g.d.span.text, end); /* without a comment behind the declaration */
    end = g.d.span.text + g.d.span.length;
    classify(&g);
    if (g.d.kind == CPP_FUNCTION) {
        g.d.name_count = 0;
        add_name(p, &g, g.d.name);
    }
    if (g.d.kind == CPP_VARIABLE && value && end[-1] == ';') {
        const char *brace = *value == '{' ? memchr(value, '}', (size_t)(end - value)) : NULL;
        note_constant(p, &g, value + (brace != NULL), brace ? brace : end - 1);
    }
    add_declaration(p, &g, scope);
}

/* Reads namespace a::b { ... }; the next token is `namespace`. */
static void parse_namespace(parser *p, const char *scope)
{
    cpp_lexer ahead = p->lexer;
    char inner[256];
    strcpy(inner, strlen(scope) < sizeof inner / 2 ? scope : "");
    for (cpp_token t = cpp_next(&ahead); !cpp_is(t, "{"); t = cpp_next(&ahead)) {
        if (t.kind == CPP_END || cpp_is(t, ";") || cpp_is(t, "=")) {
            progress g = {.first_inner = p->u->declaration_count, .first = p->token};
            parse_declaration(p, scope, false);
            if (p->u->declaration_count > g.first_inner)
                p->u->declarations[g.first_inner].kind = CPP_ALIAS;
            return;
        }
        if (strlen(inner) + t.span.length + 3 < sizeof inner && t.kind == CPP_WORD &&
            !cpp_is(t, "inline")) {
            strncat(inner, t.span.text, t.span.length);
            strcat(inner, "::");
        }
    }
    while (!cpp_is(p->token, "{"))
        take(p);
    take(p);
    parse_scope(p, inner, false);
    if (cpp_is(p->token, "}"))
        take(p);
}

static bool opens_linkage(const parser *p)
{
    cpp_lexer ahead = p->lexer;
    return cpp_is(p->token, "extern") && cpp_next(&ahead).kind == CPP_LITERAL &&
           cpp_is(cpp_next(&ahead), "{");
}

static bool is_access_label(const parser *p)
{
    static const char *const labels[] = {"public", "private", "protected", NULL};
    cpp_lexer ahead = p->lexer;
    return cpp_is_any(p->token, labels) && cpp_is(cpp_next(&ahead), ":");
}

int cpp_opened_scopes(const cpp_macro *m)
{
    cpp_lexer l = cpp_lexer_make(m->value.text, m->value.length, 1);
    int depth = 0;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END && depth >= 0; t = cpp_next(&l))
        depth += cpp_is(t, "{") - cpp_is(t, "}");
    return m->is_constant ? 0 : depth;
}

/* Returns how many scopes the next token opens as a macro such as LIB_NAMESPACE_BEGIN, or 0. */
static int opened_here(const parser *p)
{
    if (p->token.kind != CPP_WORD || !p->token.begins_line)
        return 0;
    for (size_t i = p->u->macro_count; i-- > 0;)
        if (cpp_spans_equal(p->u->macros[i].name, p->token.span))
            return cpp_opened_scopes(&p->u->macros[i]);
    for (size_t i = 0; i < p->scope_count; i++)
        if (cpp_spans_equal(p->scopes[i].name, p->token.span))
            return cpp_opened_scopes(&p->scopes[i]);
    return 0;
}

/* Adds a macro call that opens or closes a scope, as a declaration that is always kept. */
static void parse_scope_macro(parser *p, const char *scope, bool member)
{
    progress g = {.first_inner = p->u->declaration_count};
    g.d = (cpp_declaration){.kind = CPP_OTHER, .line = p->token.line, .member = member};
    const char *begin = p->token.span.text, *end = end_of(p->token);
    take(p);
    if (cpp_is(p->token, "(")) {
        cpp_lexer l = p->lexer;
        skip_group(p);
        while (l.at < l.end && l.at < p->token.span.text)
            end = l.at++ + 1;
    }
    g.d.span = from_to(begin, end);
    add_declaration(p, &g, scope);
}

static void parse_scope(parser *p, const char *scope, bool member)
{
    if (++p->depth > MAX_DEPTH)
        while (p->token.kind != CPP_END)
            take(p);
    while (!p->failed && p->token.kind != CPP_END && !(cpp_is(p->token, "}") && p->depth > 1)) {
        cpp_lexer ahead = p->lexer;
        const int opened = opened_here(p);
        if (p->token.kind == CPP_DIRECTIVE) {
            read_directive(p, p->token);
            take(p);
        } else if (cpp_is(p->token, ";") || cpp_is(p->token, "}")) {
            take(p);
        } else if (opened != 0) {
            parse_scope_macro(p, scope, member);
            p->opened += opened;
            if (p->opened < 0 && p->depth > 1) { /* the macro ends this scope */
                p->opened = 0;
                break;
            }
        } else if (member && is_access_label(p)) {
            take(p);
            take(p);
        } else if (cpp_is(p->token, "namespace") ||
                   (cpp_is(p->token, "inline") && cpp_is(cpp_next(&ahead), "namespace"))) {
            parse_namespace(p, scope);
        } else if (opens_linkage(p)) {
            take(p);
            take(p);
            take(p);
            parse_scope(p, scope, false);
            if (cpp_is(p->token, "}"))
                take(p);
        } else {
            parse_declaration(p, scope, member);
        }
    }
    p->depth--;
}

bool cpp_parse(cpp_unit *u, const cpp_macro *scopes, size_t scope_count)
{
    parser p = {.u = u,
                .lexer = cpp_lexer_make(u->text, u->length, 1),
                .scopes = scopes,
                .scope_count = scope_count};
    take(&p);
    parse_scope(&p, "", false);
    return !p.failed;
}
