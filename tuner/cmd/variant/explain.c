/* autotune explain: shows the memory accesses of one variant, line by line, and its bottleneck. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "cmd/line/page.h"
#include "cmd/variant/explained.h"
#include "record/schema.h"
#include "report/progress.h"
#include "run/setup/setup.h"
#include "run/variant/proof.h"
#include "script/kernel_file.h"

enum {
    STEP_MS = 100,
    LEAST_BESIDE = 120, /* columns needed to show counters and source side by side */
    PREDICTED_DIGITS = 6
};

/* A terminal shows progress after this time. */
static const int64_t quiet_ns = INT64_C(2) * 1000000000;

/* Proves the variant. Keeps the message if it is wrong or not proven. */
static at_status prove(explained *x, at_error *error)
{
    progress *shown = progress_new(STDERR_FILENO, false);
    const int64_t begun_ns = clock_now_ns();
    prover *p = prover_new(x->script, x->pool, x->chip.arch, true, DEVICE_WHOLE_NEEDED);
    at_status status = prover_add(p, 0, x->indices, error);
    proof found = {.verdict = PROOF_NONE};
    while (!status && !prover_take(p, &found)) {
        if (clock_now_ns() - begun_ns > quiet_ns)
            progress_update(shown,
                            &(progress_state){.stage = "checking", .now_ns = clock_now_ns()});
        prover_tell_wait(p, shown);
        status = prover_work(p, STEP_MS, error);
    }
    progress_free(shown);
    x->is_script_wrong = found.is_script_wrong;
    if (found.verdict == PROOF_WRONG || found.verdict == PROOF_UNKNOWN) {
        *(found.verdict == PROOF_UNKNOWN ? &x->unproven : &x->wrong) = found.message;
        found.message = NULL;
    }
    proof_deinit(&found);
    prover_free(p);
    return status;
}

static bool is_used(const sim_counter *c)
{
    return c->requests || c->shared_requests || c->constant_requests;
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

/* Packs the counts of one kind of access in one source line. */
static json_t *access_json(const explained *x, double scale, const explain_line *l,
                           const char *kind, const sim_counter *c)
{
    const bool is_shared = c->shared_requests > 0;
    const struct {
        const char *name;
        uint64_t count;
        bool is_told; /* packed even if `count` is 0 */
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
        json_put(&out, "file", json_path_bytes(l->file.at, l->file.length));
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
                  {"low_ns", p->low_ns},
                  {"high_ns", p->high_ns},
                  {"dram_read_bytes", p->dram_read_bytes},
                  {"dram_written_bytes", p->dram_written_bytes},
                  {"occupancy", p->occupancy.fraction},
                  {"bytes_in_flight", p->flight_bytes},
                  {"bytes_needed", p->needed_bytes}};
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_put(&out, fields[i].name, json_rounded(fields[i].v, PREDICTED_DIGITS));
    for (int i = 0; i < SIM_TERM_COUNT; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s_ns", sim_term_key((sim_term)i));
        json_put(&out, key, json_rounded(p->terms_ns[i], PREDICTED_DIGITS));
    }
    json_put(&out, "occupancy_limit", json_string(occupancy_limit_name(p->occupancy.limit)));
    json_put(&out, "limit", json_string(sim_term_name(p->limit)));
    return out;
}

/* Adds the work of one launch to `out`. */
static void add_launch(json_t **out, const explained *x, uint32_t i)
{
    const explained_launch *l = &x->launches[i];
    const explanation *e = &l->explanation;
    json_t *lines = json_array(), *verdict = json_array();
    for (size_t k = 0; k < e->line_count; k++)
        append_line(x, e->scale, &e->lines[k], &lines);
    for (size_t k = 0; k < e->sentence_count; k++)
        json_append(&verdict, json_string(e->sentences[k]));
    json_put(out, "entry", json_string(plan_entry(&x->launch, i)));
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

static json_t *pack_explained(const explained *x)
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
    json_put(&root, "wrong", json_foreign_text(x->wrong));
    json_put(&root, "unproven", json_foreign_text(x->unproven));
    return root;
}

/* Packs counts of the executed blocks, not scaled to the grid. */
static json_t *counter_words(const char *kind, const sim_counter *c)
{
    return json_pack(
        "{ss sI sI sI sI sI sI sI sI sI}", "kind", kind, "requests", (json_int_t)c->requests,
        "sectors", (json_int_t)c->sectors, "bytes", (json_int_t)c->bytes, "shared_requests",
        (json_int_t)c->shared_requests, "wavefronts", (json_int_t)c->wavefronts, "ideal",
        (json_int_t)c->ideal, "conflicts", (json_int_t)c->conflicts, "constant_requests",
        (json_int_t)c->constant_requests, "constant_passes", (json_int_t)c->constant_passes);
}

/* Packs a line, with each kind of access in the order of the columns. */
static json_t *line_words(const explain_line *l)
{
    json_t *kinds = json_array();
    for (int k = 0; k < EXPLAIN_KIND_COUNT; k++)
        json_append(&kinds, counter_words(explain_kind_name((explain_kind)k), &l->kinds[k]));
    json_append(&kinds, counter_words("local", &l->local));
    json_t *out = json_pack("{si so}", "line", l->line, "kinds", kinds);
    if (!explain_line_is_own(l))
        json_put(&out, "file", json_stringn_nocheck(l->file.at, l->file.length));
    return out;
}

static json_t *totals_words(const sim_totals *t)
{
    const struct {
        const char *name;
        const sim_counter *c;
    } totals[] = {{"global loads", &t->global_load},
                  {"global stores", &t->global_store},
                  {"global atomics", &t->global_atomic},
                  {"async copies", &t->async_copy},
                  {"local memory", &t->local},
                  {"shared loads", &t->shared_load},
                  {"shared stores", &t->shared_store},
                  {"shared atomics", &t->shared_atomic},
                  {"constants", &t->constant}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        json_append(&list, counter_words(totals[i].name, totals[i].c));
    return list;
}

static json_t *launch_words(const explained *x, uint32_t i)
{
    const explained_launch *l = &x->launches[i];
    const explanation *e = &l->explanation;
    const sim_profile *profile = &l->found.profile;
    const sim_prediction *p = &l->found.prediction;
    json_t *lines = json_array(), *sentences = json_array(), *issued = json_array();
    json_t *alone = json_array();
    for (int t = 0; t < SIM_TERM_COUNT; t++)
        json_append(&alone,
                    json_pack("[s o]", sim_term_name((sim_term)t), json_exact(p->terms_ns[t])));
    json_append(&alone, json_pack("[s o]", "all together", json_exact(p->time_ns)));
    for (size_t k = 0; k < e->line_count; k++)
        json_append(&lines, line_words(&e->lines[k]));
    for (size_t k = 0; k < e->sentence_count; k++)
        json_append(&sentences, json_string_nocheck(e->sentences[k]));
    for (int c = 0; c < SIM_CLASS_COUNT; c++)
        if (profile->totals.issued[c] > 0)
            json_append(&issued, json_pack("[s, f]", sim_class_name((sim_class)c),
                                           (double)profile->totals.issued[c] /
                                               (double)profile->totals.issued_total));
    return json_pack(
        "{ss sI so sb so so so so sI sI so}", "entry", plan_entry(&x->launch, i), "rounds",
        (json_int_t)plan_rounds(&x->launch, i), "scale", json_exact(e->scale), "faulted",
        l->found.fault.kind != SIM_FAULT_NONE, "lines", lines, "sentences", sentences, "totals",
        totals_words(&profile->totals), "issued", issued, "sampled", (json_int_t)profile->sampled,
        "blocks", (json_int_t)profile->blocks, "alone", alone);
}

/* Lists, for each line of the source, the line number in the kernel file, or 0. The list is empty
 * if the kernel is from a template. */
static json_t *own_numbers(const explained *x)
{
    const kernel_file *file;
    const char *const *defines;
    size_t define_count;
    json_t *numbers = json_array();
    if (!script_file(x->script, &file, &defines, &define_count))
        return numbers;
    const size_t length = strlen(file->name);
    for (size_t i = 0; i < x->place_count; i++) {
        const char *place = x->places[i] ? x->places[i] : "";
        const bool is_own = strncmp(place, file->name, length) == 0 && place[length] == ':';
        json_append(&numbers, json_integer(is_own ? atoi(place + length + 1) : 0));
    }
    return numbers;
}

static json_t *pack_words(const explained *x)
{
    const kernel_resources *r = &x->compiled.resources;
    const size_t columns = terminal_columns(LEAST_BESIDE);
    const pattern *p = script_pattern(x->script);
    json_t *launches = json_array(), *includes = json_object();
    for (uint32_t i = 0; i < x->launch.launch_count; i++)
        json_append(&launches, launch_words(x, i));
    for (size_t i = 0; i < x->source.includes.count; i++)
        json_object_set_new_nocheck(includes, x->source.includes.headers[i].name,
                                    json_string_nocheck(x->source.includes.headers[i].text));
    return json_pack("{ss so sb so so so so sI sI sb}", "configuration", x->configuration,
                     "stood_for",
                     record_pack_tuned_difference(p->problems[PROBLEM_TUNED],
                                                  p->problems[x->problem], p->problem_count),
                     "narrow", columns > 0 && columns < LEAST_BESIDE, "source",
                     json_string_nocheck(x->source.source), "numbers", own_numbers(x), "includes",
                     includes, "each", launches, "registers_a_thread", (json_int_t)r->registers,
                     "spilled", (json_int_t)r->spill_store_bytes + r->spill_load_bytes,
                     "predicts_tuned", (int)x->predicts_tuned);
}

/* Counts the variant and proves it. */
static at_status make_proven(const settings *wanted, const char *configuration, explained *x,
                             at_error *error)
{
    at_status status = explained_count(wanted, configuration, true, x, error);
    if (!status && script_pattern(x->script)->measurable)
        status = prove(x, error);
    /* A fault is reported by the proof alone, with the line of the template. */
    for (uint32_t i = 0; i < x->launch.launch_count; i++)
        if (x->wrong && x->launches[i].found.fault.kind != SIM_FAULT_NONE)
            x->launches[i].explanation.sentence_count = 0;
    return status;
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    explained x = {0};
    at_status status = make_proven(&o->run, o->configuration, &x, error);
    if (!status)
        status =
            page_show(o, "explain", 2, pack_explained(&x), o->json ? NULL : pack_words(&x), error);
    *exit_code = x.wrong || explained_faulted(&x) ? 1 : x.is_script_wrong ? 2 : x.unproven ? 3 : 0;
    explained_deinit(&x);
    return status;
}

const command cmd_explain = {
    .name = "explain",
    .operand = "SCRIPT",
    .summary = "Show what each line of one variant does to memory, and what limits it",
    .options = "describe config captured only set include device json",
    .answer = answer,
};
