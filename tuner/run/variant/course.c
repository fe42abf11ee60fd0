#include "run/variant/course.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/variant/sources.h"

/* ---- the rule ---- */

/* The ratio of a first launch to the best time above which a device leaves a variant. A race drops
 * variants at 1.3. The difference covers the error of one cold launch: caches and page tables cost
 * microseconds, and a throttled chip takes twice as long. Launches below TOO_SLOW_LEAST_NS are
 * kept, because the checks that would be saved take no longer. */
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
    if (f->leads && f->checks && checked && f->proof_pays && !f->has_proof)
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

/* ---- candidates in the journal ---- */

static const double LEADER_GAIN = 0.01;

void variant_log_put_on(const variant_log *log, candidate *c, size_t gpu_number)
{
    c->gpu = gpu_number;
    if (log->journal)
        c->key = journal_key_on(log->journal, gpu_number, c->source);
}

static void format_configuration(const variant_log *log, const candidate *c, char *text,
                                 size_t size_bytes)
{
    space_at(log->session->space, c->configuration, log->indices);
    script_format_configuration(log->session->script, log->indices, text, size_bytes);
}

static void append_line(variant_log *log, journal_key key, const journal_entry *e)
{
    at_error trouble = {0};
    journal_append(log->journal, key, e, &trouble);
    if (trouble.status)
        *log->trouble = trouble;
}

void variant_log_keep(variant_log *log, const candidate *c)
{
    if (!log->journal)
        return;
    char text[CONFIGURATION_BYTES];
    format_configuration(log, c, text, sizeof text);
    append_line(log, c->key,
                &(journal_entry){.configuration = text,
                                 .stage = "screen",
                                 .gpu = c->gpu,
                                 .code = c->code,
                                 .has_code = c->has_code,
                                 .found = c->found});
}

static journal_key key_of_check(const candidate *c, const char *check)
{
    return journal_key_of_question(c->key, &(journal_question){.asked = check});
}

/* Writes the result of a later check: "ragged" for the ragged problems, or "proof". */
static void keep_check(variant_log *log, const candidate *c, const char *check)
{
    if (log->journal)
        append_line(
            log, key_of_check(c, check),
            &(journal_entry){.stage = "screen",
                             .asked = check,
                             .gpu = c->gpu,
                             .found = {.outcome = c->found.outcome, .message = c->found.message}});
}

static void find_checks(const variant_log *log, candidate *c)
{
    static const char *const checks[] = {"ragged", "proof"};
    for (size_t i = 0; i < 2 && c->found.outcome == OUTCOME_OK; i++) {
        journal_entry entry;
        if (!journal_find(log->journal, key_of_check(c, checks[i]), &entry))
            continue;
        if (entry.found.outcome != OUTCOME_OK)
            candidate_reject(c, entry.found.outcome, entry.found.message);
        else if (c->ragged)
            c->ragged = RAGGED_PASSED;
    }
}

static bool find_entry(const variant_log *log, const candidate *c, journal_entry *entry)
{
    return log->journal && journal_find(log->journal, c->key, entry) &&
           (entry->found.outcome != OUTCOME_OK || entry->found.sample_count >= log->samples) &&
           entry->found.sample_count <= DEVICE_MAX_SAMPLES;
}

/* Gives the candidate its outcome and later checks of an earlier run. Returns false if not
 * found. */
static bool find_logged(variant_log *log, candidate *c)
{
    journal_entry entry;
    variant_log_put_on(log, c, log->gpus->home);
    bool found = find_entry(log, c, &entry);
    for (size_t i = 0; !found && i < log->gpus->count; i++) {
        variant_log_put_on(log, c, i);
        found = find_entry(log, c, &entry);
    }
    if (!found)
        return false;
    c->from_journal = true;
    c->code = entry.code;
    c->has_code = entry.has_code;
    candidate_copy(c, &entry.found);
    find_checks(log, c);
    /* A reader of the journal must find both configurations of the same kernel. */
    char text[CONFIGURATION_BYTES];
    format_configuration(log, c, text, sizeof text);
    if (strcmp(text, entry.configuration) != 0)
        variant_log_keep(log, c);
    return true;
}

/* ---- candidates through the stages ---- */

void course_move(pipeline *p, candidate *c, candidate_stage to)
{
    p->compiled_bytes -= c->stage == CANDIDATE_WAITING ? candidate_code_bytes(c) : 0;
    p->compiled_bytes += to == CANDIDATE_WAITING ? candidate_code_bytes(c) : 0;
    candidates_move(&p->table, c, to);
}

size_t course_compiling(const pipeline *p)
{
    return p->table.at[CANDIDATE_COMPILING] + p->table.at[CANDIDATE_RECOMPILING];
}

/* Returns true if the candidate, or a follower of it, must be tried however slow it is. */
static bool is_kept(const pipeline *p, const candidate *c)
{
    while (c && (!p->options.kept || c->configuration != *p->options.kept))
        c = c->next_twin;
    return c != NULL;
}

int64_t course_too_slow_ns(const pipeline *p, const candidate *c)
{
    bool limited = p->options.racing > 0 && !is_kept(p, c);
    return limited ? next_limit_ns(p->gpus.items[c->gpu].best_ns) : 0;
}

static void count_finished(pipeline *p, candidate *c)
{
    p->state.finished++;
    p->state.failed += c->found.outcome != OUTCOME_OK && c->found.outcome != OUTCOME_TOO_SLOW;
    memory_add(&p->finished, &p->finished_count, &c, sizeof c);
}

static void finish_twin(pipeline *p, candidate *c)
{
    bool known = c->from_journal;
    twins_follow(c);
    variant_log_put_on(&p->log, c, c->twin_of->gpu);
    course_move(p, c, CANDIDATE_FINISHED);
    if (!known)
        variant_log_keep(&p->log, c);
    p->state.twins++;
    count_finished(p, c);
}

static void become_twin(pipeline *p, candidate *c, candidate *lead)
{
    candidate_drop_images(c);
    for (candidate *next = c; next; c = next) {
        /* The twins of `c` join `lead`, too. */
        next = c->next_twin;
        twins_join(c, lead);
        if (c->stage != CANDIDATE_FOLLOWING)
            course_move(p, c, CANDIDATE_FOLLOWING);
        if (candidate_is_finished(lead))
            finish_twin(p, c);
    }
}

static void note_time(pipeline *p, const candidate *c)
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
    /* A variant that was not launched tells nothing about loops. */
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

static const hang_cause *find_cause(const pipeline *p, const candidate *c)
{
    if (p->hangs.count == 0)
        return NULL;
    space_at(p->session->space, c->configuration, p->indices);
    return hangs_find(&p->hangs, p->indices);
}

/* Returns true if `c` may race and is faster than `than` (may be NULL) by the fraction `gain`. */
static bool is_faster(const pipeline *p, const candidate *c, const candidate *than, double gain)
{
    if (!candidate_may_race(c) || !c->fastest_ns)
        return false;
    return !than || (double)gpus_prior_ns(&p->gpus, c->gpu, c->fastest_ns) <
                        (1 - gain) * (double)gpus_prior_ns(&p->gpus, than->gpu, than->fastest_ns);
}

void course_settle_leader(pipeline *p)
{
    if (!p->state.leader || p->state.leader->found.outcome == OUTCOME_OK)
        return;
    p->state.leader = NULL;
    for (size_t i = 0; i < p->table.count; i++)
        if (is_faster(p, p->table.items[i], p->state.leader, 0))
            p->state.leader = p->table.items[i];
}

static size_t count_faster(const pipeline *p, const candidate *than)
{
    size_t count = 0;
    for (size_t i = 0; i < p->table.count; i++)
        count += is_faster(p, p->table.items[i], than, 0);
    return count;
}

/* Returns true if the leader is likely to win: it has led for half of the variants. */
static bool has_led_long(const pipeline *p)
{
    enum { LEAST_LED = 50 };
    const uint64_t led = p->state.finished - p->led_from;
    return led >= LEAST_LED && led >= p->state.finished / 2;
}

static void fill_finished(const pipeline *p, const candidate *c, next_facts *f)
{
    compile_pool *pool = p->session->workers->pool;
    const int64_t best_ns = p->gpus.items[c->gpu].best_ns;
    const candidate *checked = p->checked;
    f->works = c->found.outcome == OUTCOME_OK;
    f->has_code = candidate_code_bytes(c) > 0;
    f->ratio = best_ns && !is_kept(p, c) ? (double)c->fastest_ns / (double)best_ns : 0;
    f->racing = p->options.racing;
    f->ragged = c->ragged;
    f->has_proof = c->verdict != PROOF_NONE;
    f->leads = c == p->state.leader;
    f->gains = is_faster(p, c, checked && checked->found.outcome == OUTCOME_OK ? checked : NULL,
                         LEADER_GAIN);
    f->checks = p->checks_leader && !p->checking;
    f->proof_pays = (!p->options.prover || prover_pending(p->options.prover) == 0) &&
                    (compile_pending(pool) < compile_width(pool) || has_led_long(p));
    f->compilers_idle = course_compiling(p) < compile_width(pool);
    f->entrants = p->entrants;
    f->faster = p->entrants && c->ragged == RAGGED_DEFERRED ? count_faster(p, c) : 0;
}

next_step course_next(const pipeline *p, const candidate *c)
{
    next_facts f = {.stage = c->stage};
    if (candidate_is_finished(c))
        fill_finished(p, c, &f);
    else
        f.likely_hangs = find_cause(p, c);
    return candidate_next(&f);
}

void course_finish(pipeline *p, candidate *c)
{
    note_time(p, c);
    course_move(p, c, c->parts > 0 ? CANDIDATE_RECOMPILING : CANDIDATE_FINISHED);
    count_finished(p, c);
    note_hang(p, c);
    if (is_faster(p, c, p->state.leader, 0)) {
        p->state.leader = c;
        p->led_from = p->state.finished;
    }
    for (candidate *twin = c->next_twin; twin; twin = twin->next_twin)
        finish_twin(p, twin);
    if (course_next(p, c) == NEXT_DROP_CODE)
        candidate_drop_images(c);
}

/* Makes `c` a twin of `first`, which has the same code, or finishes `c` if `first` is NULL. */
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
    } else if (find_logged(&p->log, c)) {
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
    course_move(p, c, CANDIDATE_WAITING);
    if (c->id < p->first_waiting)
        p->first_waiting = c->id;
}

candidate *course_next_waiting(pipeline *p)
{
    for (; p->first_waiting < p->table.count; p->first_waiting++) {
        candidate *c = p->table.items[p->first_waiting];
        if (c->stage != CANDIDATE_WAITING)
            continue;
        if (course_next(p, c) == NEXT_TRY)
            return c;
        course_reject(p, c);
    }
    return NULL;
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

void course_reject(pipeline *p, candidate *c)
{
    char text[HANGS_WHY_BYTES];
    const hang_cause *cause = find_cause(p, c);
    hangs_explain(cause, text);
    p->state.left_out++;
    p->state.hang = *cause;
    candidate_found(c, OUTCOME_REJECTED, text, NULL, 0);
    course_finish(p, c);
}

void course_keep_check(pipeline *p, candidate *c, const char *check)
{
    keep_check(&p->log, c, check);
    if (c->found.outcome == OUTCOME_OK)
        return;
    p->state.failed++;
    candidate_drop_images(c);
    run_gpu *of = &p->gpus.items[c->gpu];
    of->best_ns = 0;
    for (size_t i = 0; i < p->table.count; i++) {
        const candidate *other = p->table.items[i];
        if (candidate_may_race(other) && other->gpu == c->gpu)
            note_time(p, other);
    }
    course_settle_leader(p);
}

void course_end_check(pipeline *p)
{
    course_move(p, p->checking, CANDIDATE_FINISHED);
    course_keep_check(p, p->checking, "ragged");
    p->checking = NULL;
}
