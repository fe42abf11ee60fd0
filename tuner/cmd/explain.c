/* autotune explain: where one variant's memory accesses go, and what limits it. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "compile/compile.h"
#include "script/emit.h"
#include "sim/explain.h"
#include "run/setup.h"
#include "base/units.h"

/* A launch of up to so many threads is run whole, a larger one by a sample of its blocks. */
static const uint64_t whole_threads = 4u << 20;

/* One explained variant and all that it rests on. */
typedef struct explained {
    sim_chip chip;
    script *script;
    uint16_t *indices;
    char configuration[2048];
    emitted source;
    compile_result compiled;
    launch_plan launch;
    problem_plan plan;
    sim_estimate *estimate;
    sim_estimated found;
    explanation explanation;
} explained;

static void explained_deinit(explained *x)
{
    explanation_deinit(&x->explanation);
    sim_estimated_deinit(&x->found);
    sim_estimate_free(x->estimate);
    compile_result_deinit(&x->compiled);
    emitted_deinit(&x->source);
    free(x->indices);
    script_free(x->script);
}

static at_status compile(explained *x, at_error *error)
{
    compile_pool *pool = NULL;
    at_status status =
        compile_pool_new(&(compile_options){.jobs = 1, .use_cache = true}, &pool, error);
    if (!status)
        status = compile_submit(pool,
                                &(compile_request){.source = x->source.source,
                                                   .name = script_pattern(x->script)->name,
                                                   .entry = x->launch.entry,
                                                   .arch = x->chip.arch,
                                                   .options = x->source.options,
                                                   .option_count = x->source.option_count,
                                                   .headers = x->source.includes.headers,
                                                   .header_count = x->source.includes.count,
                                                   .want_ptx = true},
                                error);
    if (!status)
        status = compile_take(pool, -1, &x->compiled, error);
    compile_pool_free(pool);
    if (!status && x->compiled.outcome != COMPILE_OK)
        status = error_set(error, AT_COMPILE, "the variant does not compile (%s):\n%s",
                           compile_outcome_name(x->compiled.outcome),
                           x->compiled.log ? x->compiled.log : "");
    return status;
}

static at_status read_configuration(explained *x, const char *text, at_error *error)
{
    const pattern *p = script_pattern(x->script);
    x->indices = calloc(p->parameter_count ? p->parameter_count : 1, sizeof *x->indices);
    if (!x->indices)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    at_status status = script_parse_configuration(x->script, text ? text : "", x->indices, error);
    bool valid;
    size_t broken;
    if (!status)
        status = script_valid(x->script, PROBLEM_TUNED, x->indices, &valid, &broken, error);
    if (!status && !valid)
        return error_set_at(error, AT_USAGE, p->path, p->constraints[broken].line,
                            "the configuration breaks a constraint: %s",
                            p->constraints[broken].text);
    if (!status)
        script_format_configuration(x->script, x->indices, x->configuration,
                                    sizeof x->configuration);
    return status;
}

static at_status run_sample(explained *x, at_error *error)
{
    const launch_plan *l = &x->launch;
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t sample = threads > 0 && blocks <= whole_threads / threads ? blocks : 0;
    device_image image = {.bytes = x->compiled.ptx, .size_bytes = x->compiled.ptx_bytes,
                          .registers = x->compiled.resources.registers,
                          .static_shared_bytes = x->compiled.resources.static_shared_bytes};
    at_status status = sim_estimate_new(x->chip.arch, &x->plan, &x->estimate, error);
    if (!status)
        status = sim_estimate_kernel(x->estimate, &image, l, sample, &x->found, error);
    if (!status && x->found.fault.kind != SIM_FAULT_NONE)
        status = error_set(error, AT_DEVICE, "%s", x->found.fault.message);
    return status ? status : explain_variant(&x->found, &x->chip, &x->explanation, error);
}

static at_status explain(const options *o, explained *x, at_error *error)
{
    arch_limits arch;
    at_status status = target_find(o->run.arch, &arch, error);
    if (!status)
        status = sim_chip_find(arch.name, &x->chip, error);
    if (!status)
        status = target_load_script(&o->run, &x->chip.limits, &x->script, error);
    if (!status)
        status = read_configuration(x, o->configuration, error);
    if (!status)
        status = script_problem_plan(x->script, PROBLEM_TUNED, 1, &x->plan, error);
    if (!status)
        status = script_launch_plan(x->script, PROBLEM_TUNED, x->indices, &x->launch, error);
    if (!status)
        status = emit_variant(x->script, PROBLEM_TUNED, x->indices, false, &x->source, error);
    if (!status)
        status = compile(x, error);
    return status ? status : run_sample(x, error);
}

static const explain_line *line_at(const explanation *e, int line)
{
    for (size_t i = 0; i < e->line_count; i++)
        if (e->lines[i].line == line)
            return &e->lines[i];
    return NULL;
}

static void print_counters(const explain_line *l)
{
    const sim_counter *g = l && l->global.requests ? &l->global : l ? &l->local : NULL;
    char count[UNITS_BYTES];
    if (g && g->requests)
        printf("%11s %5.1f %5.1f", units_count(g->requests, count),
               (double)g->sectors / (double)g->requests,
               SIM_SECTOR_BYTES * explain_sector_efficiency(g));
    else
        printf("%23s", "");
    if (l && l->shared.shared_requests)
        printf(" %11s %5.1f %5.1f", units_count(l->shared.shared_requests, count),
               (double)l->shared.wavefronts / (double)l->shared.shared_requests,
               (double)l->shared.ideal / (double)l->shared.shared_requests);
    else
        printf("%24s", "");
}

static void print_source(const explained *x)
{
    puts("     global   sectors bytes     shared   wavefronts\n"
         "   requests  /req.  /sector  requests  /req. ideal  line");
    int line = 1;
    for (const char *at = x->source.source; *at; line++) {
        size_t length = strcspn(at, "\n");
        print_counters(line_at(&x->explanation, line));
        printf("  %4d  %.*s\n", line, (int)length, at);
        at += length + (at[length] == '\n');
    }
    const explain_line *none = line_at(&x->explanation, 0);
    if (none) {
        print_counters(none);
        puts("        (code without a source line)");
    }
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

static void print_text(const explained *x)
{
    const sim_totals *t = &x->found.profile.totals;
    const sim_prediction *p = &x->found.prediction;
    const explanation *e = &x->explanation;
    char total[UNITS_BYTES], sampled[UNITS_BYTES];
    printf("%s on a simulated %s: %s\n\n", script_pattern(x->script)->name, x->chip.arch,
           x->configuration);
    print_source(x);
    printf("\nCounted in %s of %s blocks%s\n", units_count(x->found.profile.sampled, sampled),
           units_count(x->found.profile.blocks, total), e->scale > 1 ? ", scaled to all below" : "");
    print_total("global loads", &t->global_load, e->scale);
    print_total("global stores", &t->global_store, e->scale);
    print_total("global atomics", &t->global_atomic, e->scale);
    print_total("async copies", &t->async_copy, e->scale);
    print_total("local memory", &t->local, e->scale);
    print_shared_total("shared loads", &t->shared_load, e->scale);
    print_shared_total("shared stores", &t->shared_store, e->scale);
    print_shared_total("shared atomics", &t->shared_atomic, e->scale);
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
    print_time("issue", p->issue_ns);
    print_time("latency", p->latency_ns);
    print_time("all together", p->time_ns);
    puts("\nVerdict");
    for (size_t i = 0; i < e->sentence_count; i++)
        printf("  %s\n", e->sentences[i]);
}

static json_t *scaled(uint64_t count, double scale)
{
    return scale > 1 ? json_real((double)count * scale) : json_integer((json_int_t)count);
}

/* The names are Nsight Compute's. */
static json_t *metrics_json(const sim_totals *t, double scale)
{
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
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        json_object_set_new(out, metrics[i].name, scaled(metrics[i].count, scale));
    return out;
}

static json_t *line_json(const explain_line *l, double scale)
{
    json_t *out = json_object();
    json_object_set_new(out, "line", json_integer(l->line));
    if (l->global.requests > 0) {
        json_object_set_new(out, "requests", scaled(l->global.requests, scale));
        json_object_set_new(out, "sectors", scaled(l->global.sectors, scale));
        json_object_set_new(out, "bytes", scaled(l->global.bytes, scale));
    }
    if (l->shared.shared_requests > 0) {
        json_object_set_new(out, "shared_requests", scaled(l->shared.shared_requests, scale));
        json_object_set_new(out, "wavefronts", scaled(l->shared.wavefronts, scale));
        json_object_set_new(out, "ideal_wavefronts", scaled(l->shared.ideal, scale));
        json_object_set_new(out, "conflicts", scaled(l->shared.conflicts, scale));
    }
    if (l->local.requests > 0)
        json_object_set_new(out, "local_requests", scaled(l->local.requests, scale));
    return out;
}

static json_t *prediction_json(const sim_prediction *p)
{
    const struct {
        const char *name;
        double v;
    } fields[] = {{"time_ns", p->time_ns},     {"dram_ns", p->dram_ns},
                  {"l2_ns", p->l2_ns},         {"l1_ns", p->l1_ns},
                  {"shared_ns", p->shared_ns}, {"issue_ns", p->issue_ns},
                  {"latency_ns", p->latency_ns}, {"occupancy", p->occupancy.fraction},
                  {"bytes_in_flight", p->flight_bytes}, {"bytes_needed", p->needed_bytes}};
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_object_set_new(out, fields[i].name, json_real(fields[i].v));
    json_object_set_new(out, "occupancy_limit",
                        json_string(occupancy_limit_name(p->occupancy.limit)));
    json_object_set_new(out, "limit", json_string(p->limit));
    return out;
}

static void print_json(const explained *x)
{
    const explanation *e = &x->explanation;
    json_t *root = json_object(), *lines = json_array(), *verdict = json_array();
    json_object_set_new(root, "pattern", json_string(script_pattern(x->script)->name));
    json_object_set_new(root, "arch", json_string(x->chip.arch));
    json_object_set_new(root, "config", json_string(x->configuration));
    json_object_set_new(root, "entry", json_string(x->launch.entry));
    json_object_set_new(root, "blocks", json_integer((json_int_t)x->found.profile.blocks));
    json_object_set_new(root, "blocks_counted", json_integer((json_int_t)x->found.profile.sampled));
    json_object_set_new(root, "registers", json_integer(x->compiled.resources.registers));
    json_object_set_new(root, "metrics", metrics_json(&x->found.profile.totals, e->scale));
    for (size_t i = 0; i < e->line_count; i++)
        json_array_append_new(lines, line_json(&e->lines[i], e->scale));
    json_object_set_new(root, "lines", lines);
    json_object_set_new(root, "predicted", prediction_json(&x->found.prediction));
    for (size_t i = 0; i < e->sentence_count; i++)
        json_array_append_new(verdict, json_string(e->sentences[i]));
    json_object_set_new(root, "verdict", verdict);
    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
}

static at_status run(const options *o, int *exit_code, at_error *error)
{
    (void)exit_code;
    explained x = {0};
    at_status status = explain(o, &x, error);
    if (!status && o->json)
        print_json(&x);
    else if (!status)
        print_text(&x);
    explained_deinit(&x);
    return status;
}

static const option_id options_taken[] = {OPTION_CONFIG, OPTION_SET, OPTION_ARCH, OPTION_JSON};

const command cmd_explain = {
    .name = "explain",
    .operand = "SCRIPT",
    .summary = "Show what each line of one variant does to memory, and what limits it",
    .details = "Compiles the variant (without --config the script's default), runs it on a simulated\n"
               "GPU and prints its source with counters beside every line that touches memory: what\n"
               "Nsight Compute would count. Needs NVRTC and no GPU. Grids of more than four million\n"
               "threads are counted by a sample of their blocks.\n",
    .options = options_taken,
    .option_count = sizeof options_taken / sizeof *options_taken,
    .run = run,
};
