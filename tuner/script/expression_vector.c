#include "script/expression_vector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 16, MOST_NESTED = 64 };

typedef enum code {
    CODE_CONSTANT,
    CODE_INPUT,
    CODE_NEGATE,
    CODE_NOT,
    CODE_ADD,
    CODE_SUBTRACT,
    CODE_MULTIPLY,
    CODE_DIVIDE,
    CODE_REMAINDER,
    CODE_EQUAL,
    CODE_UNEQUAL,
    CODE_LESS,
    CODE_AT_MOST,
    CODE_GREATER,
    CODE_AT_LEAST,
    CODE_AND,
    CODE_OR,
    CODE_SELECT /* of a truth and two wholes: `truth and whole or whole` */
} code;

/* Lua 5.4 reference manual, section 3.4.8; all of these are left associative. */
static const struct binary_operator {
    const char *symbol;
    int precedence;
    code code;
    enum { WHOLES, TRUTHS, ALIKE } operands;
    vector_type result;
} binary_operators[] = {
    {"or", 1, CODE_OR, TRUTHS, VECTOR_TRUTH},       {"and", 2, CODE_AND, TRUTHS, VECTOR_TRUTH},
    {"<", 3, CODE_LESS, WHOLES, VECTOR_TRUTH},      {"<=", 3, CODE_AT_MOST, WHOLES, VECTOR_TRUTH},
    {">", 3, CODE_GREATER, WHOLES, VECTOR_TRUTH},   {">=", 3, CODE_AT_LEAST, WHOLES, VECTOR_TRUTH},
    {"==", 3, CODE_EQUAL, ALIKE, VECTOR_TRUTH},     {"~=", 3, CODE_UNEQUAL, ALIKE, VECTOR_TRUTH},
    {"+", 4, CODE_ADD, WHOLES, VECTOR_WHOLE},       {"-", 4, CODE_SUBTRACT, WHOLES, VECTOR_WHOLE},
    {"*", 5, CODE_MULTIPLY, WHOLES, VECTOR_WHOLE},  {"//", 5, CODE_DIVIDE, WHOLES, VECTOR_WHOLE},
    {"%", 5, CODE_REMAINDER, WHOLES, VECTOR_WHOLE},
};
enum { LOWEST_PRECEDENCE = 1 };

typedef struct compiler {
    lexer lexer;
    token next;
    vector_resolve resolve;
    void *context;
    vector_step *steps;
    size_t step_count, capacity;
    size_t columns; /* in use where the steps so far end */
    size_t nested;
} compiler;

static void advance(compiler *c)
{
    c->next = lexer_next(&c->lexer);
}

static bool accept(compiler *c, const char *symbol)
{
    bool is = token_is(c->next, symbol);
    if (is)
        advance(c);
    return is;
}

/* Appends a step that replaces the last `operands` columns by one. */
static bool emit(compiler *c, vector_step step, size_t operands)
{
    c->columns += 1 - operands;
    if (c->step_count == c->capacity || c->columns > MOST_COLUMNS)
        return false;
    c->steps[c->step_count++] = step;
    return true;
}

static bool compile_number(compiler *c, vector_type *type)
{
    char digits[24];
    if (c->next.length >= sizeof digits)
        return false;
    memcpy(digits, c->next.text, c->next.length);
    digits[c->next.length] = '\0';
    /* Beyond 64 bits Lua makes it a float. */
    errno = 0;
    char *end;
    int64_t number = strtoll(digits, &end, 10);
    if (errno || *end)
        return false;
    advance(c);
    *type = VECTOR_WHOLE;
    return emit(c, (vector_step){.code = CODE_CONSTANT, .constant = number}, 0);
}

/* A name or a string. */
static bool compile_name(compiler *c, vector_type *type)
{
    token name = c->next, field = {.kind = TOKEN_END};
    advance(c);
    if (token_is(name, "true") || token_is(name, "false")) {
        *type = VECTOR_TRUTH;
        return emit(c, (vector_step){.code = CODE_CONSTANT, .constant = token_is(name, "true")}, 0);
    }
    if (name.kind == TOKEN_NAME && accept(c, ".")) {
        field = c->next;
        advance(c);
    }
    vector_operand operand = {0};
    if (!c->resolve(c->context, name, field, &operand))
        return false;
    *type = operand.type;
    vector_step step = {.code = operand.is_constant ? CODE_CONSTANT : CODE_INPUT,
                        .constant = operand.constant,
                        .input = operand.input};
    return emit(c, step, 0);
}

static bool compile_binary(compiler *c, int precedence, vector_type *type);

static bool compile_operand(compiler *c, vector_type *type)
{
    if (accept(c, "("))
        return compile_binary(c, LOWEST_PRECEDENCE, type) && accept(c, ")");
    if (accept(c, "-"))
        return compile_operand(c, type) && *type == VECTOR_WHOLE &&
               emit(c, (vector_step){.code = CODE_NEGATE}, 1);
    if (accept(c, "not"))
        return compile_operand(c, type) && *type == VECTOR_TRUTH &&
               emit(c, (vector_step){.code = CODE_NOT}, 1);
    if (c->next.kind == TOKEN_NUMBER)
        return compile_number(c, type);
    return (c->next.kind == TOKEN_NAME || c->next.kind == TOKEN_STRING) && compile_name(c, type);
}

static const struct binary_operator *find_operator(token t)
{
    for (size_t i = 0; i < sizeof binary_operators / sizeof *binary_operators; i++)
        if (token_is(t, binary_operators[i].symbol))
            return &binary_operators[i];
    return NULL;
}

static bool takes(const struct binary_operator *op, vector_type left, vector_type right)
{
    if (left != right)
        return false;
    return op->operands == ALIKE || left == (op->operands == TRUTHS ? VECTOR_TRUTH : VECTOR_WHOLE);
}

/* Operators that bind at least as strongly as `precedence`, and their operands. */
static bool compile_binary(compiler *c, int precedence, vector_type *type)
{
    if (c->nested == MOST_NESTED)
        return false;
    c->nested++;
    if (!compile_operand(c, type))
        return false;
    for (;;) {
        const struct binary_operator *op = find_operator(c->next);
        if (!op || op->precedence < precedence)
            break;
        advance(c);
        vector_type right;
        if (!compile_binary(c, op->precedence + 1, &right))
            return false;
        if (op->code == CODE_AND && *type == VECTOR_TRUTH && right == VECTOR_WHOLE) {
            *type = VECTOR_EITHER; /* both stay where they are */
            continue;
        }
        if (op->code == CODE_OR && *type == VECTOR_EITHER && right == VECTOR_WHOLE) {
            if (!emit(c, (vector_step){.code = CODE_SELECT}, 3))
                return false;
            *type = VECTOR_WHOLE;
            continue;
        }
        if (!takes(op, *type, right) || !emit(c, (vector_step){.code = op->code}, 2))
            return false;
        *type = op->result;
    }
    c->nested--;
    return true;
}

size_t vector_compile(const char *text, vector_resolve resolve, void *context, vector_step *steps,
                      size_t capacity)
{
    compiler c = {.lexer = lexer_make(text, strlen(text)),
                  .resolve = resolve,
                  .context = context,
                  .steps = steps,
                  .capacity = capacity};
    advance(&c);
    vector_type type;
    if (!compile_binary(&c, LOWEST_PRECEDENCE, &type) || type != VECTOR_TRUTH ||
        c.next.kind != TOKEN_END)
        return 0;
    return c.step_count;
}

/* An operand: one value, or as many as are evaluated. */
typedef struct column {
    size_t stride; /* 0 or 1 */
    int64_t values[VECTOR_MOST_VALUES];
} column;

static int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrap_subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t wrap_multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t divide_down(int64_t a, int64_t b)
{
    if (b == -1) /* the least number has no counterpart */
        return wrap_subtract(0, a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t remainder_of_down(int64_t a, int64_t b)
{
    if (b == -1)
        return 0;
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static size_t length(const column *c, size_t count)
{
    return c->stride ? count : 1;
}

static bool has_zero(const column *c, size_t count)
{
    for (size_t i = 0; i < length(c, count); i++)
        if (c->values[i] == 0)
            return true;
    return false;
}

/* From the last value to the first, because the result replaces `left`, whose first value may stand
 * for all. */
#define EACH(expression)                                                                           \
    for (size_t i = count; i-- > 0;) {                                                             \
        int64_t a = left->values[i * left_stride], b = right->values[i * right->stride];           \
        left->values[i] = (expression);                                                            \
    }                                                                                              \
    break

/* left = left OPERATOR right. */
static void apply(code operation, column *left, const column *right, size_t count)
{
    size_t left_stride = left->stride;
    left->stride |= right->stride;
    count = length(left, count);
    switch (operation) {
    case CODE_ADD:
        EACH(wrap_add(a, b));
    case CODE_SUBTRACT:
        EACH(wrap_subtract(a, b));
    case CODE_MULTIPLY:
        EACH(wrap_multiply(a, b));
    case CODE_DIVIDE:
        EACH(divide_down(a, b));
    case CODE_REMAINDER:
        EACH(remainder_of_down(a, b));
    case CODE_EQUAL:
        EACH(a == b);
    case CODE_UNEQUAL:
        EACH(a != b);
    case CODE_LESS:
        EACH(a < b);
    case CODE_AT_MOST:
        EACH(a <= b);
    case CODE_GREATER:
        EACH(a > b);
    case CODE_AT_LEAST:
        EACH(a >= b);
    case CODE_AND:
        EACH(a & b);
    case CODE_OR:
        EACH(a | b);
    case CODE_CONSTANT:
    case CODE_INPUT:
    case CODE_NEGATE:
    case CODE_NOT:
    case CODE_SELECT:
        break;
    }
}

/* truth = truth and yes or no; whole numbers are never false. */
static void choose(column *truth, const column *yes, const column *no, size_t count)
{
    size_t truth_stride = truth->stride;
    truth->stride |= yes->stride | no->stride;
    for (size_t i = length(truth, count); i-- > 0;)
        truth->values[i] = truth->values[i * truth_stride] ? yes->values[i * yes->stride]
                                                           : no->values[i * no->stride];
}

bool vector_evaluate(const vector_step *steps, size_t step_count, const int64_t *inputs,
                     size_t varied, const int64_t *values, size_t count, bool *holds)
{
    column columns[MOST_COLUMNS];
    size_t depth = 0;
    for (const vector_step *step = steps; step < steps + step_count; step++) {
        column *top = &columns[depth ? depth - 1 : 0];
        switch (step->code) {
        case CODE_CONSTANT:
            columns[depth].stride = 0;
            columns[depth++].values[0] = step->constant;
            break;
        case CODE_INPUT:
            columns[depth].stride = step->input == varied;
            memcpy(columns[depth].values, step->input == varied ? values : inputs + step->input,
                   length(&columns[depth], count) * sizeof *values);
            depth++;
            break;
        case CODE_NEGATE:
            for (size_t i = 0; i < length(top, count); i++)
                top->values[i] = wrap_subtract(0, top->values[i]);
            break;
        case CODE_NOT:
            for (size_t i = 0; i < length(top, count); i++)
                top->values[i] = !top->values[i];
            break;
        case CODE_SELECT:
            choose(top - 2, top - 1, top, count);
            depth -= 2;
            break;
        case CODE_DIVIDE:
        case CODE_REMAINDER:
            if (has_zero(top, count))
                return false;
            /* fall through */
        default:
            apply((code)step->code, top - 1, top, count);
            depth--;
        }
    }
    for (size_t i = 0; i < count; i++)
        holds[i] = columns[0].values[i * columns[0].stride] != 0;
    return true;
}
