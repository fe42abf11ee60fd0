#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/profile_parts.h"

/* A slice of the L2 executes the atomics on its lines one after the other. Of neighbouring lines,
 * it has those whose addresses are equal in bit 8 and in all bits from 10 on (mechanisms.cu
 * "atomics": on 2, 4 and 8 lines that are 128, 256, 512 and 4096 bytes apart, on an H200). */
enum { GROUP_LINES = 4, GROUP_WORDS = GROUP_LINES * 128 / 4 };

typedef struct hot_lines {
    sim_hot sum; /* `doubles` and `floats` count sectors; `operations` is unused */
    float words[GROUP_WORDS];
    uint64_t first; /* first cluster that updated one of the lines */
    bool shared;    /* another cluster updated one, too */
} hot_lines;

static uint64_t group_of(uint64_t sector)
{
    return sector / 32 * 2 + sector / 8 % 2;
}

/* Returns the index of a sector among those of its group. */
static uint64_t place_of(uint64_t sector)
{
    return sector / 16 % 2 * 8 + sector % 8;
}

/* Returns the mean number of lanes per accessed word of a sector. */
static double meeting(const sim_instruction *c, const sim_sectors *s, int i)
{
    const double words = (double)__builtin_popcount(s->used[i]) / ptx_type_bytes((ptx_type)c->type);
    return words > 0 ? s->lanes[i] / words : 1;
}

/* Returns how often a slice executes the atomics of a warp on a sector: once for each of the lanes
 * that meet at a word, unless all lanes meet there (mechanisms.cu "atomics", random words). */
static double passes_of(const sim_instruction *c, const sim_sectors *s, int i)
{
    return s->count > 1 ? meeting(c, s, i) : 1;
}

static bool note_line(atomics *a, uint64_t cluster, const sim_instruction *c, const sim_sectors *s)
{
    const bool floats = c->type == PTX_F32 || c->type == PTX_F64;
    a->sectors += s->count;
    for (int i = 0; i < s->count; i++) {
        const uint64_t group = group_of(s->sector[i]);
        bool is_new;
        if (!sector_set_add(&a->lines, group, 0, &is_new))
            return false;
        uint32_t *index = &a->lines.used[sector_set_index(&a->lines, group)];
        if (is_new) {
            hot_lines *grown = array_grow(a->hot, a->lines.count - 1, sizeof *grown);
            if (!grown)
                return false;
            a->hot = grown;
            *index = (uint32_t)(a->lines.count - 1);
            grown[*index] = (hot_lines){.first = cluster};
        }
        hot_lines *line = &a->hot[*index];
        const double passes = passes_of(c, s, i);
        line->shared = line->shared || line->first != cluster;
        line->sum.sectors += passes;
        for (int k = 0; k < SIM_SECTOR_BYTES / 4; k++)
            if (s->used[i] >> (4 * k) & 1)
                line->words[place_of(s->sector[i]) * (SIM_SECTOR_BYTES / 4) + (uint64_t)k] +=
                    floats ? (float)meeting(c, s, i) : 1;
        line->sum.doubles += c->type == PTX_F64 ? passes : 0;
        line->sum.floats += c->type == PTX_F32 ? passes : 0;
    }
    return true;
}

sim_hot atomics_find_hottest(const atomics *a, double scale)
{
    sim_hot most = {0};
    for (size_t i = 0; i < a->lines.count; i++) {
        const hot_lines *line = &a->hot[i];
        const double times = line->shared ? scale : 1;
        if (line->sum.sectors * times <= most.sectors)
            continue;
        most = (sim_hot){.sectors = line->sum.sectors * times,
                         .doubles = line->sum.doubles / line->sum.sectors,
                         .floats = line->sum.floats / line->sum.sectors};
        for (int k = 0; k < GROUP_WORDS; k++)
            most.operations = fmax(most.operations, line->words[k] * times);
    }
    return most;
}

static uint64_t ticket_value(const sim_memory *memory, const ticket *t)
{
    const sim_region *r = sim_memory_find(memory, t->address);
    uint64_t v = 0;
    if (r)
        memcpy(&v, r->bytes + (t->address - r->base), t->bytes);
    return v;
}

static void put_ticket(const sim_memory *memory, const ticket *t, uint64_t v)
{
    const sim_region *r = sim_memory_find(memory, t->address);
    if (r)
        memcpy(r->bytes + (t->address - r->base), &v, t->bytes);
}

/* Notes an atomic of one lane that returns an integer. */
static void note_ticket(atomics *a, const sim_memory *memory, const sim_instruction *c,
                        const sim_sectors *s)
{
    const uint32_t bytes = ptx_type_bytes((ptx_type)c->type);
    if (c->d2 == 0 || s->count != 1 || s->lanes[0] != 1 || c->type == PTX_F32 ||
        c->type == PTX_F64 || (bytes != 4 && bytes != 8))
        return;
    const uint64_t address = s->sector[0] * SIM_SECTOR_BYTES + (uint64_t)__builtin_ctz(s->used[0]);
    size_t i = 0;
    while (i < a->ticket_count && a->tickets[i].address != address)
        i++;
    if (i == MOST_TICKETS)
        return;
    /* The atomic is not executed yet. */
    if (i == a->ticket_count) {
        a->tickets[i] = (ticket){.address = address, .bytes = bytes};
        a->tickets[i].initial = ticket_value(memory, &a->tickets[i]);
        a->ticket_count++;
    }
    a->tickets[i].draws++;
}

bool atomics_note(atomics *a, const sim_memory *memory, uint64_t cluster, const sim_instruction *c,
                  const sim_sectors *s)
{
    note_ticket(a, memory, c, s);
    return note_line(a, cluster, c, s);
}

void atomics_put_back(const atomics *a, const sim_memory *memory)
{
    for (size_t i = 0; i < a->ticket_count; i++)
        put_ticket(memory, &a->tickets[i], a->tickets[i].initial);
}

at_status atomics_run_last(const atomics *a, sim_launch *l, uint64_t sampled, uint64_t total,
                           double *clocks, at_error *error)
{
    const uint64_t number = total - 1;
    const ticket *drawn[MOST_TICKETS];
    uint64_t before[MOST_TICKETS], step[MOST_TICKETS];
    size_t count = 0;
    sim_fault fault;
    for (size_t i = 0; i < a->ticket_count; i++)
        if (a->tickets[i].draws == sampled)
            drawn[count++] = &a->tickets[i];
    if (count == 0 || total < 2)
        return AT_OK;
    for (size_t i = 0; i < count; i++)
        before[i] = ticket_value(l->memory, drawn[i]);
    l->clusters = &number;
    l->cluster_count = 1;
    l->counters = NULL;
    l->progress = NULL;
    at_status status = sim_run(l, &fault, error);
    for (size_t i = 0; i < count; i++)
        step[i] = ticket_value(l->memory, drawn[i]) - before[i];
    /* The first ticket may reset the value that the previous launch left in the counter. So the
     * last ticket is drawn from the initial value, and again from zero. */
    for (int wound = 0; wound < 2 && !status && fault.kind == SIM_FAULT_NONE; wound++) {
        for (size_t i = 0; i < count; i++)
            put_ticket(l->memory, drawn[i],
                       (wound ? 0 : drawn[i]->initial) + step[i] * (total - 1));
        status = sim_run(l, &fault, error);
        *clocks = fmax(*clocks, (double)sim_trace_end(l->trace));
    }
    atomics_put_back(a, l->memory);
    return status;
}

void atomics_deinit(atomics *a)
{
    sector_set_deinit(&a->lines);
    free(a->hot);
}
