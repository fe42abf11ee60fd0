#include "run/variant/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/variant/course.h"
#include "run/variant/sources.h"

enum { FINISHED_A_LOOK = 8 }; /* finished candidates between two searches for likely entrants */

/* The most machine code, in bytes, that waits for the device. If compilation often stops for a full
 * queue, sources reach the compilers one by one, which takes several times as long as groups. */
static const size_t COMPILED_AHEAD_BYTES = (size_t)256 << 20;

pipeline *pipeline_new(session *s, const pipeline_options *o)
{
    pipeline *p = memory_new(1, sizeof *p);
    uint16_t *indices = memory_new(space_parameter_count(s->space) + 1, sizeof *indices);
    *p = (pipeline){.session = s, .options = *o, .indices = indices, .start_ns = clock_now_ns()};
    p->log =
        (variant_log){.journal = o->journal,
                      .session = s,
                      .gpus = &p->gpus,
                      .samples = o->samples < DEVICE_MAX_SAMPLES ? o->samples : DEVICE_MAX_SAMPLES,
                      .indices = indices,
                      .trouble = &p->state.journal_trouble};
    gpus_init(&p->gpus, s->workers);
    hangs_init(&p->hangs, script_pattern(s->script));
    return p;
}

void pipeline_free(pipeline *p)
{
    if (!p)
        return;
    candidates_deinit(&p->table);
    twins_deinit(&p->twins);
    hangs_deinit(&p->hangs);
    free(p->finished);
    free(p->indices);
    free(p);
}

void pipeline_abandon_queue(pipeline *p)
{
    p->abandoned = true;
    for (size_t i = 0; i < p->table.count; i++) {
        candidate *c = p->table.items[i];
        if (c->stage == CANDIDATE_COMPILING || c->stage == CANDIDATE_WAITING)
            course_move(p, c, CANDIDATE_ABANDONED);
    }
}

size_t pipeline_in_flight(const pipeline *p)
{
    const size_t *at = p->table.at;
    return course_compiling(p) + at[CANDIDATE_WAITING] + at[CANDIDATE_TRYING] +
           at[CANDIDATE_CHECK_DUE] + at[CANDIDATE_CHECKING];
}

/* A search that learns proposes worse configurations the further it runs ahead of the outcomes. So
 * it only keeps the workers busy. After many variants it runs ahead by a quarter of them: compilers
 * then get groups, which take half the time, and the search already knows most outcomes. */
size_t pipeline_room(const pipeline *p)
{
    enum { TRIED_AHEAD = 4 };
    const size_t groups = compile_group_width(p->session->workers->pool),
                 busy = compile_width(p->session->workers->pool) + TRYING_QUEUE * p->gpus.count;
    size_t width = p->state.finished / TRIED_AHEAD;
    if (p->options.is_blind || width > groups)
        width = groups;
    else if (width < busy)
        width = busy;
    size_t under_way = p->options.is_blind ? course_compiling(p) : pipeline_in_flight(p);
    if (p->compiled_bytes >= COMPILED_AHEAD_BYTES || under_way >= width)
        return 0;
    return width - under_way;
}

static at_status emit_and_submit(pipeline *p, candidate *c, bool resumable, at_error *error)
{
    session *s = p->session;
    sources all;
    int64_t start_ns = clock_now_ns();
    space_at(s->space, c->configuration, p->indices);
    at_status status = sources_emit(s, p->indices, c, &all, error);
    if (!status && resumable) {
        if (p->options.defers_ragged && c->id >= p->options.whole)
            sources_defer_ragged(&all, c);
        identity_by_source(c, &all);
        variant_log_put_on(&p->log, c, c->gpu);
    }
    p->state.emit_ns += clock_now_ns() - start_ns;
    if (!status && (!resumable || !course_recognise(p, c))) {
        status = sources_submit(&all, s, c, error);
        if (!status && c->parts > 0)
            course_move(p, c, resumable ? CANDIDATE_COMPILING : CANDIDATE_RECOMPILING);
        else if (!status)
            course_compiled(p, c);
    }
    sources_deinit(&all);
    return status;
}

/* Proves the first variants, which are likely to win and compiled for ragged problems at once. */
static at_status prove_whole(pipeline *p, at_error *error)
{
    const uint64_t *kept = p->options.kept;
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < p->options.whole; i++)
        if (!kept || p->table.items[i]->configuration != *kept)
            status = pipeline_prove(p, p->table.items[i], false, error);
    return status;
}

at_status pipeline_add(pipeline *p, uint64_t configuration, at_error *error)
{
    candidate *c = candidates_add(&p->table, configuration);
    const next_step next = course_next(p, c);
    at_status status = AT_OK;
    if (next == NEXT_COMPILE)
        status = emit_and_submit(p, c, true, error);
    else
        course_reject(p, c);
    return !status && p->table.count == p->options.whole ? prove_whole(p, error) : status;
}

at_status pipeline_recompile(pipeline *p, candidate *c, bool ragged, at_error *error)
{
    if (ragged && candidate_waits(c))
        c->ragged = RAGGED_UNCHECKED;
    return emit_and_submit(p, c, false, error);
}

void pipeline_expect_race(pipeline *p, size_t entrants, bool checks_leader)
{
    p->entrants = entrants;
    p->checks_leader = checks_leader;
}

/* Checks and proves the leader, because an interrupted run records only a checked variant
 * (summarise.c). A race checks its own winner. */
static at_status check_leader(pipeline *p, at_error *error)
{
    course_settle_leader(p);
    candidate *c = p->state.leader;
    if (!c || p->checking || !p->checks_leader || (!pipeline_in_flight(p) && !p->abandoned))
        return AT_OK;
    const next_step next = course_next(p, c);
    if (next == NEXT_CHECK) {
        p->checking = c;
        return pipeline_recompile(p, c, true, error);
    }
    if (candidate_is_checked(c))
        p->checked = c;
    return next == NEXT_PROVE ? pipeline_prove(p, c, false, error) : AT_OK;
}

static int64_t prior_ns_if_may_race(const pipeline *p, const candidate *c)
{
    return candidate_may_race(c) ? pipeline_prior_ns(p, c) : 0;
}

static candidate *fastest_deferred(const pipeline *p)
{
    candidate *found = NULL;
    int64_t found_ns = INT64_MAX;
    for (size_t i = 0; i < p->table.count; i++) {
        candidate *c = p->table.items[i];
        int64_t time_ns = c->ragged == RAGGED_DEFERRED ? prior_ns_if_may_race(p, c) : 0;
        if (time_ns > 0 && time_ns < found_ns) {
            found = c;
            found_ns = time_ns;
        }
    }
    return found;
}

/* Lets idle compile workers compile for a race that is near, while the device still works. */
static at_status prepare_race(pipeline *p, at_error *error)
{
    at_status status = AT_OK;
    /* Waits for several candidates: a look through thousands keeps the devices waiting. */
    bool due = p->entrants > 0 && p->state.finished >= p->prepared_at + FINISHED_A_LOOK;
    while (!status && due && p->table.at[CANDIDATE_WAITING] > 0 &&
           course_compiling(p) < compile_width(p->session->workers->pool)) {
        candidate *c = fastest_deferred(p);
        if (!c || course_next(p, c) != NEXT_PREPARE) {
            p->prepared_at = p->state.finished;
            break;
        }
        status = pipeline_recompile(p, c, true, error);
    }
    return status;
}

static outcome compile_failure(compile_outcome o)
{
    return o == COMPILE_TIMEOUT   ? OUTCOME_TIMEOUT
           : o == COMPILE_CRASHED ? OUTCOME_CRASHED
                                  : OUTCOME_COMPILE_ERROR;
}

static void take_compiled(pipeline *p, compile_result *r)
{
    candidate *c = p->table.items[r->id / DEVICE_SLOTS];
    size_t slot = r->id % DEVICE_SLOTS;
    bool ptx = p->session->workers->properties.predicted;
    p->state.compile_ns += r->cached ? 0 : r->time_ns;
    c->parts--;
    if (c->stage == CANDIDATE_ABANDONED)
        return;
    bool finished = candidate_is_finished(c);
    c->found.compile_ns += finished ? 0 : r->time_ns;
    if (r->outcome == COMPILE_OK) {
        if (!finished)
            identity_note_code(c, slot, r, ptx);
        c->images[slot] = ptx ? r->ptx : r->cubin;
        c->image_bytes[slot] = ptx ? r->ptx_bytes : r->cubin_bytes;
        *(ptx ? (void **)&r->ptx : &r->cubin) = NULL;
        c->image_symbols[slot] = r->symbols;
        c->image_shared[slot] = r->grouped;
        r->symbols = NULL;
        if (slot == 0) {
            c->found.resources = r->resources;
            c->found.has_resources = true;
        }
    }
    if (r->outcome != COMPILE_OK && !finished) {
        candidate_found(c, compile_failure(r->outcome), r->log, NULL, 0);
        course_finish(p, c);
        variant_log_keep(&p->log, c);
        return;
    }
    if (r->outcome != COMPILE_OK) {
        candidate_reject(c, compile_failure(r->outcome), r->log);
        /* The result is logged, because a resumed race must have the same entrants. */
        if (p->entrants > 0 && c != p->checking)
            course_keep_check(p, c, "ragged");
    }
    if (c->parts == 0)
        course_compiled(p, c);
}

static at_status drain_compiled(pipeline *p, bool *moved, at_error *error)
{
    at_status status = AT_OK;
    while (!status && compile_pending(p->session->workers->pool)) {
        compile_result r;
        status = compile_take(p->session->workers->pool, 0, &r, error);
        if (status)
            break;
        *moved = true;
        if (session_owns(r.id))
            status = session_take(p->session, &r, error);
        else if (p->options.prover && prover_owns(r.id))
            status = prover_compiled(p->options.prover, &r, error);
        else
            take_compiled(p, &r);
        compile_result_deinit(&r);
    }
    status = error_ignore(status, AT_NOT_FOUND, error);
    return !status && p->options.prover ? prover_step(p->options.prover, error) : status;
}

static bool is_heard(const pipeline *p, size_t at)
{
    return p->session->workers->device && !p->gpus.items[at].lost;
}

static at_status drain(pipeline *p, bool *moved, at_error *error)
{
    *moved = false;
    at_status status = drain_compiled(p, moved, error);
    if (!status && p->gpus.count > 1)
        workers_open_next(p->session->workers);
    for (size_t i = 0; !status && i < p->gpus.count; i++)
        if (is_heard(p, i))
            status = error_ignore(trying_drain(p, i, moved, error), AT_NOT_FOUND, error);
    return status;
}

size_t pipeline_ready_others(const pipeline *p, device_worker **out)
{
    size_t count = 0;
    for (size_t i = 0; i < p->gpus.count; i++)
        if (i != p->gpus.home && p->gpus.items[i].ready && is_heard(p, i))
            out[count++] = p->gpus.items[i].worker;
    return count;
}

double pipeline_likely_ns(const pipeline *p, const candidate *c)
{
    return gpus_likely_ns(&p->gpus, c->gpu, c->fastest_ns);
}

int64_t pipeline_prior_ns(const pipeline *p, const candidate *c)
{
    return gpus_prior_ns(&p->gpus, c->gpu, c->fastest_ns);
}

at_status pipeline_prove(pipeline *p, candidate *c, bool hurry, at_error *error)
{
    at_status status = AT_OK;
    if (!p->options.prover)
        return AT_OK;
    if (c->verdict == PROOF_NONE) {
        c->verdict = PROOF_PENDING;
        space_at(p->session->space, c->configuration, p->indices);
        status = prover_add(p->options.prover, c->id, p->indices, error);
    }
    if (hurry && c->verdict == PROOF_PENDING)
        prover_hurry(p->options.prover, c->id);
    return status;
}

candidate *pipeline_take_proof(pipeline *p, bool keeps)
{
    proof found;
    if (!p->options.prover || !prover_take(p->options.prover, &found))
        return NULL;
    candidate *c = twins_lead(p->table.items[found.id]);
    candidate_judge(c, &found);
    /* A candidate that was not tried yet is rejected when it is tried. */
    if (keeps && c->verdict == PROOF_WRONG && candidate_is_finished(c))
        course_keep_check(p, c, "proof");
    return c;
}

/* The only function in which a run waits. */
static void wait_for_all(const pipeline *p, int timeout_ms)
{
    poll_set set;
    poll_set_start(&set, timeout_ms);
    compile_poll(p->session->workers->pool, &set);
    if (p->options.prover)
        prover_poll(p->options.prover, &set);
    for (size_t i = 0; i < p->gpus.count; i++)
        if (is_heard(p, i))
            device_worker_poll(p->gpus.items[i].worker, &set);
    poll_set_wait(&set);
}

at_status pipeline_watch_proofs(pipeline *p, int timeout_ms, at_error *error)
{
    bool moved = false;
    at_status status = drain_compiled(p, &moved, error);
    if (status || moved || !timeout_ms || !p->options.prover)
        return status;
    wait_for_all(p, timeout_ms);
    return drain_compiled(p, &moved, error);
}

at_status pipeline_step(pipeline *p, int timeout_ms, at_error *error)
{
    bool moved;
    at_status status = prepare_race(p, error);
    if (!status)
        status = drain(p, &moved, error);
    if (!status && !moved && timeout_ms) {
        wait_for_all(p, timeout_ms);
        status = drain(p, &moved, error);
    }
    return status ? status : check_leader(p, error);
}

candidate *pipeline_take(pipeline *p)
{
    return p->taken < p->finished_count ? p->finished[p->taken++] : NULL;
}

void pipeline_settle_twins(pipeline *p, const candidate *preferred)
{
    twins_elect(&p->table, preferred);
}

const candidates *pipeline_candidates(const pipeline *p)
{
    return &p->table;
}

const pipeline_state *pipeline_get_state(const pipeline *p)
{
    return &p->state;
}
