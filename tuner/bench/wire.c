#include "bench/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t get_i64(message *m)
{
    return (int64_t)message_get_u64(m);
}

static void put_i64(message *m, int64_t v)
{
    message_put_u64(m, (uint64_t)v);
}

static void get_text(message *m, char *out, size_t size_bytes)
{
    const char *text = message_get_string(m);
    if (strlen(text) >= size_bytes)
        m->failed = true;
    snprintf(out, size_bytes, "%s", text);
}

void device_put_image(message *m, const device_image *image)
{
    message_put_bytes(m, image->bytes, image->size_bytes);
    message_put_u32(m, image->registers);
    message_put_u32(m, image->static_shared_bytes);
}

void device_get_image(message *m, device_image *out)
{
    out->bytes = message_get_bytes(m, &out->size_bytes);
    out->registers = message_get_u32(m);
    out->static_shared_bytes = message_get_u32(m);
}

void device_put_problem(message *m, const device_problem *problem)
{
    plan_put_problem(m, &problem->plan);
    device_put_image(m, &problem->reference);
    plan_put_launch(m, &problem->reference_launch);
}

void device_get_problem(message *m, device_problem *out)
{
    plan_get_problem(m, &out->plan, NULL);
    device_get_image(m, &out->reference);
    plan_get_launch(m, &out->reference_launch, NULL);
}

void device_put_variant(message *m, const device_variant *variant)
{
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        message_put_u32(m, variant->present[i]);
        if (!variant->present[i])
            continue;
        device_put_image(m, &variant->images[i]);
        plan_put_launch(m, &variant->launches[i]);
    }
}

void device_get_variant(message *m, device_variant *out)
{
    *out = (device_variant){0};
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        out->present[i] = message_get_u32(m) != 0;
        if (!out->present[i])
            continue;
        device_get_image(m, &out->images[i]);
        plan_get_launch(m, &out->launches[i], NULL);
    }
    if (!out->present[0])
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

static void put_limits(message *m, const arch_limits *limits)
{
    message_put_string(m, limits->name);
    message_put_f64(m, limits->bandwidth_bytes_per_s);
    for (size_t i = 0; i < LIMIT_FIELDS; i++) {
        const char *field = (const char *)limits + limit_fields[i].offset;
        int number;
        size_t size;
        memcpy(&number, field, sizeof number);
        if (limit_fields[i].is_size)
            memcpy(&size, field, sizeof size);
        else
            size = (size_t)number;
        message_put_u64(m, size);
    }
}

static void get_limits(message *m, arch_limits *limits)
{
    get_text(m, limits->name, sizeof limits->name);
    limits->bandwidth_bytes_per_s = message_get_f64(m);
    for (size_t i = 0; i < LIMIT_FIELDS; i++) {
        char *field = (char *)limits + limit_fields[i].offset;
        size_t size = (size_t)message_get_u64(m);
        int number = (int)size;
        if (limit_fields[i].is_size)
            memcpy(field, &size, sizeof size);
        else
            memcpy(field, &number, sizeof number);
    }
}

void device_put_properties(message *m, const device_properties *p)
{
    message_put_string(m, p->kind);
    message_put_string(m, p->spec);
    message_put_string(m, p->uuid);
    message_put_string(m, p->driver);
    message_put_u32(m, (uint32_t)p->cuda_version);
    put_limits(m, &p->limits);
    message_put_string(m, p->arch);
    message_put_u32(m, p->predicted);
}

void device_get_properties(message *m, device_properties *out)
{
    *out = (device_properties){0};
    get_text(m, out->kind, sizeof out->kind);
    get_text(m, out->spec, sizeof out->spec);
    get_text(m, out->uuid, sizeof out->uuid);
    get_text(m, out->driver, sizeof out->driver);
    out->cuda_version = (int)message_get_u32(m);
    get_limits(m, &out->limits);
    get_text(m, out->arch, sizeof out->arch);
    out->predicted = message_get_u32(m) != 0;
}

void device_put_note(message *m, const device_note *note)
{
    message_put_string(m, note->what);
    message_put_u64(m, note->index);
    put_i64(m, note->limit_ns);
}

void device_get_note(message *m, device_note *out)
{
    out->what = message_get_string(m);
    out->index = message_get_u64(m);
    out->limit_ns = get_i64(m);
}

static void put_ready(message *m, const device_ready *r)
{
    put_i64(m, r->floor_ns);
    put_i64(m, r->tick_ns);
    put_i64(m, r->reference_ns);
    put_i64(m, r->watchdog_ns);
    message_put_u32(m, r->batch);
    message_put_u32(m, r->buffer_sets);
    message_put_f64(m, r->sm_clock_khz);
}

static void get_ready(message *m, device_ready *out)
{
    out->floor_ns = get_i64(m);
    out->tick_ns = get_i64(m);
    out->reference_ns = get_i64(m);
    out->watchdog_ns = get_i64(m);
    out->batch = message_get_u32(m);
    out->buffer_sets = message_get_u32(m);
    out->sm_clock_khz = message_get_f64(m);
}

static void put_energy(message *m, const energy_estimate *e)
{
    message_put_f64(m, e->launch_j);
    message_put_f64(m, e->low_j);
    message_put_f64(m, e->high_j);
    message_put_f64(m, e->power_w);
    message_put_u64(m, e->chunks);
}

static void get_energy(message *m, energy_estimate *out)
{
    out->launch_j = message_get_f64(m);
    out->low_j = message_get_f64(m);
    out->high_j = message_get_f64(m);
    out->power_w = message_get_f64(m);
    out->chunks = (size_t)message_get_u64(m);
}

void device_put_answer(message *m, const device_answer *answer)
{
    message_put_u64(m, answer->id);
    message_put_u32(m, answer->outcome);
    message_put_u32(m, answer->status);
    message_put_u32(m, answer->usable);
    message_put_string(m, answer->message);
    put_i64(m, answer->ceiling_ns);
    message_put_f64(m, answer->sm_clock_khz);
    put_i64(m, answer->check_ns);
    put_i64(m, answer->measure_ns);
    put_ready(m, &answer->ready);
    put_energy(m, &answer->energy);
    message_put_u64(m, answer->throttle);
    message_put_u32(m, answer->others);
    message_put_u64(m, answer->sample_count);
    for (size_t i = 0; i < answer->sample_count; i++)
        put_i64(m, answer->samples_ns[i]);
}

at_status device_get_answer(message *m, device_answer *out, at_error *error)
{
    *out = (device_answer){.id = message_get_u64(m)};
    uint32_t what = message_get_u32(m), status = message_get_u32(m);
    out->usable = message_get_u32(m) != 0;
    out->message = message_get_string(m);
    out->ceiling_ns = get_i64(m);
    out->sm_clock_khz = message_get_f64(m);
    out->check_ns = get_i64(m);
    out->measure_ns = get_i64(m);
    get_ready(m, &out->ready);
    get_energy(m, &out->energy);
    out->throttle = message_get_u64(m);
    out->others = message_get_u32(m);
    uint64_t count = message_get_u64(m);
    if (m->failed || what >= OUTCOME_COUNT || status > AT_INTERNAL ||
        count != (m->size_bytes - m->position) / 8)
        return error_set(error, AT_WORKER, "the device worker's answer makes no sense");
    out->outcome = (outcome)what;
    out->status = (at_status)status;
    if (count == 0)
        return AT_OK;
    out->samples_ns = malloc((size_t)count * sizeof *out->samples_ns);
    if (!out->samples_ns)
        return error_set(error, AT_NO_MEMORY, "no memory for %zu samples", (size_t)count);
    out->sample_count = (size_t)count;
    for (size_t i = 0; i < out->sample_count; i++)
        out->samples_ns[i] = get_i64(m);
    return AT_OK;
}
