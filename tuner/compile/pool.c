
#include "compile/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cores.h"
#include "base/sanitized.h"
#include "compile/cubin.h"
#include "compile/group.h"
#include "compile/option.h"
#include "compile/slot.h"
#include "compile/wire.h"
#include "compile/worker.h"

enum {
    /* A death may be the source's fault or come from outside; the third of the same source is its
     * own. */
    ATTEMPTS = 3,
    KILLED_ATTEMPTS =
        8, /* the same of workers killed from outside: by a person, or for want of memory */
    /* Workers that die before they say hello, in a row: they may be killed from outside, too. */
    START_ATTEMPTS = 8,
    LOST_STARTS = 3, /* the same of a worker elsewhere, which is then done without */
    DEFAULT_TIMEOUT_S = 60,
    COLLECT_MS = 500,    /* from a worker's last word to its end */
    START_TIMEOUT_S = 60 /* a library of 100 MB comes from a cold disk */
};

#define DEFAULT_MEMORY_BYTES ((uint64_t)8 << 30)

typedef struct finished {
    struct finished *next;
    compile_result result;
} finished;

/* A job is in one place at a time: in `queue`, in a batch of a slot, or, once it is answered or
 * lost, as a result in the list `done`, which the caller takes from. `pending` counts the jobs in
 * all three. done_end is valid while `done` is not NULL. `broken` keeps the first reason and is
 * never cleared; `version` is that of the first worker that greeted, and all others must have
 * it. */
struct compile_pool {
    compile_slot *slots;
    size_t slot_count;
    compile_queue queue;
    finished *done, **done_end;
    size_t pending;
    uint64_t last_number; /* of a job */
    int64_t timeout_ns;
    compile_worker_config config;
    trace *trace;    /* or NULL */
    char *cache_dir; /* what config.cache_dir points to */
    int failed_starts;
    at_error broken; /* set when no worker can be started any more */
    char version[32], warning[512];
};

static void finish(compile_pool *pool, finished *f)
{
    f->next = NULL;
    *(pool->done ? pool->done_end : &pool->done) = f;
    pool->done_end = &f->next;
}

/* Ends a job whose worker is gone. */
static at_status finish_lost(compile_pool *pool, compile_job *j, compile_outcome outcome,
                             const char *why)
{
    finished *f = calloc(1, sizeof *f);
    char *log = strdup(why);
    if (!f || !log) {
        free(f);
        free(log);
        compile_queue_push_front(&pool->queue, j);
        return AT_NO_MEMORY;
    }
    f->result = (compile_result){.id = j->id, .outcome = outcome, .log = log};
    finish(pool, f);
    compile_job_free(j);
    return AT_OK;
}

static void break_pool(compile_pool *pool, at_status status, const char *why)
{
    if (!pool->broken.status)
        error_set(&pool->broken, status, "%s", why);
}

/* The worker is done with what it was at. */
static void show(compile_pool *pool, compile_slot *s, const char *what, uint64_t count)
{
    int64_t now_ns = clock_now_ns();
    trace_span(pool->trace, s->lane, what, s->busy_ns, now_ns, count);
    s->busy_ns = now_ns;
}

/* Takes the worker out of its slot. Its first job is lost as `outcome`, unless that is
 * COMPILE_CRASHED and it may try once more, or others were compiled with it; the jobs after it were
 * not begun and go back to the head of the queue. */
static void retire(compile_pool *pool, compile_slot *s, compile_outcome outcome, bool killed,
                   const char *why)
{
    message_reader_deinit(&s->reader);
    if (s->batch_count > 0 || !s->greeted)
        show(pool, s, "lost", s->batch_count > 0 ? s->batches[0]->size : 0);
    /* It is not known which of several in a batch it was: each tries again alone. */
    bool several = s->batch_count > 0 && s->batches[0]->size > 1;
    compile_job *j = s->batch_count > 0 && !several ? compile_slot_take_first(s) : NULL;
    compile_slot_return(s, &pool->queue);
    if (j) {
        *(killed ? &j->kills : &j->attempts) += s->greeted;
        bool again = j->attempts < ATTEMPTS && j->kills < KILLED_ATTEMPTS;
        if (!s->greeted || (outcome == COMPILE_CRASHED && again))
            compile_queue_push_front(&pool->queue, j);
        else if (finish_lost(pool, j, outcome, why))
            break_pool(pool, AT_NO_MEMORY, "out of memory for a compile result");
    }
    s->lost_starts = s->greeted ? 0 : s->lost_starts + 1;
    if (s->greeted)
        pool->failed_starts = 0;
    else if (!s->host && ++pool->failed_starts >= START_ATTEMPTS)
        break_pool(pool, AT_WORKER, why);
    s->greeted = false;
}

/* `complaint` NULL: it died by itself. */
static void bury(compile_pool *pool, compile_slot *s, const char *complaint)
{
    char how[128], why[256];
    bool killed = false;
    if (complaint) {
        worker_stop(&s->process, NULL, 0);
        snprintf(why, sizeof why, "the compile worker %s", complaint);
    } else {
        worker_end end = worker_collect(&s->process, COLLECT_MS, how, sizeof how);
        killed = end == WORKER_KILLED;
        /* "exited with ...", but "was killed by ..." */
        snprintf(why, sizeof why, "the compile worker %s%s",
                 killed || end == WORKER_FAULTED ? "was " : "", how);
    }
    retire(pool, s, COMPILE_CRASHED, killed, why);
}

static void expire(compile_pool *pool, compile_slot *s)
{
    char why[128];
    worker_stop(&s->process, NULL, 0);
    snprintf(why, sizeof why,
             s->greeted ? "the compiler did not finish within %d s"
                        : "a compile worker did not start within %d s",
             s->greeted ? (int)(pool->timeout_ns / 1000000000) : START_TIMEOUT_S);
    retire(pool, s, COMPILE_TIMEOUT, false, why);
}

static at_status start(compile_pool *pool, compile_slot *s, at_error *error)
{
    pack settings = {0};
    compile_worker_put_config(&settings, &pool->config);
    at_status status =
        worker_start(s->host, &compile_worker_program, &settings, &s->process, error);
    pack_deinit(&settings);
    if (status)
        return status;
    s->greeted = false;
    s->busy_ns = clock_now_ns();
    s->deadline_ns = clock_now_ns() + START_TIMEOUT_S * (int64_t)1000000000;
    return AT_OK;
}

/* Starts what is not running. One worker is enough to go on; without any the pool is broken. */
static void replace_the_dead(compile_pool *pool)
{
    at_error error = {0};
    size_t running = 0;
    for (size_t i = 0; i < pool->slot_count; i++) {
        compile_slot *s = &pool->slots[i];
        /* Workers elsewhere wait for the first greeting here, which says what NVRTC they must
         * have. */
        if (s->process.pid == 0 && s->host && (!pool->version[0] || s->lost_starts >= LOST_STARTS))
            continue;
        bool runs = s->process.pid != 0 || start(pool, s, &error) == AT_OK;
        s->lost_starts += !runs;
        running += runs;
    }
    if (running == 0)
        break_pool(pool, error.status, error.message);
}

static bool give(compile_pool *pool, compile_slot *s, size_t most)
{
    compile_batch *b = compile_batch_new(&pool->queue, most);
    if (!b) {
        break_pool(pool, AT_NO_MEMORY, "out of memory for sources to compile");
        return false;
    }
    if (s->batch_count == 0 && s->greeted) {
        s->busy_ns = clock_now_ns();
        s->deadline_ns = s->busy_ns + pool->timeout_ns;
    }
    compile_slot_give(s, b);
    return true;
}

/* Replaces the dead and hands out the queue, breadth first. Towards the end the last sources go to
 * idle workers and not after others: no worker waits while another has two. A batch is no larger
 * than what leaves every worker two. */
static void feed(compile_pool *pool)
{
    /* Before the first greeting it is not known yet whether there is an NVRTC at all. */
    if ((pool->queue.first || !pool->version[0]) && !pool->broken.status)
        replace_the_dead(pool);
    for (size_t depth = 0; depth < COMPILE_DEPTH; depth++) {
        size_t kept = depth ? pool->slot_count / 2 : 0;
        size_t most = pool->queue.count / (2 * pool->slot_count);
        if (most > COMPILE_GROUP_MAX)
            most = COMPILE_GROUP_MAX;
        for (size_t i = 0; i < pool->slot_count && pool->queue.count > kept; i++) {
            compile_slot *s = &pool->slots[i];
            if (s->process.pid != 0 && s->batch_count == depth && !give(pool, s, most))
                return;
        }
    }
}

static bool copy_result(const compile_result *view, compile_result *out)
{
    *out = *view;
    out->cubin = view->cubin ? malloc(view->cubin_bytes) : NULL;
    out->ptx = view->ptx ? malloc(view->ptx_bytes + 1) : NULL;
    out->log = strdup(view->log);
    out->symbols = strdup(view->symbols);
    if ((view->cubin && !out->cubin) || (view->ptx && !out->ptx) || !out->log || !out->symbols) {
        compile_result_deinit(out);
        return false;
    }
    if (out->cubin)
        memcpy(out->cubin, view->cubin, view->cubin_bytes);
    if (out->ptx)
        memcpy(out->ptx, view->ptx, view->ptx_bytes + 1);
    return true;
}

/* Accepts a result for the slot's first job. False when the worker is not to be used any more. */
static bool accept_result(compile_pool *pool, compile_slot *s, message *m)
{
    compile_result view;
    const compile_job *first = compile_slot_first(s);
    if (!s->greeted || !first || !compile_wire_get_result(&m->body, &view) ||
        view.id != first->number || view.outcome == COMPILE_TIMEOUT ||
        (view.cubin && !cubin_is_whole(view.cubin, view.cubin_bytes)))
        return false;
    finished *f = malloc(sizeof *f);
    if (!f || !copy_result(&view, &f->result)) {
        free(f);
        break_pool(pool, AT_NO_MEMORY, "out of memory for a compile result");
        return false;
    }
    f->result.id = first->id;
    finish(pool, f);
    size_t size = s->batches[0]->size, waiting = s->batches[0]->jobs.count;
    compile_job_free(compile_slot_take_first(s));
    if (waiting == 1)
        show(pool, s, "compile", size);
    s->deadline_ns = clock_now_ns() + pool->timeout_ns;
    if (view.outcome != COMPILE_CRASHED)
        return true;
    /* The compiler survived, but what it holds is not to be trusted for the next source. */
    compile_slot_return(s, &pool->queue);
    return false;
}

static bool accept_hello(compile_pool *pool, compile_slot *s, message *m)
{
    const char *version = pack_get_string(&m->body);
    if (s->greeted || !pack_complete(&m->body) || (s->host && strcmp(version, pool->version) != 0))
        return false;
    if (!pool->version[0])
        snprintf(pool->version, sizeof pool->version, "%s", version);
    s->greeted = true;
    show(pool, s, "start", 1);
    pool->failed_starts = 0;
    s->deadline_ns = clock_now_ns() + pool->timeout_ns;
    return true;
}

static bool accept_refusal(compile_pool *pool, compile_slot *s, message *m)
{
    const char *why = pack_get_string(&m->body);
    /* A worker that has greeted sent nonsense, which costs that worker alone. */
    if (!s->greeted && pack_complete(&m->body) && !s->host)
        break_pool(pool, AT_NO_TOOLCHAIN, why);
    return false;
}

static bool accept_warning(compile_pool *pool, compile_slot *s, message *m)
{
    (void)s;
    const char *text = pack_get_string(&m->body);
    if (!pool->warning[0])
        snprintf(pool->warning, sizeof pool->warning, "%s", text);
    return pack_complete(&m->body);
}

static bool accept_message(compile_pool *pool, compile_slot *s, message *m)
{
    static const struct {
        uint32_t type;
        bool (*accept)(compile_pool *, compile_slot *, message *);
    } known[] = {
        {COMPILE_HELLO, accept_hello},
        {COMPILE_REFUSED, accept_refusal},
        {COMPILE_RESULT, accept_result},
        {COMPILE_WARNING, accept_warning},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (m->type == known[i].type)
            return known[i].accept(pool, s, m);
    return false;
}

/* Takes what the worker has said; buries it when it has died or speaks nonsense. */
static void listen_to(compile_pool *pool, compile_slot *s)
{
    for (;;) {
        message m;
        at_status status = message_reader_take(&s->reader, s->process.fd, &m, NULL);
        if (status == AT_NOT_FOUND) {
            /* A large answer that trickles in is not a compiler that hangs. */
            if (message_reader_busy(&s->reader))
                s->deadline_ns = clock_now_ns() + pool->timeout_ns;
            return;
        }
        bool fine = status == AT_OK && accept_message(pool, s, &m);
        message_deinit(&m);
        if (!fine) {
            bool died = status == AT_WORKER && message_peer_closed(s->process.fd);
            bury(pool, s, died ? NULL : "sent what makes no sense");
            return;
        }
    }
}

static void add_sockets(const compile_pool *pool, poll_set *set)
{
    for (size_t i = 0; i < pool->slot_count; i++)
        poll_set_add(set, pool->slots[i].process.fd, compile_slot_has_unsent(&pool->slots[i]));
}

/* One round: hand out, wait up to `timeout_ms` (0: do not) for something to happen, take in what
 * came. False when a signal ended the wait. */
static bool pump(compile_pool *pool, int timeout_ms)
{
    feed(pool);
    poll_set set;
    /* Nothing would ever happen without any worker. */
    poll_set_start(&set, pool->broken.status ? 0 : timeout_ms);
    add_sockets(pool, &set);
    int ready = poll_set_wait(&set);
    bool interrupted = ready < 0 && errno == EINTR;
    size_t at = 0;
    for (size_t i = 0; i < pool->slot_count && ready > 0; i++) {
        compile_slot *s = &pool->slots[i];
        short events = s->process.fd >= 0 && at < set.count ? set.fds[at++].revents : 0;
        if (events & POLLOUT)
            compile_slot_flush(s);
        if (events & (POLLIN | POLLHUP | POLLERR))
            listen_to(pool, s);
    }
    int64_t now = clock_now_ns();
    for (size_t i = 0; i < pool->slot_count; i++)
        if (compile_slot_owes(&pool->slots[i]) && now >= pool->slots[i].deadline_ns)
            expire(pool, &pool->slots[i]);
    feed(pool);
    return !interrupted;
}

/* Until a time limit is to be looked at; 0 when a result is there, -1 when there is no limit. */
static int next_deadline_ms(const compile_pool *pool)
{
    if (pool->done || pool->broken.status)
        return 0;
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < pool->slot_count; i++)
        if (compile_slot_owes(&pool->slots[i]) && pool->slots[i].deadline_ns < first_ns)
            first_ns = pool->slots[i].deadline_ns;
    if (first_ns == INT64_MAX)
        return -1;
    int64_t left_ms = (first_ns - clock_now_ns()) / 1000000 + 1;
    return left_ms < 0 ? 0 : left_ms > 3600000 ? 3600000 : (int)left_ms;
}

void compile_poll(const compile_pool *pool, poll_set *set)
{
    add_sockets(pool, set);
    poll_set_shorten(set, next_deadline_ms(pool));
}

static int shorter(int a_ms, int b_ms)
{
    if (a_ms < 0 || b_ms < 0)
        return a_ms < 0 ? b_ms : a_ms;
    return a_ms < b_ms ? a_ms : b_ms;
}

static void take_first(compile_pool *pool, compile_result *out)
{
    finished *f = pool->done;
    pool->done = f->next;
    *out = f->result;
    free(f);
    pool->pending--;
}

at_status compile_take(compile_pool *pool, int timeout_ms, compile_result *out, at_error *error)
{
    *out = (compile_result){0};
    int64_t end_ns = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * (int64_t)1000000;
    bool going = pump(pool, 0);
    for (;;) {
        if (pool->done) {
            take_first(pool, out);
            return AT_OK;
        }
        if (pool->broken.status)
            return error_set(error, pool->broken.status, "%s", pool->broken.message);
        int64_t left_ns = end_ns - clock_now_ns();
        if (pool->pending == 0 || left_ns <= 0 || !going)
            return error_set(error, AT_NOT_FOUND, "no source has finished compiling");
        int left_ms = timeout_ms < 0 ? -1 : (int)((left_ns + 999999) / 1000000);
        going = pump(pool, shorter(left_ms, next_deadline_ms(pool)));
    }
}

/* The options as NVRTC takes them, in *texts, which the caller frees. */
static at_status read_options(const compile_request *r, const char *options[COMPILE_OPTIONS_MAX],
                              size_t *count, char **texts, at_error *error)
{
    *count = 0;
    *texts = NULL;
    if (r->option_count > COMPILE_OPTIONS_MAX)
        return error_set(error, AT_SCRIPT, "more than %d compiler options", COMPILE_OPTIONS_MAX);
    if (r->option_count == 0)
        return AT_OK;
    *texts = malloc(r->option_count * COMPILE_OPTION_BYTES);
    if (!*texts)
        return error_set(error, AT_NO_MEMORY, "out of memory for a source to compile");
    for (size_t i = 0; i < r->option_count; i++) {
        char *text = *texts + *count * COMPILE_OPTION_BYTES;
        at_status status = compile_option_read(r->options[i], text, error);
        if (status) {
            free(*texts);
            return status;
        }
        if (text[0])
            options[(*count)++] = text;
    }
    return AT_OK;
}

at_status compile_submit(compile_pool *pool, const compile_request *request, at_error *error)
{
    if (request->header_count > SOURCE_HEADERS_MAX)
        return error_set(error, AT_SCRIPT, "more than %d included files", SOURCE_HEADERS_MAX);
    message m = {.type = COMPILE_REQUEST};
    compile_request numbered = *request;
    const char *options[COMPILE_OPTIONS_MAX];
    char *texts;
    at_status status = read_options(request, options, &numbered.option_count, &texts, error);
    if (status)
        return status;
    numbered.options = options;
    numbered.id = ++pool->last_number;
    compile_wire_put_request(&m.body, &numbered);
    const uint64_t kind = compile_wire_kind(&numbered);
    free(texts);
    compile_job *j = calloc(1, sizeof *j);
    status = j ? message_encode(&m, &j->frame, &j->frame_bytes, error)
               : error_set(error, AT_NO_MEMORY, "out of memory for a source to compile");
    message_deinit(&m);
    if (status) {
        free(j);
        return status;
    }
    j->id = request->id;
    j->number = numbered.id;
    j->kind = kind;
    j->alone = request->want_ptx;
    compile_queue_push(&pool->queue, j);
    pool->pending++;
    feed(pool);
    return AT_OK;
}

void compile_hurry(compile_pool *pool)
{
    compile_queue *q = &pool->queue;
    compile_job *j = q->last;
    if (!j || j == q->first || j->number != pool->last_number)
        return;
    for (q->last = q->first; q->last->next != j; q->last = q->last->next)
        ;
    q->last->next = NULL;
    q->count--;
    compile_queue_push_front(q, j);
}

size_t compile_pending(const compile_pool *pool)
{
    return pool->pending;
}

size_t compile_width(const compile_pool *pool)
{
    return pool->slot_count * COMPILE_DEPTH;
}

size_t compile_group_width(const compile_pool *pool)
{
    return compile_width(pool) * COMPILE_GROUP_MAX;
}

static at_status await_first_greeting(compile_pool *pool, at_error *error)
{
    while (!pool->version[0] && !pool->broken.status)
        pump(pool, next_deadline_ms(pool));
    if (pool->broken.status)
        return error_set(error, pool->broken.status, "%s", pool->broken.message);
    return AT_OK;
}

static at_status configure(compile_pool *pool, const compile_options *o, at_error *error)
{
    pool->slot_count = o->jobs > 0 ? (size_t)o->jobs : cores_usable();
    size_t here = pool->slot_count;
    for (size_t i = 0; i < o->host_count; i++)
        pool->slot_count += o->hosts[i].jobs;
    pool->timeout_ns = (o->timeout_s > 0 ? o->timeout_s : DEFAULT_TIMEOUT_S) * (int64_t)1000000000;
    pool->slots = calloc(pool->slot_count, sizeof *pool->slots);
    pool->cache_dir = o->cache_dir ? strdup(o->cache_dir) : NULL;
    if (!pool->slots || (o->cache_dir && !pool->cache_dir))
        return error_set(error, AT_NO_MEMORY, "out of memory for the compile workers");
    pool->trace = o->trace;
    for (size_t i = 0; i < pool->slot_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "compile worker %zu", i);
        pool->slots[i].process.fd = -1;
        pool->slots[i].lane = trace_lane(o->trace, TRACE_COMPILE, name);
    }
    for (size_t i = 0; i < o->host_count; i++)
        for (size_t k = 0; k < o->hosts[i].jobs; k++)
            pool->slots[here++].host = o->hosts[i].host;
    pool->config = (compile_worker_config){
        .use_cache = o->use_cache,
        .cache_dir = pool->cache_dir,
        .cache_limit_bytes = o->cache_limit_bytes,
    };
    if (!SANITIZED)
        pool->config.memory_limit_bytes =
            o->memory_limit_bytes ? o->memory_limit_bytes : DEFAULT_MEMORY_BYTES;
    return AT_OK;
}

at_status compile_pool_new(const compile_options *options, compile_pool **out, at_error *error)
{
    *out = NULL;
    compile_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return error_set(error, AT_NO_MEMORY, "out of memory for the compile workers");
    at_status status = configure(pool, options, error);
    if (!status)
        status = await_first_greeting(pool, error);
    if (status) {
        compile_pool_free(pool);
        return status;
    }
    *out = pool;
    return AT_OK;
}

void compile_pool_kill(const compile_pool *pool)
{
    for (size_t i = 0; pool && pool->slots && i < pool->slot_count; i++)
        worker_kill(&pool->slots[i].process);
}

void compile_pool_free(compile_pool *pool)
{
    if (!pool)
        return;
    compile_pool_kill(pool); /* all at once, so that their ends overlap */
    for (size_t i = 0; pool->slots && i < pool->slot_count; i++) {
        compile_slot *s = &pool->slots[i];
        worker_stop(&s->process, NULL, 0);
        message_reader_deinit(&s->reader);
        for (size_t k = 0; k < s->batch_count; k++)
            compile_batch_free(s->batches[k]);
    }
    for (compile_job *j; (j = compile_queue_pop(&pool->queue));)
        compile_job_free(j);
    while (pool->done) {
        compile_result r;
        take_first(pool, &r);
        compile_result_deinit(&r);
    }
    free(pool->slots);
    free(pool->cache_dir);
    free(pool);
}

void compile_result_deinit(compile_result *r)
{
    free(r->cubin);
    free(r->ptx);
    free(r->log);
    free(r->symbols);
    *r = (compile_result){0};
}

const char *compile_nvrtc_version(const compile_pool *pool)
{
    return pool->version;
}

const char *compile_warning(const compile_pool *pool)
{
    return pool->warning[0] ? pool->warning : NULL;
}

const char *compile_outcome_name(compile_outcome outcome)
{
    static const char *const names[] = {
        [COMPILE_OK] = "ok",
        [COMPILE_ERROR] = "compile_error",
        [COMPILE_CRASHED] = "crashed",
        [COMPILE_TIMEOUT] = "timeout",
    };
    return (unsigned)outcome < sizeof names / sizeof names[0] ? names[outcome] : "unknown";
}
