#include "sim/decode/communication.h"

#include <stdlib.h>

#include "base/memory.h"
#include "sim/program/program.h"

/* Do any two of such atomics give the same whichever comes first? Sums of floats are rounded. */
static bool commutes_as(const sim_instruction *c, int op)
{
    bool integer = c->type != PTX_F16 && c->type != PTX_F16X2 && c->type != PTX_BF16 &&
                   c->type != PTX_BF16X2 && c->type != PTX_F32 && c->type != PTX_F64;
    switch ((sim_atomic_op)op) {
    case SIM_ATOMIC_ADD:
        return integer;
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

static void mark_reads(const sim_program *p, bool *is_read)
{
    for (size_t i = 0; i < p->code_count; i++) {
        sim_operands o;
        sim_operands_of(p, &p->code[i], &o);
        for (int k = 0; k < o.read_count; k++)
            is_read[o.reads[k] / SIM_SLOT_STEP] = true;
    }
}

/* A plain read of a word that a compare-and-swap at the same address then confirms, or reads anew:
 * what CUDA's guide makes atomics of. It is as good as a relaxed read. */
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

/* Does it find what others may have left, or leave what they may find, with nothing that orders the
 * two? Of what is added up without a look nothing but the rounding hangs on the order. */
static bool looks(const sim_instruction *c)
{
    return c->scope && (c->kind == SIM_LOAD || (c->kind == SIM_ATOMIC && c->d2 != 0));
}

static bool leaves(const sim_instruction *c)
{
    return c->scope && (c->kind == SIM_STORE || c->kind == SIM_ATOMIC);
}

void communication_find(sim_program *p)
{
    int op = -1, type = -1;                 /* of the atomics, while all are alike */
    bool any_looks = false, stores = false; /* a strong one, or an exchange */
    bool *is_read = memory_new(p->register_bytes / SIM_SLOT_STEP + 1, sizeof *is_read);
    mark_reads(p, is_read);
    find_confirmed_reads(p);
    for (size_t i = 0; i < p->code_count; i++) {
        sim_instruction *c = &p->code[i];
        const int32_t last = c->vector == 2 ? c->d + SIM_HIGH_HALF : c->d;
        if (c->kind == SIM_ATOMIC && c->d2 != 0 && c->d >= 0 && !is_read[c->d / SIM_SLOT_STEP] &&
            !is_read[last / SIM_SLOT_STEP])
            c->d2 = 0;
        p->communicates = p->communicates || c->kind == SIM_HEAP;
        any_looks = any_looks || looks(c);
        p->writes_strongly = p->writes_strongly || leaves(c);
        stores = stores || (leaves(c) && (c->kind == SIM_STORE || c->op == SIM_ATOMIC_EXCH ||
                                          c->op == SIM_ATOMIC_CAS));
        p->shares = p->shares || c->kind == SIM_MBARRIER || c->kind == SIM_ACTIVE_MASK;
        bool accesses = c->kind == SIM_LOAD || c->kind == SIM_STORE;
        if (accesses && c->scope && sim_reaches_global(c))
            p->communicates = true;
        bool reduces = c->kind == SIM_BULK_STORE && c->reduction >= 0;
        /* Of which type a tensor is says its map. */
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
    /* Strong reads of plain writes alone are ordered, or a race in any order; and the order of
     * updates that nobody looks at does not matter. */
    p->reorders = stores || (any_looks && p->writes_strongly);
    p->shares = p->shares || p->reorders;
    free(is_read);
}
