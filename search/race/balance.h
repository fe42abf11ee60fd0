/* Balanced orders: Williams designs.
 *
 * Over the rows of a design every item has every position equally often and follows every other
 * item equally often, so that neither the position in a block nor the item before favours any.
 * Source: Williams, "Experimental designs balanced for the estimation of residual effects of
 * treatments", 1949. Nothing here allocates or fails. */
#ifndef AUTOTUNE_BALANCE_H
#define AUTOTUNE_BALANCE_H

#include <stddef.h>
#include <stdint.h>

/* Rows of the design for `items`: items when even, twice as many when odd, 1 for 0 or 1. */
size_t balance_rows(size_t items);

/* Writes the order of row `row` (modulo the design's rows) for `items` items. */
void balance_row(size_t items, size_t row, uint32_t *order);

#endif
