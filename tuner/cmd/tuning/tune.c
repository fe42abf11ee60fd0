/* autotune tune: find the fastest configuration and record it. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/text.h"
#include "cmd/line/commands.h"
#include "cmd/line/page.h"
#include "cmd/tuning/models.h"
#include "ranks/ranks.h"
#include "report/report.h"
#include "run/tune.h"

/* Appends the --config of a variant: what --config leaves out has the default's value. */
static void add_differences(char *text, size_t size_bytes, const run_summary *s,
                            const run_result *r)
{
    const run_result *base = run_summary_baseline(s);
    const char *before = " --config ";
    if (!base) {
        text_add(text, size_bytes, "%s%s", before, r->configuration);
        return;
    }
    for (size_t i = 0; i < s->parameter_count; i++) {
        char shown[CONFIGURATION_BYTES];
        if (value_equal(r->values[i], base->values[i]))
            continue;
        value_format(r->values[i], shown, sizeof shown);
        text_add(text, size_bytes, "%s%s=%s", before, s->parameters[i], shown);
        before = ",";
    }
}

/* Adds to the words the command that explains the winner where no record is kept of it: its many
 * names are not to be typed. */
static json_t *pack_words(const options *o, const settings *asked, const run_summary *s)
{
    const run_result *best = run_summary_best(s);
    char text[2 * CONFIGURATION_BYTES] = "";
    json_t *words = report_pack_words(s, o->top);
    if (best && s->device.predicted) {
        text_add(text, sizeof text, "autotune explain %s", asked->pattern.script);
        for (size_t i = 0; i < asked->pattern.variable_count; i++)
            text_add(text, sizeof text, " --set %s=%s", asked->pattern.variables[i].name,
                     asked->pattern.variables[i].text);
        for (size_t i = 0; i < asked->pattern.include_count; i++)
            text_add(text, sizeof text, " --include %s", asked->pattern.includes[i]);
        if (asked->pattern.describe)
            text_add(text, sizeof text, " --describe %s", asked->pattern.describe);
        if (asked->pattern.captured)
            text_add(text, sizeof text, " --captured %s", asked->pattern.captured);
        text_add(text, sizeof text, " --arch %s", s->device.arch);
        add_differences(text, sizeof text, s, best);
    }
    json_put(&words, "explain", json_string(text));
    return words;
}

static at_status tune_and_print(const options *o, const settings *asked, int *exit_code,
                                at_error *error)
{
    tune *t;
    at_status status = tune_run(asked, &t, error);
    if (!t)
        return status;
    const run_summary *s = tune_summary(t);
    /* An error before anything was tried says all there is to say; so it does where nothing
     * compiles. */
    bool empty = status && s->result_count == s->counts[OUTCOME_COMPILE_ERROR];
    at_status printed =
        empty ? AT_OK
              : page_show(o, "tune", 2, report_pack(s, o->top),
                          o->json ? NULL : pack_words(o, asked, s), status ? NULL : error);
    status = status ? status : printed;
    *exit_code = s->best_found || (s->compiled_only && s->counts[OUTCOME_OK]) ? 0 : 1;
    tune_free(t);
    return status;
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    settings asked = o->run;
    gpu_models models = {0};
    at_status status = AT_OK;
    /* The session finds the GPUs of several ranks. */
    if (models_asked(asked.machine.device) && !getenv(CLUSTER_VARIABLE)) {
        bool mine = true;
        status = models_find(asked.machine.device, &models, error);
        if (!status && models.count > 1 && o->trace)
            status = error_set(error, AT_USAGE,
                               "--trace is for GPUs of one model: these are of %zu", models.count);
        asked.machine.device = models.specs[0];
        if (!status && models.count > 1)
            status = models_side_by_side(&models, &asked, &mine, exit_code, error);
        if (status || !mine)
            return status;
    }
    if (o->trace)
        status = trace_open(o->trace, clock_now_ns(), &asked.trace, error);
    if (status)
        return status;
    status = tune_and_print(o, &asked, exit_code, error);
    at_status closed = trace_close(asked.trace, status ? NULL : error);
    return status ? status : closed;
}

const command cmd_tune = {
    .name = "tune",
    .operand = "SCRIPT",
    .summary = "Find the fastest configuration and record it",
    .options =
        "describe set include captured only device verify-on arch strategy budget seed effort "
        "stop-at "
        "warm-start "
        "objective "
        "energy prove fixed finals tie jobs share cache after no-cache top json quiet trace "
        "results "
        "record "
        "no-record",
    .answer = answer,
};
