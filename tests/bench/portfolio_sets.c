/* Measures the quality of the sets of configurations that a portfolio chooses: portfolio_sets
 * TIMES.json [REPEATS [LISTED]]
 *
 * TIMES.json has the times of all configurations of a space on many problems
 * (tests/bench/whole_problems.py). The problems get a random order. The first third is searched as
 * for a portfolio: each search tries 128 configurations, first those that were good in earlier
 * searches. The tried times have the noise of first samples. A search keeps its best eight
 * configurations. Then sets of six and of eight configurations are chosen. A set is judged on the
 * last third of the problems: how much slower is its fastest configuration than the fastest of all?
 *
 * The sets are chosen from these candidates:
 * - the LISTED (20) configurations that are fastest in a search, timed on the first third;
 * - the LISTED configurations of portfolio_shortlist(), timed on the first third;
 * - finalists, the best of that shortlist (two for each place in the set), timed on two thirds;
 * - all configurations, timed on two thirds. A portfolio has no time for that.
 * Prints the mean loss over REPEATS (60) orders. Runs on any machine, in half a minute. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/stats.h"
#include "portfolio/cover.h"
#include "portfolio_data.h"

enum {
    TRIED = 128,
    GIVEN = 24,
    REMEMBERED = 8,
    RACED = 20,
    LISTED = 20,
    MOST_LISTED = 48,
    REPEATS = 60
};

static const double noise = 0.004, raced_noise = 0.001;

typedef enum method { FASTEST, SHORTLIST, FINALISTS, EVERYTHING, METHODS } method;

static const char *const method_names[METHODS] = {"of the fastest of each search", "of a shortlist",
                                                  "of finalists, on twice the problems",
                                                  "of all, on twice the problems"};

typedef struct simulation {
    const portfolio_data *d;
    rng random;
    size_t third, most_listed;
    uint64_t *order; /* numbers of the searched problems, then of further problems, then of judged
                        problems */
    double *seen;    /* ratios found by the searches; SHORTLIST_UNKNOWN if not tried */
    double *defaults;
    uint64_t *configurations; /* configurations in a random order */
    bool *known;
    size_t *ranked; /* the best REMEMBERED configurations of each search */
    double *ratios; /* scratch memory for a matrix */
    size_t *list;   /* scratch memory for a list of configurations */
} simulation;

static double normal(rng *r)
{
    return sqrt(-2 * log(1 - rng_uniform(r))) * cos(2 * 3.14159265358979323846 * rng_uniform(r));
}

static double ratio_at(const simulation *s, size_t place, size_t configuration)
{
    return data_time_ns(s->d, s->order[place], configuration) / data_best_ns(s->d, s->order[place]);
}

/* Lists the configurations that were good in earlier searches: the best of each search, latest
 * search first, then the second best of each, and so on. Returns their number. */
static size_t list_given(const simulation *s, size_t search, size_t *tried)
{
    size_t count = 0;
    for (size_t rank = 0; rank < REMEMBERED; rank++)
        for (size_t i = search; i-- > 0 && count < GIVEN;)
            if (!portfolio_contains(tried, count, s->ranked[i * REMEMBERED + rank]))
                tried[count++] = s->ranked[i * REMEMBERED + rank];
    return count;
}

static void search(simulation *s, size_t place)
{
    size_t tried[TRIED], count = list_given(s, place, tried), width = s->d->width,
                         *ranked = &s->ranked[place * REMEMBERED];
    double found[TRIED], sorted[TRIED];
    rng_shuffle(&s->random, s->configurations, width);
    for (size_t i = 0; i < width && count < TRIED; i++)
        if (!portfolio_contains(tried, count, s->configurations[i]))
            tried[count++] = s->configurations[i];
    for (size_t i = 0; i < count; i++)
        sorted[i] = found[i] = ratio_at(s, place, tried[i]) * (1 + noise * normal(&s->random));
    stats_sort(sorted, count);
    for (size_t i = 0; i < count; i++)
        if (found[i] <= sorted[RACED - 1])
            found[i] = ratio_at(s, place, tried[i]) * (1 + raced_noise * normal(&s->random));
    double best = INFINITY;
    for (size_t i = 0; i < count; i++)
        best = fmin(best, found[i]);
    for (size_t rank = 0; rank < REMEMBERED; rank++) {
        size_t least = SIZE_MAX;
        for (size_t i = 0; i < count; i++)
            if (!portfolio_contains(ranked, rank, tried[i]) &&
                (least == SIZE_MAX || found[i] < found[least]))
                least = i;
        ranked[rank] = tried[least];
        s->known[tried[least]] = true;
    }
    for (size_t c = 0; c < width; c++)
        s->seen[place * width + c] = SHORTLIST_UNKNOWN;
    for (size_t i = 0; i < count; i++)
        if (s->known[tried[i]])
            s->seen[place * width + tried[i]] = found[i] / best;
}

/* Lists the best configuration of each search, then the second best of each, and so on. Returns
 * their number. */
static size_t list_fastest(const simulation *s, size_t *list)
{
    size_t count = 0;
    for (size_t rank = 0; rank < REMEMBERED; rank++)
        for (size_t i = 0; i < s->third && count < s->most_listed; i++)
            if (!portfolio_contains(list, count, s->ranked[i * REMEMBERED + rank]))
                list[count++] = s->ranked[i * REMEMBERED + rank];
    return count;
}

static portfolio_matrix matrix_of(const simulation *s, const size_t *list, size_t count,
                                  size_t problems)
{
    for (size_t i = 0; i < problems; i++) {
        for (size_t c = 0; c < count; c++)
            s->ratios[i * count + c] = ratio_at(s, i, list[c]);
        s->defaults[i] = 0;
    }
    return (portfolio_matrix){problems, count, s->ratios, s->defaults};
}

static size_t choose(simulation *s, method by, size_t most, size_t *chosen)
{
    size_t *list = s->list, listed = 0, kept = 0, places[MOST_LISTED];
    double loss;
    memset(s->defaults, 0, s->d->problem_count * sizeof *s->defaults);
    if (by == FASTEST)
        listed = list_fastest(s, list);
    else if (by == EVERYTHING)
        for (; listed < s->d->width; listed++)
            list[listed] = listed;
    else {
        const portfolio_matrix m = {s->third, s->d->width, s->ratios, s->defaults};
        for (size_t i = 0; i < s->third * s->d->width; i++) /* only known candidates */
            s->ratios[i] = s->known[i % s->d->width] ? s->seen[i] : SHORTLIST_IMPOSSIBLE;
        listed = portfolio_shortlist(&m, s->most_listed, list);
    }
    if (by == FINALISTS) {
        portfolio_matrix m = matrix_of(s, list, listed, s->third);
        kept = portfolio_shortlist(&m, 2 * most, places);
        for (size_t i = 0; i < kept; i++)
            places[i] = list[places[i]];
        memcpy(list, places, kept * sizeof *list);
        listed = kept;
    }
    portfolio_matrix m =
        matrix_of(s, list, listed, by == FINALISTS || by == EVERYTHING ? 2 * s->third : s->third);
    size_t count = portfolio_cover(&m, most, 0, chosen, &loss);
    for (size_t i = 0; i < count; i++)
        chosen[i] = list[chosen[i]];
    return count;
}

static void simulate(simulation *s, size_t repeats, size_t most)
{
    size_t looked_at = s->d->problem_count - 2 * s->third, chosen[RECORD_MAX_KEPT];
    double *losses = memory_new(METHODS * repeats * looked_at, sizeof *losses);
    for (size_t repeat = 0; repeat < repeats; repeat++) {
        s->random = rng_seeded(repeat + 1);
        rng_shuffle(&s->random, s->order, s->d->problem_count);
        memset(s->known, 0, s->d->width * sizeof *s->known);
        for (size_t i = 0; i < s->third; i++)
            search(s, i);
        for (method by = 0; by < METHODS; by++) {
            size_t count = choose(s, by, most, chosen);
            for (size_t i = 0; i < looked_at; i++) {
                double least = INFINITY;
                for (size_t c = 0; c < count; c++)
                    least = fmin(least, ratio_at(s, 2 * s->third + i, chosen[c]) - 1);
                losses[(by * repeats + repeat) * looked_at + i] = least;
            }
        }
    }
    printf("sets of %zu, %zu problems searched, as many further ones, %zu looked at:\n", most,
           s->third, looked_at);
    for (method by = 0; by < METHODS; by++)
        data_print_losses(method_names[by], &losses[by * repeats * looked_at], repeats * looked_at);
    free(losses);
}

static at_status run(const portfolio_data *d, size_t repeats, size_t listed, at_error *error)
{
    size_t n = d->problem_count, width = d->width;
    simulation s = {.d = d,
                    .third = n / 3,
                    .most_listed = listed,
                    .order = memory_new(n, sizeof *s.order),
                    .seen = memory_new(n * width, sizeof *s.seen),
                    .defaults = memory_new(n, sizeof *s.defaults),
                    .configurations = memory_new(width, sizeof *s.configurations),
                    .known = memory_new(width, sizeof *s.known),
                    .ranked = memory_new(n * REMEMBERED, sizeof *s.ranked),
                    .ratios = memory_new(n * width, sizeof *s.ratios),
                    .list = memory_new(width, sizeof *s.list)};
    at_status status = AT_OK;
    if (width < TRIED || n < 9 || !repeats || !listed || listed > MOST_LISTED)
        status = error_set(
            error, AT_USAGE,
            "%zu configurations on %zu problems, %zu repeats, %zu to list: too few or many", width,
            n, repeats, listed);
    for (size_t i = 0; i < n && !status; i++)
        s.order[i] = i;
    for (size_t c = 0; c < width && !status; c++)
        s.configurations[c] = c;
    for (size_t most = 6; most <= 8 && !status; most += 2)
        simulate(&s, repeats, most);
    free(s.order);
    free(s.seen);
    free(s.defaults);
    free(s.configurations);
    free(s.known);
    free(s.ranked);
    free(s.ratios);
    free(s.list);
    return status;
}

int main(int argc, char **argv)
{
    json_error_t where;
    at_error error = {0};
    portfolio_data d = {.width = 0};
    if (argc < 2 || argc > 4)
        return 2;
    json_t *root = json_load_file(argv[1], 0, &where);
    if (!root)
        fprintf(stderr, "%s:%d: %s\n", argv[1], where.line, where.text);
    else if (!data_init(root, &d))
        fprintf(stderr, "%s: no times of configurations on problems\n", argv[1]);
    else if (run(&d, argc > 2 ? strtoul(argv[2], NULL, 10) : REPEATS,
                 argc > 3 ? strtoul(argv[3], NULL, 10) : LISTED, &error))
        fprintf(stderr, "%s: %s\n", argv[1], error.message);
    else
        argc = 0;
    data_deinit(&d);
    json_decref(root);
    return argc ? 1 : 0;
}
