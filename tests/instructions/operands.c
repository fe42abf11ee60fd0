#include <stdbool.h>
#include <string.h>

#include "forms.h"

/* The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number ..." (2014). */
uint64_t form_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static const uint64_t integers_16[] = {
    0,      1,      2,      3,      5,      7,      8,      15,     16,     31,
    0x55,   0x7f,   0x80,   0xff,   0x100,  0x1234, 0x5555, 0x7ffe, 0x7fff, 0x8000,
    0x8001, 0xaaaa, 0xff7f, 0xff80, 0xff81, 0xfff0, 0xfffd, 0xfffe, 0xffff};
static const uint64_t integers_32[] = {
    0,          1,          2,          3,          7,          16,         31,
    32,         0x7f,       0x80,       0xff,       0x100,      0x7fff,     0x8000,
    0xffff,     0x10000,    0x7fffff,   0x800000,   0xffffff,   0x1000001,  0x12345678,
    0x55555555, 0x7fffff7f, 0x7fffffff, 0x80000000, 0x80000001, 0x80008000, 0xaaaaaaaa,
    0xff800000, 0xffff7fff, 0xffff8000, 0xffffff7f, 0xffffff80, 0xfffffffe, 0xffffffff};
static const uint64_t positions[] = {
    0,   1,   2,   3,   4,   7,   8,   11,  15,     16,         17,         23,
    24,  30,  31,  32,  33,  40,  47,  48,  62,     63,         64,         65,
    100, 127, 128, 254, 255, 256, 257, 287, 0x101f, 0x80000000, 0xfffffff8, 0xffffffff};
/* clang-format off */
static const uint64_t integers_64[] = {
    0, 1, 2, 3, 7, 10, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x1000001, 0x3000001, 0x7fffff7f,
    0x7fffffff, 0x80000000, 0xffffff80, 0xffffffff, 0x100000000, 0x123456789abcdef0,
    0x20000000000001, 0x5555555555555555, 0x7fffffbfffffffff, 0x7fffffffffffffff,
    0x8000000000000000, 0x8000000000000001, 0xaaaaaaaaaaaaaaaa, 0xffffffff00000000,
    0xffffffff7fffffff, 0xffffffff80000000, 0xfffffffffffff800, 0xfffffffffffffffe,
    0xffffffffffffffff
};
/* clang-format on */
static const uint64_t floats[] = {
    0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
    0xffffffff, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff,
    0xff7fffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0xc0200000, 0x437f8000, 0x4effffff,
    0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x5f800000, 0x477fefff, 0x477ff000, 0x38800000,
    0x387fe000, 0x33000000, 0x3f800001, 0x3f7fffff, 0x7e800001, 0x7f000000, 0x43e00000, 0x3b000000};
/* clang-format off */
static const uint64_t doubles[] = {
    0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0xffffffffffffffff, 1,
    0x8000000000000001, 0x000fffffffffffff, 0x800fffffffffffff, 0x0010000000000000,
    0x8010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000,
    0xbfe0000000000000, 0x3ff8000000000000, 0x4004000000000000, 0xc004000000000000,
    0x41dfffffffc00000, 0x41dfffffffe00000, 0x41e0000000000000, 0xc1e0000000000000,
    0x41f0000000000000, 0x43e0000000000000, 0x43f0000000000000, 0x47efffffe0000000,
    0x47effffff0000000, 0x3690000000000000, 0x380ffffff0000000, 0x3ff0000000000001,
    0x3fefffffffffffff, 0x40effdffffffffff, 0x40effe0000000000, 0x3e60000000000000
};
/* clang-format on */
static const uint64_t halves[] = {
    0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xffff, 0x0001, 0x8001, 0x03ff,
    0x83ff, 0x0400, 0x8400, 0x7bff, 0xfbff, 0x3800, 0xb800, 0x3e00, 0x4100, 0xc100, 0x5bf8, 0x57f0,
    0x3c01, 0x3bff, 0x1400, 0x5c00, 0x7800, 0xf800, 0x0200, 0x4500, 0x7fff, 0xfffe, 0x7dff};
static const uint64_t bfloats[] = {
    0,      0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffff, 0x0001, 0x8001, 0x007f,
    0x807f, 0x0080, 0x8080, 0x7f7f, 0xff7f, 0x3f00, 0xbf00, 0x3fc0, 0x4020, 0xc020, 0x437f, 0x437e,
    0x3f81, 0x3f7f, 0x1400, 0x4f00, 0x5f00, 0xcf00, 0x0040, 0x40a0, 0x7fff, 0xfffe, 0x7f01};

typedef struct edge_list {
    const uint64_t *values;
    size_t count;
} edge_list;
#define LIST(a) ((edge_list){a, sizeof(a) / sizeof *(a)})

static edge_list edges_of(char kind)
{
    switch (kind) {
    case 'h':
        return LIST(integers_16);
    case 'r':
        return LIST(integers_32);
    case 's':
        return LIST(positions);
    case 'x':
        return LIST(integers_64);
    case 'f':
        return LIST(floats);
    case 'g':
        return LIST(doubles);
    case 'H':
    case 'F':
        return LIST(halves);
    case 'B':
    case 'G':
        return LIST(bfloats);
    default:
        return (edge_list){integers_16, 2};
    }
}

/* Returns a float whose exponent is near that of 1 or, if `has_near`, that of `near`. The format
 * has `exponent` and `fraction` bits. */
static uint64_t moderate(uint64_t random, unsigned exponent, unsigned fraction, uint64_t near,
                         bool has_near)
{
    uint64_t bias = (1ull << (exponent - 1)) - 1, span = exponent < 6 ? 6 : 24;
    uint64_t middle = has_near ? near >> fraction & ((1ull << exponent) - 1) : bias;
    uint64_t e = middle + (random >> 8) % (2 * span + 1) - span;
    if (e == 0 || e > 2 * bias)
        e = bias;
    uint64_t f = random >> 20;
    /* With few bits, sums and products are exact or half-way between two floats. */
    if (random >> 5 & 1)
        f &= ~0ull << (fraction - (random >> 1 & 7) % fraction);
    return (random & 1) << (exponent + fraction) | e << fraction | (f & ((1ull << fraction) - 1));
}

static uint64_t random_16(char kind, uint64_t *state, uint64_t near, bool has_near)
{
    uint64_t r = form_random(state), shape = form_random(state) % 4;
    if (shape == 0)
        return r >> 48;
    if (shape == 1) {
        edge_list e = edges_of(kind);
        return e.values[r % e.count];
    }
    if (kind == 'H' || kind == 'F')
        return moderate(r, 5, 10, near, has_near && shape == 2);
    if (kind == 'B' || kind == 'G')
        return moderate(r, 8, 7, near, has_near && shape == 2);
    return shape == 2 ? (r & 0x3f) : (near + (r & 3)) & 0xffff;
}

static uint64_t random_value(char kind, uint64_t *state, uint64_t near, bool has_near)
{
    edge_list e = edges_of(kind);
    uint64_t r = form_random(state), shape = form_random(state) % 5;
    switch (kind) {
    case 'h':
    case 'H':
    case 'B':
        return random_16(kind, state, near, has_near);
    case 'F':
    case 'G':
        return random_16(kind, state, near & 0xffff, has_near) |
               random_16(kind, state, near >> 16, has_near) << 16;
    case 'p':
        return r & 1;
    case 's':
        return shape < 3 ? r % 70 : shape == 3 ? r & 0xffffffff : e.values[r % e.count];
    case 'f':
        return shape == 0   ? r >> 32
               : shape == 1 ? e.values[r % e.count]
                            : moderate(r, 8, 23, near, has_near && shape < 4);
    case 'g':
        return shape == 0   ? r
               : shape == 1 ? e.values[r % e.count]
                            : moderate(r, 11, 52, near, has_near && shape < 4);
    default:
        break;
    }
    uint64_t mask = kind == 'x' ? UINT64_MAX : UINT32_MAX, bits = kind == 'x' ? 64 : 32;
    switch (shape) {
    case 0:
        return r & mask;
    case 1:
        return e.values[r % e.count];
    case 2:
        return (form_random(state) & mask) >> r % bits; /* a small number */
    case 3:
        return (0 - (form_random(state) >> (64 - bits) >> r % bits)) & mask;
    default:
        return (near + (r & 7) - 3) & mask;
    }
}

uint64_t form_random_value(char kind, uint64_t *state)
{
    return random_value(kind, state, 0, false);
}

/* Returns edge value `i`. Of the two values of packed kinds, the upper one changes more slowly. */
static uint64_t edge(char kind, size_t i)
{
    edge_list e = edges_of(kind);
    uint64_t low = e.values[i % e.count];
    return kind == 'F' || kind == 'G' ? low | e.values[(i / 3 + 7) % e.count] << 16 : low;
}

void form_operands(const form *f, size_t i, uint64_t seed, uint64_t sources[FORM_SOURCES])
{
    uint64_t state = seed * 0x9e3779b97f4a7c15ull + i;
    size_t count = strlen(f->sources), pairs = 1;
    for (size_t s = 0; s < count && s < 2; s++)
        pairs *= edges_of(f->sources[s]).count;
    memset(sources, 0, FORM_SOURCES * sizeof *sources);
    if (i < pairs) {
        size_t first = count > 0 ? edges_of(f->sources[0]).count : 1;
        for (size_t s = 0; s < count; s++)
            sources[s] = s == 0   ? edge(f->sources[0], i)
                         : s == 1 ? edge(f->sources[1], i / first)
                                  : edge(f->sources[s], form_random(&state) >> 32);
        return;
    }
    for (size_t s = 0; s < count; s++)
        sources[s] = random_value(f->sources[s], &state, sources[0],
                                  s > 0 && f->sources[s] == f->sources[0]);
}
