#include "portfolio/tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- leaves ---- */

enum { LEAF_COLUMNS = RECORD_MAX_KEPT + 1 };

/* The cost of each configuration, then of the pattern's default, on each problem: its loss, plus a
 * penalty if it is slower than the default; INFINITY if it is impossible. */
typedef struct leaf_costs {
    size_t columns;
    double *values; /* one row of columns for each problem */
} leaf_costs;

/* The weight of the penalty. A time slower than the default is worse than no portfolio, and may be
 * much slower than it was predicted. */
static const double harm_weight = 10;

static double cost_of(double ratio, double fallback)
{
    if (!(ratio > 0))
        return INFINITY;
    double harm = fallback > 0 ? ratio / fallback - 1 : 0;
    return ratio - 1 + harm_weight * fmax(0, harm);
}

static void leaf_set_costs(const portfolio_matrix *m, leaf_costs *costs)
{
    size_t width = m->configuration_count;
    double *cost = costs->values;
    costs->columns = width + 1;
    for (size_t row = 0; row < m->problem_count; row++) {
        for (size_t c = 0; c < width; c++)
            *cost++ = cost_of(m->ratios[row * width + c], m->defaults[row]);
        *cost++ = cost_of(m->defaults[row], 0);
    }
}

static double leaf_least_cost(const leaf_costs *costs, size_t row)
{
    double least = PORTFOLIO_UNCOVERED;
    for (size_t c = 0; c < costs->columns; c++)
        least = fmin(least, costs->values[row * costs->columns + c]);
    return least;
}

static void leaf_order(const leaf_costs *costs, const size_t *rows, size_t count, record_node *leaf)
{
    double scores[LEAF_COLUMNS] = {0};
    size_t seen[LEAF_COLUMNS] = {0}, last = costs->columns - 1;
    for (size_t i = 0; i < count; i++) {
        const double *cost = &costs->values[rows[i] * costs->columns];
        for (size_t c = 0; c <= last; c++)
            if (isfinite(cost[c])) {
                scores[c] += cost[c];
                seen[c]++;
            }
    }
    /* Columns that are possible on no row come last. */
    for (size_t c = 0; c <= last; c++)
        scores[c] = seen[c] ? scores[c] / (double)seen[c] : PORTFOLIO_UNCOVERED;
    *leaf = (record_node){.has_default = true};
    for (size_t c = 0; c < last; c++) {
        size_t at = c;
        for (; at > 0 && scores[leaf->order[at - 1]] > scores[c]; at--)
            leaf->order[at] = leaf->order[at - 1];
        leaf->order[at] = (uint8_t)c;
        leaf->default_at += scores[c] <= scores[last];
    }
}

static double cost_at(const double *cost, size_t last, const record_node *leaf)
{
    for (size_t i = 0; i < last && !(i == leaf->default_at && isfinite(cost[last])); i++)
        if (isfinite(cost[leaf->order[i]]))
            return cost[leaf->order[i]];
    return isfinite(cost[last]) ? cost[last] : PORTFOLIO_UNCOVERED;
}

/* Returns the cost of a leaf, summed over its rows. Each row takes the first possible column. */
static double leaf_cost(const leaf_costs *costs, const size_t *rows, size_t count)
{
    record_node leaf;
    double sum = 0;
    leaf_order(costs, rows, count, &leaf);
    for (size_t i = 0; i < count; i++)
        sum += cost_at(&costs->values[rows[i] * costs->columns], costs->columns - 1, &leaf);
    return sum;
}

enum {
    LEAST_ROWS = 2,                   /* least rows of a leaf, from FEW_ROWS problems on */
    FEW_ROWS = 10,                    /* with fewer problems, each may have its own leaf */
    LEAST_SPLIT = 16,                 /* least rows on each side of a question that separates */
    MOST_BOUNDS = 50,                 /* bounds that are tried for a number */
    MOST_GROWN = 4 * RECORD_MAX_NODES /* most branches grown, before pruning */
};

/* The least that a question must save in the mean of all problems. This value lost least in
 * cross-validation on four patterns (transpose, sums, convolution, products); with 0.0001 the trees
 * have a quarter of the nodes. */
static const double least_mean_gain = 0.00001;

/* A question that saves this share of a leaf's loss needs no further question to be useful. */
static const double good_share = 0.25;

/* The cap on costs when questions separate columns. A hopeless column says nothing about others. */
static const double most_cost = 0.5;

/* A node of the growing tree. Its rows are adjacent, and include the rows of its children. */
typedef struct branch {
    size_t first, count;
    bool is_split, is_done; /* is_done: no question helps */
    question by;
    size_t then, otherwise;
    double cost;      /* cost as a leaf */
    double avoidable; /* part of the cost that the best column of each row would save */
    double pruned;    /* cost of the branch after pruning */
    size_t leaves;    /* leaves after pruning */
} branch;

/* `rows` is a permutation of the problems, and a branch is a range of it. divide() puts the rows of
 * `then` first in the range, and the rows of `otherwise` after them. Branch 0 is the root. Children
 * have higher numbers than their parent, so a loop downwards meets them first. */
typedef struct grower {
    leaf_costs costs;
    const portfolio_axis *axes;
    size_t axis_count;
    const value *problems;
    size_t problem_count;
    double least_gain; /* summed over all problems */
    size_t *rows, *scratch;
    branch branches[MOST_GROWN];
    size_t branch_count;
    record_node *nodes; /* the finished tree */
    size_t node_count;
} grower;

static branch branch_of(const grower *g, size_t first, size_t count)
{
    branch b = {
        .first = first, .count = count, .cost = leaf_cost(&g->costs, &g->rows[first], count)};
    b.avoidable = b.cost;
    for (size_t i = first; i < first + count; i++)
        b.avoidable -= leaf_least_cost(&g->costs, g->rows[i]);
    return b;
}

/* ---- questions ---- */

typedef struct best_questions {
    const grower *g;
    size_t *rows, count, least; /* least: fewest rows of a leaf */
    question by_cost, by_separation;
    double cost, separation; /* cost of both leaves; sum of squares; 0 before the first question */
    bool has_cost;
} best_questions;

static size_t divide(const grower *g, const question *by, size_t *rows, size_t count)
{
    size_t then = 0, otherwise = 0;
    for (size_t i = 0; i < count; i++) {
        if (question_answer(by, &g->problems[rows[i] * g->axis_count]))
            rows[then++] = rows[i];
        else
            g->scratch[otherwise++] = rows[i];
    }
    memcpy(rows + then, g->scratch, otherwise * sizeof *rows);
    return then;
}

static void add_up(const leaf_costs *costs, const size_t *rows, size_t count, double *sums,
                   double *seen)
{
    memset(sums, 0, LEAF_COLUMNS * sizeof *sums);
    memset(seen, 0, LEAF_COLUMNS * sizeof *seen);
    for (size_t i = 0; i < count; i++) {
        const double *cost = &costs->values[rows[i] * costs->columns];
        for (size_t c = 0; c < costs->columns; c++)
            if (isfinite(cost[c])) {
                sums[c] += fmin(cost[c], most_cost);
                seen[c]++;
            }
    }
}

/* Returns the sum of squares that a split removes from all columns: n1 n2 / n (m1 - m2)^2. */
static double split_gain(const leaf_costs *costs, const size_t *rows, size_t then, size_t count)
{
    double sums[2][LEAF_COLUMNS], seen[2][LEAF_COLUMNS], removed = 0;
    add_up(costs, rows, then, sums[0], seen[0]);
    add_up(costs, rows + then, count - then, sums[1], seen[1]);
    for (size_t c = 0; c < costs->columns; c++) {
        double n1 = seen[0][c], n2 = seen[1][c];
        if (n1 > 0 && n2 > 0)
            removed += n1 * n2 / (n1 + n2) * pow(sums[0][c] / n1 - sums[1][c] / n2, 2);
    }
    return removed;
}

static void try_question(void *context, const question *q)
{
    best_questions *b = context;
    const leaf_costs *costs = &b->g->costs;
    size_t then = divide(b->g, q, b->rows, b->count), otherwise = b->count - then;
    if (then < b->least || otherwise < b->least)
        return;
    double cost = leaf_cost(costs, b->rows, then) + leaf_cost(costs, b->rows + then, otherwise);
    if (cost < b->cost - 1e-9) {
        b->cost = cost;
        b->by_cost = *q;
        b->has_cost = true;
    }
    if (then < LEAST_SPLIT || otherwise < LEAST_SPLIT)
        return;
    double separation = split_gain(costs, b->rows, then, b->count);
    if (separation > b->separation * (1 + 1e-9)) {
        b->separation = separation;
        b->by_separation = *q;
    }
}

static bool find_question(const grower *g, const branch *of, question *by)
{
    best_questions best = {.g = g,
                           .rows = &g->rows[of->first],
                           .count = of->count,
                           .least = g->problem_count < FEW_ROWS ? 1 : LEAST_ROWS,
                           .cost = of->cost};
    question_for_each(g->axes, g->axis_count, g->problems, best.rows, best.count, MOST_BOUNDS,
                      try_question, &best);
    bool is_good = best.has_cost && of->cost - best.cost >= good_share * of->avoidable;
    *by = is_good ? best.by_cost : best.by_separation;
    return is_good || best.separation > 0;
}

/* ---- growing ---- */

/* Returns the leaf with the greatest avoidable cost, or SIZE_MAX if no leaf can save least_gain. */
static size_t next_leaf(const grower *g)
{
    size_t next = SIZE_MAX;
    double most = g->least_gain;
    for (size_t i = 0; i < g->branch_count; i++) {
        const branch *b = &g->branches[i];
        if (!b->is_split && !b->is_done && b->avoidable > most) {
            most = b->avoidable;
            next = i;
        }
    }
    return next;
}

static void split_leaf(grower *g, size_t leaf)
{
    branch *b = &g->branches[leaf];
    question by;
    b->is_split = find_question(g, b, &by);
    b->is_done = !b->is_split;
    if (b->is_done)
        return;
    size_t then = divide(g, &by, &g->rows[b->first], b->count);
    b->by = by;
    b->then = g->branch_count++;
    b->otherwise = g->branch_count++;
    g->branches[b->then] = branch_of(g, b->first, then);
    g->branches[b->otherwise] = branch_of(g, b->first + then, b->count - then);
}

/* Removes questions that save too little and sums up the other costs, children first. */
static void undo_poor_splits(grower *g)
{
    for (size_t i = g->branch_count; i-- > 0;) {
        branch *b = &g->branches[i];
        b->pruned = b->cost;
        b->leaves = 1;
        if (!b->is_split)
            continue;
        const branch *then = &g->branches[b->then], *otherwise = &g->branches[b->otherwise];
        b->is_split = b->cost - (then->pruned + otherwise->pruned) >= g->least_gain;
        if (b->is_split) {
            b->pruned = then->pruned + otherwise->pruned;
            b->leaves = then->leaves + otherwise->leaves;
        }
    }
}

static double saving(const branch *b)
{
    return (b->cost - b->pruned) / (double)(b->leaves - 1);
}

/* Returns the split branch below `from` that saves least per leaf. */
static size_t weakest(const grower *g, size_t from)
{
    const branch *b = &g->branches[from];
    size_t least = from, parts[] = {b->then, b->otherwise};
    for (size_t i = 0; i < 2; i++) {
        if (!g->branches[parts[i]].is_split)
            continue;
        size_t of_part = weakest(g, parts[i]);
        if (saving(&g->branches[of_part]) < saving(&g->branches[least]))
            least = of_part;
    }
    return least;
}

/* Removes questions that save too little. Then removes the questions that save least, until the
 * tree fits into a record (weakest-link pruning of Breiman et al.). */
static void prune(grower *g)
{
    for (undo_poor_splits(g); 2 * g->branches[0].leaves - 1 > RECORD_MAX_NODES; undo_poor_splits(g))
        g->branches[weakest(g, 0)].is_split = false;
}

static void grow(grower *g)
{
    for (size_t row = 0; row < g->problem_count; row++)
        g->rows[row] = row;
    g->branches[0] = branch_of(g, 0, g->problem_count);
    g->branch_count = 1;
    for (size_t leaf; g->branch_count + 2 <= MOST_GROWN && (leaf = next_leaf(g)) != SIZE_MAX;)
        split_leaf(g, leaf);
    prune(g);
}

static void write_nodes(grower *g, size_t from)
{
    const branch *b = &g->branches[from];
    record_node *n = &g->nodes[g->node_count++];
    if (!b->is_split) {
        leaf_order(&g->costs, &g->rows[b->first], b->count, n);
        return;
    }
    *n = question_node(&b->by, g->axes);
    n->then = g->node_count;
    write_nodes(g, b->then);
    n->otherwise = g->node_count;
    write_nodes(g, b->otherwise);
}

size_t portfolio_grow(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                      const value *problems, record_node *nodes)
{
    size_t rows = m->problem_count;
    grower *g = memory_new(1, sizeof *g);
    size_t *places = memory_new(2 * rows, sizeof *places);
    double *costs = memory_new(rows * (m->configuration_count + 1), sizeof *costs);
    *g = (grower){.costs.values = costs,
                  .axes = axes,
                  .axis_count = axis_count,
                  .problems = problems,
                  .problem_count = rows,
                  .least_gain = least_mean_gain * (double)rows,
                  .rows = places,
                  .scratch = places + rows,
                  .nodes = nodes};
    leaf_set_costs(m, &g->costs);
    grow(g);
    write_nodes(g, 0);
    size_t count = g->node_count;
    free(costs);
    free(places);
    free(g);
    return count;
}
