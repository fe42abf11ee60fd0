/* autotune importance, convert, replay: recorded measurements, read without a GPU. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cmd/look/plot.h"
#include "history/recorded.h"
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
        return error_set(error, AT_USAGE,
                         "--format is missing: write --format kernel-tuner or --format t4");
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
        text[length] = '\n'; /* replaces the NUL: a text file ends in a newline */
        status = output_write(o, o->output, text, length + 1, error);
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

static at_status replay(const options *o, at_error *error)
{
    if (o->run.search.budget_s > 0)
        return error_set(error, AT_USAGE,
                         "--budget of a replay must be a number of evaluations, not a time");
    recorded r = {0};
    recorded_space rs = {0};
    json_t *answer = NULL;
    const replay_options chosen = {.strategy = o->run.search.strategy,
                                   .evaluations = o->run.search.budget_evaluations,
                                   .seed = o->run.search.seed,
                                   .repeat = o->repeat ? o->repeat : default_repeat};
    at_status status = recorded_read(o->operand, &r, error);
    if (!status)
        status = recorded_space_init(&rs, &r, error);
    if (!status)
        status = replay_run(&r, &rs, o->operand, &chosen, &answer, error);
    if (!status)
        status = page_show(o, "replay", 2, json_incref(json_array_get(answer, 0)),
                           json_incref(json_array_get(answer, 1)), error);
    json_decref(answer);
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
