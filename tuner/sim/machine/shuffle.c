#include "sim/machine/machine.h"

/* PTX ISA, shfl.sync: the control word holds a clamp (bits 0-4) and a segment mask (8-12). */
int sim_shuffle_source(const sim_warp *w, const sim_instruction *c, int lane, bool *inside)
{
    uint32_t control = sim_lanes32(w, c->c)[lane];
    int n = (int)(sim_lanes32(w, c->b)[lane] & 31), clamp = (int)(control & 31),
        segment = (int)(control >> 8 & 31);
    int first = lane & segment, last = first | (clamp & ~segment), from;
    switch (c->op) {
    case SIM_SHUFFLE_UP:
        from = lane - n;
        break;
    case SIM_SHUFFLE_DOWN:
        from = lane + n;
        break;
    case SIM_SHUFFLE_XOR:
        from = lane ^ n;
        break;
    default:
        from = first | (n & ~segment);
        break;
    }
    *inside = c->op == SIM_SHUFFLE_UP ? from >= last : from <= last;
    return (*inside ? from : lane) & 31;
}
