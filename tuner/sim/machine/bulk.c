/* Bulk copies land as late as the rules allow: those to shared memory when a thread asks the
 * barrier that they report to, so that a kernel that does not wait reads what is not there. PTX
 * ISA, "mbarrier", "cp.async.bulk" and "proxies". */
#include "sim/machine/bulk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/machine/access.h"
#include "sim/machine/atomic.h"
#include "sim/machine/copies.h"
#include "sim/machine/engine.h"
#include "sim/machine/fault.h"
#include "sim/machine/global.h"
#include "sim/machine/peers.h"
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

/* Finds the place in whichever block of the cluster has it; generic addresses of shared memory are
 * the same place. `visits`: the thread itself goes there, not the engine later. */
static bool shared_place(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
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
                        "%s at shared address %" PRIu64 ": %u is needed", what, address, alignment);
    if (address >= b->shared_bytes || bytes > b->shared_bytes - address)
        return sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                        "%s of %u bytes at shared address %" PRIu64 " of %u bytes", what, bytes,
                        address, b->shared_bytes);
    *offset = (uint32_t)address;
    return true;
}

static bool own_place(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      uint64_t address, uint32_t bytes, uint32_t alignment, const char *what,
                      uint32_t *offset)
{
    sim_block *owner;
    return shared_place(b, w, c, lane, address, bytes, alignment, what, false, &owner, offset) &&
           (owner == b ||
            sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                     "%s in shared memory of another block: only its own is possible", what));
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
    /* The phase hands on what the arrivals released and what the engine brought for it. */
    const sim_known engine = {.block = b->number,
                              .unit = SIM_UNIT_ENGINE + m->at / MBARRIER_BYTES,
                              .lanes = 1,
                              .until = (uint32_t)m->phase};
    if (!b->launch->check)
        return;
    b->starved = !sim_clock_join(&m->passed, m->brought) ||
                 !sim_clock_join(&m->passed_by_others, m->brought_by_others) ||
                 !sim_clock_join(&m->reads_passed, m->read_by_others) ||
                 !sim_clock_add(&m->passed, &engine, 1) || b->starved;
    sim_clock_drop(m->brought);
    sim_clock_drop(m->brought_by_others);
    sim_clock_drop(m->read_by_others);
    m->brought = m->brought_by_others = m->read_by_others = NULL;
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

/* Does it add to what is in shared memory? */
static bool adds(const sim_instruction *c)
{
    return c->kind != SIM_BULK_STORE && c->reduction >= 0;
}

/* Lands the copies that report to this barrier; all have arrived when somebody asks. */
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
        if (adds(f.instruction)) {
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
        /* The engine's accesses are known to whoever sees this phase complete, and to no one
         * before. */
        int lane = (int)(f.thread - f.warp->first_thread);
        sim_stamp landed = sim_race_access_of(f.by, f.warp, f.instruction, lane).stamp;
        landed.block = b->number;
        landed.epoch = f.thread;
        landed.order = (uint32_t)m->phase + 1;
        landed.lanes = 1;
        landed.unit = (uint16_t)(SIM_UNIT_ENGINE + m->at / MBARRIER_BYTES);
        landed.flags = SIM_STAMP_BULK;
        landed.scope = adds(f.instruction) ? SIM_SCOPE_GPU : SIM_SCOPE_NONE;
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
                        "a barrier in shared memory expects %" PRId64 " bytes; %d is the most",
                        m->due_bytes, MOST_DUE_BYTES);
    owner->moment++;
    return true;
}

static bool arrive(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c, int lane,
                   sim_mbarrier_state *m, uint32_t count)
{
    if (count == 0 || count > m->pending - m->tracked_count)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "%u arrivals at a barrier in shared memory that waits for %u of %u", count,
                        m->pending, m->expected);
    sim_lanes64(w, c->d)[lane] = m->phase;
    m->pending -= count;
    if (c->op == SIM_MBARRIER_ARRIVE_ONLY && m->pending == 0)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "it completes the phase, as .noComplete says that it does not");
    if (c->releases && (owner == b || c->scope > SIM_SCOPE_BLOCK))
        sim_order_give(b, w, lane, owner == b ? &m->brought : &m->brought_by_others);
    /* What it has read is in its registers, whatever its scope. */
    if (c->releases && owner != b)
        sim_order_give(b, w, lane, &m->read_by_others);
    complete_if_due(owner, m);
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
    if (done && c->acquires && c->scope > SIM_SCOPE_BLOCK)
        sim_order_get(b, w, lane, m->passed_by_others);
    if (done && c->acquires)
        sim_order_get_reads(b, w, lane, m->reads_passed);
    return done;
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

/* Tells whether another block of the cluster may do this to a barrier. */
static bool is_for_all(const sim_instruction *c)
{
    return (c->op >= SIM_MBARRIER_ARRIVE && c->op <= SIM_MBARRIER_ARRIVE_DROP) ||
           c->op == SIM_MBARRIER_EXPECT || c->op == SIM_MBARRIER_ARRIVE_EXPECT ||
           c->op == SIM_MBARRIER_COMPLETE;
}

bool sim_mbarrier(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    SIM_EACH_OF(l, mask)
    {
        uint32_t at = 0;
        sim_block *owner = b;
        const uint64_t address = address_of(w, c->a, c->source_width, c->offset, l);
        if (is_for_all(c)
                ? !shared_place(b, w, c, l, address, MBARRIER_BYTES, MBARRIER_BYTES, "a barrier",
                                true, &owner, &at)
                : !own_place(b, w, c, l, address, MBARRIER_BYTES, MBARRIER_BYTES, "a barrier", &at))
            return false;
        if (c->op == SIM_MBARRIER_INIT) {
            if (!init_barrier(b, w, c, l, at))
                return false;
            continue;
        }
        sim_mbarrier_state *barrier = find_barrier(owner->engine, at);
        if (!barrier)
            return sim_fail(b, w, c, l, SIM_FAULT_BARRIER,
                            "there is no barrier at shared address %u: nothing has initialised it",
                            at);
        sim_race_access a = sim_race_access_of(b, w, c, l);
        a.owner = owner;
        if (!sim_shared_touch(&a, at, MBARRIER_BYTES, SIM_TOUCH_READ, NULL) ||
            !apply(b, owner, w, c, l, barrier))
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

/* It reports to a barrier of the block that it writes to. */
static bool find_report(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        uint64_t barrier, sim_block *owner, sim_flight *f)
{
    sim_block *of;
    if (!shared_place(b, w, c, lane, barrier, MBARRIER_BYTES, MBARRIER_BYTES, "a barrier", false,
                      &of, &f->barrier))
        return false;
    if (of != owner)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "it reports to a barrier of another block than that whose memory it fills");
    if (!find_barrier(of->engine, f->barrier))
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "it reports to shared address %u, where nothing has initialised a barrier",
                        f->barrier);
    sim_race_access a = sim_race_access_of(b, w, c, lane);
    a.owner = of;
    return of == b || sim_shared_touch(&a, f->barrier, MBARRIER_BYTES, SIM_TOUCH_READ, NULL);
}

/* Sends the copy on its way; `data` becomes the flight's. */
static bool depart(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, sim_block *owner,
                   sim_flight *f, bool bulk)
{
    bool fine = sim_shared_begin(b, owner, w, c, lane, f->at, f->bytes,
                                 adds(c) ? SIM_TOUCH_ATOMIC : SIM_TOUCH_WRITE, f->number, bulk);
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
    uint64_t to = p->shared, barrier = address_of(w, c->e, c->vector, c->e_offset, lane);
    sim_block *owner = b;
    sim_flight f = flight_of(b, w, c, lane, p->bytes);
    f.moved = p->moved;
    if (rank >= 0) {
        to = to % SIM_PEER_BYTES + (uint64_t)(rank + 1) * SIM_PEER_BYTES;
        barrier = barrier % SIM_PEER_BYTES + (uint64_t)(rank + 1) * SIM_PEER_BYTES;
    }
    f.number = b->engine->flights_begun++;
    if (!shared_place(b, w, c, lane, to, f.bytes, BULK_BYTES, "a bulk copy", false, &owner,
                      &f.at) ||
        !find_report(b, w, c, lane, barrier, owner, &f))
        return false;
    if (c->kind == SIM_BULK_MOVE &&
        (!own_place(b, w, c, lane, p->global, f.bytes, BULK_BYTES, "a bulk copy", &f.from_at) ||
         !sim_shared_begin(b, b, w, c, lane, f.from_at, f.bytes, SIM_TOUCH_READ, f.number, true)))
        return false;
    f.data = malloc(f.bytes + 1u);
    if (!f.data)
        return no_memory(b, w, c, lane);
    if (p->moved < p->bytes)
        fill_outside(p, f.data);
    if (c->kind == SIM_BULK_MOVE) {
        memcpy(f.data, b->shared + f.from_at, f.bytes);
    } else if (p->moved > 0 && !sim_bulk_read(b, w, c, lane, p->global, p->moved, f.number,
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
        if (!shared_place(b, w, c, l, address_of(w, c->a, c->source_width, c->offset, l), f.bytes,
                          f.bytes, "an asynchronous store", false, &owner, &f.at) ||
            !find_report(b, w, c, l, address_of(w, c->e, (uint32_t)c->d2, c->e_offset, l), owner,
                         &f))
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
    if (!own_place(b, w, c, lane, p->shared, p->bytes, BULK_BYTES, "a bulk copy", &f.at))
        return false;
    f.at += p->skip;
    return sim_shared_begin(b, b, w, c, lane, f.at, f.bytes, SIM_TOUCH_READ, f.number, true) &&
           sim_bulk_write(b, w, c, lane, p->type, p->global, f.bytes, f.number, b->shared + f.at,
                          &f.region, &f.offset) &&
           (take(b->engine, &f) || no_memory(b, w, c, lane));
}

bool sim_bulk_copy(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    SIM_EACH_OF(l, mask)
    {
        const uint64_t other = address_of(w, c->a, c->source_width, c->offset, l);
        const uint32_t bytes = sim_lanes32(w, c->c)[l];
        const sim_bulk_part all = {.shared = address_of(w, c->b, c->op, c->d2, l),
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
