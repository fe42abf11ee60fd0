#include "report/curve.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_text.h"
#include "base/text.h"
#include "record/schema.h"

enum { FIGURE_DIGITS = 6, VALUE_BYTES = 256 };

/* What the axis of a picture must span for a logarithmic scale to show more. */
static const double LOGARITHMIC_SPAN = 15;

typedef struct curve_point {
    char *values[CURVE_MAX_AXES]; /* owned */
    json_t *problem, *config;     /* NULL: no winner */
    char *message;                /* owned; why there is none */
    int64_t time_ns, low_ns, high_ns;
    double rates[WORK_UNITS], rate;   /* 10^9 a second; the one that is shown */
    double ceiling_fraction, speedup; /* 0 unknown */
    run_verdict verdict;
    size_t tied;
    char *record; /* owned; path */
} curve_point;

struct curve {
    size_t axis_count;
    char *names[CURVE_MAX_AXES];   /* owned */
    char *pattern, *device;        /* owned; NULL until a point had a summary */
    char unit[WORK_RATE_BYTES];    /* of the rates that are shown */
    char ceiling[WORK_RATE_BYTES]; /* what the shares are of; "ceiling": of several */
    work_unit shown;
    bool predicted, warm_cache;
    size_t count;
    curve_point *points;
};

static void point_deinit(curve_point *p)
{
    for (size_t i = 0; i < CURVE_MAX_AXES; i++)
        free(p->values[i]);
    json_decref(p->problem);
    json_decref(p->config);
    free(p->message);
    free(p->record);
}

void curve_free(curve *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++)
        point_deinit(&c->points[i]);
    for (size_t i = 0; i < c->axis_count; i++)
        free(c->names[i]);
    free(c->points);
    free(c->pattern);
    free(c->device);
    free(c);
}

static at_status no_memory(at_error *error)
{
    return error_set(error, AT_NO_MEMORY, "no memory for a curve");
}

at_status curve_new(const char *const *names, size_t count, curve **out, at_error *error)
{
    curve *c = calloc(1, sizeof *c);
    if (!c)
        return no_memory(error);
    for (; c->axis_count < count; c->axis_count++)
        if (!(c->names[c->axis_count] = strdup(names[c->axis_count]))) {
            curve_free(c);
            return no_memory(error);
        }
    *out = c;
    return AT_OK;
}

static bool fill_point(const curve *c, curve_point *p, const run_summary *s, const char *why)
{
    const run_result *best = s ? run_summary_best(s) : NULL;
    if (!best || best->time.count == 0) {
        p->message = strdup(why && *why ? why : "no variant worked");
        return p->message;
    }
    p->problem = record_pack_problem(s);
    p->config = json_from_values(s->parameters, best->values, s->parameter_count);
    p->time_ns = best->time.median_ns;
    p->low_ns = best->time.low_ns;
    p->high_ns = best->time.high_ns;
    memcpy(p->rates, best->rates, sizeof p->rates);
    p->rate = best->rates[c->shown];
    p->ceiling_fraction = best->ceiling_fraction;
    p->speedup = s->speedup;
    p->verdict = s->verdict;
    p->tied = s->tied_count;
    p->record = strdup(s->record_path);
    return p->problem && p->config && p->record;
}

static bool fill_head(curve *c, const run_summary *s)
{
    if (!s)
        return true;
    const char *ceiling = ceiling_get(s->ceiling)->name;
    if (c->pattern) {
        if (strcmp(ceiling, c->ceiling) != 0)
            snprintf(c->ceiling, sizeof c->ceiling, "ceiling");
        return true;
    }
    c->shown = run_summary_unit(s);
    work_rate_name(c->shown, s->item, c->unit);
    snprintf(c->ceiling, sizeof c->ceiling, "%s", ceiling);
    c->pattern = strdup(s->pattern);
    c->device = strdup(s->device.limits.name);
    c->predicted = s->device.predicted;
    c->warm_cache = s->warm_cache;
    return c->pattern && c->device;
}

at_status curve_add(curve *c, const char *const *values, const run_summary *s, const char *why,
                    at_error *error)
{
    if (!array_add(&c->points, &c->count, &(curve_point){0}, sizeof *c->points))
        return no_memory(error);
    curve_point *p = &c->points[c->count - 1];
    bool complete = fill_head(c, s) && fill_point(c, p, s, why);
    for (size_t i = 0; i < c->axis_count; i++)
        complete = (p->values[i] = strdup(values[i])) && complete;
    return complete ? AT_OK : no_memory(error);
}

size_t curve_found(const curve *c)
{
    size_t found = 0;
    for (size_t i = 0; i < c->count; i++)
        found += c->points[i].config != NULL;
    return found;
}

/* The table. */

/* Have all winners the same value of it? */
static bool is_common(const curve *c, const char *parameter)
{
    const json_t *first = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const json_t *v = json_object_get(c->points[i].config, parameter);
        if (first && v && !json_equal(first, v))
            return false;
        first = first ? first : v;
    }
    return true;
}

/* "name=value ..." of the parameters that are common to all winners, or of the others. */
static void print_parameters(const curve *c, const curve_point *p, bool common, FILE *to)
{
    const char *name;
    json_t *member;
    json_object_foreach(p->config, name, member)
    {
        value v;
        char text[VALUE_BYTES];
        if (is_common(c, name) != common || !json_to_value(member, &v))
            continue;
        value_format(v, text, sizeof text);
        fprintf(to, " %s=%s", name, text);
    }
    fputc('\n', to);
}

static int column_width(const curve *c, size_t axis)
{
    size_t width = strlen(c->names[axis]);
    for (size_t i = 0; i < c->count; i++)
        width =
            strlen(c->points[i].values[axis]) > width ? strlen(c->points[i].values[axis]) : width;
    return (int)width;
}

static void print_point(const curve *c, const curve_point *p, FILE *to)
{
    for (size_t i = 0; i < c->axis_count; i++)
        fprintf(to, "  %*s", column_width(c, i), p->values[i]);
    if (!p->config) {
        fprintf(to, "  %s\n", p->message);
        return;
    }
    fprintf(to, "  %9.2f  %8.1f", (double)p->time_ns / 1e3, p->rate);
    if (p->ceiling_fraction > 0)
        fprintf(to, "  %6.1f %%", 100 * p->ceiling_fraction);
    else
        fprintf(to, "  %8s", "");
    if (p->speedup > 0)
        fprintf(to, "  %8.1f  %7.2f ", p->rate / p->speedup, p->speedup);
    else
        fprintf(to, "  %8s  %7s ", "", "");
    print_parameters(c, p, false, to);
}

static const curve_point *first_found(const curve *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->points[i].config)
            return &c->points[i];
    return NULL;
}

static at_status finish(FILE *to, at_error *error)
{
    return fflush(to) == 0 && !ferror(to) ? AT_OK
                                          : error_set(error, AT_IO, "the curve cannot be written");
}

at_status curve_print(const curve *c, FILE *to, at_error *error)
{
    const curve_point *found = first_found(c);
    if (c->pattern)
        fprintf(to, "%s on %s; %s cache%s\n\n", c->pattern, c->device,
                c->warm_cache ? "warm" : "cold", c->predicted ? "; times are predicted" : "");
    for (size_t i = 0; i < c->axis_count; i++)
        fprintf(to, "  %*s", column_width(c, i), c->names[i]);
    char head[2 * WORK_RATE_BYTES];
    snprintf(head, sizeof head, "of %s", c->ceiling);
    fprintf(to, "  %9s  %8s  %8s  %8s  %7s  %s\n", "time us", c->unit, *c->ceiling ? head : "",
            "baseline", "x base", "best");
    for (size_t i = 0; i < c->count; i++)
        print_point(c, &c->points[i], to);
    if (found) {
        fputs("\n  in all:", to);
        print_parameters(c, found, true, to);
    }
    return finish(to, error);
}

/* JSON. */

static json_t *known(double v)
{
    return v > 0 ? json_rounded(v, FIGURE_DIGITS) : json_null();
}

static json_t *pack_point(const curve *c, const curve_point *p)
{
    json_t *at = json_object();
    for (size_t i = 0; i < c->axis_count; i++)
        json_put(&at, c->names[i], json_string(p->values[i]));
    if (!p->config)
        return json_pack("{so so}", "at", at, "message", json_said(p->message));
    return json_pack("{so sO sO sI s[I I] so so so so so so ss sI so}", "at", at, "problem",
                     p->problem, "config", p->config, "time_ns", (json_int_t)p->time_ns, "ci_ns",
                     (json_int_t)p->low_ns, (json_int_t)p->high_ns, "gbps",
                     known(p->rates[WORK_BYTES]), "gflops", known(p->rates[WORK_FLOPS]), "gitems",
                     known(p->rates[WORK_ITEMS]), "ceiling_fraction", known(p->ceiling_fraction),
                     "speedup", known(p->speedup), "baseline_gbps",
                     known(p->speedup > 0 ? p->rates[WORK_BYTES] / p->speedup : 0), "verdict",
                     run_verdict_name(p->verdict), "tied", (json_int_t)p->tied, "record",
                     *p->record ? json_path(p->record) : json_null());
}

at_status curve_print_json(const curve *c, FILE *to, at_error *error)
{
    json_t *over = json_array(), *points = json_array();
    for (size_t i = 0; i < c->axis_count; i++)
        json_append(&over, json_string(c->names[i]));
    for (size_t i = 0; i < c->count; i++)
        json_append(&points, pack_point(c, &c->points[i]));
    json_t *root =
        json_pack("{ss? ss? ss ss sb ss so so}", "pattern", c->pattern, "device", c->device,
                  "ceiling", c->ceiling, "rate_unit", c->unit, "predicted", (int)c->predicted,
                  "cache", c->warm_cache ? "warm" : "cold", "over", over, "points", points);
    at_status status = json_text_print(root, 2, to, error);
    return status ? status : finish(to, error);
}

/* The picture. */

static bool read_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0';
}

/* How the first axis is drawn: numbers, and on a logarithmic scale, or names. */
static bool is_numeric(const curve *c, bool *logarithmic)
{
    double least = 0, most = 0, v;
    for (size_t i = 0; i < c->count; i++) {
        if (!read_number(c->points[i].values[0], &v))
            return false;
        least = i == 0 || v < least ? v : least;
        most = i == 0 || v > most ? v : most;
    }
    *logarithmic = least > 0 && most / least > LOGARITHMIC_SPAN;
    return true;
}

/* In gnuplot's single quotes. */
static void put_quoted(const char *text, FILE *to)
{
    fputc('\'', to);
    for (; *text; text++)
        fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, to);
    fputc('\'', to);
}

/* Points that differ in the first axis alone. */
static bool same_line(const curve *c, const curve_point *a, const curve_point *b)
{
    for (size_t i = 1; i < c->axis_count; i++)
        if (strcmp(a->values[i], b->values[i]) != 0)
            return false;
    return true;
}

/* Is it the first of its line? */
static bool opens_line(const curve *c, size_t point)
{
    for (size_t i = 0; i < point; i++)
        if (same_line(c, &c->points[i], &c->points[point]))
            return false;
    return true;
}

static void put_block(const curve *c, size_t line, size_t number, bool numeric, FILE *to)
{
    fprintf(to, "$line%zu << EOD\n", number);
    for (size_t i = 0; i < c->count; i++) {
        const curve_point *p = &c->points[i];
        if (!p->config || !same_line(c, p, &c->points[line]))
            continue;
        fprintf(to, numeric ? "%s %.6g " : "\"%s\" %.6g ", p->values[0], p->rate);
        if (p->speedup > 0)
            fprintf(to, "%.6g\n", p->rate / p->speedup);
        else
            fputs("NaN\n", to);
    }
    fputs("EOD\n", to);
}

static void put_lines(const curve *c, size_t line, size_t number, const char *x, FILE *to)
{
    static const char *const series[] = {"best", "baseline"};
    for (int column = 0; column < 2; column++) {
        fprintf(to, "%s$line%zu using %s with linespoints title ",
                number + (size_t)column > 0 ? ", " : "plot ", number,
                column == 0 ? x
                : *x == '0' ? "0:3:xtic(1)"
                            : "1:3");
        char title[256];
        snprintf(title, sizeof title, "%s", series[column]);
        for (size_t i = 1; i < c->axis_count; i++)
            text_add(title, sizeof title, ", %s=%s", c->names[i], c->points[line].values[i]);
        put_quoted(title, to);
    }
}

at_status curve_plot(const curve *c, const char *path, FILE *to, at_error *error)
{
    const char *suffix = strrchr(path, '.');
    bool png = suffix && strcmp(suffix, ".png") == 0, logarithmic = false;
    if (!png && !(suffix && strcmp(suffix, ".svg") == 0))
        return error_set(error, AT_USAGE, "a picture's name ends in .png or .svg, unlike '%s'",
                         path);
    if (!curve_found(c))
        return error_set(error, AT_USAGE, "there is nothing to draw: no point has a winner");
    bool numeric = is_numeric(c, &logarithmic);
    fprintf(to, "set terminal %s size 900,540 noenhanced\nset title ", png ? "pngcairo" : "svg");
    char title[512];
    snprintf(title, sizeof title, "%s on %s%s", c->pattern, c->device,
             c->predicted ? " (predicted)" : "");
    put_quoted(title, to);
    fputs("\nset xlabel ", to);
    put_quoted(c->names[0], to);
    fprintf(to, "\nset ylabel '%s'\nset yrange [0:*]\nset grid\n", c->unit);
    if (logarithmic)
        fputs("set logscale x 2\n", to);
    size_t number = 0;
    for (size_t i = 0; i < c->count; i++)
        if (opens_line(c, i))
            put_block(c, i, number++, numeric, to);
    number = 0;
    for (size_t i = 0; i < c->count; i++)
        if (opens_line(c, i))
            put_lines(c, i, number++, numeric ? "1:2" : "0:2:xtic(1)", to);
    fputc('\n', to);
    return finish(to, error);
}
