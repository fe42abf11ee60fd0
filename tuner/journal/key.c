#include "journal/key.h"

#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "device/plan_pack.h"

static journal_key hash(const void *bytes, size_t size_bytes)
{
    journal_key out;
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size_bytes));
    memcpy(out.bytes, canonical.digest, sizeof out.bytes);
    return out;
}

journal_key journal_key_of_pack(pack *m)
{
    memory_have(m->failed ? NULL : m);
    journal_key key = hash(m->bytes, m->size_bytes);
    pack_deinit(m);
    return key;
}

journal_key journal_key_of_facts(const journal_facts *f)
{
    const device_properties *d = f->device;
    pack m = {0};
    pack_put_u32(&m, JOURNAL_MEASURING_VERSION);
    pack_put_string(&m, f->pattern);
    pack_put_string(&m, d->kind);
    pack_put_string(&m, d->limits.name);
    pack_put_string(&m, d->driver);
    pack_put_string(&m, d->arch);
    pack_put_string(&m, f->nvrtc_version);
    pack_put_u64(&m, f->problem_count);
    for (size_t i = 0; i < f->problem_count; i++)
        plan_put_problem(&m, &f->problems[i]);
    pack_put_string(&m, f->reference_hash);
    pack_put_u32(&m, f->warm_cache);
    if (f->before_hash && *f->before_hash)
        pack_put_string(&m, f->before_hash);
    return journal_key_of_pack(&m);
}

journal_key journal_key_of_both(journal_key first, journal_key second)
{
    const journal_key both[] = {first, second};
    return hash(both, sizeof both);
}

journal_key journal_key_of_gpu(journal_key facts, const char *uuid)
{
    return journal_key_of_both(facts, hash(uuid, strlen(uuid)));
}

journal_key journal_key_of_question(journal_key race, const journal_question *q)
{
    pack m = {0};
    pack_put_bytes(&m, race.bytes, sizeof race.bytes);
    pack_put_string(&m, q->asked);
    pack_put_u64(&m, q->number);
    pack_put_u64(&m, q->count);
    for (size_t i = 0; i < q->count; i++) {
        pack_put_bytes(&m, q->variants[i].bytes, sizeof q->variants[i].bytes);
        pack_put_u64(&m, q->configurations[i]);
    }
    return journal_key_of_pack(&m);
}
