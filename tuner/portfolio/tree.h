/* A small decision tree over the variables of a problem. Each leaf orders all configurations of a
 * portfolio and the pattern's default; a reader takes the first possible configuration. A
 * configuration that is slower than the default costs more than a configuration that misses a gain.
 *
 * Trees grow as in CART (Breiman, Friedman, Olshen & Stone, "Classification and Regression Trees",
 * 1984), the leaf with the greatest loss first. A leaf is split by the question that saves most of
 * its loss, if that is a good part. Otherwise the leaf is split by the question that best separates
 * the losses of all configurations: if several questions are needed together, each saves nothing
 * alone. At the end, questions that save too little are removed. If the record has no room for the
 * tree, the questions that save least are removed, too. Overfitting is not prevented, because a
 * tree is grown on thousands of expected times (portfolio/kriging.h). */
#ifndef AUTOTUNE_PORTFOLIO_TREE_H
#define AUTOTUNE_PORTFOLIO_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "portfolio/cover.h"
#include "portfolio/problems.h"
#include "record/record.h"

/* Makes the tree for at most RECORD_MAX_KEPT configurations. `problems` has one value per axis for
 * each problem. `nodes` has room for RECORD_MAX_NODES and borrows from axes and problems. Returns
 * the number of nodes. */
size_t portfolio_grow(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                      const value *problems, record_node *nodes);

/* ---- questions ----
 *
 * A question is the test of an inner node (record/pick.c): whether a variable, a feature or the
 * product of two variables is below a bound; whether a variable is a multiple of a number; whether
 * a variable equals a string. */

typedef struct question {
    size_t axis, times;  /* indices of the axis and of its second factor (or QUESTION_ALONE) */
    int64_t multiple_of; /* 0 if the question is about the bound */
    value bound;
} question;

#define QUESTION_ALONE SIZE_MAX

/* Returns the answer for a problem, which has one value per axis. */
bool question_answer(const question *q, const value *problem);

/* Returns a record's node with this test, without children. */
record_node question_node(const question *q, const portfolio_axis *axes);

/* Calls `each` with questions that split the problems, simple ones first, with at most
 * `most_bounds` bounds of a number. `rows` are indices of problems; `each` may reorder them. */
void question_for_each(const portfolio_axis *axes, size_t axis_count, const value *problems,
                       const size_t *rows, size_t count, size_t most_bounds,
                       void (*each)(void *context, const question *q), void *context);

#endif
