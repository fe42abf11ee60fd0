#include "sim/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* A line gets a sentence if its sectors or wavefronts exceed the fewest possible by this factor. */
static const double good_ratio = 1.05;

void explanation_deinit(explanation *e)
{
    free(e->lines);
    *e = (explanation){0};
}

const char *explain_kind_name(explain_kind kind)
{
    static const char *const names[] = {
        [EXPLAIN_LOAD] = "load", [EXPLAIN_STORE] = "store", [EXPLAIN_ATOMIC] = "atomic"};
    return names[kind];
}

/* Returns requested bytes divided by moved bytes; 1 is best. Returns 1 if nothing was moved. */
static double sector_efficiency(const sim_counter *c)
{
    return c->sectors ? (double)c->bytes / ((double)c->sectors * SIM_SECTOR_BYTES) : 1.0;
}

static explain_line *line_for(explanation *e, ptx_text file, int line)
{
    for (size_t i = 0; i < e->line_count; i++)
        if (e->lines[i].line == line && ptx_text_compare(e->lines[i].file, file) == 0)
            return &e->lines[i];
    e->lines[e->line_count] = (explain_line){.file = file, .line = line};
    return &e->lines[e->line_count++];
}

static int compare_lines(const void *a, const void *b)
{
    const explain_line *of[] = {a, b};
    const int order = ptx_text_compare(of[0]->file, of[1]->file);
    return order ? order : of[0]->line - of[1]->line;
}

static explain_kind kind_of(const sim_instruction *i)
{
    return i->kind == SIM_STORE    ? EXPLAIN_STORE
           : i->kind == SIM_ATOMIC ? EXPLAIN_ATOMIC
                                   : EXPLAIN_LOAD;
}

static void add_instruction(explanation *e, const ptx_module *m, const explain_source *source,
                            const sim_instruction *i, const sim_counter *c)
{
    ptx_text file;
    int line;
    ptx_source_line(m, i->location, &file, &line);
    if (ptx_text_is(file, source->name) || line == 0)
        file.length = 0;
    else if (ptx_is_header(file)) {
        file.length = 0;
        line = 0;
    }
    explain_line *l = line_for(e, file, line);
    sim_counter_sum(i->space == PTX_SPACE_LOCAL ? &l->local : &l->kinds[kind_of(i)], c);
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

/* Writes the name of a line: "Line 34 (transpose_tile.tmpl:31)", or "Line 31" if the listing has
 * the line numbers of that file. */
static const char *name_line(const explain_source *s, const explain_line *l, char *text,
                             size_t text_bytes)
{
    const int line = l->line;
    const char *place =
        s->places && line > 0 && (size_t)line <= s->place_count ? s->places[line - 1] : NULL;
    if (!explain_line_is_own(l)) {
        snprintf(text, text_bytes, "Line %d of %.*s", line, (int)l->file.length, l->file.at);
    } else if (line == 0) {
        snprintf(text, text_bytes, "Code of a header");
    } else if (place && s->listed) {
        const char *number = strrchr(place, ':') + 1;
        const size_t length = (size_t)(number - 1 - place);
        const bool is_listed = length == strlen(s->listed) && !memcmp(place, s->listed, length);
        snprintf(text, text_bytes, "Line %s%s%.*s", number, is_listed ? "" : " of ",
                 is_listed ? 0 : (int)length, place);
    } else if (place) {
        snprintf(text, text_bytes, "Line %d (%s)", line, place);
    } else {
        snprintf(text, text_bytes, "Line %d", line);
    }
    return text;
}

static double per(uint64_t count, uint64_t requests)
{
    return (double)count / (double)requests;
}

static void describe_access(explanation *e, const char *line, explain_kind kind,
                            const sim_counter *c)
{
    static const char *const verbs[] = {
        [EXPLAIN_LOAD] = "reads", [EXPLAIN_STORE] = "writes", [EXPLAIN_ATOMIC] = "updates"};
    if (c->requests > 0 && per(c->sectors, c->fewest) > good_ratio)
        say(e,
            "%s wastes sectors: it %s global memory with %.1f sectors a request where %.1f would "
            "do, "
            "%.1f times the ideal; %.1f of the 32 bytes of a sector are used.",
            line, verbs[kind], per(c->sectors, c->requests), per(c->fewest, c->requests),
            per(c->sectors, c->fewest), SIM_SECTOR_BYTES * sector_efficiency(c));
    if (c->requests > 0 && per(c->turns, c->requests) > good_ratio - 1)
        say(e,
            "%s queues up: of a warp's atomics on global memory %.1f lanes hit one address and "
            "run one after the other.",
            line, 1 + per(c->turns, c->requests));
    if (c->shared_requests > 0 && per(c->wavefronts, c->ideal) > good_ratio)
        say(e,
            "%s conflicts: it %s shared memory with %.1f wavefronts a request where %.1f would do.",
            line, verbs[kind], per(c->wavefronts, c->shared_requests),
            per(c->ideal, c->shared_requests));
    if (c->constant_requests > 0 && per(c->constant_passes, c->constant_requests) > good_ratio)
        say(e,
            "%s reads constant memory at different addresses: %.1f passes a request, because the "
            "constant cache serves one address at a time.",
            line, per(c->constant_passes, c->constant_requests));
}

/* Writes the sentences about lines. Returns true if no line wastes anything. */
static bool describe_lines(explanation *e, const explain_source *source)
{
    size_t before = e->sentence_count;
    for (size_t i = 0; i < e->line_count; i++) {
        const explain_line *l = &e->lines[i];
        char text[256];
        const char *name = name_line(source, l, text, sizeof text);
        for (int k = 0; k < EXPLAIN_KIND_COUNT; k++)
            describe_access(e, name, (explain_kind)k, &l->kinds[k]);
        if (l->local.requests > 0)
            say(e,
                "%s uses local memory: an array is indexed at run time, or registers do not "
                "suffice.",
                name);
    }
    const bool wasteless = e->sentence_count == before;
    if (wasteless)
        say(e, "Every line moves whole sectors and no access to shared memory conflicts.");
    return wasteless;
}

/* Writes the sentences about the prediction: "The bottleneck, by prediction: latency, 118 us (DRAM
 * 61 us): ...". The list in parentheses has the other terms of at least half its time. */
static void describe_terms(explanation *e, const sim_prediction *p, bool wasteless)
{
    char told[256] = "", time[UNITS_BYTES];
    for (int i = 0; i < SIM_TERM_COUNT; i++)
        if (i != (int)p->limit && p->terms_ns[i] >= p->terms_ns[p->limit] / 2)
            text_add(told, sizeof told, "%s%s %s", *told ? ", " : " (", sim_term_name((sim_term)i),
                     units_time((int64_t)p->terms_ns[i], time));
    char low[UNITS_BYTES], high[UNITS_BYTES];
    say(e, "Predicted: %s, in nine of ten cases between %s and %s.",
        units_time((int64_t)p->time_ns, time), units_time((int64_t)p->low_ns, low),
        units_time((int64_t)p->high_ns, high));
    say(e, "The bottleneck, by prediction: %s, %s%s%s: %s.", sim_term_name(p->limit),
        units_time((int64_t)p->terms_ns[p->limit], time), told, *told ? ")" : "",
        wasteless && p->limit == SIM_TERM_DRAM ? "only moving fewer bytes would help"
                                               : sim_term_advice(p->limit));
    if (p->limit == SIM_TERM_ISSUE && p->busiest != SIM_PIPE_OTHER)
        say(e, "The busiest pipe executes %s.", sim_pipe_name(p->busiest));
}

static void describe_launch(explanation *e, const sim_estimated *s, const sim_chip *chip,
                            bool wasteless)
{
    const sim_prediction *p = &s->prediction;
    char flight[UNITS_BYTES], needed[UNITS_BYTES];
    if (p->occupancy.limit == OCCUPANCY_IMPOSSIBLE) {
        say(e, "A block of the kernel does not fit on an SM.");
        return;
    }
    const bool full = p->occupancy.fraction > 0.999;
    say(e, "Occupancy: %d blocks of %llu threads an SM, %.0f %% of its warps%s%s.",
        p->occupancy.blocks_per_sm, (unsigned long long)s->profile.threads,
        100 * p->occupancy.fraction, full ? "" : ", limited by ",
        full ? "" : occupancy_limit_name(p->occupancy.limit));
    say(e, "Bytes in flight: about %s an SM; the memory of %s needs %s to be busy.",
        units_size((uint64_t)p->flight_bytes, flight), chip->name,
        units_size((uint64_t)p->needed_bytes, needed));
    if (p->waves < 1)
        say(e, "The grid fills only %.0f %% of the chip: a larger problem would show more.",
            100 * p->waves);
    describe_terms(e, p, wasteless);
}

void explain_variant(const sim_estimated *s, const sim_chip *chip, const explain_source *source,
                     explanation *out)
{
    const sim_program *p = s->kernel.programs[s->launch];
    *out = (explanation){.scale = 1};
    if (s->fault.kind != SIM_FAULT_NONE) {
        say(out, "%s: %s.",
            s->fault.kind == SIM_FAULT_UNKNOWN ? "It was not run to its end" : "It is wrong",
            s->fault.message);
        return;
    }
    out->lines = memory_new(p->code_count + 1, sizeof *out->lines);
    if (s->profile.sampled)
        out->scale = (double)s->profile.blocks / (double)s->profile.sampled;
    for (size_t i = 0; i < p->code_count; i++) {
        const sim_counter *c = &s->counters[i];
        if (p->code[i].space == PTX_SPACE_LOCAL && s->profile.issue.locals == 0)
            continue; /* ptxas keeps the variable in registers */
        if (c->requests > 0 || c->shared_requests > 0 || c->constant_requests > 0)
            add_instruction(out, s->kernel.module, source, &p->code[i], c);
    }
    qsort(out->lines, out->line_count, sizeof *out->lines, compare_lines);
    const bool wasteless = describe_lines(out, source);
    out->of_lines = out->sentence_count;
    describe_launch(out, s, chip, wasteless);
}
