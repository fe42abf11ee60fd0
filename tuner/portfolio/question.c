#include "portfolio/tree.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/stats.h"

bool question_answer(const question *q, const value *problem)
{
    value v = problem[q->axis];
    if (q->multiple_of)
        return v.kind == VALUE_INTEGER && v.integer % q->multiple_of == 0;
    if (!value_is_number(q->bound))
        return value_equal(v, q->bound);
    double by = q->times != QUESTION_ALONE ? value_number(problem[q->times]) : 1;
    return value_number(v) * by < value_number(q->bound);
}

record_node question_node(const question *q, const portfolio_axis *axes)
{
    return (record_node){.variable = axes[q->axis].name,
                         .feature = axes[q->axis].feature,
                         .is_of_one = axes[q->axis].is_of_one,
                         .of = axes[q->axis].of,
                         .times = q->times != QUESTION_ALONE ? axes[q->times].name : NULL,
                         .multiple_of = q->multiple_of,
                         .bound = q->bound};
}

static bool has_numbers(const portfolio_axis *axis)
{
    for (size_t i = 0; i < axis->value_count; i++)
        if (!value_is_number(axis->values[i]))
            return false;
    return true;
}

/* Returns whether the axis may be a factor. A feature may not: the script itself names useful
 * products of features. */
static bool may_be_factor(const portfolio_axis *axis)
{
    return !axis->feature && has_numbers(axis);
}

/* The arguments of question_for_each(). */
typedef struct asking {
    const portfolio_axis *axes;
    size_t axis_count;
    const value *problems;
    const size_t *rows;
    size_t count, most_bounds;
    void (*each)(void *context, const question *q);
    void *context;
    double *numbers; /* room for a number for each row */
} asking;

/* Calls a->each with bounds between neighbouring values of the rows, whole numbers if possible. */
static void each_bound(const asking *a, question q)
{
    for (size_t i = 0; i < a->count; i++) {
        const value *problem = &a->problems[a->rows[i] * a->axis_count];
        a->numbers[i] = value_number(problem[q.axis]);
        if (q.times != QUESTION_ALONE)
            a->numbers[i] *= value_number(problem[q.times]);
    }
    stats_sort(a->numbers, a->count);
    size_t step = 1 + a->count / a->most_bounds;
    for (size_t i = step; i < a->count; i += step) {
        double below = a->numbers[i - 1], above = a->numbers[i];
        double bound = below > 0 ? sqrt(below * above) : (below + above) / 2, whole = ceil(bound);
        if (below == above || bound <= below)
            continue;
        q.bound = whole <= above && whole < 0x1p53
                      ? (value){.kind = VALUE_INTEGER, .integer = (int64_t)whole}
                      : (value){.kind = VALUE_NUMBER, .number = bound};
        a->each(a->context, &q);
    }
}

/* Calls a->each with all questions about an axis. */
static void each_question_of_axis(const asking *a, size_t place)
{
    const portfolio_axis *axis = &a->axes[place];
    question q = {.axis = place, .times = QUESTION_ALONE};
    for (size_t i = 0; i < axis->divisor_count; i++) {
        q.multiple_of = axis->divisors[i];
        q.bound = (value){.kind = VALUE_INTEGER, .integer = q.multiple_of};
        a->each(a->context, &q);
    }
    q.multiple_of = 0;
    if (has_numbers(axis)) {
        each_bound(a, q);
        return;
    }
    for (size_t i = 0; i < axis->value_count; i++) {
        q.bound = axis->values[i];
        a->each(a->context, &q);
    }
}

void question_for_each(const portfolio_axis *axes, size_t axis_count, const value *problems,
                       const size_t *rows, size_t count, size_t most_bounds,
                       void (*each)(void *context, const question *q), void *context)
{
    asking a = {axes, axis_count, problems,
                rows, count,      most_bounds,
                each, context,    memory_new(count, sizeof(double))};
    for (size_t i = 0; i < axis_count; i++)
        each_question_of_axis(&a, i);
    for (size_t i = 0; i < axis_count; i++)
        for (size_t j = i + 1; j < axis_count; j++)
            if (may_be_factor(&axes[i]) && may_be_factor(&axes[j]))
                each_bound(&a, (question){.axis = i, .times = j});
    free(a.numbers);
}
