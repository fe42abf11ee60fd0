/* Race checks of global memory. Each group of cells has a lock for host threads. */
#include "sim/machine/watch.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "base/text.h"

enum {
    STRIPES = 256,
    STRIPE_CELLS = 64,   /* neighbouring cells under one lock */
    MOST_CELLS = 1 << 24 /* most cells of a region; no races are looked for in a larger region */
};

static size_t cell_count(const sim_watch *w, const sim_region *r)
{
    return (size_t)((r->size_bytes + w->cell_bytes - 1) / w->cell_bytes);
}

static void unmap(void *mapped, size_t bytes)
{
    if (mapped)
        munmap(mapped, bytes);
}

static void unwatch(sim_watched *r, size_t lines)
{
    unmap(r->cells, lines * SIM_LINE_CELLS * sizeof *r->cells);
    unmap(r->lines, lines * sizeof *r->lines);
    unmap(r->values, lines * SIM_LINE_CELLS * sizeof *r->values);
    *r = (sim_watched){0};
}

void sim_watch_free(sim_watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; i < watch->memory->count; i++)
        unwatch(&watch->regions[i], sim_line_count(cell_count(watch, &watch->memory->regions[i])));
    free(watch->regions);
    free(watch->locks);
    sim_history_deinit(&watch->history);
    sim_clock_drop(watch->fenced);
    sim_pool_deinit(&watch->pool);
    free(watch);
}

static void *map(size_t bytes)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* Begins to watch a region with `lines` lines of cells. Returns false if there is no memory. */
static bool watch_region(sim_watched *r, size_t lines, bool whole_run)
{
    *r =
        (sim_watched){map(lines * SIM_LINE_CELLS * sizeof *r->cells), map(lines * sizeof *r->lines),
                      map(lines * SIM_LINE_CELLS * sizeof *r->values)};
    if (!r->cells || !r->lines || !r->values) {
        unwatch(r, lines);
        return false;
    }
    /* Huge pages cost fewer page faults. A whole run touches most cells of a touched page. */
    if (whole_run)
        madvise(r->cells, lines * SIM_LINE_CELLS * sizeof *r->cells, MADV_HUGEPAGE);
    return true;
}

/* Adds the region to launch->unwatched, once, because no races are looked for in it. */
static void note_unwatched(const sim_launch *launch, const sim_region *r)
{
    char all[SIM_UNWATCHED_BYTES + 8], one[SIM_UNWATCHED_BYTES];
    if (!launch->unwatched)
        return;
    snprintf(all, sizeof all, ", %s, ", launch->unwatched);
    snprintf(one, sizeof one, ", %s, ", r->name);
    if (!strstr(all, one))
        text_add(launch->unwatched, SIM_UNWATCHED_BYTES, "%s%s", launch->unwatched[0] ? ", " : "",
                 r->name);
}

at_status sim_watch_new(const sim_launch *launch, bool concurrent, sim_watch **out, at_error *error)
{
    const sim_memory *memory = launch->memory;
    sim_watch *w = memory_new(1, sizeof *w);
    *w = (sim_watch){.memory = memory,
                     .concurrent = concurrent,
                     .cell_bytes = launch->program->global_cell_bytes,
                     .regions = memory_new(memory->count, sizeof *w->regions),
                     .locks = memory_new(STRIPES, sizeof *w->locks)};
    *out = w;
    for (size_t i = 0; i < memory->count; i++) {
        const sim_region *r = &memory->regions[i];
        const size_t count = cell_count(w, r);
        if (r->read_only || count == 0)
            continue;
        if ((count <= MOST_CELLS || launch->excerpt) &&
            watch_region(&w->regions[i], sim_line_count(count), !launch->excerpt))
            continue;
        /* If a region of more than MOST_CELLS cannot be mapped, an excerpt runs without watching
         * it. Some systems reserve memory even for pages that are never touched. */
        if (count <= MOST_CELLS) {
            sim_watch_free(w);
            *out = NULL;
            return error_set(error, AT_NO_MEMORY, "no memory to watch a kernel");
        }
        note_unwatched(launch, r);
    }
    return AT_OK;
}

static void lock(const sim_watch *w, sim_lock *which)
{
    while (w->concurrent && __atomic_test_and_set(&which->taken, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(const sim_watch *w, sim_lock *which)
{
    if (w->concurrent)
        __atomic_clear(&which->taken, __ATOMIC_RELEASE);
}

static const sim_watched *watched_of(const sim_watch *watch, const sim_region *region)
{
    const sim_watched *r = &watch->regions[region - watch->memory->regions];
    return r->cells ? r : NULL;
}

/* Returns the lock of cell `n`. The cells of a line have the same lock. */
static sim_lock *lock_of(const sim_watch *watch, size_t n)
{
    _Static_assert(STRIPE_CELLS % SIM_LINE_CELLS == 0, "lines are not in two stripes");
    return &watch->locks[n / STRIPE_CELLS % STRIPES];
}

/* Locks and returns the cell of a byte of a region. *which gets the lock, *number the index. */
static sim_cell *take_cell(sim_watch *watch, const sim_watched *p, uint64_t offset,
                           sim_lock **which, size_t *number)
{
    sim_cell *cells = p->cells;
    size_t n = (size_t)(offset >> __builtin_ctz(watch->cell_bytes));
    *number = n;
    *which = lock_of(watch, n);
    lock(watch, *which);
    sim_line_split(&watch->pool, &p->lines[n / SIM_LINE_CELLS],
                   &cells[n / SIM_LINE_CELLS * SIM_LINE_CELLS], 0);
    /* Writes first, because a page that is read first is mapped again when it is written. This
     * interrupts other processors. */
    cells[n].touched = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return &cells[n];
}

/* Ends the history of a location: after a weak write, a strong read can return only one value. */
static void end_history(sim_watch *watch, sim_cell *cell, uint64_t address)
{
    if (!watch->concurrent)
        sim_history_forget(&watch->history, address, watch->cell_bytes);
    cell->kept = false;
}

/* Returns whether a cell holds `value`. If a write is recorded, the cell holds its value `before`,
 * because a write of another block may not be in memory yet. */
static bool is_same(const sim_cell *cell, const uint32_t *before, const sim_region *region,
                    uint64_t at, uint32_t value, uint32_t bytes)
{
    if (cell->writes.last.block != 0)
        return cell->writes.last.scope == 0 && *before == value;
    return (!region->valid || region->filled || region->valid[at]) &&
           memcmp(region->bytes + at, &value, bytes) == 0;
}

bool sim_global_touch(sim_race_access *a, uint64_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh)
{
    sim_watch *watch = a->block->watch;
    const sim_region *region = a->region;
    uint32_t step = watch->cell_bytes;
    bool fine = true;
    const sim_watched *p = watched_of(watch, region);
    if (!p)
        return true;
    for (uint64_t at = offset; fine && at < offset + bytes; at += step) {
        sim_lock *which = NULL;
        size_t n;
        sim_cell *cell = take_cell(watch, p, at, &which, &n);
        a->offset = at;
        if (touch == SIM_TOUCH_READ) {
            fine = sim_race_read(a, cell);
        } else if (touch == SIM_TOUCH_ATOMIC) {
            fine = sim_race_write(a, cell, false);
        } else {
            uint32_t value = 0;
            memcpy(&value, fresh + (at - offset), step);
            fine = sim_race_write(a, cell, is_same(cell, &p->values[n], region, at, value, step));
            p->values[n] = value;
        }
        if (cell->kept && touch == SIM_TOUCH_WRITE && a->stamp.scope == 0)
            end_history(watch, cell, region->base + at);
        unlock(watch, which);
    }
    return fine;
}

/* Records a whole warp's write to the locked line of cell `n`. Returns false, and does nothing, if
 * the write changes only some of the values, or the line was accessed in another way before. */
static bool write_line(sim_race_access *a, const sim_watched *p, size_t n, uint32_t first,
                       uint32_t shift, const uint8_t *fresh, bool *fine)
{
    const uint32_t step = a->block->watch->cell_bytes;
    uint32_t values[SIM_LINE_CELLS] = {0}, same = 0;
    sim_line *line = &p->lines[n / SIM_LINE_CELLS];
    if (!sim_line_join(&a->block->watch->pool, line, 0, first, shift))
        return false;
    /* If there are no earlier accesses, it does not matter whether values change. */
    const bool before = line->cell.reads.last.block != 0 || line->cell.writes.last.block != 0;
    for (uint32_t i = 0; i < SIM_LINE_CELLS; i++)
        memcpy(&values[i], fresh + (size_t)i * step, step);
    for (uint32_t i = 0; before && i < SIM_LINE_CELLS; i++)
        same += is_same(&line->cell, &p->values[n + i], a->region, (uint64_t)(n + i) * step,
                        values[i], step);
    if (same != 0 && same != SIM_LINE_CELLS)
        return false;
    *fine = sim_race_write(a, &line->cell, same != 0);
    memcpy(&p->values[n], values, sizeof values);
    return true;
}

uint32_t sim_global_touch_row(sim_race_access *a, uint64_t offset, uint32_t bytes, sim_touch touch,
                              const uint8_t *fresh, bool *fine)
{
    sim_watch *watch = a->block->watch;
    const uint32_t step = watch->cell_bytes, of_lane = bytes / step,
                   shift = (uint32_t)__builtin_ctz(of_lane), line_bytes = step * SIM_LINE_CELLS;
    uint32_t done = 0;
    const sim_watched *p = watched_of(watch, a->region);
    if (offset % line_bytes != 0 || !sim_line_can_record(a, touch) || !p)
        return 0;
    for (uint32_t j = 0; *fine && j < of_lane; j++) {
        uint32_t first;
        const uint32_t mask = sim_line_lanes(j, shift, &first);
        const size_t n = (size_t)(offset / step) + (size_t)j * SIM_LINE_CELLS;
        sim_line *line = &p->lines[n / SIM_LINE_CELLS];
        sim_lock *which = lock_of(watch, n);
        bool touched;
        sim_race_access_by(a, (int)first);
        a->offset = offset + (uint64_t)j * line_bytes;
        lock(watch, which);
        if (touch == SIM_TOUCH_WRITE)
            touched = write_line(a, p, n, first, shift, fresh + (size_t)j * line_bytes, fine);
        else if ((touched = sim_line_join(&watch->pool, line, 0, first, shift)))
            *fine = sim_race_read(a, &line->cell);
        unlock(watch, which);
        done |= touched ? mask : 0;
    }
    return done;
}

bool sim_global_begin(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_region *region, uint64_t offset, uint32_t bytes, sim_touch touch,
                      uint32_t number, bool bulk)
{
    sim_watch *watch = b->watch;
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.region = region;
    bool fine = true;
    size_t n;
    const sim_watched *p = watched_of(watch, region);
    if (!p)
        return true;
    for (uint64_t at = offset; fine && at < offset + bytes; at += watch->cell_bytes) {
        sim_lock *which = NULL;
        sim_cell *cell = take_cell(watch, p, at, &which, &n);
        a.offset = at;
        fine = sim_race_begin(&a, cell, touch, number, bulk);
        if (cell->kept && touch == SIM_TOUCH_WRITE)
            end_history(watch, cell, region->base + at);
        unlock(watch, which);
    }
    return fine;
}

void sim_global_land(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     const sim_region *region, uint64_t offset, uint32_t bytes, bool writes,
                     uint32_t number, const sim_stamp *landed)
{
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.region = region;
    size_t n;
    const sim_watched *p = watched_of(b->watch, region);
    if (!p)
        return;
    for (uint64_t at = offset; at < offset + bytes; at += b->watch->cell_bytes) {
        sim_lock *which = NULL;
        sim_cell *cell = take_cell(b->watch, p, at, &which, &n);
        sim_race_land(&a, cell, writes, number, landed);
        unlock(b->watch, which);
    }
}
