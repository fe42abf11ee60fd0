#include "journal/key.h"

#include <string.h>
#include <xxhash.h>

#include "process/message.h"

static void put_problem(message *m, const problem_plan *p)
{
    message_put_u32(m, p->buffer_count);
    for (uint32_t i = 0; i < p->buffer_count && i < PLAN_MAX_BUFFERS; i++) {
        const buffer_plan *b = &p->buffers[i];
        message_put_string(m, b->name);
        message_put_u32(m, b->role);
        message_put_u32(m, b->fill);
        message_put_u32(m, b->type);
        message_put_u64(m, b->count);
        message_put_u64(m, b->fill_limit);
    }
    message_put_f64(m, p->tolerance);
    message_put_u32(m, p->deterministic);
    message_put_u64(m, p->traffic_bytes);
    message_put_u64(m, p->seed);
}

static void put_launch(message *m, const journal_launch *l)
{
    const launch_plan *p = l->plan;
    message_put_string(m, l->source_hash);
    message_put_string(m, p->entry);
    for (int i = 0; i < 3; i++) {
        message_put_u32(m, p->grid[i]);
        message_put_u32(m, p->block[i]);
    }
    message_put_u32(m, p->dynamic_shared_bytes);
    message_put_u32(m, p->argument_count);
    for (uint32_t i = 0; i < p->argument_count && i < PLAN_MAX_ARGUMENTS; i++) {
        const argument_plan *a = &p->arguments[i];
        message_put_u32(m, a->is_buffer);
        message_put_u32(m, a->is_buffer ? a->buffer : a->size_bytes);
        message_put_u64(m, a->is_buffer ? 0 : a->bits);
    }
}

static at_status finish(message *m, journal_key *out, at_error *error)
{
    if (m->failed) {
        message_deinit(m);
        return error_set(error, AT_NO_MEMORY, "no memory for a key of the journal");
    }
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(m->bytes, m->size_bytes));
    memcpy(out->bytes, canonical.digest, sizeof out->bytes);
    message_deinit(m);
    return AT_OK;
}

at_status journal_key_of_facts(const journal_facts *f, journal_key *out, at_error *error)
{
    const device_properties *d = f->device;
    message m;
    message_init(&m, 0);
    message_put_u32(&m, JOURNAL_MEASURING_VERSION);
    message_put_string(&m, f->pattern);
    message_put_string(&m, d->kind);
    message_put_string(&m, d->uuid);
    message_put_string(&m, d->limits.name);
    message_put_string(&m, d->driver);
    message_put_string(&m, d->arch);
    message_put_string(&m, f->nvrtc_version);
    message_put_u64(&m, f->problem_count);
    for (size_t i = 0; i < f->problem_count; i++)
        put_problem(&m, &f->problems[i]);
    message_put_string(&m, f->reference_hash);
    message_put_u32(&m, f->warm_cache);
    return finish(&m, out, error);
}

at_status journal_key_of_variant(journal_key facts, const journal_launch *launches, size_t count,
                                 journal_key *out, at_error *error)
{
    message m;
    message_init(&m, 0);
    message_put_bytes(&m, facts.bytes, sizeof facts.bytes);
    message_put_u64(&m, count);
    for (size_t i = 0; i < count; i++)
        put_launch(&m, &launches[i]);
    return finish(&m, out, error);
}
