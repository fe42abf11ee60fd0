#include "fake_state.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_NODES = 8192 };

struct CUgraph_st {
    size_t count;
    fake_node nodes[MAX_NODES];
};

struct CUgraphExec_st {
    CUgraph graph;
    bool uploaded;
};

struct CUevent_st {
    uint64_t time_ns;
    bool recorded;
    bool gated; /* queued while the gate was closed: the event is part of a sample */
};

CUresult fake_capture(fake_node n)
{
    if (fake.capturing->count == MAX_NODES)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake.capturing->nodes[fake.capturing->count++] = n;
    return CUDA_SUCCESS;
}

/* ---- graphs ---- */

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    (void)mode;
    CUresult result = fake_enter();
    if (result || !stream || fake.capturing)
        return result ? result : CUDA_ERROR_INVALID_VALUE;
    fake.capturing = calloc(1, sizeof *fake.capturing);
    return fake.capturing ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    if (!stream || !fake.capturing)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = fake.capturing;
    fake.capturing = NULL;
    return fake_enter();
}

CUresult cuGraphCreate(CUgraph *out, unsigned flags)
{
    (void)flags;
    *out = calloc(1, sizeof **out);
    return fake_enter();
}

/* Programs of `capture` add nodes to graphs. CUPTI reports no name for the kernel of a node. */
CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
                              size_t after_count, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    uint64_t own = 0;
    const struct {
        CUgraphNode *out;
        CUgraph graph;
        const CUgraphNode *after;
        size_t after_count;
        const CUDA_KERNEL_NODE_PARAMS *kernel;
    } parameters = {out, graph, after, after_count, kernel};
    fake_call(0, __func__, &parameters, NULL, NULL, &own);
    graph->nodes[graph->count++] = (fake_node){.function = kernel->func};
    const CUresult result = fake_enter();
    fake_call(1, __func__, &parameters, &result, NULL, &own);
    return result;
}

CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
    (void)flags;
    CUgraphExec g = calloc(1, sizeof *g);
    g->graph = malloc(sizeof *g->graph);
    *g->graph = *graph;
    *out = g;
    return fake_enter();
}

CUresult cuGraphUpload(CUgraphExec g, CUstream stream)
{
    g->uploaded = true;
    return stream ? fake_enter() : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult launch_graph(CUgraphExec g, CUstream stream)
{
    CUresult result = fake_enter();
    if (result || !stream || !g->uploaded)
        return result ? result : CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < g->graph->count; i++) {
        fake_node *n = &g->graph->nodes[i];
        void *arguments[MAX_ARGUMENTS];
        for (int a = 0; a < MAX_ARGUMENTS; a++)
            arguments[a] = &n->arguments[a];
        if (n->function)
            fake_run_now(n->function,
                         &(fake_launch){.arguments = arguments, .threads = n->threads});
        else
            fake_copy_within(n->to, n->from, n->size_bytes);
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec g, CUstream stream)
{
    uint64_t own = 0;
    const struct {
        CUgraphExec g;
        CUstream stream;
    } parameters = {g, stream};
    fake_call(0, __func__, &parameters, NULL, NULL, &own);
    const CUresult result = launch_graph(g, stream);
    fake_call(1, __func__, &parameters, &result, NULL, &own);
    return result;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = fake.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    free(graph);
    return fake_enter();
}

CUresult cuGraphExecDestroy(CUgraphExec g)
{
    free(g->graph);
    free(g);
    return fake_enter();
}

/* ---- events ---- */

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? fake_enter() : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventDestroy(CUevent event)
{
    free(event);
    return fake_enter();
}

/* If no work is queued before an event, the measured time includes the launch latency, as on a GPU.
 * The fake latency is 1 ms. */
CUresult cuEventRecord(CUevent event, CUstream stream)
{
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    event->time_ns = fake.now_ns;
    event->recorded = true;
    event->gated = fake.gate != NULL;
    if (!fake.gate)
        fake.now_ns += 1000000;
    return fake_enter();
}

CUresult cuEventElapsedTime(float *time_ms, CUevent start, CUevent stop)
{
    if (!start->recorded || !stop->recorded)
        return CUDA_ERROR_INVALID_HANDLE;
    if (start->gated) {
        fake_wait_us(fake_setting("FAKE_CUDA_TIME_US", 0));
        fake_count_time();
    }
    /* Events have a resolution of half a microsecond. */
    *time_ms = (float)(round((double)(stop->time_ns - start->time_ns) / 500.0) * 500.0 * 1e-6);
    return fake_enter();
}

CUresult cuEventQuery(CUevent event)
{
    return event->recorded ? fake_enter() : CUDA_ERROR_NOT_READY;
}
