/* What one variant was found to do, for people and for programs. */
#include <string.h>

#include "base/json_text.h"
#include "base/units.h"
#include "cmd/line/terminal.h"
#include "cmd/variant/explained.h"
#include "run/setup/pattern_json.h"

enum {
    LEAST_BESIDE = 120, /* columns for counters and source side by side */
    PREDICTED_DIGITS = 6
};

static const explain_line *line_at(const explanation *e, int line)
{
    for (size_t i = 0; i < e->line_count; i++)
        if (e->lines[i].line == line && explain_line_is_own(&e->lines[i]))
            return &e->lines[i];
    return NULL;
}

/* One kind of access: global memory, else local or constant memory in the same columns; shared. */
static void print_counters(const char *kind, const sim_counter *c)
{
    char count[UNITS_BYTES];
    if (c->requests)
        printf("%11s %5.1f %5.1f", units_count(c->requests, count),
               (double)c->sectors / (double)c->requests,
               SIM_SECTOR_BYTES * explain_sector_efficiency(c));
    else if (c->constant_requests)
        printf("%11s %5.1f %5s", units_count(c->constant_requests, count),
               (double)c->constant_passes / (double)c->constant_requests, "const");
    else
        printf("%23s", "");
    if (c->shared_requests)
        printf(" %11s %5.1f %5.1f", units_count(c->shared_requests, count),
               (double)c->wavefronts / (double)c->shared_requests,
               (double)c->ideal / (double)c->shared_requests);
    else
        printf("%24s", "");
    printf(" %-6s", kind);
}

static bool is_used(const sim_counter *c)
{
    return c->requests || c->shared_requests || c->constant_requests;
}

/* A row for each kind of access of a line; the text stands in the first. */
static void print_line(const explain_line *l, int number, int length, const char *text)
{
    static const sim_counter nothing;
    bool printed = false;
    for (int k = 0; l && k <= EXPLAIN_KIND_COUNT; k++) {
        bool local = k == EXPLAIN_KIND_COUNT;
        const sim_counter *c = local ? &l->local : &l->kinds[k];
        if (!is_used(c))
            continue;
        print_counters(local ? "local" : explain_kind_name((explain_kind)k), c);
        if (printed)
            putchar('\n');
        else
            printf("  %4d  %.*s\n", number, length, text);
        printed = true;
    }
    if (printed || !text)
        return;
    print_counters("", &nothing);
    printf("  %4d  %.*s\n", number, length, text);
}

/* What all launches do at a line, which they may share; false: nothing. */
static bool line_of_all(const explained *x, int line, explain_line *sum)
{
    bool found = false;
    *sum = (explain_line){.line = line};
    for (uint32_t i = 0; i < x->launch.launch_count; i++) {
        const explain_line *one = line_at(&x->launches[i].explanation, line);
        for (int k = 0; one && k < EXPLAIN_KIND_COUNT; k++)
            sim_counter_sum(&sum->kinds[k], &one->kinds[k]);
        if (one)
            sim_counter_sum(&sum->local, &one->local);
        found = found || one;
    }
    return found;
}

/* Below its line, for a terminal that has no room beside it. */
static void print_access(const char *kind, const sim_counter *c)
{
    char count[UNITS_BYTES];
    if (c->requests)
        printf("        > global %s: %s requests, %.1f sectors each, %.1f bytes used a sector\n",
               kind, units_count(c->requests, count), (double)c->sectors / (double)c->requests,
               SIM_SECTOR_BYTES * explain_sector_efficiency(c));
    if (c->constant_requests)
        printf("        > constant: %s requests, %.1f passes each\n",
               units_count(c->constant_requests, count),
               (double)c->constant_passes / (double)c->constant_requests);
    if (c->shared_requests)
        printf("        > shared %s: %s requests, %.1f wavefronts each (ideal: %.1f)\n", kind,
               units_count(c->shared_requests, count),
               (double)c->wavefronts / (double)c->shared_requests,
               (double)c->ideal / (double)c->shared_requests);
}

static void print_narrow_line(const explain_line *l, int number, int length, const char *text)
{
    printf("%4d  %.*s\n", number, length, text);
    for (int k = 0; l && k < EXPLAIN_KIND_COUNT; k++)
        print_access(explain_kind_name((explain_kind)k), &l->kinds[k]);
    if (l)
        print_access("local", &l->local);
}

/* Line `number` of a file that the source includes. */
static const char *included_line(const explained *x, ptx_text file, int number, int *length)
{
    const char *at = "";
    for (size_t i = 0; i < x->source.includes.count; i++)
        if (ptx_text_is(file, x->source.includes.headers[i].name))
            at = x->source.includes.headers[i].text;
    for (; *at && number > 1; at += *at == '\n')
        number -= *(at += strcspn(at, "\n")) == '\n';
    *length = (int)strcspn(at, "\n");
    return at;
}

/* The lines of included files that do something, below the name of each. */
static void print_included(const explained *x,
                           void (*print)(const explain_line *, int, int, const char *))
{
    for (uint32_t i = 0; i < x->launch.launch_count; i++) {
        const explanation *e = &x->launches[i].explanation;
        ptx_text file = {0};
        for (size_t k = 0; k < e->line_count; k++) {
            const explain_line *l = &e->lines[k];
            if (explain_line_is_own(l))
                continue;
            if (file.at != l->file.at)
                printf("\n%.*s\n", (int)l->file.length, l->file.at);
            file = l->file;
            int length;
            const char *text = included_line(x, file, l->line, &length);
            print(l, l->line, length, text);
        }
    }
}

static void print_source(const explained *x)
{
    size_t columns = terminal_columns(LEAST_BESIDE);
    bool narrow = columns > 0 && columns < LEAST_BESIDE;
    if (!narrow)
        puts("     global   sectors bytes     shared   wavefronts\n"
             "   requests  /req.  /sector  requests  /req. ideal         line");
    int line = 1;
    explain_line all;
    for (const char *at = x->source.source; *at; line++) {
        size_t length = strcspn(at, "\n");
        (narrow ? print_narrow_line : print_line)(line_of_all(x, line, &all) ? &all : NULL, line,
                                                  (int)length, at);
        at += length + (at[length] == '\n');
    }
    static const char other[] = "(code of headers)";
    if (line_of_all(x, 0, &all))
        (narrow ? print_narrow_line : print_line)(&all, 0, (int)strlen(other), other);
    print_included(x, narrow ? print_narrow_line : print_line);
}

static void print_total(const char *name, const sim_counter *c, double scale)
{
    if (c->requests == 0)
        return;
    char requests[UNITS_BYTES], sectors[UNITS_BYTES];
    printf("  %-14s %14s requests %16s sectors  %5.2f a request  %5.1f bytes used a sector\n", name,
           units_count((uint64_t)((double)c->requests * scale), requests),
           units_count((uint64_t)((double)c->sectors * scale), sectors),
           (double)c->sectors / (double)c->requests,
           SIM_SECTOR_BYTES * explain_sector_efficiency(c));
}

static void print_shared_total(const char *name, const sim_counter *c, double scale)
{
    if (c->shared_requests == 0)
        return;
    char requests[UNITS_BYTES], wavefronts[UNITS_BYTES], conflicts[UNITS_BYTES];
    printf("  %-14s %14s requests %16s wavefronts %14s bank conflicts\n", name,
           units_count((uint64_t)((double)c->shared_requests * scale), requests),
           units_count((uint64_t)((double)c->wavefronts * scale), wavefronts),
           units_count((uint64_t)((double)c->conflicts * scale), conflicts));
}

static void print_time(const char *name, double time_ns)
{
    char text[UNITS_BYTES];
    printf("  %-16s %s\n", name, units_time((int64_t)time_ns, text));
}

static void print_constant_total(const sim_counter *c, double scale)
{
    char requests[UNITS_BYTES], passes[UNITS_BYTES];
    if (c->constant_requests > 0)
        printf("  %-14s %14s requests %16s passes\n", "constants",
               units_count((uint64_t)((double)c->constant_requests * scale), requests),
               units_count((uint64_t)((double)c->constant_passes * scale), passes));
}

static void print_counts(const explained *x, const explained_launch *l)
{
    const sim_totals *t = &l->found.profile.totals;
    const sim_prediction *p = &l->found.prediction;
    double scale = l->explanation.scale;
    char total[UNITS_BYTES], sampled[UNITS_BYTES];
    printf("Counted in %s of %s blocks%s\n", units_count(l->found.profile.sampled, sampled),
           units_count(l->found.profile.blocks, total), scale > 1 ? ", scaled to all below" : "");
    print_total("global loads", &t->global_load, scale);
    print_total("global stores", &t->global_store, scale);
    print_total("global atomics", &t->global_atomic, scale);
    print_total("async copies", &t->async_copy, scale);
    print_total("local memory", &t->local, scale);
    print_shared_total("shared loads", &t->shared_load, scale);
    print_shared_total("shared stores", &t->shared_store, scale);
    print_shared_total("shared atomics", &t->shared_atomic, scale);
    print_constant_total(&t->constant, scale);
    printf("  instructions  ");
    for (int c = 0; c < SIM_CLASS_COUNT; c++)
        if (t->issued[c] > 0)
            printf(" %s %.0f %%", sim_class_name((sim_class)c),
                   100 * (double)t->issued[c] / (double)t->issued_total);
    printf("\n  registers      %u a thread, %u bytes spilled\n\nPredicted, if alone\n",
           x->compiled.resources.registers,
           x->compiled.resources.spill_store_bytes + x->compiled.resources.spill_load_bytes);
    print_time("DRAM", p->dram_ns);
    print_time("L2", p->l2_ns);
    print_time("L1", p->l1_ns);
    print_time("shared memory", p->shared_ns);
    if (p->constant_ns > 0)
        print_time("constant memory", p->constant_ns);
    if (p->atomic_ns > 0)
        print_time("one address", p->atomic_ns);
    print_time("issue", p->issue_ns);
    print_time("latency", p->latency_ns);
    print_time("all together", p->time_ns);
}

static void print_launch(const explained *x, uint32_t i)
{
    const explained_launch *l = &x->launches[i];
    putchar('\n');
    const uint32_t rounds = plan_rounds(&x->launch, i);
    if (x->launch.launch_count > 1 || rounds > 1)
        printf("Launch %u of %u: %s", i + 1, x->launch.launch_count, x->launch.launches[i].entry);
    if (rounds > 1)
        printf(", %u times; this is one of them", rounds);
    if (x->launch.launch_count > 1 || rounds > 1)
        puts("\n");
    if (l->found.fault.kind == SIM_FAULT_NONE)
        print_counts(x, l);
    puts("\nVerdict");
    if (x->wrong && i == 0)
        printf("  It is wrong: %s\n", x->wrong);
    if (x->unproven && i == 0)
        printf("  Nothing says that it is right: %s\n", x->unproven);
    for (size_t k = 0; k < l->explanation.sentence_count; k++)
        printf("  %s\n", l->explanation.sentences[k]);
}

bool explained_faulted(const explained *x)
{
    for (uint32_t i = 0; i < x->launch.launch_count; i++)
        if (x->launches[i].found.fault.kind != SIM_FAULT_NONE &&
            x->launches[i].found.fault.kind != SIM_FAULT_UNKNOWN)
            return true;
    return false;
}

void explained_print(const explained *x)
{
    const pattern *p = script_pattern(x->script);
    printf("%s on a simulated %s: %s\n", p->name, x->chip.arch, x->configuration);
    for (size_t i = 0; i < p->problem_count; i++) {
        char text[256];
        value_format(p->problems[x->problem][i].value, text, sizeof text);
        printf("%s%s=%s", i ? " " : "", p->problems[x->problem][i].name, text);
    }
    printf("%s\n\n", x->problem == PROBLEM_SIMULATED ? " (the problem for simulated devices; --set "
                                                       "changes it)"
                                                     : "");
    print_source(x);
    for (uint32_t i = 0; i < x->launch.launch_count; i++)
        print_launch(x, i);
}

const char *explained_metric(const explained *x, uint32_t launch, size_t i, double *count)
{
    const sim_totals *t = &x->launches[launch].found.profile.totals;
    const struct {
        const char *name;
        uint64_t count;
    } metrics[] = {
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", t->global_load.requests},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", t->global_load.sectors},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", t->global_store.requests},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", t->global_store.sectors},
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", t->shared_load.conflicts},
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", t->shared_store.conflicts},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", t->shared_load.wavefronts},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", t->shared_store.wavefronts}};
    if (i >= sizeof metrics / sizeof *metrics)
        return NULL;
    *count = (double)metrics[i].count * x->launches[launch].explanation.scale;
    return metrics[i].name;
}

static json_t *metrics_json(const explained *x, uint32_t launch)
{
    json_t *out = json_object();
    const char *name;
    double count;
    for (size_t i = 0; (name = explained_metric(x, launch, i, &count)) != NULL; i++)
        json_put(&out, name, json_count_rounded(count));
    return out;
}

/* One kind of access of one line: what there was of it. */
static json_t *access_json(const explained *x, double scale, const explain_line *l,
                           const char *kind, const sim_counter *c)
{
    const bool is_shared = c->shared_requests > 0;
    const struct {
        const char *name;
        uint64_t count;
        bool is_told; /* also when there was nothing */
    } counts[] = {{"shared_requests", c->shared_requests, false},
                  {"wavefronts", c->wavefronts, is_shared},
                  {"ideal_wavefronts", c->ideal, is_shared},
                  {"conflicts", c->conflicts, is_shared},
                  {"requests", c->requests, false},
                  {"sectors", c->sectors, false},
                  {"ideal_sectors", c->fewest, false},
                  {"bytes", c->bytes, false},
                  {"turns", c->turns, false},
                  {"constant_requests", c->constant_requests, false},
                  {"constant_passes", c->constant_passes, false}};
    json_t *out = json_pack("{si ss}", "line", l->line, "kind", kind);
    if (!explain_line_is_own(l))
        json_put(&out, "file", json_path_of(l->file.at, l->file.length));
    else if (l->line > 0 && (size_t)l->line <= x->place_count && x->places[l->line - 1])
        json_put(&out, "place", json_path(x->places[l->line - 1]));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count > 0 || counts[i].is_told)
            json_put(&out, counts[i].name,
                     json_count_rounded((double)counts[i].count * (scale > 1 ? scale : 1)));
    return out;
}

static void append_line(const explained *x, double scale, const explain_line *l, json_t **lines)
{
    for (int k = 0; k < EXPLAIN_KIND_COUNT; k++)
        if (is_used(&l->kinds[k]))
            json_append(lines,
                        access_json(x, scale, l, explain_kind_name((explain_kind)k), &l->kinds[k]));
    if (is_used(&l->local))
        json_append(lines, access_json(x, scale, l, "local", &l->local));
}

static json_t *prediction_json(const sim_prediction *p)
{
    const struct {
        const char *name;
        double v;
    } fields[] = {{"time_ns", p->time_ns},
                  {"dram_ns", p->dram_ns},
                  {"l2_ns", p->l2_ns},
                  {"l1_ns", p->l1_ns},
                  {"shared_ns", p->shared_ns},
                  {"issue_ns", p->issue_ns},
                  {"constant_ns", p->constant_ns},
                  {"atomic_ns", p->atomic_ns},
                  {"latency_ns", p->latency_ns},
                  {"occupancy", p->occupancy.fraction},
                  {"bytes_in_flight", p->flight_bytes},
                  {"bytes_needed", p->needed_bytes}};
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_put(&out, fields[i].name, json_rounded(fields[i].v, PREDICTED_DIGITS));
    json_put(&out, "occupancy_limit", json_string(occupancy_limit_name(p->occupancy.limit)));
    json_put(&out, "limit", json_string(p->limit));
    return out;
}

/* What one launch does, added to `out`. */
static void add_launch(json_t **out, const explained *x, uint32_t i)
{
    const explained_launch *l = &x->launches[i];
    const explanation *e = &l->explanation;
    json_t *lines = json_array(), *verdict = json_array();
    for (size_t k = 0; k < e->line_count; k++)
        append_line(x, e->scale, &e->lines[k], &lines);
    for (size_t k = 0; k < e->sentence_count; k++)
        json_append(&verdict, json_string(e->sentences[k]));
    json_put(out, "entry", json_string(x->launch.launches[i].entry));
    json_put(out, "times", json_integer(plan_rounds(&x->launch, i)));
    json_put(out, "blocks", json_count(l->found.profile.blocks));
    json_put(out, "blocks_counted", json_count(l->found.profile.sampled));
    json_put(out, "registers", json_integer(x->compiled.resources.registers));
    json_put(out, "metrics", metrics_json(x, i));
    json_put(out, "lines", lines);
    if (l->found.fault.kind == SIM_FAULT_NONE)
        json_put(out, "predicted", prediction_json(&l->found.prediction));
    json_put(out, "verdict", verdict);
}

at_status explained_print_json(const explained *x, at_error *error)
{
    const pattern *p = script_pattern(x->script);
    json_t *root = json_pack("{ss ss so so}", "pattern", p->name, "arch", x->chip.arch, "problem",
                             pattern_json_problem(p, x->problem), "config",
                             pattern_json_configuration(p, x->indices));
    json_t *launches = json_array();
    for (uint32_t i = 0; i < x->launch.launch_count && x->launch.launch_count > 1; i++) {
        json_t *one = json_object();
        add_launch(&one, x, i);
        json_append(&launches, one);
    }
    if (x->launch.launch_count > 1)
        json_put(&root, "launches", json_incref(launches));
    else
        add_launch(&root, x, 0);
    json_decref(launches);
    json_put(&root, "wrong", json_said(x->wrong));
    json_put(&root, "unproven", json_said(x->unproven));
    return json_text_print(root, 2, stdout, error);
}
