/* Draws the numbers 0 .. count-1 in random order, each once, in memory that grows with the numbers
 * drawn.
 *
 * A Fisher-Yates shuffle that stores only the places it has changed. The draw owns its table. */
#ifndef AUTOTUNE_DRAW_H
#define AUTOTUNE_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/rng.h"

typedef struct draw {
    uint64_t left;
    keymap moved; /* place -> number, where it is not the place's own */
    rng rng;
} draw;

draw draw_new(uint64_t count, rng r);
void draw_deinit(draw *d);

/* The next number; false when all are drawn. */
bool draw_next(draw *d, uint64_t *number);

#endif
