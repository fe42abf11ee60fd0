#include "sim/machine/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { FIRST_CAPACITY = 64 };

/* Returns the first slot to search. It is the same for overlapping strong accesses, because these
 * are aligned. */
static size_t first_slot(const sim_history *h, uint64_t at)
{
    return (size_t)((at / SIM_WRITE_BYTES * UINT64_C(0x9e3779b97f4a7c15)) >> 24) &
           (h->capacity - 1);
}

static size_t next(const sim_history *h, size_t slot)
{
    return (slot + 1) & (h->capacity - 1);
}

static size_t slot_of(const sim_history *h, uint64_t at)
{
    size_t i = first_slot(h, at);
    while (h->slots[i].at != 0 && h->slots[i].at != at)
        i = next(h, i);
    return i;
}

sim_location *sim_history_find(const sim_history *h, uint64_t at)
{
    if (h->count == 0)
        return NULL;
    sim_location *found = &h->slots[slot_of(h, at)];
    return found->at ? found : NULL;
}

static void grow(sim_history *h)
{
    sim_history grown = {.count = h->count,
                         .capacity = h->capacity ? 2 * h->capacity : FIRST_CAPACITY};
    grown.slots = memory_new(grown.capacity, sizeof *grown.slots);
    for (size_t i = 0; i < h->capacity; i++)
        if (h->slots[i].at)
            grown.slots[slot_of(&grown, h->slots[i].at)] = h->slots[i];
    free(h->slots);
    *h = grown;
}

static void drop_write(sim_write *write)
{
    for (int i = 0; i < SIM_REACHES; i++)
        sim_clock_drop(write->clocks[i]);
    sim_clock_drop(write->sequential);
    free(write->readers);
}

void sim_location_drop(sim_location *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        drop_write(&x->writes[i]);
    x->count -= count;
    memmove(x->writes, x->writes + count, x->count * sizeof *x->writes);
}

static void drop_location(sim_location *x)
{
    sim_location_drop(x, x->count);
    free(x->writes);
    *x = (sim_location){0};
}

static void remove_slot(sim_history *h, size_t hole)
{
    drop_location(&h->slots[hole]);
    h->count--;
    /* Entries that the removed entry had displaced move up. */
    for (size_t i = next(h, hole); h->slots[i].at; i = next(h, i)) {
        const size_t from_first = (i - first_slot(h, h->slots[i].at)) & (h->capacity - 1);
        if (from_first < ((i - hole) & (h->capacity - 1)))
            continue;
        h->slots[hole] = h->slots[i];
        h->slots[i] = (sim_location){0};
        hole = i;
    }
}

void sim_history_forget(sim_history *h, uint64_t at, uint32_t bytes)
{
    for (size_t i = h->count > 0 ? first_slot(h, at) : 0; h->count > 0 && h->slots[i].at;) {
        const sim_location *x = &h->slots[i];
        if (x->at < at + bytes && at < x->at + x->bytes)
            remove_slot(h, i);
        else
            i = next(h, i);
    }
}

sim_location *sim_history_put(sim_history *h, uint64_t at, uint32_t bytes)
{
    sim_location *x = sim_history_find(h, at);
    if (x && x->bytes == bytes)
        return x;
    sim_history_forget(h, at, bytes);
    if (2 * h->count >= h->capacity)
        grow(h);
    x = &h->slots[slot_of(h, at)];
    *x = (sim_location){.at = at, .bytes = bytes};
    h->count++;
    return x;
}

void sim_history_clear(sim_history *h)
{
    for (size_t i = 0; h->count > 0 && i < h->capacity; i++)
        if (h->slots[i].at)
            drop_location(&h->slots[i]);
    h->count = 0;
}

void sim_history_deinit(sim_history *h)
{
    sim_history_clear(h);
    free(h->slots);
    *h = (sim_history){0};
}

sim_write *sim_location_insert(sim_location *x, uint32_t index)
{
    if (x->count == SIM_MOST_WRITES) {
        sim_location_drop(x, 1);
        index -= index > 0;
    }
    /* A list has room for 1, 2, 4 ... writes, so it is full at a power of two. */
    if ((x->count & (x->count - 1)) == 0) {
        const size_t room = x->count > 0 ? 2 * (size_t)x->count : 1;
        sim_write *grown = memory_require(aligned_alloc(_Alignof(sim_write), room * sizeof *grown));
        if (x->count > 0)
            memcpy(grown, x->writes, x->count * sizeof *grown);
        free(x->writes);
        x->writes = grown;
    }
    memmove(x->writes + index + 1, x->writes + index, (x->count - index) * sizeof *x->writes);
    x->writes[index] = (sim_write){0};
    x->count++;
    return &x->writes[index];
}
