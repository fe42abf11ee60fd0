#include "sim/hot_lines.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

enum { LINE_WORDS = 128 / 4 };

typedef struct hot_line {
    sim_hot sum;             /* `doubles` and `floats`: sectors, not shares; no operations: */
    float words[LINE_WORDS]; /* those on each */
    uint64_t first;          /* cluster that updated it */
    bool shared;             /* another did, too */
} hot_line;

/* Lanes of a sector that meet at one of its words, on average. */
static double meeting(const sim_instruction *c, const sim_sectors *s, int i)
{
    const double words = (double)__builtin_popcount(s->used[i]) / ptx_type_bytes((ptx_type)c->type);
    return words > 0 ? s->lanes[i] / words : 1;
}

bool hot_lines_note(hot_lines *h, uint64_t cluster, const sim_instruction *c, const sim_sectors *s)
{
    const bool floats = c->type == PTX_F32 || c->type == PTX_F64;
    h->sectors += s->count;
    for (int i = 0; i < s->count; i++) {
        bool is_new;
        if (!sector_set_add(&h->lines, s->sector[i] / 4, 0, &is_new))
            return false;
        uint32_t *place = &h->lines.used[sector_set_place(&h->lines, s->sector[i] / 4)];
        if (is_new) {
            hot_line *grown = array_grow(h->hot, h->lines.count - 1, sizeof *grown);
            if (!grown)
                return false;
            h->hot = grown;
            *place = (uint32_t)(h->lines.count - 1);
            grown[*place] = (hot_line){.first = cluster};
        }
        hot_line *line = &h->hot[*place];
        line->shared = line->shared || line->first != cluster;
        line->sum.sectors++;
        for (int k = 0; k < SIM_SECTOR_BYTES / 4; k++)
            if (s->used[i] >> (4 * k) & 1)
                line->words[s->sector[i] % 4 * (SIM_SECTOR_BYTES / 4) + (uint64_t)k] +=
                    floats ? (float)meeting(c, s, i) : 1;
        line->sum.doubles += c->type == PTX_F64;
        line->sum.floats += c->type == PTX_F32;
    }
    return true;
}

sim_hot hot_lines_find(const hot_lines *h, double scale)
{
    sim_hot most = {0};
    for (size_t i = 0; i < h->lines.count; i++) {
        const hot_line *line = &h->hot[i];
        const double times = line->shared ? scale : 1;
        if (line->sum.sectors * times <= most.sectors)
            continue;
        most = (sim_hot){.sectors = line->sum.sectors * times,
                         .doubles = line->sum.doubles / line->sum.sectors,
                         .floats = line->sum.floats / line->sum.sectors};
        for (int k = 0; k < LINE_WORDS; k++)
            most.operations = fmax(most.operations, line->words[k] * times);
    }
    return most;
}

void hot_lines_deinit(hot_lines *h)
{
    sector_set_deinit(&h->lines);
    free(h->hot);
}
