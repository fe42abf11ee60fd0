#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "sim/profile.h"
#include "sim/program/warpgroup.h"

/* size of an instruction from sm_70 on (CUDA Binary Utilities, "Instruction Set Reference") */
enum { INSTRUCTION_BYTES = 16 };

/* Returns for each instruction how many copies ptxas made of its basic block when ptxas unrolled a
 * loop. Each of n copies runs 1/n as often as the statement. The number comes from the notes of
 * instructions that ptxas neither adds nor removes, or from the branch at the block's end. The
 * caller frees the result. */
static double *find_copies(const sim_program *p)
{
    double *copies = memory_new(p->code_count, sizeof *copies);
    bool *targets = memory_new(p->code_count + 1, sizeof *targets);
    for (size_t i = 0; i < p->code_count; i++)
        if (p->code[i].kind == SIM_BRANCH && p->code[i].target >= 0)
            targets[p->code[i].target] = true;
    for (size_t begin = 0, end; begin < p->code_count; begin = end) {
        double common = 0, last = 0;
        for (end = begin; end < p->code_count; end++) {
            const sim_instruction *c = &p->code[end];
            if (end > begin && (targets[end] || p->code[end - 1].kind == SIM_BRANCH))
                break;
            if (c->extra || c->statement == PTX_NONE)
                continue;
            const ptx_note *note = &p->module->statements[c->statement].note;
            if (note->common > 0 && (common == 0 || note->common < common))
                common = note->common;
            last = c->kind == SIM_BRANCH ? note->others : 0;
        }
        for (size_t i = begin; i < end; i++)
            copies[i] = fmax(common > 0 ? common : last, 1);
    }
    free(targets);
    return copies;
}

static void add_noted(const ptx_note *note, const sim_cost *cost, double n, sim_issue *out)
{
    const sim_pipe pipe = (sim_pipe)cost->pipe;
    const double parts[] = {note->common,   note->integers, note->products,
                            note->specials, note->locals,   note->others};
    const sim_pipe pipes[] = {pipe == SIM_PIPE_INTEGER || pipe == SIM_PIPE_EITHER ||
                                      pipe == SIM_PIPE_PRODUCT || pipe == SIM_PIPE_SPECIAL ||
                                      pipe == SIM_PIPE_OTHER
                                  ? SIM_PIPE_FLOAT
                                  : pipe,
                              SIM_PIPE_INTEGER,
                              SIM_PIPE_PRODUCT,
                              SIM_PIPE_SPECIAL,
                              SIM_PIPE_MEMORY,
                              SIM_PIPE_OTHER};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        out->pipes[pipes[i]] += parts[i] * n;
        out->total += parts[i] * n;
        out->code_bytes += parts[i] * INSTRUCTION_BYTES;
    }
    out->locals += note->locals * n;
}

static void add_cost(const sim_cost *cost, double issued, sim_issue *out)
{
    const double n = (double)cost->instructions * issued;
    out->total += n;
    out->code_bytes += (double)cost->instructions * INSTRUCTION_BYTES;
    /* ptxas replaces about every fourth addition or shift by a product, to use both pipes. */
    if (cost->pipe == SIM_PIPE_EITHER) {
        out->pipes[SIM_PIPE_INTEGER] += 0.75 * n;
        out->pipes[SIM_PIPE_PRODUCT] += 0.25 * n;
    } else {
        out->pipes[cost->pipe] += n;
    }
}

void sim_issue_find(const sim_program *p, const sim_counter *counters, double blocks,
                    sim_issue *out)
{
    double *copies = p->module->has_notes ? find_copies(p) : NULL;
    *out = (sim_issue){.locals = copies ? 0 : -1};
    for (size_t i = 0; i < p->code_count; i++) {
        const sim_instruction *c = &p->code[i];
        if (c->extra || counters[i].issued == 0 || c->statement == PTX_NONE)
            continue;
        const ptx_statement *s = &p->module->statements[c->statement];
        const double n = (double)counters[i].issued / blocks;
        if (copies)
            add_noted(&s->note, c->cost, n / copies[i], out);
        else
            add_cost(c->cost, n, out);
        /* The product is issued once. For 64 rows, the tensor cores need as long as for n / 8
         * instructions mma.m16n8 (source: sim/machine/trace.c). */
        if (c->kind == SIM_WARPGROUP_PRODUCT)
            out->pipes[SIM_PIPE_MATRIX] +=
                n / (copies ? copies[i] : 1) * (sim_warpgroup_product_of(p, c)->part.n / 8.0 - 1);
        if (copies && c->kind == SIM_BARRIER) {
            out->pipes[SIM_PIPE_BARRIER] += n;
            out->total += n;
        }
    }
    free(copies);
}

void sim_pipe_rates(int major, int minor, double out[SIM_PIPE_COUNT])
{
    const bool is_large = minor == 0 || (major == 10 && minor == 3); /* a data centre chip */
    out[SIM_PIPE_FLOAT] = major == 7 || (major == 8 && minor == 0) ? 2 : 4;
    out[SIM_PIPE_INTEGER] = 2;
    out[SIM_PIPE_PRODUCT] = 2;
    out[SIM_PIPE_DOUBLE] = is_large ? (major == 8 ? 1 : 2) : 1.0 / 16;
    out[SIM_PIPE_SPECIAL] = 0.5;
    out[SIM_PIPE_MEMORY] = 1;
    out[SIM_PIPE_MATRIX] = 1;
    /* An SM full of warps that only execute barriers takes 138 clocks for its 64 warps on an H200,
     * for any block size (microbenchmarks.cu "barrier"). No source for other chips is known. */
    out[SIM_PIPE_BARRIER] = 64.0 / 138;
    out[SIM_PIPE_OTHER] = 4;
}

const char *sim_pipe_name(sim_pipe pipe)
{
    static const char *const names[] = {[SIM_PIPE_FLOAT] = "arithmetic on floats",
                                        [SIM_PIPE_INTEGER] =
                                            "additions, comparisons and logic of integers",
                                        [SIM_PIPE_PRODUCT] = "products of integers",
                                        [SIM_PIPE_DOUBLE] = "arithmetic on doubles",
                                        [SIM_PIPE_SPECIAL] = "special functions and conversions",
                                        [SIM_PIPE_MEMORY] = "instructions that access memory",
                                        [SIM_PIPE_MATRIX] = "products of matrices",
                                        [SIM_PIPE_BARRIER] = "barriers",
                                        [SIM_PIPE_OTHER] = "control"};
    return names[pipe];
}
