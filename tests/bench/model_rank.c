/* How well predicted times order variants: model_rank SCRIPT RESULTS.json [FEATURES.csv]
 *
 * RESULTS.json is what `autotune SCRIPT --json` printed on a GPU. Every variant that it measured is
 * emitted, compiled to PTX, profiled and predicted for the same problem on the same architecture.
 * Prints Spearman's rank correlation of predicted with measured time, and how near the best the
 * best of the first 20 predicted is. Fails when the correlation is under 0.85 or none of the 20 is
 * within 5 %. FEATURES.csv gets what the model saw of each variant. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/paths.h"
#include "base/value.h"
#include "compile/compile.h"
#include "script/emit.h"
#include "sim/estimate.h"

typedef struct measured {
    uint16_t indices[64];
    char text[1024];
    double time_ns, predicted_ns;
    uint32_t registers;
    bool done;
} measured;

typedef struct ranking {
    script *script;
    compile_pool *pool;
    sim_estimate *estimate;
    char arch[16];
    measured *items;
    size_t count;
    FILE *features;
} ranking;

/* A value as --set and --config take it. */
static const char *value_text(const json_t *v, char text[64])
{
    if (json_is_integer(v))
        snprintf(text, 64, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        snprintf(text, 64, "%.17g", json_real_value(v));
    else if (json_is_boolean(v))
        snprintf(text, 64, "%s", json_is_true(v) ? "true" : "false");
    else
        snprintf(text, 64, "%s", json_is_string(v) ? json_string_value(v) : "");
    return text;
}

static at_status read_config(ranking *r, json_t *result, measured *m, at_error *error)
{
    const char *key;
    json_t *v;
    size_t n = 0;
    json_object_foreach(json_object_get(result, "config"), key, v)
    {
        n += (size_t)snprintf(m->text + n, sizeof m->text - n, "%s%s=", n ? "," : "", key);
        char text[64];
        n += (size_t)snprintf(m->text + n, sizeof m->text - n, "%s", value_text(v, text));
    }
    m->time_ns = json_number_value(json_object_get(result, "time_ns"));
    return script_parse_configuration(r->script, m->text, m->indices, error);
}

static at_status submit(ranking *r, size_t i, at_error *error)
{
    emitted source = {0};
    launch_plan launch;
    at_status status =
        script_launch_plan(r->script, PROBLEM_TUNED, r->items[i].indices, &launch, error);
    if (!status)
        status = emit_variant(r->script, PROBLEM_TUNED, r->items[i].indices, false, &source, error);
    if (!status)
        status = compile_submit(r->pool,
                                &(compile_request){.id = i,
                                                   .source = source.source,
                                                   .name = "v.cu",
                                                   .entry = plan_entry(&launch, 0),
                                                   .arch = r->arch,
                                                   .options = source.options,
                                                   .option_count = source.option_count,
                                                   .headers = source.includes.headers,
                                                   .header_count = source.includes.count,
                                                   .want_ptx = true},
                                error);
    emitted_deinit(&source);
    return status;
}

static void print_features(ranking *r, const measured *m, const sim_estimated *s)
{
    const sim_profile *p = &s->profile;
    const sim_totals *t = &p->totals;
    double n = (double)p->sampled;
    fprintf(r->features,
            "\"%s\",%.0f,%.0f,%u,%" PRIu64 ",%" PRIu64
            ",%d,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g\n",
            m->text, m->time_ns, s->prediction.time_ns, m->registers, p->blocks, p->threads,
            s->prediction.occupancy.blocks_per_sm, p->issued, p->loads, p->barriers,
            p->read.sectors, p->read.distinct, p->read.fresh, p->read.runs, p->read.lines,
            p->write.sectors, p->write.distinct, p->write.partial, p->write.fresh, p->write.runs,
            p->write.lines, (double)t->global_load.requests / n,
            (double)t->global_store.requests / n, (double)t->shared_load.wavefronts / n,
            (double)t->shared_store.wavefronts / n, (double)t->shared_load.ideal / n,
            (double)t->shared_store.ideal / n, (double)t->async_copy.requests / n, p->wave.read_run,
            p->wave.write_run);
}

static at_status predict(ranking *r, const compile_result *c, at_error *error)
{
    measured *m = &r->items[c->id];
    launch_plan launch;
    sim_estimated s;
    if (c->outcome != COMPILE_OK)
        return error_set(error, AT_COMPILE, "%s: %s", m->text, c->log);
    at_status status = script_launch_plan(r->script, PROBLEM_TUNED, m->indices, &launch, error);
    device_image image = {.bytes = c->ptx,
                          .size_bytes = c->ptx_bytes,
                          .registers = c->resources.registers,
                          .static_shared_bytes = c->resources.static_shared_bytes};
    m->registers = c->resources.registers;
    if (!status)
        status = sim_estimate_kernel(r->estimate, &image, &launch, 0, 0, &s, error);
    if (status)
        return error_prefix(error, "%s", m->text);
    if (s.fault.kind != SIM_FAULT_NONE)
        status = error_set(error, AT_DEVICE, "%s: %s", m->text, s.fault.message);
    m->predicted_ns = s.prediction.time_ns;
    m->done = !status;
    if (!status && r->features)
        print_features(r, m, &s);
    sim_estimated_deinit(&s);
    return status;
}

static at_status predict_all(ranking *r, at_error *error)
{
    size_t next = 0;
    at_status status = AT_OK;
    while (!status && (next < r->count || compile_pending(r->pool) > 0)) {
        while (!status && next < r->count && compile_pending(r->pool) < 2 * compile_width(r->pool))
            status = submit(r, next++, error);
        compile_result c;
        if (!status)
            status = compile_take(r->pool, 1000, &c, error);
        if (status == AT_NOT_FOUND) {
            status = AT_OK;
            continue;
        }
        if (!status) {
            status = predict(r, &c, error);
            compile_result_deinit(&c);
        }
    }
    return status;
}

static int by_measured(const void *a, const void *b)
{
    const measured *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int by_predicted(const void *a, const void *b)
{
    const measured *x = a, *y = b;
    return (x->predicted_ns > y->predicted_ns) - (x->predicted_ns < y->predicted_ns);
}

/* Ranks with ties at their mean. `key` is 0 for measured, 1 for predicted; items are sorted by
 * it. */
static void rank(const measured *items, size_t n, int key, double *out)
{
    for (size_t i = 0; i < n;) {
        size_t j = i;
        double v = key ? items[i].predicted_ns : items[i].time_ns;
        while (j < n && (key ? items[j].predicted_ns : items[j].time_ns) == v)
            j++;
        for (size_t k = i; k < j; k++)
            out[k] = 0.5 * (double)(i + j - 1);
        i = j;
    }
}

static double spearman(measured *items, size_t n)
{
    double *measured_rank = calloc(n, sizeof *measured_rank);
    double *predicted_rank = calloc(n, sizeof *predicted_rank);
    double sum = 0, sx = 0, sy = 0, mean = 0.5 * (double)(n - 1);
    if (!measured_rank || !predicted_rank)
        return 0;
    qsort(items, n, sizeof *items, by_measured);
    rank(items, n, 0, measured_rank);
    for (size_t i = 0; i < n; i++)
        items[i].indices[63] = 0, items[i].registers = (uint32_t)i; /* keeps the measured order */
    qsort(items, n, sizeof *items, by_predicted);
    rank(items, n, 1, predicted_rank);
    for (size_t i = 0; i < n; i++) {
        double x = measured_rank[items[i].registers] - mean, y = predicted_rank[i] - mean;
        sum += x * y;
        sx += x * x;
        sy += y * y;
    }
    free(measured_rank);
    free(predicted_rank);
    return sx > 0 && sy > 0 ? sum / __builtin_sqrt(sx * sy) : 0;
}

static at_status load(ranking *r, const char *script_path, json_t *root, at_error *error)
{
    paths p;
    char path[PATHS_BYTES];
    arch_limits limits = {0};
    problem_plan plan;
    script_setting settings[32];
    static char values[32][64];
    size_t n = 0;
    const char *key;
    json_t *v;
    json_object_foreach(json_object_get(root, "problem"), key, v)
    {
        if (n == 32)
            break;
        value_text(v, values[n]);
        settings[n] = (script_setting){key, values[n]};
        n++;
    }
    const char *arch = json_string_value(json_object_get(json_object_get(root, "device"), "arch"));
    snprintf(r->arch, sizeof r->arch, "%s", arch ? arch : "sm_90");
    at_status status = arch_find(r->arch, &limits, error);
    if (!status)
        status = paths_find(&p, error);
    if (!status)
        status = paths_find_script(&p, script_path, path, sizeof path, error);
    if (!status)
        status = script_load(path,
                             &(script_options){.lua_dir = p.lua_dir,
                                               .template_dir = p.template_dir,
                                               .settings = settings,
                                               .setting_count = n,
                                               .device = limits},
                             &r->script, error);
    if (!status)
        status = script_problem_plan(r->script, PROBLEM_TUNED, NULL, 1, &plan, error);
    if (!status)
        status = sim_estimate_new(r->arch, &plan, NULL, &r->estimate, error);
    if (!status)
        status = compile_pool_new(&(compile_options){.use_cache = true}, &r->pool, error);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: model_rank SCRIPT RESULTS.json [FEATURES.csv]\n");
        return 2;
    }
    at_error error = {0};
    ranking r = {0};
    json_error_t where;
    json_t *root = json_load_file(argv[2], 0, &where);
    json_t *results = json_object_get(root, "results");
    at_status status = root ? load(&r, argv[1], root, &error)
                            : error_set(&error, AT_FORMAT, "%s: %s", argv[2], where.text);
    r.features = argc > 3 ? fopen(argv[3], "w") : NULL;
    r.items = calloc(json_array_size(results) + 1, sizeof *r.items);
    for (size_t i = 0; !status && i < json_array_size(results); i++) {
        json_t *result = json_array_get(results, i);
        if (json_number_value(json_object_get(result, "time_ns")) > 0)
            status = read_config(&r, result, &r.items[r.count++], &error);
    }
    if (!status)
        status = predict_all(&r, &error);
    bool good = false;
    if (!status && r.count <= 20)
        status = error_set(&error, AT_FORMAT, "%s has %zu measured variants, and 21 are needed",
                           argv[2], r.count);
    if (!status) {
        double correlation = spearman(r.items, r.count), best = r.items[0].time_ns, first = best;
        for (size_t i = 0; i < r.count; i++) {
            best = r.items[i].time_ns < best ? r.items[i].time_ns : best;
            if (i < 20 && r.items[i].time_ns < first)
                first = r.items[i].time_ns;
        }
        printf("variants            %zu\n", r.count);
        printf("spearman            %.3f (at least 0.85)\n", correlation);
        printf("best measured       %.1f us\n", best / 1e3);
        printf("best of the first 20 predicted: %.1f us, %+.1f %% (at most +5 %%)\n", first / 1e3,
               100 * (first / best - 1));
        good = correlation >= 0.85 && first <= 1.05 * best;
    }
    if (status)
        fprintf(stderr, "model_rank: %s\n", error.message);
    if (r.features)
        fclose(r.features);
    compile_pool_free(r.pool);
    sim_estimate_free(r.estimate);
    script_free(r.script);
    free(r.items);
    json_decref(root);
    return good ? 0 : 1;
}
