#include "bench/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "device/plan.h"

/* The first `got` bytes have arrived; `trouble` is the reason why no more arrive. */
struct device_content {
    unsigned char key[DATA_KEY_BYTES];
    unsigned char *bytes; /* owned */
    uint64_t all, got;
    char trouble[512];
};

void device_contents_deinit(device_contents *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->items[i].bytes);
    free(c->items);
    *c = (device_contents){0};
}

static device_content *find(const device_contents *c, const unsigned char *key)
{
    for (size_t i = 0; i < c->count; i++)
        if (memcmp(c->items[i].key, key, sizeof c->items[i].key) == 0)
            return &c->items[i];
    return NULL;
}

/* Starts a file. An earlier, shorter part of it may have arrived before. */
static void begin(device_contents *c, const device_chunk *chunk)
{
    device_content *one = find(c, chunk->key);
    if (!one) {
        device_content fresh = {.bytes = NULL};
        memcpy(fresh.key, chunk->key, sizeof fresh.key);
        memory_add(&c->items, &c->count, &fresh, sizeof fresh);
        one = &c->items[c->count - 1];
    }
    free(one->bytes);
    one->bytes = malloc(chunk->all_bytes ? (size_t)chunk->all_bytes : 1);
    one->all = chunk->all_bytes;
    one->got = 0;
    one->trouble[0] = '\0';
    if (!one->bytes)
        snprintf(one->trouble, sizeof one->trouble,
                 "there is no memory for the %" PRIu64 " bytes of a file", chunk->all_bytes);
}

at_status device_contents_take(device_contents *c, const device_chunk *chunk, at_error *error)
{
    if (chunk->offset == 0)
        begin(c, chunk);
    device_content *one = find(c, chunk->key);
    if (!one || chunk->all_bytes != one->all || chunk->size_bytes > one->all - one->got ||
        (!one->trouble[0] && chunk->offset != one->got))
        return error_set(error, AT_FORMAT, "a part of a file's contents is out of order");
    if (*chunk->trouble && !one->trouble[0])
        snprintf(one->trouble, sizeof one->trouble, "%s", chunk->trouble);
    if (one->trouble[0])
        return AT_OK;
    memcpy(one->bytes + one->got, chunk->bytes, chunk->size_bytes);
    one->got += chunk->size_bytes;
    return AT_OK;
}

at_status device_contents_find(const device_contents *c, const unsigned char *key,
                               uint64_t size_bytes, const void **out, at_error *error)
{
    const device_content *one = find(c, key);
    if (one && one->trouble[0])
        return error_set(error, AT_SCRIPT, "%s", one->trouble);
    if (!one || one->got < size_bytes)
        return error_set(error, AT_INTERNAL, "the contents of a file were not sent");
    *out = one->bytes;
    return AT_OK;
}

static const pack_field image_fields[] = {
    PACK_FIELD(device_image, registers),   PACK_FIELD(device_image, static_shared_bytes),
    PACK_FIELD(device_image, symbols),     PACK_FIELD(device_image, shared),
    PACK_FIELD(device_image, stack_bytes), PACK_FIELD(device_image, spill_bytes),
};

static const pack_field problem_fields[] = {
    PACK_FIELD(device_problem, layout),  PACK_FIELD(device_problem, label),
    PACK_FIELD(device_problem, sampled), PACK_FIELD(device_problem, absent),
    PACK_FIELD(device_problem, proves),  PACK_FIELD(device_problem, brief),
    PACK_FIELD(device_problem, whole),   PACK_FIELD(device_problem, timed),
};

static const pack_field chunk_fields[] = {
    PACK_FIELD(device_chunk, all_bytes),
    PACK_FIELD(device_chunk, offset),
    PACK_FIELD(device_chunk, trouble),
};

static const pack_field variant_fields[] = {
    PACK_FIELD(device_variant, layout),    PACK_FIELD(device_variant, unchecked),
    PACK_FIELD(device_variant, launch_ns), PACK_FIELD(device_variant, too_slow_ns),
    PACK_FIELD(device_variant, once),
};

static const pack_field note_fields[] = {
    PACK_FIELD(device_note, number),
    PACK_FIELD(device_note, what),
    PACK_FIELD(device_note, index),
    PACK_FIELD(device_note, limit_ns),
};

static const pack_field property_fields[] = {
    PACK_FIELD(device_properties, kind),
    PACK_FIELD(device_properties, spec),
    PACK_FIELD(device_properties, uuid),
    PACK_FIELD(device_properties, driver),
    PACK_FIELD(device_properties, cuda_version),
    PACK_FIELD(device_properties, arch),
    PACK_FIELD(device_properties, predicted),
    PACK_FIELD(device_properties, limits.name),
    PACK_FIELD(device_properties, limits.major),
    PACK_FIELD(device_properties, limits.minor),
    PACK_FIELD(device_properties, limits.sm_count),
    PACK_FIELD(device_properties, limits.warp_size),
    PACK_FIELD(device_properties, limits.max_threads_per_block),
    PACK_FIELD(device_properties, limits.max_threads_per_sm),
    PACK_FIELD(device_properties, limits.max_blocks_per_sm),
    PACK_FIELD(device_properties, limits.registers_per_sm),
    PACK_FIELD(device_properties, limits.max_registers_per_thread),
    PACK_FIELD(device_properties, limits.register_unit),
    PACK_FIELD(device_properties, limits.shared_per_sm_bytes),
    PACK_FIELD(device_properties, limits.max_shared_per_block_bytes),
    PACK_FIELD(device_properties, limits.shared_reserved_bytes),
    PACK_FIELD(device_properties, limits.shared_unit_bytes),
    PACK_FIELD(device_properties, limits.l2_bytes),
    PACK_FIELD(device_properties, limits.global_bytes),
    PACK_FIELD(device_properties, limits.clock_khz),
    PACK_FIELD(device_properties, limits.bandwidth_bytes_per_s),
};

#define FAULT_LINE(i)                                                                              \
    PACK_FIELD(device_fault, lines[i].file), PACK_FIELD(device_fault, lines[i].line),              \
        PACK_FIELD(device_fault, lines[i].column)

static const pack_field fault_fields[] = {
    PACK_FIELD(device_fault, kind),
    FAULT_LINE(0),
    FAULT_LINE(1),
    FAULT_LINE(2),
    FAULT_LINE(3),
    FAULT_LINE(4),
    PACK_FIELD(device_fault, has_thread),
    PACK_FIELD(device_fault, thread[0]),
    PACK_FIELD(device_fault, thread[1]),
    PACK_FIELD(device_fault, thread[2]),
    PACK_FIELD(device_fault, block[0]),
    PACK_FIELD(device_fault, block[1]),
    PACK_FIELD(device_fault, block[2]),
    PACK_FIELD(device_fault, space),
    PACK_FIELD(device_fault, address),
    PACK_FIELD(device_fault, buffer),
    PACK_FIELD(device_fault, has_element),
    PACK_FIELD(device_fault, element),
};

static const pack_field coverage_fields[] = {
    PACK_FIELD(device_coverage, problems),  PACK_FIELD(device_coverage, blocks),
    PACK_FIELD(device_coverage, run),       PACK_FIELD(device_coverage, cut),
    PACK_FIELD(device_coverage, blind),     PACK_FIELD(device_coverage, whole),
    PACK_FIELD(device_coverage, smaller),   PACK_FIELD(device_coverage, compared),
    PACK_FIELD(device_coverage, skipped),   PACK_FIELD(device_coverage, owes),
    PACK_FIELD(device_coverage, never),     PACK_FIELD(device_coverage, once),
    PACK_FIELD(device_coverage, unwritten), PACK_FIELD(device_coverage, together),
    PACK_FIELD(device_coverage, allowed),   PACK_FIELD(device_coverage, unwatched),
};

static const pack_field event_fields[] = {
    PACK_FIELD(device_event, id),
    PACK_FIELD(device_event, outcome),
    PACK_FIELD(device_event, slot),
    PACK_FIELD(device_event, status),
    PACK_FIELD(device_event, ceiling_ns),
    PACK_FIELD(device_event, sm_clock_khz),
    PACK_FIELD(device_event, check_ns),
    PACK_FIELD(device_event, measure_ns),
    PACK_FIELD(device_event, low_ns),
    PACK_FIELD(device_event, high_ns),
    PACK_FIELD(device_event, ready.floor_ns),
    PACK_FIELD(device_event, ready.tick_ns),
    PACK_FIELD(device_event, ready.reference_ns),
    PACK_FIELD(device_event, ready.watchdog_ns),
    PACK_FIELD(device_event, ready.batch),
    PACK_FIELD(device_event, ready.buffer_sets),
    PACK_FIELD(device_event, ready.sm_clock_khz),
    PACK_FIELD(device_event, energy.launch_j),
    PACK_FIELD(device_event, energy.low_j),
    PACK_FIELD(device_event, energy.high_j),
    PACK_FIELD(device_event, energy.power_w),
    PACK_FIELD(device_event, energy.chunks),
    PACK_FIELD(device_event, throttle),
    PACK_FIELD(device_event, others),
};

static const pack_field answer_fields[] = {
    PACK_FIELD(device_answer, number),  PACK_FIELD(device_answer, kind),
    PACK_FIELD(device_answer, usable),  PACK_FIELD(device_answer, message),
    PACK_FIELD(device_answer, printed),
};

void device_put_chunk(pack *m, const device_chunk *chunk)
{
    pack_put_bytes(m, chunk->key, DATA_KEY_BYTES);
    pack_put_fields(m, chunk, PACK_FIELDS(chunk_fields));
    pack_put_bytes(m, chunk->bytes, chunk->size_bytes);
}

void device_get_chunk(pack *m, device_chunk *out)
{
    size_t key_bytes;
    *out = (device_chunk){.key = pack_get_bytes(m, &key_bytes)};
    pack_get_fields(m, out, PACK_FIELDS(chunk_fields));
    out->bytes = pack_get_bytes(m, &out->size_bytes);
    if (key_bytes != DATA_KEY_BYTES || out->all_bytes > INT64_MAX)
        m->failed = true;
}

void device_put_image(pack *m, const device_image *image)
{
    pack_put_bytes(m, image->bytes, image->size_bytes);
    pack_put_fields(m, image, PACK_FIELDS(image_fields));
}

void device_get_image(pack *m, device_image *out)
{
    out->bytes = pack_get_bytes(m, &out->size_bytes);
    pack_get_fields(m, out, PACK_FIELDS(image_fields));
}

void device_put_problem(pack *m, const device_problem *problem)
{
    pack_put_fields(m, problem, PACK_FIELDS(problem_fields));
    plan_put_problem(m, &problem->plan);
    device_put_image(m, &problem->reference);
    if (problem->reference.size_bytes)
        plan_put_launch(m, &problem->reference_launch);
    device_put_image(m, &problem->filler);
    if (problem->filler.size_bytes)
        plan_put_launch(m, &problem->filler_launch);
}

void device_get_problem(pack *m, device_problem *out)
{
    pack_get_fields(m, out, PACK_FIELDS(problem_fields));
    plan_get_problem(m, &out->plan);
    device_get_image(m, &out->reference);
    if (out->reference.size_bytes)
        plan_get_launch(m, &out->reference_launch);
    else if (!out->absent)
        m->failed = true;
    device_get_image(m, &out->filler);
    if (out->filler.size_bytes)
        plan_get_launch(m, &out->filler_launch);
}

void device_put_predecessors(pack *m, const device_predecessor *all, size_t count)
{
    pack_put_u32(m, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        pack_put_string(m, all[i].name);
        plan_put_problem(m, &all[i].plan);
        device_put_image(m, &all[i].image);
        plan_put_launch(m, &all[i].launch);
    }
}

size_t device_get_predecessors(pack *m, device_predecessor **out)
{
    uint32_t count = pack_get_u32(m);
    *out = NULL;
    if (m->failed || count > DEVICE_MAX_BEFORE) {
        m->failed = true;
        return 0;
    }
    if (count > 0)
        *out = memory_new(count, sizeof **out);
    for (uint32_t i = 0; i < count; i++) {
        device_predecessor *p = &(*out)[i];
        snprintf(p->name, sizeof p->name, "%s", pack_get_string(m));
        plan_get_problem(m, &p->plan);
        device_get_image(m, &p->image);
        plan_get_launch(m, &p->launch);
    }
    return count;
}

void device_put_variant(pack *m, const device_variant *variant)
{
    pack_put_fields(m, variant, PACK_FIELDS(variant_fields));
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
    *out = (device_variant){0};
    pack_get_fields(m, out, PACK_FIELDS(variant_fields));
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        out->present[i] = pack_get_u32(m) != 0;
        if (!out->present[i])
            continue;
        device_get_image(m, &out->images[i]);
        plan_get_launch(m, &out->launches[i]);
    }
    bool any = false, borrows = false;
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        any = any || out->present[i];
        borrows = borrows || (i > 0 && out->present[i] && out->images[i].size_bytes == 0);
    }
    if (!any || (borrows && !out->present[0]))
        m->failed = true;
}

void device_put_properties(pack *m, const device_properties *p)
{
    pack_put_fields(m, p, PACK_FIELDS(property_fields));
}

void device_get_properties(pack *m, device_properties *out)
{
    *out = (device_properties){0};
    pack_get_fields(m, out, PACK_FIELDS(property_fields));
}

void device_put_note(pack *m, const device_note *note)
{
    pack_put_fields(m, note, PACK_FIELDS(note_fields));
}

void device_get_note(pack *m, device_note *out)
{
    pack_get_fields(m, out, PACK_FIELDS(note_fields));
    if (out->limit_ns < 0 || out->limit_ns > DEVICE_NOTE_MOST_NS)
        m->failed = true;
}

void device_put_answer(pack *m, const device_answer *answer)
{
    pack_put_fields(m, answer, PACK_FIELDS(answer_fields));
    pack_put_fields(m, &answer->found, PACK_FIELDS(event_fields));
    pack_put_fields(m, &answer->found.coverage, PACK_FIELDS(coverage_fields));
    pack_put_fields(m, &answer->found.fault, PACK_FIELDS(fault_fields));
    pack_put_bytes(m, answer->results, answer->found.results_bytes);
    pack_put_u64(m, answer->counter_count);
    for (size_t i = 0; i < answer->counter_count; i++)
        pack_put_f64(m, answer->found.counters[i]);
    pack_put_u64(m, answer->found.sample_count);
    for (size_t i = 0; i < answer->found.sample_count; i++)
        pack_put_u64(m, (uint64_t)answer->found.samples_ns[i]);
}

/* Reads an array of 8-byte numbers into new memory of zeroes. If the message is too short for its
 * count, *count is 0 and the result NULL. */
static void *get_array(pack *m, size_t *count)
{
    uint64_t said = pack_get_u64(m);
    *count = 0;
    if (m->failed || said > (m->size_bytes - m->position) / 8)
        m->failed = true;
    else
        *count = (size_t)said;
    return *count ? memory_new(*count, 8) : NULL;
}

void device_event_deinit(device_event *e)
{
    free(e->message);
    free(e->printed);
    free(e->ids);
    free(e->samples_ns);
    free(e->counters);
    free(e->results);
    *e = (device_event){0};
}

bool device_get_answer(pack *m, device_answer *out)
{
    device_event *found = &out->found;
    *out = (device_answer){0};
    pack_get_fields(m, out, PACK_FIELDS(answer_fields));
    pack_get_fields(m, found, PACK_FIELDS(event_fields));
    pack_get_fields(m, &found->coverage, PACK_FIELDS(coverage_fields));
    pack_get_fields(m, &found->fault, PACK_FIELDS(fault_fields));
    out->results = pack_get_bytes(m, &found->results_bytes);
    found->counters = get_array(m, &out->counter_count);
    for (size_t i = 0; found->counters && i < out->counter_count; i++)
        found->counters[i] = pack_get_f64(m);
    found->samples_ns = get_array(m, &found->sample_count);
    for (size_t i = 0; found->samples_ns && i < found->sample_count; i++)
        found->samples_ns[i] = (int64_t)pack_get_u64(m);
    bool sense = (unsigned)found->outcome < OUTCOME_COUNT && (unsigned)found->status <= AT_INTERNAL;
    if (sense && pack_complete(m))
        return true;
    device_event_deinit(found);
    return false;
}
