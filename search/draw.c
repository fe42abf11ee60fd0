#include "search/strategies.h"

#include "base/memory.h"

draw draw_new(uint64_t count, rng r)
{
    return (draw){.left = count, .rng = r};
}

void draw_deinit(draw *d)
{
    keymap_deinit(&d->moved);
}

static uint64_t number_at(const draw *d, uint64_t place)
{
    uint64_t number = place;
    keymap_get(&d->moved, place, &number);
    return number;
}

bool draw_next(draw *d, uint64_t *number)
{
    if (d->left == 0)
        return false;
    uint64_t place = rng_below(&d->rng, d->left);
    *number = number_at(d, place);
    if (place != d->left - 1)
        memory_require(keymap_put(&d->moved, place, number_at(d, d->left - 1)) ? d : NULL);
    d->left--;
    return true;
}
