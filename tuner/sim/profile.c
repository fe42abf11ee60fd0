#include "sim/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

/* Clusters (blocks, where these are alone) sampled side by side, so that what they share is seen.
 * Below, what is said of a block is said of a cluster where there are any. */
enum { RUN_BLOCKS = 4 };

/* A sample ends after the run of blocks in which it came to so much work (sim_launch.work): one
 * more costs time and shows little. A wave is known by what each of its blocks accesses at the
 * same time. */
enum { ENOUGH_WORK = 1 << 18, WAVE_ACCESSES = 64 };

/* A set of sectors with the bytes touched of each; open addressing. */
typedef struct sector_set {
    uint64_t *keys; /* sector + 1; 0: empty */
    uint32_t *used;
    size_t capacity, count;
} sector_set;

/* A word from which a lane takes a number by an atomic: with it a block may learn that it is the
 * last. */
typedef struct ticket {
    uint64_t address;
    uint32_t bytes;
    uint64_t initial; /* what it held */
    uint64_t draws;
} ticket;
enum { MOST_TICKETS = 8 };

enum { LINE_WORDS = 128 / 4 };

typedef struct hot_line {
    sim_hot sum;             /* `doubles` and `floats`: sectors, not shares; no operations: */
    float words[LINE_WORDS]; /* those on each */
    uint64_t first;          /* cluster that updated it */
    bool shared;             /* another did, too */
} hot_line;

/* The stores of a warp one after the other merge on their way to the L2 where they are of the same
 * few lines: of structs of K words that warps store word by word, K lines a store, so many lines of
 * what could merge did, by the counts of Nsight Compute on an H100 (microbenchmarks.cu "fields"):
 * 2: 0.99, 3: 0.98, 4: 0.96, 6: 0.54, 8: 0.08, 16: none. */
enum { MERGED_LINES = 4, APART_LINES = 8 };

typedef struct merging {
    uint64_t lines[APART_LINES];
    uint64_t sectors[APART_LINES * 4];
    int line_count, sector_count; /* line_count 0: the next store begins anew */
} merging;

/* The buffers that are read, in the order in which they were met. */
typedef struct buffer_table {
    const sim_memory *memory;
    uint64_t bases[SIM_PROFILE_BUFFERS];
    size_t count, last; /* last: that a sector was of, of these addresses: */
    uint64_t last_from, last_to;
} buffer_table;

typedef struct watcher {
    sector_set block[2]; /* loads, stores of the current block */
    sector_set run[2];   /* of the current run of blocks */
    sector_set held;     /* loads of the current block; `used`: number of the miss that filled it */
    uint32_t misses;     /* of the current block */
    uint32_t l1_sectors;
    sim_traffic sum[2];
    merging merging;
    sector_set lines; /* of 128 bytes with atomics; `used`: their place in: */
    hot_line *hot;    /* owned */
    double atomic_sectors;
    sim_buffer_reads buffers[SIM_PROFILE_BUFFERS];
    buffer_table table;
    uint64_t position; /* blocks begun */
    double critical;   /* clocks: sum of clusters */
    ticket tickets[MOST_TICKETS];
    size_t ticket_count;
    bool kept; /* in the L2: all that there is */
    const sim_launch *launch;
    sim_trace *trace;
    uint64_t *sorted; /* scratch */
    size_t sorted_capacity;
    bool failed; /* out of memory */
} watcher;

static void set_deinit(sector_set *s)
{
    free(s->keys);
    free(s->used);
}

static void set_clear(sector_set *s)
{
    if (s->count > 0)
        memset(s->keys, 0, s->capacity * sizeof *s->keys);
    s->count = 0;
}

static size_t place_of(const sector_set *s, uint64_t sector)
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
        set_deinit(&larger);
        return false;
    }
    for (size_t i = 0; i < s->capacity; i++) {
        if (s->keys[i] == 0)
            continue;
        size_t at = place_of(&larger, s->keys[i] - 1);
        larger.keys[at] = s->keys[i];
        larger.used[at] = s->used[i];
    }
    set_deinit(s);
    *s = larger;
    return true;
}

/* Adds bytes of a sector; *is_new says whether the sector was not there. */
static bool set_add(sector_set *s, uint64_t sector, uint32_t used, bool *is_new)
{
    if (s->count * 2 >= s->capacity && !set_grow(s))
        return false;
    size_t at = place_of(s, sector);
    *is_new = s->keys[at] == 0;
    if (*is_new) {
        s->keys[at] = sector + 1;
        s->used[at] = 0;
        s->count++;
    }
    s->used[at] |= used;
    return true;
}

static int compare_sectors(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The buffer that has the sector; SIM_PROFILE_BUFFERS: none, or one too many. */
static size_t buffer_of(buffer_table *t, uint64_t sector)
{
    const uint64_t address = sector * SIM_SECTOR_BYTES;
    if (address >= t->last_from && address < t->last_to)
        return t->last;
    const sim_region *r = sim_memory_find(t->memory, address);
    size_t i = 0;
    while (r && i < t->count && t->bases[i] != r->base)
        i++;
    if (!r || i == SIM_PROFILE_BUFFERS)
        return SIM_PROFILE_BUFFERS;
    t->count += i == t->count;
    t->bases[i] = t->last_from = r->base;
    t->last_to = r->base + r->size_bytes;
    return t->last = i;
}

/* Adds what the block that just ended did. */
static void close_block(watcher *w, int kind)
{
    sector_set *s = &w->block[kind];
    sim_traffic *sum = &w->sum[kind];
    if (s->count > w->sorted_capacity) {
        uint64_t *grown = realloc(w->sorted, s->count * sizeof *grown);
        if (!grown) {
            w->failed = true;
            return;
        }
        w->sorted = grown;
        w->sorted_capacity = s->count;
    }
    size_t n = 0;
    for (size_t i = 0; i < s->capacity; i++) {
        if (s->keys[i] == 0)
            continue;
        bool is_new;
        w->sorted[n++] = s->keys[i] - 1;
        sum->partial += s->used[i] != UINT32_MAX;
        if (!set_add(&w->run[kind], s->keys[i] - 1, s->used[i], &is_new)) {
            w->failed = true;
            continue;
        }
        sum->fresh += is_new;
        const size_t buffer =
            kind == 0 ? buffer_of(&w->table, s->keys[i] - 1) : SIM_PROFILE_BUFFERS;
        if (buffer < SIM_PROFILE_BUFFERS) {
            w->buffers[buffer].distinct++;
            w->buffers[buffer].fresh += is_new;
        }
    }
    if (n > 0)
        qsort(w->sorted, n, sizeof *w->sorted, compare_sectors);
    for (size_t i = 0; i < n; i++) {
        const bool begins = i == 0 || w->sorted[i] != w->sorted[i - 1] + 1;
        const size_t buffer =
            begins && kind == 0 ? buffer_of(&w->table, w->sorted[i]) : SIM_PROFILE_BUFFERS;
        sum->runs += begins;
        if (buffer < SIM_PROFILE_BUFFERS)
            w->buffers[buffer].runs++;
        sum->lines += i == 0 || w->sorted[i] / 4 != w->sorted[i - 1] / 4;
    }
    sum->distinct += (double)n;
    set_clear(s);
}

static bool set_has(const sector_set *s, uint64_t sector)
{
    return s->count > 0 && s->keys[place_of(s, sector)] != 0;
}

/* Forgets what the run accessed, after a look at what it left unfinished: sectors that it wrote in
 * part and did not read. */
static void close_run(watcher *w)
{
    const sector_set *s = &w->run[1];
    for (size_t i = 0; i < s->capacity && s->count > 0; i++)
        w->sum[1].torn +=
            s->keys[i] != 0 && s->used[i] != UINT32_MAX && !set_has(&w->run[0], s->keys[i] - 1);
    set_clear(&w->run[0]);
    set_clear(&w->run[1]);
}

static void end_block(watcher *w)
{
    set_clear(&w->held);
    w->misses = 0;
    w->merging.line_count = 0;
    for (int kind = 0; kind < 2 && w->position > 0; kind++)
        close_block(w, kind);
    if (w->position > 0 && w->position % RUN_BLOCKS == 0)
        close_run(w);
    if (w->position > 0)
        w->critical += (double)sim_trace_end(w->trace);
}

/* The level that has the sector for a load. The L1 replaces what it has held longest, and keeps
 * what is read once, too, unless it is told not to allocate a line (PTX ISA, "Cache Operators",
 * .cs, and "Cache Eviction Priority Hints"). */
static sim_level find_level(watcher *w, const sim_instruction *c, uint64_t sector)
{
    bool is_new;
    if (!set_add(&w->held, sector, 0, &is_new)) {
        w->failed = true;
        return SIM_LEVEL_L1;
    }
    uint32_t *filled = &w->held.used[place_of(&w->held, sector)];
    const bool is_kept = c->kind != SIM_LOAD || c->op != SIM_HINT_NO_ALLOCATE;
    if (!is_new && is_kept && w->misses - *filled < w->l1_sectors)
        return SIM_LEVEL_L1;
    *filled = w->misses++;
    w->sum[0].missed++;
    const bool in_l2 =
        w->kept || !is_new || set_has(&w->run[0], sector) || set_has(&w->run[1], sector);
    return in_l2 ? SIM_LEVEL_L2 : SIM_LEVEL_DRAM;
}

static uint64_t ticket_value(const sim_launch *l, const ticket *t)
{
    const sim_region *r = sim_memory_find(l->memory, t->address);
    uint64_t v = 0;
    if (r)
        memcpy(&v, r->bytes + (t->address - r->base), t->bytes);
    return v;
}

static void put_ticket(const sim_launch *l, const ticket *t, uint64_t v)
{
    const sim_region *r = sim_memory_find(l->memory, t->address);
    if (r)
        memcpy(r->bytes + (t->address - r->base), &v, t->bytes);
}

static void note_ticket(watcher *w, const sim_instruction *c, const sim_sectors *s)
{
    const uint32_t bytes = ptx_type_bytes((ptx_type)c->type);
    if (c->d2 == 0 || s->count != 1 || s->lanes[0] != 1 || c->type == PTX_F32 ||
        c->type == PTX_F64 || (bytes != 4 && bytes != 8))
        return;
    const uint64_t address = s->sector[0] * SIM_SECTOR_BYTES + (uint64_t)__builtin_ctz(s->used[0]);
    size_t i = 0;
    while (i < w->ticket_count && w->tickets[i].address != address)
        i++;
    if (i == MOST_TICKETS)
        return;
    /* The lane has not drawn yet. */
    if (i == w->ticket_count) {
        w->tickets[i] = (ticket){.address = address, .bytes = bytes};
        w->tickets[i].initial = ticket_value(w->launch, &w->tickets[i]);
        w->ticket_count++;
    }
    w->tickets[i].draws++;
}

/* Lanes of a sector that meet at one of its words, on average. */
static double meeting(const sim_instruction *c, const sim_sectors *s, int i)
{
    const double words = (double)__builtin_popcount(s->used[i]) / ptx_type_bytes((ptx_type)c->type);
    return words > 0 ? s->lanes[i] / words : 1;
}

static void watch_atomic(watcher *w, const sim_instruction *c, const sim_sectors *s)
{
    const bool floats = c->type == PTX_F32 || c->type == PTX_F64;
    w->atomic_sectors += s->count;
    for (int i = 0; i < s->count; i++) {
        bool is_new;
        if (!set_add(&w->lines, s->sector[i] / 4, 0, &is_new)) {
            w->failed = true;
            return;
        }
        uint32_t *place = &w->lines.used[place_of(&w->lines, s->sector[i] / 4)];
        if (is_new) {
            hot_line *grown = array_grow(w->hot, w->lines.count - 1, sizeof *grown);
            if (!grown) {
                w->failed = true;
                return;
            }
            w->hot = grown;
            *place = (uint32_t)(w->lines.count - 1);
            grown[*place] = (hot_line){.first = w->position};
        }
        hot_line *line = &w->hot[*place];
        line->shared = line->shared || line->first != w->position;
        line->sum.sectors++;
        for (int k = 0; k < SIM_SECTOR_BYTES / 4; k++)
            if (s->used[i] >> (4 * k) & 1)
                line->words[s->sector[i] % 4 * (SIM_SECTOR_BYTES / 4) + (uint64_t)k] +=
                    floats ? (float)meeting(c, s, i) : 1;
        line->sum.doubles += c->type == PTX_F64;
        line->sum.floats += c->type == PTX_F32;
    }
}

/* The line with the most sectors, and its word with the most operations. One that a single block
 * alone updates gets no hotter with more blocks. */
static sim_hot hottest(const watcher *w, double scale)
{
    sim_hot most = {0};
    for (size_t i = 0; i < w->lines.count; i++) {
        const hot_line *line = &w->hot[i];
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

static bool holds(const uint64_t *values, int count, uint64_t v)
{
    for (int i = 0; i < count; i++)
        if (values[i] == v)
            return true;
    return false;
}

/* The share of the sectors of a store to so many lines that merge with the one before. */
static double merging_share(int lines)
{
    return fmin(1, fmax(0, (double)(APART_LINES - lines) / (APART_LINES - MERGED_LINES)));
}

/* Counts what a store sends to the L2. */
static void send(watcher *w, const sim_sectors *s)
{
    merging *m = &w->merging, next = {.line_count = 0};
    int lines = 0;
    bool merges = m->line_count > 0;
    for (int i = 0; i < s->count; i++) {
        const uint64_t line = s->sector[i] / 4;
        if (holds(next.lines, next.line_count, line))
            continue;
        lines++;
        merges = merges && holds(m->lines, m->line_count, line);
        if (next.line_count < APART_LINES)
            next.lines[next.line_count++] = line;
    }
    const double apart = 1 - merging_share(lines);
    for (int i = 0; i < s->count; i++)
        w->sum[1].parts += s->used[i] != UINT32_MAX ? apart : 0;
    if (lines >= APART_LINES) {
        m->line_count = 0;
        w->sum[1].moved += lines;
        w->sum[1].sent += s->count;
        return;
    }
    if (merges)
        w->sum[1].moved += lines * apart;
    else {
        w->sum[1].moved += lines;
        *m = next;
    }
    for (int i = 0; i < s->count; i++)
        if (holds(m->sectors, m->sector_count, s->sector[i]))
            w->sum[1].sent += apart;
        else {
            m->sectors[m->sector_count++] = s->sector[i];
            w->sum[1].sent++;
        }
}

static void watch(void *context, const sim_instruction *c, bool is_store, const sim_sectors *s)
{
    watcher *w = context;
    if (!c) {
        end_block(w);
        sim_trace_begin(w->trace);
        if (w->launch->progress)
            w->launch->progress(w->launch->progress_context, w->position, w->launch->cluster_count);
        w->position++;
        return;
    }
    bool is_new;
    uint64_t line = UINT64_MAX;
    w->sum[is_store].sectors += s->count;
    for (int i = 0; i < s->count; i++) {
        sim_level level = SIM_LEVEL_L2;
        if (!set_add(&w->block[is_store], s->sector[i], s->used[i], &is_new))
            w->failed = true;
        if (!is_store)
            level = find_level(w, c, s->sector[i]);
        sim_trace_reach(w->trace, level);
        /* Neighbours come one after the other, most often. */
        if (!is_store && level != SIM_LEVEL_L1 && s->sector[i] / 4 != line) {
            line = s->sector[i] / 4;
            w->sum[0].moved++;
        }
    }
    if (is_store)
        send(w, s);
    if (c->kind == SIM_ATOMIC) {
        watch_atomic(w, c, s);
        note_ticket(w, c, s);
    }
}

/* Tells where in its part of the grid a run begins: by the golden ratio, so that runs begin in
 * different columns of a grid whose rows divide its parts, and in none at its edge. */
static double place_in_part(uint64_t run)
{
    static const double golden = 0.6180339887498949;
    return fmod((double)(run + 1) * golden, 1);
}

/* Picks runs of neighbouring blocks, spread evenly; returns how many blocks. */
static uint64_t pick_blocks(uint64_t total, uint64_t sample, uint64_t *blocks)
{
    uint64_t n = 0;
    if (sample >= total) {
        for (; n < total; n++)
            blocks[n] = n;
        return n;
    }
    uint64_t runs = (sample + RUN_BLOCKS - 1) / RUN_BLOCKS;
    for (uint64_t r = 0; r < runs; r++) {
        uint64_t start = (uint64_t)((double)total * ((double)r + place_in_part(r)) / (double)runs);
        if (start + RUN_BLOCKS > total)
            start = total > RUN_BLOCKS ? total - RUN_BLOCKS : 0;
        for (uint64_t i = 0; i < RUN_BLOCKS && start + i < total && n < sample; i++)
            blocks[n++] = start + i;
    }
    return n;
}

static void divide(sim_traffic *t, double n)
{
    t->sectors /= n;
    t->distinct /= n;
    t->missed /= n;
    t->moved /= n;
    t->sent /= n;
    t->parts /= n;
    t->partial /= n;
    t->torn /= n;
    t->fresh /= n;
    t->runs /= n;
    t->lines /= n;
}

static void summarise(const watcher *w, const sim_launch *launch, sim_profile *out)
{
    double n = (double)out->sampled;
    double warps = (double)((out->threads + SIM_LANES - 1) / SIM_LANES);
    for (size_t i = 0; i < launch->program->code_count; i++) {
        const sim_instruction *c = &launch->program->code[i];
        if (c->kind == SIM_LOAD && launch->counters[i].requests > 0 && c->op < SIM_HINT_COUNT)
            out->hinted[c->op] +=
                (double)launch->counters[i].requests / (double)out->totals.global_load.requests;
    }
    for (size_t i = 0; i < w->table.count; i++)
        out->buffers[i] = (sim_buffer_reads){
            .bytes = (double)sim_memory_find(launch->memory, w->table.bases[i])->size_bytes,
            .distinct = w->buffers[i].distinct / n,
            .fresh = w->buffers[i].fresh / n,
            .runs = w->buffers[i].runs / n};
    out->read = w->sum[0];
    out->write = w->sum[1];
    divide(&out->read, n);
    divide(&out->write, n);
    out->issued = (double)out->totals.issued_total / n;
    out->loads =
        (double)(out->totals.global_load.requests + out->totals.async_copy.requests) / n / warps;
    out->barriers = (double)out->totals.issued[SIM_CLASS_BARRIER] / n / warps;
    out->hot = hottest(w, (double)out->blocks / n);
    out->atomic_sectors = w->atomic_sectors / n;
    sim_issue_find(launch->program, launch->counters, n, &out->issue);
    out->critical_clocks = w->critical / (double)w->position;
    double squares = 0;
    for (size_t i = 0; i < launch->program->code_count; i++)
        squares += (double)launch->counters[i].issued * (double)launch->counters[i].issued;
    out->trips = out->issued > 0 ? squares / (out->issued * n) / (warps * n) : 0;
}

/* The sectors that clusters read, and those of them that none did before; of each buffer, and of
 * all together as the last. */
typedef struct wave_reads {
    double all[SIM_PROFILE_BUFFERS + 1], fresh[SIM_PROFILE_BUFFERS + 1];
} wave_reads;

typedef struct wave_watcher {
    sector_set touched[2]; /* loads, stores; `used`: number of the last cluster that did */
    uint32_t position;     /* clusters begun */
    buffer_table *table;
    wave_reads reads;
    bool failed;
} wave_watcher;

static void watch_wave(void *context, const sim_instruction *c, bool is_store, const sim_sectors *s)
{
    wave_watcher *w = context;
    bool is_new;
    w->position += !c;
    for (int i = 0; c && i < s->count; i++) {
        sector_set *set = &w->touched[is_store];
        if (!set_add(set, s->sector[i], 0, &is_new)) {
            w->failed = true;
            return;
        }
        uint32_t *last = &set->used[place_of(set, s->sector[i])];
        for (int k = 0; !is_store && *last != w->position && k < 2; k++) {
            const size_t of = k ? SIM_PROFILE_BUFFERS : buffer_of(w->table, s->sector[i]);
            if (k || of < SIM_PROFILE_BUFFERS) {
                w->reads.all[of]++;
                w->reads.fresh[of] += is_new;
            }
        }
        *last = w->position;
    }
}

/* Sectors over runs of neighbours; 0 for an empty set. */
static double run_length(const sector_set *s)
{
    size_t runs = 0;
    for (size_t i = 0; i < s->capacity; i++)
        if (s->keys[i] > 1)
            runs += s->keys[place_of(s, s->keys[i] - 2)] == 0;
    return runs ? (double)s->count / (double)runs : 0;
}

/* Runs the first warps of `count` clusters from `first` on. */
static at_status run_wave(const sim_launch *launch, uint64_t first, uint64_t count, wave_watcher *w,
                          sim_fault *fault, at_error *error)
{
    sim_launch l = *launch;
    uint64_t *clusters = memory_new(count + 1, sizeof *clusters);
    for (uint64_t i = 0; i < count; i++)
        clusters[i] = first + i;
    l.clusters = clusters;
    l.cluster_count = count;
    l.counters = NULL;
    l.check = false;
    l.first_warp_only = true;
    l.most_accesses = WAVE_ACCESSES;
    l.observer = watch_wave;
    l.observer_context = w;
    l.announce = true;
    at_status status = sim_run(&l, fault, error);
    free(clusters);
    return status;
}

static double share_of(const wave_reads *r, size_t i)
{
    return r->all[i] > 0 ? r->fresh[i] / r->all[i] : 1;
}

/* Fills the wave of *out, and its buffers' part of it. A kernel that needs its other warps may
 * fault here; then there is nothing to say. */
static at_status profile_wave(const sim_launch *launch, uint64_t wave, buffer_table *table,
                              sim_profile *out, at_error *error)
{
    uint64_t each = sim_launch_cluster_blocks(launch);
    uint64_t total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] / each;
    wave = (wave + each - 1) / each;
    wave = wave > total ? total : wave;
    const uint64_t next = total - wave > wave ? wave : total - wave;
    const uint64_t first = (total - wave - next) / 2;
    wave_watcher w = {.table = table};
    sim_fault fault;
    at_status status = run_wave(launch, first, wave, &w, &fault, error);
    if (!status && fault.kind == SIM_FAULT_NONE) {
        const wave_reads one = w.reads;
        out->wave.bytes = one.fresh[SIM_PROFILE_BUFFERS] * SIM_SECTOR_BYTES *
                          ceil((double)out->threads / SIM_LANES);
        out->wave.read_run = run_length(&w.touched[0]);
        out->wave.write_run = run_length(&w.touched[1]);
        w.reads = (wave_reads){0};
        if (next > 0)
            status = run_wave(launch, first + wave, next, &w, &fault, error);
        const wave_reads *two =
            next > 0 && !status && fault.kind == SIM_FAULT_NONE ? &w.reads : &one;
        for (size_t i = 0; i <= SIM_PROFILE_BUFFERS; i++) {
            sim_buffer_reads *b = &out->buffers[i % SIM_PROFILE_BUFFERS];
            *(i < SIM_PROFILE_BUFFERS ? &b->first_fresh : &out->wave.first_fresh) =
                share_of(&one, i);
            *(i < SIM_PROFILE_BUFFERS ? &b->later_fresh : &out->wave.later_fresh) =
                share_of(two->all[i] > 0 ? two : &one, i);
        }
    }
    if (!status && w.failed)
        status = error_set(error, AT_NO_MEMORY, "no memory to profile a kernel");
    set_deinit(&w.touched[0]);
    set_deinit(&w.touched[1]);
    return status;
}

/* Runs the clusters of *l, a run of neighbours at a time, until these have executed enough. */
static at_status run_sample(sim_launch *l, bool all, sim_fault *fault, at_error *error)
{
    const uint64_t *clusters = l->clusters;
    const uint64_t count = l->cluster_count;
    uint64_t work = 0, done = 0;
    at_status status = AT_OK;
    l->work = &work;
    fault->kind = SIM_FAULT_NONE;
    while (!status && done < count && fault->kind == SIM_FAULT_NONE &&
           (all || work < ENOUGH_WORK)) {
        l->clusters = clusters + done;
        l->cluster_count = all ? count : count - done < RUN_BLOCKS ? count - done : RUN_BLOCKS;
        status = sim_run(l, fault, error);
        done += l->cluster_count;
    }
    l->clusters = clusters;
    l->cluster_count = done;
    l->work = NULL;
    return status;
}

/* Runs a cluster of *l, whose observer is `w`, as the one that draws the last tickets: each cluster
 * takes as many as the one that is run before. */
static at_status run_last(sim_launch *l, watcher *w, uint64_t total, double *clocks,
                          at_error *error)
{
    const uint64_t number = total - 1, drawn = w->position;
    uint64_t before[MOST_TICKETS], step[MOST_TICKETS];
    size_t count = 0;
    sim_fault fault;
    for (size_t i = 0; i < w->ticket_count; i++)
        if (w->tickets[i].draws == drawn)
            w->tickets[count++] = w->tickets[i];
    if (count == 0 || total < 2)
        return AT_OK;
    for (size_t i = 0; i < count; i++)
        before[i] = ticket_value(l, &w->tickets[i]);
    l->clusters = &number;
    l->cluster_count = 1;
    l->counters = NULL;
    l->progress = NULL;
    at_status status = sim_run(l, &fault, error);
    for (size_t i = 0; i < count; i++)
        step[i] = ticket_value(l, &w->tickets[i]) - before[i];
    /* The first ticket may wind up what the counter held before the launch. */
    for (int wound = 0; wound < 2 && !status && fault.kind == SIM_FAULT_NONE; wound++) {
        for (size_t i = 0; i < count; i++)
            put_ticket(l, &w->tickets[i],
                       (wound ? 0 : w->tickets[i].initial) + step[i] * (total - 1));
        status = sim_run(l, &fault, error);
        *clocks = fmax(*clocks, (double)sim_trace_end(w->trace));
    }
    for (size_t i = 0; i < count; i++)
        put_ticket(l, &w->tickets[i], w->tickets[i].initial);
    return status;
}

at_status sim_profile_launch(const sim_launch *launch, const sim_sampling *how,
                             sim_counter *counters, sim_profile *out, sim_fault *fault,
                             at_error *error)
{
    *out = (sim_profile){0};
    uint64_t each = sim_launch_cluster_blocks(launch), sample = how->blocks;
    uint64_t total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t memory_bytes = 0;
    sim_trace *trace = NULL;
    watcher w = {.l1_sectors = (uint32_t)(how->l1_bytes / SIM_SECTOR_BYTES)};
    sim_launch l = *launch;
    sim_counter *own = counters ? NULL : calloc(launch->program->code_count, sizeof *own);
    uint64_t *blocks = calloc(sample + 1, sizeof *blocks);
    at_status status = sim_trace_new(launch, &how->latencies, how->window, &trace, error);
    if (!status && ((!counters && !own) || !blocks))
        status = error_set(error, AT_NO_MEMORY, "no memory to profile a kernel");
    if (status)
        goto cleanup;
    l.clusters = blocks;
    l.cluster_count = pick_blocks(total / each, (sample + each - 1) / each, blocks);
    l.counters = counters ? counters : own;
    l.observer = watch;
    l.observer_context = &w;
    l.trace = w.trace = trace;
    for (size_t i = 0; i < launch->memory->count; i++)
        memory_bytes += launch->memory->regions[i].size_bytes;
    w.launch = &l;
    w.table.memory = launch->memory;
    l.announce = true;
    status = run_sample(&l, how->all, fault, error);
    end_block(&w);
    close_run(&w);
    if (!status && w.failed)
        status = error_set(error, AT_NO_MEMORY, "no memory to profile a kernel");
    if (status || fault->kind != SIM_FAULT_NONE)
        goto cleanup;
    out->blocks = total;
    out->threads = (uint64_t)l.block[0] * l.block[1] * l.block[2];
    out->memory_bytes = (double)memory_bytes;
    out->sampled = l.cluster_count * each;
    sim_totals_compute(l.program, l.counters, &out->totals);
    summarise(&w, &l, out);
    w.kept = memory_bytes < how->l2_bytes;
    status = run_last(&l, &w, total / each, &out->last_clocks, error);
    if (status)
        goto cleanup;
    if (how->wave > 0)
        status = profile_wave(launch, how->wave, &w.table, out, error);
cleanup:
    for (int kind = 0; kind < 2; kind++) {
        set_deinit(&w.block[kind]);
        set_deinit(&w.run[kind]);
    }
    set_deinit(&w.held);
    set_deinit(&w.lines);
    free(w.hot);
    sim_trace_free(trace);
    free(w.sorted);
    free(own);
    free(blocks);
    return status;
}
