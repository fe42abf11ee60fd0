#include <string.h>

#include "ptx/parser.h"

enum { LEVELS = 6, MAX_DEPTH = 64 };

/* Those that bind least first. */
static const char *const operators[LEVELS] = {"|", "^", "&", "<>", "+-", "*/"};

static uint64_t take_level(ptx_parser *p, int level, int depth);

static uint64_t take_term(ptx_parser *p, int depth)
{
    uint64_t bits = p->token.bits;
    if (depth > MAX_DEPTH)
        ptx_fail(p, "a constant expression nests more than %d deep", MAX_DEPTH);
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

/* As numbers of 64 bits with a sign. */
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
