#include "run/variant/course.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/variant/identity.h"

/* A variant whose first launch takes so many times the best time is left then. A race drops those
 * whose first samples take 1.3 times as long. What a single cold launch may be off by is less than
 * the rest: caches and page tables cost a launch microseconds, and a chip that throttles takes
 * twice as long. Shorter launches take no longer than what is left out with them: the checks and
 * their comparisons. */
static const double TOO_SLOW = 4;
static const int64_t TOO_SLOW_LEAST_NS = 2 * 1000 * 1000;

/* Variants that share what only such have that take ten times the best time come last. Once these
 * have taken a third of the time and so many of a kind were tried, the others of it are not: if one
 * in five of the kind were better, that would have shown itself with a chance of more than 90 %. */
static const double FAR_SLOWER = 10, SLOW_SHARE = 1.0 / 3;
enum { SLOW_EVIDENCE = 12 };

void course_move(pipeline *p, candidate *c, candidate_stage to)
{
    candidates_move(&p->table, c, to);
}

size_t course_compiling(const pipeline *p)
{
    return p->table.at[CANDIDATE_COMPILING] + p->table.at[CANDIDATE_RECOMPILING];
}

/* Does it stand for the one that is tried in any case? */
static bool is_kept(const pipeline *p, const candidate *c)
{
    while (c && c->configuration != p->kept)
        c = c->next_twin;
    return c != NULL;
}

int64_t course_too_slow_ns(const pipeline *p, const candidate *c)
{
    double ns = TOO_SLOW * (double)p->gpus.items[c->gpu].best_ns;
    if (!p->leaves_slow || ns <= 0 || is_kept(p, c))
        return 0;
    return ns > (double)TOO_SLOW_LEAST_NS ? (int64_t)ns : TOO_SLOW_LEAST_NS;
}

/* The one that stands for it is finished. */
static void finish_twin(pipeline *p, candidate *c)
{
    bool known = c->from_journal;
    twins_follow(c);
    variant_log_put_on(&p->log, c, c->twin_of->gpu);
    course_move(p, c, CANDIDATE_FINISHED);
    if (!known)
        variant_log_keep(&p->log, c);
    p->state.finished++;
    p->state.twins++;
    memory_add(&p->finished, &p->finished_count, &c, sizeof c);
}

static void become_twin(pipeline *p, candidate *c, candidate *lead)
{
    candidate_drop_images(c);
    for (candidate *next = c; next; c = next) {
        /* It may have stood for others itself. */
        next = c->next_twin;
        twins_join(c, lead);
        if (c->stage != CANDIDATE_FOLLOWING)
            course_move(p, c, CANDIDATE_FOLLOWING);
        if (candidate_is_finished(lead))
            finish_twin(p, c);
    }
}

void course_note_time(pipeline *p, const candidate *c)
{
    int64_t fastest_ns = c->found.outcome == OUTCOME_OK ? c->fastest_ns : 0;
    int64_t *best_ns = &p->gpus.items[c->gpu].best_ns;
    if (fastest_ns && (!*best_ns || fastest_ns < *best_ns))
        *best_ns = fastest_ns;
}

static void note_hang(pipeline *p, const candidate *c)
{
    const outcome o = c->found.outcome;
    const bool ended = o == OUTCOME_OK || o == OUTCOME_WRONG_RESULT || o == OUTCOME_CRASHED ||
                       o == OUTCOME_TOO_SLOW;
    /* A variant that was not launched, or not tried, says nothing of loops. */
    if (!ended && o != OUTCOME_TIMEOUT)
        return;
    space_at(p->session->space, c->configuration, p->indices);
    hangs_note(&p->hangs, p->indices, !ended);
    if (p->hangs.count == 0)
        return;
    const hang_cause *cause = hangs_find(&p->hangs, p->indices);
    if (cause)
        p->state.hang = *cause;
    p->state.all_hang = cause && !*cause->text;
}

bool course_is_far_slower(const pipeline *p, const candidate *c)
{
    const outcome o = c->found.outcome;
    return (o == OUTCOME_OK || o == OUTCOME_TOO_SLOW) &&
           (double)c->fastest_ns > FAR_SLOWER * (double)p->gpus.items[c->gpu].best_ns;
}

static void note_slow(pipeline *p, const candidate *c)
{
    const outcome o = c->found.outcome;
    if (!p->slow_last || (o != OUTCOME_OK && o != OUTCOME_TOO_SLOW))
        return;
    space_at(p->session->space, c->configuration, p->indices);
    hangs_note(&p->slow, p->indices, course_is_far_slower(p, c));
}

/* The best is another: what was not far slower than the one before may be now, and the other way
 * round. */
static void note_all_slow(pipeline *p)
{
    hangs_deinit(&p->slow);
    hangs_init(&p->slow, script_pattern(p->session->script));
    for (size_t i = 0; p->slow_last && i < p->table.count; i++)
        if (candidate_is_finished(p->table.items[i]))
            note_slow(p, p->table.items[i]);
}

/* Why it is likely to be far slower than the best; NULL: nothing says so. */
static const hang_cause *find_slow(const pipeline *p, const candidate *c)
{
    if (p->slow.count == 0 || is_kept(p, c))
        return NULL;
    space_at(p->session->space, c->configuration, p->indices);
    return hangs_find(&p->slow, p->indices);
}

void course_finish(pipeline *p, candidate *c)
{
    const int64_t best_ns = p->gpus.items[c->gpu].best_ns;
    course_note_time(p, c);
    course_move(p, c, c->parts > 0 ? CANDIDATE_RECOMPILING : CANDIDATE_FINISHED);
    if (p->gpus.items[c->gpu].best_ns == best_ns)
        note_slow(p, c);
    else
        note_all_slow(p);
    p->state.finished++;
    memory_add(&p->finished, &p->finished_count, &c, sizeof c);
    note_hang(p, c);
    for (candidate *twin = c->next_twin; twin; twin = twin->next_twin)
        finish_twin(p, twin);
}

/* `first` has the same code, and stands for it; NULL: there is none, and it has its outcome. */
static void finish_or_join(pipeline *p, candidate *c, candidate *first)
{
    if (first)
        become_twin(p, c, first);
    else
        course_finish(p, c);
}

bool course_recognise(pipeline *p, candidate *c)
{
    candidate *first = twins_meet_source(&p->twins, &p->table, c);
    if (first) {
        become_twin(p, c, first);
    } else if (variant_log_find(&p->log, c)) {
        p->state.resumed++;
        finish_or_join(p, c, twins_meet_code(&p->twins, &p->table, c));
    }
    return candidate_is_finished(c) || c->stage == CANDIDATE_FOLLOWING;
}

void course_queue(pipeline *p, candidate *c)
{
    if (p->abandoned) {
        course_move(p, c, CANDIDATE_ABANDONED);
        return;
    }
    p->compiled_bytes += candidate_code_bytes(c);
    course_move(p, c, CANDIDATE_WAITING);
    if (c->id < p->first_waiting)
        p->first_waiting = c->id;
}

candidate *course_first_waiting(pipeline *p)
{
    if (p->table.at[CANDIDATE_WAITING] == 0)
        return NULL;
    while (p->table.items[p->first_waiting]->stage != CANDIDATE_WAITING)
        p->first_waiting++;
    for (size_t i = p->first_waiting; p->slow.count > 0 && i < p->table.count; i++)
        if (p->table.items[i]->stage == CANDIDATE_WAITING && !find_slow(p, p->table.items[i]))
            return p->table.items[i];
    return p->slow.count > 0 && course_compiling(p) > 0 ? NULL : p->table.items[p->first_waiting];
}

void course_compiled(pipeline *p, candidate *c)
{
    if (candidate_is_finished(c)) {
        candidate_stage to = c == p->checking ? CANDIDATE_CHECK_DUE : CANDIDATE_FINISHED;
        if (c->stage != to)
            course_move(p, c, to);
        return;
    }
    identity_by_code(c);
    candidate *first = twins_meet_code(&p->twins, &p->table, c);
    if (!first && p->session->workers->device)
        course_queue(p, c);
    else
        finish_or_join(p, c, first);
}

/* Finishes it without trying it. */
static void reject(pipeline *p, candidate *c, const char *why)
{
    candidate_drop_images(c);
    candidate_found(c, OUTCOME_REJECTED, why, NULL, 0);
    course_finish(p, c);
}

bool course_leave_out(pipeline *p, candidate *c)
{
    char why[HANGS_WHY_BYTES];
    if (p->hangs.count == 0)
        return false;
    space_at(p->session->space, c->configuration, p->indices);
    const hang_cause *cause = hangs_find(&p->hangs, p->indices);
    if (!cause)
        return false;
    hangs_explain(cause, why);
    p->state.left_out++;
    p->state.hang = *cause;
    reject(p, c, why);
    return true;
}

bool course_leave_slow_out(pipeline *p, candidate *c)
{
    char why[HANGS_WHY_BYTES];
    const hang_cause *cause = find_slow(p, c);
    const double spent_ns = (double)(clock_now_ns() - p->start_ns);
    size_t tried = cause ? hangs_support(&p->slow, cause) : 0;
    if (tried < SLOW_EVIDENCE || (double)p->slow_ns <= SLOW_SHARE * spent_ns)
        return false;
    snprintf(why, sizeof why,
             "not tried: the %zu variants%s%s that were took more than %.0f times the best time",
             tried, *cause->text ? " with " : "", cause->text, FAR_SLOWER);
    reject(p, c, why);
    return true;
}

void course_keep_check(pipeline *p, candidate *c, const char *check)
{
    variant_log_keep_check(&p->log, c, check);
    if (c->found.outcome == OUTCOME_OK)
        return;
    candidate_drop_images(c);
    gpu *of = &p->gpus.items[c->gpu];
    of->best_ns = 0;
    for (size_t i = 0; i < p->table.count; i++) {
        const candidate *other = p->table.items[i];
        if (candidate_may_race(other) && other->gpu == c->gpu)
            course_note_time(p, other);
    }
    note_all_slow(p);
}

void course_end_check(pipeline *p)
{
    course_move(p, p->checking, CANDIDATE_FINISHED);
    course_keep_check(p, p->checking, "ragged");
    p->checking = NULL;
}
