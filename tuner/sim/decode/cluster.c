/* Decodes what the blocks of a cluster do together. PTX ISA, "barrier.cluster", "mapa" and
 * "getctarank". */
#include "sim/decode/decoder.h"

/* barrier.cluster.arrive{.release, .relaxed}{.aligned}; barrier.cluster.wait{.acquire}{.aligned} */
at_status decode_cluster_barrier(decoder *d)
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

/* mapa{.shared::cluster}.type d, a, block; getctarank{.shared::cluster}.type d, a. The type is that
 * of a; without the space the addresses are generic. */
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
