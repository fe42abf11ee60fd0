#include "sim/pipes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/program/warpgroup.h"

/* An instruction of machine code has 128 bits since sm_70: CUDA Binary Utilities, "Instruction Set
 * Reference". */
enum { INSTRUCTION_BYTES = 16 };

/* Machine instructions for one of PTX. `wide`: for operands of 64 bits. The first row whose opcode
 * begins so counts. */
static const struct expansion {
    const char *opcode;
    uint8_t pipe;
    float narrow, wide;
} expansions[] = {
    {"mov", SIM_PIPE_INTEGER, 0, 0},         {"cvta", SIM_PIPE_INTEGER, 0, 0},
    {"mapa", SIM_PIPE_INTEGER, 1, 1},        {"ld.param", SIM_PIPE_OTHER, 1, 1},
    {"ld.const", SIM_PIPE_INTEGER, 0, 0},    {"ld", SIM_PIPE_MEMORY, 1, 1},
    {"st", SIM_PIPE_MEMORY, 1, 1},           {"atom", SIM_PIPE_MEMORY, 1, 1},
    {"red.", SIM_PIPE_MEMORY, 1, 1},         {"redux", SIM_PIPE_SPECIAL, 1, 1},
    {"cp.async", SIM_PIPE_MEMORY, 1, 1},     {"prefetch", SIM_PIPE_MEMORY, 1, 1},
    {"shfl", SIM_PIPE_MEMORY, 1, 1},         {"ldmatrix", SIM_PIPE_MEMORY, 1, 1},
    {"stmatrix", SIM_PIPE_MEMORY, 1, 1},     {"mma", SIM_PIPE_MATRIX, 1, 1},
    {"wgmma.mma", SIM_PIPE_MATRIX, 1, 1},    {"wgmma", SIM_PIPE_OTHER, 1, 1},
    {"wmma", SIM_PIPE_MATRIX, 2, 2},         {"div.full.f32", SIM_PIPE_FLOAT, 4, 4},
    {"div.approx", SIM_PIPE_FLOAT, 2, 2},    {"div.rn.f32", SIM_PIPE_FLOAT, 10, 10},
    {"div.rn.f64", SIM_PIPE_DOUBLE, 12, 12}, {"div", SIM_PIPE_INTEGER, 18, 70},
    {"rem", SIM_PIPE_INTEGER, 20, 70},       {"sqrt.rn.f64", SIM_PIPE_DOUBLE, 12, 12},
    {"rcp.rn.f64", SIM_PIPE_DOUBLE, 9, 9},   {"sqrt.rn", SIM_PIPE_FLOAT, 8, 8},
    {"rcp.rn", SIM_PIPE_FLOAT, 6, 6},        {"sqrt", SIM_PIPE_SPECIAL, 2, 2},
    {"rcp", SIM_PIPE_SPECIAL, 1, 1},         {"rsqrt", SIM_PIPE_SPECIAL, 1, 1},
    {"sin", SIM_PIPE_SPECIAL, 2, 2},         {"cos", SIM_PIPE_SPECIAL, 2, 2},
    {"ex2", SIM_PIPE_SPECIAL, 2, 2},         {"lg2", SIM_PIPE_SPECIAL, 2, 2},
    {"tanh", SIM_PIPE_SPECIAL, 1, 1},        {"popc", SIM_PIPE_SPECIAL, 1, 3},
    {"clz", SIM_PIPE_SPECIAL, 1, 3},         {"bfind", SIM_PIPE_SPECIAL, 1, 3},
    {"brev", SIM_PIPE_SPECIAL, 1, 2},        {"mul.wide", SIM_PIPE_PRODUCT, 1, 1},
    {"mad.wide", SIM_PIPE_PRODUCT, 1, 1}, /* Two are often one, with three operands. */
    {"and", SIM_PIPE_INTEGER, 0.6f, 1.2f},   {"or", SIM_PIPE_INTEGER, 0.6f, 1.2f},
    {"xor", SIM_PIPE_INTEGER, 0.6f, 1.2f},   {"bra", SIM_PIPE_OTHER, 1, 1},
    {"bar", SIM_PIPE_BARRIER, 1, 1},         {"mbarrier", SIM_PIPE_MEMORY, 1, 1},
    {"call", SIM_PIPE_OTHER, 1, 1},          {"ret", SIM_PIPE_OTHER, 1, 1},
    {"exit", SIM_PIPE_OTHER, 1, 1},          {"vote", SIM_PIPE_OTHER, 1, 1},
    {"activemask", SIM_PIPE_OTHER, 1, 1},    {"membar", SIM_PIPE_OTHER, 1, 1},
    {"fence", SIM_PIPE_OTHER, 1, 1},         {"match", SIM_PIPE_OTHER, 4, 4},
    {"nanosleep", SIM_PIPE_OTHER, 1, 1},
};

static bool ends(ptx_text text, const char *with)
{
    const size_t n = strlen(with);
    return text.length >= n && memcmp(text.at + text.length - n, with, n) == 0;
}

static bool holds(ptx_text text, const char *part)
{
    const size_t n = strlen(part);
    for (size_t i = 0; i + n <= text.length; i++)
        if (memcmp(text.at + i, part, n) == 0)
            return true;
    return false;
}

static bool is_wide(ptx_text text)
{
    return ends(text, ".s64") || ends(text, ".u64") || ends(text, ".b64");
}

/* A conversion between integers keeps or fills the upper half. */
static struct expansion conversion(ptx_text text)
{
    const bool floats = holds(text, ".f");
    if (floats && (holds(text, "64") || holds(text, ".f16")))
        return (struct expansion){"cvt", SIM_PIPE_SPECIAL, 1, 1};
    if (floats)
        return (struct expansion){"cvt", SIM_PIPE_INTEGER, 1, 1};
    if (ptx_text_begins(text, "cvt.s64.s"))
        return (struct expansion){"cvt", SIM_PIPE_INTEGER, 1, 1};
    return (struct expansion){"cvt", SIM_PIPE_INTEGER, 0, 0};
}

static struct expansion expand(ptx_text text)
{
    for (size_t i = 0; i < sizeof expansions / sizeof *expansions; i++)
        if (ptx_text_begins(text, expansions[i].opcode))
            return expansions[i];
    if (ptx_text_begins(text, "cvt"))
        return conversion(text);
    if (ends(text, ".f64"))
        return (struct expansion){"", SIM_PIPE_DOUBLE, 1, 1};
    const bool multiplies = ptx_text_begins(text, "mul") || ptx_text_begins(text, "mad") ||
                            ptx_text_begins(text, "fma");
    const bool adds = ptx_text_begins(text, "add") || ptx_text_begins(text, "sub");
    if ((multiplies || adds) && (holds(text, ".f") || holds(text, ".bf")))
        return (struct expansion){"", SIM_PIPE_FLOAT, 1, 1};
    if (multiplies)
        return (struct expansion){"", SIM_PIPE_PRODUCT, 1, 4};
    return (struct expansion){"", SIM_PIPE_INTEGER, 1, 2};
}

/* Tells how many copies of each statement's block ptxas made when it unrolled the loop, by place in
 * the code: each is executed that many times less often than the statement is. What it neither adds
 * nor removes tells, else the branch at the block's end. Owned by the caller. */
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

static void add_noted(const ptx_statement *s, double n, sim_issue *out)
{
    const ptx_note *note = &s->note;
    const sim_pipe pipe = expand(s->opcode).pipe;
    const double parts[] = {note->common,   note->integers, note->products,
                            note->specials, note->locals,   note->others};
    const sim_pipe pipes[] = {pipe == SIM_PIPE_INTEGER || pipe == SIM_PIPE_PRODUCT ||
                                      pipe == SIM_PIPE_SPECIAL || pipe == SIM_PIPE_OTHER
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

static void add_expanded(const ptx_statement *s, double issued, sim_issue *out)
{
    const ptx_text text = s->opcode;
    const struct expansion e = expand(text);
    const double each = is_wide(text) ? e.wide : e.narrow, n = each * issued;
    out->total += n;
    out->code_bytes += each * INSTRUCTION_BYTES;
    /* ptxas has products of one add and shift where the other pipe is busy: about every fourth
     * time. */
    if (e.pipe == SIM_PIPE_INTEGER &&
        (ptx_text_begins(text, "add") || ptx_text_begins(text, "sub") ||
         ptx_text_begins(text, "shl"))) {
        out->pipes[SIM_PIPE_INTEGER] += 0.75 * n;
        out->pipes[SIM_PIPE_PRODUCT] += 0.25 * n;
    } else {
        out->pipes[e.pipe] += n;
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
            add_noted(s, n / copies[i], out);
        else
            add_expanded(s, n, out);
        /* It is issued once and does the work of n / 8 times mma.m16n8: as many clocks of an SM's
         * tensor cores for 64 rows (sim/machine/trace.c has the source). */
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
    const bool is_large = minor == 0 || (major == 10 && minor == 3); /* a chip of data centres */
    out[SIM_PIPE_FLOAT] = major == 7 || (major == 8 && minor == 0) ? 2 : 4;
    out[SIM_PIPE_INTEGER] = 2;
    out[SIM_PIPE_PRODUCT] = 2;
    out[SIM_PIPE_DOUBLE] = is_large ? (major == 8 ? 1 : 2) : 1.0 / 16;
    out[SIM_PIPE_SPECIAL] = 0.5;
    out[SIM_PIPE_MEMORY] = 1;
    out[SIM_PIPE_MATRIX] = 1;
    /* An SM full of warps that do nothing but meet takes 138 clocks for its 64 on an H200, in
     * blocks of any size (tests/bench/microbenchmarks.cu). No source for the others. */
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
