/* Enumerates a space depth first. Memos keep the answers of tests, and equal subtrees. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "space/tree.h"

/* The most combinations for which a table of answers is dense: 1 MiB at two bits per answer. */
static const uint64_t dense_limit = UINT64_C(1) << 22;
/* memo_allowance limits the answers and visits that memos keep beyond the size of the tree.
 * memo_numbers limits the counts of removed points, one per visit and constraint (128 MiB). */
static const size_t memo_allowance = (size_t)1 << 21;
static const size_t memo_numbers = (size_t)1 << 24;

enum { ANSWER_UNKNOWN, ANSWER_NO, ANSWER_YES };

typedef struct tuple_key {
    size_t *levels; /* ascending */
    uint64_t *strides;
    size_t count;
    uint64_t combinations; /* 0 if above 2^64 - 1, because keys are then not unique */
} tuple_key;

typedef struct tested {
    size_t constraint;
    size_t level;
    tuple_key reads;
    uint8_t *dense; /* table of answers, two bits each; may be NULL */
    bool remember;  /* answers are kept in `sparse` */
    keymap sparse;
    uint64_t base; /* key of the current node, with value 0 for its level */
} tested;

/* The known nodes of a level. A node depends only on the values that later constraints read. */
typedef struct level_memo {
    tuple_key frontier;
    bool remember;
    keymap seen; /* key of the values that later constraints read -> visit */
} level_memo;

/* `indices` has the values above the current node; row l of `scratch` and `alive` belongs to the
 * current node of level l. levels[l].seen maps the values that later constraints read to the first
 * visit with these values, so that an equal subtree is built once. At a later visit, the subtree's
 * numbers of removed points are added from visit_removed. */
typedef struct builder {
    space *s;
    space_test test;
    void *context;
    const space_limits *limits;
    at_error *error;
    tested *tests;      /* sorted by level, then by number of parameters */
    size_t *first_test; /* tests of level l: first_test[l] .. first_test[l + 1] - 1 */
    level_memo *levels;
    uint16_t *indices;    /* index of each parameter's value */
    double *suffix;       /* for each level l, points of the product of the levels from l on */
    double *removed;      /* [level][constraint]: points removed below the current node */
    space_edge **scratch; /* for each level, edges of the current node */
    bool **alive;         /* for each level, values of the current node that satisfy all tests */
    uint16_t *choices;    /* values to test, and the answers */
    bool *holds;
    uint32_t *visit_node;  /* node of each remembered visit */
    double *visit_removed; /* [visit][constraint]: points removed below the visited node */
    size_t visit_count, visit_node_capacity, visit_removed_capacity;
    node_writer nodes;
    double *begun; /* for each level, share of the product before the current node */
    double *width; /* for each level, share of the product below the current node */
    int64_t until_check;
} builder;

/* Number of values tested between two checks of the limits, about a millisecond. */
enum { CHECK_PERIOD = 4096 };

static bool key_init(tuple_key *k, const space *s, const bool *reads, size_t levels)
{
    k->levels = calloc(levels + 1, sizeof *k->levels);
    k->strides = calloc(levels + 1, sizeof *k->strides);
    if (!k->levels || !k->strides)
        return false;
    for (size_t l = 0; l < levels; l++)
        if (reads[l])
            k->levels[k->count++] = l;
    k->combinations = 1;
    /* The last level varies fastest, so that the answers of a node are adjacent. */
    for (size_t i = k->count; i-- > 0;) {
        k->strides[i] = k->combinations;
        if (__builtin_mul_overflow(k->combinations,
                                   s->parameters[s->order[k->levels[i]]].value_count,
                                   &k->combinations)) {
            k->combinations = 0;
            return true;
        }
    }
    return true;
}

static void key_deinit(tuple_key *k)
{
    free(k->levels);
    free(k->strides);
}

static uint64_t key_at(const builder *b, const tuple_key *k, size_t level)
{
    uint64_t key = 0;
    for (size_t i = 0; i < k->count && k->levels[i] < level; i++)
        key += k->strides[i] * b->indices[b->s->order[k->levels[i]]];
    return key;
}

static double *removed_at(const builder *b, size_t level)
{
    return b->removed + level * b->s->constraint_count;
}

static unsigned recall_answer(const tested *t, size_t choice)
{
    uint64_t key = t->base + choice, answer = ANSWER_UNKNOWN;
    if (t->dense)
        return (unsigned)(t->dense[key >> 2] >> 2 * (key & 3)) & 3;
    if (t->remember)
        keymap_get(&t->sparse, key, &answer);
    return (unsigned)answer;
}

static bool remember_answer(tested *t, size_t choice, unsigned answer)
{
    uint64_t key = t->base + choice;
    if (t->dense)
        t->dense[key >> 2] |= (uint8_t)(answer << 2 * (key & 3));
    else if (t->remember && t->sparse.count < memo_allowance)
        return keymap_put(&t->sparse, key, answer);
    return true;
}

static void break_value(builder *b, const tested *t, size_t level, size_t choice)
{
    b->alive[level][choice] = false;
    removed_at(b, level)[t->constraint] += b->suffix[level + 1];
}

/* Tests a constraint on the values of the level's parameter that are still alive. */
static at_status test_values(builder *b, tested *t, size_t level)
{
    size_t parameter = b->s->order[level], count = 0;
    for (size_t v = 0; v < b->s->parameters[parameter].value_count; v++) {
        unsigned answer = b->alive[level][v] ? recall_answer(t, v) : ANSWER_YES;
        if (answer == ANSWER_UNKNOWN)
            b->choices[count++] = (uint16_t)v;
        else if (answer == ANSWER_NO)
            break_value(b, t, level, v);
    }
    if (count == 0)
        return AT_OK;
    space_question question = {t->constraint, b->indices, parameter, b->choices, count};
    at_status status = b->test(b->context, &question, b->holds, b->error);
    for (size_t i = 0; i < count && !status; i++) {
        if (!b->holds[i])
            break_value(b, t, level, b->choices[i]);
        if (!remember_answer(t, b->choices[i], b->holds[i] ? ANSWER_YES : ANSWER_NO))
            status = node_no_memory(b->error);
    }
    return status;
}

static void copy_removed(double *to, const double *from, size_t count)
{
    if (count)
        memcpy(to, from, count * sizeof *to);
}

static bool recall(builder *b, size_t level, uint64_t key, uint32_t *node)
{
    uint64_t known;
    level_memo *memo = &b->levels[level];
    if (!memo->remember || !keymap_get(&memo->seen, key, &known))
        return false;
    size_t constraints = b->s->constraint_count;
    *node = b->visit_node[known];
    copy_removed(removed_at(b, level), b->visit_removed + known * constraints, constraints);
    return true;
}

static at_status remember(builder *b, size_t level, uint64_t key, uint32_t node)
{
    level_memo *memo = &b->levels[level];
    size_t constraints = b->s->constraint_count;
    if (!memo->remember || b->visit_count >= memo_allowance + 4 * b->s->node_count ||
        b->visit_count * constraints > memo_numbers)
        return AT_OK;
    uint32_t *nodes = node_widen(b->visit_node, &b->visit_node_capacity, b->visit_count + 1,
                                 sizeof *b->visit_node);
    if (!nodes)
        return node_no_memory(b->error);
    b->visit_node = nodes;
    double *all = node_widen(b->visit_removed, &b->visit_removed_capacity,
                             (b->visit_count + 1) * constraints, sizeof *b->visit_removed);
    if (!all || !keymap_put(&memo->seen, key, b->visit_count)) {
        b->visit_removed = all ? all : b->visit_removed;
        return node_no_memory(b->error);
    }
    b->visit_removed = all;
    nodes[b->visit_count] = node;
    copy_removed(b->visit_removed + b->visit_count * constraints, removed_at(b, level),
                 constraints);
    b->visit_count++;
    return AT_OK;
}

static size_t builder_bytes(const builder *b)
{
    size_t bytes = node_writer_bytes(&b->nodes) + b->visit_node_capacity * sizeof *b->visit_node +
                   b->visit_removed_capacity * sizeof *b->visit_removed;
    for (size_t l = 0; l < b->s->level_count; l++)
        bytes += keymap_bytes(&b->levels[l].seen);
    for (size_t t = 0; t < b->first_test[b->s->level_count]; t++)
        bytes += keymap_bytes(&b->tests[t].sparse);
    return bytes;
}

/* Checks the limits after a further `values` values were tested. AT_SCRIPT, AT_INTERRUPTED. */
static at_status check_limits(builder *b, size_t level, size_t values)
{
    const space_limits *limits = b->limits;
    b->until_check -= (int64_t)values + 1;
    if (b->until_check >= 0)
        return AT_OK;
    space_progress progress = {.share = b->begun[level],
                               .looked = (uint64_t)(CHECK_PERIOD - b->until_check)};
    b->until_check = CHECK_PERIOD;
    if (limits->memory_bytes && builder_bytes(b) > limits->memory_bytes)
        return error_set(b->error, AT_SCRIPT,
                         "the tree of the space's valid configurations takes more than %zu MiB: "
                         "constrain the space more",
                         limits->memory_bytes >> 20);
    if (limits->stop && limits->stop(limits->stop_context, &progress))
        return error_set(b->error, AT_INTERRUPTED,
                         "the space could not be enumerated within the limits of time and memory: "
                         "constrain it more");
    return AT_OK;
}

static at_status visit_node(builder *b, size_t level, uint32_t *node);

static at_status visit_values(builder *b, size_t level, size_t *edge_count)
{
    size_t parameter = b->s->order[level];
    size_t values = b->s->parameters[parameter].value_count;
    size_t constraints = b->s->constraint_count;
    double *removed = removed_at(b, level), *below = removed_at(b, level + 1);
    memset(b->alive[level], true, values);
    for (size_t i = b->first_test[level]; i < b->first_test[level + 1]; i++) {
        at_status status = test_values(b, &b->tests[i], level);
        if (status)
            return status;
    }
    *edge_count = 0;
    at_status within = check_limits(b, level, values);
    if (within)
        return within;
    size_t alive = 0, nth = 0;
    for (size_t v = 0; v < values; v++)
        alive += b->alive[level][v];
    b->width[level + 1] = alive ? b->width[level] / (double)alive : 0;
    for (size_t v = 0; v < values; v++) {
        if (!b->alive[level][v])
            continue;
        b->indices[parameter] = (uint16_t)v;
        b->begun[level + 1] = b->begun[level] + b->width[level + 1] * (double)nth++;
        uint32_t child;
        at_status status = visit_node(b, level + 1, &child);
        if (status)
            return status;
        for (size_t i = 0; i < constraints; i++)
            removed[i] += below[i];
        if (child != NODE_NONE)
            b->scratch[level][(*edge_count)++] = (space_edge){.child = child, .value = (uint16_t)v};
    }
    return AT_OK;
}

static at_status visit_node(builder *b, size_t level, uint32_t *node)
{
    if (level == b->s->level_count) {
        *node = NODE_TERMINAL;
        return AT_OK;
    }
    uint64_t key = key_at(b, &b->levels[level].frontier, level);
    if (recall(b, level, key, node))
        return AT_OK;
    for (size_t i = b->first_test[level]; i < b->first_test[level + 1]; i++)
        b->tests[i].base = key_at(b, &b->tests[i].reads, level);
    for (size_t i = 0; i < b->s->constraint_count; i++)
        removed_at(b, level)[i] = 0;
    size_t edges;
    at_status status = visit_values(b, level, &edges);
    if (!status)
        status = node_write(&b->nodes, b->scratch[level], edges, node, b->error);
    return status ? status : remember(b, level, key, *node);
}

static int compare_tests(const void *left, const void *right)
{
    const tested *a = left, *b = right;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    if (a->reads.count != b->reads.count)
        return a->reads.count < b->reads.count ? -1 : 1;
    return a->constraint < b->constraint ? -1 : a->constraint > b->constraint;
}

/* Prepares and counts the tests of constraints that read parameters with several values. */
static bool prepare_tests(builder *b, const bool *reads, size_t *count)
{
    const space *s = b->s;
    *count = 0;
    for (size_t c = 0; c < s->constraint_count; c++) {
        tested *t = &b->tests[*count];
        *t = (tested){.constraint = c};
        (*count)++;
        if (!key_init(&t->reads, s, reads + c * s->level_count, s->level_count))
            return false;
        if (t->reads.count == 0) {
            key_deinit(&t->reads);
            (*count)--;
            continue;
        }
        t->level = t->reads.levels[t->reads.count - 1];
        /* If the constraint reads all earlier levels, no answer can be reused. */
        if (t->reads.count == t->level + 1 || t->reads.combinations == 0)
            continue;
        t->remember = true;
        if (t->reads.combinations <= dense_limit) {
            t->dense = calloc((size_t)t->reads.combinations / 4 + 1, 1);
            if (!t->dense)
                return false;
        }
    }
    qsort(b->tests, *count, sizeof *b->tests, compare_tests);
    for (size_t l = 0, t = 0; l <= s->level_count; l++) {
        while (t < *count && b->tests[t].level < l)
            t++;
        b->first_test[l] = t;
    }
    return true;
}

static bool prepare_levels(builder *b, size_t test_count)
{
    const space *s = b->s;
    bool *reads = calloc(s->level_count + 1, sizeof *reads), whole = reads != NULL;
    b->suffix[s->level_count] = 1;
    for (size_t l = s->level_count; l-- > 0 && whole;) {
        size_t values = s->parameters[s->order[l]].value_count;
        b->suffix[l] = b->suffix[l + 1] * (double)values;
        b->scratch[l] = calloc(values, sizeof *b->scratch[l]);
        b->alive[l] = calloc(values, sizeof *b->alive[l]);
        memset(reads, 0, s->level_count * sizeof *reads);
        for (size_t t = b->first_test[l]; t < test_count; t++)
            for (size_t i = 0; i < b->tests[t].reads.count; i++)
                reads[b->tests[t].reads.levels[i]] = true;
        level_memo *memo = &b->levels[l];
        whole = b->scratch[l] && b->alive[l] && key_init(&memo->frontier, s, reads, l);
        memo->remember = memo->frontier.count < l && memo->frontier.combinations > 0;
    }
    free(reads);
    return whole;
}

static void builder_deinit(builder *b, size_t test_count)
{
    for (size_t t = 0; b->tests && t < test_count; t++) {
        key_deinit(&b->tests[t].reads);
        keymap_deinit(&b->tests[t].sparse);
        free(b->tests[t].dense);
    }
    for (size_t l = 0; b->levels && l < b->s->level_count; l++) {
        key_deinit(&b->levels[l].frontier);
        keymap_deinit(&b->levels[l].seen);
    }
    for (size_t l = 0; l < b->s->level_count; l++) {
        free(b->scratch ? b->scratch[l] : NULL);
        free(b->alive ? b->alive[l] : NULL);
    }
    node_writer_deinit(&b->nodes);
    free(b->tests);
    free(b->first_test);
    free(b->levels);
    free(b->indices);
    free(b->suffix);
    free(b->removed);
    free(b->scratch);
    free(b->alive);
    free(b->choices);
    free(b->holds);
    free(b->visit_node);
    free(b->visit_removed);
    free(b->begun);
    free(b->width);
}

static bool allocate(builder *b)
{
    size_t levels = b->s->level_count + 1, constraints = b->s->constraint_count + 1;
    size_t most_values = 1;
    for (size_t p = 0; p < b->s->parameter_count; p++)
        if (most_values < b->s->parameters[p].value_count)
            most_values = b->s->parameters[p].value_count;
    b->tests = calloc(constraints, sizeof *b->tests);
    b->first_test = calloc(levels, sizeof *b->first_test);
    b->levels = calloc(levels, sizeof *b->levels);
    b->indices = calloc(b->s->parameter_count + 1, sizeof *b->indices);
    b->suffix = calloc(levels, sizeof *b->suffix);
    b->removed = calloc(levels * constraints, sizeof *b->removed);
    b->scratch = calloc(levels, sizeof *b->scratch);
    b->alive = calloc(levels, sizeof *b->alive);
    b->begun = calloc(levels, sizeof *b->begun);
    b->width = calloc(levels, sizeof *b->width);
    b->choices = calloc(most_values, sizeof *b->choices);
    b->holds = calloc(most_values, sizeof *b->holds);
    return b->tests && b->first_test && b->levels && b->indices && b->suffix && b->removed &&
           b->scratch && b->alive && b->begun && b->width && b->choices && b->holds;
}

at_status space_build(space *s, const space_constraint *constraints, space_test test, void *context,
                      const space_limits *limits, at_error *error)
{
    builder b = {.s = s,
                 .test = test,
                 .context = context,
                 .limits = limits,
                 .until_check = CHECK_PERIOD,
                 .error = error};
    at_status status = AT_OK;
    size_t test_count = 0, broken;
    bool *reads = space_reads(s, constraints);
    s->root = NODE_NONE;
    if (!reads || !allocate(&b) || !prepare_tests(&b, reads, &test_count) ||
        !prepare_levels(&b, test_count)) {
        status = node_no_memory(error);
        goto cleanup;
    }
    status = node_writer_init(&b.nodes, s, limits->most_configurations, error);
    if (!status)
        status = space_test_constants(s, reads, b.indices, test, context, &broken, error);
    if (status)
        goto cleanup;
    b.width[0] = 1;
    if (broken != SIZE_MAX) {
        s->removed[broken] = b.suffix[0];
        goto cleanup;
    }
    status = visit_node(&b, 0, &s->root);
    if (!status && s->level_count)
        copy_removed(s->removed, b.removed, s->constraint_count);

cleanup:
    builder_deinit(&b, test_count);
    free(reads);
    return status;
}
