#include "script/expression/lexer.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

lexer lexer_make(const char *text, size_t size_bytes)
{
    return (lexer){.at = text, .end = text + size_bytes, .line = 1};
}

bool token_is(token t, const char *text)
{
    return t.kind != TOKEN_STRING && t.length == strlen(text) &&
           memcmp(t.text, text, t.length) == 0;
}

/* Returns NUL after the end of the text. */
static char peek(const lexer *l, size_t ahead)
{
    return (size_t)(l->end - l->at) > ahead ? l->at[ahead] : '\0';
}

static bool is_newline(char c)
{
    return c == '\n' || c == '\r';
}

/* Takes one character or one end of a line, which may be two characters in Lua. */
static void step(lexer *l)
{
    char c = *l->at++;
    if (!is_newline(c))
        return;
    l->line++;
    if (is_newline(peek(l, 0)) && peek(l, 0) != c)
        l->at++;
}

/* Returns the number of = signs in the long bracket that opens at this '[', or -1. */
static int long_bracket(const lexer *l)
{
    size_t equals = 0;
    while (peek(l, 1 + equals) == '=')
        equals++;
    return peek(l, 1 + equals) == '[' ? (int)equals : -1;
}

static void skip_long_bracket(lexer *l, int equals)
{
    l->at += 2 + equals;
    while (l->at < l->end) {
        if (*l->at == ']') {
            int n = 0;
            while (peek(l, 1 + (size_t)n) == '=')
                n++;
            if (n == equals && peek(l, 1 + (size_t)n) == ']') {
                l->at += 2 + n;
                return;
            }
        }
        step(l);
    }
}

static void skip_quoted(lexer *l)
{
    char quote = *l->at++;
    while (l->at < l->end && *l->at != quote && !is_newline(*l->at)) {
        if (*l->at == '\\' && l->end - l->at > 1)
            step(l);
        step(l);
    }
    if (l->at < l->end && *l->at == quote)
        l->at++;
}

static void skip_blanks_and_comments(lexer *l)
{
    while (l->at < l->end) {
        if (strchr(" \t\r\n\v\f", *l->at) && *l->at != '\0') {
            step(l);
        } else if (*l->at == '-' && peek(l, 1) == '-') {
            l->at += 2;
            int equals = peek(l, 0) == '[' ? long_bracket(l) : -1;
            if (equals >= 0)
                skip_long_bracket(l, equals);
            else
                while (l->at < l->end && !is_newline(*l->at))
                    l->at++;
        } else {
            return;
        }
    }
}

/* Skips a number as Lua does: digits, letters, dots, and a sign after an exponent. */
static void skip_number(lexer *l)
{
    bool hexadecimal = *l->at == '0' && (peek(l, 1) == 'x' || peek(l, 1) == 'X');
    const char *exponent = hexadecimal ? "pP" : "eE";
    while (l->at < l->end) {
        bool is_exponent = *l->at != '\0' && strchr(exponent, *l->at);
        if (!is_letter(*l->at) && !is_digit(*l->at) && *l->at != '.')
            return;
        l->at++;
        if (is_exponent && (peek(l, 0) == '+' || peek(l, 0) == '-'))
            l->at++;
    }
}

static void skip_symbol(lexer *l)
{
    static const char *const symbols[] = {
        "...", "..", "==", "~=", "<=", ">=", "//", "<<", ">>", "::"};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        /* Most symbols have one character, so this test saves time. */
        if (*symbols[i] != *l->at)
            continue;
        size_t length = strlen(symbols[i]);
        if ((size_t)(l->end - l->at) >= length && memcmp(l->at, symbols[i], length) == 0) {
            l->at += length;
            return;
        }
    }
    l->at++;
}

token lexer_next(lexer *l)
{
    skip_blanks_and_comments(l);
    token t = {.kind = TOKEN_END, .text = l->at, .line = l->line};
    if (l->at == l->end)
        return t;
    if (is_letter(*l->at)) {
        t.kind = TOKEN_NAME;
        while (is_letter(peek(l, 0)) || is_digit(peek(l, 0)))
            l->at++;
    } else if (is_digit(*l->at) || (*l->at == '.' && is_digit(peek(l, 1)))) {
        t.kind = TOKEN_NUMBER;
        skip_number(l);
    } else if (*l->at == '"' || *l->at == '\'') {
        t.kind = TOKEN_STRING;
        skip_quoted(l);
    } else if (*l->at == '[' && long_bracket(l) >= 0) {
        t.kind = TOKEN_STRING;
        skip_long_bracket(l, long_bracket(l));
    } else {
        t.kind = TOKEN_SYMBOL;
        skip_symbol(l);
    }
    t.length = (size_t)(l->at - t.text);
    return t;
}

static bool opens(token t)
{
    return token_is(t, "{") || token_is(t, "(") || token_is(t, "[");
}

static bool closes(token t)
{
    return token_is(t, "}") || token_is(t, ")") || token_is(t, "]");
}

typedef struct field {
    bool keyed;
    token key;   /* the name, without quotes and brackets */
    lexer value; /* the lexer, before the value */
    int line;
} field;

static void strip_quotes(token *t)
{
    size_t quote = 1; /* length of the opening quote or bracket: " or [==[ */
    if (t->text[0] == '[')
        quote += 1 + strspn(t->text + 1, "=");
    size_t both = 2 * quote;
    t->text += quote < t->length ? quote : t->length;
    t->length -= both < t->length ? both : t->length;
}

/* Reads a key and the equals sign after it. Returns false if the field has no key. */
static bool read_key(token first, lexer *ahead, token *key)
{
    *key = first;
    if (token_is(first, "[")) {
        *key = lexer_next(ahead);
        if (key->kind != TOKEN_STRING || !token_is(lexer_next(ahead), "]"))
            return false;
        strip_quotes(key);
    } else if (first.kind != TOKEN_NAME) {
        return false;
    }
    return token_is(lexer_next(ahead), "=");
}

static bool next_field(lexer *l, field *f)
{
    lexer start = *l;
    token first = lexer_next(l);
    while (token_is(first, ",") || token_is(first, ";")) {
        start = *l;
        first = lexer_next(l);
    }
    if (first.kind == TOKEN_END || closes(first))
        return false;
    *f = (field){.value = start, .line = first.line};
    lexer ahead = *l;
    f->keyed = read_key(first, &ahead, &f->key);
    if (f->keyed)
        f->value = ahead;
    *l = f->value;
    return true;
}

/* Tells whether NAME = follows, which begins the next assignment of a bare text. */
static bool begins_assignment(lexer l)
{
    return lexer_next(&l).kind == TOKEN_NAME && token_is(lexer_next(&l), "=");
}

static void skip_value(lexer *l)
{
    for (int depth = 0;;) {
        lexer before = *l;
        if (depth == 0 && begins_assignment(before))
            return;
        token t = lexer_next(l);
        bool ends = depth == 0 && (closes(t) || token_is(t, ",") || token_is(t, ";"));
        if (t.kind == TOKEN_END || ends) {
            *l = before;
            return;
        }
        depth += opens(t) - closes(t);
    }
}

/* Moves the lexer from before a value such as `{`, `at.input {` or `f({` to after its brace. */
static bool enter_table(lexer *l)
{
    for (;;) {
        token t = lexer_next(l);
        if (token_is(t, "{"))
            return true;
        if (t.kind != TOKEN_NAME && !token_is(t, ".") && !token_is(t, "("))
            return false;
    }
}

static bool find_pattern(lexer *l)
{
    for (;;) {
        token t = lexer_next(l);
        if (t.kind == TOKEN_END)
            return false;
        if (!token_is(t, "pattern"))
            continue;
        lexer ahead = *l;
        if (enter_table(&ahead)) {
            *l = ahead;
            return true;
        }
    }
}

static bool find_step(lexer *l, source_step wanted, field *f)
{
    size_t position = 0;
    while (next_field(l, f)) {
        if (!f->keyed)
            position++;
        if (wanted.name ? f->keyed && f->key.length == strlen(wanted.name) &&
                              memcmp(f->key.text, wanted.name, f->key.length) == 0
                        : !f->keyed && position == wanted.index)
            return true;
        skip_value(l);
    }
    return false;
}

/* Follows the steps; *line is the line of the last field found. Leaves the lexer in the last table
 * (`enter_last`), or before the value. */
static bool follow(source_text source, lexer *l, const source_step *steps, size_t count,
                   bool enter_last, int *line)
{
    *line = 0;
    *l = lexer_make(source.text, source.size_bytes);
    if (!source.bare && !find_pattern(l))
        return false;
    lexer first = *l;
    *line = source.bare ? lexer_next(&first).line : l->line;
    for (size_t i = 0; i < count; i++) {
        field f;
        if (!find_step(l, steps[i], &f))
            return false;
        *line = f.line;
        if ((i + 1 < count || enter_last) && !enter_table(l))
            return false;
    }
    return true;
}

typedef struct read_field {
    token key;
    size_t table;
} read_field;

/* The table constructors around a token. `blocks` counts open functions and statements in each
 * bracket. */
typedef struct nesting {
    size_t tables[64], depth, table_count;
    int blocks[64], open_blocks;
} nesting;

static void follow_nesting(nesting *n, token t)
{
    const bool fits = n->depth + 1 < sizeof n->tables / sizeof *n->tables;
    if (opens(t) && fits) {
        n->tables[++n->depth] = token_is(t, "{") ? ++n->table_count : 0;
        n->blocks[n->depth] = n->open_blocks;
    } else if (closes(t) && n->depth > 0) {
        n->depth--;
    }
    n->open_blocks += token_is(t, "function") || token_is(t, "if") || token_is(t, "do");
    n->open_blocks -= token_is(t, "end");
}

size_t source_repeated_keys(source_text source, token *out, size_t capacity)
{
    enum { MOST_FIELDS = 1024 };
    read_field fields[MOST_FIELDS];
    size_t field_count = 0, found = 0;
    nesting n = {.table_count = 1, .tables = {source.bare ? 1 : 0}};
    lexer l = lexer_make(source.text, source.size_bytes);
    token before = {.kind = TOKEN_SYMBOL, .text = ";", .length = 1};
    for (token t = lexer_next(&l); t.kind != TOKEN_END; t = lexer_next(&l)) {
        const size_t table = n.tables[n.depth];
        const bool begins = token_is(before, "{") || token_is(before, ",") ||
                            token_is(before, ";") || (source.bare && n.depth == 0);
        lexer ahead = l;
        read_field f = {.table = table};
        if (table && begins && n.open_blocks == n.blocks[n.depth] && read_key(t, &ahead, &f.key)) {
            f.key.line = t.line;
            for (size_t i = 0; i < field_count && found < capacity; i++)
                if (fields[i].table == table && fields[i].key.length == f.key.length &&
                    memcmp(fields[i].key.text, f.key.text, f.key.length) == 0) {
                    out[found++] = f.key;
                    break;
                }
            if (field_count < MOST_FIELDS)
                fields[field_count++] = f;
        }
        follow_nesting(&n, t);
        before = t;
    }
    return found;
}

int source_line(source_text source, const source_step *steps, size_t count)
{
    lexer l;
    int line;
    follow(source, &l, steps, count, false, &line);
    return line;
}

bool source_key(source_text source, const source_step *steps, size_t count, size_t n, token *key)
{
    lexer l;
    int line;
    if (!follow(source, &l, steps, count, true, &line))
        return false;
    for (field f; next_field(&l, &f); skip_value(&l)) {
        if (f.keyed && n-- == 0) {
            *key = f.key;
            return true;
        }
    }
    return false;
}
