#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "units.h"

enum { PAGE_COLUMNS = 100, VALUE_BYTES = 256, LABEL_COLUMNS = 12 };

typedef enum ink { INK_BOLD, INK_GOOD, INK_WARNING } ink;
static const char *const ink_codes[] = {
    [INK_BOLD] = "\033[1m", [INK_GOOD] = "\033[1;32m", [INK_WARNING] = "\033[33m"};

static const char *start(bool colour, ink i)
{
    return colour ? ink_codes[i] : "";
}

static const char *stop(bool colour)
{
    return colour ? "\033[0m" : "";
}

/* A text that grows up to the width of a page. */
typedef struct line {
    char text[1024];
    size_t used;
} line;

static void line_add(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line_add(line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(l->text + l->used, sizeof l->text - l->used, format, args);
    va_end(args);
    if (n > 0)
        l->used += (size_t)n < sizeof l->text - l->used ? (size_t)n : sizeof l->text - l->used - 1;
}

/* A label and a text of words, continued below itself where the page ends. */
static void print_wrapped(int indent, const char *label, const char *text, FILE *to)
{
    int room = PAGE_COLUMNS - indent;
    fprintf(to, "%-*s", indent, label);
    for (;;) {
        int length = (int)strlen(text), cut = length;
        if (length > room) {
            for (cut = room; cut > 0 && text[cut] != ' ';)
                cut--;
            if (cut == 0) /* a word longer than the line */
                cut = (int)strcspn(text, " ");
        }
        fprintf(to, "%.*s\n", cut, text);
        if (text[cut] == '\0')
            return;
        text += cut + 1;
        fprintf(to, "%*s", indent, "");
    }
}

/* One of the labelled lines below the table. */
static void print_labelled(const char *label, const char *text, FILE *to)
{
    print_wrapped(LABEL_COLUMNS, label, text, to);
}

/* ---- head ---- */

static void print_head(const run_summary *s, bool colour, FILE *to)
{
    const device_properties *d = &s->device;
    char name[VALUE_BYTES], text[UNITS_BYTES];
    line l = {.used = 0};
    if (s->compiled_only)
        line_add(&l, "compiled for %s", d->arch);
    else
        line_add(&l, "%s %s (%s%s%s)", d->predicted ? "predicted for" : "on",
                 table_clean(d->limits.name, name, sizeof name), d->arch,
                 d->driver[0] ? ", driver " : "", d->driver);
    fprintf(to, "%s%s%s %s\n", start(colour, INK_BOLD), s->pattern, stop(colour), l.text);
    l.used = 0;
    for (size_t i = 0; i < s->problem_count; i++) {
        char v[VALUE_BYTES], clean[VALUE_BYTES];
        value_format(s->problem[i].value, v, sizeof v);
        line_add(&l, "%s%s=%s", i ? " " : "", s->problem[i].name,
                 table_clean(v, clean, sizeof clean));
    }
    if (!s->compiled_only) {
        line_add(&l, "; %s cache", s->warm_cache ? "warm" : "cold");
        if (s->traffic_bytes)
            line_add(&l, "; %s to move", units_size(s->traffic_bytes, text));
        if (s->ceiling_gbps > 0)
            line_add(&l, "; a copy of them runs at %s GB/s", units_rate(s->ceiling_gbps, text));
    }
    fprintf(to, "%s\n\n", l.text);
}

/* ---- parameters as columns ---- */

/* Which rows are shown, and how their configurations are split: `varies[p]` for the parameters
 * that are columns, because they differ among the first top_count rows. What follows those (the
 * baseline) may differ in anything and does not widen the table. */
typedef struct page {
    const run_summary *summary;
    const run_result **rows;
    size_t row_count, top_count;
    bool *varies;
    bool as_columns; /* else each configuration has a line of its own */
} page;

static void find_varying(page *p)
{
    for (size_t v = 0; v < p->summary->parameter_count; v++)
        for (size_t r = 1; r < p->top_count; r++)
            if (!value_equal(p->rows[0]->values[v], p->rows[r]->values[v]))
                p->varies[v] = true;
}

static void add_parameter_columns(const page *p, table *t)
{
    for (size_t v = 0; p->as_columns && v < p->summary->parameter_count; v++)
        if (p->varies[v])
            table_add_column(t, p->summary->parameters[v],
                             p->rows[0]->values[v].kind == VALUE_STRING ? TABLE_LEFT : TABLE_RIGHT);
    if (!p->as_columns)
        table_add_column(t, "configuration", TABLE_LEFT);
}

/* "tile=64 vec=4": the parameters that vary, or those that do not. */
static void format_values(const page *p, const run_result *r, bool varying, line *l)
{
    for (size_t v = 0; v < p->summary->parameter_count; v++) {
        char text[VALUE_BYTES], clean[VALUE_BYTES];
        if (p->varies[v] != varying)
            continue;
        value_format(r->values[v], text, sizeof text);
        line_add(l, "%s%s=%s", l->used ? " " : "", p->summary->parameters[v],
                 table_clean(text, clean, sizeof clean));
    }
}

static void add_parameter_cells(const page *p, const run_result *r, table *t)
{
    if (!p->as_columns) {
        line l = {.used = 0};
        format_values(p, r, true, &l);
        table_add_cell(t, "%s", l.text);
        return;
    }
    for (size_t v = 0; v < p->summary->parameter_count; v++) {
        char text[VALUE_BYTES];
        if (!p->varies[v])
            continue;
        value_format(r->values[v], text, sizeof text);
        table_add_cell(t, "%s", text);
    }
}

static void print_common(const page *p, FILE *to)
{
    char label[48];
    line l = {.used = 0};
    format_values(p, p->rows[0], false, &l);
    if (l.used == 0 || p->top_count < 2)
        return;
    int indent = snprintf(label, sizeof label, "  rows 1 to %zu: ", p->top_count);
    print_wrapped(indent, label, l.text, to);
}

typedef void (*page_fill)(const page *p, table *t);

/* Columns if the page is wide enough for them; else configurations as texts. */
static at_status print_page(page *p, page_fill fill, bool colour, FILE *to, at_error *error)
{
    table t;
    at_status status = AT_OK;
    for (int attempt = 0; attempt < 2; attempt++) {
        p->as_columns = attempt == 0;
        table_init(&t);
        fill(p, &t);
        bool fits = table_width(&t) <= PAGE_COLUMNS && t.column_count < TABLE_MAX_COLUMNS;
        if (fits || attempt == 1)
            status = table_print(&t, colour, to, error);
        table_deinit(&t);
        if (fits)
            break;
    }
    if (!status)
        print_common(p, to);
    return status;
}

static at_status page_init(page *p, const run_summary *s, at_error *error)
{
    *p = (page){.summary = s};
    p->rows = calloc(s->result_count + 1, sizeof *p->rows);
    p->varies = calloc(s->parameter_count + 1, sizeof *p->varies);
    if (!p->rows || !p->varies)
        return error_set(error, AT_NO_MEMORY, "out of memory while making the report");
    return AT_OK;
}

static void page_deinit(page *p)
{
    free(p->rows);
    free(p->varies);
}

/* ---- measured runs ---- */

/* The unit of every time of the table: that of the best. */
typedef struct time_unit {
    const char *name;
    double ns;
    int decimals;
} time_unit;

static time_unit choose_unit(int64_t best_ns)
{
    static const time_unit units[] = {{"s", 1e9, 0}, {"ms", 1e6, 0}, {"us", 1e3, 0}};
    double ns = (double)best_ns;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (ns >= units[i].ns) {
            time_unit u = units[i];
            double v = ns / u.ns;
            u.decimals = v < 10 ? 3 : v < 100 ? 2 : 1;
            return u;
        }
    }
    return (time_unit){"ns", 1, 0};
}

static double half_width(const stats_summary *t)
{
    return t->median_ns > 0 ? (double)(t->high_ns - t->low_ns) / 2 / (double)t->median_ns : 0;
}

static void add_resource_cells(const run_result *r, table *t)
{
    char text[UNITS_BYTES];
    const kernel_resources *k = &r->resources;
    if (!r->has_resources) {
        for (int i = 0; i < 4; i++)
            table_add_cell(t, "-");
        return;
    }
    table_add_cell(t, "%" PRIu32, k->registers);
    table_add_cell(t, "%" PRIu64, (uint64_t)k->spill_store_bytes + k->spill_load_bytes);
    table_add_cell(t, "%s",
                   units_size((uint64_t)k->static_shared_bytes + r->dynamic_shared_bytes, text));
    table_add_cell(t, "%.0f %%", 100 * r->occupancy.fraction);
}

static void add_measured_row(const page *p, const run_result *r, const char *rank, table *t)
{
    char text[UNITS_BYTES];
    const run_result *best = p->rows[0];
    time_unit unit = choose_unit(best->time.median_ns);
    table_add_cell(t, "%s", rank);
    table_add_cell(t, "%.*f", unit.decimals, (double)r->time.median_ns / unit.ns);
    table_add_cell(t, "%.2f %%", 100 * half_width(&r->time));
    table_add_cell(t, "%s", units_rate(r->gbps, text));
    if (r->ceiling_fraction > 0)
        table_add_cell(t, "%s", units_percent(r->ceiling_fraction, text));
    else
        table_add_cell(t, "-");
    if (r == best)
        table_add_cell(t, "%s", "");
    else if (r->tied)
        table_add_cell(t, "tied");
    else
        table_add_cell(t, "%+.1f %%",
                       100 * ((double)r->time.median_ns / (double)best->time.median_ns - 1));
    add_resource_cells(r, t);
    add_parameter_cells(p, r, t);
}

static void fill_measured(const page *p, table *t)
{
    char head[32];
    const run_result *baseline = run_summary_baseline(p->summary);
    snprintf(head, sizeof head, "time %s", choose_unit(p->rows[0]->time.median_ns).name);
    const char *const heads[] = {"",        head,   "+-",    "GB/s",   "of copy",
                                 "vs best", "regs", "spill", "shared", "occup"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        table_add_column(t, heads[i], TABLE_RIGHT);
    add_parameter_columns(p, t);
    for (size_t i = 0; i < p->row_count; i++) {
        char rank[16];
        snprintf(rank, sizeof rank, "%zu", i + 1);
        add_measured_row(p, p->rows[i], p->rows[i] == baseline ? "base" : rank, t);
        if (i == 0)
            table_style_row(t, TABLE_BEST);
        else if (p->rows[i] == baseline)
            table_style_row(t, TABLE_DIM);
    }
}

/* The top rows, and the baseline below them when it is not among them. */
static at_status print_measured(const run_summary *s, const report_options *o, FILE *to,
                                at_error *error)
{
    page p;
    const run_result *baseline = run_summary_baseline(s);
    bool baseline_shown = !baseline || baseline->time.count == 0;
    at_status status = page_init(&p, s, error);
    size_t top = o->top > 0 ? o->top : 1;
    for (size_t i = 0; !status && i < s->result_count && p.row_count < top; i++) {
        if (s->results[i].outcome != OUTCOME_OK || s->results[i].time.count == 0)
            continue;
        p.rows[p.row_count++] = &s->results[i];
        baseline_shown = baseline_shown || &s->results[i] == baseline;
    }
    p.top_count = p.row_count;
    if (!status && !baseline_shown)
        p.rows[p.row_count++] = baseline;
    if (!status && p.row_count > 0) {
        find_varying(&p);
        status = print_page(&p, fill_measured, o->colour, to, error);
    }
    page_deinit(&p);
    return status;
}

static void print_verdict(const run_summary *s, bool colour, FILE *to)
{
    const run_result *best = run_summary_best(s), *baseline = run_summary_baseline(s);
    line l = {.used = 0};
    if (!best) {
        fprintf(to, "%sno variant worked%s\n", start(colour, INK_WARNING), stop(colour));
        return;
    }
    if (s->verdict == VERDICT_TIED)
        line_add(&l, "tied with %zu other%s", s->tied_count, s->tied_count == 1 ? "" : "s");
    else if (s->verdict == VERDICT_CLEAR)
        line_add(&l, "clear: faster than every other");
    else if (s->verdict == VERDICT_INCONCLUSIVE)
        line_add(&l, "inconclusive: the budget ended before the race");
    else if (s->verdict == VERDICT_NOISY)
        line_add(&l, "noisy: the machine's noise exceeds the difference that decided");
    if (s->verdict != VERDICT_NONE)
        print_labelled("verdict", l.text, to);
    if (s->speedup > 0) {
        l.used = 0;
        line_add(&l, "%s%.2f times%s as fast as the baseline", start(colour, INK_GOOD), s->speedup,
                 stop(colour));
        if (best->ceiling_fraction > 0)
            line_add(&l, ", %.3f of a copy of the same bytes", best->ceiling_fraction);
        print_labelled("speed-up", l.text, to);
    }
    if (best->power_w > 0) {
        l.used = 0;
        line_add(&l, "%.4g J a launch at %.0f W", best->energy_j, best->power_w);
        print_labelled("energy", l.text, to);
    }
    char clean[1024];
    print_labelled("best", table_clean(best->configuration, clean, sizeof clean), to);
    if (baseline && baseline != best)
        print_labelled("baseline", table_clean(baseline->configuration, clean, sizeof clean), to);
}

/* ---- compiled only ---- */

static int compare_compiled(const void *a, const void *b)
{
    const run_result *x = *(const run_result *const *)a, *y = *(const run_result *const *)b;
    uint64_t x_spill = (uint64_t)x->resources.spill_store_bytes + x->resources.spill_load_bytes;
    uint64_t y_spill = (uint64_t)y->resources.spill_store_bytes + y->resources.spill_load_bytes;
    if (x->occupancy.warps_per_sm != y->occupancy.warps_per_sm)
        return x->occupancy.warps_per_sm > y->occupancy.warps_per_sm ? -1 : 1;
    if (x_spill != y_spill)
        return x_spill < y_spill ? -1 : 1;
    if (x->resources.registers != y->resources.registers)
        return x->resources.registers < y->resources.registers ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void fill_compiled(const page *p, table *t)
{
    static const char *const heads[] = {"regs", "spill", "shared", "occup", "stack", "blocks/SM"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        table_add_column(t, heads[i], TABLE_RIGHT);
    table_add_column(t, "limit", TABLE_LEFT);
    add_parameter_columns(p, t);
    for (size_t i = 0; i < p->row_count; i++) {
        const run_result *r = p->rows[i];
        add_resource_cells(r, t);
        table_add_cell(t, "%" PRIu32, r->resources.stack_bytes);
        table_add_cell(t, "%d", r->occupancy.blocks_per_sm);
        table_add_cell(t, "%s", occupancy_limit_name(r->occupancy.limit));
        add_parameter_cells(p, r, t);
    }
}

/* Over all that compiled, not only the rows shown. */
static void print_resource_range(const page *p, FILE *to)
{
    uint32_t least = UINT32_MAX, most = 0;
    size_t spilling = 0, full = 0;
    for (size_t i = 0; i < p->row_count; i++) {
        const kernel_resources *k = &p->rows[i]->resources;
        least = k->registers < least ? k->registers : least;
        most = k->registers > most ? k->registers : most;
        spilling += k->spill_store_bytes + k->spill_load_bytes > 0;
        full += p->rows[i]->occupancy.fraction > 0.999;
    }
    char a[UNITS_BYTES], b[UNITS_BYTES];
    fprintf(to, "\n%-*s", LABEL_COLUMNS, "registers");
    if (least < most)
        fprintf(to, "%" PRIu32 " to ", least);
    fprintf(to, "%" PRIu32 " a thread; %s spill\n", most,
            spilling ? units_count(spilling, a) : "none");
    fprintf(to, "%-*s%s of %s variants can fill the SM's warps\n", LABEL_COLUMNS, "occupancy",
            units_count(full, a), units_count(p->row_count, b));
}

static at_status print_compiled(const run_summary *s, const report_options *o, FILE *to,
                                at_error *error)
{
    page p;
    at_status status = page_init(&p, s, error);
    for (size_t i = 0; !status && i < s->result_count; i++)
        if (s->results[i].outcome == OUTCOME_OK && s->results[i].has_resources)
            p.rows[p.row_count++] = &s->results[i];
    if (!status && p.row_count > 0) {
        size_t all = p.row_count;
        qsort(p.rows, all, sizeof *p.rows, compare_compiled);
        p.row_count = p.top_count = o->top > 0 && o->top < all ? o->top : all;
        find_varying(&p);
        status = print_page(&p, fill_compiled, o->colour, to, error);
        if (!status && p.row_count < all)
            fprintf(to, "  ... and %zu more (--top)\n", all - p.row_count);
        p.row_count = all;
        if (!status)
            print_resource_range(&p, to);
    }
    page_deinit(&p);
    return status;
}

/* ---- what both end with ---- */

static void print_counts(const run_summary *s, FILE *to)
{
    char text[UNITS_BYTES];
    uint64_t tried = 0;
    line l = {.used = 0};
    for (int o = 0; o < OUTCOME_COUNT; o++)
        tried += s->counts[o];
    line_add(&l, "%s tried", units_count(tried, text));
    line_add(&l, " of %s valid", units_count(s->space_valid, text));
    line_add(&l, " (%s in the full product):", units_count(s->space_cartesian, text));
    const char *separator = " ";
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (s->counts[o] == 0)
            continue;
        line_add(&l, "%s%s %s", separator, units_count(s->counts[o], text),
                 outcome_name((outcome)o));
        separator = ", ";
    }
    print_labelled("variants", l.text, to);
}

/* One example of each way to fail, its first line cut to the page. */
static void print_failures(const run_summary *s, FILE *to)
{
    for (int o = OUTCOME_OK + 1; o < OUTCOME_COUNT; o++) {
        const run_result *example = NULL;
        for (size_t i = 0; i < s->result_count && !example; i++)
            if (s->results[i].outcome == (outcome)o && s->results[i].message)
                example = &s->results[i];
        if (!example)
            continue;
        char first[512], clean[512], configuration[512];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(example->message, "\n"),
                 example->message);
        fprintf(to, "  %s, for example %s\n    %.96s\n", outcome_name((outcome)o),
                table_clean(example->configuration, configuration, sizeof configuration),
                table_clean(first, clean, sizeof clean));
    }
}

static void print_stages(const run_summary *s, FILE *to)
{
    char text[UNITS_BYTES];
    line l = {.used = 0};
    line_add(&l, "%s in all", units_duration(s->wall_s, text));
    const char *separator = "; of it, overlapping: ";
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (s->stage_s[i] < 0.005)
            continue;
        line_add(&l, "%s%s %s%s", separator, run_stage_name((run_stage)i),
                 units_duration(s->stage_s[i], text), i == STAGE_COMPILE ? " (all workers)" : "");
        separator = ", ";
    }
    print_labelled("time", l.text, to);
}

static void print_end(const run_summary *s, FILE *to)
{
    static const char *const texts[] = {
        [RUN_END_EXHAUSTED] = NULL,
        [RUN_END_STRATEGY] = "the strategy had nothing more to try",
        [RUN_END_BUDGET] = "the budget is used up",
        [RUN_END_INTERRUPTED] = "interrupted; the same command goes on from here",
    };
    if ((size_t)s->end < sizeof texts / sizeof *texts && texts[s->end])
        print_labelled("ended", texts[s->end], to);
}

static void print_foot(const run_summary *s, bool colour, FILE *to)
{
    char clean[1024];
    print_counts(s, to);
    print_failures(s, to);
    print_stages(s, to);
    print_end(s, to);
    if (s->record_path[0])
        print_labelled("record", table_clean(s->record_path, clean, sizeof clean), to);
    for (size_t i = 0; i < s->warning_count; i++)
        fprintf(to, "%swarning%s     %s\n", start(colour, INK_WARNING), stop(colour),
                table_clean(s->warnings[i], clean, sizeof clean));
}

at_status report_print(const run_summary *s, const report_options *options, FILE *to,
                       at_error *error)
{
    print_head(s, options->colour, to);
    at_status status = s->compiled_only ? print_compiled(s, options, to, error)
                                        : print_measured(s, options, to, error);
    if (status)
        return status;
    if (!s->compiled_only) {
        fprintf(to, "\n");
        print_verdict(s, options->colour, to);
    }
    print_foot(s, options->colour, to);
    if (fflush(to) != 0 || ferror(to))
        return error_set_errno(error, errno, "cannot write the results");
    return AT_OK;
}
