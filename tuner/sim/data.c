#include "sim/data.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/owners.h"

/* All blocks of the filler (data.h) run at the start if they have at most FEW_THREADS threads. They
 * never all run if they have more than MOST_THREADS. */
enum { FEW_THREADS = 1 << 16, MOST_THREADS = 1 << 22 };

/* Limit of the instructions of a sweep (sim/sweep.h) that counts the writes of the filler. */
enum { MOST_SWEPT = 1 << 20 };

typedef struct source {
    sim_data *data;
    uint32_t index;
    const buffer_plan *plan;
    uint64_t seed;
    const unsigned char *contents; /* borrowed contents of a file, or NULL */
    device_buffer *work;           /* buffer for variants */
    device_buffer *raw;            /* buffer for the filler; NULL if there is no filler */
    uint64_t *touched;
    size_t touched_count;
} source;

struct sim_data {
    device *device;
    problem_plan plan;
    source sources[PLAN_MAX_BUFFERS], expected[PLAN_MAX_BUFFERS];
    device_buffer *work[PLAN_MAX_BUFFERS + 1], *raw[PLAN_MAX_BUFFERS + 1];
    launch_plan filler_launch;
    device_kernel *filler; /* NULL if there is no filler */
    sim_owners *owners;    /* finds the filler's blocks that write given bytes */
    bool is_all_filled;
    char trouble[512];
    pthread_mutex_t lock; /* guards the filler and the lists of touched chunks */
};

static void fill_chunk(const source *s, device_buffer *b, uint64_t chunk)
{
    uint64_t size = dtype_get(s->plan->type)->size_bytes;
    uint64_t first = chunk * SIM_CHUNK_BYTES / size, end = (chunk + 1) * SIM_CHUNK_BYTES / size;
    const uint64_t last = end < s->plan->count ? end : s->plan->count;
    if (s->contents)
        memcpy(b->region.bytes + first * size, s->contents + first * size, (last - first) * size);
    else
        sim_fill(b->region.bytes, s->plan, s->seed, first, last);
}

static void make_raw(void *context, uint64_t chunk)
{
    const source *s = context;
    fill_chunk(s, s->raw, chunk);
}

static void note_trouble(sim_data *d, const char *why)
{
    if (!d->trouble[0])
        snprintf(d->trouble, sizeof d->trouble, "the kernel that prepares inputs: %s", why);
}

static at_status fill_all(sim_data *d, at_error *error)
{
    d->is_all_filled = true;
    at_status status = sim_owners_write_all(d->owners, error);
    if (!status && sim_owners_fault(d->owners)->kind != SIM_FAULT_NONE)
        note_trouble(d, sim_owners_fault(d->owners)->message);
    return status;
}

/* Counts the filler's writes to elements before `end`. Returns false if the sweep fails. */
static bool count_writes(const source *s, uint64_t end, uint64_t *count)
{
    const sim_data *d = s->data;
    uint64_t ends[PLAN_MAX_BUFFERS] = {0};
    sim_sweep swept;
    ends[s->index] = end;
    if (sim_device_sweep(d->device, d->filler, &d->filler_launch, 0, d->raw, &d->plan, ends,
                         MOST_SWEPT, SWEEP_WRITES, &swept, NULL))
        return false;
    *count = swept.written[s->index].count;
    return swept.ended && swept.written[s->index].is_known;
}

/* Returns whether the filler's blocks that ran wrote all elements that the whole grid writes in
 * these bytes. */
static bool is_complete(const source *s, uint64_t from, uint64_t to)
{
    const uint64_t size = dtype_get(s->plan->type)->size_bytes;
    uint64_t found = 0, before, all;
    for (uint64_t at = from; at < to; at += size)
        found += s->raw->region.valid[at] == SIM_BYTE_LAST;
    return count_writes(s, from / size, &before) && count_writes(s, to / size, &all) &&
           all - before == found;
}

static void prepare_chunk(source *s, uint64_t from, uint64_t to)
{
    sim_data *d = s->data;
    at_error error = {0};
    at_status status = AT_OK;
    uint64_t threads = plan_block_threads(&d->filler_launch.launches[0]);
    uint64_t blocks = plan_grid_blocks(&d->filler_launch.launches[0]);
    bool single = plan_total_launches(&d->filler_launch) == 1, all_found = single;
    uint64_t size = dtype_get(s->plan->type)->size_bytes;
    for (uint64_t at = from; !status && single && !d->is_all_filled && at < to; at += size) {
        bool found;
        if (s->raw->region.valid[at] == SIM_BYTE_LAST)
            continue;
        status = sim_owners_write(d->owners, s->index, at, &found, &error);
        if (!status && !found && !sim_owners_has_footprint(d->owners, s->index))
            return; /* the filler writes nothing to this buffer */
        all_found = all_found && found;
    }
    if (!status && !all_found && !d->is_all_filled && !(single && is_complete(s, from, to))) {
        if (single && blocks <= MOST_THREADS / (threads ? threads : 1))
            status = fill_all(d, &error);
        else
            note_trouble(d,
                         "it is unknown which of its blocks write the data that the variant reads");
    }
    if (status)
        note_trouble(d, error.message);
    else if (sim_owners_fault(d->owners)->kind != SIM_FAULT_NONE)
        note_trouble(d, sim_owners_fault(d->owners)->message);
}

static void make_work(void *context, uint64_t chunk)
{
    source *s = context;
    sim_data *d = s->data;
    uint64_t from = chunk * SIM_CHUNK_BYTES, to = from + SIM_CHUNK_BYTES;
    bool is_written = s->plan->role == BUFFER_OUTPUT || s->plan->role == BUFFER_SCRATCH;
    if (to > s->work->region.size_bytes)
        to = s->work->region.size_bytes;
    if (!is_written && !d->filler)
        fill_chunk(s, s->work, chunk);
    if (s->plan->role == BUFFER_INPUT && !d->filler)
        return;
    pthread_mutex_lock(&d->lock);
    if (!is_written && d->filler) {
        sim_region_make(&s->raw->region, from, 1);
        prepare_chunk(s, from, to);
        memcpy(s->work->region.bytes + from, s->raw->region.bytes + from, to - from);
    }
    if (s->plan->role != BUFFER_INPUT)
        memory_add(&s->touched, &s->touched_count, &chunk, sizeof chunk);
    pthread_mutex_unlock(&d->lock);
}

static at_status new_buffer(const source *s, const char *prefix, sim_make make, device_buffer **out,
                            at_error *error)
{
    char name[PLAN_NAME_BYTES + 16];
    snprintf(name, sizeof name, "%s%s", prefix, s->plan->name);
    at_status status =
        sim_buffer_new(s->data->device, name, plan_buffer_bytes(s->plan), out, error);
    if (status)
        return status;
    device_buffer *b = *out;
    b->region.plan = s->plan;
    b->region.made = sim_map(sim_buffer_chunks(b));
    if (!b->region.made)
        return error_set(error, AT_DEVICE, "there is no room for %s", name);
    b->region.make = make;
    b->region.context = (void *)(uintptr_t)s;
    return AT_OK;
}

static at_status new_work(source *s, const char *prefix, at_error *error)
{
    const buffer_role role = s->plan->role;
    at_status status = new_buffer(s, prefix, make_work, &s->work, error);
    if (status)
        return status;
    s->work->region.read_only = role == BUFFER_INPUT;
    s->work->region.filled = role == BUFFER_INOUT;
    if (role == BUFFER_INPUT)
        sim_buffer_mark_written(s->work);
    return AT_OK;
}

static at_status add_buffer(sim_data *d, uint32_t i, const void *contents, at_error *error)
{
    source *s = &d->sources[i];
    *s = (source){.data = d,
                  .index = i,
                  .plan = &d->plan.buffers[i],
                  .seed = plan_buffer_seed(d->plan.seed, i),
                  .contents = contents};
    at_status status = new_work(s, "", error);
    d->work[i] = s->work;
    if (status || !d->filler)
        return status;
    status = new_buffer(s, "", make_raw, &s->raw, error);
    if (status)
        return status;
    d->raw[i] = s->raw;
    s->raw->region.filled = true;
    return AT_OK;
}

static at_status start_filler(sim_data *d, at_error *error)
{
    const launch_plan *plan = &d->filler_launch;
    at_status status = sim_device_set_constants(d->filler, plan, d->raw, error);
    if (!status)
        d->owners = sim_owners_new(d->device, d->filler, plan, d->raw, UINT64_MAX);
    if (!status && plan_total_launches(plan) == 1 &&
        plan_grid_blocks(&plan->launches[0]) * plan_block_threads(&plan->launches[0]) <=
            FEW_THREADS)
        status = fill_all(d, error);
    return status;
}

at_status sim_data_new(device *d, const problem_plan *plan, const sim_filler *filler,
                       const void *const *contents, sim_data **out, at_error *error)
{
    sim_data *s = memory_new(1, sizeof *s);
    *out = s;
    pthread_mutex_init(&s->lock, NULL);
    s->device = d;
    s->plan = *plan;
    at_status status = AT_OK;
    if (filler && filler->image.size_bytes > 0) {
        s->filler_launch = filler->launch;
        status = sim_kernel_load(d, &filler->image, &s->filler_launch, &s->filler, error);
    }
    for (uint32_t i = 0; !status && i < plan->buffer_count; i++)
        status = add_buffer(s, i, contents ? contents[i] : NULL, error);
    return status || !s->filler ? status : start_filler(s, error);
}

void sim_data_free(sim_data *s)
{
    if (!s)
        return;
    sim_owners_free(s->owners);
    for (uint32_t i = 0; i < s->plan.buffer_count; i++) {
        sim_buffer_free(s->device, s->sources[i].work);
        sim_buffer_free(s->device, s->sources[i].raw);
        sim_buffer_free(s->device, s->expected[i].work);
        free(s->sources[i].touched);
        free(s->expected[i].touched);
    }
    sim_kernel_unload(s->device, s->filler);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

at_status sim_data_fill_all(sim_data *s, bool *done, at_error *error)
{
    const kernel_launch *launch = &s->filler_launch.launches[0];
    *done = !s->filler || s->is_all_filled ||
            (plan_total_launches(&s->filler_launch) == 1 &&
             plan_grid_blocks(launch) <= MOST_THREADS / plan_block_threads(launch));
    return !s->filler || s->is_all_filled || !*done ? AT_OK : fill_all(s, error);
}

device_buffer *const *sim_data_buffers(const sim_data *s)
{
    return s->work;
}

at_status sim_data_add_expected(sim_data *s, uint32_t i, device_buffer **out, at_error *error)
{
    source *expected = &s->expected[i];
    *expected = (source){.data = s,
                         .index = i,
                         .plan = s->sources[i].plan,
                         .seed = s->sources[i].seed,
                         .contents = s->sources[i].contents,
                         .raw = s->sources[i].raw};
    at_status status = new_work(expected, "expected ", error);
    *out = expected->work;
    return status;
}

static void reset(source *s)
{
    const device_buffer *b = s->work;
    if (!b || s->plan->role == BUFFER_INPUT)
        return;
    sim_map_clear(b->region.bytes, b->region.size_bytes);
    sim_map_clear(b->region.valid, b->region.size_bytes);
    sim_map_clear(b->region.made, sim_buffer_chunks(b));
    s->touched_count = 0;
}

void sim_data_reset(sim_data *s)
{
    for (uint32_t i = 0; i < s->plan.buffer_count; i++)
        reset(&s->sources[i]);
}

void sim_data_reset_expected(sim_data *s)
{
    for (uint32_t i = 0; i < s->plan.buffer_count; i++)
        reset(&s->expected[i]);
}

const uint64_t *sim_data_touched(const sim_data *s, uint32_t i, size_t *count)
{
    *count = s->sources[i].touched_count;
    return s->sources[i].touched;
}

const char *sim_data_trouble(const sim_data *s)
{
    return s->trouble[0] ? s->trouble : NULL;
}
