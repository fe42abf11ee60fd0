#include "script/expression/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIRST_SLOTS = 256 };

/* A hash table: a node is in the first free slot from its hash on. Half of the slots, or more, are
 * free. */
struct tree {
    node **slots;      /* owned nodes; NULL if the slot is free */
    size_t slot_count; /* a power of two */
    uint32_t count;
    bool lacks_memory;
};

tree *tree_new(void)
{
    tree *t = malloc(sizeof *t);
    if (t)
        *t = (tree){.slots = calloc(FIRST_SLOTS, sizeof *t->slots), .slot_count = FIRST_SLOTS};
    if (t && t->slots)
        return t;
    free(t);
    return NULL;
}

void tree_free(tree *t)
{
    for (size_t i = 0; t && i < t->slot_count; i++)
        free(t->slots[i]);
    if (t)
        free(t->slots);
    free(t);
}

uint32_t tree_count(const tree *t)
{
    return t->count;
}

bool tree_lacks_memory(const tree *t)
{
    return t->lacks_memory;
}

static uint64_t hash_of(const node *n)
{
    uint64_t parts[2 + NODE_MOST_OPERANDS] = {2 * (uint64_t)n->op + n->fails, (uint64_t)n->bits};
    for (size_t i = 0; i < n->count; i++)
        parts[2 + i] = n->of[i]->id;
    uint64_t hash = XXH3_64bits(parts, sizeof parts);
    return n->length ? XXH3_64bits_withSeed(n->name, n->length, hash) : hash;
}

static bool is_alike(const node *a, const node *b)
{
    return a->op == b->op && a->fails == b->fails && a->bits == b->bits && a->count == b->count &&
           a->length == b->length && !a->name == !b->name &&
           memcmp(a->of, b->of, a->count * sizeof *a->of) == 0 &&
           (!a->name || memcmp(a->name, b->name, a->length) == 0);
}

static node **find_slot(const tree *t, const node *like)
{
    size_t i = hash_of(like) & (t->slot_count - 1);
    while (t->slots[i] && !is_alike(t->slots[i], like))
        i = (i + 1) & (t->slot_count - 1);
    return &t->slots[i];
}

static bool add_slots(tree *t)
{
    tree larger = *t;
    larger.slot_count *= 2;
    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < t->slot_count; i++)
        if (t->slots[i])
            *find_slot(&larger, t->slots[i]) = t->slots[i];
    free(t->slots);
    *t = larger;
    return true;
}

const node *tree_add(tree *t, const node *like)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < like->count; i++) {
        if (!like->of[i])
            return NULL;
        if (like->of[i]->depth > depth)
            depth = like->of[i]->depth;
    }
    node **slot = find_slot(t, like);
    if (*slot)
        return *slot;
    node *added = NULL;
    if (t->count < UINT32_MAX && (2 * (t->count + 1) <= t->slot_count || add_slots(t)))
        added = malloc(sizeof *added + like->length + 1);
    if (!added) {
        t->lacks_memory = true;
        return NULL;
    }
    *added = *like;
    added->id = t->count++;
    added->depth = depth + 1;
    if (like->name) {
        char *name = (char *)(added + 1);
        memcpy(name, like->name, like->length);
        name[like->length] = '\0';
        added->name = name;
    }
    *find_slot(t, added) = added;
    return added;
}

/* Lua's own limit of nested calls. Each bracket takes at least one call. */
enum { MOST_NESTED = 200 };

/* The state of the reader, which stands before the token `next`. If memory is short or the text is
 * no expression, read_ functions return NULL. */
typedef struct reader {
    tree *t;
    const reader_names *names;
    lexer lexer;
    token next;
    size_t nested;
} reader;

/* An operator takes the operand before it if its `left` exceeds the `right` of the operator before
 * that operand. A unary operator with a too small `left` needs brackets. */
typedef struct operator_form {
    const char *symbol;
    node_op op;
    int left, right;
} operator_form;

/* Source: Lua 5.4 reference manual, section 3.4.8; the levels are those of Lua's parser. */
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

static bool accept(reader *r, const char *symbol)
{
    bool is = token_is(r->next, symbol);
    if (is)
        advance(r);
    return is;
}

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

/* Reads a number. Decimal numbers beyond 64 bits become doubles. Very long numbers, and hexadecimal
 * ones beyond 64 bits, are left to Lua. */
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

/* Returns a NODE_LUA of the text from `from` up to the next token, or NULL if `read` is NULL. */
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

/* Reads the arguments of a call, which may be one text or one table without brackets. */
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

/* Reads the fields, indices and calls after a name or brackets. That text begins at `from`. */
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

/* Reads operators that bind more strongly than `least`. `a or b or c` is built from its end, so
 * that `x and 1 or y and 2 or 3` is a choice within a choice. */
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
