#include "script/expression/term.h"

#include <stdlib.h>
#include <string.h>

#include "device/field.h"

enum { MOST_DEPTH = 1000, MOST_ARGUMENTS = 8 };

const term_form term_forms[TERM_OPS] = {
    [NODE_OR] = {"(# || #)", false},
    [NODE_AND] = {"(# && #)", false},
    [NODE_LESS] = {"(# < #)", false},
    [NODE_AT_MOST] = {"(# <= #)", false},
    [NODE_GREATER] = {"(# > #)", false},
    [NODE_AT_LEAST] = {"(# >= #)", false},
    [NODE_EQUAL] = {"(# == #)", false},
    [NODE_UNEQUAL] = {"(# != #)", false},
    [NODE_BIT_OR] = {"(# | #)", false},
    [NODE_BIT_XOR] = {"(# ^ #)", false},
    [NODE_BIT_AND] = {"(# & #)", false},
    [NODE_SHIFT_LEFT] = {"autotune_shift(#, #)", true},
    [NODE_ADD] = {"autotune_add(#, #)", true},
    [NODE_SUBTRACT] = {"autotune_subtract(#, #)", true},
    [NODE_MULTIPLY] = {"autotune_multiply(#, #)", true},
    [NODE_FLOOR_DIVIDE] = {"autotune_divide(#, #, failed)", true},
    [NODE_REMAINDER] = {"autotune_remainder(#, #, failed)", true},
    [NODE_NOT] = {"!(#)", false},
    [NODE_NEGATE] = {"autotune_subtract(0, #)", true},
    [TERM_SELECT] = {"(# ? # : #)", false},
    [TERM_GIVEN] = {"autotune_given(#)", false},
    [TERM_GIVEN_NUMBER] = {"autotune_given_number(#)", false},
    [TERM_GIVEN_TEXT] = {"autotune_given_text(#)", false},
    [TERM_SAME] = {"((#) == (#))", false},
    [TERM_DIFFERENT] = {"((#) != (#))", false},
    [TERM_SAME_TEXT] = {"autotune_same_text(#, #)", false},
    [TERM_OTHER_TEXT] = {"!autotune_same_text(#, #)", false},
    [TERM_TEXT_BEFORE] = {"autotune_text_before(#, #)", false},
    [TERM_TEXT_NOT_BEFORE] = {"!autotune_text_before(#, #)", false},
    [TERM_CONTAINS] = {"autotune_contains(#, #)", false},
    [TERM_SIZEOF] = {"autotune_sizeof(#, failed)", false},
    [TERM_IS_FLOAT] = {"autotune_is_float(#, failed)", false},
    [TERM_IS_POW2] = {"autotune_is_pow2(#)", false},
    [TERM_CEIL_DIV] = {"autotune_ceil_div(#, #, failed)", true},
    [TERM_ROUND_UP] = {"autotune_round_up(#, #, failed)", true},
    [TERM_LOG2] = {"autotune_log2(#, failed)", true},
    [TERM_CLUSTER_LOAD] = {"autotune_cluster_load(#, #, #, #, failed)", true},
    [TERM_MIN] = {"autotune_min(#, #)", true},
    [TERM_MAX] = {"autotune_max(#, #)", true},
    [TERM_TO_NUMBER] = {"(double)#", false},
    [TERM_NUMBER_ADD] = {"(# + #)", false},
    [TERM_NUMBER_SUBTRACT] = {"(# - #)", false},
    [TERM_NUMBER_MULTIPLY] = {"(# * #)", false},
    [TERM_NUMBER_DIVIDE] = {"(# / #)", false},
    [TERM_NUMBER_FLOOR_DIVIDE] = {"autotune_floor(# / #)", false},
    [TERM_NUMBER_NEGATE] = {"(-#)", false},
    [TERM_NUMBER_MIN] = {"autotune_min_number(#, #)", false},
    [TERM_NUMBER_MAX] = {"autotune_max_number(#, #)", false},
    [TERM_NUMBER_ABS] = {"autotune_max_number(#, -#)", false},
    [TERM_FLOOR] = {"(int64_t)autotune_floor(#)", false},
    [TERM_CEIL] = {"(-(int64_t)autotune_floor(-#))", false},
};

term_type term_type_of(value_kind kind)
{
    static const term_type types[] = {[VALUE_INTEGER] = TERM_WHOLE,
                                      [VALUE_NUMBER] = TERM_NUMBER,
                                      [VALUE_BOOLEAN] = TERM_TRUTH,
                                      [VALUE_STRING] = TERM_TEXT};
    return types[kind];
}

/* A term that is being made. If `when` is not NULL, the expression is `value` where `when` holds,
 * and Lua's false elsewhere, as in `tile > 32 and 2`. `value` is NULL if the expression has no
 * term. */
typedef struct term {
    bool made;
    term_type type;
    const node *value, *when;
} term;

typedef struct maker {
    tree *t;
    term_leaf leaf;
    void *context;
    term *terms; /* terms of the expression's nodes, by id */
} maker;

static term make(maker *m, const node *n);

static const term no_term;

static const node *add(maker *m, node n)
{
    const char *form = term_forms[n.op].text;
    n.fails = n.op == NODE_DERIVED || (form && strstr(form, "failed"));
    for (size_t i = 0; i < n.count; i++)
        n.fails = n.fails || (n.of[i] && n.of[i]->fails);
    return tree_add(m->t, &n);
}

static const node *one(maker *m, int op, const node *a)
{
    return add(m, (node){.op = op, .count = 1, .of = {a}});
}

static const node *two(maker *m, int op, const node *a, const node *b)
{
    return add(m, (node){.op = op, .count = 2, .of = {a, b}});
}

static const node *select_of(maker *m, const node *when, const node *a, const node *b)
{
    return add(m, (node){.op = TERM_SELECT, .count = 3, .of = {when, a, b}});
}

static const node *truth(maker *m, bool is)
{
    return add(m, (node){.op = NODE_TRUTH, .bits = is});
}

static term give(term_type type, const node *n)
{
    return (term){.type = type, .value = n};
}

static bool is_value(const term *a, term_type type)
{
    return a->value && a->type == type && !a->when;
}

static bool is_numeric(const term *a)
{
    return is_value(a, TERM_WHOLE) || is_value(a, TERM_NUMBER);
}

static const node *as_number(maker *m, const term *a)
{
    return a->type == TERM_NUMBER ? a->value : one(m, TERM_TO_NUMBER, a->value);
}

/* Functions of values of one type. If `count` is 0, a function takes any number of arguments: its
 * operator combines the result so far with the next argument. For NODE_NONE the argument is the
 * result. */
static const struct function {
    const char *name;
    bool in_math; /* the function is also math.NAME */
    term_type takes;
    size_t count;
    int op;
    term_type gives;
} functions[] = {
    {"min", true, TERM_WHOLE, 0, TERM_MIN, TERM_WHOLE},
    {"min", true, TERM_NUMBER, 0, TERM_NUMBER_MIN, TERM_NUMBER},
    {"max", true, TERM_WHOLE, 0, TERM_MAX, TERM_WHOLE},
    {"max", true, TERM_NUMBER, 0, TERM_NUMBER_MAX, TERM_NUMBER},
    {"floor", true, TERM_WHOLE, 1, NODE_NONE, TERM_WHOLE},
    {"floor", true, TERM_NUMBER, 1, TERM_FLOOR, TERM_WHOLE},
    {"ceil", true, TERM_WHOLE, 1, NODE_NONE, TERM_WHOLE},
    {"ceil", true, TERM_NUMBER, 1, TERM_CEIL, TERM_WHOLE},
    {"abs", true, TERM_NUMBER, 1, TERM_NUMBER_ABS, TERM_NUMBER},
    {"ceil_div", false, TERM_WHOLE, 2, TERM_CEIL_DIV, TERM_WHOLE},
    {"round_up", false, TERM_WHOLE, 2, TERM_ROUND_UP, TERM_WHOLE},
    {"log2", false, TERM_WHOLE, 1, TERM_LOG2, TERM_WHOLE},
    {"cluster_load", false, TERM_WHOLE, 4, TERM_CLUSTER_LOAD, TERM_WHOLE},
    {"is_pow2", false, TERM_WHOLE, 1, TERM_IS_POW2, TERM_TRUTH},
    {"sizeof", false, TERM_TEXT, 1, TERM_SIZEOF, TERM_WHOLE},
    {"is_float", false, TERM_TEXT, 1, TERM_IS_FLOAT, TERM_TRUTH},
};

static term apply_function(maker *m, const struct function *f, const term *arguments, size_t count)
{
    node n = {.op = f->op, .count = (uint32_t)count};
    for (size_t i = 0; i < count && i < NODE_MOST_OPERANDS; i++)
        n.of[i] = arguments[i].value;
    if (f->count > 0)
        return give(f->gives, f->op == NODE_NONE ? n.of[0] : add(m, n));
    const node *so_far = arguments[0].value;
    for (size_t i = 1; i < count; i++)
        so_far = two(m, f->op, so_far, arguments[i].value);
    return give(f->gives, so_far);
}

/* Makes the term of string.find(text, "plain"), used as a truth. */
static term find_text(maker *m, const term *arguments, size_t count)
{
    const node *plain = count == 2 ? arguments[1].value : NULL;
    if (!plain || plain->op != NODE_TEXT || !is_value(&arguments[0], TERM_TEXT))
        return no_term;
    for (const char *c = plain->name; *c; c++)
        if (strchr("^$*+?.([%-\\\"", *c) || *c < ' ' || *c == '\x7F')
            return no_term;
    return give(TERM_TRUTH, two(m, TERM_CONTAINS, arguments[0].value, plain));
}

static bool is_name(const node *n, int op, const char *name)
{
    return n->op == op && strcmp(n->name, name) == 0;
}

static term make_call(maker *m, const node *call)
{
    term arguments[MOST_ARGUMENTS];
    const node *function = call->of[0], *list = call->of[1];
    size_t count = 0;
    for (const node *l = list; l->op == NODE_LIST; l = l->of[0])
        count++;
    if (count == 0 || count > MOST_ARGUMENTS)
        return no_term;
    for (size_t i = count; i-- > 0; list = list->of[0]) {
        arguments[i] = make(m, list->of[1]);
        if (!arguments[i].value || arguments[i].when)
            return no_term;
    }
    bool in_math = function->op == NODE_FIELD && is_name(function->of[0], NODE_NAME, "math");
    if (is_name(function, NODE_FIELD, "find") && is_name(function->of[0], NODE_NAME, "string"))
        return find_text(m, arguments, count);
    if (!in_math && function->op != NODE_NAME)
        return no_term;
    if (strcmp(function->name, "abs") == 0 && count == 1 && arguments[0].type == TERM_WHOLE) {
        const node *of = arguments[0].value;
        return give(TERM_WHOLE, two(m, TERM_MAX, of, one(m, NODE_NEGATE, of)));
    }
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        bool takes = strcmp(functions[f].name, function->name) == 0 &&
                     (functions[f].in_math || !in_math) &&
                     (functions[f].count == 0 || functions[f].count == count);
        for (size_t i = 0; i < count; i++)
            takes = takes && arguments[i].type == functions[f].takes;
        if (takes)
            return apply_function(m, &functions[f], arguments, count);
    }
    return no_term;
}

static term apply_or(maker *m, const term *a, const term *b)
{
    if (is_value(a, TERM_TRUTH) && is_value(b, TERM_TRUTH))
        return give(TERM_TRUTH, two(m, NODE_OR, a->value, b->value));
    if (!a->when || a->type != b->type)
        return no_term;
    term out = give(a->type, select_of(m, a->when, a->value, b->value));
    if (b->when) {
        out.when = two(m, NODE_OR, a->when, b->when);
        out.value = out.when ? out.value : NULL;
    }
    return out;
}

/* Returns a truth for the condition `a`, which has another type: true where `a` has a value other
 * than false. Evaluating the truth may fail. */
static const node *presence(maker *m, const term *a)
{
    static const int given[] = {[TERM_WHOLE] = TERM_GIVEN,
                                [TERM_NUMBER] = TERM_GIVEN_NUMBER,
                                [TERM_TEXT] = TERM_GIVEN_TEXT};
    if (!a->value->fails)
        return a->when ? a->when : truth(m, true);
    const node *is = one(m, given[a->type], a->value);
    return a->when ? two(m, NODE_AND, a->when, is) : is;
}

static term apply_and(maker *m, const term *a, const term *b)
{
    if (!a->when && a->type != TERM_TRUTH)
        return no_term;
    const node *condition = a->when ? presence(m, a) : a->value;
    if (is_value(b, TERM_TRUTH))
        return give(TERM_TRUTH, two(m, NODE_AND, condition, b->value));
    term out = *b;
    out.when = b->when ? two(m, NODE_AND, condition, b->when) : condition;
    out.value = out.when ? out.value : NULL;
    return out;
}

static term apply_order(maker *m, int op, const term *a, const term *b)
{
    if (is_numeric(a) && is_numeric(b)) {
        bool mixed = a->type != b->type;
        return give(TERM_TRUTH, two(m, op, mixed ? as_number(m, a) : a->value,
                                    mixed ? as_number(m, b) : b->value));
    }
    if (!is_value(a, TERM_TEXT) || !is_value(b, TERM_TEXT))
        return no_term;
    /* a <= b means not (b < a). */
    bool swapped = op == NODE_GREATER || op == NODE_AT_MOST;
    bool negated = op == NODE_AT_MOST || op == NODE_AT_LEAST;
    const node *x = swapped ? b->value : a->value, *y = swapped ? a->value : b->value;
    return give(TERM_TRUTH, two(m, negated ? TERM_TEXT_NOT_BEFORE : TERM_TEXT_BEFORE, x, y));
}

static term apply_same(maker *m, int op, const term *a, const term *b)
{
    bool same = op == NODE_EQUAL;
    if (a->when || b->when)
        return no_term;
    if (is_numeric(a) && is_numeric(b))
        return apply_order(m, op, a, b);
    if (a->type != b->type)
        return a->value->fails || b->value->fails ? no_term : give(TERM_TRUTH, truth(m, !same));
    if (a->type == TERM_TEXT)
        op = same ? TERM_SAME_TEXT : TERM_OTHER_TEXT;
    else
        op = same ? TERM_SAME : TERM_DIFFERENT;
    return give(TERM_TRUTH, two(m, op, a->value, b->value));
}

static term apply_arithmetic(maker *m, int op, const term *a, const term *b)
{
    static const int of_numbers[] = {[NODE_ADD] = TERM_NUMBER_ADD,
                                     [NODE_SUBTRACT] = TERM_NUMBER_SUBTRACT,
                                     [NODE_MULTIPLY] = TERM_NUMBER_MULTIPLY,
                                     [NODE_DIVIDE] = TERM_NUMBER_DIVIDE,
                                     [NODE_FLOOR_DIVIDE] = TERM_NUMBER_FLOOR_DIVIDE,
                                     [NODE_POWER] = 0};
    if (!is_numeric(a) || !is_numeric(b))
        return no_term;
    bool whole = a->type == TERM_WHOLE && b->type == TERM_WHOLE;
    if (whole && op == NODE_SHIFT_RIGHT)
        return give(TERM_WHOLE, two(m, NODE_SHIFT_LEFT, a->value, one(m, NODE_NEGATE, b->value)));
    if (whole && op != NODE_DIVIDE && op != NODE_POWER)
        return give(TERM_WHOLE, two(m, op, a->value, b->value));
    if (!of_numbers[op])
        return no_term;
    return give(TERM_NUMBER, two(m, of_numbers[op], as_number(m, a), as_number(m, b)));
}

static term make_binary(maker *m, const node *n)
{
    term a = make(m, n->of[0]), b = a.value ? make(m, n->of[1]) : no_term;
    if (!b.value)
        return no_term;
    if (n->op == NODE_OR)
        return apply_or(m, &a, &b);
    if (n->op == NODE_AND)
        return apply_and(m, &a, &b);
    if (n->op == NODE_EQUAL || n->op == NODE_UNEQUAL)
        return apply_same(m, n->op, &a, &b);
    if (n->op >= NODE_LESS && n->op <= NODE_AT_LEAST)
        return apply_order(m, n->op, &a, &b);
    return apply_arithmetic(m, n->op, &a, &b);
}

static term make_unary(maker *m, const node *n)
{
    term a = make(m, n->of[0]);
    if (!a.value)
        return no_term;
    if (n->op == NODE_NOT) /* In a condition, only nil and false count as false. */
        return give(TERM_TRUTH,
                    one(m, NODE_NOT, a.when || a.type != TERM_TRUTH ? presence(m, &a) : a.value));
    if (!is_numeric(&a))
        return no_term;
    return give(a.type, one(m, a.type == TERM_WHOLE ? NODE_NEGATE : TERM_NUMBER_NEGATE, a.value));
}

static term make_device(const node *n)
{
    const device_field *field = device_field_find(n->name);
    return field ? give(term_type_of(device_field_value_kind(field)), n) : no_term;
}

/* Makes an input, or a derived value that stays a leaf and may fail. */
static term make_leaf(maker *m, const node *n)
{
    term_type type;
    bool has = m->leaf(m->context, n->name, &type, NULL, 0);
    if (n->op == NODE_DERIVED && !has)
        return make(m, n->of[0]);
    if (!has)
        return no_term;
    return give(type,
                n->op == NODE_INPUT
                    ? n
                    : add(m, (node){.op = NODE_DERIVED, .name = n->name, .length = n->length}));
}

static term make_fresh(maker *m, const node *n)
{
    switch (n->op) {
    case NODE_WHOLE:
        return give(TERM_WHOLE, n);
    case NODE_NUMBER:
        return give(TERM_NUMBER, n);
    case NODE_TRUTH:
        return give(TERM_TRUTH, n);
    case NODE_TEXT:
        return give(TERM_TEXT, n);
    case NODE_DEVICE:
        return make_device(n);
    case NODE_INPUT:
    case NODE_DERIVED:
        return make_leaf(m, n);
    case NODE_CALL:
        return make_call(m, n);
    case NODE_NOT:
    case NODE_NEGATE:
        return make_unary(m, n);
    default:
        return n->op >= NODE_OR && n->op <= NODE_POWER && n->op != NODE_JOIN ? make_binary(m, n)
                                                                             : no_term;
    }
}

static term make(maker *m, const node *n)
{
    term *known = &m->terms[n->id];
    if (!known->made) {
        *known = make_fresh(m, n);
        known->made = true;
    }
    return *known;
}

at_status term_make(tree *t, const node *expression, term_leaf leaf, void *context, term_type *type,
                    const node **out, at_error *error)
{
    *out = NULL;
    if (expression->depth > MOST_DEPTH)
        return AT_OK;
    maker m = {t, leaf, context, calloc(tree_count(t), sizeof *m.terms)};
    if (m.terms) {
        term made = make(&m, expression);
        *type = made.type;
        if (made.value && !made.when && made.value->depth <= MOST_DEPTH)
            *out = made.value;
    }
    bool lacks = !m.terms || tree_lacks_memory(t);
    free(m.terms);
    return lacks ? error_no_memory(error) : AT_OK;
}
