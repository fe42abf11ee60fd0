#include "bench/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t get_i64(pack *m)
{
    return (int64_t)pack_get_u64(m);
}

static void put_i64(pack *m, int64_t v)
{
    pack_put_u64(m, (uint64_t)v);
}

static void get_text(pack *m, char *out, size_t size_bytes)
{
    const char *text = pack_get_string(m);
    if (strlen(text) >= size_bytes)
        m->failed = true;
    snprintf(out, size_bytes, "%s", text);
}

void device_put_image(pack *m, const device_image *image)
{
    pack_put_bytes(m, image->bytes, image->size_bytes);
    pack_put_u32(m, image->registers);
    pack_put_u32(m, image->static_shared_bytes);
    pack_put_string(m, image->suffix);
}

void device_get_image(pack *m, device_image *out)
{
    out->bytes = pack_get_bytes(m, &out->size_bytes);
    out->registers = pack_get_u32(m);
    out->static_shared_bytes = pack_get_u32(m);
    get_text(m, out->suffix, sizeof out->suffix);
}

void device_put_problem(pack *m, const device_problem *problem)
{
    pack_put_u32(m, problem->layout);
    pack_put_string(m, problem->label);
    plan_put_problem(m, &problem->plan);
    device_put_image(m, &problem->reference);
    plan_put_launch(m, &problem->reference_launch);
    device_put_image(m, &problem->filler);
    if (problem->filler.size_bytes)
        plan_put_launch(m, &problem->filler_launch);
}

void device_get_problem(pack *m, device_problem *out)
{
    out->layout = pack_get_u32(m);
    get_text(m, out->label, sizeof out->label);
    plan_get_problem(m, &out->plan, NULL);
    device_get_image(m, &out->reference);
    plan_get_launch(m, &out->reference_launch, NULL);
    device_get_image(m, &out->filler);
    if (out->filler.size_bytes)
        plan_get_launch(m, &out->filler_launch, NULL);
}

void device_put_variant(pack *m, const device_variant *variant)
{
    pack_put_u32(m, variant->layout);
    pack_put_u32(m, variant->unchecked);
    pack_put_u64(m, (uint64_t)variant->launch_ns);
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        pack_put_u32(m, variant->present[i]);
        if (!variant->present[i])
            continue;
        device_put_image(m, &variant->images[i]);
        plan_put_launch(m, &variant->launches[i]);
    }
}

void device_get_variant(pack *m, device_variant *out)
{
    *out = (device_variant){.layout = pack_get_u32(m)};
    out->unchecked = pack_get_u32(m) != 0;
    out->launch_ns = (int64_t)pack_get_u64(m);
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        out->present[i] = pack_get_u32(m) != 0;
        if (!out->present[i])
            continue;
        device_get_image(m, &out->images[i]);
        plan_get_launch(m, &out->launches[i], NULL);
    }
    bool any = false;
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        bool borrows = i > 0 && out->present[i] && out->images[i].size_bytes == 0;
        any = any || out->present[i];
        if (borrows && !out->present[0])
            m->failed = true;
    }
    if (!any)
        m->failed = true;
}

/* The fields of arch_limits, so that packing and unpacking cannot disagree. */
typedef struct limit_field {
    size_t offset;
    bool is_size; /* size_t, else int */
} limit_field;

#define INT_FIELD(field) {offsetof(arch_limits, field), false}
#define SIZE_FIELD(field) {offsetof(arch_limits, field), true}

static const limit_field limit_fields[] = {
    INT_FIELD(major),
    INT_FIELD(minor),
    INT_FIELD(sm_count),
    INT_FIELD(warp_size),
    INT_FIELD(max_threads_per_block),
    INT_FIELD(max_threads_per_sm),
    INT_FIELD(max_blocks_per_sm),
    INT_FIELD(registers_per_sm),
    INT_FIELD(max_registers_per_thread),
    INT_FIELD(register_unit),
    SIZE_FIELD(shared_per_sm_bytes),
    SIZE_FIELD(max_shared_per_block_bytes),
    SIZE_FIELD(shared_reserved_bytes),
    SIZE_FIELD(shared_unit_bytes),
    SIZE_FIELD(l2_bytes),
    SIZE_FIELD(global_bytes),
    INT_FIELD(clock_khz),
};

enum { LIMIT_FIELDS = sizeof limit_fields / sizeof *limit_fields };

static void put_limits(pack *m, const arch_limits *limits)
{
    pack_put_string(m, limits->name);
    pack_put_f64(m, limits->bandwidth_bytes_per_s);
    for (size_t i = 0; i < LIMIT_FIELDS; i++) {
        const char *field = (const char *)limits + limit_fields[i].offset;
        int number;
        size_t size;
        memcpy(&number, field, sizeof number);
        if (limit_fields[i].is_size)
            memcpy(&size, field, sizeof size);
        else
            size = (size_t)number;
        pack_put_u64(m, size);
    }
}

static void get_limits(pack *m, arch_limits *limits)
{
    get_text(m, limits->name, sizeof limits->name);
    limits->bandwidth_bytes_per_s = pack_get_f64(m);
    for (size_t i = 0; i < LIMIT_FIELDS; i++) {
        char *field = (char *)limits + limit_fields[i].offset;
        size_t size = (size_t)pack_get_u64(m);
        int number = (int)size;
        if (limit_fields[i].is_size)
            memcpy(field, &size, sizeof size);
        else
            memcpy(field, &number, sizeof number);
    }
}

void device_put_properties(pack *m, const device_properties *p)
{
    pack_put_string(m, p->kind);
    pack_put_string(m, p->spec);
    pack_put_string(m, p->uuid);
    pack_put_string(m, p->driver);
    pack_put_u32(m, (uint32_t)p->cuda_version);
    put_limits(m, &p->limits);
    pack_put_string(m, p->arch);
    pack_put_u32(m, p->predicted);
}

void device_get_properties(pack *m, device_properties *out)
{
    *out = (device_properties){0};
    get_text(m, out->kind, sizeof out->kind);
    get_text(m, out->spec, sizeof out->spec);
    get_text(m, out->uuid, sizeof out->uuid);
    get_text(m, out->driver, sizeof out->driver);
    out->cuda_version = (int)pack_get_u32(m);
    get_limits(m, &out->limits);
    get_text(m, out->arch, sizeof out->arch);
    out->predicted = pack_get_u32(m) != 0;
}

void device_put_note(pack *m, const device_note *note)
{
    pack_put_u64(m, note->number);
    pack_put_string(m, note->what);
    pack_put_u64(m, note->index);
    put_i64(m, note->limit_ns);
}

void device_get_note(pack *m, device_note *out)
{
    out->number = pack_get_u64(m);
    out->what = pack_get_string(m);
    out->index = pack_get_u64(m);
    out->limit_ns = get_i64(m);
    if (out->limit_ns < 0 || out->limit_ns > DEVICE_NOTE_MOST_NS)
        m->failed = true;
}

static void put_ready(pack *m, const device_ready *r)
{
    put_i64(m, r->floor_ns);
    put_i64(m, r->tick_ns);
    put_i64(m, r->reference_ns);
    put_i64(m, r->watchdog_ns);
    pack_put_u32(m, r->batch);
    pack_put_u32(m, r->buffer_sets);
    pack_put_f64(m, r->sm_clock_khz);
}

static void get_ready(pack *m, device_ready *out)
{
    out->floor_ns = get_i64(m);
    out->tick_ns = get_i64(m);
    out->reference_ns = get_i64(m);
    out->watchdog_ns = get_i64(m);
    out->batch = pack_get_u32(m);
    out->buffer_sets = pack_get_u32(m);
    out->sm_clock_khz = pack_get_f64(m);
}

static void put_energy(pack *m, const energy_estimate *e)
{
    pack_put_f64(m, e->launch_j);
    pack_put_f64(m, e->low_j);
    pack_put_f64(m, e->high_j);
    pack_put_f64(m, e->power_w);
    pack_put_u64(m, e->chunks);
}

static void get_energy(pack *m, energy_estimate *out)
{
    out->launch_j = pack_get_f64(m);
    out->low_j = pack_get_f64(m);
    out->high_j = pack_get_f64(m);
    out->power_w = pack_get_f64(m);
    out->chunks = (size_t)pack_get_u64(m);
}

void device_put_answer(pack *m, const device_answer *answer)
{
    pack_put_u64(m, answer->number);
    pack_put_u32(m, answer->kind);
    pack_put_u64(m, answer->id);
    pack_put_u32(m, answer->outcome);
    pack_put_u32(m, answer->status);
    pack_put_u32(m, answer->usable);
    pack_put_string(m, answer->message);
    put_i64(m, answer->ceiling_ns);
    pack_put_f64(m, answer->sm_clock_khz);
    put_i64(m, answer->check_ns);
    put_i64(m, answer->measure_ns);
    put_ready(m, &answer->ready);
    put_energy(m, &answer->energy);
    pack_put_u64(m, answer->throttle);
    pack_put_u32(m, answer->others);
    pack_put_u64(m, answer->counter_count);
    for (size_t i = 0; i < answer->counter_count; i++)
        pack_put_f64(m, answer->counters[i]);
    pack_put_u64(m, answer->sample_count);
    for (size_t i = 0; i < answer->sample_count; i++)
        put_i64(m, answer->samples_ns[i]);
}

/* As many numbers of 8 bytes as the message says there are; *count is 0 and the result NULL where it has
 * not that many. */
static void *get_array(pack *m, size_t *count)
{
    uint64_t said = pack_get_u64(m);
    *count = 0;
    if (m->failed || said > (m->size_bytes - m->position) / 8)
        m->failed = true;
    else
        *count = (size_t)said;
    return *count ? malloc(*count * 8) : NULL;
}

void device_answer_deinit(device_answer *answer)
{
    free(answer->samples_ns);
    free(answer->counters);
    answer->samples_ns = NULL;
    answer->counters = NULL;
}

at_status device_get_answer(pack *m, device_answer *out, at_error *error)
{
    *out = (device_answer){.number = pack_get_u64(m)};
    out->kind = pack_get_u32(m);
    out->id = pack_get_u64(m);
    uint32_t what = pack_get_u32(m), status = pack_get_u32(m);
    out->usable = pack_get_u32(m) != 0;
    out->message = pack_get_string(m);
    out->ceiling_ns = get_i64(m);
    out->sm_clock_khz = pack_get_f64(m);
    out->check_ns = get_i64(m);
    out->measure_ns = get_i64(m);
    get_ready(m, &out->ready);
    get_energy(m, &out->energy);
    out->throttle = pack_get_u64(m);
    out->others = pack_get_u32(m);
    out->counters = get_array(m, &out->counter_count);
    for (size_t i = 0; out->counters && i < out->counter_count; i++)
        out->counters[i] = pack_get_f64(m);
    bool memory = out->counters || out->counter_count == 0;
    if (memory)
        out->samples_ns = get_array(m, &out->sample_count);
    for (size_t i = 0; out->samples_ns && i < out->sample_count; i++)
        out->samples_ns[i] = get_i64(m);
    memory = memory && (out->samples_ns || out->sample_count == 0);
    if (memory && (what >= OUTCOME_COUNT || status > AT_INTERNAL || !pack_complete(m))) {
        device_answer_deinit(out);
        return error_set(error, AT_WORKER, "the device worker's answer makes no sense");
    }
    if (!memory) {
        device_answer_deinit(out);
        return error_set(error, AT_NO_MEMORY, "no memory for %zu samples",
                         out->sample_count + out->counter_count);
    }
    out->outcome = (outcome)what;
    out->status = (at_status)status;
    return AT_OK;
}
