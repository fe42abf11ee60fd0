/* Transfers between host and device memory: copies in chunks on several streams, with or without a
 * staging block, and with kernels between them; or kernels that access mapped host memory.
 *
 * Each buffer of a problem on the host has a block of host memory with the same layout: contents
 * between two guard bands. A checked run copies the buffer and its bands into the block and
 * overwrites the buffer's contents. After the transfer it copies the block back and checks the
 * buffer as usual.
 *
 * A sample is timed by the host's clock, from an idle device until every stream is done. Events do
 * not include other streams, the host's work (packing, the driver's copy of pageable memory), or
 * the host's latency after the last copy. */
#include <stdio.h>
#include <string.h>

#include "cuda/queue.h"

/* A sample of shorter transfers is the mean of several, so that reading the clock costs < 0.1 %. */
static const int64_t short_ns = 200 * 1000;
enum { MOST_REPEATS = 64 };

/* Fill of the gaps between the pieces of a block, alternating from run to run. */
static const unsigned char gap_bytes[2] = {0xa5, 0x3c};

typedef struct span {
    uint64_t first, size_bytes;
} span;

/* A transfer in progress. After the first failure, kept in `status`, nothing more is queued. */
typedef struct moving {
    device *d;
    device_kernel *kernel; /* NULL if no kernel is launched */
    const launch_plan *plan;
    const transfer_plan *how;
    const device_buffer *from, *to;
    uint64_t size_bytes, piece_bytes, chunk_bytes;
    bool up, down;                       /* data is copied to the device; to the host */
    host_block host_from, host_to;       /* `bytes` is NULL if the block is not needed */
    host_block stage_up, stage_down;     /* `bytes` is NULL if the transfer is not staged */
    CUdeviceptr landing;                 /* destination of copies to the device */
    CUdeviceptr leaving;                 /* source of copies to the host */
    cuda_range ranges[PLAN_MAX_BUFFERS]; /* buffers of the kernels */
    uint32_t streams;
    span waiting[TRANSFER_MAX_STREAMS]; /* data in the staging block that is not unpacked yet */
    at_status status;
    at_error *error;
} moving;

static unsigned char *piece_of(const moving *m, const host_block *b, uint64_t piece)
{
    return b->bytes + DEVICE_GUARD_BYTES + piece * m->how->task.pitch_bytes;
}

/* Takes the longest part in one piece off the start of `left`, and sets `*bytes` to its address. */
static span take_part(const moving *m, const host_block *b, span *left, unsigned char **bytes)
{
    uint64_t piece = left->first / m->piece_bytes, within = left->first % m->piece_bytes;
    span part = {left->first, m->piece_bytes - within};
    if (part.size_bytes > left->size_bytes)
        part.size_bytes = left->size_bytes;
    *bytes = piece_of(m, b, piece) + within;
    left->first += part.size_bytes;
    left->size_bytes -= part.size_bytes;
    return part;
}

static void get_block(moving *m, host_use use, host_memory memory, uint64_t size_bytes,
                      host_block *out)
{
    if (!m->status)
        m->status =
            host_block_get(&m->d->host_blocks, &m->d->cuda, use, memory, size_bytes, out, m->error);
}

static void get_blocks(moving *m)
{
    const transfer_plan *how = m->how;
    uint64_t size = 2 * DEVICE_GUARD_BYTES + how->task.pieces * how->task.pitch_bytes;
    uint64_t stage = m->chunk_bytes * how->streams;
    host_memory staged = how->staging == STAGING_WRITE_COMBINED ? HOST_WRITE_COMBINED : HOST_PINNED;
    host_blocks_begin(&m->d->host_blocks);
    if (transfer_from_host(&how->task))
        get_block(m, HOST_FROM, how->memory, size, &m->host_from);
    if (transfer_to_host(&how->task))
        get_block(m, HOST_TO, how->memory, size, &m->host_to);
    if (how->staging && m->up)
        get_block(m, HOST_STAGE_UP, staged, stage, &m->stage_up);
    if (how->staging && m->down)
        get_block(m, HOST_STAGE_DOWN, staged, stage, &m->stage_down);
}

/* Gets the transfer's streams. These do not synchronise with the device's main stream. */
static void get_streams(moving *m)
{
    CUstream *streams = m->d->transfer_streams;
    for (uint32_t i = 0; !m->status && i < m->streams; i++)
        if (!streams[i])
            m->status =
                cuda_done(m->d, m->d->cuda.cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING),
                          "cannot make a stream", m->error);
}

void cuda_transfers_free(device *d)
{
    host_blocks_free(&d->host_blocks, &d->cuda);
    for (uint32_t i = 0; i < TRANSFER_MAX_STREAMS; i++)
        if (d->transfer_streams[i])
            d->cuda.cuStreamDestroy(d->transfer_streams[i]);
}

/* Lists the memory for the kernels: host memory for mapped buffers, otherwise device memory. */
static void list_ranges(moving *m, device_buffer *const *buffers)
{
    cuda_ranges(m->plan, buffers, m->ranges);
    if (m->host_from.mapped)
        m->ranges[m->how->task.from].address = m->host_from.mapped + DEVICE_GUARD_BYTES;
    if (m->host_to.mapped)
        m->ranges[m->how->task.to].address = m->host_to.mapped + DEVICE_GUARD_BYTES;
}

static void begin(moving *m, device *d, device_kernel *k, const launch_plan *plan,
                  device_buffer *const *buffers, at_error *error)
{
    const transfer_task *task = &plan->transfer.task;
    *m = (moving){.d = d,
                  .kernel = plan->launch_count ? k : NULL,
                  .plan = plan,
                  .how = &plan->transfer,
                  .from = buffers[task->from],
                  .to = buffers[task->to],
                  .streams = plan->transfer.is_ceiling ? 2 : plan->transfer.streams,
                  .error = error};
    m->size_bytes = m->from->size_bytes;
    if (m->to->size_bytes != m->size_bytes || m->size_bytes == 0 ||
        m->size_bytes % task->pieces != 0 || task->pitch_bytes < m->size_bytes / task->pieces ||
        (plan->launch_count && !k)) {
        m->status = error_set(error, AT_FORMAT, "the transfer does not fit the buffers %s and %s",
                              m->from->name, m->to->name);
        return;
    }
    m->piece_bytes = m->size_bytes / task->pieces;
    uint64_t chunk = m->how->chunk_bytes;
    m->chunk_bytes = chunk > 0 && chunk < m->size_bytes ? chunk : m->size_bytes;
    bool copies = m->how->memory != HOST_MAPPED;
    m->up = copies && transfer_from_host(task);
    m->down = copies && transfer_to_host(task);
    bool stops = m->kernel || (m->up && m->down && !m->how->is_ceiling);
    m->landing = stops ? m->from->data : m->to->data;
    m->leaving = m->kernel ? m->to->data : m->from->data;
    get_blocks(m);
    get_streams(m);
    if (!m->status && m->kernel)
        m->status = cuda_kernel_prepare(d, k, plan, buffers, error);
    list_ranges(m, buffers);
    if (!m->status)
        m->status = cuda_wait(d, "the device does not become idle", error);
}

static void copy(moving *m, bool up, unsigned char *host, CUdeviceptr data, uint64_t size_bytes,
                 CUstream stream)
{
    const cuda_driver *cuda = &m->d->cuda;
    if (!m->status)
        m->status = cuda_done(m->d,
                              up ? cuda->cuMemcpyHtoDAsync(data, host, size_bytes, stream)
                                 : cuda->cuMemcpyDtoHAsync(host, data, size_bytes, stream),
                              "a copy between host and device failed", m->error);
}

/* Waits after a failure, too: nothing may be running when the transfer ends. */
static void wait_for(moving *m, uint32_t stream)
{
    CUresult result = m->d->cuda.cuStreamSynchronize(m->d->transfer_streams[stream]);
    if (!m->status)
        m->status = cuda_done(m->d, result, "the transfer failed", m->error);
}

static void copy_parts(moving *m, bool up, span what, CUdeviceptr data, uint32_t stream)
{
    while (!m->status && what.size_bytes > 0) {
        unsigned char *bytes;
        span part = take_part(m, up ? &m->host_from : &m->host_to, &what, &bytes);
        copy(m, up, bytes, data + part.first, part.size_bytes, m->d->transfer_streams[stream]);
    }
}

static unsigned char *stage_of(const moving *m, const host_block *b, uint32_t stream)
{
    return b->bytes ? b->bytes + stream * m->chunk_bytes : NULL;
}

static void copy_stage(const moving *m, const host_block *b, span what, unsigned char *stage,
                       bool to_stage)
{
    while (what.size_bytes > 0) {
        unsigned char *bytes;
        span part = take_part(m, b, &what, &bytes);
        memcpy(to_stage ? stage : bytes, to_stage ? bytes : stage, part.size_bytes);
        stage += part.size_bytes;
    }
}

static void unpack_stage(moving *m, uint32_t stream)
{
    unsigned char *stage = m->down ? stage_of(m, &m->stage_down, stream) : NULL;
    if (stage)
        copy_stage(m, &m->host_to, m->waiting[stream], stage, false);
    m->waiting[stream] = (span){0};
}

/* Waits until the stream has used its part of the staging blocks, and unpacks it. */
static void free_stage(moving *m, uint32_t stream)
{
    if (!m->how->staging || m->waiting[stream].size_bytes == 0)
        return;
    wait_for(m, stream);
    if (!m->status)
        unpack_stage(m, stream);
}

static void send(moving *m, bool up, span what, uint32_t stream)
{
    CUdeviceptr data = up ? m->landing : m->leaving;
    if (m->status)
        return;
    if (!m->how->staging) {
        copy_parts(m, up, what, data, stream);
        return;
    }
    unsigned char *stage = stage_of(m, up ? &m->stage_up : &m->stage_down, stream);
    if (up)
        copy_stage(m, &m->host_from, what, stage, true);
    copy(m, up, stage, data + what.first, what.size_bytes, m->d->transfer_streams[stream]);
}

static void move_chunk(moving *m, span what, uint32_t stream)
{
    uint64_t chunk[CUDA_CHUNK_ARGUMENTS] = {what.first, what.size_bytes};
    free_stage(m, stream);
    if (m->up)
        send(m, true, what, stream);
    launch_walk walk = {0};
    while (m->kernel && !m->status && plan_walk(m->plan, &walk))
        m->status =
            cuda_launcher_queue_one(&m->kernel->launcher, &m->d->cuda, m->plan, walk.place,
                                    m->ranges, chunk, m->d->transfer_streams[stream], m->error);
    if (m->down)
        send(m, false, what, stream);
    if (m->how->staging)
        m->waiting[stream] = what;
}

/* Copies in both directions at once, each in one piece and on its own stream. */
static void move_both_ways(moving *m)
{
    const span all = {0, m->size_bytes};
    if (m->up)
        copy_parts(m, true, all, m->landing, 0);
    if (m->down)
        copy_parts(m, false, all, m->leaving, 1);
}

static void move_by_chunks(moving *m)
{
    uint32_t stream = 0;
    for (span at = {0, m->chunk_bytes}; !m->status && at.first < m->size_bytes;
         at.first += at.size_bytes) {
        if (at.size_bytes > m->size_bytes - at.first)
            at.size_bytes = m->size_bytes - at.first;
        move_chunk(m, at, stream);
        stream = (stream + 1) % m->streams;
    }
}

static void move(moving *m)
{
    if (m->how->is_ceiling)
        move_both_ways(m);
    else
        move_by_chunks(m);
    for (uint32_t i = 0; i < m->streams; i++) {
        wait_for(m, i);
        if (!m->status)
            unpack_stage(m, i);
    }
}

static void wait_mirrored(moving *m)
{
    if (!m->status)
        m->status = cuda_wait(m->d, "cannot copy a buffer between host and device", m->error);
}

static void mirror(moving *m, const device_buffer *b, const host_block *block, bool to_host)
{
    uint64_t pieces = m->how->task.pieces;
    for (uint64_t i = 0; !m->status && i < pieces + 2; i++) {
        bool is_piece = i > 0 && i <= pieces;
        uint64_t size = is_piece ? m->piece_bytes : DEVICE_GUARD_BYTES;
        unsigned char *bytes = i == 0     ? block->bytes
                               : is_piece ? piece_of(m, block, i - 1)
                                          : block->bytes + block->size_bytes - DEVICE_GUARD_BYTES;
        CUdeviceptr data = i == 0     ? b->base
                           : is_piece ? b->data + (i - 1) * m->piece_bytes
                                      : b->data + b->size_bytes;
        copy(m, !to_host, bytes, data, size, m->d->stream);
    }
    wait_mirrored(m);
}

static uint64_t gap_size(const moving *m)
{
    return m->how->task.pitch_bytes - m->piece_bytes;
}

/* Moves a buffer to its block, if it has one. Overwriting the buffer reveals a missing transfer. */
static void give_to_host(moving *m, const device_buffer *b, const host_block *block)
{
    if (m->status || !block->bytes)
        return;
    for (uint64_t i = 0; gap_size(m) > 0 && i < m->how->task.pieces; i++)
        memset(piece_of(m, block, i) + m->piece_bytes, gap_bytes[m->d->transfers % 2],
               (size_t)gap_size(m));
    mirror(m, b, block, true);
    if (!m->status)
        m->status =
            cuda_done(m->d, m->d->cuda.cuMemsetD8Async(b->data, 0x93, b->size_bytes, m->d->stream),
                      "cannot fill a buffer with a test pattern", m->error);
    wait_mirrored(m);
}

static void complain(const moving *m, const device_buffer *b, const char *where, uint64_t distance)
{
    if (!m->d->complaint[0])
        snprintf(m->d->complaint, sizeof m->d->complaint,
                 "the variant wrote outside its buffers: byte %llu %s of buffer %s has changed",
                 (unsigned long long)distance, where, b->name);
}

static void check_gaps(const moving *m, const device_buffer *b, const host_block *block)
{
    unsigned char expected = gap_bytes[m->d->transfers % 2];
    for (uint64_t i = 0; i < m->how->task.pieces; i++) {
        const unsigned char *bytes = piece_of(m, block, i) + m->piece_bytes;
        for (uint64_t j = 0; j < gap_size(m); j++)
            if (bytes[j] != expected) {
                complain(m, b, "after a piece, on the host,", j + 1);
                return;
            }
    }
}

/* Checks the guard bands on the device and the gaps on the host, then copies the block back. */
static void take_from_host(moving *m, const device_buffer *b, const host_block *block)
{
    device_guard_report report;
    if (m->status || !block->bytes)
        return;
    m->status = cuda_buffer_guards(m->d, b, &report, m->error);
    if (m->status)
        return;
    if (!report.intact)
        complain(m, b,
                 report.before ? "before the start, on the device,"
                               : "past the end, on the device,",
                 report.distance_bytes);
    check_gaps(m, b, block);
    mirror(m, b, block, false);
}

at_status cuda_transfer_launch(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, at_error *error)
{
    moving m;
    begin(&m, d, k, plan, buffers, error);
    d->transfers++;
    give_to_host(&m, m.from, &m.host_from);
    give_to_host(&m, m.to, &m.host_to);
    if (m.status)
        return m.status;
    move(&m);
    at_status moved = m.status;
    if (moved == AT_DEVICE)
        return moved;
    /* Restores and checks the buffers after a refused transfer, too. */
    m.status = AT_OK;
    m.error = moved ? NULL : error;
    take_from_host(&m, m.from, &m.host_from);
    take_from_host(&m, m.to, &m.host_to);
    return moved ? moved : m.status;
}

/* Copies the input to its block again, because another variant may have used the block. */
static void refresh(moving *m)
{
    if (m->up && m->landing == m->from->data)
        mirror(m, m->from, &m->host_from, true);
}

static void time_once(moving *m, int64_t *time_ns)
{
    int64_t start_ns = m->d->cuda.clock_ns();
    move(m);
    *time_ns = m->d->cuda.clock_ns() - start_ns;
}

at_status cuda_transfer_sample(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, device_cache cache, int64_t *time_ns,
                               at_error *error)
{
    moving m;
    begin(&m, d, k, plan, buffers, error);
    refresh(&m);
    if (!m.status && cache == DEVICE_CACHE_COLD)
        m.status = cuda_flush_queue(d, error);
    if (!m.status)
        m.status = cuda_wait(d, "cannot flush the L2", error);
    if (m.status)
        return m.status;
    time_once(&m, time_ns);
    if (m.status || *time_ns >= short_ns)
        return m.status;
    int64_t repeats = short_ns / (*time_ns > 0 ? *time_ns : 1) + 1, sum_ns = 0;
    if (repeats > MOST_REPEATS)
        repeats = MOST_REPEATS;
    for (int64_t i = 0; !m.status && i < repeats; i++) {
        time_once(&m, time_ns);
        sum_ns += *time_ns;
    }
    *time_ns = (sum_ns + repeats / 2) / repeats;
    return m.status;
}

at_status cuda_transfer_repeat(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, uint64_t count, at_error *error)
{
    moving m;
    begin(&m, d, k, plan, buffers, error);
    refresh(&m);
    for (uint64_t i = 0; !m.status && i < count; i++)
        move(&m);
    return m.status;
}
