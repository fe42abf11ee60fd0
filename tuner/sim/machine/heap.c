#include "sim/machine/execute.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/machine/fault.h"
#include "sim/machine/memory.h"
#include "sim/machine/watch.h"

enum {
    ALIGNMENT = 16, /* alignment of pieces and least distance between pieces, in bytes */
    HEAP_BYTES = 64 << 20,
    MOST_HELD = 8 << 20 /* the default of cudaLimitMallocHeapSize */
};

typedef struct piece {
    uint64_t at, bytes;
    bool held;
} piece;

struct sim_heap {
    uint8_t *bytes, *written, *held; /* an entry for each byte of the heap; owned */
    piece *pieces;                   /* sorted by address; owned */
    size_t piece_count;
    uint64_t used; /* bytes of HEAP_BYTES that were ever allocated, including freed bytes */
    uint64_t held_bytes;
};

sim_heap *sim_heap_new(void)
{
    sim_heap *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    /* The host provides memory only for touched pages. */
    h->bytes = calloc(1, HEAP_BYTES);
    h->written = calloc(1, HEAP_BYTES);
    h->held = calloc(1, HEAP_BYTES);
    if (h->bytes && h->written && h->held)
        return h;
    sim_heap_free(h);
    return NULL;
}

void sim_heap_free(sim_heap *h)
{
    if (!h)
        return;
    free(h->bytes);
    free(h->written);
    free(h->held);
    free(h->pieces);
    free(h);
}

void sim_heap_reset(sim_heap *h)
{
    memset(h->written, 0, h->used);
    memset(h->held, 0, h->used);
    h->piece_count = 0;
    h->used = h->held_bytes = 0;
}

sim_region sim_heap_region(const sim_heap *h)
{
    return (sim_region){.name = "the heap",
                        .base = SIM_HEAP_BASE,
                        .size_bytes = HEAP_BYTES,
                        .bytes = h->bytes,
                        .valid = h->written,
                        .held = h->held};
}

static piece *find(const sim_heap *h, uint64_t address)
{
    size_t low = 0, high = h->piece_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (h->pieces[middle].at < address - SIM_HEAP_BASE)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < h->piece_count && h->pieces[low].at == address - SIM_HEAP_BASE;
    return found ? &h->pieces[low] : NULL;
}

/* Allocates memory for a lane. Sets *address to 0 if the heap is full or `alignment` is invalid. */
static bool allocate(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t bytes,
                     uint64_t alignment, uint64_t *address)
{
    sim_heap *h = b->launch->heap;
    *address = 0;
    if (bytes == 0 || bytes > MOST_HELD - h->held_bytes || alignment == 0 ||
        (alignment & (alignment - 1)) || alignment > HEAP_BYTES)
        return true;
    const uint64_t at = (h->used + alignment - 1) / alignment * alignment,
                   whole = at - h->used + (bytes + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const piece p = {.at = at, .bytes = bytes, .held = true};
    if (whole > HEAP_BYTES - h->used)
        return sim_fail(b, w, c, lane, SIM_FAULT_UNKNOWN,
                        "malloc() takes more than %d bytes in one launch, the simulator's limit",
                        HEAP_BYTES);
    memory_add(&h->pieces, &h->piece_count, &p, sizeof p);
    memset(h->held + p.at, 1, bytes);
    h->used += whole;
    h->held_bytes += bytes;
    *address = SIM_HEAP_BASE + p.at;
    return true;
}

/* Records free() as a write of a new value to the piece, so that unordered accesses are races. */
static bool overwrite(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, const piece *p)
{
    enum { AT_ONCE = 256 };
    uint8_t fresh[AT_ONCE];
    memset(fresh, 0xdb, sizeof fresh);
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.region = sim_memory_find(b->launch->memory, SIM_HEAP_BASE + p->at);
    if (!b->launch->check || !sim_is_watched(b->watch, a.region))
        return true;
    const uint64_t cell = b->program->global_cell_bytes,
                   end = (p->at + p->bytes + cell - 1) / cell * cell;
    for (uint64_t at = p->at; at < end; at += AT_ONCE) {
        const uint32_t bytes = end - at < AT_ONCE ? (uint32_t)(end - at) : AT_ONCE;
        if (!sim_global_touch(&a, at, bytes, SIM_TOUCH_WRITE, fresh))
            return false;
    }
    return true;
}

static bool free_piece(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       uint64_t address)
{
    sim_heap *h = b->launch->heap;
    piece *p = find(h, address);
    if (address == 0)
        return true;
    if (!p || !p->held)
        return sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS, "free() of 0x%" PRIx64 ", which %s",
                        address, p ? "was freed before" : "malloc() did not return");
    if (!overwrite(b, w, c, lane, p))
        return false;
    memset(h->held + p->at, 0, p->bytes);
    h->held_bytes -= p->bytes;
    p->held = false;
    return true;
}

bool sim_heap_call(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const int32_t *places = &b->program->lists[c->target];
    if (!b->launch->heap)
        return sim_fail(b, w, c, __builtin_ctz(mask), SIM_FAULT_UNKNOWN,
                        "malloc() or free() is called, but the launch was prepared without a heap");
    SIM_EACH_OF(l, mask)
    {
        const size_t at = sim_local_at(b, w, c, l);
        uint8_t *local = w->local + at;
        uint64_t v, alignment = ALIGNMENT;
        memcpy(&v, local + places[0], sizeof v);
        if (c->op == SIM_HEAP_ALIGNED)
            memcpy(&alignment, local + places[1], sizeof alignment);
        if (c->op == SIM_HEAP_FREE ? !free_piece(b, w, c, l, v)
                                   : !allocate(b, w, c, l, v, alignment, &v))
            return false;
        if (c->op == SIM_HEAP_FREE)
            continue;
        const int32_t to = places[c->op == SIM_HEAP_ALIGNED ? 2 : 1];
        memcpy(local + to, &v, sizeof v);
        if (w->local_valid)
            memset(w->local_valid + at + (size_t)to, 1, sizeof v);
    }
    sim_note_change(b, w);
    return true;
}
