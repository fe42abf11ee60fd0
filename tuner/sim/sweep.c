#include "sim/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "sim/affine.h"
#include "sim/program/program.h"

enum { MOST_WAITING = 4096, MOST_PATHS = 256 };

/* The code between a branch that depends on data and the point where its paths meet again. */
typedef struct region {
    bool is_known, is_harmless; /* harmless code has no writes to buffers, no calls and no traps */
    int32_t *slots;
    size_t count;
} region;

typedef struct waiting {
    affine_box box;
    uint64_t counted; /* number of instructions whose writes were counted before the box was cut */
} waiting;

typedef struct sweep {
    const sim_launch *launch;
    const sim_program *program;
    const sim_sweep_buffer *buffers;
    size_t buffer_count;
    symbolic values;
    region *regions;
    uint64_t executed, counted, most;
    uint64_t path; /* hash of the directions that branches took */
    affine cut;    /* cut that the box needs; AFFINE_DATA if no cut would help */
    waiting *waiting;
    size_t waiting_count;
    uint64_t paths[MOST_PATHS];
    size_t path_count;
    double followed; /* share of the threads that have been followed */
    uint64_t boxes;
    bool seeks_divergence; /* the aim is SWEEP_DIVERGENCE */
    uint64_t met;          /* number of blocks met whose threads diverge */
    rng random;
    sim_sweep *out;
} sweep;

/* The result of a step: the next instruction follows, the threads end, or their box must be cut. */
typedef enum step_result { STEP_ON, STEP_END, STEP_CUT } step_result;

static affine *value_of(const sweep *s, int32_t slot)
{
    return symbolic_value(&s->values, slot);
}

/* Asks for a cut into boxes in which the value is exact. */
static step_result ask_for_cut(sweep *s, const affine *v)
{
    s->cut = v->kind == AFFINE_CUT     ? *v
             : v->kind == AFFINE_RANGE ? affine_cut_range(&s->values.box, v)
                                       : affine_data();
    return STEP_CUT;
}

static void hash_branch(sweep *s, uint64_t with)
{
    s->path = (s->path ^ with) * UINT64_C(0x9e3779b97f4a7c15);
    s->path ^= s->path >> 29;
}

/* Assigns a value to a slot. If the guard is unknown, the value becomes unknown. */
static void assign(sweep *s, int32_t slot, affine v, int width, const affine *guard)
{
    if (slot == SIM_NO_SLOT)
        return;
    if (guard->kind != AFFINE_EXACT)
        v = *guard;
    *value_of(s, slot) = width == 4 && v.kind == AFFINE_EXACT ? affine_wrap32(&v) : v;
}

static void forget_results(sweep *s, const sim_instruction *c)
{
    sim_operands of;
    sim_operands_of(s->program, c, &of);
    for (int i = 0; i < of.write_count; i++)
        *value_of(s, of.writes[i]) = affine_data();
}

/* triangle() returns the sum of 0 .. n - 1, pyramid() the sum of their squares. */
static uint64_t triangle(uint64_t n)
{
    return n < 2 ? 0 : (uint64_t)((affine_integer)n * (n - 1) / 2);
}

static uint64_t pyramid(uint64_t n)
{
    return n < 2 ? 0
                 : (uint64_t)((affine_integer)n * (n - 1) / 2 * (2 * (affine_integer)n - 1) / 3);
}

/* Adds the elements that the threads of the box write, without a loop over threads. */
static void add_elements(const affine_box *box, sim_written *w, const affine_whole *element)
{
    const uint64_t base = (uint64_t)element->base;
    uint64_t all = 1, sum = 0, squares = 0;
    for (int i = 0; i < AFFINE_AXES; i++)
        all *= box->count[i];
    sum = all * base;
    squares = all * base * base;
    for (int i = 0; i < AFFINE_AXES; i++) {
        const uint64_t step = (uint64_t)element->step[i], n = box->count[i];
        if (n < 2 || step == 0)
            continue;
        const uint64_t others = all / n;
        sum += step * others * triangle(n);
        squares += 2 * base * step * others * triangle(n) + step * step * others * pyramid(n);
        for (int k = 0; k < i; k++)
            if (box->count[k] > 1)
                squares += 2 * step * (uint64_t)element->step[k] * (others / box->count[k]) *
                           triangle(n) * triangle(box->count[k]);
    }
    w->count += all;
    w->sum += sum;
    w->squares += squares;
}

static step_result write_elements(sweep *s, size_t i, const affine *to, const affine_whole *address,
                                  uint32_t bytes)
{
    const sim_sweep_buffer *b = &s->buffers[i];
    sim_written *w = &s->out->written[i];
    const int64_t size = b->element_bytes;
    affine_whole e = *address;
    bool even = bytes % size == 0;
    e.base -= b->base;
    e.low -= b->base;
    e.high -= b->base;
    even = even && e.base % size == 0;
    for (int k = 0; k < AFFINE_AXES; k++)
        even = even && (s->values.box.count[k] < 2 || e.step[k] % size == 0);
    if (!even) {
        w->is_known = false;
        return STEP_ON;
    }
    e.base /= size;
    e.low /= size;
    e.high /= size;
    for (int k = 0; k < AFFINE_AXES; k++)
        e.step[k] = s->values.box.count[k] < 2 ? 0 : e.step[k] / size;
    const affine_integer end = b->end, of_each = bytes / size;
    if (e.low < end && e.high + of_each > end && e.low < e.high) {
        s->cut = e.low + of_each > end
                     ? affine_obstacle(&s->values.box, (const affine *const[]){to}, 1)
                     : affine_cut_where(&s->values.box, &e, end - of_each + 1);
        return STEP_CUT;
    }
    for (affine_integer n = 0; n < of_each && e.low < end && s->executed >= s->counted; n++) {
        add_elements(&s->values.box, w, &e);
        e.base++;
        e.low++;
    }
    return STEP_ON;
}

static uint64_t block_of(const sweep *s, const affine_box *box)
{
    const uint32_t *grid = s->launch->grid;
    return box->from[3] + grid[0] * (box->from[4] + (uint64_t)grid[1] * box->from[5]);
}

static uint64_t first_block(const sweep *s)
{
    return block_of(s, &s->values.box);
}

/* Returns whether addresses are in shared or local memory or in variables of the module. */
static bool is_elsewhere(affine_integer low, affine_integer high)
{
    return low >= (affine_integer)SIM_WORKSPACE_BASE &&
           high < (affine_integer)(SIM_PARAM_WINDOW + SIM_WINDOW_BYTES);
}

static step_result store(sweep *s, const sim_instruction *c)
{
    const affine *to = value_of(s, c->a);
    const uint32_t bytes = ptx_type_bytes((ptx_type)c->type) * c->vector;
    affine_whole at;
    if (!sim_reaches_global(c))
        return STEP_ON;
    if (to->kind != AFFINE_EXACT)
        return ask_for_cut(s, to);
    const affine offset = affine_number((uint64_t)c->offset), sum = affine_add(to, &offset);
    if (!affine_whole_of(&s->values.box, &sum, 64, AFFINE_UNSIGNED, &at, &s->cut))
        return STEP_CUT;
    if (is_elsewhere(at.low, at.high))
        return STEP_ON;
    for (size_t i = 0; i < s->buffer_count; i++) {
        const sim_sweep_buffer *b = &s->buffers[i];
        const affine_integer begin = b->base, end = begin + (affine_integer)b->size_bytes;
        if (at.low < begin && at.high >= begin) {
            s->cut = affine_cut_where(&s->values.box, &at, begin);
            return STEP_CUT;
        }
        if (at.low < begin || at.low >= end)
            continue;
        if (at.high + bytes <= end)
            return write_elements(s, i, to, &at, bytes);
        if (at.low + bytes <= end) {
            s->cut = affine_cut_where(&s->values.box, &at, end - bytes + 1);
            return STEP_CUT;
        }
        break;
    }
    if (!s->out->is_outside) {
        s->out->is_outside = true;
        s->out->outside = first_block(s);
    }
    return STEP_ON;
}

/* Marks the written elements of a buffer as unknown, after an atomic or a bulk copy. If the address
 * is unknown, marks the elements of all buffers. */
static void forget_written(sweep *s, const affine *address)
{
    affine_whole at;
    affine cut;
    const bool is_known = address && address->kind == AFFINE_EXACT &&
                          affine_whole_of(&s->values.box, address, 64, AFFINE_UNSIGNED, &at, &cut);
    for (size_t i = 0; i < s->buffer_count; i++)
        if (!is_known || (at.high >= (affine_integer)s->buffers[i].base &&
                          at.low < (affine_integer)s->buffers[i].base +
                                       (affine_integer)s->buffers[i].size_bytes))
            s->out->written[i].is_known = false;
}

static bool is_harmful(const sim_instruction *c)
{
    return c->kind == SIM_BULK_STORE || c->kind == SIM_BRANCH_INDEXED || c->kind == SIM_CALLEE ||
           c->kind == SIM_CALL || c->kind == SIM_RETURN || c->kind == SIM_TRAP ||
           c->kind == SIM_ASSERTION ||
           ((c->kind == SIM_STORE || c->kind == SIM_ATOMIC) && sim_reaches_global(c));
}

/* Collects the slots that the code from `from` to `to` writes, and finds whether it is harmless. */
static void explore(sweep *s, region *r, int32_t from, int32_t to, uint8_t *seen)
{
    const sim_program *p = s->program;
    int32_t *due = NULL;
    size_t due_count = 0;
    memory_add(&due, &due_count, &from, sizeof from);
    while (due_count > 0 && r->is_harmless) {
        int32_t pc = due[--due_count];
        for (; (size_t)pc < p->code_count && pc != to && !seen[pc] && r->is_harmless; pc++) {
            const sim_instruction *c = &p->code[pc];
            sim_operands of;
            seen[pc] = 1;
            r->is_harmless = !is_harmful(c) && (c->kind != SIM_EXIT || to == SIM_EXIT_PC);
            sim_operands_of(p, c, &of);
            for (int i = 0; i < of.write_count; i++)
                memory_add(&r->slots, &r->count, &of.writes[i], sizeof of.writes[i]);
            if (c->kind == SIM_BRANCH)
                memory_add(&due, &due_count, &c->target, sizeof c->target);
            if ((c->kind == SIM_BRANCH || c->kind == SIM_EXIT) && c->guard == SIM_NO_SLOT)
                break;
        }
    }
    free(due);
}

/* Skips a branch that depends on data if its paths are harmless. The values that these paths write
 * become unknown. */
static step_result skip_region(sweep *s, int32_t *pc)
{
    const sim_instruction *c = &s->program->code[*pc];
    region *r = &s->regions[*pc];
    if (!r->is_known) {
        uint8_t *seen = memory_new(s->program->code_count + 1, 1);
        *r = (region){.is_known = true, .is_harmless = true};
        explore(s, r, *pc + 1, c->reconverge, seen);
        explore(s, r, c->target, c->reconverge, seen);
        free(seen);
    }
    if (!r->is_harmless)
        return ask_for_cut(s, &(affine){.kind = AFFINE_DATA});
    for (size_t i = 0; i < r->count; i++)
        *value_of(s, r->slots[i]) = affine_data();
    if (c->reconverge == SIM_EXIT_PC)
        return STEP_END;
    *pc = c->reconverge;
    return STEP_ON;
}

static void load_parameters(sweep *s, const sim_instruction *c, const affine *guard)
{
    const affine *at = value_of(s, c->a);
    const uint32_t bytes = ptx_type_bytes((ptx_type)c->type);
    for (int i = 0; i < c->vector; i++) {
        const uint64_t from = (uint64_t)at->base + (uint64_t)c->offset + (uint64_t)i * bytes;
        affine v = affine_data();
        if (affine_is_number(at) && bytes <= 8 && from + bytes <= s->program->parameter_bytes) {
            uint64_t bits = 0;
            memcpy(&bits, s->launch->parameters + from, bytes);
            if (sim_order_of((ptx_type)c->type) == AFFINE_SIGNED && bytes < 4)
                bits = (uint64_t)((int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
            v = affine_number(bits);
        }
        assign(s, s->program->lists[c->list + i], v, c->width, guard);
    }
}

/* Executes an instruction that only computes. Returns false for other instructions. */
static bool step_plain(sweep *s, const sim_instruction *c, int32_t pc, const affine *guard)
{
    affine v, third, p;
    switch (c->kind) {
    case SIM_COMPUTE:
        assign(s, c->d, symbolic_compute(&s->values, pc), c->width, guard);
        return true;
    case SIM_CONVERT:
        assign(s, c->d, symbolic_convert(&s->values, pc), c->width, guard);
        return true;
    case SIM_COMPARE:
        v = symbolic_compare(&s->values, pc);
        p = symbolic_negated(&v, true);
        if (c->c != SIM_NO_SLOT) {
            third = symbolic_negated(value_of(s, c->c), c->negate_c);
            v = symbolic_logic((sim_logic)c->op, &v, &third);
            p = symbolic_logic((sim_logic)c->op, &p, &third);
        }
        assign(s, c->d, v, 0, guard);
        assign(s, c->d2, p, 0, guard);
        return true;
    case SIM_LOGIC:
        v = symbolic_negated(value_of(s, c->a), c->negate_a);
        p = symbolic_negated(value_of(s, c->b), c->negate_b);
        assign(s, c->d, symbolic_logic((sim_logic)c->op, &v, &p), 0, guard);
        return true;
    case SIM_LOAD:
        if (c->space == PTX_SPACE_PARAM)
            load_parameters(s, c, guard);
        else
            forget_results(s, c);
        return true;
    default:
        return false;
    }
}

/* Returns whether a value differs between blocks. Differences within a block do not count. */
static bool differs_by_block(const affine *p)
{
    return p->kind == AFFINE_CUT && p->axis >= 3;
}

/* Returns an address or a stored value that is exact only in a smaller box, or NULL. */
static const affine *inexact_of(const sweep *s, const sim_instruction *c)
{
    if (!sim_reaches_global(c) || (c->kind != SIM_LOAD && c->kind != SIM_STORE))
        return NULL;
    const affine *at = value_of(s, c->a);
    if (at->kind == AFFINE_CUT || at->kind == AFFINE_RANGE)
        return at;
    for (int i = 0; c->kind == SIM_STORE && i < c->vector; i++) {
        const affine *v = value_of(s, s->program->lists[c->list + i]);
        if (v->kind == AFFINE_CUT || v->kind == AFFINE_RANGE)
            return v;
    }
    return NULL;
}

static step_result step(sweep *s, int32_t *pc)
{
    const sim_instruction *c = &s->program->code[*pc];
    affine guard = affine_number(1);
    if (c->guard != SIM_NO_SLOT) {
        guard = symbolic_negated(value_of(s, c->guard), c->guard_negated);
        const bool decides = is_harmful(c) || c->kind == SIM_EXIT || c->kind == SIM_BRANCH;
        if (guard.kind == AFFINE_EXACT)
            hash_branch(s, ((uint64_t)*pc << 1) | (guard.base & 1));
        if (guard.kind == AFFINE_DATA && c->kind == SIM_BRANCH)
            return skip_region(s, pc);
        if (guard.kind != AFFINE_EXACT && (decides || differs_by_block(&guard)))
            return ask_for_cut(s, &guard);
        if (guard.kind == AFFINE_EXACT && !(guard.base & 1)) {
            ++*pc;
            return STEP_ON;
        }
    }
    const affine *inexact = s->seeks_divergence ? inexact_of(s, c) : NULL;
    if (inexact)
        return ask_for_cut(s, inexact);
    const int32_t here = (*pc)++;
    if (step_plain(s, c, here, &guard))
        return STEP_ON;
    const affine *p;
    affine chosen_by;
    switch (c->kind) {
    case SIM_SELECT:
        chosen_by = symbolic_negated(value_of(s, c->c), c->negate_c);
        p = &chosen_by;
        if (differs_by_block(p))
            return ask_for_cut(s, p);
        if (p->kind == AFFINE_EXACT)
            hash_branch(s, ((uint64_t)here << 1) | (p->base & 1));
        assign(s, c->d, p->kind == AFFINE_EXACT ? *value_of(s, p->base & 1 ? c->a : c->b) : *p,
               c->width, &guard);
        return STEP_ON;
    case SIM_BRANCH:
        *pc = c->target;
        return STEP_ON;
    case SIM_EXIT:
        return STEP_END;
    case SIM_STORE:
        return store(s, c);
    case SIM_ATOMIC:
        if (is_harmful(c))
            forget_written(s, value_of(s, c->a));
        break;
    case SIM_BULK_STORE:
        forget_written(s, NULL);
        break;
    case SIM_BRANCH_INDEXED:
    case SIM_CALLEE:
    case SIM_CALL:
    case SIM_RETURN:
    case SIM_TRAP:
    case SIM_UNKNOWN:
        return ask_for_cut(s, &(affine){.kind = AFFINE_DATA});
    default:
        break;
    }
    forget_results(s, c);
    return STEP_ON;
}

static void set_special(sweep *s, sim_special which, affine v)
{
    const int32_t slot = s->program->special_slots[which];
    if (slot != SIM_NO_SLOT)
        *value_of(s, slot) = affine_wrap32(&v);
}

static void begin_box(sweep *s)
{
    const sim_program *p = s->program;
    const sim_launch *l = s->launch;
    for (size_t i = 0; i < p->register_bytes / SIM_SLOT_STEP + 1; i++)
        s->values.values[i].kind = AFFINE_DATA;
    for (size_t i = 0; i < p->constant_count; i++) {
        affine v = affine_number(p->constants[i].bits);
        *value_of(s, p->constants[i].slot) = p->constants[i].width == 4 ? affine_wrap32(&v) : v;
    }
    for (int i = 0; i < 3; i++) {
        for (int of_block = 0; of_block < 2; of_block++) {
            const int axis = i + 3 * of_block;
            affine v = affine_number(s->values.box.from[axis]);
            v.step[axis] = s->values.box.count[axis] > 1 ? (int64_t)s->values.box.stride[axis] : 0;
            set_special(s, (sim_special)((of_block ? SIM_CTAID_X : SIM_TID_X) + i), v);
        }
        set_special(s, (sim_special)(SIM_NTID_X + i), affine_number(l->block[i]));
        set_special(s, (sim_special)(SIM_NCTAID_X + i), affine_number(l->grid[i]));
    }
    set_special(s, SIM_DYNAMIC_SMEM, affine_number(l->dynamic_shared_bytes));
    if (l->block[1] * l->block[2] > 1)
        return;
    affine_whole thread = {.base = (affine_integer)s->values.box.from[0]};
    affine warp, lane, cut;
    thread.step[0] = s->values.box.count[0] > 1 ? (int64_t)s->values.box.stride[0] : 0;
    affine_find_ends(&s->values.box, &thread);
    if (!affine_divide(&s->values.box, &thread, SIM_LANES, &warp, &lane, &cut))
        warp = lane = cut;
    set_special(s, SIM_LANEID, lane);
    set_special(s, SIM_WARPID, warp);
}

static void note_path(sweep *s)
{
    sim_sweep *out = s->out;
    if (s->seeks_divergence)
        return;
    for (size_t i = 0; i < s->path_count; i++)
        if (s->paths[i] == s->path)
            return;
    if (s->path_count < MOST_PATHS)
        s->paths[s->path_count++] = s->path;
    const uint64_t block = first_block(s);
    for (size_t i = 0; i < out->block_count; i++)
        if (out->blocks[i] == block)
            return;
    if (s->path_count < MOST_PATHS && out->block_count < SWEEP_MOST_BLOCKS)
        out->blocks[out->block_count++] = block;
}

/* Keeps a sample of the blocks met; each has the same probability (Vitter's algorithm R). */
static void note_divergence(sweep *s)
{
    sim_sweep *out = s->out;
    const affine_box *box = &s->values.box;
    const uint64_t at = s->cut.axis < 3 ? 0 : (uint64_t)s->cut.base - 1;
    if (box->count[3] * box->count[4] * box->count[5] > 2)
        return;
    const uint64_t place =
        s->met++ < SWEEP_MOST_BLOCKS ? s->met - 1 : rng_below(&s->random, s->met);
    if (place >= SWEEP_MOST_BLOCKS)
        return;
    affine_box here = *box;
    here.from[s->cut.axis] += at * box->stride[s->cut.axis];
    out->blocks[place] = block_of(s, &here);
    out->block_count += out->block_count == place;
}

/* Cuts the box and queues the parts. Returns false if the box cannot be cut. */
static bool cut_box(sweep *s)
{
    const affine_box *box = &s->values.box;
    const int axis = s->cut.axis;
    const uint64_t at = (uint64_t)s->cut.base, classes = (uint64_t)s->cut.step[0];
    waiting part = {*box, s->executed};
    if (s->cut.kind != AFFINE_CUT || at == 0 || at >= box->count[axis])
        return false;
    if (s->counted > s->executed)
        part.counted = s->counted;
    /* The search for divergence needs neighbouring threads, so it never takes every nth thread. */
    if (!s->seeks_divergence && classes > 1 && s->waiting_count + classes <= MOST_WAITING) {
        for (uint64_t i = classes; i-- > 0;) {
            part.box.from[axis] = box->from[axis] + i * box->stride[axis];
            part.box.count[axis] = (box->count[axis] - i + classes - 1) / classes;
            part.box.stride[axis] = classes * box->stride[axis];
            memory_add(&s->waiting, &s->waiting_count, &part, sizeof part);
        }
        return true;
    }
    if (s->waiting_count + 2 > MOST_WAITING)
        return false;
    /* The part that is queued last is followed first. This is the first part, except in a search
     * for divergence. */
    for (int i = 0; i < 2; i++) {
        const bool is_first = i != s->seeks_divergence;
        part.box.from[axis] = box->from[axis] + (is_first ? 0 : at * box->stride[axis]);
        part.box.count[axis] = is_first ? at : box->count[axis] - at;
        memory_add(&s->waiting, &s->waiting_count, &part, sizeof part);
    }
    if (s->seeks_divergence)
        note_divergence(s);
    return true;
}

static double share_of(const sweep *s)
{
    double share = 1;
    for (int i = 0; i < AFFINE_AXES; i++)
        share *=
            (double)s->values.box.count[i] / (i < 3 ? s->launch->block[i] : s->launch->grid[i - 3]);
    return share;
}

/* Returns whether the limit of instructions will probably not suffice. */
static bool is_hopeless(const sweep *s)
{
    enum { MANY_BOXES = 10000, AT_ODDS = 4 };
    return !s->seeks_divergence && s->boxes > MANY_BOXES &&
           s->followed * (double)s->most * AT_ODDS < (double)s->out->work;
}

/* Follows the threads of a box to their end or to a cut. Returns false if the sweep fails. */
static bool follow_box(sweep *s)
{
    int32_t pc = 0;
    s->executed = 0;
    s->path = 0;
    begin_box(s);
    while ((size_t)pc < s->program->code_count) {
        if (++s->out->work > s->most)
            return false;
        const step_result t = step(s, &pc);
        if (t == STEP_CUT)
            return cut_box(s);
        if (t == STEP_END)
            break;
        s->executed++;
    }
    note_path(s);
    s->boxes++;
    s->followed += share_of(s);
    return !is_hopeless(s);
}

void sim_sweep_run(const sim_launch *launch, const sim_sweep_buffer *buffers, size_t buffer_count,
                   uint64_t most, sweep_aim aim, uint64_t seed, sim_sweep *out)
{
    const sim_program *p = launch->program;
    sweep s = {.launch = launch,
               .program = p,
               .buffers = buffers,
               .buffer_count = buffer_count,
               .regions = memory_new(p->code_count + 1, sizeof *s.regions),
               .most = most,
               .seeks_divergence = aim == SWEEP_DIVERGENCE,
               .random = rng_seeded(seed),
               .out = out};
    waiting all = {.counted = 0};
    *out = (sim_sweep){.ended = true};
    symbolic_init(&s.values, p);
    for (size_t i = 0; i < buffer_count; i++)
        out->written[i].is_known = true;
    for (int i = 0; i < AFFINE_AXES; i++) {
        all.box.count[i] = i < 3 ? launch->block[i] : launch->grid[i - 3];
        all.box.stride[i] = 1;
    }
    memory_add(&s.waiting, &s.waiting_count, &all, sizeof all);
    while (s.waiting_count > 0 && out->ended) {
        const waiting next = s.waiting[--s.waiting_count];
        s.values.box = next.box;
        s.counted = next.counted;
        out->ended = follow_box(&s);
    }
    for (size_t i = 0; i < p->code_count; i++)
        free(s.regions[i].slots);
    free(s.regions);
    symbolic_deinit(&s.values);
    free(s.waiting);
}

bool sim_written_all(const sim_written *w, uint64_t end)
{
    return w->count == end && w->sum == triangle(end) && w->squares == pyramid(end);
}
