#include "run/variant/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/variant/identity.h"
#include "run/variant/sources.h"
#include "run/variant/trying.h"

enum { FINISHED_A_LOOK = 8 }; /* who may race is looked for after so many more have finished */

/* The limit of machine code that waits for the device. If compiling stops for a full queue, sources
 * trickle to the compile workers one by one, and groups of one take several times as long. */
static const size_t COMPILED_AHEAD_BYTES = (size_t)256 << 20;

pipeline *pipeline_new(session *s, journal *log, size_t samples)
{
    pipeline *p = memory_new(1, sizeof *p);
    uint16_t *indices = memory_new(space_parameter_count(s->space) + 1, sizeof *indices);
    *p = (pipeline){.session = s, .indices = indices, .start_ns = clock_now_ns()};
    p->log = (variant_log){.journal = log,
                           .session = s,
                           .gpus = &p->gpus,
                           .samples = samples < DEVICE_MAX_SAMPLES ? samples : DEVICE_MAX_SAMPLES,
                           .indices = indices,
                           .trouble = &p->state.journal_trouble};
    gpus_init(&p->gpus, s->workers);
    hangs_init(&p->hangs, script_pattern(s->script));
    hangs_init(&p->slow, script_pattern(s->script));
    p->lane = trace_lane(s->trace, TRACE_TUNER, "pipeline");
    return p;
}

void pipeline_free(pipeline *p)
{
    if (!p)
        return;
    candidates_deinit(&p->table);
    twins_deinit(&p->twins);
    hangs_deinit(&p->hangs);
    hangs_deinit(&p->slow);
    free(p->finished);
    free(p->indices);
    free(p);
}

void pipeline_abandon_queue(pipeline *p)
{
    p->compiled_bytes = 0;
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

void pipeline_look_far_ahead(pipeline *p)
{
    p->far_ahead = true;
}

void pipeline_defer_ragged(pipeline *p)
{
    p->defers = true;
}

void pipeline_put_slow_last(pipeline *p)
{
    p->slow_last = true;
}

void pipeline_leave_slow(pipeline *p, uint64_t but)
{
    p->leaves_slow = true;
    p->kept = but;
}

/* A search that learns from what it is told knows less the further it runs ahead, and takes longer:
 * it has as much under way as keeps everybody busy. */
size_t pipeline_room(const pipeline *p)
{
    size_t width = p->far_ahead
                       ? compile_group_width(p->session->workers->pool)
                       : compile_width(p->session->workers->pool) + TRYING_QUEUE * p->gpus.count;
    size_t under_way = p->far_ahead ? course_compiling(p) : pipeline_in_flight(p);
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
        if (p->defers)
            sources_defer_ragged(&all, c);
        identity_by_source(c, &all);
        variant_log_put_on(&p->log, c, c->gpu);
    }
    int64_t end_ns = clock_now_ns();
    trace_span(s->trace, p->lane, "emit", start_ns, end_ns, 1);
    p->state.emit_ns += end_ns - start_ns;
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

at_status pipeline_add(pipeline *p, uint64_t configuration, at_error *error)
{
    candidate *c = candidates_add(&p->table, configuration);
    return course_leave_out(p, c) ? AT_OK : emit_and_submit(p, c, true, error);
}

at_status pipeline_recompile(pipeline *p, candidate *c, at_error *error)
{
    if (candidate_waits(c))
        c->ragged = RAGGED_UNCHECKED;
    return emit_and_submit(p, c, false, error);
}

at_status pipeline_restore(pipeline *p, candidate *c, at_error *error)
{
    return emit_and_submit(p, c, false, error);
}

at_status pipeline_check(pipeline *p, candidate *c, at_error *error)
{
    if (p->checking || c->parts)
        return AT_OK;
    p->checking = c;
    return pipeline_recompile(p, c, error);
}

const candidate *pipeline_checking(const pipeline *p)
{
    return p->checking;
}

/* 0: it has none, or is no candidate for the race. */
static int64_t racing_ns(const pipeline *p, const candidate *c)
{
    return candidate_may_race(c) ? pipeline_prior_ns(p, c) : 0;
}

/* The fastest that is not compiled for its ragged problems yet; NULL: it is not among the `most`
 * fastest. */
static candidate *fastest_waiting(const pipeline *p, size_t most)
{
    candidate *found = NULL;
    int64_t found_ns = INT64_MAX;
    for (size_t i = 0; i < p->table.count; i++) {
        candidate *c = p->table.items[i];
        int64_t time_ns = c->ragged == RAGGED_DEFERRED ? racing_ns(p, c) : 0;
        if (time_ns > 0 && time_ns < found_ns) {
            found = c;
            found_ns = time_ns;
        }
    }
    size_t faster = 0;
    for (size_t i = 0; found && i < p->table.count; i++) {
        int64_t time_ns = racing_ns(p, p->table.items[i]);
        faster += time_ns > 0 && time_ns < found_ns;
    }
    return faster < most ? found : NULL;
}

at_status pipeline_prepare_race(pipeline *p, size_t most, at_error *error)
{
    at_status status = AT_OK;
    /* Looking through thousands after each of them would keep the devices waiting. */
    bool due = p->state.finished >= p->prepared_at + FINISHED_A_LOOK;
    while (!status && due && p->table.at[CANDIDATE_WAITING] > 0 &&
           course_compiling(p) < compile_width(p->session->workers->pool)) {
        candidate *c = fastest_waiting(p, most);
        if (!c) {
            p->prepared_at = p->state.finished;
            break;
        }
        c->ragged = RAGGED_UNCHECKED;
        status = emit_and_submit(p, c, false, error);
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
    if (r->outcome != COMPILE_OK)
        candidate_reject(c, compile_failure(r->outcome), r->log);
    if (c->parts == 0)
        course_compiled(p, c);
}

void pipeline_keep_conviction(pipeline *p, candidate *c)
{
    course_keep_check(p, c, "proof");
}

/* Takes everything that is there without waiting; *moved tells whether anything was. */
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
        else if (p->prover && prover_owns(r.id))
            status = prover_compiled(p->prover, &r, error);
        else
            take_compiled(p, &r);
        compile_result_deinit(&r);
    }
    status = error_forgive(status, AT_NOT_FOUND, error);
    return !status && p->prover ? prover_step(p->prover, error) : status;
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
            status = error_forgive(trying_drain(p, i, moved, error), AT_NOT_FOUND, error);
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

size_t pipeline_home(const pipeline *p)
{
    return p->gpus.home;
}

int64_t pipeline_best_ns(const pipeline *p, const candidate *c)
{
    return p->gpus.items[c->gpu].best_ns;
}

double pipeline_likely_ns(const pipeline *p, const candidate *c)
{
    return gpus_likely_ns(&p->gpus, c->gpu, c->fastest_ns);
}

int64_t pipeline_prior_ns(const pipeline *p, const candidate *c)
{
    return gpus_prior_ns(&p->gpus, c->gpu, c->fastest_ns);
}

void pipeline_prove_with(pipeline *p, prover *with)
{
    p->prover = with;
}

at_status pipeline_prove(pipeline *p, candidate *c, at_error *error)
{
    if (c->verdict != PROOF_NONE || !p->prover)
        return AT_OK;
    c->verdict = PROOF_PENDING;
    space_at(p->session->space, c->configuration, p->indices);
    return prover_add(p->prover, c->id, p->indices, error);
}

void pipeline_hurry_proof(pipeline *p, const candidate *c)
{
    if (p->prover && c->verdict == PROOF_PENDING)
        prover_hurry(p->prover, c->id);
}

candidate *pipeline_take_proof(pipeline *p)
{
    proof found;
    if (!p->prover || !prover_take(p->prover, &found))
        return NULL;
    candidate *c = twins_lead(p->table.items[found.id]);
    candidate_judge(c, &found);
    return c;
}

/* The one wait of a run: for compile workers, the device and the prover. */
static void wait_for_all(const pipeline *p, int timeout_ms)
{
    poll_set set;
    poll_set_start(&set, timeout_ms);
    compile_poll(p->session->workers->pool, &set);
    if (p->prover)
        prover_poll(p->prover, &set);
    for (size_t i = 0; i < p->gpus.count; i++)
        if (is_heard(p, i))
            device_worker_poll(p->gpus.items[i].worker, &set);
    poll_set_wait(&set);
}

at_status pipeline_watch_proofs(pipeline *p, int timeout_ms, at_error *error)
{
    bool moved = false;
    at_status status = drain_compiled(p, &moved, error);
    if (status || moved || !timeout_ms || !p->prover)
        return status;
    wait_for_all(p, timeout_ms);
    return drain_compiled(p, &moved, error);
}

at_status pipeline_step(pipeline *p, int timeout_ms, at_error *error)
{
    bool moved;
    at_status status = drain(p, &moved, error);
    if (status || moved || !timeout_ms)
        return status;
    int64_t start_ns = clock_now_ns();
    wait_for_all(p, timeout_ms);
    trace_span(p->session->trace, p->lane, "wait", start_ns, clock_now_ns(), 1);
    return drain(p, &moved, error);
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
