#include "interpret.h"

#include <string.h>

#include "evaluate.h"

void interpret_known(const random_program *p, const differences *known,
                     const difference *of[PROGRAM_STEPS])
{
    for (int i = 0; i < PROGRAM_STEPS; i++)
        of[i] = differences_find(known, p->steps[i].form ? p->steps[i].form->name : "");
}

/* Returns whether a float value, or one of its halves, is NaN. Returns false for other kinds. */
static bool has_nan(char kind, uint64_t bits)
{
    switch (kind) {
    case 'g':
        return (bits & INT64_MAX) > 0x7ff0000000000000;
    case 'f':
        return (bits & INT32_MAX) > 0x7f800000;
    case 'F':
        return (bits & 0x7fff) > 0x7c00 || (bits >> 16 & 0x7fff) > 0x7c00;
    case 'G':
        return (bits & 0x7fff) > 0x7f80 || (bits >> 16 & 0x7fff) > 0x7f80;
    case 'H':
        return (bits & 0x7fff) > 0x7c00;
    case 'B':
        return (bits & 0x7fff) > 0x7f80;
    default:
        return false;
    }
}

bool interpret(const random_program *p, const difference *const of[PROGRAM_STEPS],
               const uint64_t inputs[PROGRAM_INPUTS], interpretation *out)
{
    uint64_t *registers = out->registers;
    bool *open = out->open;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < PROGRAM_REGISTERS; i++)
        registers[i] = random_program_register(i, inputs[i]);
    for (int i = 0; i < PROGRAM_STEPS; i++) {
        const program_step *s = &p->steps[i];
        uint64_t sources[FORM_SOURCES] = {0}, result;
        if (!s->form) {
            registers[s->result] =
                random_program_register(s->result, inputs[PROGRAM_REGISTERS + s->fresh]);
            open[s->result] = false;
            continue;
        }
        bool result_open = false;
        for (int k = 0; s->form->sources[k]; k++) {
            int number = s->sources[k].number;
            sources[k] = number < 0 ? s->sources[k].bits : registers[number];
            result_open = result_open || (number >= 0 && open[number]);
        }
        if (!evaluate(s->form, sources, &result))
            return false;
        result_open = result_open || of[i]->among == AMONG_ALWAYS ||
                      (of[i]->among == AMONG_NAN && has_nan(s->form->result, result));
        if (s->guard >= 0 && open[s->guard]) {
            open[s->result] = true;
            result_open = true;
        }
        if (s->guard < 0 || (registers[s->guard] != 0) != s->guard_negated) {
            registers[s->result] = result;
            open[s->result] = result_open;
        }
    }
    return true;
}
