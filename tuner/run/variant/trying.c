#include "run/variant/course.h"

#include <stdio.h>

#include "base/clock.h"

/* If the mean try takes longer, in ns, requests are sent one at a time. The device then idles for a
 * thousandth of its time, and other work waits for at most one try. */
static const int64_t SLOW_TRY_NS = 50 * 1000 * 1000;

static size_t device_queue(const pipeline *p)
{
    int64_t spent_ns = p->state.check_ns + p->state.measure_ns;
    /* Until the first answer, all variants may hang, so they are tried one at a time. */
    return p->tries == 0 || spent_ns / (int64_t)p->tries >= SLOW_TRY_NS ? 1 : TRYING_QUEUE;
}

static at_status begin_check(pipeline *p, run_gpu *on, at_error *error)
{
    device_variant v;
    if (p->checking->found.outcome != OUTCOME_OK) { /* the candidate did not compile */
        course_end_check(p);
        return AT_OK;
    }
    candidate_variant(p->checking, &v);
    v.unchecked = false;
    v.present[0] = false;
    for (size_t i = 1; i < DEVICE_SLOTS; i++)
        if (v.images[i].size_bytes == 0)
            v.images[i] = v.images[0];
    course_move(p, p->checking, CANDIDATE_CHECKING);
    p->check_gpu = (size_t)(on - p->gpus.items);
    on->trying++;
    return device_worker_try(on->worker, p->checking->id, &v, 0, error);
}

static at_status feed_devices(pipeline *p, at_error *error)
{
    size_t most = device_queue(p);
    run_gpu *idle = p->table.at[CANDIDATE_CHECK_DUE] ? gpus_idlest(&p->gpus, most) : NULL;
    at_status begun = idle ? begin_check(p, idle, error) : AT_OK;
    if (begun)
        return begun;
    candidate *c;
    for (run_gpu *to; p->table.at[CANDIDATE_WAITING] > 0 && (to = gpus_idlest(&p->gpus, most)) &&
                      (c = course_next_waiting(p));) {
        device_variant variant;
        candidate_variant(c, &variant);
        variant_log_put_on(&p->log, c, (size_t)(to - p->gpus.items));
        variant.too_slow_ns = course_too_slow_ns(p, c);
        at_status status = device_worker_try(to->worker, c->id, &variant, p->log.samples, error);
        if (status)
            return status;
        course_move(p, c, CANDIDATE_TRYING);
        to->trying++;
    }
    return AT_OK;
}

static at_status take_tried(pipeline *p, run_gpu *from, const device_event *e, at_error *error)
{
    candidate *c = e->id < p->table.count ? p->table.items[e->id] : NULL;
    bool checked = c && c->stage == CANDIDATE_CHECKING;
    if (!c || (c->stage != CANDIDATE_TRYING && !checked) || !from->trying)
        return error_set(error, AT_INTERNAL,
                         "the device worker answered for a variant that was not requested");
    from->trying--;
    p->state.check_ns += e->check_ns;
    if (checked && e->outcome != OUTCOME_OK)
        candidate_reject(c, e->outcome, e->message);
    if (checked) {
        course_end_check(p);
        c->ragged = RAGGED_PASSED;
        return AT_OK;
    }
    p->tries++;
    p->state.measure_ns += e->measure_ns;
    c->found.check_ns = e->check_ns;
    c->found.low_ns = e->low_ns;
    c->found.high_ns = e->high_ns;
    candidate_found(c, e->outcome, e->message, e->samples_ns, e->sample_count);
    course_finish(p, c);
    variant_log_keep(&p->log, c);
    return AT_OK;
}

static void show_home(pipeline *p)
{
    const run_gpu *home = &p->gpus.items[p->gpus.home];
    p->state.home = p->gpus.home;
    p->state.device_ready = home->ready;
    p->state.ready = home->facts;
    p->state.ceiling_ns = home->ceiling_ns;
}

/* Waits until the other GPUs have described themselves, because the race needs a home GPU. */
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

static at_status lose(pipeline *p, size_t lost, const device_event *e, at_error *error)
{
    if (e->status == AT_SCRIPT) /* The reference has an error. */
        return error_set(error, AT_SCRIPT, "%s: %s", p->session->reference_place, e->message);
    for (size_t i = 0; i < p->session->workers->other_count; i++)
        if (p->session->workers->others[i] == p->gpus.items[lost].worker &&
            !*p->session->workers->other_properties[i].spec) /* the GPU never opened */
            return error_set(error, e->status ? e->status : AT_DEVICE, "%s", e->message);
    bool moved = gpus_lose(&p->gpus, lost, p->session->workers);
    if (!moved && p->gpus.count > 1 && !await_others(p, NULL))
        moved = gpus_lose(&p->gpus, lost, p->session->workers);
    if (!moved)
        return error_set(error, e->status ? e->status : AT_DEVICE, "%s", e->message);
    p->state.lost++;
    if (p->table.at[CANDIDATE_CHECKING] && p->check_gpu == lost)
        course_move(p, p->checking, CANDIDATE_CHECK_DUE);
    snprintf(p->state.lost_why, sizeof p->state.lost_why, "%s", e->message);
    show_home(p);
    for (size_t i = 0; i < p->table.count; i++) {
        candidate *c = p->table.items[i];
        if (c->stage == CANDIDATE_TRYING && c->gpu == lost)
            course_queue(p, c);
    }
    return AT_OK;
}

static at_status take_event(pipeline *p, size_t from, const device_event *e, at_error *error)
{
    run_gpu *one = &p->gpus.items[from];
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
    case DEVICE_TRIED: /* answers to all other requests are claimed */
        return take_tried(p, one, e, error);
    case DEVICE_FAILED:
        return lose(p, from, e, error);
    default:
        return error_set(error, AT_INTERNAL,
                         "the device worker sent an answer without a request (%d)", (int)e->kind);
    }
}

at_status trying_drain(pipeline *p, size_t from, bool *moved, at_error *error)
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
