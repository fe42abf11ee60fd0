/* Bulk copies land as late as the rules allow: those to shared memory when a thread asks the
 * barrier that they report to, so that a kernel that does not wait reads what is not there. PTX
 * ISA, "mbarrier", "cp.async.bulk" and "proxies". */
#include "sim/machine/bulk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/machine/access.h"
#include "sim/machine/engine.h"
#include "sim/machine/fault.h"
#include "sim/machine/global.h"
#include "sim/machine/shared.h"

enum { BULK_BYTES = 16, MBARRIER_BYTES = 8, MOST_DUE_BYTES = (1 << 20) - 1 };

static bool no_memory(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane)
{
    return sim_fail(b, w, c, lane, SIM_FAULT_INTERNAL, "no memory for bulk copies");
}

static uint64_t address_of(const sim_warp *w, int32_t slot, uint32_t width, int64_t offset,
                           int lane)
{
    uint64_t base = width == 8 ? sim_lanes64(w, slot)[lane] : sim_lanes32(w, slot)[lane];
    return base + (uint64_t)offset;
}

/* Generic addresses of shared memory are the same place. */
static bool shared_place(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                         uint64_t address, uint32_t bytes, uint32_t alignment, const char *what,
                         uint32_t *offset)
{
    if (address - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES)
        address -= SIM_SHARED_WINDOW;
    if (address >= SIM_PEER_BYTES && address / SIM_PEER_BYTES <= b->cluster->size)
        return sim_fail(
            b, w, c, lane, SIM_FAULT_INTERNAL,
            "%s in shared memory of another block of the cluster, which is not simulated", what);
    if (address % alignment)
        return sim_fail(b, w, c, lane, SIM_FAULT_MISALIGNED,
                        "%s at shared address %" PRIu64 ": %u is needed", what, address, alignment);
    if (address >= b->shared_bytes || bytes > b->shared_bytes - address)
        return sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                        "%s of %u bytes at shared address %" PRIu64 " of %u bytes", what, bytes,
                        address, b->shared_bytes);
    *offset = (uint32_t)address;
    return true;
}

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
    /* What arrived, and what the engine brought for this phase. */
    const sim_known engine = {.block = b->number,
                              .unit = SIM_UNIT_ENGINE + m->at / MBARRIER_BYTES,
                              .lanes = 1,
                              .until = (uint32_t)m->phase};
    if (!b->launch->check)
        return;
    b->starved = !sim_clock_join(&m->passed, m->brought) ||
                 !sim_clock_add(&m->passed, &engine, 1) || b->starved;
    sim_clock_drop(m->brought);
    m->brought = NULL;
}

static bool init_barrier(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint32_t at)
{
    uint32_t count = sim_lanes32(w, c->b)[lane];
    sim_engine *e = sim_engine_of(b);
    if (!e)
        return no_memory(b, w, c, lane);
    if (count == 0 || count > MOST_DUE_BYTES)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "a barrier in shared memory for %u arrivals", count);
    static const uint8_t none[MBARRIER_BYTES];
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.owner = b;
    if (!sim_shared_touch(&a, at, MBARRIER_BYTES, SIM_TOUCH_WRITE, none))
        return false;
    const sim_mbarrier_state fresh = {.at = at, .expected = count, .pending = count};
    sim_mbarrier_state *known = find_barrier(e, at);
    if (known) {
        sim_mbarrier_drop(known);
        *known = fresh;
    } else if (!array_add(&e->barriers, &e->barrier_count, &fresh, sizeof fresh))
        return no_memory(b, w, c, lane);
    b->moment++;
    return true;
}

/* Of copies that report to this barrier; all have arrived when somebody asks. */
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
        memcpy(b->shared + f.at, f.data, f.bytes);
        free(f.data);
        /* The engine's accesses are known to whoever sees this phase complete, and to no one
         * before. */
        int lane = (int)(f.thread - f.warp->first_thread);
        sim_stamp landed = sim_race_access_of(b, f.warp, f.instruction, lane).stamp;
        landed.epoch = f.thread;
        landed.order = (uint32_t)m->phase + 1;
        landed.lanes = 1;
        landed.unit = (uint16_t)(SIM_UNIT_ENGINE + m->at / MBARRIER_BYTES);
        landed.flags = SIM_STAMP_BULK;
        sim_shared_land(b, f.warp, f.instruction, lane, f.at, f.bytes, true, f.number, &landed);
        if (b->launch->check)
            sim_global_land(b, f.warp, f.instruction, lane, f.region, f.offset, f.bytes, false,
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

static bool expect(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                   sim_mbarrier_state *m)
{
    m->due_bytes += sim_lanes32(w, c->b)[lane];
    if (m->due_bytes > MOST_DUE_BYTES)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "a barrier in shared memory expects %" PRId64 " bytes; %d is the most",
                        m->due_bytes, MOST_DUE_BYTES);
    b->moment++;
    return true;
}

static bool arrive(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                   sim_mbarrier_state *m, uint32_t count)
{
    if (count == 0 || count > m->pending - m->tracked_count)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "%u arrivals at a barrier in shared memory that waits for %u of %u", count,
                        m->pending, m->expected);
    sim_lanes64(w, c->d)[lane] = m->phase;
    m->pending -= count;
    if (c->releases)
        sim_order_give(b, w, lane, &m->brought);
    complete_if_due(b, m);
    return true;
}

/* The arrival comes with the thread's copies up to now, which land when somebody asks; it releases
 * nothing else. */
static bool arrive_copied(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                          sim_mbarrier_state *m)
{
    if (c->op == SIM_MBARRIER_ARRIVE_COPIED_MORE)
        m->pending++;
    if (m->tracked_count == m->pending || m->pending > MOST_DUE_BYTES)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "an arrival with copies at a barrier in shared memory that waits for %zu "
                        "of %u, all with copies",
                        m->tracked_count, m->expected);
    const sim_tracked fresh = {.warp = w, .lane = lane, .before = sim_copy_track(w, lane)};
    sim_order_copies(b, w, lane, fresh.before, &m->brought);
    b->moment++;
    return array_add(&m->tracked, &m->tracked_count, &fresh, sizeof fresh) ||
           no_memory(b, w, c, lane);
}

static bool test(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                 sim_mbarrier_state *m)
{
    land(b, m);
    uint64_t asked =
        c->op == SIM_MBARRIER_TEST ? sim_lanes64(w, c->b)[lane] : sim_lanes32(w, c->b)[lane];
    bool done = c->op == SIM_MBARRIER_TEST ? m->phase > asked : (m->phase & 1) != asked;
    /* One warp alone cannot wait for what others do. */
    done = done || b->launch->first_warp_only;
    sim_put_predicate(w, c->d, done ? UINT32_MAX : 0, 1u << lane);
    if (done && c->acquires)
        sim_order_get(b, w, lane, m->passed);
    return done;
}

static bool apply(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                  sim_mbarrier_state *m)
{
    switch ((sim_mbarrier_op)c->op) {
    case SIM_MBARRIER_EXPECT:
        return expect(b, w, c, lane, m);
    case SIM_MBARRIER_ARRIVE_EXPECT:
        return expect(b, w, c, lane, m) && arrive(b, w, c, lane, m, 1);
    case SIM_MBARRIER_ARRIVE:
        return arrive(b, w, c, lane, m, c->b == SIM_NO_SLOT ? 1 : sim_lanes32(w, c->b)[lane]);
    case SIM_MBARRIER_ARRIVE_COPIED:
    case SIM_MBARRIER_ARRIVE_COPIED_MORE:
        return arrive_copied(b, w, c, lane, m);
    case SIM_MBARRIER_COMPLETE:
        m->due_bytes -= sim_lanes32(w, c->b)[lane];
        complete_if_due(b, m);
        return true;
    case SIM_MBARRIER_DROP:
        sim_mbarrier_drop(m);
        *m = b->engine->barriers[--b->engine->barrier_count];
        b->moment++;
        return true;
    default:
        if (!test(b, w, c, lane, m)) {
            w->state = SIM_POLLING;
            w->wait_pc = (int32_t)(c - b->program->code);
            w->wait_mask = 1u << lane;
        }
        return true;
    }
}

bool sim_mbarrier(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    SIM_EACH_OF(l, mask)
    {
        uint32_t at = 0;
        if (!shared_place(b, w, c, l, address_of(w, c->a, c->source_width, c->offset, l),
                          MBARRIER_BYTES, MBARRIER_BYTES, "a barrier", &at))
            return false;
        if (c->op == SIM_MBARRIER_INIT) {
            if (!init_barrier(b, w, c, l, at))
                return false;
            continue;
        }
        sim_mbarrier_state *barrier = find_barrier(b->engine, at);
        if (!barrier)
            return sim_fail(b, w, c, l, SIM_FAULT_BARRIER,
                            "there is no barrier at shared address %u: nothing has initialised it",
                            at);
        sim_race_access a = sim_race_access_of(b, w, c, l);
        a.owner = b;
        if (!sim_shared_touch(&a, at, MBARRIER_BYTES, SIM_TOUCH_READ, NULL) ||
            !apply(b, w, c, l, barrier))
            return false;
    }
    if (c->releases)
        w->epoch++;
    return true;
}

static bool take(sim_engine *e, const sim_flight *f)
{
    return array_add(&e->flights, &e->flight_count, f, sizeof *f);
}

static bool copy_in(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t global,
                    sim_flight *f)
{
    if (!shared_place(b, w, c, lane, address_of(w, c->e, c->vector, c->e_offset, lane),
                      MBARRIER_BYTES, MBARRIER_BYTES, "a barrier", &f->barrier))
        return false;
    if (!find_barrier(b->engine, f->barrier))
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "it reports to shared address %u, where nothing has initialised a barrier",
                        f->barrier);
    f->data = malloc(f->bytes + 1u);
    if (!f->data)
        return no_memory(b, w, c, lane);
    if (!sim_bulk_read(b, w, c, lane, global, f->bytes, f->number, f->data, &f->region,
                       &f->offset) ||
        !sim_shared_begin(b, w, c, lane, f->at, f->bytes, true, f->number, true)) {
        free(f->data);
        return false;
    }
    if (take(b->engine, f))
        return true;
    free(f->data);
    return no_memory(b, w, c, lane);
}

static bool copy_out(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t global,
                     sim_flight *f)
{
    f->leaving = true;
    f->group = b->engine->groups[f->thread];
    return sim_shared_begin(b, w, c, lane, f->at, f->bytes, false, f->number, true) &&
           sim_bulk_write(b, w, c, lane, global, f->bytes, f->number, b->shared + f->at, &f->region,
                          &f->offset) &&
           (take(b->engine, f) || no_memory(b, w, c, lane));
}

bool sim_bulk_copy(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    SIM_EACH_OF(l, mask)
    {
        uint64_t global = address_of(w, c->a, c->source_width, c->offset, l);
        sim_flight f = {.bytes = sim_lanes32(w, c->c)[l],
                        .thread = w->first_thread + (uint32_t)l,
                        .warp = w,
                        .instruction = c};
        if (!sim_engine_of(b))
            return no_memory(b, w, c, l);
        f.number = b->engine->flights_begun++;
        if (global % BULK_BYTES || f.bytes % BULK_BYTES)
            return sim_fail(b, w, c, l, SIM_FAULT_MISALIGNED,
                            "a bulk copy of %u bytes at global address 0x%" PRIx64
                            ": both must be multiples of %d",
                            f.bytes, global, BULK_BYTES);
        if (!shared_place(b, w, c, l, address_of(w, c->b, c->op, c->d2, l), f.bytes, BULK_BYTES,
                          "a bulk copy", &f.at))
            return false;
        if (!(c->kind == SIM_BULK_LOAD ? copy_in : copy_out)(b, w, c, l, global, &f))
            return false;
    }
    return true;
}

/* It has read shared memory; `wholly`: it has written global memory, too. */
static void end_leaving(sim_block *b, sim_warp *w, sim_flight *f, bool wholly)
{
    int lane = (int)(f->thread - w->first_thread);
    if (!b->launch->check)
        return;
    const sim_stamp landed = sim_race_access_of(b, w, f->instruction, lane).stamp;
    if (!f->has_read)
        sim_shared_land(b, w, f->instruction, lane, f->at, f->bytes, false, f->number, &landed);
    f->has_read = true;
    if (wholly)
        sim_global_land(b, w, f->instruction, lane, f->region, f->offset, f->bytes, true, f->number,
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
            /* Those that no group holds yet are not waited for. */
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

void sim_engine_report_stall(sim_block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        const sim_warp *w = &b->warps[i];
        if (w->state != SIM_POLLING)
            continue;
        const sim_instruction *c = &b->program->code[w->wait_pc];
        int lane = __builtin_ctz(w->wait_mask);
        uint64_t address = address_of(w, c->a, c->source_width, c->offset, lane);
        const sim_mbarrier_state *m =
            find_barrier(b->engine, (uint32_t)(address % SIM_WINDOW_BYTES));
        sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                 "it waits for a barrier in shared memory that nothing completes: %u arrivals and "
                 "%" PRId64 " bytes are missing",
                 m ? m->pending : 0, m ? m->due_bytes : 0);
        return;
    }
}
