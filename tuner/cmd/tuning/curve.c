/* autotune sweep: tunes many problems, one after the other, with the same workers. */
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "cmd/line/known.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cmd/line/series.h"
#include "record/record.h"
#include "report/report.h"
#include "run/recall.h"
#include "run/setup/setup.h"
#include "run/setup/workers.h"
#include "run/tune.h"

enum { MOST_POINTS = 10000, LABEL_BYTES = 256 };

typedef struct sweep_points { /* the points: a product of series */
    size_t axis_count;
    const char *names[CURVE_MAX_AXES];
    series axes[CURVE_MAX_AXES];
    size_t point_count;
} sweep_points;

static void sweep_points_deinit(sweep_points *c)
{
    for (size_t i = 0; i < c->axis_count; i++)
        series_deinit(&c->axes[i]);
}

static at_status sweep_points_init(sweep_points *c, const options *o, at_error *error)
{
    *c = (sweep_points){.point_count = 1};
    at_status status = series_check(o, "sweep", "NAME=V1,V2,...", CURVE_MAX_AXES, error);
    for (size_t i = 0; !status && i < o->sweep_count; i++) {
        const char *name = o->sweeps[i].name;
        c->names[i] = name;
        c->axis_count++;
        status = series_parse(name, o->sweeps[i].text, &c->axes[i], error);
        if (!status && c->point_count > MOST_POINTS / c->axes[i].count)
            status = error_set(
                error, AT_USAGE,
                "--over gives more than %d points, the most that are allowed: give fewer values",
                MOST_POINTS);
        c->point_count *= status ? 1 : c->axes[i].count;
    }
    return status;
}

/* Returns the settings of the run at a point, and its values. The first axis varies slowest. */
static settings settings_at(const sweep_points *c, const options *o, size_t point,
                            const char *values[CURVE_MAX_AXES])
{
    settings asked = o->run;
    for (size_t i = c->axis_count; i-- > 0;) {
        values[i] = c->axes[i].texts[point % c->axes[i].count];
        point /= c->axes[i].count;
    }
    for (size_t i = 0; i < c->axis_count; i++)
        asked.pattern.variables[asked.pattern.variable_count++] =
            (script_setting){.name = c->names[i], .text = values[i]};
    return asked;
}

static void show(const sweep_points *c, const options *o, const char *const *values, size_t point)
{
    if (o->run.quiet)
        return;
    fprintf(stderr, "%zu of %zu:", point + 1, c->point_count);
    for (size_t i = 0; i < c->axis_count; i++)
        fprintf(stderr, " %s=%s", c->names[i], values[i]);
    fputc('\n', stderr);
}

/* Returns whether an error with this status would occur at all points. */
static bool fails_everywhere(at_status status)
{
    return status == AT_USAGE || status == AT_NOT_FOUND || status == AT_NO_DEVICE ||
           status == AT_NO_TOOLCHAIN || status == AT_NO_MEMORY || status == AT_INTERRUPTED ||
           status == AT_IO || status == AT_FORMAT;
}

/* Measures a point and adds it to the curve, even after a failure. *first keeps the first one. */
static at_status measure(const settings *asked, const char *const *values, curve *out,
                         at_error *first, at_error *error)
{
    tune *t = NULL;
    at_error why = {0};
    at_status status = tune_run(asked, &t, &why);
    const run_summary *s = t ? tune_summary(t) : NULL;
    bool found = s && s->best_found;
    if (found || !fails_everywhere(status))
        curve_add(out, values, s, why.message);
    tune_free(t);
    if (status)
        workers_close(asked->machine.workers); /* their state is unknown after a failure */
    if (status && !first->status)
        *first = why;
    if (fails_everywhere(status) && error)
        *error = why;
    return fails_everywhere(status) ? status : AT_OK;
}

/* Adds a point from the record of a GPU. */
static at_status recall(const options *o, const settings *asked, const record *r,
                        const char *const *values, curve *out, at_error *error)
{
    arch_limits limits;
    script *s = NULL;
    run_summary found = {0};
    at_status status = target_find("sm_90", &limits, error);
    if (!status)
        status = target_load_script(asked, &limits, &s, error);
    if (!status)
        status = run_summary_init(&found, script_pattern(s), PROBLEM_TUNED, error);
    if (!status) {
        snprintf(found.device.limits.name, sizeof found.device.limits.name, "%s", r->gpu);
        found.warm_cache = o->run.race.warm_cache;
        found.objective = o->run.race.energy ? "energy" : "time";
        const record_entry *entry = record_find_entry(r, &found);
        if (entry)
            status = recall_fill(r, entry, &found, error);
        if (!status)
            curve_add(out, values, &found, "not recorded");
    }
    run_summary_deinit(&found);
    script_free(s);
    return status;
}

static bool ends_in(const char *path, const char *suffix)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, suffix) == 0;
}

static at_status draw(const options *o, const curve *c, at_error *error)
{
    char *program = NULL, *picture = NULL;
    size_t size_bytes = 0;
    if (!c->found)
        return error_set(error, AT_USAGE, "there is nothing to draw: no point has a winner");
    at_status status = page_text("curve_plot", curve_pack(c),
                                 json_pack("{sb so}", "png", (int)ends_in(o->picture, ".png"),
                                           "words", curve_pack_figures(c)),
                                 &program, error);
    if (!status)
        status = page_draw(program, &picture, &size_bytes, error);
    if (!status)
        status = output_write(o, o->picture, picture, size_bytes, error);
    free(program);
    free(picture);
    return status;
}

/* Rejects problems that the script cannot load, before any point is measured. */
static at_status check_points(const options *o, const sweep_points *c, at_error *error)
{
    arch_limits any;
    at_status status = target_find("sm_90", &any, error);
    for (size_t i = 0; !status && i < c->point_count; i++) {
        const char *values[CURVE_MAX_AXES];
        script *s = NULL;
        at_error why = {0};
        settings asked = settings_at(c, o, i, values);
        at_status loaded = target_load_script(&asked, &any, &s, &why);
        script_free(s);
        if (!fails_everywhere(loaded))
            continue;
        status = loaded;
        if (error)
            *error = why;
    }
    return status;
}

static at_status print_measured(const options *o, const curve *c, at_error *error)
{
    at_status status = o->json
                           ? json_text_print(curve_pack(c), 2, stdout, error)
                           : page_show(o, "curve", 2, json_pack("{s[o]}", "curves", curve_pack(c)),
                                       json_pack("{s[o]}", "words", curve_pack_figures(c)), error);
    return status || !o->picture ? status : draw(o, c, error);
}

static at_status sweep_measured(const options *o, const sweep_points *c, int *exit_code,
                                at_error *error)
{
    workers shared = {0};
    curve found;
    at_error first = {0};
    at_status status = check_points(o, c, error);
    if (status)
        return status;
    curve_init(&found, c->names, c->axis_count);
    for (size_t i = 0; !status && i < c->point_count; i++) {
        const char *values[CURVE_MAX_AXES];
        settings asked = settings_at(c, o, i, values);
        asked.machine.workers = &shared;
        show(c, o, values, i);
        status = measure(&asked, values, &found, &first, error);
    }
    workers_close(&shared);
    if (found.found) {
        at_status printed = print_measured(o, &found, status ? NULL : error);
        status = status ? status : printed;
    } else if (!status) {
        *exit_code = 1;
        status = first.status;
        *error = first;
    }
    curve_deinit(&found);
    return status;
}

/* Adds the curve of a GPU's record, unless the curve has no points. */
static at_status add_recorded(const options *o, const sweep_points *c, const record *r,
                              json_t **curves, json_t **words, at_error *error)
{
    curve found;
    at_status status = AT_OK;
    curve_init(&found, c->names, c->axis_count);
    for (size_t i = 0; !status && i < c->point_count; i++) {
        const char *values[CURVE_MAX_AXES];
        settings asked = settings_at(c, o, i, values);
        status = recall(o, &asked, r, values, &found, error);
    }
    if (!status && found.found) {
        json_append(curves, curve_pack(&found));
        json_append(words, curve_pack_figures(&found));
    }
    if (!status && found.found && o->picture)
        status = draw(o, &found, error);
    curve_deinit(&found);
    return status;
}

static at_status sweep_recorded(const options *o, const sweep_points *c, int *exit_code,
                                at_error *error)
{
    arch_limits limits;
    script *s = NULL;
    record_set set = {0};
    json_t *curves = json_array(), *words = json_array();
    at_status status = target_find("sm_90", &limits, error);
    if (!status)
        status = target_load_script(&o->run, &limits, &s, error);
    if (!status)
        status = known_records(o, script_pattern(s)->name, false, &set, error);
    for (size_t k = 0; !status && k < set.count; k++)
        status = add_recorded(o, c, &set.records[k], &curves, &words, error);
    const bool nothing = json_array_size(curves) == 0;
    if (!status && nothing) {
        *exit_code = 1;
        fprintf(stderr,
                "autotune: nothing is recorded of these problems of %s; 'autotune results list %s' "
                "lists what is\n",
                script_pattern(s)->name, script_pattern(s)->name);
    }
    if (!status && (o->json || !nothing))
        status = page_show(o, "curve", 2, json_pack("{sO}", "curves", curves),
                           json_pack("{sO}", "words", words), error);
    json_decref(curves);
    json_decref(words);
    record_set_deinit(&set);
    script_free(s);
    return status;
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    sweep_points c;
    if (o->picture && !ends_in(o->picture, ".png") && !ends_in(o->picture, ".svg"))
        return error_set(error, AT_USAGE,
                         "the name of a picture must end in .png or .svg, not '%s'", o->picture);
    at_status status = sweep_points_init(&c, o, error);
    if (!status)
        status = o->recorded ? sweep_recorded(o, &c, exit_code, error)
                             : sweep_measured(o, &c, exit_code, error);
    sweep_points_deinit(&c);
    return status;
}

const command cmd_sweep = {
    .name = "sweep",
    .operand = "SCRIPT",
    .summary = "Tune along variables of the problem, and print the curve",
    .options = "describe set include only over device strategy budget effort stop-at seed fixed "
               "finals tie prove "
               "jobs cache "
               "no-cache recorded picture json quiet results record no-record",
    .answer = answer,
};
