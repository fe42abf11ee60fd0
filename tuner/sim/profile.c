#include "sim/profile.h"

#include <stdlib.h>
#include <string.h>

/* Clusters (blocks, where these are alone) sampled side by side, so that what they share is seen.
 * Below, what is said of a block is said of a cluster where there are any. */
enum { RUN_BLOCKS = 4 };

/* A set of sectors with the bytes touched of each; open addressing. */
typedef struct sector_set {
    uint64_t *keys; /* sector + 1; 0: empty */
    uint32_t *used;
    size_t capacity, count;
} sector_set;

typedef struct watcher {
    sector_set block[2]; /* loads, stores of the current block */
    sector_set run[2];   /* of the current run of blocks */
    sim_traffic sum[2];
    sector_set block_atomics, atomics; /* `used` counts lanes, of the current block and of all */
    uint32_t block_hottest, hottest;   /* most of any block, and of all */
    uint64_t position;                 /* blocks begun */
    const sim_launch *launch;
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
        if (!set_add(&w->run[kind], s->keys[i] - 1, s->used[i], &is_new))
            w->failed = true;
        else
            sum->fresh += is_new;
    }
    if (n > 0)
        qsort(w->sorted, n, sizeof *w->sorted, compare_sectors);
    for (size_t i = 0; i < n; i++) {
        sum->runs += i == 0 || w->sorted[i] != w->sorted[i - 1] + 1;
        sum->lines += i == 0 || w->sorted[i] / 4 != w->sorted[i - 1] / 4;
    }
    sum->distinct += (double)n;
    set_clear(s);
}

/* Adds `lanes` atomics on a sector, and keeps the most of any. */
static void count_atomics(watcher *w, sector_set *s, uint64_t sector, uint32_t lanes,
                          uint32_t *most)
{
    bool is_new;
    if (!set_add(s, sector, 0, &is_new)) {
        w->failed = true;
        return;
    }
    uint32_t *count = &s->used[place_of(s, sector)];
    *count = *count > UINT32_MAX - lanes ? UINT32_MAX : *count + lanes;
    *most = *count > *most ? *count : *most;
}

static void end_block(watcher *w)
{
    set_clear(&w->block_atomics);
    for (int kind = 0; kind < 2 && w->position > 0; kind++) {
        close_block(w, kind);
        if (w->position % RUN_BLOCKS == 0)
            set_clear(&w->run[kind]);
    }
}

static void watch(void *context, const sim_instruction *c, bool is_store, const sim_sectors *s)
{
    watcher *w = context;
    if (!c) {
        end_block(w);
        if (w->launch->progress)
            w->launch->progress(w->launch->progress_context, w->position, w->launch->cluster_count);
        w->position++;
        return;
    }
    bool is_new;
    w->sum[is_store].sectors += s->count;
    for (int i = 0; i < s->count; i++)
        if (!set_add(&w->block[is_store], s->sector[i], s->used[i], &is_new))
            w->failed = true;
    for (int i = 0; c->kind == SIM_ATOMIC && i < s->count; i++) {
        count_atomics(w, &w->block_atomics, s->sector[i], s->lanes[i], &w->block_hottest);
        count_atomics(w, &w->atomics, s->sector[i], s->lanes[i], &w->hottest);
    }
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
        /* A run begins in the middle of each part, where edges do not distort. */
        uint64_t start = (2 * r + 1) * total / (2 * runs);
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
    t->partial /= n;
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
    out->read = w->sum[0];
    out->write = w->sum[1];
    divide(&out->read, n);
    divide(&out->write, n);
    out->issued = (double)out->totals.issued_total / n;
    out->loads =
        (double)(out->totals.global_load.requests + out->totals.async_copy.requests) / n / warps;
    out->barriers = (double)out->totals.issued[SIM_CLASS_BARRIER] / n / warps;
    /* A word that one block alone updates gets no hotter with more blocks. */
    bool shared = w->hottest > w->block_hottest;
    out->hottest = shared ? (double)w->hottest / n * (double)out->blocks : (double)w->hottest;
}

typedef struct wave_watcher {
    sector_set touched[2]; /* loads, stores */
    bool failed;
} wave_watcher;

static void watch_wave(void *context, const sim_instruction *c, bool is_store, const sim_sectors *s)
{
    wave_watcher *w = context;
    bool is_new;
    for (int i = 0; c && i < s->count; i++)
        if (!set_add(&w->touched[is_store], s->sector[i], s->used[i], &is_new))
            w->failed = true;
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

/* A kernel that needs its other warps may fault here; then there is nothing to say. */
static at_status profile_wave(const sim_launch *launch, uint64_t wave, sim_wave *out,
                              at_error *error)
{
    uint64_t each = sim_launch_cluster_blocks(launch);
    uint64_t total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] / each;
    wave = (wave + each - 1) / each;
    if (wave > total)
        wave = total;
    wave_watcher w = {0};
    sim_launch l = *launch;
    sim_fault fault;
    uint64_t *blocks = calloc(wave + 1, sizeof *blocks);
    if (!blocks)
        return error_set(error, AT_NO_MEMORY, "no memory to profile a kernel");
    for (uint64_t i = 0; i < wave; i++)
        blocks[i] = (total - wave) / 2 + i;
    l.clusters = blocks;
    l.cluster_count = wave;
    l.counters = NULL;
    l.check = false;
    l.first_warp_only = true;
    l.observer = watch_wave;
    l.observer_context = &w;
    at_status status = sim_run(&l, &fault, error);
    if (!status && w.failed)
        status = error_set(error, AT_NO_MEMORY, "no memory to profile a kernel");
    if (!status && fault.kind == SIM_FAULT_NONE)
        *out = (sim_wave){run_length(&w.touched[0]), run_length(&w.touched[1])};
    set_deinit(&w.touched[0]);
    set_deinit(&w.touched[1]);
    free(blocks);
    return status;
}

at_status sim_profile_launch(const sim_launch *launch, uint64_t sample, uint64_t wave,
                             sim_counter *counters, sim_profile *out, sim_fault *fault,
                             at_error *error)
{
    *out = (sim_profile){0};
    uint64_t each = sim_launch_cluster_blocks(launch);
    uint64_t total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    watcher w = {0};
    sim_launch l = *launch;
    sim_counter *own = counters ? NULL : calloc(launch->program->code_count, sizeof *own);
    uint64_t *blocks = calloc(sample + 1, sizeof *blocks);
    at_status status = AT_OK;
    if ((!counters && !own) || !blocks) {
        status = error_set(error, AT_NO_MEMORY, "no memory to profile a kernel");
        goto cleanup;
    }
    l.clusters = blocks;
    l.cluster_count = pick_blocks(total / each, (sample + each - 1) / each, blocks);
    l.counters = counters ? counters : own;
    l.observer = watch;
    l.observer_context = &w;
    w.launch = &l;
    l.announce = true;
    status = sim_run(&l, fault, error);
    end_block(&w);
    if (!status && w.failed)
        status = error_set(error, AT_NO_MEMORY, "no memory to profile a kernel");
    if (status || fault->kind != SIM_FAULT_NONE)
        goto cleanup;
    out->blocks = total;
    out->threads = (uint64_t)l.block[0] * l.block[1] * l.block[2];
    out->sampled = l.cluster_count * each;
    sim_totals_compute(l.program, l.counters, &out->totals);
    summarise(&w, &l, out);
    if (wave > 0)
        status = profile_wave(launch, wave, &out->wave, error);
cleanup:
    for (int kind = 0; kind < 2; kind++) {
        set_deinit(&w.block[kind]);
        set_deinit(&w.run[kind]);
    }
    set_deinit(&w.block_atomics);
    set_deinit(&w.atomics);
    free(w.sorted);
    free(own);
    free(blocks);
    return status;
}
