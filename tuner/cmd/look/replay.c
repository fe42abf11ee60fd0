/* autotune replay: a strategy searches recorded measurements instead of a GPU. */
#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "base/json_text.h"
#include "base/units.h"
#include "cmd/line/commands.h"
#include "history/history.h"
#include "history/replay.h"
#include "history/space.h"

static const size_t default_repeat = 100;
/* Figures are means over seeds: more digits than these are noise. */
enum { DIGITS = 6 };

static void print_table(const char *path, const recorded *r, const replay_result *result,
                        const replay_options *chosen)
{
    char time[UNITS_BYTES];
    printf("%s: %s%s%s\n", path, r->kernel, *r->device ? " on " : "", r->device);
    printf("%" PRIu64 " configurations, of which %" PRIu64 " fail; optimum %.6g (%s)\n",
           result->space_count, result->failed, result->optimum, r->objective);
    printf("strategy %s, %zu seeds from %" PRIu64 "\n\n", result->strategy, chosen->repeat,
           chosen->seed);
    puts("evaluations  share of optimum  random  |  recorded time  share of optimum");
    for (size_t i = 0; i < result->mark_count; i++) {
        const replay_mark *m = &result->marks[i];
        printf("%11" PRIu64 "            %.4f  %.4f  |  %13s            %.4f\n", m->evaluations,
               m->share, m->random_share, units_duration(m->seconds, time), m->share_in_time);
    }
    printf("\nscore by evaluations %.3f, by time %.3f (0: random search, 1: the optimum at once)\n",
           result->score, result->score_in_time);
    printf("against the methodology's own baseline %.3f and %.3f (random search is above 0)\n",
           result->rank_score, result->rank_score_in_time);
    printf("taken up to %" PRIu64 " evaluations, %s\n", result->budget_evaluations,
           units_duration(result->budget_s, time));
}

/* {"1": share, ...} by evaluations, or by seconds. */
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

static at_status print_json(const char *path, const replay_result *result,
                            const replay_options *chosen, at_error *error)
{
    json_t *root = json_pack(
        "{s:o, s:s, s:I, s:I, s:I, s:I, s:f, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "file",
        json_path(path), "strategy", result->strategy, "seeds", (json_int_t)chosen->repeat, "seed",
        (json_int_t)chosen->seed, "configurations", (json_int_t)result->space_count, "failed",
        (json_int_t)result->failed, "optimum", result->optimum, "budget_evaluations",
        (json_int_t)result->budget_evaluations, "budget_s", json_rounded(result->budget_s, DIGITS),
        "share_at", shares(result, false, false), "share_at_s", shares(result, true, false),
        "random_share_at", shares(result, false, true), "score",
        json_rounded(result->score, DIGITS), "score_in_time",
        json_rounded(result->score_in_time, DIGITS), "methodology_score",
        json_rounded(result->rank_score, DIGITS), "methodology_score_in_time",
        json_rounded(result->rank_score_in_time, DIGITS));
    return json_text_print(root, 2, stdout, error);
}

static at_status run(const options *o, at_error *error)
{
    if (o->run.budget_s > 0)
        return error_set(error, AT_USAGE,
                         "--budget of a replay is a number of evaluations: recorded time is on the "
                         "curve's other axis");
    recorded r = {0};
    recorded_space rs = {0};
    replay_result result;
    replay_options chosen = {.strategy = o->run.strategy,
                             .evaluations = o->run.budget_evaluations,
                             .seed = o->run.seed,
                             .repeat = o->repeat ? o->repeat : default_repeat,
                             .batch = 1};
    at_status status = recorded_read(o->operand, &r, error);
    if (!status)
        status = recorded_space_init(&rs, &r, error);
    if (!status)
        status = replay_run(&rs, &chosen, &result, error);
    if (!status && o->json)
        status = print_json(o->operand, &result, &chosen, error);
    else if (!status)
        print_table(o->operand, &r, &result, &chosen);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
    return status;
}

const command cmd_replay = {
    .name = "replay",
    .operand = "FILE",
    .summary = "Run a search strategy against recorded measurements",
    .options = "strategy budget seed repeat json",
    .run = run,
};
