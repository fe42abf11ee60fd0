#include "bench/supervise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/wire.h"

enum {
    MAX_IDLE_DEATHS = 8,   /* deaths in a row while idle */
    COLLECT_MS = 1000,     /* time in ms for a worker to end after its socket closed */
    MAX_FAILED_STARTS = 2, /* failed starts in a row, with a reason from the worker */
    MAX_SILENT_STARTS = 8  /* failed starts in a row without a reason: perhaps killed */
};

/* A driver that wakes up many GPUs needs tens of seconds. */
static const int64_t start_limit_ns = INT64_C(120) * 1000000000;
/* Time from the arrival of a request to its first note. */
static const int64_t request_limit_ns = INT64_C(30) * 1000000000;

/* Queues an event, which takes over what `e` owns. `r` is the request that it answers, or NULL. */
static void push_event(device_worker *w, const request *r, device_event *e)
{
    e->restarts = w->restarts;
    device_events_push(&w->events, r, e);
}

void device_watch_forget_setup(device_worker *w)
{
    request_free(w->setup);
    w->setup = NULL;
    w->up = false;
    requests_free(&w->held);
}

static request *find_held(const device_worker *w, uint64_t id)
{
    request *r = w->held.first;
    while (r && r->id != id)
        r = queue_next(r);
    return r;
}

static void forget_held(device_worker *w, uint64_t id)
{
    request *r = find_held(w, id);
    if (r) {
        queue_remove(&w->held, r);
        request_free(r);
    }
}

static request *oldest(const device_worker *w)
{
    return w->child.out.waiting.first;
}

static void set_deadline(device_worker *w, int64_t limit_ns, const char *doing, uint64_t index)
{
    snprintf(w->doing, sizeof w->doing, "%s", doing);
    w->doing_index = index;
    w->doing_limit_ns = limit_ns;
    supervised_expect(&w->child, limit_ns);
}

uint64_t device_worker_permille(const device_worker *w)
{
    return strcmp(w->doing, DEVICE_RUNS_ALL) == 0 ? w->doing_index : 0;
}

at_status device_watch_start(device_worker *w, at_error *error)
{
    w->up = false;
    w->phase = PHASE_SILENT;
    w->begun = 0;
    supervised_begin(&w->child, start_limit_ns);
    set_deadline(w, start_limit_ns, "opening the device", 0);
    return w->start(w->start_context, &w->child.process, error);
}

static void fail_for_good(device_worker *w, at_status why, const char *text)
{
    w->failed = true;
    error_set(&w->failure, why ? why : AT_DEVICE, "%s", text);
    supervised_stop(&w->child);
    requests_free(&w->child.out.waiting);
    w->child.out = (outbox){0};
    push_event(w, NULL,
               &(device_event){.kind = DEVICE_FAILED, .status = why, .message = memory_text(text)});
}

/* Fills a new process's outbox: files, the set-up, held variants, then all unanswered requests. */
static void queue_replays(device_worker *w)
{
    outbox *out = &w->child.out;
    queue rest = out->waiting;
    *out = (outbox){0};
    for (const request *r = w->data.first; r; r = queue_next(r))
        outbox_push(out, request_replay(r));
    if (w->setup)
        outbox_push(out, request_replay(w->setup));
    for (const request *r = w->held.first; r; r = queue_next(r))
        outbox_push(out, request_replay(r));
    for (request *r; (r = queue_pop(&rest));)
        if (r->silent)
            request_free(r);
        else
            outbox_push(out, r);
}

static void start_or_fail(device_worker *w, const char *what)
{
    char text[512];
    at_error error = {0};
    if (device_watch_start(w, &error) == AT_OK)
        return;
    snprintf(text, sizeof text, "the device worker cannot be %s: %.400s", what, error.message);
    fail_for_good(w, error.status, text);
}

void device_worker_begin(device_worker *w)
{
    if (!w->waits)
        return;
    w->waits = false;
    start_or_fail(w, "started");
}

static void restart(device_worker *w)
{
    w->restarts++;
    queue_replays(w);
    start_or_fail(w, "replaced");
}

/* The event that answers each request. REQUEST_RELEASE and REQUEST_DATA have none. */
static const device_event_kind events[] = {
    [REQUEST_SETUP] = DEVICE_READY,       [REQUEST_TRY] = DEVICE_TRIED,
    [REQUEST_HOLD] = DEVICE_HELD,         [REQUEST_BLOCK] = DEVICE_BLOCK,
    [REQUEST_RECHECK] = DEVICE_RECHECKED, [REQUEST_ENERGY] = DEVICE_ENERGY,
    [REQUEST_COUNT] = DEVICE_COUNTED,     [REQUEST_RESULTS] = DEVICE_RESULTS,
    [REQUEST_COMPARE] = DEVICE_COMPARED,
};

device_question device_watch_claim(device_worker *w)
{
    /* The answer to the last queued request cannot have arrived: nothing was read since then. */
    request *r = w->child.out.waiting.last;
    r->claimed = true;
    return (device_question){.kind = events[r->out.message.type], .number = r->number};
}

static void push_answer(device_worker *w, request *r, device_answer *answer)
{
    device_event e = answer->found;
    answer->found.samples_ns = NULL;
    answer->found.counters = NULL;
    e.kind = events[r->out.message.type];
    e.id = e.kind == DEVICE_BLOCK ? e.id : r->id;
    e.message = memory_text(answer->message);
    e.printed = answer->printed && *answer->printed ? memory_text(answer->printed) : NULL;
    if (e.results_bytes > 0) {
        e.results = memory_new(e.results_bytes, 1);
        memcpy(e.results, answer->results, e.results_bytes);
    }
    e.ids = r->ids;
    r->ids = NULL;
    push_event(w, r, &e);
}

static void keep_for_replay(device_worker *w, request *r, const device_answer *answer)
{
    bool ok = answer->found.outcome == OUTCOME_OK;
    request *held = find_held(w, r->id);
    switch (r->out.message.type) {
    case REQUEST_SETUP:
        if (ok && !r->silent) {
            w->setup = r;
            return;
        }
        break;
    case REQUEST_HOLD:
        if (ok && !r->silent) {
            queue_push(&w->held, r);
            return;
        }
        if (!ok && r->silent)
            forget_held(w, r->id);
        else if (held)
            held->blame = (worker_blame){0}; /* only deaths in a row count */
        break;
    case REQUEST_RELEASE:
        forget_held(w, r->id);
        break;
    case REQUEST_DATA:
        if (ok && !r->silent) {
            queue_push(&w->data, r);
            return;
        }
        break;
    default:
        /* The context is lost, and with it the variant. */
        if (answer->found.outcome == OUTCOME_CRASHED || answer->found.outcome == OUTCOME_TIMEOUT)
            forget_held(w, answer->found.id);
    }
    request_free(r);
}

static void finish_request(device_worker *w, device_answer *answer)
{
    request *r = outbox_pop(&w->child.out);
    if (!r->silent && r->out.message.type != REQUEST_RELEASE && r->out.message.type != REQUEST_DATA)
        push_answer(w, r, answer);
    keep_for_replay(w, r, answer);
}

/* Answers the oldest request in place of the worker, and names the variant that is to blame. */
static void finish_for_worker(device_worker *w, outcome result, const char *text)
{
    request *r = oldest(w);
    device_answer answer = {.message = text,
                            .found = {.id = r->id, .outcome = result, .status = AT_WORKER}};
    if (r->ids && r->samples > 0)
        answer.found.id = r->ids[w->doing_index < r->samples ? w->doing_index : 0];
    finish_request(w, &answer);
}

/* Counts the end of a process in *count, and starts another process or gives up. */
static void restart_or_fail(device_worker *w, int *count, int step, int most, const char *text)
{
    *count += step;
    if (*count >= most)
        fail_for_good(w, AT_WORKER, text);
    else
        restart(w);
}

/* Returns the request whose count of deaths belongs to the oldest request. A replay is a new
 * request each time, so the deaths are counted in the request of the held variant. */
static request *find_counted(device_worker *w)
{
    request *r = oldest(w), *held = r->silent ? find_held(w, r->id) : NULL;
    return held ? held : r;
}

static void blame_request(device_worker *w, worker_death why, const char *how)
{
    char text[320];
    worker_blame *counted = &find_counted(w)->blame;
    if (!worker_blame_add(counted, why))
        return;
    if (why == DEATH_TIMEOUT) {
        snprintf(text, sizeof text, "%s had not ended after %.1f s", w->doing,
                 (double)w->doing_limit_ns / 1e9);
        finish_for_worker(w, OUTCOME_TIMEOUT, text);
        return;
    }
    snprintf(text, sizeof text, "%d device workers in a row died during %s; the last %s",
             why == DEATH_KILLED ? counted->kills : counted->deaths, w->doing, how);
    finish_for_worker(w, OUTCOME_CRASHED, text);
}

/* Ends the process, answers its current request if that is to blame, and starts another process. */
static void end_process(device_worker *w, worker_death why)
{
    char how[128], text[320];
    why = supervised_end(&w->child, why, COLLECT_MS, how, sizeof how);
    if (why == DEATH_INVALID || why == DEATH_TIMEOUT)
        snprintf(how, sizeof how, "%s", why == DEATH_INVALID ? "sent an invalid answer" : "hung");
    bool started = outbox_started(&w->child.out);
    bool begun = started && w->begun == oldest(w)->number;
    if (!w->up && (!started || oldest(w)->out.message.type == REQUEST_SETUP ||
                   oldest(w)->out.message.type == REQUEST_DATA)) {
        const bool hung = why == DEATH_TIMEOUT;
        snprintf(text, sizeof text, "the device worker %s during %s", hung ? "hung" : how,
                 w->doing);
        restart_or_fail(w, &w->silent_starts, hung ? MAX_SILENT_STARTS / MAX_FAILED_STARTS : 1,
                        MAX_SILENT_STARTS, text);
        return;
    }
    /* A process that died by itself or hung may have died while reading a request. */
    if (!started || (why == DEATH_KILLED && !begun)) {
        snprintf(text, sizeof text, "%d idle device workers in a row died; the last %s",
                 MAX_IDLE_DEATHS, how);
        restart_or_fail(w, &w->idle_deaths, 1, MAX_IDLE_DEATHS, text);
        return;
    }
    blame_request(w, why, how);
    restart(w);
}

/* ---- replies: the handlers return false for an invalid reply ---- */

/* Sets the deadline after a request is finished; the next request may be on its way. */
static void expect_request(device_worker *w)
{
    if (outbox_started(&w->child.out))
        set_deadline(w, request_limit_ns, "reading a request", 0);
    else
        w->child.deadline_ns = 0;
}

static bool on_opened(device_worker *w, message *m)
{
    device_event e = {.kind = DEVICE_OPENED};
    device_get_properties(&m->body, &e.properties);
    if (!pack_complete(&m->body) || w->phase != PHASE_SILENT)
        return false;
    w->phase = PHASE_OPENED;
    set_deadline(w, start_limit_ns, "making the device ready", 0);
    if (w->opened)
        return true;
    w->opened = true;
    e.message = memory_text("");
    push_event(w, NULL, &e);
    return true;
}

static bool on_note(device_worker *w, message *m)
{
    device_note note;
    device_get_note(&m->body, &note);
    bool sensible = pack_complete(&m->body);
    if (sensible && w->phase == PHASE_OPENED && note.number == 0 && note.limit_ns == 0) {
        w->phase = PHASE_SERVING;
        expect_request(w);
        return true;
    }
    if (!sensible || w->phase != PHASE_SERVING || note.limit_ns == 0 ||
        !outbox_started(&w->child.out) || note.number != oldest(w)->number)
        return false;
    w->begun = note.number;
    set_deadline(w, note.limit_ns, note.what, note.index);
    return true;
}

/* Starts a new process after a failed start. The worker fails permanently if the reason is
 * `lasting` or the start fails again. */
static void start_again(device_worker *w, bool lasting, at_status why, const char *text)
{
    if (lasting || ++w->failed_starts >= MAX_FAILED_STARTS) {
        fail_for_good(w, why, text);
        return;
    }
    supervised_stop(&w->child);
    restart(w);
}

static bool on_failed(device_worker *w, message *m)
{
    uint32_t why = pack_get_u32(&m->body);
    const char *text = pack_get_string(&m->body);
    if (!pack_complete(&m->body) || why == AT_OK || why > AT_INTERNAL || w->phase == PHASE_SERVING)
        return false;
    /* A missing device stays missing; other failures may be temporary. */
    bool lasting = why == AT_NO_DEVICE || why == AT_USAGE;
    start_again(w, lasting, (at_status)why, text);
    return true;
}

static void on_setup_answer(device_worker *w, device_answer *answer)
{
    if (answer->found.outcome == OUTCOME_OK) {
        w->up = true;
        w->failed_starts = w->silent_starts = 0;
        finish_request(w, answer);
        return;
    }
    bool lasting = answer->found.status == AT_COMPILE || answer->found.status == AT_FORMAT ||
                   answer->found.status == AT_NO_DEVICE;
    start_again(w, lasting, answer->found.status, answer->message);
}

static bool is_in_block(const request *r, uint64_t id)
{
    for (size_t i = 0; i < r->samples; i++)
        if (r->ids[i] == id)
            return true;
    return false;
}

/* Returns true if there are no counters, or all metrics of one or more launches. */
static bool are_counters_of(const request *r, const device_answer *a)
{
    return a->counter_count == 0 || (a->found.outcome == OUTCOME_OK && r->metrics > 0 &&
                                     a->counter_count % r->metrics == 0 &&
                                     a->counter_count / r->metrics <= PLAN_MAX_LAUNCHES);
}

/* Returns true if the answer belongs to the request: equal kind and number, consistent contents. */
static bool answers(const request *r, const device_answer *a)
{
    bool ok = a->found.outcome == OUTCOME_OK, block = r->out.message.type == REQUEST_BLOCK;
    if (a->number != r->number || a->kind != r->out.message.type || (ok && !a->usable))
        return false;
    bool slow = a->found.outcome == OUTCOME_TOO_SLOW && r->out.message.type == REQUEST_TRY;
    if (ok ? r->samples != SIZE_MAX && a->found.sample_count != r->samples
           : a->found.sample_count != slow)
        return false;
    if (!are_counters_of(r, a) ||
        (a->found.results_bytes > 0 && r->out.message.type != REQUEST_RESULTS))
        return false;
    return block && !ok ? is_in_block(r, a->found.id) : a->found.id == r->id;
}

static bool on_answer(device_worker *w, message *m)
{
    device_answer answer;
    if (!device_get_answer(&m->body, &answer))
        return false;
    if (w->phase != PHASE_SERVING || !outbox_started(&w->child.out) ||
        !answers(oldest(w), &answer)) {
        device_event_deinit(&answer.found);
        return false;
    }
    w->idle_deaths = oldest(w)->silent ? w->idle_deaths : 0;
    if (oldest(w)->out.message.type == REQUEST_SETUP) {
        on_setup_answer(w, &answer);
    } else {
        finish_request(w, &answer);
        if (!answer.usable) {
            supervised_stop(&w->child);
            restart(w);
        }
    }
    device_event_deinit(&answer.found);
    if (!w->failed && answer.usable)
        expect_request(w);
    return true;
}

/* Reads one message. Ends a worker that sends an invalid message. */
void device_watch_read(device_worker *w)
{
    static bool (*const handlers[])(device_worker *, message *) = {
        [REPLY_OPENED] = on_opened,
        [REPLY_NOTE] = on_note,
        [REPLY_ANSWER] = on_answer,
        [REPLY_FAILED] = on_failed,
    };
    message m;
    worker_death death;
    at_status status = supervised_take(&w->child, &m, &death);
    if (status == AT_NOT_FOUND)
        return;
    if (status) {
        end_process(w, death);
        return;
    }
    bool sensible =
        m.type < sizeof handlers / sizeof *handlers && handlers[m.type] && handlers[m.type](w, &m);
    message_deinit(&m);
    if (!sensible)
        end_process(w, DEATH_INVALID);
}

void device_watch_send(device_worker *w)
{
    if (w->waits)
        return;
    bool started = outbox_started(&w->child.out);
    outbox_send(&w->child.out, w->child.process.fd, NULL);
    if (!started && w->child.deadline_ns == 0)
        expect_request(w);
}

void device_watch_expire(device_worker *w)
{
    end_process(w, DEATH_TIMEOUT);
}
