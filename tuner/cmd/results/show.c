/* autotune results show: an entry in words. */
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "cmd/line/known.h"
#include "cmd/line/terminal.h"
#include "cmd/results/entry.h"
#include "cmd/results/results.h"
#include "record/coverage.h"
#include "report/table.h"

enum { LINE_BYTES = 16 * 1024, LABEL_COLUMNS = 15 };

__attribute__((format(printf, 2, 3))) static void line(const char *label, const char *format, ...)
{
    char text[LINE_BYTES], clean[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    table_print_wrapped(terminal_page(), LABEL_COLUMNS, label,
                        table_clean(text, clean, sizeof clean), stdout);
}

/* "tile=64, vec=4, ...": with a blank where a line may end. */
static void spell(const record_values *values, char *text, size_t size_bytes)
{
    text[0] = '\0';
    for (size_t i = 0; i < values->count; i++) {
        char v[RECORD_TEXT_BYTES];
        value_format(values->pairs[i].value, v, sizeof v);
        text_add(text, size_bytes, "%s%s=%s", i ? ", " : "", values->pairs[i].name, v);
    }
}

static const char *text_of(const json_t *object, const char *name, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text && *text ? text : otherwise;
}

static double number_of(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static void show_figures(const record_entry *e, const json_t *j)
{
    const char *ceiling = text_of(j, "ceiling", "copy");
    line("time", "%.4g us a launch (95 %% interval %.4g to %.4g), %s, chosen for %s",
         (double)e->time_ns / 1e3, (double)e->time_low_ns / 1e3, (double)e->time_high_ns / 1e3,
         e->warm_cache ? "cache warm" : "cache cold", e->energy ? "energy" : "time");
    if (e->gbps > 0)
        line("bandwidth", "%.5g GB/s of the %.0f bytes that must move", e->gbps,
             number_of(j, "traffic_bytes"));
    if (number_of(j, "gflops") > 0)
        line("arithmetic", "%.5g Gflop/s", number_of(j, "gflops"));
    if (e->ceiling_fraction > 0)
        line("reaches", "%.1f %% of the GPU's ceiling (%s)", 100 * e->ceiling_fraction, ceiling);
    if (e->speedup > 0)
        line("speed-up", "%.3f times as fast as the script's default", e->speedup);
    if (json_object_get(j, "verdict"))
        line("verdict", "%s%s", text_of(j, "verdict", ""),
             strcmp(text_of(j, "verdict", ""), "tied") == 0 ? ": others are as fast" : "");
    const json_t *energy = json_object_get(j, "energy");
    if (energy)
        line("energy", "%.4g J a launch at %.4g W", number_of(energy, "launch_j"),
             number_of(energy, "power_w"));
}

static void show_proof(const json_t *j)
{
    const json_t *proof = json_object_get(j, "proof");
    const device_coverage covered = coverage_unpack(json_object_get(proof, "covered"));
    char sentence[COVERAGE_SENTENCE_BYTES];
    if (!proof)
        line("proof", "not recorded");
    else if (json_is_true(json_object_get(proof, "proven")))
        line("proof", "it did nothing wrong on a simulated GPU");
    else
        line("proof", "not proven: %s", text_of(proof, "why", "why was not recorded"));
    if (covered.problems[0])
        line("", "on %s", covered.problems);
    for (size_t i = 0; coverage_sentence(&covered, i, sentence); i++)
        line("", "%s", sentence);
}

static void show_resources(const json_t *j)
{
    const json_t *r = json_object_get(j, "resources");
    if (r)
        line("resources",
             "%.0f registers and %.0f bytes of stack a thread, %.0f bytes spilled, %.0f bytes of "
             "shared memory and "
             "%.0f threads a block, occupancy %.0f %%",
             number_of(r, "registers"), number_of(r, "stack_bytes"),
             number_of(r, "spill_store_bytes") + number_of(r, "spill_load_bytes"),
             number_of(r, "static_shared_bytes") + number_of(r, "dynamic_shared_bytes"),
             number_of(r, "block_threads"), 100 * number_of(r, "occupancy"));
}

static void show_others(const record_entry *e)
{
    char text[LINE_BYTES / 2];
    if (e->contender_count == 0)
        line("came next", "not recorded");
    for (size_t i = 0; i < e->contender_count; i++) {
        const record_contender *c = &e->contenders[i];
        spell(&c->configuration, text, sizeof text);
        line(i ? "" : "came next", "%.4g us (%+.2f %%): %s", (double)c->time_ns / 1e3,
             100 * ((double)c->time_ns / (double)e->time_ns - 1), text);
    }
    if (e->baseline.count == 0)
        return;
    spell(&e->baseline, text, sizeof text);
    line("default", "%s", text);
}

static void show_origin(const record *r, const record_entry *e, const json_t *j)
{
    const json_t *d = json_object_get(j, "device"), *search = json_object_get(j, "search");
    const json_t *hashes = json_object_get(j, "hashes");
    line("measured", "%s by autotune %s on %s (%s), driver %s, CUDA %s, NVRTC %s",
         *e->date ? e->date : "some time", *e->tool ? e->tool : "of an unknown version", r->gpu,
         text_of(d, "arch", "?"), text_of(d, "driver", "?"), text_of(d, "cuda", "?"),
         text_of(d, "nvrtc", "?"));
    if (search)
        line("searched",
             "%.0f of %.0f valid configurations worked; strategy %s, effort %s, seed %.0f, ended "
             "by %s after %.4g s",
             number_of(json_object_get(search, "counts"), "ok"), number_of(search, "valid"),
             text_of(search, "strategy", "?"), text_of(search, "effort", "none"),
             number_of(search, "seed"), text_of(search, "end", "?"), number_of(search, "wall_s"));
    if (hashes)
        line("hashes", "script %s, template %s, source %s", text_of(hashes, "script", "?"),
             text_of(hashes, "template", "?"), text_of(hashes, "source", "?"));
    line("kept in", "%s, /entries/%zu", r->path, e->place);
}

static void show_entry(const record *r, const record_entry *e)
{
    char text[LINE_BYTES / 2];
    const json_t *j = results_json(r, e);
    printf("%s on %s\n", r->pattern, r->gpu);
    spell(&e->problem, text, sizeof text);
    line("problem", "%s", text);
    spell(&e->configuration, text, sizeof text);
    line("configuration", "%s", text);
    show_figures(e, j);
    show_proof(j);
    show_resources(j);
    show_others(e);
    show_origin(r, e, j);
}

static void show_portfolio(const record *r, const record_portfolio *p)
{
    char text[LINE_BYTES / 2];
    spell(&p->fixed, text, sizeof text);
    printf("%s on %s: a portfolio%s%s\n", r->pattern, r->gpu, *text ? " for " : "", text);
    for (size_t i = 0; i < p->configuration_count; i++) {
        char label[16];
        spell(&p->configurations[i], text, sizeof text);
        snprintf(label, sizeof label, "%zu", i);
        line(label, "%s", text);
    }
    for (size_t i = 0; i < p->node_count; i++) {
        const record_node *n = &p->nodes[i];
        char label[24], bound[RECORD_TEXT_BYTES];
        snprintf(label, sizeof label, "node %zu", i);
        if (!n->variable) {
            if (n->has_default && n->default_at == 0)
                line(label, "the default first");
            else
                line(label, "configuration %d first", n->order[0]);
            continue;
        }
        value_format(n->bound, bound, sizeof bound);
        const json_t *node = json_array_get(
            json_object_get(json_array_get(json_object_get(r->root, "portfolios"), p->place),
                            "tree"),
            i);
        const char *times = json_string_value(json_object_get(node, "times"));
        if (n->feature) {
            line(label, "%s of configuration %zu below %s: node %zu, else node %zu", n->variable,
                 n->of, bound, n->then, n->otherwise);
            continue;
        }
        line(label, "%s%s%s %s %s: node %zu, else node %zu", n->variable, times ? " * " : "",
             times ? times : "",
             json_object_get(node, "below")         ? "below"
             : json_object_get(node, "multiple_of") ? "a multiple of"
                                                    : "is",
             bound, n->then, n->otherwise);
    }
    if (p->held_out)
        line("regret", "%.2f %% on average, %.2f %% at worst, on %zu problems that were held out",
             100 * p->mean_regret, 100 * p->worst_regret, p->held_out);
}

static at_status show_json(const options *o, const record_set *set, at_error *error)
{
    json_t *list = json_array();
    for (size_t i = 0; i < set->count; i++) {
        const record *r = &set->records[i];
        for (size_t k = 0; k < r->entry_count && results_wants(o, r); k++)
            if (results_wants_entry(o, &r->entries[k])) {
                json_t *copy = json_deep_copy(results_json(r, &r->entries[k]));
                json_put(&copy, "pattern", json_string(r->pattern));
                json_put(&copy, "gpu", json_string(r->gpu));
                json_put(&copy, "file", json_path(r->path));
                json_append(&list, copy);
            }
    }
    return json_text_print(json_pack("{so}", "entries", list), 1, stdout, error);
}

at_status results_show(const options *o, at_error *error)
{
    record_set set = {0};
    size_t shown = 0;
    if (o->operand_count < 2)
        return error_set(
            error, AT_USAGE,
            "'autotune results show' needs a PATTERN; 'autotune results list' lists them");
    at_status status = known_records(o, NULL, false, &set, error);
    for (size_t i = 0; i < set.count && !status; i++) {
        const record *r = &set.records[i];
        for (size_t k = 0; k < r->entry_count && results_wants(o, r); k++)
            if (results_wants_entry(o, &r->entries[k])) {
                if (shown++ && !o->json)
                    puts("");
                if (!o->json)
                    show_entry(r, &r->entries[k]);
            }
        for (size_t k = 0; k < r->portfolio_count && results_wants(o, r) && !o->run.variable_count;
             k++) {
            if (shown++ && !o->json)
                puts("");
            if (!o->json)
                show_portfolio(r, &r->portfolios[k]);
        }
    }
    if (!status && shown == 0)
        status = error_set(error, AT_USAGE,
                           "no such entry is recorded; 'autotune results list' lists what is");
    if (!status && o->json)
        status = show_json(o, &set, error);
    record_set_deinit(&set);
    return status;
}
