#include "report/page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/units.h"
#include "report/table.h"

enum { VALUE_BYTES = 256, LINE_BYTES = 1024, LABEL_COLUMNS = 12 };

/* ---- parameters as columns ---- */

/* Which rows are shown, and how their configurations are split: `varies[p]` for the parameters
 * that are columns, because they differ among the first top_count rows. What follows those (the
 * baseline) may differ in anything and does not widen the table. */
typedef struct page {
    const run_summary *summary;
    const run_result **rows;
    size_t row_count, top_count;
    bool *varies;
    bool as_columns; /* else each configuration stands below its row */
    bool narrow;     /* the resources do too */
    size_t columns;
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
}

/* "tile=64 vec=4": the parameters that vary, or those that do not. */
static void format_values(const page *p, const run_result *r, bool varying, char l[LINE_BYTES])
{
    for (size_t v = 0; v < p->summary->parameter_count; v++) {
        char text[VALUE_BYTES], clean[VALUE_BYTES];
        if (p->varies[v] != varying)
            continue;
        value_format(r->values[v], text, sizeof text);
        text_add(l, LINE_BYTES, "%s%s=%s", *l ? " " : "", p->summary->parameters[v],
                 table_clean(text, clean, sizeof clean));
    }
}

/* "27 registers, 0 bytes spilled, 16 KiB shared, occupancy 100 %" */
static void format_resources(const run_result *r, char l[LINE_BYTES])
{
    char text[UNITS_BYTES];
    const kernel_resources *k = &r->found.resources;
    if (!r->found.has_resources)
        return;
    text_add(l, LINE_BYTES,
             "%s%" PRIu32 " registers, %" PRIu64 " bytes spilled, %s shared, occupancy %.0f %%",
             *l ? "; " : "", k->registers, (uint64_t)k->spill_store_bytes + k->spill_load_bytes,
             units_size((uint64_t)k->static_shared_bytes + r->dynamic_shared_bytes, text),
             100 * r->occupancy.fraction);
}

/* "the same machine code: pad=1 swizzle=xor; pad=2; and 3 more": in what a row's twins differ from
 * it. */
static void format_twins(const page *p, const run_result *r, char l[LINE_BYTES])
{
    enum { MOST_SHOWN = 3 };
    const run_summary *s = p->summary;
    const run_result *end = s->results + s->result_count;
    size_t count = 0;
    for (const run_result *twin = r + 1; twin < end && twin->is_twin && twin->lead == r->index;
         twin++) {
        if (count++ >= MOST_SHOWN)
            continue;
        text_add(l, LINE_BYTES, "%s",
                 count == 1 ? *l ? "; the same machine code:" : "the same machine code:" : ";");
        for (size_t v = 0; v < s->parameter_count; v++) {
            char text[VALUE_BYTES], clean[VALUE_BYTES];
            if (value_equal(twin->values[v], r->values[v]))
                continue;
            value_format(twin->values[v], text, sizeof text);
            text_add(l, LINE_BYTES, " %s=%s", s->parameters[v],
                     table_clean(text, clean, sizeof clean));
        }
    }
    if (count > MOST_SHOWN)
        text_add(l, LINE_BYTES, "; and %zu more", count - MOST_SHOWN);
}

static void add_parameter_cells(const page *p, const run_result *r, table *t)
{
    char l[LINE_BYTES] = "";
    if (!p->as_columns) {
        format_values(p, r, true, l);
        if (p->narrow)
            format_resources(r, l);
    }
    format_twins(p, r, l);
    if (*l)
        table_note_row(t, l);
    if (!p->as_columns)
        return;
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
    char l[LINE_BYTES] = "";
    format_values(p, p->rows[0], false, l);
    if (!*l || p->top_count < 2)
        return;
    int indent = snprintf(label, sizeof label, "  rows 1 to %zu: ", p->top_count);
    table_print_wrapped(p->columns, indent, label, l, to);
}

typedef void (*page_fill)(const page *p, table *t);

/* Columns if the page is wide enough for them; else configurations, and then resources, below their
 * rows. */
static at_status print_page(page *p, page_fill fill, bool colour, FILE *to, at_error *error)
{
    table t;
    at_status status = AT_OK;
    for (int attempt = 0; attempt < 3; attempt++) {
        p->as_columns = attempt == 0;
        p->narrow = attempt == 2;
        table_init(&t);
        t.page_columns = p->columns;
        fill(p, &t);
        bool fits = table_width(&t) <= p->columns && t.column_count < TABLE_MAX_COLUMNS;
        if (fits || attempt == 2)
            status = table_print(&t, colour, to, error);
        table_deinit(&t);
        if (fits)
            break;
    }
    if (!status)
        print_common(p, to);
    return status;
}

static at_status page_init(page *p, const run_summary *s, const report_options *options,
                           at_error *error)
{
    *p = (page){.summary = s, .columns = options->columns ? options->columns : TABLE_PAGE_COLUMNS};
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
    const kernel_resources *k = &r->found.resources;
    if (!r->found.has_resources) {
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
    for (int u = 0; u < WORK_UNITS; u++)
        if (best->rates[u] > 0)
            table_add_cell(t, "%s", units_rate(r->rates[u], text));
    if (best->ceiling_fraction > 0)
        table_add_cell(t, "%s", units_percent(r->ceiling_fraction, text));
    if (r == best)
        table_add_cell(t, "%s", "");
    else if (r->tied)
        table_add_cell(t, "tied");
    else
        table_add_cell(t, "%+.1f %%",
                       100 * ((double)r->time.median_ns / (double)best->time.median_ns - 1));
    if (!p->narrow)
        add_resource_cells(r, t);
    add_parameter_cells(p, r, t);
}

/* What the best has; the share says of what it is. */
static void add_rate_columns(const page *p, bool predicted, table *t)
{
    const run_result *best = p->rows[0];
    char head[2 * WORK_RATE_BYTES], unit[WORK_RATE_BYTES];
    for (int u = 0; u < WORK_UNITS; u++)
        if (best->rates[u] > 0) {
            snprintf(head, sizeof head, "%s%s", predicted ? "pred. " : "",
                     work_rate_name((work_unit)u, p->summary->item, unit));
            table_add_column(t, head, TABLE_RIGHT);
        }
    snprintf(head, sizeof head, "of %s", ceiling_get(p->summary->ceiling)->name);
    if (best->ceiling_fraction > 0)
        table_add_column(t, head, TABLE_RIGHT);
}

static void fill_measured(const page *p, table *t)
{
    char head[32];
    const run_result *baseline = run_summary_baseline(p->summary);
    bool predicted = p->summary->device.predicted;
    snprintf(head, sizeof head, "%s %s", predicted ? "pred." : "time",
             choose_unit(p->rows[0]->time.median_ns).name);
    table_add_column(t, "", TABLE_RIGHT);
    table_add_column(t, head, TABLE_RIGHT);
    table_add_column(t, "+-", TABLE_RIGHT);
    add_rate_columns(p, predicted, t);
    table_add_column(t, "vs best", TABLE_RIGHT);
    if (!p->narrow)
        table_add_columns(t, "regs,spill,shared,occup");
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
at_status report_page_measured(const run_summary *s, const report_options *options, FILE *to,
                               at_error *error)
{
    page p;
    size_t top = options->top;
    const run_result *baseline = run_summary_baseline(s);
    bool baseline_shown =
        !baseline || baseline->time.count == 0 || baseline->found.outcome != OUTCOME_OK;
    at_status status = page_init(&p, s, options, error);
    for (size_t i = 0; !status && i < s->result_count && p.row_count < (top ? top : 1); i++) {
        if (s->results[i].found.outcome != OUTCOME_OK || s->results[i].time.count == 0 ||
            s->results[i].is_twin)
            continue;
        p.rows[p.row_count++] = &s->results[i];
        baseline_shown = baseline_shown || &s->results[i] == baseline;
    }
    p.top_count = p.row_count;
    if (!status && !baseline_shown)
        p.rows[p.row_count++] = baseline;
    if (!status && p.row_count > 0) {
        find_varying(&p);
        status = print_page(&p, fill_measured, options->colour, to, error);
    }
    page_deinit(&p);
    return status;
}

/* ---- compiled only ---- */

static int compare_compiled(const void *a, const void *b)
{
    const run_result *x = *(const run_result *const *)a, *y = *(const run_result *const *)b;
    uint64_t x_spill =
        (uint64_t)x->found.resources.spill_store_bytes + x->found.resources.spill_load_bytes;
    uint64_t y_spill =
        (uint64_t)y->found.resources.spill_store_bytes + y->found.resources.spill_load_bytes;
    if (x->occupancy.warps_per_sm != y->occupancy.warps_per_sm)
        return x->occupancy.warps_per_sm > y->occupancy.warps_per_sm ? -1 : 1;
    if (x_spill != y_spill)
        return x_spill < y_spill ? -1 : 1;
    if (x->found.resources.registers != y->found.resources.registers)
        return x->found.resources.registers < y->found.resources.registers ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void fill_compiled(const page *p, table *t)
{
    table_add_columns(t, "regs,spill,shared,occup,blocks/SM,<limit");
    add_parameter_columns(p, t);
    for (size_t i = 0; i < p->row_count; i++) {
        const run_result *r = p->rows[i];
        add_resource_cells(r, t);
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
        const kernel_resources *k = &p->rows[i]->found.resources;
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

at_status report_page_compiled(const run_summary *s, const report_options *options, FILE *to,
                               at_error *error)
{
    page p;
    size_t top = options->top;
    at_status status = page_init(&p, s, options, error);
    for (size_t i = 0; !status && i < s->result_count; i++)
        if (s->results[i].found.outcome == OUTCOME_OK && s->results[i].found.has_resources &&
            !s->results[i].is_twin)
            p.rows[p.row_count++] = &s->results[i];
    if (!status && p.row_count > 0) {
        size_t all = p.row_count;
        qsort(p.rows, all, sizeof *p.rows, compare_compiled);
        p.row_count = p.top_count = top > 0 && top < all ? top : all;
        find_varying(&p);
        status = print_page(&p, fill_compiled, options->colour, to, error);
        if (!status && p.row_count < all)
            fprintf(to, "  ... and %zu more (--top)\n", all - p.row_count);
        p.row_count = all;
        if (!status)
            print_resource_range(&p, to);
    }
    page_deinit(&p);
    return status;
}
