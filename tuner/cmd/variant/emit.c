/* autotune emit: prints the CUDA source, or the PTX, of one variant. */
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cmd/variant/best.h"
#include "compile/compile.h"
#include "record/pick.h"
#include "run/setup/setup.h"
#include "script/emit.h"

static at_status print_ptx(const emitted *source, script *s, const uint16_t *indices,
                           const arch_limits *arch, FILE *to, at_error *error)
{
    compile_pool *pool = NULL;
    compile_result result;
    launch_plan launch;
    const pattern *p = script_pattern(s);
    at_status status = script_launch_plan(s, PROBLEM_TUNED, indices, &launch, error);
    if (!status && launch.launch_count == 0)
        return error_set(error, AT_USAGE,
                         "this configuration launches no kernel, so there is no PTX");
    if (!status)
        status = compile_pool_new(&(compile_options){.jobs = 1, .use_cache = true}, &pool, error);
    if (status)
        return status;
    status =
        compile_source(pool, source, p->template_path, &launch, arch->name, true, &result, error);
    if (!status)
        fputs(result.ptx, to);
    compile_result_deinit(&result);
    compile_pool_free(pool);
    return status;
}

/* Warns of a broken constraint. The source is printed nevertheless. */
static at_status warn_if_invalid(script *s, const uint16_t *indices, at_error *error)
{
    bool valid;
    size_t broken;
    at_status status = script_valid(s, PROBLEM_TUNED, indices, &valid, &broken, error);
    if (!status && !valid) {
        const space_constraint *c = &script_pattern(s)->constraints[broken];
        if (c->line)
            fprintf(stderr,
                    "autotune: warning: the configuration breaks the constraint of line %d: %s\n",
                    c->line, c->text);
        else
            fprintf(stderr, "autotune: warning: the configuration breaks %s\n", c->text);
    }
    return status;
}

static void print_arguments(const launch_plan *plan, const kernel_launch *l,
                            const problem_plan *problem, FILE *to)
{
    fputs("//   arguments:", to);
    for (uint32_t i = 0; i < l->argument_count; i++) {
        const argument_plan *a = &plan->arguments[l->first_argument + i];
        const unsigned char *bytes = plan_argument_value(plan, a);
        fputs(i ? ", " : " ", to);
        if (a->is_buffer) {
            fputs(problem->buffers[a->buffer].name, to);
            continue;
        }
        if (a->is_view) {
            const view_plan *v = &plan->views[a->bits];
            fprintf(to, "%s of %s", view_kind_name(v->kind), problem->buffers[v->buffer].name);
            for (uint32_t k = 0; k < v->rank; k++)
                fprintf(to, "%s%llu", k ? " x " : ", ", (unsigned long long)v->size[k]);
            for (uint32_t k = 0; k < v->rank && v->kind == VIEW_TENSOR; k++)
                fprintf(to, "%s%u", k ? " x " : " in boxes of ", (unsigned)v->box[k]);
            continue;
        }
        fprintf(to, "%u bytes 0x", (unsigned)a->size_bytes);
        for (size_t b = a->size_bytes; b-- > 0;)
            fprintf(to, "%02x", bytes[b]);
        for (uint32_t k = 0; a->size_bytes > 8 && k < plan->address_count; k++)
            if (plan->addresses[k].at >= a->bits && plan->addresses[k].at < a->bits + a->size_bytes)
                fprintf(to, " with %s at byte %u", problem->buffers[plan->addresses[k].buffer].name,
                        (unsigned)(plan->addresses[k].at - a->bits));
    }
    fputs("\n", to);
}

/* Prints launch attributes that differ from CUDA's defaults, because the launch needs them. */
static void print_attributes(const kernel_launch *l, FILE *to)
{
    const bool in_clusters = plan_cluster_blocks(l) > 1;
    if (!in_clusters && !l->cooperative)
        return;
    fputs("//   attributes:", to);
    if (in_clusters)
        fprintf(to, " cluster %u x %u x %u%s", l->cluster[0], l->cluster[1], l->cluster[2],
                l->balanced ? ", balanced (load-balancing policy)" : "");
    if (l->cooperative)
        fputs(in_clusters ? ", cooperative" : " cooperative", to);
    fputs("\n", to);
}

static void print_transfer(const transfer_plan *t, const problem_plan *problem, FILE *to)
{
    size_t count;
    const buffer_plan *from = &problem->buffers[t->task.from];
    fprintf(to,
            "// transfer %s: %s to %s, %llu bytes in %llu pieces, %s memory, staging %s, chunks of "
            "%llu bytes "
            "(0: all), streams %u\n",
            transfer_direction_names(&count)[t->task.direction - TRANSFER_TO_DEVICE], from->name,
            problem->buffers[t->task.to].name, (unsigned long long)plan_buffer_bytes(from),
            (unsigned long long)t->task.pieces, host_memory_names(&count)[t->memory],
            host_staging_names(&count)[t->staging], (unsigned long long)t->chunk_bytes, t->streams);
}

/* Prints the compiler options and the contents of constants. */
static void print_preparations(const emitted *source, const launch_plan *plan,
                               const problem_plan *problem, FILE *to)
{
    const size_t first = source->own_option_count;
    for (size_t i = first; i < source->option_count; i++)
        fprintf(to, "%s %s", i > first ? "" : "// compiled with:", source->options[i]);
    if (source->option_count > first)
        fputs("\n", to);
    for (uint32_t i = 0; i < plan->constant_count; i++) {
        const buffer_plan *from = &problem->buffers[plan->constants[i].buffer];
        fprintf(to, "%s %s = %s (%llu bytes)", i ? "," : "// constants:", plan->constants[i].name,
                from->name, (unsigned long long)plan_buffer_bytes(from));
    }
    if (plan->constant_count)
        fputs("\n", to);
}

/* Prints the launch, for a program that compiles the source below it. */
static at_status print_launch(script *s, const uint16_t *indices, pick_rule rule,
                              const emitted *source, FILE *to, at_error *error)
{
    char configuration[CONFIGURATION_BYTES];
    launch_plan plan;
    problem_plan problem;
    at_status status = script_launch_plan(s, PROBLEM_TUNED, indices, &plan, error);
    if (!status)
        status = script_problem_plan(s, PROBLEM_TUNED, indices, 1, &problem, error);
    if (status)
        return status;
    script_format_configuration(s, indices, configuration, sizeof configuration);
    fprintf(to, "// %s: %s\n// by rule: %s\n", script_pattern(s)->name, configuration,
            pick_rule_name(rule));
    print_preparations(source, &plan, &problem, to);
    if (plan_transfers(&plan))
        print_transfer(&plan.transfer, &problem, to);
    for (uint32_t i = 0; i < plan.launch_count; i++) {
        const kernel_launch *l = &plan.launches[i];
        fprintf(to,
                "// %s: grid %u x %u x %u, block %u x %u x %u, %u bytes of dynamic shared memory\n",
                plan_entry(&plan, i), l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                l->block[2], l->dynamic_shared_bytes);
        if (plan_rounds(&plan, i) > 1)
            fprintf(to, "//   %u times%s\n", plan_rounds(&plan, i),
                    l->group == i + 1 ? "" : ", in turn with the one above");
        print_attributes(l, to);
        print_arguments(&plan, l, &problem, to);
    }
    return AT_OK;
}

static void print_options(const emitted *source, const arch_limits *arch, FILE *to)
{
    fprintf(to, "// options for NVRTC and nvcc: --gpu-architecture=%s", arch->name);
    for (size_t i = source->own_option_count; i < source->option_count; i++)
        fprintf(to, " %s", source->options[i]);
    fputs("\n", to);
}

static at_status run(const options *o, at_error *error)
{
    arch_limits arch;
    script *s = NULL;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    emitted source = {0};
    FILE *to = NULL;
    char *text = NULL;
    size_t size_bytes = 0;
    pick_rule rule = PICK_NONE;
    if (o->best && o->configuration)
        return error_set(
            error, AT_USAGE,
            "--best and --config both choose the configuration: leave out one of them");
    at_status status = o->best && !o->run.machine.arch
                           ? target_here(&arch, error)
                           : target_find(o->run.machine.arch, &arch, error);
    if (!status)
        status = target_load_script(&o->run, &arch, &s, error);
    if (status)
        return status;
    status = o->best ? best_find(o, s, &arch, indices, &rule, error)
                     : setup_choose_configuration(s, PROBLEM_TUNED, o->configuration, NULL, indices,
                                                  error);
    if (!status)
        status = warn_if_invalid(s, indices, error);
    if (!status)
        status = emit_variant(s, PROBLEM_TUNED, indices, !o->no_line, &source, error);
    if (!status)
        to = memory_open(&text, &size_bytes);
    if (!status && !o->ptx)
        print_options(&source, &arch, to);
    if (!status && o->best && !o->ptx)
        status = print_launch(s, indices, rule, &source, to, error);
    if (!status && o->ptx)
        status = print_ptx(&source, s, indices, &arch, to, error);
    else if (!status)
        fputs(source.source, to);
    if (to)
        memory_close(to);
    if (!status)
        status = output_write(o, o->output, text, size_bytes, error);
    free(text);
    emitted_deinit(&source);
    script_free(s);
    return status;
}

const command cmd_emit = {
    .name = "emit",
    .operand = "SCRIPT",
    .summary = "Print the source of one variant",
    .options = "describe config captured only best results set include arch ptx no-line output",
    .raw = true,
    .run = run,
};
