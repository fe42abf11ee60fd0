#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/profile_parts.h"

/* Adjacent clusters that are sampled together, to see what they share. A launch without clusters
 * has clusters of one block; below, "block" means cluster. */
enum { RUN_BLOCKS = 4 };

/* A sample ends after the run of blocks that reaches this work. More work changes little. */
enum { ENOUGH_WORK = 1 << 18 };

enum { LINE_BYTES = 128, SECTOR_WORDS = SIM_SECTOR_BYTES / 4 };

/* Lines that a pass of the L1 reads (mechanisms.cu "l1 passes"). */
enum { PASS_LINES = 4 };

/* Consecutive stores of a warp merge on their way to the L2 if they go to the same few lines. A
 * warp that stores structs of K words word by word covers K lines per store. The share of lines
 * that merge, by counts of Nsight Compute on an H100 (microbenchmarks.cu "fields"), is 0.99 for K =
 * 2, 0.98 for 3, 0.96 for 4, 0.54 for 6, 0.08 for 8, 0 for 16. */
enum { MERGED_LINES = 4, APART_LINES = 8 };

/* The lines and sectors of the previous stores of a warp. */
typedef struct merging {
    uint64_t lines[SIM_LANES];
    uint64_t sectors[APART_LINES * 4];
    int line_count, sector_count; /* line_count is 0 if the next store cannot merge */
} merging;

/* The share of a block of the L1. A zeroed one is empty. */
typedef struct l1 {
    sector_set held;     /* loaded sectors; the word is the number of the miss that loaded it */
    sector_set lines;    /* lines; the word is the number of lines that were loaded before it */
    uint32_t *came;      /* owned; for each loaded line, the number of the miss */
    uint32_t line_count; /* loaded lines */
    uint32_t misses;
} l1;

typedef struct watcher {
    sector_set block[2]; /* sectors of loads and of stores of the current block */
    sector_set run[2];   /* the same for the current run of blocks */
    l1 l1;
    l1 before;         /* contents of the L1 before each block: those that an earlier block left */
    uint32_t l1_lines; /* capacity of the L1 for a block */
    sim_traffic sum[2];
    merging merging;
    atomics atomics;
    atomics put_back; /* those of the block that fills the L1 */
    /* Sectors of atomics: since the block's latest load, and the sum of these at the blocks' ends.
     */
    double since_load, last_atomics;
    sim_buffer_reads buffers[SIM_PROFILE_BUFFERS];
    double requested[SIM_PROFILE_BUFFERS]; /* sectors */
    buffer_table table;
    uint64_t position;
    double critical; /* sum of the clocks of all blocks */
    bool kept;       /* the L2 holds all buffers */
    const sim_launch *launch;
    sim_trace *trace;
    uint64_t *sorted; /* sorted sectors of a block, for add_block_traffic() */
    size_t sorted_capacity;
    bool failed;
} watcher;

static void add_block_traffic(watcher *w, int kind)
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
        if (!sector_set_add(&w->run[kind], s->keys[i] - 1, s->used[i], &is_new)) {
            w->failed = true;
            continue;
        }
        sum->fresh += is_new;
        const size_t buffer =
            kind == 0 ? buffer_table_find(&w->table, s->keys[i] - 1) : SIM_PROFILE_BUFFERS;
        if (buffer < SIM_PROFILE_BUFFERS) {
            w->buffers[buffer].distinct++;
            w->buffers[buffer].fresh += is_new;
        }
    }
    if (n > 0)
        qsort(w->sorted, n, sizeof *w->sorted, ascending_u64);
    for (size_t i = 0; i < n; i++) {
        const bool begins = i == 0 || w->sorted[i] != w->sorted[i - 1] + 1;
        const size_t buffer =
            begins && kind == 0 ? buffer_table_find(&w->table, w->sorted[i]) : SIM_PROFILE_BUFFERS;
        sum->runs += begins;
        if (buffer < SIM_PROFILE_BUFFERS)
            w->buffers[buffer].runs++;
        sum->lines += i == 0 || w->sorted[i] / 4 != w->sorted[i - 1] / 4;
    }
    sum->distinct += (double)n;
    sector_set_clear(s);
}

/* Forgets a run's accesses. Counts the sectors that the run wrote in part and did not read. */
static void close_run(watcher *w)
{
    const sector_set *s = &w->run[1];
    for (size_t i = 0; i < s->capacity && s->count > 0; i++)
        w->sum[1].torn += s->keys[i] != 0 && s->used[i] != UINT32_MAX &&
                          !sector_set_has(&w->run[0], s->keys[i] - 1);
    sector_set_clear(&w->run[0]);
    sector_set_clear(&w->run[1]);
}

static void l1_deinit(l1 *l)
{
    sector_set_deinit(&l->held);
    sector_set_deinit(&l->lines);
    free(l->came);
    *l = (l1){0};
}

static bool l1_copy(l1 *to, const l1 *from)
{
    size_t capacity = 1;
    while (capacity < from->line_count)
        capacity *= 2;
    uint32_t *came = realloc(to->came, capacity * sizeof *came);
    if (!came)
        return false;
    if (from->line_count > 0)
        memcpy(came, from->came, from->line_count * sizeof *came);
    to->came = came;
    to->line_count = from->line_count;
    to->misses = from->misses;
    return sector_set_copy(&to->held, &from->held) && sector_set_copy(&to->lines, &from->lines);
}

static void end_block(watcher *w)
{
    w->failed = !l1_copy(&w->l1, &w->before) || w->failed;
    w->merging.line_count = 0;
    w->last_atomics += w->since_load;
    w->since_load = 0;
    for (int kind = 0; kind < 2 && w->position > 0; kind++)
        add_block_traffic(w, kind);
    if (w->position > 0 && w->position % RUN_BLOCKS == 0)
        close_run(w);
    if (w->position > 0)
        w->critical += (double)sim_trace_end(w->trace);
}

/* Returns whether a load allocates a line in the L1 (PTX ISA, "Cache Operators", .cg, and "Cache
 * Eviction Priority Hints"). The L1 keeps lines of .cs loads as long as others (mechanisms.cu "l1
 * lines"). */
static bool allocates(const sim_instruction *c)
{
    return c->kind != SIM_LOAD || (c->op != SIM_HINT_NO_ALLOCATE &&
                                   c->op != SIM_HINT_WIDE_NO_ALLOCATE && c->op != SIM_HINT_L2);
}

/* Returns whether the L1 has the sector, and loads it. The L1 allocates whole lines, but loads only
 * requested sectors, and replaces the oldest line. `filled` is the number of the miss that loaded
 * the sector if `was_filled`. */
static bool look_in_l1(watcher *w, const sim_instruction *c, uint64_t sector, bool was_filled,
                       uint32_t filled)
{
    l1 *l = &w->l1;
    bool is_new;
    if (!allocates(c))
        return false;
    if (!sector_set_add(&l->lines, sector / 4, 0, &is_new)) {
        w->failed = true;
        return true;
    }
    uint32_t *line = &l->lines.used[sector_set_index(&l->lines, sector / 4)];
    if (!is_new && l->line_count - *line <= w->l1_lines)
        return was_filled && filled >= l->came[*line];
    uint32_t *grown = array_grow(l->came, l->line_count, sizeof *grown);
    if (!grown) {
        w->failed = true;
        return true;
    }
    l->came = grown;
    l->came[l->line_count] = l->misses;
    *line = l->line_count++;
    return false;
}

static sim_level find_level(watcher *w, const sim_instruction *c, uint64_t sector)
{
    bool is_new;
    if (!sector_set_add(&w->l1.held, sector, 0, &is_new)) {
        w->failed = true;
        return SIM_LEVEL_L1;
    }
    uint32_t *filled = &w->l1.held.used[sector_set_index(&w->l1.held, sector)];
    if (look_in_l1(w, c, sector, !is_new, *filled))
        return SIM_LEVEL_L1;
    const bool again = !is_new && *filled >= w->before.misses;
    if (again) {
        w->sum[0].again++;
        w->sum[0].between += w->l1.misses - *filled;
    }
    *filled = w->l1.misses++;
    w->sum[0].missed++;
    const bool in_l2 = w->kept || again || sector_set_has(&w->run[0], sector) ||
                       sector_set_has(&w->run[1], sector);
    return in_l2 ? SIM_LEVEL_L2 : SIM_LEVEL_DRAM;
}

static bool holds(const uint64_t *values, int count, uint64_t v)
{
    for (int i = 0; i < count; i++)
        if (values[i] == v)
            return true;
    return false;
}

/* Finds the lines of an access, in lines[SIM_LANES]. Returns their number. */
static int find_lines(const sim_sectors *s, uint64_t *lines)
{
    int count = 0;
    for (int i = 0; i < s->count; i++)
        if (!holds(lines, count, s->sector[i] / 4))
            lines[count++] = s->sector[i] / 4;
    return count;
}

/* Returns the passes of the L1 for an access. A pass reads one word of each of 32 banks, from at
 * most PASS_LINES lines. This is measured for loads, and assumed for stores. */
static int count_passes(const sim_sectors *s)
{
    uint64_t lines[SIM_LANES];
    int words[4 * SECTOR_WORDS] = {0};
    int passes = (find_lines(s, lines) + PASS_LINES - 1) / PASS_LINES;
    for (int i = 0; i < s->count; i++)
        for (uint64_t k = 0; k < SECTOR_WORDS; k++) {
            int *bank = &words[s->sector[i] % 4 * SECTOR_WORDS + k];
            *bank += (s->used[i] >> (4 * k) & 15) != 0;
            passes = *bank > passes ? *bank : passes;
        }
    return passes;
}

/* Returns the share of a store that merges with the previous store, if it writes to `lines` lines.
 */
static double merging_share(int lines)
{
    return fmin(1, fmax(0, (double)(APART_LINES - lines) / (APART_LINES - MERGED_LINES)));
}

/* Counts the sectors and lines that a store sends to the L2. */
static void send(watcher *w, const sim_sectors *s)
{
    merging *m = &w->merging, next = {.line_count = 0};
    const int lines = next.line_count = find_lines(s, next.lines);
    bool merges = m->line_count > 0;
    for (int i = 0; i < lines; i++)
        merges = merges && holds(m->lines, m->line_count, next.lines[i]);
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

static void note_hint(watcher *w, const sim_instruction *c, uint64_t sector)
{
    const size_t buffer = buffer_table_find(&w->table, sector);
    const int hint = c->kind == SIM_LOAD ? c->op : SIM_HINT_NONE;
    if (buffer == SIM_PROFILE_BUFFERS)
        return;
    w->requested[buffer]++;
    w->buffers[buffer].once += hint == SIM_HINT_STREAMING || hint == SIM_HINT_NO_ALLOCATE ||
                               hint == SIM_HINT_WIDE_NO_ALLOCATE;
    w->buffers[buffer].wide += hint == SIM_HINT_WIDE || hint == SIM_HINT_WIDE_NO_ALLOCATE;
}

/* Watches a block whose only effect is what it leaves in the L1. */
static void watch_l1(void *context, const sim_instruction *c, bool is_store, const sim_sectors *s)
{
    watcher *w = context;
    const sim_traffic loads = w->sum[0];
    for (int i = 0; c && !is_store && i < s->count; i++)
        find_level(w, c, s->sector[i]);
    if (c && c->kind == SIM_ATOMIC && !atomics_note(&w->put_back, w->launch->memory, 0, c, s))
        w->failed = true;
    w->sum[0] = loads;
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
        if (!sector_set_add(&w->block[is_store], s->sector[i], s->used[i], &is_new))
            w->failed = true;
        if (!is_store) {
            level = find_level(w, c, s->sector[i]);
            note_hint(w, c, s->sector[i]);
        }
        sim_trace_reach(w->trace, level);
        /* Sectors of a line are usually adjacent in the list. */
        if (!is_store && level != SIM_LEVEL_L1 && s->sector[i] / 4 != line) {
            line = s->sector[i] / 4;
            w->sum[0].moved++;
        }
    }
    w->sum[is_store].passes += count_passes(s);
    if (is_store)
        send(w, s);
    w->since_load = is_store ? w->since_load : 0;
    if (c->kind == SIM_ATOMIC) {
        w->since_load += s->count;
        w->failed = !atomics_note(&w->atomics, w->launch->memory, w->position, c, s) || w->failed;
    }
}

/* Returns where a run starts within its part of the grid, in [0, 1), by the golden ratio: runs
 * start in different columns, not only at edges of the grid. */
static double start_in_part(uint64_t run)
{
    static const double golden = 0.6180339887498949;
    return fmod((double)(run + 1) * golden, 1);
}

/* Picks runs of adjacent blocks, spread evenly. Returns the number of blocks. */
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
        uint64_t start = (uint64_t)((double)total * ((double)r + start_in_part(r)) / (double)runs);
        if (start + RUN_BLOCKS > total)
            start = total > RUN_BLOCKS ? total - RUN_BLOCKS : 0;
        for (uint64_t i = 0; i < RUN_BLOCKS && start + i < total && n < sample; i++)
            blocks[n++] = start + i;
    }
    return n;
}

static void average(sim_traffic *t, double n)
{
    t->between /= fmax(t->again, 1);
    t->again /= n;
    t->sectors /= n;
    t->passes /= n;
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

/* Returns whether a load from constant memory became an operand of another machine instruction. */
static bool is_folded(const sim_program *p, const sim_instruction *c)
{
    if (!p->module->has_notes || c->statement == PTX_NONE)
        return false;
    const ptx_note *n = &p->module->statements[c->statement].note;
    return n->common + n->integers + n->products + n->specials + n->others == 0;
}

static void summarise(const watcher *w, const sim_launch *launch, sim_profile *out)
{
    double n = (double)out->sampled;
    double warps = (double)((out->threads + SIM_LANES - 1) / SIM_LANES);
    for (size_t i = 0; i < launch->program->code_count; i++) {
        const sim_instruction *c = &launch->program->code[i];
        if (c->kind == SIM_LOAD && launch->counters[i].requests > 0 && c->op < SIM_HINT_COUNT)
            out->hinted[c->op] +=
                (double)launch->counters[i].sectors / (double)out->totals.global_load.sectors;
        if (!is_folded(launch->program, c))
            out->constant += (double)launch->counters[i].constant_passes / n;
    }
    for (size_t i = 0; i < w->table.count; i++)
        out->buffers[i] = (sim_buffer_reads){
            .bytes = (double)sim_memory_find(launch->memory, w->table.bases[i])->size_bytes,
            .distinct = w->buffers[i].distinct / n,
            .fresh = w->buffers[i].fresh / n,
            .runs = w->buffers[i].runs / n,
            .once = w->buffers[i].once / fmax(w->requested[i], 1),
            .wide = w->buffers[i].wide / fmax(w->requested[i], 1)};
    out->read = w->sum[0];
    out->write = w->sum[1];
    average(&out->read, n);
    average(&out->write, n);
    out->issued = (double)out->totals.issued_total / n;
    out->loads =
        (double)(out->totals.global_load.requests + out->totals.async_copy.requests) / n / warps;
    out->barriers = (double)out->totals.issued[SIM_CLASS_BARRIER] / n / warps;
    out->hot = atomics_find_hottest(&w->atomics, (double)out->blocks / n);
    out->atomic_sectors = w->atomics.sectors / n;
    out->atomics_last = w->last_atomics / fmax(w->atomics.sectors, 1);
    sim_issue_find(launch->program, launch->counters, n, &out->issue);
    /* ptxas keeps parameters and variables in registers that are local memory in the PTX. */
    if (out->issue.locals == 0)
        out->totals.local = (sim_counter){0};
    out->critical_clocks = w->critical / (double)w->position;
    double squares = 0;
    for (size_t i = 0; i < launch->program->code_count; i++)
        squares += (double)launch->counters[i].issued * (double)launch->counters[i].issued;
    out->trips = out->issued > 0 ? squares / (out->issued * n) / (warps * n) : 0;
}

/* Runs a cluster, and keeps what it leaves in the L1 for all later ones: blocks that run on an SM
 * one after the other find each other's lines (mechanisms.cu "l1 of blocks"). */
static at_status fill_l1(watcher *w, const sim_launch *launch, uint64_t cluster, sim_fault *fault,
                         at_error *error)
{
    sim_launch l = *launch;
    l.clusters = &cluster;
    l.cluster_count = 1;
    l.counters = NULL;
    l.trace = NULL;
    l.observer = watch_l1;
    l.announce = false;
    l1_deinit(&w->l1);
    at_status status = sim_run(&l, fault, error);
    atomics_put_back(&w->put_back, l.memory);
    w->before = w->l1;
    w->l1 = (l1){0};
    return status;
}

/* Runs the clusters of *l, one run of adjacent clusters at a time: with `all` every cluster,
 * otherwise until they have executed enough. The chip holds `wave` clusters at a time. */
static at_status run_sample(watcher *w, sim_launch *l, bool all, uint64_t wave, sim_fault *fault,
                            at_error *error)
{
    const uint64_t *clusters = l->clusters;
    const uint64_t count = l->cluster_count;
    uint64_t work = 0, done = 0;
    at_status status = AT_OK;
    l->work = &work;
    fault->kind = SIM_FAULT_NONE;
    while (!status && done < count && fault->kind == SIM_FAULT_NONE &&
           (all || work < ENOUGH_WORK)) {
        if (!all && w->before.line_count == 0 && clusters[done] >= wave)
            status = fill_l1(w, l, clusters[done] - wave, fault, error);
        if (status || fault->kind != SIM_FAULT_NONE)
            break;
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

at_status sim_profile_launch(const sim_launch *launch, const sim_sampling *how,
                             sim_counter *counters, sim_profile *out, sim_fault *fault,
                             at_error *error)
{
    *out = (sim_profile){0};
    uint64_t each = sim_launch_cluster_blocks(launch), sample = how->blocks;
    uint64_t total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t memory_bytes = 0;
    sim_trace *trace = NULL;
    watcher w = {.l1_lines = (uint32_t)(how->l1_bytes / LINE_BYTES)};
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
    status =
        run_sample(&w, &l, how->all, how->wave > 0 ? how->wave / each : UINT64_MAX, fault, error);
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
    status = atomics_run_last(&w.atomics, &l, w.position, total / each, &out->last_clocks, error);
    if (status)
        goto cleanup;
    if (how->wave > 0)
        status = sim_profile_wave(launch, how->wave, &w.table, out, error);
cleanup:
    for (int kind = 0; kind < 2; kind++) {
        sector_set_deinit(&w.block[kind]);
        sector_set_deinit(&w.run[kind]);
    }
    l1_deinit(&w.l1);
    l1_deinit(&w.before);
    atomics_deinit(&w.atomics);
    atomics_deinit(&w.put_back);
    sim_trace_free(trace);
    free(w.sorted);
    free(own);
    free(blocks);
    return status;
}
