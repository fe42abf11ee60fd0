/* The copy engine of a block, and the mbarriers in shared memory. PTX ISA, "mbarrier". */
#include "sim/machine/copies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/machine/execute.h"
#include "sim/machine/fault.h"
#include "sim/machine/lane_memory.h"
#include "sim/machine/watch.h"
#include "sim/program/operations.h"

sim_engine *sim_engine_of(sim_block *b)
{
    if (!b->engine)
        b->engine = memory_new(1, sizeof *b->engine);
    return b->engine;
}

static void drop_brought(sim_mbarrier_state *m)
{
    for (int i = 0; i < SIM_PARTIES; i++) {
        sim_clock_drop(m->brought[i]);
        m->brought[i] = NULL;
    }
}

static void drop_barrier(sim_mbarrier_state *m)
{
    drop_brought(m);
    for (int i = 0; i < SIM_PARTIES; i++) {
        sim_clock_drop(m->passed[i]);
        m->passed[i] = NULL;
    }
    free(m->tracked);
    m->tracked = NULL;
    m->tracked_count = 0;
}

static void drop_contents(sim_engine *e)
{
    for (size_t i = 0; i < e->flight_count; i++)
        free(e->flights[i].data);
    for (size_t i = 0; i < e->barrier_count; i++)
        drop_barrier(&e->barriers[i]);
    e->flight_count = e->barrier_count = 0;
}

void sim_engine_reset(sim_block *b)
{
    sim_engine *e = b->engine;
    if (!e)
        return;
    drop_contents(e);
    e->flights_begun = 0;
    memset(e->groups, 0, sizeof e->groups);
}

void sim_engine_free(sim_engine *engine)
{
    if (!engine)
        return;
    drop_contents(engine);
    free(engine->flights);
    free(engine->barriers);
    free(engine);
}

/* Finds a copy that still uses the shared memory of the block, which is about to end. */
static const sim_flight *find_unfinished(const sim_block *b)
{
    for (uint32_t r = 0; r < b->cluster->size; r++) {
        const sim_block *keeper = &b->cluster->blocks[r];
        const sim_engine *e = keeper->engine;
        for (size_t i = 0; e && i < e->flight_count; i++)
            if (keeper == b
                    ? !e->flights[i].has_read
                    : e->flights[i].by == b && e->flights[i].instruction->kind == SIM_BULK_MOVE)
                return &e->flights[i];
    }
    return NULL;
}

bool sim_engine_allows_end(sim_block *b)
{
    const sim_flight *f = find_unfinished(b);
    if (!f)
        return true;
    bool from = f->leaving || (f->by == b && f->instruction->kind == SIM_BULK_MOVE);
    sim_fail(f->by, f->warp, f->instruction, (int)(f->thread - f->warp->first_thread),
             SIM_FAULT_RACE, "the block ends while %s copy %s shared memory is on its way",
             f->by == b ? "its bulk" : "another block's", from ? "from" : "to");
    b->fault = f->by->fault;
    return false;
}

enum { MBARRIER_BYTES = 8, MOST_DUE_BYTES = (1 << 20) - 1 };

static sim_mbarrier_state *find_barrier(const sim_engine *e, uint32_t at)
{
    for (size_t i = 0; e && i < e->barrier_count; i++)
        if (e->barriers[i].at == at)
            return &e->barriers[i];
    return NULL;
}

static void complete_if_due(sim_block *b, sim_mbarrier_state *m)
{
    b->moment++;
    if (m->pending > 0 || m->due_bytes != 0)
        return;
    m->pending = m->expected;
    m->phase++;
    /* Threads that see the phase complete know what its arrivals knew, and the engine's copies. */
    const sim_known engine = {.block = b->number,
                              .unit = SIM_UNIT_ENGINE + m->at / MBARRIER_BYTES,
                              .lanes = 1,
                              .until = (uint32_t)m->phase};
    if (!b->launch->check)
        return;
    for (int i = 0; i < SIM_PARTIES; i++)
        sim_clock_join(&m->passed[i], m->brought[i]);
    sim_clock_add(&m->passed[SIM_PARTY_OWN], &engine, 1);
    drop_brought(m);
}

static bool init_barrier(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint32_t at)
{
    uint32_t count = sim_lanes32(w, c->b)[lane];
    sim_engine *e = sim_engine_of(b);
    if (count == 0 || count > MOST_DUE_BYTES)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "mbarrier.init for %u arrivals: 1 to 2^20 - 1 are possible", count);
    static const uint8_t none[MBARRIER_BYTES];
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.owner = b;
    if (!sim_shared_touch(&a, at, MBARRIER_BYTES, SIM_TOUCH_WRITE, none))
        return false;
    const sim_mbarrier_state fresh = {.at = at, .expected = count, .pending = count};
    sim_mbarrier_state *known = find_barrier(e, at);
    if (known) {
        drop_barrier(known);
        *known = fresh;
    } else {
        memory_add(&e->barriers, &e->barrier_count, &fresh, sizeof fresh);
    }
    b->moment++;
    return true;
}

/* Lands all copies that complete on this mbarrier, because a thread tests the mbarrier now. */
static void land(sim_block *b, sim_mbarrier_state *m)
{
    sim_engine *e = b->engine;
    size_t kept = 0;
    for (size_t i = 0; i < e->flight_count; i++) {
        sim_flight f = e->flights[i];
        if (f.leaving || f.barrier != m->at) {
            e->flights[kept++] = f;
            continue;
        }
        if (sim_flight_adds(f.instruction)) {
            const ptx_type type = (ptx_type)f.instruction->type;
            const uint32_t each = ptx_type_bytes(type);
            for (uint32_t n = 0; n < f.bytes; n += each) {
                uint64_t operand = 0;
                memcpy(&operand, f.data + n, each);
                sim_atomic_apply(b->shared + f.at + n, (sim_atomic_op)f.instruction->reduction,
                                 type, false, operand, 0);
            }
        } else {
            memcpy(b->shared + f.at, f.data, f.bytes);
        }
        free(f.data);
        /* Threads that see this phase complete know the access. */
        int lane = (int)(f.thread - f.warp->first_thread);
        sim_stamp landed = sim_race_access_of(f.by, f.warp, f.instruction, lane).stamp;
        landed.block = b->number;
        landed.epoch = f.thread;
        landed.order = (uint32_t)m->phase + 1;
        landed.lanes = 1;
        landed.unit = (uint16_t)(SIM_UNIT_ENGINE + m->at / MBARRIER_BYTES);
        landed.flags = SIM_STAMP_BULK;
        landed.scope = sim_flight_adds(f.instruction) ? SIM_SCOPE_GPU : SIM_SCOPE_NONE;
        sim_shared_land(f.by, b, f.warp, f.instruction, lane, f.at, f.bytes, true, f.number,
                        &landed);
        if (f.instruction->kind == SIM_BULK_MOVE)
            sim_shared_land(f.by, f.by, f.warp, f.instruction, lane, f.from_at, f.bytes, false,
                            f.number, &landed);
        if (b->launch->check && f.region)
            sim_global_land(f.by, f.warp, f.instruction, lane, f.region, f.offset, f.moved, false,
                            f.number, &landed);
        m->due_bytes -= f.bytes;
        complete_if_due(b, m);
    }
    e->flight_count = kept;
    if (m->tracked_count == 0)
        return;
    for (size_t i = 0; i < m->tracked_count; i++)
        sim_copy_land(b, m->tracked[i].warp, m->tracked[i].lane, m->tracked[i].before);
    m->pending -= (uint32_t)m->tracked_count;
    m->tracked_count = 0;
    complete_if_due(b, m);
}

static bool expect(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c, int lane,
                   sim_mbarrier_state *m)
{
    m->due_bytes += sim_lanes32(w, c->b)[lane];
    if (m->due_bytes > MOST_DUE_BYTES)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "the mbarrier expects %" PRId64 " bytes; at most %d are possible",
                        m->due_bytes, MOST_DUE_BYTES);
    owner->moment++;
    return true;
}

static bool arrive(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c, int lane,
                   sim_mbarrier_state *m, uint32_t count)
{
    if (count == 0 || count > m->pending - m->tracked_count)
        return sim_fail(
            b, w, c, lane, SIM_FAULT_BARRIER,
            "%u threads arrive at the mbarrier, but only %u of its %u arrivals are missing", count,
            m->pending, m->expected);
    sim_lanes64(w, c->d)[lane] = m->phase | (uint64_t)m->pending << SIM_MBARRIER_PENDING;
    m->pending -= count;
    if (c->op == SIM_MBARRIER_ARRIVE_ONLY && m->pending == 0)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "this arrival completes the phase, which .noComplete forbids");
    if (c->releases && (owner == b || c->scope > SIM_SCOPE_BLOCK))
        sim_order_release(b, w, lane, &m->brought[owner == b ? SIM_PARTY_OWN : SIM_PARTY_OTHERS]);
    /* The arriving thread's earlier reads are over, whatever the scope. */
    if (c->releases && owner != b)
        sim_order_release(b, w, lane, &m->brought[SIM_PARTY_READS]);
    complete_if_due(owner, m);
    return true;
}

/* Adds an arrival that counts once the thread's copies have landed, and releases only these. */
static bool arrive_copied(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                          sim_mbarrier_state *m)
{
    if (c->op == SIM_MBARRIER_ARRIVE_COPIED_MORE)
        m->pending++;
    if (m->tracked_count == m->pending || m->pending > MOST_DUE_BYTES)
        return sim_fail(
            b, w, c, lane, SIM_FAULT_BARRIER,
            "the cp.async arrival is one too many: the mbarrier expects %u arrivals, and "
            "all %zu that are missing wait for copies already",
            m->expected, m->tracked_count);
    const sim_tracked fresh = {.warp = w, .lane = lane, .before = sim_copy_track(w, lane)};
    sim_order_copies(b, w, lane, fresh.before, &m->brought[SIM_PARTY_OWN]);
    b->moment++;
    memory_add(&m->tracked, &m->tracked_count, &fresh, sizeof fresh);
    return true;
}

static bool test(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                 sim_mbarrier_state *m)
{
    land(b, m);
    const uint64_t asked =
        c->op == SIM_MBARRIER_TEST
            ? sim_lanes64(w, c->b)[lane] & ((UINT64_C(1) << SIM_MBARRIER_PENDING) - 1)
            : sim_lanes32(w, c->b)[lane];
    bool done = c->op == SIM_MBARRIER_TEST ? m->phase > asked : (m->phase & 1) != asked;
    /* If only one warp runs, no other warp can complete the phase. */
    done = done || b->launch->one_warp_only;
    sim_put_predicate(w, c->d, done ? UINT32_MAX : 0, 1u << lane);
    if (!done || !c->acquires)
        return done;
    sim_order_acquire(b, w, lane, SIM_CLOCK_KNOWN, m->passed[SIM_PARTY_OWN]);
    if (c->scope > SIM_SCOPE_BLOCK)
        sim_order_acquire(b, w, lane, SIM_CLOCK_KNOWN, m->passed[SIM_PARTY_OTHERS]);
    sim_order_acquire(b, w, lane, SIM_CLOCK_READ, m->passed[SIM_PARTY_READS]);
    return true;
}

static bool apply(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c, int lane,
                  sim_mbarrier_state *m)
{
    const uint32_t count = c->b == SIM_NO_SLOT ? 1 : sim_lanes32(w, c->b)[lane];
    switch ((sim_mbarrier_op)c->op) {
    case SIM_MBARRIER_EXPECT:
        return expect(b, owner, w, c, lane, m);
    case SIM_MBARRIER_ARRIVE_EXPECT:
        return expect(b, owner, w, c, lane, m) && arrive(b, owner, w, c, lane, m, 1);
    case SIM_MBARRIER_ARRIVE:
    case SIM_MBARRIER_ARRIVE_ONLY:
    case SIM_MBARRIER_ARRIVE_DROP:
        m->expected -= c->op == SIM_MBARRIER_ARRIVE_DROP ? count : 0;
        return arrive(b, owner, w, c, lane, m, count);
    case SIM_MBARRIER_ARRIVE_COPIED:
    case SIM_MBARRIER_ARRIVE_COPIED_MORE:
        return arrive_copied(b, w, c, lane, m);
    case SIM_MBARRIER_COMPLETE:
        m->due_bytes -= sim_lanes32(w, c->b)[lane];
        complete_if_due(owner, m);
        return true;
    case SIM_MBARRIER_DROP:
        drop_barrier(m);
        *m = b->engine->barriers[--b->engine->barrier_count];
        b->moment++;
        return true;
    default:
        if (!test(b, w, c, lane, m)) {
            w->wait.state = SIM_POLLING;
            w->wait.pc = (int32_t)(c - b->program->code);
            w->wait.mask = 1u << lane;
        }
        return true;
    }
}

/* Returns whether another block of the cluster may execute this operation on an mbarrier. */
static bool may_be_remote(const sim_instruction *c)
{
    return (c->op >= SIM_MBARRIER_ARRIVE && c->op <= SIM_MBARRIER_ARRIVE_DROP) ||
           c->op == SIM_MBARRIER_EXPECT || c->op == SIM_MBARRIER_ARRIVE_EXPECT ||
           c->op == SIM_MBARRIER_COMPLETE;
}

/* Gives all lanes that arrive together the state before the first arrival, as an H100 does. */
static void share_state(sim_warp *w, const sim_instruction *c, const uint64_t *address,
                        uint32_t mask)
{
    const uint64_t of_phase = (UINT64_C(1) << SIM_MBARRIER_PENDING) - 1;
    uint64_t *state = sim_lanes64(w, c->d);
    SIM_EACH_OF(l, mask)
    for (int first = 0; first < l; first++)
        if (mask >> first & 1 && address[first] == address[l] &&
            ((state[first] ^ state[l]) & of_phase) == 0) {
            state[l] = state[first];
            break;
        }
}

bool sim_mbarrier(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint64_t addresses[SIM_LANES];
    SIM_EACH_OF(l, mask)
    {
        uint32_t at = 0;
        sim_block *owner = b;
        const uint64_t address = sim_lane_address(w, c->a, c->source_width, c->offset, l);
        addresses[l] = address;
        if (may_be_remote(c) ? !sim_shared_find(b, w, c, l, address, MBARRIER_BYTES, MBARRIER_BYTES,
                                                "a barrier", true, &owner, &at)
                             : !sim_shared_find_own(b, w, c, l, address, MBARRIER_BYTES,
                                                    MBARRIER_BYTES, "a barrier", &at))
            return false;
        if (c->op == SIM_MBARRIER_INIT) {
            if (!init_barrier(b, w, c, l, at))
                return false;
            continue;
        }
        sim_mbarrier_state *barrier = find_barrier(owner->engine, at);
        if (!barrier)
            return sim_fail(
                b, w, c, l, SIM_FAULT_BARRIER,
                "there is no mbarrier at shared address %u: mbarrier.init was not executed for it",
                at);
        sim_race_access a = sim_race_access_of(b, w, c, l);
        a.owner = owner;
        if (!sim_shared_touch(&a, at, MBARRIER_BYTES, SIM_TOUCH_READ, NULL) ||
            !apply(b, owner, w, c, l, barrier))
            return false;
    }
    if (c->op >= SIM_MBARRIER_ARRIVE && c->op <= SIM_MBARRIER_ARRIVE_DROP)
        share_state(w, c, addresses, mask);
    if (c->releases)
        w->order.epoch++;
    return true;
}

bool sim_mbarrier_find_report(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                              uint64_t barrier, sim_block *owner, uint32_t *at)
{
    sim_block *of;
    if (!sim_shared_find(b, w, c, lane, barrier, MBARRIER_BYTES, MBARRIER_BYTES, "a barrier", false,
                         &of, at))
        return false;
    if (of != owner)
        return sim_fail(
            b, w, c, lane, SIM_FAULT_BARRIER,
            "the copy fills the memory of one block, but reports to an mbarrier of another block");
    if (!find_barrier(of->engine, *at))
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "the copy reports to shared address %u, where no mbarrier was initialised",
                        *at);
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.owner = of;
    return of == b || sim_shared_touch(&a, *at, MBARRIER_BYTES, SIM_TOUCH_READ, NULL);
}

void sim_mbarrier_report_stall(sim_block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        const sim_warp *w = &b->warps[i];
        if (w->wait.state != SIM_POLLING)
            continue;
        const sim_instruction *c = &b->program->code[w->wait.pc];
        int lane = __builtin_ctz(w->wait.mask);
        uint64_t address = sim_lane_address(w, c->a, c->source_width, c->offset, lane);
        const sim_mbarrier_state *m =
            find_barrier(b->engine, (uint32_t)(address % SIM_WINDOW_BYTES));
        sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                 "it waits for an mbarrier that nothing completes: %u arrivals and %" PRId64
                 " bytes are missing",
                 m ? m->pending : 0, m ? m->due_bytes : 0);
        return;
    }
}
