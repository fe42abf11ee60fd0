/* Kernels of many shapes that move bytes and do nothing else. The fastest of them bounds the speed
 * of a pattern that moves the same bytes. They share no code with the patterns. */
#ifndef SHAPES_H
#define SHAPES_H

#include "bench.h"

struct Shape {
    std::string name;
    std::function<void()> launch;
};

/* Read the one or two arrays `from` and, unless it is NULL, write `to`. Each array has `bytes`
 * bytes, a multiple of 128 KiB, and begins at a multiple of 16 bytes. The shapes use threads, with
 * and without cache hints, or the copy engine. */
std::vector<Shape> streams(Bench &bench, std::vector<const void *> from, void *to, size_t bytes);

/* Copy a matrix of `side` x `side` floats in square tiles; `side` is a multiple of 128. Each tile
 * is written to its place in the transpose, but is not transposed itself. */
std::vector<Shape> tiles(Bench &bench, const void *from, void *to, unsigned int side);

/* Copy `count` elements (a multiple of 64 Ki) of `from` at the indices in `index` to `to`. */
std::vector<Shape> gathers(Bench &bench, const float *from, const unsigned int *index, float *to,
                           unsigned int count);

/* Copy every `stride`-th element of `from`, `count` elements (a multiple of 64 Ki), to `to`. */
std::vector<Shape> strides(Bench &bench, const float *from, float *to, unsigned int count,
                           unsigned int stride);

#endif
