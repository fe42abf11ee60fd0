#include "compile/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "compile/cubin.h"
#include "compile/group.h"
#include "compile/option.h"
#include "compile/wire.h"
#include "compile/worker.h"

enum {
    /* number of local workers in a row that may die before COMPILE_HELLO */
    START_ATTEMPTS = 8,
    LOST_STARTS = 3, /* the same limit for another host, which is then not used any more */
    DEFAULT_TIMEOUT_S = 60,
    COLLECT_MS = 500,    /* time in ms for a worker to end after its socket closed */
    START_TIMEOUT_S = 60 /* loading a library of 100 MB from a cold disk takes time */
};

#define DEFAULT_MEMORY_BYTES ((uint64_t)8 << 30)

typedef struct finished {
    queue_item item;
    compile_result result;
} finished;

/* A job is in one place at a time: in `queue`, in a batch of a slot, or, after its answer or loss,
 * as a result in `done`. `pending` counts the jobs in all three. `broken` keeps the first reason
 * and is never cleared. `version` is the NVRTC version of the first worker that greeted
 * (COMPILE_HELLO); all others must have the same. */
struct compile_pool {
    compile_slot *slots;
    size_t slot_count;
    queue queue; /* waiting jobs */
    queue done;  /* finished jobs */
    size_t pending;
    uint64_t last_number; /* number of the last job */
    int64_t timeout_ns;
    compile_worker_config config;
    char *cache_dir; /* target of config.cache_dir */
    int failed_starts;
    at_error broken; /* set when no worker can be started any more */
    char version[32], warning[512];
};

static at_status finish_lost(compile_pool *pool, compile_job *j, compile_outcome outcome,
                             const char *why)
{
    finished *f = calloc(1, sizeof *f);
    char *log = strdup(why);
    if (!f || !log) {
        free(f);
        free(log);
        queue_push_front(&pool->queue, j);
        return AT_NO_MEMORY;
    }
    f->result = (compile_result){.id = j->id, .outcome = outcome, .log = log};
    queue_push(&pool->done, f);
    compile_job_free(j);
    return AT_OK;
}

static void break_pool(compile_pool *pool, at_status status, const char *why)
{
    if (!pool->broken.status)
        error_set(&pool->broken, status, "%s", why);
}

/* Takes the jobs of a dead worker out of its slot. The first job is lost if it is to blame;
 * otherwise it is tried again. Jobs after it were not started and return to the queue's head. After
 * a death on a batch of several, the guilty job is unknown: each is tried again alone. */
static void empty_slot(compile_pool *pool, compile_slot *s, worker_death death, const char *why)
{
    size_t size = s->batch_count ? s->batches[0].size : 0;
    compile_job *j = size == 1 ? compile_slot_take_first(s) : NULL;
    compile_slot_return(s, &pool->queue);
    if (j && s->greeted && worker_blame_add(&j->blame, death)) {
        if (finish_lost(pool, j, death == DEATH_TIMEOUT ? COMPILE_TIMEOUT : COMPILE_CRASHED, why))
            break_pool(pool, AT_NO_MEMORY, "out of memory for a compile result");
    } else if (j) {
        queue_push_front(&pool->queue, j);
    }
    s->lost_starts = s->greeted ? 0 : s->lost_starts + 1;
    if (s->greeted)
        pool->failed_starts = 0;
    else if (!s->host && ++pool->failed_starts >= START_ATTEMPTS)
        break_pool(pool, AT_WORKER, why);
    s->greeted = false;
}

static void end_worker(compile_pool *pool, compile_slot *s, worker_death death)
{
    char how[128], why[256];
    death = supervised_end(&s->child, death, COLLECT_MS, how, sizeof how);
    if (death == DEATH_TIMEOUT)
        snprintf(why, sizeof why,
                 s->greeted ? "the compiler did not finish within %d s"
                            : "a compile worker did not start within %d s",
                 s->greeted ? (int)(pool->timeout_ns / 1000000000) : START_TIMEOUT_S);
    else /* Puts "was" before "killed by ...", but not before "exited with ...". */
        snprintf(why, sizeof why, "the compile worker %s%s",
                 death != DEATH_INVALID && strncmp(how, "killed", 6) == 0 ? "was " : "",
                 death == DEATH_INVALID ? "sent an invalid message" : how);
    empty_slot(pool, s, death, why);
}

static at_status start(compile_pool *pool, compile_slot *s, at_error *error)
{
    pack settings = {0};
    compile_worker_put_config(&settings, &pool->config);
    at_status status =
        worker_start(s->host, &compile_worker_program, &settings, &s->child.process, error);
    pack_deinit(&settings);
    if (status)
        return status;
    s->greeted = false;
    supervised_begin(&s->child, START_TIMEOUT_S * (int64_t)1000000000);
    return AT_OK;
}

/* Starts the missing workers. If no worker runs, the pool is broken. */
static void start_missing_workers(compile_pool *pool)
{
    at_error error = {0};
    size_t running = 0;
    for (size_t i = 0; i < pool->slot_count; i++) {
        compile_slot *s = &pool->slots[i];
        /* Workers on other hosts need the local NVRTC's version, so they start after a greeting. */
        if (s->child.process.pid == 0 && s->host &&
            (!pool->version[0] || s->lost_starts >= LOST_STARTS))
            continue;
        bool runs = s->child.process.pid != 0 || start(pool, s, &error) == AT_OK;
        s->lost_starts += !runs;
        running += runs;
    }
    if (running == 0)
        break_pool(pool, error.status, error.message);
}

static void give_batch(compile_pool *pool, compile_slot *s, size_t most)
{
    if (s->batch_count == 0 && s->greeted)
        supervised_expect(&s->child, pool->timeout_ns);
    compile_slot_give(s, &pool->queue, most);
}

/* Replaces dead workers and distributes the queue, breadth first. The last sources go only to idle
 * workers, so that no worker is idle while another has two batches. Batches are small enough to
 * leave two for every worker. */
static void distribute(compile_pool *pool)
{
    /* Before the first greeting workers start at once, to show whether NVRTC can be opened. */
    if ((pool->queue.count || !pool->version[0]) && !pool->broken.status)
        start_missing_workers(pool);
    for (size_t depth = 0; depth < COMPILE_DEPTH; depth++) {
        size_t kept = depth ? pool->slot_count / 2 : 0;
        size_t most = pool->queue.count / (2 * pool->slot_count);
        if (most > COMPILE_GROUP_MAX)
            most = COMPILE_GROUP_MAX;
        for (size_t i = 0; i < pool->slot_count && pool->queue.count > kept; i++) {
            compile_slot *s = &pool->slots[i];
            if (s->child.process.pid != 0 && s->batch_count == depth)
                give_batch(pool, s, most);
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

static void set_deadline(const compile_pool *pool, compile_slot *s)
{
    s->child.deadline_ns = 0;
    if (s->batch_count > 0)
        supervised_expect(&s->child, pool->timeout_ns);
}

/* Accepts a result for the slot's first job. Returns false if the worker is no longer usable. */
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
    queue_push(&pool->done, f);
    compile_job_free(compile_slot_take_first(s));
    set_deadline(pool, s);
    if (view.outcome != COMPILE_CRASHED)
        return true;
    /* The compiler survived, but its state may be damaged. */
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
    pool->failed_starts = 0;
    set_deadline(pool, s);
    return true;
}

static bool accept_refusal(compile_pool *pool, compile_slot *s, message *m)
{
    const char *why = pack_get_string(&m->body);
    /* A refusal after the greeting is invalid and ends only this worker. */
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

/* Reads the messages of a worker. Ends a worker that has died or sent an invalid message. */
static void listen_to(compile_pool *pool, compile_slot *s)
{
    for (;;) {
        message m;
        worker_death death = DEATH_INVALID;
        at_status status = supervised_take(&s->child, &m, &death);
        if (status == AT_NOT_FOUND) {
            /* A large answer may arrive slowly without the compiler hanging. */
            if (s->child.deadline_ns != 0 && message_reader_busy(&s->child.reader))
                supervised_expect(&s->child, pool->timeout_ns);
            return;
        }
        bool fine = status == AT_OK && accept_message(pool, s, &m);
        message_deinit(&m);
        if (!fine) {
            end_worker(pool, s, death);
            return;
        }
    }
}

void compile_poll(const compile_pool *pool, poll_set *set)
{
    if (pool->done.count || pool->broken.status)
        poll_set_shorten(set, 0);
    for (size_t i = 0; i < pool->slot_count; i++)
        supervised_poll(&pool->slots[i].child, set);
}

/* Distributes requests, waits up to `timeout_ms` (0 does not wait, < 0 waits without a limit) for
 * an event, and reads new messages. Returns false if a signal ended the wait. */
static bool run_once(compile_pool *pool, int timeout_ms)
{
    distribute(pool);
    poll_set set;
    poll_set_start(&set, timeout_ms);
    compile_poll(pool, &set);
    int ready = poll_set_wait(&set);
    bool interrupted = ready < 0 && errno == EINTR;
    size_t at = 0;
    for (size_t i = 0; i < pool->slot_count && ready > 0; i++) {
        compile_slot *s = &pool->slots[i];
        short events = s->child.process.fd >= 0 && at < set.count ? set.fds[at++].revents : 0;
        if (events & POLLOUT)
            compile_slot_flush(s);
        if (events & (POLLIN | POLLHUP | POLLERR))
            listen_to(pool, s);
    }
    for (size_t i = 0; i < pool->slot_count; i++)
        if (supervised_is_late(&pool->slots[i].child))
            end_worker(pool, &pool->slots[i], DEATH_TIMEOUT);
    distribute(pool);
    return !interrupted;
}

static void take_first(compile_pool *pool, compile_result *out)
{
    finished *f = queue_pop(&pool->done);
    *out = f->result;
    free(f);
    pool->pending--;
}

at_status compile_take(compile_pool *pool, int timeout_ms, compile_result *out, at_error *error)
{
    *out = (compile_result){0};
    int64_t end_ns = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * (int64_t)1000000;
    bool going = run_once(pool, 0);
    for (;;) {
        if (pool->done.count) {
            take_first(pool, out);
            return AT_OK;
        }
        if (pool->broken.status)
            return error_set(error, pool->broken.status, "%s", pool->broken.message);
        int64_t left_ns = end_ns - clock_now_ns();
        if (pool->pending == 0 || left_ns <= 0 || !going)
            return error_set(error, AT_NOT_FOUND, "no source has finished compiling");
        int left_ms = timeout_ms < 0 ? -1 : (int)((left_ns + 999999) / 1000000);
        going = run_once(pool, left_ms);
    }
}

/* Converts the options of a request to NVRTC's form. The caller frees *texts, which holds them. */
static at_status read_options(const compile_request *r, const char *options[COMPILE_OPTIONS_MAX],
                              size_t *count, char **texts, at_error *error)
{
    *count = 0;
    *texts = NULL;
    if (r->option_count > COMPILE_OPTIONS_MAX)
        return error_set(error, AT_SCRIPT,
                         "the variant has more than %d compiler options, the most that are allowed",
                         COMPILE_OPTIONS_MAX);
    if (r->option_count == 0)
        return AT_OK;
    *texts = malloc(r->option_count * COMPILE_OPTION_BYTES);
    if (!*texts)
        return error_no_memory(error);
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
        return error_set(error, AT_SCRIPT,
                         "the source includes more than %d files, the most that are allowed",
                         SOURCE_HEADERS_MAX);
    compile_request numbered = *request;
    const char *options[COMPILE_OPTIONS_MAX];
    char *texts;
    at_status status = read_options(request, options, &numbered.option_count, &texts, error);
    if (status)
        return status;
    numbered.options = options;
    numbered.id = ++pool->last_number;
    compile_job *j = calloc(1, sizeof *j);
    if (j) {
        *j = (compile_job){.id = request->id,
                           .number = numbered.id,
                           .kind = compile_wire_kind(&numbered),
                           .alone = request->want_ptx};
        compile_wire_put_request(&j->out.message.body, &numbered);
    }
    free(texts);
    if (!j || j->out.message.body.failed) {
        if (j)
            compile_job_free(j);
        return error_no_memory(error);
    }
    queue_push(&pool->queue, j);
    pool->pending++;
    distribute(pool);
    return AT_OK;
}

void compile_prioritise(compile_pool *pool)
{
    queue *q = &pool->queue;
    compile_job *j = q->count > 1 ? q->last : NULL;
    if (!j || j->number != pool->last_number)
        return;
    queue_remove(q, j);
    queue_push_front(q, j);
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
        run_once(pool, -1);
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
        return error_no_memory(error);
    for (size_t i = 0; i < pool->slot_count; i++)
        pool->slots[i].child = supervised_make();
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
        return error_no_memory(error);
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
        worker_kill(&pool->slots[i].child.process);
}

void compile_pool_free(compile_pool *pool)
{
    if (!pool)
        return;
    compile_pool_kill(pool); /* Kills all workers first, so that their ends overlap. */
    for (size_t i = 0; pool->slots && i < pool->slot_count; i++) {
        compile_slot *s = &pool->slots[i];
        supervised_stop(&s->child);
        compile_slot_return(s, &pool->queue);
    }
    for (compile_job *j; (j = queue_pop(&pool->queue));)
        compile_job_free(j);
    while (pool->done.count) {
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
