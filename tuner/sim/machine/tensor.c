#include "sim/machine/tensor.h"

#include <inttypes.h>
#include <string.h>

#include "sim/machine/bulk.h"
#include "sim/machine/fault.h"
#include "sim/machine/tensor_map.h"

_Static_assert(sizeof(sim_tensor_map) <= SIM_TENSOR_MAP_BYTES, "a tensor map is an argument");

enum { SHARED_ALIGNMENT = 128, SWIZZLED_BYTES = 16 };

/* One row of a box: where it begins in the tensor, and whether that is outside but for x. */
typedef struct row {
    const sim_tensor_map *map;
    int64_t x;       /* of its first element; it may be outside */
    uint64_t global; /* of the element at x = 0 */
    bool is_outside;
} row;

static bool find_map(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     sim_tensor_map *out)
{
    uint64_t at = sim_lanes64(w, c->a)[lane] + (uint64_t)c->offset;
    if (c->space == PTX_SPACE_GENERIC)
        at -= SIM_PARAM_WINDOW;
    if (at % 64 != 0 || at + sizeof *out > b->program->parameter_bytes)
        return sim_fail(b, w, c, lane, SIM_FAULT_UNKNOWN,
                        "a tensor map that is no argument of the kernel (__grid_constant__) is not "
                        "simulated");
    memcpy(out, b->launch->parameters + at, sizeof *out);
    if (out->magic != SIM_TENSOR_MAGIC)
        return sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                        "the argument at byte %" PRIu64 " is no tensor map: at.tensor makes one",
                        at);
    return out->rank == c->target_count ||
           sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                    "%d coordinates for a tensor map of %u dimensions", (int)c->target_count,
                    out->rank);
}

/* The row of that number, counted over the box's outer dimensions. */
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

/* PTX ISA, "swizzling modes": bits 4 and up of the shared address change by those from 7 on. */
static uint64_t swizzled(uint64_t address, uint32_t bits)
{
    return address ^ (address >> 7 & ((1u << bits) - 1)) << 4;
}

/* `bytes` of a row from byte `from` on, which are at address `shared`. */
static sim_bulk_part part_of(const row *r, uint32_t from, uint32_t bytes, uint64_t shared)
{
    const sim_tensor_map *map = r->map;
    const int64_t each = map->element_bytes, begin = r->x * each + from, end = begin + bytes,
                  most = r->is_outside ? 0 : (int64_t)map->size[0] * each,
                  first = begin < 0 ? 0 : begin, last = end > most ? most : end;
    sim_bulk_part p = {.shared = swizzled(shared, map->swizzle),
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
        const sim_bulk_part p = part_of(r, from, step, shared + from);
        if (c->kind == SIM_BULK_STORE ? p.moved > 0 && !sim_bulk_part_out(b, w, c, lane, &p)
                                      : !sim_bulk_part_in(b, w, c, lane, &p))
            return false;
    }
    return true;
}

/* PTX ISA, "cp.reduce.async.bulk.tensor": the operations of each type. */
static bool is_added(ptx_type type, sim_atomic_op op)
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

bool sim_tensor_copy(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        const int lane = __builtin_ctz(mask);
        sim_tensor_map map;
        int32_t at[SIM_TENSOR_RANK] = {0};
        uint32_t rows = 1;
        const uint64_t shared =
            (c->op == 8 ? sim_lanes64(w, c->b)[lane] : sim_lanes32(w, c->b)[lane]) +
            (uint64_t)(int64_t)c->d2;
        if (!find_map(b, w, c, lane, &map))
            return false;
        if (c->reduction >= 0 && !is_added((ptx_type)map.type, (sim_atomic_op)c->reduction))
            return sim_fail(b, w, c, lane, SIM_FAULT_UNKNOWN,
                            "such a reduction of a tensor of these elements is not simulated");
        if (shared % SHARED_ALIGNMENT)
            return sim_fail(b, w, c, lane, SIM_FAULT_MISALIGNED,
                            "a copy of a box at shared address %llu: %d is needed",
                            (unsigned long long)(shared % SIM_WINDOW_BYTES), SHARED_ALIGNMENT);
        for (uint32_t i = 0; i < map.rank; i++)
            at[i] = (int32_t)sim_lanes32(w, b->program->lists[c->list + (int32_t)i])[lane];
        for (uint32_t i = 1; i < map.rank; i++)
            rows *= map.box[i];
        if ((int64_t)at[0] * map.element_bytes % SWIZZLED_BYTES != 0)
            return sim_fail(b, w, c, lane, SIM_FAULT_MISALIGNED,
                            "a box that begins at element %d of a row: the row's bytes before it "
                            "must be a multiple of %d",
                            at[0], SWIZZLED_BYTES);
        /* Swizzled rows are as long as the swizzle, as measured on an H200. */
        const uint32_t pitch = map.swizzle ? (uint32_t)SWIZZLED_BYTES << map.swizzle
                                           : (uint32_t)map.box[0] * map.element_bytes;
        for (uint32_t n = 0; n < rows; n++) {
            const row r = find_row(&map, at, n);
            if (!copy_row(b, w, c, lane, &r, shared + (uint64_t)n * pitch))
                return false;
        }
    }
    return true;
}
