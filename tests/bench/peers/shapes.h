/* Kernels that move bytes and do nothing else, in many shapes: the fastest of them is what a
 * pattern that must move those bytes can at most reach. None shares code with the patterns. */
#ifndef SHAPES_H
#define SHAPES_H

#include "bench.h"

struct Shape {
    std::string name;
    std::function<void()> launch;
};

/* Arrays of `bytes` each, a multiple of 128 KiB, at multiples of 16 bytes: one or two are read and,
 * unless it is null, `to` is written. Plain, with cache hints, by threads and by the copy
 * engine. */
std::vector<Shape> streams(Bench &bench, std::vector<const void *> from, void *to, size_t bytes);

/* A square matrix of `side` x `side` floats, a multiple of 128, by square tiles. Each is written,
 * as it is, where a transpose would put it. */
std::vector<Shape> tiles(Bench &bench, const void *from, void *to, unsigned int side);

/* An element each from `from` at the places in `index`, `count` of them (a multiple of 64 Ki), to
 * `to`. */
std::vector<Shape> gathers(Bench &bench, const float *from, const unsigned int *index, float *to,
                           unsigned int count);

/* Every `stride`-th of the elements in `from`, `count` of them (a multiple of 64 Ki), to `to`. */
std::vector<Shape> strides(Bench &bench, const float *from, float *to, unsigned int count,
                           unsigned int stride);

#endif
