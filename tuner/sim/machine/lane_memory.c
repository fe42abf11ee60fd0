#include "sim/machine/lane_memory.h"

#include <inttypes.h>
#include <string.h>

#include "sim/machine/counters.h"
#include "sim/machine/execute.h"
#include "sim/machine/fault.h"
#include "sim/machine/watch.h"
#include "sim/program/operations.h"

void sim_lane_addresses(const sim_warp *w, int32_t slot, uint32_t width, int64_t offset,
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

bool sim_check_alignment(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
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
               sim_fault_add_address(b, b, c->space, address[l]);
    return true;
}

/* Finds the bytes of all lanes if all lanes access region `r`, as usual. Returns false if not. */
static bool resolve_within(const sim_region *r, uint32_t bytes, bool is_write, sim_lane_memory *p)
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
    /* All chunks between the lanes would be made, so the lanes must be close together. */
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

/* Records the fault of a forbidden access. `r` is the region of its first byte, or NULL. */
static bool refuse(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                   const sim_region *r, uint64_t address, uint32_t bytes, bool is_write)
{
    const char *const access = is_write ? "write" : "read";
    char where[SIM_ADDRESS_TEXT_BYTES];
    if (!r || bytes > r->size_bytes - (address - r->base)) {
        sim_memory_describe(b->launch->memory, address, where, sizeof where);
        w->region_hit = 0;
        sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                 "%s of %u bytes at global address 0x%" PRIx64 ", %s", access, bytes, address,
                 where);
    } else if (r->held && memchr(r->held + (address - r->base), 0, bytes)) {
        sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                 "%s of %u bytes at global address 0x%" PRIx64
                 " of the heap, which malloc() did not return or free() has released",
                 access, bytes, address);
    } else {
        sim_region_name(r, address - r->base, where, sizeof where);
        sim_fail(b, w, c, lane, SIM_FAULT_READ_ONLY, "write to %s, which is %s", where,
                 r->base >= SIM_MODULE_BASE ? "constant" : "an input");
    }
    return sim_fault_add_address(b, b, PTX_SPACE_GLOBAL, address);
}

static bool find_in_regions(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                            uint32_t bytes, bool is_write, sim_lane_memory *p)
{
    const sim_memory *memory = b->launch->memory;
    const sim_region *r = w->region_hit ? &memory->regions[w->region_hit - 1] : NULL,
                     *made_of = NULL;
    uint64_t made = 0; /* the chunk of `made_of` that was made last */
    p->only = NULL;
    if (mask == UINT32_MAX) {
        /* Kernels alternate between buffers, so the last region is often the wrong one. */
        if (!r || p->address[0] - r->base >= r->size_bytes)
            r = sim_memory_find(memory, p->address[0]);
        if (r && resolve_within(r, bytes, is_write, p)) {
            w->region_hit = (uint64_t)(r - memory->regions) + 1;
            return true;
        }
    }
    SIM_EACH_OF(l, mask)
    {
        uint64_t offset = r ? p->address[l] - r->base : 0;
        if (!r || offset >= r->size_bytes) {
            r = sim_memory_find(memory, p->address[l]);
            offset = r ? p->address[l] - r->base : 0;
        }
        if (!r || bytes > r->size_bytes - offset ||
            (r->held && memchr(r->held + offset, 0, bytes)) || (is_write && r->read_only))
            return refuse(b, w, c, l, r, p->address[l], bytes, is_write);
        /* Neighbouring lanes mostly access the same chunk, which is then made already. */
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

/* Finds the lanes' bytes in shared, local or parameter memory. Address 0 of lane l is at `first` +
 * l * `stride`. Each lane may access `size` bytes. */
static bool resolve_window(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                           uint32_t bytes, uint64_t size, uint8_t *first, uint8_t *valid,
                           size_t stride, sim_lane_memory *p)
{
    SIM_EACH_OF(l, mask)
    {
        size_t place = (size_t)l * stride + p->address[l];
        if (p->address[l] >= size || bytes > size - p->address[l])
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "%s of %u bytes at %s address %" PRIu64 ", where %" PRIu64
                            " bytes exist",
                            c->kind == SIM_LOAD ? "read" : "write", bytes, ptx_space_name(p->space),
                            p->address[l], size) ||
                   sim_fault_add_address(b, p->owner, p->space, p->address[l]);
        p->at[l] = first + place;
        p->valid[l] = valid ? valid + place : NULL;
    }
    return true;
}

/* Checks that an access stays in the variable that c->object names. A GPU does not check this. */
static bool is_within_object(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                             uint32_t bytes, const sim_lane_memory *p)
{
    const ptx_variable *v = &b->program->module->variables[c->object];
    const uint64_t first = b->program->addresses[c->object],
                   /* An unsized array extends to the end of shared memory. */
        size = v->size_bytes ? v->size_bytes : b->shared_bytes - first;
    const bool shared = v->space == PTX_SPACE_SHARED;
    if (shared ? p->space != PTX_SPACE_SHARED
               : p->space != PTX_SPACE_GLOBAL && p->space != PTX_SPACE_CONST)
        return true;
    SIM_EACH_OF(l, mask)
    if (p->address[l] - first >= size || bytes > size - (p->address[l] - first)) {
        const ptx_text name = sim_declared_name(v->name);
        return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                        "%s of %u bytes at byte %" PRId64 " of %.*s, which has %" PRIu64 " bytes%s",
                        c->kind == SIM_LOAD ? "read" : "write", bytes,
                        (int64_t)(p->address[l] - first),
                        (int)(name.length > 60 ? 60 : name.length), name.at, size,
                        shared && !v->size_bytes ? ": kernel = { shared = BYTES } gives its size"
                                                 : "") ||
               sim_fault_add_address(b, p->owner, p->space, p->address[l]);
    }
    return true;
}

static bool find(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask, uint32_t bytes,
                 bool is_write, sim_lane_memory *p)
{
    const sim_program *program = b->program;
    switch (p->space) {
    case PTX_SPACE_SHARED:
        return resolve_window(b, w, c, mask, bytes, b->shared_bytes, p->owner->shared, NULL, 0, p);
    case PTX_SPACE_LOCAL:
        return resolve_window(b, w, c, mask, bytes, program->local_bytes, w->local, w->local_valid,
                              program->local_bytes, p);
    case PTX_SPACE_PARAM:
        /* The cast is safe: the decoder refuses stores to parameters. */
        return resolve_window(b, w, c, mask, bytes, program->parameter_bytes,
                              (uint8_t *)(uintptr_t)b->launch->parameters, NULL, 0, p);
    default:
        return find_in_regions(b, w, c, mask, bytes, is_write, p);
    }
}

bool sim_lane_memory_find(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                          uint32_t bytes, bool is_write, sim_lane_memory *p)
{
    return sim_check_alignment(b, w, c, mask, p->address, bytes) &&
           (c->object < 0 || !b->launch->check || is_within_object(b, w, c, mask, bytes, p)) &&
           find(b, w, c, mask, bytes, is_write, p);
}

bool sim_lane_memory_find_global(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                                 uint32_t bytes, bool is_write, sim_lane_memory *p)
{
    p->space = PTX_SPACE_GLOBAL;
    return find_in_regions(b, w, c, mask, bytes, is_write, p);
}

bool sim_aligned(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint64_t address[SIM_LANES];
    sim_lane_addresses(w, c->a, c->source_width, c->offset, address);
    return sim_check_alignment(b, w, c, mask & (uint32_t)c->target, address, c->vector);
}

void sim_count_request(sim_block *b, const sim_instruction *c, uint32_t mask, ptx_space space,
                       const uint64_t *address, uint32_t bytes)
{
    sim_counter *n = b->counters ? &b->counters[c - b->program->code] : NULL;
    if (space == PTX_SPACE_SHARED && n) {
        if (c->kind == SIM_ATOMIC)
            sim_counter_add_shared_atomic(n, address, mask, bytes);
        else
            sim_counter_add_shared(n, address, mask, bytes, c->kind == SIM_STORE);
    } else if (space == PTX_SPACE_LOCAL && n) {
        /* Local memory is interleaved: lanes that access the same offset share sectors. */
        n->requests++;
        n->bytes += (uint64_t)__builtin_popcount(mask) * bytes;
        n->sectors += ((uint64_t)__builtin_popcount(mask) * bytes + 31) / 32;
    } else if (space == PTX_SPACE_CONST && n) {
        sim_counter_add_constant(n, address, mask);
    } else if (space == PTX_SPACE_GLOBAL && (n || b->launch->observer)) {
        sim_sectors s;
        sim_sectors_collect(address, mask, bytes, &s);
        if (n)
            sim_counter_add_sectors(n, &s);
        if (n && c->kind == SIM_ATOMIC)
            sim_counter_add_turns(n, address, mask);
        if (b->launch->observer)
            b->launch->observer(
                b->launch->observer_context, c,
                c->kind == SIM_STORE || c->kind == SIM_ATOMIC || c->kind == SIM_BULK_STORE, &s);
    }
}

void sim_count_requests(sim_block *b, const sim_instruction *c, uint32_t mask, ptx_space space,
                        const uint64_t *address, uint32_t bytes)
{
    if (!c->shape.reshaped) {
        sim_count_request(b, c, mask, space, address, bytes);
        return;
    }
    for (int i = 0; i < c->shape.count; i++) {
        uint64_t moved[SIM_LANES];
        SIM_EACH_LANE(l) moved[l] = address[l] + (uint64_t)(int64_t)c->shape.pieces[i].skip;
        sim_count_request(b, c, mask, space, moved, c->shape.pieces[i].bytes);
    }
}

bool sim_touch_lane(sim_race_access *a, int lane, const sim_lane_memory *p, uint32_t bytes,
                    sim_touch kind, const uint8_t *fresh)
{
    sim_race_access_by(a, lane);
    if (p->space == PTX_SPACE_SHARED) {
        a->owner = p->owner;
        return sim_shared_touch(a, (uint32_t)p->address[lane], bytes, kind, fresh);
    }
    if (p->space == PTX_SPACE_GLOBAL) {
        const sim_region *r = a->region = p->region[lane];
        return !sim_is_watched(a->block->watch, r) ||
               sim_global_touch(a, p->address[lane] - r->base, bytes, kind, fresh);
    }
    return true;
}

/* Returns whether all lanes are active and each lane's bytes follow those of the lane before. */
static bool are_contiguous(uint32_t mask, const sim_lane_memory *p, uint32_t bytes)
{
    uint64_t apart = 0;
    if (mask != UINT32_MAX)
        return false;
    SIM_EACH_LANE(l) apart |= p->address[l] ^ (p->address[0] + (uint64_t)l * bytes);
    return apart == 0;
}

uint32_t sim_touch_together(sim_race_access *a, uint32_t mask, const sim_lane_memory *p,
                            uint32_t bytes, sim_touch kind, const uint8_t *fresh, bool *fine)
{
    if (p->space == PTX_SPACE_SHARED) {
        a->owner = p->owner;
        if (kind == SIM_TOUCH_READ && p->address[0] == p->address[1]) {
            const uint64_t word = p->address[__builtin_ctz(mask)];
            uint64_t apart = 0;
            SIM_EACH_OF(l, mask) apart |= p->address[l] ^ word;
            return apart == 0 && sim_shared_read_word(a, mask, (uint32_t)word, bytes) ? 0 : mask;
        }
        if (!are_contiguous(mask, p, bytes))
            return mask;
        return mask & ~sim_shared_touch_row(a, (uint32_t)p->address[0], bytes, kind, fresh, fine);
    }
    if (p->space != PTX_SPACE_GLOBAL || !are_contiguous(mask, p, bytes) ||
        p->region[0] != p->region[31])
        return mask;
    a->region = p->region[0];
    return mask &
           ~sim_global_touch_row(a, p->address[0] - a->region->base, bytes, kind, fresh, fine);
}
