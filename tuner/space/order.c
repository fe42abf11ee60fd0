#include <stdlib.h>

#include "space/tree.h"

/* A conditional parameter, which keeps one value where its condition is false, prunes less than its
 * few combinations promise. The weight was chosen by the time that the patterns in lua/ take to
 * enumerate. */
enum { CONDITIONAL_WEIGHT = 8 };

typedef struct chooser {
    const space *s;
    const space_constraint *constraints;
    bool *bound;     /* for each parameter; one with a single value is bound from the start */
    size_t *readers; /* constraints that read each parameter */
} chooser;

/* A constraint's appeal: whether it continues the group of parameters begun last, and how many
 * combinations of its unbound parameters there are to go through before it can be tested. */
typedef struct appeal {
    bool connected;
    double combinations; /* 1: every parameter is bound already */
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

/* The constraint to complete next; false when all are complete. */
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

/* Binds the constraint's unbound parameters, those read by most constraints first, then those with
 * fewest values. */
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

at_status space_choose_order(space *s, const space_constraint *constraints, at_error *error)
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
