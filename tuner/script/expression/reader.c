#include "script/expression/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lua's own limit: of calls within it, one of which at least each bracket is. */
enum { MOST_NESTED = 200 };

/* A reader stands before a token. Each function that reads returns NULL if memory is lacking, or if
 * the text is no expression; nodes with an operand of NULL are NULL. */
typedef struct reader {
    tree *t;
    const reader_names *names;
    lexer lexer;
    token next;
    size_t nested;
} reader;

/* An operator takes operands whose own bind more strongly: `left` of one before another is compared
 * with `right` of the other. `left` of a unary one: where operands must bind as strongly, it cannot
 * stand without brackets. */
typedef struct operator_form {
    const char *symbol;
    node_op op;
    int left, right;
} operator_form;

/* Lua 5.4 reference manual, section 3.4.8; numbers as in its parser. */
static const operator_form binary[] = {
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
};
static const operator_form unary[] = {
    {"not", NODE_NOT, 15, 12},  {"-", NODE_NEGATE, 15, 12}, {"~", NODE_BIT_NOT, 15, 12},
    {"#", NODE_LENGTH, 15, 12}, {NULL, NODE_OPS, 0, 0},
};

static const node *read_operand(reader *r);
static const node *read_binary(reader *r, int least);

static void advance(reader *r)
{
    r->next = lexer_next(&r->lexer);
}

/* Goes past the next token if it is this one. */
static bool accept(reader *r, const char *symbol)
{
    bool is = token_is(r->next, symbol);
    if (is)
        advance(r);
    return is;
}

/* Is it a word that stands for no value? */
static bool is_reserved(token name)
{
    static const char words[] =
        " and break do else elseif end for goto if in local or repeat return then until while ";
    char spaced[16];
    snprintf(spaced, sizeof spaced, " %.*s ", (int)name.length, name.text);
    return strstr(words, spaced);
}

static const node *leaf_node(reader *r, node_op op, int64_t bits)
{
    return tree_add(r->t, &(node){.op = op, .bits = bits});
}

static const node *number_node(reader *r, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return leaf_node(r, NODE_NUMBER, bits);
}

static const node *named_node(reader *r, node_op op, const node *of, token name)
{
    return tree_add(
        r->t,
        &(node){
            .op = op, .count = of ? 1 : 0, .of = {of}, .name = name.text, .length = name.length});
}

static const node *pair_node(reader *r, node_op op, const node *a, const node *b)
{
    return tree_add(r->t, &(node){.op = op, .count = 2, .of = {a, b}});
}

const node *reader_plain_name(tree *t, token name)
{
    return named_node(&(reader){.t = t}, NODE_NAME, NULL, name);
}

const node *reader_plain_field(tree *t, const node *of, token name)
{
    return named_node(&(reader){.t = t}, NODE_FIELD, of, name);
}

/* Decimal numbers beyond 64 bits are no whole ones; hexadecimal ones wrap around, which is left to
 * Lua, as is what is too long. */
static const node *read_number(reader *r)
{
    char digits[64] = "", *end;
    token number = r->next;
    if (number.length < sizeof digits)
        memcpy(digits, number.text, number.length);
    advance(r);
    bool hexadecimal = strpbrk(digits, "xX") != NULL;
    errno = 0;
    unsigned long long whole = strtoull(digits, &end, hexadecimal ? 16 : 10);
    bool is_whole = *digits && !*end;
    if (is_whole && !errno && (hexadecimal || whole <= INT64_MAX))
        return leaf_node(r, NODE_WHOLE, (int64_t)whole);
    double value = strtod(digits, &end);
    if (!*digits || *end || (is_whole && hexadecimal))
        return named_node(r, NODE_LUA, NULL, number);
    return number_node(r, value);
}

static const node *read_text(reader *r)
{
    token text = r->next;
    advance(r);
    bool plain = text.length >= 2 && text.text[0] != '[' && !memchr(text.text, '\\', text.length);
    if (!plain)
        return named_node(r, NODE_LUA, NULL, text);
    return named_node(r, NODE_TEXT, NULL,
                      (token){.text = text.text + 1, .length = text.length - 2});
}

/* The key of an item of a table, which is of no use but for the names in it. */
static bool skip_key(reader *r)
{
    lexer ahead = r->lexer;
    if (accept(r, "["))
        return read_binary(r, 0) && accept(r, "]") && accept(r, "=");
    if (r->next.kind != TOKEN_NAME || !token_is(lexer_next(&ahead), "="))
        return true;
    advance(r);
    return accept(r, "=");
}

/* Reads a list whose first bracket has been read, and its last bracket, `end`. */
static const node *read_list(reader *r, const char *end)
{
    const node *list = leaf_node(r, NODE_NONE, 0);
    bool in_table = *end == '}', more = true;
    while (list && !accept(r, end)) {
        if (!more || (in_table && !skip_key(r)))
            return NULL;
        list = pair_node(r, NODE_LIST, list, read_binary(r, 0));
        more = accept(r, ",") || (in_table && accept(r, ";"));
    }
    return list && list->op == NODE_LIST && more && !in_table ? NULL : list;
}

/* The text from `from` to here is left to Lua, unless reading it failed. */
static const node *left_to_lua(reader *r, const char *from, const node *read)
{
    token text = {.text = from, .length = (size_t)(r->next.text - from)};
    return read ? named_node(r, NODE_LUA, NULL, text) : NULL;
}

static const node *read_table(reader *r)
{
    const char *from = r->next.text;
    advance(r);
    return left_to_lua(r, from, read_list(r, "}"));
}

/* The arguments of a call, which may be one text or table without brackets. */
static const node *read_arguments(reader *r)
{
    if (accept(r, "("))
        return read_list(r, ")");
    const node *only = r->next.kind == TOKEN_STRING ? read_text(r)
                       : token_is(r->next, "{")     ? read_table(r)
                                                    : NULL;
    return pair_node(r, NODE_LIST, leaf_node(r, NODE_NONE, 0), only);
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
            advance(r);
            token name = r->next;
            if (name.kind != TOKEN_NAME)
                return NULL;
            advance(r);
            of = method                ? left_to_lua(r, from, read_arguments(r))
                 : of->op == NODE_NAME ? r->names->field(r->names->context, r->t, of, name)
                                       : reader_plain_field(r->t, of, name);
        } else if (accept(r, "[")) {
            of = read_binary(r, 0);
            of = accept(r, "]") ? left_to_lua(r, from, of) : NULL;
        } else if (is_argument(r->next)) {
            of = pair_node(r, NODE_CALL, of, read_arguments(r));
        } else {
            return of;
        }
    }
    return NULL;
}

/* The node of a word with a value of its own, if the token is one. */
static const node *word_node(reader *r, token name)
{
    return token_is(name, "true")    ? leaf_node(r, NODE_TRUTH, 1)
           : token_is(name, "false") ? leaf_node(r, NODE_TRUTH, 0)
           : token_is(name, "nil")   ? leaf_node(r, NODE_NONE, 0)
                                     : NULL;
}

static const node *read_name(reader *r)
{
    token name = r->next;
    advance(r);
    const node *word = word_node(r, name);
    if (word || is_reserved(name))
        return word;
    return read_suffixes(r, name.text, r->names->name(r->names->context, r->t, name, r->next));
}

static const operator_form *find_operator(const operator_form *among, token t)
{
    while (among->symbol && !token_is(t, among->symbol))
        among++;
    return among->symbol ? among : NULL;
}

static const node *read_operand(reader *r)
{
    const char *from = r->next.text;
    if (accept(r, "(")) {
        const node *inner = read_binary(r, 0);
        return accept(r, ")") ? read_suffixes(r, from, inner) : NULL;
    }
    if (token_is(r->next, "{"))
        return read_table(r);
    return r->next.kind == TOKEN_NUMBER   ? read_number(r)
           : r->next.kind == TOKEN_STRING ? read_text(r)
           : r->next.kind == TOKEN_NAME   ? read_name(r)
                                          : NULL;
}

static const node *read_unary(reader *r, int least)
{
    const operator_form *op = find_operator(unary, r->next);
    if (!op)
        return read_operand(r);
    if (op->left <= least)
        return NULL;
    advance(r);
    const node *of = read_binary(r, op->right);
    return tree_add(r->t, &(node){.op = op->op, .count = 1, .of = {of}});
}

/* `a or b or c` is made from its end, so that `x and 1 or y and 2 or 3` has a choice in a choice;
 * it means the same. */
static const node *read_binary(reader *r, int least)
{
    if (r->nested == MOST_NESTED)
        return NULL;
    r->nested++;
    const node *left = read_unary(r, least);
    const node *alternatives = leaf_node(r, NODE_NONE, 0);
    while (left) {
        const operator_form *op = find_operator(binary, r->next);
        if (!op || op->left <= least)
            break;
        advance(r);
        if (op->op == NODE_OR)
            alternatives = pair_node(r, NODE_LIST, alternatives, left);
        const node *right = read_binary(r, op->right);
        left = op->op == NODE_OR ? right : pair_node(r, op->op, left, right);
    }
    for (; alternatives && alternatives->op == NODE_LIST; alternatives = alternatives->of[0])
        left = pair_node(r, NODE_OR, alternatives->of[1], left);
    r->nested--;
    return left;
}

const node *reader_read(tree *t, const char *text, const reader_names *names)
{
    reader r = {.t = t, .names = names, .lexer = lexer_make(text, strlen(text))};
    advance(&r);
    const node *root = read_binary(&r, 0);
    return r.next.kind == TOKEN_END ? root : NULL;
}
