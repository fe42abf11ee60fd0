/* Python's expressions: The Python Language Reference, chapter 6, and 2.4 for numbers and strings.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "script/expression/reading.h"

static token next_token(lexer *l);
static const node *read_choice(reader *r);
static const node *read_operand(reader *r);

const notation notation_python = {
    .next = next_token,
    .binary =
        (const notation_operator[]){
            {"or", NODE_OR, 1, 1},          {"and", NODE_AND, 2, 2},
            {"<", NODE_LESS, 4, 4},         {"<=", NODE_AT_MOST, 4, 4},
            {">", NODE_GREATER, 4, 4},      {">=", NODE_AT_LEAST, 4, 4},
            {"==", NODE_EQUAL, 4, 4},       {"!=", NODE_UNEQUAL, 4, 4},
            {"in", NODE_IN, 4, 4},          {"not in", NODE_NOT_IN, 4, 4},
            {"|", NODE_BIT_OR, 5, 5},       {"^", NODE_BIT_XOR, 6, 6},
            {"&", NODE_BIT_AND, 7, 7},      {"<<", NODE_SHIFT_LEFT, 8, 8},
            {">>", NODE_SHIFT_RIGHT, 8, 8}, {"+", NODE_ADD, 10, 10},
            {"-", NODE_SUBTRACT, 10, 10},   {"*", NODE_MULTIPLY, 11, 11},
            {"/", NODE_DIVIDE, 11, 11},     {"//", NODE_FLOOR_DIVIDE, 11, 11},
            {"%", NODE_REMAINDER, 11, 11},  {"**", NODE_POWER, 14, 13},
            {NULL, NODE_OPS, 0, 0},
        },
    .unary =
        (const notation_operator[]){
            {"not", NODE_NOT, 4, 3},
            {"-", NODE_NEGATE, 15, 12},
            {"+", NODE_PLUS, 15, 12},
            {"~", NODE_BIT_NOT, 15, 12},
            {NULL, NODE_OPS, 0, 0},
        },
    .words = (const notation_word[]){{"True", NODE_TRUTH, 1},
                                     {"False", NODE_TRUTH, 0},
                                     {"None", NODE_NONE, 0},
                                     {NULL, NODE_OPS, 0}},
    .reserved =
        " and as assert async await break class continue def del elif else except finally for"
        " from global if import in is lambda nonlocal not or pass raise return try while with"
        " yield ",
    .whole = read_choice,
    .operand = read_operand,
    .chained = true,
};

/* ---- tokens ---- */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void skip_blanks(lexer *l)
{
    while (l->at < l->end && *l->at && strchr(" \t\r\n\f\\", *l->at))
        l->at++;
    if (l->at < l->end && *l->at == '#')
        l->at = l->end;
}

/* A number goes on as long as its characters do, so that 12abc is one token, which is none. */
static void skip_number(lexer *l)
{
    bool hexadecimal = *l->at == '0' && l->end - l->at > 1 && (l->at[1] | 0x20) == 'x';
    for (char before = '\0'; l->at < l->end; before = *l->at++) {
        bool sign = (*l->at == '+' || *l->at == '-') && (before | 0x20) == 'e' && !hexadecimal;
        if (!is_name(*l->at) && *l->at != '.' && !sign)
            return;
    }
}

static void skip_string(lexer *l)
{
    char quote = *l->at++;
    while (l->at < l->end && *l->at != quote)
        l->at += *l->at == '\\' && l->end - l->at > 1 ? 2 : 1;
    l->at += l->at < l->end;
}

static void skip_symbol(lexer *l)
{
    static const char *const symbols[] = {"**", "//", "<=", ">=", "==", "!=", "<<", ">>"};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (l->end - l->at >= 2 && memcmp(l->at, symbols[i], 2) == 0) {
            l->at += 2;
            return;
        }
    l->at++;
}

/* Does the word `in` come next? Goes past it. */
static bool skip_in(lexer *l)
{
    lexer ahead = *l;
    skip_blanks(&ahead);
    size_t left = (size_t)(ahead.end - ahead.at);
    if (left < 2 || memcmp(ahead.at, "in", 2) != 0 || (left > 2 && is_name(ahead.at[2])))
        return false;
    ahead.at += 2;
    *l = ahead;
    return true;
}

static token next_token(lexer *l)
{
    skip_blanks(l);
    token t = {.kind = TOKEN_END, .text = l->at, .line = l->line};
    if (l->at == l->end)
        return t;
    bool fraction = *l->at == '.' && l->end - l->at > 1 && isdigit((unsigned char)l->at[1]);
    if (isdigit((unsigned char)*l->at) || fraction) {
        t.kind = TOKEN_NUMBER;
        skip_number(l);
    } else if (is_name(*l->at)) {
        t.kind = TOKEN_NAME;
        while (l->at < l->end && is_name(*l->at))
            l->at++;
    } else if (*l->at == '"' || *l->at == '\'') {
        t.kind = TOKEN_STRING;
        skip_string(l);
    } else {
        t.kind = TOKEN_SYMBOL;
        skip_symbol(l);
    }
    t.length = (size_t)(l->at - t.text);
    if (!token_is(t, "not") || !skip_in(l))
        return t;
    return (token){.kind = TOKEN_NAME, .text = "not in", .length = 6, .line = t.line};
}

/* ---- operands ---- */

/* The digits without the underscores between them; false: this is no number. */
static bool plain_digits(token number, char *digits, size_t size_bytes)
{
    size_t length = 0;
    for (size_t i = 0; i < number.length && length + 1 < size_bytes; i++) {
        char next = i + 1 < number.length ? number.text[i + 1] : '\0';
        if (number.text[i] != '_')
            digits[length++] = number.text[i];
        else if (length == 0 || !isxdigit((unsigned char)next))
            return false;
    }
    digits[length] = '\0';
    return length + 1 < size_bytes;
}

/* Whole numbers have 64 bits here. */
static const node *read_number(reader *r)
{
    char digits[64], *end;
    if (!plain_digits(r->next, digits, sizeof digits))
        return NULL;
    char prefix = digits[0] == '0' ? (char)(digits[1] | 0x20) : '\0';
    int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    const char *from = digits + (base == 10 ? 0 : 2);
    errno = 0;
    long long whole =
        isxdigit((unsigned char)*from) ? strtoll(from, &end, base) : (end = digits, 0);
    if (*end == '\0') {
        bool zeros = base == 10 && digits[0] == '0' && strspn(digits, "0") != strlen(digits);
        if (errno || zeros)
            return NULL;
        reading_advance(r);
        return reading_leaf(r, NODE_WHOLE, whole);
    }
    if (base != 10 || strspn(digits, "0123456789.eE+-") != strlen(digits))
        return NULL;
    double value = strtod(digits, &end);
    if (*end)
        return NULL;
    reading_advance(r);
    return reading_number(r, value);
}

/* Escapes are of no use in what is compared with values. */
static const node *read_string(reader *r)
{
    token text = r->next;
    bool closed = text.length >= 2 && text.text[text.length - 1] == text.text[0];
    if (!closed || memchr(text.text, '\\', text.length) || memchr(text.text, '\n', text.length))
        return NULL;
    reading_advance(r);
    if (r->next.kind == TOKEN_STRING)
        return NULL;
    return reading_named(r, NODE_TEXT, NULL,
                         (token){.text = text.text + 1, .length = text.length - 2});
}

/* From after the `for`: of `element`, or of what more `for` make of it. */
static const node *read_each(reader *r, const node *element)
{
    token name = r->next;
    if (name.kind != TOKEN_NAME || reading_word(r, name) || reading_is_reserved(r, name))
        return NULL;
    reading_advance(r);
    if (!reading_accept(r, "in"))
        return NULL;
    const node *source = reading_binary(r, 0), *condition = reading_leaf(r, NODE_TRUTH, 1);
    while (source && reading_accept(r, "if"))
        condition = reading_pair(r, NODE_AND, condition, reading_binary(r, 0));
    if (source && reading_accept(r, "for"))
        element = read_each(r, element);
    return tree_add(r->t, &(node){.op = NODE_EACH,
                                  .count = 3,
                                  .of = {element, source, condition},
                                  .name = name.text,
                                  .length = name.length});
}

/* Reads what is between brackets, from after the first to after the last, `end`: a list of items,
 * or a NODE_EACH. `*commas` is how many follow items. */
static const node *read_items(reader *r, const char *end, size_t *commas)
{
    const node *list = reading_leaf(r, NODE_NONE, 0);
    for (*commas = 0; list && !reading_accept(r, end);) {
        const node *item = read_choice(r);
        if (item && list->op == NODE_NONE && reading_accept(r, "for")) {
            const node *each = read_each(r, item);
            return reading_accept(r, end) ? each : NULL;
        }
        list = reading_pair(r, NODE_LIST, list, item);
        if (reading_accept(r, ","))
            ++*commas;
        else if (!token_is(r->next, end))
            return NULL;
    }
    return list;
}

static const node *one_item(reader *r, node_op op, const node *of)
{
    return tree_add(r->t, &(node){.op = op, .count = 1, .of = {of}});
}

static const node *read_call(reader *r, const node *function)
{
    size_t commas;
    const node *list = read_items(r, ")", &commas);
    if (list && list->op == NODE_EACH)
        list = reading_pair(r, NODE_LIST, reading_leaf(r, NODE_NONE, 0),
                            one_item(r, NODE_ITEMS, list));
    return reading_pair(r, NODE_CALL, function, list);
}

static const node *read_suffixes(reader *r, const node *of)
{
    while (of) {
        if (reading_accept(r, "(")) {
            of = read_call(r, of);
        } else if (reading_accept(r, "[")) {
            of = reading_pair(r, NODE_INDEX, of, read_choice(r));
            of = reading_accept(r, "]") ? of : NULL;
        } else if (reading_accept(r, ".")) {
            token name = r->next;
            if (name.kind != TOKEN_NAME || reading_is_reserved(r, name))
                return NULL;
            reading_advance(r);
            of = reading_named(r, NODE_FIELD, of, name);
        } else {
            return of;
        }
    }
    return NULL;
}

/* `(a)` is a; `()`, `(a,)` and `(a, b)` are tuples. */
static const node *read_brackets(reader *r, const char *end)
{
    size_t commas;
    const node *list = read_items(r, end, &commas);
    bool only = list && *end == ')' && commas == 0 && list->op == NODE_LIST;
    return only ? list->of[1] : one_item(r, NODE_ITEMS, list);
}

static const node *read_name(reader *r)
{
    token name = r->next;
    if (reading_is_reserved(r, name))
        return NULL;
    reading_advance(r);
    const node *word = reading_word(r, name);
    return word ? word : r->names->name(r->names->context, r->t, name, r->next);
}

static const node *read_operand(reader *r)
{
    const node *of = reading_accept(r, "(")         ? read_brackets(r, ")")
                     : reading_accept(r, "[")       ? read_brackets(r, "]")
                     : r->next.kind == TOKEN_NUMBER ? read_number(r)
                     : r->next.kind == TOKEN_STRING ? read_string(r)
                     : r->next.kind == TOKEN_NAME   ? read_name(r)
                                                    : NULL;
    return read_suffixes(r, of);
}

static const node *read_choice(reader *r)
{
    const node *value = reading_binary(r, 0);
    if (!value || !reading_accept(r, "if"))
        return value;
    const node *condition = reading_binary(r, 0);
    if (!condition || !reading_accept(r, "else") || r->nested == READING_MOST_NESTED)
        return NULL;
    r->nested++;
    const node *otherwise = read_choice(r);
    r->nested--;
    return tree_add(r->t,
                    &(node){.op = NODE_CHOICE, .count = 3, .of = {condition, value, otherwise}});
}
