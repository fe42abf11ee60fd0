#include "bench/meter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"

static context_buffer *find(device_context *c, const char *name)
{
    for (size_t i = 0; i < c->buffer_count; i++)
        if (strcmp(c->buffers[i].name, name) == 0)
            return &c->buffers[i];
    return NULL;
}

static at_status add(device_context *c, const buffer_plan *plan, context_buffer **out,
                     at_error *error)
{
    context_buffer *b = *out = &c->buffers[c->buffer_count++];
    snprintf(b->name, sizeof b->name, "%s", plan->name);
    b->size_bytes = plan_buffer_bytes(plan);
    return c->api->buffer_new(c->device, b->name, b->size_bytes, &b->buffer, error);
}

static at_status keep_pristine(device_context *c, context_buffer *b, at_error *error)
{
    if (b->pristine)
        return AT_OK;
    at_status status = c->api->buffer_new(c->device, b->name, b->size_bytes, &b->pristine, error);
    return status ? status : c->api->copy(c->device, b->pristine, b->buffer, error);
}

static at_status copy_slot(device_context *c, const device_slot *slot, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < slot->plan.buffer_count; i++) {
        const buffer_plan *plan = &slot->plan.buffers[i];
        context_buffer *b;
        status = add(c, plan, &b, error);
        c->own[i] = b->buffer;
        if (!status)
            status = c->api->copy(c->device, b->buffer,
                                  slot->pristine[i] ? slot->pristine[i] : slot->buffers[i], error);
        if (!status && plan->role == BUFFER_INOUT)
            status = keep_pristine(c, b, error);
    }
    return status;
}

static at_status fill(device_context *c, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                      const device_contents *contents, at_error *error)
{
    const void *bytes = NULL;
    if (plan->fill != FILL_FILE)
        return c->api->fill(c->device, b, plan, seed, error);
    at_status status =
        device_contents_find(contents, plan->data.bytes, plan_buffer_bytes(plan), &bytes, error);
    return status ? status : c->api->write(c->device, b, plan, bytes, error);
}

static at_status share(device_context *c, const buffer_plan *plan, uint64_t seed,
                       const device_contents *contents, context_buffer **out, at_error *error)
{
    const uint64_t size_bytes = plan_buffer_bytes(plan);
    *out = find(c, plan->name);
    if (*out && (*out)->size_bytes == size_bytes)
        return AT_OK;
    if (*out)
        return error_set(error, AT_SCRIPT,
                         "its buffer %s has %" PRIu64
                         " bytes, but the buffer of that name in the kernels after it has %" PRIu64
                         ": both are one buffer, so give both one size",
                         plan->name, size_bytes, (*out)->size_bytes);
    at_status status = add(c, plan, out, error);
    return status ? status : fill(c, (*out)->buffer, plan, seed, contents, error);
}

static at_status add_kernel(device_context *c, const device_predecessor *p,
                            const device_contents *contents, at_error *error)
{
    const size_t at = c->count++;
    at_status status = plan_check_buffers(&p->launch, p->plan.buffer_count, error);
    c->launches[at] = p->launch;
    c->before[at] = (device_before){.plan = &c->launches[at], .buffers = c->views[at]};
    for (uint32_t i = 0; !status && i < p->plan.buffer_count; i++) {
        context_buffer *b;
        status =
            share(c, &p->plan.buffers[i], plan_buffer_seed(p->plan.seed, i), contents, &b, error);
        c->views[at][i] = status ? NULL : b->buffer;
        if (!status && p->plan.buffers[i].role == BUFFER_INOUT)
            status = keep_pristine(c, b, error);
    }
    if (!status)
        status = c->api->kernel_new(c->device, &p->image, &p->launch, &c->kernels[at], error);
    c->before[at].kernel = c->kernels[at];
    /* The first launch raises limits and loads the code, which must not happen during a sample. */
    if (!status)
        status = c->api->launch(c->device, c->kernels[at], &c->launches[at], c->views[at], error);
    if (!status)
        return AT_OK;
    char name[DEVICE_LABEL_BYTES + 16];
    snprintf(name, sizeof name, "--after %s", p->name);
    return status == AT_SCRIPT ? error_prefix(error, "%s", name)
                               : device_slot_blame(name, status, error);
}

at_status device_context_init(device_context *c, const device_slot *slot,
                              const device_problem *problem, const device_contents *contents,
                              at_error *error)
{
    *c = (device_context){0};
    if (problem->before_count == 0)
        return AT_OK;
    c->api = slot->api;
    c->device = slot->device;
    at_status status = copy_slot(c, slot, error);
    for (size_t i = 0; !status && i < problem->before_count; i++)
        status = add_kernel(c, &problem->before[i], contents, error);
    return status;
}

void device_context_deinit(device_context *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->kernels[i])
            c->api->kernel_free(c->device, c->kernels[i]);
    for (size_t i = 0; i < c->buffer_count; i++) {
        if (c->buffers[i].buffer)
            c->api->buffer_free(c->device, c->buffers[i].buffer);
        if (c->buffers[i].pristine)
            c->api->buffer_free(c->device, c->buffers[i].pristine);
    }
    *c = (device_context){0};
}

static at_status restore_context(device_context *c, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < c->buffer_count; i++)
        if (c->buffers[i].pristine)
            status = c->api->copy(c->device, c->buffers[i].buffer, c->buffers[i].pristine, error);
    return status;
}

/* A launch is timed in batches if it is shorter than any of these. Below 200 ticks of the clock a
 * tick is over half a percent of the time. Below 20 floors the launch overhead is over a
 * twentieth. */
enum { SHORT_TICKS = 200, SHORT_FLOORS = 20, SHORT_NS = 20000 };

enum {
    BATCH_SHORTS = 4, /* duration of a batch, in times of find_short_ns() */
    BATCH_MOST = 1000,
    BATCH_SLOW_SHORTS = 16, /* the same for the batch of a slow kernel */
    CACHES = 3,             /* the sets of buffers add up to three times the L2 */
    /* Assumed ratio of the reference's time to a good variant's time. A slower reference only makes
     * batches longer than necessary. */
    REFERENCE_SLOWNESS = 16
};

static bool transfers(const device_meter *m)
{
    return m->slot->plan.transfer.direction != TRANSFER_NONE;
}

static bool has_batches(const device_meter *m)
{
    return !transfers(m) && !m->context && m->api->batches;
}

static uint64_t footprint_bytes(const problem_plan *plan)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        size += plan_buffer_bytes(&plan->buffers[i]);
    return size;
}

/* Returns the number of sets with which a launch of a batch finds no earlier data in the L2. */
static size_t choose_set_count(const device_meter *m)
{
    if (m->batch == 1 || m->cache == DEVICE_CACHE_WARM)
        return 1;
    uint64_t wanted = CACHES * (uint64_t)m->api->properties(m->device)->limits.l2_bytes;
    uint64_t footprint = footprint_bytes(&m->slot->plan);
    uint64_t sets = footprint > 0 ? (wanted + footprint - 1) / footprint : 1;
    if (sets > m->batch)
        sets = m->batch;
    return sets > 0 ? (size_t)sets : 1;
}

static at_status copy_set(device_meter *m, size_t set, at_error *error)
{
    const problem_plan *plan = &m->slot->plan;
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < plan->buffer_count; i++) {
        const buffer_plan *b = &plan->buffers[i];
        status =
            m->api->buffer_new(m->device, b->name, plan_buffer_bytes(b), &m->sets[set][i], error);
        if (!status)
            status = m->api->copy(m->device, m->sets[set][i], m->slot->buffers[i], error);
    }
    return status;
}

static at_status make_sets(device_meter *m, at_error *error)
{
    m->set_count = choose_set_count(m);
    m->sets = memory_new(m->set_count, sizeof *m->sets);
    m->views = memory_new(m->set_count, sizeof *m->views);
    for (uint32_t i = 0; i < m->slot->plan.buffer_count; i++)
        m->sets[0][i] = m->slot->buffers[i];
    at_status status = AT_OK;
    for (size_t set = 0; !status && set < m->set_count; set++) {
        m->views[set] = m->sets[set];
        if (set > 0)
            status = copy_set(m, set, error);
    }
    return status;
}

static void free_sets(device_meter *m)
{
    for (size_t set = 1; m->sets && set < m->set_count; set++)
        for (uint32_t i = 0; i < PLAN_MAX_BUFFERS; i++)
            if (m->sets[set][i])
                m->api->buffer_free(m->device, m->sets[set][i]);
    free(m->sets);
    free(m->views);
    m->sets = NULL;
    m->views = NULL;
}

/* Restores the in-out buffers of every set, outside the timed interval. */
static at_status restore(device_meter *m, at_error *error)
{
    at_status status = device_slot_restore(m->slot, error);
    for (size_t set = 1; set < m->set_count; set++)
        for (uint32_t i = 0; !status && i < m->slot->plan.buffer_count; i++)
            if (m->slot->pristine[i])
                status = m->api->copy(m->device, m->sets[set][i], m->slot->pristine[i], error);
    return status;
}

/* Chooses a ceiling that this file can measure. A simulated device can only copy. */
static ceiling_kind choose_ceiling(const device_meter *m)
{
    ceiling_kind kind = plan_ceiling(&m->slot->plan);
    if (!ceiling_get(kind)->in_run)
        return CEILING_NONE;
    return m->api->properties(m->device)->predicted ? CEILING_COPY : kind;
}

/* Returns an input buffer of the problem, or with `overwritten` an output or scratch buffer, that
 * is large enough for the ceiling, or PLAN_MAX_BUFFERS. */
static uint32_t find_own_buffer(const device_meter *m, bool overwritten)
{
    const problem_plan *plan = &m->slot->plan;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        buffer_role role = plan->buffers[i].role;
        bool fits = plan_buffer_bytes(&plan->buffers[i]) >= m->ceiling_bytes;
        bool free_to_use =
            overwritten ? role == BUFFER_OUTPUT || role == BUFFER_SCRATCH : role == BUFFER_INPUT;
        if (fits && free_to_use)
            return i;
    }
    return PLAN_MAX_BUFFERS;
}

static at_status make_copy_buffers(device_meter *m, bool overwritten, device_buffer ***out,
                                   at_error *error)
{
    const buffer_plan bits = {.fill = FILL_BITS, .type = DTYPE_UINT8, .count = m->ceiling_bytes};
    uint32_t own = find_own_buffer(m, overwritten);
    *out = memory_new(m->set_count, sizeof **out);
    at_status status = AT_OK;
    for (size_t set = 0; !status && set < m->set_count; set++) {
        if (own < PLAN_MAX_BUFFERS) {
            (*out)[set] = m->sets[set][own];
            continue;
        }
        status = m->api->buffer_new(m->device, "the ceiling's buffer", m->ceiling_bytes,
                                    &(*out)[set], error);
        if (status)
            break;
        m->owned[m->owned_count++] = (*out)[set];
        /* A predicted copy does not read the buffer, so the contents do not matter. */
        if (!m->api->properties(m->device)->predicted)
            status = m->api->fill(m->device, (*out)[set], &bits, m->slot->plan.seed + set, error);
    }
    return status;
}

static void free_ceiling(device_meter *m)
{
    if (m->ceiling)
        m->api->batches->free(m->device, m->ceiling);
    for (size_t i = 0; i < m->owned_count; i++)
        m->api->buffer_free(m->device, m->owned[i]);
    free(m->owned);
    free(m->copy_to);
    free(m->copy_from);
    m->ceiling = NULL;
    m->owned = m->copy_to = m->copy_from = NULL;
    m->owned_count = 0;
}

/* Prepares the ceiling of transfers. If the host has no memory to pin, there is no ceiling. */
static at_status make_transfer_ceiling(device_meter *m, at_error *error)
{
    int64_t ignored_ns;
    m->transfer.transfer = (transfer_plan){
        .task = m->slot->plan.transfer, .memory = HOST_PINNED, .streams = 1, .is_ceiling = true};
    m->transfer.transfer.task.pieces = 1;
    m->transfer.transfer.task.pitch_bytes =
        plan_buffer_bytes(&m->slot->plan.buffers[m->slot->plan.transfer.from]);
    m->ceiling_bytes = m->slot->plan.traffic_bytes;
    at_status status = m->api->sample(m->device, NULL, &m->transfer, m->slot->buffers, m->cache,
                                      NULL, 0, &ignored_ns, error);
    if (status != AT_NO_MEMORY)
        return status;
    m->ceiling_bytes = 0;
    error_clear(error);
    return AT_OK;
}

static at_status make_ceiling(device_meter *m, at_error *error)
{
    ceiling_kind kind = choose_ceiling(m);
    if (kind == CEILING_PINNED)
        return make_transfer_ceiling(m, error);
    uint64_t traffic = kind == CEILING_NONE ? 0 : m->slot->plan.traffic_bytes;
    m->ceiling_bytes = kind == CEILING_COPY ? traffic / 2 : traffic;
    if (m->ceiling_bytes == 0)
        return AT_OK;
    m->owned = memory_new(2 * m->set_count, sizeof *m->owned);
    at_status status = AT_OK;
    if (kind != CEILING_READ)
        status = make_copy_buffers(m, true, &m->copy_to, error);
    if (!status && kind != CEILING_WRITE)
        status = make_copy_buffers(m, false, &m->copy_from, error);
    if (!status && m->batch > 1)
        status = m->api->batches->copies_new(m->device, m->copy_to, m->copy_from, m->set_count,
                                             m->ceiling_bytes, m->batch, &m->ceiling, error);
    return status;
}

at_status device_meter_ceiling(device_meter *m, int64_t *time_ns, at_error *error)
{
    *time_ns = 0;
    if (m->ceiling_bytes == 0)
        return AT_OK;
    if (plan_transfers(&m->transfer))
        return m->api->sample(m->device, NULL, &m->transfer, m->slot->buffers, m->cache, NULL, 0,
                              time_ns, error);
    if (m->ceiling)
        return m->api->batches->sample(m->device, m->ceiling, m->cache, time_ns, error);
    return m->api->sample_copy(m->device, m->copy_to ? m->copy_to[0] : NULL,
                               m->copy_from ? m->copy_from[0] : NULL, m->ceiling_bytes, m->cache,
                               time_ns, error);
}

static at_status estimate(device_meter *m, int64_t *estimate_ns, at_error *error)
{
    int64_t reference_ns = 0, ceiling_ns = 0;
    at_status status = AT_OK;
    /* The first launch and the first copy may include one-time costs. */
    for (int i = 0; !status && i < 2; i++) {
        status = device_meter_sample(m, m->slot->reference, &m->slot->reference_launch, NULL,
                                     &reference_ns, error);
        if (!status)
            status = device_meter_ceiling(m, &ceiling_ns, error);
    }
    int64_t fast_ns = reference_ns / REFERENCE_SLOWNESS;
    *estimate_ns = fast_ns > ceiling_ns ? fast_ns : ceiling_ns;
    return status;
}

static int64_t find_short_ns(const device_ready *r)
{
    int64_t short_ns = SHORT_NS;
    if (SHORT_TICKS * r->tick_ns > short_ns)
        short_ns = SHORT_TICKS * r->tick_ns;
    if (SHORT_FLOORS * r->floor_ns > short_ns)
        short_ns = SHORT_FLOORS * r->floor_ns;
    return short_ns;
}

static uint32_t choose_batch(int64_t short_ns, int64_t estimate_ns)
{
    if (estimate_ns >= short_ns)
        return 1;
    int64_t launches = BATCH_SHORTS * short_ns / (estimate_ns > 0 ? estimate_ns : 1);
    return launches < BATCH_MOST ? (uint32_t)launches : BATCH_MOST;
}

/* Returns the number of launches that take `batch_ns`, at most m->batch. */
static uint32_t own_batch(const device_meter *m, int64_t launch_ns)
{
    int64_t launches = launch_ns > 0 ? (m->batch_ns + launch_ns - 1) / launch_ns : m->batch;
    return launches < m->batch ? (uint32_t)launches : m->batch;
}

static at_status measure_batched_floor(device_meter *m, int64_t *floor_ns, at_error *error)
{
    device_batch *empty;
    at_status status =
        m->api->batches->launches_new(m->device, NULL, NULL, m->views, 1, m->batch, &empty, error);
    if (status)
        return status;
    status = m->api->batches->sample(m->device, empty, DEVICE_CACHE_WARM, floor_ns, error);
    m->api->batches->free(m->device, empty);
    return status;
}

at_status device_meter_init(device_meter *m, device_slot *slot, device_context *context,
                            device_cache cache, device_ready *ready, at_error *error)
{
    const device_api *api = slot->api;
    device *d = slot->device;
    *m = (device_meter){.api = api,
                        .device = d,
                        .slot = slot,
                        .context = context->count ? context : NULL,
                        .cache = cache,
                        .batch = 1};
    *ready = (device_ready){.batch = 1, .buffer_sets = 1};
    at_status status = api->floor(d, &ready->floor_ns, &ready->tick_ns, error);
    if (!status)
        status = make_sets(m, error);
    if (!status)
        status = make_ceiling(m, error);
    int64_t estimate_ns;
    if (status || !has_batches(m))
        return status;
    status = estimate(m, &estimate_ns, error);
    int64_t short_ns = find_short_ns(ready);
    m->batch = choose_batch(short_ns, estimate_ns);
    m->batch_ns = BATCH_SLOW_SHORTS * short_ns;
    if (status || m->batch == 1)
        return status;
    free_ceiling(m);
    free_sets(m);
    status = make_sets(m, error);
    if (!status)
        status = make_ceiling(m, error);
    if (!status)
        status = measure_batched_floor(m, &ready->floor_ns, error);
    ready->tick_ns = (ready->tick_ns + m->batch - 1) / m->batch;
    ready->batch = m->batch;
    ready->buffer_sets = (uint32_t)m->set_count;
    return status;
}

at_status device_meter_follow(device_meter *m, const device_meter *first, device_slot *slot,
                              device_context *context, at_error *error)
{
    *m = (device_meter){.api = first->api,
                        .device = first->device,
                        .slot = slot,
                        .context = context->count ? context : NULL,
                        .cache = first->cache,
                        .batch = first->batch,
                        .batch_ns = first->batch_ns};
    return make_sets(m, error);
}

void device_meter_deinit(device_meter *m)
{
    if (!m->api)
        return;
    free_ceiling(m);
    free_sets(m);
}

at_status device_meter_prepare(device_meter *m, device_kernel *k, const launch_plan *launch,
                               int64_t launch_ns, device_batch **out, at_error *error)
{
    *out = NULL;
    if (m->batch == 1)
        return AT_OK;
    at_status status =
        launch_ns > 0 ? AT_OK : device_meter_sample(m, k, launch, NULL, &launch_ns, error);
    if (status)
        return status;
    return m->api->batches->launches_new(m->device, k, launch, m->views, m->set_count,
                                         own_batch(m, launch_ns), out, error);
}

void device_meter_release(device_meter *m, device_batch *batch)
{
    if (batch)
        m->api->batches->free(m->device, batch);
}

at_status device_meter_sample(device_meter *m, device_kernel *k, const launch_plan *launch,
                              device_batch *batch, int64_t *time_ns, at_error *error)
{
    device_context *c = m->context;
    at_status status = c ? restore_context(c, error) : restore(m, error);
    if (status)
        return status;
    if (c)
        return m->api->sample(m->device, k, launch, c->own, m->cache, c->before, c->count, time_ns,
                              error);
    if (batch)
        return m->api->batches->sample(m->device, batch, m->cache, time_ns, error);
    return m->api->sample(m->device, k, launch, m->slot->buffers, m->cache, NULL, 0, time_ns,
                          error);
}

/* Length of a chunk. Boards update the counter every 20 to 100 ms, so one chunk may be off by half.
 * Eight chunks are precise to a few percent, because each counts the energy that the previous chunk
 * missed. */
static const int64_t chunk_ns = 200000000;

uint64_t energy_chunk_launches(int64_t time_ns)
{
    return time_ns > 0 && time_ns < chunk_ns ? (uint64_t)(chunk_ns / time_ns) : 1;
}

/* Returns the energy between two readings in J, or a negative number if it is unknown. */
static double energy_between(const energy_reading *from, const energy_reading *to)
{
    if (from->energy_mj && to->energy_mj)
        return to->energy_mj >= from->energy_mj ? (double)(to->energy_mj - from->energy_mj) / 1e3
                                                : -1;
    if (from->power_w > 0 && to->power_w > 0)
        return (from->power_w + to->power_w) / 2 * (double)(to->now_ns - from->now_ns) / 1e9;
    return -1;
}

bool energy_estimate_launch(const energy_reading *readings, size_t count, energy_estimate *out)
{
    *out = (energy_estimate){0};
    if (count < ENERGY_LEAST_CHUNKS + 1)
        return false;
    size_t chunks = count - 1;
    for (size_t i = 0; i < chunks; i++)
        if (readings[i + 1].launches <= readings[i].launches ||
            readings[i + 1].now_ns <= readings[i].now_ns ||
            energy_between(&readings[i], &readings[i + 1]) < 0)
            return false;
    const energy_reading *first = &readings[0], *last = &readings[chunks];
    double total_j = 0;
    for (size_t i = 0; i < chunks; i++)
        total_j += energy_between(&readings[i], &readings[i + 1]);
    double launches = (double)(last->launches - first->launches), mean = total_j / launches;
    double squares = 0;
    for (size_t i = 0; i < chunks; i++) {
        double n = (double)(readings[i + 1].launches - readings[i].launches);
        double off = energy_between(&readings[i], &readings[i + 1]) - mean * n;
        squares += off * off;
    }
    /* Standard error of a ratio of sums (Cochran, "Sampling Techniques", 1977, 6.4). */
    double error = sqrt((double)chunks * squares / (double)(chunks - 1)) / launches;
    double half = error * stats_t_quantile(0.025, (double)(chunks - 1));
    out->launch_j = mean;
    out->low_j = mean > half ? mean - half : 0;
    out->high_j = mean + half;
    out->power_w = total_j / ((double)(last->now_ns - first->now_ns) / 1e9);
    out->chunks = chunks;
    return mean > 0;
}
