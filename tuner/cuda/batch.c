#include "cuda/batch.h"

#include <stdlib.h>

#include "cuda/timer.h"

struct device_batch {
    CUgraphExec graph;
    uint32_t launches;
};

/* The recipe of launch `i` of a batch. */
typedef struct batch_recipe {
    device_kernel *kernel; /* NULL: an empty kernel */
    const launch_plan *plan;
    device_buffer *const *const *sets;      /* of a kernel; NULL: a copy */
    device_buffer *const *to, *const *from; /* of a copy */
    uint64_t copy_bytes;
    size_t set_count;
} batch_recipe;

static at_status queue_one(device *d, const batch_recipe *r, uint32_t i, at_error *error)
{
    size_t set = i % r->set_count;
    if (r->kernel)
        return cuda_kernel_queue(d, r->kernel, r->plan, r->sets[set], error);
    if (r->to || r->from)
        return cuda_traffic_queue(d, r->to ? r->to[set] : NULL, r->from ? r->from[set] : NULL,
                                  r->copy_bytes, error);
    return cuda_support_queue(d, SUPPORT_EMPTY, 1, NULL, error);
}

/* Records the launches as a graph. A capture that began is always ended: the stream is of no use
 * otherwise. */
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
    /* Otherwise the first sample would pay for the upload. */
    if (!status)
        status = cuda_done(d, d->cuda.cuGraphUpload(b->graph, d->stream), what, error);
    if (!status)
        status = cuda_wait(d, what, error);
    if (status)
        cuda_batch_free(d, b);
    else
        *out = b;
    return status;
}

at_status cuda_batch_new(device *d, device_kernel *k, const launch_plan *plan,
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

at_status cuda_batch_copy_new(device *d, device_buffer *const *to, device_buffer *const *from,
                              size_t set_count, uint64_t size_bytes, uint32_t launches,
                              device_batch **out, at_error *error)
{
    const batch_recipe r = {
        .to = to, .from = from, .copy_bytes = size_bytes, .set_count = set_count};
    return make(d, &r, launches, out, error);
}

void cuda_batch_free(device *d, device_batch *b)
{
    if (!b)
        return;
    if (b->graph)
        d->cuda.cuGraphExecDestroy(b->graph);
    free(b);
}

static at_status launch_graph(device *d, device_batch *b, at_error *error)
{
    return cuda_done(d, d->cuda.cuGraphLaunch(b->graph, d->stream), "cannot launch a batch", error);
}

at_status cuda_batch_sample(device *d, device_batch *b, device_cache cache, int64_t *time_ns,
                            at_error *error)
{
    at_status status = cache == DEVICE_CACHE_WARM ? launch_graph(d, b, error) : AT_OK;
    if (status)
        return status;
    status = cuda_sample_begin(d, cache, NULL, 0, error);
    if (!status)
        status = launch_graph(d, b, error);
    int64_t all_ns;
    status = cuda_sample_end(d, status, &all_ns, error);
    if (!status)
        *time_ns = (all_ns + b->launches / 2) / b->launches;
    return status;
}
