/* Chooses a portfolio's configurations from the times, and the configuration that a reader gets. */
#include "run/portfolio/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "portfolio/cover.h"
#include "record/pick.h"
#include "run/setup/setup.h"

static const double gain_least =
    0.0001; /* Cost of one more configuration, as mean regret over the timed problems. */

/* The largest number of witnesses (witnesses.c) for which the script is asked which configurations
 * are possible. */
enum { ASKED_WITNESSES = 160 };

typedef struct matrix {
    portfolio_matrix m;
    size_t timed;   /* number of timed problems, which are the first rows */
    size_t *places; /* indices of the configurations */
    double *ratios, *defaults;
} matrix;

static void matrix_deinit(matrix *x)
{
    free(x->places);
    free(x->ratios);
    free(x->defaults);
}

static bool is_wide(const portfolio *p, size_t problem)
{
    const known_problem *at = &p->known.problems[problem];
    return (problem < p->made_on || at->wide) && !at->left_out && at->best_ns > 0;
}

/* Adds the row of a witness. A configuration that the witness allows has the ratio 1 (no loss). */
static void add_witness(portfolio *p, matrix *x, size_t problem)
{
    size_t row = x->m.problem_count, width = x->m.configuration_count;
    if (portfolio_ask_possible(p, problem, x->places, width, NULL) != AT_OK)
        return;
    for (size_t i = 0; i < width; i++)
        x->ratios[row * width + i] = p->known.items[x->places[i]].possible[problem];
    x->defaults[row] = portfolio_has_default(p, problem);
    x->m.problem_count++;
}

static void matrix_init(portfolio *p, matrix *x)
{
    size_t width = 0, wide = 0;
    for (size_t q = 0; q < p->known.problem_count; q++)
        wide += is_wide(p, q);
    size_t most = wide + ASKED_WITNESSES + 1;
    *x = (matrix){.places = memory_new(p->everywhere_count, sizeof *x->places),
                  .ratios = memory_new(most * p->everywhere_count, sizeof *x->ratios),
                  .defaults = memory_new(most, sizeof *x->defaults)};
    for (size_t i = 0; i < p->everywhere_count; i++)
        if (!p->known.items[p->everywhere[i]].found_fault)
            x->places[width++] = p->everywhere[i];
    for (size_t q = 0; q < p->known.problem_count; q++) {
        const known_problem *at = &p->known.problems[q];
        if (!is_wide(p, q))
            continue;
        for (size_t i = 0; i < width; i++)
            x->ratios[x->timed * width + i] =
                p->known.items[x->places[i]].times_ns[q] / at->best_ns;
        x->defaults[x->timed++] = at->baseline_ns / at->best_ns;
    }
    x->m = (portfolio_matrix){x->timed, width, x->ratios, x->defaults};
    for (size_t w = 0; w < p->witness_count && w < ASKED_WITNESSES; w++)
        if (!is_wide(p, p->problem_count + w))
            add_witness(p, x, p->problem_count + w);
}

static void find_single_best(portfolio *p, const portfolio_matrix *timed)
{
    p->found.single_mean = INFINITY;
    for (size_t c = 0; c < timed->configuration_count; c++) {
        double sum = 0;
        for (size_t row = 0; row < timed->problem_count; row++)
            sum += portfolio_loss_of(timed, row, &c, 1);
        double mean = timed->problem_count ? sum / (double)timed->problem_count : INFINITY;
        p->found.single_mean = fmin(mean, p->found.single_mean);
    }
}

at_status portfolio_set_fixed(portfolio *p, at_error *error)
{
    script *s;
    at_status status = portfolio_load_script(p, 0, &s, error);
    if (status)
        return status;
    const pattern *described = script_pattern(s);
    record_values *fixed = &p->kept.fixed;
    fixed->pairs = memory_new(described->problem_count, sizeof *fixed->pairs);
    for (size_t i = 0; i < described->problem_count; i++) {
        const pattern_variable *v = &described->problems[PROBLEM_TUNED][i];
        bool over = false;
        for (size_t a = 0; a < p->asked->axis_count; a++)
            over = over || strcmp(p->asked->axes[a].name, v->name) == 0;
        if (!over)
            known_values_add(fixed, v->name, v->value);
    }
    script_free(s);
    return AT_OK;
}

void portfolio_narrow(portfolio *p)
{
    matrix x;
    size_t columns[RECORD_MAX_KEPT], most = 2 * p->asked->most;
    matrix_init(p, &x);
    p->chosen_count = p->everywhere_count =
        portfolio_shortlist(&x.m, most < RECORD_MAX_KEPT ? most : RECORD_MAX_KEPT, columns);
    for (size_t i = 0; i < p->chosen_count; i++)
        p->chosen[i] = p->everywhere[i] = x.places[columns[i]];
    matrix_deinit(&x);
}

at_status portfolio_choose(portfolio *p, at_error *error)
{
    matrix x;
    size_t columns[RECORD_MAX_KEPT];
    double loss;
    matrix_init(p, &x);
    at_status status = AT_OK;
    p->chosen_count = portfolio_cover(&x.m, p->asked->most,
                                      gain_least * (double)x.timed /
                                          (double)(x.m.problem_count ? x.m.problem_count : 1),
                                      columns, &loss);
    if (p->chosen_count == 0 || x.timed == 0)
        status =
            error_set(error, AT_NOT_FOUND, "no variant worked on any problem; on the first: %s",
                      p->known.problems[0].left_out ? p->known.problems[0].left_out
                                                    : "no configuration is valid");
    if (!status) {
        for (size_t i = 0; i < p->chosen_count; i++)
            p->chosen[i] = x.places[columns[i]];
        portfolio_matrix timed = x.m;
        timed.problem_count = x.timed;
        find_single_best(p, &timed);
    }
    p->kept.configuration_count = p->chosen_count;
    for (size_t i = 0; i < p->chosen_count && !status; i++)
        p->kept.configurations[i] = p->known.items[p->chosen[i]].values;
    matrix_deinit(&x);
    return status;
}

static record_values values_of(const portfolio *p, size_t problem, record_pair *pairs)
{
    size_t count = p->kept.fixed.count;
    for (size_t i = 0; i < count; i++)
        pairs[i] = p->kept.fixed.pairs[i];
    for (size_t a = 0; a < p->asked->axis_count; a++)
        pairs[count++] = (record_pair){p->asked->axes[a].name, portfolio_problem_at(p, problem)[a]};
    return (record_values){count, pairs};
}

static int64_t whole_ns(double time_ns)
{
    return time_ns > 0 ? (int64_t)(time_ns + 0.5) : 0;
}

void portfolio_set_draft(portfolio *p, bool with_held_out)
{
    size_t width = p->kept.fixed.count + p->asked->axis_count, rows = 0;
    for (size_t q = 0; q < p->known.problem_count; q++) {
        const known_problem *at = &p->known.problems[q];
        if ((!with_held_out && portfolio_is_held_out(p, q)) || at->left_out || at->best_ns <= 0)
            continue;
        int64_t *times_ns = &p->row_times_ns[rows * RECORD_MAX_KEPT];
        for (size_t i = 0; i < p->chosen_count; i++)
            times_ns[i] = whole_ns(p->known.items[p->chosen[i]].times_ns[q]);
        p->rows[rows++] = (draft_problem){.problem = values_of(p, q, &p->pairs[q * width]),
                                          .baseline_ns = whole_ns(at->baseline_ns),
                                          .times_ns = times_ns};
    }
    p->kept.date = p->date;
    p->found.draft = (portfolio_draft){.pattern = p->pattern,
                                       .gpu = &p->found.device.limits,
                                       .portfolio = &p->kept,
                                       .problem_count = rows,
                                       .problems = p->rows,
                                       .script_hash = p->script_hash,
                                       .template_hash = p->template_hash};
}

at_status portfolio_read_back(portfolio *p, at_error *error)
{
    char *text;
    record_deinit(&p->given);
    p->given = (record){0};
    portfolio_set_draft(p, false);
    at_status status = draft_format(&p->found.draft, &text, error);
    if (status)
        return status;
    status = record_parse(text, strlen(text), "the portfolio", NULL, &p->given, error);
    free(text);
    return status;
}

typedef struct fit {
    script *script;
    char *text; /* room for the text of a configuration */
} fit;

static bool fits(void *context, const record_values *configuration)
{
    fit *f = context;
    record_format_values(configuration, f->text, CONFIGURATION_BYTES);
    return known_fits(f->script, f->text);
}

static bool ask(void *context, const record_feature *feature, const record_values *configuration,
                double *out)
{
    return target_feature(((fit *)context)->script, PROBLEM_TUNED, feature, configuration, out);
}

at_status portfolio_try_pick(portfolio *p, size_t problem, at_error *error)
{
    portfolio_tried *t = &p->tried[problem];
    const known_problem *at = &p->known.problems[problem];
    fit f = {.text = memory_new(CONFIGURATION_BYTES, 1)};
    record_pair pairs[RECORD_MAX_VALUES + PORTFOLIO_MAX_AXES], defaults[RECORD_MAX_VALUES];
    *t = (portfolio_tried){.values = portfolio_problem_at(p, problem),
                           .left_out = at->left_out,
                           .held_out = portfolio_is_held_out(p, problem),
                           .searched = at->searched,
                           .best_ns = whole_ns(at->best_ns),
                           .baseline_ns = whole_ns(at->baseline_ns),
                           .place = SIZE_MAX};
    at_status status = portfolio_load_script(p, problem, &f.script, error);
    if (status || at->left_out)
        goto cleanup;
    const pattern *described = script_pattern(f.script);
    record_values fallback = {described->parameter_count, defaults};
    for (size_t i = 0; i < fallback.count; i++)
        defaults[i] = (record_pair){described->parameters[i].name,
                                    described->parameters[i].values[described->baseline[i]]};
    const record_values values = values_of(p, problem, pairs);
    const pick_target target = {.gpu = p->found.device.limits.name,
                                .major = p->found.device.limits.major,
                                .minor = p->found.device.limits.minor,
                                .problem = &values,
                                .fits = fits,
                                .ask = ask,
                                .context = &f,
                                .fallback = &fallback};
    const record_set set = {.count = 1, .records = &p->given};
    pick_candidate found;
    pick_rule rule = pick(&set, &target, &found);
    double time_ns = 0;
    if (rule == PICK_DEFAULT)
        time_ns = at->baseline_ns;
    else if (rule != PICK_NONE) {
        t->place = (size_t)(found.configuration - p->given.portfolios[0].configurations);
        time_ns = p->known.items[p->chosen[t->place]].times_ns[problem];
    }
    t->rule = rule == PICK_NONE ? NULL : pick_rule_name(rule);
    t->time_ns = whole_ns(time_ns);
    t->regret = time_ns > 0 && at->best_ns > 0 ? time_ns / at->best_ns - 1 : 0;
cleanup:
    script_free(f.script);
    free(f.text);
    return status;
}

portfolio_regret portfolio_sum_up(const portfolio *p, bool held_out)
{
    portfolio_regret sum = {0};
    for (size_t q = 0; q < p->problem_count; q++) {
        const portfolio_tried *t = &p->tried[q];
        if (t->held_out != held_out || t->left_out || !t->time_ns)
            continue;
        sum.count++;
        sum.mean += t->regret;
        sum.worst = fmax(sum.worst, t->regret);
        sum.slower +=
            t->baseline_ns && (double)t->time_ns > (double)t->baseline_ns * (1 + RECORD_NOISE);
    }
    sum.mean /= sum.count ? (double)sum.count : 1;
    return sum;
}
