#include "sim/machine/places.h"

#include <inttypes.h>
#include <string.h>

#include "sim/machine/fault.h"
#include "sim/program/operations.h"

void sim_places_address(const sim_warp *w, int32_t slot, uint32_t width, int64_t offset,
                        uint64_t *address)
{
    if (width == 8) {
        const uint64_t *base = sim_lanes64(w, slot);
        SIM_EACH_LANE(l) address[l] = base[l] + (uint64_t)offset;
    } else {
        const uint32_t *base = sim_lanes32(w, slot);
        SIM_EACH_LANE(l) address[l] = base[l] + (uint64_t)offset;
    }
}

bool sim_places_check_alignment(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                                const uint64_t *address, uint32_t bytes)
{
    uint64_t low = 0;
    if (mask == UINT32_MAX)
        SIM_EACH_LANE(l) low |= address[l];
    else
        for (uint32_t m = mask; m; m &= m - 1)
            low |= address[__builtin_ctz(m)];
    if (!(low & (bytes - 1)))
        return true;
    SIM_EACH_OF(l, mask)
    if (address[l] & (bytes - 1))
        return sim_fail(b, w, c, l, SIM_FAULT_MISALIGNED, "address 0x%" PRIx64 " for %u bytes",
                        address[l], bytes) ||
               sim_fault_touches(b, b, c->space, address[l]);
    return true;
}

/* The usual access: all lanes are within one region. False: each is to be looked for. */
static bool resolve_within(const sim_region *r, uint32_t bytes, bool is_write, sim_places *p)
{
    uint64_t low = UINT64_MAX, high = 0;
    SIM_EACH_LANE(l)
    {
        low = p->address[l] < low ? p->address[l] : low;
        high = p->address[l] > high ? p->address[l] : high;
    }
    if (r->held || low < r->base || high - r->base >= r->size_bytes ||
        bytes > r->size_bytes - (high - r->base) || (is_write && r->read_only))
        return false;
    /* Chunks between those that are touched are not to be made. */
    if (r->made && high - low > (uint64_t)SIM_LANES * bytes)
        return false;
    if (r->made)
        sim_region_make(r, low - r->base, high - low + bytes);
    SIM_EACH_LANE(l)
    {
        p->at[l] = r->bytes + (p->address[l] - r->base);
        p->region[l] = r;
    }
    SIM_EACH_LANE(l) p->valid[l] = r->valid ? r->valid + (p->address[l] - r->base) : NULL;
    p->only = r;
    return true;
}

bool sim_places_find_global(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                            uint32_t bytes, bool is_write, sim_places *p)
{
    const sim_memory *memory = b->launch->memory;
    const sim_region *r = w->region_hit ? &memory->regions[w->region_hit - 1] : NULL,
                     *made_of = NULL;
    uint64_t made = 0; /* chunk of it */
    p->only = NULL;
    if (r && mask == UINT32_MAX && resolve_within(r, bytes, is_write, p))
        return true;
    SIM_EACH_OF(l, mask)
    {
        uint64_t offset = r ? p->address[l] - r->base : 0;
        if (!r || offset >= r->size_bytes) {
            r = sim_memory_find(memory, p->address[l]);
            offset = r ? p->address[l] - r->base : 0;
        }
        if (!r || bytes > r->size_bytes - offset) {
            char where[SIM_PLACE_BYTES];
            sim_memory_describe(memory, p->address[l], where, sizeof where);
            w->region_hit = 0;
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "%s of %u bytes at global address 0x%" PRIx64 ", %s",
                            is_write ? "write" : "read", bytes, p->address[l], where) ||
                   sim_fault_touches(b, b, PTX_SPACE_GLOBAL, p->address[l]);
        }
        if (r->held && memchr(r->held + offset, 0, bytes))
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "%s of %u bytes at global address 0x%" PRIx64
                            ", which malloc() has not given or free() has taken back",
                            is_write ? "write" : "read", bytes, p->address[l]) ||
                   sim_fault_touches(b, b, PTX_SPACE_GLOBAL, p->address[l]);
        if (is_write && r->read_only) {
            char where[SIM_PLACE_BYTES];
            sim_region_name(r, offset, where, sizeof where);
            return sim_fail(b, w, c, l, SIM_FAULT_READ_ONLY, "write to %s, which is %s", where,
                            r->base >= SIM_MODULE_BASE ? "constant" : "an input") ||
                   sim_fault_touches(b, b, PTX_SPACE_GLOBAL, p->address[l]);
        }
        /* Neighbours are most often in one chunk. */
        if (r->made && (r != made_of || offset / SIM_CHUNK_BYTES != made ||
                        (offset + bytes - 1) / SIM_CHUNK_BYTES != made)) {
            sim_region_make(r, offset, bytes);
            made_of = r;
            made = offset / SIM_CHUNK_BYTES;
        }
        p->at[l] = r->bytes + offset;
        p->valid[l] = r->valid ? r->valid + offset : NULL;
        p->region[l] = r;
    }
    w->region_hit = (uint64_t)(r - memory->regions) + 1;
    return true;
}

/* Shared, local and parameter memory: a block of bytes from address 0, each lane's `stride` after
 * the one before. */
static bool resolve_window(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                           ptx_space space, uint32_t bytes, uint64_t size, uint8_t *first,
                           uint8_t *valid, size_t stride, sim_places *p)
{
    SIM_EACH_OF(l, mask)
    {
        size_t place = (size_t)l * stride + p->address[l];
        if (p->address[l] >= size || bytes > size - p->address[l])
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "%s of %u bytes at %s address %" PRIu64 " of %" PRIu64 " bytes",
                            c->kind == SIM_LOAD ? "read" : "write", bytes, ptx_space_name(space),
                            p->address[l], size) ||
                   sim_fault_touches(b, p->owner, space, p->address[l]);
        p->at[l] = first + place;
        p->valid[l] = valid ? valid + place : NULL;
    }
    return true;
}

/* Is what an address was computed from where the access is, too? Beyond its end another variable
 * may lie here, and something else on a GPU. */
static bool is_within_object(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                             ptx_space space, uint32_t bytes, const sim_places *p)
{
    const ptx_variable *v = &b->program->module->variables[c->object];
    const uint64_t first = b->program->addresses[c->object],
                   /* The launch says how long an unsized array is. */
        size = v->size_bytes ? v->size_bytes : b->shared_bytes - first;
    const bool shared = v->space == PTX_SPACE_SHARED;
    if (shared ? space != PTX_SPACE_SHARED : space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST)
        return true;
    SIM_EACH_OF(l, mask)
    if (p->address[l] - first >= size || bytes > size - (p->address[l] - first)) {
        const ptx_text name = sim_declared_name(v->name);
        return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                        "%s of %u bytes at byte %" PRId64 " of %.*s, which has %" PRIu64,
                        c->kind == SIM_LOAD ? "read" : "write", bytes,
                        (int64_t)(p->address[l] - first),
                        (int)(name.length > 60 ? 60 : name.length), name.at, size) ||
               sim_fault_touches(b, p->owner, space, p->address[l]);
    }
    return true;
}

static bool find(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                 ptx_space space, uint32_t bytes, bool is_write, sim_places *p)
{
    const sim_program *program = b->program;
    switch (space) {
    case PTX_SPACE_SHARED:
        return resolve_window(b, w, c, mask, space, bytes, b->shared_bytes, p->owner->shared, NULL,
                              0, p);
    case PTX_SPACE_LOCAL:
        return resolve_window(b, w, c, mask, space, bytes, program->local_bytes, w->local,
                              w->local_valid, program->local_bytes, p);
    case PTX_SPACE_PARAM:
        /* Only loads reach parameters: decoding refuses others. */
        return resolve_window(b, w, c, mask, space, bytes, program->parameter_bytes,
                              (uint8_t *)(uintptr_t)b->launch->parameters, NULL, 0, p);
    default:
        return sim_places_find_global(b, w, c, mask, bytes, is_write, p);
    }
}

bool sim_places_find(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                     ptx_space space, uint32_t bytes, bool is_write, sim_places *p)
{
    return sim_places_check_alignment(b, w, c, mask, p->address, bytes) &&
           find(b, w, c, mask, space, bytes, is_write, p) &&
           (c->object < 0 || !b->launch->check || is_within_object(b, w, c, mask, space, bytes, p));
}

bool sim_aligned(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint64_t address[SIM_LANES];
    sim_places_address(w, c->a, c->source_width, c->offset, address);
    return sim_places_check_alignment(b, w, c, mask, address, c->vector);
}
