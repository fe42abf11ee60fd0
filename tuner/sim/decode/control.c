/* Control flow, barriers, exchanges in a warp, and blocks of a cluster. */
#include "sim/decode/decoder.h"

/* Emits an instruction of the whole warp. `mask` is the slot of its member mask or SIM_NO_SLOT. */
static sim_instruction *emit_warp(decoder *d, sim_kind kind, int op, const destination *to,
                                  int32_t mask)
{
    sim_instruction *c = decode_emit(d, kind, SIM_CLASS_WARP);
    c->op = (uint8_t)op;
    c->d = to->slot;
    c->width = to->width;
    c->e = mask;
    return c;
}

static destination predicate_result(decoder *d, const ptx_operand *o)
{
    return (destination){decode_predicate(d, o, true), SIM_NO_SLOT, 0};
}

/* Decodes barrier.cluster.arrive{.release, .relaxed}{.aligned} and .wait{.acquire}{.aligned}. */
static at_status decode_cluster_barrier(decoder *d)
{
    bool arrives = decode_has(d, "arrive");
    if (decode_count(d, 0, 0))
        return d->status;
    if (arrives == decode_has(d, "wait"))
        return decode_unknown(d);
    decode_emit(d, SIM_CLUSTER_BARRIER, SIM_CLASS_BARRIER)->op =
        (uint8_t)(!arrives                   ? SIM_CLUSTER_WAIT
                  : decode_has(d, "relaxed") ? SIM_CLUSTER_ARRIVE_RELAXED
                                             : SIM_CLUSTER_ARRIVE);
    return d->status;
}

/* Decodes bar.sync a[, n], bar.arrive a, n, bar.red.OP d, a[, n], p, and bar.warp.sync m. */
at_status decode_barrier(decoder *d)
{
    if (decode_has(d, "warp")) {
        decode_count(d, 1, 1);
        int32_t mask = decode_source(d, decode_operand(d, 0), 4, PTX_U32);
        decode_emit(d, SIM_WARP_BARRIER, SIM_CLASS_WARP)->a = mask;
        return d->status;
    }
    if (decode_has(d, "cluster"))
        return decode_cluster_barrier(d);
    bool red = decode_has(d, "red"), arrive = decode_has(d, "arrive");
    if (!red && !arrive && !decode_has(d, "sync"))
        return decode_unknown(d);
    int shift = red ? 1 : 0, count = d->statement->count - 2 * shift;
    if (decode_count(d, arrive ? 2 : 1 + 2 * shift, 2 + 2 * shift))
        return d->status;
    int32_t id = decode_source(d, decode_operand(d, shift), 4, PTX_U32);
    int32_t threads = SIM_NO_SLOT, p = SIM_NO_SLOT;
    destination to = {SIM_NO_SLOT, SIM_NO_SLOT, 0};
    if (count > 1)
        threads = decode_source(d, decode_operand(d, shift + 1), 4, PTX_U32);
    sim_barrier_op op = arrive ? SIM_BARRIER_ARRIVE : SIM_BARRIER_SYNC;
    const ptx_operand *condition = decode_operand(d, shift + count);
    if (red) {
        op = decode_has(d, "popc")  ? SIM_BARRIER_POPC
             : decode_has(d, "and") ? SIM_BARRIER_AND
                                    : SIM_BARRIER_OR;
        to = op == SIM_BARRIER_POPC ? decode_destination(d, decode_operand(d, 0), 4)
                                    : predicate_result(d, decode_operand(d, 0));
        p = decode_predicate(d, condition, false);
    }
    sim_instruction *c = decode_emit(d, SIM_BARRIER, SIM_CLASS_BARRIER);
    c->op = (uint8_t)op;
    c->a = id;
    c->b = threads;
    c->c = p;
    c->d = to.slot;
    c->width = to.width;
    c->negate_c = red && condition->negated;
    return decode_finish(d, &to, false);
}

/* Decodes shfl.sync.MODE.b32 d[|p], a, b, c, mask. */
at_status decode_shuffle(decoder *d)
{
    static const choice modes[] = {{"up", SIM_SHUFFLE_UP},
                                   {"down", SIM_SHUFFLE_DOWN},
                                   {"bfly", SIM_SHUFFLE_XOR},
                                   {"idx", SIM_SHUFFLE_INDEX},
                                   {0}};
    int op = decode_choice(d, modes, -1);
    if (op < 0 || !decode_has(d, "sync"))
        return decode_unknown(d);
    decode_count(d, 5, 5);
    int32_t p, sources[4];
    destination to = decode_destination(d, decode_pair(d, decode_operand(d, 0), &p), 4);
    for (int i = 0; i < 4; i++)
        sources[i] = decode_source(d, decode_operand(d, i + 1), 4, PTX_B32);
    sim_instruction *c = emit_warp(d, SIM_SHUFFLE, op, &to, sources[3]);
    c->d2 = p;
    c->a = sources[0];
    c->b = sources[1];
    c->c = sources[2];
    return decode_finish(d, &to, false);
}

/* Decodes vote.sync.{all,any,uni}.pred p, a, mask and vote.sync.ballot.b32 d, a, mask. */
at_status decode_vote(decoder *d)
{
    static const choice modes[] = {{"ballot", SIM_VOTE_BALLOT},
                                   {"all", SIM_VOTE_ALL},
                                   {"any", SIM_VOTE_ANY},
                                   {"uni", SIM_VOTE_UNIFORM},
                                   {0}};
    int op = decode_choice(d, modes, -1);
    if (op < 0 || !decode_has(d, "sync"))
        return decode_unknown(d);
    decode_count(d, 3, 3);
    destination to = op == SIM_VOTE_BALLOT ? decode_destination(d, decode_operand(d, 0), 4)
                                           : predicate_result(d, decode_operand(d, 0));
    int32_t a = decode_predicate(d, decode_operand(d, 1), false);
    int32_t mask = decode_source(d, decode_operand(d, 2), 4, PTX_B32);
    sim_instruction *c = emit_warp(d, SIM_VOTE, op, &to, mask);
    c->a = a;
    c->negate_a = decode_operand(d, 1)->negated;
    return decode_finish(d, &to, false);
}

/* Decodes match.any.sync.b32 d, a, mask and match.all.sync.b32 d[|p], a, mask. */
at_status decode_match(decoder *d)
{
    static const choice modes[] = {{"any", SIM_MATCH_ANY}, {"all", SIM_MATCH_ALL}, {0}};
    int op = decode_choice(d, modes, -1);
    if (d->op.type_count != 1 || op < 0)
        return decode_unknown(d);
    decode_count(d, 3, 3);
    uint32_t width = type_lane_bytes(d->op.types[0]);
    int32_t p;
    destination to = decode_destination(d, decode_pair(d, decode_operand(d, 0), &p), 4);
    int32_t a = decode_source(d, decode_operand(d, 1), width, d->op.types[0]);
    int32_t mask = decode_source(d, decode_operand(d, 2), 4, PTX_B32);
    sim_instruction *c = emit_warp(d, SIM_MATCH, op, &to, mask);
    c->d2 = p;
    c->source_width = (uint8_t)width;
    c->a = a;
    return decode_finish(d, &to, false);
}

/* Decodes redux.sync.OP.type d, a, mask. */
at_status decode_reduce(decoder *d)
{
    static const choice names[] = {{"add", SIM_REDUCE_ADD},
                                   {"min", SIM_REDUCE_MIN},
                                   {"max", SIM_REDUCE_MAX},
                                   {"and", SIM_REDUCE_AND},
                                   {"or", SIM_REDUCE_OR},
                                   {"xor", SIM_REDUCE_XOR},
                                   {0}};
    int op = decode_choice(d, names, -1);
    if (op < 0 || d->op.type_count != 1 || ptx_type_bytes(d->op.types[0]) != 4 ||
        d->op.types[0] == PTX_F32)
        return decode_unknown(d);
    decode_count(d, 3, 3);
    destination to = decode_destination(d, decode_operand(d, 0), 4);
    int32_t a = decode_source(d, decode_operand(d, 1), 4, d->op.types[0]);
    int32_t mask = decode_source(d, decode_operand(d, 2), 4, PTX_B32);
    sim_instruction *c = emit_warp(d, SIM_REDUCE, op, &to, mask);
    c->type = (uint8_t)d->op.types[0];
    c->a = a;
    return decode_finish(d, &to, false);
}

at_status decode_active_mask(decoder *d)
{
    destination to = decode_destination(d, decode_operand(d, 0), 4);
    emit_warp(d, SIM_ACTIVE_MASK, 0, &to, SIM_NO_SLOT);
    return decode_finish(d, &to, false);
}

/* Decodes elect.sync d|p, mask. It elects the lowest lane of the mask. */
at_status decode_elect(decoder *d)
{
    if (decode_operand(d, 0)->kind != PTX_OPERAND_PAIR)
        return decode_fail(d, "elect.sync needs d|p");
    int32_t p;
    destination to = decode_destination(d, decode_pair(d, decode_operand(d, 0), &p), 4);
    int32_t mask = decode_source(d, decode_operand(d, 1), 4, PTX_B32);
    sim_instruction *c = emit_warp(d, SIM_REDUCE, SIM_ELECT, &to, mask);
    c->d2 = p;
    c->a = mask;
    return decode_finish(d, &to, false);
}

/* Returns a branch target for patch_branches(): -1 minus the number of the target's statement. */
static int32_t target_of(decoder *d, int label)
{
    const ptx_label *l = &d->module->labels[label];
    if (l->statement == PTX_NONE)
        decode_fail(d, "%.*s is not a label to branch to",
                    (int)(l->name.length > 60 ? 60 : l->name.length), l->name.at);
    return -(l->statement - d->frame->function->first_statement) - 1;
}

at_status decode_branch(decoder *d)
{
    if (decode_operand(d, 0)->kind != PTX_OPERAND_LABEL)
        return decode_fail(d, "the target of the branch must be a label");
    int32_t target = target_of(d, decode_operand(d, 0)->index);
    decode_emit(d, SIM_BRANCH, SIM_CLASS_CONTROL)->target = target;
    return d->status;
}

/* Decodes brx.idx index, table. */
at_status decode_branch_indexed(decoder *d)
{
    const ptx_operand *o = decode_operand(d, 1);
    const ptx_label *table = o->kind == PTX_OPERAND_LABEL ? &d->module->labels[o->index] : NULL;
    if (!table || table->count == 0)
        return decode_fail(d, "brx.idx needs a table of branch targets (.branchtargets)");
    int32_t index = decode_source(d, decode_operand(d, 0), 4, PTX_U32);
    int32_t first = (int32_t)d->program->list_count;
    for (int i = 0; i < table->count && !d->status; i++)
        decode_list(d, target_of(d, d->module->operands[table->first + i].index));
    sim_instruction *c = decode_emit(d, SIM_BRANCH_INDEXED, SIM_CLASS_CONTROL);
    c->a = index;
    c->target = first;
    c->target_count = table->count;
    return d->status;
}

at_status decode_exit(decoder *d)
{
    decode_emit(d, SIM_EXIT, SIM_CLASS_CONTROL);
    return d->status;
}

at_status decode_trap(decoder *d)
{
    decode_emit(d, SIM_TRAP, SIM_CLASS_CONTROL);
    return d->status;
}

/* Decodes a return. In an inlined callee, it is a branch to the end of the callee's code. */
at_status decode_return(decoder *d)
{
    if (d->frame->function->is_entry)
        return decode_exit(d);
    decode_emit(d, SIM_BRANCH, SIM_CLASS_CONTROL)->target =
        -d->frame->function->statement_count - 1;
    return d->status;
}

/* Decodes mapa{.shared::cluster}.type d, a, block and getctarank{.shared::cluster}.type d, a. The
 * type is that of address a. Without .shared::cluster, addresses are generic. */
static at_status decode_map(decoder *d, sim_cluster_op op)
{
    if (d->op.type_count != 1 || (d->op.types[0] != PTX_U32 && d->op.types[0] != PTX_U64))
        return decode_unknown(d);
    uint32_t width = type_lane_bytes(d->op.types[0]);
    int32_t a = decode_source(d, decode_operand(d, 1), width, d->op.types[0]), b = SIM_NO_SLOT;
    if (op == SIM_CLUSTER_ADDRESS)
        b = decode_source(d, decode_operand(d, 2), 4, PTX_U32);
    destination to =
        decode_destination(d, decode_operand(d, 0), op == SIM_CLUSTER_ADDRESS ? width : 4);
    sim_instruction *c = decode_emit(d, SIM_CLUSTER_MAP, SIM_CLASS_INTEGER);
    c->op = (uint8_t)op;
    c->space = (uint8_t)decode_space(d);
    c->width = to.width;
    c->source_width = (uint8_t)width;
    c->d = to.slot;
    c->a = a;
    c->b = b;
    return decode_finish(d, &to, false);
}

at_status decode_mapa(decoder *d)
{
    return decode_map(d, SIM_CLUSTER_ADDRESS);
}

at_status decode_rank(decoder *d)
{
    return decode_map(d, SIM_CLUSTER_RANK);
}
