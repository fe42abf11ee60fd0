#include "run/variant/identity.h"

#include <xxhash.h>

#include "base/keymap.h"
#include "base/pack.h"
#include "compile/code.h"
#include "device/plan_pack.h"

journal_key identity_of(const identity_part *parts, size_t count, uint32_t layout)
{
    pack m = {0};
    pack_put_u32(&m, layout);
    for (size_t i = 0; i < count; i++) {
        pack_put_u32(&m, parts[i].text != NULL);
        if (!parts[i].text)
            continue;
        pack_put_string(&m, parts[i].text);
        plan_put_launch(&m, parts[i].plan);
    }
    return journal_key_of_pack(&m);
}

/* texts[i]: of problem i, if the variant is checked on it. */
static journal_key identify(const candidate *c, const char *const texts[DEVICE_SLOTS])
{
    identity_part parts[DEVICE_SLOTS] = {{0}};
    for (size_t i = 0; i < DEVICE_SLOTS; i++)
        if (c->present[i])
            parts[i] = (identity_part){texts[i], &c->launches[i]};
    return identity_of(parts, DEVICE_SLOTS, c->layout);
}

void identity_by_source(candidate *c, const sources *all)
{
    const char *texts[DEVICE_SLOTS];
    for (size_t i = 0; i < DEVICE_SLOTS; i++)
        texts[i] = i > 0 && c->ragged ? c->codes[i] : all->of[i].hash;
    c->source = identify(c, texts);
}

void identity_note_code(candidate *c, size_t slot, const compile_result *r, bool is_ptx)
{
    struct {
        compile_code code;
        kernel_resources resources;
    } all = {.resources = r->resources};
    bool known = is_ptx || compile_code_of_cubin(r->cubin, r->cubin_bytes, r->symbols, &all.code);
    if (is_ptx)
        all.code = compile_code_of_ptx(r->ptx);
    c->codes[slot][0] = '\0';
    if (known)
        hash_text(XXH3_128bits(&all, sizeof all), c->codes[slot]);
}

void identity_by_code(candidate *c)
{
    const char *texts[DEVICE_SLOTS] = {NULL};
    c->has_code = false;
    for (size_t i = 0; i < DEVICE_SLOTS; i++) {
        texts[i] = c->images[i] || (i > 0 && candidate_waits(c)) ? c->codes[i] : c->codes[0];
        if (c->present[i] && !texts[i][0])
            return;
    }
    c->code = identify(c, texts);
    c->has_code = true;
}
