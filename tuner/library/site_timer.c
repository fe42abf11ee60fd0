#include "library/sites.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cuda/driver.h"

struct site_mark {
    int64_t begun_ns, time_ns;
    CUcontext context;
    CUevent first, last;
    site_mark *next; /* next in the list of free marks */
};

static site_mark *begin_host(site_timer *timer, void *stream, bool *hidden)
{
    (void)timer;
    (void)stream;
    *hidden = false;
    site_mark *m = calloc(1, sizeof *m);
    if (m)
        m->begun_ns = clock_now_ns();
    return m;
}

static bool end_host(site_timer *timer, site_mark *m, void *stream, int64_t now_ns)
{
    (void)timer;
    (void)stream;
    m->time_ns = now_ns - m->begun_ns;
    return true;
}

static int ask_host(site_timer *timer, site_mark *m, int64_t *time_ns)
{
    (void)timer;
    *time_ns = m->time_ns > 0 ? m->time_ns : 1;
    return 1;
}

static void give_host(site_timer *timer, site_mark *m)
{
    (void)timer;
    free(m);
}

static int64_t host_ns(site_timer *timer)
{
    (void)timer;
    return clock_now_ns();
}

static void close_host(site_timer *timer)
{
    free(timer);
}

static const site_timer_api host_api = {begin_host, end_host, ask_host,
                                        give_host,  host_ns,  close_host};

at_status site_timer_host(site_timer **out, at_error *error)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return error_no_memory(error);
    **out = (site_timer){.api = &host_api, .at_once = true};
    return AT_OK;
}

/* The device time that a pair of events takes; tests/bench/sites.c prints it. */
enum { EVENTS_NS = 3100 };

typedef struct event_timer {
    site_timer timer; /* must be the first member */
    cuda_driver cuda;
    pthread_mutex_t lock;
    site_mark *free; /* free pairs; guarded by `lock` */
} event_timer;

static event_timer *events_of(site_timer *timer)
{
    return (event_timer *)timer;
}

/* Takes a free pair that was made in this context. Returns NULL if no such pair is free. */
static site_mark *take_free(event_timer *t, CUcontext context)
{
    pthread_mutex_lock(&t->lock);
    site_mark **at = &t->free;
    while (*at && (*at)->context != context)
        at = &(*at)->next;
    site_mark *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&t->lock);
    return found;
}

static void free_pair(event_timer *t, site_mark *m)
{
    if (m->first)
        t->cuda.cuEventDestroy(m->first);
    if (m->last)
        t->cuda.cuEventDestroy(m->last);
    free(m);
}

static site_mark *new_pair(event_timer *t, CUcontext context)
{
    site_mark *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->context = context;
    if (t->cuda.cuEventCreate(&m->first, CU_EVENT_DEFAULT) == CUDA_SUCCESS &&
        t->cuda.cuEventCreate(&m->last, CU_EVENT_DEFAULT) == CUDA_SUCCESS)
        return m;
    free_pair(t, m);
    return NULL;
}

static bool is_capturing(event_timer *t, void *stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return t->cuda.cuStreamIsCapturing((CUstream)stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static void give_events(site_timer *timer, site_mark *m)
{
    event_timer *t = events_of(timer);
    pthread_mutex_lock(&t->lock);
    m->next = t->free;
    t->free = m;
    pthread_mutex_unlock(&t->lock);
}

static site_mark *begin_events(site_timer *timer, void *stream, bool *hidden)
{
    event_timer *t = events_of(timer);
    CUcontext context = NULL;
    if (is_capturing(t, stream) || t->cuda.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context)
        return NULL;
    /* A capture of another stream of this thread may forbid to create events. */
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    bool relaxed = t->cuda.cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    site_mark *m = take_free(t, context);
    if (!m)
        m = new_pair(t, context);
    *hidden = t->cuda.cuStreamQuery((CUstream)stream) == CUDA_ERROR_NOT_READY;
    if (relaxed)
        t->cuda.cuThreadExchangeStreamCaptureMode(&mode);
    if (m && t->cuda.cuEventRecord(m->first, (CUstream)stream) != CUDA_SUCCESS) {
        give_events(timer, m);
        return NULL;
    }
    return m;
}

static bool end_events(site_timer *timer, site_mark *m, void *stream, int64_t now_ns)
{
    (void)now_ns;
    event_timer *t = events_of(timer);
    return !is_capturing(t, stream) &&
           t->cuda.cuEventRecord(m->last, (CUstream)stream) == CUDA_SUCCESS;
}

/* Relaxes the thread's capture mode: in the global mode, a query would end a running capture. */
static int ask_events(site_timer *timer, site_mark *m, int64_t *time_ns)
{
    event_timer *t = events_of(timer);
    float ms = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    bool relaxed = t->cuda.cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    CUresult result = t->cuda.cuEventQuery(m->last);
    if (result == CUDA_SUCCESS)
        result = t->cuda.cuEventElapsedTime(&ms, m->first, m->last);
    if (relaxed)
        t->cuda.cuThreadExchangeStreamCaptureMode(&mode);
    if (result == CUDA_ERROR_NOT_READY)
        return 0;
    *time_ns = (int64_t)((double)ms * 1e6);
    return result == CUDA_SUCCESS && *time_ns > 0 ? 1 : -1;
}

static void close_events(site_timer *timer)
{
    event_timer *t = events_of(timer);
    while (t->free) {
        site_mark *m = t->free;
        t->free = m->next;
        free_pair(t, m);
    }
    cuda_driver_close(&t->cuda);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static const site_timer_api event_api = {begin_events, end_events, ask_events,
                                         give_events,  host_ns,    close_events};

at_status site_timer_events(site_timer **out, at_error *error)
{
    event_timer *t = calloc(1, sizeof *t);
    if (!t)
        return error_no_memory(error);
    at_status status = cuda_driver_open(&t->cuda, error);
    if (status) {
        free(t);
        return status;
    }
    t->timer = (site_timer){.api = &event_api, .device_ns = EVENTS_NS};
    pthread_mutex_init(&t->lock, NULL);
    *out = &t->timer;
    return AT_OK;
}
