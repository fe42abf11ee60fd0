/* A small decision tree over the variables of a problem, which orders a portfolio's configurations.
 *
 * A leaf has all of them, the one to try first ahead: a reader takes the first that is possible. Trees
 * grow as CART does (Breiman, Friedman, Olshen & Stone, "Classification and Regression Trees", 1984),
 * by the split that saves most of what the problems lose in all, as long as it saves enough; how much
 * that is, and whether words are asked for first, five-fold cross-validation says. A leaf trusts what it has seen
 * of a configuration as much as it has seen, and what its parent expects otherwise. */
#ifndef AUTOTUNE_PORTFOLIO_TREE_H
#define AUTOTUNE_PORTFOLIO_TREE_H

#include "base/error.h"
#include "portfolio/matrix.h"
#include "portfolio/problems.h"
#include "record/record.h"

/* Makes the tree of a matrix of at most RECORD_MAX_KEPT configurations; `problems` has a value an axis
 * for each of the matrix's. `nodes` has room for RECORD_MAX_NODES; they borrow from axes and problems. AT_NO_MEMORY. */
at_status portfolio_grow(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                         const value *problems, record_node *nodes, size_t *node_count,
                         at_error *error);

/* What the problem loses with the tree, as a reader takes from it: the first configuration of its leaf
 * that is possible, not slower than the default; else the default. */
double portfolio_tree_loss(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                           const record_node *nodes, const value *problems, size_t problem);

#endif
