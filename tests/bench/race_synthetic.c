/* Measures cost and errors of the racing protocol on a synthetic clock.
 *
 *   race_synthetic [RUNS [targets]]
 *
 * RUNS is 400 by default. With the word `targets`, only situations with a target run. Prints one
 * line for each situation. Regret is the true time of the chosen variant divided by that
 * of the best, minus 1; `same` is the share of second races of the same variants on another clock
 * that chose the same variant. The targets: mean regret below 0.05 %, 95th percentile below 0.3 %,
 * no wrong `clear` among identical pairs. Exit code 1 if a target is missed. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stats.h"
#include "search/race/race.h"
#include "synthetic_clock.h"

enum { VARIANTS = 64, MOST = 2048, FIXED_SAMPLES = 20, TRIES = 3 };

typedef struct situation {
    const char *name;
    size_t variants;
    double spread; /* the times are 100 us * exp(spread * uniform) */
    double pair; /* relative difference of the two fastest variants; below 0, it is left as drawn */
    bool tries;  /* the race gets the fastest of TRIES earlier samples of each variant */
    double tick_ns;
    double noise;
    double wander;
    bool fixed_order; /* no race: lowest median of FIXED_SAMPLES samples of each variant */
    bool target;      /* this situation has targets */
} situation;

static const situation situations[] = {
    {"64 variants, fixed order, median of 20", 64, 0.5, -1, false, 0, 0.008, 0, true, false},
    {"64 variants, raced", 64, 0.5, -1, false, 0, 0.008, 0, false, true},
    {"64 variants, raced after 3 tries", 64, 0.5, -1, true, 0, 0.008, 0, false, true},
    {"64 variants, the two best identical", 64, 0.5, 0, false, 0, 0.008, 0, false, true},
    {"64 variants, the two best 1 % apart", 64, 0.5, 0.01, false, 0, 0.008, 0, false, true},
    {"64 variants, the two best 2 % apart", 64, 0.5, 0.02, false, 0, 0.008, 0, false, true},
    {"64 variants within 16 %", 64, 0.15, -1, false, 0, 0.008, 0, false, true},
    {"64 variants within 5 %", 64, 0.05, -1, false, 0, 0.008, 0, false, true},
    {"64 variants, clock tick of 500 ns", 64, 0.5, -1, false, 500, 0.008, 0, false, true},
    {"64 variants, 1 % of slow drift", 64, 0.5, -1, false, 0, 0.008, 0.01, false, true},
    {"64 variants, 3 % of noise", 64, 0.5, -1, false, 0, 0.03, 0, false, false},
    {"2048 variants, fixed order, median of 20", 2048, 1, -1, true, 0, 0.008, 0, true, false},
    {"2048 variants, raced after 3 tries", 2048, 1, -1, true, 0, 0.008, 0, false, true},
    /* Here hundreds of variants lie within a percent. The line compares the cost of the race with
     * the loss without a race. */
    {"2048 variants within 16 %, after 3 tries", 2048, 0.15, -1, true, 0, 0.008, 0, false, false},
    {"2048 variants, 16 %, 1 % of slow drift", 2048, 0.15, -1, true, 0, 0.008, 0.01, false, false},
    {"2048 variants, 16 %, 3 % of slow drift", 2048, 0.15, -1, true, 0, 0.008, 0.03, false, false},
    {"2048 variants, 16 %, clock tick of 500 ns", 2048, 0.15, -1, true, 500, 0.008, 0, false,
     false},
    {"2048 variants, 16 %, 3 % of noise", 2048, 0.15, -1, true, 0, 0.03, 0, false, false},
};

typedef struct tally {
    double *regrets;
    uint64_t samples;
    size_t clear, wrong_clear, ordered, same;
} tally;

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Draws true times in random order; returns the best. */
static double draw_times(const situation *s, rng *random, double *true_ns)
{
    uint64_t places[MOST];
    double drawn[MOST];
    for (size_t i = 0; i < s->variants; i++) {
        places[i] = i;
        drawn[i] = 100e3 * exp(s->spread * rng_uniform(random));
    }
    qsort(drawn, s->variants, sizeof *drawn, compare_times);
    if (s->pair >= 0)
        drawn[0] = drawn[1] / (1 + s->pair);
    rng_shuffle(random, places, s->variants);
    for (size_t i = 0; i < s->variants; i++)
        true_ns[places[i]] = drawn[i];
    return drawn[0];
}

static uint32_t run_fixed(const situation *s, synthetic_clock *clock, const double *true_ns)
{
    uint32_t best = 0;
    int64_t lowest = INT64_MAX;
    for (uint32_t i = 0; i < s->variants; i++) {
        int64_t samples[FIXED_SAMPLES];
        for (size_t n = 0; n < FIXED_SAMPLES; n++)
            samples[n] = synthetic_clock_sample(clock, true_ns[i]);
        int64_t median = stats_summarise(samples, FIXED_SAMPLES).median_ns;
        if (median < lowest) {
            lowest = median;
            best = i;
        }
    }
    return best;
}

static bool run_race(const situation *s, synthetic_clock *clock, const double *true_ns,
                     uint64_t seed, tally *t, uint32_t *winner)
{
    static race_entrant entrants[MOST];
    static int64_t samples[MOST];
    race_options options = race_defaults();
    options.seed = seed;
    options.tick_ns = (int64_t)s->tick_ns;
    for (uint32_t i = 0; i < s->variants; i++) {
        entrants[i] = (race_entrant){.registers = i * 7919 % 97};
        for (size_t n = 0; s->tries && n < TRIES; n++) {
            int64_t ns = synthetic_clock_sample(clock, true_ns[i]);
            if (n == 0 || ns < entrants[i].fastest_ns)
                entrants[i].fastest_ns = ns;
        }
    }
    race *r = race_new(&options, entrants, s->variants);
    const race_result *result = synthetic_clock_race(clock, r, true_ns, samples);
    *winner = result->winner;
    if (result->verdict == RACE_CLEAR) {
        t->clear++;
        for (uint32_t i = 0; i < s->variants; i++)
            if (i != *winner && true_ns[i] <= true_ns[*winner]) {
                t->wrong_clear++;
                break;
            }
    }
    race_free(r);
    return true;
}

static bool run_situation(const situation *s, size_t runs, tally *t)
{
    static double true_ns[MOST];
    synthetic_machine machine = synthetic_machine_usual();
    machine.noise = s->noise;
    machine.tick_ns = s->tick_ns;
    machine.wander = s->wander;
    machine.wander_ns = 20e6;
    for (size_t n = 0; n < runs; n++) {
        rng random = rng_seeded(n);
        double best = draw_times(s, &random, true_ns);
        synthetic_clock clock = synthetic_clock_start(&machine, rng_next(&random));
        uint32_t winner = 0;
        if (s->fixed_order)
            winner = run_fixed(s, &clock, true_ns);
        else if (!run_race(s, &clock, true_ns, n, t, &winner))
            return false;
        t->regrets[n] = true_ns[winner] / best - 1;
        t->ordered += true_ns[winner] <= best;
        t->samples += clock.samples;
        uint32_t again = winner;
        clock = synthetic_clock_start(&machine, rng_next(&random));
        if (s->fixed_order)
            again = run_fixed(s, &clock, true_ns);
        else if (!run_race(s, &clock, true_ns, runs + n, &(tally){0}, &again))
            return false;
        t->same += again == winner;
    }
    return true;
}

int main(int argc, char **argv)
{
    size_t runs = argc > 1 ? strtoul(argv[1], NULL, 10) : 400;
    tally t = {.regrets = calloc(runs ? runs : 1, sizeof(double))};
    if (!t.regrets || runs == 0)
        return 2;
    bool kept = true;
    printf("%-44s %8s %8s %8s %8s %6s %6s %6s %6s\n", "situation", "samples", "regret", "95 %",
           "worst", "best", "same", "clear", "wrong");
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        const situation *s = &situations[i];
        if (argc > 2 && !s->target)
            continue;
        t = (tally){.regrets = t.regrets};
        size_t n = s->variants > VARIANTS ? (runs + 9) / 10 : runs;
        if (!run_situation(s, n, &t))
            return 2;
        qsort(t.regrets, n, sizeof *t.regrets, compare_times);
        double mean = 0;
        for (size_t k = 0; k < n; k++)
            mean += t.regrets[k] / (double)n;
        double high = t.regrets[(n * 95 + 99) / 100 - 1];
        printf("%-44s %8.0f %7.3f%% %7.3f%% %7.3f%% %5.1f%% %5.1f%% %5.1f%% %6zu\n", s->name,
               (double)t.samples / (double)n, 100 * mean, 100 * high, 100 * t.regrets[n - 1],
               100.0 * (double)t.ordered / (double)n, 100.0 * (double)t.same / (double)n,
               100.0 * (double)t.clear / (double)n, t.wrong_clear);
        if (s->target && (mean > 0.0005 || high > 0.003 || t.wrong_clear > 0))
            kept = false;
    }
    free(t.regrets);
    puts(kept ? "targets kept" : "targets MISSED");
    return !kept;
}
