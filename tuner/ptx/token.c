#include "ptx/token.h"

#include <stdlib.h>
#include <string.h>

void ptx_lexer_init(ptx_lexer *lexer, const char *text, size_t size)
{
    *lexer = (ptx_lexer){.at = text, .end = text + size, .line = 1};
}

int ptx_text_compare(ptx_text a, ptx_text b)
{
    const int order = memcmp(a.at, b.at, a.length < b.length ? a.length : b.length);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

bool ptx_text_is(ptx_text text, const char *word)
{
    return strlen(word) == text.length && memcmp(text.at, word, text.length) == 0;
}

bool ptx_text_begins(ptx_text text, const char *with)
{
    const size_t n = strlen(with);
    return text.length >= n && memcmp(text.at, with, n) == 0;
}

/* Replaces isdigit(), which depends on the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c);
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Skips white space and comments. Returns false if a comment has no end. */
static bool skip_blank(ptx_lexer *l)
{
    while (l->at < l->end) {
        char c = *l->at;
        if (c == '\n') {
            l->line++;
            l->at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            l->at++;
        } else if (c == '/' && l->end - l->at > 1 && l->at[1] == '/') {
            while (l->at < l->end && *l->at != '\n')
                l->at++;
        } else if (c == '/' && l->end - l->at > 1 && l->at[1] == '*') {
            l->at += 2;
            while (l->end - l->at > 1 && !(l->at[0] == '*' && l->at[1] == '/')) {
                l->line += *l->at == '\n';
                l->at++;
            }
            if (l->end - l->at < 2)
                return false;
            l->at += 2;
        } else {
            return true;
        }
    }
    return true;
}

static void take_hex(ptx_lexer *l, ptx_token *t, int digits)
{
    t->bits = 0;
    for (int i = 0; i < digits; i++) {
        if (l->at >= l->end || hex_value(*l->at) < 0) {
            t->kind = PTX_TOKEN_BAD;
            return;
        }
        t->bits = t->bits << 4 | (uint64_t)hex_value(*l->at++);
    }
}

static void take_decimal_fraction(ptx_lexer *l, ptx_token *t, const char *start)
{
    char digits[64];
    size_t n = 0;
    for (l->at = start; l->at < l->end && n < sizeof digits - 1; l->at++) {
        char c = *l->at;
        bool sign =
            (c == '-' || c == '+') && n > 0 && (digits[n - 1] == 'e' || digits[n - 1] == 'E');
        if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && !sign)
            break;
        digits[n++] = c;
    }
    digits[n] = '\0';
    double v = strtod(digits, NULL);
    t->kind = PTX_TOKEN_DOUBLE;
    memcpy(&t->bits, &v, sizeof v);
}

static void take_number(ptx_lexer *l, ptx_token *t)
{
    const char *start = l->at;
    char second = l->end - l->at > 1 ? l->at[1] : '\0';
    t->kind = PTX_TOKEN_INTEGER;
    t->bits = 0;
    if (*start == '0' && (second == 'f' || second == 'F')) {
        t->kind = PTX_TOKEN_FLOAT;
        l->at += 2;
        take_hex(l, t, 8);
    } else if (*start == '0' && (second == 'd' || second == 'D')) {
        t->kind = PTX_TOKEN_DOUBLE;
        l->at += 2;
        take_hex(l, t, 16);
    } else if (*start == '0' && (second == 'x' || second == 'X')) {
        for (l->at += 2; l->at < l->end && hex_value(*l->at) >= 0; l->at++)
            t->bits = t->bits << 4 | (uint64_t)hex_value(*l->at);
    } else if (*start == '0' && (second == 'b' || second == 'B')) {
        for (l->at += 2; l->at < l->end && (*l->at == '0' || *l->at == '1'); l->at++)
            t->bits = t->bits << 1 | (uint64_t)(*l->at - '0');
    } else {
        uint64_t base = *start == '0' ? 8 : 10;
        for (; l->at < l->end && is_digit(*l->at); l->at++)
            t->bits = t->bits * base + (uint64_t)(*l->at - '0');
        if (l->end - l->at > 1 && *l->at == '.' && is_digit(l->at[1]))
            take_decimal_fraction(l, t, start);
    }
    if (t->kind == PTX_TOKEN_INTEGER && l->at < l->end && *l->at == 'U')
        l->at++;
    if (l->at < l->end && is_word(*l->at))
        t->kind = PTX_TOKEN_BAD;
}

static void take_string(ptx_lexer *l, ptx_token *t)
{
    const char *start = ++l->at;
    while (l->at < l->end && *l->at != '"' && *l->at != '\n')
        l->at++;
    t->text = (ptx_text){start, (uint32_t)(l->at - start)};
    t->kind = l->at < l->end && *l->at == '"' ? PTX_TOKEN_STRING : PTX_TOKEN_BAD;
    if (t->kind == PTX_TOKEN_STRING)
        l->at++;
}

/* Reads the rest of a modifier after its dot. "::" is part of a modifier (".shared::cta"). */
static void take_modifier(ptx_lexer *l)
{
    while (l->at < l->end) {
        if (is_word(*l->at))
            l->at++;
        else if (l->end - l->at > 2 && l->at[0] == ':' && l->at[1] == ':' && is_word(l->at[2]))
            l->at += 2;
        else
            break;
    }
}

ptx_token ptx_lexer_next(ptx_lexer *l)
{
    bool ended = skip_blank(l);
    ptx_token t = {.kind = PTX_TOKEN_END, .line = l->line, .text = {l->at, 0}};
    if (!ended) {
        t.kind = PTX_TOKEN_BAD;
        l->at = l->end;
        return t;
    }
    if (l->at >= l->end)
        return t;
    char c = *l->at;
    if (is_digit(c)) {
        take_number(l, &t);
    } else if (is_letter(c)) {
        t.kind = PTX_TOKEN_WORD;
        while (l->at < l->end && is_word(*l->at))
            l->at++;
    } else if (c == '.' && l->end - l->at > 1 && is_word(l->at[1])) {
        t.kind = PTX_TOKEN_MODIFIER;
        l->at++;
        take_modifier(l);
    } else if (c == '"') {
        take_string(l, &t);
        return t;
    } else {
        t.kind = c != '\0' && strchr(",;:{}[]()<>@!|+-=*/&^~", c) ? PTX_TOKEN_PUNCTUATION
                                                                  : PTX_TOKEN_BAD;
        l->at++;
    }
    t.text.length = (uint32_t)(l->at - t.text.at);
    return t;
}
