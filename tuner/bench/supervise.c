#include "bench/supervise.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "bench/child.h"
#include "bench/wire.h"

enum {
    MAX_DEATHS = 3,       /* on one request without a word, before it is to blame */
    MAX_FAILED_STARTS = 2, /* in a row, where the worker says why */
    MAX_SILENT_STARTS = 8 /* in a row, where it does not: it may be killed from outside */
};

/* A driver that has to wake up many GPUs takes tens of seconds. */
static const int64_t start_limit_ns = INT64_C(120) * 1000000000;
/* From a request's arrival to its first note. */
static const int64_t request_limit_ns = INT64_C(30) * 1000000000;

/* Events. */

void device_event_deinit(device_event *e)
{
    free(e->message);
    free(e->ids);
    free(e->samples_ns);
    *e = (device_event){0};
}

/* Takes over what `e` owns. */
static at_status push_event(device_worker *w, device_event *e, at_error *error)
{
    event_link *link = malloc(sizeof *link);
    if (!link || !e->message) {
        free(link);
        device_event_deinit(e);
        return error_set(error, AT_NO_MEMORY, "no memory for an event of the device worker");
    }
    e->restarts = w->restarts;
    *link = (event_link){.event = *e};
    *w->events_end = link;
    w->events_end = &link->next;
    return AT_OK;
}

bool device_watch_pop(device_worker *w, device_event *out)
{
    event_link *link = w->events;
    if (!link)
        return false;
    *out = link->event;
    w->events = link->next;
    if (!w->events)
        w->events_end = &w->events;
    free(link);
    return true;
}

/* Held variants. */

static void forget_held(device_worker *w, uint64_t id)
{
    for (request **at = &w->held; *at; at = &(*at)->next)
        if ((*at)->id == id) {
            request *r = *at;
            *at = r->next;
            request_free(r);
            return;
        }
}

static void remember_held(device_worker *w, request *r)
{
    request **at = &w->held;
    while (*at)
        at = &(*at)->next;
    r->next = NULL;
    *at = r;
}

/* Starting and replacing the process. */

static void set_deadline(device_worker *w, int64_t limit_ns, const char *doing, uint64_t index)
{
    snprintf(w->doing, sizeof w->doing, "%s", doing);
    w->doing_index = index;
    w->doing_limit_ns = limit_ns;
    w->deadline_ns = clock_now_ns() + limit_ns;
}

static at_status start_process(device_worker *w, at_error *error)
{
    w->up = false;
    set_deadline(w, start_limit_ns, "opening the device", 0);
    return worker_start("autotune-device", device_child_run, &w->options, &w->process, error);
}

static at_status fail_for_good(device_worker *w, at_status why, const char *story,
                               at_error *error)
{
    w->failed = true;
    w->deadline_ns = 0;
    worker_stop(&w->process, NULL, 0);
    request_queue_deinit(&w->queue);
    device_event e = {.kind = DEVICE_FAILED, .status = why, .message = strdup(story)};
    return push_event(w, &e, error);
}

/* The set-up and the held variants go before everything that is queued. */
static at_status queue_replays(device_worker *w, at_error *error)
{
    request_queue replays = {0};
    request *copy;
    at_status status = AT_OK;
    if (w->setup) {
        status = request_replay(w->setup, &copy, error);
        if (!status)
            request_queue_append(&replays, copy);
    }
    for (const request *r = w->held; !status && r; r = r->next) {
        status = request_replay(r, &copy, error);
        if (!status)
            request_queue_append(&replays, copy);
    }
    if (status) {
        request_queue_deinit(&replays);
        return status;
    }
    request *reversed = NULL;
    while ((copy = request_queue_pop(&replays))) {
        copy->next = reversed;
        reversed = copy;
    }
    while (reversed) {
        request *next = reversed->next;
        request_queue_prepend(&w->queue, reversed);
        reversed = next;
    }
    return AT_OK;
}

static at_status restart(device_worker *w, at_error *error)
{
    request_queue_rewind(&w->queue);
    w->restarts++;
    at_status status = queue_replays(w, error);
    if (!status)
        status = start_process(w, error);
    if (!status)
        return AT_OK;
    char story[512];
    snprintf(story, sizeof story, "the device worker cannot be replaced: %s",
             error ? error->message : "out of memory");
    return fail_for_good(w, status, story, error);
}

/* Answers. */

static device_event_kind event_kind(uint32_t type)
{
    static const device_event_kind kinds[] = {
        [REQUEST_SETUP] = DEVICE_READY, [REQUEST_TRY] = DEVICE_TRIED,
        [REQUEST_HOLD] = DEVICE_HELD,   [REQUEST_BLOCK] = DEVICE_BLOCK,
        [REQUEST_RECHECK] = DEVICE_RECHECKED,
        [REQUEST_ENERGY] = DEVICE_ENERGY,
    };
    return kinds[type];
}

/* The ids of a block, from its request. NULL without memory. */
static uint64_t *block_ids(request *r, size_t *count)
{
    message *m = &r->message;
    m->body.position = 0;
    pack_get_u64(&m->body);
    pack_get_u32(&m->body);
    *count = (size_t)pack_get_u64(&m->body);
    uint64_t *ids = malloc((*count + 1) * sizeof *ids);
    for (size_t i = 0; ids && i < *count; i++)
        ids[i] = pack_get_u64(&m->body);
    return ids;
}

/* Makes the event of an answered request; takes over answer->samples_ns. */
static at_status push_answer(device_worker *w, request *r, device_answer *answer, at_error *error)
{
    device_event e = {.kind = event_kind(r->message.type),
                      .id = r->message.type == REQUEST_BLOCK ? answer->id : r->id,
                      .outcome = answer->outcome,
                      .status = answer->status,
                      .message = strdup(answer->message),
                      .samples_ns = answer->samples_ns,
                      .sample_count = answer->sample_count,
                      .ceiling_ns = answer->ceiling_ns,
                      .sm_clock_khz = answer->sm_clock_khz,
                      .check_ns = answer->check_ns,
                      .measure_ns = answer->measure_ns,
                      .energy = answer->energy,
                      .throttle = answer->throttle,
                      .others = answer->others,
                      .ready = answer->ready};
    answer->samples_ns = NULL;
    size_t ids = 0;
    if (e.kind == DEVICE_BLOCK) {
        e.ids = block_ids(r, &ids);
        if (!e.ids || (answer->outcome == OUTCOME_OK && ids != e.sample_count)) {
            device_event_deinit(&e);
            return error_set(error, AT_NO_MEMORY, "no memory for a block of samples");
        }
    }
    return push_event(w, &e, error);
}

static bool took_context_down(const device_answer *answer)
{
    return answer->outcome == OUTCOME_CRASHED || answer->outcome == OUTCOME_TIMEOUT;
}

/* What an answer changes in what must be replayed; keeps or frees `r`. */
static void settle(device_worker *w, request *r, const device_answer *answer)
{
    bool ok = answer->outcome == OUTCOME_OK;
    switch (r->message.type) {
    case REQUEST_SETUP:
        if (ok && !r->silent) {
            w->setup = r;
            return;
        }
        break;
    case REQUEST_HOLD:
        if (ok && !r->silent) {
            remember_held(w, r);
            return;
        }
        if (!ok && r->silent)
            forget_held(w, r->id);
        break;
    case REQUEST_RELEASE:
        forget_held(w, r->id);
        break;
    default:
        if (took_context_down(answer))
            forget_held(w, answer->id);
    }
    request_free(r);
}

/* The oldest request is answered. */
static at_status finish_request(device_worker *w, device_answer *answer, at_error *error)
{
    request *r = request_queue_pop(&w->queue);
    at_status status = AT_OK;
    if (!r->silent && r->message.type != REQUEST_RELEASE)
        status = push_answer(w, r, answer, error);
    settle(w, r, answer);
    return status;
}

/* A request that no worker will answer: the tuner does, for the variant that is to blame. */
static at_status finish_for_worker(device_worker *w, outcome result, const char *story,
                                   at_error *error)
{
    request *r = w->queue.first;
    device_answer answer = {
        .id = r->id, .outcome = result, .status = AT_WORKER, .message = story};
    if (r->message.type == REQUEST_BLOCK) {
        size_t count;
        uint64_t *ids = block_ids(r, &count);
        if (ids && count > 0)
            answer.id = ids[w->doing_index < count ? w->doing_index : 0];
        free(ids);
    }
    return finish_request(w, &answer, error);
}

/* A worker's socket closes a moment before it can be reaped; its end is worth the wait. */
static void await_end(const device_worker *w)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    siginfo_t info = {0};
    for (int i = 0; i < 100 && w->process.pid > 0; i++) {
        if (waitid(P_PID, (id_t)w->process.pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid != 0)
            return;
        nanosleep(&pause, NULL);
    }
}

/* The process ended, or is ended, while starting. */
static at_status bury_starting(device_worker *w, bool timed_out, const char *how, at_error *error)
{
    char story[320];
    snprintf(story, sizeof story, "the device worker %s while %s", timed_out ? "hung" : how,
             w->doing);
    w->silent_starts += timed_out ? MAX_SILENT_STARTS / MAX_FAILED_STARTS : 1;
    return w->silent_starts >= MAX_SILENT_STARTS ? fail_for_good(w, AT_WORKER, story, error)
                                                 : restart(w, error);
}

/* How many workers died on the oldest request, this one included. A replay is made anew each time,
 * so that the held variant behind it keeps the count. */
static int count_death(device_worker *w)
{
    request *r = w->queue.first;
    for (request *h = w->held; r->silent && h; h = h->next)
        if (h->id == r->id)
            return ++h->deaths;
    return ++r->deaths;
}

/* The process ended, or is ended now because it `timed_out`. What it was at is answered, if it is
 * to blame, and another process takes over. */
static at_status bury(device_worker *w, bool timed_out, at_error *error)
{
    char how[128], story[320];
    if (!timed_out)
        await_end(w);
    worker_stop(&w->process, how, sizeof how);
    bool started = request_queue_started(&w->queue);
    if (!w->up && (!started || w->queue.first->message.type == REQUEST_SETUP))
        return bury_starting(w, timed_out, how, error);
    at_status status = AT_OK;
    if (started && timed_out) {
        snprintf(story, sizeof story, "%s had not ended after %.1f s", w->doing,
                 (double)w->doing_limit_ns / 1e9);
        status = finish_for_worker(w, OUTCOME_TIMEOUT, story, error);
    } else if (started && count_death(w) >= MAX_DEATHS) {
        snprintf(story, sizeof story, "%d device workers in a row died %s; the last %s",
                 MAX_DEATHS, w->doing, how);
        status = finish_for_worker(w, OUTCOME_CRASHED, story, error);
    }
    at_status restarted = restart(w, error);
    return status ? status : restarted;
}

/* Replies. */

/* The process is done with what it was at; the next request may be on its way to it. */
static void expect_request(device_worker *w)
{
    if (request_queue_started(&w->queue))
        set_deadline(w, request_limit_ns, "reading a request", 0);
    else
        w->deadline_ns = 0;
}

static at_status on_opened(device_worker *w, message *m, at_error *error)
{
    device_event e = {.kind = DEVICE_OPENED};
    device_get_properties(&m->body, &e.properties);
    if (!pack_complete(&m->body))
        return error_set(error, AT_WORKER, "the device worker's description makes no sense");
    set_deadline(w, start_limit_ns, "making the device ready", 0);
    if (w->opened)
        return AT_OK;
    w->opened = true;
    e.message = strdup("");
    return push_event(w, &e, error);
}

static at_status on_note(device_worker *w, message *m, at_error *error)
{
    device_note note;
    device_get_note(&m->body, &note);
    if (!pack_complete(&m->body))
        return error_set(error, AT_WORKER, "the device worker's note makes no sense");
    if (note.limit_ns > 0)
        set_deadline(w, note.limit_ns, note.what, note.index);
    else
        expect_request(w);
    return AT_OK;
}

static at_status on_failed(device_worker *w, message *m, at_error *error)
{
    uint32_t why = pack_get_u32(&m->body);
    const char *story = pack_get_string(&m->body);
    if (!pack_complete(&m->body) || why > AT_INTERNAL)
        return error_set(error, AT_WORKER, "the device worker's last words make no sense");
    /* What is missing stays missing; anything else may have been a passing trouble. */
    bool lasting = why == AT_NO_DEVICE || why == AT_USAGE;
    if (lasting || ++w->failed_starts >= MAX_FAILED_STARTS)
        return fail_for_good(w, (at_status)why, story, error);
    worker_stop(&w->process, NULL, 0);
    return restart(w, error);
}

static at_status on_setup_answer(device_worker *w, device_answer *answer, at_error *error)
{
    if (answer->outcome == OUTCOME_OK) {
        w->up = true;
        w->failed_starts = w->silent_starts = 0;
        return finish_request(w, answer, error);
    }
    bool lasting = answer->status == AT_COMPILE || answer->status == AT_FORMAT;
    if (lasting || ++w->failed_starts >= MAX_FAILED_STARTS)
        return fail_for_good(w, answer->status, answer->message, error);
    worker_stop(&w->process, NULL, 0);
    return restart(w, error);
}

static at_status on_answer(device_worker *w, message *m, at_error *error)
{
    device_answer answer;
    at_status status = device_get_answer(&m->body, &answer, error);
    if (status)
        return status;
    if (!request_queue_started(&w->queue)) {
        free(answer.samples_ns);
        return error_set(error, AT_WORKER, "the device worker answered what nobody asked");
    }
    if (w->queue.first->message.type == REQUEST_SETUP) {
        status = on_setup_answer(w, &answer, error);
    } else {
        status = finish_request(w, &answer, error);
        if (!answer.usable) {
            worker_stop(&w->process, NULL, 0);
            at_status restarted = restart(w, error);
            status = status ? status : restarted;
        }
    }
    free(answer.samples_ns);
    if (!w->failed && answer.usable)
        expect_request(w);
    return status;
}

/* One message from the worker. A worker that speaks nonsense is as good as dead. */
at_status device_watch_read(device_worker *w, at_error *error)
{
    typedef at_status (*reply_handler)(device_worker *, message *, at_error *);
    static const reply_handler handlers[] = {
        [REPLY_OPENED] = on_opened,
        [REPLY_NOTE] = on_note,
        [REPLY_ANSWER] = on_answer,
        [REPLY_FAILED] = on_failed,
    };
    message m;
    at_status status = message_receive(w->process.fd, 1000, &m, error);
    if (!status && m.type < sizeof handlers / sizeof *handlers && handlers[m.type])
        status = handlers[m.type](w, &m, error);
    else if (!status)
        status = error_set(error, AT_WORKER, "the device worker sent an unknown message");
    message_deinit(&m);
    return status == AT_WORKER || status == AT_NOT_FOUND ? bury(w, false, error) : status;
}

at_status device_watch_send(device_worker *w, at_error *error)
{
    bool started = request_queue_started(&w->queue);
    at_status status = request_queue_send(&w->queue, w->process.fd, error);
    if (status)
        return bury(w, false, error);
    if (!started && w->deadline_ns == 0)
        expect_request(w);
    return AT_OK;
}

at_status device_watch_start(device_worker *w, at_error *error)
{
    w->events_end = &w->events;
    return start_process(w, error);
}

at_status device_watch_expire(device_worker *w, at_error *error)
{
    return bury(w, true, error);
}
