#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/race/paired.h"
#include "search/race/state.h"

const int64_t *race_heats(const race *r, uint32_t entrant)
{
    return r->heats + entrant * r->heats_capacity;
}

const int64_t *race_finals(const race *r, uint32_t entrant)
{
    return r->finals + r->contenders[entrant].slot * r->finals_capacity;
}

static int compare_keys(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->entrant > y->entrant) - (x->entrant < y->entrant);
}

void race_sort(keyed *keys, size_t count)
{
    qsort(keys, count, sizeof *keys, compare_keys);
}

static stats_summary summarise(race *r, const int64_t *series, size_t count)
{
    memcpy(r->sorted, series, count * sizeof *series);
    return stats_summarise(r->sorted, count);
}

double race_heats_median(race *r, uint32_t entrant, size_t blocks, double *highest)
{
    double median = (double)summarise(r, race_heats(r, entrant), blocks).median_ns;
    *highest = (double)r->sorted[blocks - 1];
    return median;
}

uint32_t race_leader(race *r, const int64_t *(*series)(const race *, uint32_t),
                     const uint32_t *entrants, size_t count, size_t blocks)
{
    uint32_t leader = entrants[0];
    int64_t lowest = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t median = summarise(r, series(r, entrants[i]), blocks).median_ns;
        if (median < lowest) {
            lowest = median;
            leader = entrants[i];
        }
    }
    return leader;
}

/* Returns the entrant's samples of the finals, or of the heats if it took no part in the finals. */
static const int64_t *samples_of(const race *r, uint32_t entrant, size_t *count)
{
    const contender *c = &r->contenders[entrant];
    if (c->left_at == RACE_FINALS && r->finals_blocks > 0 && !c->failed) {
        *count = c->retired ? c->retired : r->finals_blocks;
        return race_finals(r, entrant);
    }
    *count = c->heats;
    return race_heats(r, entrant);
}

/* Returns the time by the samples of the entrant's last stage, or its earlier fastest sample. */
static stats_summary time_of(race *r, uint32_t entrant)
{
    size_t count;
    const int64_t *samples = samples_of(r, entrant, &count);
    stats_summary s = summarise(r, samples, count);
    if (count == 0)
        s.median_ns = r->contenders[entrant].given.fastest_ns;
    return s;
}

/* Returns the number of blocks of screen and heats in which both entrants were sampled. */
static size_t shared_heats(const race *r, uint32_t a, uint32_t b)
{
    size_t x = r->contenders[a].heats, y = r->contenders[b].heats;
    return x < y ? x : y;
}

double race_estimate(race *r, uint32_t a, uint32_t b)
{
    const contender *x = &r->contenders[a], *y = &r->contenders[b];
    size_t blocks = shared_heats(r, a, b);
    if (blocks > 0)
        return exp(paired_compare(race_heats(r, a), race_heats(r, b), blocks, 0, r->ratios).mean);
    if (x->given.fastest_ns > 0 && y->given.fastest_ns > 0)
        return (double)x->given.fastest_ns / (double)y->given.fastest_ns;
    double top = (double)time_of(r, a).median_ns, bottom = (double)time_of(r, b).median_ns;
    return top > 0 && bottom > 0 ? top / bottom : INFINITY;
}

/* With fewer blocks of the finals, the heats decide. */
enum { LEAST_FINALS = 4 };

/* The series of samples that decides, and its number of blocks (0 if only earlier samples
 * exist). */
typedef struct evidence {
    const int64_t *(*series)(const race *, uint32_t);
    size_t blocks;
    double quantile;
} evidence;

/* Finds the evidence and the field (the entrants between which it decides). If the heats decide,
 * the field is the entrants with the most heats: a default in the finals may lack heats. */
static evidence find_evidence(race *r)
{
    evidence e = {race_heats, 0, 0};
    bool finals = r->stage >= RACE_FINALS && r->finals_blocks >= LEAST_FINALS;
    if (finals) {
        e.series = race_finals;
        e.blocks = r->finals_blocks;
    }
    for (size_t i = 0; i < r->alive_count && !finals; i++)
        if (r->contenders[r->alive[i]].heats > e.blocks)
            e.blocks = r->contenders[r->alive[i]].heats;
    for (size_t i = 0; i < r->count; i++)
        r->contenders[i].in_field = false;
    r->field_count = 0;
    for (size_t i = 0; i < r->alive_count; i++) {
        contender *c = &r->contenders[r->alive[i]];
        c->in_field = finals || c->heats >= e.blocks;
        if (c->in_field)
            r->field[r->field_count++] = r->alive[i];
    }
    if (r->field_count > 1)
        e.quantile = paired_quantile(r->options.alpha / (double)(r->field_count - 1), e.blocks);
    return e;
}

static uint32_t find_fastest(race *r, const evidence *e)
{
    uint32_t fastest = r->field[0];
    double lowest = INFINITY;
    uint32_t leader = fastest;
    if (e->blocks > 0)
        leader = race_leader(r, e->series, r->field, r->field_count, e->blocks);
    for (size_t i = 0; i < r->field_count; i++) {
        double ratio = race_estimate(r, r->field[i], leader);
        if (e->blocks > 0)
            ratio = paired_compare(e->series(r, r->field[i]), e->series(r, leader), e->blocks, 0,
                                   r->ratios)
                        .mean;
        if (ratio < lowest) {
            lowest = ratio;
            fastest = r->field[i];
        }
    }
    return fastest;
}

static void set_interval(race_standing *s, const paired *p, double half)
{
    s->ratio = exp(p->mean);
    s->low = exp(p->mean - half);
    s->high = exp(p->mean + half);
}

static race_standing stand_in_field(race *r, uint32_t entrant, uint32_t fastest, const evidence *e)
{
    race_standing s = {.entrant = entrant, .ratio = 1, .low = 1, .high = 1, .tied = true};
    if (entrant == fastest)
        return s;
    paired p = paired_compare(e->series(r, entrant), e->series(r, fastest), e->blocks,
                              r->options.tick_ns, r->ratios);
    set_interval(&s, &p, paired_half_width(&p, e->quantile));
    if (e->blocks == 0)
        s.ratio = race_estimate(r, entrant, fastest);
    s.tied = s.low <= 1 + r->options.tie_margin;
    return s;
}

/* The last quantile for an entrant that has left the race, and its number of blocks. Most such
 * entrants have equally many blocks, so the quantile is kept. */
typedef struct outside {
    size_t blocks;
    double quantile;
} outside;

/* Computes the standing of an entrant that left earlier. If it left for lack of places, it is tied
 * unless its samples show that it is slower by more than the margin. If it left by a test, the
 * leader of that time may have been lucky. So it is tied unless its samples show that it is slower
 * than the fastest. */
static race_standing stand_outside(race *r, uint32_t entrant, uint32_t fastest, outside *o)
{
    const contender *c = &r->contenders[entrant];
    race_standing s = {.entrant = entrant, .high = INFINITY};
    const int64_t *(*series)(const race *, uint32_t) = race_heats;
    size_t blocks = shared_heats(r, entrant, fastest);
    s.ratio = race_estimate(r, entrant, fastest);
    if (c->retired && r->contenders[fastest].left_at == RACE_FINALS) {
        series = race_finals;
        blocks = c->retired;
    }
    if (blocks < 2)
        return s;
    if (o->blocks != blocks) {
        o->blocks = blocks;
        o->quantile = paired_quantile(r->options.alpha, blocks);
    }
    paired p = paired_compare(series(r, entrant), series(r, fastest), blocks, r->options.tick_ns,
                              r->ratios);
    set_interval(&s, &p, paired_half_width(&p, o->quantile));
    bool tested = c->cut || c->left_at == RACE_HEATS;
    s.tied = tested && s.low <= 1 + (c->cut ? r->options.tie_margin : 0);
    return s;
}

static void stand_all(race *r, uint32_t fastest, const evidence *e)
{
    outside o = {0};
    for (uint32_t i = 0; i < r->count; i++) {
        const contender *c = &r->contenders[i];
        race_standing *s = &r->standings[i];
        if (c->failed)
            *s = (race_standing){.entrant = i, .failed = true, .ratio = INFINITY, .high = INFINITY};
        else if (c->in_field)
            *s = stand_in_field(r, i, fastest, e);
        else
            *s = stand_outside(r, i, fastest, &o);
        s->left_at = c->left_at;
        s->time = time_of(r, i);
    }
}

static bool preferred(const race *r, uint32_t a, uint32_t b)
{
    if ((a == r->options.default_entrant) != (b == r->options.default_entrant))
        return a == r->options.default_entrant;
    const race_entrant *x = &r->contenders[a].given, *y = &r->contenders[b].given;
    if (x->registers != y->registers)
        return x->registers < y->registers;
    if (x->shared_bytes != y->shared_bytes)
        return x->shared_bytes < y->shared_bytes;
    return x->order != y->order ? x->order < y->order : a < b;
}

/* Chooses among the tied entrants so that another run would choose the same entrant, but only among
 * entrants that measured slower by at most the choice margin. */
static uint32_t choose(const race *r, uint32_t fastest)
{
    uint32_t choice = fastest;
    for (size_t i = 0; i < r->field_count; i++) {
        const race_standing *s = &r->standings[r->field[i]];
        bool candidate = s->tied && s->ratio <= 1 + r->options.choice_margin;
        if (candidate && preferred(r, s->entrant, choice))
            choice = s->entrant;
    }
    return choice;
}

static void judge(race *r, race_result *result)
{
    double runner_up = INFINITY, runner_up_half = INFINITY, widest = 0;
    for (size_t i = 0; i < r->count; i++) {
        const race_standing *s = &r->standings[i];
        if (s->failed || s->entrant == result->fastest)
            continue;
        result->tied += s->tied;
        if (!r->contenders[s->entrant].in_field)
            continue;
        double half = log(s->high / s->ratio);
        if (s->tied && half > widest)
            widest = half;
        if (s->ratio < runner_up) {
            runner_up = s->ratio;
            runner_up_half = half;
        }
    }
    result->half_width = result->tied && widest > 0 ? widest : runner_up_half;
    result->verdict = r->stage != RACE_FINISHED ? RACE_INCONCLUSIVE
                      : result->tied            ? RACE_TIED
                                                : RACE_CLEAR;
    result->noisy = isfinite(runner_up) && result->half_width > runner_up - 1 &&
                    result->half_width > r->options.tie_margin;
}

/* Ranks by ratio, but puts entrants that left earlier after the finalists. The default stays among
 * the finalists, because its heats may have been lucky. */
static void rank(race *r, const race_result *result)
{
    double slowest_finalist = 1;
    for (size_t i = 0; i < r->field_count; i++) {
        const race_standing *s = &r->standings[r->field[i]];
        if (s->entrant != r->options.default_entrant && s->ratio > slowest_finalist)
            slowest_finalist = s->ratio;
    }
    for (uint32_t e = 0; e < r->count; e++) {
        const contender *c = &r->contenders[e];
        double key = r->standings[e].ratio;
        if (!c->in_field && !c->failed && key <= slowest_finalist)
            key = slowest_finalist + 1e-9 * key;
        if (result->has_winner && e == result->winner)
            key = 0;
        r->keys[e] = (keyed){key, e};
    }
    race_sort(r->keys, r->count);
    for (size_t i = 0; i < r->count; i++)
        r->ranked[i] = r->standings[r->keys[i].entrant];
}

const race_result *race_conclude(race *r)
{
    race_result result = {.stage = r->stage,
                          .blocks = r->blocks,
                          .samples = r->samples,
                          .ranking = r->ranked,
                          .count = r->count,
                          .has_winner = r->alive_count > 0,
                          .half_width = INFINITY,
                          .verdict = RACE_INCONCLUSIVE};
    evidence e = find_evidence(r);
    if (result.has_winner)
        result.winner = result.fastest = find_fastest(r, &e);
    stand_all(r, result.fastest, &e);
    if (result.has_winner) {
        judge(r, &result);
        if (result.verdict != RACE_INCONCLUSIVE)
            result.winner = choose(r, result.fastest);
    }
    rank(r, &result);
    r->result = result;
    return &r->result;
}

static const char *const stage_names[] = {"prior", "probe",  "screen",
                                          "heats", "finals", "finished"};

const char *race_stage_name(race_stage stage)
{
    return stage_names[stage];
}
