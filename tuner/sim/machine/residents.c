/* Clusters that may wait for one another, on one host thread.
 *
 * A cluster begins, as on a GPU, when there is room for it, in the order of their numbers, and
 * keeps its place to its end. How far those that have a place get before others go on is the
 * schedule's choice. One that only looks at what others may change is put aside until something has
 * changed; nothing is copied and nothing runs twice. */
#include "sim/machine/residents.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/machine/cluster.h"
#include "sim/machine/repeat.h"

enum { PROGRESS_STEPS = 1000 };
enum {
    MOST_BYTES_LOG2 = 30, /* of the state of all that have begun */
    PATIENCE_POLLS = 16,  /* before a cluster is put aside */
    GLANCE_POLLS = 16,    /* of one that looks whether it can go on, */
    GLANCE_TURNS = 64,    /* of others, after which those aside look, for each four of them */
    SURE_POLLS = 1 << 15, /* or whether it never can, */
    SURE_CLUSTERS = 8,    /* of so many */
    QUIET_ROUNDS = 256, /* in which all have looked in vain, before none is taken to go on ever, */
    QUIET_GLANCES = 8192, /* and looks by all of them */
    ADVERSE_WIDTH = 4,    /* clusters that an adverse schedule has advance side by side */
    MOST_HELD = 4,        /* it holds so many back at a time: the first that it may, */
    HOLDS_ONE_OF = 8,     /* and so many of the others, */
    HOLDING_ORDERS = 12,  /* in so many orders in a row, and then in as many not; */
    GOES_ON_ONE_IN = 4    /* of what others leave lets one go on */
};

typedef enum resident_state { IS_FREE, RUNS, IS_ASIDE, IS_HELD } resident_state;

typedef struct resident {
    sim_cluster cluster;
    uint64_t position;
    resident_state state;
    uint64_t held_as;    /* IS_HELD: so many were before it */
    uint64_t yielded_as; /* schedule 0: number of its last yield among all yields; 0: none yet */
} resident;

/* A cluster with a position below `begun` was admitted: it waits (waiting[waiting_first ..
 * waiting_end), ascending), has a place in `all`, or has ended. At most most_admitted() are
 * admitted and not ended. `running`, `aside` and `held` count the places of `all` by their state;
 * the others are free for the next cluster. */
typedef struct residents {
    const sim_launch *launch;
    sim_watch *watch;
    uint64_t total, ended;
    uint64_t begun;    /* clusters with a number below have a place, or a choice of one */
    uint64_t *waiting; /* those of them that have not begun, ascending */
    size_t waiting_first, waiting_end;
    resident **all;
    size_t count, most, running, aside, held;
    uint64_t holds; /* that it made */
    uint64_t yields;
    size_t yielders; /* clusters of schedule 0 that have yielded and not ended */
    bool left; /* in an adverse schedule: the last one that ran gave way when it had left something
                  for others to find */
    rng order;
    sim_fault *fault;
} residents;

static uint64_t most_admitted(const residents *r)
{
    return r->launch->resident_clusters ? r->launch->resident_clusters : r->total;
}

/* Admits the clusters that have a place now. */
static void admit(residents *r)
{
    while (r->begun < r->total && r->begun - r->ended < most_admitted(r))
        r->waiting[r->waiting_end++] = r->begun++;
}

/* Which of those that may begin does: the first, or one of the last quarter. */
static uint64_t take_waiting(residents *r)
{
    size_t count = r->waiting_end - r->waiting_first;
    if (!r->launch->schedule)
        return r->waiting[r->waiting_first++];
    size_t at = r->waiting_end - 1 - (size_t)rng_below(&r->order, (count + 3) / 4);
    uint64_t position = r->waiting[at];
    memmove(&r->waiting[at], &r->waiting[at + 1], (r->waiting_end - at - 1) * sizeof *r->waiting);
    r->waiting_end--;
    return position;
}

static resident *find_free(residents *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->all[i]->state == IS_FREE)
            return r->all[i];
    return NULL;
}

static at_status add(residents *r, resident **out, at_error *error)
{
    *out = calloc(1, sizeof **out);
    if (!*out || !array_add(&r->all, &r->count, out, sizeof *out)) {
        free(*out);
        return error_set(error, AT_NO_MEMORY,
                         "no memory to simulate blocks that wait for one another");
    }
    return sim_cluster_init(&(*out)->cluster, r->launch, r->watch, error);
}

/* Ends an excerpt that has had enough: clusters that have not begun never will. */
static void end_excerpt(residents *r)
{
    if (!r->launch->excerpt || sim_excerpt_goes_on(r->launch))
        return;
    r->waiting_first = r->waiting_end;
    r->total = r->begun = r->ended + r->running + r->aside + r->held;
}

static bool can_begin(const residents *r)
{
    return r->waiting_first < r->waiting_end && r->running + r->aside + r->held < r->most;
}

static at_status begin(residents *r, at_error *error)
{
    resident *one = find_free(r);
    at_status status = one ? AT_OK : add(r, &one, error);
    if (status)
        return status;
    one->position = take_waiting(r);
    one->state = RUNS;
    one->yielded_as = 0;
    r->running++;
    if (r->launch->excerpt)
        r->launch->excerpt->begun++;
    sim_cluster_start(&one->cluster, one->position);
    return AT_OK;
}

static void end(residents *r, resident *one)
{
    one->state = IS_FREE;
    r->yielders -= one->yielded_as > 0;
    if (!sim_cluster_ended_for_others(&one->cluster) && one->cluster.fault.kind != SIM_FAULT_NONE)
        *r->fault = one->cluster.fault;
    r->ended++;
    if (r->launch->progress && r->ended % (r->total / PROGRESS_STEPS + 1) == 0)
        r->launch->progress(r->launch->progress_context, r->ended, r->total);
    admit(r);
}

/* Does schedule 0 choose `a` before `b`? First those that have not yielded, in the order of their
 * numbers, then those whose yield is the longest ago. */
static bool comes_first(const resident *a, const resident *b)
{
    return a->yielded_as != b->yielded_as ? a->yielded_as < b->yielded_as
                                          : a->position < b->position;
}

static resident *first_running(const residents *r)
{
    resident *found = NULL;
    for (size_t i = 0; i < r->count; i++)
        if (r->all[i]->state == RUNS && (!found || comes_first(r->all[i], found)))
            found = r->all[i];
    return found;
}

/* Draws one of the `count` that are in that state. NULL: there are none. */
static resident *any_in(residents *r, resident_state state, size_t count)
{
    uint64_t n = count > 0 ? rng_below(&r->order, count) : 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->all[i]->state == state && n-- == 0)
            return r->all[i];
    return NULL;
}

/* Has an adverse schedule the others go on, until they end or wait or have left several things for
 * others, since this one may be about to make something of what it found in a place that all
 * share? */
static bool hold(residents *r, resident *one)
{
    const bool may = r->launch->schedule && one->cluster.gave_way && r->held < MOST_HELD &&
                     r->launch->schedule / HOLDING_ORDERS % 2 == 0;
    if (!may || (r->holds > 0 && rng_below(&r->order, HOLDS_ONE_OF)))
        return false;
    one->state = IS_HELD;
    one->held_as = r->holds++;
    r->running--;
    r->held++;
    return true;
}

/* Lets one alone go on, any or the one that was held first: others may have waited for it, and go
 * on before the rest. */
static void let_one_go_on(residents *r)
{
    resident *one = any_in(r, IS_HELD, r->held);
    if (!one)
        return;
    const bool is_first = rng_below(&r->order, 2);
    for (size_t i = 0; is_first && i < r->count; i++)
        if (r->all[i]->state == IS_HELD && r->all[i]->held_as < one->held_as)
            one = r->all[i];
    one->state = RUNS;
    r->held--;
    r->running++;
}

/* One turn of one that runs; true when it runs no more. */
static bool advance(residents *r)
{
    resident *one = r->launch->schedule ? any_in(r, RUNS, r->running) : first_running(r);
    const uint64_t changes = one->cluster.changes;
    const bool goes_on = sim_cluster_turn(&one->cluster);
    r->left = r->launch->schedule && one->cluster.gave_way && one->cluster.changes != changes;
    if (!goes_on) {
        r->running--;
        end(r, one);
        return true;
    }
    if (hold(r, one))
        return true;
    /* It may wait for others, or for clusters that have not begun. */
    if (!r->launch->schedule && one->cluster.gave_way) {
        r->yielders += one->yielded_as == 0;
        one->yielded_as = ++r->yields;
    }
    if (one->cluster.idle_polls < PATIENCE_POLLS)
        return false;
    one->state = IS_ASIDE;
    r->running--;
    r->aside++;
    return true;
}

/* Can one that was put aside go on? It looks, at most so often. `news`: it goes on as soon as it
 * has found anything new. */
static bool glance(residents *r, resident *one, uint64_t most, bool news)
{
    uint64_t changes = one->cluster.changes;
    one->cluster.idle_polls = 0;
    for (uint64_t before = 0;;) {
        if (!sim_cluster_turn(&one->cluster)) {
            r->aside--;
            end(r, one);
            return true;
        }
        /* A turn may be too short for a look: only one that has left the loop has none for long. */
        bool looks = one->cluster.idle_polls >= before;
        before = one->cluster.idle_polls;
        if (one->cluster.changes != changes || (news && one->cluster.gave_way) || !looks)
            break;
        if (before >= most || sim_repeat_is_stuck(&one->cluster))
            return false;
    }
    one->state = RUNS;
    r->aside--;
    r->running++;
    return true;
}

/* All that were put aside look; false: none can go on. */
static bool glance_all(residents *r)
{
    bool any = false;
    for (size_t i = 0; i < r->count && r->fault->kind == SIM_FAULT_NONE; i++)
        if (r->all[i]->state == IS_ASIDE)
            any = glance(r, r->all[i], GLANCE_POLLS, false) || any;
    return any;
}

/* In an adverse schedule some of those that were put aside look, at times, between what another has
 * left in a place that all share and what it leaves next: one, or, since few may be there in time
 * for a mistake, many. */
static void glance_between(residents *r)
{
    enum { GLANCES_ONE_IN = 2, MANY = 8, RUNNING = 2 * ADVERSE_WIDTH, BETWEEN_POLLS = 4 };
    const bool is_eager = sim_is_eager(r->launch);
    if (!r->left || (!is_eager && rng_below(&r->order, GLANCES_ONE_IN)))
        return;
    const size_t most = is_eager ? MANY : 1;
    for (size_t n = 0;
         n < most && r->aside > 0 && r->running < RUNNING && r->fault->kind == SIM_FAULT_NONE; n++)
        glance(r, any_in(r, IS_ASIDE, r->aside), BETWEEN_POLLS, true);
}

/* Do those that were put aside wait for ever, as far as some of them tell for all? One that counts
 * how often it looks may go on by itself. */
static bool wait_for_ever(residents *r)
{
    size_t asked = 0;
    for (size_t i = 0; i < r->count && asked < SURE_CLUSTERS; i++) {
        if (r->all[i]->state != IS_ASIDE)
            continue;
        asked++;
        if (glance(r, r->all[i], SURE_POLLS, false) || !sim_repeat_is_stuck(&r->all[i]->cluster))
            return false;
    }
    return true;
}

/* None that has begun can go on. In an excerpt they may wait for blocks that do not run. */
static void give_up(residents *r)
{
    resident *first = NULL;
    for (size_t i = 0; i < r->count; i++) {
        if (r->all[i]->state != IS_ASIDE)
            continue;
        if (!first || r->all[i]->position < first->position)
            first = r->all[i];
        if (r->launch->excerpt) {
            sim_cluster_report_waiting(&r->all[i]->cluster, SIM_FAULT_DEADLOCK, SIM_NOBODY_CHANGES);
            r->aside--;
            end(r, r->all[i]);
        }
    }
    if (r->launch->excerpt)
        return;
    if (r->waiting_first < r->waiting_end)
        sim_cluster_report_waiting(
            &first->cluster, SIM_FAULT_UNKNOWN,
            "more blocks wait for others than are simulated at a time: give a smaller "
            "problem in `simulated`");
    else
        sim_cluster_report_waiting(
            &first->cluster, SIM_FAULT_DEADLOCK,
            r->begun < r->total ? "it looks again and again at what no block that runs changes, "
                                  "and others cannot begin before one has ended"
                                : SIM_NOBODY_CHANGES);
    *r->fault = first->cluster.fault;
}

static at_status run(residents *r, at_error *error)
{
    size_t since = 0, turns = 0;
    admit(r);
    for (size_t quiet = 0; r->ended < r->total && r->fault->kind == SIM_FAULT_NONE;) {
        end_excerpt(r);
        const size_t width = r->launch->schedule ? ADVERSE_WIDTH : 1 + r->yielders;
        while (r->running < width && can_begin(r)) {
            at_status status = begin(r, error);
            if (status)
                return status;
            quiet = 0;
        }
        if (r->running == 0 && (r->held == 0 || !glance_all(r)))
            let_one_go_on(r);
        if (r->running > 0) {
            quiet = 0;
            since += advance(r);
            turns++;
            if (r->left && rng_below(&r->order, GOES_ON_ONE_IN) == 0)
                let_one_go_on(r);
            if (r->fault->kind == SIM_FAULT_NONE)
                glance_between(r);
        }
        /* Clusters that are put aside look less often the more they are: their cost is a share of
         * the others' work. The others may run for ever, as they change memory while they wait for
         * one of those. */
        const size_t share = r->aside / 4;
        if (r->fault->kind == SIM_FAULT_NONE &&
            (r->running == 0 || since > share || turns / GLANCE_TURNS > share)) {
            since = turns = 0;
            quiet = glance_all(r) ? 0 : quiet + 1;
            if (quiet >= QUIET_ROUNDS && quiet * r->aside >= QUIET_GLANCES) {
                if (r->launch->excerpt || wait_for_ever(r))
                    give_up(r);
                quiet = 0;
            }
        }
    }
    return AT_OK;
}

at_status sim_residents_run(const sim_launch *launch, sim_watch *watch, uint64_t total,
                            sim_fault *fault, at_error *error)
{
    residents r = {.launch = launch,
                   .watch = watch,
                   .total = total,
                   .fault = fault,
                   .order = rng_seeded(launch->schedule)};
    uint64_t most = (UINT64_C(1) << MOST_BYTES_LOG2) / sim_cluster_bytes(launch);
    r.most = most > 1 ? (size_t)most : 1;
    r.waiting = malloc((size_t)total * sizeof *r.waiting);
    at_status status = r.waiting ? run(&r, error)
                                 : error_set(error, AT_NO_MEMORY,
                                             "no memory to simulate %zu blocks", (size_t)total);
    for (size_t i = 0; i < r.count; i++) {
        if (launch->counters)
            sim_cluster_sum_counters(&r.all[i]->cluster);
        sim_cluster_deinit(&r.all[i]->cluster);
        free(r.all[i]);
    }
    free(r.all);
    free(r.waiting);
    return status;
}
