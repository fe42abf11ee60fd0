/* PTX ISA, shfl.sync: the control word holds a clamp (bits 0-4) and a segment mask (8-12). */
#include "sim/machine/shuffle.h"

int sim_shuffle_source(const sim_instruction *c, uint32_t b, uint32_t control, int lane,
                       bool *inside)
{
    int n = (int)(b & 31), clamp = (int)(control & 31), segment = (int)(control >> 8 & 31);
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
