#include "run/variant/variant.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"

candidate *candidates_add(candidates *table, uint64_t configuration)
{
    candidate *c = memory_new(1, sizeof *c);
    c->configuration = configuration;
    c->id = table->count;
    memory_add(&table->items, &table->count, &c, sizeof c);
    table->at[CANDIDATE_NEW]++;
    return c;
}

void candidates_deinit(candidates *table)
{
    for (size_t i = 0; i < table->count; i++) {
        candidate_drop_images(table->items[i]);
        measurement_deinit(&table->items[i]->found);
        free(table->items[i]->unproven);
        free(table->items[i]->coverage);
        free(table->items[i]);
    }
    free(table->items);
    *table = (candidates){0};
}

static void condemn(candidate *c)
{
    char text[4096];
    snprintf(text, sizeof text, "on the simulated device, %s", c->unproven ? c->unproven : "");
    candidate_reject(c, OUTCOME_WRONG_RESULT, text);
}

void candidate_copy(candidate *c, const measurement *found)
{
    measurement copy = *found;
    measurement_own(&copy);
    measurement_deinit(&c->found);
    c->found = copy;
    c->fastest_ns = measurement_fastest_ns(&copy);
}

void candidate_found(candidate *c, outcome o, const char *message, const int64_t *samples_ns,
                     size_t sample_count)
{
    measurement whole = c->found;
    whole.outcome = o;
    whole.message = message;
    whole.samples_ns = samples_ns;
    whole.sample_count = sample_count;
    candidate_copy(c, &whole);
    /* A proof may end before the device's check. */
    if (o == OUTCOME_OK && c->verdict == PROOF_WRONG)
        condemn(c);
}

void candidate_reject(candidate *c, outcome o, const char *message)
{
    candidate_found(c, o, message, c->found.samples_ns, c->found.sample_count);
}

void candidate_judge(candidate *c, proof *found)
{
    c->verdict = found->verdict;
    free(c->unproven);
    c->unproven = found->message;
    found->message = NULL;
    free(c->coverage);
    c->coverage = c->verdict == PROOF_PROVEN ? coverage_copy(&found->coverage) : NULL;
    proof_deinit(found);
    if (c->verdict == PROOF_WRONG)
        condemn(c);
}

int64_t candidate_median_ns(const candidate *c)
{
    stats_summary all;
    stats_summarise_copy(c->found.samples_ns, c->found.sample_count, &all);
    return all.median_ns;
}

void candidate_variant(const candidate *c, device_variant *out)
{
    out->layout = c->layout;
    out->once[0] = '\0'; /* "" means all slots */
    out->launch_ns = c->fastest_ns;
    out->too_slow_ns = 0;
    out->unchecked = c->ragged == RAGGED_UNCHECKED;
    for (size_t i = 0; i < DEVICE_SLOTS; i++) {
        out->present[i] = c->present[i] && (i == 0 || !candidate_waits(c));
        out->launches[i] = c->launches[i];
        out->images[i] =
            (device_image){.bytes = c->images[i],
                           .size_bytes = c->image_bytes[i],
                           .registers = c->found.resources.registers,
                           .static_shared_bytes = c->found.resources.static_shared_bytes,
                           .stack_bytes = c->found.resources.stack_bytes,
                           .spill_bytes = c->found.resources.spill_load_bytes +
                                          c->found.resources.spill_store_bytes,
                           .symbols = c->image_symbols[i] ? c->image_symbols[i] : "",
                           .shared = c->image_shared[i]};
    }
}

bool candidate_waits(const candidate *c)
{
    return c->ragged == RAGGED_DEFERRED;
}

bool candidate_is_checked(const candidate *c)
{
    return c->ragged == RAGGED_WITH_TUNED || c->ragged == RAGGED_PASSED;
}

bool candidate_has_code(const candidate *c)
{
    for (size_t i = 0; i < DEVICE_SLOTS; i++)
        if (c->present[i] && c->launches[i].launch_count > 0 && !c->images[i] && !c->images[0])
            return false;
    return true;
}

size_t candidate_code_bytes(const candidate *c)
{
    size_t sum = 0;
    for (size_t i = 0; i < DEVICE_SLOTS; i++)
        sum += c->image_bytes[i];
    return sum;
}

void candidate_drop_images(candidate *c)
{
    for (size_t i = 0; i < DEVICE_SLOTS; i++) {
        free(c->images[i]);
        free(c->image_symbols[i]);
        c->images[i] = NULL;
        c->image_symbols[i] = NULL;
        c->image_bytes[i] = 0;
    }
}

#define TO(stage) (1u << CANDIDATE_##stage)

static bool follows(candidate_stage from, candidate_stage to)
{
    static const unsigned next[CANDIDATE_STAGES] = {
        [CANDIDATE_NEW] =
            TO(COMPILING) | TO(WAITING) | TO(FOLLOWING) | TO(ABANDONED) | TO(FINISHED),
        [CANDIDATE_COMPILING] =
            TO(WAITING) | TO(FOLLOWING) | TO(ABANDONED) | TO(FINISHED) | TO(RECOMPILING),
        [CANDIDATE_WAITING] = TO(TRYING) | TO(ABANDONED) | TO(FINISHED),
        [CANDIDATE_TRYING] = TO(WAITING) | TO(ABANDONED) | TO(FINISHED),
        [CANDIDATE_FOLLOWING] = TO(FINISHED),
        [CANDIDATE_FINISHED] = TO(RECOMPILING) | TO(CHECK_DUE),
        [CANDIDATE_RECOMPILING] = TO(FINISHED) | TO(CHECK_DUE),
        [CANDIDATE_CHECK_DUE] = TO(CHECKING) | TO(FINISHED),
        [CANDIDATE_CHECKING] = TO(CHECK_DUE) | TO(FINISHED),
    };
    return next[from] >> to & 1;
}

static bool is_sound(const candidate *c)
{
    bool compiles = c->stage == CANDIDATE_COMPILING || c->stage == CANDIDATE_RECOMPILING;
    bool tried = c->stage == CANDIDATE_WAITING || c->stage == CANDIDATE_TRYING;
    if (c->stage != CANDIDATE_ABANDONED && compiles != (c->parts > 0))
        return false;
    if (!candidate_is_finished(c) && (c->stage == CANDIDATE_FOLLOWING) != (c->twin_of != NULL))
        return false;
    if (c->stage == CANDIDATE_CHECK_DUE || c->stage == CANDIDATE_CHECKING)
        return c->ragged == RAGGED_UNCHECKED;
    return !tried || candidate_has_code(c);
}

void candidates_move(candidates *table, candidate *c, candidate_stage to)
{
    bool legal = follows(c->stage, to);
    table->at[c->stage]--;
    table->at[to]++;
    c->stage = to;
    assert(legal && is_sound(c));
    (void)legal, (void)is_sound;
}

void twins_deinit(twins *t)
{
    keymap_deinit(&t->by_source);
    keymap_deinit(&t->by_code);
}

candidate *twins_lead(candidate *c)
{
    return c->twin_of ? c->twin_of : c;
}

static bool same_key(const journal_key *a, const journal_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static candidate *meet(keymap *known, const candidates *all, candidate *c, bool by_code)
{
    const journal_key *own = by_code ? &c->code : &c->source;
    uint64_t number, id;
    memcpy(&number, own->bytes, sizeof number);
    if (!keymap_get(known, number, &id)) {
        memory_require(keymap_put(known, number, c->id) ? known : NULL);
        return NULL;
    }
    /* A class may have another representative by now, perhaps `c` itself. */
    candidate *other = all->items[id], *lead = twins_lead(other);
    bool same = lead != c && same_key(own, by_code ? &other->code : &other->source);
    return same ? lead : NULL;
}

candidate *twins_meet_source(twins *t, const candidates *all, candidate *c)
{
    return meet(&t->by_source, all, c, false);
}

candidate *twins_meet_code(twins *t, const candidates *all, candidate *c)
{
    return c->has_code ? meet(&t->by_code, all, c, true) : NULL;
}

void twins_join(candidate *c, candidate *lead)
{
    candidate **at = &lead->next_twin;
    while (*at && (*at)->configuration < c->configuration)
        at = &(*at)->next_twin;
    c->next_twin = *at;
    *at = c;
    c->twin_of = lead;
}

void twins_follow(candidate *c)
{
    const candidate *lead = c->twin_of;
    candidate_copy(c, &lead->found);
    c->code = lead->code;
    c->has_code = lead->has_code;
    c->verdict = lead->verdict;
    free(c->unproven);
    c->unproven = memory_text(lead->unproven);
    free(c->coverage);
    c->coverage = coverage_copy(lead->coverage);
}

/* Moves machine code and the state of the checks to another candidate of the class. */
static void give(candidate *from, candidate *to)
{
    candidate_drop_images(to);
    memcpy(to->images, from->images, sizeof to->images);
    memcpy(to->image_bytes, from->image_bytes, sizeof to->image_bytes);
    memcpy(to->image_symbols, from->image_symbols, sizeof to->image_symbols);
    memcpy(to->image_shared, from->image_shared, sizeof to->image_shared);
    memset(from->images, 0, sizeof from->images);
    memset(from->image_symbols, 0, sizeof from->image_symbols);
    memset(from->image_bytes, 0, sizeof from->image_bytes);
    to->ragged = from->ragged;
}

static void promote(candidate *c)
{
    candidate *was = c->twin_of, **at = &was->next_twin;
    twins_follow(c);
    give(was, c);
    while (*at != c)
        at = &(*at)->next_twin;
    *at = c->next_twin;
    candidate *others = was->next_twin;
    was->next_twin = c->next_twin = c->twin_of = NULL;
    for (candidate *next; others; others = next) {
        next = others->next_twin;
        twins_join(others, c);
    }
    twins_join(was, c);
}

void twins_elect(const candidates *all, const candidate *preferred)
{
    for (size_t i = 0; i < all->count; i++) {
        candidate *lead = all->items[i], *best = lead;
        if (lead->twin_of || !lead->next_twin || !candidate_is_finished(lead))
            continue;
        for (candidate *c = lead->next_twin; c; c = c->next_twin)
            if (best != preferred && (c == preferred || c->configuration < best->configuration))
                best = c;
        if (best != lead)
            promote(best);
        for (candidate *c = best->next_twin; c; c = c->next_twin)
            twins_follow(c);
    }
}
