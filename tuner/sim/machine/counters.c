#include "sim/machine/counters.h"

void sim_sectors_collect(const uint64_t *addresses, uint32_t mask, uint32_t bytes, sim_sectors *out)
{
    uint32_t lane_bytes = bytes >= 32 ? UINT32_MAX : (1u << bytes) - 1;
    uint64_t highest = 0;
    int n = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t address = addresses[__builtin_ctz(mask)];
        uint64_t sector = address / SIM_SECTOR_BYTES;
        uint32_t used = lane_bytes << (address % SIM_SECTOR_BYTES);
        /* Addresses mostly ascend, so a sector above all earlier sectors is new. */
        int at = n - 1;
        if (n == 0 || sector > highest)
            at = -1;
        while (at >= 0 && out->sector[at] != sector)
            at--;
        if (at < 0) {
            at = n++;
            out->sector[at] = sector;
            out->used[at] = 0;
            out->lanes[at] = 0;
            highest = sector > highest ? sector : highest;
        }
        out->used[at] |= used;
        out->lanes[at]++;
    }
    out->count = n;
}

void sim_counter_add_sectors(sim_counter *c, const sim_sectors *s)
{
    c->requests++;
    c->sectors += (uint64_t)s->count;
    uint64_t bytes = 0;
    for (int i = 0; i < s->count; i++)
        bytes += (uint64_t)__builtin_popcount(s->used[i]);
    c->bytes += bytes;
    c->fewest += (bytes + SIM_SECTOR_BYTES - 1) / SIM_SECTOR_BYTES;
}

/* Returns the wavefronts for the lanes of `mask`: the most distinct words in a bank. */
static uint32_t wavefronts_of(const uint64_t *addresses, uint32_t mask, uint32_t words)
{
    uint64_t lists[SIM_LANES][SIM_BANKS]; /* distinct words in each bank */
    uint8_t counts[SIM_BANKS] = {0};
    uint32_t most = 1;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t word = addresses[__builtin_ctz(m)] / SIM_BANK_BYTES;
        for (uint32_t w = 0; w < words; w++, word++) {
            uint32_t bank = word % SIM_BANKS, i = 0;
            while (i < counts[bank] && lists[i][bank] != word)
                i++;
            if (i == counts[bank]) {
                lists[i][bank] = word;
                counts[bank]++;
                most = counts[bank] > most ? counts[bank] : most;
            }
        }
    }
    return most;
}

/* Returns whether all pairs of active lanes l and l ^ distance have the same address. */
static bool neighbours_agree(const uint64_t *addresses, uint32_t mask, int distance)
{
    SIM_EACH_OF(l, mask)
    if ((mask >> (l ^ distance) & 1) && addresses[l] != addresses[l ^ distance])
        return false;
    return true;
}

void sim_counter_add_shared(sim_counter *c, const uint64_t *addresses, uint32_t mask,
                            uint32_t bytes, bool is_store)
{
    uint32_t lanes = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
    if (bytes > 4 && !is_store &&
        (neighbours_agree(addresses, mask, 1) || neighbours_agree(addresses, mask, 2)))
        lanes *= 2;
    c->shared_requests++;
    for (uint32_t first = 0; first < SIM_LANES; first += lanes) {
        uint32_t group = mask & (UINT32_MAX >> (SIM_LANES - lanes) << first);
        if (!group)
            continue;
        uint32_t n = wavefronts_of(addresses, group, (bytes + 3) / 4);
        c->wavefronts += n;
        c->ideal++;
        c->conflicts += n - 1;
    }
}

/* Returns the highest number of lanes of `mask` that access one bank. */
static uint32_t queue_of(const uint64_t *addresses, uint32_t mask)
{
    uint8_t counts[SIM_BANKS] = {0};
    uint32_t most = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t bank = addresses[__builtin_ctz(m)] / SIM_BANK_BYTES % SIM_BANKS;
        most = ++counts[bank] > most ? counts[bank] : most;
    }
    return most;
}

static bool share_an_address(const uint64_t *addresses, uint32_t mask, uint32_t other)
{
    for (uint32_t m = mask; m; m &= m - 1)
        for (uint32_t o = other; o; o &= o - 1)
            if (addresses[__builtin_ctz(m)] == addresses[__builtin_ctz(o)])
                return true;
    return false;
}

void sim_counter_add_shared_atomic(sim_counter *c, const uint64_t *addresses, uint32_t mask,
                                   uint32_t bytes)
{
    c->shared_requests++;
    if (bytes <= 4) {
        /* Lanes on the same word, or on different words of a bank, are served one after another. */
        uint32_t n = queue_of(addresses, mask);
        c->wavefronts += n;
        c->ideal++;
        c->conflicts += n - 1;
        return;
    }
    /* The hardware loops over a compare-and-swap. Each half of the warp needs two wavefronts a
     * round until its last lane is done. The hardware counts rounds as requests, not conflicts. */
    uint32_t low = mask & 0xffffu, high = mask & 0xffff0000u;
    uint32_t low_ends = queue_of(addresses, low), high_ends = queue_of(addresses, high);
    if (share_an_address(addresses, low, high))
        high_ends += low_ends;
    c->wavefronts += 2 * (uint64_t)(low_ends + high_ends);
    c->ideal += 2 * (uint64_t)((low != 0) + (high != 0));
}

/* Counts the distinct addresses of the lanes of `mask`. Sets *most to the largest number of lanes
 * at one address. */
static uint32_t count_distinct(const uint64_t *addresses, uint32_t mask, uint32_t *most)
{
    uint64_t seen[SIM_LANES];
    uint32_t counts[SIM_LANES], n = 0;
    *most = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t v = addresses[__builtin_ctz(m)];
        uint32_t i = 0;
        while (i < n && seen[i] != v)
            i++;
        if (i == n) {
            seen[n] = v;
            counts[n++] = 0;
        }
        counts[i]++;
        *most = counts[i] > *most ? counts[i] : *most;
    }
    return n;
}

void sim_counter_add_turns(sim_counter *c, const uint64_t *addresses, uint32_t mask)
{
    uint32_t most;
    count_distinct(addresses, mask, &most);
    c->turns += most - 1;
}

void sim_counter_add_constant(sim_counter *c, const uint64_t *addresses, uint32_t mask)
{
    uint32_t most;
    c->constant_requests++;
    c->constant_passes += count_distinct(addresses, mask, &most);
}

void sim_counter_sum(sim_counter *to, const sim_counter *from)
{
    enum { MEMBERS = sizeof *to / sizeof(uint64_t) };
    _Static_assert(MEMBERS == 13, "all members of sim_counter are 64-bit counts");
    uint64_t *sum = (uint64_t *)(void *)to;
    const uint64_t *more = (const uint64_t *)(const void *)from;
    for (size_t i = 0; i < MEMBERS; i++)
        sum[i] += more[i];
}

/* Adds a counter to the totals. A generic access to shared memory counts as shared memory. */
static void add_access(const sim_instruction *i, const sim_counter *c, sim_totals *t)
{
    sim_counter global = *c, shared = *c;
    global.shared_requests = global.wavefronts = global.ideal = global.conflicts = 0;
    shared.requests = shared.sectors = shared.fewest = shared.bytes = shared.turns = 0;
    if (c->constant_requests > 0)
        sim_counter_sum(&t->constant, c);
    if (i->space == PTX_SPACE_LOCAL) {
        sim_counter_sum(&t->local, &global);
        return;
    }
    if (c->requests > 0)
        sim_counter_sum(i->kind == SIM_LOAD || i->kind == SIM_TEXTURE       ? &t->global_load
                        : i->kind == SIM_STORE || i->kind == SIM_BULK_STORE ? &t->global_store
                        : i->kind == SIM_ATOMIC                             ? &t->global_atomic
                                                                            : &t->async_copy,
                        &global);
    if (c->shared_requests > 0)
        sim_counter_sum(i->kind == SIM_LOAD    ? &t->shared_load
                        : i->kind == SIM_STORE ? &t->shared_store
                                               : &t->shared_atomic,
                        &shared);
}

void sim_totals_compute(const sim_program *p, const sim_counter *counters, sim_totals *out)
{
    *out = (sim_totals){0};
    for (size_t i = 0; i < p->code_count; i++) {
        const sim_instruction *c = &p->code[i];
        out->issued[c->count_class] += counters[i].issued;
        out->issued_total += counters[i].issued;
        out->threads_total += counters[i].threads;
        if (c->kind == SIM_LOAD || c->kind == SIM_STORE || c->kind == SIM_ATOMIC ||
            c->kind == SIM_COPY_ASYNC || c->kind == SIM_BULK_LOAD || c->kind == SIM_BULK_STORE ||
            c->kind == SIM_TEXTURE)
            add_access(c, &counters[i], out);
    }
}

static const char *const class_names[] = {
    [SIM_CLASS_INTEGER] = "integer",   [SIM_CLASS_FLOAT] = "float",
    [SIM_CLASS_DOUBLE] = "double",     [SIM_CLASS_HALF] = "half",
    [SIM_CLASS_SPECIAL] = "special",   [SIM_CLASS_CONVERT] = "convert",
    [SIM_CLASS_MOVE] = "move",         [SIM_CLASS_PREDICATE] = "predicate",
    [SIM_CLASS_CONTROL] = "control",   [SIM_CLASS_GLOBAL] = "global",
    [SIM_CLASS_SHARED] = "shared",     [SIM_CLASS_LOCAL] = "local",
    [SIM_CLASS_CONSTANT] = "constant", [SIM_CLASS_ATOMIC] = "atomic",
    [SIM_CLASS_BARRIER] = "barrier",   [SIM_CLASS_WARP] = "warp"};

const char *sim_class_name(sim_class c)
{
    return class_names[c];
}
