/* Times of the cuda device: samples, batches, warm-up, floor and tick, SM clock.
 *
 * A sample is two events around a launch. A gate kernel before them ends only after the host has
 * queued everything, so launch latency is not measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "cuda/nvml.h"
#include "cuda/queue.h"

/* A gate that is closed for this long opens by itself. Queueing takes only tens of microseconds. */
static const uint64_t gate_timeout_ns = 200 * 1000 * 1000;

/* After an idle time, a chip raises its clock during up to 300 ms of work. Warm-up ends after
 * warm_up_most_ns even if copies still get faster. */
static const int64_t warm_up_least_ns = 300 * 1000 * 1000;
static const int64_t warm_up_most_ns = 1500 * 1000 * 1000;
/* Timeout by the host's clock, for a device whose clock stands still. */
static const int64_t warm_up_timeout_ns = 6 * INT64_C(1000000000);

enum {
    WARM_UP_COPIES = 32, /* copies between two readings of the clock */
    FLOOR_SAMPLES = 65,
    LEAST_FLUSH_BYTES = 4 * 1024 * 1024,
    MOST_HELD_BACK = 512 /* launches behind a closed gate; the host blocks at about a thousand */
};

/* The nanosecond counter may advance in steps of 1 us, an error of 0.1 % over this time. */
static const uint64_t sm_clock_least_ns = 1000 * 1000;

static at_status new_gate(device *d, at_error *error)
{
    void *host;
    at_status status = cuda_allocate_pinned(d, 64, CU_MEMHOSTALLOC_DEVICEMAP, &host, error);
    if (status)
        return status;
    d->clock.gate_host = host;
    return cuda_done(d, d->cuda.cuMemHostGetDevicePointer(&d->clock.gate, host, 0),
                     "cannot map the flag that holds launches back", error);
}

static size_t sm_counter_bytes(const device *d)
{
    return (size_t)d->properties.limits.sm_count * 2 * sizeof(uint64_t);
}

static at_status new_counters(device *d, at_error *error)
{
    size_t size = sm_counter_bytes(d);
    void *host;
    at_status status = cuda_allocate_pinned(d, 2 * size, 0, &host, error);
    if (status)
        return status;
    d->clock.sm_now = host;
    d->clock.sm_before = d->clock.sm_now + size / sizeof(uint64_t);
    return cuda_allocate(d, size, "the SM counters", &d->clock.sm_counters, error);
}

at_status cuda_clock_new(device *d, at_error *error)
{
    cuda_clock *c = &d->clock;
    c->flush_bytes = 2 * (uint64_t)d->properties.limits.l2_bytes / 16 * 16;
    if (c->flush_bytes < LEAST_FLUSH_BYTES)
        c->flush_bytes = LEAST_FLUSH_BYTES;
    at_status status = cuda_done(d, d->cuda.cuEventCreate(&c->start, CU_EVENT_DEFAULT),
                                 "cannot make an event", error);
    if (!status)
        status = cuda_done(d, d->cuda.cuEventCreate(&c->stop, CU_EVENT_DEFAULT),
                           "cannot make an event", error);
    if (!status)
        status = new_gate(d, error);
    if (!status)
        status = new_counters(d, error);
    if (!status)
        status = cuda_allocate(d, c->flush_bytes, "the L2 flush", &c->flush_write, error);
    if (!status)
        status = cuda_allocate(d, c->flush_bytes, "the L2 flush", &c->flush_read, error);
    return status;
}

void cuda_clock_free(device *d)
{
    cuda_clock *c = &d->clock;
    const cuda_driver *cuda = &d->cuda;
    if (c->start)
        cuda->cuEventDestroy(c->start);
    if (c->stop)
        cuda->cuEventDestroy(c->stop);
    if (c->gate_host)
        cuda->cuMemFreeHost((void *)(uintptr_t)c->gate_host);
    if (c->sm_now)
        cuda->cuMemFreeHost(c->sm_now);
    const CUdeviceptr memory[] = {c->flush_write, c->flush_read, c->sm_counters};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        if (memory[i])
            cuda->cuMemFree(memory[i]);
    *c = (cuda_clock){0};
}

static at_status queue_write(device *d, CUdeviceptr data, uint64_t size_bytes, at_error *error)
{
    uint64_t count = size_bytes / 16, salt = d->clock.ticket;
    void *arguments[] = {&data, &count, &salt};
    return cuda_support_queue(d, SUPPORT_FLUSH_WRITE, count, arguments, error);
}

static at_status queue_read(device *d, CUdeviceptr data, uint64_t size_bytes, at_error *error)
{
    CUdeviceptr sink = d->results;
    uint64_t count = size_bytes / 16;
    void *arguments[] = {&data, &count, &sink};
    return cuda_support_queue(d, SUPPORT_FLUSH_READ, count, arguments, error);
}

/* Writes one buffer, then reads the other, which evicts the dirty lines of the write. */
at_status cuda_flush_queue(device *d, at_error *error)
{
    const cuda_clock *c = &d->clock;
    at_status status = queue_write(d, c->flush_write, c->flush_bytes, error);
    return status ? status : queue_read(d, c->flush_read, c->flush_bytes, error);
}

/* Queues a copy of `size_bytes`. If `from` is NULL queues a write, if `to` is NULL a read, of
 * `size_bytes` rounded down to 16 bytes. */
static at_status queue_traffic(device *d, device_buffer *to, const device_buffer *from,
                               uint64_t size_bytes, at_error *error)
{
    const device_buffer *ends[] = {to, from};
    for (int i = 0; i < 2; i++)
        if (ends[i] && size_bytes > ends[i]->size_bytes)
            return error_set(error, AT_INTERNAL, "%llu bytes do not fit in %s",
                             (unsigned long long)size_bytes, ends[i]->name);
    if (!from)
        return queue_write(d, to->data, size_bytes, error);
    if (!to)
        return queue_read(d, from->data, size_bytes, error);
    return cuda_done(d, d->cuda.cuMemcpyDtoDAsync(to->data, from->data, size_bytes, d->stream),
                     "cannot copy", error);
}

static at_status queue_gate(device *d, at_error *error)
{
    CUdeviceptr flag = d->clock.gate;
    uint32_t ticket = ++d->clock.ticket;
    uint64_t timeout_ns = gate_timeout_ns;
    void *arguments[] = {&flag, &ticket, &timeout_ns};
    return cuda_support_queue(d, SUPPORT_GATE, 1, arguments, error);
}

static void open_gate(device *d)
{
    *d->clock.gate_host = d->clock.ticket;
}

static at_status record(device *d, CUevent event, at_error *error)
{
    return cuda_done(d, d->cuda.cuEventRecord(event, d->stream), "cannot record an event", error);
}

/* Queues the work before the timed work: the flush for a cold cache, `before`, the gate, the first
 * event. The caller must then call end_sample(), even after a failure, because it opens the
 * gate. */
static at_status begin_sample(device *d, device_cache cache, const device_before *before,
                              size_t before_count, at_error *error)
{
    at_status status = cache == DEVICE_CACHE_COLD ? cuda_flush_queue(d, error) : AT_OK;
    for (size_t i = 0; !status && i < before_count; i++)
        status = cuda_kernel_queue(d, before[i].kernel, before[i].plan, before[i].buffers, error);
    if (!status)
        status = queue_gate(d, error);
    return status ? status : record(d, d->clock.start, error);
}

static at_status elapsed(device *d, int64_t *time_ns, at_error *error)
{
    float time_ms;
    at_status status =
        cuda_done(d, d->cuda.cuEventElapsedTime(&time_ms, d->clock.start, d->clock.stop),
                  "cannot read the time", error);
    if (!status)
        *time_ns = llround((double)time_ms * 1e6);
    return status;
}

/* Opens the gate, waits and reads the time. If queueing failed, waits and returns its status
 * `queued`. */
static at_status end_sample(device *d, at_status queued, int64_t *time_ns, at_error *error)
{
    if (!queued)
        queued = record(d, d->clock.stop, error);
    open_gate(d);
    if (queued) {
        cuda_wait(d, "", NULL);
        return queued;
    }
    at_status status = cuda_wait(d, "the kernel faulted", error);
    return status ? status : elapsed(d, time_ns, error);
}

at_status cuda_launch(device *d, device_kernel *k, const launch_plan *plan,
                      device_buffer *const *buffers, int64_t *time_ns, at_error *error)
{
    at_status status = cuda_kernel_prepare(d, k, plan, buffers, error);
    if (!status)
        status = record(d, d->clock.start, error);
    if (!status)
        status = cuda_kernel_queue(d, k, plan, buffers, error);
    if (!status)
        status = record(d, d->clock.stop, error);
    if (!status)
        status = cuda_kernel_take_back(d, k, plan, buffers, error);
    if (!status)
        status = cuda_wait(d, "the kernel faulted", error);
    return status ? status : elapsed(d, time_ns, error);
}

at_status cuda_sample(device *d, device_kernel *k, const launch_plan *plan,
                      device_buffer *const *buffers, device_cache cache,
                      const device_before *before, size_t before_count, int64_t *time_ns,
                      at_error *error)
{
    at_status status = cuda_kernel_prepare(d, k, plan, buffers, error);
    for (size_t i = 0; !status && i < before_count; i++)
        status = cuda_kernel_prepare(d, before[i].kernel, before[i].plan, before[i].buffers, error);
    if (!status && cache == DEVICE_CACHE_WARM)
        status = cuda_kernel_queue(d, k, plan, buffers, error);
    if (status)
        return status;
    launch_walk walk = {0};
    status = begin_sample(d, cache, before, before_count, error);
    if (!status)
        status = cuda_kernel_queue_some(d, k, plan, buffers, &walk, MOST_HELD_BACK, error);
    if (plan_total_launches(plan) > MOST_HELD_BACK)
        open_gate(d);
    if (!status)
        status = cuda_kernel_queue_some(d, k, plan, buffers, &walk, UINT32_MAX, error);
    return end_sample(d, status, time_ns, error);
}

at_status cuda_sample_copy(device *d, device_buffer *to, const device_buffer *from,
                           uint64_t size_bytes, device_cache cache, int64_t *time_ns,
                           at_error *error)
{
    at_status status =
        cache == DEVICE_CACHE_WARM ? queue_traffic(d, to, from, size_bytes, error) : AT_OK;
    if (status)
        return status;
    status = begin_sample(d, cache, NULL, 0, error);
    if (!status)
        status = queue_traffic(d, to, from, size_bytes, error);
    return end_sample(d, status, time_ns, error);
}

static at_status copy_round(device *d, int64_t *time_ns, at_error *error)
{
    static const char what[] = "cannot warm the device up";
    const cuda_clock *c = &d->clock;
    at_status status = record(d, c->start, error);
    for (int i = 0; !status && i < WARM_UP_COPIES; i++)
        status = cuda_done(
            d, d->cuda.cuMemcpyDtoDAsync(c->flush_write, c->flush_read, c->flush_bytes, d->stream),
            what, error);
    if (!status)
        status = record(d, c->stop, error);
    if (!status)
        status = cuda_wait(d, what, error);
    return status ? status : elapsed(d, time_ns, error);
}

static bool at_top_clock(const device *d)
{
    board_reading now;
    nvml_read(d->board, &now);
    return now.sm_clock_khz > 0 && now.sm_clock_khz >= 0.99 * d->properties.limits.clock_khz;
}

at_status cuda_warm_up(device *d, at_error *error)
{
    int64_t start_ns = clock_now_ns(), busy_ns = 0, before_ns = INT64_MAX;
    if (!d->board)
        nvml_open(d->properties.uuid, &d->board, NULL);
    for (;;) {
        int64_t round_ns;
        at_status status = copy_round(d, &round_ns, error);
        if (status)
            return status;
        busy_ns += round_ns;
        bool settled = (double)round_ns > 0.99 * (double)before_ns;
        if (busy_ns >= warm_up_most_ns ||
            (settled && (busy_ns >= warm_up_least_ns || at_top_clock(d))) ||
            clock_now_ns() - start_ns >= warm_up_timeout_ns)
            return AT_OK;
        before_ns = round_ns;
    }
}

static at_status sample_empty(device *d, int64_t *time_ns, at_error *error)
{
    at_status status = begin_sample(d, DEVICE_CACHE_WARM, NULL, 0, error);
    if (!status)
        status = cuda_support_queue(d, SUPPORT_EMPTY, 1, NULL, error);
    return end_sample(d, status, time_ns, error);
}

/* The floor is the median time of an empty kernel. The tick, the clock's resolution, is the
 * smallest difference between two of these times. */
at_status cuda_floor(device *d, int64_t *floor_ns, int64_t *tick_ns, at_error *error)
{
    int64_t samples_ns[FLOOR_SAMPLES];
    for (int i = 0; i < FLOOR_SAMPLES; i++) {
        at_status status = sample_empty(d, &samples_ns[i], error);
        if (status)
            return status;
    }
    *floor_ns = stats_summarise(samples_ns, FLOOR_SAMPLES).median_ns; /* sorts samples_ns */
    *tick_ns = 0;
    for (int i = 1; i < FLOOR_SAMPLES; i++) {
        int64_t step_ns = samples_ns[i] - samples_ns[i - 1];
        /* The driver reports float milliseconds, so a difference of 1 ns is rounding. */
        if (step_ns > 1 && (*tick_ns == 0 || step_ns < *tick_ns))
            *tick_ns = step_ns;
    }
    return AT_OK;
}

static at_status read_counters(device *d, at_error *error)
{
    static const char what[] = "cannot read the SM clock";
    CUdeviceptr out = d->clock.sm_counters;
    size_t size = sm_counter_bytes(d);
    uint32_t capacity = (uint32_t)d->properties.limits.sm_count;
    at_status status = cuda_done(d, d->cuda.cuMemsetD8Async(out, 0, size, d->stream), what, error);
    if (status)
        return status;
    void *arguments[] = {&out, &capacity};
    status = cuda_support_queue(d, SUPPORT_CLOCK, (uint64_t)capacity * CUDA_BLOCK_THREADS,
                                arguments, error);
    if (!status)
        status = cuda_done(d, d->cuda.cuMemcpyDtoHAsync(d->clock.sm_now, out, size, d->stream),
                           what, error);
    return status ? status : cuda_wait(d, what, error);
}

/* Returns the clock of an SM in kHz, 0 if it is unknown. Keeps the previous reading if it is too
 * recent, so that the next call measures over a longer time. */
static double update_counter(uint64_t *before, const uint64_t *now)
{
    uint64_t cycles = now[0] - before[0], passed_ns = now[1] - before[1];
    bool known = now[1] != 0 && before[1] != 0 && now[0] > before[0];
    if (known && passed_ns < sm_clock_least_ns)
        return 0;
    memcpy(before, now, 2 * sizeof *before);
    return known ? (double)cycles / (double)passed_ns * 1e6 : 0;
}

/* The counters of different SMs are unrelated. Each SM with two readings gives a ratio of cycles to
 * time, and the result is the mean of these ratios. */
at_status cuda_sm_clock(device *d, double *khz, at_error *error)
{
    *khz = 0;
    at_status status = read_counters(d, error);
    if (status)
        return status;
    double sum = 0;
    int used = 0;
    for (int i = 0; i < d->properties.limits.sm_count; i++) {
        double ratio = update_counter(d->clock.sm_before + 2 * i, d->clock.sm_now + 2 * i);
        sum += ratio;
        used += ratio > 0;
    }
    if (used > 0)
        *khz = sum / used;
    return AT_OK;
}

struct device_batch {
    CUgraphExec graph;
    uint32_t launches;
};

typedef struct batch_recipe {
    device_kernel *kernel; /* NULL for copies and for the empty kernel */
    const launch_plan *plan;
    device_buffer *const *const *sets; /* buffers of the kernel; launch i uses set i mod count */
    device_buffer *const *to, *const *from; /* ends of each copy; NULL for a kernel */
    uint64_t copy_bytes;
    size_t set_count;
} batch_recipe;

static at_status queue_one(device *d, const batch_recipe *r, uint32_t i, at_error *error)
{
    size_t set = i % r->set_count;
    if (r->kernel)
        return cuda_kernel_queue(d, r->kernel, r->plan, r->sets[set], error);
    if (r->to || r->from)
        return queue_traffic(d, r->to ? r->to[set] : NULL, r->from ? r->from[set] : NULL,
                             r->copy_bytes, error);
    return cuda_support_queue(d, SUPPORT_EMPTY, 1, NULL, error);
}

/* Records the launches as a graph. A capture is always ended, so that the stream stays usable. */
static at_status capture(device *d, const batch_recipe *r, uint32_t launches, CUgraph *graph,
                         at_error *error)
{
    static const char what[] = "cannot record a batch";
    *graph = NULL;
    at_status status =
        cuda_done(d, d->cuda.cuStreamBeginCapture(d->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                  what, error);
    if (status)
        return status;
    for (uint32_t i = 0; !status && i < launches; i++)
        status = queue_one(d, r, i, error);
    CUresult ended = d->cuda.cuStreamEndCapture(d->stream, graph);
    if (!status)
        status = cuda_done(d, ended, what, error);
    return status;
}

static void batch_free(device *d, device_batch *b)
{
    if (!b)
        return;
    if (b->graph)
        d->cuda.cuGraphExecDestroy(b->graph);
    free(b);
}

static at_status make(device *d, const batch_recipe *r, uint32_t launches, device_batch **out,
                      at_error *error)
{
    static const char what[] = "cannot make a batch";
    *out = NULL;
    device_batch *b = calloc(1, sizeof *b);
    if (!b)
        return error_no_memory(error);
    b->launches = launches;
    CUgraph graph;
    at_status status = capture(d, r, launches, &graph, error);
    if (!status)
        status = cuda_done(d, d->cuda.cuGraphInstantiate(&b->graph, graph, 0), what, error);
    if (graph)
        d->cuda.cuGraphDestroy(graph);
    /* Without this upload, the first sample would include it. */
    if (!status)
        status = cuda_done(d, d->cuda.cuGraphUpload(b->graph, d->stream), what, error);
    if (!status)
        status = cuda_wait(d, what, error);
    if (status)
        batch_free(d, b);
    else
        *out = b;
    return status;
}

static at_status batch_new(device *d, device_kernel *k, const launch_plan *plan,
                           device_buffer *const *const *sets, size_t set_count, uint32_t launches,
                           device_batch **out, at_error *error)
{
    *out = NULL;
    if (plan && plan_transfers(plan))
        return error_set(error, AT_INTERNAL, "a transfer is not timed in batches");
    const batch_recipe r = {.kernel = k, .plan = plan, .sets = sets, .set_count = set_count};
    at_status status = k ? cuda_kernel_prepare(d, k, plan, sets[0], error) : AT_OK;
    for (size_t i = 1; k && i < set_count && !status; i++)
        status = cuda_kernel_prepare_buffers(d, k, plan, sets[i], error);
    return status ? status : make(d, &r, launches, out, error);
}

static at_status batch_copy_new(device *d, device_buffer *const *to, device_buffer *const *from,
                                size_t set_count, uint64_t size_bytes, uint32_t launches,
                                device_batch **out, at_error *error)
{
    const batch_recipe r = {
        .to = to, .from = from, .copy_bytes = size_bytes, .set_count = set_count};
    return make(d, &r, launches, out, error);
}

static at_status launch_graph(device *d, device_batch *b, at_error *error)
{
    return cuda_done(d, d->cuda.cuGraphLaunch(b->graph, d->stream), "cannot launch a batch", error);
}

static at_status batch_sample(device *d, device_batch *b, device_cache cache, int64_t *time_ns,
                              at_error *error)
{
    at_status status = cache == DEVICE_CACHE_WARM ? launch_graph(d, b, error) : AT_OK;
    if (status)
        return status;
    status = begin_sample(d, cache, NULL, 0, error);
    if (!status)
        status = launch_graph(d, b, error);
    int64_t all_ns;
    status = end_sample(d, status, &all_ns, error);
    if (!status)
        *time_ns = (all_ns + b->launches / 2) / b->launches;
    return status;
}

const device_batches cuda_batches = {
    .launches_new = batch_new,
    .copies_new = batch_copy_new,
    .free = batch_free,
    .sample = batch_sample,
};
