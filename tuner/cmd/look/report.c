/* autotune report: one HTML page with the winners, the reasons, and the measurements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/text.h"
#include "cmd/line/known.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cmd/look/plot.h"
#include "cmd/variant/explained.h"
#include "history/recorded.h"
#include "record/record.h"
#include "report/progress.h"
#include "script/render.h"

static const char style[] = {
#include "page.css.inc"
};

/* The page's script sorts a table by the clicked column: as numbers if all cells begin with one. */
static const char script_text[] = {
#include "page.js.inc"
};

static json_t *ratio(uint64_t a, uint64_t b)
{
    return json_exact(b > 0 ? (double)a / (double)b : 0);
}

/* Packs the counters of all launches of a variant. Sectors, bytes and conflicts are per request;
 * `ideal` is the least number of sectors that hold a request's bytes; a conflict is an extra
 * wavefront. Predictions are for the longest launch. */
static json_t *pack_counts(const explained *x)
{
    sim_counter load = {0}, store = {0}, shared = {0};
    double requests = 0, instructions = 0;
    const sim_prediction *longest = &x->launches[0].found.prediction;
    const kernel_resources *r = &x->compiled.resources;
    for (uint32_t i = 0; i < x->launch.launch_count; i++) {
        const sim_estimated *f = &x->launches[i].found;
        const sim_totals *t = &f->profile.totals;
        const double scale = x->launches[i].explanation.scale * plan_rounds(&x->launch, i);
        requests += scale * (double)(t->global_load.requests + t->async_copy.requests +
                                     t->global_store.requests);
        instructions += scale * (double)t->issued_total;
        sim_counter_sum(&load, &t->global_load);
        sim_counter_sum(&load, &t->async_copy);
        sim_counter_sum(&store, &t->global_store);
        sim_counter_sum(&shared, &t->shared_load);
        sim_counter_sum(&shared, &t->shared_store);
        if (f->prediction.time_ns > longest->time_ns)
            longest = &f->prediction;
    }
    return json_pack(
        "{so so so so so so so so so so so sI sI ss}", "load_sectors",
        ratio(load.sectors, load.requests), "load_ideal", ratio(load.fewest, load.requests),
        "store_sectors", ratio(store.sectors, store.requests), "store_ideal",
        ratio(store.fewest, store.requests), "load_bytes", ratio(load.bytes, load.requests),
        "conflicts", ratio(shared.conflicts, shared.shared_requests), "requests",
        json_exact(requests), "instructions", json_exact(instructions), "occupancy",
        json_exact(longest->occupancy.fraction), "flight_bytes", json_exact(longest->flight_bytes),
        "needed_bytes", json_exact(longest->needed_bytes), "registers", (json_int_t)r->registers,
        "spill_bytes", (json_int_t)r->spill_store_bytes + r->spill_load_bytes, "limit",
        sim_term_name(longest->limit));
}

/* Counts a sample of blocks of the script's tuned problem or, if that cannot run here, of its
 * simulated problem. Returns the counters, or a string that says why there are none. */
static json_t *count_variant(const record *r, const char *configuration)
{
    char arch[16];
    json_t *counts = NULL;
    at_error error;
    snprintf(arch, sizeof arch, "sm_%d%d", r->major, r->minor);
    settings wanted = {.pattern.script = r->pattern,
                       .machine.arch = arch,
                       .machine.use_cache = true,
                       .quiet = true};
    for (int simulated = 0; simulated < 2 && !counts; simulated++) {
        explained *x = memory_new(1, sizeof *x);
        error = (at_error){0};
        at_status status = explained_count(&wanted, configuration, simulated, x, &error);
        if (!status && explained_faulted(x))
            status = error_set(&error, AT_DEVICE, "the simulated kernel faulted");
        if (!status)
            counts = pack_counts(x);
        explained_deinit(x);
        free(x);
    }
    return counts ? counts : json_foreign_text(error.message);
}

/* Returns the counters of a variant. `cache` owns them, because several records may share them. */
static json_t *find_counts(json_t *cache, const record *r, const record_values *configuration)
{
    char text[CONFIGURATION_BYTES], key[CONFIGURATION_BYTES + RECORD_NAME_BYTES + 32];
    record_format_values(configuration, text, sizeof text);
    snprintf(key, sizeof key, "%s sm_%d%d %s", r->pattern, r->major, r->minor, text);
    if (!json_object_get(cache, key))
        json_object_set_new(cache, key, memory_require(count_variant(r, text)));
    return json_object_get(cache, key);
}

/* Adds the counters of the first entry's baseline and winner, or the reason for their absence. */
static void put_counts(json_t **page, const record *r, json_t *cache)
{
    const record_entry *e = &r->entries[0];
    if (!e->baseline.count) {
        json_put(page, "why_no_counts", json_string("the record has no baseline"));
        return;
    }
    json_t *baseline = find_counts(cache, r, &e->baseline),
           *winner = find_counts(cache, r, &e->configuration);
    if (json_is_object(baseline) && json_is_object(winner))
        json_put(page, "counts", json_pack("[O, O]", baseline, winner));
    else
        json_put(page, "why_no_counts", json_incref(json_is_string(baseline) ? baseline : winner));
}

/* Returns a text that the caller frees. */
static char *base64(const void *bytes, size_t size_bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    char *out = memory_new((size_bytes + 2) / 3 * 4 + 1, 1), *to = out;
    for (size_t i = 0; i < size_bytes; i += 3) {
        size_t left = size_bytes - i;
        uint32_t v = (uint32_t)b[i] << 16 | (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) |
                     (left > 2 ? b[i + 2] : 0u);
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = left > 1 ? digits[v >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[v & 63] : '=';
    }
    return out;
}

/* Adds {words, data}, or {why} if there is no picture. Takes over `given`. */
static void add_picture(json_t **list, const char *path, json_t *given, const char *kind,
                        const char *words)
{
    char *bytes;
    size_t size_bytes = 0;
    at_error error = {0};
    json_put(&given, "kind", json_string(kind));
    json_put(&given, "format", json_string("svg"));
    json_put(&given, "is_plain", json_true());
    json_put(&given, "name", json_string(""));
    at_status status = plot_draw(path, given, &bytes, &size_bytes, NULL, &error);
    char *data = status ? NULL : base64(bytes, size_bytes);
    json_append(list, status ? json_pack("{so}", "why", json_foreign_text(error.message))
                             : json_pack("{ss ss}", "words", words, "data", data));
    free(data);
    free(bytes);
}

/* Adds a roofline if the GPU's ceilings were measured and the record has flops and bytes. */
static void add_roofline(json_t **list, const record *r)
{
    json_t *ceilings, *source;
    at_error error = {0};
    bool any;
    if (r->entries[0].gflops <= 0 || r->entries[0].gbps <= 0)
        return;
    if (plot_ceilings(r->path, NULL, r->gpu, &ceilings, &any, &error))
        return;
    if (any && !recorded_open(r->path, &source, &error))
        add_picture(list, r->path, json_pack("{so sO}", "source", source, "ceilings", ceilings),
                    "roofline", "The best and the baseline beneath what this GPU can do at most.");
    json_decref(ceilings);
}

/* Adds pictures of all variants from the file beside the record or, without this file, of the
 * record's variants. */
static void add_landscape(json_t **list, const record *r)
{
    static const char *const pictures[][2] = {
        {"rank", "Every variant, by the value of the most important parameter, fastest first."},
        {"importance",
         "How much each parameter decides. 'alone' is its share of all differences; 'total' is "
         "what it still decides once all other parameters are fixed. Constraints make a total "
         "smaller than a share alone."},
        {"heatmap",
         "The two parameters that explain most: the best time with each pair of their values."},
    };
    char path[PATHS_BYTES];
    json_t *source;
    at_error error = {0};
    const char *slash = strrchr(r->path, '/');
    int folder = slash ? (int)(slash - r->path) : 0;
    snprintf(path, sizeof path, "%.*s/landscapes/%s.json.gz", folder, r->path, r->pattern);
    if (recorded_open(path, &source, &error)) {
        const json_t *entry = json_array_get(json_object_get(r->root, "entries"), 0);
        error = (at_error){0};
        if (!recorded_open(r->path, &source, &error))
            add_picture(list, r->path, json_pack("{so}", "source", source), "rank",
                        json_object_get(entry, "landscape")
                            ? "Variants by the value of the most important parameter, fastest "
                              "first. Of many variants a sample is drawn."
                            : "The fastest variants and the script's default, which the record "
                              "keeps. It has no times of the other variants.");
        return;
    }
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        add_picture(
            list, path,
            json_pack("{sO ss ss}", "source", source, "kernel", r->pattern, "device", r->gpu),
            pictures[i][0], pictures[i][1]);
    json_decref(source);
}

/* Packs a record for lua/commands/report_record.lua. */
static json_t *pack_record(const record *r, size_t place, json_t *cache)
{
    const record_set one = {.records = (record *)(uintptr_t)r, .count = 1};
    json_t *records = known_pack(NULL, &one), *pictures = json_array();
    json_t *given =
        json_pack("{sO sI}", "record", json_array_get(records, 0), "place", (json_int_t)place);
    json_decref(records);
    if (r->entry_count) {
        add_roofline(&pictures, r);
        add_landscape(&pictures, r);
        put_counts(&given, r, cache);
    }
    json_put(&given, "pictures", pictures);
    return given;
}

static bool is_wanted(const options *o, const record *r)
{
    for (size_t i = 0; i < o->operand_count; i++)
        if (strcmp(o->operands[i], r->pattern) == 0)
            return true;
    return o->operand_count == 0;
}

/* Checks that each requested pattern has a record or, without a request, that a record exists. */
static at_status check_wanted(const options *o, const record_set *set, at_error *error)
{
    const char **names = memory_new(set->count + 1, sizeof *names);
    at_status status = AT_OK;
    for (size_t i = 0; i < set->count; i++)
        names[i] = set->records[i].pattern;
    for (size_t i = 0; i < (o->operand_count ? o->operand_count : 1) && !status; i++) {
        size_t at = 0;
        while (at < set->count && o->operand_count && strcmp(o->operands[i], names[at]) != 0)
            at++;
        const char *nearest =
            at < set->count || !o->operand ? NULL : nearest_name(o->operands[i], names, set->count);
        if (at == set->count)
            status = error_set(
                error, AT_USAGE, "no record of %s: --results names the folder of the records%s%s%s",
                o->operand ? o->operands[i] : "anything", nearest ? "; did you mean " : "",
                nearest ? nearest : "", nearest ? "?" : "");
    }
    free(names);
    return status;
}

static at_status add_part(FILE *to, const char *name, json_t *found, at_error *error)
{
    char *text;
    at_status status = page_text(name, found, NULL, &text, error);
    if (!status)
        fputs(text, to);
    free(text);
    return status;
}

static at_status write_page(const options *o, const record_set *set, FILE *to, at_error *error)
{
    json_t *links = json_array();
    size_t wanted = 0, done = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (!is_wanted(o, &set->records[i]))
            continue;
        json_append(&links, json_pack("{ss ss sI}", "pattern", set->records[i].pattern, "gpu",
                                      set->records[i].gpu, "place", (json_int_t)i));
        wanted++;
    }
    json_t *cache = json_object();
    progress *shown = progress_new(STDERR_FILENO, false);
    at_status status = add_part(
        to, "report_head",
        json_pack("{ss ss so}", "version", version_text(), "style", style, "links", links), error);
    for (size_t i = 0; i < set->count && !status; i++) {
        if (!is_wanted(o, &set->records[i]))
            continue;
        progress_update(shown, &(progress_state){.stage = "report",
                                                 .done = done++,
                                                 .total = wanted,
                                                 .now_ns = clock_now_ns()});
        json_t *page, *given = pack_record(&set->records[i], i, cache);
        status = script_compute("commands.report_record", NULL, given, &page, error);
        json_decref(given);
        if (!status)
            status = add_part(to, "report_record", page, error);
    }
    progress_free(shown);
    json_decref(cache);
    fprintf(to, "<script>\n%s</script>\n</body></html>\n", script_text);
    return status;
}

static at_status run(const options *o, at_error *error)
{
    record_set set = {0};
    char *page = NULL;
    size_t size_bytes = 0;
    at_status status = known_records(o, NULL, false, &set, error);
    if (!status)
        status = check_wanted(o, &set, error);
    if (!status) {
        FILE *to = memory_open(&page, &size_bytes);
        status = write_page(o, &set, to, error);
        memory_close(to);
    }
    if (!status)
        status = output_write(o, o->output, page, size_bytes, error);
    free(page);
    record_set_deinit(&set);
    return status;
}

const command cmd_report = {
    .name = "report",
    .operand = "[PATTERN...]",
    .operands_most = OPTIONS_MAX_OPERANDS,
    .summary = "Write one HTML page of what won, and why",
    .options = "output results",
    .raw = true,
    .run = run,
};
