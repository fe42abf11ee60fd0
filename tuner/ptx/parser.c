#include "ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void ptx_advance(ptx_parser *p)
{
    p->token = ptx_lexer_next(&p->lexer);
}

bool ptx_at(const ptx_parser *p, char c)
{
    return p->token.kind == PTX_TOKEN_PUNCTUATION && *p->token.text.at == c;
}

const char *ptx_token_text(ptx_parser *p)
{
    if (p->token.kind == PTX_TOKEN_END)
        return "the end of the file";
    int length = p->token.text.length > 40 ? 40 : (int)p->token.text.length;
    snprintf(p->shown, sizeof p->shown, "\"%.*s\"", length, p->token.text.at);
    return p->shown;
}

static void end_text(ptx_parser *p)
{
    p->lexer.at = p->lexer.end;
    ptx_advance(p);
}

void ptx_fail(ptx_parser *p, const char *format, ...)
{
    char text[256];
    va_list arguments;
    if (p->status)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    p->status = error_set_at(p->error, AT_FORMAT, p->module->name, p->token.line, "%s", text);
    end_text(p);
}

bool ptx_accept(ptx_parser *p, char c)
{
    bool is = ptx_at(p, c);
    if (is)
        ptx_advance(p);
    return is;
}

void ptx_expect(ptx_parser *p, char c)
{
    if (!ptx_accept(p, c))
        ptx_fail(p, "expected '%c', not %s", c, ptx_token_text(p));
}

ptx_mark ptx_here(const ptx_parser *p)
{
    return (ptx_mark){p->lexer, p->token};
}

void ptx_go_back(ptx_parser *p, const ptx_mark *to)
{
    p->lexer = to->lexer;
    p->token = to->token;
}

/* Skips the rest of a statement or directive. Returns false if it has no end. */
static bool go_past(ptx_parser *p)
{
    int depth = 0;
    for (;;) {
        bool closes = ptx_at(p, '}') || ptx_at(p, ')') || ptx_at(p, ']');
        if (p->token.kind == PTX_TOKEN_END || (closes && depth == 0))
            return false;
        if (ptx_at(p, '{') || ptx_at(p, '(') || ptx_at(p, '['))
            depth++;
        depth -= closes;
        bool ends = ptx_at(p, ';') && depth == 0, is_brace = ptx_at(p, '}') && depth == 0;
        ptx_advance(p);
        /* A closing brace ends a directive, but may be inside a list of operands. */
        if (ends || (is_brace && !ptx_at(p, ',') && !ptx_at(p, ';') && !ptx_at(p, '|')))
            return true;
    }
}

void ptx_skip_unread(ptx_parser *p, const ptx_mark *from)
{
    if (p->status != AT_FORMAT)
        return;
    ptx_go_back(p, from);
    if (go_past(p)) {
        p->status = AT_OK;
        error_clear(p->error);
    } else {
        end_text(p);
    }
}

int64_t ptx_take_integer(ptx_parser *p)
{
    bool negative = ptx_accept(p, '-');
    uint64_t bits = p->token.bits;
    if (p->token.kind != PTX_TOKEN_INTEGER) {
        ptx_fail(p, "expected an integer, not %s", ptx_token_text(p));
        return 0;
    }
    ptx_advance(p);
    return (int64_t)(negative ? 0 - bits : bits);
}

enum { LEVELS = 6, MAX_DEPTH = 64 };

/* The binary operators by precedence, lowest first. */
static const char *const operators[LEVELS] = {"|", "^", "&", "<>", "+-", "*/"};

static uint64_t take_level(ptx_parser *p, int level, int depth);

/* Reads a number, a term in parentheses, or a term with a unary operator. */
static uint64_t take_term(ptx_parser *p, int depth)
{
    uint64_t bits = p->token.bits;
    if (depth > MAX_DEPTH)
        ptx_fail(p, "the constant expression is nested more than %d deep, which is not supported",
                 MAX_DEPTH);
    else if (ptx_accept(p, '-'))
        return 0 - take_term(p, depth + 1);
    else if (ptx_accept(p, '~'))
        return ~take_term(p, depth + 1);
    else if (ptx_accept(p, '!'))
        return !take_term(p, depth + 1);
    else if (ptx_accept(p, '(')) {
        bits = take_level(p, 0, depth + 1);
        ptx_expect(p, ')');
        return bits;
    } else if (p->token.kind == PTX_TOKEN_WORD && ptx_text_is(p->token.text, "WARP_SZ"))
        bits = 32;
    else if (p->token.kind != PTX_TOKEN_INTEGER)
        ptx_fail(p, "expected a constant, not %s", ptx_token_text(p));
    ptx_advance(p);
    return p->status ? 0 : bits;
}

static uint64_t apply(ptx_parser *p, char sign, uint64_t a, uint64_t b)
{
    switch (sign) {
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '&':
        return a & b;
    case '<':
        return b < 64 ? a << b : 0;
    case '>':
        return (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        if (b == 0)
            ptx_fail(p, "a constant is divided by zero");
        return b == 0 || b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
    }
}

/* Reads terms that are joined by operators of this level or higher levels. */
static uint64_t take_level(ptx_parser *p, int level, int depth)
{
    if (level == LEVELS)
        return take_term(p, depth);
    uint64_t bits = take_level(p, level + 1, depth);
    while (p->token.kind == PTX_TOKEN_PUNCTUATION && strchr(operators[level], *p->token.text.at)) {
        const char sign = *p->token.text.at;
        ptx_advance(p);
        if (sign == '<' || sign == '>')
            ptx_expect(p, sign);
        bits = apply(p, sign, bits, take_level(p, level + 1, depth));
    }
    return p->status ? 0 : bits;
}

uint64_t ptx_take_constant(ptx_parser *p)
{
    return take_level(p, 0, 0);
}

void ptx_keep(ptx_parser *p, void *items, size_t *count, const void *item, size_t size)
{
    if (!p->status)
        memory_add(items, count, item, size);
}

/* Returns the bucket of a text, by its FNV-1a hash. */
static unsigned bucket_of(ptx_text text)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < text.length; i++)
        h = (h ^ (unsigned char)text.at[i]) * 16777619u;
    return (h ^ h >> 16) % PTX_SCOPE_BUCKETS;
}

void ptx_scope_put(ptx_parser *p, ptx_scope *s, ptx_text text, ptx_name_kind kind, int index,
                   int count)
{
    if (p->status)
        return;
    unsigned b = bucket_of(text);
    const ptx_name name = {text, (int)kind, index, count, s->buckets[b]};
    memory_add(&s->names, &s->count, &name, sizeof name);
    s->buckets[b] = (int)s->count;
}

/* Finds the newest name with that text: a range if `range` is true, otherwise a single name. */
static const ptx_name *find_name(const ptx_scope *s, ptx_text text, bool range)
{
    for (int i = s->buckets[bucket_of(text)]; i != 0; i = s->names[i - 1].next) {
        const ptx_name *n = &s->names[i - 1];
        if ((n->count > 0) == range && n->text.length == text.length &&
            memcmp(n->text.at, text.at, text.length) == 0)
            return n;
    }
    return NULL;
}

bool ptx_scope_find(const ptx_scope *s, ptx_text text, int *kind, int *index)
{
    const ptx_name *n = find_name(s, text, false);
    if (n) {
        *kind = n->kind;
        *index = n->index;
        return true;
    }
    uint32_t stem = text.length;
    while (stem > 0 && text.at[stem - 1] >= '0' && text.at[stem - 1] <= '9')
        stem--;
    uint32_t digits = text.length - stem;
    if (digits == 0 || digits > 7 || (digits > 1 && text.at[stem] == '0'))
        return false;
    int number = 0;
    for (uint32_t i = stem; i < text.length; i++)
        number = number * 10 + (text.at[i] - '0');
    n = find_name(s, (ptx_text){text.at, stem}, true);
    if (!n || number >= n->count)
        return false;
    *kind = n->kind;
    *index = n->index + number;
    return true;
}

void ptx_scope_pop(ptx_scope *s, size_t mark)
{
    while (s->count > mark) {
        const ptx_name *n = &s->names[--s->count];
        s->buckets[bucket_of(n->text)] = n->next;
    }
}

void ptx_scope_deinit(ptx_scope *s)
{
    free(s->names);
    *s = (ptx_scope){0};
}
