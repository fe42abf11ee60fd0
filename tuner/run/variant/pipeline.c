#include "run/variant/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/setup/gpus.h"
#include "run/variant/hangs.h"
#include "run/variant/identity.h"
#include "run/variant/log.h"
#include "run/variant/sources.h"
#include "run/variant/twins.h"

enum { DEVICE_QUEUE = 4 }; /* requests in flight: the device never waits for the tuner */

/* If requests take so long on average the next is sent only when one is answered. The device waits
 * for a thousandth of its time; and a variant that was asked for earlier and compiled meanwhile, or
 * the end of the search, has to wait for one only. */
static const int64_t SLOW_TRY_NS = 50 * 1000 * 1000;

/* A variant whose first launch takes so many times the best time is left then. A race drops those
 * whose first samples take 1.3 times as long. What a single cold launch may be off by is less than
 * the rest: caches and page tables cost a launch microseconds, and a chip that throttles takes
 * twice as long. Shorter launches take no longer than what is left out with them: the checks and
 * their comparisons. */
static const double TOO_SLOW = 4;
static const int64_t TOO_SLOW_LEAST_NS = 2 * 1000 * 1000;

enum { FINISHED_A_LOOK = 8 }; /* who may race is looked for after so many more have finished */

/* The limit of machine code that waits for the device. If compiling stops for a full queue, sources
 * trickle to the compile workers one by one, and groups of one take several times as long. */
static const size_t COMPILED_AHEAD_BYTES = (size_t)256 << 20;

/* Only move() changes a candidate's stage. A candidate enters `finished` once, when its outcome is
 * known, and may be compiled again for the race after that. At most one candidate is being checked
 * apart from its first samples. */
struct pipeline {
    session *session;
    variant_log log;
    prover *prover; /* or NULL */
    candidates table;
    twins twins;
    hangs hangs;
    gpus gpus;         /* none of them ready without a device */
    uint16_t *indices; /* scratch: one configuration */
    int64_t start_ns;
    uint32_t lane; /* of the trace */
    pipeline_state state;

    /* Wishes, which the functions of these names take (pipeline.h). */
    bool far_ahead, defers, leaves_slow, others_rest;
    uint64_t kept;  /* the configuration that is tried in any case, however slow */
    bool abandoned; /* nothing more goes to the device */

    /* No candidate before the place first_waiting waits for a device; those after it that are
     * WAITING have compiled_bytes of machine code. */
    size_t first_waiting, compiled_bytes;
    size_t tries; /* that devices answered */

    candidate **finished; /* owned; in the order in which they finished */
    size_t finished_count;
    size_t taken;         /* of these, the first ones: they were handed out */
    uint64_t prepared_at; /* finished when pipeline_prepare_race() had nothing left to do */

    candidate *checking; /* on its ragged problems, apart from its first samples; NULL: none */
    size_t check_gpu;    /* that is at it, once it is CHECKING */
};

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
    free(p->finished);
    free(p->indices);
    free(p);
}

static void move(pipeline *p, candidate *c, candidate_stage to)
{
    candidates_move(&p->table, c, to);
}

static size_t compiling(const pipeline *p)
{
    return p->table.at[CANDIDATE_COMPILING] + p->table.at[CANDIDATE_RECOMPILING];
}

void pipeline_abandon_queue(pipeline *p)
{
    p->compiled_bytes = 0;
    p->abandoned = true;
    for (size_t i = 0; i < p->table.count; i++) {
        candidate *c = p->table.items[i];
        if (c->stage == CANDIDATE_COMPILING || c->stage == CANDIDATE_WAITING)
            move(p, c, CANDIDATE_ABANDONED);
    }
}

size_t pipeline_in_flight(const pipeline *p)
{
    const size_t *at = p->table.at;
    return compiling(p) + at[CANDIDATE_WAITING] + at[CANDIDATE_TRYING] + at[CANDIDATE_CHECK_DUE] +
           at[CANDIDATE_CHECKING];
}

void pipeline_look_far_ahead(pipeline *p)
{
    p->far_ahead = true;
}

void pipeline_defer_ragged(pipeline *p)
{
    p->defers = true;
}

void pipeline_leave_slow(pipeline *p, uint64_t but)
{
    p->leaves_slow = true;
    p->kept = but;
}

/* Does it stand for the one that is tried in any case? */
static bool is_kept(const pipeline *p, const candidate *c)
{
    while (c && c->configuration != p->kept)
        c = c->next_twin;
    return c != NULL;
}

/* The time of a launch that is too slow on its GPU; 0: none is. */
static int64_t too_slow_ns(const pipeline *p, const candidate *c)
{
    double ns = TOO_SLOW * (double)p->gpus.items[c->gpu].best_ns;
    if (!p->leaves_slow || ns <= 0 || is_kept(p, c))
        return 0;
    return ns > (double)TOO_SLOW_LEAST_NS ? (int64_t)ns : TOO_SLOW_LEAST_NS;
}

candidate *pipeline_left_too_early(const pipeline *p)
{
    candidate *found = NULL;
    for (size_t i = 0; i < p->table.count; i++) {
        candidate *c = p->table.items[i];
        if (!candidate_is_finished(c) || c->twin_of || c->found.outcome != OUTCOME_TOO_SLOW)
            continue;
        int64_t slow_ns = too_slow_ns(p, c);
        if ((slow_ns == 0 || c->fastest_ns <= slow_ns) &&
            (!found || c->fastest_ns < found->fastest_ns))
            found = c;
    }
    return found;
}

/* A search that learns from what it is told knows less the further it runs ahead, and takes longer:
 * it has as much under way as keeps everybody busy. */
size_t pipeline_room(const pipeline *p)
{
    size_t width = p->far_ahead
                       ? compile_group_width(p->session->workers->pool)
                       : compile_width(p->session->workers->pool) + DEVICE_QUEUE * p->gpus.count;
    size_t under_way = p->far_ahead ? compiling(p) : pipeline_in_flight(p);
    if (p->compiled_bytes >= COMPILED_AHEAD_BYTES || under_way >= width)
        return 0;
    return width - under_way;
}

/* The one that stands for it is finished. */
static void finish_twin(pipeline *p, candidate *c)
{
    bool known = c->from_journal;
    twins_follow(c);
    variant_log_put_on(&p->log, c, c->twin_of->gpu);
    move(p, c, CANDIDATE_FINISHED);
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
            move(p, c, CANDIDATE_FOLLOWING);
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

static void finish(pipeline *p, candidate *c)
{
    note_time(p, c);
    move(p, c, c->parts > 0 ? CANDIDATE_RECOMPILING : CANDIDATE_FINISHED);
    p->state.finished++;
    memory_add(&p->finished, &p->finished_count, &c, sizeof c);
    note_hang(p, c);
    for (candidate *twin = c->next_twin; twin; twin = twin->next_twin)
        finish_twin(p, twin);
}

/* Another variant with the same code stands for it (`first`); or, NULL, it has its outcome. */
static void finish_or_join(pipeline *p, candidate *c, candidate *first)
{
    if (first)
        become_twin(p, c, first);
    else
        finish(p, c);
}

/* Does it need no compiling, for its twin was met or the journal knows it? What an interrupted run
 * measured of a variant's twin stands for it as well. */
static bool recognise(pipeline *p, candidate *c)
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

/* Its machine code stays until it is taken from there. */
static void queue_for_device(pipeline *p, candidate *c)
{
    if (p->abandoned) {
        move(p, c, CANDIDATE_ABANDONED);
        return;
    }
    p->compiled_bytes += candidate_code_bytes(c);
    move(p, c, CANDIDATE_WAITING);
    if (c->id < p->first_waiting)
        p->first_waiting = c->id;
}

/* The candidate that was asked for first among those that wait for a device, whatever compiled
 * first. NULL: none waits. */
static candidate *first_waiting(pipeline *p)
{
    if (p->table.at[CANDIDATE_WAITING] == 0)
        return NULL;
    while (p->table.items[p->first_waiting]->stage != CANDIDATE_WAITING)
        p->first_waiting++;
    return p->table.items[p->first_waiting];
}

/* All is there that was to be compiled. */
static void compiled(pipeline *p, candidate *c)
{
    if (candidate_is_finished(c)) {
        candidate_stage to = c == p->checking ? CANDIDATE_CHECK_DUE : CANDIDATE_FINISHED;
        if (c->stage != to)
            move(p, c, to);
        return;
    }
    identity_by_code(c);
    candidate *first = twins_meet_code(&p->twins, &p->table, c);
    if (!first && p->session->workers->device)
        queue_for_device(p, c);
    else
        finish_or_join(p, c, first);
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
    if (!status && (!resumable || !recognise(p, c))) {
        status = sources_submit(&all, s, c, error);
        if (!status && c->parts > 0)
            move(p, c, resumable ? CANDIDATE_COMPILING : CANDIDATE_RECOMPILING);
        else if (!status)
            compiled(p, c);
    }
    sources_deinit(&all);
    return status;
}

/* Is it likely to hang as others did? Then it is finished, and has not been tried. */
static bool leave_out(pipeline *p, candidate *c)
{
    char why[HANGS_WHY_BYTES];
    if (p->hangs.count == 0)
        return false;
    space_at(p->session->space, c->configuration, p->indices);
    const hang_cause *cause = hangs_find(&p->hangs, p->indices);
    if (!cause)
        return false;
    hangs_explain(cause, why);
    candidate_drop_images(c);
    candidate_found(c, OUTCOME_REJECTED, why, NULL, 0);
    p->state.left_out++;
    p->state.hang = *cause;
    finish(p, c);
    return true;
}

at_status pipeline_add(pipeline *p, uint64_t configuration, at_error *error)
{
    candidate *c = candidates_add(&p->table, configuration);
    return leave_out(p, c) ? AT_OK : emit_and_submit(p, c, true, error);
}

at_status pipeline_recompile(pipeline *p, candidate *c, at_error *error)
{
    if (candidate_waits(c) || c->ragged == RAGGED_PREPARED || c->found.outcome == OUTCOME_TOO_SLOW)
        c->ragged = RAGGED_WANTED;
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
           compiling(p) < compile_width(p->session->workers->pool)) {
        candidate *c = fastest_waiting(p, most);
        if (!c) {
            p->prepared_at = p->state.finished;
            break;
        }
        c->ragged = RAGGED_PREPARED;
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
        finish(p, c);
        variant_log_keep(&p->log, c);
        return;
    }
    if (r->outcome != COMPILE_OK &&
        (c->ragged == RAGGED_PREPARED || c->ragged == RAGGED_UNPREPARED))
        c->ragged = RAGGED_UNPREPARED;
    else if (r->outcome != COMPILE_OK)
        candidate_reject(c, compile_failure(r->outcome), r->log);
    if (c->parts == 0)
        compiled(p, c);
}

/* A wrong variant no longer tells how fast the others are. */
static void keep_check(pipeline *p, candidate *c, const char *check)
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
            note_time(p, other);
    }
}

void pipeline_keep_conviction(pipeline *p, candidate *c)
{
    keep_check(p, c, "proof");
}

static void end_check(pipeline *p)
{
    move(p, p->checking, CANDIDATE_FINISHED);
    keep_check(p, p->checking, "ragged");
    p->checking = NULL;
}

/* A check of the ragged problems alone. */
static at_status begin_check(pipeline *p, gpu *on, at_error *error)
{
    device_variant v;
    const outcome so_far = p->checking->found.outcome;
    if (so_far != OUTCOME_OK && so_far != OUTCOME_TOO_SLOW) { /* it did not compile */
        end_check(p);
        return AT_OK;
    }
    /* One that was too slow has not been checked at all. */
    bool whole = p->checking->found.outcome == OUTCOME_TOO_SLOW;
    candidate_variant(p->checking, &v);
    v.unchecked = false;
    v.present[0] = whole;
    for (size_t i = 1; i < DEVICE_SLOTS; i++)
        if (v.images[i].size_bytes == 0)
            v.images[i] = v.images[0];
    move(p, p->checking, CANDIDATE_CHECKING);
    p->check_gpu = (size_t)(on - p->gpus.items);
    on->trying++;
    if (whole)
        variant_log_put_on(&p->log, p->checking, p->check_gpu);
    return device_worker_try(on->worker, p->checking->id, &v, whole ? p->log.samples : 0, error);
}

static size_t device_queue(const pipeline *p)
{
    int64_t spent_ns = p->state.check_ns + p->state.measure_ns;
    /* Before the first has ended, they may all hang. */
    return p->tries == 0 || spent_ns / (int64_t)p->tries >= SLOW_TRY_NS ? 1 : DEVICE_QUEUE;
}

static at_status feed_devices(pipeline *p, at_error *error)
{
    size_t most = device_queue(p);
    gpu *idle = p->table.at[CANDIDATE_CHECK_DUE] ? gpus_idlest(&p->gpus, most) : NULL;
    at_status begun = idle ? begin_check(p, idle, error) : AT_OK;
    if (begun)
        return begun;
    candidate *c;
    for (gpu *to; (c = first_waiting(p)) && (to = gpus_idlest(&p->gpus, most));) {
        device_variant variant;
        p->compiled_bytes -= candidate_code_bytes(c);
        if (leave_out(p, c))
            continue;
        candidate_variant(c, &variant);
        variant_log_put_on(&p->log, c, (size_t)(to - p->gpus.items));
        variant.too_slow_ns = too_slow_ns(p, c);
        at_status status = device_worker_try(to->worker, c->id, &variant, p->log.samples, error);
        if (status)
            return status;
        move(p, c, CANDIDATE_TRYING);
        to->trying++;
    }
    return AT_OK;
}

static at_status take_tried(pipeline *p, gpu *from, const device_event *e, at_error *error)
{
    candidate *c = e->id < p->table.count ? p->table.items[e->id] : NULL;
    bool checked = c && c->stage == CANDIDATE_CHECKING;
    if (!c || (c->stage != CANDIDATE_TRYING && !checked) || !from->trying)
        return error_set(error, AT_INTERNAL,
                         "the device worker tried a variant that was not asked for");
    from->trying--;
    p->state.check_ns += e->check_ns;
    if (checked && c->found.outcome == OUTCOME_TOO_SLOW) {
        candidate_found(c, e->outcome, e->message, e->samples_ns, e->sample_count);
        note_time(p, c);
        variant_log_keep(&p->log, c);
    } else if (checked && e->outcome != OUTCOME_OK) {
        candidate_reject(c, e->outcome, e->message);
    }
    if (checked) {
        end_check(p);
        c->ragged = RAGGED_PASSED;
        return AT_OK;
    }
    p->tries++;
    p->state.measure_ns += e->measure_ns;
    c->found.check_ns = e->check_ns;
    candidate_found(c, e->outcome, e->message, e->samples_ns, e->sample_count);
    finish(p, c);
    variant_log_keep(&p->log, c);
    if (c->found.outcome != OUTCOME_OK)
        candidate_drop_images(c);
    return AT_OK;
}

static void show_home(pipeline *p)
{
    const gpu *home = &p->gpus.items[p->gpus.home];
    p->state.device_ready = home->ready;
    p->state.ready = home->facts;
    p->state.ceiling_ns = home->ceiling_ns;
}

/* The race needs a home: where none of the others has said what it is, they are waited for. */
static at_status await_others(pipeline *p, at_error *error)
{
    workers *w = p->session->workers;
    at_status status = workers_await(w, error);
    for (size_t i = 0; !status && p->log.journal && i < w->other_count; i++)
        for (size_t at = 0; at < p->gpus.count; at++)
            if (p->gpus.items[at].worker == w->others[i])
                journal_name_gpu(p->log.journal, at, w->other_properties[i].uuid);
    return status;
}

/* A GPU is gone for good: what it had in hand goes to the others. */
static at_status lose(pipeline *p, size_t lost, const device_event *e, at_error *error)
{
    if (e->status == AT_SCRIPT) /* what the reference did wrong */
        return error_set(error, AT_SCRIPT, "%s: %s", p->session->reference_place, e->message);
    p->others_rest = false;
    for (size_t i = 0; i < p->session->workers->other_count; i++)
        if (p->session->workers->others[i] == p->gpus.items[lost].worker &&
            !*p->session->workers->other_properties[i].spec) /* it never was */
            return error_set(error, e->status ? e->status : AT_DEVICE, "%s", e->message);
    bool moved = gpus_lose(&p->gpus, lost, p->session->workers);
    if (!moved && p->gpus.count > 1 && !await_others(p, NULL))
        moved = gpus_lose(&p->gpus, lost, p->session->workers);
    if (!moved)
        return error_set(error, e->status ? e->status : AT_DEVICE, "%s", e->message);
    p->state.lost++;
    if (p->table.at[CANDIDATE_CHECKING] && p->check_gpu == lost)
        move(p, p->checking, CANDIDATE_CHECK_DUE);
    snprintf(p->state.lost_why, sizeof p->state.lost_why, "%s", e->message);
    show_home(p);
    for (size_t i = 0; i < p->table.count; i++) {
        candidate *c = p->table.items[i];
        if (c->stage == CANDIDATE_TRYING && c->gpu == lost)
            queue_for_device(p, c);
    }
    return AT_OK;
}

static at_status take_event(pipeline *p, size_t from, const device_event *e, at_error *error)
{
    gpu *one = &p->gpus.items[from];
    one->restarts = e->restarts;
    p->state.restarts = gpus_restarts(&p->gpus);
    switch (e->kind) {
    case DEVICE_OPENED:
        if (p->log.journal)
            journal_name_gpu(p->log.journal, from, e->properties.uuid);
        return workers_meet(p->session->workers, one->worker, &e->properties, error);
    case DEVICE_READY:
        one->ready = true;
        one->facts = e->ready;
        one->ceiling_ns = e->ceiling_ns;
        show_home(p);
        if (from == p->gpus.home)
            p->state.setup_ns = clock_now_ns() - p->start_ns;
        return AT_OK;
    case DEVICE_TRIED: /* the answers to other questions are claimed */
        return take_tried(p, one, e, error);
    case DEVICE_FAILED:
        return lose(p, from, e, error);
    default:
        return error_set(error, AT_INTERNAL,
                         "the device worker answered a question that was not asked (%d)",
                         (int)e->kind);
    }
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

/* Takes every event of a device that is there. AT_NOT_FOUND: no more. */
static at_status drain_device(pipeline *p, size_t from, bool *moved, at_error *error)
{
    at_status status = AT_OK;
    while (!status && !p->gpus.items[from].lost) {
        device_event e;
        status = feed_devices(p, error);
        if (!status)
            status = device_worker_take(p->gpus.items[from].worker, 0, &e, error);
        if (status)
            break;
        *moved = true;
        status = take_event(p, from, &e, error);
        device_event_deinit(&e);
    }
    return status;
}

static bool is_heard(const pipeline *p, size_t at)
{
    bool rests = p->others_rest && at != p->gpus.home;
    return p->session->workers->device && !p->gpus.items[at].lost && !rests;
}

static at_status drain(pipeline *p, bool *moved, at_error *error)
{
    *moved = false;
    at_status status = drain_compiled(p, moved, error);
    if (!status && p->gpus.count > 1 && !p->others_rest)
        workers_open_next(p->session->workers);
    for (size_t i = 0; !status && i < p->gpus.count; i++)
        if (is_heard(p, i))
            status = error_forgive(drain_device(p, i, moved, error), AT_NOT_FOUND, error);
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

void pipeline_rest_others(pipeline *p)
{
    if (p->others_rest)
        return;
    p->others_rest = true;
    for (size_t i = 0; i < p->gpus.count; i++)
        if (i != p->gpus.home && !p->gpus.items[i].lost)
            device_worker_kill(p->gpus.items[i].worker);
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
