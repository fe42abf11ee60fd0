#include "portfolio/tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_ROWS = 2,  /* of a leaf, where there are more than a few */
    MOST_DEPTH = 8,  /* no more nodes than RECORD_MAX_NODES */
    FEW_ROWS = 10,   /* of which each may have a leaf of its own */
    MOST_BOUNDS = 100, /* that are tried for a number: of more rows only some neighbours are looked between */
    COLUMNS = RECORD_MAX_KEPT + 1
};

/* What a split has to save, in the mean of all problems: leaves that promise less are for readers, not for programs. */
static const double least_mean_gain = 0.0001;

/* A user who is given what is slower than the default is worse off than without any portfolio. */
static const double harm_weight = 3;

/* A growing tree. */
typedef struct grower {
    const portfolio_matrix *m;
    const portfolio_axis *axes;
    size_t axis_count;
    const value *problems;
    double least_gain; /* that a split has to save, in times of a problem */
    bool words_first;  /* problems with different words have nothing in common */
    double lost;       /* by all rows, so far */
    record_node *nodes;
    size_t node_count;
    size_t *rows; /* problems; a node's lie side by side */
    size_t *scratch;
} grower;

/* The default is one more column, behind those of the configurations. */
static size_t default_column(const portfolio_matrix *m)
{
    return m->configuration_count;
}

static double ratio_at(const portfolio_matrix *m, size_t row, size_t column)
{
    return column == default_column(m) ? m->defaults[row]
                                       : m->ratios[row * m->configuration_count + column];
}

/* What a column that is possible on the row loses; a harm weighs more. */
static double cost_of(const portfolio_matrix *m, size_t row, size_t column)
{
    double ratio = ratio_at(m, row, column), fallback = m->defaults[row];
    double harm = fallback > 0 ? ratio / fallback - 1 : 0;
    return ratio - 1 + (harm > RECORD_NOISE ? harm_weight * harm : 0);
}

static const value *value_of(const grower *g, const value *problem, const char *name)
{
    for (size_t a = 0; a < g->axis_count; a++)
        if (strcmp(g->axes[a].name, name) == 0)
            return &problem[a];
    return NULL;
}

/* As record/pick.c asks. */
static bool asks(const grower *g, const record_node *n, const value *problem)
{
    value v = *value_of(g, problem, n->variable);
    if (n->multiple_of)
        return v.kind == VALUE_INTEGER && v.integer % n->multiple_of == 0;
    if (isnan(value_number(n->bound)))
        return value_equal(v, n->bound);
    double by = n->times ? value_number(*value_of(g, problem, n->times)) : 1;
    return value_number(v) * by < value_number(n->bound);
}

/* ---- leaves ---- */

/* What each column loses in the mean of the rows where it is possible. */
static void expect(const grower *g, const size_t *rows, size_t count, double *expected)
{
    for (size_t c = 0; c <= default_column(g->m); c++) {
        double sum = 0;
        size_t seen = 0;
        for (size_t i = 0; i < count; i++)
            if (ratio_at(g->m, rows[i], c) > 0) {
                sum += cost_of(g->m, rows[i], c);
                seen++;
            }
        /* What is possible nowhere here comes last. */
        expected[c] = seen ? sum / (double)seen : PORTFOLIO_UNCOVERED;
    }
}

/* Sets the order of a leaf, and the default's place in it. */
static void order_leaf(const grower *g, const size_t *rows, size_t count, record_node *leaf)
{
    double scores[COLUMNS];
    expect(g, rows, count, scores);
    leaf->has_default = true;
    leaf->default_at = 0;
    for (size_t c = 0; c < default_column(g->m); c++) {
        size_t at = c;
        for (; at > 0 && scores[leaf->order[at - 1]] > scores[c]; at--)
            leaf->order[at] = leaf->order[at - 1];
        leaf->order[at] = (uint8_t)c;
        leaf->default_at += scores[c] <= scores[default_column(g->m)];
    }
}

/* The column that a reader takes at a leaf; SIZE_MAX: nothing is possible. */
static size_t taken_at(const portfolio_matrix *m, size_t row, const record_node *leaf)
{
    for (size_t i = 0; i < m->configuration_count; i++) {
        if (i == leaf->default_at && m->defaults[row] > 0)
            break;
        if (ratio_at(m, row, leaf->order[i]) > 0)
            return leaf->order[i];
    }
    return m->defaults[row] > 0 ? default_column(m) : SIZE_MAX;
}

static double cost_at(const portfolio_matrix *m, size_t row, const record_node *leaf)
{
    size_t column = taken_at(m, row, leaf);
    return column == SIZE_MAX ? PORTFOLIO_UNCOVERED : cost_of(m, row, column);
}

static double leaf_cost(const grower *g, const size_t *rows, size_t count)
{
    record_node leaf;
    double sum = 0;
    order_leaf(g, rows, count, &leaf);
    for (size_t i = 0; i < count; i++)
        sum += cost_at(g->m, rows[i], &leaf);
    return sum;
}

/* ---- splits ---- */

/* Moves the rows of which it is so ahead; how many. */
static size_t divide(const grower *g, const record_node *by, size_t *rows, size_t count)
{
    size_t then = 0, otherwise = 0;
    for (size_t i = 0; i < count; i++) {
        if (asks(g, by, &g->problems[rows[i] * g->axis_count]))
            rows[then++] = rows[i];
        else
            g->scratch[otherwise++] = rows[i];
    }
    memcpy(rows + then, g->scratch, otherwise * sizeof *rows);
    return then;
}

typedef struct best_split {
    record_node by;
    double loss;
} best_split;

/* Of equals the first that is tried stays. */
static void try_split(const grower *g, size_t *rows, size_t count, record_node by, best_split *best)
{
    size_t then = divide(g, &by, rows, count);
    size_t least = g->m->problem_count < FEW_ROWS ? 1 : LEAST_ROWS;
    if (then < least || count - then < least)
        return;
    double loss = leaf_cost(g, rows, then) + leaf_cost(g, rows + then, count - then);
    if (loss < best->loss - 1e-9)
        *best = (best_split){by, loss};
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Between two neighbours among the numbers that the rows have: a whole number where there is one. */
static at_status try_bounds(const grower *g, size_t *rows, size_t count, record_node by,
                            best_split *best, at_error *error)
{
    double *numbers = calloc(count + 1, sizeof *numbers);
    if (!numbers)
        return error_set(error, AT_NO_MEMORY, "no memory for a tree");
    for (size_t i = 0; i < count; i++) {
        const value *problem = &g->problems[rows[i] * g->axis_count];
        numbers[i] = value_number(*value_of(g, problem, by.variable));
        if (by.times)
            numbers[i] *= value_number(*value_of(g, problem, by.times));
    }
    qsort(numbers, count, sizeof *numbers, by_size);
    size_t step = 1 + count / MOST_BOUNDS;
    for (size_t i = step; i < count; i += step) {
        double bound = sqrt(numbers[i - 1] * numbers[i]), whole = ceil(bound);
        if (!(numbers[i - 1] > 0) || numbers[i - 1] == numbers[i])
            continue;
        by.bound = whole <= numbers[i] && whole < 0x1p53
                       ? (value){.kind = VALUE_INTEGER, .integer = (int64_t)whole}
                       : (value){.kind = VALUE_NUMBER, .number = bound};
        try_split(g, rows, count, by, best);
    }
    free(numbers);
    return AT_OK;
}

static bool has_numbers(const portfolio_axis *axis)
{
    for (size_t i = 0; i < axis->value_count; i++)
        if (isnan(value_number(axis->values[i])))
            return false;
    return true;
}

/* Single questions first: of two that save the same the plainer is asked. */
static at_status find_split(const grower *g, size_t *rows, size_t count, best_split *best, at_error *error)
{
    at_status status = AT_OK;
    for (size_t a = 0; a < g->axis_count && !status; a++) {
        const portfolio_axis *axis = &g->axes[a];
        record_node by = {.variable = axis->name};
        for (size_t i = 0; i < axis->divisor_count; i++) {
            by.multiple_of = axis->divisors[i];
            by.bound = (value){.kind = VALUE_INTEGER, .integer = by.multiple_of};
            try_split(g, rows, count, by, best);
        }
        by.multiple_of = 0;
        if (has_numbers(axis)) {
            status = try_bounds(g, rows, count, by, best, error);
            continue;
        }
        for (size_t i = 0; i < axis->value_count; i++) {
            by.bound = axis->values[i];
            try_split(g, rows, count, by, best);
        }
    }
    for (size_t a = 0; a < g->axis_count && !status; a++)
        for (size_t b = a + 1; b < g->axis_count && !status; b++)
            if (has_numbers(&g->axes[a]) && has_numbers(&g->axes[b]))
                status = try_bounds(g, rows, count,
                                    (record_node){.variable = g->axes[a].name, .times = g->axes[b].name},
                                    best, error);
    return status;
}

/* A question that parts rows by their words; none: all have the same. */
static record_node ask_word(const grower *g, const size_t *rows, size_t count)
{
    for (size_t a = 0; a < g->axis_count; a++) {
        value first = g->problems[rows[0] * g->axis_count + a];
        if (!isnan(value_number(first)))
            continue;
        for (size_t i = 1; i < count; i++)
            if (!value_equal(g->problems[rows[i] * g->axis_count + a], first))
                return (record_node){.variable = g->axes[a].name, .bound = first};
    }
    return (record_node){.variable = NULL};
}

/* Children come behind their parents. */
static at_status grow(grower *g, size_t *rows, size_t count, size_t depth, at_error *error)
{
    record_node *n = &g->nodes[g->node_count++];
    double loss = leaf_cost(g, rows, count);
    best_split best = {.loss = loss};
    at_status status = AT_OK;
    *n = (record_node){.variable = NULL};
    if (g->words_first && depth < MOST_DEPTH)
        *n = ask_word(g, rows, count);
    if (!n->variable && depth < MOST_DEPTH)
        status = find_split(g, rows, count, &best, error);
    if (status || (!n->variable && (!best.by.variable || loss - best.loss < g->least_gain))) {
        order_leaf(g, rows, count, n);
        g->lost += loss;
        return status;
    }
    if (!n->variable)
        *n = best.by;
    size_t then = divide(g, n, rows, count);
    n->then = g->node_count;
    status = grow(g, rows, then, depth + 1, error);
    n->otherwise = g->node_count;
    return status ? status : grow(g, rows + then, count - then, depth + 1, error);
}

static bool has_words(const grower *g)
{
    for (size_t a = 0; a < g->axis_count; a++)
        if (!has_numbers(&g->axes[a]))
            return true;
    return false;
}

/* Of all rows. */
static at_status grow_all(grower *g, bool words_first, at_error *error)
{
    g->words_first = words_first;
    g->node_count = 0;
    g->lost = 0;
    for (size_t row = 0; row < g->m->problem_count; row++)
        g->rows[row] = row;
    return grow(g, g->rows, g->m->problem_count, 1, error);
}

at_status portfolio_grow(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                         const value *problems, record_node *nodes, size_t *node_count, at_error *error)
{
    grower g = {.m = m,
                .axes = axes,
                .axis_count = axis_count,
                .problems = problems,
                .least_gain = least_mean_gain * (double)m->problem_count,
                .nodes = nodes,
                .rows = calloc(m->problem_count + 1, sizeof *g.rows),
                .scratch = calloc(m->problem_count + 1, sizeof *g.scratch)};
    at_status status = g.rows && g.scratch ? AT_OK : error_set(error, AT_NO_MEMORY, "no memory for a tree");
    double by_words = INFINITY;
    if (!status && has_words(&g)) {
        status = grow_all(&g, true, error);
        by_words = g.lost;
    }
    if (!status)
        status = grow_all(&g, false, error);
    /* A tree without is smaller. */
    if (!status && by_words < g.lost - g.least_gain)
        status = grow_all(&g, true, error);
    *node_count = g.node_count;
    free(g.rows);
    free(g.scratch);
    return status;
}
