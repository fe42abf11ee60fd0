/* Measures costs and results of searches of recorded landscapes: slow_ends SEEDS FILE...
 *
 * Searches recorded landscapes (history/recorded.h) as `tune` does. A variant costs the time to
 * load and to compare it, which is the same for all variants, and the time of its launches, by its
 * recorded time. There are two modes: in one, each variant is checked and sampled; in the other, a
 * variant is abandoned after the first launch that shows that it cannot be the fastest
 * (run/variant/course.c). Prints a line of JSON for each file, seed and mode, with the time of a
 * search of the whole space; the share of that time for variants that take ten times as long as the
 * best; the time of a default run, which ends when no remaining variant is likely to win
 * (run/tune_search.c); and how much slower than the best the winners of a default run and of a
 * quick run are. slow_ends.py makes tables of these lines. Runs on any machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "history/recorded.h"
#include "search/stopping.h"
#include "search/strategy.h"

/* Measured on an H200: loading a variant, filling its outputs and comparing them takes 2 ms besides
 * its launches. On a host of 16 cores a compile worker takes 20 ms for each variant of a group. */
static const double AROUND_S = 2e-3, COMPILE_S = 20e-3;

/* Two launches are checked; a third launch tells how long a batch has to be. */
enum { CHECKED = 3, SAMPLES = 3, QUICK_SAMPLES = 2, QUICK_LIKELY = 60 };

/* The limits for slow launches in run/variant/course.c and bench/bench.c. */
static const double TOO_SLOW = 4, TOO_SLOW_LEAST_S = 2e-3, FIRST_LAUNCH_S = 10e-3;

/* The duration of a quick run's search: from the moment the device is ready until the race. */
static const double QUICK_S = 1.2;

/* The margin of a tie, and the chance of a win below which run/tune_search.c ends a default run. */
static const double TIE = 0.005, CHANCE = 0.01;

typedef struct run {
    const recorded_space *space;
    bool leaves;
    double best_s, optimum_s;
    double spent_s, slow_s;
    uint64_t tried;
} run;

static double cost_of(const run *r, double launch_s, int samples)
{
    double most_s = fmax(TOO_SLOW * r->best_s, TOO_SLOW_LEAST_S);
    bool left = r->leaves && r->best_s > 0 && launch_s > most_s;
    int launches = !left ? CHECKED + samples : launch_s > most_s + FIRST_LAUNCH_S ? 1 : 2;
    return AROUND_S + launches * launch_s;
}

/* A failed variant costs as much time as one launch of the best variant. */
static void try(run *r, uint64_t configuration, int samples)
{
    double launch_s = r->space->cost[configuration] / 1e3;
    bool works = isfinite(launch_s);
    double device_s = works ? cost_of(r, launch_s, samples) : AROUND_S + r->best_s;
    double cost_s = fmax(device_s, COMPILE_S);
    r->spent_s += cost_s;
    r->slow_s += works && launch_s > 10 * r->optimum_s ? cost_s : 0;
    r->best_s = works && (r->best_s <= 0 || launch_s < r->best_s) ? launch_s : r->best_s;
    r->tried++;
}

/* Searches with the strategy `name` for `most_s` seconds, or until all variants are tried if that
 * is 0. With `settles`, the search also ends when no remaining variant is likely to win. */
static void search(run *r, const char *name, uint64_t seed, double most_s, uint64_t budget,
                   int samples, bool settles)
{
    const strategy_kind *kind;
    at_error error = {0};
    stopping ending;
    stopping_init(&ending, &(stopping_limits){.gain = settles ? TIE : 0});
    strategy_find(name, &kind, &error);
    strategy *s = strategy_new(
        kind, &(strategy_options){.space = r->space->space, .seed = seed, .budget = budget});
    uint64_t next;
    while ((most_s <= 0 || r->spent_s < most_s) && strategy_ask(s, 1, &next) == 1) {
        try(r, next, samples);
        strategy_tell(s, next, r->space->cost[next]);
        stopping_record(&ending, r->space->cost[next]);
        if (stopping_check(&ending, 0) == STOP_GAIN && strategy_chance(s, TIE) < CHANCE)
            break;
    }
    stopping_deinit(&ending);
    strategy_free(s);
}

static void replay(const char *path, const recorded_space *of, uint64_t seed, bool leaves)
{
    double optimum_s = INFINITY;
    for (uint64_t i = 0; i < of->count; i++)
        optimum_s = fmin(optimum_s, of->cost[i] / 1e3);
    run whole = {.space = of, .leaves = leaves, .optimum_s = optimum_s}, usual = whole,
        quick = whole;
    search(&whole, "exhaustive", seed, 0, 0, SAMPLES, false);
    search(&usual, NULL, seed, 0, 0, SAMPLES, true);
    search(&quick, NULL, seed, QUICK_S, QUICK_LIKELY, QUICK_SAMPLES, false);
    printf(
        "{\"file\": \"%s\", \"seed\": %llu, \"leaves\": %s, \"configurations\": %llu, \"whole_s\": "
        "%.6g, \"slow_share\": %.6g, \"usual_s\": %.6g, \"usual_tried\": %llu, \"usual_behind\": "
        "%.6g, \"quick_tried\": %llu, \"quick_behind\": %.6g}\n",
        path, (unsigned long long)seed, leaves ? "true" : "false", (unsigned long long)of->count,
        whole.spent_s, whole.slow_s / whole.spent_s, usual.spent_s, (unsigned long long)usual.tried,
        usual.best_s / optimum_s - 1, (unsigned long long)quick.tried,
        quick.best_s / optimum_s - 1);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: slow_ends SEEDS FILE...\n");
        return 2;
    }
    uint64_t seeds = strtoull(argv[1], NULL, 10);
    for (int i = 2; i < argc; i++) {
        at_error error = {0};
        recorded r;
        recorded_space all;
        if (recorded_read(argv[i], &r, &error) || recorded_space_init(&all, &r, &error)) {
            fprintf(stderr, "slow_ends: %s: %s\n", argv[i], error.message);
            return 1;
        }
        for (uint64_t seed = 1; seed <= seeds; seed++)
            for (int leaves = 0; leaves < 2; leaves++)
                replay(argv[i], &all, seed, leaves);
        recorded_space_deinit(&all);
        recorded_deinit(&r);
    }
    return 0;
}
