#include "run/variant/sources.h"

#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "base/pack.h"
#include "compile/cubin.h"
#include "device/plan.h"
#include "run/setup/setup.h"

static at_status emit_ragged(session *s, const uint16_t *indices, candidate *c, sources *out,
                             at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 1; !status && i < s->slots; i++) {
        problem_kind problem = s->problems.kinds[i];
        size_t broken;
        status = script_valid(s->script, problem, indices, &c->present[i], &broken, error);
        if (!status && !c->present[i])
            c->broken[i] = (uint32_t)broken;
        if (status || !c->present[i])
            continue;
        status = script_launch_plan(s->script, problem, indices, &c->launches[i], error);
        if (!status)
            status = emit_variant(s->script, problem, indices, true, &out->of[i], error);
    }
    return status;
}

at_status sources_emit(session *s, const uint16_t *indices, candidate *c, sources *out,
                       at_error *error)
{
    *out = (sources){0};
    c->present[0] = true;
    if (s->workers->device)
        c->layout = (uint32_t)problem_set_layout(&s->problems, indices);
    at_status status =
        script_launch_plan(s->script, PROBLEM_TUNED, indices, &c->launches[0], error);
    if (!status)
        status = emit_variant(s->script, PROBLEM_TUNED, indices, true, &out->of[0], error);
    if (status)
        return status;
    snprintf(c->source_hash, sizeof c->source_hash, "%s", out->of[0].hash);
    return emit_ragged(s, indices, c, out, error);
}

void sources_deinit(sources *all)
{
    for (size_t i = 0; i < DEVICE_SLOTS; i++)
        emitted_deinit(&all->of[i]);
}

void sources_defer_ragged(const sources *all, candidate *c)
{
    for (size_t i = 1; i < DEVICE_SLOTS; i++) {
        if (!c->present[i])
            continue;
        c->ragged = RAGGED_DEFERRED;
        snprintf(c->codes[i], sizeof c->codes[i], "-%.31s", all->of[i].hash);
    }
}

static bool is_due(const sources *all, const candidate *c, size_t slot)
{
    if (!c->present[slot] || c->launches[slot].launch_count == 0 || c->images[slot] ||
        (slot > 0 && candidate_waits(c)))
        return false;
    return slot == 0 || strcmp(all->of[slot].hash, c->source_hash) != 0 ||
           !plan_same_entries(&c->launches[slot], &c->launches[0]);
}

at_status sources_submit(const sources *all, const session *s, candidate *c, at_error *error)
{
    const workers *w = s->workers;
    const char *path = script_pattern(s->script)->template_path;
    at_status status = AT_OK;
    uint8_t parts = 0;
    for (size_t i = 0; !status && i < DEVICE_SLOTS; i++) {
        if (!is_due(all, c, i))
            continue;
        const uint64_t id = c->id * DEVICE_SLOTS + i;
        const bool predicted = w->properties.predicted;
        /* The other problems need only PTX: a simulated device times the tuned problem alone. */
        status = predicted && i > 0 ? submit_ptx(w->pool, id, &all->of[i], path, &c->launches[i],
                                                 w->properties.arch, error)
                                    : submit_source(w->pool, id, &all->of[i], path, &c->launches[i],
                                                    w->properties.arch, predicted, error);
        /* The source of a finished candidate is compiled before the hundreds of waiting sources. */
        if (candidate_is_finished(c))
            compile_prioritise(w->pool);
        parts++;
    }
    c->parts = parts;
    return status;
}

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

/* Returns the identity made of texts[i] for each problem i on which the variant is checked. */
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
