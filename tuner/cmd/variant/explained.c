#include "cmd/variant/explained.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "report/progress.h"
#include "run/setup/setup.h"
#include "script/kernel_file.h"

enum { NAME_BYTES = 512 };

/* Launches with fewer warp instructions run whole, in about a second; others run a sample. */
static const double whole_instructions = 4e6;

void explained_deinit(explained *x)
{
    for (uint32_t i = 0; i < PLAN_MAX_LAUNCHES; i++) {
        explanation_deinit(&x->launches[i].explanation);
        sim_estimated_deinit(&x->launches[i].found);
    }
    sim_estimate_free(x->estimate);
    script_contents_deinit(&x->contents);
    compile_result_deinit(&x->compiled);
    compile_result_deinit(&x->filler);
    emitted_deinit(&x->source);
    for (size_t i = 0; i < x->place_count; i++)
        free(x->places[i]);
    free(x->places);
    free(x->wrong);
    free(x->unproven);
    compile_pool_free(x->pool);
    script_free(x->script);
}

/* Writes a name of the source that no included file has: the preprocessor compares only names. */
static const char *source_name(const explained *x, char *name)
{
    snprintf(name, NAME_BYTES, "(emitted) %s.cu", script_pattern(x->script)->name);
    return name;
}

static at_status compile(explained *x, at_error *error)
{
    char name[NAME_BYTES];
    at_status status =
        compile_pool_new(&(compile_options){.jobs = 2, .use_cache = true}, &x->pool, error);
    return status ? status
                  : compile_source(x->pool, &x->source, source_name(x, name), &x->launch,
                                   x->chip.arch, true, &x->compiled, error);
}

/* Finds the template line of each source line: emits the source again with #line marks. */
static at_status find_places(explained *x, at_error *error)
{
    emitted marked = {0};
    char file[256] = "";
    int number = 0;
    size_t lines = 1;
    at_status status = emit_variant(x->script, x->problem, x->indices, true, &marked, error);
    for (const char *at = x->source.source; !status && *at; at++)
        lines += *at == '\n';
    if (!status)
        x->places = memory_new(lines, sizeof *x->places);
    for (const char *at = marked.source; !status && *at;) {
        size_t length = strcspn(at, "\n");
        char line[NAME_BYTES], place[NAME_BYTES];
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        if (sscanf(line, "#line %d \"%255[^\"]\"", &number, file) != 2 && x->place_count < lines) {
            snprintf(place, sizeof place, "%s:%d", file, number);
            number += number < INT_MAX;
            x->places[x->place_count++] = *file ? memory_text(place) : NULL;
        }
        at += length + (at[length] == '\n');
    }
    emitted_deinit(&marked);
    return status;
}

static void show_count(void *shown, uint64_t done, uint64_t total)
{
    progress_update(
        shown, &(progress_state){
                   .stage = "explain", .done = done, .total = total, .now_ns = clock_now_ns()});
}

static at_status run_launches(explained *x, bool whole, progress *shown, at_error *error)
{
    const device_image image = result_image(&x->compiled, true);
    const sim_filler filler = {result_image(&x->filler, true), x->filler_launch};
    sim_estimate_free(x->estimate);
    x->estimate = NULL;
    at_status status =
        sim_estimate_new(&x->chip, &x->plan, &filler, x->contents.of, &x->estimate, error);
    if (!status)
        sim_estimate_watch(x->estimate, show_count, shown);
    for (uint32_t i = 0; !status && i < x->launch.launch_count; i++) {
        sim_estimated_deinit(&x->launches[i].found);
        status = sim_estimate_kernel(x->estimate, &image, &x->launch, i,
                                     whole ? plan_grid_blocks(&x->launch.launches[i]) : 0,
                                     &x->launches[i].found, error);
    }
    return status;
}

/* Returns whether a sample was counted although the whole launch takes little time. */
static bool may_run_whole(const explained *x)
{
    double instructions = 0;
    bool is_part = false;
    for (uint32_t i = 0; i < x->launch.launch_count; i++) {
        const sim_profile *p = &x->launches[i].found.profile;
        if (x->launches[i].found.fault.kind != SIM_FAULT_NONE || p->sampled == 0)
            return false;
        is_part = is_part || p->sampled < p->blocks;
        instructions += (double)p->totals.issued_total * ((double)p->blocks / (double)p->sampled);
    }
    return is_part && instructions <= whole_instructions;
}

static at_status run_sample(explained *x, const settings *wanted, at_error *error)
{
    progress *shown = progress_new(STDERR_FILENO, wanted->quiet);
    char name[NAME_BYTES];
    const kernel_file *file;
    const char *const *defines;
    size_t define_count;
    const bool is_file = script_file(x->script, &file, &defines, &define_count);
    const explain_source source = {.name = source_name(x, name),
                                   .places = (const char *const *)x->places,
                                   .place_count = x->place_count,
                                   .listed = is_file ? file->name : NULL};
    at_status status = script_contents_load(x->script, &x->plan, &x->contents, error);
    if (!status)
        status = run_launches(x, false, shown, error);
    if (!status && may_run_whole(x))
        status = run_launches(x, true, shown, error);
    for (uint32_t i = 0; !status && i < x->launch.launch_count; i++)
        explain_variant(&x->launches[i].found, &x->chip, &source, &x->launches[i].explanation);
    if (!status && sim_estimate_trouble(x->estimate))
        fprintf(stderr, "autotune: the counts hold for other inputs than the script prepares: %s\n",
                sim_estimate_trouble(x->estimate));
    progress_free(shown);
    return status;
}

/* Moves the predictions, and the sentences about them, from `tuned` to `x`. */
static void take_predictions(explained *x, const explained *tuned)
{
    for (uint32_t i = 0; i < x->launch.launch_count; i++) {
        const explanation *from = &tuned->launches[i].explanation;
        explanation *to = &x->launches[i].explanation;
        x->launches[i].found.prediction = tuned->launches[i].found.prediction;
        to->sentence_count = to->of_lines;
        for (size_t k = from->of_lines;
             k < from->sentence_count && to->sentence_count < EXPLAIN_SENTENCES; k++)
            memcpy(to->sentences[to->sentence_count++], from->sentences[k],
                   sizeof from->sentences[k]);
    }
    x->predicts_tuned = true;
}

/* Predicts times for the tuned problem. If this fails, the smaller problem's predictions stay. */
static void predict_tuned(const settings *wanted, explained *x)
{
    explained tuned = {0};
    at_error ignored;
    settings quietly = *wanted;
    quietly.quiet = true;
    if (x->problem == PROBLEM_TUNED || explained_faulted(x))
        return;
    if (explained_count(&quietly, x->configuration, false, &tuned, &ignored) == AT_OK &&
        !explained_faulted(&tuned) && tuned.launch.launch_count == x->launch.launch_count)
        take_predictions(x, &tuned);
    explained_deinit(&tuned);
}

at_status explained_count(const settings *wanted, const char *configuration, bool simulated,
                          explained *x, at_error *error)
{
    at_status status = chips_wanted(wanted, &x->chip, error);
    if (!status)
        status = target_load_script(wanted, &x->chip.limits, &x->script, error);
    if (status)
        return status;
    const pattern *p = script_pattern(x->script);
    if (p->transfers)
        return error_set_at(error, AT_NO_DEVICE, p->path, 0,
                            "a transfer cannot be explained: simulated devices have no host memory "
                            "to copy from or to");
    x->problem = simulated && p->has_problem[PROBLEM_SIMULATED] ? PROBLEM_SIMULATED : PROBLEM_TUNED;
    status = setup_choose_valid(x->script, x->problem, configuration, x->indices, error);
    if (status)
        return status;
    script_format_configuration(x->script, x->indices, x->configuration, sizeof x->configuration);
    status = script_problem_plan(x->script, x->problem, x->indices, 1, &x->plan, error);
    if (!status)
        status = script_launch_plan(x->script, x->problem, x->indices, &x->launch, error);
    if (!status)
        status = emit_variant(x->script, x->problem, x->indices, false, &x->source, error);
    if (!status)
        status = find_places(x, error);
    if (!status)
        status = compile(x, error);
    if (!status && script_has_filler(x->script))
        status = script_filler_plan(x->script, x->problem, x->indices, &x->filler_launch, error);
    if (!status)
        status = compile_filler(x->script, x->problem, x->indices, &x->filler_launch, x->pool,
                                x->chip.arch, &x->filler, error);
    if (!status)
        status = run_sample(x, wanted, error);
    if (!status)
        predict_tuned(wanted, x);
    return status;
}

bool explained_faulted(const explained *x)
{
    for (uint32_t i = 0; i < x->launch.launch_count; i++)
        if (x->launches[i].found.fault.kind != SIM_FAULT_NONE &&
            x->launches[i].found.fault.kind != SIM_FAULT_UNKNOWN)
            return true;
    return false;
}

const char *explained_metric(const explained *x, uint32_t launch, size_t i, double *count)
{
    const sim_totals *t = &x->launches[launch].found.profile.totals;
    /* The hardware also counts asynchronous copies as loads from global memory. */
    sim_counter load = t->global_load;
    sim_counter_sum(&load, &t->async_copy);
    const struct {
        const char *name;
        uint64_t count;
    } metrics[] = {
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", load.requests},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", load.sectors},
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
