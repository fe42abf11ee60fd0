#include "sim/machine/requests.h"

#include "sim/machine/counters.h"
#include "sim/program/operations.h"

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
        /* Local memory is interleaved so that lanes at the same offset share sectors. */
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
