/* Kernels of many shapes that move bytes and do nothing else. The fastest of them bounds the speed
 * of a pattern that moves the same bytes. They share no code with the patterns. */
#ifndef SHAPES_H
#define SHAPES_H

#include "bench.h"

struct Shape {
    std::string name;
    std::function<void()> launch;
};

/* Streams of `bytes` in each array, a multiple of 128 KiB, at multiples of 16 bytes: one or two
 * arrays are read and, unless it is null, `to` is written. Plain, with cache hints, by threads and
 * by the copy engine. */
std::vector<Shape> streams(Bench &bench, std::vector<const void *> from, void *to, size_t bytes);

/* A square matrix of `side` x `side` floats, a multiple of 128, by square tiles. Each tile is
 * written, without transposing it, to its place in the transpose. */
std::vector<Shape> tiles(Bench &bench, const void *from, void *to, unsigned int side);

/* Copies `count` elements (a multiple of 64 Ki) of `from` at the indices in `index` to `to`. */
std::vector<Shape> gathers(Bench &bench, const float *from, const unsigned int *index, float *to,
                           unsigned int count);

/* Copies every `stride`-th element of `from`, `count` elements (a multiple of 64 Ki), to `to`. */
std::vector<Shape> strides(Bench &bench, const float *from, float *to, unsigned int count,
                           unsigned int stride);

#endif
