#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "ptx/parser.h"

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

ptx_mark ptx_here(const ptx_parser *p)
{
    return (ptx_mark){p->lexer, p->token};
}

/* Goes on from the current token to after the end of a statement or directive; false: it has
 * none. */
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
        /* A list of operands goes on, a directive with braces does not. */
        if (ends || (is_brace && !ptx_at(p, ',') && !ptx_at(p, ';') && !ptx_at(p, '|')))
            return true;
    }
}

void ptx_skip_unread(ptx_parser *p, const ptx_mark *from)
{
    if (p->status != AT_FORMAT)
        return;
    p->lexer = from->lexer;
    p->token = from->token;
    if (go_past(p)) {
        p->status = AT_OK;
        error_clear(p->error);
    } else {
        end_text(p);
    }
}

void ptx_keep(ptx_parser *p, void *items, size_t *count, const void *item, size_t size)
{
    if (!p->status)
        memory_add(items, count, item, size);
}

void ptx_name_put(ptx_parser *p, ptx_scope *scope, ptx_text text, int kind, int index, int count)
{
    if (!p->status)
        ptx_scope_put(scope, text, kind, index, count);
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
