#include "cmd/look/plot.h"
#include "cmd/line/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cmd/line/gnuplot.h"
#include "cmd/look/roofline.h"
#include "history/importance.h"

enum { COLOURS = 8, VALUE_BYTES = 96, LEAST_RANKED = 3, MOST_CELLS = 10000 };

/* Okabe & Ito 2008; yellow, which is faint on white, comes last. */
static const char *const colours[COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                             "#000000", "#56b4e9", "#e69f00", "#b0a000"};

/* What a kind draws is over one or two parameters. */
typedef struct drawing {
    const recorded *r;
    const plot_request *q;
    importance important;
    size_t by[2];
    size_t *works; /* results with a cost, best first */
    size_t count;
    bool rates; /* GB/s are known: higher is better; else times */
    FILE *to;
} drawing;

static double figure(const drawing *d, size_t result)
{
    const recorded_result *r = &d->r->results[result];
    return d->rates ? r->rate : r->cost * 1e3;
}

static const char *unit(const drawing *d)
{
    return d->rates ? d->r->rate_unit
           : strcmp(d->r->objective, "time") == 0
               ? d->q->format == PLOT_TERMINAL ? "us" : "time (us)"
               : d->r->objective;
}

static void value_text(const drawing *d, size_t result, size_t parameter, char text[VALUE_BYTES])
{
    value_format(d->r->results[result].values[parameter], text, VALUE_BYTES);
}

/* A text between gnuplot's double quotes, without what it or its terminals would read as more than
 * text; behind `before`, and `after` follows. */
static void put_text(FILE *to, const char *before, const char *text, const char *after)
{
    fprintf(to, "%s\"", before);
    for (; *text; text++)
        if (!strchr("\"\\`{}^@&~\n$", *text))
            fputc(*text, to);
    fprintf(to, "\"%s", after);
}

/* A value, and the result that has it; among what works, of which `rank` were better. */
typedef struct level {
    const value *v;
    size_t result, rank;
} level;

static int compare_levels(const void *a, const void *b)
{
    const level *x = a, *y = b;
    int order = value_compare(*x->v, *y->v);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* What works, by a parameter's values, and by rank among equal ones. Caller frees. */
static level *sort_by(const drawing *d, size_t parameter)
{
    level *list = calloc(d->count + 1, sizeof *list);
    for (size_t i = 0; list && i < d->count; i++)
        list[i] = (level){&d->r->results[d->works[i]].values[parameter], d->works[i], i};
    if (list)
        qsort(list, d->count, sizeof *list, compare_levels);
    return list;
}

/* How many from `from` on have the same value. */
static size_t run_of(const level *list, size_t count, size_t from)
{
    size_t end = from + 1;
    while (end < count && value_equal(*list[end].v, *list[from].v))
        end++;
    return end - from;
}

/* The different values of a parameter among what works, ascending; results that have them. Caller
 * frees. */
static size_t *levels_of(const drawing *d, size_t parameter, size_t *count)
{
    size_t *list = calloc(d->count + 1, sizeof *list);
    level *all = sort_by(d, parameter);
    *count = 0;
    for (size_t i = 0; list && all && i < d->count; i += run_of(all, d->count, i))
        list[(*count)++] = all[i].result;
    if (!all) {
        free(list);
        return NULL;
    }
    free(all);
    return list;
}

static bool has_level(const drawing *d, size_t result, size_t like, size_t parameter)
{
    return value_equal(d->r->results[result].values[parameter],
                       d->r->results[like].values[parameter]);
}

/* A terminal shows it where there is room beside the numbers. */
static void put_ylabel(const drawing *d, const char *name)
{
    if (d->q->format == PLOT_TERMINAL)
        fputs("set lmargin 20\n", d->to);
    fprintf(d->to, "set ylabel '%s'\n", name);
}

/* Ends the order to plot. */
static void put_ceiling(const drawing *d)
{
    char of[WORK_RATE_BYTES];
    const ceiling_info *ceiling = ceiling_get(d->r->ceiling);
    bool alike =
        d->rates && (ceiling->unit == WORK_ITEMS ||
                     strcmp(work_rate_name(ceiling->unit, NULL, of), d->r->rate_unit) == 0);
    if (alike && d->r->ceiling_rate > 0)
        fprintf(d->to, ", \\\n %g with lines lc rgb '#555555' lw 2 title '%s'", d->r->ceiling_rate,
                ceiling->words);
    if (d->rates && d->r->baseline_rate > 0)
        fprintf(d->to, ", \\\n %g with lines lc rgb '#555555' dt 2 lw 2 title 'baseline'",
                d->r->baseline_rate);
    fputs("\n", d->to);
}

/* 1, 2, 5, 10 ...: a range of less than a decade has numbers too. */
static void put_log_range(const drawing *d, double low, double high)
{
    fprintf(d->to, "set logscale y\nset yrange [%g:%g]\nset ytics (", low, high);
    for (double decade = pow(10, floor(log10(low))); decade < high; decade *= 10)
        for (int i = 0; i < 3; i++) {
            double at = decade * (i == 0 ? 1 : i == 1 ? 2 : 5);
            if (at >= low && at <= high)
                fprintf(d->to, "'%g' %g, ", at, at);
        }
    fprintf(d->to, "'' %g)\n", high);
}

/* Of each value its variants, fastest first, along their share: curves that do not hide each other.
 * Of more values than there are colours some, evenly spread. */
static at_status draw_rank(const drawing *d, at_error *error)
{
    size_t all, *levels = levels_of(d, d->by[0], &all), count = all < COLOURS ? all : COLOURS;
    char text[VALUE_BYTES];
    if (!levels)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    for (size_t l = 1; l < count; l++)
        levels[l] = levels[l * (all - 1) / (count - 1)];
    for (size_t l = 0; l < count; l++) {
        size_t of = 0, rank = 0;
        for (size_t i = 0; i < d->count; i++)
            of += has_level(d, d->works[i], levels[l], d->by[0]);
        fprintf(d->to, "$d%zu << EOD\n", l);
        for (size_t i = 0; i < d->count; i++)
            if (has_level(d, d->works[i], levels[l], d->by[0]))
                fprintf(d->to, "%g %g\n", 100.0 * (double)rank++ / (double)(of > 1 ? of - 1 : 1),
                        figure(d, d->works[i]));
        fputs("EOD\n", d->to);
    }
    snprintf(text, sizeof text, count < all ? " (of %zu of %zu values)" : "", count, all);
    fprintf(d->to,
            "set xlabel 'of the variants with that value%s, fastest first (%%)'\n"
            "set xrange [0:100]\nset key outside bottom center horizontal height 1\n",
            text);
    put_ylabel(d, unit(d));
    if (d->rates)
        fputs("set yrange [0:*]\n", d->to);
    else
        put_log_range(d, figure(d, d->works[0]) / 1.05, figure(d, d->works[d->count - 1]) * 1.05);
    fputs("plot ", d->to);
    for (size_t l = 0; l < count; l++) {
        char title[2 * VALUE_BYTES];
        value_text(d, levels[l], d->by[0], text);
        snprintf(title, sizeof title, "%s=%s", d->r->names[d->by[0]], text);
        fprintf(d->to, "%s$d%zu with linespoints lc rgb '%s' lw 2 dt %zu pt %zu ps 0.7 pn 8 title ",
                l ? ", \\\n " : "", l, colours[l % COLOURS], 1 + l % 5, 4 + l % 10);
        put_text(d->to, "", title, "");
    }
    put_ceiling(d);
    free(levels);
    return AT_OK;
}

/* The best and the middle with each value. */
static at_status draw_sweep(const drawing *d, at_error *error)
{
    level *levels = sort_by(d, d->by[0]);
    size_t count = 0;
    char text[VALUE_BYTES];
    if (!levels)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    fputs("$d << EOD\n", d->to);
    for (size_t i = 0; i < d->count; count++) {
        size_t of = run_of(levels, d->count, i);
        value_text(d, levels[i].result, d->by[0], text);
        fprintf(d->to, "%zu %g %g ", count, figure(d, levels[i].result),
                figure(d, levels[i + of / 2].result));
        put_text(d->to, "", text, "\n");
        i += of;
    }
    fprintf(d->to, "EOD\nset yrange [0:*]\nset xrange [-0.5:%g]\n", (double)count - 0.5);
    put_ylabel(d, unit(d));
    put_text(d->to, "set xlabel ", d->r->names[d->by[0]], "\n");
    fprintf(d->to,
            "set key outside bottom center horizontal height 1\n"
            "plot $d using 1:2:xtic(4) with linespoints lc rgb '%s' lw 2 pt 7 title 'best', \\\n"
            " $d using 1:3 with linespoints lc rgb '%s' lw 2 dt 2 pt 4 title 'median'",
            colours[0], colours[1]);
    put_ceiling(d);
    free(levels);
    return AT_OK;
}

/* The best of each pair of values beside the best of all, in per cent more time; NAN: none
 * works. */
static double cell(const drawing *d, size_t a, size_t b)
{
    for (size_t i = 0; i < d->count; i++)
        if (has_level(d, d->works[i], a, d->by[0]) && has_level(d, d->works[i], b, d->by[1]))
            return 100 * (d->r->results[d->works[i]].cost / d->r->results[d->works[0]].cost - 1);
    return NAN;
}

/* Letters of the longest value, `least` at least. */
static int widest_value(const drawing *d, const size_t *levels, size_t count, size_t parameter,
                        int least)
{
    char text[VALUE_BYTES];
    for (size_t i = 0; i < count; i++) {
        value_text(d, levels[i], parameter, text);
        if ((int)strlen(text) > least)
            least = (int)strlen(text);
    }
    return least;
}

/* In the terminal: blocks, the fuller the faster, and the figures beside them. As many columns side
 * by side as there is room for. */
static void print_blocks(const drawing *d, const size_t *rows, size_t row_count,
                         const size_t *columns, size_t column_count)
{
    static const char *const blocks[] = {"\u2588\u2588", "\u2593\u2593", "\u2592\u2592",
                                         "\u2591\u2591", "  "};
    static const char *const letters[] = {"##", "==", "--", "..", "  "};
    static const double steps[] = {1, 5, 20, 100};
    const char *const *shades = terminal_speaks_utf8() ? blocks : letters;
    char text[VALUE_BYTES];
    int label = widest_value(d, rows, row_count, d->by[0], 6);
    int width = widest_value(d, columns, column_count, d->by[1], 9);
    size_t room =
        d->q->columns > (size_t)label ? (d->q->columns - (size_t)label) / (size_t)(width + 1) : 1;
    fprintf(d->to, "%s down, %s across: per cent above the best time\n", d->r->names[d->by[0]],
            d->r->names[d->by[1]]);
    for (size_t first = 0; first < column_count; first += room ? room : 1) {
        size_t end =
            first + (room ? room : 1) < column_count ? first + (room ? room : 1) : column_count;
        fprintf(d->to, "%*s", label, "");
        for (size_t c = first; c < end; c++) {
            value_text(d, columns[c], d->by[1], text);
            fprintf(d->to, " %*s", width, text);
        }
        for (size_t r = 0; r < row_count; r++) {
            value_text(d, rows[r], d->by[0], text);
            fprintf(d->to, "\n%*s", label, text);
            for (size_t c = first; c < end; c++) {
                double v = cell(d, rows[r], columns[c]);
                size_t shade = 0;
                while (shade < 4 && v >= steps[shade])
                    shade++;
                if (isnan(v))
                    fprintf(d->to, " %*s", width, "-");
                else
                    fprintf(d->to, " %*s%s%7.1f", width - 9, "", shades[shade], v);
            }
        }
        fputs("\n\n", d->to);
    }
    fprintf(d->to, "%*s %s < 1 %%  %s < 5 %%  %s < 20 %%  %s < 100 %%\n", label, "", shades[0],
            shades[1], shades[2], shades[3]);
}

/* The values of a parameter along an axis. */
static void put_tics(const drawing *d, const char *axis, const size_t *levels, size_t count,
                     size_t parameter)
{
    char text[VALUE_BYTES];
    fprintf(d->to, "set %s (", axis);
    for (size_t i = 0; i < count; i++) {
        value_text(d, levels[i], parameter, text);
        put_text(d->to, i ? ", " : "", text, "");
        fprintf(d->to, " %zu", i);
    }
    fputs(")\n", d->to);
}

static at_status draw_heatmap(const drawing *d, at_error *error)
{
    size_t rows, columns, *row = levels_of(d, d->by[0], &rows),
                          *column = levels_of(d, d->by[1], &columns);
    at_status status = row && column ? AT_OK : error_set(error, AT_NO_MEMORY, "out of memory");
    if (!status && (double)rows * (double)columns > MOST_CELLS)
        status = error_set(
            error, AT_USAGE,
            "%zu by %zu values are more than a heatmap has room for; --by NAME,NAME chooses "
            "others",
            rows, columns);
    if (!status && d->q->format == PLOT_TERMINAL) {
        print_blocks(d, row, rows, column, columns);
    } else if (!status) {
        fputs("$d << EOD\n", d->to);
        for (size_t y = 0; y < rows; y++)
            for (size_t x = 0; x < columns; x++) {
                double v = cell(d, row[y], column[x]);
                if (isnan(v))
                    fprintf(d->to, "%zu %zu NaN \"none\"\n", x, y);
                else
                    fprintf(d->to, "%zu %zu %g \"%.1f\"\n", x, y, fmax(v, 0.1), v);
            }
        fputs("EOD\n", d->to);
        put_tics(d, "xtics", column, columns, d->by[1]);
        put_tics(d, "ytics", row, rows, d->by[0]);
        put_text(d->to, "set xlabel ", d->r->names[d->by[1]], "\n");
        put_text(d->to, "set ylabel ", d->r->names[d->by[0]], "\n");
        /* Light to dark blue: it stays a scale in print. */
        fprintf(d->to,
                "unset key\nunset grid\nset logscale cb\nset cblabel 'best time with both, %% "
                "above the best'\n"
                "set palette defined (0 '#f7fbff', 1 '#c6dbef', 2 '#6baed6', 3 '#4292c6')\n"
                "set xrange [-0.5:%g]\nset yrange [-0.5:%g]\n"
                "plot $d using 1:2:3 with image pixels, $d using 1:2:4 with labels\n",
                (double)columns - 0.5, (double)rows - 0.5);
    }
    free(row);
    free(column);
    return status;
}

static at_status draw_convergence(const drawing *d, at_error *error)
{
    double best = INFINITY;
    if (d->r->ranked)
        return error_set(error, AT_NOT_FOUND,
                         "a run's --json lists its results by rank, not in the order in which "
                         "they were tried: draw its journal instead");
    fputs("$d << EOD\n", d->to);
    for (size_t i = 0; i < d->r->result_count; i++) {
        size_t at = d->r->newest_first ? d->r->result_count - 1 - i : i;
        if (d->r->results[at].outcome == OUTCOME_OK && d->r->results[at].cost < best) {
            best = d->r->results[at].cost;
            fprintf(d->to, "%zu %g\n", i + 1, best * 1e3);
        }
    }
    fprintf(d->to, "%zu %g\nEOD\n", d->r->result_count, best * 1e3);
    put_ylabel(d, "us");
    fprintf(d->to,
            "set logscale x\nset xlabel 'variants tried (the best time so far)'\n"
            "unset key\nplot $d with steps lc rgb '%s' lw 2\n",
            colours[0]);
    return AT_OK;
}

static at_status draw_spill(const drawing *d, at_error *error)
{
    size_t points = 0;
    double most = 100;
    fputs("$d << EOD\n", d->to);
    for (size_t i = 0; i < d->count; i++) {
        const recorded_result *r = &d->r->results[d->works[i]];
        if (!r->has_resources)
            continue;
        fprintf(d->to, "%u %g\n", r->spill_bytes, figure(d, d->works[i]));
        most = fmax(most, r->spill_bytes);
        points++;
    }
    if (points == 0)
        return error_set(error, AT_NOT_FOUND,
                         "this file does not say what a variant spills: what a run prints with "
                         "--json --top 1000000 does, and its journal");
    fputs("EOD\n", d->to);
    put_ylabel(d, unit(d));
    fprintf(d->to,
            "set xrange [%g:%g]\nset xlabel 'bytes spilled by a thread (stores and loads)'\n"
            "set yrange [0:*]\nset key outside bottom center horizontal height 1\n"
            "plot $d with points pt 6 ps 1 lc rgb '%s' title 'variants'",
            -0.03 * most, 1.03 * most, colours[0]);
    put_ceiling(d);
    return AT_OK;
}

static at_status draw_roofline(const drawing *d, at_error *error)
{
    put_ylabel(d, ""); /* it writes its own */
    return roofline_write(&(roofline_request){.r = d->r,
                                              .works = d->works,
                                              .count = d->count,
                                              .ceilings = d->q->ceilings,
                                              .colours = colours,
                                              .to = d->to},
                          error);
}

static void print_bar(const drawing *d, const char *label, int width, const char *fill,
                      double share, double most)
{
    const int room = (int)d->q->columns - width - 10;
    fprintf(d->to, "%*s %5.1f %% ", width, label, 100 * share);
    for (int i = 0; i < (int)(room * share / most + 0.5); i++)
        fputs(fill, d->to);
    fputc('\n', d->to);
}

/* In the terminal two bars a parameter: alone, and below it once all others are fixed. */
static void print_bars(const drawing *d)
{
    const importance *m = &d->important;
    bool blocks = terminal_speaks_utf8();
    int width = 0;
    double most = 1e-9;
    for (size_t i = 0; i < m->parameter_count; i++) {
        int length = (int)strlen(d->r->names[m->parameters[i].parameter]);
        width = length > width ? length : width;
        most = fmax(most, fmax(m->parameters[i].alone, m->parameters[i].total));
    }
    fprintf(d->to,
            "Parameters of %s, by their share of the variance of log(time)\n%s alone, %s once all "
            "others are fixed\n\n",
            d->q->title, blocks ? "\u2588" : "#", blocks ? "\u2592" : "-");
    for (size_t i = 0; i < m->parameter_count; i++) {
        print_bar(d, d->r->names[m->parameters[i].parameter], width, blocks ? "\u2588" : "#",
                  m->parameters[i].alone, most);
        print_bar(d, "", width, blocks ? "\u2592" : "-", m->parameters[i].total, most);
    }
}

static at_status draw_importance(const drawing *d, at_error *error)
{
    (void)error;
    size_t count = d->important.parameter_count;
    if (d->q->format == PLOT_TERMINAL) {
        print_bars(d);
        return AT_OK;
    }
    fputs("$d << EOD\n", d->to);
    for (size_t i = count; i-- > 0;) {
        const importance_parameter *p = &d->important.parameters[i];
        fprintf(d->to, "%zu %g %g ", count - 1 - i, 100 * p->alone, 100 * p->total);
        put_text(d->to, "", d->r->names[p->parameter], "\n");
    }
    fprintf(
        d->to,
        "EOD\nset xlabel 'of the variance of log(time) (%%)'\nset yrange [-0.7:%g]\nset xrange "
        "[0:*]\n"
        "set key outside bottom center horizontal height 1\nset style fill solid 0.9\nset offsets "
        "0,0,0,0\n"
        "plot $d using ($2/2):($1+0.2):($2/2):(0.18):ytic(4) with boxxyerror lc rgb '%s' title "
        "'alone', \\\n"
        " $d using ($3/2):($1-0.2):($3/2):(0.18) with boxxyerror fs pattern 4 lc rgb '%s' title "
        "'once all others are fixed'\n",
        (double)count - 0.3, colours[0], colours[1]);
    return AT_OK;
}

static const struct {
    const char *name;
    size_t parameters;
    at_status (*draw)(const drawing *d, at_error *error);
} kinds[] = {
    {"rank", 1, draw_rank},
    {"heatmap", 2, draw_heatmap},
    {"sweep", 1, draw_sweep},
    {"convergence", 0, draw_convergence},
    {"roofline", 0, draw_roofline},
    {"spill", 0, draw_spill},
    {"importance", 0, draw_importance},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Those that work, best first. */
static bool find_works(drawing *d)
{
    const recorded_result **list = recorded_rank(d->r, &d->count);
    d->works = calloc(d->count + 1, sizeof *d->works);
    for (size_t i = 0; list && d->works && i < d->count; i++) {
        d->works[i] = (size_t)(list[i] - d->r->results);
        d->rates = d->rates && list[i]->rate > 0;
    }
    bool ok = list && d->works;
    free(list);
    return ok;
}

static at_status find_by(drawing *d, const char *name, size_t length, size_t *out, at_error *error)
{
    char word[VALUE_BYTES];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (size_t p = 0; p < d->r->parameter_count; p++)
        if (strcmp(word, d->r->names[p]) == 0) {
            *out = p;
            return AT_OK;
        }
    const char *nearest = nearest_name(word, d->r->names, d->r->parameter_count);
    return error_set(error, AT_USAGE, "no parameter is called '%s'%s%s", word,
                     nearest ? "; did you mean " : "", nearest ? nearest : "");
}

/* As asked; else the parameter that decides most by itself, or the pair that does together. */
static at_status choose_by(drawing *d, size_t wanted, at_error *error)
{
    const importance *m = &d->important;
    if (wanted && m->parameter_count < wanted)
        return error_set(error, AT_NOT_FOUND, "%zu parameter%s must vary to draw this", wanted,
                         wanted > 1 ? "s" : "");
    size_t most = 0;
    for (size_t i = 0; i < m->parameter_count; i++)
        if (m->parameters[i].alone > m->parameters[most].alone)
            most = i;
    if (wanted == 1)
        d->by[0] = m->parameters[most].parameter;
    if (wanted == 2) {
        d->by[0] = m->pairs[0].a;
        d->by[1] = m->pairs[0].b;
    }
    if (!d->q->by)
        return AT_OK;
    size_t length = strcspn(d->q->by, ",");
    at_status status = find_by(d, d->q->by, length, &d->by[0], error);
    if (!status && wanted == 2 && !d->q->by[length])
        return error_set(error, AT_USAGE,
                         "--by takes two parameters for this, such as tile_x,tile_y");
    if (!status && wanted == 2)
        status = find_by(d, d->q->by + length + 1, strlen(d->q->by + length + 1), &d->by[1], error);
    return status;
}

static void put_head(const drawing *d)
{
    const plot_request *q = d->q;
    if (q->format == PLOT_SVG)
        fputs("set terminal svg size 900,480 dynamic font 'sans-serif,14' background '#ffffff'\n",
              d->to);
    else if (q->format == PLOT_PNG)
        fputs("set terminal pngcairo size 1350,720 font 'sans,15'\n", d->to);
    else
        fprintf(d->to, "set terminal dumb noenhanced %zu,%zu\n", q->columns - 1,
                q->columns * 3 / 10 > 18 ? q->columns * 3 / 10 : 18);
    if (q->format != PLOT_TERMINAL)
        fputs("set termoption noenhanced\nset grid lt 1 lc rgb '#dddddd'\n", d->to);
    put_text(d->to, "set title ", q->title, "\n");
}

static at_status write_program(const recorded *r, const plot_request *q, FILE *to, at_error *error)
{
    drawing d = {.r = r, .q = q, .to = to, .rates = true};
    size_t kind = 0;
    const char *names[KINDS];
    for (size_t i = 0; i < KINDS; i++)
        names[i] = kinds[i].name;
    while (kind < KINDS && strcmp(names[kind], q->kind) != 0)
        kind++;
    if (kind == KINDS) {
        const char *nearest = nearest_name(q->kind, names, KINDS);
        return error_set(error, AT_USAGE,
                         "there is no kind '%s'%s%s; they are rank, heatmap, sweep, convergence, "
                         "roofline, spill and importance",
                         q->kind, nearest ? ": did you mean " : "", nearest ? nearest : "");
    }
    bool of_few = kinds[kind].draw == draw_rank || kinds[kind].draw == draw_roofline;
    if (r->is_record && !of_few)
        return error_set(
            error, AT_NOT_FOUND,
            "a record holds the best few and the default, of which rank and roofline can be "
            "drawn: for '%s' draw what 'autotune SCRIPT --json --top 1000000' prints, "
            "or the run's journal",
            q->kind);
    if (kinds[kind].draw == draw_rank && r->result_count < LEAST_RANKED)
        return error_set(
            error, AT_NOT_FOUND,
            "this record keeps the winner and the default alone: the measured space is in "
            "what 'autotune SCRIPT --json --top 1000000' prints, and in the run's journal");
    at_status status = find_works(&d) ? importance_of(r, &d.important, error)
                                      : error_set(error, AT_NO_MEMORY, "out of memory");
    if (!status)
        status = choose_by(&d, kinds[kind].parameters, error);
    if (!status && !(q->format == PLOT_TERMINAL &&
                     (kinds[kind].draw == draw_heatmap || kinds[kind].draw == draw_importance)))
        put_head(&d);
    if (!status)
        status = kinds[kind].draw(&d, error);
    importance_deinit(&d.important);
    free(d.works);
    return status;
}

at_status plot_draw(const recorded *r, const plot_request *q, char **picture, size_t *size_bytes,
                    at_error *error)
{
    char *program = NULL;
    size_t program_bytes = 0;
    *picture = NULL;
    *size_bytes = 0;
    FILE *memory = open_memstream(&program, &program_bytes);
    if (!memory)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    at_status status = write_program(r, q, memory, error);
    if (fclose(memory) != 0 && !status)
        status = error_set(error, AT_NO_MEMORY, "out of memory");
    if (!status && strncmp(program, "set ", 4) != 0) {
        *picture = program; /* drawn already */
        *size_bytes = program_bytes;
        return AT_OK;
    }
    if (!status)
        status = gnuplot_run(program, program_bytes, picture, size_bytes, error);
    /* Of its pages for the terminal the first begins a new sheet. */
    if (!status && (*picture)[0] == '\f')
        (*picture)[0] = '\n';
    free(program);
    return status;
}
