/* autotune report: one page of what won, why, and how it was measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/nearest.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/units.h"
#include "base/version.h"
#include "cmd/line/commands.h"
#include "cmd/line/known.h"
#include "cmd/line/terminal.h"
#include "cmd/look/html.h"
#include "cmd/look/plot.h"
#include "cmd/look/roofline.h"
#include "cmd/variant/explained.h"
#include "record/record.h"

enum { TEXT_BYTES = 1024 };

/* ---- why: the counters of the baseline and of the winner ---- */

/* A difference that is worth a sentence. */
static const double much = 1.15;

typedef struct counts {
    bool known;
    char why_not[TEXT_BYTES];
    double load_sectors, store_sectors; /* a request */
    double load_ideal, store_ideal;     /* that its bytes would fill */
    double load_bytes;                  /* a request */
    double conflicts;                   /* extra wavefronts a request of shared memory */
    double requests;                    /* of global memory, of all launches whole */
    double instructions;                /* of warps, likewise */
    double occupancy, flight_bytes, needed_bytes;
    uint32_t registers, spill_bytes;
    char limit[64];
} counts;

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void sum_counts(const explained *x, counts *out)
{
    sim_counter load = {0}, store = {0}, shared = {0};
    double longest = -1;
    for (uint32_t i = 0; i < x->launch.launch_count; i++) {
        const sim_estimated *f = &x->launches[i].found;
        const sim_totals *t = &f->profile.totals;
        const double scale = x->launches[i].explanation.scale * plan_rounds(&x->launch, i);
        out->requests += scale * (double)(t->global_load.requests + t->async_copy.requests +
                                          t->global_store.requests);
        out->instructions += scale * (double)t->issued_total;
        sim_counter_sum(&load, &t->global_load);
        sim_counter_sum(&load, &t->async_copy);
        sim_counter_sum(&store, &t->global_store);
        sim_counter_sum(&shared, &t->shared_load);
        sim_counter_sum(&shared, &t->shared_store);
        if (f->prediction.time_ns > longest) {
            longest = f->prediction.time_ns;
            out->occupancy = f->prediction.occupancy.fraction;
            out->flight_bytes = f->prediction.flight_bytes;
            out->needed_bytes = f->prediction.needed_bytes;
            snprintf(out->limit, sizeof out->limit, "%s",
                     f->prediction.limit ? f->prediction.limit : "");
        }
    }
    out->known = true;
    out->load_sectors = ratio((double)load.sectors, (double)load.requests);
    out->load_ideal = ratio((double)load.fewest, (double)load.requests);
    out->load_bytes = ratio((double)load.bytes, (double)load.requests);
    out->store_sectors = ratio((double)store.sectors, (double)store.requests);
    out->store_ideal = ratio((double)store.fewest, (double)store.requests);
    out->conflicts = ratio((double)shared.conflicts, (double)shared.shared_requests);
    out->registers = x->compiled.resources.registers;
    out->spill_bytes =
        x->compiled.resources.spill_store_bytes + x->compiled.resources.spill_load_bytes;
}

static void count_variant(const record *r, const record_values *configuration, counts *out)
{
    char text[CONFIGURATION_BYTES], arch[16];
    at_error error = {0};
    explained *x = calloc(1, sizeof *x);
    snprintf(arch, sizeof arch, "sm_%d%d", r->major, r->minor);
    record_format_values(configuration, text, sizeof text);
    settings wanted = {.script = r->pattern, .arch = arch, .use_cache = true, .quiet = true};
    at_status status = x ? explained_count(&wanted, text, true, x, &error)
                         : error_set(&error, AT_NO_MEMORY, "out of memory");
    if (!status && explained_faulted(x))
        status = error_set(&error, AT_DEVICE, "the simulated kernel faulted");
    if (status)
        snprintf(out->why_not, sizeof out->why_not, "%s", error.message);
    else
        sum_counts(x, out);
    if (x)
        explained_deinit(x);
    free(x);
}

/* Behind the point: whole numbers and large ones have none. */
static int digits(double v)
{
    return v >= 100 || v == (double)(long long)v ? 0 : 2;
}

static void put_cells(FILE *to, const char *name, const char *a, const char *b, const char *meaning)
{
    fprintf(to, "<tr><td>%s</td><td>%s</td><td>%s</td><td class=\"words\">%s</td></tr>\n", name, a,
            b, meaning);
}

static void put_count(FILE *to, const char *name, double a, double b, const char *unit,
                      const char *meaning)
{
    char texts[2][UNITS_BYTES];
    for (int i = 0; i < 2; i++) {
        double v = i ? b : a;
        if (v >= 1000)
            units_count((uint64_t)v, texts[i]);
        else
            snprintf(texts[i], sizeof texts[i], "%.*f%s", digits(v), v, unit);
    }
    put_cells(to, name, texts[0], texts[1], meaning);
}

static void put_size(FILE *to, const char *name, double a_bytes, double b_bytes,
                     const char *meaning)
{
    char texts[2][UNITS_BYTES];
    put_cells(to, name, units_size((uint64_t)a_bytes, texts[0]),
              units_size((uint64_t)b_bytes, texts[1]), meaning);
}

static void put_sectors(FILE *to, const char *name, double a, double a_least, double b,
                        double b_least, const char *meaning)
{
    char texts[2][2 * UNITS_BYTES];
    if (a <= 0 && b <= 0)
        return;
    snprintf(texts[0], sizeof texts[0], "%.*f (%.*f)", digits(a), a, digits(a_least), a_least);
    snprintf(texts[1], sizeof texts[1], "%.*f (%.*f)", digits(b), b, digits(b_least), b_least);
    put_cells(to, name, texts[0], texts[1], meaning);
}

static void put_counts(FILE *to, const counts *a, const counts *b)
{
    fputs("<div class=\"wide\"><table><thead><tr><th>counted</th><th>baseline</th><th>winner</th>"
          "<th class=\"words\">what it means</th></tr></thead><tbody>\n",
          to);
    put_sectors(to, "sectors a load", a->load_sectors, a->load_ideal, b->load_sectors,
                b->load_ideal,
                "32-byte pieces that a warp's load touches (and how many its bytes would fill: "
                "more is waste)");
    put_sectors(to, "sectors a store", a->store_sectors, a->store_ideal, b->store_sectors,
                b->store_ideal, "the same of a warp's store");
    put_count(to, "bytes a load", a->load_bytes, b->load_bytes, "", "asked for by a warp at once");
    put_count(to, "requests", a->requests, b->requests, "",
              "loads and stores of global memory, of all warps");
    put_count(to, "instructions", a->instructions, b->instructions, "", "of all warps");
    put_count(to, "bank conflicts", a->conflicts, b->conflicts, "",
              "extra passes that an access of shared memory takes");
    put_count(to, "occupancy", 100 * a->occupancy, 100 * b->occupancy, " %",
              "of the warps that a multiprocessor can hold");
    put_size(to, "bytes in flight", a->flight_bytes, b->flight_bytes,
             "on their way to a multiprocessor at a time");
    put_size(to, "needed", a->needed_bytes, b->needed_bytes,
             "in flight, to keep DRAM busy (Little's law)");
    put_count(to, "registers", a->registers, b->registers, "", "a thread");
    put_size(to, "spilled", a->spill_bytes, b->spill_bytes,
             "stored and loaded by a thread for want of registers");
    fputs("</tbody></table></div>\n", to);
}

/* What is no reason, since it is as good in both. */
static void put_alike(FILE *to, const counts *a, const counts *b)
{
    static const double enough = 1.01;
    char text[TEXT_BYTES] = "";
    if (a->load_sectors <= enough * a->load_ideal && b->load_sectors <= enough * b->load_ideal &&
        a->store_sectors <= enough * a->store_ideal && b->store_sectors <= enough * b->store_ideal)
        text_add(text, sizeof text, " every sector that they touch is used whole");
    if (a->conflicts == 0 && b->conflicts == 0)
        text_add(text, sizeof text, "%s no access of shared memory conflicts", *text ? "," : "");
    if (a->spill_bytes == 0 && b->spill_bytes == 0)
        text_add(text, sizeof text, "%s nothing is spilled", *text ? "," : "");
    if (*text)
        fprintf(to, "<li>It is not decided by what both do equally well:%s.</li>\n", text);
}

/* What holds both up, which the differences below explain. */
static void put_limits(FILE *to, const counts *a, const counts *b)
{
    if (strcmp(a->limit, b->limit) != 0)
        fprintf(to,
                "<p><strong>The baseline is held up by %s; the winner is not: what limits it is "
                "%s.</strong>",
                a->limit, b->limit);
    else
        fprintf(to, "<p><strong>What limits both is %s; %s.</strong>", a->limit,
                strcmp(a->limit, "DRAM") == 0 && b->flight_bytes > much * a->flight_bytes
                    ? "the winner keeps it busier"
                : a->instructions > much * b->instructions || a->conflicts > b->conflicts
                    ? "the winner asks less of it"
                    : "the winner comes nearer to what it can do");
    fputs(" By what was counted of both on a simulated device:</p>\n", to);
}

/* The differences that are worth a sentence. */
static void put_reasons(FILE *to, const counts *a, const counts *b)
{
    size_t said = 0;
    char before[UNITS_BYTES], after[UNITS_BYTES], needed[UNITS_BYTES];
    put_limits(to, a, b);
    fputs("<ul>\n", to);
    if (a->load_sectors * b->load_ideal > much * b->load_sectors * a->load_ideal && ++said)
        fprintf(to,
                "<li>Its loads waste less: %.3g sectors where %.3g would do, the baseline's %.3g "
                "where %.3g would.</li>\n",
                b->load_sectors, b->load_ideal, a->load_sectors, a->load_ideal);
    if (a->store_sectors * b->store_ideal > much * b->store_sectors * a->store_ideal && ++said)
        fprintf(to,
                "<li>Its stores waste less: %.3g sectors where %.3g would do, the baseline's %.3g "
                "where %.3g would.</li>\n",
                b->store_sectors, b->store_ideal, a->store_sectors, a->store_ideal);
    if (b->load_bytes > much * a->load_bytes && ++said)
        fprintf(to,
                "<li>A warp asks for more at once: %.4g bytes a load instead of %.4g, so that "
                "fewer instructions "
                "move the same data.</li>\n",
                b->load_bytes, a->load_bytes);
    if (a->requests > much * b->requests && ++said)
        fprintf(to,
                "<li>It makes %s requests of global memory for the same data instead of %s: each "
                "costs a turn "
                "in the load and store unit.</li>\n",
                units_count((uint64_t)b->requests, after),
                units_count((uint64_t)a->requests, before));
    if (a->instructions > much * b->instructions && ++said)
        fprintf(
            to,
            "<li>It executes %s instructions of warps for the same result instead of %s.</li>\n",
            units_count((uint64_t)b->instructions, after),
            units_count((uint64_t)a->instructions, before));
    if (a->conflicts > b->conflicts + 0.05 && ++said)
        fprintf(
            to,
            "<li>Shared memory answers faster: %.3g extra passes an access instead of %.3g.</li>\n",
            b->conflicts, a->conflicts);
    if (b->conflicts > a->conflicts + 0.05 && ++said)
        fprintf(
            to,
            "<li>It accepts bank conflicts (%.2g extra passes an access instead of %.2g)%s.</li>\n",
            b->conflicts, a->conflicts,
            strcmp(b->limit, "shared memory") ? ": shared memory is not what limits it" : "");
    if (b->flight_bytes > much * a->flight_bytes && ++said)
        fprintf(to,
                "<li>It keeps more bytes in flight: %s on their way to a multiprocessor at a time "
                "instead of %s; "
                "%s are needed to keep DRAM busy%s.</li>\n",
                units_size((uint64_t)b->flight_bytes, after),
                units_size((uint64_t)a->flight_bytes, before),
                units_size((uint64_t)b->needed_bytes, needed),
                a->flight_bytes < a->needed_bytes          ? ", more than the baseline has"
                : a->flight_bytes < much * a->needed_bytes ? ", barely what the baseline has"
                                                           : "");
    if (b->occupancy > much * a->occupancy && ++said)
        fprintf(to, "<li>More warps are resident: %.0f %% instead of %.0f %%.</li>\n",
                100 * b->occupancy, 100 * a->occupancy);
    if (a->occupancy > much * b->occupancy && ++said)
        fprintf(to,
                "<li>It wins with fewer warps resident (%.0f %% instead of %.0f %%): each does "
                "more.</li>\n",
                100 * b->occupancy, 100 * a->occupancy);
    if (a->spill_bytes > b->spill_bytes && ++said)
        fprintf(to, "<li>It spills %u bytes a thread instead of %u.</li>\n", b->spill_bytes,
                a->spill_bytes);
    put_alike(to, a, b);
    if (!said)
        fputs("<li>The counters of both are alike: what decides is finer than they show (the order "
              "of blocks in time, "
              "cache hints, row buffers of DRAM).</li>\n",
              to);
    fputs("</ul>\n", to);
}

/* ---- a pattern ---- */

/* "tile=64 vec=4" */
static char *spell(const record_values *v, char *text, size_t size_bytes)
{
    record_format_values(v, text, size_bytes);
    for (char *c = text; (c = strchr(c, ','));)
        *c = ' ';
    return text;
}

static void put_configuration(FILE *to, const char *label, const record_values *v)
{
    char text[CONFIGURATION_BYTES];
    fprintf(to, "<p>%s</p>", label);
    html_put(to, "<pre>%s</pre>\n", spell(v, text, sizeof text));
}

/* Side by side, what the winner has otherwise. */
static void put_changes(FILE *to, const record_values *baseline, const record_values *winner)
{
    char before[256], after[256];
    fputs("<div class=\"wide\"><table><thead><tr><th>what "
          "differs</th><th>baseline</th><th>winner</th></tr></thead>"
          "<tbody>\n",
          to);
    for (size_t i = 0; i < baseline->count; i++)
        for (size_t j = 0; j < winner->count; j++) {
            if (strcmp(baseline->pairs[i].name, winner->pairs[j].name) != 0 ||
                value_equal(baseline->pairs[i].value, winner->pairs[j].value))
                continue;
            value_format(baseline->pairs[i].value, before, sizeof before);
            value_format(winner->pairs[j].value, after, sizeof after);
            html_put(to, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", baseline->pairs[i].name,
                     before, after);
        }
    fputs("</tbody></table></div>\n", to);
}

/* Of records of earlier versions the ceiling is a copy. */
static const ceiling_info *ceiling_of(const record_entry *e)
{
    ceiling_kind kind;
    return ceiling_get(ceiling_find(e->ceiling, &kind) ? kind : CEILING_COPY);
}

/* Of all the entries. */
static const char *ceiling_name(const record *r)
{
    const char *name = ceiling_of(&r->entries[0])->name;
    for (size_t i = 1; i < r->entry_count; i++)
        if (strcmp(ceiling_of(&r->entries[i])->name, name) != 0)
            return "ceiling";
    return name;
}

static double rate_of(const record_entry *e, work_unit unit)
{
    return unit == WORK_FLOPS ? e->gflops : unit == WORK_ITEMS ? e->gitems : e->gbps;
}

/* The ceiling's unit, or the first that was recorded. */
static work_unit unit_of(const record_entry *e)
{
    work_unit unit = ceiling_of(e)->unit;
    for (int u = 0; u < WORK_UNITS && rate_of(e, unit) <= 0; u++)
        unit = (work_unit)u;
    return unit;
}

static void put_entries(FILE *to, const record *r)
{
    fputs("<div class=\"wide\"><table class=\"sort\"><thead><tr>", to);
    char unit[WORK_RATE_BYTES], share[48];
    const work_unit shown = unit_of(&r->entries[0]);
    snprintf(share, sizeof share, "of %s %%", ceiling_name(r));
    const char *const heads[] = {
        "problem", "time us",    "+- %",    work_rate_name(shown, r->entries[0].item, unit),
        share,     "x baseline", "measured"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        html_put(to, "<th><button type=\"button\">%s</button></th>", heads[i]);
    fputs("</tr></thead><tbody>\n", to);
    for (size_t i = 0; i < r->entry_count; i++) {
        const record_entry *e = &r->entries[i];
        char problem[TEXT_BYTES];
        html_put(to, "<tr><td>%s", spell(&e->problem, problem, sizeof problem));
        fprintf(
            to, "%s%s</td><td>%.2f</td><td>%.2f</td><td>%.1f</td><td>%.1f</td><td>%.3f</td><td>",
            e->warm_cache ? " (warm)" : "", e->energy ? " (energy)" : "", (double)e->time_ns / 1e3,
            50.0 * (double)(e->time_high_ns - e->time_low_ns) / (double)e->time_ns,
            rate_of(e, shown), 100 * e->ceiling_fraction, e->speedup);
        snprintf(problem, sizeof problem, "%.10s", e->date);
        html_put(to, "%s</td></tr>\n", problem);
    }
    fputs("</tbody></table></div>\n", to);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "(unknown)";
}

static void put_command(FILE *to, const record *r, const record_entry *e, const char *verb,
                        const char *rest)
{
    char v[256];
    html_put(to, "autotune %s%s.lua", verb, r->pattern);
    for (size_t i = 0; i < e->problem.count; i++) {
        value_format(e->problem.pairs[i].value, v, sizeof v);
        html_put(to, " --set %s=%s", e->problem.pairs[i].name, v);
    }
    fprintf(to, "%s%s\n", e->warm_cache ? " --cache warm" : "", rest);
}

/* What was tried and how it ended, from the file's own members. */
static void put_tried(FILE *to, const record *r)
{
    const json_t *entry = json_array_get(json_object_get(r->root, "entries"), 0);
    const json_t *search = json_object_get(entry, "search"),
                 *machine = json_object_get(entry, "device");
    const char *name, *between = "";
    json_t *count;
    fprintf(to, "<h3>What was tried, and how</h3>\n<p>Of %lld valid configurations ",
            (long long)json_integer_value(json_object_get(search, "valid")));
    json_object_foreach(json_object_get(search, "counts"), name,
                        count) if (json_integer_value(count) > 0)
    {
        fprintf(to, "%s%lld ended as %s", between, (long long)json_integer_value(count), name);
        between = ", ";
    }
    html_put(to,
             "; the strategy was %s, the driver %s, CUDA %s. Every variant was checked against a "
             "reference before it was "
             "timed; the fastest raced in blocks of one sample each, and 40 blocks of the finals "
             "decided.</p>\n"
             "<p>To repeat it:</p><pre>",
             text_of(search, "strategy"), text_of(machine, "driver"), text_of(machine, "cuda"));
    for (size_t i = 0; i < r->entry_count; i++)
        put_command(to, r, &r->entries[i], "", r->entries[i].energy ? " --objective energy" : "");
    fputs("</pre>\n<p>The winner's source with its launch, and its counters line by line:</p><pre>",
          to);
    put_command(to, r, &r->entries[0], "emit ", " --best");
    char text[CONFIGURATION_BYTES];
    record_format_values(&r->entries[0].configuration, text, sizeof text);
    html_put(to, "autotune explain %s.lua --config %s</pre>\n", r->pattern, text);
}

/* A picture of the pattern's whole space, where that was recorded. */
static void put_picture(FILE *to, const recorded *all, const ceiling_rates *ceilings,
                        const char *kind, const char *words)
{
    char *bytes;
    size_t size_bytes = 0;
    at_error error = {0};
    plot_request q = {.kind = kind, .title = all->kernel, .format = PLOT_SVG, .ceilings = ceilings};
    if (!plot_draw(all, &q, &bytes, &size_bytes, &error))
        html_picture(to, bytes, size_bytes, words);
    else
        html_put(to, "<p class=\"note\">No picture: %s</p>\n", error.message);
    free(bytes);
}

/* Beneath what the GPU can do at most, where that was measured. */
static void put_roofline(FILE *to, const record *r)
{
    recorded few = {0};
    ceiling_rates ceilings;
    at_error error = {0};
    bool any = false;
    if (roofline_ceilings(r->path, NULL, r->gpu, &ceilings, &error) ||
        recorded_read(r->path, &few, &error))
        return;
    for (int kind = 0; kind < CEILING_KINDS; kind++)
        any = any || ceilings.rates[kind] > 0;
    if (any)
        put_picture(to, &few, &ceilings, "roofline",
                    "The best and the baseline beneath what this GPU can do at most.");
    recorded_deinit(&few);
}

/* Of the landscape that lies beside the record. */
static void put_pictures(FILE *to, const record *r)
{
    char path[PATHS_BYTES];
    recorded all = {0};
    at_error error = {0};
    const char *slash = strrchr(r->path, '/');
    int folder = slash ? (int)(slash - r->path) : 0;
    snprintf(path, sizeof path, "%.*s/landscapes/%s.json.gz", folder, r->path, r->pattern);
    if (recorded_read(path, &all, &error))
        return;
    all.kernel = r->pattern;
    all.device = r->gpu;
    put_picture(to, &all, NULL, "rank",
                "Every variant: of each value of what decides most, its variants, fastest first.");
    put_picture(to, &all, NULL, "importance", "Which parameters decide how fast a variant is.");
    put_picture(to, &all, NULL, "heatmap",
                "The two parameters that decide together: the best time with each pair of values.");
    recorded_deinit(&all);
}

static void put_record(FILE *to, const record *r, size_t place)
{
    const record_entry *e = &r->entries[0];
    counts baseline = {0}, winner = {0};
    char problem[TEXT_BYTES];
    fprintf(to, "<h2 id=\"%s-%zu\">", r->pattern, place);
    html_put(to, "%s on %s</h2>\n", r->pattern, r->gpu);
    if (!r->entry_count)
        return;
    html_put(to, "<p>For %s", spell(&e->problem, problem, sizeof problem));
    fprintf(to, " the winner takes %.2f us: %.3f times as fast as the script's default",
            (double)e->time_ns / 1e3, e->speedup);
    if (e->ceiling_fraction > 0)
        fprintf(to, ", %.1f %% of %s", 100 * e->ceiling_fraction, ceiling_of(e)->words);
    fputs(".</p>\n", to);
    put_entries(to, r);
    fputs("<h3>Why the winner wins</h3>\n", to);
    if (e->baseline.count) {
        count_variant(r, &e->baseline, &baseline);
        count_variant(r, &e->configuration, &winner);
    }
    if (baseline.known && winner.known) {
        put_reasons(to, &baseline, &winner);
        put_counts(to, &baseline, &winner);
        fputs("<p class=\"note\">Counted on a simulated device, on the pattern's small problem, by "
              "Nsight Compute's "
              "definitions; the times above were measured on the GPU.</p>\n",
              to);
    } else {
        html_put(to, "<p class=\"note\">There are no counters to compare: %s</p>\n",
                 !e->baseline.count  ? "the record has no baseline"
                 : *baseline.why_not ? baseline.why_not
                                     : winner.why_not);
    }
    fputs("<h3>What is different</h3>\n", to);
    if (e->baseline.count)
        put_changes(to, &e->baseline, &e->configuration);
    put_configuration(to, "The winner, whole:", &e->configuration);
    if (e->baseline.count)
        put_configuration(to, "The script's default, the baseline:", &e->baseline);
    put_roofline(to, r);
    put_pictures(to, r);
    put_tried(to, r);
}

/* ---- the page ---- */

/* `place` tells records of one pattern, of several GPUs, apart. */
static void put_link(FILE *to, const record *r, size_t place)
{
    fprintf(to, "<a href=\"#%s-%zu\">%s, ", r->pattern, place, r->pattern);
    html_put(to, "%s</a> ", r->gpu);
}

static bool is_wanted(const options *o, const record *r)
{
    for (size_t i = 0; i < o->operand_count; i++)
        if (strcmp(o->operands[i], r->pattern) == 0)
            return true;
    return o->operand_count == 0;
}

/* That each pattern which is asked for has a record; without any: that there is one. */
static at_status check_wanted(const options *o, const record_set *set, at_error *error)
{
    const char **names = calloc(set->count + 1, sizeof *names);
    at_status status = names ? AT_OK : error_set(error, AT_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < set->count && !status; i++)
        names[i] = set->records[i].pattern;
    for (size_t i = 0; i < (o->operand_count ? o->operand_count : 1) && !status; i++) {
        size_t at = 0;
        while (at < set->count && o->operand_count && strcmp(o->operands[i], names[at]) != 0)
            at++;
        const char *nearest =
            at < set->count || !o->operand ? NULL : nearest_name(o->operands[i], names, set->count);
        if (at == set->count)
            status = error_set(
                error, AT_USAGE, "no record of %s%s%s%s; --results names the folder of the records",
                o->operand ? o->operands[i] : "anything", nearest ? "; did you mean " : "",
                nearest ? nearest : "", nearest ? "?" : "");
    }
    free(names);
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
    FILE *to = status ? NULL : open_memstream(&page, &size_bytes);
    if (!status && !to)
        status = error_set(error, AT_NO_MEMORY, "out of memory");
    if (!status) {
        html_begin(to, "What autotune found");
        html_put(to, "<p class=\"note\">Written by autotune %s from its records.</p>\n<nav>",
                 version_text());
        for (size_t i = 0; i < set.count; i++)
            if (is_wanted(o, &set.records[i]))
                put_link(to, &set.records[i], i);
        fputs("</nav>\n", to);
        for (size_t i = 0; i < set.count; i++)
            if (is_wanted(o, &set.records[i]))
                put_record(to, &set.records[i], i);
        html_end(to);
        if (fclose(to) != 0)
            status = error_set(error, AT_NO_MEMORY, "out of memory");
    }
    if (!status)
        status = terminal_or_file(o->output, page, size_bytes, error);
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
