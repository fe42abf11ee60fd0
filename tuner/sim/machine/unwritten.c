#include "sim/machine/unwritten.h"

#include <inttypes.h>
#include <stdio.h>

#include "sim/machine/fault.h"
#include "sim/machine/values.h"

/* Others may write the marks meanwhile. */
static bool all_written(const uint8_t *valid, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        if (!__atomic_load_n(&valid[i], __ATOMIC_RELAXED))
            return false;
    return true;
}

/* Tells, in a later launch of an excerpt, whether the blocks that did run wrote these bytes, or
 * nothing may write them. */
static bool is_seen(const sim_region *r, const uint8_t *valid, uint32_t bytes)
{
    for (uint32_t i = 0; !r->read_only && i < bytes; i++) {
        uint8_t state = valid ? __atomic_load_n(&valid[i], __ATOMIC_RELAXED) : 0;
        if (state != SIM_BYTE_WRITTEN && state < SIM_BYTE_LAST)
            return false;
    }
    return true;
}

bool sim_look_for_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                            ptx_space space, const sim_places *p, uint32_t bytes, const char *what)
{
    const bool in_region = space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST;
    const sim_region *region = in_region ? p->region[lane] : NULL;
    const sim_excerpt *x = b->launch->excerpt;
    if (region && x && x->later && !is_seen(region, p->valid[lane], bytes))
        return sim_fail(b, w, c, lane, SIM_FAULT_UNSEEN, "it reads what other blocks write");
    if (!p->valid[lane] || (region && region->filled) || all_written(p->valid[lane], bytes))
        return true;
    if (sim_values_may_lack(c)) {
        b->met_unwritten = true;
        return true;
    }
    char where[SIM_PLACE_BYTES];
    sim_memory_describe(b->launch->memory, p->address[lane], where, sizeof where);
    return sim_fail(b, w, c, lane, SIM_FAULT_UNINITIALISED,
                    "%s of %u bytes that nothing wrote at %s", what, bytes, where) ||
           sim_fault_touches(b, p->owner, space, p->address[lane]);
}

bool sim_is_constant(uint32_t mask, ptx_space space, const sim_places *p)
{
    bool all = space == PTX_SPACE_PARAM || space == PTX_SPACE_CONST || space == PTX_SPACE_GLOBAL;
    if (all && space != PTX_SPACE_PARAM && p->only)
        return p->only->read_only && !p->only->valid;
    SIM_EACH_OF(l, space == PTX_SPACE_PARAM || !all ? 0 : mask)
    all = all && p->region[l]->read_only && !p->valid[l];
    return all;
}

void sim_mark_written(const sim_block *b, uint8_t *valid, uint32_t bytes, ptx_space space)
{
    const sim_excerpt *x = space == PTX_SPACE_GLOBAL ? b->launch->excerpt : NULL;
    const uint64_t mark = !x         ? SIM_BYTE_WRITTEN
                          : x->apart ? x->mark + b->cluster->position
                                     : x->mark;
    for (uint32_t i = 0; valid && i < bytes; i++)
        __atomic_store_n(&valid[i], (uint8_t)mark, __ATOMIC_RELAXED);
}

static void tell_byte(const sim_block *b, int lane, ptx_space space, const sim_places *p,
                      uint32_t byte, char *text, size_t size_bytes)
{
    uint64_t at = p->address[lane] + byte;
    char where[SIM_PLACE_BYTES];
    if (space == PTX_SPACE_SHARED) {
        sim_shared_name(p->owner, (uint32_t)at, where, sizeof where);
        snprintf(text, size_bytes, "%s, to which no value was written", where);
    } else if (space == PTX_SPACE_LOCAL) {
        snprintf(text, size_bytes, "local memory byte %" PRIu64 " of %u, which was never written",
                 at, b->program->local_bytes);
    } else {
        sim_memory_describe(b->launch->memory, at, where, sizeof where);
        snprintf(text, size_bytes, "%s, which nothing wrote", where);
    }
}

/* The map of a lane's bytes that were written; NULL: all were. */
static const uint8_t *written_map(const sim_places *p, int lane, ptx_space space)
{
    if (space == PTX_SPACE_SHARED)
        return p->owner->shared_valid + p->address[lane];
    bool in_region = space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST;
    return in_region && p->region[lane]->filled ? NULL : p->valid[lane];
}

uint64_t sim_unwritten_bits(const sim_places *p, int lane, ptx_space space, uint32_t bytes,
                            uint32_t *first)
{
    uint64_t bits = 0;
    const uint32_t from = *first;
    const uint8_t *written = written_map(p, lane, space);
    for (uint32_t i = written ? bytes : 0; i-- > 0;)
        if (!__atomic_load_n(&written[from + i], __ATOMIC_RELAXED)) {
            bits |= UINT64_C(0xff) << 8 * i;
            *first = from + i;
        }
    return bits;
}

static bool lose(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, ptx_space space,
                 const sim_places *p, uint32_t first, int32_t slot, uint64_t bits)
{
    char where[SIM_ORIGIN_BYTES];
    tell_byte(b, lane, space, p, first, where, sizeof where);
    if (!sim_values_lose(b, w, c, lane, slot, bits, where,
                         space == PTX_SPACE_LOCAL ? &p->valid[lane][first] : NULL))
        return false;
    sim_values_place(b, w, slot, p->owner, space, p->address[lane] + first);
    return true;
}

bool sim_lose_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                        ptx_space space, const sim_places *p, uint32_t bytes)
{
    const int32_t *slots = b->program->lists + c->list;
    bool is_signed = c->type == PTX_S8 || c->type == PTX_S16 || c->type == PTX_S32;
    b->met_unwritten = false;
    SIM_EACH_OF(l, mask)
    {
        for (int v = 0; v < c->vector; v++) {
            uint32_t first = (uint32_t)v * bytes;
            uint64_t bits = sim_unwritten_bits(p, l, space, bytes, &first);
            if (is_signed && bits >> (8 * bytes - 1) & 1)
                bits |= UINT64_MAX << (8 * bytes - 1);
            if (bits && !lose(b, w, c, l, space, p, first, slots[v], bits))
                return false;
        }
    }
    return true;
}

bool sim_lose_exchanged(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        ptx_space space, const sim_places *p, int32_t slot, uint64_t bits)
{
    return bits == 0 || lose(b, w, c, lane, space, p, 0, slot, bits);
}

bool sim_store_missing(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       ptx_space space, const sim_places *p, uint32_t bytes)
{
    const int32_t *slots = b->program->lists + c->list;
    uint32_t part = c->vector > 1 || bytes < 4 ? bytes : bytes / 2, kept = 0;
    const uint64_t whole = part < 8 ? (UINT64_C(1) << 8 * part) - 1 : UINT64_MAX;
    uint8_t *written =
        space == PTX_SPACE_SHARED ? p->owner->shared_valid + p->address[lane] : p->valid[lane];
    int32_t lost = SIM_NO_SLOT;
    bool broken = false;
    for (int v = 0; v < c->vector; v++) {
        uint64_t missing = sim_values_missing(w, c, lane, slots[v]);
        for (uint32_t at = 0; at < bytes; at += part) {
            uint64_t of_part = missing >> 8 * at & whole;
            kept += of_part == 0;
            broken = broken || (of_part != 0 && of_part != whole);
            for (uint32_t i = 0; written && of_part && i < part; i++)
                if (of_part >> 8 * i & 0xff)
                    __atomic_store_n(&written[(uint32_t)v * bytes + at + i], 0, __ATOMIC_RELAXED);
        }
        lost = missing ? slots[v] : lost;
        if (missing && space == PTX_SPACE_LOCAL)
            sim_values_keep(b, w, slots[v], &written[(uint32_t)v * bytes], bytes);
    }
    if (lost == SIM_NO_SLOT || space == PTX_SPACE_LOCAL || space == PTX_SPACE_SHARED ||
        (kept > 0 && !broken && written))
        return true;
    return sim_values_fail(b, w, c, lane, lost, "what it stores");
}
