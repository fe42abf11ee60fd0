#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "space/tree.h"

static at_status copy_parameters(space *s, const space_parameter *parameters, size_t count,
                                 at_error *error)
{
    s->parameters = calloc(count + 1, sizeof *s->parameters);
    if (!s->parameters)
        return error_no_memory(error);
    if (count)
        memcpy(s->parameters, parameters, count * sizeof *parameters);
    s->parameter_count = count;
    for (size_t p = 0; p < count; p++)
        if (parameters[p].value_count == 0 || parameters[p].value_count > UINT16_MAX)
            return error_set(error, AT_SCRIPT, "parameter '%s' has %zu values: give it 1 to %d",
                             parameters[p].name, parameters[p].value_count, UINT16_MAX);
    return AT_OK;
}

static size_t end_edge(const space *s, uint32_t node)
{
    return s->nodes[node].first_edge + s->nodes[node].edge_count;
}

static at_status find_used(space *s, at_error *error)
{
    s->used = calloc(s->parameter_count + 1, sizeof *s->used);
    for (size_t p = 0; s->used && p < s->parameter_count; p++) {
        s->used[p] = calloc(s->parameters[p].value_count, sizeof **s->used);
        if (!s->used[p])
            return error_no_memory(error);
        if (s->parameters[p].value_count == 1 && s->root != NODE_NONE)
            s->used[p][0] = true;
    }
    /* Parents come after their children, so this loop visits each node after its level is known. */
    uint32_t *level = calloc((size_t)s->node_count + 1, sizeof *level);
    if (!s->used || !level) {
        free(level);
        return error_no_memory(error);
    }
    for (uint32_t n = s->root; s->root != NODE_NONE && n > NODE_TERMINAL; n--)
        for (size_t e = s->nodes[n].first_edge; e < end_edge(s, n); e++) {
            s->used[s->order[level[n]]][s->edges[e].value] = true;
            level[s->edges[e].child] = level[n] + 1;
        }
    free(level);
    return AT_OK;
}

/* A conditional constraint fixes a parameter to one value if its condition is false. It prunes less
 * than its few combinations suggest, so these are multiplied by CONDITIONAL_WEIGHT. The weight was
 * chosen by the time to enumerate the patterns in lua/. */
enum { CONDITIONAL_WEIGHT = 8 };

typedef struct chooser {
    const space *s;
    const space_constraint *constraints;
    bool *bound;     /* for each parameter: the parameter is bound, or has a single value */
    size_t *readers; /* for each parameter: number of constraints that read the parameter */
} chooser;

typedef struct appeal {
    bool connected;      /* the constraint reads a bound parameter */
    double combinations; /* of the constraint's unbound parameters; 1 if all are bound */
} appeal;

static appeal appeal_of(const chooser *c, const space_constraint *constraint)
{
    appeal a = {.combinations = 1};
    for (size_t i = 0; i < constraint->parameter_count; i++) {
        size_t p = constraint->parameters[i];
        size_t values = c->s->parameters[p].value_count;
        if (!c->bound[p])
            a.combinations *= (double)values;
        else if (values > 1)
            a.connected = true;
    }
    return a;
}

static bool better(appeal a, appeal b)
{
    if (a.connected != b.connected)
        return a.connected;
    return a.combinations < b.combinations;
}

/* Finds the constraint to complete next. Returns false if all are complete. */
static bool next_constraint(const chooser *c, size_t *out)
{
    bool found = false;
    appeal best = {0};
    for (size_t i = 0; i < c->s->constraint_count; i++) {
        appeal a = appeal_of(c, &c->constraints[i]);
        if (c->constraints[i].conditional && a.combinations > 1)
            a.combinations *= CONDITIONAL_WEIGHT;
        if (a.combinations > 1 && (!found || better(a, best))) {
            found = true;
            best = a;
            *out = i;
        }
    }
    return found;
}

static void bind(chooser *c, space *s, size_t parameter)
{
    c->bound[parameter] = true;
    s->order[s->level_count++] = parameter;
}

/* Binds the constraint's unbound parameters: first the parameters that most constraints read, then
 * the parameters with the fewest values. */
static void complete(chooser *c, space *s, const space_constraint *constraint)
{
    for (;;) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < constraint->parameter_count; i++) {
            size_t p = constraint->parameters[i];
            if (c->bound[p])
                continue;
            if (best == SIZE_MAX || c->readers[p] > c->readers[best] ||
                (c->readers[p] == c->readers[best] &&
                 s->parameters[p].value_count < s->parameters[best].value_count))
                best = p;
        }
        if (best == SIZE_MAX)
            return;
        bind(c, s, best);
    }
}

/* Fills order and level_count. Parameters that constraints connect form a group, and groups follow
 * each other. Within a group, parameters that complete a constraint soonest come first. */
static at_status choose_order(space *s, const space_constraint *constraints, at_error *error)
{
    at_status status = AT_OK;
    size_t n = s->parameter_count;
    chooser c = {.s = s,
                 .constraints = constraints,
                 .bound = calloc(n + 1, sizeof *c.bound),
                 .readers = calloc(n + 1, sizeof *c.readers)};
    s->order = calloc(n + 1, sizeof *s->order);
    if (!c.bound || !c.readers || !s->order) {
        status = error_no_memory(error);
        goto cleanup;
    }
    for (size_t p = 0; p < n; p++)
        c.bound[p] = s->parameters[p].value_count == 1;
    for (size_t i = 0; i < s->constraint_count; i++)
        for (size_t j = 0; j < constraints[i].parameter_count; j++)
            c.readers[constraints[i].parameters[j]]++;

    size_t constraint = 0;
    while (next_constraint(&c, &constraint))
        complete(&c, s, &constraints[constraint]);
    for (size_t p = 0; p < n; p++)
        if (!c.bound[p])
            bind(&c, s, p);

cleanup:
    free(c.bound);
    free(c.readers);
    return status;
}

static at_status prepare(const space_parameter *parameters, size_t parameter_count,
                         const space_constraint *constraints, size_t constraint_count, space **out,
                         at_error *error)
{
    space *s = calloc(1, sizeof *s);
    if (!s)
        return error_no_memory(error);
    s->root = NODE_NONE;
    s->constraint_count = constraint_count;
    s->removed = calloc(constraint_count + 1, sizeof *s->removed);
    at_status status = s->removed ? copy_parameters(s, parameters, parameter_count, error)
                                  : error_no_memory(error);
    if (!status)
        status = choose_order(s, constraints, error);
    if (status)
        space_free(s);
    else
        *out = s;
    return status;
}

static at_status finish(space *s, at_status status, space **out, at_error *error)
{
    if (!status)
        status = find_used(s, error);
    if (status)
        space_free(s);
    else
        *out = s;
    return status;
}

at_status space_new_limited(const space_parameter *parameters, size_t parameter_count,
                            const space_constraint *constraints, size_t constraint_count,
                            space_test test, void *context, const space_limits *limits, space **out,
                            at_error *error)
{
    space *s;
    at_status status =
        prepare(parameters, parameter_count, constraints, constraint_count, &s, error);
    if (status)
        return status;
    status = space_build(s, constraints, test, context, limits, error);
    return finish(s, status, out, error);
}

at_status space_new(const space_parameter *parameters, size_t parameter_count,
                    const space_constraint *constraints, size_t constraint_count, space_test test,
                    void *context, uint64_t limit, space **out, at_error *error)
{
    space_limits limits = {.most_configurations = limit};
    return space_new_limited(parameters, parameter_count, constraints, constraint_count, test,
                             context, &limits, out, error);
}

at_status space_sample(const space_parameter *parameters, size_t parameter_count,
                       const space_constraint *constraints, size_t constraint_count,
                       space_test test, void *context, const space_limits *limits, uint64_t most,
                       const uint16_t *known, space **out, at_error *error)
{
    space *s;
    at_status status =
        prepare(parameters, parameter_count, constraints, constraint_count, &s, error);
    if (status)
        return status;
    s->sampled = true;
    for (size_t c = 0; c < constraint_count; c++)
        s->removed[c] = NAN;
    status = space_draw(s, constraints, test, context, limits, most, known, error);
    return finish(s, status, out, error);
}

bool space_is_sample(const space *s)
{
    return s->sampled;
}

void space_free(space *s)
{
    if (!s)
        return;
    for (size_t p = 0; s->used && p < s->parameter_count; p++)
        free(s->used[p]);
    free(s->used);
    free(s->parameters);
    free(s->removed);
    free(s->order);
    free(s->edges);
    free(s->nodes);
    free(s);
}

size_t space_parameter_count(const space *s)
{
    return s->parameter_count;
}

const space_parameter *space_get_parameter(const space *s, size_t parameter)
{
    return &s->parameters[parameter];
}

uint64_t space_cartesian(const space *s)
{
    uint64_t points = 1;
    for (size_t p = 0; p < s->parameter_count; p++)
        if (__builtin_mul_overflow(points, s->parameters[p].value_count, &points))
            return UINT64_MAX;
    return points;
}

uint64_t space_count(const space *s)
{
    return s->root == NODE_NONE ? 0 : s->nodes[s->root].total;
}

double space_removed(const space *s, size_t constraint)
{
    return s->removed[constraint];
}

bool space_uses(const space *s, size_t parameter, uint16_t value_index)
{
    return s->used[parameter][value_index];
}

void space_at(const space *s, uint64_t index, uint16_t *indices)
{
    memset(indices, 0, s->parameter_count * sizeof *indices);
    uint32_t node = s->root;
    for (size_t l = 0; l < s->level_count; l++) {
        /* Find the last edge with at most `index` configurations before it. */
        size_t low = s->nodes[node].first_edge, high = end_edge(s, node);
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            if (s->edges[middle].before <= index)
                low = middle;
            else
                high = middle;
        }
        index -= s->edges[low].before;
        indices[s->order[l]] = s->edges[low].value;
        node = s->edges[low].child;
    }
}

/* Returns the first edge of `node` with at least this value, or end_edge(). */
static size_t lower_edge(const space *s, uint32_t node, uint16_t index)
{
    size_t low = s->nodes[node].first_edge, high = end_edge(s, node);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->edges[middle].value < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool space_find(const space *s, const uint16_t *indices, uint64_t *index)
{
    if (s->root == NODE_NONE)
        return false;
    for (size_t p = 0; p < s->parameter_count; p++)
        if (indices[p] >= s->parameters[p].value_count)
            return false;
    uint32_t node = s->root;
    uint64_t at = 0;
    for (size_t l = 0; l < s->level_count; l++) {
        uint16_t choice = indices[s->order[l]];
        size_t e = lower_edge(s, node, choice);
        if (e == end_edge(s, node) || s->edges[e].value != choice)
            return false;
        at += s->edges[e].before;
        node = s->edges[e].child;
    }
    *index = at;
    return true;
}

/* A walk over the tree that collects the neighbours of a configuration. */
typedef struct walk {
    const space *s;
    const uint16_t *centre;
    uint64_t *out;
    size_t capacity, count;
} walk;

static void collect(walk *w, size_t level, uint32_t node, uint64_t before, bool differs)
{
    const space *s = w->s;
    if (w->count == w->capacity)
        return;
    if (level == s->level_count) {
        if (differs)
            w->out[w->count++] = before;
        return;
    }
    uint16_t here = w->centre[s->order[level]];
    if (differs) {
        size_t e = lower_edge(s, node, here);
        if (e < end_edge(s, node) && s->edges[e].value == here)
            collect(w, level + 1, s->edges[e].child, before + s->edges[e].before, true);
        return;
    }
    for (size_t e = s->nodes[node].first_edge; e < end_edge(s, node); e++)
        collect(w, level + 1, s->edges[e].child, before + s->edges[e].before,
                s->edges[e].value != here);
}

size_t space_neighbours(const space *s, uint64_t index, uint64_t *out, size_t capacity)
{
    uint16_t few[64];
    uint16_t *centre = s->parameter_count <= 64 ? few : malloc(s->parameter_count * sizeof *centre);
    if (!centre)
        return 0;
    space_at(s, index, centre);
    walk w = {.s = s, .centre = centre, .out = out, .capacity = capacity};
    collect(&w, 0, s->root, 0, false);
    if (centre != few)
        free(centre);
    return w.count;
}
