#include <string.h>

#include "sim/program/operations.h"

/* The first beginning of the name that fits decides. */
static const struct {
    const char *begin;
    sim_flow flow;
} flows[] = {
    {"mov.", SIM_FLOW_MOVES_ONE},    {"field.", SIM_FLOW_MOVES_ONE},
    {"narrow", SIM_FLOW_MOVES_ONE},  {"extend.", SIM_FLOW_MOVES_ONE},
    {"shl.", SIM_FLOW_MOVES_ONE},    {"shr.", SIM_FLOW_MOVES_ONE},
    {"brev.", SIM_FLOW_MOVES_ONE},   {"bfe.", SIM_FLOW_MOVES_ONE},
    {"shf.", SIM_FLOW_MOVES_TWO},    {"prmt.", SIM_FLOW_MOVES_TWO},
    {"bfi.", SIM_FLOW_MOVES_TWO},    {"pack.", SIM_FLOW_MOVES_FOUR},
    {"and.", SIM_FLOW_AND},          {"or.", SIM_FLOW_OR},
    {"not.", SIM_FLOW_BITWISE},      {"lop3.", SIM_FLOW_BITWISE},
    {"xor.", SIM_FLOW_EXCLUSIVE},    {"sub.u", SIM_FLOW_DIFFERENCE},
    {"sub.s", SIM_FLOW_DIFFERENCE},  {"mul.lo.", SIM_FLOW_PRODUCT},
    {"mul.wide.", SIM_FLOW_PRODUCT},
};

sim_flow sim_operation_flow(const sim_operation *op)
{
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
        if (strncmp(op->name, flows[i].begin, strlen(flows[i].begin)) == 0)
            return flows[i].flow;
    /* Packed pairs: each half of the result from those of the operands. */
    const char *pair = strstr(op->name, "16x2");
    bool alike = pair && strncmp(op->name, "cvt", 3) != 0 && op->width == 4;
    for (int i = 0; i < op->sources; i++)
        alike = alike && op->widths[i] == 4;
    return alike ? SIM_FLOW_HALVES : SIM_FLOW_MIXES;
}
