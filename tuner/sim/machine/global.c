#include "sim/machine/global.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    STRIPES = 256,
    STRIPE_CELLS = 64,   /* neighbours under one lock */
    MOST_CELLS = 1 << 24 /* of a region */
};

static size_t cell_count(const sim_watch *w, const sim_region *r)
{
    return (size_t)((r->size_bytes + w->cell_bytes - 1) / w->cell_bytes);
}

void sim_watch_free(sim_watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; watch->cells && i < watch->memory->count; i++)
        if (watch->cells[i])
            munmap(watch->cells[i],
                   cell_count(watch, &watch->memory->regions[i]) * sizeof(sim_cell));
    free(watch->cells);
    free(watch->locks);
    sim_releases_deinit(&watch->releases);
    sim_pool_deinit(&watch->pool);
    free(watch);
}

at_status sim_watch_new(const sim_launch *launch, bool concurrent, sim_watch **out, at_error *error)
{
    *out = NULL;
    sim_watch *w = calloc(1, sizeof *w);
    if (!w)
        return error_set(error, AT_NO_MEMORY, "no memory to watch a kernel");
    *w = (sim_watch){.memory = launch->memory,
                     .concurrent = concurrent,
                     .cell_bytes = launch->program->global_cell_bytes};
    w->cells = calloc(launch->memory->count + 1, sizeof *w->cells);
    w->locks = calloc(STRIPES, sizeof *w->locks);
    bool failed = !w->cells || !w->locks;
    for (size_t i = 0; !failed && i < launch->memory->count; i++) {
        const sim_region *r = &launch->memory->regions[i];
        size_t count = cell_count(w, r);
        if (r->read_only || count == 0 || (count > MOST_CELLS && !launch->excerpt))
            continue;
        void *cells = mmap(NULL, count * sizeof(sim_cell), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        /* An excerpt touches a little of what it has, however large that is; but some systems
         * promise no more than they have. */
        failed = cells == MAP_FAILED && count <= MOST_CELLS;
        w->cells[i] = cells == MAP_FAILED ? NULL : cells;
        if (cells == MAP_FAILED && launch->excerpt)
            launch->excerpt->unwatched = true;
    }
    if (failed) {
        sim_watch_free(w);
        return error_set(error, AT_NO_MEMORY, "no memory to watch a kernel");
    }
    *out = w;
    return AT_OK;
}

static void lock(const sim_watch *w, bool *which)
{
    while (w->concurrent && __atomic_test_and_set(which, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(const sim_watch *w, bool *which)
{
    if (w->concurrent)
        __atomic_clear(which, __ATOMIC_RELEASE);
}

/* The cell of a byte of a region, locked; NULL: it is not watched. */
static sim_cell *take_cell(sim_watch *watch, const sim_region *region, uint64_t offset,
                           bool **which)
{
    sim_cell *cells = watch->cells[region - watch->memory->regions];
    if (!cells)
        return NULL;
    size_t n = (size_t)(offset >> __builtin_ctz(watch->cell_bytes));
    *which = &watch->locks[n / STRIPE_CELLS % STRIPES];
    lock(watch, *which);
    /* A page that is read before it is written is mapped twice, the first time as the page of
     * zeros, and the second time interrupts the other processors. */
    cells[n].touched = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return &cells[n];
}

static void forget_release(sim_watch *watch, uint64_t address)
{
    if (watch->releases.count == 0)
        return;
    lock(watch, &watch->release_lock);
    sim_releases_remove(&watch->releases, address);
    unlock(watch, &watch->release_lock);
}

/* Another block's write may not have reached the region's bytes yet. */
static bool is_same(const sim_cell *cell, const sim_region *region, uint64_t at, uint32_t value,
                    uint32_t bytes)
{
    if (cell->writes.last.block != 0)
        return cell->writes.last.scope == 0 && cell->value == value;
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
    for (uint64_t at = offset; fine && at < offset + bytes; at += step) {
        bool *which = NULL;
        sim_cell *cell = take_cell(watch, region, at, &which);
        if (!cell)
            return true;
        a->offset = at;
        if (touch == SIM_TOUCH_WRITE)
            memcpy(&cell->before, region->bytes + at, step);
        if (touch == SIM_TOUCH_READ) {
            fine = sim_race_read(a, cell);
        } else if (touch == SIM_TOUCH_ATOMIC) {
            fine = sim_race_write(a, cell, false);
        } else {
            uint32_t value = 0;
            memcpy(&value, fresh + (at - offset), step);
            fine = sim_race_write(a, cell, is_same(cell, region, at, value, step));
            cell->value = value;
        }
        unlock(watch, which);
        if (touch == SIM_TOUCH_WRITE && a->stamp.scope == 0)
            forget_release(watch, region->base + at);
    }
    return fine;
}

static bool is_one_write(const sim_stamp *s, const sim_stamp *t)
{
    return s->block == t->block && s->unit == t->unit && s->order == t->order && s->pc == t->pc;
}

bool sim_global_late(sim_race_access *a, uint64_t offset, uint32_t bytes, uint8_t *before)
{
    sim_watch *watch = a->block->watch;
    const uint32_t step = watch->cell_bytes;
    sim_stamp first = {0};
    bool late = true;
    for (uint64_t at = offset; late && at < offset + bytes; at += step) {
        bool *which = NULL;
        sim_cell *cell = take_cell(watch, a->region, at, &which);
        if (!cell)
            return false;
        a->offset = at;
        first = at == offset ? cell->writes.last : first;
        late = sim_race_is_late(a, cell) && is_one_write(&first, &cell->writes.last);
        memcpy(before + (at - offset), &cell->before, step);
        unlock(watch, which);
    }
    return late;
}

void sim_global_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     uint64_t address)
{
    sim_watch *watch = b->watch;
    if (watch->releases.count == 0)
        return;
    lock(watch, &watch->release_lock);
    sim_order_read(b, w, c, lane, &watch->releases, address);
    unlock(watch, &watch->release_lock);
}

void sim_global_written(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        uint64_t address)
{
    sim_watch *watch = b->watch;
    if (watch->releases.count == 0 && !w->lore && !c->releases)
        return;
    lock(watch, &watch->release_lock);
    sim_order_write(b, w, c, lane, &watch->releases, address);
    unlock(watch, &watch->release_lock);
}

bool sim_global_begin(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_region *region, uint64_t offset, uint32_t bytes, sim_touch touch,
                      uint32_t number, bool bulk)
{
    sim_watch *watch = b->watch;
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.region = region;
    bool fine = true;
    for (uint64_t at = offset; fine && at < offset + bytes; at += watch->cell_bytes) {
        bool *which = NULL;
        sim_cell *cell = take_cell(watch, region, at, &which);
        if (!cell)
            return true;
        a.offset = at;
        fine = sim_race_begin(&a, cell, touch, number, bulk);
        unlock(watch, which);
        if (touch == SIM_TOUCH_WRITE)
            forget_release(watch, region->base + at);
    }
    return fine;
}

void sim_global_land(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     const sim_region *region, uint64_t offset, uint32_t bytes, bool writes,
                     uint32_t number, const sim_stamp *landed)
{
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.region = region;
    for (uint64_t at = offset; at < offset + bytes; at += b->watch->cell_bytes) {
        bool *which = NULL;
        sim_cell *cell = take_cell(b->watch, region, at, &which);
        if (!cell)
            return;
        sim_race_land(&a, cell, writes, number, landed);
        unlock(b->watch, which);
    }
}
