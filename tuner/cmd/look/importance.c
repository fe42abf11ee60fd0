/* autotune importance: which parameters decide, and which of them only together. */
#include <jansson.h>

#include "base/json_text.h"
#include "cmd/line/commands.h"
#include "cmd/line/page.h"
#include "history/history.h"
#include "history/importance.h"

static at_status print(const options *o, const recorded *r, const importance *m, at_error *error)
{
    json_t *parameters = json_array(), *pairs = json_array(), *best = json_array();
    for (size_t i = 0; i < m->parameter_count; i++) {
        const importance_parameter *p = &m->parameters[i];
        json_append(&parameters,
                    json_pack("{s:s, s:f, s:f, s:f}", "name", r->names[p->parameter], "total",
                              p->total, "alone", p->alone, "worst_value_ratio", p->worst));
        json_append(&best, json_from_value(r->results[p->best_value].values[p->parameter]));
    }
    for (size_t i = 0; i < m->pair_count; i++)
        json_append(&pairs, json_pack("{s:s, s:s, s:f}", "a", r->names[m->pairs[i].a], "b",
                                      r->names[m->pairs[i].b], "share", m->pairs[i].share));
    json_t *found =
        json_pack("{ss sI sb so so}", "kernel", r->kernel, "measured", (json_int_t)m->measured,
                  "whole", (int)m->whole, "parameters", parameters, "pairs", pairs);
    return page_show(o, "importance", 1, found,
                     json_pack("{so ss ss so so sI}", "path", json_path(o->operand), "device",
                               r->device, "objective", r->objective, "deviation",
                               json_exact(m->deviation), "best", best, "top", (json_int_t)o->top),
                     error);
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
        status = print(o, &r, &m, error);
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
