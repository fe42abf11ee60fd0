#include "run/tune_state.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "compile/compile.h"
#include "run/setup/setup.h"
#include "script/emit.h"
#include "sim/chip.h"
#include "sim/estimate.h"

enum {
    STEP_MS = 50,
    MAX_THREADS = 64,
    FLIGHT_PER_WORKER =
        3 /* variants between emission and prediction, per compile worker and per thread */
};

/* BUDGET_SHARE: the share of a budget that predictions may take. RATE_OF_CORE: predictions of a
 * core per second, half of the 12 that it made for a transpose. The number of predictions follows
 * from both, so that the search is the same on every machine; the clock ends only the predictions
 * of slower machines. */
static const double BUDGET_SHARE = 0.5, RATE_OF_CORE = 6;

typedef struct job {
    uint64_t configuration;
    size_t layout;
    launch_plan launch;
    compile_result compiled;
} job;

/* The state that threads share. The lock guards every member that changes after they start. */
typedef struct crew {
    pthread_mutex_t lock;
    pthread_cond_t arrived, done;
    job *ring; /* room for `capacity` jobs */
    size_t capacity, head, count;
    bool closed;
    double *times_ns;
    uint64_t reached, predicted;
    at_error trouble; /* the first error that is not the fault of a variant */
    const session *session;
    sim_chip chip;
    sim_estimate *estimates[MAX_THREADS];
    compile_result *fillers;   /* kernels that prepare inputs, one for each layout; owned */
    script_contents *contents; /* contents of files, one for each layout; owned */
    pthread_t threads[MAX_THREADS];
    size_t estimate_count, thread_count;
    size_t taken; /* estimates that threads have taken */
} crew;

/* The thread that emits and compiles. */
typedef struct feeder {
    session *session;
    const predict_options *options;
    crew *crew;
    uint64_t *order;                /* configurations in the order of prediction */
    uint64_t total, begun, settled; /* `total` are to predict, `begun` were emitted, `settled` are
                                     * done */
    job *compiling;                 /* `flight` jobs; the id of a compile request is its index */
    size_t *places;                 /* free indices of `compiling` */
    size_t place_count, flight;
} feeder;

static bool take_job(crew *c, job *out)
{
    pthread_mutex_lock(&c->lock);
    while (c->count == 0 && !c->closed)
        pthread_cond_wait(&c->arrived, &c->lock);
    bool any = c->count > 0;
    if (any) {
        *out = c->ring[c->head];
        c->head = (c->head + 1) % c->capacity;
        c->count--;
    }
    pthread_mutex_unlock(&c->lock);
    return any;
}

static void settle(crew *c, uint64_t configuration, double time_ns)
{
    pthread_mutex_lock(&c->lock);
    c->times_ns[configuration] = time_ns;
    c->reached++;
    c->predicted += isfinite(time_ns);
    pthread_cond_signal(&c->done);
    pthread_mutex_unlock(&c->lock);
}

static void note_trouble(crew *c, const at_error *error)
{
    pthread_mutex_lock(&c->lock);
    if (!c->trouble.status)
        c->trouble = *error;
    pthread_mutex_unlock(&c->lock);
}

static at_status new_estimate(crew *c, size_t place, size_t layout, at_error *error)
{
    const session *s = c->session;
    const size_t problem = layout * s->problems.slot_count;
    const sim_filler filler = {result_image(&c->fillers[layout], true),
                               s->problems.problems[problem].filler_launch};
    return sim_estimate_new(&c->chip, &s->problems.plans[problem], &filler, c->contents[layout].of,
                            &c->estimates[place], error);
}

/* Makes the thread's estimate, which is for one layout, again if the layout changes. */
static at_status use_layout(crew *c, size_t place, size_t layout, size_t *present, at_error *error)
{
    if (layout == *present)
        return AT_OK;
    sim_estimate_free(c->estimates[place]);
    c->estimates[place] = NULL;
    *present = layout;
    return new_estimate(c, place, layout, error);
}

static double estimate(crew *c, size_t place, size_t *layout, const job *j)
{
    const compile_result *r = &j->compiled;
    double time_ns;
    at_error error = {0};
    if (r->outcome != COMPILE_OK)
        return INFINITY;
    const device_image image = result_image(r, true);
    at_status status = use_layout(c, place, j->layout, layout, &error);
    if (!status)
        status = sim_estimate_time(c->estimates[place], &image, &j->launch, &time_ns, &error);
    if (!status)
        return time_ns;
    if (status != AT_COMPILE && status != AT_DEVICE)
        note_trouble(c, &error);
    return INFINITY;
}

static void *work(void *context)
{
    crew *c = context;
    job j;
    pthread_mutex_lock(&c->lock);
    size_t place = c->taken++, layout = 0;
    pthread_mutex_unlock(&c->lock);
    while (take_job(c, &j)) {
        double time_ns = estimate(c, place, &layout, &j);
        compile_result_deinit(&j.compiled);
        settle(c, j.configuration, time_ns);
    }
    return NULL;
}

static void crew_free(crew *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->closed = true;
    for (; c->count > 0; c->count--) {
        compile_result_deinit(&c->ring[c->head].compiled);
        c->head = (c->head + 1) % c->capacity;
    }
    pthread_cond_broadcast(&c->arrived);
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < c->thread_count; i++)
        pthread_join(c->threads[i], NULL);
    for (size_t i = 0; i < c->estimate_count; i++)
        sim_estimate_free(c->estimates[i]);
    pthread_cond_destroy(&c->arrived);
    pthread_cond_destroy(&c->done);
    pthread_mutex_destroy(&c->lock);
    for (size_t i = 0; c->fillers && i < c->session->problems.layout_count; i++)
        compile_result_deinit(&c->fillers[i]);
    for (size_t i = 0; c->contents && i < c->session->problems.layout_count; i++)
        script_contents_deinit(&c->contents[i]);
    free(c->contents);
    free(c->fillers);
    free(c->ring);
    free(c);
}

static size_t choose_threads(void)
{
    size_t cores = cores_usable();
    return cores > MAX_THREADS ? MAX_THREADS : cores;
}

/* Compiles the kernels that fill inputs. No other request may be pending in the pool. */
static at_status compile_fillers(crew *c, at_error *error)
{
    const problem_set *set = &c->session->problems;
    at_status status = AT_OK;
    c->fillers = memory_new(set->layout_count, sizeof *c->fillers);
    for (size_t i = 0; !status && i < set->layout_count; i++)
        status =
            problem_set_compile_filler(set, i, c->session->workers->pool,
                                       c->session->workers->properties.arch, &c->fillers[i], error);
    return status;
}

static at_status load_contents(crew *c, at_error *error)
{
    const problem_set *set = &c->session->problems;
    at_status status = AT_OK;
    c->contents = memory_new(set->layout_count, sizeof *c->contents);
    for (size_t i = 0; !status && i < set->layout_count; i++)
        status = script_contents_load(c->session->script, &set->plans[i * set->slot_count],
                                      &c->contents[i], error);
    return status;
}

static at_status crew_new(const session *s, const char *results_dir, size_t threads,
                          size_t capacity, double *times_ns, crew **out, at_error *error)
{
    crew *c = memory_new(1, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->arrived, NULL);
    pthread_cond_init(&c->done, NULL);
    c->session = s;
    c->capacity = capacity;
    c->times_ns = times_ns;
    c->ring = memory_new(capacity, sizeof *c->ring);
    at_status status = chips_of_device(&s->workers->properties, results_dir, &c->chip, error);
    if (!status)
        status = compile_fillers(c, error);
    if (!status)
        status = load_contents(c, error);
    for (size_t i = 0; !status && i < threads; i++) {
        status = new_estimate(c, i, 0, error);
        c->estimate_count += !status;
    }
    while (!status && c->thread_count < threads &&
           pthread_create(&c->threads[c->thread_count], NULL, work, c) == 0)
        c->thread_count++;
    if (!status && c->thread_count == 0)
        status = error_set(error, AT_NO_MEMORY, "no thread can be started for predictions");
    if (status)
        crew_free(c);
    else
        *out = c;
    return status;
}

/* Adds a job to the ring, which has room for all variants in flight. */
static void give_job(crew *c, const job *j)
{
    pthread_mutex_lock(&c->lock);
    c->ring[(c->head + c->count++) % c->capacity] = *j;
    pthread_cond_signal(&c->arrived);
    pthread_mutex_unlock(&c->lock);
}

static void feeder_deinit(feeder *f)
{
    crew_free(f->crew);
    free(f->order);
    free(f->compiling);
    free(f->places);
}

static at_status feeder_init(feeder *f, double *times_ns, at_error *error)
{
    session *s = f->session;
    size_t threads = choose_threads();
    f->flight = FLIGHT_PER_WORKER * (compile_width(s->workers->pool) + threads);
    uint64_t count = space_count(s->space);
    f->order = memory_new((size_t)count, sizeof *f->order);
    f->compiling = memory_new(f->flight, sizeof *f->compiling);
    f->places = memory_new(f->flight, sizeof *f->places);
    for (uint64_t i = 0; i < count; i++)
        f->order[i] = i;
    rng r = rng_seeded(f->options->seed);
    rng_shuffle(&r, f->order, (size_t)count);
    while (f->place_count < f->flight) {
        f->places[f->place_count] = f->place_count;
        f->place_count++;
    }
    return crew_new(s, f->options->results_dir, threads, f->flight, times_ns, &f->crew, error);
}

static at_status begin(feeder *f, at_error *error)
{
    session *s = f->session;
    emitted source = {0};
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    size_t place = f->places[f->place_count - 1];
    job *j = &f->compiling[place];
    *j = (job){.configuration = f->order[f->begun]};
    space_at(s->space, j->configuration, indices);
    j->layout = problem_set_layout(&s->problems, indices);
    at_status status = script_launch_plan(s->script, PROBLEM_TUNED, indices, &j->launch, error);
    if (!status)
        status = emit_variant(s->script, PROBLEM_TUNED, indices, true, &source, error);
    if (!status)
        status = submit_source(s->workers->pool, place, &source,
                               script_pattern(s->script)->template_path, &j->launch,
                               s->workers->properties.arch, true, error);
    emitted_deinit(&source);
    if (!status) {
        f->place_count--;
        f->begun++;
    }
    return status;
}

static at_status take_compiled(feeder *f, at_error *error)
{
    compile_result r;
    at_status status = compile_take(f->session->workers->pool, STEP_MS, &r, error);
    if (status)
        return error_ignore(status, AT_NOT_FOUND, error);
    job *j = &f->compiling[r.id];
    j->compiled = r;
    f->places[f->place_count++] = (size_t)r.id;
    give_job(f->crew, j);
    return AT_OK;
}

/* Takes over the counts of the threads. With `wait`, waits briefly for a change. */
static at_status look(feeder *f, bool wait, prediction *out, at_error *error)
{
    crew *c = f->crew;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += STEP_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&c->lock);
    if (wait && c->reached == f->settled)
        pthread_cond_timedwait(&c->done, &c->lock, &until);
    f->settled = out->reached = c->reached;
    out->predicted = c->predicted;
    at_status status = c->trouble.status;
    if (status && error)
        *error = c->trouble;
    pthread_mutex_unlock(&c->lock);
    return status;
}

static uint64_t most_predicted(const predict_options *o, uint64_t count)
{
    double most = BUDGET_SHARE * o->budget_s * RATE_OF_CORE * (double)choose_threads();
    return o->budget_s > 0 && most < (double)count ? (uint64_t)most : count;
}

static bool may_begin(const feeder *f)
{
    const predict_options *o = f->options;
    double past_s = (double)(clock_now_ns() - o->start_ns) / 1e9;
    return f->begun < f->total && (o->budget_s <= 0 || past_s < BUDGET_SHARE * o->budget_s);
}

static at_status feed(feeder *f, prediction *out, at_error *error)
{
    session *s = f->session;
    at_status status = AT_OK;
    while (!status && (may_begin(f) || f->settled < f->begun)) {
        while (!status && may_begin(f) && f->begun - f->settled < f->flight)
            status = begin(f, error);
        bool compiling = compile_pending(s->workers->pool) > 0;
        if (!status && compiling)
            status = take_compiled(f, error);
        if (!status)
            status = look(f, !compiling, out, error);
        if (!status && s->workers->device)
            device_worker_watch(s->workers->device);
        progress_update(f->options->progress,
                        &(progress_state){.stage = "predicting",
                                          .done = out->reached,
                                          .total = out->count,
                                          .failed = out->reached - out->predicted,
                                          .now_ns = clock_now_ns()});
    }
    return status;
}

at_status predict_space(session *s, const predict_options *o, prediction *out, at_error *error)
{
    uint64_t count = space_count(s->space);
    feeder f = {.session = s, .options = o, .total = most_predicted(o, count)};
    *out = (prediction){.count = count};
    if (count > PREDICT_MAX_CONFIGURATIONS)
        return error_set(error, AT_USAGE,
                         "a model can order spaces of up to %d configurations, and this one has "
                         "%" PRIu64 ": leave --strategy out, or narrow the space",
                         PREDICT_MAX_CONFIGURATIONS, count);
    out->times_ns = memory_new((size_t)count, sizeof *out->times_ns);
    for (uint64_t i = 0; i < count; i++)
        out->times_ns[i] = NAN;
    at_status status = feeder_init(&f, out->times_ns, error);
    if (!status)
        status = feed(&f, out, error);
    feeder_deinit(&f);
    return status;
}

void prediction_deinit(prediction *p)
{
    free(p->times_ns);
    *p = (prediction){0};
}
