/* Shared memory of the blocks of a cluster. PTX ISA, "cluster of CTAs", "mapa" and "getctarank". */
#include "sim/machine/peers.h"

#include <inttypes.h>

#include "sim/machine/fault.h"
#include "sim/machine/shared.h"

/* The rank of the block whose shared address it is; the address becomes one of that block's own. */
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
                 "shared address 0x%" PRIx64 " is of no block of a cluster of %u", whole,
                 b->cluster->size);
        return NULL;
    }
    sim_block *owner = &b->cluster->blocks[rank];
    if (owner == b)
        return b;
    const uint32_t *at = owner->block;
    if (owner->ended) {
        sim_fail(b, w, c, lane, SIM_FAULT_RACE,
                 "shared memory of block (%u,%u,%u), which has ended", at[0], at[1], at[2]);
        return NULL;
    }
    if (w->wait.waited == 0 && b->launch->check) {
        sim_fail(b, w, c, lane, SIM_FAULT_RACE,
                 "shared memory of block (%u,%u,%u), which may not have begun: no barrier of the "
                 "cluster lies before",
                 at[0], at[1], at[2]);
        return NULL;
    }
    if (visits)
        sim_shared_visit(b, owner, w, c, lane);
    return owner;
}

bool sim_shared_place(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
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
                        "%s at shared address %" PRIu64 ": %u is needed", what, address,
                        alignment) ||
               sim_fault_touches(b, *owner, PTX_SPACE_SHARED, address);
    if (address >= b->shared_bytes || bytes > b->shared_bytes - address)
        return sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                        "%s of %u bytes at shared address %" PRIu64 " of %u bytes", what, bytes,
                        address, b->shared_bytes) ||
               sim_fault_touches(b, *owner, PTX_SPACE_SHARED, address);
    *offset = (uint32_t)address;
    return true;
}

bool sim_own_place(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
                   uint32_t bytes, uint32_t alignment, const char *what, uint32_t *offset)
{
    sim_block *owner;
    return sim_shared_place(b, w, c, lane, address, bytes, alignment, what, false, &owner,
                            offset) &&
           (owner == b ||
            sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                     "%s in shared memory of another block: only its own is possible", what));
}

/* Does any thread of the block know that the access is over? */
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
    const sim_more *more = b->visits.more;
    for (uint32_t i = 0; i <= (more ? more->count : 0); i++) {
        const sim_stamp *s = more && i < more->count ? &more->stamps[i] : &b->visits.last;
        if (s->block == 0 || is_over(b, s))
            continue;
        sim_block *guest = b->cluster->blocks;
        while (guest->number != s->block)
            guest++;
        const sim_instruction *c = &b->program->code[s->pc >= 0 ? s->pc : 0];
        sim_fail(guest, &guest->warps[s->unit], c, __builtin_ctz(s->lanes), SIM_FAULT_RACE,
                 "shared memory of block (%u,%u,%u), which may have ended: no barrier of the "
                 "cluster lies between",
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
        uint64_t given = c->source_width == 8 ? sim_lanes64(w, c->a)[l] : sim_lanes32(w, c->a)[l];
        uint64_t address = given - window, rank = 0;
        if (address < SIM_WINDOW_BYTES)
            rank = take_rank(b, &address);
        if (rank >= b->cluster->size || address >= SIM_WINDOW_BYTES)
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "0x%" PRIx64 " is no address of shared memory", given);
        if (c->op == SIM_CLUSTER_ADDRESS) {
            uint32_t asked = sim_lanes32(w, c->b)[l];
            if (asked >= b->cluster->size)
                return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                                "there is no block %u in a cluster of %u", asked, b->cluster->size);
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
