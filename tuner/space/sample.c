/* Samples of spaces that are too large to be enumerated. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/rng.h"
#include "space/tree.h"

enum {
    /* Values per level that a descent tries before a new descent begins: after a bad choice near
     * the root, no value near the leaves helps. */
    TRIES_PER_LEVEL = 2,
    /* Neighbours added for each configuration that a descent finds. */
    NEIGHBOURS_EACH = 15,
    /* Consecutive descents without a new configuration after which the search ends. */
    MOST_FRUITLESS = 2000,
    CHECK_PERIOD = 4096
};

/* A descent binds the levels in `indices`, from the first on. Before a level goes deeper, it copies
 * its values from the scratch `choices` to its row of `shuffled`. `found` has `count` different
 * configurations; `seen` has their hashes. */
typedef struct sampler {
    space *s;
    const space_constraint *constraints;
    space_test test;
    void *context;
    const space_limits *limits;
    at_error *error;
    uint64_t most;
    rng rng;
    size_t *level_of;    /* for each constraint, the last level it reads, or SIZE_MAX */
    bool *reads;         /* [constraint][level] */
    uint16_t *indices;   /* for each parameter */
    uint64_t **shuffled; /* for each level, values in the order of trial */
    uint16_t *choices;
    bool *holds;
    uint64_t tries_left;
    int64_t until_check;
    bool stopped;
    keymap seen;     /* hashes of the configurations */
    uint16_t *found; /* configurations, with their values in the order of levels */
    size_t count, capacity;
} sampler;

static size_t values_at(const sampler *m, size_t level)
{
    return m->s->parameters[m->s->order[level]].value_count;
}

/* Returns whether the search must end, after a further `tested` values were tested. */
static bool must_end(sampler *m, size_t tested)
{
    m->until_check -= (int64_t)tested + 1;
    if (m->until_check >= 0 || m->stopped)
        return m->stopped;
    space_progress progress = {.sampling = true,
                               .share = (double)m->count / (double)m->most,
                               .looked = (uint64_t)(CHECK_PERIOD - m->until_check)};
    m->until_check = CHECK_PERIOD;
    m->stopped = m->limits->stop && m->limits->stop(m->limits->stop_context, &progress);
    return m->stopped;
}

static at_status filter(sampler *m, size_t constraint, size_t level, size_t *count)
{
    if (*count == 0)
        return AT_OK;
    space_question question = {constraint, m->indices, m->s->order[level], m->choices, *count};
    at_status status = m->test(m->context, &question, m->holds, m->error);
    if (status)
        return status;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (m->holds[i])
            m->choices[kept++] = m->choices[i];
    must_end(m, *count);
    *count = kept;
    return AT_OK;
}

static at_status keep(sampler *m, bool *is_new)
{
    const space *s = m->s;
    uint16_t *moved =
        node_widen(m->found, &m->capacity, (m->count + 1) * (s->level_count + 1), sizeof *m->found);
    if (!moved)
        return node_no_memory(m->error);
    m->found = moved;
    uint16_t *to = m->found + m->count * s->level_count;
    for (size_t l = 0; l < s->level_count; l++)
        to[l] = m->indices[s->order[l]];
    uint64_t hash = XXH3_64bits(to, s->level_count * sizeof *to), known;
    *is_new = !keymap_get(&m->seen, hash, &known);
    if (!*is_new)
        return AT_OK;
    m->count++;
    return keymap_put(&m->seen, hash, 0) ? AT_OK : node_no_memory(m->error);
}

/* Binds the levels from `level` on to random values that satisfy the constraints. */
static at_status descend(sampler *m, size_t level, bool *found)
{
    *found = level == m->s->level_count;
    if (*found)
        return AT_OK;
    size_t parameter = m->s->order[level], count = values_at(m, level);
    at_status status = AT_OK;
    for (size_t v = 0; v < count; v++)
        m->choices[v] = (uint16_t)v;
    for (size_t c = 0; c < m->s->constraint_count && !status; c++)
        if (m->level_of[c] == level)
            status = filter(m, c, level, &count);
    uint64_t *values = m->shuffled[level];
    for (size_t i = 0; i < count; i++)
        values[i] = m->choices[i];
    rng_shuffle(&m->rng, values, count);
    for (size_t i = 0; i < count && !status && !*found; i++) {
        if (must_end(m, 0) || m->tries_left == 0)
            return AT_OK;
        m->tries_left--;
        m->indices[parameter] = (uint16_t)values[i];
        status = descend(m, level + 1, found);
    }
    return status;
}

static at_status keep_neighbours(sampler *m, size_t most)
{
    size_t levels = m->s->level_count;
    at_status status = AT_OK;
    uint64_t first = rng_below(&m->rng, levels);
    for (size_t i = 0; i < levels && most > 0 && !status && !m->stopped; i++) {
        size_t level = (first + i) % levels, parameter = m->s->order[level], count = 0;
        uint16_t here = m->indices[parameter];
        for (size_t v = 0; v < values_at(m, level); v++)
            if (v != here)
                m->choices[count++] = (uint16_t)v;
        for (size_t c = 0; c < m->s->constraint_count && !status; c++)
            if (m->reads[c * levels + level])
                status = filter(m, c, level, &count);
        for (size_t k = 0; k < count && most > 0 && m->count < m->most && !status; k++) {
            bool is_new;
            m->indices[parameter] = m->choices[k];
            status = keep(m, &is_new);
            most -= is_new;
        }
        m->indices[parameter] = here;
    }
    return status;
}

/* Returns element `i`, from 1, of 1, 1, 2, 1, 1, 2, 4, 1, 1, 2 ... These are the optimal limits for
 * random restarts (Luby, Sinclair & Zuckerman, "Optimal speedup of Las Vegas algorithms", 1993). */
static uint64_t luby(uint64_t i)
{
    for (;;) {
        unsigned bits = 64 - (unsigned)__builtin_clzll(i);
        if (i == (UINT64_C(1) << bits) - 1)
            return UINT64_C(1) << (bits - 1);
        i -= (UINT64_C(1) << (bits - 1)) - 1;
    }
}

static at_status search(sampler *m, const uint16_t *known)
{
    bool found, is_new;
    size_t broken;
    at_status status = AT_OK;
    if (known) {
        memcpy(m->indices, known, m->s->parameter_count * sizeof *known);
        status = keep(m, &is_new);
        if (!status)
            status = keep_neighbours(m, SIZE_MAX);
    }
    if (!status)
        status = space_test_constants(m->s, m->reads, m->indices, m->test, m->context, &broken,
                                      m->error);
    if (status || broken != SIZE_MAX)
        return status;
    uint64_t nth = 0;
    for (int fruitless = 0; fruitless < MOST_FRUITLESS && m->count < m->most && !status;
         fruitless++) {
        if (must_end(m, 0))
            break;
        m->tries_left = TRIES_PER_LEVEL * m->s->level_count * luby(++nth);
        status = descend(m, 0, &found);
        if (status || !found)
            continue;
        status = keep(m, &is_new);
        if (!status && is_new) {
            fruitless = -1;
            status = keep_neighbours(m, NEIGHBOURS_EACH);
        }
    }
    return status;
}

/* Writes the node of a level for the sorted configurations `first` to `end` - 1, which have equal
 * values before that level. */
static at_status write_node(sampler *m, node_writer *w, size_t level, size_t first, size_t end,
                            uint32_t *node)
{
    size_t levels = m->s->level_count, count = 0;
    if (level == levels) {
        *node = NODE_TERMINAL;
        return AT_OK;
    }
    space_edge *edges = calloc(values_at(m, level), sizeof *edges);
    at_status status = edges ? AT_OK : node_no_memory(m->error);
    while (first < end && !status) {
        edges[count].value = m->found[first * levels + level];
        size_t next = first;
        while (next < end && m->found[next * levels + level] == edges[count].value)
            next++;
        status = write_node(m, w, level + 1, first, next, &edges[count++].child);
        first = next;
    }
    if (!status)
        status = node_write(w, edges, count, node, m->error);
    free(edges);
    return status;
}

static bool sort_found(sampler *m)
{
    size_t levels = m->s->level_count;
    uint16_t *from = m->found, *to = malloc((m->count * levels + 1) * sizeof *to);
    size_t *place = calloc((size_t)UINT16_MAX + 2, sizeof *place);
    for (size_t l = levels; l-- > 0 && to && place;) {
        memset(place, 0, ((size_t)UINT16_MAX + 2) * sizeof *place);
        for (size_t i = 0; i < m->count; i++)
            place[from[i * levels + l] + 1]++;
        for (size_t v = 1; v <= UINT16_MAX; v++)
            place[v] += place[v - 1];
        for (size_t i = 0; i < m->count; i++)
            memcpy(to + place[from[i * levels + l]]++ * levels, from + i * levels,
                   levels * sizeof *to);
        uint16_t *swapped = from;
        from = to;
        to = swapped;
    }
    bool sorted = to && place;
    m->found = from;
    free(to);
    free(place);
    return sorted;
}

static bool sampler_init(sampler *m)
{
    const space *s = m->s;
    size_t most_values = 1;
    m->level_of = calloc(s->constraint_count + 1, sizeof *m->level_of);
    m->reads = space_reads(s, m->constraints);
    m->indices = calloc(s->parameter_count + 1, sizeof *m->indices);
    m->shuffled = calloc(s->level_count + 1, sizeof *m->shuffled);
    if (!m->level_of || !m->reads || !m->indices || !m->shuffled)
        return false;
    for (size_t l = 0; l < s->level_count; l++) {
        most_values = values_at(m, l) > most_values ? values_at(m, l) : most_values;
        m->shuffled[l] = calloc(values_at(m, l), sizeof **m->shuffled);
        if (!m->shuffled[l])
            return false;
    }
    for (size_t c = 0; c < s->constraint_count; c++) {
        m->level_of[c] = SIZE_MAX;
        for (size_t l = 0; l < s->level_count; l++)
            if (m->reads[c * s->level_count + l])
                m->level_of[c] = l;
    }
    m->choices = calloc(most_values, sizeof *m->choices);
    m->holds = calloc(most_values, sizeof *m->holds);
    return m->choices && m->holds;
}

static void sampler_deinit(sampler *m)
{
    for (size_t l = 0; m->shuffled && l < m->s->level_count; l++)
        free(m->shuffled[l]);
    keymap_deinit(&m->seen);
    free(m->shuffled);
    free(m->level_of);
    free(m->reads);
    free(m->indices);
    free(m->choices);
    free(m->holds);
    free(m->found);
}

at_status space_draw(space *s, const space_constraint *constraints, space_test test, void *context,
                     const space_limits *limits, uint64_t most, const uint16_t *known,
                     at_error *error)
{
    sampler m = {.s = s,
                 .constraints = constraints,
                 .test = test,
                 .context = context,
                 .limits = limits,
                 .error = error,
                 .most = most,
                 .rng = rng_seeded(1),
                 .until_check = CHECK_PERIOD};
    node_writer writer = {0};
    at_status status = sampler_init(&m) ? search(&m, known) : node_no_memory(error);
    status =
        error_ignore(status, AT_INTERRUPTED, error); /* keeps the configurations found so far */
    if (!status)
        status = node_writer_init(&writer, s, 0, error);
    if (!status && m.count > 0)
        status = sort_found(&m) ? write_node(&m, &writer, 0, 0, m.count, &s->root)
                                : node_no_memory(error);
    node_writer_deinit(&writer);
    sampler_deinit(&m);
    return status;
}
