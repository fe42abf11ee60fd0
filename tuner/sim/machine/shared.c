/* Shared memory of all blocks of a cluster. PTX ISA, "cluster of CTAs", "mapa", "getctarank". */
#include "sim/machine/watch.h"

#include <inttypes.h>
#include <string.h>

#include "sim/machine/execute.h"
#include "sim/machine/fault.h"
#include "sim/machine/values.h"

void sim_shared_reset(sim_block *b)
{
    b->run++;
    const uint32_t reserved = sim_program_reserves(b->program) ? SIM_RESERVED_SMEM_BYTES : 0,
                   own = b->shared_bytes - reserved;
    memset(b->shared + own, 0, reserved);
    if (b->shared_valid) {
        memset(b->shared_valid, SIM_NEVER_WRITTEN, own);
        memset(b->shared_valid + own, SIM_WRITTEN, reserved);
    }
}

static void forget(sim_block *owner, sim_cell *cell)
{
    sim_set_clear(&owner->watch->pool, &cell->writes);
    sim_set_clear(&owner->watch->pool, &cell->reads);
    cell->strong = cell->observed = 0;
    cell->stale = cell->noncoherent = cell->kept = false;
    cell->run = owner->run;
}

/* Returns the cell of a byte. Empties the cell if an earlier block has used it. */
static inline sim_cell *cell_of(sim_block *owner, uint32_t offset)
{
    size_t n = offset >> __builtin_ctz(owner->program->shared_cell_bytes);
    sim_cell *cell = &owner->cells[n];
    sim_line_split(&owner->watch->pool, &owner->lines[n / SIM_LINE_CELLS],
                   &owner->cells[n / SIM_LINE_CELLS * SIM_LINE_CELLS], owner->run);
    if (cell->run != owner->run)
        forget(owner, cell);
    return cell;
}

/* Ends the history of a location: after a weak write, a strong read can return only one value. */
static void end_history(sim_block *owner, sim_cell *cell, uint32_t at)
{
    sim_history_forget(&owner->history, SIM_SHARED_WINDOW + at, owner->program->shared_cell_bytes);
    cell->kept = false;
}

static inline bool all_written(const uint8_t *valid, uint32_t bytes)
{
    static const uint64_t whole = UINT64_C(0x0101010101010101);
    _Static_assert(SIM_WRITTEN == 1, "each byte of `whole` is SIM_WRITTEN");
    uint64_t found[2];
    switch (bytes) {
    case 4:
        memcpy(found, valid, 4);
        return (uint32_t)found[0] == (uint32_t)whole;
    case 8:
        memcpy(found, valid, 8);
        return found[0] == whole;
    case 16:
        memcpy(found, valid, 16);
        return found[0] == whole && found[1] == whole;
    default:
        return false; /* the caller checks byte by byte */
    }
}

static bool look_for_unwritten(const sim_race_access *a, uint32_t bytes)
{
    const uint8_t *valid = a->owner->shared_valid + a->offset;
    for (uint32_t i = 0; i < bytes; i++)
        if (valid[i] == SIM_NEVER_WRITTEN && sim_values_may_be_missing(a->instruction)) {
            a->block->met_unwritten = true;
        } else if (valid[i] != SIM_WRITTEN) {
            char place[SIM_ADDRESS_TEXT_BYTES];
            sim_shared_name(a->owner, (uint32_t)a->offset + i, place, sizeof place);
            return sim_fail(a->block, a->warp, a->instruction, a->lane, SIM_FAULT_UNINITIALISED,
                            "%s was never written", place) ||
                   sim_fault_add_address(a->block, a->owner, PTX_SPACE_SHARED, a->offset + i);
        }
    return true;
}

static inline bool check_written(const sim_race_access *a, uint32_t bytes)
{
    return all_written(a->owner->shared_valid + a->offset, bytes) || look_for_unwritten(a, bytes);
}

bool sim_shared_touch(sim_race_access *a, uint32_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh)
{
    sim_block *owner = a->owner;
    if (!owner->cells)
        return true;
    uint32_t step = owner->program->shared_cell_bytes;
    bool usual = owner->cluster->size == 1 && touch != SIM_TOUCH_ATOMIC && a->stamp.scope == 0 &&
                 a->stamp.flags == 0;
    for (uint32_t at = offset; at < offset + bytes; at += step) {
        sim_cell *cell = cell_of(owner, at);
        a->offset = at;
        if (touch == SIM_TOUCH_READ) {
            if (!(usual && sim_race_read_quickly(a, cell)) && !sim_race_read(a, cell))
                return false;
            continue;
        }
        bool same = touch == SIM_TOUCH_WRITE && owner->shared_valid[at] == SIM_WRITTEN && fresh &&
                    memcmp(owner->shared + at, fresh + (at - offset), step) == 0;
        if (!(usual && sim_race_write_quickly(a, cell, same)) && !sim_race_write(a, cell, same))
            return false;
        if (cell->kept && a->stamp.scope == 0)
            end_history(owner, cell, at);
    }
    a->offset = offset;
    if (touch != SIM_TOUCH_WRITE)
        return check_written(a, bytes);
    memset(owner->shared_valid + offset, SIM_WRITTEN, bytes);
    return true;
}

/* Returns the number of a line's cells that already hold the values which a write brings. */
static uint32_t count_same(const sim_block *owner, uint32_t at, uint32_t step, const uint8_t *fresh)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < SIM_LINE_CELLS; i++, at += step, fresh += step)
        same +=
            owner->shared_valid[at] == SIM_WRITTEN && memcmp(owner->shared + at, fresh, step) == 0;
    return same;
}

uint32_t sim_shared_touch_row(sim_race_access *a, uint32_t offset, uint32_t bytes, sim_touch touch,
                              const uint8_t *fresh, bool *fine)
{
    sim_block *owner = a->owner;
    const uint32_t step = owner->program->shared_cell_bytes, of_lane = bytes / step,
                   shift = (uint32_t)__builtin_ctz(of_lane);
    uint32_t done = 0;
    if (!owner->cells || owner->cluster->size > 1 || offset % (step * SIM_LINE_CELLS) != 0 ||
        !sim_line_can_record(a, touch))
        return 0;
    for (uint32_t j = 0; *fine && j < of_lane; j++) {
        uint32_t at = offset + j * step * SIM_LINE_CELLS, first;
        const uint32_t mask = sim_line_lanes(j, shift, &first);
        sim_line *line = &owner->lines[at / step / SIM_LINE_CELLS];
        const uint8_t *of_line = fresh ? fresh + j * step * SIM_LINE_CELLS : NULL;
        uint32_t same = touch == SIM_TOUCH_WRITE ? count_same(owner, at, step, of_line) : 0;
        if ((same != 0 && same != SIM_LINE_CELLS) ||
            !sim_line_join(&owner->watch->pool, line, owner->run, first, shift))
            continue;
        sim_cell *cell = &line->cell;
        sim_race_access_by(a, (int)first);
        a->offset = at;
        *fine =
            touch == SIM_TOUCH_READ ? sim_race_read(a, cell) : sim_race_write(a, cell, same != 0);
        if (*fine && touch == SIM_TOUCH_READ)
            SIM_EACH_OF(l, mask)
            {
                a->offset = offset + (uint32_t)l * bytes;
                sim_race_access_by(a, l);
                *fine = *fine && check_written(a, bytes);
            }
        else if (*fine)
            memset(owner->shared_valid + at, SIM_WRITTEN, step * SIM_LINE_CELLS);
        done |= mask;
    }
    return done;
}

bool sim_shared_read_word(sim_race_access *a, uint32_t mask, uint32_t offset, uint32_t bytes)
{
    sim_block *owner = a->owner;
    if (!owner->cells || owner->cluster->size > 1 || a->stamp.scope || a->stamp.flags ||
        bytes != owner->program->shared_cell_bytes)
        return false;
    a->lane = __builtin_ctz(mask);
    a->stamp.lanes = mask;
    a->offset = offset;
    return sim_race_read_quickly(a, cell_of(owner, offset)) && check_written(a, bytes);
}

bool sim_shared_begin(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                      int lane, uint32_t offset, uint32_t bytes, sim_touch touch, uint32_t number,
                      bool bulk)
{
    if (!owner->cells)
        return true;
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.owner = owner;
    for (uint32_t at = offset; at < offset + bytes; at += b->program->shared_cell_bytes) {
        a.offset = at;
        sim_cell *cell = cell_of(owner, at);
        if (!sim_race_begin(&a, cell, touch, number, bulk))
            return false;
        if (cell->kept && touch == SIM_TOUCH_WRITE)
            end_history(owner, cell, at);
    }
    a.offset = offset;
    return touch == SIM_TOUCH_WRITE || check_written(&a, bytes);
}

static bool is_under_way_to(const sim_cell *cell)
{
    bool found = false;
    for (uint32_t i = 0; !found && i <= sim_set_older(&cell->writes); i++) {
        const sim_stamp *s = sim_set_get(&cell->writes, i);
        found = s->block != 0 && s->flags & SIM_STAMP_UNDER_WAY;
    }
    return found;
}

/* Returns whether each cp.async under way to these bytes brings the same value as `copy`. */
static bool all_bring_same(const sim_block *b, const sim_copy *copy, uint32_t at, uint32_t bytes)
{
    for (uint32_t w = 0; w < b->warp_count; w++)
        for (size_t i = 0; i < b->warps[w].copies.count; i++) {
            const sim_copy *other = &b->warps[w].copies.list[i];
            for (uint32_t k = at; k < at + bytes; k++)
                if (k - other->to < other->bytes &&
                    other->data[k - other->to] != copy->data[k - copy->to])
                    return false;
        }
    return true;
}

bool sim_shared_begin_async(sim_block *b, sim_warp *w, const sim_copy *copy)
{
    const uint32_t step = b->program->shared_cell_bytes;
    if (!b->cells)
        return true;
    sim_race_access a = sim_race_access_of(b, w, copy->instruction, (int)copy->lane);
    a.owner = b;
    for (uint32_t at = copy->to; at < copy->to + copy->bytes; at += step) {
        sim_cell *cell = cell_of(b, at);
        a.offset = at;
        a.same_as_memory = b->shared_valid[at] == SIM_WRITTEN &&
                           memcmp(b->shared + at, copy->data + (at - copy->to), step) == 0;
        a.same_as_under_way = is_under_way_to(cell) && all_bring_same(b, copy, at, step);
        if (!sim_race_begin(&a, cell, SIM_TOUCH_WRITE, copy->number, false))
            return false;
    }
    return true;
}

void sim_shared_land(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                     int lane, uint32_t offset, uint32_t bytes, bool writes, uint32_t number,
                     const sim_stamp *landed)
{
    if (!owner->cells)
        return;
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.owner = owner;
    for (uint32_t at = offset; at < offset + bytes; at += b->program->shared_cell_bytes)
        sim_race_land(&a, cell_of(owner, at), writes, number, landed);
    if (writes)
        memset(owner->shared_valid + offset, SIM_WRITTEN, bytes);
}

/* Notes a lane's access to memory of `owner`, which must not end before the access is over. */
static void visit(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c, int lane)
{
    if (!owner->cells)
        return;
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.owner = owner;
    a.stamp.scope = 0;
    sim_set_add(&a, &owner->visits, &a.stamp);
}

/* Returns the rank of the block that owns *address, which becomes an offset in that block. */
static uint64_t take_rank(const sim_block *b, uint64_t *address)
{
    uint64_t peer = *address / SIM_PEER_BYTES;
    *address %= SIM_PEER_BYTES;
    return peer == 0 ? b->rank : peer - 1;
}

sim_block *sim_cluster_owner(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                             uint64_t *address, bool visits)
{
    uint64_t whole = *address, rank = take_rank(b, address);
    if (rank >= b->cluster->size) {
        sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                 "shared address 0x%" PRIx64 " is not in any block of the cluster of %u", whole,
                 b->cluster->size);
        return NULL;
    }
    sim_block *owner = &b->cluster->blocks[rank];
    if (owner == b)
        return b;
    const uint32_t *at = owner->block;
    if (owner->ended) {
        sim_fail(b, w, c, lane, SIM_FAULT_RACE,
                 "it accesses shared memory of block (%u,%u,%u), which has already ended", at[0],
                 at[1], at[2]);
        return NULL;
    }
    if (w->wait.waited == 0 && b->launch->check) {
        sim_fail(b, w, c, lane, SIM_FAULT_RACE,
                 "it accesses shared memory of block (%u,%u,%u), which may not have started: put a "
                 "barrier of the cluster before the access",
                 at[0], at[1], at[2]);
        return NULL;
    }
    if (visits)
        visit(b, owner, w, c, lane);
    return owner;
}

bool sim_shared_find(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     uint64_t address, uint32_t bytes, uint32_t alignment, const char *what,
                     bool visits, sim_block **owner, uint32_t *offset)
{
    if (address - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES)
        address -= SIM_SHARED_WINDOW;
    *owner = sim_cluster_owner(b, w, c, lane, &address, visits);
    if (!*owner)
        return false;
    if (address % alignment)
        return sim_fail(b, w, c, lane, SIM_FAULT_MISALIGNED,
                        "%s at shared address %" PRIu64 ": the address must be a multiple of %u",
                        what, address, alignment) ||
               sim_fault_add_address(b, *owner, PTX_SPACE_SHARED, address);
    if (address >= b->shared_bytes || bytes > b->shared_bytes - address)
        return sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                        "%s of %u bytes at shared address %" PRIu64
                        ", but the block has %u bytes of shared memory",
                        what, bytes, address, b->shared_bytes) ||
               sim_fault_add_address(b, *owner, PTX_SPACE_SHARED, address);
    *offset = (uint32_t)address;
    return true;
}

bool sim_shared_find_own(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                         uint64_t address, uint32_t bytes, uint32_t alignment, const char *what,
                         uint32_t *offset)
{
    sim_block *owner;
    return sim_shared_find(b, w, c, lane, address, bytes, alignment, what, false, &owner, offset) &&
           (owner == b || sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                                   "%s in shared memory of another block: only the block's own "
                                   "shared memory is allowed",
                                   what));
}

/* Returns whether any thread of the block knows that the visit is over. */
static bool is_over(const sim_block *b, const sim_stamp *visit)
{
    for (uint32_t i = 0; i < b->warp_count; i++)
        for (int l = 0; l < SIM_LANES; l++)
            if (sim_order_follows(b, &b->warps[i], l, visit))
                return true;
    return false;
}

bool sim_cluster_allows_end(sim_block *b)
{
    for (uint32_t i = 0; i <= sim_set_older(&b->visits); i++) {
        const sim_stamp *s = sim_set_get(&b->visits, i);
        if (s->block == 0 || is_over(b, s))
            continue;
        sim_block *guest = b->cluster->blocks;
        while (guest->number != s->block)
            guest++;
        const sim_instruction *c = &b->program->code[s->pc >= 0 ? s->pc : 0];
        sim_fail(guest, &guest->warps[s->unit], c, __builtin_ctz(s->lanes), SIM_FAULT_RACE,
                 "it accesses shared memory of block (%u,%u,%u), which may have ended: put a "
                 "barrier of the cluster after the access",
                 b->block[0], b->block[1], b->block[2]);
        b->fault = guest->fault;
        return false;
    }
    return true;
}

bool sim_cluster_map(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint64_t wide[SIM_LANES] = {0};
    uint32_t narrow[SIM_LANES] = {0};
    uint64_t window = c->space == PTX_SPACE_GENERIC ? SIM_SHARED_WINDOW : 0;
    SIM_EACH_OF(l, mask)
    {
        const uint64_t given = sim_lane(w, c->a, c->source_width, l);
        uint64_t address = given - window, rank = 0;
        if (address < SIM_WINDOW_BYTES)
            rank = take_rank(b, &address);
        if (rank >= b->cluster->size || address >= SIM_WINDOW_BYTES)
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "0x%" PRIx64 " is not an address of shared memory", given);
        if (c->op == SIM_CLUSTER_ADDRESS) {
            uint32_t asked = sim_lanes32(w, c->b)[l];
            if (asked >= b->cluster->size)
                return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                                "block %u does not exist in a cluster of %u blocks", asked,
                                b->cluster->size);
            rank = window + (asked + 1) * SIM_PEER_BYTES + address;
        }
        wide[l] = rank;
        narrow[l] = (uint32_t)rank;
    }
    if (c->width == 8)
        sim_put64(w, c->d, wide, mask);
    else
        sim_put32(w, c->d, narrow, mask);
    return true;
}
