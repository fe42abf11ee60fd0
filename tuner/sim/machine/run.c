#include "sim/machine/run.h"

#include <inttypes.h>
#include <pthread.h>

#include "base/clock.h"
#include "sim/machine/schedule.h"
#include "sim/machine/watch.h"

/* Limit of the host threads, because more threads would wait at the locks of a watched launch. On
 * 16 cores the proofs of 24 dot products took 14 to 16 s in two processes of 16 threads each, and
 * 6.4 s in eight processes of 4 threads. */
enum {
    MAX_HOST_THREADS = 4,
    MAX_BLOCK_THREADS = 1024,
    MAX_CLUSTER_BLOCKS = 16,
    PROGRESS_STEPS = 1000
};

/* The state that the host threads share. */
typedef struct crew {
    const sim_launch *launch;
    sim_watch *watch;
    uint64_t total;
    uint64_t next;        /* position of the next cluster; atomic */
    pthread_mutex_t lock; /* guards the members below */
    sim_fault fault;      /* fault of the lowest cluster */
    uint64_t fault_at;    /* its position; UINT64_MAX if there is no fault; also read without the
                             lock */
    at_status status;
    at_error error;
} crew;

static void note_fault(crew *c, const sim_fault *fault, uint64_t position)
{
    pthread_mutex_lock(&c->lock);
    if (position < __atomic_load_n(&c->fault_at, __ATOMIC_RELAXED)) {
        c->fault = *fault;
        __atomic_store_n(&c->fault_at, position, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&c->lock);
}

static void *work(void *context)
{
    crew *c = context;
    const sim_launch *launch = c->launch;
    sim_cluster cluster;
    at_error error = {0};
    at_status status = sim_cluster_init(&cluster, launch, c->watch, &error);
    while (!status) {
        uint64_t at = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED);
        /* The fault of the lowest cluster is reported, so clusters before a fault must run. */
        if (at >= c->total || at > __atomic_load_n(&c->fault_at, __ATOMIC_RELAXED))
            break;
        if (launch->excerpt) {
            if (!sim_excerpt_goes_on(launch))
                break;
            launch->excerpt->begun++;
        }
        if (launch->progress && at % (c->total / PROGRESS_STEPS + 1) == 0) {
            pthread_mutex_lock(&c->lock);
            launch->progress(launch->progress_context, at, c->total);
            pthread_mutex_unlock(&c->lock);
        }
        if (launch->announce && launch->observer)
            launch->observer(launch->observer_context, NULL, false, NULL);
        sim_cluster_run(&cluster, at);
        if (sim_cluster_ended_for_others(&cluster))
            continue;
        if (cluster.fault.kind != SIM_FAULT_NONE)
            note_fault(c, &cluster.fault, at);
    }
    pthread_mutex_lock(&c->lock);
    if (status && !c->status) {
        c->status = status;
        c->error = error;
    }
    sim_cluster_sum_counters(&cluster);
    pthread_mutex_unlock(&c->lock);
    sim_cluster_deinit(&cluster);
    return NULL;
}

static at_status check_launch(const sim_launch *l, uint64_t *total, at_error *error)
{
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (threads == 0 || threads > MAX_BLOCK_THREADS || l->block[0] > 1024 || l->block[1] > 1024 ||
        l->block[2] > 64)
        return error_set(error, AT_USAGE,
                         "a block of %u x %u x %u threads is not possible: at most 1024 x 1024 x "
                         "64, 1024 in all",
                         l->block[0], l->block[1], l->block[2]);
    if (l->grid[0] == 0 || l->grid[1] == 0 || l->grid[2] == 0 || l->grid[0] > INT32_MAX ||
        l->grid[1] > 65535 || l->grid[2] > 65535)
        return error_set(
            error, AT_USAGE,
            "a grid of %u x %u x %u blocks is not possible: at most 2^31 - 1 x 65535 x 65535",
            l->grid[0], l->grid[1], l->grid[2]);
    uint64_t blocks = sim_launch_cluster_blocks(l);
    for (int k = 0; l->cluster[0] > 0 && k < 3; k++)
        if (blocks == 0 || blocks > MAX_CLUSTER_BLOCKS || l->grid[k] % l->cluster[k] != 0)
            return error_set(error, AT_USAGE,
                             "clusters of %u x %u x %u blocks are not possible: at most 16 blocks, "
                             "and each extent must divide the grid",
                             l->cluster[0], l->cluster[1], l->cluster[2]);
    *total = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] / blocks;
    for (uint64_t i = 0; l->clusters && i < l->cluster_count; i++)
        if (l->clusters[i] >= *total)
            return error_set(error, AT_USAGE,
                             "cluster %" PRIu64 " does not exist in a grid of %" PRIu64,
                             l->clusters[i], *total);
    if (l->clusters)
        *total = l->cluster_count;
    return AT_OK;
}

static long thread_count(const sim_launch *l, uint64_t total)
{
    long n = l->threads ? l->threads : (long)cores_usable();
    if (l->observer || n < 1)
        n = 1;
    if (n > MAX_HOST_THREADS)
        n = MAX_HOST_THREADS;
    return (uint64_t)n > total ? (long)total : n;
}

static at_status run_on_threads(crew *c, long wanted, at_error *error)
{
    pthread_t helpers[MAX_HOST_THREADS];
    long started = 0;
    pthread_mutex_init(&c->lock, NULL);
    /* The caller's thread also works. If a thread cannot be created, the run only takes longer. */
    while (started < wanted - 1 && pthread_create(&helpers[started], NULL, work, c) == 0)
        started++;
    work(c);
    for (long i = 0; i < started; i++)
        pthread_join(helpers[i], NULL);
    pthread_mutex_destroy(&c->lock);
    if (c->status && error)
        *error = c->error;
    return c->status;
}

at_status sim_run(const sim_launch *launch, sim_fault *fault, at_error *error)
{
    *fault = (sim_fault){0};
    crew c = {.launch = launch, .fault_at = UINT64_MAX};
    at_status status = check_launch(launch, &c.total, error);
    if (status || c.total == 0)
        return status;
    /* The observer of a sampled run counts block by block, so blocks must not run side by side. */
    bool together = launch->program->communicates && !launch->observer && !launch->one_warp_only;
    long wanted = together ? 1 : thread_count(launch, c.total);
    if (launch->check)
        status = sim_watch_new(launch, wanted > 1, &c.watch, error);
    if (status)
        return status;
    status = together ? sim_resident_blocks_run(launch, c.watch, c.total, &c.fault, error)
                      : run_on_threads(&c, wanted, error);
    sim_watch_free(c.watch);
    c.fault.ran_on_several_threads = wanted > 1;
    if (!status)
        *fault = c.fault;
    return status;
}
