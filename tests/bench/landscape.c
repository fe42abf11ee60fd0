/* A landscape is the measured times of many variants of one pattern, with one JSON object on each
 * line. This program adds the simulated device's counts to each variant, and predicts times from
 * the counts:
 *
 *   landscape features SCRIPT CHIP NAME=VALUE... < LANDSCAPE > FEATURES
 *   landscape predict CHIP [DEVICE.json] < FEATURES
 *
 * A line of a landscape has "config" (in the form of --config) and "time_ns"; a line with features
 * also has "launches". For each variant, `predict` prints time, predicted time and its interval,
 * the terms of the model, the mechanism of the interval and the configuration, separated by tabs;
 * variants that were not simulated are skipped. No GPU is needed. tests/bench/predicted.py judges
 * the output of `predict`. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "base/paths.h"
#include "compile/compile.h"
#include "record/ceilings.h"
#include "run/setup/setup.h"
#include "script/emit.h"
#include "sim/device.h"
#include "sim/estimate.h"

/* A member of a profile that the model reads. */
typedef struct field {
    const char *name;
    size_t at;
    bool is_count; /* the member is a uint64_t, else a double */
} field;

#define COUNT(member)                                                                              \
    {                                                                                              \
#member, offsetof(sim_profile, member), true                                               \
    }
#define NUMBER(member)                                                                             \
    {                                                                                              \
#member, offsetof(sim_profile, member), false                                              \
    }
#define TRAFFIC(of)                                                                                \
    NUMBER(of.sectors), NUMBER(of.distinct), NUMBER(of.missed), NUMBER(of.again),                  \
        NUMBER(of.between), NUMBER(of.passes), NUMBER(of.partial), NUMBER(of.torn),                \
        NUMBER(of.moved), NUMBER(of.sent), NUMBER(of.parts), NUMBER(of.fresh), NUMBER(of.runs),    \
        NUMBER(of.lines)
#define BUFFER(i)                                                                                  \
    NUMBER(buffers[i].bytes), NUMBER(buffers[i].distinct), NUMBER(buffers[i].fresh),               \
        NUMBER(buffers[i].runs), NUMBER(buffers[i].first_fresh), NUMBER(buffers[i].later_fresh),   \
        NUMBER(buffers[i].once), NUMBER(buffers[i].wide)
static const field fields[] = {
    COUNT(blocks),
    COUNT(threads),
    COUNT(sampled),
    COUNT(totals.global_load.requests),
    COUNT(totals.global_store.requests),
    COUNT(totals.global_atomic.requests),
    COUNT(totals.async_copy.requests),
    COUNT(totals.shared_load.wavefronts),
    COUNT(totals.shared_store.wavefronts),
    COUNT(totals.shared_atomic.wavefronts),
    COUNT(totals.local.sectors),
    NUMBER(issue.total),
    NUMBER(issue.pipes[0]),
    NUMBER(issue.pipes[1]),
    NUMBER(issue.pipes[2]),
    NUMBER(issue.pipes[3]),
    NUMBER(issue.pipes[4]),
    NUMBER(issue.pipes[5]),
    NUMBER(issue.pipes[6]),
    NUMBER(issue.pipes[7]),
    NUMBER(issue.pipes[8]),
    NUMBER(issue.code_bytes),
    NUMBER(issue.locals),
    NUMBER(issued),
    NUMBER(loads),
    NUMBER(barriers),
    NUMBER(constant),
    NUMBER(hinted[0]),
    NUMBER(hinted[1]),
    NUMBER(hinted[2]),
    NUMBER(hinted[3]),
    NUMBER(hinted[4]),
    NUMBER(hinted[5]),
    TRAFFIC(read),
    TRAFFIC(write),
    BUFFER(0),
    BUFFER(1),
    BUFFER(2),
    BUFFER(3),
    BUFFER(4),
    BUFFER(5),
    NUMBER(wave.read_run),
    NUMBER(wave.write_run),
    NUMBER(wave.first_fresh),
    NUMBER(wave.later_fresh),
    NUMBER(wave.bytes),
    NUMBER(hot.operations),
    NUMBER(hot.sectors),
    NUMBER(hot.doubles),
    NUMBER(hot.floats),
    NUMBER(atomic_sectors),
    NUMBER(atomics_last),
    NUMBER(critical_clocks),
    NUMBER(last_clocks),
    NUMBER(trips),
    NUMBER(memory_bytes),
};
enum { FIELDS = sizeof fields / sizeof *fields, SETTINGS = 32 };

static json_t *pack_profile(const sim_profile *p)
{
    json_t *out = json_object();
    for (size_t i = 0; i < FIELDS; i++) {
        const char *at = (const char *)p + fields[i].at;
        uint64_t count;
        double number;
        memcpy(&count, at, sizeof count);
        memcpy(&number, at, sizeof number);
        if (fields[i].is_count ? count != 0 : number != 0)
            json_object_set_new(out, fields[i].name,
                                fields[i].is_count ? json_integer((json_int_t)count)
                                                   : json_real(number));
    }
    return out;
}

static void unpack_profile(const json_t *from, sim_profile *p)
{
    *p = (sim_profile){0};
    for (size_t i = 0; i < FIELDS; i++) {
        char *at = (char *)p + fields[i].at;
        const double number = json_number_value(json_object_get(from, fields[i].name));
        const uint64_t count = (uint64_t)number;
        memcpy(at, fields[i].is_count ? (const void *)&count : &number, sizeof number);
    }
}

/* ---- features ---- */

typedef struct work {
    script *script;
    compile_pool *pool;
    sim_estimate *estimate;
    sim_chip chip;
    json_t **lines;
    size_t count;
} work;

static at_status read_lines(work *w, at_error *error)
{
    char *line = NULL;
    size_t room = 0;
    json_error_t where;
    at_status status = AT_OK;
    while (!status && getline(&line, &room, stdin) > 0) {
        json_t **grown = realloc(w->lines, (w->count + 1) * sizeof *grown);
        json_t *one = json_loads(line, 0, &where);
        if (!grown || !one) {
            status = error_set(error, AT_FORMAT, "line %zu: %s", w->count + 1, where.text);
            break;
        }
        w->lines = grown;
        w->lines[w->count++] = one;
    }
    free(line);
    return status;
}

static at_status load(work *w, const char *script_path, const script_setting *wanted,
                      size_t setting_count, at_error *error)
{
    problem_plan plan;
    settings o = {.pattern.script = script_path,
                  .pattern.variable_count = setting_count,
                  .machine.use_cache = true};
    if (setting_count > 0)
        memcpy(o.pattern.variables, wanted, setting_count * sizeof *wanted);
    at_status status = target_load_script(&o, &w->chip.limits, &w->script, error);
    if (!status)
        status = script_problem_plan(w->script, PROBLEM_TUNED, NULL, 1, &plan, error);
    if (!status)
        status = sim_estimate_new(&w->chip, &plan, NULL, NULL, &w->estimate, error);
    if (!status)
        status = compile_pool_new(&(compile_options){.use_cache = true}, &w->pool, error);
    return status;
}

static at_status find_launch(work *w, size_t i, launch_plan *launch, uint16_t *indices,
                             at_error *error)
{
    const char *text = json_string_value(json_object_get(w->lines[i], "config"));
    at_status status = script_parse_configuration(w->script, text ? text : "", indices, error);
    return status ? status : script_launch_plan(w->script, PROBLEM_TUNED, indices, launch, error);
}

static at_status submit(work *w, size_t i, at_error *error)
{
    uint16_t indices[64];
    emitted source = {0};
    launch_plan launch;
    at_status status = find_launch(w, i, &launch, indices, error);
    if (!status)
        status = emit_variant(w->script, PROBLEM_TUNED, indices, true, &source, error);
    if (!status)
        status = submit_source(w->pool, i, &source, "v.cu", &launch, w->chip.arch, true, error);
    emitted_deinit(&source);
    return status;
}

static json_t *pack_launch(const sim_estimated *s, const launch_plan *plan, uint32_t i,
                           const compile_result *c)
{
    const kernel_resources *r = &c->resources;
    json_t *one = pack_profile(&s->profile);
    json_object_set_new(one, "rounds", json_integer((json_int_t)plan_rounds(plan, i)));
    json_object_set_new(one, "registers", json_integer(r->registers));
    json_object_set_new(
        one, "shared_bytes",
        json_integer((json_int_t)r->static_shared_bytes + plan->launches[i].dynamic_shared_bytes));
    json_object_set_new(one, "local_bytes", json_integer(r->stack_bytes));
    json_object_set_new(one, "spill_bytes",
                        json_integer(r->spill_load_bytes + r->spill_store_bytes));
    return one;
}

static at_status count(work *w, const compile_result *c, at_error *error)
{
    json_t *line = w->lines[c->id], *launches = json_array();
    uint16_t indices[64];
    launch_plan launch;
    at_status status = find_launch(w, (size_t)c->id, &launch, indices, error);
    const device_image image = result_image(c, true);
    const char *trouble = c->outcome != COMPILE_OK ? "it does not compile" : NULL;
    at_error own = {0};
    for (uint32_t i = 0; !status && !trouble && i < launch.launch_count; i++) {
        sim_estimated s;
        if (sim_estimate_kernel(w->estimate, &image, &launch, i, 0, &s, &own)) {
            trouble = own.message;
            continue;
        }
        if (s.fault.kind == SIM_FAULT_NONE)
            json_array_append_new(launches, pack_launch(&s, &launch, i, c));
        else {
            snprintf(own.message, sizeof own.message, "%s", s.fault.message);
            trouble = own.message;
        }
        sim_estimated_deinit(&s);
    }
    if (trouble)
        json_object_set_new(line, "not_simulated", json_string(trouble));
    else
        json_object_set(line, "launches", launches);
    json_decref(launches);
    json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    puts("");
    fflush(stdout);
    return status;
}

static at_status count_all(work *w, at_error *error)
{
    size_t next = 0;
    at_status status = AT_OK;
    while (!status && (next < w->count || compile_pending(w->pool) > 0)) {
        while (!status && next < w->count && compile_pending(w->pool) < 2 * compile_width(w->pool))
            status = submit(w, next++, error);
        compile_result c;
        if (!status)
            status = compile_take(w->pool, 1000, &c, error);
        if (status == AT_NOT_FOUND) {
            status = AT_OK;
            continue;
        }
        if (!status) {
            status = count(w, &c, error);
            compile_result_deinit(&c);
        }
    }
    return status;
}

/* ---- predictions ---- */

static void predict(const work *w, json_t *line)
{
    const json_t *launches = json_object_get(line, "launches");
    const char *mechanism = "";
    double time_ns = 0, low_ns = 0, high_ns = 0, longest_ns = 0, terms[SIM_TERM_COUNT] = {0};
    if (!launches)
        return;
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *one = json_array_get(launches, i);
        sim_profile profile;
        sim_prediction p;
        unpack_profile(one, &profile);
        const sim_needs needs = {
            .registers = (uint32_t)json_integer_value(json_object_get(one, "registers")),
            .shared_bytes = (uint64_t)json_integer_value(json_object_get(one, "shared_bytes")),
            .local_bytes = (uint32_t)json_integer_value(json_object_get(one, "local_bytes")),
            .spill_bytes = (uint32_t)json_integer_value(json_object_get(one, "spill_bytes"))};
        const double rounds = json_number_value(json_object_get(one, "rounds"));
        sim_model_predict(&profile, &needs, &w->chip, &p);
        if (rounds * p.time_ns > longest_ns) {
            longest_ns = rounds * p.time_ns;
            mechanism = p.mechanism;
        }
        time_ns += rounds * p.time_ns;
        low_ns += rounds * p.low_ns;
        high_ns += rounds * p.high_ns;
        for (int t = 0; t < SIM_TERM_COUNT; t++)
            terms[t] += rounds * p.terms_ns[t];
    }
    printf("%.0f\t%.1f\t%.1f\t%.1f", json_number_value(json_object_get(line, "time_ns")), time_ns,
           low_ns, high_ns);
    for (int t = 0; t < SIM_TERM_COUNT; t++)
        printf("\t%.0f", terms[t]);
    printf("\t%s\t%s\n", mechanism, json_string_value(json_object_get(line, "config")));
}

static at_status measured_chip(work *w, const char *path, at_error *error)
{
    char *text = NULL;
    size_t size;
    ceiling_rates rates;
    at_status status = file_read(path, 1 << 20, &text, &size, error);
    if (!status)
        status = ceilings_parse(text, size, path, &rates, error);
    if (!status)
        sim_chip_measured(&w->chip, rates.rates);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    const bool counts = argc > 3 && strcmp(argv[1], "features") == 0;
    const bool predicts = argc > 2 && strcmp(argv[1], "predict") == 0;
    if (!counts && !predicts) {
        fprintf(stderr, "usage: landscape features SCRIPT CHIP [NAME=VALUE...] | "
                        "landscape predict CHIP [DEVICE.json]\n");
        return 2;
    }
    at_error error = {0};
    work w = {0};
    script_setting wanted[SETTINGS];
    size_t setting_count = 0;
    for (int i = 4; counts && i < argc && setting_count < SETTINGS; i++) {
        char *equals = strchr(argv[i], '=');
        if (!equals)
            continue;
        *equals = '\0';
        wanted[setting_count++] = (script_setting){argv[i], equals + 1};
    }
    at_status status = sim_chip_find(argv[counts ? 3 : 2], &w.chip, &error);
    if (!status && predicts && argc > 3)
        status = measured_chip(&w, argv[3], &error);
    if (!status)
        status = read_lines(&w, &error);
    if (!status && counts)
        status = load(&w, argv[2], wanted, setting_count, &error);
    if (!status && counts)
        status = count_all(&w, &error);
    for (size_t i = 0; !status && predicts && i < w.count; i++)
        predict(&w, w.lines[i]);
    if (status)
        fprintf(stderr, "landscape: %s\n", error.message);
    for (size_t i = 0; i < w.count; i++)
        json_decref(w.lines[i]);
    free(w.lines);
    compile_pool_free(w.pool);
    sim_estimate_free(w.estimate);
    script_free(w.script);
    return status ? 1 : 0;
}
