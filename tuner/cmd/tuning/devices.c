/* autotune devices, ceilings, calibrate: this machine's devices, and the limits of a GPU. Each
 * ceiling is the best of a small space of kernels (lua/ceilings), tuned like any other pattern. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "base/paths.h"
#include "base/text.h"
#include "bench/client.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "record/ceilings.h"
#include "record/schema.h"
#include "run/setup/workers.h"
#include "run/tune.h"
#include "sim/chip.h"

enum { MOST_DEVICES = 64 };

/* Prints the devices. `no_gpu` is the reason why there is no GPU, or NULL. */
static at_status print_devices(const options *o, const device_properties *d, size_t count,
                               const char *no_gpu, at_error *error)
{
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        sim_chip chip;
        const bool simulated = d[i].predicted && !sim_chip_of_device(d[i].spec, &chip, NULL);
        json_append(&all,
                    json_pack("{ss ss ss? ss ss si sI sI sI ss si}", "device", d[i].spec, "name",
                              d[i].limits.name, "chip", simulated ? chip.product : NULL, "arch",
                              d[i].arch, "uuid", d[i].uuid, "sm_count", d[i].limits.sm_count,
                              "global_bytes", (json_int_t)d[i].limits.global_bytes, "l2_bytes",
                              (json_int_t)d[i].limits.l2_bytes, "max_shared_per_block_bytes",
                              (json_int_t)d[i].limits.max_shared_per_block_bytes, "driver",
                              d[i].driver, "cuda_version", d[i].cuda_version));
    }
    return page_show(o, "devices", 2,
                     json_pack("{so so}", "devices", all, "no_gpu", json_foreign_text(no_gpu)),
                     NULL, error);
}

static at_status list_devices(const options *o, at_error *error)
{
    device_properties found[MOST_DEVICES];
    size_t real = 0, simulated = 0;
    at_error why = {0};
    at_status status = device_worker_list("cuda", found, MOST_DEVICES, &real, &why);
    if (status && status != AT_NO_DEVICE) {
        *error = why;
        return status;
    }
    const bool none = status != AT_OK;
    status = device_worker_list("sim", found + real, MOST_DEVICES - real, &simulated, error);
    return status ? status
                  : print_devices(o, found, real + simulated, none ? why.message : NULL, error);
}

const command cmd_devices = {
    .name = "devices",
    .summary = "List the GPUs, and the simulated ones, that can be tuned on",
    .options = "json",
    .run = list_devices,
};

enum { FIGURE_DIGITS = 6 };

/* How one ceiling is measured. */
typedef struct trial {
    ceiling_kind kind;
    const char *script;
    script_setting setting; /* a NULL name sets nothing */
    bool warm;              /* the data stays in the L2 */
    bool predicts;          /* predictions use this ceiling (sim/chip.h) */
} trial;

static const trial trials[] = {
    {CEILING_COPY, "copy", {NULL, NULL}, false, true},
    {CEILING_READ, "read", {NULL, NULL}, false, true},
    {CEILING_WRITE, "write", {NULL, NULL}, false, true},
    {CEILING_L2, "l2", {NULL, NULL}, true, true},
    {CEILING_L1, "l1", {NULL, NULL}, true, true},
    {CEILING_SHARED, "shared", {NULL, NULL}, false, false},
    {CEILING_FP32, "flops", {"dtype", "float"}, false, false},
    {CEILING_FP64, "flops", {"dtype", "double"}, false, false},
    {CEILING_ATOMICS, "atomics", {NULL, NULL}, true, false},
    {CEILING_HOST_TO_DEVICE, "transfer", {"direction", "to_device"}, false, false},
    {CEILING_DEVICE_TO_HOST, "transfer", {"direction", "to_host"}, false, false},
    {CEILING_LAUNCHES, "launches", {NULL, NULL}, true, false},
    {CEILING_BLOCKS, "blocks", {NULL, NULL}, false, true},
    {CEILING_ROUND_TRIPS, "round_trips", {NULL, NULL}, false, true},
    {CEILING_PIECES_READ, "pieces", {"direction", "read"}, false, true},
    {CEILING_PIECES_WRITTEN, "pieces", {"direction", "written"}, false, true},
    {CEILING_ONE_WORD, "one_address", {"dtype", "uint32"}, false, true},
    {CEILING_ONE_FLOAT, "one_address", {"dtype", "float"}, false, true},
    {CEILING_ONE_DOUBLE, "one_address", {"dtype", "double"}, false, true},
};
enum { TRIALS = sizeof trials / sizeof *trials };

typedef struct measured_ceilings {
    json_t *ceilings;       /* JSON for programs; owned */
    json_t *words;          /* data for text; owned */
    char file[PATHS_BYTES]; /* "" if no record was written */
    size_t missed;          /* number of ceilings for which no kernel worked */
} measured_ceilings;

static bool is_wanted(const options *o, bool for_predictions, const trial *t)
{
    if (for_predictions)
        return t->predicts;
    for (size_t i = 0; i < o->operand_count; i++)
        if (strcmp(o->operands[i], ceiling_get(t->kind)->name) == 0)
            return true;
    return o->operand_count == 0;
}

static at_status check_names(const options *o, at_error *error)
{
    const char *names[TRIALS];
    for (size_t i = 0; i < TRIALS; i++)
        names[i] = ceiling_get(trials[i].kind)->name;
    for (size_t k = 0; k < o->operand_count; k++) {
        bool known = false;
        for (size_t i = 0; i < TRIALS; i++)
            known = known || strcmp(names[i], o->operands[k]) == 0;
        if (known)
            continue;
        const char *nearest = nearest_name(o->operands[k], names, TRIALS);
        return error_set(error, AT_USAGE,
                         "there is no ceiling '%.80s': 'autotune ceilings --help' lists them%s%s%s",
                         o->operands[k], nearest ? "; did you mean '" : "", nearest ? nearest : "",
                         nearest ? "'?" : "");
    }
    return AT_OK;
}

static at_status open_gpu(const settings *asked, workers *w, at_error *error)
{
    if (asked->machine.device &&
        (strchr(asked->machine.device, ',') || strcmp(asked->machine.device, "all") == 0))
        return error_set(error, AT_USAGE,
                         "ceilings are measured on one GPU at a time: --device cuda:0");
    at_status status = workers_settle(w, asked, error);
    if (!status && w->properties.predicted)
        status =
            w->driver_less[0]
                ? error_set(error, AT_NO_DEVICE,
                            "this command measures a GPU, and there is none: %s", w->driver_less)
                : error_set(error, AT_NO_DEVICE,
                            "this command measures a GPU, and %s is a simulated device",
                            w->properties.spec);
    return status;
}

static json_t *pack_values(const run_summary *s, const run_result *best, const char *unit,
                           double rate)
{
    return json_pack("{so ss sI s[II] so so}", "rate", json_rounded(rate, FIGURE_DIGITS), "unit",
                     unit, "time_ns", (json_int_t)best->time.median_ns, "ci_ns",
                     (json_int_t)best->time.low_ns, (json_int_t)best->time.high_ns, "problem",
                     record_pack_problem(s), "config",
                     json_from_values(s->parameters, best->values, s->parameter_count));
}

static void add_row(measured_ceilings *on, const run_summary *s, const run_result *best,
                    ceiling_kind kind)
{
    const ceiling_info *ceiling = ceiling_get(kind);
    const double rate = best->rates[ceiling->unit];
    char unit[WORK_RATE_BYTES];
    work_rate_name(ceiling->unit, s->item, unit);
    json_put(&on->ceilings, ceiling->name, pack_values(s, best, unit, rate));
    json_put(&on->words, ceiling->name,
             json_pack("{so sb ss}", "rate", json_exact(rate), "of_launches",
                       kind == CEILING_LAUNCHES, "by", best->configuration));
}

/* Tunes the kernels of a ceiling, and keeps the rate of the best. */
static at_status measure(const options *o, const paths *own, const trial *t, workers *w,
                         measured_ceilings *on, at_error *error)
{
    char path[PATHS_BYTES + 64];
    settings asked = o->run;
    tune *run = NULL;
    snprintf(path, sizeof path, "%s/ceilings/%s.lua", own->lua_dir, t->script);
    asked.pattern.script = path;
    asked.results.record = asked.results.must_record = false;
    asked.race.warm_cache = t->warm;
    asked.machine.workers = w;
    if (t->setting.name)
        asked.pattern.variables[asked.pattern.variable_count++] = t->setting;
    if (!o->run.quiet)
        fprintf(stderr, "%s\n", ceiling_get(t->kind)->name);
    at_status status = tune_run(&asked, &run, error);
    const run_summary *s = run ? tune_summary(run) : NULL;
    const run_result *best = s ? run_summary_best(s) : NULL;
    if (!status && !best) {
        json_put(&on->ceilings, ceiling_get(t->kind)->name, json_null());
        on->missed++;
    }
    if (!status && best && o->run.results.record)
        status = ceilings_merge(o->run.results.results_dir, s, t->kind, on->file, sizeof on->file,
                                error);
    if (!status && best)
        add_row(on, s, best, t->kind);
    tune_free(run);
    return status;
}

static at_status print_ceilings(const options *o, measured_ceilings *on, const device_properties *d,
                                at_error *error)
{
    json_t *root =
        json_pack("{s{ss ss ss ss} sO so ss}", "device", "kind", d->kind, "name", d->limits.name,
                  "arch", d->arch, "driver", d->driver, "ceilings", on->ceilings, "file",
                  on->file[0] ? json_path(on->file) : json_null(), "version", version_text());
    return page_show(o, "ceilings", 2, root,
                     json_pack("{sO so}", "words", on->words, "kept",
                               on->file[0] ? json_path(on->file) : json_null()),
                     error);
}

static at_status measure_all(const options *o, bool for_predictions, int *exit_code,
                             at_error *error)
{
    paths own;
    workers shared = {0};
    measured_ceilings on = {.ceilings = json_object(), .words = json_object()};
    at_status status = check_names(o, error);
    if (!status)
        status = paths_find(&own, error);
    if (!status)
        status = open_gpu(&o->run, &shared, error);
    size_t measured = 0;
    for (size_t i = 0; i < TRIALS && !status; i++)
        if (is_wanted(o, for_predictions, &trials[i])) {
            status = measure(o, &own, &trials[i], &shared, &on, error);
            measured += !status;
        }
    /* After an error, the ceilings measured so far are printed. */
    at_status printed =
        measured ? print_ceilings(o, &on, &shared.properties, status ? NULL : error) : AT_OK;
    status = status ? status : printed;
    *exit_code = on.missed ? 1 : 0;
    workers_close(&shared);
    json_decref(on.ceilings);
    json_decref(on.words);
    return status;
}

static at_status measure_named(const options *o, int *exit_code, at_error *error)
{
    return measure_all(o, false, exit_code, error);
}

static at_status calibrate(const options *o, int *exit_code, at_error *error)
{
    return measure_all(o, true, exit_code, error);
}

const command cmd_calibrate = {
    .name = "calibrate",
    .summary = "Measure the figures of a GPU on which predicted times rest",
    .options = "device jobs no-cache json quiet results no-record",
    .answer = calibrate,
};

const command cmd_ceilings = {
    .name = "ceilings",
    .operand = "[NAME...]",
    .operands_most = TRIALS,
    .summary = "Measure what a GPU can do at most",
    .options = "device jobs no-cache json quiet results no-record",
    .answer = measure_named,
};
