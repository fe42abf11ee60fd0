#include <stdarg.h>
#include <stdio.h>

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

at_status ptx_fail(ptx_parser *p, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set_at(p->error, AT_FORMAT, p->module->name, p->token.line, "%s", text);
}

at_status ptx_no_memory(ptx_parser *p)
{
    return error_set(p->error, AT_NO_MEMORY, "no memory to parse PTX");
}

at_status ptx_expect(ptx_parser *p, char c)
{
    if (!ptx_at(p, c))
        return ptx_fail(p, "expected '%c', not %s", c, ptx_token_text(p));
    ptx_advance(p);
    return AT_OK;
}

at_status ptx_take_integer(ptx_parser *p, int64_t *out)
{
    bool negative = ptx_at(p, '-');
    if (negative)
        ptx_advance(p);
    if (p->token.kind != PTX_TOKEN_INTEGER)
        return ptx_fail(p, "expected an integer, not %s", ptx_token_text(p));
    *out = (int64_t)(negative ? 0 - p->token.bits : p->token.bits);
    ptx_advance(p);
    return AT_OK;
}
