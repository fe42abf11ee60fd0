#include "search/race/race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/race/paired.h"
#include "search/race/state.h"

/* Screening rounds are judged in pairs, because a single sample may be an outlier. */
enum { SCREEN_STEP = 2, SCREEN_ROUNDS = 8 };

/* The probe samples the PROBE_FASTEST entrants and a spread of others, if there are PROBE_PAYS
 * times as many entrants. PROBE_BLOCKS is the number of blocks before the first look of the
 * heats. */
enum { PROBE_FASTEST = 28, PROBE_BLOCKS = 4, PROBE_PAYS = 2 };

/* Least entrants that the heats leave: without a rival, a winner has no interval. */
enum { LEAST_SURVIVORS = 2 };

/* Blocks of the finals after which a much slower default may leave: its ratio is known by then, and
 * its samples may take longer than all others. */
enum { RETIRE_BLOCKS = 6 };

/* A number above any log ratio of times. */
static const double behind_all = 1e6;

race_options race_defaults(void)
{
    return (race_options){
        .default_entrant = RACE_NO_DEFAULT,
        /* In a convolution space on an A100, 97 % of the kernel time went to variants more than
         * twice as slow as the best. This margin saves nearly all of it, and is far above the drift
         * and noise of an idle GPU (1 to 3 %). Earlier samples were taken minutes apart and get a
         * larger margin. */
        .prior_ratio = 1.3,
        .screen_ratio = 1.25,
        .heats_entrants = 64,
        /* The blocks double from look to look, so at most twice the necessary blocks are run. */
        .looks = {4, 8, 16, 32},
        .alpha = 0.01,
        .finalists = 5,
        /* If a sample has noise of 0.8 %, the mean of 40 has 0.18 %, which resolves the tie
         * margin. */
        .finals_blocks = 40,
        /* Repeated tuning on a GPU does not reproduce half a percent: in helion issue 3523
         * identical configurations differ by 1 to 3 %. */
        .tie_margin = 0.005,
        /* The largest margin with a mean regret below 0.05 % even if 64 variants lie within 5 %
         * (tests/bench/race_synthetic.c). Without a margin, either of two equal winners may be
         * chosen. */
        .choice_margin = 0.0015,
    };
}

/* Returns the number of blocks of the finals: whole designs, so that the order is balanced. */
static size_t finals_goal(const race *r, size_t finalists)
{
    size_t rows = balance_rows(finalists);
    return (r->options.finals_blocks + rows - 1) / rows * rows;
}

/* Returns false if memory ran out. race_free() then frees the rest. */
static bool allocate(race *r)
{
    size_t count = r->count, places = r->options.finalists + 1;
    r->heats_capacity = r->options.looks[RACE_LOOKS - 1];
    /* The finals may be extended once, and begin a new design if a finalist fails. */
    r->finals_capacity = 2 * (r->options.finals_blocks + 2 * places);
    size_t blocks = r->heats_capacity > r->finals_capacity ? r->heats_capacity : r->finals_capacity;
    r->contenders = calloc(count, sizeof *r->contenders);
    r->alive = calloc(count, sizeof *r->alive);
    r->waiting = calloc(count, sizeof *r->waiting);
    r->heats = calloc(count, r->heats_capacity * sizeof *r->heats);
    r->finals = calloc(places, r->finals_capacity * sizeof *r->finals);
    r->order = calloc(count, sizeof *r->order);
    r->field = calloc(count, sizeof *r->field);
    r->labels = calloc(places, sizeof *r->labels);
    r->keys = calloc(count, sizeof *r->keys);
    r->ratios = calloc(blocks, sizeof *r->ratios);
    r->sorted = calloc(blocks, sizeof *r->sorted);
    r->standings = calloc(count, sizeof *r->standings);
    r->ranked = calloc(count, sizeof *r->ranked);
    return r->contenders && r->alive && r->waiting && r->heats && r->finals && r->order &&
           r->field && r->labels && r->keys && r->ratios && r->sorted && r->standings && r->ranked;
}

void race_free(race *r)
{
    if (!r)
        return;
    free(r->contenders);
    free(r->alive);
    free(r->waiting);
    free(r->heats);
    free(r->finals);
    free(r->order);
    free(r->labels);
    free(r->field);
    free(r->keys);
    free(r->ratios);
    free(r->sorted);
    free(r->standings);
    free(r->ranked);
    free(r);
}

/* Keeps the first `keep` of the sorted keys. The other entrants leave in `stage`; `cut` tells that
 * the reason is a lack of places. */
static void keep_best(race *r, size_t keep, race_stage stage, bool cut)
{
    if (keep > r->alive_count)
        keep = r->alive_count;
    for (size_t i = keep; i < r->alive_count; i++) {
        r->contenders[r->keys[i].entrant].left_at = stage;
        r->contenders[r->keys[i].entrant].cut = cut;
    }
    for (size_t i = 0; i < keep; i++)
        r->alive[i] = r->keys[i].entrant;
    r->alive_count = keep;
}

/* Sorts the entrants by `key`. Returns how many keys are at most `limit` times the lowest. */
static size_t rank_alive(race *r, double (*key)(race *, uint32_t), double limit)
{
    for (size_t i = 0; i < r->alive_count; i++)
        r->keys[i] = (keyed){key(r, r->alive[i]), r->alive[i]};
    race_sort(r->keys, r->alive_count);
    size_t within = 0;
    while (within < r->alive_count && r->keys[within].key <= limit * r->keys[0].key)
        within++;
    return within;
}

/* Returns the fastest earlier sample. Entrants without one have 0, so they sort first and stay. */
static double prior_key(race *r, uint32_t entrant)
{
    return (double)r->contenders[entrant].given.fastest_ns;
}

static void drop_by_prior(race *r)
{
    rank_alive(r, prior_key, 1);
    size_t unknown = 0;
    while (unknown < r->alive_count && r->keys[unknown].key <= 0)
        unknown++;
    if (unknown == r->alive_count)
        return;
    double limit = r->options.prior_ratio * r->keys[unknown].key;
    size_t keep = unknown;
    while (keep < r->alive_count && r->keys[keep].key <= limit)
        keep++;
    size_t most = r->options.prior_entrants;
    keep_best(r, most && keep > most ? most : keep, RACE_PRIOR, false);
}

/* Returns the number of probed entrants besides the fastest. With so many, and any distribution of
 * errors, the error of the best entrant is the largest with a probability of at most alpha. */
static size_t probe_spread(const race_options *o)
{
    return (size_t)ceil(1 / o->alpha) - 1;
}

size_t race_probe_pays(const race_options *o)
{
    return PROBE_PAYS * (PROBE_FASTEST + probe_spread(o));
}

/* Begins the probe with the fastest entrants by earlier samples and an even spread of the rest.
 * Returns false if there are too few entrants or an entrant lacks an earlier sample. All entrants
 * are kept in r->waiting. */
static bool begin_probe(race *r)
{
    size_t spread = probe_spread(&r->options), probed = PROBE_FASTEST + spread;
    if (r->alive_count <= race_probe_pays(&r->options) || r->keys[0].key <= 0)
        return false;
    memcpy(r->waiting, r->alive, r->alive_count * sizeof *r->waiting);
    r->waiting_count = r->alive_count;
    size_t others = r->waiting_count - PROBE_FASTEST;
    for (size_t i = 0; i < spread; i++)
        r->alive[PROBE_FASTEST + i] =
            r->waiting[PROBE_FASTEST + (2 * i + 1) * others / (2 * spread)];
    r->alive_count = probed;
    r->stage = RACE_PROBE;
    return true;
}

/* Returns the largest error of an earlier sample: its logarithm minus the logarithm of the median
 * in the probe. `*bound` gets the logarithm of an upper bound for the time of the fastest entrant:
 * the lowest of the entrants' highest samples, because the lowest of many medians depends on
 * luck. */
static double greatest_error(race *r, double *bound)
{
    double greatest = -INFINITY;
    *bound = INFINITY;
    for (size_t i = 0; i < r->alive_count; i++) {
        double highest, median = log(race_heats_median(r, r->alive[i], r->heats_blocks, &highest));
        double error = log(prior_key(r, r->alive[i])) - median;
        greatest = error > greatest ? error : greatest;
        *bound = log(highest) < *bound ? log(highest) : *bound;
    }
    return greatest;
}

/* Drops entrants that would be slower than the fastest of the probe even with the largest error of
 * an earlier sample. The race then begins again, because the probe's blocks lack most entrants. */
static void end_probe(race *r)
{
    double bound, error = greatest_error(r, &bound);
    size_t kept = 0;
    for (size_t i = 0; i < r->waiting_count; i++) {
        uint32_t entrant = r->waiting[i];
        contender *c = &r->contenders[entrant];
        c->heats = 0;
        if (c->failed)
            continue;
        /* If all probed entrants failed, no error is known, and nothing is dropped. */
        bool slower = r->alive_count && log(prior_key(r, entrant)) - error > bound;
        if (slower)
            c->left_at = RACE_PROBE;
        else
            r->waiting[kept++] = entrant;
    }
    memcpy(r->alive, r->waiting, kept * sizeof *r->alive);
    r->alive_count = kept;
    r->waiting_count = 0;
    r->heats_blocks = 0;
    r->stage = RACE_PRIOR;
}

static double fastest_key(race *r, uint32_t entrant)
{
    const int64_t *series = race_heats(r, entrant);
    int64_t fastest = series[0];
    for (size_t i = 1; i < r->heats_blocks; i++)
        if (series[i] < fastest)
            fastest = series[i];
    return (double)fastest;
}

/* Drops entrants whose fastest sample is far above the best. The margin is halved after every two
 * further rounds, because the fastest of more samples is more accurate. */
static void drop_slow_entrants(race *r)
{
    double margin = r->options.screen_ratio - 1;
    size_t least = 1;
    if (r->heats_blocks > SCREEN_STEP) {
        margin = ldexp(margin, 1 - (int)(r->heats_blocks / SCREEN_STEP));
        least = r->options.heats_entrants;
    }
    size_t within = rank_alive(r, fastest_key, 1 + margin);
    keep_best(r, within > least ? within : least, RACE_SCREEN, false);
}

/* Sorts the entrants by the logarithm of their time / the leader's time. If `tail` > 0, entrants
 * that are slower by a one-sided test come last. Returns the number of the other entrants. */
static size_t compare_to_leader(race *r, double tail)
{
    size_t blocks = r->heats_blocks, kept = 0;
    double quantile = tail > 0 ? paired_quantile(tail, blocks) : 0;
    uint32_t leader = race_leader(r, race_heats, r->alive, r->alive_count, blocks);
    for (size_t i = 0; i < r->alive_count; i++) {
        paired p = paired_compare(race_heats(r, r->alive[i]), race_heats(r, leader), blocks,
                                  r->options.tick_ns, r->ratios);
        bool slower = tail > 0 && r->alive[i] != leader && p.mean > paired_half_width(&p, quantile);
        r->keys[i] = (keyed){p.mean + (slower ? behind_all : 0), r->alive[i]};
        kept += !slower;
    }
    race_sort(r->keys, r->alive_count);
    return kept;
}

static void cut_to(race *r, size_t places)
{
    if (r->alive_count <= places)
        return;
    compare_to_leader(r, 0);
    keep_best(r, places, r->stage, true);
}

/* Drops entrants that are slower than the leader by a one-sided test at the level alpha / number of
 * all comparisons (Bonferroni): the probability of dropping the best stays below alpha. */
static void drop_slower(race *r)
{
    if (r->alive_count < 2)
        return;
    size_t kept = compare_to_leader(r, r->options.alpha / (RACE_LOOKS * (double)(r->entered - 1)));
    keep_best(r, kept < LEAST_SURVIVORS ? LEAST_SURVIVORS : kept, RACE_HEATS, false);
}

static bool is_alive(const race *r, uint32_t entrant)
{
    for (size_t i = 0; i < r->alive_count; i++)
        if (r->alive[i] == entrant)
            return true;
    return false;
}

static bool is_hopeless(race *r, uint32_t base)
{
    if (r->options.default_ratio <= 0 || r->alive_count == 0)
        return false;
    rank_alive(r, prior_key, 1);
    return r->keys[0].key > 0 && prior_key(r, base) > r->options.default_ratio * r->keys[0].key;
}

/* Begins, or begins again, the finals with the remaining entrants and the default. */
static void start_finals(race *r)
{
    uint32_t base = r->options.default_entrant;
    if (base != RACE_NO_DEFAULT && !r->contenders[base].failed && !is_alive(r, base) &&
        !is_hopeless(r, base))
        r->alive[r->alive_count++] = base;
    for (size_t i = 0; i < r->alive_count; i++) {
        contender *c = &r->contenders[r->alive[i]];
        c->left_at = RACE_FINALS;
        c->cut = false;
        c->slot = i;
        c->retired = 0;
    }
    r->finals_blocks = r->design_row = 0;
    r->finals_goal = finals_goal(r, r->alive_count);
    r->extended = false;
    r->stage = r->alive_count ? RACE_FINALS : RACE_FINISHED;
}

static bool is_look(const race *r)
{
    for (size_t i = 0; i < RACE_LOOKS; i++)
        if (r->options.looks[i] == r->heats_blocks)
            return true;
    return false;
}

static bool screen_goes_on(const race *r)
{
    if (r->alive_count < 2 || r->heats_blocks >= SCREEN_ROUNDS)
        return false;
    if (r->alive_count > r->options.heats_entrants)
        return true;
    if (r->heats_blocks >= SCREEN_STEP)
        return false;
    for (size_t i = 0; i < r->alive_count; i++)
        if (r->contenders[r->alive[i]].given.fastest_ns <= 0)
            return true;
    return false;
}

static void enter(race *r, race_stage stage)
{
    r->stage = stage;
    for (size_t i = 0; i < r->alive_count; i++)
        r->contenders[r->alive[i]].left_at = stage;
}

/* Judges the race up to the finals: before the first block, and after each block. */
static void advance_heats(race *r)
{
    if (r->stage == RACE_PROBE && (r->heats_blocks == PROBE_BLOCKS || r->alive_count == 0))
        end_probe(r);
    if (r->stage == RACE_PROBE)
        return;
    if (r->alive_count == 0) {
        start_finals(r);
        return;
    }
    size_t blocks = r->heats_blocks;
    if (blocks == SCREEN_STEP || (r->stage == RACE_SCREEN && blocks && blocks % SCREEN_STEP == 0))
        drop_slow_entrants(r);
    if (r->stage != RACE_HEATS && !screen_goes_on(r)) {
        cut_to(r, r->options.heats_entrants);
        enter(r, RACE_HEATS);
        r->entered = r->alive_count;
    }
    if (r->stage != RACE_HEATS) {
        enter(r, RACE_SCREEN);
        return;
    }
    if (is_look(r))
        drop_slower(r);
    if (blocks >= r->heats_capacity)
        cut_to(r, r->options.finalists);
    if (r->alive_count <= r->options.finalists)
        start_finals(r);
}

/* If all finalists except the default have failed, replaces them by the best dropped entrants.
 * Returns false if a finalist is left, or no entrant can replace it. */
static bool promote_next(race *r)
{
    uint32_t base = r->options.default_entrant;
    for (size_t i = 0; i < r->alive_count; i++)
        if (r->alive[i] != base)
            return false;
    size_t found = 0;
    uint32_t first = RACE_NO_DEFAULT;
    for (uint32_t e = 0; e < r->count; e++) {
        if (r->contenders[e].failed || e == base)
            continue;
        if (first == RACE_NO_DEFAULT)
            first = e;
        r->keys[found++] = (keyed){race_estimate(r, e, first), e};
    }
    if (found == 0 && (base == RACE_NO_DEFAULT || r->contenders[base].failed || is_alive(r, base)))
        return false;
    race_sort(r->keys, found);
    r->alive_count = found < r->options.finalists ? found : r->options.finalists;
    for (size_t i = 0; i < r->alive_count; i++)
        r->alive[i] = r->keys[i].entrant;
    start_finals(r);
    return true;
}

static void remove_alive(race *r, uint32_t entrant)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->alive_count; i++)
        if (r->alive[i] != entrant)
            r->alive[kept++] = r->alive[i];
    if (kept < r->alive_count && r->stage == RACE_FINALS) {
        /* A new design begins, for the new number of finalists. */
        size_t rows = balance_rows(kept), left = r->finals_goal - r->finals_blocks;
        r->design_row = 0;
        r->finals_goal = r->finals_blocks + (left + rows - 1) / rows * rows;
        if (r->finals_goal > r->finals_capacity)
            r->finals_goal = r->finals_capacity;
    }
    r->alive_count = kept;
}

/* Returns whether all of an entrant's finals samples are far above all samples of the fastest. */
static bool is_far_behind(const race *r, uint32_t entrant, uint32_t fastest)
{
    const int64_t *slow = race_finals(r, entrant), *fast = race_finals(r, fastest);
    int64_t lowest = slow[0], highest = fast[0];
    for (size_t i = 1; i < r->finals_blocks; i++) {
        lowest = slow[i] < lowest ? slow[i] : lowest;
        highest = fast[i] > highest ? fast[i] : highest;
    }
    return (double)lowest > r->options.prior_ratio * (double)highest;
}

/* Lets a hopelessly slow default leave the finals, after whole designs to keep the order
 * balanced. */
static void retire_default(race *r)
{
    uint32_t base = r->options.default_entrant;
    size_t rows = balance_rows(r->alive_count);
    if (base == RACE_NO_DEFAULT || !is_alive(r, base) || r->alive_count < 1 + LEAST_SURVIVORS ||
        r->finals_blocks < RETIRE_BLOCKS || r->design_row % rows != 0)
        return;
    uint32_t fastest = race_leader(r, race_finals, r->alive, r->alive_count, r->finals_blocks);
    if (!is_far_behind(r, base, fastest))
        return;
    r->contenders[base].retired = r->finals_blocks;
    remove_alive(r, base);
}

/* Judges the finals after a block. If wide intervals leave ties, doubles the finals once. */
static void advance_finals(race *r)
{
    if (r->alive_count == 0) {
        r->stage = RACE_FINISHED;
        return;
    }
    retire_default(r);
    if (r->finals_blocks < r->finals_goal)
        return;
    const race_result *result = race_conclude(r);
    bool vague = result->tied > 0 && result->half_width > r->options.tie_margin;
    if (vague && !r->extended && 2 * r->finals_goal <= r->finals_capacity) {
        r->extended = true;
        r->finals_goal *= 2;
    } else {
        r->stage = RACE_FINISHED;
    }
}

race *race_new(const race_options *options, const race_entrant *entrants, size_t count)
{
    race *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->options = *options;
    r->count = count;
    r->random = rng_seeded(options->seed);
    if (!allocate(r)) {
        race_free(r);
        return NULL;
    }
    for (uint32_t e = 0; e < count; e++) {
        r->contenders[e].given = entrants[e];
        r->alive[e] = e;
    }
    r->alive_count = count;
    drop_by_prior(r);
    if (!begin_probe(r))
        advance_heats(r);
    return r;
}

static void shuffle(rng *random, uint32_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(random, i);
        uint32_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}

/* Draws a block of the finals: the next row of a balanced design. Each new design numbers the
 * entrants in a random order. */
static void draw_final(race *r)
{
    size_t rows = balance_rows(r->alive_count);
    if (r->design_row % rows == 0) {
        memcpy(r->labels, r->alive, r->alive_count * sizeof *r->labels);
        shuffle(&r->random, r->labels, r->alive_count);
    }
    balance_row(r->alive_count, r->design_row, r->order);
    for (size_t i = 0; i < r->alive_count; i++)
        r->order[i] = r->labels[r->order[i]];
}

size_t race_next(race *r, const uint32_t **order)
{
    if (r->stopped || r->stage == RACE_FINISHED)
        return 0;
    if (r->order_count == 0) {
        if (r->stage == RACE_FINALS) {
            draw_final(r);
        } else {
            memcpy(r->order, r->alive, r->alive_count * sizeof *r->order);
            shuffle(&r->random, r->order, r->alive_count);
        }
        r->order_count = r->alive_count;
    }
    *order = r->order;
    return r->order_count;
}

size_t race_blocks_ahead(const race *r)
{
    if (r->stopped || r->stage >= RACE_FINALS)
        return !r->stopped && r->stage == RACE_FINALS;
    if (r->stage == RACE_PROBE)
        return PROBE_BLOCKS - r->heats_blocks;
    if (r->stage == RACE_SCREEN)
        return SCREEN_STEP - r->heats_blocks % SCREEN_STEP;
    size_t next = 0;
    while (next < RACE_LOOKS && r->options.looks[next] <= r->heats_blocks)
        next++;
    return next < RACE_LOOKS ? r->options.looks[next] - r->heats_blocks : 1;
}

static void fail(race *r, uint32_t entrant)
{
    r->contenders[entrant].failed = true;
    remove_alive(r, entrant);
}

void race_tell(race *r, const int64_t *samples_ns)
{
    bool finals = r->stage == RACE_FINALS;
    size_t count = r->order_count;
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        uint32_t e = r->order[i];
        contender *c = &r->contenders[e];
        if (samples_ns[i] <= 0)
            c->failed = true;
        else if (finals)
            r->finals[c->slot * r->finals_capacity + r->finals_blocks] = samples_ns[i];
        else
            r->heats[e * r->heats_capacity + c->heats++] = samples_ns[i];
    }
    r->blocks++;
    r->samples += count;
    *(finals ? &r->finals_blocks : &r->heats_blocks) += 1;
    r->design_row += finals;
    r->order_count = 0;
    for (size_t i = 0; i < count; i++)
        if (samples_ns[i] <= 0)
            fail(r, r->order[i]);
    if (!finals)
        advance_heats(r);
    else if (!promote_next(r))
        advance_finals(r);
}

void race_exclude(race *r, uint32_t entrant)
{
    if (entrant >= r->count || r->contenders[entrant].failed)
        return;
    bool was_alive = is_alive(r, entrant);
    fail(r, entrant);
    if (!was_alive)
        return;
    r->order_count = 0;
    if (r->stage < RACE_FINALS)
        advance_heats(r);
    else
        promote_next(r);
    if (r->alive_count == 0)
        r->stage = RACE_FINISHED;
}

void race_stop(race *r)
{
    r->stopped = r->stage != RACE_FINISHED;
}

race_stage race_progress(const race *r, uint64_t *done, uint64_t *left)
{
    uint64_t most = 0;
    if (r->stage < RACE_FINALS) {
        size_t finalists = r->options.finalists + 1;
        most = (uint64_t)r->alive_count * (r->heats_capacity - r->heats_blocks) +
               (uint64_t)finalists * finals_goal(r, finalists);
    } else if (r->stage == RACE_FINALS) {
        most = (uint64_t)r->alive_count * (r->finals_goal - r->finals_blocks);
    }
    if (done)
        *done = r->samples;
    if (left)
        *left = r->stopped ? 0 : most;
    return r->stage;
}
