#include "portfolio_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIVISOR = 32 };

static value value_of(const json_t *v)
{
    return json_is_integer(v) ? (value){.kind = VALUE_INTEGER, .integer = json_integer_value(v)}
                              : (value){.kind = VALUE_STRING,
                                        .string = json_string_value(v) ? json_string_value(v) : ""};
}

static json_t *problem_at(const json_t *list, size_t i)
{
    return json_object_get(json_array_get(list, i), "problem");
}

/* Adds the variable as an axis if its values differ. The axis keeps the variable's words in the
 * order in which they occur. */
static bool add_axis(const json_t *list, const char *name, portfolio_data *d)
{
    value first = value_of(json_object_get(problem_at(list, 0), name));
    portfolio_axis axis = {.name = name, .least = INT64_MAX};
    value *words = calloc(d->problem_count, sizeof *words);
    bool differs = false;
    for (size_t i = 0; words && i < d->problem_count; i++) {
        value v = value_of(json_object_get(problem_at(list, i), name));
        differs = differs || !value_equal(v, first);
        if (v.kind == VALUE_INTEGER) {
            axis.least = v.integer < axis.least ? v.integer : axis.least;
            axis.most = v.integer > axis.most ? v.integer : axis.most;
            continue;
        }
        size_t known = 0;
        while (known < axis.value_count && !value_equal(words[known], v))
            known++;
        if (known == axis.value_count)
            words[axis.value_count++] = v;
    }
    if (axis.value_count)
        axis.values = words;
    else
        free(words);
    for (int64_t by = 2; !axis.value_count && by <= MOST_DIVISOR; by *= 2)
        axis.divisors[axis.divisor_count++] = by;
    if (words && differs && d->axis_count < PORTFOLIO_MAX_AXES)
        d->axes[d->axis_count++] = axis;
    else if (axis.value_count)
        free(words);
    return words;
}

bool data_init(const json_t *portfolio, portfolio_data *out)
{
    const json_t *list = json_object_get(portfolio, "problems");
    const char *name;
    json_t *any;
    *out = (portfolio_data){.problem_count = json_array_size(list),
                            .width = json_array_size(json_object_get(portfolio, "configurations"))};
    if (!out->problem_count || !out->width)
        return false;
    json_object_foreach(problem_at(list, 0), name,
                        any) if (!add_axis(list, name, out)) return false;
    out->problems = calloc(out->problem_count * (out->axis_count + 1), sizeof *out->problems);
    out->times_ns = calloc(out->problem_count * (out->width + 1), sizeof *out->times_ns);
    for (size_t i = 0; out->problems && out->times_ns && i < out->problem_count; i++) {
        const json_t *row = json_array_get(list, i), *times = json_object_get(row, "times_ns");
        for (size_t a = 0; a < out->axis_count; a++)
            out->problems[i * out->axis_count + a] =
                value_of(json_object_get(problem_at(list, i), out->axes[a].name));
        for (size_t c = 0; c < out->width; c++)
            out->times_ns[i * (out->width + 1) + c] = json_number_value(json_array_get(times, c));
        out->times_ns[i * (out->width + 1) + out->width] =
            json_number_value(json_object_get(row, "baseline_ns"));
    }
    return out->problems && out->times_ns;
}

void data_deinit(portfolio_data *d)
{
    for (size_t a = 0; a < d->axis_count; a++)
        free((void *)(uintptr_t)d->axes[a].values);
    free(d->problems);
    free(d->times_ns);
}

double data_best_ns(const portfolio_data *d, size_t problem)
{
    double best = INFINITY;
    for (size_t c = 0; c <= d->width; c++)
        if (data_time_ns(d, problem, c) > 0)
            best = fmin(best, data_time_ns(d, problem, c));
    return best;
}

portfolio_matrix data_matrix(const portfolio_data *d, const size_t *rows, size_t count,
                             double *ratios, double *defaults, value *problems)
{
    for (size_t i = 0; i < count; i++) {
        double best = data_best_ns(d, rows[i]);
        for (size_t c = 0; c < d->width; c++)
            ratios[i * d->width + c] = data_time_ns(d, rows[i], c) / best;
        defaults[i] = data_time_ns(d, rows[i], d->width) / best;
        memcpy(&problems[i * d->axis_count], &d->problems[rows[i] * d->axis_count],
               d->axis_count * sizeof *problems);
    }
    return (portfolio_matrix){count, d->width, ratios, defaults};
}

void data_print_losses(const char *what, const double *losses, size_t count)
{
    static const double slow = 0.04;
    double sum = 0;
    size_t above = 0;
    for (size_t i = 0; i < count; i++) {
        sum += losses[i];
        above += losses[i] > slow;
    }
    printf("  %-44s mean %.2f %%, above 4 %%: %.1f %%\n", what, 100 * sum / (double)count,
           100 * (double)above / (double)count);
}
