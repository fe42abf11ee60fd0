#include "run/variant/next.h"

/* A variant whose first launch takes so many times the best time is left then. A race drops those
 * whose first samples take 1.3 times as long. What a single cold launch may be off by is less than
 * the rest: caches and page tables cost a launch microseconds, and a chip that throttles takes
 * twice as long. Shorter launches take no longer than what is left out with them: the checks and
 * their comparisons. */
static const double TOO_SLOW = 4;
static const int64_t TOO_SLOW_LEAST_NS = 2 * 1000 * 1000;

static next_step next_of_finished(const next_facts *f)
{
    if (f->has_code && (!f->works || f->racing <= 0 || f->ratio > f->racing))
        return NEXT_DROP_CODE;
    if (!f->works)
        return NEXT_WAIT;
    const bool checked = f->ragged == RAGGED_WITH_TUNED || f->ragged == RAGGED_PASSED;
    if (f->leads && f->checks && !checked && f->gains)
        return NEXT_CHECK;
    if (f->leads && f->checks && checked && f->cores_idle && !f->has_proof)
        return NEXT_PROVE;
    if (f->ragged == RAGGED_DEFERRED && f->faster < f->entrants && f->compilers_idle)
        return NEXT_PREPARE;
    return NEXT_WAIT;
}

next_step candidate_next(const next_facts *f)
{
    switch (f->stage) {
    case CANDIDATE_NEW:
        return f->likely_hangs ? NEXT_REJECT_HANGING : NEXT_COMPILE;
    case CANDIDATE_WAITING:
        return f->likely_hangs ? NEXT_REJECT_HANGING : NEXT_TRY;
    case CANDIDATE_FINISHED:
        return next_of_finished(f);
    default:
        return NEXT_WAIT;
    }
}

int64_t next_limit_ns(int64_t best_ns)
{
    const double ns = TOO_SLOW * (double)best_ns;
    return ns <= 0 ? 0 : ns > (double)TOO_SLOW_LEAST_NS ? (int64_t)ns : TOO_SLOW_LEAST_NS;
}
