#include "search/race/result.h"

#include <math.h>

#include "search/race/paired.h"
#include "search/race/series.h"

/* Fewer blocks of the finals than this say less than the heats before them. */
enum { LEAST_FINALS = 4 };

/* The samples that decide: the finals once they say more than the heats, else the heats, else what
 * came before. */
typedef struct evidence {
    const int64_t *(*series)(const race *, uint32_t);
    size_t blocks;
    double quantile;
} evidence;

/* Finds it, and the field that it decides between: all finalists or living, but where heats decide,
 * only those that were in the most of them (the default may be a finalist that no heat has
 * seen). */
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

/* One of the field, measured beside the fastest. */
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

/* The quantile for the comparisons outside the field; most of them have as many blocks as the one
 * before. */
typedef struct outside {
    size_t blocks;
    double quantile;
} outside;

/* The standing of an entrant that left earlier. One that left for lack of places is tied unless its
 * samples show that it is slower by more than the margin. One that left by a test against the
 * leader of that time is tied only if they do not show it slower than the fastest: the leader may
 * have been the luckiest of equals. */
static race_standing stand_outside(race *r, uint32_t entrant, uint32_t fastest, outside *o)
{
    const contender *c = &r->contenders[entrant];
    race_standing s = {.entrant = entrant, .high = INFINITY};
    const int64_t *(*series)(const race *, uint32_t) = race_heats;
    size_t blocks = race_shared_heats(r, entrant, fastest);
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

/* Standings of all, in the order of their numbers. */
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
        s->time = race_time_of(r, i);
    }
}

/* True when `a` is to be preferred to `b` where their times do not decide. */
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

/* Among the tied, the choice that another run would make too. A tie is wider than the margin where
 * the samples are few; who measured slower by more than the choice margin is not worth it. */
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

/* Ranks by ratio, except that the heats' luck puts no variant before a finalist that got there by
 * merit. */
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
