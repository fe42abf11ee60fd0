#include "sim/machine/schedule.h"

#include <inttypes.h>
#include <string.h>

#include "sim/machine/barrier.h"
#include "sim/machine/execute.h"
#include "sim/machine/fault.h"
#include "sim/machine/memory.h"
#include "sim/machine/paths.h"
#include "sim/machine/products.h"
#include "sim/machine/repeat.h"
#include "sim/machine/run.h"
#include "sim/machine/strong.h"
#include "sim/machine/trace.h"
#include "sim/machine/values.h"
#include "sim/program/operations.h"

static void put_result(sim_warp *w, const sim_instruction *c, const void *result, uint32_t mask)
{
    if (c->width == 8)
        sim_put64(w, c->d, result, mask);
    else
        sim_put32(w, c->d, result, mask);
}

static void compute(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    union {
        uint32_t w32[SIM_LANES];
        uint64_t w64[SIM_LANES];
        float f[SIM_LANES];
    } result;
    uint32_t flushed[3][SIM_LANES];
    /* Operands that an operation does not use may point to any register. */
    const void *sources[4] = {
        w->registers + (c->a < 0 ? 0 : c->a), w->registers + (c->b < 0 ? 0 : c->b),
        w->registers + (c->c < 0 ? 0 : c->c), w->registers + (c->e < 0 ? 0 : c->e)};
    if (c->flush) {
        for (int i = 0; i < 3; i++) {
            memcpy(flushed[i], sources[i], sizeof flushed[i]);
            sim_flush_lanes(c->flush, flushed[i]);
            sources[i] = flushed[i];
        }
    }
    c->compute(&result, sources);
    if (c->op != SIM_TINY_NEVER)
        sim_flush_tiny(c->flush, (sim_tiny)c->op,
                       (const uint32_t *const[]){sources[0], sources[1], sources[2]}, result.w32);
    if (c->flush)
        sim_flush_lanes(c->flush, result.w32);
    if (c->saturate)
        SIM_EACH_LANE(l)
    result.f[l] = result.f[l] > 1.0f ? 1.0f : result.f[l] > 0.0f ? result.f[l] : 0.0f;
    put_result(w, c, &result, mask);
}

static void convert(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    union {
        uint32_t w32[SIM_LANES];
        uint64_t w64[SIM_LANES];
    } result;
    const sim_conversion conversion = {(ptx_type)c->type,
                                       (ptx_type)c->source_type,
                                       (sim_rounding)c->op,
                                       c->flush,
                                       c->saturate,
                                       c->relu,
                                       c->finite};
    sim_convert(&conversion, &result, w->registers + c->a);
    put_result(w, c, &result, mask);
}

static uint32_t logic(uint32_t op, uint32_t a, uint32_t b)
{
    switch (op) {
    case SIM_LOGIC_AND:
        return a & b;
    case SIM_LOGIC_OR:
        return a | b;
    case SIM_LOGIC_XOR:
        return a ^ b;
    case SIM_LOGIC_NOT:
        return ~a;
    default:
        return a;
    }
}

static void compare(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const void *a = w->registers + c->a, *b = w->registers + c->b;
    uint32_t flushed[2][SIM_LANES];
    if (c->flush) {
        memcpy(flushed[0], a, sizeof flushed[0]);
        memcpy(flushed[1], b, sizeof flushed[1]);
        sim_flush_lanes(c->flush, flushed[0]);
        sim_flush_lanes(c->flush, flushed[1]);
        a = flushed[0];
        b = flushed[1];
    }
    uint32_t p = c->compare(a, b), q = ~p;
    if (c->type == PTX_F16X2 || c->type == PTX_BF16X2) {
        uint32_t high[2][SIM_LANES];
        SIM_EACH_LANE(l)
        {
            high[0][l] = ((const uint32_t *)a)[l] >> 16;
            high[1][l] = ((const uint32_t *)b)[l] >> 16;
        }
        q = c->compare(high[0], high[1]);
    }
    if (c->c != SIM_NO_SLOT) {
        uint32_t third = sim_predicate(w, c->c, c->negate_c);
        p = logic(c->op, p, third);
        q = logic(c->op, q, third);
    }
    sim_put_predicate(w, c->d, p, mask);
    if (c->d2 != SIM_NO_SLOT)
        sim_put_predicate(w, c->d2, q, mask);
}

static void select_lanes(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t p = sim_predicate(w, c->c, c->negate_c);
    if (c->width == 8) {
        uint64_t r[SIM_LANES];
        const uint64_t *a = sim_lanes64(w, c->a), *b = sim_lanes64(w, c->b);
        SIM_EACH_LANE(l) r[l] = p >> l & 1 ? a[l] : b[l];
        sim_put64(w, c->d, r, mask);
    } else {
        uint32_t r[SIM_LANES];
        const uint32_t *a = sim_lanes32(w, c->a), *b = sim_lanes32(w, c->b);
        SIM_EACH_LANE(l) r[l] = p >> l & 1 ? a[l] : b[l];
        sim_put32(w, c->d, r, mask);
    }
}

/* Counts four cycles an instruction. In adverse schedules, clocks start apart and run faster. */
static bool put_clock(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint64_t begun =
        b->adverse ? ((uint64_t)b->index + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 24 : 0;
    uint64_t cycles = (begun + w->executed * (b->adverse ? 37 : 4)) >> c->op, r64[SIM_LANES];
    uint32_t r32[SIM_LANES];
    SIM_EACH_LANE(l) r64[l] = cycles, r32[l] = (uint32_t)cycles;
    put_result(w, c, c->width == 8 ? (const void *)r64 : r32, mask);
    return true;
}

static bool test_space(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint64_t *a = sim_lanes64(w, c->a);
    uint32_t p = 0;
    SIM_EACH_LANE(l)
    {
        uint64_t window = a[l] & ~(SIM_WINDOW_BYTES - 1);
        int space = window == SIM_SHARED_WINDOW  ? PTX_SPACE_SHARED
                    : window == SIM_LOCAL_WINDOW ? PTX_SPACE_LOCAL
                    : window == SIM_PARAM_WINDOW ? PTX_SPACE_PARAM
                                                 : PTX_SPACE_GLOBAL;
        p |= (uint32_t)(space == c->space) << l;
    }
    (void)b;
    sim_put_predicate(w, c->d, p, mask);
    return true;
}

/* Splits the top path into `count` groups of lanes. The old path stays below the groups and waits
 * where they meet, unless it would meet other lanes at the same instruction anyway. */
static bool split(sim_block *b, sim_warp *w, const sim_instruction *c, const sim_path *groups,
                  int count)
{
    sim_path *top = sim_top(w);
    const uint32_t frame = top->frame;
    int32_t meet = c->reconverge;
    if (meet == top->reconverge || meet == SIM_EXIT_PC) {
        meet = top->reconverge;
        w->flow.depth--;
    } else {
        top->pc = meet;
    }
    for (int i = 0; i < count; i++) {
        if (groups[i].mask == 0 || groups[i].pc == meet)
            continue;
        if (w->flow.depth == SIM_MAX_PATHS)
            return sim_fail(b, w, c, __builtin_ctz(groups[i].mask), SIM_FAULT_INTERNAL,
                            "too many diverged paths");
        w->flow.paths[w->flow.depth++] = (sim_path){groups[i].pc, meet, groups[i].mask, frame};
    }
    return true;
}

static void reverse(sim_path *groups, int count)
{
    for (int i = 0; i < count / 2; i++) {
        const sim_path t = groups[i];
        groups[i] = groups[count - 1 - i];
        groups[count - 1 - i] = t;
    }
}

/* Returns whether the code from `pc` on soon ends the thread. Such a path runs first, so that its
 * lanes have ended when the other lanes reach a barrier. */
static bool ends_at(const sim_program *p, int32_t pc)
{
    for (int n = 0; n < 64 && (size_t)pc < p->code_count; n++, pc++) {
        if (p->code[pc].kind == SIM_EXIT && p->code[pc].guard == SIM_NO_SLOT)
            return true;
        if (p->code[pc].kind == SIM_BARRIER || p->code[pc].kind == SIM_CLUSTER_BARRIER ||
            p->code[pc].kind == SIM_BRANCH_INDEXED || p->code[pc].kind == SIM_RETURN)
            return false;
        if (p->code[pc].kind == SIM_BRANCH && p->code[pc].guard == SIM_NO_SLOT)
            pc = p->code[pc].target - 1;
    }
    return false;
}

static bool branch(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t taken)
{
    sim_path *top = sim_top(w);
    uint32_t stay = top->mask & ~taken;
    if (taken && c->target < top->pc && !sim_repeat_branch(b, w, c, taken))
        return false;
    if (stay == 0) {
        top->pc = c->target;
        return true;
    }
    if (taken == 0)
        return true;
    sim_path groups[2] = {{top->pc, 0, stay, 0}, {c->target, 0, taken, 0}};
    /* The last group runs first. */
    if (c->reconverge == SIM_EXIT_PC ? ends_at(b->program, groups[0].pc) : b->adverse)
        reverse(groups, 2);
    return split(b, w, c, groups, 2);
}

static bool branch_indexed(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    sim_path groups[SIM_LANES + 1];
    int count = 0;
    const uint32_t *index = sim_lanes32(w, c->a);
    uint32_t stay = sim_top(w)->mask & ~mask;
    if (stay)
        groups[count++] = (sim_path){sim_top(w)->pc, 0, stay, 0};
    SIM_EACH_OF(l, mask)
    {
        if (index[l] >= (uint32_t)c->target_count)
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "the index of the branch is %u, but its table has %d targets", index[l],
                            c->target_count);
        int32_t pc = b->program->lists[c->target + (int32_t)index[l]];
        int i = 0;
        while (i < count && groups[i].pc != pc)
            i++;
        if (i == count)
            groups[count++] = (sim_path){pc, 0, 0, 0};
        groups[i].mask |= 1u << l;
    }
    if (count == 1) {
        sim_top(w)->pc = groups[0].pc;
        return true;
    }
    if (b->adverse)
        reverse(groups, count);
    return split(b, w, c, groups, count);
}

/* Returns whether the address is that of a function without code, such as one of the driver. */
static bool is_outside(const ptx_module *m, uint64_t address)
{
    bool outside = false;
    for (size_t i = 0; i < m->function_count; i++)
        outside = outside || (!m->functions[i].has_body && sim_function_address((int)i) == address);
    return outside;
}

/* Sets d to the index of each lane's function among the functions that the call may reach. */
static bool find_callee(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint64_t *address = sim_lanes64(w, c->a);
    const int32_t *functions = &b->program->lists[c->target];
    uint32_t place[SIM_LANES] = {0};
    SIM_EACH_OF(l, mask)
    {
        while (place[l] < (uint32_t)c->target_count &&
               sim_function_address(functions[place[l]]) != address[l])
            place[l]++;
        if (place[l] == (uint32_t)c->target_count && is_outside(b->program->module, address[l]))
            return sim_fail(
                b, w, c, l, SIM_FAULT_UNKNOWN,
                "the called address is that of a function whose code is not in the module");
        if (place[l] == (uint32_t)c->target_count)
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "the called address 0x%" PRIx64 " is not a function of this type",
                            address[l]);
    }
    sim_put32(w, c->d, place, mask);
    return true;
}

static bool exit_lanes(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    (void)b, (void)c;
    w->live &= ~mask;
    for (int i = 0; i < w->flow.depth; i++)
        w->flow.paths[i].mask &= ~mask;
    sim_repeat_forget(w);
    return true;
}

static bool trap(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    return sim_fail(b, w, c, __builtin_ctz(mask), SIM_FAULT_TRAP, "the kernel trapped");
}

static bool refuse(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    return sim_fail(b, w, c, __builtin_ctz(mask), SIM_FAULT_UNKNOWN, "%s",
                    b->program->reasons[c->target]);
}

static bool fence(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (c->scope)
        sim_order_fence(b, w, c, mask);
    if (c->proxy)
        sim_order_proxy_fence(b, w, mask);
    return true;
}

static bool do_nothing(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    (void)b, (void)w, (void)c, (void)mask;
    return true;
}

/* Marks freed stack memory as not written. Ignores addresses beyond local memory. */
static bool forget(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint64_t all = b->program->local_bytes;
    SIM_EACH_OF(l, w->local_valid ? mask : 0)
    {
        const uint64_t from = (uint64_t)c->offset + (c->a < 0 ? 0 : sim_lanes64(w, c->a)[l]),
                       left = from < all ? all - from : 0,
                       bytes = c->target ? (uint64_t)c->target : left;
        memset(w->local_valid + (size_t)l * all + (from < all ? from : 0), SIM_NEVER_WRITTEN,
               bytes < left ? bytes : left);
    }
    return true;
}

/* Instructions that are rare or may stop the warp. step() executes the others. */
static sim_executor *const executors[] = {
    [SIM_BRANCH_INDEXED] = branch_indexed,
    [SIM_CALLEE] = find_callee,
    [SIM_CALL] = sim_frames_call,
    [SIM_RETURN] = sim_frames_return,
    [SIM_EXIT] = exit_lanes,
    [SIM_TRAP] = trap,
    [SIM_UNKNOWN] = refuse,
    [SIM_PRINT] = sim_print,
    [SIM_ASSERTION] = sim_assertion,
    [SIM_HEAP] = sim_heap_call,
    [SIM_BARRIER] = sim_barrier_arrive,
    [SIM_CLUSTER_BARRIER] = sim_cluster_barrier,
    [SIM_CLUSTER_MAP] = sim_cluster_map,
    [SIM_COPY_ASYNC] = sim_copy_async,
    [SIM_COPY_COMMIT] = sim_copy_commit,
    [SIM_COPY_WAIT] = sim_copy_wait,
    [SIM_MBARRIER] = sim_mbarrier,
    [SIM_STORE_ASYNC] = sim_store_async,
    [SIM_BULK_LOAD] = sim_bulk_copy,
    [SIM_BULK_MOVE] = sim_bulk_copy,
    [SIM_BULK_STORE] = sim_bulk_copy,
    [SIM_BULK_COMMIT] = sim_bulk_group,
    [SIM_BULK_WAIT] = sim_bulk_group,
    [SIM_TEXTURE] = sim_texture_fetch,
    [SIM_SURFACE] = sim_surface_find,
    [SIM_MATRIX] = sim_multiply,
    [SIM_WARPGROUP_FENCE] = sim_warpgroup_execute,
    [SIM_WARPGROUP_PRODUCT] = sim_warpgroup_execute,
    [SIM_WARPGROUP_COMMIT] = sim_warpgroup_execute,
    [SIM_WARPGROUP_WAIT] = sim_warpgroup_execute,
    [SIM_WARP_BARRIER] = sim_collective,
    [SIM_SHUFFLE] = sim_collective,
    [SIM_VOTE] = sim_collective,
    [SIM_MATCH] = sim_collective,
    [SIM_REDUCE] = sim_collective,
    [SIM_ACTIVE_MASK] = sim_collective,
    [SIM_DISCARD] = sim_discard,
    [SIM_ALIGNED] = sim_aligned,
    [SIM_CLOCK] = put_clock,
    [SIM_SPACE_TEST] = test_space,
    [SIM_FENCE] = fence,
    [SIM_FORGET] = forget,
    [SIM_NOTHING] = do_nothing,
};

static bool step(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    switch (c->kind) {
    case SIM_COMPUTE:
        compute(w, c, mask);
        return true;
    case SIM_CONVERT:
        convert(w, c, mask);
        return true;
    case SIM_COMPARE:
        compare(w, c, mask);
        return true;
    case SIM_SELECT:
        select_lanes(w, c, mask);
        return true;
    case SIM_LOGIC:
        sim_put_predicate(
            w, c->d,
            logic(c->op, sim_predicate(w, c->a, c->negate_a), sim_predicate(w, c->b, c->negate_b)),
            mask);
        return true;
    case SIM_LOAD:
    case SIM_STORE:
    case SIM_ATOMIC:
        return sim_access(b, w, c, mask);
    case SIM_BRANCH:
        return branch(b, w, c, mask);
    default:
        sim_repeat_end(w);
        return executors[c->kind](b, w, c, mask);
    }
}

/* Sets bits of sim_launch.ran, which all host threads share. */
static void note_ran(uint8_t *ran, bool back)
{
    const uint8_t bits = back ? SIM_RAN | SIM_RAN_BACK : SIM_RAN;
    if ((__atomic_load_n(ran, __ATOMIC_RELAXED) & bits) != bits)
        __atomic_fetch_or(ran, bits, __ATOMIC_RELAXED);
}

static void end_warp(const sim_block *b, sim_warp *w)
{
    w->flow.depth = 0;
    w->live = 0;
    w->wait.state = SIM_DONE;
    sim_note_change(b, w);
}

/* Returns whether a split of the top path may change the result: at strong accesses of a program
 * with strong writes, and at activemask, since lanes need not run together (CUDA C++ Programming
 * Guide, "__activemask"). Before the first branch, all lanes run together. */
static bool may_split(const sim_block *b, sim_warp *w, const sim_instruction *c)
{
    return (c->scope != 0 && c->kind != SIM_FENCE && b->program->writes_strongly) ||
           (c->kind == SIM_ACTIVE_MASK && sim_top(w)->mask != w->whole);
}

bool sim_warp_run(sim_block *b, sim_warp *w)
{
    const sim_instruction *code = b->program->code;
    while (w->wait.state == SIM_READY && w->executed < w->polls.slice_end) {
        sim_path *top = sim_top(w);
        if (top->pc == top->reconverge || top->mask == 0) {
            if (--w->flow.depth == 0) {
                w->wait.state = SIM_DONE;
                sim_note_change(b, w);
            }
            continue;
        }
        const sim_instruction *c = &code[top->pc];
        if (b->adverse && may_split(b, w, c) && sim_paths_split(b, w))
            continue;
        if (b->adverse && w->executed > 0 && sim_strong_waits(b, w, c))
            break;
        uint32_t mask = top->mask, stalled = w->flow.stalled;
        if (c->guard != SIM_NO_SLOT)
            mask &= sim_predicate(w, c->guard, c->guard_negated);
        if (++w->executed > b->limit)
            return sim_fail(b, w, sim_loop_around(b->program, top->pc), __builtin_ctz(top->mask),
                            SIM_FAULT_BUDGET, "a warp executed %llu instructions without an end",
                            (unsigned long long)b->limit);
        w->lanes += (uint64_t)__builtin_popcount(mask);
        if (b->counters && !c->extra) {
            sim_counter *n = &b->counters[top->pc];
            n->issued++;
            n->threads += (uint64_t)__builtin_popcount(mask);
        }
        /* A branch that no lane takes has also run. */
        if (b->launch->ran && (mask != 0 || c->kind == SIM_BRANCH))
            note_ran(&b->launch->ran[top->pc],
                     mask != 0 && c->kind == SIM_BRANCH && c->target <= top->pc);
        top->pc++;
        if ((w->missing && !sim_values_step(b, w, c, mask)) ||
            (w->products && mask != 0 && !sim_warpgroup_step(b, w, c)) ||
            (mask != 0 && !step(b, w, c, mask)))
            return false;
        if (b->launch->trace && (mask != 0 || c->kind == SIM_BRANCH))
            sim_trace_step(b->launch->trace, b, w, c, mask);
        if (b->launch->access_limit && w->accesses >= b->launch->access_limit)
            end_warp(b, w);
        if (stalled != 0 && w->flow.stalled == stalled)
            w->flow.stalled = 0;
    }
    /* Lanes that poll may wait for other lanes of their warp. */
    bool polls = w->polls.count > 0 || w->wait.state == SIM_POLLING;
    if ((w->wait.state == SIM_READY && !b->launch->trace) || polls)
        sim_paths_switch(b, w, polls);
    return true;
}
