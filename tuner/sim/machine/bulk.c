/* Bulk copies, boxes of tensors, and asynchronous stores. PTX ISA, "cp.async.bulk", "st.async",
 * "proxies", "tensors", "cp.async.bulk.tensor" in tiled mode, "swizzling modes". A box is copied
 * row by row. Elements outside the tensor are read as zeros or NaN, and are not written. */
#include "sim/machine/copies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/machine/arguments.h"
#include "sim/machine/execute.h"
#include "sim/machine/fault.h"
#include "sim/machine/lane_memory.h"
#include "sim/machine/values.h"
#include "sim/machine/watch.h"
#include "sim/program/operations.h"

_Static_assert(sizeof(sim_tensor_map) <= SIM_TENSOR_MAP_BYTES, "a tensor map is an argument");

enum { BULK_BYTES = 16, BOX_ALIGNMENT = 128, SWIZZLED_BYTES = 16 };

/* A part of a copy between shared memory (own or cluster address) and global memory. In shared
 * memory the part has `bytes` bytes. Only `moved` of these, from byte `skip` on, exist in global
 * memory. A copy to shared memory fills the other bytes with zeros or NaN. */
typedef struct bulk_part {
    uint64_t shared, global;
    uint32_t bytes, skip, moved;
    uint32_t nan_bytes; /* size of the NaN that fills the other bytes; 0 if zeros fill them */
    ptx_type type;      /* type of the elements of a reduction */
} bulk_part;

/* Finds the global memory of a copy. Counts the copy as requests of 512 bytes. */
static bool resolve(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
                    uint32_t bytes, bool is_write, sim_lane_memory *p)
{
    p->address[lane] = address;
    if (!sim_lane_memory_find_global(b, w, c, 1u << lane, bytes, is_write, p))
        return false;
    for (uint32_t at = 0; at < bytes; at += 16 * SIM_LANES) {
        sim_lane_memory piece;
        uint32_t left = (bytes - at) / 16,
                 lanes = left >= SIM_LANES ? UINT32_MAX : (1u << left) - 1;
        SIM_EACH_LANE(l) piece.address[l] = address + at + 16u * (uint32_t)l;
        sim_count_request(b, c, lanes, PTX_SPACE_GLOBAL, piece.address, 16);
    }
    return true;
}

/* Reads the global memory of a copy into `to`. The copy is under way from now on. */
static bool read_global(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        const bulk_part *part, sim_flight *f, uint8_t *to)
{
    sim_lane_memory p;
    if (!resolve(b, w, c, lane, part->global, part->moved, false, &p))
        return false;
    sim_lane_memory_region(&p, lane, &f->region, &f->offset);
    if (b->launch->check && (!sim_global_begin(b, w, c, lane, f->region, f->offset, part->moved,
                                               SIM_TOUCH_READ, f->number, true) ||
                             !sim_check_written(b, w, c, lane, &p, part->moved, "copy")))
        return false;
    for (uint32_t i = 0; i < part->moved; i++)
        to[i] = (uint8_t)sim_load_bytes(p.at[lane] + i, 1);
    return true;
}

/* Writes the data of a copy, which begin at byte f->at of shared memory, to global memory. */
static bool write_global(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                         const bulk_part *part, sim_flight *f)
{
    const uint8_t *from = b->shared + f->at;
    sim_lane_memory p;
    if (!resolve(b, w, c, lane, part->global, part->moved, true, &p))
        return false;
    sim_lane_memory_region(&p, lane, &f->region, &f->offset);
    const bool adds = c->reduction >= 0;
    if (b->launch->check &&
        (!sim_global_begin(b, w, c, lane, f->region, f->offset, part->moved,
                           adds ? SIM_TOUCH_ATOMIC : SIM_TOUCH_WRITE, f->number, true) ||
         (adds && !sim_check_written(b, w, c, lane, &p, part->moved, "atomic"))))
        return false;
    const uint32_t each = adds ? ptx_type_bytes(part->type) : 1;
    for (uint32_t i = 0; i < part->moved; i += each) {
        const uint64_t v = sim_load_bytes(from + i, each);
        if (adds)
            sim_atomic_apply(p.at[lane] + i, (sim_atomic_op)c->reduction, part->type, true, v, 0);
        else
            sim_store_bytes(p.at[lane] + i, 1, v);
    }
    if (!adds)
        sim_mark_written(b, p.valid[lane], part->moved, PTX_SPACE_GLOBAL);
    return true;
}

static void take(sim_engine *e, const sim_flight *f)
{
    memory_add(&e->flights, &e->flight_count, f, sizeof *f);
}

/* Begins a copy to shared memory of `owner`. Takes ownership of f->data, even if it fails. */
static bool begin_flight(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                         sim_block *owner, sim_flight *f, bool bulk)
{
    bool fine =
        sim_shared_begin(b, owner, w, c, lane, f->at, f->bytes,
                         sim_flight_adds(c) ? SIM_TOUCH_ATOMIC : SIM_TOUCH_WRITE, f->number, bulk);
    if (fine) {
        take(owner->engine, f);
        owner->moment++;
    } else {
        free(f->data);
    }
    return fine;
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

static void fill_outside(const bulk_part *p, uint8_t *data)
{
    memset(data, p->nan_bytes ? 0xff : 0, p->bytes);
    for (uint32_t i = p->nan_bytes; p->nan_bytes && i <= p->bytes; i += p->nan_bytes)
        data[i - 1] = 0x7f;
}

/* Begins a copy to block `rank` of the cluster. If `rank` is -1, p->shared tells the block. */
static bool copy_in(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                    const bulk_part *p, int rank)
{
    uint64_t to = p->shared, barrier = sim_lane_address(w, c->e, c->vector, c->e_offset, lane);
    sim_block *owner = b;
    sim_flight f = flight_of(b, w, c, lane, p->bytes);
    f.moved = p->moved;
    if (rank >= 0) {
        to = to % SIM_PEER_BYTES + (uint64_t)(rank + 1) * SIM_PEER_BYTES;
        barrier = barrier % SIM_PEER_BYTES + (uint64_t)(rank + 1) * SIM_PEER_BYTES;
    }
    f.number = sim_engine_of(b)->flights_begun++;
    if (!sim_shared_find(b, w, c, lane, to, f.bytes, BULK_BYTES, "a bulk copy", false, &owner,
                         &f.at) ||
        !sim_mbarrier_find_report(b, w, c, lane, barrier, owner, &f.barrier))
        return false;
    if (c->kind == SIM_BULK_MOVE &&
        (!sim_shared_find_own(b, w, c, lane, p->global, f.bytes, BULK_BYTES, "a bulk copy",
                              &f.from_at) ||
         !sim_shared_begin(b, b, w, c, lane, f.from_at, f.bytes, SIM_TOUCH_READ, f.number, true)))
        return false;
    f.data = memory_require(malloc(f.bytes + 1u));
    if (p->moved < p->bytes)
        fill_outside(p, f.data);
    if (c->kind == SIM_BULK_MOVE) {
        memcpy(f.data, b->shared + f.from_at, f.bytes);
    } else if (p->moved > 0 && !read_global(b, w, c, lane, p, &f, f.data + p->skip)) {
        free(f.data);
        return false;
    }
    return begin_flight(b, w, c, lane, owner, &f, true);
}

static bool part_in(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                    const bulk_part *p)
{
    if (c->target == SIM_NO_SLOT)
        return copy_in(b, w, c, lane, p, -1);
    SIM_EACH_OF(rank, sim_lanes32(w, c->target)[lane] & 0xffff)
    {
        if (!copy_in(b, w, c, lane, p, rank))
            return false;
    }
    return true;
}

static bool part_out(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     const bulk_part *p)
{
    sim_flight f = flight_of(b, w, c, lane, p->moved);
    f.moved = p->moved;
    f.leaving = true;
    f.group = sim_engine_of(b)->groups[f.thread];
    f.number = b->engine->flights_begun++;
    if (!sim_shared_find_own(b, w, c, lane, p->shared, p->bytes, BULK_BYTES, "a bulk copy", &f.at))
        return false;
    f.at += p->skip;
    if (!sim_shared_begin(b, b, w, c, lane, f.at, f.bytes, SIM_TOUCH_READ, f.number, true) ||
        !write_global(b, w, c, lane, p, &f))
        return false;
    take(b->engine, &f);
    return true;
}

static bool copy_part(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const bulk_part *p)
{
    return c->kind == SIM_BULK_STORE ? part_out(b, w, c, lane, p) : part_in(b, w, c, lane, p);
}

static bool copy_bytes(sim_block *b, sim_warp *w, const sim_instruction *c, int lane)
{
    const uint64_t other = sim_lane_address(w, c->a, c->source_width, c->offset, lane);
    const uint32_t bytes = sim_lanes32(w, c->c)[lane];
    const bulk_part all = {.shared = sim_lane_address(w, c->b, c->op, c->d2, lane),
                           .global = other,
                           .bytes = bytes,
                           .type = (ptx_type)c->type,
                           .moved = bytes};
    if (c->kind != SIM_BULK_MOVE && (other % BULK_BYTES || bytes % BULK_BYTES))
        return sim_fail(b, w, c, lane, SIM_FAULT_MISALIGNED,
                        "a bulk copy of %u bytes at global address 0x%" PRIx64
                        ": the size and the address must be multiples of %d",
                        bytes, other, BULK_BYTES);
    if (bytes % BULK_BYTES)
        return sim_fail(b, w, c, lane, SIM_FAULT_MISALIGNED,
                        "a bulk copy of %u bytes: the size must be a multiple of %d", bytes,
                        BULK_BYTES);
    return copy_part(b, w, c, lane, &all);
}

typedef struct row {
    const sim_tensor_map *map;
    int64_t x;       /* coordinate x of the first element, which may be outside the tensor */
    uint64_t global; /* address of the element with x = 0 */
    bool is_outside; /* another coordinate than x is outside the tensor */
} row;

static bool find_map(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     sim_tensor_map *out)
{
    uint64_t at = sim_lanes64(w, c->a)[lane] + (uint64_t)c->offset;
    if (c->space == PTX_SPACE_GENERIC)
        at -= SIM_PARAM_WINDOW;
    if (at % 64 != 0 || at + sizeof *out > b->program->parameter_bytes)
        return sim_fail(b, w, c, lane, SIM_FAULT_UNKNOWN,
                        "only a tensor map that is an argument of the kernel (__grid_constant__) "
                        "is simulated");
    memcpy(out, b->launch->parameters + at, sizeof *out);
    if (out->magic != SIM_TENSOR_MAGIC)
        return sim_fail(
            b, w, c, lane, SIM_FAULT_BOUNDS,
            "the argument at byte %" PRIu64 " is not a tensor map: pass at.tensor { ... }", at);
    return out->rank == c->target_count ||
           sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                    "the instruction has %d coordinates, but the tensor map has %u dimensions",
                    (int)c->target_count, out->rank);
}

/* Returns row `number` of a box at `at`. Rows are numbered along dimension 1 first, then 2 ... */
static row find_row(const sim_tensor_map *map, const int32_t at[SIM_TENSOR_RANK], uint32_t number)
{
    row r = {.map = map, .x = at[0], .global = map->base};
    for (uint32_t i = 1; i < map->rank; i++) {
        const int64_t place = (int64_t)at[i] + number % map->box[i];
        number /= map->box[i];
        r.is_outside = r.is_outside || place < 0 || place >= (int64_t)map->size[i];
        r.global += (uint64_t)place * map->stride_bytes[i - 1];
    }
    return r;
}

/* Swizzles an address: changes `bits` bits from bit 4 on by exclusive-or with the bits from bit 7
 * on (PTX ISA, "swizzling modes"). */
static uint64_t swizzled(uint64_t address, uint32_t bits)
{
    return address ^ (address >> 7 & ((1u << bits) - 1)) << 4;
}

/* Returns the part of a row that has `bytes` from byte `from` on, at the address `shared`. */
static bulk_part part_of(const row *r, uint32_t from, uint32_t bytes, uint64_t shared)
{
    const sim_tensor_map *map = r->map;
    const int64_t each = map->element_bytes, begin = r->x * each + from, end = begin + bytes,
                  most = r->is_outside ? 0 : (int64_t)map->size[0] * each,
                  first = begin < 0 ? 0 : begin, last = end > most ? most : end;
    bulk_part p = {.shared = swizzled(shared, map->swizzle),
                   .bytes = bytes,
                   .type = (ptx_type)map->type,
                   .nan_bytes = map->nan_outside ? map->element_bytes : 0};
    if (first < last) {
        p.skip = (uint32_t)(first - begin);
        p.moved = (uint32_t)(last - first);
        p.global = r->global + (uint64_t)first;
    }
    return p;
}

static bool copy_row(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, const row *r,
                     uint64_t shared)
{
    const uint32_t bytes = (uint32_t)r->map->box[0] * r->map->element_bytes;
    const uint32_t step = r->map->swizzle ? SWIZZLED_BYTES : bytes;
    for (uint32_t from = 0; from < bytes; from += step) {
        const bulk_part p = part_of(r, from, step, shared + from);
        const bool is_outside = c->kind == SIM_BULK_STORE && p.moved == 0;
        if (!is_outside && !copy_part(b, w, c, lane, &p))
            return false;
    }
    return true;
}

/* Returns whether the reduction `op` exists for a type (PTX ISA, "cp.reduce.async.bulk.tensor"). */
static bool reduction_exists(ptx_type type, sim_atomic_op op)
{
    const bool compares = op == SIM_ATOMIC_MIN || op == SIM_ATOMIC_MAX;
    switch (type) {
    case PTX_U32:
    case PTX_U64:
        return true;
    case PTX_S32:
    case PTX_S64:
        return op != SIM_ATOMIC_INC && op != SIM_ATOMIC_DEC;
    case PTX_F16:
    case PTX_BF16:
        return op == SIM_ATOMIC_ADD || compares;
    case PTX_F32:
    case PTX_F64:
        return op == SIM_ATOMIC_ADD;
    default:
        return false;
    }
}

static bool copy_box(sim_block *b, sim_warp *w, const sim_instruction *c, int lane)
{
    const uint64_t shared = sim_lane_address(w, c->b, c->op, c->d2, lane);
    int32_t at[SIM_TENSOR_RANK] = {0};
    uint32_t rows = 1;
    sim_tensor_map map;
    if (!find_map(b, w, c, lane, &map))
        return false;
    if (c->reduction >= 0 && !reduction_exists((ptx_type)map.type, (sim_atomic_op)c->reduction))
        return sim_fail(b, w, c, lane, SIM_FAULT_UNKNOWN,
                        "this reduction is not simulated for the elements of the tensor");
    if (shared % BOX_ALIGNMENT)
        return sim_fail(
            b, w, c, lane, SIM_FAULT_MISALIGNED,
            "a tensor copy at shared address %llu: the address must be a multiple of %d",
            (unsigned long long)(shared % SIM_WINDOW_BYTES), BOX_ALIGNMENT);
    for (uint32_t i = 0; i < map.rank; i++)
        at[i] = (int32_t)sim_lanes32(w, b->program->lists[c->list + (int32_t)i])[lane];
    for (uint32_t i = 1; i < map.rank; i++)
        rows *= map.box[i];
    if ((int64_t)at[0] * map.element_bytes % SWIZZLED_BYTES != 0)
        return sim_fail(b, w, c, lane, SIM_FAULT_MISALIGNED,
                        "the box begins at element %d of a row: the bytes before it in the row "
                        "must be a multiple of %d",
                        at[0], SWIZZLED_BYTES);
    /* In shared memory, a swizzled row has the length of the pattern (measured on an H200). */
    const uint32_t pitch = map.swizzle ? (uint32_t)SWIZZLED_BYTES << map.swizzle
                                       : (uint32_t)map.box[0] * map.element_bytes;
    for (uint32_t n = 0; n < rows; n++) {
        const row r = find_row(&map, at, n);
        if (!copy_row(b, w, c, lane, &r, shared + (uint64_t)n * pitch))
            return false;
    }
    return true;
}

bool sim_bulk_copy(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    SIM_EACH_OF(l, mask)
    {
        if (!(c->target_count > 0 ? copy_box : copy_bytes)(b, w, c, l))
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
        f.number = sim_engine_of(b)->flights_begun++;
        if (!sim_shared_find(b, w, c, l, sim_lane_address(w, c->a, c->source_width, c->offset, l),
                             f.bytes, f.bytes, "an asynchronous store", false, &owner, &f.at) ||
            !sim_mbarrier_find_report(b, w, c, l,
                                      sim_lane_address(w, c->e, (uint32_t)c->d2, c->e_offset, l),
                                      owner, &f.barrier))
            return false;
        f.data = memory_require(malloc(f.bytes));
        for (uint32_t i = 0; i < c->vector; i++) {
            int32_t slot = b->program->lists[c->list + (int32_t)i];
            const uint64_t v = sim_lane(w, slot, each, l);
            memcpy(f.data + i * each, &v, each);
        }
        if (!begin_flight(b, w, c, l, owner, &f, false))
            return false;
    }
    return true;
}

/* Ends a copy's reads of shared memory; if `wholly`, also its writes to global memory. */
static void end_copy_out(sim_block *b, sim_warp *w, sim_flight *f, bool wholly)
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
            /* The thread waits only for copies in committed groups. */
            bool over = f->leaving && f->thread == thread && f->group < committed &&
                        f->group + stay < committed;
            if (over)
                end_copy_out(b, w, f, c->op == 0);
            if (!over || c->op != 0)
                e->flights[kept++] = *f;
        }
        e->flight_count = kept;
    }
    return true;
}
