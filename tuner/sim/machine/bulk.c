#include "sim/machine/bulk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/machine/bytes.h"
#include "sim/machine/engine.h"
#include "sim/machine/fault.h"
#include "sim/machine/global.h"
#include "sim/machine/mbarrier.h"
#include "sim/machine/peers.h"
#include "sim/machine/places.h"
#include "sim/machine/requests.h"
#include "sim/machine/shared.h"
#include "sim/machine/unwritten.h"
#include "sim/program/operations.h"

enum { BULK_BYTES = 16 };

static bool no_memory(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane)
{
    return sim_fail(b, w, c, lane, SIM_FAULT_INTERNAL, "no memory for bulk copies");
}

/* Finds the global side of a copy, counted in requests of 512 bytes. */
static bool resolve(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
                    uint32_t bytes, bool is_write, sim_places *p)
{
    p->address[lane] = address;
    if (!sim_places_find_global(b, w, c, 1u << lane, bytes, is_write, p))
        return false;
    for (uint32_t at = 0; at < bytes; at += 16 * SIM_LANES) {
        sim_places piece;
        uint32_t left = (bytes - at) / 16,
                 lanes = left >= SIM_LANES ? UINT32_MAX : (1u << left) - 1;
        SIM_EACH_LANE(l) piece.address[l] = address + at + 16u * (uint32_t)l;
        sim_count_request(b, c, lanes, PTX_SPACE_GLOBAL, piece.address, 16);
    }
    return true;
}

/* Reads it; the copy is under way from now on, and *region and *offset say where. */
static bool read_global(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        uint64_t address, uint32_t bytes, uint32_t number, uint8_t *to,
                        const sim_region **region, uint64_t *offset)
{
    sim_places p;
    if (!resolve(b, w, c, lane, address, bytes, false, &p))
        return false;
    sim_places_tell(&p, lane, region, offset);
    if (b->launch->check &&
        (!sim_global_begin(b, w, c, lane, *region, *offset, bytes, SIM_TOUCH_READ, number, true) ||
         !sim_check_written(b, w, c, lane, PTX_SPACE_GLOBAL, &p, bytes, "copy")))
        return false;
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)sim_load_bytes(p.at[lane] + i, 1);
    return true;
}

/* Writes it, likewise. */
static bool write_global(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                         ptx_type type, uint64_t address, uint32_t bytes, uint32_t number,
                         const uint8_t *from, const sim_region **region, uint64_t *offset)
{
    sim_places p;
    if (!resolve(b, w, c, lane, address, bytes, true, &p))
        return false;
    sim_places_tell(&p, lane, region, offset);
    const bool adds = c->reduction >= 0;
    if (b->launch->check &&
        (!sim_global_begin(b, w, c, lane, *region, *offset, bytes,
                           adds ? SIM_TOUCH_ATOMIC : SIM_TOUCH_WRITE, number, true) ||
         (adds && !sim_check_written(b, w, c, lane, PTX_SPACE_GLOBAL, &p, bytes, "atomic"))))
        return false;
    const uint32_t each = adds ? ptx_type_bytes(type) : 1;
    for (uint32_t i = 0; i < bytes; i += each) {
        uint64_t operand = sim_load_bytes(from + i, each);
        if (adds)
            sim_atomic_apply(p.at[lane] + i, (sim_atomic_op)c->reduction, type, true, operand, 0);
        else
            sim_store_bytes(p.at[lane] + i, 1, operand);
    }
    if (!adds)
        sim_mark_written(b, p.valid[lane], bytes, PTX_SPACE_GLOBAL);
    return true;
}

static bool take(sim_engine *e, const sim_flight *f)
{
    return array_add(&e->flights, &e->flight_count, f, sizeof *f);
}

/* Sends the copy on its way; `data` becomes the flight's. */
static bool depart(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, sim_block *owner,
                   sim_flight *f, bool bulk)
{
    bool fine =
        sim_shared_begin(b, owner, w, c, lane, f->at, f->bytes,
                         sim_flight_adds(c) ? SIM_TOUCH_ATOMIC : SIM_TOUCH_WRITE, f->number, bulk);
    if (fine && take(owner->engine, f)) {
        owner->moment++;
        return true;
    }
    free(f->data);
    return fine && no_memory(b, w, c, lane);
}

static sim_flight flight_of(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                            uint32_t bytes)
{
    return (sim_flight){.bytes = bytes,
                        .thread = w->first_thread + (uint32_t)lane,
                        .by = b,
                        .warp = w,
                        .instruction = c};
}

/* What a part brings where it moves nothing. */
static void fill_outside(const sim_bulk_part *p, uint8_t *data)
{
    memset(data, p->nan_bytes ? 0xff : 0, p->bytes);
    for (uint32_t i = p->nan_bytes; p->nan_bytes && i <= p->bytes; i += p->nan_bytes)
        data[i - 1] = 0x7f;
}

/* `rank`: the block of the cluster whose memory is filled; -1: as the address says. */
static bool copy_in(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                    const sim_bulk_part *p, int rank)
{
    uint64_t to = p->shared, barrier = sim_lane_address(w, c->e, c->vector, c->e_offset, lane);
    sim_block *owner = b;
    sim_flight f = flight_of(b, w, c, lane, p->bytes);
    f.moved = p->moved;
    if (rank >= 0) {
        to = to % SIM_PEER_BYTES + (uint64_t)(rank + 1) * SIM_PEER_BYTES;
        barrier = barrier % SIM_PEER_BYTES + (uint64_t)(rank + 1) * SIM_PEER_BYTES;
    }
    f.number = b->engine->flights_begun++;
    if (!sim_shared_place(b, w, c, lane, to, f.bytes, BULK_BYTES, "a bulk copy", false, &owner,
                          &f.at) ||
        !sim_mbarrier_find_report(b, w, c, lane, barrier, owner, &f.barrier))
        return false;
    if (c->kind == SIM_BULK_MOVE &&
        (!sim_own_place(b, w, c, lane, p->global, f.bytes, BULK_BYTES, "a bulk copy", &f.from_at) ||
         !sim_shared_begin(b, b, w, c, lane, f.from_at, f.bytes, SIM_TOUCH_READ, f.number, true)))
        return false;
    f.data = malloc(f.bytes + 1u);
    if (!f.data)
        return no_memory(b, w, c, lane);
    if (p->moved < p->bytes)
        fill_outside(p, f.data);
    if (c->kind == SIM_BULK_MOVE) {
        memcpy(f.data, b->shared + f.from_at, f.bytes);
    } else if (p->moved > 0 && !read_global(b, w, c, lane, p->global, p->moved, f.number,
                                            f.data + p->skip, &f.region, &f.offset)) {
        free(f.data);
        return false;
    }
    return depart(b, w, c, lane, owner, &f, true);
}

bool sim_bulk_part_in(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_bulk_part *p)
{
    if (!sim_engine_of(b))
        return no_memory(b, w, c, lane);
    if (c->target == SIM_NO_SLOT)
        return copy_in(b, w, c, lane, p, -1);
    SIM_EACH_OF(rank, sim_lanes32(w, c->target)[lane] & 0xffff)
    {
        if (!copy_in(b, w, c, lane, p, rank))
            return false;
    }
    return true;
}

bool sim_store_async(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t each = ptx_type_bytes((ptx_type)c->type);
    SIM_EACH_OF(l, mask)
    {
        sim_flight f = flight_of(b, w, c, l, each * c->vector);
        sim_block *owner = b;
        if (!sim_engine_of(b))
            return no_memory(b, w, c, l);
        f.number = b->engine->flights_begun++;
        if (!sim_shared_place(b, w, c, l, sim_lane_address(w, c->a, c->source_width, c->offset, l),
                              f.bytes, f.bytes, "an asynchronous store", false, &owner, &f.at) ||
            !sim_mbarrier_find_report(b, w, c, l,
                                      sim_lane_address(w, c->e, (uint32_t)c->d2, c->e_offset, l),
                                      owner, &f.barrier))
            return false;
        f.data = malloc(f.bytes);
        if (!f.data)
            return no_memory(b, w, c, l);
        for (uint32_t i = 0; i < c->vector; i++) {
            int32_t slot = b->program->lists[c->list + (int32_t)i];
            if (each == 8)
                memcpy(f.data + i * each, &sim_lanes64(w, slot)[l], each);
            else
                memcpy(f.data + i * each, &sim_lanes32(w, slot)[l], each);
        }
        if (!depart(b, w, c, l, owner, &f, false))
            return false;
    }
    return true;
}

bool sim_bulk_part_out(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       const sim_bulk_part *p)
{
    sim_flight f = flight_of(b, w, c, lane, p->moved);
    if (!sim_engine_of(b))
        return no_memory(b, w, c, lane);
    f.moved = p->moved;
    f.leaving = true;
    f.group = b->engine->groups[f.thread];
    f.number = b->engine->flights_begun++;
    if (!sim_own_place(b, w, c, lane, p->shared, p->bytes, BULK_BYTES, "a bulk copy", &f.at))
        return false;
    f.at += p->skip;
    return sim_shared_begin(b, b, w, c, lane, f.at, f.bytes, SIM_TOUCH_READ, f.number, true) &&
           write_global(b, w, c, lane, p->type, p->global, f.bytes, f.number, b->shared + f.at,
                        &f.region, &f.offset) &&
           (take(b->engine, &f) || no_memory(b, w, c, lane));
}

bool sim_bulk_copy(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    SIM_EACH_OF(l, mask)
    {
        const uint64_t other = sim_lane_address(w, c->a, c->source_width, c->offset, l);
        const uint32_t bytes = sim_lanes32(w, c->c)[l];
        const sim_bulk_part all = {.shared = sim_lane_address(w, c->b, c->op, c->d2, l),
                                   .global = other,
                                   .bytes = bytes,
                                   .type = (ptx_type)c->type,
                                   .moved = bytes};
        if (c->kind != SIM_BULK_MOVE && (other % BULK_BYTES || bytes % BULK_BYTES))
            return sim_fail(b, w, c, l, SIM_FAULT_MISALIGNED,
                            "a bulk copy of %u bytes at global address 0x%" PRIx64
                            ": both must be multiples of %d",
                            bytes, other, BULK_BYTES);
        if (bytes % BULK_BYTES)
            return sim_fail(b, w, c, l, SIM_FAULT_MISALIGNED,
                            "a bulk copy of %u bytes: it must be a multiple of %d", bytes,
                            BULK_BYTES);
        if (!(c->kind == SIM_BULK_STORE ? sim_bulk_part_out(b, w, c, l, &all)
                                        : sim_bulk_part_in(b, w, c, l, &all)))
            return false;
    }
    return true;
}

/* It has read shared memory; `wholly`: it has written global memory, too. */
static void end_leaving(sim_block *b, sim_warp *w, sim_flight *f, bool wholly)
{
    int lane = (int)(f->thread - w->first_thread);
    const bool had_read = f->has_read;
    f->has_read = true;
    if (!b->launch->check)
        return;
    sim_stamp landed = sim_race_access_of(b, w, f->instruction, lane).stamp;
    if (!had_read)
        sim_shared_land(b, b, w, f->instruction, lane, f->at, f->bytes, false, f->number, &landed);
    if (f->instruction->reduction >= 0)
        landed.scope = SIM_SCOPE_GPU;
    if (wholly)
        sim_global_land(b, w, f->instruction, lane, f->region, f->offset, f->moved, true, f->number,
                        &landed);
}

bool sim_bulk_group(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    sim_engine *e = sim_engine_of(b);
    if (!e)
        return no_memory(b, w, c, __builtin_ctz(mask));
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t thread = w->first_thread + (uint32_t)__builtin_ctz(m);
        if (c->kind == SIM_BULK_COMMIT) {
            e->groups[thread]++;
            continue;
        }
        uint64_t stay = (uint64_t)c->offset, committed = e->groups[thread];
        size_t kept = 0;
        for (size_t i = 0; i < e->flight_count; i++) {
            sim_flight *f = &e->flights[i];
            /* Copies that no group holds yet are not waited for. */
            bool over = f->leaving && f->thread == thread && f->group < committed &&
                        f->group + stay < committed;
            if (over)
                end_leaving(b, w, f, c->op == 0);
            if (!over || c->op != 0)
                e->flights[kept++] = *f;
        }
        e->flight_count = kept;
    }
    return true;
}
