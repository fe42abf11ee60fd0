#include "bench/client.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/supervise.h"
#include "bench/wire.h"
#include "bench/worker.h"
#include "process/message.h"

enum { LONGEST_WAIT_MS = 1000 };

/* Long enough on a busy machine, and short enough for a search with a few endless kernels. */
static const int64_t default_watchdog_floor_ns = INT64_C(2) * 1000000000;

static at_status start_process(void *context, worker *out, at_error *error)
{
    const device_worker_options *options = context;
    const worker_program *program =
        options->proves ? &device_proof_program : &device_worker_program;
    pack settings = {0};
    device_worker_put_options(&settings, context);
    at_status status = worker_start(options->host, program, &settings, out, error);
    pack_deinit(&settings);
    return status;
}

at_status device_worker_start(const device_worker_options *options, device_worker **out,
                              at_error *error)
{
    return device_worker_start_with(options, start_process, NULL, out, error);
}

at_status device_worker_start_with(const device_worker_options *options, device_starter start,
                                   void *context, device_worker **out, at_error *error)
{
    *out = NULL;
    device_worker *w = memory_new(1, sizeof *w);
    w->options = *options;
    snprintf(w->spec, sizeof w->spec, "%s", options->spec);
    w->options.spec = w->spec;
    w->child = supervised_make();
    if (w->options.watchdog_floor_ns <= 0)
        w->options.watchdog_floor_ns = default_watchdog_floor_ns;
    w->start = start;
    w->start_context = context ? context : &w->options;
    w->waits = options->waits;
    at_status status = w->waits ? AT_OK : device_watch_start(w, error);
    if (status) {
        free(w);
        return status;
    }
    *out = w;
    return AT_OK;
}

bool device_worker_is_unstarted(const device_worker *w)
{
    return w->waits;
}

bool device_worker_is_opening(const device_worker *w)
{
    return !w->waits && !w->failed && w->phase != PHASE_SERVING;
}

void device_worker_kill(const device_worker *w)
{
    if (w)
        worker_kill(&w->child.process);
}

void device_worker_free(device_worker *w)
{
    if (!w)
        return;
    supervised_stop(&w->child);
    requests_free(&w->child.out.waiting);
    device_watch_forget_setup(w);
    requests_free(&w->data);
    device_events_deinit(&w->events);
    free(w);
}

void device_worker_poll(const device_worker *w, poll_set *set)
{
    supervised_poll(&w->child, set);
    if (device_events_has(&w->events, NULL))
        poll_set_shorten(set, 0);
}

size_t device_worker_pending(const device_worker *w)
{
    size_t pending = 0;
    for (const request *r = w->child.out.waiting.first; r; r = queue_next(r))
        pending += !r->silent;
    return pending;
}

/* Sends requests and waits up to `wait_ms` for a reply, or ends a worker past its deadline. */
static void run_once(device_worker *w, int wait_ms)
{
    device_watch_send(w);
    int deadline_ms = supervised_left_ms(&w->child);
    if (deadline_ms >= 0 && deadline_ms < wait_ms)
        wait_ms = deadline_ms;
    struct pollfd p = {.fd = w->child.process.fd,
                       .events = (short)(POLLIN | (w->child.out.unsent ? POLLOUT : 0))};
    int ready = poll(&p, 1, wait_ms);
    if (ready > 0 && p.revents & (POLLIN | POLLHUP | POLLERR))
        device_watch_read(w);
    /* A message that arrived in time counts, even if the tuner reads it late. */
    else if (supervised_is_late(&w->child))
        device_watch_expire(w);
}

void device_worker_watch(device_worker *w)
{
    if (!w->failed)
        run_once(w, 0);
}

/* Takes the event that answers `question`, or with NULL the oldest event that is not claimed. */
static at_status take(device_worker *w, const device_question *question, int timeout_ms,
                      device_event *out, at_error *error)
{
    int64_t end_ns = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * INT64_C(1000000);
    for (;;) {
        if (device_events_pop(&w->events, question, out))
            return AT_OK;
        if (w->failed)
            return error_set(error, w->failure.status, "%s", w->failure.message);
        int64_t left_ms = (end_ns - clock_now_ns() + 999999) / 1000000;
        run_once(w, left_ms < 0 ? 0 : left_ms < LONGEST_WAIT_MS ? (int)left_ms : LONGEST_WAIT_MS);
        if (device_events_has(&w->events, question) || w->failed)
            continue;
        /* Continue after the time-out as long as there is something to read. */
        struct pollfd p = {.fd = w->child.process.fd, .events = POLLIN};
        if (clock_now_ns() >= end_ns && poll(&p, 1, 0) <= 0)
            break;
    }
    return error_set(error, AT_NOT_FOUND, "the device worker has no event yet");
}

at_status device_worker_take(device_worker *w, int timeout_ms, device_event *out, at_error *error)
{
    return take(w, NULL, timeout_ms, out, error);
}

at_status device_worker_await(device_worker *w, device_question question, int timeout_ms,
                              device_event *out, at_error *error)
{
    return take(w, &question, timeout_ms, out, error);
}

device_question device_worker_claim(device_worker *w)
{
    device_question none = {.kind = DEVICE_FAILED};
    return w->failed ? none : device_watch_claim(w);
}

static request *new_request(device_worker *w, device_message type, uint64_t id)
{
    return request_new(type, ++w->last_number, id);
}

static at_status submit(device_worker *w, request *r, at_error *error)
{
    memory_require(r->out.message.body.failed ? NULL : r);
    if (w->failed) {
        request_free(r);
        return error_set(error, AT_WORKER, "the device worker has failed");
    }
    outbox_push(&w->child.out, r);
    device_watch_send(w);
    return AT_OK;
}

at_status device_worker_setup(device_worker *w, const device_image support[DEVICE_SUPPORT_PARTS],
                              const device_problem *problems, size_t count, at_error *error)
{
    device_watch_forget_setup(w);
    request *r = new_request(w, REQUEST_SETUP, 0);
    pack *m = &r->out.message.body;
    r->samples = SIZE_MAX;
    for (size_t i = 0; i < DEVICE_SUPPORT_PARTS; i++)
        device_put_image(m, &support[i]);
    pack_put_u32(m, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        device_put_problem(m, &problems[i]);
    device_put_predecessors(m, problems[0].before, problems[0].before_count);
    return submit(w, r, error);
}

/* Returns true if the worker has this many bytes of the file, or they are queued. */
static bool has_data(const device_worker *w, const data_file *f, uint64_t size_bytes)
{
    const request *const lists[] = {w->data.first, w->child.out.waiting.first};
    for (size_t i = 0; i < 2; i++)
        for (const request *r = lists[i]; r; r = queue_next(r))
            if (r->data == f && r->data_bytes >= size_bytes)
                return true;
    return false;
}

at_status device_worker_data(device_worker *w, data_file *f, uint64_t size_bytes, at_error *error)
{
    at_status status = AT_OK;
    if (w->failed)
        return error_set(error, AT_WORKER, "the device worker has failed");
    if (has_data(w, f, size_bytes))
        return AT_OK;
    for (uint64_t i = 0; !status && i * DATA_CHUNK_BYTES < size_bytes; i++)
        status = submit(w, request_new_data(++w->last_number, f, i, size_bytes), error);
    return status;
}

at_status device_worker_try(device_worker *w, uint64_t id, const device_variant *variant,
                            size_t sample_count, at_error *error)
{
    request *r = new_request(w, REQUEST_TRY, id);
    r->samples = sample_count < DEVICE_MAX_SAMPLES ? sample_count : DEVICE_MAX_SAMPLES;
    pack_put_u64(&r->out.message.body, r->samples);
    device_put_variant(&r->out.message.body, variant);
    return submit(w, r, error);
}

at_status device_worker_hold(device_worker *w, uint64_t id, const device_variant *variant,
                             at_error *error)
{
    request *r = new_request(w, REQUEST_HOLD, id);
    device_put_variant(&r->out.message.body, variant);
    return submit(w, r, error);
}

at_status device_worker_release(device_worker *w, uint64_t id, at_error *error)
{
    return submit(w, new_request(w, REQUEST_RELEASE, id), error);
}

at_status device_worker_block(device_worker *w, const uint64_t *ids, size_t count, bool with_copy,
                              at_error *error)
{
    request *r = new_request(w, REQUEST_BLOCK, 0);
    r->samples = count;
    r->ids = memory_copy(ids, count, sizeof *ids);
    pack_put_u32(&r->out.message.body, with_copy);
    pack_put_u64(&r->out.message.body, count);
    for (size_t i = 0; i < count; i++)
        pack_put_u64(&r->out.message.body, ids[i]);
    return submit(w, r, error);
}

at_status device_worker_recheck(device_worker *w, uint64_t id, uint64_t seed, at_error *error)
{
    request *r = new_request(w, REQUEST_RECHECK, id);
    pack_put_u64(&r->out.message.body, seed);
    return submit(w, r, error);
}

at_status device_worker_energy(device_worker *w, uint64_t id, uint32_t chunks, at_error *error)
{
    request *r = new_request(w, REQUEST_ENERGY, id);
    pack_put_u32(&r->out.message.body, chunks);
    return submit(w, r, error);
}

at_status device_worker_results(device_worker *w, uint32_t layout, uint32_t slot, at_error *error)
{
    request *r = new_request(w, REQUEST_RESULTS, 0);
    pack_put_u32(&r->out.message.body, layout);
    pack_put_u32(&r->out.message.body, slot);
    return submit(w, r, error);
}

at_status device_worker_compare(device_worker *w, uint32_t layout, uint32_t slot,
                                const void *results, size_t results_bytes, at_error *error)
{
    request *r = new_request(w, REQUEST_COMPARE, 0);
    pack_put_u32(&r->out.message.body, layout);
    pack_put_u32(&r->out.message.body, slot);
    pack_put_bytes(&r->out.message.body, results, results_bytes);
    return submit(w, r, error);
}

at_status device_worker_count(device_worker *w, uint64_t id, const char *const *metrics,
                              size_t count, at_error *error)
{
    request *r = new_request(w, REQUEST_COUNT, id);
    r->metrics = count;
    pack_put_u32(&r->out.message.body, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        pack_put_string(&r->out.message.body, metrics[i]);
    return submit(w, r, error);
}

/* A driver that wakes up many GPUs needs tens of seconds. */
enum { LIST_LIMIT_MS = 120 * 1000 };

static at_status read_list(message *m, device_properties *out, size_t capacity, size_t *count,
                           at_error *error)
{
    if (m->type == REPLY_FAILED) {
        uint32_t why = pack_get_u32(&m->body);
        const char *text = pack_get_string(&m->body);
        if (pack_complete(&m->body) && why != AT_OK && why <= AT_INTERNAL)
            return error_set(error, (at_status)why, "%s", text);
    }
    uint32_t found = m->type == REPLY_LIST ? pack_get_u32(&m->body) : 0;
    size_t kept = 0;
    for (uint32_t i = 0; i < found && !m->body.failed; i++) {
        device_properties p;
        device_get_properties(&m->body, &p);
        if (i < capacity)
            out[kept++] = p;
    }
    if (!pack_complete(&m->body) || m->type != REPLY_LIST)
        return error_set(error, AT_WORKER, "the device worker sent a damaged list of devices");
    *count = kept;
    return AT_OK;
}

static at_status ask(const worker_host *host, const char *kind, bool names, device_properties *out,
                     size_t capacity, size_t *count, at_error *error)
{
    *count = 0;
    worker process;
    pack settings = {0};
    pack_put_string(&settings, kind);
    pack_put_u32(&settings, names);
    at_status status = worker_start(host, &device_list_program, &settings, &process, error);
    pack_deinit(&settings);
    if (status)
        return status;
    message m;
    status = message_receive(process.fd, LIST_LIMIT_MS, &m, error);
    if (!status) {
        status = read_list(&m, out, capacity, count, error);
        message_deinit(&m);
    } else {
        char how[128];
        worker_stop(&process, how, sizeof how);
        status = error_set(error, AT_NO_DEVICE, "the process that looks for devices %s", how);
    }
    worker_stop(&process, NULL, 0);
    return status;
}

at_status device_worker_list(const char *kind, device_properties *out, size_t capacity,
                             size_t *count, at_error *error)
{
    return ask(NULL, kind, false, out, capacity, count, error);
}

at_status device_worker_list_on(const worker_host *host, const char *kind, device_properties *out,
                                size_t capacity, size_t *count, at_error *error)
{
    return ask(host, kind, false, out, capacity, count, error);
}

at_status device_worker_list_names(const char *kind, device_properties *out, size_t capacity,
                                   size_t *count, at_error *error)
{
    return ask(NULL, kind, true, out, capacity, count, error);
}
