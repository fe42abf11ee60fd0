#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/machine/machine.h"

/* Who touched a piece of global memory last. Threads of one block are ordered by its barriers, and those of one
 * cluster by the cluster's; other blocks are ordered by nothing but a fence that the earlier one passed, a strong
 * write behind it, and then a strong access of the later one. That both meet at one address is taken on trust. */
typedef struct cell {
    sim_stamp write, read;
    uint32_t write_block, read_block; /* + 1; 0: no thread */
    uint32_t past_block, past_fence;  /* the block that read before read_block */
    uint32_t past_arrived;            /* sim_stamp.arrived and .rank of that */
    uint8_t past_rank;
    uint32_t value;                   /* last written */
    uint8_t readers;                  /* sim_readers, of read_block */
    bool is_touched;
} cell;

enum { RELEASES = 4 };

/* What a block has published and seen, by the clock of the launch, which ticks with every release. */
typedef struct passage {
    uint32_t fences;             /* that it has passed */
    uint64_t acquired;           /* when it last finished a strong access */
    uint64_t released[RELEASES]; /* when it began the first strong write behind ... */
    uint32_t fence[RELEASES];    /* ... so many fences, ascending */
    uint32_t count;              /* of its releases; later ones than fit are not kept */
} passage;

enum {
    STRIPES = 256,
    STRIPE_CELLS = 64,          /* neighbours under one lock */
    MOST_CELLS = 1 << 24,       /* of a region */
    MOST_BLOCKS = 1 << 24
};

struct sim_watch {
    const sim_memory *memory;
    cell **cells; /* by region; NULL: not watched */
    passage *passages; /* by block */
    uint64_t clock;
    uint32_t cell_bytes;
    bool concurrent;
    bool locks[STRIPES];
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
            munmap(watch->cells[i], cell_count(watch, &watch->memory->regions[i]) * sizeof(cell));
    free(watch->cells);
    free(watch->passages);
    free(watch);
}

at_status sim_watch_new(const sim_launch *launch, bool concurrent, sim_watch **out, at_error *error)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    *out = NULL;
    if (blocks > MOST_BLOCKS)
        return AT_OK;
    sim_watch *w = calloc(1, sizeof *w);
    if (!w)
        return error_set(error, AT_NO_MEMORY, "no memory to watch a kernel");
    *w = (sim_watch){.memory = launch->memory, .concurrent = concurrent,
                     .cell_bytes = launch->program->global_cell_bytes};
    w->cells = calloc(launch->memory->count + 1, sizeof *w->cells);
    w->passages = calloc((size_t)blocks + 1, sizeof *w->passages);
    bool failed = !w->cells || !w->passages;
    for (size_t i = 0; !failed && i < launch->memory->count; i++) {
        const sim_region *r = &launch->memory->regions[i];
        size_t count = cell_count(w, r);
        if (r->read_only || count == 0 || (count > MOST_CELLS && !launch->excerpt))
            continue;
        void *cells = mmap(NULL, count * sizeof(cell), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        /* An excerpt touches a little of what it has, however large that is; but some systems promise no more than
         * they have. */
        failed = cells == MAP_FAILED && count <= MOST_CELLS;
        w->cells[i] = cells == MAP_FAILED ? NULL : cells;
    }
    if (failed) {
        sim_watch_free(w);
        return error_set(error, AT_NO_MEMORY, "no memory to watch a kernel");
    }
    *out = w;
    return AT_OK;
}

void sim_global_fence(sim_block *b)
{
    if (b->watch)
        __atomic_fetch_add(&b->watch->passages[b->index].fences, 1, __ATOMIC_RELAXED);
}

static uint32_t fences_of(const sim_watch *watch, uint32_t block)
{
    return __atomic_load_n(&watch->passages[block].fences, __ATOMIC_RELAXED);
}

/* Before a strong write, which others may see as soon as it is made. */
static void note_release(const sim_block *b)
{
    passage *p = &b->watch->passages[b->index];
    uint32_t passed = fences_of(b->watch, (uint32_t)b->index), n = p->count;
    if (n == RELEASES || passed == (n ? p->fence[n - 1] : 0))
        return;
    p->fence[n] = passed;
    p->released[n] = __atomic_add_fetch(&b->watch->clock, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&p->count, n + 1, __ATOMIC_RELEASE);
}

void sim_global_acquire(sim_block *b)
{
    if (!b->watch)
        return;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    b->watch->passages[b->index].acquired = __atomic_load_n(&b->watch->clock, __ATOMIC_SEQ_CST);
}

/* Had the other block published what it did when it had passed `fence` fences, and had this one looked since? A
 * release that was not kept is taken to have been seen. */
static bool has_seen(const sim_block *b, uint32_t other, uint32_t fence)
{
    const passage *p = &b->watch->passages[other];
    uint32_t count = __atomic_load_n(&p->count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (p->fence[i] > fence)
            return p->released[i] <= b->watch->passages[b->index].acquired;
    return count == RELEASES && fences_of(b->watch, other) > fence;
}

/* An access in progress. */
typedef struct access {
    sim_block *block;
    sim_warp *warp;
    const sim_instruction *instruction;
    int lane;
    const sim_region *region;
    uint64_t offset;
} access;

static uint32_t thread_of(const access *a)
{
    return a->warp->first_thread + (uint32_t)a->lane;
}

/* Is this access ordered after that one of the block `block` (+ 1)? A barrier in shared memory that the warp has
 * seen complete is taken to have ordered all that the block did before. */
static bool ordered(const access *a, uint32_t block, const sim_stamp *before)
{
    const sim_block *b = a->block;
    uint32_t t = thread_of(a);
    if (a->warp->waited > 0 && b->cluster->blocks[before->rank].index == block - 1 &&
        sim_cluster_orders(b, a->warp, before))
        return true;
    if (block - 1 != b->index)
        return has_seen(b, block - 1, before->moment);
    return before->epoch != b->epoch || t == before->thread || a->warp->observed > 0 ||
           sim_warp_orders(a->warp, t, before);
}

static sim_stamp stamp_of(const access *a, bool strong)
{
    const sim_block *b = a->block;
    return (sim_stamp){.epoch = b->epoch, .order = a->warp->epoch, .arrived = a->warp->arrived,
                       .moment = fences_of(b->watch, (uint32_t)b->index), .thread = (uint16_t)thread_of(a),
                       .rank = (uint8_t)b->rank, .strong = strong};
}

static bool report_race(const access *a, const char *what, uint32_t block, uint32_t thread)
{
    const sim_block *b = a->block;
    const uint32_t *grid = b->launch->grid;
    uint32_t position[3], index = block - 1;
    sim_thread_position(b, thread, position);
    return sim_fail(a->block, a->warp, a->instruction, a->lane, SIM_FAULT_RACE,
                    "byte %llu of %s: %s thread (%u,%u,%u) of block (%u,%u,%u) without a %s between",
                    (unsigned long long)a->offset, a->region->name, what, position[0], position[1],
                    position[2], index % grid[0], index / grid[0] % grid[1],
                    index / grid[0] / grid[1], index == b->index ? "barrier" : "fence and an atomic");
}

static bool read_ordered(const access *a, const cell *c)
{
    if (c->read_block - 1 != a->block->index || c->read.epoch != a->block->epoch ||
        c->readers == SIM_READERS_ONE)
        return ordered(a, c->read_block, &c->read);
    return (c->readers == SIM_READERS_WARP && sim_warp_orders(a->warp, thread_of(a), &c->read)) ||
           sim_cluster_orders(a->block, a->warp, &c->read);
}

static bool past_ordered(const access *a, const cell *c)
{
    const sim_stamp past = {.moment = c->past_fence, .arrived = c->past_arrived, .rank = c->past_rank,
                            .thread = c->read.thread};
    return c->past_block - 1 == a->block->index || ordered(a, c->past_block, &past);
}

/* Writes of one value, and strong accesses among themselves, leave what everybody expects. */
static bool check_write(const access *a, cell *c, bool strong, bool same_value)
{
    if (c->write_block && !(strong ? c->write.strong : same_value) && !ordered(a, c->write_block, &c->write))
        return report_race(a, "written by this thread and by", c->write_block, c->write.thread);
    bool benign = same_value || (strong && c->read.strong);
    if (c->read_block && !benign && !read_ordered(a, c))
        return report_race(a, "written by this thread after a read by", c->read_block, c->read.thread);
    if (c->past_block && !benign && !past_ordered(a, c))
        return report_race(a, "written by this thread after a read by", c->past_block, c->read.thread);
    c->write_block = (uint32_t)a->block->index + 1;
    c->write = stamp_of(a, strong);
    return true;
}

static bool check_read(const access *a, cell *c, bool strong)
{
    uint32_t block = (uint32_t)a->block->index + 1;
    if (c->write_block && !(strong && c->write.strong) && !ordered(a, c->write_block, &c->write))
        return report_race(a, "read by this thread after a write by", c->write_block, c->write.thread);
    bool other = c->read_block != block;
    if (other) {
        c->past_block = c->read_block;
        c->past_fence = c->read.moment;
        c->past_arrived = c->read.arrived;
        c->past_rank = c->read.rank;
    }
    bool anew = other || c->read.epoch != a->block->epoch;
    uint32_t arrived = anew ? 0 : c->read.arrived;
    c->readers = (uint8_t)sim_readers_with(c->readers, anew, &c->read, thread_of(a));
    c->read_block = block;
    c->read = stamp_of(a, strong);
    if (arrived > c->read.arrived)
        c->read.arrived = arrived;
    return true;
}

static void lock(sim_watch *w, size_t stripe)
{
    while (w->concurrent && __atomic_test_and_set(&w->locks[stripe], __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(sim_watch *w, size_t stripe)
{
    if (w->concurrent)
        __atomic_clear(&w->locks[stripe], __ATOMIC_RELEASE);
}

bool sim_global_touch(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_region *region, uint64_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh)
{
    sim_watch *watch = b->watch;
    cell *cells = watch->cells[region - watch->memory->regions];
    bool strong = touch == SIM_TOUCH_ATOMIC || c->strong, fine = true;
    if (strong && touch != SIM_TOUCH_READ)
        note_release(b);
    if (!cells)
        return true;
    uint32_t step = watch->cell_bytes;
    for (uint64_t at = offset; fine && at < offset + bytes; at += step) {
        access a = {b, w, c, lane, region, at};
        size_t n = (size_t)(at / step), stripe = n / STRIPE_CELLS % STRIPES;
        uint32_t value = 0;
        lock(watch, stripe);
        /* A page that is read before it is written is mapped twice, the first time as the page of zeros, and the
         * second time interrupts the other processors. */
        cells[n].is_touched = true;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (touch == SIM_TOUCH_READ) {
            fine = check_read(&a, &cells[n], strong);
        } else if (touch == SIM_TOUCH_ATOMIC) {
            fine = check_write(&a, &cells[n], true, false);
        } else {
            /* What another block wrote may not have reached the region's bytes yet. */
            memcpy(&value, fresh + (at - offset), step);
            bool same = cells[n].write_block
                            ? !cells[n].write.strong && cells[n].value == value
                            : (!region->valid || region->filled || region->valid[at]) &&
                                  memcmp(region->bytes + at, &value, step) == 0;
            fine = check_write(&a, &cells[n], strong, same);
            cells[n].value = value;
        }
        unlock(watch, stripe);
    }
    return fine;
}
