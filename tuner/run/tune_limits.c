#include "run/tune_state.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/interrupt.h"

/* The number of first samples of a variant, above 1 because a sample may be unlucky. A quick run
 * takes fewer, to try more variants. */
enum { FIRST_SAMPLES = 3, QUICK_SAMPLES = 2 };

/* Time after the race for checks and proofs of the winner: a share of the budget, at most
 * MOST_PROOF_S seconds. Most checks are done when the race ends. */
static const double PROOF_SHARE = 0.2, MOST_PROOF_S = 20;

double tune_elapsed_s(const tune *t)
{
    return (double)(clock_now_ns() - t->start_ns) / 1e9;
}

double tune_race_end_s(const tune *t)
{
    const double budget_s = t->limits.seconds > 0 ? t->limits.seconds : 0;
    return budget_s -
           (PROOF_SHARE * budget_s < MOST_PROOF_S ? PROOF_SHARE * budget_s : MOST_PROOF_S);
}

int64_t tune_end_ns(const tune *t)
{
    return t->limits.seconds > 0 ? t->start_ns + (int64_t)(t->limits.seconds * 1e9) : 0;
}

/* Prints even if no progress is shown, because the device may take a while to answer. */
static void say_interrupted(tune *t)
{
    static const char said[] =
        "autotune: interrupted; finishing the current work (interrupt again to end at once)\n";
    struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};
    progress_clear(t->progress);
    if (poll(&err, 1, 0) == 1 && (err.revents & POLLOUT) &&
        write(err.fd, said, sizeof said - 1) < 0)
        return;
}

bool tune_interrupted(tune *t)
{
    if (interrupt_take() && t->end != RUN_END_INTERRUPTED) {
        t->end = RUN_END_INTERRUPTED;
        say_interrupted(t);
        interrupt_release();
    }
    return t->end == RUN_END_INTERRUPTED;
}

bool tune_is_over(const tune *t)
{
    return session_check_time(&t->session, NULL) != AT_OK;
}

at_status tune_unless_interrupted(tune *t, at_status status, at_error *error)
{
    bool expected = status == AT_INTERRUPTED && (tune_interrupted(t) || tune_is_over(t));
    return expected ? error_ignore(status, AT_INTERRUPTED, error) : status;
}

uint64_t tune_evaluations(const tune *t)
{
    uint64_t valid = space_count(t->session.space), most = t->limits.evaluations;
    return most && most < valid ? most : valid;
}

bool tune_is_quick(const tune *t)
{
    const settings *o = t->settings;
    return settings_are_quick(o) && !o->search.budget_evaluations && o->search.budget_s <= 0;
}

/* A prediction needs one sample, because all of its samples are equal. */
size_t tune_samples(const tune *t)
{
    if (t->session.workers->properties.predicted)
        return 1;
    return t->settings->race.fixed_samples ? t->settings->race.fixed_samples
           : tune_is_quick(t)              ? QUICK_SAMPLES
                                           : FIRST_SAMPLES;
}

int64_t tune_best_ns(const tune *t)
{
    const candidate *leader = pipeline_get_state(t->pipeline)->leader;
    return leader ? leader->fastest_ns : 0;
}

bool tune_races(const tune *t)
{
    return session_measures(&t->session) && !t->settings->race.fixed_samples;
}

candidate *tune_tried_baseline(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    for (size_t i = 0; t->has_baseline && i < all->count; i++)
        if (all->items[i]->configuration == t->baseline)
            return all->items[i];
    return NULL;
}

bool tune_proofs_pending(const tune *t)
{
    return t->prover && prover_pending(t->prover) > 0;
}

/* A quick run answers within three seconds. Its race is planned to end at QUICK_S, because on three
 * hosts of H200s races of products and transfers took up to 1.2 s longer than planned. For
 * QUICK_WAIT_S the run waits for the variants that it tries in any case, because the race's length
 * is unknown until then. */
static const double QUICK_S = 2.2, QUICK_WAIT_S = 2.0;

/* Time of a race, in s, for loading entrants, the winner's proof, and ending processes. */
static const double RACE_REST_S = 0.3;

/* Returns roughly how many entrants a quick race of the tried variants would sample. */
static size_t likely_entrants(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    const race_options rules = race_rules(t->settings, all);
    size_t near = 0;
    for (size_t i = 0; i < all->count; i++) {
        int64_t time_ns = candidate_may_race(all->items[i]) ? all->items[i]->fastest_ns : 0;
        near += time_ns > 0 && (double)time_ns <= rules.prior_ratio * (double)tune_best_ns(t);
    }
    return near < rules.prior_entrants ? near : rules.prior_entrants;
}

/* Returns the seconds that a race of the tried variants takes: the heats up to the second look with
 * the variants that enter by their first samples, compilation of finalists for ragged problems, and
 * the finals. A time may be the mean of several launches, so the length of a sample is estimated
 * from the search's samples. */
static double likely_race_s(const tune *t)
{
    enum { DEFAULT_BLOCKS = 6 };
    const candidates *all = pipeline_candidates(t->pipeline);
    const race_options rules = race_rules(t->settings, all);
    double best_ns = (double)tune_best_ns(t), default_ns = 0, sum_ns = 0, compiling_ns = 0;
    size_t samples = 0, entrants = likely_entrants(t), tried = 0;
    for (size_t i = 0; i < all->count; i++) {
        const candidate *c = all->items[i];
        if (!candidate_may_race(c))
            continue;
        double time_ns = (double)c->fastest_ns;
        tried++;
        compiling_ns += (double)c->found.compile_ns;
        samples += c->from_journal ? 0 : c->found.sample_count;
        sum_ns += c->from_journal ? 0 : time_ns * (double)c->found.sample_count;
        if (t->has_baseline && c->configuration == t->baseline &&
            (rules.default_ratio <= 0 || time_ns <= rules.default_ratio * best_ns))
            default_ns = time_ns;
    }
    double spent_ns = (double)pipeline_get_state(t->pipeline)->measure_ns;
    double rest_ns = samples > 0 && spent_ns > sum_ns ? (spent_ns - sum_ns) / (double)samples : 0;
    double compile_ns = tried > 0 ? compiling_ns / (double)tried : 0;
    double rounds = 1 + (double)rules.finalists / (double)compile_width(t->session.workers->pool);
    size_t heats = entrants > rules.finalists ? entrants * rules.looks[1] : 0;
    size_t finals = rules.finals_blocks * rules.finalists;
    return RACE_REST_S + (rounds * compile_ns + (double)(heats + finals) * (best_ns + rest_ns) +
                          DEFAULT_BLOCKS * (default_ns + rest_ns)) /
                             1e9;
}

static bool has_tried_first(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    size_t tried = 0;
    while (tried < all->count && tried < t->first && candidate_is_finished(all->items[tried]))
        tried++;
    return tried == t->first;
}

bool tune_is_late(const tune *t)
{
    if (!tune_is_quick(t) || !tune_races(t) || t->asked < t->first ||
        (!tune_best_ns(t) && !pipeline_in_flight(t->pipeline)))
        return false;
    const candidate *leader = pipeline_get_state(t->pipeline)->leader;
    double elapsed_s = tune_elapsed_s(t);
    bool known = leader && has_tried_first(t);
    double compile_s =
        known ? (double)leader->found.compile_ns / 1e9 : elapsed_s - t->search_from_s;
    return elapsed_s + compile_s + (known ? likely_race_s(t) : RACE_REST_S + compile_s) >= QUICK_S;
}

static double try_s(const tune *t)
{
    const pipeline_state *s = pipeline_get_state(t->pipeline);
    uint64_t tried = s->finished - s->resumed - s->twins;
    return tried > 0 ? (double)(s->check_ns + s->measure_ns) / 1e9 / (double)tried : 0;
}

bool tune_is_quick_enough(const tune *t)
{
    if (!tune_is_quick(t) || !tune_races(t) || tune_best_ns(t) == 0)
        return false;
    double elapsed_s = tune_elapsed_s(t);
    if (!has_tried_first(t))
        return elapsed_s >= QUICK_WAIT_S;
    return elapsed_s + try_s(t) + likely_race_s(t) >= QUICK_S ||
           (!pipeline_in_flight(t->pipeline) && tune_is_late(t));
}
