/* autotune importance: which parameters decide, and which of them only together. */
#include <stdio.h>

#include <jansson.h>

#include "base/json_text.h"
#include "cmd/line/commands.h"
#include "cmd/line/terminal.h"
#include "history/history.h"
#include "history/importance.h"
#include "report/table.h"

static const double least_pair = 0.005; /* of the variance: smaller ones are not worth a line */

static at_status print_tables(const char *path, const recorded *r, const importance *m, size_t top,
                              at_error *error)
{
    table t;
    table_init(&t);
    printf("%s%s%s: %zu configurations that work%s; log(%s) varies by %.3f\n\n",
           *r->kernel ? r->kernel : path, *r->device ? " on " : "", r->device, m->measured,
           m->whole ? ", the whole space" : "", r->objective, m->deviation);
    table_add_columns(&t, "<parameter,total,alone,worst value costs,<best");
    for (size_t i = 0; i < m->parameter_count; i++) {
        const importance_parameter *p = &m->parameters[i];
        char text[64];
        value_format(r->results[p->best_value].values[p->parameter], text, sizeof text);
        table_add_cell(&t, "%s", r->names[p->parameter]);
        table_add_cell(&t, "%.1f %%", 100 * p->total);
        table_add_cell(&t, "%.1f %%", 100 * p->alone);
        table_add_cell(&t, "+%.1f %%", 100 * (p->worst - 1));
        table_add_cell(&t, "%s", text);
    }
    at_status status = terminal_print_table(&t, error);
    table_deinit(&t);
    for (size_t i = 0, shown = 0;
         i < m->pair_count && shown < top && m->pairs[i].share >= least_pair; i++)
        printf("%s  %4.1f %%  %s with %s\n",
               shown++ ? "" : "\nTogether, beyond what each does alone:\n", 100 * m->pairs[i].share,
               r->names[m->pairs[i].a], r->names[m->pairs[i].b]);
    puts("\ntotal: of the variance, what it decides once all others are fixed; alone: what it "
         "decides by itself;\n"
         "worst value costs: the best that is to be had with the parameter's worst value, beside "
         "the best.");
    if (!m->whole)
        puts("Exact for the configurations measured; an estimate for those that were not.");
    return status;
}

static at_status print_json(const recorded *r, const importance *m, at_error *error)
{
    json_t *parameters = json_array(), *pairs = json_array();
    for (size_t i = 0; i < m->parameter_count; i++) {
        const importance_parameter *p = &m->parameters[i];
        json_append(&parameters,
                    json_pack("{s:s, s:f, s:f, s:f}", "name", r->names[p->parameter], "total",
                              p->total, "alone", p->alone, "worst_value_ratio", p->worst));
    }
    for (size_t i = 0; i < m->pair_count; i++)
        json_append(&pairs, json_pack("{s:s, s:s, s:f}", "a", r->names[m->pairs[i].a], "b",
                                      r->names[m->pairs[i].b], "share", m->pairs[i].share));
    return json_text_print(json_pack("{ss sI sb so so}", "kernel", r->kernel, "measured",
                                     (json_int_t)m->measured, "whole", (int)m->whole, "parameters",
                                     parameters, "pairs", pairs),
                           1, stdout, error);
}

static at_status run(const options *o, at_error *error)
{
    recorded r = {0};
    importance m = {0};
    at_status status = recorded_read(o->operand, &r, error);
    if (!status && r.is_record)
        status = error_set_at(
            error, AT_NOT_FOUND, o->operand, 0,
            "a record holds the best few and the default, which say nothing of the others: give "
            "what 'autotune SCRIPT --json --top 1000000' prints, or the run's journal");
    if (!status)
        status = importance_of(&r, &m, error);
    if (!status)
        status =
            o->json ? print_json(&r, &m, error) : print_tables(o->operand, &r, &m, o->top, error);
    importance_deinit(&m);
    recorded_deinit(&r);
    return status;
}

const command cmd_importance = {
    .name = "importance",
    .operand = "FILE",
    .summary = "Show which parameters decide, and which only together",
    .options = "top json",
    .run = run,
};
