#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/decode/facts.h"

enum { MOST_FOLLOWED = 32, MOST_CANDIDATES = 4, NOWHERE = -1, SEVERAL = -2 };

/* Follows the values that depend on one load through the program. */
typedef struct following {
    const sim_program *program;
    int32_t *writer; /* for each step of the registers: the only instruction that writes it, NOWHERE
                        or SEVERAL */
    int32_t slots[MOST_FOLLOWED]; /* slots that hold a followed value at some instruction */
    int count;
    uint32_t *set; /* for each instruction: mask of the `slots` that hold a followed value before
                      it */
    int32_t *due;  /* instructions that must still be visited, without repetition */
    bool *is_due;
    size_t due_count;
    int32_t *met; /* instructions whose set is not empty */
    size_t met_count;
    int32_t candidates[MOST_CANDIDATES]; /* instructions that write a predicate of a branch or
                                            selection which a followed value reaches */
    int candidate_count;
} following;

/* The known value of a predicate in the lane whose values are followed. */
typedef struct condition {
    int32_t at; /* instruction that writes the predicate; NOWHERE if none is known */
    bool holds; /* value of the instruction's first result */
} condition;

/* Returns the mask of the followed slots that are in `slots`. */
static uint32_t followed(const following *f, const int32_t *slots, int count)
{
    uint32_t found = 0;
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < count; k++)
            found |= (uint32_t)(f->slots[i] == slots[k]) << i;
    return found;
}

/* Follows more slots. Returns the mask of `slots`, or 0 if these are too many. */
static uint32_t follow(following *f, const int32_t *slots, int count)
{
    uint32_t added = 0;
    for (int k = 0; k < count; k++) {
        if (!followed(f, &slots[k], 1)) {
            if (f->count == MOST_FOLLOWED)
                return 0;
            f->slots[f->count++] = slots[k];
        }
        added |= followed(f, &slots[k], 1);
    }
    return added;
}

/* Adds the slots of `set` to the slots before instruction `pc`. */
static void follow_to(following *f, size_t pc, uint32_t set)
{
    if (pc >= f->program->code_count || !(set & ~f->set[pc]))
        return;
    if (!f->set[pc])
        f->met[f->met_count++] = (int32_t)pc;
    f->set[pc] |= set;
    if (!f->is_due[pc])
        f->due[f->due_count++] = (int32_t)pc;
    f->is_due[pc] = true;
}

static int32_t writer_of(const following *f, int32_t slot)
{
    return slot < 0 ? NOWHERE : f->writer[slot / SIM_SLOT_STEP];
}

static void add_candidate(following *f, int32_t predicate)
{
    const int32_t at = writer_of(f, predicate);
    for (int i = 0; i < f->candidate_count; i++)
        if (f->candidates[i] == at)
            return;
    if (f->candidate_count < MOST_CANDIDATES && at >= 0)
        f->candidates[f->candidate_count++] = at;
}

static bool are_opposite(uint8_t x, uint8_t y)
{
    static const uint8_t pairs[][2] = {{RULE_EQUAL, RULE_UNEQUAL},
                                       {RULE_LESS, RULE_GREATER_EQUAL},
                                       {RULE_GREATER, RULE_LESS_EQUAL}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if ((x == pairs[i][0] && y == pairs[i][1]) || (x == pairs[i][1] && y == pairs[i][0]))
            return true;
    return false;
}

/* Returns whether the known condition determines a predicate's value, and sets *holds to it.
 * Compilers repeat a comparison of the same registers for each use. */
static bool is_known(const following *f, const condition *known, int32_t predicate, bool *holds)
{
    const int32_t at = writer_of(f, predicate);
    if (known->at < 0 || at < 0)
        return false;
    const sim_instruction *c = &f->program->code[at], *k = &f->program->code[known->at];
    *holds = known->holds != (sim_is_comparison(c) && predicate == c->d2);
    if (at == known->at)
        return sim_is_comparison(c) || predicate == c->d;
    if (!sim_is_comparison(c) || !sim_is_comparison(k) || c->type != k->type || c->a != k->a ||
        c->b != k->b)
        return false;
    *holds = *holds != are_opposite(c->rule, k->rule);
    return c->rule == k->rule || are_opposite(c->rule, k->rule);
}

/* Returns whether the instruction changes a register on which the condition depends. */
static bool changes(const following *f, const condition *known, const sim_operands *o)
{
    if (known->at < 0)
        return false;
    const sim_instruction *k = &f->program->code[known->at];
    const int32_t first = sim_is_comparison(k) ? k->a : k->d,
                  second = sim_is_comparison(k) ? k->b : k->d;
    for (int i = 0; i < o->write_count; i++)
        if (o->writes[i] == first || o->writes[i] == second)
            return true;
    return false;
}

/* Follows the values through one instruction. Returns false if the lane may use a value. */
static bool follow_through(following *f, size_t pc, const condition *known)
{
    const sim_program *p = f->program;
    const sim_instruction *c = &p->code[pc];
    uint32_t set = f->set[pc];
    bool holds = false;
    const bool knows_guard = is_known(f, known, c->guard, &holds),
               always = c->guard == SIM_NO_SLOT || knows_guard;
    if (knows_guard && holds == c->guard_negated) {
        follow_to(f, pc + 1, set);
        return true;
    }
    sim_operands o;
    sim_operands_of(p, c, &o);
    if (c->kind == SIM_SELECT && is_known(f, known, c->c, &holds)) {
        o.reads[0] = holds == c->negate_c ? c->b : c->a;
        o.read_count = 1;
    }
    const bool uses = (followed(f, o.reads, o.read_count) & set) != 0;
    if (c->kind == SIM_SELECT && uses)
        add_candidate(f, c->c);
    if (c->kind == SIM_BRANCH)
        add_candidate(f, c->guard);
    if (changes(f, known, &o) || (c->guard >= 0 && followed(f, &c->guard, 1) & set) ||
        c->kind == SIM_CALL || c->kind == SIM_RETURN || c->kind == SIM_UNKNOWN ||
        (uses && !facts_is_arithmetic(c)))
        return false;
    if (always)
        set &= ~followed(f, o.writes, o.write_count);
    if (uses) {
        const uint32_t fresh = follow(f, o.writes, o.write_count);
        if (fresh == 0)
            return false;
        set |= fresh;
    }
    if (c->kind == SIM_BRANCH)
        follow_to(f, (size_t)c->target, set);
    for (int32_t t = 0; c->kind == SIM_BRANCH_INDEXED && t < c->target_count; t++)
        follow_to(f, (size_t)p->lists[c->target + t], set);
    const bool leaves = c->kind == SIM_BRANCH || c->kind == SIM_BRANCH_INDEXED ||
                        c->kind == SIM_EXIT || c->kind == SIM_TRAP;
    if (!leaves || !always)
        follow_to(f, pc + 1, set);
    return true;
}

/* Returns whether a lane for which `known` holds drops the loaded value. */
static bool drops(following *f, size_t load, condition known)
{
    const sim_instruction *c = &f->program->code[load];
    bool dropped = true;
    while (f->met_count > 0)
        f->set[f->met[--f->met_count]] = 0;
    while (f->due_count > 0)
        f->is_due[f->due[--f->due_count]] = false;
    f->count = 0;
    follow_to(f, load + 1, follow(f, &f->program->lists[c->list], c->vector));
    while (dropped && f->due_count > 0) {
        const int32_t pc = f->due[--f->due_count];
        f->is_due[pc] = false;
        dropped = follow_through(f, (size_t)pc, &known);
    }
    return dropped;
}

/* Searches the predicate of a load's drops: tries each candidate with each of its two values. */
static void find_drop(following *f, sim_instruction *c, size_t load)
{
    int32_t candidates[MOST_CANDIDATES];
    f->candidate_count = 0;
    drops(f, load, (condition){NOWHERE, false});
    const int count = f->candidate_count;
    memcpy(candidates, f->candidates, sizeof candidates);
    for (int i = 0; i < 2 * count && c->drops < 0; i++)
        if (drops(f, load, (condition){candidates[i / 2], i % 2 == 0})) {
            c->drops = candidates[i / 2];
            c->drops_negated = i % 2 != 0;
        }
}

static void find_writers(following *f, size_t steps)
{
    f->writer = memory_new(steps, sizeof *f->writer);
    for (size_t i = 0; i < steps; i++)
        f->writer[i] = NOWHERE;
    for (size_t n = 0; n < f->program->code_count; n++) {
        sim_operands o;
        sim_operands_of(f->program, &f->program->code[n], &o);
        for (int i = 0; i < o.write_count; i++) {
            int32_t *writer = &f->writer[o.writes[i] / SIM_SLOT_STEP];
            *writer = *writer == NOWHERE && f->program->code[n].guard == SIM_NO_SLOT ? (int32_t)n
                                                                                     : SEVERAL;
        }
    }
    /* Two comparisons of the same registers agree only if each register has a single writer. */
    for (size_t i = 0; i < steps; i++) {
        const sim_instruction *c = f->writer[i] >= 0 ? &f->program->code[f->writer[i]] : NULL;
        if (c && sim_is_comparison(c) &&
            (writer_of(f, c->a) == SEVERAL || writer_of(f, c->b) == SEVERAL))
            f->writer[i] = SEVERAL;
    }
}

/* Skips programs that may read unwritten registers, because a use must follow the only write. */
void facts_find_drops(sim_program *p)
{
    if (p->reads_unwritten)
        return;
    following f = {.program = p};
    find_writers(&f, p->register_bytes / SIM_SLOT_STEP + 1);
    f.set = memory_new(p->code_count, sizeof *f.set);
    f.due = memory_new(p->code_count, sizeof *f.due);
    f.is_due = memory_new(p->code_count, sizeof *f.is_due);
    f.met = memory_new(p->code_count, sizeof *f.met);
    for (size_t i = 0; i < p->code_count; i++)
        if (p->code[i].kind == SIM_LOAD && p->code[i].scope == 0 &&
            (p->code[i].space == PTX_SPACE_SHARED || sim_reaches_global(&p->code[i])))
            find_drop(&f, &p->code[i], i);
    free(f.writer);
    free(f.set);
    free(f.due);
    free(f.is_due);
    free(f.met);
}
