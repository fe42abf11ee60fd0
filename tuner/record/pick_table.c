#include "record/pick_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int pick_preference(const record_entry *e)
{
    bool in_context = e->after && *e->after;
    return 3 * e->energy + (in_context ? 0 : 1 + e->warm_cache);
}

const record_values *pick_default(const record_set *set)
{
    const record_entry *latest = NULL;
    for (size_t r = 0; r < set->count; r++) {
        for (size_t i = 0; i < set->records[r].entry_count; i++) {
            const record_entry *e = &set->records[r].entries[i];
            /* ISO dates in UTC order as texts do. */
            if (e->baseline.count > 0 && (!latest || strcmp(e->date, latest->date) > 0))
                latest = e;
        }
    }
    return latest ? &latest->baseline : NULL;
}

/* ---- entries ---- */

static bool add_entry(pick_table *t, uint32_t record_number, const record_entry *e)
{
    const size_t problem = record_class_of(&t->problems, &e->problem);
    const size_t configuration = record_class_of(&t->configurations, &e->configuration);
    const pick_entry added = {.record = record_number,
                              .problem = (uint32_t)problem,
                              .configuration = (uint32_t)configuration,
                              .next = PICK_NO_ENTRY,
                              .preference = pick_preference(e),
                              .warm_cache = e->warm_cache,
                              .time_ns = e->time_ns,
                              .entry = e};
    return problem != RECORD_NO_CLASS && configuration != RECORD_NO_CLASS &&
           array_add(&t->entries, &t->entry_count, &added, sizeof added);
}

/* Entries of a problem in their order, and the problems of each record, each once. */
static bool link_entries(pick_table *t)
{
    uint32_t *last = malloc((t->problems.count + 1) * sizeof *last);
    t->first_entry = malloc((t->problems.count + 1) * sizeof *t->first_entry);
    t->record_problems = malloc((t->entry_count + 1) * sizeof *t->record_problems);
    const bool has_memory = last && t->first_entry && t->record_problems;
    uint32_t n = 0;
    for (size_t i = 0; has_memory && i < t->problems.count; i++)
        t->first_entry[i] = last[i] = PICK_NO_ENTRY;
    for (uint32_t i = 0; has_memory && i < t->entry_count; i++) {
        pick_entry *e = &t->entries[i];
        const uint32_t before = last[e->problem];
        pick_record *r = &t->records[e->record];
        if (r->problem_count == 0)
            r->first_problem = n;
        if (before == PICK_NO_ENTRY)
            t->first_entry[e->problem] = i;
        else
            t->entries[before].next = i;
        if (before == PICK_NO_ENTRY || t->entries[before].record != e->record) {
            t->record_problems[n++] = e->problem;
            r->problem_count++;
        }
        last[e->problem] = i;
    }
    free(last);
    return has_memory;
}

static bool add_record(pick_table *t, const record *from, size_t *place)
{
    size_t kept = 0;
    pick_record added = {.from = from, .place = *place, .first_entry = (uint32_t)t->entry_count};
    const uint32_t number = (uint32_t)t->record_count;
    for (size_t p = 0; p < from->portfolio_count; p++)
        kept += from->portfolios[p].configuration_count;
    added.kept_count = kept;
    added.portfolio_numbers = calloc(kept + 1, sizeof *added.portfolio_numbers);
    if (!added.portfolio_numbers ||
        !array_add(&t->records, &t->record_count, &added, sizeof added)) {
        free(added.portfolio_numbers);
        return false;
    }
    kept = 0;
    for (size_t p = 0; p < from->portfolio_count; p++)
        for (size_t c = 0; c < from->portfolios[p].configuration_count; c++) {
            size_t of = record_class_of(&t->configurations, &from->portfolios[p].configurations[c]);
            if (of == RECORD_NO_CLASS)
                return false;
            added.portfolio_numbers[kept++] = (uint32_t)of;
        }
    for (size_t i = 0; i < from->entry_count; i++)
        if (!add_entry(t, number, &from->entries[i]))
            return false;
    t->records[number].entry_count = (uint32_t)from->entry_count;
    *place += kept + from->entry_count;
    return true;
}

/* ---- what was seen ---- */

static uint64_t group_key(size_t record_number, uint32_t configuration, bool warm_cache)
{
    return (uint64_t)record_number << 33 | (uint64_t)configuration << 1 | warm_cache;
}

const pick_group *pick_table_group(const pick_table *t, size_t record_number,
                                   uint32_t configuration, bool warm_cache)
{
    uint64_t place;
    return keymap_get(&t->group_places, group_key(record_number, configuration, warm_cache), &place)
               ? &t->groups[place]
               : NULL;
}

static bool find_group(pick_table *t, size_t record_number, const record_seen *s, uint64_t *place)
{
    const size_t configuration = record_class_of(&t->configurations, s->configuration);
    const uint64_t key = group_key(record_number, (uint32_t)configuration, s->warm_cache);
    const pick_group none = {.key = key};
    if (configuration == RECORD_NO_CLASS)
        return false;
    if (keymap_get(&t->group_places, key, place))
        return true;
    *place = t->group_count;
    return array_add(&t->groups, &t->group_count, &none, sizeof none) &&
           keymap_put(&t->group_places, key, *place);
}

/* Those of a group stand together, in their order: they are counted first. */
static bool group_seen(pick_table *t)
{
    size_t count = 0, n = 0;
    for (size_t r = 0; r < t->record_count; r++)
        count += t->records[r].from->seen_count;
    uint64_t *places = malloc((count + 1) * sizeof *places);
    t->seen = calloc(count + 1, sizeof *t->seen);
    bool made = places && t->seen;
    for (size_t r = 0; r < t->record_count; r++)
        for (size_t i = 0; made && i < t->records[r].from->seen_count; i++, n++) {
            made = find_group(t, r, &t->records[r].from->seen[i], &places[n]);
            if (made)
                t->groups[places[n]].count++;
        }
    n = 0;
    for (size_t g = 0; g < t->group_count; g++) {
        t->groups[g].first = (uint32_t)n;
        n += t->groups[g].count;
        t->groups[g].count = 0;
    }
    for (size_t r = 0; r < t->record_count; r++)
        for (size_t i = 0; made && i < t->records[r].from->seen_count; i++) {
            const record_seen *s = &t->records[r].from->seen[i];
            const size_t problem = record_class_of(&t->problems, s->problem);
            pick_group *g = &t->groups[places[t->seen_count++]];
            t->seen[g->first + g->count++] = (pick_seen){(uint32_t)problem, s->standing, s};
            made = problem != RECORD_NO_CLASS;
        }
    free(places);
    return made;
}

/* ---- trees ---- */

/* Takes the next `count` of orders that are left. */
static bool make_tree(pick_near *to, const pick_table *t, const uint32_t *which,
                      size_t stride_bytes, size_t count, const uint32_t **orders,
                      size_t *order_count)
{
    const bool has_order = *orders && *order_count >= count;
    const uint32_t *order = has_order ? *orders : NULL;
    if (has_order) {
        *orders += count;
        *order_count -= count;
    }
    return pick_near_make(to, &t->points, which, stride_bytes, count, order);
}

static bool make_trees(pick_table *t, const uint32_t *orders, size_t order_count)
{
    bool made = true;
    for (size_t i = 0; i < t->record_count && made; i++) {
        pick_record *r = &t->records[i];
        made = make_tree(&r->near, t, t->record_problems + r->first_problem,
                         sizeof *t->record_problems, r->problem_count, &orders, &order_count);
    }
    for (size_t i = 0; i < t->group_count && made; i++) {
        pick_group *g = &t->groups[i];
        if (g->count > PICK_NEAR_FEW)
            made = make_tree(&g->near, t, &t->seen[g->first].problem, sizeof *t->seen, g->count,
                             &orders, &order_count);
    }
    return made;
}

/* The i-th tree, in the order in which make_trees() makes them; it may have no spots. */
static const pick_near *tree_at(const pick_table *t, size_t i)
{
    return i < t->record_count ? &t->records[i].near : &t->groups[i - t->record_count].near;
}

uint32_t *pick_table_orders(const pick_table *t, size_t *count)
{
    size_t n = 0, room = 0;
    const size_t trees = t->record_count + t->group_count;
    for (size_t i = 0; i < trees; i++)
        room += tree_at(t, i)->count;
    uint32_t *orders = malloc((room + 1) * sizeof *orders);
    for (size_t i = 0; orders && i < trees; i++) {
        const pick_near *near = tree_at(t, i);
        for (size_t s = 0; s < near->count; s++)
            orders[n++] = near->spots[s].place;
    }
    *count = n;
    return orders;
}

/* ---- the whole ---- */

at_status pick_table_make(const record_set *set, pick_table *out, at_error *error)
{
    size_t place = 0;
    bool made = true;
    *out = (pick_table){.fallback = pick_default(set)};
    for (size_t r = 0; r < set->count && made; r++)
        made = add_record(out, &set->records[r], &place);
    if (made && group_seen(out) && pick_table_finish(out, NULL, 0))
        return AT_OK;
    return error_no_memory(error);
}

bool pick_table_finish(pick_table *t, const uint32_t *orders, size_t order_count)
{
    return link_entries(t) && pick_points_make(&t->points, &t->problems) &&
           make_trees(t, orders, order_count);
}

static void free_owned(pick_owned *own)
{
    for (size_t r = 0; own && r < own->record_count; r++) {
        record *of = &own->records[r];
        for (size_t p = 0; of->portfolios && p <= of->portfolio_count; p++) {
            free(of->portfolios[p].configurations);
            free(of->portfolios[p].features);
            free(of->portfolios[p].nodes);
            free(of->portfolios[p].fixed.pairs);
        }
        free(of->portfolios);
    }
    if (!own)
        return;
    free(own->records);
    free(own->problems);
    free(own->configurations);
    free(own->problem_pairs);
    free(own->configuration_pairs);
    free(own->fallback_pairs);
    free(own->bytes);
    free(own);
}

void pick_table_deinit(pick_table *t)
{
    for (size_t r = 0; r < t->record_count; r++) {
        free(t->records[r].portfolio_numbers);
        pick_near_deinit(&t->records[r].near);
    }
    for (size_t g = 0; g < t->group_count; g++)
        pick_near_deinit(&t->groups[g].near);
    record_classes_deinit(&t->problems);
    record_classes_deinit(&t->configurations);
    pick_points_deinit(&t->points);
    keymap_deinit(&t->group_places);
    free(t->first_entry);
    free(t->record_problems);
    free(t->entries);
    free(t->records);
    free(t->seen);
    free(t->groups);
    free_owned(t->owned);
    *t = (pick_table){0};
}
