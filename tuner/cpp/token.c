#include "cpp/token.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

cpp_lexer cpp_lexer_make(const char *text, size_t length, int line)
{
    const char *end = length > 0 ? text + length : text; /* text may be NULL */
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3; /* a byte order mark */
    return (cpp_lexer){.at = text, .end = end, .line = line, .at_line_start = true};
}

bool cpp_span_is(cpp_span s, const char *text)
{
    return strlen(text) == s.length && memcmp(text, s.text, s.length) == 0;
}

bool cpp_spans_equal(cpp_span a, cpp_span b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

bool cpp_is(cpp_token t, const char *text)
{
    return (t.kind == CPP_WORD || t.kind == CPP_SYMBOL) && cpp_span_is(t.span, text);
}

bool cpp_is_any(cpp_token t, const char *const *texts)
{
    while (*texts && !cpp_is(t, *texts))
        texts++;
    return *texts != NULL;
}

int cpp_nesting(cpp_token t)
{
    const char c = t.kind == CPP_SYMBOL && t.span.length == 1 ? *t.span.text : ' ';
    return (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
}

uint64_t cpp_span_key(cpp_span s)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < s.length; i++)
        h = (h ^ (unsigned char)s.text[i]) * UINT64_C(1099511628211);
    return h;
}

static char peek(const cpp_lexer *l, size_t ahead)
{
    return (size_t)(l->end - l->at) > ahead ? l->at[ahead] : '\0';
}

static void advance(cpp_lexer *l, size_t count)
{
    for (; count > 0 && l->at < l->end; count--, l->at++)
        if (*l->at == '\n') {
            l->line++;
            l->at_line_start = true;
        }
}

static bool skip_comment(cpp_lexer *l)
{
    if (peek(l, 0) != '/' || (peek(l, 1) != '/' && peek(l, 1) != '*'))
        return false;
    const bool block = peek(l, 1) == '*';
    advance(l, 2);
    while (l->at < l->end && (block ? peek(l, 0) != '*' || peek(l, 1) != '/' : *l->at != '\n'))
        advance(l, 1);
    if (block)
        advance(l, 2);
    return true;
}

static void skip_quoted(cpp_lexer *l)
{
    const char quote = *l->at;
    advance(l, 1);
    while (l->at < l->end && *l->at != quote && *l->at != '\n')
        advance(l, *l->at == '\\' ? 2 : 1);
    if (peek(l, 0) == quote)
        advance(l, 1);
}

/* Skips a raw string R"mark( ... )mark". The lexer is at the first quote. */
static void skip_raw(cpp_lexer *l)
{
    char mark[20] = ")";
    size_t n = 1;
    advance(l, 1);
    while (l->at < l->end && *l->at != '(' && n < sizeof mark - 2)
        mark[n++] = *l->at++;
    mark[n++] = '"';
    while (l->at < l->end && ((size_t)(l->end - l->at) < n || memcmp(l->at, mark, n) != 0))
        advance(l, 1);
    advance(l, n);
}

/* Skips to the end of the line. Spliced lines and block comments belong to the directive. */
static void skip_directive(cpp_lexer *l)
{
    while (l->at < l->end && *l->at != '\n') {
        if (peek(l, 0) == '\\' &&
            (peek(l, 1) == '\n' || (peek(l, 1) == '\r' && peek(l, 2) == '\n')))
            advance(l, peek(l, 1) == '\n' ? 2 : 3);
        else if (peek(l, 0) == '/' && peek(l, 1) == '/')
            return;
        else if (!skip_comment(l)) {
            if (*l->at == '"')
                skip_quoted(l);
            else
                advance(l, 1);
        }
    }
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

static bool is_raw_prefix(cpp_span s)
{
    return s.length > 0 && s.length < 4 && s.text[s.length - 1] == 'R';
}

static void skip_number(cpp_lexer *l)
{
    while (is_word_char(peek(l, 0)) || peek(l, 0) == '.' ||
           (peek(l, 0) == '\'' && is_word_char(peek(l, 1))) ||
           ((peek(l, 0) == '+' || peek(l, 0) == '-') && strchr("eEpP", l->at[-1])))
        advance(l, 1);
}

static void skip_symbol(cpp_lexer *l)
{
    const char c = peek(l, 0), next = peek(l, 1);
    const bool pair =
        (c == ':' && next == ':') || (next == '=' && c && strchr("=!<>+-*/%&|^", c) != NULL);
    advance(l, pair ? 2 : 1);
}

static void skip_blanks(cpp_lexer *l)
{
    while (l->at < l->end)
        if (isspace((unsigned char)*l->at) || (*l->at == '\\' && strchr("\r\n", peek(l, 1))))
            advance(l, 1);
        else if (!skip_comment(l))
            return;
}

cpp_token cpp_next(cpp_lexer *l)
{
    skip_blanks(l);
    cpp_token t = {.span = {l->at, 0}, .line = l->line, .begins_line = l->at_line_start};
    const char c = peek(l, 0);
    if (l->at >= l->end)
        return t;
    l->at_line_start = false;
    if (t.begins_line && (c == '#' || (c == '%' && peek(l, 1) == ':'))) {
        t.kind = CPP_DIRECTIVE;
        skip_directive(l);
    } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)peek(l, 1)))) {
        t.kind = CPP_NUMBER;
        advance(l, 1);
        skip_number(l);
    } else if (is_word_char(c)) {
        t.kind = CPP_WORD;
        while (is_word_char(peek(l, 0)))
            advance(l, 1);
        t.span.length = (size_t)(l->at - t.span.text);
        if (peek(l, 0) == '"' && is_raw_prefix(t.span)) {
            t.kind = CPP_LITERAL;
            skip_raw(l);
        }
    } else if (c == '"' || c == '\'') {
        t.kind = CPP_LITERAL;
        skip_quoted(l);
    } else {
        t.kind = CPP_SYMBOL;
        skip_symbol(l);
    }
    t.span.length = (size_t)(l->at - t.span.text);
    return t;
}

cpp_span cpp_trim(const char *begin, const char *end)
{
    cpp_lexer l = cpp_lexer_make(begin, (size_t)(end - begin), 1);
    l.at_line_start = false;
    const cpp_token first = cpp_next(&l);
    const char *last = first.span.text;
    for (cpp_token t = first; t.kind != CPP_END; t = cpp_next(&l))
        last = t.span.text + t.span.length;
    return (cpp_span){first.span.text, (size_t)(last - first.span.text)};
}

/* Takes the next comment, with its comment signs. Returns false if there are no more. */
static bool next_comment(cpp_lexer *l, cpp_span *comment, int *line)
{
    while (l->at < l->end) {
        comment->text = l->at;
        *line = l->line;
        if (skip_comment(l)) {
            comment->length = (size_t)(l->at - comment->text);
            return true;
        }
        if (*l->at == '"' ||
            (*l->at == '\'' && (l->at == comment->text || !is_word_char(l->at[-1]))))
            skip_quoted(l);
        else
            advance(l, 1);
    }
    return false;
}

static const char first_word[] = "autotune";

/* Returns the end of the comment's first word if this word is "autotune", otherwise NULL. */
static const char *after_first_word(cpp_span comment)
{
    const char *at = comment.text + 2, *end = comment.text + comment.length;
    while (at < end && (isspace((unsigned char)*at) || *at == '*'))
        at++;
    const size_t size = sizeof first_word - 1;
    if ((size_t)(end - at) < size || memcmp(at, first_word, size) != 0)
        return NULL;
    at += size;
    return at < end && *at != ':' && !isspace((unsigned char)*at) && *at != '*' ? NULL : at;
}

/* Tells whether the text from `end` to `next` has only blanks and at most one end of line. */
static bool follows(const char *end, const char *next)
{
    int lines = 0;
    for (; end < next; end++) {
        if (!isspace((unsigned char)*end))
            return false;
        lines += *end == '\n';
    }
    return lines <= 1;
}

bool cpp_comment_find(const char *text, cpp_span *comment, int *line)
{
    cpp_lexer l = cpp_lexer_make(text, strlen(text), 1);
    for (cpp_span c; next_comment(&l, &c, line);) {
        if (!after_first_word(c))
            continue;
        *comment = c;
        int ignored;
        for (cpp_span next; c.text[1] == '/' && next_comment(&l, &next, &ignored);) {
            if (next.text[1] != '/' || !follows(comment->text + comment->length, next.text))
                break;
            comment->length = (size_t)(next.text + next.length - comment->text);
        }
        return true;
    }
    return false;
}

bool cpp_comment_is_closed(cpp_span comment)
{
    return comment.text[1] == '/' ||
           (comment.length >= 4 && memcmp(comment.text + comment.length - 2, "*/", 2) == 0);
}

static void blank(char *at, size_t count)
{
    for (; count > 0; count--, at++)
        if (*at != '\n')
            *at = ' ';
}

char *cpp_comment_body(const char *text, cpp_span comment)
{
    const size_t before = (size_t)(comment.text - text);
    char *body = malloc(before + comment.length + 1);
    if (!body)
        return NULL;
    memcpy(body, text, before + comment.length);
    body[before + comment.length] = '\0';
    blank(body, before);
    const char *after = after_first_word(comment);
    blank(body + before,
          (size_t)((after ? after : comment.text) - comment.text) + (after && *after == ':'));
    char *end = body + before + comment.length;
    if (comment.text[1] == '*' && comment.length >= 4) {
        blank(end - 2, 2);
        return body;
    }
    for (char *c = body + before; *c; c++) { /* replaces // at the start of each line by blanks */
        bool starts = c == body || c[-1] == '\n';
        char *sign = c + strspn(c, " \t");
        if (starts && sign[0] == '/' && sign[1] == '/')
            blank(sign, 2);
    }
    return body;
}
