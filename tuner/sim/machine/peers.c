/* Shared memory of the blocks of a cluster. PTX ISA, "cluster of CTAs", "mapa" and "getctarank". */
#include <inttypes.h>

#include "sim/machine/machine.h"

bool sim_cluster_released(const sim_block *b, const sim_warp *w, const sim_stamp *access)
{
    const sim_warp *other = &b->cluster->blocks[access->rank].warps[access->thread / SIM_LANES];
    for (uint32_t k = access->arrived; k < w->waited; k++)
        if (k - access->arrived >= SIM_RELAXED_KNOWN || !(other->relaxed >> k % SIM_RELAXED_KNOWN & 1))
            return true;
    return false;
}

/* The rank of the block whose shared address it is; the address becomes one of that block's own. */
static uint64_t take_rank(const sim_block *b, uint64_t *address)
{
    uint64_t peer = *address / SIM_PEER_BYTES;
    *address %= SIM_PEER_BYTES;
    return peer == 0 ? b->rank : peer - 1;
}

sim_block *sim_cluster_owner(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t *address)
{
    uint64_t whole = *address, rank = take_rank(b, address);
    if (rank >= b->cluster->size) {
        sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS, "shared address 0x%" PRIx64 " is of no block of a cluster of %u",
                 whole, b->cluster->size);
        return NULL;
    }
    sim_block *owner = &b->cluster->blocks[rank];
    if (owner == b)
        return b;
    const uint32_t *at = owner->block;
    if (owner->ended) {
        sim_fail(b, w, c, lane, SIM_FAULT_RACE, "shared memory of block (%u,%u,%u), which has ended", at[0], at[1],
                 at[2]);
        return NULL;
    }
    if (w->waited == 0 && b->launch->check) {
        sim_fail(b, w, c, lane, SIM_FAULT_RACE,
                 "shared memory of block (%u,%u,%u), which may not have begun: no barrier of the cluster lies before",
                 at[0], at[1], at[2]);
        return NULL;
    }
    if (!owner->visit.was || owner->visit.stamp.arrived <= w->arrived)
        owner->visit = (sim_visit){.was = true, .instruction = c,
                                   .stamp = {.arrived = w->arrived, .rank = (uint8_t)b->rank,
                                             .thread = (uint16_t)(w->first_thread + (uint32_t)lane)}};
    return owner;
}

bool sim_cluster_allows_end(sim_block *b)
{
    const sim_visit *v = &b->visit;
    if (!v->was || !b->launch->check)
        return true;
    for (uint32_t i = 0; i < b->warp_count; i++)
        if (sim_cluster_orders(b, &b->warps[i], &v->stamp))
            return true;
    sim_block *guest = &b->cluster->blocks[v->stamp.rank];
    const sim_warp *w = &guest->warps[v->stamp.thread / SIM_LANES];
    sim_fail(guest, w, v->instruction, v->stamp.thread % SIM_LANES, SIM_FAULT_RACE,
             "shared memory of block (%u,%u,%u), which may have ended: no barrier of the cluster lies between",
             b->block[0], b->block[1], b->block[2]);
    b->fault = guest->fault;
    return false;
}

bool sim_cluster_map(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint64_t wide[SIM_LANES] = {0};
    uint32_t narrow[SIM_LANES] = {0};
    uint64_t window = c->space == PTX_SPACE_GENERIC ? SIM_SHARED_WINDOW : 0;
    SIM_EACH_OF(l, mask) {
        uint64_t given = c->source_width == 8 ? sim_lanes64(w, c->a)[l] : sim_lanes32(w, c->a)[l];
        uint64_t address = given - window, rank = 0;
        if (address < SIM_WINDOW_BYTES)
            rank = take_rank(b, &address);
        if (rank >= b->cluster->size || address >= SIM_WINDOW_BYTES)
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS, "0x%" PRIx64 " is no address of shared memory", given);
        if (c->op == SIM_CLUSTER_ADDRESS) {
            uint32_t asked = sim_lanes32(w, c->b)[l];
            if (asked >= b->cluster->size)
                return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS, "there is no block %u in a cluster of %u", asked,
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
