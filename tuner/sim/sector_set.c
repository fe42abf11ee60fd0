/* Sets of sectors, as hash tables with open addressing. */
#include <stdlib.h>
#include <string.h>

#include "sim/profile_parts.h"

void sector_set_deinit(sector_set *s)
{
    free(s->keys);
    free(s->used);
}

void sector_set_clear(sector_set *s)
{
    if (s->count > 0)
        memset(s->keys, 0, s->capacity * sizeof *s->keys);
    s->count = 0;
}

size_t sector_set_index(const sector_set *s, uint64_t sector)
{
    size_t at = (size_t)((sector * 0x9e3779b97f4a7c15ull) >> 20) & (s->capacity - 1);
    while (s->keys[at] != 0 && s->keys[at] != sector + 1)
        at = (at + 1) & (s->capacity - 1);
    return at;
}

static bool set_grow(sector_set *s)
{
    sector_set larger = {.capacity = s->capacity ? s->capacity * 2 : 1024, .count = s->count};
    larger.keys = calloc(larger.capacity, sizeof *larger.keys);
    larger.used = calloc(larger.capacity, sizeof *larger.used);
    if (!larger.keys || !larger.used) {
        sector_set_deinit(&larger);
        return false;
    }
    for (size_t i = 0; i < s->capacity; i++) {
        if (s->keys[i] == 0)
            continue;
        size_t at = sector_set_index(&larger, s->keys[i] - 1);
        larger.keys[at] = s->keys[i];
        larger.used[at] = s->used[i];
    }
    sector_set_deinit(s);
    *s = larger;
    return true;
}

bool sector_set_add(sector_set *s, uint64_t sector, uint32_t used, bool *is_new)
{
    if (s->count * 2 >= s->capacity && !set_grow(s))
        return false;
    size_t at = sector_set_index(s, sector);
    *is_new = s->keys[at] == 0;
    if (*is_new) {
        s->keys[at] = sector + 1;
        s->used[at] = 0;
        s->count++;
    }
    s->used[at] |= used;
    return true;
}

bool sector_set_copy(sector_set *to, const sector_set *from)
{
    if (to->capacity < from->capacity) {
        sector_set_deinit(to);
        *to = (sector_set){.keys = malloc(from->capacity * sizeof *to->keys),
                           .used = malloc(from->capacity * sizeof *to->used)};
        if (!to->keys || !to->used)
            return false;
    }
    if (from->count == 0) {
        sector_set_clear(to);
        return true;
    }
    to->capacity = from->capacity;
    to->count = from->count;
    memcpy(to->keys, from->keys, from->capacity * sizeof *to->keys);
    memcpy(to->used, from->used, from->capacity * sizeof *to->used);
    return true;
}

bool sector_set_has(const sector_set *s, uint64_t sector)
{
    return s->count > 0 && s->keys[sector_set_index(s, sector)] != 0;
}

double sector_set_run_length(const sector_set *s)
{
    size_t runs = 0;
    for (size_t i = 0; i < s->capacity; i++)
        if (s->keys[i] > 1)
            runs += s->keys[sector_set_index(s, s->keys[i] - 2)] == 0;
    return runs ? (double)s->count / (double)runs : 0;
}
