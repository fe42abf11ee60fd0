#include "sim/decode/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/decode/flow.h"

/* Returns the successors of an instruction. A called function is left out. A guarded exit only
 * falls through, because lanes that exit do not change where the other lanes meet. */
static flow_edge edge_of(const sim_program *p, const sim_instruction *c)
{
    const bool guarded = c->guard != SIM_NO_SLOT;
    switch ((sim_kind)c->kind) {
    case SIM_BRANCH:
        return (flow_edge){guarded, &c->target, 1};
    case SIM_BRANCH_INDEXED:
        return (flow_edge){guarded, &p->lists[c->target], c->target_count};
    case SIM_RETURN:
        return (flow_edge){.falls_through = false};
    case SIM_EXIT:
        return (flow_edge){.falls_through = guarded};
    default:
        return (flow_edge){.falls_through = true};
    }
}

/* Counts the loops around each instruction: the backward branches over it or to it. */
static void count_loops(const sim_program *p, int32_t *loops)
{
    memset(loops, 0, (p->code_count + 1) * sizeof *loops);
    for (size_t i = 0; i < p->code_count; i++) {
        if (p->code[i].kind != SIM_BRANCH || p->code[i].target > (int32_t)i)
            continue;
        loops[p->code[i].target]++;
        loops[i + 1]--;
    }
    for (size_t i = 1; i < p->code_count; i++)
        loops[i] += loops[i - 1];
}

/* If one path of a branch only exits, returns the start of the other path, otherwise -1. The other
 * lanes continue together after the exit and need no meeting point. */
static int32_t find_other_path(const sim_program *p, int32_t pc)
{
    const sim_instruction *c = &p->code[pc];
    int32_t count = (int32_t)p->code_count;
    if (c->kind != SIM_BRANCH || c->guard == SIM_NO_SLOT)
        return -1;
    bool target_ends = c->target >= count || (p->code[c->target].kind == SIM_EXIT &&
                                              p->code[c->target].guard == SIM_NO_SLOT);
    bool next_ends = pc + 1 >= count ||
                     (p->code[pc + 1].kind == SIM_EXIT && p->code[pc + 1].guard == SIM_NO_SLOT);
    if (target_ends == next_ends)
        return -1;
    return target_ends ? pc + 1 : c->target;
}

void facts_find_meeting_points(sim_program *p)
{
    size_t n = p->code_count;
    flow_edge *edges = memory_new(n, sizeof *edges);
    int32_t *meet = memory_new(n, sizeof *meet);
    int32_t *other = memory_new(n, sizeof *other);
    int32_t *loops = memory_new(n + 1, sizeof *loops);
    count_loops(p, loops);
    for (size_t i = 0; i < n; i++) {
        /* Inside a loop, the path out of the loop must stay in the graph. */
        other[i] = loops[i] > 0 ? -1 : find_other_path(p, (int32_t)i);
        const bool is_next = other[i] == (int32_t)i + 1;
        edges[i] = other[i] >= 0 ? (flow_edge){is_next, &other[i], is_next ? 0 : 1}
                                 : edge_of(p, &p->code[i]);
    }
    flow_meeting_points(edges, n, meet);
    for (size_t i = 0; i < n; i++) {
        int32_t at = other[i] >= 0 ? other[i] : meet[i];
        p->code[i].reconverge = at >= 0 ? at : SIM_EXIT_PC;
    }
    free(edges);
    free(meet);
    free(other);
    free(loops);
}

/* Returns whether the order of several such atomics cannot change the result. It can change sums of
 * floats, which are rounded. */
static bool commutes_as(const sim_instruction *c, int op)
{
    bool integer = c->type != PTX_F16 && c->type != PTX_F16X2 && c->type != PTX_BF16 &&
                   c->type != PTX_BF16X2 && c->type != PTX_F32 && c->type != PTX_F64;
    switch ((sim_atomic_op)op) {
    case SIM_ATOMIC_ADD:
    case SIM_ATOMIC_MIN:
    case SIM_ATOMIC_MAX:
        return integer;
    case SIM_ATOMIC_AND:
    case SIM_ATOMIC_OR:
    case SIM_ATOMIC_XOR:
        return true;
    default:
        return false;
    }
}

static void find_read_slots(const sim_program *p, bool *is_read)
{
    for (size_t i = 0; i < p->code_count; i++) {
        sim_operands o;
        sim_operands_of(p, &p->code[i], &o);
        for (int k = 0; k < o.read_count; k++)
            is_read[o.reads[k] / SIM_SLOT_STEP] = true;
    }
}

/* Makes a plain load relaxed if a later compare-and-swap at the same address confirms its value.
 * The CUDA programming guide builds atomics in this way. */
static void find_confirmed_reads(sim_program *p)
{
    for (size_t k = 0; k < p->code_count; k++) {
        const sim_instruction *swap = &p->code[k];
        if (swap->kind != SIM_ATOMIC || swap->op != SIM_ATOMIC_CAS)
            continue;
        for (size_t i = 0; i < k; i++) {
            sim_instruction *c = &p->code[i];
            if (c->kind == SIM_LOAD && c->scope == SIM_SCOPE_NONE && c->vector == swap->vector &&
                c->a == swap->a && c->offset == swap->offset && c->space == swap->space &&
                !c->noncoherent &&
                ptx_type_bytes((ptx_type)c->type) == ptx_type_bytes((ptx_type)swap->type))
                c->scope = swap->scope;
        }
    }
}

/* Returns whether a strong read by the instruction can return another thread's write. A reduction
 * reads nothing: only its rounding depends on the order. */
static bool reads_strongly(const sim_instruction *c)
{
    return c->scope && (c->kind == SIM_LOAD || (c->kind == SIM_ATOMIC && c->d2 != 0));
}

static bool writes_strongly(const sim_instruction *c)
{
    return c->scope && (c->kind == SIM_STORE || c->kind == SIM_ATOMIC);
}

void facts_find_communication(sim_program *p)
{
    int op = -1, type = -1; /* operation and type of the preceding global atomic */
    bool any_reads = false; /* the program has a strong read */
    bool stores = false;    /* the program has a strong store, exchange or compare-and-swap */
    bool *is_read = memory_new(p->register_bytes / SIM_SLOT_STEP + 1, sizeof *is_read);
    find_read_slots(p, is_read);
    find_confirmed_reads(p);
    for (size_t i = 0; i < p->code_count; i++) {
        sim_instruction *c = &p->code[i];
        const int32_t last = c->vector == 2 ? c->d + SIM_HIGH_HALF : c->d;
        if (c->kind == SIM_ATOMIC && c->d2 != 0 && c->d >= 0 && !is_read[c->d / SIM_SLOT_STEP] &&
            !is_read[last / SIM_SLOT_STEP])
            c->d2 = 0;
        p->communicates = p->communicates || c->kind == SIM_HEAP;
        any_reads = any_reads || reads_strongly(c);
        p->writes_strongly = p->writes_strongly || writes_strongly(c);
        stores = stores ||
                 (writes_strongly(c) &&
                  (c->kind == SIM_STORE || c->op == SIM_ATOMIC_EXCH || c->op == SIM_ATOMIC_CAS));
        p->shares = p->shares || c->kind == SIM_MBARRIER || c->kind == SIM_ACTIVE_MASK;
        bool accesses = c->kind == SIM_LOAD || c->kind == SIM_STORE;
        if (accesses && c->scope && sim_reaches_global(c))
            p->communicates = true;
        bool reduces = c->kind == SIM_BULK_STORE && c->reduction >= 0;
        /* The element type of a tensor comes from its map, so it is not known here. */
        bool may_round = c->target_count > 0 && c->reduction == SIM_ATOMIC_ADD;
        const bool rounds = reduces && (may_round || !commutes_as(c, c->reduction));
        p->communicates = p->communicates || rounds;
        p->rounds = p->rounds || rounds || (c->kind == SIM_ATOMIC && !commutes_as(c, c->op));
        if (c->kind != SIM_ATOMIC || !sim_reaches_global(c))
            continue;
        bool alike = op < 0 || (op == c->op && type == c->type);
        p->communicates = p->communicates || c->d2 != 0 || !alike || !commutes_as(c, c->op);
        op = c->op;
        type = c->type;
    }
    /* If there are no strong writes, a strong read is ordered with plain writes or races with plain
     * writes. Reductions may have any order if no thread reads their results. */
    p->reorders = stores || (any_reads && p->writes_strongly);
    p->shares = p->shares || p->reorders;
    free(is_read);
}

/* A slot is live at the start of a block that reads it before writing it, and in the blocks before,
 * back to those that write the slot. A slot that is live at the start of the program may be read
 * unwritten. Slots are analysed one by one, because most slots are live in few blocks. */

/* A block that uses a slot. */
typedef struct mention {
    int32_t block;
    int32_t next; /* next mention of the same slot; -1 if there is none */
} mention;

typedef struct liveness {
    sim_program *program;
    size_t slot_count;
    flow_graph graph;
    mention *mentions;
    size_t mention_count;
    int32_t *reads;  /* for each slot: first mention of a block that reads it before writing it, or
                        -1 */
    int32_t *writes; /* for each slot: first mention of a block that writes it, or -1 */
    int32_t *written_in; /* for each block: 1 + the last analysed slot that the block writes */
    int32_t *seen_in;    /* for each block: 1 + the last analysed slot that is live in the block */
    int32_t *due;        /* blocks that must still be visited, where the slot is live */
} liveness;

static void find_graph(liveness *a)
{
    const sim_program *p = a->program;
    flow_edge *edges = memory_new(p->code_count, sizeof *edges);
    for (size_t i = 0; i < p->code_count; i++) {
        const sim_instruction *c = &p->code[i];
        /* The code after a call is a successor, because calls keep the caller's registers. */
        edges[i] = c->kind == SIM_CALL ? (flow_edge){true, &c->target, 1} : edge_of(p, c);
    }
    flow_graph_init(&a->graph, edges, p->code_count);
    free(edges);
}

static void mention_slot(liveness *a, int32_t *first, int32_t block)
{
    a->mentions[a->mention_count] = (mention){block, *first};
    *first = (int32_t)a->mention_count++;
}

/* Returns whether a slot's newest mention is in the block. */
static bool is_last_in(const liveness *a, int32_t first, int32_t block)
{
    return first >= 0 && a->mentions[first].block == block;
}

static void find_mentions(liveness *a)
{
    const sim_program *p = a->program;
    for (size_t i = 0; i < p->code_count; i++) {
        const int32_t here = a->graph.block_of[i];
        sim_operands o;
        sim_operands_of(p, &p->code[i], &o);
        for (int k = 0; k < o.read_count; k++) {
            int32_t slot = o.reads[k] / SIM_SLOT_STEP;
            if (!is_last_in(a, a->writes[slot], here) && !is_last_in(a, a->reads[slot], here))
                mention_slot(a, &a->reads[slot], here);
        }
        /* An instruction under a guard may not execute, so it does not count as a write. */
        for (int k = 0; k < o.write_count && p->code[i].guard == SIM_NO_SLOT; k++) {
            int32_t slot = o.writes[k] / SIM_SLOT_STEP;
            if (!is_last_in(a, a->writes[slot], here))
                mention_slot(a, &a->writes[slot], here);
        }
    }
}

static bool is_live_at_start(liveness *a, int32_t slot)
{
    const flow_graph *g = &a->graph;
    size_t count = 0;
    for (int32_t m = a->writes[slot]; m >= 0; m = a->mentions[m].next)
        a->written_in[a->mentions[m].block] = slot + 1;
    for (int32_t m = a->reads[slot]; m >= 0; m = a->mentions[m].next) {
        a->seen_in[a->mentions[m].block] = slot + 1;
        a->due[count++] = a->mentions[m].block;
    }
    while (count > 0) {
        int32_t block = a->due[--count];
        if (block == 0)
            return true;
        for (int32_t e = g->incoming_first[block]; e < g->incoming_first[block + 1]; e++) {
            int32_t from = g->incoming[e];
            if (a->written_in[from] == slot + 1 || a->seen_in[from] == slot + 1)
                continue;
            a->seen_in[from] = slot + 1;
            a->due[count++] = from;
        }
    }
    return false;
}

/* Removes constants and special registers, which have values from the start. */
static void exclude_initialised(liveness *a)
{
    const sim_program *p = a->program;
    for (size_t i = 0; i < p->constant_count; i++)
        a->reads[p->constants[i].slot / SIM_SLOT_STEP] = -1;
    for (int i = 0; i < SIM_SPECIAL_COUNT; i++)
        if (p->special_slots[i] != SIM_NO_SLOT)
            a->reads[p->special_slots[i] / SIM_SLOT_STEP] = -1;
}

static size_t count_operands(const sim_program *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->code_count; i++) {
        sim_operands o;
        sim_operands_of(p, &p->code[i], &o);
        count += (size_t)(o.read_count + o.write_count);
    }
    return count;
}

static void allocate(liveness *a)
{
    size_t slots = a->slot_count + 1, blocks = (size_t)a->graph.blocks + 1;
    a->mentions = memory_new(count_operands(a->program), sizeof *a->mentions);
    a->reads = memory_new(slots, sizeof *a->reads);
    a->writes = memory_new(slots, sizeof *a->writes);
    a->written_in = memory_new(blocks, sizeof *a->written_in);
    a->seen_in = memory_new(blocks, sizeof *a->seen_in);
    a->due = memory_new(blocks, sizeof *a->due);
    memset(a->reads, 0xff, slots * sizeof *a->reads);
    memset(a->writes, 0xff, slots * sizeof *a->writes);
}

void facts_find_unwritten(sim_program *p)
{
    liveness a = {.program = p, .slot_count = p->register_bytes / SIM_SLOT_STEP};
    find_graph(&a);
    allocate(&a);
    find_mentions(&a);
    exclude_initialised(&a);
    for (size_t slot = 0; slot < a.slot_count && !p->reads_unwritten; slot++)
        if (a.reads[slot] >= 0)
            p->reads_unwritten = is_live_at_start(&a, (int32_t)slot);
    flow_graph_deinit(&a.graph);
    free(a.mentions);
    free(a.reads);
    free(a.writes);
    free(a.written_in);
    free(a.seen_in);
    free(a.due);
}

bool facts_is_arithmetic(const sim_instruction *c)
{
    return c->kind == SIM_COMPUTE || c->kind == SIM_COMPARE || c->kind == SIM_LOGIC ||
           c->kind == SIM_SELECT || c->kind == SIM_CONVERT;
}

/* Marks all steps of a slot in `set`. Returns false if the slot was marked. */
static bool mark(const sim_program *p, const bool *begins, bool *set, int32_t slot)
{
    const size_t end = p->register_bytes / SIM_SLOT_STEP;
    size_t i = (size_t)slot / SIM_SLOT_STEP;
    if (set[i])
        return false;
    do
        set[i++] = true;
    while (i < end && !begins[i]);
    return true;
}

/* Marks the slots that an instruction reads. For a store, only address and guard count, because
 * memory is compared separately. Returns whether a slot was newly marked. */
static bool mark_reads(const sim_program *p, const bool *begins, bool *set,
                       const sim_instruction *c)
{
    bool any = false;
    sim_operands o;
    sim_operands_of(p, c, &o);
    if (c->kind == SIM_STORE)
        o.read_count = 0;
    for (int i = 0; i < o.read_count; i++)
        any = mark(p, begins, set, o.reads[i]) || any;
    if (c->kind == SIM_STORE && c->a >= 0)
        any = mark(p, begins, set, c->a) || any;
    if (c->kind == SIM_STORE && c->guard >= 0)
        any = mark(p, begins, set, c->guard) || any;
    return any;
}

static bool writes_into(const sim_program *p, const bool *set, const sim_instruction *c)
{
    sim_operands o;
    sim_operands_of(p, c, &o);
    for (int i = 0; i < o.write_count; i++)
        if (set[o.writes[i] / SIM_SLOT_STEP])
            return true;
    return false;
}

/* Marks the first step of each slot that the program uses. */
static void find_beginnings(const sim_program *p, bool *begins)
{
    for (size_t n = 0; n < p->code_count; n++) {
        sim_operands o;
        sim_operands_of(p, &p->code[n], &o);
        for (int i = 0; i < o.read_count; i++)
            begins[o.reads[i] / SIM_SLOT_STEP] = true;
        for (int i = 0; i < o.write_count; i++)
            begins[o.writes[i] / SIM_SLOT_STEP] = true;
    }
}

/* Adds to `set` the slots from which instructions compute slots of `set`, even indirectly. */
static void close_over(const sim_program *p, const bool *begins, bool *set)
{
    for (bool any = true; any;) {
        any = false;
        for (size_t n = p->code_count; n-- > 0;)
            if (facts_is_arithmetic(&p->code[n]) && writes_into(p, set, &p->code[n]))
                any = mark_reads(p, begins, set, &p->code[n]) || any;
    }
}

/* Returns whether an instruction may set a register to a value from memory or another thread. */
static bool takes_outside_value(const sim_instruction *c)
{
    return !facts_is_arithmetic(c) && !(c->kind == SIM_LOAD && c->space == PTX_SPACE_PARAM);
}

/* Sets `steering`, unless a slot of `set` may get a value from memory or another thread. */
static void list_steering(sim_program *p, const bool *set)
{
    const size_t steps = p->register_bytes / SIM_SLOT_STEP;
    for (size_t n = 0; n < p->code_count; n++)
        if (p->code[n].kind == SIM_CALL ||
            (takes_outside_value(&p->code[n]) && writes_into(p, set, &p->code[n])))
            return;
    p->steering = memory_new(steps + 1, sizeof *p->steering);
    for (size_t i = 0; i < steps; i++)
        if (set[i])
            p->steering[p->steering_count++] = (int32_t)(i * SIM_SLOT_STEP);
}

void facts_find_deciding(sim_program *p)
{
    const size_t steps = p->register_bytes / SIM_SLOT_STEP + 1;
    bool *begins = memory_new(steps, sizeof *begins);
    bool *steering = memory_new(steps, sizeof *steering);
    p->deciding = memory_new(steps, sizeof *p->deciding);
    find_beginnings(p, begins);
    for (size_t n = 0; n < p->code_count; n++) {
        const sim_instruction *c = &p->code[n];
        if (!facts_is_arithmetic(c))
            mark_reads(p, begins, p->deciding, c);
        if (c->kind == SIM_BRANCH || c->kind == SIM_BRANCH_INDEXED || c->kind == SIM_EXIT)
            mark_reads(p, begins, steering, c);
    }
    close_over(p, begins, p->deciding);
    close_over(p, begins, steering);
    list_steering(p, steering);
    free(begins);
    free(steering);
}
