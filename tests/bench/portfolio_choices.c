/* Measures the loss of choosing among a portfolio's configurations: portfolio_choices
 * RECORD.json...
 *
 * The record's portfolio was timed on some problems. They are split into five parts, and the
 * choices for each part are made from the times of the other parts (cross-validation). For each
 * method the program prints how much slower its choice is than the best of the portfolio's
 * configurations, and on how many problems its choice is slower than the default. The methods are:
 * - the configuration that kriging expects to be the fastest;
 * - the tree that is grown on kriging's expected times; also with usual instead of fitted scales,
 *   and without caution (a margin for configurations that may be slower than the default);
 * - the tree that is grown on the measured times only;
 * - each single configuration.
 * Runs on any machine, in a minute for each portfolio. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "portfolio/kriging.h"
#include "portfolio/tree.h"
#include "portfolio_data.h"

enum { PARTS = 5, WITNESSES = 12288, COLUMNS = RECORD_MAX_KEPT + 1 };

/* Returns the loss on a problem with one column. */
static double loss_with(const portfolio_data *d, size_t problem, size_t column)
{
    return data_time_ns(d, problem, column) / data_best_ns(d, problem) - 1;
}

static size_t axis_named(const portfolio_data *d, const char *name)
{
    size_t a = 0;
    while (strcmp(d->axes[a].name, name) != 0)
        a++;
    return a;
}

static bool is_so(const portfolio_data *d, const record_node *n, const value *problem)
{
    const question q = {.axis = axis_named(d, n->variable),
                        .times = n->times ? axis_named(d, n->times) : QUESTION_ALONE,
                        .multiple_of = n->multiple_of,
                        .bound = n->bound};
    return question_answer(&q, problem);
}

static size_t choice_of(const portfolio_data *d, const record_node *nodes, size_t problem)
{
    const record_node *n = nodes;
    while (n->variable)
        n = &nodes[is_so(d, n, &d->problems[problem * d->axis_count]) ? n->then : n->otherwise];
    for (size_t i = 0; i < d->width; i++) {
        if (i == n->default_at && data_time_ns(d, problem, d->width) > 0)
            return d->width;
        if (data_time_ns(d, problem, n->order[i]) > 0)
            return n->order[i];
    }
    return d->width;
}

/* Returns whether a configuration is possible on the timed problems with the words of `problem`. */
static bool is_possible(const portfolio_data *d, const value *problem, size_t column)
{
    for (size_t i = 0; i < d->problem_count; i++) {
        bool alike = data_time_ns(d, i, column) > 0;
        for (size_t a = 0; a < d->axis_count && alike; a++)
            alike = !d->axes[a].value_count ||
                    value_equal(d->problems[i * d->axis_count + a], problem[a]);
        if (alike)
            return true;
    }
    return false;
}

static bool accept(void *context, const value *problem)
{
    (void)context;
    (void)problem;
    return true;
}

typedef enum method { EXPECTED, TREE, USUAL, BOLD, TIMED, METHODS } method;

static const char *const method_names[METHODS] = {
    "what is expected to be the fastest", "the tree", "the tree, by the usual measure",
    "the tree, without caution", "the tree of what was timed alone"};

typedef struct room {
    double *ratios, *defaults;
    value *problems, *witnesses;
    size_t *rows, witness_count;
    record_node *nodes;
    double *losses[METHODS]; /* losses by method, one for each problem */
} room;

static void grow(const portfolio_data *d, room *r, const portfolio_matrix *m, size_t part,
                 method by)
{
    portfolio_grow(m, d->axes, d->axis_count, r->problems, r->nodes);
    for (size_t i = part; i < d->problem_count; i += PARTS)
        r->losses[by][i] = loss_with(d, i, choice_of(d, r->nodes, i));
}

/* Writes the expected ratios of the first `count` problems and of the witnesses: further problems,
 * without times, on which the tree is grown, too. */
static void expect(const portfolio_data *d, room *r, const kriging *k, size_t count, bool cautious)
{
    for (size_t row = 0; row < count + r->witness_count; row++) {
        double expected[COLUMNS];
        const value *problem = &r->problems[row * d->axis_count];
        kriging_expect(k, problem, expected);
        if (cautious)
            kriging_add_risk(k, problem, expected);
        for (size_t c = 0; c < d->width; c++)
            r->ratios[row * d->width + c] = is_possible(d, problem, c) ? expected[c] : 0;
        r->defaults[row] = expected[d->width];
    }
}

static void choose_expected(const portfolio_data *d, room *r, const kriging *k, size_t part)
{
    for (size_t i = part; i < d->problem_count; i += PARTS) {
        double expected[COLUMNS], least = INFINITY;
        kriging_expect(k, &d->problems[i * d->axis_count], expected);
        for (size_t c = 0; c <= d->width; c++)
            if (data_time_ns(d, i, c) > 0 && expected[c] > 0 && expected[c] < least) {
                least = expected[c];
                r->losses[EXPECTED][i] = loss_with(d, i, c);
            }
    }
}

static void try_part(const portfolio_data *d, room *r, size_t part)
{
    static const method by_kriging[] = {TREE, BOLD, USUAL};
    size_t count = 0, axes = d->axis_count;
    for (size_t i = 0; i < d->problem_count; i++)
        if (i % PARTS != part)
            r->rows[count++] = i;
    portfolio_matrix m = data_matrix(d, r->rows, count, r->ratios, r->defaults, r->problems);
    kriging *fitted = kriging_new(&m, d->axes, axes, r->problems, true),
            *usual = kriging_new(&m, d->axes, axes, r->problems, false);
    grow(d, r, &m, part, TIMED);
    choose_expected(d, r, fitted, part);
    memcpy(&r->problems[count * axes], r->witnesses, r->witness_count * axes * sizeof *r->problems);
    m.problem_count = count + r->witness_count;
    for (size_t i = 0; i < 3; i++) {
        method by = by_kriging[i];
        expect(d, r, by == USUAL ? usual : fitted, count, by != BOLD);
        grow(d, r, &m, part, by);
    }
    kriging_free(fitted);
    kriging_free(usual);
}

/* Prints on how many problems a choice is slower than the default, beyond noise, and by how much at
 * most. */
static void print_harm(const portfolio_data *d, const double *losses)
{
    static const double noise = 0.01;
    size_t harmed = 0, known = 0;
    double worst = 0;
    for (size_t i = 0; i < d->problem_count; i++) {
        if (!(data_time_ns(d, i, d->width) > 0))
            continue;
        double harm = (1 + losses[i]) / (1 + loss_with(d, i, d->width)) - 1;
        known++;
        harmed += harm > noise;
        worst = fmax(worst, harm);
    }
    printf("  %-44s %zu of %zu, by up to %.1f %%\n", "... slower than the default by 1 %", harmed,
           known, 100 * worst);
}

static at_status try_portfolio(const json_t *portfolio, at_error *error)
{
    portfolio_data d;
    room r = {.ratios = NULL};
    at_status status = AT_OK;
    if (!data_init(portfolio, &d)) {
        data_deinit(&d);
        return error_set(error, AT_FORMAT, "a portfolio without times");
    }
    size_t n = d.problem_count, most = n + WITNESSES;
    r.ratios = calloc(most * d.width, sizeof *r.ratios);
    r.defaults = calloc(most, sizeof *r.defaults);
    r.problems = calloc(most * d.axis_count, sizeof *r.problems);
    r.witnesses = calloc(WITNESSES * d.axis_count, sizeof *r.witnesses);
    r.rows = calloc(n, sizeof *r.rows);
    r.nodes = calloc(RECORD_MAX_NODES, sizeof *r.nodes);
    bool has_losses = true;
    for (method by = 0; by < METHODS; by++)
        has_losses = (r.losses[by] = calloc(n, sizeof(double))) && has_losses;
    if (!r.ratios || !r.defaults || !r.problems || !r.witnesses || !r.rows || !r.nodes ||
        !has_losses)
        status = error_set(error, AT_NO_MEMORY, "out of memory");
    if (!status)
        status = portfolio_choose_problems(d.axes, d.axis_count, WITNESSES, 2, accept, NULL,
                                           r.witnesses, &r.witness_count, error);
    for (size_t part = 0; part < PARTS && !status; part++)
        try_part(&d, &r, part);
    for (method by = 0; by < METHODS && !status; by++) {
        data_print_losses(method_names[by], r.losses[by], n);
        print_harm(&d, r.losses[by]);
    }
    for (size_t c = 0; c < d.width && !status; c++) {
        char what[64];
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if (data_time_ns(&d, i, c) > 0)
                r.losses[0][count++] = loss_with(&d, i, c);
        snprintf(what, sizeof what, "configuration %zu alone, on %zu problems", c, count);
        data_print_losses(what, r.losses[0], count);
    }
    free(r.ratios);
    free(r.defaults);
    free(r.problems);
    free(r.witnesses);
    free(r.rows);
    free(r.nodes);
    for (method by = 0; by < METHODS; by++)
        free(r.losses[by]);
    data_deinit(&d);
    return status;
}

int main(int argc, char **argv)
{
    int code = argc < 2 ? 2 : 0;
    for (int i = 1; i < argc; i++) {
        json_error_t where;
        at_error error = {0};
        json_t *root = json_load_file(argv[i], 0, &where), *portfolio;
        size_t at;
        if (!root) {
            fprintf(stderr, "%s:%d: %s\n", argv[i], where.line, where.text);
            code = 1;
            continue;
        }
        json_array_foreach(json_object_get(root, "portfolios"), at, portfolio)
        {
            printf("%s, portfolio %zu, %zu problems\n", argv[i], at,
                   json_array_size(json_object_get(portfolio, "problems")));
            if (try_portfolio(portfolio, &error)) {
                fprintf(stderr, "%s: %s\n", argv[i], error.message);
                code = 1;
            }
        }
        json_decref(root);
    }
    return code;
}
