/* autotune results diff: what came, went, changed, became faster or slower between two records or
 * folders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "cmd/line/page.h"
#include "cmd/results/entry.h"
#include "cmd/results/judge.h"
#include "cmd/results/results.h"

/* A file is a set of one. */
static at_status read_side(const char *path, record_set *out, at_error *error)
{
    struct stat s;
    *out = (record_set){0};
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        return record_load_all(path, NULL, out, error);
    out->records = memory_new(1, sizeof *out->records);
    at_status status = record_read(path, &out->records[0], error);
    out->count = !status;
    return status;
}

/* *of: the record that it is in. */
static const record_entry *find(const record_set *set, const record *like, const record_entry *e,
                                const record **of)
{
    const record_entry *found = NULL;
    for (size_t i = 0; i < set->count && !found; i++) {
        *of = &set->records[i];
        found = record_find_question(*of, like, e);
    }
    return found;
}

typedef struct difference {
    const char *kind; /* ADDED, GONE, or a verdict */
    const record *from;
    const record_entry *a, *b;
    ratio times;  /* low, high 0: not known */
    bool changed; /* another configuration */
} difference;

static difference compare(const record *r, const record_entry *a, const record *other,
                          const record_entry *b)
{
    difference d = {.from = r,
                    .a = a,
                    .b = b,
                    .changed = !record_same_values(&a->configuration, &b->configuration)};
    d.times = judge_medians(
        (median_time){(double)a->time_low_ns, (double)a->time_ns, (double)a->time_high_ns},
        (median_time){(double)b->time_low_ns, (double)b->time_ns, (double)b->time_high_ns},
        JUDGE_FILES_MARGIN);
    const bool same =
        d.times.verdict == SAME || json_equal(results_json(r, a), results_json(other, b));
    d.kind = same && d.changed ? "CHANGED" : judge_name(same ? SAME : d.times.verdict);
    return d;
}

static size_t list_differences(const record_set *a, const record_set *b, difference *out)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < a->records[i].entry_count; k++) {
            const record *r = &a->records[i], *of = NULL;
            const record_entry *e = &r->entries[k], *other = find(b, r, e, &of);
            out[count++] =
                other ? compare(r, e, of, other) : (difference){.kind = "GONE", .from = r, .a = e};
        }
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = 0; k < b->records[i].entry_count; k++) {
            const record *r = &b->records[i], *of;
            if (!find(a, r, &r->entries[k], &of))
                out[count++] = (difference){.kind = "ADDED", .from = r, .b = &r->entries[k]};
        }
    return count;
}

/* Packs a difference for programs, with the digits that text rounds itself. */
static json_t *pack_difference(const difference *d)
{
    json_t *one = json_pack("{ss ss ss sb}", "kind", d->kind, "pattern", d->from->pattern, "gpu",
                            d->from->gpu, "configuration_changed", (int)d->changed);
    results_put_question(&one, d->a ? d->a : d->b);
    if (d->a)
        json_put(&one, "a_ns", json_integer(d->a->time_ns));
    if (d->b)
        json_put(&one, "b_ns", json_integer(d->b->time_ns));
    if (d->times.high > 0) {
        json_put(&one, "ratio_low", json_rounded(d->times.low, 6));
        json_put(&one, "ratio_high", json_rounded(d->times.high, 6));
    }
    return one;
}

static json_t *pack_words(const difference *d)
{
    json_t *one =
        json_pack("{so so}", "low", json_exact(d->times.low), "high", json_exact(d->times.high));
    if (d->changed)
        json_put(&one, "changed",
                 json_pack("[o, o]", record_pack_values(&d->a->configuration),
                           record_pack_values(&d->b->configuration)));
    return one;
}

/* The GPUs that a side has records of, each once: sets are in the order of these. */
static json_t *pack_gpus(const record_set *set)
{
    json_t *gpus = json_array();
    for (size_t i = 0; i < set->count; i++)
        if (i == 0 || strcmp(set->records[i].gpu, set->records[i - 1].gpu) != 0)
            json_append(&gpus, json_string(set->records[i].gpu));
    return gpus;
}

static at_status print(const options *o, const record_set sides[2], const difference *all,
                       size_t count, at_error *error)
{
    json_t *list = json_array(), *words = json_array();
    for (size_t i = 0; i < count; i++) {
        json_append(&list, pack_difference(&all[i]));
        json_append(&words, pack_words(&all[i]));
    }
    return page_show(o, "results_diff", 1, json_pack("{so}", "differences", list),
                     json_pack("{so so so}", "words", words, "a_gpus", pack_gpus(&sides[0]),
                               "b_gpus", pack_gpus(&sides[1])),
                     error);
}

at_status results_diff(const options *o, at_error *error)
{
    record_set sides[2] = {{0}, {0}};
    difference *all = NULL;
    size_t most = 0;
    if (o->operand_count != 3)
        return error_set(
            error, AT_USAGE,
            "'autotune results diff' needs A and B: two records or two folders of them");
    at_status status = AT_OK;
    for (int i = 0; i < 2 && !status; i++) {
        status = read_side(o->operands[i + 1], &sides[i], error);
        for (size_t k = 0; k < sides[i].count; k++)
            most += sides[i].records[k].entry_count;
        for (size_t k = 0; k < sides[i].faults.count; k++)
            fprintf(stderr, "autotune: warning: left out: %s\n", sides[i].faults.items[k].text);
    }
    if (!status) {
        all = memory_new(most + 1, sizeof *all);
        size_t count = list_differences(&sides[0], &sides[1], all);
        status = print(o, sides, all, count, error);
    }
    free(all);
    for (int i = 0; i < 2; i++)
        record_set_deinit(&sides[i]);
    return status;
}
