/* Evaluates terms for many values at once. */
#include <string.h>

#include "device/arch.h"
#include "script/expression/term.h"

enum { MOST_COLUMNS = 16 };

typedef struct compiler {
    vector_resolve resolve;
    void *context;
    vector_step *steps;
    size_t step_count;
    const node *nodes[VECTOR_MOST_STEPS]; /* the node of each step */
} compiler;

static bool is_understood(int op)
{
    return (op >= NODE_OR && op <= NODE_NEGATE) || (op >= TERM_SELECT && op <= TERM_MAX);
}

static bool compile_leaf(compiler *c, const node *n, vector_step *step)
{
    vector_operand operand = {.is_constant = true, .constant = n->bits};
    bool is_constant = n->op == NODE_WHOLE || n->op == NODE_TRUTH;
    if (!is_constant && ((n->op != NODE_INPUT && n->op != NODE_DEVICE && n->op != NODE_TEXT) ||
                         !c->resolve(c->context, n, &operand)))
        return false;
    *step = (vector_step){.op = operand.is_constant ? NODE_WHOLE : NODE_INPUT,
                          .constant = operand.constant,
                          .input = operand.input};
    return true;
}

/* Adds the missing steps of a node and its operands, and sets *place to the node's step. */
static bool compile(compiler *c, const node *n, uint16_t *place)
{
    for (size_t i = 0; i < c->step_count; i++)
        if (c->nodes[i] == n) {
            *place = (uint16_t)i;
            return true;
        }
    vector_step step = {.op = n->op, .count = (uint16_t)n->count};
    if (n->count == 0 ? !compile_leaf(c, n, &step) : !is_understood(n->op))
        return false;
    for (size_t i = 0; i < n->count; i++)
        if (!compile(c, n->of[i], &step.of[i]))
            return false;
    if (n->count == 1)
        step.of[1] = step.of[0];
    if (c->step_count == VECTOR_MOST_STEPS)
        return false;
    c->nodes[c->step_count] = n;
    *place = (uint16_t)c->step_count;
    c->steps[c->step_count++] = step;
    return true;
}

/* Gives each step a column of values. A column is free again after the last step that reads it. */
static bool choose_columns(compiler *c)
{
    uint16_t last[VECTOR_MOST_STEPS] = {0};
    uint32_t taken = 0;
    for (size_t i = 0; i < c->step_count; i++)
        for (size_t k = 0; k < c->nodes[i]->count; k++)
            last[c->steps[i].of[k]] = (uint16_t)i;
    for (size_t i = 0; i < c->step_count; i++) {
        vector_step *step = &c->steps[i];
        if (c->nodes[i]->count == 0)
            continue;
        while (step->column < MOST_COLUMNS && taken >> step->column & 1)
            step->column++;
        if (step->column == MOST_COLUMNS)
            return false;
        taken |= UINT32_C(1) << step->column;
        for (size_t k = 0; k < c->nodes[i]->count; k++)
            if (last[step->of[k]] == i && c->nodes[step->of[k]]->count > 0)
                taken &= ~(UINT32_C(1) << c->steps[step->of[k]].column);
    }
    return true;
}

size_t vector_compile(const node *term, vector_resolve resolve, void *context, vector_step *steps)
{
    compiler c = {.resolve = resolve, .context = context, .steps = steps};
    uint16_t root;
    return compile(&c, term, &root) && choose_columns(&c) ? c.step_count : 0;
}

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
    if (b == -1) /* the least number has no positive counterpart */
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

static int64_t shift_left(int64_t a, int64_t by)
{
    if (by <= -64 || by >= 64)
        return 0;
    return (int64_t)(by < 0 ? (uint64_t)a >> -by : (uint64_t)a << by);
}

static int64_t log2_down(int64_t a)
{
    int64_t exponent = 0;
    while (a >>= 1)
        exponent++;
    return exponent;
}

static const dtype_info *dtype_of(int64_t text)
{
    dtype type;
    return dtype_find((const char *)(intptr_t)text, &type) ? dtype_get(type) : NULL;
}

/* An operand: one value (`stride` 0) or one value for each evaluation (`stride` 1). */
typedef struct column {
    size_t stride;
    const int64_t *values;
} column;

#define EACH_OF(condition, expression)                                                             \
    for (size_t i = 0; i < count; i++) {                                                           \
        int64_t a = left[i * left_stride], b = right[i * right_stride];                            \
        (void)a, (void)b;                                                                          \
        if (!(condition))                                                                          \
            return false;                                                                          \
        out[i] = (expression);                                                                     \
    }                                                                                              \
    return true
#define EACH(expression) EACH_OF(true, expression)
/* the third and the fourth operand */
#define C of_steps[step->of[2]].values[i * of_steps[step->of[2]].stride]
#define D of_steps[step->of[3]].values[i * of_steps[step->of[3]].stride]

static bool is_within(int64_t n, int64_t most)
{
    return n > 0 && n <= most;
}

/* Applies an operator. Returns false if helpers.c or Lua would raise an error. */
static inline bool apply(const vector_step *step, const column *of_steps, size_t count,
                         int64_t *out)
{
    const int64_t *left = of_steps[step->of[0]].values, *right = of_steps[step->of[1]].values;
    const size_t left_stride = of_steps[step->of[0]].stride;
    const size_t right_stride = of_steps[step->of[1]].stride;
    switch (step->op) {
    case NODE_ADD:
        EACH(wrap_add(a, b));
    case NODE_SUBTRACT:
        EACH(wrap_subtract(a, b));
    case NODE_MULTIPLY:
        EACH(wrap_multiply(a, b));
    case NODE_FLOOR_DIVIDE:
        EACH_OF(b != 0, divide_down(a, b));
    case NODE_REMAINDER:
        EACH_OF(b != 0, remainder_of_down(a, b));
    case NODE_NEGATE:
        EACH(wrap_subtract(0, a));
    case NODE_BIT_OR:
        EACH(a | b);
    case NODE_BIT_XOR:
        EACH(a ^ b);
    case NODE_BIT_AND:
        EACH(a & b);
    case NODE_SHIFT_LEFT:
        EACH(shift_left(a, b));
    case NODE_EQUAL:
    case TERM_SAME:
    case TERM_SAME_TEXT:
        EACH(a == b);
    case NODE_UNEQUAL:
    case TERM_DIFFERENT:
    case TERM_OTHER_TEXT:
        EACH(a != b);
    case NODE_LESS:
        EACH(a < b);
    case NODE_AT_MOST:
        EACH(a <= b);
    case NODE_GREATER:
        EACH(a > b);
    case NODE_AT_LEAST:
        EACH(a >= b);
    case NODE_AND:
        EACH(a & b);
    case NODE_OR:
        EACH(a | b);
    case NODE_NOT:
        EACH(!a);
    case TERM_SELECT:
        EACH(a ? b : C);
    case TERM_GIVEN:
    case TERM_GIVEN_TEXT:
        EACH(1);
    case TERM_SIZEOF:
        EACH_OF(dtype_of(a), (int64_t)dtype_of(a)->size_bytes);
    case TERM_IS_FLOAT:
        EACH_OF(dtype_of(a), dtype_of(a)->is_float);
    case TERM_IS_POW2:
        EACH(a > 0 && (a & (a - 1)) == 0);
    case TERM_CEIL_DIV:
        EACH_OF(a >= 0 && b > 0, a / b + (a % b != 0));
    case TERM_ROUND_UP:
        EACH_OF(b > 0 && a >= 0 && a <= INT64_MAX - b, (a + b - 1) / b * b);
    case TERM_LOG2:
        EACH_OF(a > 0, log2_down(a));
    case TERM_CLUSTER_LOAD:
        EACH_OF(is_within(a, CLUSTER_LOAD_MOST) && is_within(b, CLUSTER_LOAD_MOST_CLUSTERS) &&
                    is_within(C, CLUSTER_LOAD_MOST) && is_within(D, CLUSTER_LOAD_MOST),
                cluster_load(a, b, C, D));
    case TERM_MIN:
        EACH(a < b ? a : b);
    case TERM_MAX:
        EACH(a > b ? a : b);
    default:
        return false;
    }
}

bool vector_evaluate(const vector_step *steps, size_t step_count, const int64_t *inputs,
                     size_t varied, const int64_t *values, size_t count, bool *holds)
{
    int64_t columns[MOST_COLUMNS][VECTOR_MOST_VALUES];
    column of_steps[VECTOR_MOST_STEPS];
    for (size_t s = 0; s < step_count; s++) {
        const vector_step *step = &steps[s];
        if (step->op == NODE_WHOLE) {
            of_steps[s] = (column){0, &step->constant};
        } else if (step->op == NODE_INPUT) {
            bool varies = step->input == varied;
            of_steps[s] = (column){varies, varies ? values : &inputs[step->input]};
        } else {
            size_t stride = of_steps[step->of[0]].stride | of_steps[step->of[1]].stride;
            for (size_t i = 2; i < step->count; i++)
                stride |= of_steps[step->of[i]].stride;
            of_steps[s] = (column){stride, columns[step->column]};
            if (!apply(step, of_steps, stride ? count : 1, columns[step->column]))
                return false;
        }
    }
    const column *last = &of_steps[step_count - 1];
    for (size_t i = 0; i < count; i++)
        holds[i] = last->values[i * last->stride] != 0;
    return true;
}
