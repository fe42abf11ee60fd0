#include "script/expression/scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "script/expression/vector.h"

/* Letters for what operators give, then for what they take: whole numbers, numbers, truths and
 * texts; c are two alike that can be compared, and x any that are alike. */
static const char *const signatures[TERM_OPS] = {
    [NODE_OR] = "ttt",
    [NODE_AND] = "ttt",
    [NODE_LESS] = "tcc",
    [NODE_AT_MOST] = "tcc",
    [NODE_GREATER] = "tcc",
    [NODE_AT_LEAST] = "tcc",
    [NODE_EQUAL] = "tcc",
    [NODE_UNEQUAL] = "tcc",
    [NODE_BIT_OR] = "www",
    [NODE_BIT_XOR] = "www",
    [NODE_BIT_AND] = "www",
    [NODE_SHIFT_LEFT] = "www",
    [NODE_ADD] = "www",
    [NODE_SUBTRACT] = "www",
    [NODE_MULTIPLY] = "www",
    [NODE_FLOOR_DIVIDE] = "www",
    [NODE_REMAINDER] = "www",
    [NODE_NOT] = "tt",
    [NODE_NEGATE] = "ww",
    [TERM_SELECT] = "xtxx",
    [TERM_GIVEN] = "tw",
    [TERM_GIVEN_NUMBER] = "tn",
    [TERM_GIVEN_TEXT] = "ts",
    [TERM_SAME] = "ttt",
    [TERM_DIFFERENT] = "ttt",
    [TERM_SAME_TEXT] = "tss",
    [TERM_OTHER_TEXT] = "tss",
    [TERM_TEXT_BEFORE] = "tss",
    [TERM_TEXT_NOT_BEFORE] = "tss",
    [TERM_CONTAINS] = "tss",
    [TERM_SIZEOF] = "ws",
    [TERM_IS_FLOAT] = "ts",
    [TERM_IS_POW2] = "tw",
    [TERM_CEIL_DIV] = "www",
    [TERM_ROUND_UP] = "www",
    [TERM_LOG2] = "ww",
    [TERM_CLUSTER_LOAD] = "wwwww",
    [TERM_MIN] = "www",
    [TERM_MAX] = "www",
    [TERM_TO_NUMBER] = "nw",
    [TERM_NUMBER_ADD] = "nnn",
    [TERM_NUMBER_SUBTRACT] = "nnn",
    [TERM_NUMBER_MULTIPLY] = "nnn",
    [TERM_NUMBER_DIVIDE] = "nnn",
    [TERM_NUMBER_FLOOR_DIVIDE] = "nnn",
    [TERM_NUMBER_NEGATE] = "nn",
    [TERM_NUMBER_MIN] = "nnn",
    [TERM_NUMBER_MAX] = "nnn",
    [TERM_NUMBER_ABS] = "nn",
    [TERM_FLOOR] = "wn",
    [TERM_CEIL] = "wn",
};

static bool is_of(char letter, term_type type)
{
    static const char letters[] = {
        [TERM_WHOLE] = 'w', [TERM_NUMBER] = 'n', [TERM_TRUTH] = 't', [TERM_TEXT] = 's'};
    return letter == letters[type] || letter == 'x' ||
           (letter == 'c' && (type == TERM_WHOLE || type == TERM_NUMBER));
}

/* Gives the step, whose operands have theirs, its type; false when these are not what its operator
 * takes. */
static bool find_type(const scalar_step *steps, scalar_step *step)
{
    static const char *const leaves[] = {
        [NODE_TRUTH] = "t", [NODE_WHOLE] = "w", [NODE_NUMBER] = "n", [NODE_TEXT] = "s"};
    const char *takes = step->op < 0 || step->op >= TERM_OPS ? NULL
                        : step->op <= NODE_TEXT              ? leaves[step->op]
                                                             : signatures[step->op];
    if (!takes || strlen(takes) != step->count + 1)
        return false;
    const uint32_t last = step->count ? step->of[step->count - 1] : 0;
    for (uint32_t i = 0; i < step->count; i++) {
        const char letter = takes[i + 1];
        const term_type type = steps[step->of[i]].type;
        if (!is_of(letter, type) || (strchr("cx", letter) && type != steps[last].type))
            return false;
    }
    for (int type = TERM_WHOLE; type <= TERM_TEXT; type++)
        if (takes[0] == 'x' ? type == (int)steps[last].type : is_of(takes[0], (term_type)type))
            step->type = (term_type)type;
    return true;
}

/* ---- making ---- */

static bool add_step(scalar_program *p, const scalar_step *step)
{
    return p->step_count < UINT32_MAX && array_add(&p->steps, &p->step_count, step, sizeof *step);
}

static bool fill_leaf(const node *n, scalar_input input, void *context, scalar_step *step)
{
    switch (n->op) {
    case NODE_INPUT:
    case NODE_DEVICE:
        step->op = NODE_INPUT;
        return input(context, n, &step->input);
    case NODE_TEXT:
        step->constant.text = n->name;
        return true;
    case NODE_NUMBER:
        memcpy(&step->constant.number, &n->bits, sizeof n->bits);
        return true;
    default:
        step->constant.whole = n->bits;
        return n->op == NODE_WHOLE || n->op == NODE_TRUTH;
    }
}

bool scalar_add(scalar_program *p, const node *term, scalar_input input, void *context,
                uint32_t *step)
{
    uint64_t place;
    scalar_step made = {.op = term->op, .count = term->count};
    if (keymap_get(&p->places, term->id, &place)) {
        *step = (uint32_t)place;
        return true;
    }
    for (uint32_t i = 0; i < term->count; i++)
        if (!scalar_add(p, term->of[i], input, context, &made.of[i]))
            return false;
    if (term->count == 0 ? !fill_leaf(term, input, context, &made) : !signatures[term->op])
        return false;
    *step = (uint32_t)p->step_count;
    return add_step(p, &made) && keymap_put(&p->places, term->id, *step);
}

void scalar_deinit(scalar_program *p)
{
    free(p->steps);
    keymap_deinit(&p->places);
    *p = (scalar_program){0};
}

/* ---- keeping ---- */

void scalar_put(pack *to, const scalar_program *p)
{
    pack_put_u32(to, (uint32_t)p->step_count);
    for (size_t i = 0; i < p->step_count; i++) {
        const scalar_step *s = &p->steps[i];
        pack_put_u32(to, (uint32_t)s->op);
        pack_put_u32(to, s->count);
        for (uint32_t k = 0; k < s->count; k++)
            pack_put_u32(to, s->of[k]);
        if (s->op == NODE_INPUT)
            pack_put_u32(to, s->input);
        else if (s->op == NODE_TEXT)
            pack_put_string(to, s->constant.text);
        else if (s->op == NODE_NUMBER)
            pack_put_f64(to, s->constant.number);
        else if (s->count == 0)
            pack_put_u64(to, (uint64_t)s->constant.whole);
    }
}

static bool get_leaf(pack *from, const term_type *types, size_t input_count, scalar_step *s)
{
    switch (s->op) {
    case NODE_INPUT:
        s->input = pack_get_u32(from);
        if (s->input < input_count)
            s->type = types[s->input];
        return s->input < input_count;
    case NODE_TEXT:
        s->constant.text = pack_get_string(from);
        break;
    case NODE_NUMBER:
        s->constant.number = pack_get_f64(from);
        break;
    default:
        s->constant.whole = (int64_t)pack_get_u64(from);
        break;
    }
    return find_type(NULL, s);
}

static bool get_step(pack *from, const term_type *types, size_t input_count, scalar_program *p)
{
    scalar_step s = {.op = (int)pack_get_u32(from), .count = pack_get_u32(from)};
    if (s.count > NODE_MOST_OPERANDS)
        return false;
    for (uint32_t k = 0; k < s.count; k++) {
        s.of[k] = pack_get_u32(from);
        if (s.of[k] >= p->step_count)
            return false;
    }
    if (s.count == 0 ? !get_leaf(from, types, input_count, &s) : !find_type(p->steps, &s))
        return false;
    return !from->failed && add_step(p, &s);
}

void scalar_get(pack *from, const term_type *types, size_t input_count, scalar_program *out)
{
    *out = (scalar_program){0};
    const uint32_t count = pack_get_u32(from);
    while (!from->failed && out->step_count < count)
        from->failed = !get_step(from, types, input_count, out);
}

/* ---- evaluation ---- */

/* Whole numbers from here to there are all of a double. */
static const double least_whole = -0x1p63, beyond_whole = 0x1p63;

static scalar whole_of(double v)
{
    scalar out = {.failed = !(v >= least_whole && v < beyond_whole)};
    out.whole = out.failed ? 0 : (int64_t)v;
    return out;
}

static scalar truth_of(bool holds)
{
    return (scalar){.whole = holds};
}

static scalar number_of(double v)
{
    return (scalar){.number = v};
}

static scalar compare_numbers(int op, double a, double b)
{
    return truth_of(op == NODE_LESS       ? a < b
                    : op == NODE_AT_MOST  ? a <= b
                    : op == NODE_GREATER  ? a > b
                    : op == NODE_AT_LEAST ? a >= b
                    : op == NODE_EQUAL    ? a == b
                                          : a != b);
}

/* Operators whose value may be there where an operand failed. */
static bool decide(const scalar_step *s, const scalar *a, const scalar *values, scalar *out)
{
    switch (s->op) {
    case NODE_AND:
        *out = !a->failed && a->whole ? values[s->of[1]] : *a;
        return true;
    case NODE_OR:
        *out = !a->failed && !a->whole ? values[s->of[1]] : *a;
        return true;
    case TERM_SELECT:
        *out = a->failed ? *a : values[s->of[a->whole ? 1 : 2]];
        return true;
    default:
        return false;
    }
}

/* Applies an operator of numbers, or of the bytes of texts. False: the step has neither. */
static bool apply(const scalar_step *s, const scalar *a, const scalar *b, scalar *out)
{
    switch (s->op) {
    case TERM_SAME_TEXT:
        *out = truth_of(strcmp(a->text, b->text) == 0);
        return true;
    case TERM_OTHER_TEXT:
        *out = truth_of(strcmp(a->text, b->text) != 0);
        return true;
    case TERM_TEXT_BEFORE:
        *out = truth_of(strcmp(a->text, b->text) < 0);
        return true;
    case TERM_TEXT_NOT_BEFORE:
        *out = truth_of(strcmp(a->text, b->text) >= 0);
        return true;
    case TERM_CONTAINS:
        *out = truth_of(strstr(a->text, b->text) != NULL);
        return true;
    case TERM_GIVEN_NUMBER:
        *out = truth_of(true);
        return true;
    case TERM_TO_NUMBER:
        *out = number_of((double)a->whole);
        return true;
    case TERM_NUMBER_ADD:
        *out = number_of(a->number + b->number);
        return true;
    case TERM_NUMBER_SUBTRACT:
        *out = number_of(a->number - b->number);
        return true;
    case TERM_NUMBER_MULTIPLY:
        *out = number_of(a->number * b->number);
        return true;
    case TERM_NUMBER_DIVIDE:
        *out = number_of(a->number / b->number);
        return true;
    case TERM_NUMBER_FLOOR_DIVIDE:
        *out = number_of(floor(a->number / b->number));
        return true;
    case TERM_NUMBER_NEGATE:
        *out = number_of(-a->number);
        return true;
    case TERM_NUMBER_MIN:
        *out = number_of(b->number < a->number ? b->number : a->number);
        return true;
    case TERM_NUMBER_MAX:
        *out = number_of(b->number > a->number ? b->number : a->number);
        return true;
    case TERM_NUMBER_ABS:
        *out = number_of(fabs(a->number));
        return true;
    case TERM_FLOOR:
        *out = whole_of(floor(a->number));
        return true;
    case TERM_CEIL:
        *out = whole_of(ceil(a->number));
        return true;
    default:
        return false;
    }
}

/* The address of a text stands for it there, as in dtype's functions. */
static int64_t bits_of(const scalar *v, term_type type)
{
    return type == TERM_TEXT ? (int64_t)(intptr_t)v->text : v->whole;
}

static scalar evaluate(const scalar_program *p, const scalar_step *s, const scalar *inputs,
                       const scalar *values)
{
    scalar out = s->constant;
    if (s->count == 0)
        return s->op == NODE_INPUT ? inputs[s->input] : out;
    const scalar *a = &values[s->of[0]], *b = s->count > 1 ? &values[s->of[1]] : a;
    if (decide(s, a, values, &out))
        return out;
    int64_t of[NODE_MOST_OPERANDS] = {0};
    for (uint32_t i = 0; i < s->count; i++) {
        if (values[s->of[i]].failed)
            return (scalar){.failed = true};
        of[i] = bits_of(&values[s->of[i]], p->steps[s->of[i]].type);
    }
    if (s->op >= NODE_LESS && s->op <= NODE_UNEQUAL && p->steps[s->of[0]].type == TERM_NUMBER)
        return compare_numbers(s->op, a->number, b->number);
    if (apply(s, a, b, &out))
        return out;
    out.failed = !vector_apply(s->op, of, s->count, &out.whole);
    return out;
}

void scalar_evaluate(const scalar_program *p, const scalar *inputs, size_t first, size_t last,
                     scalar *values)
{
    for (size_t i = first; i <= last; i++)
        values[i] = evaluate(p, &p->steps[i], inputs, values);
}
