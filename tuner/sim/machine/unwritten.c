/* Loads of uninitialised bytes, stores of missing values, and their origins, which faults name. */
#include "sim/machine/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/machine/fault.h"

/* A load that read uninitialised bytes. */
struct sim_origin {
    int32_t pc;
    char where[SIM_ORIGIN_BYTES];
    bool is_located; /* the members below are valid */
    const sim_block *owner;
    ptx_space space;
    uint64_t address;
};

enum { MOST_ORIGINS = 64 };

void sim_values_free(sim_block *b)
{
    free(b->missing);
    free(b->origin_of);
    free(b->origins);
    free(b->origin_in);
    b->origin_in = NULL;
    b->missing = NULL;
    b->origin_of = NULL;
    b->origins = NULL;
    b->origin_count = 0;
}

void sim_values_reserve(sim_block *b)
{
    size_t bytes = b->program->register_bytes;
    b->missing = memory_require(aligned_alloc(64, (b->warp_count * bytes + 63) / 64 * 64 + 64));
    b->origin_of = memory_new(b->warp_count * bytes / SIM_SLOT_STEP + 1, sizeof *b->origin_of);
}

/* Begins to keep masks for the block. No bits are missing at first. */
static void begin(sim_block *b)
{
    size_t bytes = b->program->register_bytes, slots = bytes / SIM_SLOT_STEP;
    memset(b->missing, 0, b->warp_count * bytes);
    memset(b->origin_of, 0, b->warp_count * slots * sizeof *b->origin_of);
    b->origin_count = 0;
    free(b->origin_in);
    b->origin_in = NULL;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        b->warps[i].missing = b->missing + i * bytes;
        b->warps[i].origin_of = b->origin_of + i * slots;
    }
}

void sim_values_start(sim_block *b)
{
    const sim_program *p = b->program;
    for (uint32_t i = 0; i < b->warp_count; i++)
        b->warps[i].missing = NULL;
    if (!b->launch->check || !p->reads_unwritten)
        return;
    begin(b);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        const sim_warp *w = &b->warps[i];
        memset(w->missing, 0xff, p->register_bytes);
        for (size_t k = 0; k < p->constant_count; k++)
            memset(w->missing + p->constants[k].slot, 0, (size_t)p->constants[k].width * SIM_LANES);
        for (int k = 0; k < SIM_SPECIAL_COUNT; k++)
            if (p->special_slots[k] != SIM_NO_SLOT)
                memset(w->missing + p->special_slots[k], 0, sizeof(uint32_t) * SIM_LANES);
    }
}

bool sim_values_fail(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
                     int32_t slot, const char *what)
{
    uint16_t origin = w->origin_of[slot / SIM_SLOT_STEP];
    if (origin == SIM_ORIGIN_REGISTER || origin > b->origin_count)
        return sim_fail(b, w, c, lane, SIM_FAULT_UNINITIALISED,
                        "%s comes from a variable or register that nothing wrote", what);
    const sim_origin *o = &b->origins[origin - 1];
    char place[PTX_LOCATION_BYTES];
    ptx_format_location(b->program->module, b->program->code[o->pc].location, place, sizeof place);
    return sim_fail(b, w, c, lane, SIM_FAULT_UNINITIALISED, "%s comes from %s, read at %s", what,
                    o->where, place) ||
           (o->is_located && sim_fault_add_address(b, o->owner, o->space, o->address));
}

uint16_t sim_values_origin(sim_block *b, int32_t pc, const char *where)
{
    for (size_t i = 0; i < b->origin_count; i++)
        if (b->origins[i].pc == pc)
            return (uint16_t)(i + 1);
    sim_origin o = {.pc = pc};
    snprintf(o.where, sizeof o.where, "%s", where);
    if (b->origin_count == MOST_ORIGINS)
        return SIM_ORIGIN_REGISTER;
    memory_add(&b->origins, &b->origin_count, &o, sizeof o);
    return (uint16_t)b->origin_count;
}

void sim_values_keep(sim_block *b, const sim_warp *w)
{
    if (w->missing)
        return;
    if (!b->missing)
        sim_values_reserve(b);
    begin(b);
}

void sim_values_mark_missing(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                             int32_t slot, uint64_t bits, const char *where, const uint8_t *local)
{
    sim_values_keep(b, w);
    if (c->width == 8)
        sim_missing64(w, slot)[lane] = bits;
    else
        sim_missing32(w, slot)[lane] = (uint32_t)bits;
    uint16_t kept =
        local && b->origin_in ? b->origin_in[local - b->local_valid] : SIM_ORIGIN_REGISTER;
    w->origin_of[slot / SIM_SLOT_STEP] =
        kept != SIM_ORIGIN_REGISTER ? kept
                                    : sim_values_origin(b, (int32_t)(c - b->program->code), where);
}

/* Returns whether all bytes are marked as written. Other host threads may mark bytes meanwhile. */
static bool all_written(const uint8_t *valid, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        if (!__atomic_load_n(&valid[i], __ATOMIC_RELAXED))
            return false;
    return true;
}

/* Returns whether blocks that ran in an excerpt wrote these bytes, or no launch writes them. */
static bool is_seen(const sim_region *r, const uint8_t *valid, uint32_t bytes)
{
    for (uint32_t i = 0; !r->read_only && i < bytes; i++) {
        uint8_t state = valid ? __atomic_load_n(&valid[i], __ATOMIC_RELAXED) : 0;
        if (state != SIM_BYTE_WRITTEN && state < SIM_BYTE_LAST)
            return false;
    }
    return true;
}

bool sim_find_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        const sim_lane_memory *p, uint32_t bytes, const char *what)
{
    const bool in_region = p->space == PTX_SPACE_GLOBAL || p->space == PTX_SPACE_CONST;
    const sim_region *region = in_region ? p->region[lane] : NULL;
    const sim_excerpt *x = b->launch->excerpt;
    if (region && x && x->later && !is_seen(region, p->valid[lane], bytes))
        return sim_fail(b, w, c, lane, SIM_FAULT_UNSEEN,
                        "it reads memory that other blocks write, and these blocks were not run");
    if (!p->valid[lane] || (region && region->filled) || all_written(p->valid[lane], bytes))
        return true;
    if (sim_values_may_be_missing(c)) {
        b->met_unwritten = true;
        return true;
    }
    char where[SIM_ADDRESS_TEXT_BYTES];
    sim_memory_describe(b->launch->memory, p->address[lane], where, sizeof where);
    return sim_fail(b, w, c, lane, SIM_FAULT_UNINITIALISED,
                    "%s of %u bytes at %s, which nothing wrote", what, bytes, where) ||
           sim_fault_add_address(b, p->owner, p->space, p->address[lane]);
}

bool sim_is_constant(uint32_t mask, const sim_lane_memory *p)
{
    bool all =
        p->space == PTX_SPACE_PARAM || p->space == PTX_SPACE_CONST || p->space == PTX_SPACE_GLOBAL;
    if (all && p->space != PTX_SPACE_PARAM && p->only)
        return p->only->read_only && !p->only->valid;
    SIM_EACH_OF(l, p->space == PTX_SPACE_PARAM || !all ? 0 : mask)
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

static void describe_byte(const sim_block *b, int lane, const sim_lane_memory *p, uint32_t byte,
                          char *text, size_t size_bytes)
{
    uint64_t at = p->address[lane] + byte;
    char where[SIM_ADDRESS_TEXT_BYTES];
    if (p->space == PTX_SPACE_SHARED) {
        sim_shared_name(p->owner, (uint32_t)at, where, sizeof where);
        snprintf(text, size_bytes, "%s, to which no value was written", where);
    } else if (p->space == PTX_SPACE_LOCAL) {
        snprintf(text, size_bytes, "local memory byte %" PRIu64 " of %u, which was never written",
                 at, b->program->local_bytes);
    } else {
        sim_memory_describe(b->launch->memory, at, where, sizeof where);
        snprintf(text, size_bytes, "%s, which nothing wrote", where);
    }
}

/* Returns the map of a lane's written bytes, or NULL if all are written. */
static const uint8_t *written_map(const sim_lane_memory *p, int lane)
{
    if (p->space == PTX_SPACE_SHARED)
        return p->owner->shared_valid + p->address[lane];
    bool in_region = p->space == PTX_SPACE_GLOBAL || p->space == PTX_SPACE_CONST;
    return in_region && p->region[lane]->filled ? NULL : p->valid[lane];
}

uint64_t sim_unwritten_bits(const sim_lane_memory *p, int lane, uint32_t bytes, uint32_t *first)
{
    uint64_t bits = 0;
    const uint32_t from = *first;
    const uint8_t *written = written_map(p, lane);
    for (uint32_t i = written ? bytes : 0; i-- > 0;)
        if (!__atomic_load_n(&written[from + i], __ATOMIC_RELAXED)) {
            bits |= UINT64_C(0xff) << 8 * i;
            *first = from + i;
        }
    return bits;
}

/* Sets the address of the origin of a register's missing bits, unless the origin has an address. */
static void locate_origin(sim_block *b, const sim_warp *w, int32_t slot, const sim_lane_memory *p,
                          uint64_t address)
{
    const uint16_t number = w->origin_of[slot / SIM_SLOT_STEP];
    if (number == SIM_ORIGIN_REGISTER || number > b->origin_count)
        return;
    sim_origin *o = &b->origins[number - 1];
    if (o->is_located)
        return;
    o->is_located = true;
    o->owner = p->owner;
    o->space = p->space;
    o->address = address;
}

void sim_mark_missing_bits(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                           const sim_lane_memory *p, uint32_t first, int32_t slot, uint64_t bits)
{
    char where[SIM_ORIGIN_BYTES];
    if (bits == 0)
        return;
    describe_byte(b, lane, p, first, where, sizeof where);
    sim_values_mark_missing(b, w, c, lane, slot, bits, where,
                            p->space == PTX_SPACE_LOCAL ? &p->valid[lane][first] : NULL);
    locate_origin(b, w, slot, p, p->address[lane] + first);
}

void sim_mark_missing_bytes(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                            const sim_lane_memory *p, uint32_t bytes)
{
    const int32_t *slots = b->program->lists + c->list;
    bool is_signed = c->type == PTX_S8 || c->type == PTX_S16 || c->type == PTX_S32;
    b->met_unwritten = false;
    SIM_EACH_OF(l, mask)
    {
        for (int v = 0; v < c->vector; v++) {
            uint32_t first = (uint32_t)v * bytes;
            uint64_t bits = sim_unwritten_bits(p, l, bytes, &first);
            if (is_signed && bits >> (8 * bytes - 1) & 1)
                bits |= UINT64_MAX << (8 * bytes - 1);
            sim_mark_missing_bits(b, w, c, l, p, first, slots[v], bits);
        }
    }
}

/* Stores the register's origin for bytes of local memory; `valid` is their entry in local_valid. */
static void keep_origin(sim_block *b, const sim_warp *w, int32_t slot, const uint8_t *valid,
                        uint32_t bytes)
{
    if (!b->origin_in)
        b->origin_in = calloc(b->warp_count, (size_t)b->program->local_bytes * SIM_LANES + 1);
    if (b->origin_in) /* without memory, a fault names no origin */
        memset(b->origin_in + (valid - b->local_valid), w->origin_of[slot / SIM_SLOT_STEP], bytes);
}

bool sim_store_missing(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       const sim_lane_memory *p, uint32_t bytes)
{
    const int32_t *slots = b->program->lists + c->list;
    uint32_t part = c->vector > 1 || bytes < 4 ? bytes : bytes / 2, kept = 0;
    const uint64_t whole = sim_low_bits(part);
    uint8_t *written =
        p->space == PTX_SPACE_SHARED ? p->owner->shared_valid + p->address[lane] : p->valid[lane];
    int32_t lost = SIM_NO_SLOT;
    bool broken = false;
    for (int v = 0; v < c->vector; v++) {
        const uint64_t missing = c->width == 8 ? sim_missing64(w, slots[v])[lane]
                                               : sim_missing32(w, slots[v])[lane],
                       lost_bits = missing & sim_low_bits(bytes);
        for (uint32_t at = 0; at < bytes; at += part) {
            uint64_t of_part = lost_bits >> 8 * at & whole;
            kept += of_part == 0;
            broken = broken || (of_part != 0 && of_part != whole);
            for (uint32_t i = 0; written && of_part && i < part; i++)
                if (of_part >> 8 * i & 0xff)
                    __atomic_store_n(&written[(uint32_t)v * bytes + at + i], 0, __ATOMIC_RELAXED);
        }
        lost = lost_bits ? slots[v] : lost;
        if (lost_bits && p->space == PTX_SPACE_LOCAL)
            keep_origin(b, w, slots[v], &written[(uint32_t)v * bytes], bytes);
    }
    if (lost == SIM_NO_SLOT || p->space == PTX_SPACE_LOCAL || p->space == PTX_SPACE_SHARED ||
        (kept > 0 && !broken && written))
        return true;
    return sim_values_fail(b, w, c, lane, lost, "what it stores");
}
