#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "sim/profile_parts.h"

/* Number of accesses that are sampled in each block of a wave. */
enum { WAVE_ACCESSES = 64 };

size_t buffer_table_find(buffer_table *t, uint64_t sector)
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

/* Sectors that clusters read, and those read first by them: per buffer, last for all memory. */
typedef struct wave_reads {
    double all[SIM_PROFILE_BUFFERS + 1], fresh[SIM_PROFILE_BUFFERS + 1];
} wave_reads;

typedef struct wave_watcher {
    sector_set touched[2]; /* loads, stores; the word is the number of the last cluster that
                              accessed the sector */
    uint32_t position;
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
        if (!sector_set_add(set, s->sector[i], 0, &is_new)) {
            w->failed = true;
            return;
        }
        uint32_t *last = &set->used[sector_set_index(set, s->sector[i])];
        for (int k = 0; !is_store && *last != w->position && k < 2; k++) {
            const size_t of = k ? SIM_PROFILE_BUFFERS : buffer_table_find(w->table, s->sector[i]);
            if (k || of < SIM_PROFILE_BUFFERS) {
                w->reads.all[of]++;
                w->reads.fresh[of] += is_new;
            }
        }
        *last = w->position;
    }
}

/* Runs the first warps of `count` clusters from number `first` on. */
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
    l.one_warp_only = true;
    l.access_limit = WAVE_ACCESSES;
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

at_status sim_profile_wave(const sim_launch *launch, uint64_t wave, buffer_table *table,
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
        out->wave.read_run = sector_set_run_length(&w.touched[0]);
        out->wave.write_run = sector_set_run_length(&w.touched[1]);
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
    sector_set_deinit(&w.touched[0]);
    sector_set_deinit(&w.touched[1]);
    return status;
}
