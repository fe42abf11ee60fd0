#include "run/setup/workers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/setup/setup.h"

enum { STEP_MS = 100 };

/* The time after which the next GPU no longer waits for a GPU that is still opening. */
static const int64_t opening_timeout_ns = INT64_C(2) * 1000000000;

static at_status start_device(const settings *o, const char *spec, const worker_host *host,
                              bool waits, device_worker **out, at_error *error)
{
    device_cache cache = o->race.warm_cache ? DEVICE_CACHE_WARM : DEVICE_CACHE_COLD;
    return device_worker_start(
        &(device_worker_options){
            .spec = spec, .host = host, .waits = waits, .cache = cache, .share = o->machine.share},
        out, error);
}

static at_status await_opened(device_worker *d, device_properties *out, at_error *error)
{
    device_event event;
    at_status status = device_worker_take(d, -1, &event, error);
    if (status)
        return status;
    if (event.kind == DEVICE_OPENED)
        *out = event.properties;
    else
        status = error_set(error, event.status ? event.status : AT_DEVICE, "%s", event.message);
    device_event_deinit(&event);
    return status;
}

static at_status open_device(workers *w, const settings *o, const char *spec, at_error *error)
{
    at_status status = start_device(o, spec, NULL, false, &w->device, error);
    return status ? status : await_opened(w->device, &w->properties, error);
}

at_status workers_meet(workers *w, const device_worker *d, const device_properties *p,
                       at_error *error)
{
    for (size_t i = 0; i < w->other_count; i++)
        if (w->others[i] == d)
            w->other_properties[i] = *p;
    return strcmp(p->limits.name, w->properties.limits.name) == 0
               ? AT_OK
               : error_set(
                     error, AT_USAGE,
                     "%s is a %s, but %s is a %s: GPUs that tune together must be of one model",
                     w->properties.spec, w->properties.limits.name, p->spec, p->limits.name);
}

at_status workers_await(workers *w, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < w->other_count; i++) {
        device_properties found;
        if (*w->other_properties[i].spec)
            continue;
        device_worker_begin(w->others[i]);
        status = await_opened(w->others[i], &found, error);
        if (!status)
            status = workers_meet(w, w->others[i], &found, error);
    }
    return status;
}

void workers_open_next(workers *w)
{
    bool opens = w->device && device_worker_is_opening(w->device);
    device_worker *next = NULL;
    for (size_t i = 0; i < w->other_count; i++) {
        opens = opens || device_worker_is_opening(w->others[i]);
        if (!next && device_worker_is_unstarted(w->others[i]))
            next = w->others[i];
    }
    int64_t now_ns = clock_now_ns();
    if (!next || (opens && now_ns - w->begun_ns < opening_timeout_ns))
        return;
    w->begun_ns = now_ns;
    device_worker_begin(next);
}

/* Opens the GPUs of "cuda:0,2". The first GPU describes all of them. */
static at_status open_devices(workers *w, const settings *o, at_error *error)
{
    const char *spec = o->machine.device;
    char first[32], next[32];
    const char *kind = strchr(spec, ':'), *comma = strchr(spec, ',');
    if (!kind || !comma || strncmp(spec, "cuda:", 5) != 0)
        return open_device(w, o, spec, error);
    snprintf(first, sizeof first, "%.*s", (int)(comma - spec), spec);
    /* Without a race the first samples decide, and samples of different GPUs cannot be compared. */
    if (o->race.fixed_samples > 0)
        return open_device(w, o, first, error);
    at_status status = open_device(w, o, first, error);
    for (; !status && comma; comma = strchr(comma + 1, ',')) {
        int length = (int)strcspn(comma + 1, ",");
        snprintf(next, sizeof next, "%.*s:%.*s", (int)(kind - spec), spec, length, comma + 1);
        if (w->other_count == WORKERS_MOST_OTHERS)
            return error_set(error, AT_USAGE, "too many GPUs are given: at most %d are allowed",
                             WORKERS_MOST_OTHERS + 1);
        status = start_device(o, next, NULL, true, &w->others[w->other_count], error);
        w->other_count += !status;
    }
    w->begun_ns = clock_now_ns();
    return status;
}

/* Opens the default device: the first GPU, otherwise a simulated device if this build has one. */
static at_status open_default_device(workers *w, const settings *o, at_error *error)
{
    at_status status = open_device(w, o, "cuda:0", error);
    if (status == AT_NO_DEVICE && device_api_find("sim:sm_90")) {
        snprintf(w->driver_less, sizeof w->driver_less, "%s", error->message);
        device_worker_free(w->device);
        w->device = NULL;
        error_clear(error);
        return open_device(w, o, "sim:sm_90", error);
    }
    if (status == AT_NO_DEVICE) {
        char why[512];
        snprintf(why, sizeof why, "%s", error->message);
        error_set(
            error, AT_NO_DEVICE,
            "%s\nWithout a GPU: 'autotune SCRIPT --arch sm_90' compiles the whole space and "
            "shows resources and occupancy; 'emit', 'inspect', 'space' and 'export' work too.",
            why);
    }
    return status;
}

static bool is_named(const char *asked, const device_properties *p)
{
    if (!asked || strcmp(asked, "all") == 0)
        return true;
    const char *ordinal = strchr(p->spec, ':') + 1;
    size_t length = strlen(ordinal);
    for (const char *at = strchr(asked, ':'); at; at = strchr(at + 1, ','))
        if (strcspn(at + 1, ",") == length && strncmp(at + 1, ordinal, length) == 0)
            return true;
    return false;
}

static bool is_known(const workers *w, const device_properties *p)
{
    bool known = w->device && strcmp(w->properties.uuid, p->uuid) == 0;
    for (size_t i = 0; i < w->other_count; i++)
        known = known || strcmp(w->other_properties[i].uuid, p->uuid) == 0;
    return known;
}

/* Starts a GPU of a rank. The first GPU runs the race. Ranks of one host may see the same GPUs. */
static at_status add_device(workers *w, const settings *o, size_t rank, const device_properties *p,
                            at_error *error)
{
    if (is_known(w, p) || !is_named(o->machine.device, p) || (w->device && o->race.fixed_samples))
        return AT_OK;
    if (w->device && strcmp(p->limits.name, w->properties.limits.name) != 0) {
        w->left_out++;
        return AT_OK;
    }
    if (w->other_count == WORKERS_MOST_OTHERS)
        return error_set(error, AT_USAGE, "too many GPUs are given: at most %d are allowed",
                         WORKERS_MOST_OTHERS + 1);
    device_properties *kept = w->device ? &w->other_properties[w->other_count] : &w->properties;
    device_worker **place = w->device ? &w->others[w->other_count++] : &w->device;
    *kept = *p;
    return start_device(o, p->spec, ranks_host(w->ranks, rank), false, place, error);
}

/* Starts every GPU of every rank that can list its GPUs. Returns AT_NOT_FOUND if there are none. */
static at_status open_ranks(workers *w, const settings *o, at_error *error)
{
    enum { MOST_OF_RANK = 32 };
    at_status status = AT_OK;
    device_properties *found = memory_new(MOST_OF_RANK, sizeof *found);
    for (size_t rank = 0; !status && rank < ranks_count(w->ranks); rank++) {
        size_t count = 0;
        at_error trouble = {0};
        if (device_worker_list_on(ranks_host(w->ranks, rank), "cuda", found, MOST_OF_RANK, &count,
                                  &trouble))
            continue;
        for (size_t i = 0; !status && i < count; i++)
            status = add_device(w, o, rank, &found[i], error);
    }
    free(found);
    if (!status && !w->device)
        return AT_NOT_FOUND;
    return status ? status : await_opened(w->device, &w->properties, error);
}

static at_status open_target(const settings *o, workers *w, at_error *error)
{
    if (o->machine.arch && !o->machine.device) {
        at_status status = target_find(o->machine.arch, &w->properties.limits, error);
        snprintf(w->properties.arch, sizeof w->properties.arch, "%s", w->properties.limits.name);
        return status;
    }
    if (o->machine.arch)
        return error_set(error, AT_USAGE,
                         "--arch compiles without a device: leave out one of "
                         "--arch and --device");
    if (w->ranks && (!o->machine.device || strncmp(o->machine.device, "sim", 3) != 0)) {
        at_status status = open_ranks(w, o, error);
        if (status != AT_NOT_FOUND)
            return status;
    }
    return o->machine.device && strcmp(o->machine.device, "all") != 0
               ? open_devices(w, o, error)
               : open_default_device(w, o, error);
}

static at_status open_pool(workers *w, const settings *o, at_error *error)
{
    size_t ranks = ranks_count(w->ranks);
    compile_host *hosts = memory_new(ranks, sizeof *hosts);
    for (size_t i = 1; i < ranks; i++)
        hosts[i - 1] =
            (compile_host){.host = ranks_host(w->ranks, i), .jobs = ranks_cores(w->ranks, i)};
    at_status status = compile_pool_new(
        &(compile_options){.jobs = o->machine.jobs > 0 ? o->machine.jobs
                                                       : (int)ranks_cores(w->ranks, 0),
                           .use_cache = o->machine.use_cache,
                           .hosts = hosts,
                           .host_count = ranks - 1},
        &w->pool, error);
    free(hosts);
    return status;
}

at_status workers_open(workers *w, const settings *o, at_error *error)
{
    *w = (workers){0};
    at_status status = ranks_join(&w->ranks, error);
    if (!status)
        status = open_pool(w, o, error);
    return status ? status : open_target(o, w, error);
}

void workers_end(const workers *w)
{
    compile_pool_kill(w->pool);
    device_worker_kill(w->device);
    for (size_t i = 0; i < w->other_count; i++)
        device_worker_kill(w->others[i]);
}

void workers_close(workers *w)
{
    workers_end(w);
    device_worker_free(w->device);
    for (size_t i = 0; i < w->other_count; i++)
        device_worker_free(w->others[i]);
    compile_pool_free(w->pool);
    ranks_leave(w->ranks);
    *w = (workers){0};
}

static at_status drop_events(workers *w, device_worker *d, at_error *error)
{
    device_worker_begin(d);
    for (;;) {
        device_event event;
        /* A pending answer may be claimed, which makes no event: asks again from time to time. */
        bool pending = device_worker_pending(d) > 0;
        at_status status = device_worker_take(d, pending ? STEP_MS : 0, &event, error);
        if (status == AT_NOT_FOUND && pending)
            continue;
        if (status)
            return error_ignore(status, AT_NOT_FOUND, error);
        bool failed = event.kind == DEVICE_FAILED;
        if (event.kind == DEVICE_OPENED)
            failed = (status = workers_meet(w, d, &event.properties, error)) != AT_OK;
        else if (failed)
            status = error_set(error, event.status ? event.status : AT_DEVICE, "%s", event.message);
        device_event_deinit(&event);
        if (failed)
            return status;
    }
}

at_status workers_settle(workers *w, const settings *o, at_error *error)
{
    if (!w->pool)
        return workers_open(w, o, error);
    at_status status = w->device ? drop_events(w, w->device, error) : AT_OK;
    size_t kept = 0;
    for (size_t i = 0; i < w->other_count; i++) {
        at_error why = {0};
        if (drop_events(w, w->others[i], &why)) {
            device_worker_free(w->others[i]);
            continue;
        }
        w->others[kept] = w->others[i];
        w->other_properties[kept++] = w->other_properties[i];
    }
    w->other_count = kept;
    if (status && kept > 0) { /* The device is lost, and another takes its place. */
        error_clear(error);
        status = AT_OK;
        device_worker_free(w->device);
        w->device = w->others[0];
        w->properties = w->other_properties[0];
        w->other_count--;
        memmove(w->others, w->others + 1, w->other_count * sizeof *w->others);
        memmove(w->other_properties, w->other_properties + 1,
                w->other_count * sizeof *w->other_properties);
    }
    if (status || !compile_pending(w->pool))
        return status;
    compile_pool_free(w->pool);
    w->pool = NULL;
    return open_pool(w, o, error);
}

at_status workers_replace_device(workers *w, const settings *o, at_error *error)
{
    char spec[sizeof w->properties.spec];
    snprintf(spec, sizeof spec, "%s", w->properties.spec);
    device_worker_free(w->device);
    w->device = NULL;
    return open_device(w, o, spec, error);
}

void gpus_init(gpus *g, const workers *w)
{
    *g = (gpus){.count = 1};
    g->items[0].worker = w->device;
    for (size_t i = 0; i < w->other_count; i++)
        g->items[g->count++].worker = w->others[i];
}

run_gpu *gpus_idlest(gpus *g, size_t most)
{
    run_gpu *found = NULL;
    for (size_t i = 0; i < g->count; i++) {
        run_gpu *one = &g->items[i];
        if (one->ready && !one->lost && one->trying < (found ? found->trying : most))
            found = one;
    }
    return found;
}

static bool is_described(const run_gpu *one, const workers *w)
{
    for (size_t i = 0; i < w->other_count; i++)
        if (w->others[i] == one->worker)
            return *w->other_properties[i].spec;
    return one->worker == w->device;
}

/* Returns the first GPU that is ready, otherwise the first described GPU, otherwise g->count. */
static size_t find_home(const gpus *g, const workers *w)
{
    size_t found = g->count;
    for (size_t i = 0; i < g->count; i++) {
        const run_gpu *one = &g->items[i];
        if (!one->lost && is_described(one, w) &&
            (found == g->count || (one->ready && !g->items[found].ready)))
            found = i;
    }
    return found;
}

bool gpus_lose(gpus *g, size_t lost, workers *w)
{
    g->items[lost].lost = true;
    g->items[lost].trying = 0;
    if (lost != g->home)
        return true;
    size_t next = find_home(g, w);
    if (next == g->count)
        return false;
    for (size_t i = 0; i < w->other_count; i++) {
        if (w->others[i] != g->items[next].worker)
            continue;
        device_properties taken = w->other_properties[i];
        w->others[i] = w->device;
        w->other_properties[i] = w->properties;
        w->device = g->items[next].worker;
        w->properties = taken;
    }
    g->home = next;
    return true;
}

double gpus_likely_ns(const gpus *g, size_t at, int64_t time_ns)
{
    const run_gpu *home = &g->items[g->home], *there = &g->items[at];
    bool known = at != g->home && home->ceiling_ns > 0 && there->ceiling_ns > 0;
    return (double)time_ns * (known ? (double)home->ceiling_ns / (double)there->ceiling_ns : 1);
}

int64_t gpus_prior_ns(const gpus *g, size_t at, int64_t time_ns)
{
    int64_t home_ns = g->items[g->home].best_ns, there_ns = g->items[at].best_ns;
    if (at == g->home || !home_ns || !there_ns)
        return time_ns;
    return (int64_t)llround((double)time_ns * (double)home_ns / (double)there_ns);
}

int gpus_restarts(const gpus *g)
{
    int sum = 0;
    for (size_t i = 0; i < g->count; i++)
        sum += g->items[i].restarts;
    return sum;
}
