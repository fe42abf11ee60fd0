#include "record/pick_index.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/bits.h"
#include "space/pattern.h"

/* Changes with what is written. */
static const uint32_t index_version = 2;

static const uint32_t no_text = UINT32_MAX;

/* ---- writing ---- */

/* Each text is written once, and stands for itself as a number. */
typedef struct writer {
    pack body;
    pack texts;
    keymap numbers; /* by hash: of the text's bytes, then of the hash after it */
    const char **known;
    size_t known_count;
} writer;

static uint32_t number_text(writer *w, const char *text)
{
    uint64_t number, key = XXH3_64bits(text, strlen(text));
    for (; keymap_get(&w->numbers, key, &number); key++)
        if (strcmp(w->known[number], text) == 0)
            return (uint32_t)number;
    if (!array_add(&w->known, &w->known_count, &text, sizeof text) ||
        !keymap_put(&w->numbers, key, w->known_count - 1))
        w->body.failed = true;
    pack_put_string(&w->texts, text);
    return (uint32_t)w->known_count - 1;
}

static void put_text(writer *w, const char *text)
{
    const uint32_t number = text ? number_text(w, text) : no_text;
    pack_put_u32(&w->body, number);
}

static void put_value(writer *w, value v)
{
    uint64_t bits = 0;
    if (v.kind == VALUE_STRING)
        bits = number_text(w, v.string);
    else if (v.kind == VALUE_NUMBER)
        bits = bits_of_double(v.number);
    else
        bits = v.kind == VALUE_BOOLEAN ? v.boolean : (uint64_t)v.integer;
    pack_put_u32(&w->body, (uint32_t)v.kind);
    pack_put_u64(&w->body, bits);
}

static void put_values(writer *w, const record_values *v)
{
    pack_put_u32(&w->body, (uint32_t)v->count);
    for (size_t i = 0; i < v->count; i++) {
        put_text(w, v->pairs[i].name);
        put_value(w, v->pairs[i].value);
    }
}

static void put_classes(writer *w, const record_classes *c)
{
    size_t pairs = 0;
    for (size_t i = 0; i < c->count; i++)
        pairs += c->members[i]->count;
    pack_put_u32(&w->body, (uint32_t)c->count);
    pack_put_u32(&w->body, (uint32_t)pairs);
    for (size_t i = 0; i < c->count; i++)
        put_values(w, c->members[i]);
}

static void put_node(writer *w, const record_portfolio *p, const record_node *n)
{
    put_text(w, n->variable);
    pack_put_u32(&w->body, n->feature ? (uint32_t)(n->feature - p->features) : UINT32_MAX);
    if (!n->variable) {
        for (size_t i = 0; i < p->configuration_count; i++)
            pack_put_u32(&w->body, n->order[i]);
        pack_put_u32(&w->body, n->has_default);
        pack_put_u32(&w->body, n->default_at);
        return;
    }
    pack_put_u32(&w->body, (uint32_t)n->of);
    put_text(w, n->times);
    pack_put_u64(&w->body, (uint64_t)n->multiple_of);
    put_value(w, n->bound);
    pack_put_u32(&w->body, (uint32_t)n->then);
    pack_put_u32(&w->body, (uint32_t)n->otherwise);
}

static void put_portfolio(writer *w, const record_portfolio *p, const uint32_t *numbers)
{
    pack_put_u32(&w->body, (uint32_t)p->configuration_count);
    for (size_t i = 0; i < p->configuration_count; i++)
        pack_put_u32(&w->body, numbers[i]);
    put_values(w, &p->fixed);
    pack_put_u32(&w->body, (uint32_t)p->feature_count);
    for (size_t i = 0; i < p->feature_count; i++) {
        put_text(w, p->features[i].name);
        put_text(w, p->features[i].definition);
    }
    pack_put_u32(&w->body, (uint32_t)p->node_count);
    for (size_t i = 0; i < p->node_count; i++)
        put_node(w, p, &p->nodes[i]);
}

static void put_record(writer *w, const pick_table *t, const pick_record *r)
{
    size_t kept = 0;
    put_text(w, r->from->gpu);
    pack_put_u32(&w->body, (uint32_t)r->from->major);
    pack_put_u32(&w->body, (uint32_t)r->from->minor);
    pack_put_u32(&w->body, (uint32_t)r->from->portfolio_count);
    for (size_t p = 0; p < r->from->portfolio_count; p++) {
        put_portfolio(w, &r->from->portfolios[p], r->portfolio_numbers + kept);
        kept += r->from->portfolios[p].configuration_count;
    }
    pack_put_u32(&w->body, r->entry_count);
    for (uint32_t i = 0; i < r->entry_count; i++) {
        const pick_entry *e = &t->entries[r->first_entry + i];
        pack_put_u32(&w->body, e->problem);
        pack_put_u32(&w->body, e->configuration);
        pack_put_u32(&w->body, (uint32_t)e->preference * 2 + e->warm_cache);
        pack_put_u64(&w->body, (uint64_t)e->time_ns);
    }
}

static void put_orders(writer *w, const pick_table *t)
{
    size_t count;
    uint32_t *orders = pick_table_orders(t, &count);
    w->body.failed = w->body.failed || !orders;
    pack_put_u32(&w->body, (uint32_t)count);
    for (size_t i = 0; orders && i < count; i++)
        pack_put_u32(&w->body, orders[i]);
    free(orders);
}

void pick_index_put(pack *to, const pick_table *t)
{
    writer w = {0};
    if (t->owned) {
        pack_append(to, t->owned->bytes, t->owned->size_bytes);
        return;
    }
    put_classes(&w, &t->problems);
    put_classes(&w, &t->configurations);
    pack_put_u32(&w.body, t->fallback != NULL);
    put_values(&w, t->fallback ? t->fallback : &(record_values){0});
    pack_put_u32(&w.body, (uint32_t)t->record_count);
    for (size_t r = 0; r < t->record_count; r++)
        put_record(&w, t, &t->records[r]);
    pack_put_u32(&w.body, (uint32_t)t->group_count);
    for (size_t g = 0; g < t->group_count; g++) {
        pack_put_u64(&w.body, t->groups[g].key);
        pack_put_u32(&w.body, t->groups[g].count);
    }
    pack_put_u32(&w.body, (uint32_t)t->seen_count);
    for (size_t i = 0; i < t->seen_count; i++)
        pack_put_u32(&w.body, t->seen[i].problem * 4 + (uint32_t)t->seen[i].standing);
    put_orders(&w, t);
    pack_put_u32(to, index_version);
    pack_put_u32(to, (uint32_t)w.known_count);
    to->failed = to->failed || w.body.failed || w.texts.failed;
    pack_append(to, w.texts.bytes, w.texts.size_bytes);
    pack_append(to, w.body.bytes, w.body.size_bytes);
    pack_deinit(&w.body);
    pack_deinit(&w.texts);
    keymap_deinit(&w.numbers);
    free(w.known);
}

/* ---- reading ---- */

typedef struct reader {
    pack *from;
    size_t text_count;
    const char **texts;
    pick_table *t;
    bool no_memory;
} reader;

static bool fails(reader *r)
{
    return r->from->failed || r->no_memory;
}

static void *make(reader *r, size_t count, size_t size)
{
    if (fails(r))
        return NULL;
    void *made = calloc(count + 1, size);
    r->no_memory = !made;
    return made;
}

/* A number below `end`. */
static uint32_t get_below(reader *r, size_t end)
{
    const uint32_t n = pack_get_u32(r->from);
    if (n >= end)
        r->from->failed = true;
    return r->from->failed ? 0 : n;
}

static const char *get_text(reader *r)
{
    const uint32_t n = get_below(r, r->text_count);
    return fails(r) ? "" : r->texts[n];
}

static const char *get_optional(reader *r)
{
    const uint32_t n = pack_get_u32(r->from);
    if (n != no_text && n >= r->text_count)
        r->from->failed = true;
    return n == no_text || fails(r) ? NULL : r->texts[n];
}

static value get_value(reader *r)
{
    value v = {.kind = (value_kind)pack_get_u32(r->from)};
    const uint64_t bits = pack_get_u64(r->from);
    switch (v.kind) {
    case VALUE_STRING:
        if (bits >= r->text_count)
            r->from->failed = true;
        v.string = fails(r) ? "" : r->texts[bits];
        break;
    case VALUE_NUMBER:
        v.number = double_of_bits(bits);
        break;
    case VALUE_BOOLEAN:
        v.boolean = bits != 0;
        break;
    case VALUE_INTEGER:
        v.integer = (int64_t)bits;
        break;
    default:
        r->from->failed = true;
    }
    return v;
}

/* The pairs, of which there are at most `room`, go to `pairs`. */
static record_values get_values(reader *r, record_pair *pairs, size_t room)
{
    record_values out = {.pairs = pairs};
    const size_t count = pack_get_count(r->from, RECORD_MAX_VALUES, 16);
    if (count > room)
        r->from->failed = true;
    for (; out.count < count && !fails(r); out.count++) {
        pairs[out.count].name = get_text(r);
        pairs[out.count].value = get_value(r);
    }
    return out;
}

/* Their places in *values are owned by the table, as are the pairs. */
static void get_classes(reader *r, bool numbered, record_classes *out, record_values **values,
                        record_pair **pairs)
{
    const size_t count = pack_get_count(r->from, UINT32_MAX, 4),
                 pair_count = pack_get_count(r->from, UINT32_MAX, 16);
    size_t used = 0;
    *values = make(r, count, sizeof **values);
    *pairs = make(r, pair_count, sizeof **pairs);
    if (!numbered)
        out->members = make(r, count, sizeof *out->members);
    for (size_t i = 0; i < count && !fails(r); i++) {
        (*values)[i] = get_values(r, *pairs + used, pair_count - used);
        used += (*values)[i].count;
        if (fails(r))
            return;
        if (!numbered) {
            out->members[out->count++] = &(*values)[i];
            continue;
        }
        const size_t number = record_class_of(out, &(*values)[i]);
        r->no_memory = number == RECORD_NO_CLASS;
        r->from->failed = r->from->failed || number != i; /* it is there twice */
    }
}

static void get_leaf(reader *r, const record_portfolio *p, record_node *n)
{
    for (size_t i = 0; i < p->configuration_count; i++)
        n->order[i] = (uint8_t)get_below(r, p->configuration_count);
    n->has_default = pack_get_u32(r->from) != 0;
    n->default_at = (uint8_t)get_below(r, p->configuration_count + 1);
}

static void get_node(reader *r, const record_portfolio *p, size_t at, record_node *n)
{
    n->variable = get_optional(r);
    const uint32_t feature = pack_get_u32(r->from);
    if (feature != UINT32_MAX && feature >= p->feature_count)
        r->from->failed = true;
    else if (feature != UINT32_MAX)
        n->feature = &p->features[feature];
    if (!n->variable) {
        get_leaf(r, p, n);
        return;
    }
    n->of = get_below(r, p->configuration_count);
    n->times = get_optional(r);
    n->multiple_of = (int64_t)pack_get_u64(r->from);
    n->bound = get_value(r);
    n->then = get_below(r, p->node_count);
    n->otherwise = get_below(r, p->node_count);
    if (n->then <= at || n->otherwise <= at || n->multiple_of < 0 ||
        (n->feature && !value_is_number(n->bound)))
        r->from->failed = true;
}

static void get_portfolio(reader *r, record_portfolio *p, uint32_t *numbers)
{
    const size_t count = pack_get_count(r->from, RECORD_MAX_KEPT, 4);
    p->configurations = make(r, count, sizeof *p->configurations);
    for (; p->configuration_count < count && !fails(r); p->configuration_count++) {
        const uint32_t number = get_below(r, r->t->configurations.count);
        numbers[p->configuration_count] = number;
        if (!fails(r))
            p->configurations[p->configuration_count] = *r->t->configurations.members[number];
    }
    p->fixed.pairs = make(r, RECORD_MAX_VALUES, sizeof *p->fixed.pairs);
    if (!fails(r))
        p->fixed = get_values(r, p->fixed.pairs, RECORD_MAX_VALUES);
    const size_t features = pack_get_count(r->from, PATTERN_MAX_FEATURES, 8);
    p->features = make(r, features, sizeof *p->features);
    for (; p->feature_count < features && !fails(r); p->feature_count++) {
        p->features[p->feature_count].name = get_text(r);
        p->features[p->feature_count].definition = get_text(r);
    }
    const size_t nodes = pack_get_count(r->from, RECORD_MAX_NODES, 8);
    p->nodes = make(r, nodes, sizeof *p->nodes);
    p->node_count = fails(r) ? 0 : nodes;
    for (size_t i = 0; i < p->node_count && !fails(r); i++)
        get_node(r, p, i, &p->nodes[i]);
    if (nodes == 0 || count == 0)
        r->from->failed = true;
}

static void get_entries(reader *r, uint32_t record_number)
{
    pick_table *t = r->t;
    const size_t count = pack_get_count(r->from, RECORD_MAX_ENTRIES, 20);
    for (size_t i = 0; i < count && !fails(r); i++) {
        pick_entry e = {.record = record_number, .next = PICK_NO_ENTRY};
        e.problem = get_below(r, t->problems.count);
        e.configuration = get_below(r, t->configurations.count);
        const uint32_t how = get_below(r, 2 * PICK_PREFERENCES);
        e.preference = (int)(how / 2);
        e.warm_cache = how % 2;
        e.time_ns = (int64_t)pack_get_u64(r->from);
        if (!array_add(&t->entries, &t->entry_count, &e, sizeof e))
            r->no_memory = true;
    }
    t->records[record_number].entry_count = (uint32_t)count;
}

static void get_record(reader *r, record *of, size_t *place)
{
    pick_table *t = r->t;
    pick_record added = {.from = of, .place = *place, .first_entry = (uint32_t)t->entry_count};
    of->gpu = get_text(r);
    of->major = (int)pack_get_u32(r->from);
    of->minor = (int)pack_get_u32(r->from);
    const size_t portfolios = pack_get_count(r->from, RECORD_MAX_ENTRIES, 16);
    of->portfolios = make(r, portfolios, sizeof *of->portfolios);
    added.portfolio_numbers =
        make(r, portfolios * RECORD_MAX_KEPT, sizeof *added.portfolio_numbers);
    for (; of->portfolio_count < portfolios && !fails(r); of->portfolio_count++) {
        record_portfolio *p = &of->portfolios[of->portfolio_count];
        get_portfolio(r, p, added.portfolio_numbers + added.kept_count);
        added.kept_count += p->configuration_count;
    }
    const uint32_t number = (uint32_t)t->record_count;
    if (!array_add(&t->records, &t->record_count, &added, sizeof added)) {
        free(added.portfolio_numbers);
        r->no_memory = true;
        return;
    }
    get_entries(r, number);
    *place += added.kept_count + t->records[number].entry_count;
}

static void get_seen(reader *r)
{
    pick_table *t = r->t;
    const size_t groups = pack_get_count(r->from, UINT32_MAX, 12);
    uint64_t first = 0, known;
    for (size_t g = 0; g < groups && !fails(r); g++) {
        pick_group group = {.key = pack_get_u64(r->from), .first = (uint32_t)first};
        group.count = pack_get_u32(r->from);
        first += group.count;
        r->from->failed = r->from->failed || first > UINT32_MAX ||
                          keymap_get(&t->group_places, group.key, &known);
        if (!array_add(&t->groups, &t->group_count, &group, sizeof group) ||
            !keymap_put(&t->group_places, group.key, t->group_count - 1))
            r->no_memory = true;
    }
    const size_t seen = pack_get_count(r->from, UINT32_MAX, 4);
    t->seen = make(r, seen, sizeof *t->seen);
    r->from->failed = r->from->failed || seen != first;
    for (; t->seen_count < seen && !fails(r); t->seen_count++) {
        const uint32_t is = pack_get_u32(r->from);
        if (is / 4 >= t->problems.count || is % 4 > RECORD_SLOWER)
            r->from->failed = true;
        t->seen[t->seen_count] =
            (pick_seen){.problem = is / 4, .standing = (record_standing)(is % 4)};
    }
}

static uint32_t *get_orders(reader *r, size_t *count)
{
    *count = pack_get_count(r->from, UINT32_MAX, 4);
    uint32_t *orders = make(r, *count, sizeof *orders);
    for (size_t i = 0; i < *count && orders; i++)
        orders[i] = pack_get_u32(r->from);
    return orders;
}

at_status pick_index_get(pack *from, pick_table *out, at_error *error)
{
    *out = (pick_table){0};
    pick_owned *own = calloc(1, sizeof *own);
    reader r = {.from = from, .t = out, .no_memory = !own};
    size_t place = 0, order_count = 0;
    uint32_t *orders = NULL;
    out->owned = own;
    if (!own)
        return error_no_memory(error);
    if (pack_get_u32(from) != index_version)
        from->failed = true;
    const size_t texts = pack_get_count(from, UINT32_MAX, 9);
    r.texts = make(&r, texts, sizeof *r.texts);
    for (; r.text_count < texts && !fails(&r); r.text_count++)
        r.texts[r.text_count] = pack_get_string(from);
    get_classes(&r, true, &out->problems, &own->problems, &own->problem_pairs);
    get_classes(&r, false, &out->configurations, &own->configurations, &own->configuration_pairs);
    const bool has_fallback = pack_get_u32(from) != 0;
    own->fallback_pairs = make(&r, RECORD_MAX_VALUES, sizeof *own->fallback_pairs);
    if (!fails(&r))
        own->fallback = get_values(&r, own->fallback_pairs, RECORD_MAX_VALUES);
    out->fallback = has_fallback ? &own->fallback : NULL;
    const size_t records = pack_get_count(from, UINT32_MAX, 16);
    own->records = make(&r, records, sizeof *own->records);
    own->record_count = own->records ? records : 0;
    for (size_t i = 0; i < records && !fails(&r); i++)
        get_record(&r, &own->records[i], &place);
    if (!fails(&r))
        get_seen(&r);
    if (!fails(&r))
        orders = get_orders(&r, &order_count);
    free(r.texts);
    const bool whole = !r.no_memory && pack_complete(from);
    r.no_memory = whole && !pick_table_finish(out, orders, order_count);
    free(orders);
    if (whole && !r.no_memory) {
        own->bytes = from->bytes;
        own->size_bytes = from->size_bytes;
        *from = (pack){0};
        return AT_OK;
    }
    return r.no_memory ? error_no_memory(error)
                       : error_set(error, AT_FORMAT, "this is no index of records");
}
