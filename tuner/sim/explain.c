#include "sim/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* Below these a line is not worth a sentence. */
static const double good_efficiency = 0.95, good_conflicts = 1.05;

void explanation_deinit(explanation *e)
{
    free(e->lines);
    *e = (explanation){0};
}

double explain_sector_efficiency(const sim_counter *c)
{
    return c->sectors ? (double)c->bytes / ((double)c->sectors * SIM_SECTOR_BYTES) : 1.0;
}

static explain_line *line_for(explanation *e, int line)
{
    for (size_t i = 0; i < e->line_count; i++)
        if (e->lines[i].line == line)
            return &e->lines[i];
    e->lines[e->line_count] = (explain_line){.line = line};
    return &e->lines[e->line_count++];
}

static int compare_lines(const void *a, const void *b)
{
    return ((const explain_line *)a)->line - ((const explain_line *)b)->line;
}

static void note_access(explain_access *a, const sim_instruction *i)
{
    a->loads |= i->kind == SIM_LOAD || i->kind == SIM_COPY_ASYNC;
    a->stores |= i->kind == SIM_STORE;
    a->atomics |= i->kind == SIM_ATOMIC;
}

static void add_instruction(explanation *e, const ptx_module *m, const sim_instruction *i,
                            const sim_counter *c)
{
    ptx_text file;
    int line;
    ptx_source_line(m, i->location, &file, &line);
    explain_line *l = line_for(e, line);
    sim_counter global = *c, shared = *c;
    global.shared_requests = global.wavefronts = global.ideal = global.conflicts = 0;
    shared.requests = shared.sectors = shared.bytes = 0;
    if (i->space == PTX_SPACE_LOCAL) {
        sim_counter_sum(&l->local, &global);
    } else if (c->requests > 0) {
        sim_counter_sum(&l->global, &global);
        note_access(&l->global_access, i);
    }
    if (c->shared_requests > 0) {
        sim_counter_sum(&l->shared, &shared);
        note_access(&l->shared_access, i);
    }
}

static void say(explanation *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(explanation *e, const char *format, ...)
{
    if (e->sentence_count == EXPLAIN_SENTENCES)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e->sentences[e->sentence_count++], EXPLAIN_SENTENCE_BYTES, format, arguments);
    va_end(arguments);
}

static const char *verb(const explain_access *a)
{
    return a->atomics ? "updates"
           : a->loads && a->stores ? "reads and writes" : a->stores ? "writes" : "reads";
}

static void judge_lines(explanation *e)
{
    size_t before = e->sentence_count;
    for (size_t i = 0; i < e->line_count; i++) {
        const explain_line *l = &e->lines[i];
        double efficiency = explain_sector_efficiency(&l->global);
        if (l->global.requests > 0 && efficiency < good_efficiency) {
            double per = (double)l->global.sectors / (double)l->global.requests;
            say(e, "Line %d wastes sectors: it %s global memory with %.1f sectors a request where "
                   "%.1f would do, %.1f times the ideal; %.1f of the 32 bytes of a sector are used.",
                l->line, verb(&l->global_access), per, per * efficiency, 1 / efficiency, 32 * efficiency);
        }
        double ways = l->shared.ideal ? (double)l->shared.wavefronts / (double)l->shared.ideal : 1;
        if (ways > good_conflicts)
            say(e, "Line %d conflicts: it %s shared memory with %.1f wavefronts where 1 would do "
                   "(%llu conflicts).",
                l->line, verb(&l->shared_access), ways, (unsigned long long)l->shared.conflicts);
        if (l->local.requests > 0)
            say(e, "Line %d uses local memory: registers are indexed at run time or do not suffice.",
                l->line);
    }
    if (e->sentence_count == before)
        say(e, "Every line moves whole sectors and no access to shared memory conflicts.");
}

static void judge_rest(explanation *e, const sim_estimated *s, const sim_chip *chip)
{
    const sim_prediction *p = &s->prediction;
    char flight[UNITS_BYTES], needed[UNITS_BYTES];
    if (p->occupancy.limit == OCCUPANCY_IMPOSSIBLE) {
        say(e, "It does not fit on an SM.");
        return;
    }
    say(e, "Occupancy: %d blocks of %llu threads an SM, %.0f %% of its warps, limited by %s.",
        p->occupancy.blocks_per_sm, (unsigned long long)s->profile.threads,
        100 * p->occupancy.fraction, occupancy_limit_name(p->occupancy.limit));
    say(e, "Bytes in flight: about %s an SM; keeping the memory of %s busy takes %s.",
        units_size((uint64_t)p->flight_bytes, flight), chip->arch,
        units_size((uint64_t)p->needed_bytes, needed));
    if (p->waves < 1)
        say(e, "The grid fills %.0f %% of the chip once: a larger problem would show more.",
            100 * p->waves);
    say(e, "What takes longest, by prediction: %s.", p->limit);
}

at_status explain_variant(const sim_estimated *s, const sim_chip *chip, explanation *out,
                          at_error *error)
{
    const sim_program *p = s->kernel.program;
    *out = (explanation){0};
    out->lines = calloc(p->code_count + 1, sizeof *out->lines);
    if (!out->lines)
        return error_set(error, AT_NO_MEMORY, "no memory to explain a kernel");
    out->scale = s->profile.sampled ? (double)s->profile.blocks / (double)s->profile.sampled : 1;
    for (size_t i = 0; i < p->code_count; i++)
        if (s->counters[i].requests > 0 || s->counters[i].shared_requests > 0)
            add_instruction(out, s->kernel.module, &p->code[i], &s->counters[i]);
    qsort(out->lines, out->line_count, sizeof *out->lines, compare_lines);
    judge_lines(out);
    judge_rest(out, s, chip);
    return AT_OK;
}
