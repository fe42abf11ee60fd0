#include <string.h>

#include "sim/decode/decoder.h"

/* bar.sync a[, n]; bar.arrive a, n; bar.red.OP d, a[, n], p; barrier.* the same; bar.warp.sync m */
at_status decode_barrier(decoder *d)
{
    bool warp = decode_has(d, "warp");
    if (warp) {
        int32_t mask;
        at_status status = decode_count(d, 1, 1);
        if (!status)
            status = decode_source(d, decode_operand(d, 0), 4, PTX_U32, &mask);
        sim_instruction *c = status ? NULL : decode_emit(d, SIM_WARP_BARRIER, SIM_CLASS_WARP);
        if (!c)
            return status ? status : AT_NO_MEMORY;
        c->a = mask;
        return AT_OK;
    }
    bool red = decode_has(d, "red"), arrive = decode_has(d, "arrive");
    if (decode_has(d, "cluster") || (!red && !arrive && !decode_has(d, "sync")))
        return decode_unknown(d);
    int shift = red ? 1 : 0, count = d->statement->count - 2 * shift;
    at_status status = decode_count(d, arrive ? 2 : 1 + 2 * shift, 2 + 2 * shift);
    int32_t id = 0, threads = SIM_NO_SLOT, to = SIM_NO_SLOT, p = SIM_NO_SLOT;
    if (!status)
        status = decode_source(d, decode_operand(d, shift), 4, PTX_U32, &id);
    if (!status && count > 1)
        status = decode_source(d, decode_operand(d, shift + 1), 4, PTX_U32, &threads);
    sim_barrier_op op = arrive ? SIM_BARRIER_ARRIVE : SIM_BARRIER_SYNC;
    int32_t widen = SIM_NO_SLOT;
    if (!status && red) {
        op = decode_has(d, "popc") ? SIM_BARRIER_POPC
                                   : decode_has(d, "and") ? SIM_BARRIER_AND : SIM_BARRIER_OR;
        if (op == SIM_BARRIER_POPC)
            status = decode_destination(d, decode_operand(d, 0), 4, &to, &widen);
        else
            status = decode_predicate(d, decode_operand(d, 0), true, &to);
        if (!status)
            status = decode_predicate(d, decode_operand(d, shift + count), false, &p);
    }
    sim_instruction *c = status ? NULL : decode_emit(d, SIM_BARRIER, SIM_CLASS_BARRIER);
    if (!c)
        return status ? status : AT_NO_MEMORY;
    c->op = (uint8_t)op;
    c->a = id;
    c->b = threads;
    c->c = p;
    c->d = to;
    c->width = op == SIM_BARRIER_POPC ? 4 : 0;
    c->negate_c = red && decode_operand(d, shift + count)->negated;
    return AT_OK;
}

/* shfl.sync.MODE.b32 d[|p], a, b, c, mask */
at_status decode_shuffle(decoder *d)
{
    static const struct {
        const char *name;
        sim_warp_op op;
    } modes[] = {{"up", SIM_SHUFFLE_UP}, {"down", SIM_SHUFFLE_DOWN}, {"bfly", SIM_SHUFFLE_XOR},
                 {"idx", SIM_SHUFFLE_INDEX}};
    int op = -1;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (decode_has(d, modes[i].name))
            op = (int)modes[i].op;
    if (op < 0 || !decode_has(d, "sync"))
        return decode_unknown(d);
    at_status status = decode_count(d, 5, 5);
    int32_t to = 0, widen = SIM_NO_SLOT, p = SIM_NO_SLOT, sources[4];
    const ptx_operand *o = status ? NULL : decode_operand(d, 0);
    if (!status && o->kind == PTX_OPERAND_PAIR) {
        status = decode_predicate(d, &d->module->operands[o->first + 1], true, &p);
        o = &d->module->operands[o->first];
    }
    if (!status)
        status = decode_destination(d, o, 4, &to, &widen);
    for (int i = 0; i < 4 && !status; i++)
        status = decode_source(d, decode_operand(d, i + 1), 4, PTX_B32, &sources[i]);
    sim_instruction *c = status ? NULL : decode_emit(d, SIM_SHUFFLE, SIM_CLASS_WARP);
    if (!c)
        return status ? status : AT_NO_MEMORY;
    c->op = (uint8_t)op;
    c->d = to;
    c->d2 = p;
    c->width = 4;
    c->a = sources[0];
    c->b = sources[1];
    c->c = sources[2];
    c->e = sources[3];
    return decode_finish(d, to, widen, 4, false);
}

/* vote.sync.{all,any,uni}.pred p, a, mask; vote.sync.ballot.b32 d, a, mask */
at_status decode_vote(decoder *d)
{
    bool ballot = decode_has(d, "ballot");
    int op = ballot ? SIM_VOTE_BALLOT
             : decode_has(d, "all") ? SIM_VOTE_ALL
             : decode_has(d, "any") ? SIM_VOTE_ANY
             : decode_has(d, "uni") ? SIM_VOTE_UNIFORM : -1;
    if (op < 0 || !decode_has(d, "sync"))
        return decode_unknown(d);
    at_status status = decode_count(d, 3, 3);
    int32_t to = 0, widen = SIM_NO_SLOT, a, mask;
    if (!status && ballot)
        status = decode_destination(d, decode_operand(d, 0), 4, &to, &widen);
    else if (!status)
        status = decode_predicate(d, decode_operand(d, 0), true, &to);
    if (!status)
        status = decode_predicate(d, decode_operand(d, 1), false, &a);
    if (!status)
        status = decode_source(d, decode_operand(d, 2), 4, PTX_B32, &mask);
    sim_instruction *c = status ? NULL : decode_emit(d, SIM_VOTE, SIM_CLASS_WARP);
    if (!c)
        return status ? status : AT_NO_MEMORY;
    c->op = (uint8_t)op;
    c->d = to;
    c->width = ballot ? 4 : 0;
    c->a = a;
    c->negate_a = decode_operand(d, 1)->negated;
    c->e = mask;
    return decode_finish(d, to, widen, 4, false);
}

/* match.any.sync.b32 d, a, mask; match.all.sync.b32 d[|p], a, mask */
at_status decode_match(decoder *d)
{
    if (d->op.type_count != 1 || (!decode_has(d, "any") && !decode_has(d, "all")))
        return decode_unknown(d);
    at_status status = decode_count(d, 3, 3);
    uint32_t width = type_lane_bytes(d->op.types[0]);
    int32_t to = 0, widen = SIM_NO_SLOT, p = SIM_NO_SLOT, a, mask;
    const ptx_operand *o = status ? NULL : decode_operand(d, 0);
    if (!status && o->kind == PTX_OPERAND_PAIR) {
        status = decode_predicate(d, &d->module->operands[o->first + 1], true, &p);
        o = &d->module->operands[o->first];
    }
    if (!status)
        status = decode_destination(d, o, 4, &to, &widen);
    if (!status)
        status = decode_source(d, decode_operand(d, 1), width, d->op.types[0], &a);
    if (!status)
        status = decode_source(d, decode_operand(d, 2), 4, PTX_B32, &mask);
    sim_instruction *c = status ? NULL : decode_emit(d, SIM_MATCH, SIM_CLASS_WARP);
    if (!c)
        return status ? status : AT_NO_MEMORY;
    c->op = decode_has(d, "any") ? SIM_MATCH_ANY : SIM_MATCH_ALL;
    c->d = to;
    c->d2 = p;
    c->width = 4;
    c->source_width = (uint8_t)width;
    c->a = a;
    c->e = mask;
    return decode_finish(d, to, widen, 4, false);
}

/* redux.sync.OP.type d, a, mask */
at_status decode_reduce(decoder *d)
{
    static const struct {
        const char *name;
        sim_warp_op op;
    } names[] = {{"add", SIM_REDUCE_ADD}, {"min", SIM_REDUCE_MIN}, {"max", SIM_REDUCE_MAX},
                 {"and", SIM_REDUCE_AND}, {"or", SIM_REDUCE_OR},   {"xor", SIM_REDUCE_XOR}};
    int op = -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (decode_has(d, names[i].name))
            op = (int)names[i].op;
    if (op < 0 || d->op.type_count != 1 || ptx_type_bytes(d->op.types[0]) != 4 ||
        d->op.types[0] == PTX_F32)
        return decode_unknown(d);
    at_status status = decode_count(d, 3, 3);
    int32_t to = 0, widen = SIM_NO_SLOT, a, mask;
    if (!status)
        status = decode_destination(d, decode_operand(d, 0), 4, &to, &widen);
    if (!status)
        status = decode_source(d, decode_operand(d, 1), 4, d->op.types[0], &a);
    if (!status)
        status = decode_source(d, decode_operand(d, 2), 4, PTX_B32, &mask);
    sim_instruction *c = status ? NULL : decode_emit(d, SIM_REDUCE, SIM_CLASS_WARP);
    if (!c)
        return status ? status : AT_NO_MEMORY;
    c->op = (uint8_t)op;
    c->type = (uint8_t)d->op.types[0];
    c->d = to;
    c->width = 4;
    c->a = a;
    c->e = mask;
    return decode_finish(d, to, widen, 4, false);
}

at_status decode_active_mask(decoder *d)
{
    at_status status = decode_count(d, 1, 1);
    int32_t to = 0, widen = SIM_NO_SLOT;
    if (!status)
        status = decode_destination(d, decode_operand(d, 0), 4, &to, &widen);
    sim_instruction *c = status ? NULL : decode_emit(d, SIM_ACTIVE_MASK, SIM_CLASS_WARP);
    if (!c)
        return status ? status : AT_NO_MEMORY;
    c->d = to;
    c->width = 4;
    return decode_finish(d, to, widen, 4, false);
}

/* elect.sync d|p, mask: the lowest lane of the mask is elected. */
at_status decode_elect(decoder *d)
{
    at_status status = decode_count(d, 2, 2);
    const ptx_operand *o = status ? NULL : decode_operand(d, 0);
    int32_t to = 0, widen = SIM_NO_SLOT, p, mask;
    if (!status && o->kind != PTX_OPERAND_PAIR)
        status = decode_fail(d, "elect.sync needs d|p");
    if (!status)
        status = decode_predicate(d, &d->module->operands[o->first + 1], true, &p);
    if (!status)
        status = decode_destination(d, &d->module->operands[o->first], 4, &to, &widen);
    if (!status)
        status = decode_source(d, decode_operand(d, 1), 4, PTX_B32, &mask);
    sim_instruction *c = status ? NULL : decode_emit(d, SIM_REDUCE, SIM_CLASS_WARP);
    if (!c)
        return status ? status : AT_NO_MEMORY;
    c->op = SIM_ELECT;
    c->d = to;
    c->d2 = p;
    c->width = 4;
    c->a = mask;
    c->e = mask;
    return decode_finish(d, to, widen, 4, false);
}

/* A target as patch_branches() expects it: minus one minus the statement's number. */
static at_status target_of(decoder *d, int label, int32_t *target)
{
    const ptx_label *l = &d->module->labels[label];
    if (l->statement == PTX_NONE)
        return decode_fail(d, "%.*s is not a place to branch to",
                           (int)(l->name.length > 60 ? 60 : l->name.length), l->name.at);
    *target = -(l->statement - d->frame->function->first_statement) - 1;
    return AT_OK;
}

at_status decode_branch(decoder *d)
{
    at_status status = decode_count(d, 1, 1);
    if (!status && decode_operand(d, 0)->kind != PTX_OPERAND_LABEL)
        status = decode_fail(d, "a label is needed");
    int32_t target = 0;
    if (!status)
        status = target_of(d, decode_operand(d, 0)->index, &target);
    sim_instruction *c = status ? NULL : decode_emit(d, SIM_BRANCH, SIM_CLASS_CONTROL);
    if (!c)
        return status ? status : AT_NO_MEMORY;
    c->target = target;
    return AT_OK;
}

/* brx.idx index, table */
at_status decode_branch_indexed(decoder *d)
{
    at_status status = decode_count(d, 2, 2);
    int32_t index;
    if (!status && decode_operand(d, 1)->kind != PTX_OPERAND_LABEL)
        status = decode_fail(d, "a table of branch targets is needed");
    if (!status)
        status = decode_source(d, decode_operand(d, 0), 4, PTX_U32, &index);
    if (status)
        return status;
    const ptx_label *table = &d->module->labels[decode_operand(d, 1)->index];
    if (table->count == 0)
        return decode_fail(d, "a table of branch targets is needed");
    int32_t first = (int32_t)d->program->list_count;
    for (int i = 0; i < table->count && !status; i++) {
        int32_t target = 0;
        status = target_of(d, d->module->operands[table->first + i].index, &target);
        if (!status)
            status = decode_list(d, target);
    }
    sim_instruction *c = status ? NULL : decode_emit(d, SIM_BRANCH_INDEXED, SIM_CLASS_CONTROL);
    if (!c)
        return status ? status : AT_NO_MEMORY;
    c->a = index;
    c->target = first;
    c->target_count = table->count;
    return AT_OK;
}

at_status decode_exit(decoder *d)
{
    return decode_emit(d, SIM_EXIT, SIM_CLASS_CONTROL) ? AT_OK : AT_NO_MEMORY;
}

at_status decode_trap(decoder *d)
{
    return decode_emit(d, SIM_TRAP, SIM_CLASS_CONTROL) ? AT_OK : AT_NO_MEMORY;
}

/* In an inlined callee, a return is a branch to the end of its code. */
at_status decode_return(decoder *d)
{
    if (!d->frame->outer)
        return decode_exit(d);
    sim_instruction *c = decode_emit(d, SIM_BRANCH, SIM_CLASS_CONTROL);
    if (!c)
        return AT_NO_MEMORY;
    c->target = -d->frame->function->statement_count - 1;
    return AT_OK;
}

/* Parameters and results of a callee are the caller's variables of the call. */
static at_status bind(decoder *d, int first, int count, const ptx_operand *group)
{
    if (group->count != count)
        return decode_fail(d, "a call with %d arguments where %d are needed", group->count, count);
    for (int i = 0; i < count; i++) {
        const ptx_operand *o = &d->module->operands[group->first + i];
        if (o->kind != PTX_OPERAND_VARIABLE ||
            d->module->variables[o->index].size_bytes < d->module->variables[first + i].size_bytes)
            return decode_fail(d, "an argument must be a .param variable");
        /* Asking for its address gives it one. */
        int32_t ignored;
        at_status status = decode_source(d, o, 8, PTX_U64, &ignored);
        if (status)
            return status;
        d->local_at[first + i] = d->local_at[o->index];
    }
    return AT_OK;
}

static at_status call_around(decoder *d)
{
    /* A guarded call branches around itself: the callee's instructions have guards of their own. */
    sim_instruction *c = decode_emit(d, SIM_BRANCH, SIM_CLASS_CONTROL);
    if (!c)
        return AT_NO_MEMORY;
    c->guard_negated = !c->guard_negated;
    const ptx_function *f = d->frame->function;
    int32_t here = (int32_t)(d->statement - d->module->statements) - f->first_statement;
    c->target = -(here + 1) - 1;
    return AT_OK;
}

/* call[.uni] [(result),] name[, (arguments)] */
at_status decode_call(decoder *d)
{
    static const ptx_operand none = {.kind = PTX_OPERAND_GROUP};
    const ptx_operand *results = &none, *arguments = &none, *callee = NULL;
    for (int i = 0; i < d->statement->count; i++) {
        const ptx_operand *o = decode_operand(d, i);
        if (o->kind == PTX_OPERAND_GROUP && !callee)
            results = o;
        else if (o->kind == PTX_OPERAND_GROUP)
            arguments = o;
        else if (o->kind == PTX_OPERAND_FUNCTION && !callee)
            callee = o;
        else
            return decode_fail(d, "only calls of functions by name are supported");
    }
    if (!callee)
        return decode_fail(d, "a call without a function");
    const ptx_function *f = &d->module->functions[callee->index];
    if (!f->has_body || f->is_entry)
        return decode_fail(d, "the function %.*s has no body here", (int)(f->name.length > 60 ? 60 : f->name.length), f->name.at);
    if (d->depth >= DECODE_MAX_DEPTH)
        return decode_fail(d, "calls nest more than %d deep, or recurse", DECODE_MAX_DEPTH);
    at_status status = AT_OK;
    const ptx_statement *here = d->statement;
    if (here->guard != PTX_NONE)
        status = call_around(d);
    if (!status)
        status = bind(d, f->first_result, f->result_count, results);
    if (!status)
        status = bind(d, f->first_parameter, f->parameter_count, arguments);
    d->depth++;
    if (!status)
        status = d->function(d, f);
    d->depth--;
    d->statement = here;
    return status;
}
