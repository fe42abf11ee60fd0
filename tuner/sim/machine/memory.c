#include "sim/machine/memory.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "device/plan.h"

void sim_memory_deinit(sim_memory *m)
{
    free(m->regions);
    *m = (sim_memory){0};
}

at_status sim_memory_add(sim_memory *m, const sim_region *region, at_error *error)
{
    sim_region *grown = array_grow(m->regions, m->count, sizeof *grown);
    if (!grown)
        return error_set(error, AT_NO_MEMORY, "no memory for a simulated buffer");
    m->regions = grown;
    size_t at = m->count;
    while (at > 0 && grown[at - 1].base > region->base)
        at--;
    memmove(&grown[at + 1], &grown[at], (m->count - at) * sizeof *grown);
    grown[at] = *region;
    m->count++;
    return AT_OK;
}

/* Returns the index of the last region that starts at or below `address`, or -1. */
static ptrdiff_t last_below(const sim_memory *m, uint64_t address)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->regions[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return (ptrdiff_t)low - 1;
}

const sim_region *sim_memory_find(const sim_memory *m, uint64_t address)
{
    ptrdiff_t i = last_below(m, address);
    if (i < 0 || address - m->regions[i].base >= m->regions[i].size_bytes)
        return NULL;
    return &m->regions[i];
}

static void make_chunk(const sim_region *r, uint64_t chunk)
{
    uint8_t state = SIM_CHUNK_ABSENT;
    if (__atomic_compare_exchange_n(&r->made[chunk], &state, SIM_CHUNK_BEGUN, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        r->make(r->context, chunk);
        __atomic_store_n(&r->made[chunk], SIM_CHUNK_MADE, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&r->made[chunk], __ATOMIC_ACQUIRE) != SIM_CHUNK_MADE)
        sched_yield();
}

void sim_region_make(const sim_region *r, uint64_t offset, uint64_t bytes)
{
    for (uint64_t chunk = offset / SIM_CHUNK_BYTES; chunk * SIM_CHUNK_BYTES < offset + bytes;
         chunk++)
        if (__atomic_load_n(&r->made[chunk], __ATOMIC_ACQUIRE) != SIM_CHUNK_MADE)
            make_chunk(r, chunk);
}

/* Writes "dst[12][5]" and the text `after`. Writes nothing if the elements are not known. */
static void name_element(const sim_region *r, uint64_t offset, const char *after, char *text,
                         size_t size_bytes)
{
    text[0] = '\0';
    if (!r->plan)
        return;
    plan_name_element(r->plan, offset / dtype_get(r->plan->type)->size_bytes, text, size_bytes);
    text_add(text, size_bytes, "%s", after);
}

void sim_region_name(const sim_region *r, uint64_t offset, char *text, size_t size_bytes)
{
    name_element(r, offset, " (", text, size_bytes);
    text_add(text, size_bytes, "byte %" PRIu64 " of %s%s", offset, r->name, r->plan ? ")" : "");
}

const sim_region *sim_memory_nearest(const sim_memory *m, uint64_t address)
{
    static const uint64_t near = UINT64_C(1) << 35;
    const ptrdiff_t i = last_below(m, address);
    const sim_region *below = i >= 0 ? &m->regions[i] : NULL;
    const sim_region *above = (size_t)(i + 1) < m->count ? &m->regions[i + 1] : NULL;
    if (below && address - below->base < below->size_bytes)
        return below;
    const uint64_t past = below ? address - (below->base + below->size_bytes) : UINT64_MAX,
                   before = above ? above->base - address : UINT64_MAX;
    const sim_region *nearest = past <= before ? below : above;
    return (past <= before ? past : before) < near ? nearest : NULL;
}

void sim_memory_describe(const sim_memory *m, uint64_t address, char *text, size_t size_bytes)
{
    const sim_region *r = sim_memory_nearest(m, address);
    char element[PLAN_NAME_BYTES + 96] = "";
    if (!r) {
        snprintf(text, size_bytes, "far from every buffer");
        return;
    }
    if (address < r->base) {
        snprintf(text, size_bytes, "%" PRIu64 " bytes before the start of %s (%" PRIu64 " bytes)",
                 r->base - address, r->name, r->size_bytes);
        return;
    }
    const uint64_t offset = address - r->base;
    name_element(r, offset, ", ", element, sizeof element);
    if (offset < r->size_bytes)
        snprintf(text, size_bytes, "%sbyte %" PRIu64 " of %s (%" PRIu64 " bytes)", element, offset,
                 r->name, r->size_bytes);
    else
        snprintf(text, size_bytes, "%s%" PRIu64 " bytes after the end of %s (%" PRIu64 " bytes)%s",
                 element, offset - r->size_bytes, r->name, r->size_bytes,
                 r->plan ? ": the index is too large, or the buffer's count too small" : "");
}
