#include "history/importance.h"

#include <math.h>
#include <stdlib.h>

#include <xxhash.h>

#include "base/keymap.h"
#include "base/memory.h"

/* The configurations that work: for each the places of its values among those that occur. */
typedef struct sample {
    size_t count, width;
    uint32_t *places; /* count x width */
    double *y;        /* log(cost) */
    size_t *result;   /* its place in the recorded */
    size_t *levels;   /* values that occur, a parameter */
    double variance, mean;
} sample;

static void sample_deinit(sample *s)
{
    free(s->places);
    free(s->y);
    free(s->result);
    free(s->levels);
}

static void number_values(const recorded *r, sample *s, size_t p)
{
    value *known = memory_new(s->count, sizeof *known);
    for (size_t i = 0; i < s->count; i++)
        known[i] = r->results[s->result[i]].values[p];
    s->levels[p] = recorded_sort_values(known, s->count);
    for (size_t i = 0; i < s->count; i++)
        s->places[i * s->width + p] =
            (uint32_t)recorded_place_of(&r->results[s->result[i]].values[p], known, s->levels[p]);
    free(known);
}

static at_status take_sample(const recorded *r, sample *s, at_error *error)
{
    *s = (sample){.width = r->parameter_count};
    s->places = memory_new(r->result_count * r->parameter_count, sizeof *s->places);
    s->y = memory_new(r->result_count, sizeof *s->y);
    s->result = memory_new(r->result_count, sizeof *s->result);
    s->levels = memory_new(r->parameter_count, sizeof *s->levels);
    for (size_t i = 0; i < r->result_count; i++)
        if (r->results[i].outcome == OUTCOME_OK && isfinite(r->results[i].cost)) {
            s->result[s->count] = i;
            s->y[s->count] = log(r->results[i].cost);
            s->mean += s->y[s->count++];
        }
    for (size_t p = 0; p < r->parameter_count; p++)
        number_values(r, s, p);
    if (s->count < 2)
        return error_set(error, AT_NOT_FOUND,
                         "fewer than two configurations with a cost: nothing to compare");
    s->mean /= (double)s->count;
    for (size_t i = 0; i < s->count; i++)
        s->variance += (s->y[i] - s->mean) * (s->y[i] - s->mean) / (double)s->count;
    return AT_OK;
}

/* Var(E[y | the parameters that `in` chooses]) over Var(y). */
static double explained(const sample *s, const bool *in)
{
    keymap groups = {0};
    double *sum = memory_new(s->count, sizeof *sum);
    size_t *size = memory_new(s->count, sizeof *size);
    uint32_t *key = memory_new(s->width, sizeof *key);
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        uint64_t at;
        for (size_t p = 0; p < s->width; p++)
            key[p] = in[p] ? s->places[i * s->width + p] : 0;
        uint64_t hash = XXH3_64bits(key, s->width * sizeof *key);
        if (!keymap_get(&groups, hash, &at)) {
            at = count++;
            memory_have(keymap_put(&groups, hash, at) ? &groups : NULL);
        }
        sum[at] += s->y[i] - s->mean;
        size[at]++;
    }
    double between = 0;
    for (size_t g = 0; g < count; g++)
        between += sum[g] * sum[g] / (double)size[g] / (double)s->count;
    keymap_deinit(&groups);
    free(sum);
    free(size);
    free(key);
    return s->variance > 0 ? between / s->variance : 0;
}

static void find_worst(const sample *s, importance_parameter *p, double *best_of)
{
    size_t best = 0;
    double worst = -INFINITY;
    for (size_t v = 0; v < s->levels[p->parameter]; v++)
        best_of[v] = INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        uint32_t v = s->places[i * s->width + p->parameter];
        best_of[v] = fmin(best_of[v], s->y[i]);
        best = s->y[i] < s->y[best] ? i : best;
    }
    for (size_t v = 0; v < s->levels[p->parameter]; v++)
        worst = fmax(worst, best_of[v]);
    p->worst = exp(worst - s->y[best]);
    p->best_value = s->result[best];
}

static int by_total(const void *a, const void *b)
{
    const importance_parameter *p = a, *q = b;
    if (p->total != q->total)
        return p->total < q->total ? 1 : -1;
    if (p->alone != q->alone)
        return p->alone < q->alone ? 1 : -1;
    return p->parameter < q->parameter ? -1 : 1;
}

static int by_share(const void *a, const void *b)
{
    const importance_pair *p = a, *q = b;
    if (p->share != q->share)
        return p->share < q->share ? 1 : -1;
    return p->a != q->a ? (p->a < q->a ? -1 : 1) : p->b < q->b ? -1 : 1;
}

static void measure(const sample *s, importance *out)
{
    bool *in = memory_new(s->width, sizeof *in);
    double *alone = memory_new(s->width, sizeof *alone),
           *best_of = memory_new(s->count, sizeof *best_of);
    for (size_t p = 0; p < s->width; p++) {
        if (s->levels[p] < 2)
            continue;
        importance_parameter *m = &out->parameters[out->parameter_count++];
        *m = (importance_parameter){.parameter = p};
        in[p] = true;
        m->alone = alone[p] = explained(s, in);
        for (size_t q = 0; q < s->width; q++)
            in[q] = q != p;
        m->total = fmax(0, 1 - explained(s, in));
        for (size_t q = 0; q < s->width; q++)
            in[q] = false;
        find_worst(s, m, best_of);
    }
    for (size_t a = 0; a < s->width; a++)
        for (size_t b = a + 1; b < s->width; b++) {
            if (s->levels[a] < 2 || s->levels[b] < 2)
                continue;
            in[a] = in[b] = true;
            double both = explained(s, in);
            in[a] = in[b] = false;
            out->pairs[out->pair_count++] = (importance_pair){a, b, both - alone[a] - alone[b]};
        }
    free(in);
    free(alone);
    free(best_of);
}

at_status importance_of(const recorded *r, importance *out, at_error *error)
{
    sample s;
    *out = (importance){0};
    at_status status = take_sample(r, &s, error);
    if (!status) {
        out->measured = s.count;
        out->whole = r->space_count > 0 && r->space_count == r->result_count;
        out->deviation = sqrt(s.variance);
        out->parameters = memory_new(s.width, sizeof *out->parameters);
        out->pairs = memory_new(s.width * s.width / 2, sizeof *out->pairs);
        measure(&s, out);
        qsort(out->parameters, out->parameter_count, sizeof *out->parameters, by_total);
        qsort(out->pairs, out->pair_count, sizeof *out->pairs, by_share);
    }
    sample_deinit(&s);
    if (status)
        importance_deinit(out);
    return status;
}

void importance_deinit(importance *m)
{
    free(m->parameters);
    free(m->pairs);
    *m = (importance){0};
}
