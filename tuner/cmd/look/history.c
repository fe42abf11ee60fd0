/* autotune importance, convert, replay: recorded measurements, read without a GPU. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cmd/look/plot.h"
#include "history/recorded.h"
#include "history/replay.h"
#include "script/render.h"

static at_status importance(const options *o, at_error *error)
{
    json_t *source;
    at_status status = recorded_open(o->operand, &source, error);
    if (status)
        return status;
    return page_answer(o, "importance", 1, o->operand,
                       json_pack("{so so sI}", "source", source, "path", json_path(o->operand),
                                 "top", (json_int_t)o->top),
                       error);
}

const command cmd_importance = {
    .name = "importance",
    .operand = "FILE",
    .summary = "Show which parameters decide, and which only together",
    .options = "top json",
    .run = importance,
};

static at_status convert(const options *o, at_error *error)
{
    json_t *source, *given, *document = NULL;
    char *text = NULL;
    if (!o->format)
        return error_set(error, AT_USAGE, "--format says what to write: kernel-tuner or t4");
    at_status status = recorded_open(o->operand, &source, error);
    if (status)
        return status;
    given = json_pack("{so ss so}", "source", source, "format", o->format, "name",
                      plot_file_name(o->operand));
    status = script_compute("commands.convert", o->operand, given, &document, error);
    if (!status)
        status = json_text_format(document, 1, &text, error);
    size_t length = text ? strlen(text) : 0;
    if (!status) {
        text[length] = '\n'; /* replaces the NUL, since a text file ends in a newline */
        status = terminal_or_file(o->output, text, length + 1, error);
    }
    free(text);
    json_decref(document);
    json_decref(given);
    return status;
}

const command cmd_convert = {
    .name = "convert",
    .operand = "FILE",
    .summary = "Write measurements in the format of another tool",
    .options = "format output",
    .chooses = "format",
    .words = "kernel-tuner|t4",
    .raw = true,
    .run = convert,
};

static const size_t default_repeat = 100;
/* The figures are means over seeds: further digits are noise. */
enum { DIGITS = 6 };

/* Packs the shares by evaluations, {"1": share, ...}, or by seconds. */
static json_t *shares(const replay_result *result, bool by_time, bool random)
{
    json_t *object = json_object();
    for (size_t i = 0; i < result->mark_count; i++) {
        const replay_mark *m = &result->marks[i];
        char key[64];
        if (by_time)
            snprintf(key, sizeof key, "%.6g", m->seconds);
        else
            snprintf(key, sizeof key, "%" PRIu64, m->evaluations);
        double share = random ? m->random_share : by_time ? m->share_in_time : m->share;
        json_object_set_new(object, key, json_rounded(share, DIGITS));
    }
    return object;
}

/* Packs the figures that text needs; the text rounds them itself. */
static json_t *pack_words(const char *path, const recorded *r, const replay_result *result)
{
    json_t *marks = json_array();
    for (size_t i = 0; i < result->mark_count; i++) {
        const replay_mark *m = &result->marks[i];
        json_append(&marks,
                    json_pack("{sI so so so so}", "evaluations", (json_int_t)m->evaluations,
                              "share", json_exact(m->share), "random", json_exact(m->random_share),
                              "seconds", json_exact(m->seconds), "in_time",
                              json_exact(m->share_in_time)));
    }
    return json_pack("{so ss ss ss so s[o o o o] so}", "path", json_path(path), "kernel", r->kernel,
                     "device", r->device, "objective", r->objective, "marks", marks, "scores",
                     json_exact(result->score), json_exact(result->score_in_time),
                     json_exact(result->rank_score), json_exact(result->rank_score_in_time),
                     "exact_budget_s", json_exact(result->budget_s));
}

static at_status print_replay(const options *o, const recorded *r, const replay_result *result,
                              const replay_options *chosen, at_error *error)
{
    json_t *root = json_pack(
        "{s:o, s:s, s:I, s:I, s:I, s:I, s:f, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "file",
        json_path(o->operand), "strategy", result->strategy, "seeds", (json_int_t)chosen->repeat,
        "seed", (json_int_t)chosen->seed, "configurations", (json_int_t)result->space_count,
        "failed", (json_int_t)result->failed, "optimum", result->optimum, "budget_evaluations",
        (json_int_t)result->budget_evaluations, "budget_s", json_rounded(result->budget_s, DIGITS),
        "share_at", shares(result, false, false), "share_at_s", shares(result, true, false),
        "random_share_at", shares(result, false, true), "score",
        json_rounded(result->score, DIGITS), "score_in_time",
        json_rounded(result->score_in_time, DIGITS), "methodology_score",
        json_rounded(result->rank_score, DIGITS), "methodology_score_in_time",
        json_rounded(result->rank_score_in_time, DIGITS));
    return page_show(o, "replay", 2, root, pack_words(o->operand, r, result), error);
}

static at_status replay(const options *o, at_error *error)
{
    if (o->run.search.budget_s > 0)
        return error_set(error, AT_USAGE,
                         "--budget of a replay is a number of evaluations: recorded time is on the "
                         "curve's other axis");
    recorded r = {0};
    recorded_space rs = {0};
    replay_result result;
    replay_options chosen = {.strategy = o->run.search.strategy,
                             .evaluations = o->run.search.budget_evaluations,
                             .seed = o->run.search.seed,
                             .repeat = o->repeat ? o->repeat : default_repeat,
                             .batch = 1};
    at_status status = recorded_read(o->operand, &r, error);
    if (!status)
        status = recorded_space_init(&rs, &r, error);
    if (!status)
        status = replay_run(&rs, &chosen, &result, error);
    if (!status)
        status = print_replay(o, &r, &result, &chosen, error);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
    return status;
}

const command cmd_replay = {
    .name = "replay",
    .operand = "FILE",
    .summary = "Run a search strategy against recorded measurements",
    .options = "strategy budget seed repeat json",
    .run = replay,
};
