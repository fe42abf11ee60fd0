#include "run/variant/twins.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

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
        memory_have(keymap_put(known, number, c->id) ? known : NULL);
        return NULL;
    }
    /* The one that was noted may since have one that stands for it, and that may be this one. */
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

/* Machine code, and how far it was checked, go along. */
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

/* Has `c` stand for those that its twin stood for. */
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
