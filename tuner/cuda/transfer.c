#include "cuda/transfer.h"

#include <stdio.h>
#include <string.h>

#include "cuda/buffer.h"
#include "cuda/timer.h"

/* A sample that is shorter is the mean of several: a look at the clock and a scheduler's whim are then
 * below a thousandth of it. */
static const int64_t short_ns = 200 * 1000;
enum { MOST_REPEATS = 64 };

/* Bytes between the pieces of a block, in one run and the next. */
static const unsigned char gap_bytes[2] = {0xa5, 0x3c};

typedef struct span { /* of the data, whose first byte is 0 */
    uint64_t first, size_bytes;
} span;

/* One transfer in progress. */
typedef struct moving {
    device *d;
    device_kernel *kernel; /* NULL: none is launched */
    const launch_plan *plan;
    const transfer_plan *how;
    const device_buffer *from, *to;
    uint64_t size_bytes, piece_bytes, chunk_bytes;
    bool up, down;         /* copies there are */
    host_block host_from, host_to, stage_up, stage_down; /* bytes NULL: not needed */
    CUdeviceptr landing;   /* where what comes up goes */
    CUdeviceptr leaving;   /* where what goes down is */
    cuda_range ranges[PLAN_MAX_BUFFERS]; /* of the kernels */
    span waiting[TRANSFER_MAX_STREAMS];  /* in the staging buffer, still to be unpacked; size 0: nothing */
} moving;

/* Host memory. */

static unsigned char *piece_of(const moving *m, const host_block *b, uint64_t piece)
{
    return b->bytes + DEVICE_GUARD_BYTES + piece * m->how->task.pitch_bytes;
}

/* The longest part of `left` that lies in one piece, which it is taken off. */
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

static at_status get_blocks(moving *m, at_error *error)
{
    const transfer_plan *how = m->how;
    host_blocks *pool = &m->d->host_blocks;
    uint64_t size = 2 * DEVICE_GUARD_BYTES + how->task.pieces * how->task.pitch_bytes;
    uint64_t stage = m->chunk_bytes * how->streams;
    host_memory staged = how->staging == STAGING_WRITE_COMBINED ? HOST_WRITE_COMBINED : HOST_PINNED;
    at_status status = AT_OK;
    host_blocks_begin(pool);
    if (transfer_from_host(&how->task))
        status = host_block_get(pool, &m->d->cuda, HOST_FROM, how->memory, size, &m->host_from, error);
    if (!status && transfer_to_host(&how->task))
        status = host_block_get(pool, &m->d->cuda, HOST_TO, how->memory, size, &m->host_to, error);
    if (!status && how->staging && m->up)
        status = host_block_get(pool, &m->d->cuda, HOST_STAGE_UP, staged, stage, &m->stage_up, error);
    if (!status && how->staging && m->down)
        status = host_block_get(pool, &m->d->cuda, HOST_STAGE_DOWN, staged, stage, &m->stage_down, error);
    return status;
}

/* Streams do not wait for the one that everything else is queued on, nor it for them. */
static at_status get_streams(device *d, uint32_t count, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < count; i++)
        if (!d->transfer_streams[i])
            status = cuda_done(d, d->cuda.cuStreamCreate(&d->transfer_streams[i], CU_STREAM_NON_BLOCKING),
                               "cannot make a stream", error);
    return status;
}

void cuda_transfers_free(device *d)
{
    host_blocks_free(&d->host_blocks, &d->cuda);
    for (uint32_t i = 0; i < TRANSFER_MAX_STREAMS; i++)
        if (d->transfer_streams[i])
            d->cuda.cuStreamDestroy(d->transfer_streams[i]);
}

/* The addresses that kernels are given: of mapped buffers the host's memory, else the device's. */
static void list_ranges(moving *m, device_buffer *const *buffers)
{
    const launch_plan *plan = m->plan;
    for (uint32_t i = 0; i < plan->argument_count; i++)
        if (plan->arguments[i].is_buffer) {
            const device_buffer *b = buffers[plan->arguments[i].buffer];
            m->ranges[plan->arguments[i].buffer] = (cuda_range){b->data, b->size_bytes};
        }
    if (m->host_from.mapped)
        m->ranges[m->how->task.from].address = m->host_from.mapped + DEVICE_GUARD_BYTES;
    if (m->host_to.mapped)
        m->ranges[m->how->task.to].address = m->host_to.mapped + DEVICE_GUARD_BYTES;
}

static at_status begin(moving *m, device *d, device_kernel *k, const launch_plan *plan,
                       device_buffer *const *buffers, at_error *error)
{
    const transfer_task *task = &plan->transfer.task;
    *m = (moving){.d = d, .kernel = plan->launch_count ? k : NULL, .plan = plan, .how = &plan->transfer,
                  .from = buffers[task->from], .to = buffers[task->to]};
    m->size_bytes = m->from->size_bytes;
    if (m->to->size_bytes != m->size_bytes || m->size_bytes == 0 || m->size_bytes % task->pieces != 0 ||
        task->pitch_bytes < m->size_bytes / task->pieces || (plan->launch_count && !k))
        return error_set(error, AT_FORMAT, "the transfer does not fit the buffers %s and %s",
                         m->from->name, m->to->name);
    m->piece_bytes = m->size_bytes / task->pieces;
    uint64_t chunk = m->how->chunk_bytes;
    m->chunk_bytes = chunk > 0 && chunk < m->size_bytes ? chunk : m->size_bytes;
    bool copies = m->how->memory != HOST_MAPPED;
    m->up = copies && transfer_from_host(task);
    m->down = copies && transfer_to_host(task);
    bool stops = m->kernel || (m->up && m->down && !m->how->is_ceiling);
    m->landing = stops ? m->from->data : m->to->data;
    m->leaving = m->kernel ? m->to->data : m->from->data;
    at_status status = get_blocks(m, error);
    if (!status)
        status = get_streams(d, m->how->is_ceiling ? 2 : m->how->streams, error);
    if (!status && m->kernel)
        status = cuda_kernel_prepare(d, k, plan, buffers, error);
    list_ranges(m, buffers);
    return status ? status : cuda_wait(d, "the device does not come to rest", error);
}

/* Moving. */

static at_status check_copy(const moving *m, CUresult result, at_error *error)
{
    return cuda_done(m->d, result, "a copy between host and device failed", error);
}

static at_status wait_for(const moving *m, uint32_t stream, at_error *error)
{
    return cuda_done(m->d, m->d->cuda.cuStreamSynchronize(m->d->transfer_streams[stream]), "the transfer failed",
                     error);
}

static at_status copy_up(const moving *m, span what, CUdeviceptr to, uint32_t stream, at_error *error)
{
    at_status status = AT_OK;
    while (!status && what.size_bytes > 0) {
        unsigned char *bytes;
        span part = take_part(m, &m->host_from, &what, &bytes);
        status = check_copy(m, m->d->cuda.cuMemcpyHtoDAsync(to + part.first, bytes, part.size_bytes,
                                                           m->d->transfer_streams[stream]), error);
    }
    return status;
}

static at_status copy_down(const moving *m, span what, CUdeviceptr from, uint32_t stream, at_error *error)
{
    at_status status = AT_OK;
    while (!status && what.size_bytes > 0) {
        unsigned char *bytes;
        span part = take_part(m, &m->host_to, &what, &bytes);
        status = check_copy(m, m->d->cuda.cuMemcpyDtoHAsync(bytes, from + part.first, part.size_bytes,
                                                           m->d->transfer_streams[stream]), error);
    }
    return status;
}

static unsigned char *stage_of(const moving *m, const host_block *b, uint32_t stream)
{
    return b->bytes + stream * m->chunk_bytes;
}

static void pack_stage(const moving *m, span what, unsigned char *stage)
{
    while (what.size_bytes > 0) {
        unsigned char *bytes;
        span part = take_part(m, &m->host_from, &what, &bytes);
        memcpy(stage, bytes, part.size_bytes);
        stage += part.size_bytes;
    }
}

static void unpack_stage(moving *m, uint32_t stream)
{
    span what = m->waiting[stream];
    const unsigned char *stage = m->down ? stage_of(m, &m->stage_down, stream) : NULL;
    m->waiting[stream] = (span){0};
    while (stage && what.size_bytes > 0) {
        unsigned char *bytes;
        span part = take_part(m, &m->host_to, &what, &bytes);
        memcpy(bytes, stage, part.size_bytes);
        stage += part.size_bytes;
    }
}

/* The stream's part of the staging buffers is free once what it had before is through. */
static at_status free_stage(moving *m, uint32_t stream, at_error *error)
{
    if (!m->how->staging || m->waiting[stream].size_bytes == 0)
        return AT_OK;
    at_status status = wait_for(m, stream, error);
    if (!status)
        unpack_stage(m, stream);
    return status;
}

static at_status send_up(const moving *m, span what, uint32_t stream, at_error *error)
{
    if (!m->how->staging)
        return copy_up(m, what, m->landing, stream, error);
    unsigned char *stage = stage_of(m, &m->stage_up, stream);
    pack_stage(m, what, stage);
    return check_copy(m, m->d->cuda.cuMemcpyHtoDAsync(m->landing + what.first, stage, what.size_bytes,
                                                     m->d->transfer_streams[stream]), error);
}

static at_status send_down(const moving *m, span what, uint32_t stream, at_error *error)
{
    if (!m->how->staging)
        return copy_down(m, what, m->leaving, stream, error);
    return check_copy(m, m->d->cuda.cuMemcpyDtoHAsync(stage_of(m, &m->stage_down, stream),
                                                     m->leaving + what.first, what.size_bytes,
                                                     m->d->transfer_streams[stream]), error);
}

static at_status move_chunk(moving *m, span what, uint32_t stream, at_error *error)
{
    at_status status = free_stage(m, stream, error);
    if (!status && m->up)
        status = send_up(m, what, stream, error);
    if (!status && m->kernel)
        status = cuda_launcher_queue_chunk(&m->kernel->launcher, &m->d->cuda, m->plan, m->ranges,
                                           what.first, what.size_bytes,
                                           m->d->transfer_streams[stream], error);
    if (!status && m->down)
        status = send_down(m, what, stream, error);
    if (m->how->staging)
        m->waiting[stream] = what;
    return status;
}

/* Each way on a stream of its own, whole, at once. */
static at_status move_freely(moving *m, at_error *error)
{
    const span all = {0, m->size_bytes};
    at_status status = m->up ? copy_up(m, all, m->landing, 0, error) : AT_OK;
    if (!status && m->down)
        status = copy_down(m, all, m->leaving, 1, error);
    return status;
}

/* Everything, from the first byte until all streams are done; they are also when something failed. */
static at_status move(moving *m, at_error *error)
{
    at_status status = AT_OK;
    uint32_t streams = m->how->is_ceiling ? 2 : m->how->streams;
    if (m->how->is_ceiling) {
        status = move_freely(m, error);
    } else {
        uint32_t stream = 0;
        for (span at = {0, m->chunk_bytes}; !status && at.first < m->size_bytes;) {
            if (at.size_bytes > m->size_bytes - at.first)
                at.size_bytes = m->size_bytes - at.first;
            status = move_chunk(m, at, stream, error);
            at.first += at.size_bytes;
            stream = (stream + 1) % streams;
        }
    }
    for (uint32_t i = 0; i < streams; i++) {
        at_status ended = wait_for(m, i, status ? NULL : error);
        if (!status && !ended)
            unpack_stage(m, i);
        status = status ? status : ended;
    }
    return status;
}

/* Checked runs. */

/* Between a buffer and the block that stands for it; to the host, or back. */
static at_status mirror(const moving *m, const device_buffer *b, const host_block *block, bool to_host,
                        at_error *error)
{
    uint64_t pieces = m->how->task.pieces;
    at_status status = AT_OK;
    for (uint64_t i = 0; !status && i < pieces + 2; i++) {
        bool is_piece = i > 0 && i <= pieces;
        uint64_t size = is_piece ? m->piece_bytes : DEVICE_GUARD_BYTES;
        unsigned char *bytes = i == 0 ? block->bytes
                               : is_piece ? piece_of(m, block, i - 1)
                                          : block->bytes + block->size_bytes - DEVICE_GUARD_BYTES;
        CUdeviceptr data = i == 0 ? b->base
                           : is_piece ? b->data + (i - 1) * m->piece_bytes : b->data + b->size_bytes;
        status = check_copy(m, to_host ? m->d->cuda.cuMemcpyDtoHAsync(bytes, data, size, m->d->stream)
                                       : m->d->cuda.cuMemcpyHtoDAsync(data, bytes, size, m->d->stream),
                            error);
    }
    return status;
}

static at_status wait_mirrored(const moving *m, at_error *error)
{
    return cuda_wait(m->d, "cannot copy a buffer between host and device", error);
}

/* The run must find its data on the host: what the device had is spoilt. */
static at_status give_to_host(const moving *m, const device_buffer *b, const host_block *block,
                              at_error *error)
{
    memset(block->bytes, gap_bytes[m->d->transfers % 2], (size_t)block->size_bytes);
    at_status status = mirror(m, b, block, true, error);
    if (!status)
        status = wait_mirrored(m, error);
    if (!status)
        status = cuda_done(m->d, m->d->cuda.cuMemsetD8Async(b->data, 0x93, b->size_bytes, m->d->stream),
                           "cannot spoil a buffer", error);
    return status ? status : wait_mirrored(m, error);
}

static void complain(const moving *m, const device_buffer *b, const char *where, uint64_t distance)
{
    if (!m->d->complaint[0])
        snprintf(m->d->complaint, sizeof m->d->complaint,
                 "it wrote outside: byte %llu %s of buffer %s has changed", (unsigned long long)distance,
                 where, b->name);
}

static void check_gaps(const moving *m, const device_buffer *b, const host_block *block)
{
    unsigned char expected = gap_bytes[m->d->transfers % 2];
    uint64_t gap = m->how->task.pitch_bytes - m->piece_bytes;
    for (uint64_t i = 0; i < m->how->task.pieces; i++) {
        const unsigned char *bytes = piece_of(m, block, i) + m->piece_bytes;
        for (uint64_t j = 0; j < gap; j++)
            if (bytes[j] != expected) {
                complain(m, b, "behind a piece, on the host,", j + 1);
                return;
            }
    }
}

static at_status take_from_host(const moving *m, const device_buffer *b, const host_block *block,
                                at_error *error)
{
    device_guard_report report;
    at_status status = cuda_buffer_guards(m->d, b, &report, error);
    if (status)
        return status;
    if (!report.intact)
        complain(m, b, report.before ? "before the start, on the device," : "past the end, on the device,",
                 report.distance_bytes);
    check_gaps(m, b, block);
    status = mirror(m, b, block, false, error);
    return status ? status : wait_mirrored(m, error);
}

at_status cuda_transfer_launch(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, at_error *error)
{
    moving m;
    at_status status = begin(&m, d, k, plan, buffers, error);
    d->transfers++;
    if (!status && m.host_from.bytes)
        status = give_to_host(&m, m.from, &m.host_from, error);
    if (!status && m.host_to.bytes)
        status = give_to_host(&m, m.to, &m.host_to, error);
    if (status)
        return status;
    status = move(&m, error);
    if (status == AT_DEVICE)
        return status;
    /* Also after a refusal: the buffers are as they were. */
    at_status back = AT_OK;
    if (m.host_from.bytes)
        back = take_from_host(&m, m.from, &m.host_from, status ? NULL : error);
    if (!back && m.host_to.bytes)
        back = take_from_host(&m, m.to, &m.host_to, status ? NULL : error);
    return status ? status : back;
}

/* Samples. */

/* What comes up into an input must be that input: the block may have held another's since. */
static at_status refresh(const moving *m, at_error *error)
{
    if (!m->up || m->landing != m->from->data)
        return AT_OK;
    at_status status = mirror(m, m->from, &m->host_from, true, error);
    return status ? status : wait_mirrored(m, error);
}

static at_status time_once(moving *m, int64_t *time_ns, at_error *error)
{
    int64_t start_ns = m->d->cuda.clock_ns();
    at_status status = move(m, error);
    *time_ns = m->d->cuda.clock_ns() - start_ns;
    return status;
}

at_status cuda_transfer_sample(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, device_cache cache, int64_t *time_ns,
                               at_error *error)
{
    moving m;
    at_status status = begin(&m, d, k, plan, buffers, error);
    if (!status)
        status = refresh(&m, error);
    if (!status && cache == DEVICE_CACHE_COLD)
        status = cuda_flush_queue(d, error);
    if (!status)
        status = cuda_wait(d, "cannot flush the L2", error);
    if (!status)
        status = time_once(&m, time_ns, error);
    if (status || *time_ns >= short_ns)
        return status;
    int64_t repeats = short_ns / (*time_ns > 0 ? *time_ns : 1) + 1, sum_ns = 0;
    if (repeats > MOST_REPEATS)
        repeats = MOST_REPEATS;
    for (int64_t i = 0; !status && i < repeats; i++) {
        status = time_once(&m, time_ns, error);
        sum_ns += *time_ns;
    }
    *time_ns = (sum_ns + repeats / 2) / repeats;
    return status;
}

at_status cuda_transfer_repeat(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, uint64_t count, at_error *error)
{
    moving m;
    at_status status = begin(&m, d, k, plan, buffers, error);
    if (!status)
        status = refresh(&m, error);
    for (uint64_t i = 0; !status && i < count; i++)
        status = move(&m, error);
    return status;
}
