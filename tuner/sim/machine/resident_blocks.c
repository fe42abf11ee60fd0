/* Schedules clusters that may wait for one another, on one host thread. As on a GPU, clusters begin
 * in order when there is room, and stay resident until they end. A resident cluster that only polls
 * memory is put aside until other clusters have changed memory. */
#include "sim/machine/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/machine/repeat.h"

enum { PROGRESS_STEPS = 1000 };
enum {
    MOST_BYTES_LOG2 = 30, /* most bytes of the state of all resident clusters, as a power of two */
    POLLS_BEFORE_ASIDE = 16, /* idle polls after which a resident cluster is put aside */
    /* Clusters that were put aside are tried from time to time. */
    TRY_POLLS = 16, /* most polls of one try */
    TRY_TURNS = 64, /* turns of running clusters between two tries, for each four clusters aside */
    /* Rounds without progress, and tries in these rounds, before some clusters are checked for
     * longer: */
    QUIET_ROUNDS = 256,
    QUIET_TRIES = 8192,
    SURE_CLUSTERS = 8,    /* number of clusters that are checked */
    SURE_POLLS = 1 << 15, /* most polls of each of these clusters */
    /* The following values are for adverse schedules. */
    ADVERSE_WIDTH = 4,      /* clusters that run side by side */
    MOST_HELD = 4,          /* clusters held back at a time */
    HOLDS_ONE_OF = 8,       /* after the first hold, one cluster in this many is held back */
    HOLDING_SCHEDULES = 12, /* this many schedules in a row hold clusters back, and as
                               many do not */
    GOES_ON_ONE_IN = 4      /* one change of memory in this many lets a held cluster go on */
};

typedef enum resident_state { IS_FREE, RUNS, IS_ASIDE, IS_HELD, STATES } resident_state;

typedef struct resident {
    sim_cluster cluster;
    uint64_t position;
    resident_state state;
    uint64_t hold_number;  /* IS_HELD: number of clusters held back before it */
    uint64_t yield_number; /* schedule 0: number of its last yield, counted over all clusters; 0
                              before its first yield */
} resident;

/* Clusters with positions below `begun` are admitted: each of them waits to begin, is resident, or
 * has ended. At most most_admitted() clusters are admitted and have not ended. */
typedef struct resident_blocks {
    const sim_launch *launch;
    sim_watch *watch;
    uint64_t total, ended;
    uint64_t begun;
    uint64_t *waiting; /* admitted clusters that have not begun, ascending; the entries in
                          [waiting_first, waiting_end) */
    size_t waiting_first, waiting_end;
    resident **all;
    size_t count;      /* number of allocated members of `all` */
    size_t most;       /* number of resident clusters for which there is memory */
    size_t in[STATES]; /* number of members of `all` in each state */
    uint64_t holds;    /* number of clusters held back so far */
    uint64_t yields;
    size_t yielders;          /* schedule 0: number of resident clusters that have yielded */
    bool changed_and_yielded; /* adverse schedules: the cluster that ran last changed memory, and
                                 then yielded after an access to global memory */
    rng order;
    sim_fault *fault;
} resident_blocks;

static uint64_t most_admitted(const resident_blocks *r)
{
    return r->launch->resident_clusters ? r->launch->resident_clusters : r->total;
}

/* Admits clusters while the chip has room. */
static void admit(resident_blocks *r)
{
    while (r->begun < r->total && r->begun - r->ended < most_admitted(r))
        r->waiting[r->waiting_end++] = r->begun++;
}

/* Takes the first cluster that waits to begin; in adverse schedules, one of the last quarter. */
static uint64_t take_waiting(resident_blocks *r)
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

static void enter(resident_blocks *r, resident *one, resident_state state)
{
    r->in[one->state]--;
    r->in[state]++;
    one->state = state;
}

static resident *find_free(resident_blocks *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->all[i]->state == IS_FREE)
            return r->all[i];
    return NULL;
}

static at_status add(resident_blocks *r, resident **out, at_error *error)
{
    *out = memory_new(1, sizeof **out);
    memory_add(&r->all, &r->count, out, sizeof *out);
    r->in[IS_FREE]++;
    return sim_cluster_init(&(*out)->cluster, r->launch, r->watch, error);
}

/* Ends an excerpt that has run enough clusters: no more clusters begin. */
static void end_excerpt(resident_blocks *r)
{
    if (!r->launch->excerpt || sim_excerpt_goes_on(r->launch))
        return;
    r->waiting_first = r->waiting_end;
    r->total = r->begun = r->ended + r->count - r->in[IS_FREE];
}

static bool can_begin(const resident_blocks *r)
{
    return r->waiting_first < r->waiting_end && r->count - r->in[IS_FREE] < r->most;
}

static at_status begin(resident_blocks *r, at_error *error)
{
    resident *one = find_free(r);
    at_status status = one ? AT_OK : add(r, &one, error);
    if (status)
        return status;
    one->position = take_waiting(r);
    one->yield_number = 0;
    enter(r, one, RUNS);
    if (r->launch->excerpt)
        r->launch->excerpt->begun++;
    sim_cluster_start(&one->cluster, one->position);
    return AT_OK;
}

static void end(resident_blocks *r, resident *one)
{
    enter(r, one, IS_FREE);
    r->yielders -= one->yield_number > 0;
    if (!sim_cluster_ended_for_others(&one->cluster) && one->cluster.fault.kind != SIM_FAULT_NONE)
        *r->fault = one->cluster.fault;
    r->ended++;
    if (r->launch->progress && r->ended % (r->total / PROGRESS_STEPS + 1) == 0)
        r->launch->progress(r->launch->progress_context, r->ended, r->total);
    admit(r);
}

/* Returns whether schedule 0 runs `a` before `b`. Clusters that have not yielded come first, by
 * number. The others follow in the order of their last yields. */
static bool comes_first(const resident *a, const resident *b)
{
    return a->yield_number != b->yield_number ? a->yield_number < b->yield_number
                                              : a->position < b->position;
}

static resident *first_running(const resident_blocks *r)
{
    resident *found = NULL;
    for (size_t i = 0; i < r->count; i++)
        if (r->all[i]->state == RUNS && (!found || comes_first(r->all[i], found)))
            found = r->all[i];
    return found;
}

/* Draws a random cluster in the state. Returns NULL if there is none. */
static resident *any_in(resident_blocks *r, resident_state state)
{
    uint64_t n = r->in[state] > 0 ? rng_below(&r->order, r->in[state]) : 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->all[i]->state == state && n-- == 0)
            return r->all[i];
    return NULL;
}

/* In some adverse schedules, holds back a cluster that has just accessed global memory, until other
 * clusters end, wait, or have changed memory several times. Returns whether it is held. */
static bool hold(resident_blocks *r, resident *one)
{
    const bool may = r->launch->schedule && one->cluster.yielded && r->in[IS_HELD] < MOST_HELD &&
                     r->launch->schedule / HOLDING_SCHEDULES % 2 == 0;
    if (!may || (r->holds > 0 && rng_below(&r->order, HOLDS_ONE_OF)))
        return false;
    one->hold_number = r->holds++;
    enter(r, one, IS_HELD);
    return true;
}

/* Lets a held cluster go on, the first or a random one, because other clusters may wait for it. */
static void resume_one(resident_blocks *r)
{
    resident *one = any_in(r, IS_HELD);
    if (!one)
        return;
    const bool is_first = rng_below(&r->order, 2);
    for (size_t i = 0; is_first && i < r->count; i++)
        if (r->all[i]->state == IS_HELD && r->all[i]->hold_number < one->hold_number)
            one = r->all[i];
    enter(r, one, RUNS);
}

/* Gives one running cluster a turn. Returns true if the cluster no longer runs. */
static bool advance(resident_blocks *r)
{
    resident *one = r->launch->schedule ? any_in(r, RUNS) : first_running(r);
    const uint64_t changes = one->cluster.changes;
    const bool goes_on = sim_cluster_turn(&one->cluster);
    r->changed_and_yielded =
        r->launch->schedule && one->cluster.yielded && one->cluster.changes != changes;
    if (!goes_on) {
        end(r, one);
        return true;
    }
    if (hold(r, one))
        return true;
    /* A cluster that yields may wait for clusters that have not begun, so one more may begin. */
    if (!r->launch->schedule && one->cluster.yielded) {
        r->yielders += one->yield_number == 0;
        one->yield_number = ++r->yields;
    }
    if (one->cluster.idle_polls < POLLS_BEFORE_ASIDE)
        return false;
    enter(r, one, IS_ASIDE);
    return true;
}

/* Tries whether a cluster that was put aside can go on, for at most `most` polls. If `news`, any
 * new value is enough. Returns false if the cluster still waits. */
static bool try_resident(resident_blocks *r, resident *one, uint64_t most, bool news)
{
    uint64_t changes = one->cluster.changes;
    one->cluster.idle_polls = 0;
    for (uint64_t before = 0;;) {
        if (!sim_cluster_turn(&one->cluster)) {
            end(r, one);
            return true;
        }
        /* The count falls if a warp changed memory or computed for long. Then the cluster goes
         * on. */
        bool still_polls = one->cluster.idle_polls >= before;
        before = one->cluster.idle_polls;
        if (one->cluster.changes != changes || (news && one->cluster.yielded) || !still_polls)
            break;
        if (before >= most || sim_repeat_is_stuck(&one->cluster))
            return false;
    }
    enter(r, one, RUNS);
    return true;
}

/* Tries all clusters that were put aside. Returns whether any can go on. */
static bool try_all(resident_blocks *r)
{
    bool any = false;
    for (size_t i = 0; i < r->count && r->fault->kind == SIM_FAULT_NONE; i++)
        if (r->all[i]->state == IS_ASIDE)
            any = try_resident(r, r->all[i], TRY_POLLS, false) || any;
    return any;
}

/* In an adverse schedule, lets clusters that were put aside poll between two changes of memory. An
 * eager schedule tries many, because few of them may read at the moment that shows a mistake. */
static void try_between(resident_blocks *r)
{
    enum { TRIES_ONE_IN = 2, MANY = 8, RUNNING = 2 * ADVERSE_WIDTH, BETWEEN_POLLS = 4 };
    const bool is_eager = sim_is_eager(r->launch);
    if (!r->changed_and_yielded || (!is_eager && rng_below(&r->order, TRIES_ONE_IN)))
        return;
    for (size_t n = is_eager ? MANY : 1;
         n > 0 && r->in[IS_ASIDE] > 0 && r->in[RUNS] < RUNNING && r->fault->kind == SIM_FAULT_NONE;
         n--)
        try_resident(r, any_in(r, IS_ASIDE), BETWEEN_POLLS, true);
}

/* Returns whether the first SURE_CLUSTERS clusters that were put aside wait for ever. Each of them
 * gets many polls, because a kernel may count polls and then go on. */
static bool wait_for_ever(resident_blocks *r)
{
    size_t asked = 0;
    for (size_t i = 0; i < r->count && asked < SURE_CLUSTERS; i++) {
        if (r->all[i]->state != IS_ASIDE)
            continue;
        asked++;
        if (try_resident(r, r->all[i], SURE_POLLS, false) ||
            !sim_repeat_is_stuck(&r->all[i]->cluster))
            return false;
    }
    return true;
}

/* Records that no resident cluster can go on. In an excerpt, all may wait for absent blocks. */
static void give_up(resident_blocks *r)
{
    resident *first = NULL;
    for (size_t i = 0; i < r->count; i++) {
        if (r->all[i]->state != IS_ASIDE)
            continue;
        if (!first || r->all[i]->position < first->position)
            first = r->all[i];
        if (r->launch->excerpt) {
            sim_cluster_report_waiting(&r->all[i]->cluster, SIM_FAULT_DEADLOCK, SIM_NOBODY_CHANGES);
            end(r, r->all[i]);
        }
    }
    if (r->launch->excerpt)
        return;
    if (r->waiting_first < r->waiting_end)
        sim_cluster_report_waiting(&first->cluster, SIM_FAULT_UNKNOWN,
                                   "more blocks wait for others than the simulator runs at a time: "
                                   "give a smaller problem in `simulated`");
    else
        sim_cluster_report_waiting(&first->cluster, SIM_FAULT_DEADLOCK,
                                   r->begun < r->total
                                       ? "it polls memory that no running block changes, and other "
                                         "blocks cannot start before a running block ends"
                                       : SIM_NOBODY_CHANGES);
    *r->fault = first->cluster.fault;
}

static at_status run(resident_blocks *r, at_error *error)
{
    size_t since = 0, turns = 0;
    admit(r);
    for (size_t quiet = 0; r->ended < r->total && r->fault->kind == SIM_FAULT_NONE;) {
        end_excerpt(r);
        const size_t width = r->launch->schedule ? ADVERSE_WIDTH : 1 + r->yielders;
        while (r->in[RUNS] < width && can_begin(r)) {
            at_status status = begin(r, error);
            if (status)
                return status;
            quiet = 0;
        }
        if (r->in[RUNS] == 0 && (r->in[IS_HELD] == 0 || !try_all(r)))
            resume_one(r);
        if (r->in[RUNS] > 0) {
            quiet = 0;
            since += advance(r);
            turns++;
            if (r->changed_and_yielded && rng_below(&r->order, GOES_ON_ONE_IN) == 0)
                resume_one(r);
            if (r->fault->kind == SIM_FAULT_NONE)
                try_between(r);
        }
        /* If many clusters were put aside, they are tried less often, so that tries take a fixed
         * share of the time. They are tried while others run, because the others may wait for
         * them. */
        const size_t share = r->in[IS_ASIDE] / 4;
        if (r->fault->kind == SIM_FAULT_NONE &&
            (r->in[RUNS] == 0 || since > share || turns / TRY_TURNS > share)) {
            since = turns = 0;
            quiet = try_all(r) ? 0 : quiet + 1;
            if (quiet >= QUIET_ROUNDS && quiet * r->in[IS_ASIDE] >= QUIET_TRIES) {
                if (r->launch->excerpt || wait_for_ever(r))
                    give_up(r);
                quiet = 0;
            }
        }
    }
    return AT_OK;
}

at_status sim_resident_blocks_run(const sim_launch *launch, sim_watch *watch, uint64_t total,
                                  sim_fault *fault, at_error *error)
{
    resident_blocks r = {.launch = launch,
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
