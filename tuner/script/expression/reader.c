#include "script/expression/reading.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const node *read_lua(reader *r);
static const node *read_operand(reader *r);

/* Lua 5.4 reference manual, section 3.4.8; numbers as in its parser. */
const notation notation_lua = {
    .next = lexer_next,
    .binary =
        (const notation_operator[]){
            {"or", NODE_OR, 1, 1},
            {"and", NODE_AND, 2, 2},
            {"<", NODE_LESS, 3, 3},
            {"<=", NODE_AT_MOST, 3, 3},
            {">", NODE_GREATER, 3, 3},
            {">=", NODE_AT_LEAST, 3, 3},
            {"==", NODE_EQUAL, 3, 3},
            {"~=", NODE_UNEQUAL, 3, 3},
            {"|", NODE_BIT_OR, 4, 4},
            {"~", NODE_BIT_XOR, 5, 5},
            {"&", NODE_BIT_AND, 6, 6},
            {"<<", NODE_SHIFT_LEFT, 7, 7},
            {">>", NODE_SHIFT_RIGHT, 7, 7},
            {"..", NODE_JOIN, 9, 8},
            {"+", NODE_ADD, 10, 10},
            {"-", NODE_SUBTRACT, 10, 10},
            {"*", NODE_MULTIPLY, 11, 11},
            {"/", NODE_DIVIDE, 11, 11},
            {"//", NODE_FLOOR_DIVIDE, 11, 11},
            {"%", NODE_REMAINDER, 11, 11},
            {"^", NODE_POWER, 14, 13},
            {NULL, NODE_OPS, 0, 0},
        },
    .unary =
        (const notation_operator[]){
            {"not", NODE_NOT, 15, 12},
            {"-", NODE_NEGATE, 15, 12},
            {"~", NODE_BIT_NOT, 15, 12},
            {"#", NODE_LENGTH, 15, 12},
            {NULL, NODE_OPS, 0, 0},
        },
    .words = (const notation_word[]){{"true", NODE_TRUTH, 1},
                                     {"false", NODE_TRUTH, 0},
                                     {"nil", NODE_NONE, 0},
                                     {NULL, NODE_OPS, 0}},
    .reserved =
        " and break do else elseif end for goto if in local or repeat return then until while ",
    .whole = read_lua,
    .operand = read_operand,
};

void reading_advance(reader *r)
{
    r->next = r->notation->next(&r->lexer);
}

bool reading_accept(reader *r, const char *symbol)
{
    bool is = token_is(r->next, symbol);
    if (is)
        reading_advance(r);
    return is;
}

bool reading_is_reserved(const reader *r, token name)
{
    char spaced[16];
    snprintf(spaced, sizeof spaced, " %.*s ", (int)name.length, name.text);
    return strstr(r->notation->reserved, spaced);
}

const node *reading_leaf(reader *r, node_op op, int64_t bits)
{
    return tree_add(r->t, &(node){.op = op, .bits = bits});
}

const node *reading_number(reader *r, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return reading_leaf(r, NODE_NUMBER, bits);
}

const node *reading_named(reader *r, node_op op, const node *of, token name)
{
    return tree_add(
        r->t,
        &(node){
            .op = op, .count = of ? 1 : 0, .of = {of}, .name = name.text, .length = name.length});
}

const node *reading_pair(reader *r, node_op op, const node *a, const node *b)
{
    return tree_add(r->t, &(node){.op = op, .count = 2, .of = {a, b}});
}

const node *reader_plain_name(tree *t, token name)
{
    return reading_named(&(reader){.t = t}, NODE_NAME, NULL, name);
}

const node *reader_plain_field(tree *t, const node *of, token name)
{
    return reading_named(&(reader){.t = t}, NODE_FIELD, of, name);
}

/* Decimal numbers beyond 64 bits are no whole ones; hexadecimal ones wrap around, which is left to
 * Lua, as is what is too long. */
static const node *read_number(reader *r)
{
    char digits[64] = "", *end;
    token number = r->next;
    if (number.length < sizeof digits)
        memcpy(digits, number.text, number.length);
    reading_advance(r);
    bool hexadecimal = strpbrk(digits, "xX") != NULL;
    errno = 0;
    unsigned long long whole = strtoull(digits, &end, hexadecimal ? 16 : 10);
    bool is_whole = *digits && !*end;
    if (is_whole && !errno && (hexadecimal || whole <= INT64_MAX))
        return reading_leaf(r, NODE_WHOLE, (int64_t)whole);
    double value = strtod(digits, &end);
    if (!*digits || *end || (is_whole && hexadecimal))
        return reading_named(r, NODE_LUA, NULL, number);
    return reading_number(r, value);
}

static const node *read_text(reader *r)
{
    token text = r->next;
    reading_advance(r);
    bool plain = text.length >= 2 && text.text[0] != '[' && !memchr(text.text, '\\', text.length);
    if (!plain)
        return reading_named(r, NODE_LUA, NULL, text);
    return reading_named(r, NODE_TEXT, NULL,
                         (token){.text = text.text + 1, .length = text.length - 2});
}

/* The key of an item of a table, which is of no use but for the names in it. */
static bool skip_key(reader *r)
{
    lexer ahead = r->lexer;
    if (reading_accept(r, "["))
        return reading_binary(r, 0) && reading_accept(r, "]") && reading_accept(r, "=");
    if (r->next.kind != TOKEN_NAME || !token_is(r->notation->next(&ahead), "="))
        return true;
    reading_advance(r);
    return reading_accept(r, "=");
}

/* Reads a list whose first bracket has been read, and its last bracket, `end`. */
static const node *read_list(reader *r, const char *end)
{
    const node *list = reading_leaf(r, NODE_NONE, 0);
    bool in_table = *end == '}', more = true;
    while (list && !reading_accept(r, end)) {
        if (!more || (in_table && !skip_key(r)))
            return NULL;
        list = reading_pair(r, NODE_LIST, list, reading_binary(r, 0));
        more = reading_accept(r, ",") || (in_table && reading_accept(r, ";"));
    }
    return list && list->op == NODE_LIST && more && !in_table ? NULL : list;
}

/* The text from `from` to here is left to Lua, unless reading it failed. */
static const node *left_to_lua(reader *r, const char *from, const node *read)
{
    token text = {.text = from, .length = (size_t)(r->next.text - from)};
    return read ? reading_named(r, NODE_LUA, NULL, text) : NULL;
}

static const node *read_table(reader *r)
{
    const char *from = r->next.text;
    reading_advance(r);
    return left_to_lua(r, from, read_list(r, "}"));
}

/* The arguments of a call, which may be one text or table without brackets. */
static const node *read_arguments(reader *r)
{
    if (reading_accept(r, "("))
        return read_list(r, ")");
    const node *only = r->next.kind == TOKEN_STRING ? read_text(r)
                       : token_is(r->next, "{")     ? read_table(r)
                                                    : NULL;
    return reading_pair(r, NODE_LIST, reading_leaf(r, NODE_NONE, 0), only);
}

static bool is_argument(token t)
{
    return t.kind == TOKEN_STRING || token_is(t, "(") || token_is(t, "{");
}

/* Reads what follows a name or brackets, which begin at `from`: fields, indices and calls. */
static const node *read_suffixes(reader *r, const char *from, const node *of)
{
    while (of) {
        bool method = token_is(r->next, ":");
        if (method || token_is(r->next, ".")) {
            reading_advance(r);
            token name = r->next;
            if (name.kind != TOKEN_NAME)
                return NULL;
            reading_advance(r);
            of = method                ? left_to_lua(r, from, read_arguments(r))
                 : of->op == NODE_NAME ? r->names->field(r->names->context, r->t, of, name)
                                       : reader_plain_field(r->t, of, name);
        } else if (reading_accept(r, "[")) {
            of = reading_binary(r, 0);
            of = reading_accept(r, "]") ? left_to_lua(r, from, of) : NULL;
        } else if (is_argument(r->next)) {
            of = reading_pair(r, NODE_CALL, of, read_arguments(r));
        } else {
            return of;
        }
    }
    return NULL;
}

static const node *read_name(reader *r)
{
    token name = r->next;
    reading_advance(r);
    const node *word = reading_word(r, name);
    if (word || reading_is_reserved(r, name))
        return word;
    return read_suffixes(r, name.text, r->names->name(r->names->context, r->t, name, r->next));
}

const node *reading_word(reader *r, token name)
{
    for (const notation_word *w = r->notation->words; w->text; w++)
        if (token_is(name, w->text))
            return reading_leaf(r, w->op, w->bits);
    return NULL;
}

static const notation_operator *find_operator(const notation_operator *among, token t)
{
    while (among->symbol && !token_is(t, among->symbol))
        among++;
    return among->symbol ? among : NULL;
}

static const node *read_operand(reader *r)
{
    const char *from = r->next.text;
    if (reading_accept(r, "(")) {
        const node *inner = reading_binary(r, 0);
        return reading_accept(r, ")") ? read_suffixes(r, from, inner) : NULL;
    }
    if (token_is(r->next, "{"))
        return read_table(r);
    return r->next.kind == TOKEN_NUMBER   ? read_number(r)
           : r->next.kind == TOKEN_STRING ? read_text(r)
           : r->next.kind == TOKEN_NAME   ? read_name(r)
                                          : NULL;
}

static bool compares(node_op op)
{
    return (op >= NODE_LESS && op <= NODE_UNEQUAL) || op == NODE_IN || op == NODE_NOT_IN;
}

/* `before`: the last operand of the comparison that `left` is; NULL where it is none. */
static const node *apply(reader *r, node_op op, const node *left, const node *before,
                         const node *right)
{
    if (!before || !compares(op) || !r->notation->chained)
        return reading_pair(r, op, left, right);
    return reading_pair(r, NODE_AND, left, reading_pair(r, op, before, right));
}

static const node *read_unary(reader *r, int least)
{
    const notation_operator *unary = find_operator(r->notation->unary, r->next);
    if (!unary)
        return r->notation->operand(r);
    if (unary->left <= least)
        return NULL;
    reading_advance(r);
    const node *of = reading_binary(r, unary->right);
    return tree_add(r->t, &(node){.op = unary->op, .count = 1, .of = {of}});
}

/* `a or b or c` is made from its end, so that `x and 1 or y and 2 or 3` has a choice in a choice;
 * it means the same. */
const node *reading_binary(reader *r, int least)
{
    if (r->nested == READING_MOST_NESTED)
        return NULL;
    r->nested++;
    const node *left = read_unary(r, least), *compared = NULL;
    const node *alternatives = reading_leaf(r, NODE_NONE, 0);
    while (left) {
        const notation_operator *op = find_operator(r->notation->binary, r->next);
        if (!op || op->left <= least)
            break;
        reading_advance(r);
        if (op->op == NODE_OR)
            alternatives = reading_pair(r, NODE_LIST, alternatives, left);
        const node *right = reading_binary(r, op->right);
        left = op->op == NODE_OR ? right : apply(r, op->op, left, compared, right);
        compared = compares(op->op) ? right : NULL;
    }
    for (; alternatives && alternatives->op == NODE_LIST; alternatives = alternatives->of[0])
        left = reading_pair(r, NODE_OR, alternatives->of[1], left);
    r->nested--;
    return left;
}

static const node *read_lua(reader *r)
{
    return reading_binary(r, 0);
}

const node *reader_read_to(tree *t, const notation *n, const char *text, const reader_names *names,
                           token *stopped)
{
    reader r = {.t = t, .notation = n, .names = names, .lexer = lexer_make(text, strlen(text))};
    reading_advance(&r);
    const node *root = n->whole(&r);
    *stopped = r.next;
    return r.next.kind == TOKEN_END ? root : NULL;
}

const node *reader_read(tree *t, const notation *n, const char *text, const reader_names *names)
{
    token stopped;
    return reader_read_to(t, n, text, names, &stopped);
}
