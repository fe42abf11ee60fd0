/* A small decision tree over the variables of a problem, which orders a portfolio's configurations.
 *
 * Each leaf lists all of them, and the pattern's default, in order; a reader takes the first that
 * is possible. A configuration that is slower than the default loses more than one that only misses
 * a gain. Trees grow as in CART (Breiman, Friedman, Olshen & Stone, "Classification and Regression
 * Trees", 1984), the leaf that loses most first: by the question that saves most of its loss, if
 * that is a good part of it; else by the one that parts the losses of all configurations best,
 * because where several questions have to come together none of them saves anything alone.
 * Questions that have not paid in the end are taken back; and if a record has no room for the tree,
 * those that pay least. Problems with different words are parted first, if that is better. Nothing
 * guards against chance: a tree is grown on what is expected (portfolio/kriging.h), on thousands of
 * problems. */
#ifndef AUTOTUNE_PORTFOLIO_TREE_H
#define AUTOTUNE_PORTFOLIO_TREE_H

#include "portfolio/matrix.h"
#include "portfolio/problems.h"
#include "record/record.h"

/* Makes the tree of a matrix of at most RECORD_MAX_KEPT configurations; `problems` has one value an
 * axis for each of the matrix's problems. `nodes` has room for RECORD_MAX_NODES; they borrow from
 * axes and problems. Returns how many there are. */
size_t portfolio_grow(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                      const value *problems, record_node *nodes);

#endif
