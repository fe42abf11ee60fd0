#include "sim/excerpt_choice.h"

#include <string.h>

#include "base/rng.h"

static void choose(excerpt_choice *c, const uint64_t at[3])
{
    uint64_t number = at[0] + c->extent[0] * (at[1] + c->extent[1] * at[2]);
    for (size_t i = 0; i < c->count; i++)
        if (c->chosen[i] == number)
            return;
    if (c->count < c->most && number < c->total)
        c->chosen[c->count++] = number;
}

/* All whose place along each axis is the first, the middle or the last; `middles` of them are in a
 * middle. */
static void choose_edges(excerpt_choice *c, int middles)
{
    for (int place = 0; place < 27; place++) {
        uint64_t at[3];
        int in_middle = 0;
        for (int axis = 0, rest = place; axis < 3; axis++, rest /= 3) {
            const uint64_t last = c->extent[axis] - 1, places[] = {last, 0, last / 2};
            at[axis] = places[rest % 3];
            in_middle += rest % 3 == 2;
        }
        if (in_middle == middles)
            choose(c, at);
    }
}

/* Chooses one for each way in which threads go through the kernel. */
static void choose_ways(excerpt_choice *c, const sim_sweep *swept)
{
    for (size_t i = 0; i < swept->block_count + swept->is_outside; i++) {
        uint64_t block = i < swept->block_count ? swept->blocks[i] : swept->outside, at[3];
        for (int axis = 0; axis < 3; axis++) {
            const uint64_t extent = c->extent[axis] * c->cluster[axis];
            at[axis] = block % extent / c->cluster[axis];
            block /= extent;
        }
        choose(c, at);
    }
}

void excerpt_choose(excerpt_choice *c, size_t most, const sim_sweep *swept, const sim_sweep *parts,
                    uint64_t seed)
{
    rng r = rng_seeded(seed);
    c->chosen[0] = c->total - 1;
    c->count = 1;
    c->most = most + 1;
    for (uint64_t n = 0; c->total <= most + 1 && n < c->total; n++)
        choose(c, (const uint64_t[3]){n, 0, 0});
    choose_ways(c, swept);
    choose_ways(c, parts);
    choose_edges(c, 0);
    choose(c, (const uint64_t[3]){c->extent[0] > 1, 0, 0});
    choose_edges(c, 1);
    for (int tries = 0; tries < 4 * EXCERPT_MOST_CLUSTERS && c->count < c->most; tries++) {
        uint64_t at[3];
        for (int axis = 0; axis < 3; axis++)
            at[axis] = rng_below(&r, c->extent[axis]);
        choose(c, at);
        at[0] += at[0] + 1 < c->extent[0];
        choose(c, at);
    }
    c->count--;
    memmove(c->chosen, c->chosen + 1, c->count * sizeof *c->chosen);
}
