/* Finds the names of device code that say how a kernel computes, and not what: extents of shared
 * memory, factors of unrolling, steps of loops, and what the place of a block or a thread is
 * multiplied with.
 *
 * Read off the text, statement by statement: a guess, for a person to look at. Nothing fails. */
#ifndef AUTOTUNE_CPP_SHAPE_H
#define AUTOTUNE_CPP_SHAPE_H

#include "cpp/token.h"

/* Up to `capacity` words of the text, some of them several times; returns how many. */
size_t cpp_shaping_words(cpp_span text, cpp_span *out, size_t capacity);

#endif
