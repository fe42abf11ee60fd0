#include "run/tune_state.h"

#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/interrupt.h"

/* The samples of each variant when it is tried: two to screen by, for one may be unlucky. A quick
 * run would rather try more. */
enum { FIRST_SAMPLES = 3, QUICK_SAMPLES = 2 };

/* Checks and proofs of who won get at most this share of a budget, and at most these seconds. Most
 * proofs are done when the race ends: they begin while it goes on. */
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

/* Said also where no progress is wanted: it may take the device a while to answer. */
static void say_interrupted(tune *t)
{
    static const char said[] = "autotune: interrupted; ending what is under way (interrupt again "
                               "to end at once)\n";
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

/* A step that an interrupt ended has not failed. */
at_status tune_unless_interrupted(tune *t, at_status status, at_error *error)
{
    bool expected = status == AT_INTERRUPTED && tune_interrupted(t);
    return expected ? error_forgive(status, AT_INTERRUPTED, error) : status;
}

uint64_t tune_evaluations(const tune *t)
{
    uint64_t valid = space_count(t->session.space), most = t->limits.evaluations;
    return most && most < valid ? most : valid;
}

bool tune_is_quick(const tune *t)
{
    const settings *o = t->settings;
    return settings_are_quick(o) && !o->budget_evaluations && o->budget_s <= 0;
}

/* A prediction is the same each time: once is enough, and there is nothing to race. */
size_t tune_samples(const tune *t)
{
    if (t->session.workers->properties.predicted)
        return 1;
    return t->settings->fixed_samples ? t->settings->fixed_samples
           : tune_is_quick(t)         ? QUICK_SAMPLES
                                      : FIRST_SAMPLES;
}

int64_t tune_best_ns(const tune *t)
{
    const candidate *leader = pipeline_get_state(t->pipeline)->leader;
    return leader ? leader->fastest_ns : 0;
}

bool tune_races(const tune *t)
{
    return session_measures(&t->session) && !t->settings->fixed_samples;
}

/* NULL: it was not tried. */
const candidate *tune_tried_baseline(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    for (size_t i = 0; t->has_baseline && i < all->count; i++)
        if (all->items[i]->configuration == t->baseline)
            return all->items[i];
    return NULL;
}

bool tune_owns_workers(const tune *t)
{
    return t->session.workers == &t->session.own;
}

bool tune_proofs_pending(const tune *t)
{
    return t->prover && prover_pending(t->prover) > 0;
}
