/* A program with ten tuning sites and changing shapes, tuned while it works, beside the same
 * program tuned by hand; on a GPU (tests/bench/sites.sh).
 *
 *     sites CUBIN FOLDER [steps] [threads] [ranks]
 *
 * Tuning by hand: every configuration of every site and shape is timed in the program, in rounds,
 * by events in one stream. The differences of these times are the differences of launches. Prints
 * these figures, and fails if one exceeds its limit:
 *   - the difference of each decision from the fastest by hand (1 %, or the resolution of the
 *   rounds);
 *   - the time of trials beyond the default's, as a share of all launches' time (2 %);
 *   - the slowest launch that was not a trial, divided by the default (1.02);
 *   - the time of a step with the decisions divided by that with the choices by hand, in
 *   interleaved blocks of steps (1.01). */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autotune.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/stats.h"
#include "cuda/driver.h"

enum {
    SITES = 10,
    SHAPES = 2,
    MOST = 32,
    ROUNDS = 61,
    MOST_THREADS = 8,
    MOST_RANKS = 8,
    FLOATS = 1 << 24
};

typedef enum family { AXPY, ROWSUM, STENCIL, TRANSPOSE, MATMUL, FAMILIES } family;

typedef struct kind {
    const char *const names[2]; /* values of the two parameters */
    int64_t values[2][8];
    size_t counts[2];
} kind;

static const kind kinds[FAMILIES] = {
    [AXPY] = {{"block", "vec"}, {{256, 64, 128, 512, 1024}, {1, 2, 4}}, {5, 3}},
    [ROWSUM] = {{"block", "vec"}, {{1024, 32, 64, 128, 256, 512}, {1, 2, 4}}, {6, 3}},
    [STENCIL] = {{"width", "height"}, {{16, 32, 64, 128, 256}, {16, 1, 2, 4, 8}}, {5, 5}},
    [TRANSPOSE] = {{"tile", "shape"}, {{16, 32}, {40, 41, 80, 81, 160, 161}}, {2, 6}},
    [MATMUL] = {{"tile", "rows"}, {{16, 32}, {1, 2, 4, 8}}, {2, 4}},
};

typedef struct place {
    const char *name;
    family family;
    int64_t shapes[SHAPES];
} place;

static const place places[SITES] = {
    {"axpy_a", AXPY, {1 << 22, 1 << 20}},     {"axpy_b", AXPY, {1 << 24, 3 << 20}},
    {"rowsum_a", ROWSUM, {256, 4096}},        {"rowsum_b", ROWSUM, {1024, 65536}},
    {"stencil_a", STENCIL, {1024, 2048}},     {"stencil_b", STENCIL, {3000, 4000}},
    {"transpose_a", TRANSPOSE, {1024, 2048}}, {"transpose_b", TRANSPOSE, {3072, 4096}},
    {"matmul_a", MATMUL, {256, 384}},         {"matmul_b", MATMUL, {512, 640}},
};

typedef struct launch {
    CUfunction function;
    unsigned grid[3], block[3];
    int size;
    float a;
    int pointers; /* pointer arguments: 2 (in, out) or 3 (a, b, c) */
    bool valid;
} launch;

typedef struct bench {
    cuda_driver cuda;
    CUcontext context;
    CUmodule module;
    launch launches[SITES][SHAPES][MOST];
    size_t count[SITES];
    double hand_ns[SITES][SHAPES][MOST];
    size_t best[SITES][SHAPES];
    int failures;
} bench;

/* A stream and its data, on which one thread launches. */
typedef struct lane {
    CUstream stream;
    CUdeviceptr data[3];
    /* Sums of the times by hand: of all launches, and of trials beyond the default's time.
     * `slowest` is the slowest launch that is not a trial, divided by the default. */
    double all_ns, extra_ns, slowest;
    uint64_t trials, launches, sequence;
    double host_ns; /* the host's time in begin and end */
} lane;

static void check(const bench *b, CUresult result, const char *what)
{
    at_error error = {0};
    if (cuda_check(&b->cuda, result, AT_DEVICE, what, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
}

static void must(at_status status, const at_error *error)
{
    if (status) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

/* ---- launches ---- */

static launch launch_of(bench *b, const place *p, int64_t n, int64_t first, int64_t second)
{
    launch l = {.size = (int)n, .a = 0.5f, .pointers = 2, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    char name[64];
    unsigned u = (unsigned)n, f = (unsigned)first, s = (unsigned)second;
    switch (p->family) {
    case AXPY:
        snprintf(name, sizeof name, "axpy_%u", s);
        l.block[0] = f;
        l.grid[0] = (u / s + f - 1) / f;
        break;
    case ROWSUM:
        snprintf(name, sizeof name, "rowsum_%u", s);
        l.block[0] = f;
        l.grid[0] = FLOATS / 2 / u;
        break;
    case STENCIL:
        snprintf(name, sizeof name, "stencil");
        l.block[0] = f;
        l.block[1] = s;
        l.grid[0] = (u + f - 1) / f;
        l.grid[1] = (u + s - 1) / s;
        break;
    case TRANSPOSE:
        snprintf(name, sizeof name, "transpose_%u_%u_%u", f, s / 10, s % 10);
        l.block[0] = f;
        l.block[1] = s / 10;
        l.grid[0] = l.grid[1] = u / f;
        break;
    default:
        snprintf(name, sizeof name, "matmul_%u_%u", f, s);
        l.block[0] = f;
        l.block[1] = f / s;
        l.grid[0] = l.grid[1] = u / f;
        l.pointers = 3;
        break;
    }
    l.valid = l.block[0] * l.block[1] <= 1024 &&
              b->cuda.cuModuleGetFunction(&l.function, b->module, name) == CUDA_SUCCESS;
    return l;
}

static void run(const bench *b, const launch *l, const lane *t, bool is_axpy)
{
    int size = l->size;
    float a = l->a;
    CUdeviceptr data[3] = {t->data[0], t->data[1], t->data[2]};
    void *arguments[4] = {&size};
    int n = 1;
    if (is_axpy)
        arguments[n++] = &a;
    for (int i = 0; i < l->pointers; i++)
        arguments[n++] = &data[i];
    check(b,
          b->cuda.cuLaunchKernel(l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                                 l->block[1], l->block[2], 0, t->stream, arguments, NULL),
          "launch");
}

static void open_device(bench *b, const char *cubin, int ordinal)
{
    at_error error = {0};
    CUdevice device;
    char *image;
    int count = 1;
    must(cuda_driver_open(&b->cuda, &error), &error);
    must(file_read(cubin, 64 << 20, &image, NULL, &error), &error);
    check(b, b->cuda.cuDeviceGetCount(&count), "count");
    check(b, b->cuda.cuDeviceGet(&device, ordinal % count), "device");
    check(b, b->cuda.cuDevicePrimaryCtxRetain(&b->context, device), "context");
    check(b, b->cuda.cuCtxSetCurrent(b->context), "context");
    check(b, b->cuda.cuModuleLoadData(&b->module, image), "module");
    free(image);
    for (size_t s = 0; s < SITES; s++) {
        const kind *k = &kinds[places[s].family];
        b->count[s] = k->counts[0] * k->counts[1];
        for (size_t h = 0; h < SHAPES; h++)
            for (size_t i = 0; i < b->count[s]; i++)
                b->launches[s][h][i] =
                    launch_of(b, &places[s], places[s].shapes[h], k->values[0][i / k->counts[1]],
                              k->values[1][i % k->counts[1]]);
    }
}

static lane open_lane(const bench *b)
{
    lane t = {0};
    check(b, b->cuda.cuCtxSetCurrent(b->context), "context");
    check(b, b->cuda.cuStreamCreate(&t.stream, CU_STREAM_NON_BLOCKING), "stream");
    for (int i = 0; i < 3; i++) {
        check(b, b->cuda.cuMemAlloc(&t.data[i], FLOATS * sizeof(float)), "memory");
        check(b, b->cuda.cuMemsetD8Async(t.data[i], 0, FLOATS * sizeof(float), t.stream), "memory");
    }
    check(b, b->cuda.cuStreamSynchronize(t.stream), "memory");
    return t;
}

/* ---- by hand ---- */

/* The launches of several steps that are in flight. */
typedef struct flight {
    CUevent first, last;
    size_t site, shape, configuration;
} flight;

static double land(const bench *b, const flight *f)
{
    float ms;
    check(b, b->cuda.cuEventElapsedTime(&ms, f->first, f->last), "time");
    return (double)ms * 1e6;
}

/* Times every configuration of every site and shape within the program. The other sites run their
 * own configurations in turn. */
static void tune_by_hand(bench *b, const lane *t)
{
    enum { STEPS = 16 };
    static flight flights[STEPS * SITES];
    static double times[SITES][SHAPES][MOST][ROUNDS];
    static int taken[SITES][SHAPES][MOST];
    size_t flying = 0;
    for (size_t i = 0; i < STEPS * SITES; i++) {
        check(b, b->cuda.cuEventCreate(&flights[i].first, CU_EVENT_DEFAULT), "event");
        check(b, b->cuda.cuEventCreate(&flights[i].last, CU_EVENT_DEFAULT), "event");
    }
    for (int r = -2; r < ROUNDS; r++)
        for (size_t turn = 0; turn < SHAPES * MOST; turn++) {
            for (size_t s = 0; s < SITES; s++) {
                size_t h = turn % SHAPES, i = (turn / SHAPES + 5 * s + (size_t)(r + 2)) % MOST;
                const launch *l = &b->launches[s][h][i < b->count[s] ? i : 0];
                flight *f = &flights[flying];
                if (!l->valid)
                    l = &b->launches[s][h][0];
                f->site = s;
                f->shape = h;
                f->configuration = (size_t)(l - b->launches[s][h]);
                check(b, b->cuda.cuEventRecord(f->first, t->stream), "event");
                run(b, l, t, places[s].family == AXPY);
                check(b, b->cuda.cuEventRecord(f->last, t->stream), "event");
                flying++;
            }
            if (flying < STEPS * SITES)
                continue;
            check(b, b->cuda.cuStreamSynchronize(t->stream), "wait");
            for (size_t k = 0; k < flying; k++) {
                const flight *f = &flights[k];
                int *n = &taken[f->site][f->shape][f->configuration];
                if (r >= 0 && *n < ROUNDS)
                    times[f->site][f->shape][f->configuration][(*n)++] = land(b, f);
            }
            flying = 0;
        }
    for (size_t s = 0; s < SITES; s++)
        for (size_t h = 0; h < SHAPES; h++)
            for (size_t i = 0; i < b->count[s]; i++) {
                int n = taken[s][h][i];
                b->hand_ns[s][h][i] = n ? stats_median(times[s][h][i], (size_t)n) : INFINITY;
                if (b->hand_ns[s][h][i] < b->hand_ns[s][h][b->best[s][h]])
                    b->best[s][h] = i;
            }
}

/* ---- the program ---- */

static int may(void *context, const at_variable *values, size_t count)
{
    const place *p = context;
    (void)count;
    int64_t f = values[0].integer, s = values[1].integer;
    if (p->family == STENCIL)
        return f * s <= 1024;
    if (p->family == TRANSPOSE)
        return f * (s / 10) <= 1024;
    return p->family != MATMUL || (f == 16 ? s <= 4 : s >= 2);
}

static at_site *site_of(at_sites *sites, size_t s, size_t h)
{
    const kind *k = &kinds[places[s].family];
    const at_variable n = at_integer("n", places[s].shapes[h]);
    const at_parameter parameters[] = {at_integers(k->names[0], k->values[0], k->counts[0]),
                                       at_integers(k->names[1], k->values[1], k->counts[1])};
    at_site *site;
    at_error error;
    must(at_site_open(sites, places[s].name, &n, 1, parameters, 2, &site, &error), &error);
    return site;
}

/* Calls a site, launches its choice, and adds the launch's time, as measured by hand, to `t`. */
static void call(const bench *b, lane *t, at_site *site, size_t s, size_t h)
{
    at_values v;
    at_error error;
    int64_t a_ns = clock_now_ns();
    must(at_site_begin(site, t->stream, &v, &error), &error);
    int64_t b_ns = clock_now_ns();
    run(b, &b->launches[s][h][v.configuration], t, places[s].family == AXPY);
    int64_t c_ns = clock_now_ns();
    must(at_site_end(site, t->stream, &v, &error), &error);
    t->host_ns += (double)(clock_now_ns() - c_ns + b_ns - a_ns);
    const double *hand = b->hand_ns[s][h];
    double mine = hand[v.configuration];
    t->launches++;
    t->all_ns += mine;
    t->sequence = t->sequence * 6364136223846793005u + v.configuration + 1;
    if (v.ticket) {
        t->trials++;
        t->extra_ns += mine > hand[0] ? mine - hand[0] : 0;
    } else if (mine / hand[0] > t->slowest) {
        t->slowest = mine / hand[0];
    }
}

static void work(const bench *b, lane *t, at_sites *sites, int steps, int first)
{
    check(b, b->cuda.cuCtxSetCurrent(b->context), "context");
    for (int i = 0; i < steps; i++) {
        size_t h = (size_t)((i + first) / 7) % SHAPES;
        for (size_t s = 0; s < SITES; s++)
            call(b, t, site_of(sites, s, h), s, h);
        if (i % 16 == 15)
            check(b, b->cuda.cuStreamSynchronize(t->stream), "wait");
    }
    check(b, b->cuda.cuStreamSynchronize(t->stream), "wait");
}

typedef struct worker {
    pthread_t id;
    const bench *bench;
    at_sites *sites;
    lane lane;
    int steps, number;
} worker;

static void *work_as_thread(void *context)
{
    worker *w = context;
    work(w->bench, &w->lane, w->sites, w->steps, w->number);
    return NULL;
}

static at_sites *open_sites(const char *folder, const at_sites_options *ranks)
{
    at_sites_options options = ranks ? *ranks : (at_sites_options){0};
    at_sites *sites;
    at_error error;
    options.folder = folder;
    options.code = "bench";
    must(at_sites_open(&options, &sites, &error), &error);
    at_error none;
    for (size_t s = 0; s < SITES; s++)
        for (size_t h = 0; h < SHAPES; h++)
            must(at_site_restrict(site_of(sites, s, h), may, (void *)(uintptr_t)&places[s], &none),
                 &none);
    return sites;
}

/* ---- results ---- */

static void expect(bench *b, bool holds, const char *what)
{
    if (!holds) {
        printf("FAILED: %s\n", what);
        b->failures++;
    }
}

typedef struct fixed {
    pthread_t id;
    const bench *bench;
    const lane *lane;
    size_t (*choice)[SHAPES];
} fixed;

static void *work_fixed(void *context)
{
    enum { STEPS = 28 };
    const fixed *f = context;
    check(f->bench, f->bench->cuda.cuCtxSetCurrent(f->bench->context), "context");
    for (int i = 0; i < STEPS; i++)
        for (size_t s = 0; s < SITES; s++) {
            size_t h = (size_t)(i / 7) % SHAPES;
            run(f->bench, &f->bench->launches[s][h][f->choice[s][h]], f->lane,
                places[s].family == AXPY);
        }
    check(f->bench, f->bench->cuda.cuStreamSynchronize(f->lane->stream), "wait");
    return NULL;
}

/* Times steps with the decisions and with the choices by hand, in interleaved blocks. Returns the
 * ratio of the two times. */
static double compare_programs(const bench *b, const lane *lanes, size_t count,
                               size_t chosen[SITES][SHAPES], size_t other[SITES][SHAPES])
{
    enum { PAIRS = 41 };
    double ratios[PAIRS];
    fixed threads[MOST_THREADS];
    for (int p = 0; p < PAIRS; p++) {
        double ns[2];
        for (int turn = 0; turn < 2; turn++) {
            int side = (turn + p) % 2;
            for (size_t i = 0; i < count; i++)
                threads[i] =
                    (fixed){.bench = b, .lane = &lanes[i], .choice = side ? chosen : other};
            int64_t before_ns = clock_now_ns();
            for (size_t i = 1; i < count; i++)
                pthread_create(&threads[i].id, NULL, work_fixed, &threads[i]);
            work_fixed(&threads[0]);
            for (size_t i = 1; i < count; i++)
                pthread_join(threads[i].id, NULL);
            ns[side] = (double)(clock_now_ns() - before_ns);
        }
        ratios[p] = ns[1] / ns[0];
    }
    return stats_median(ratios, PAIRS);
}

/* Returns the time that a pair of events around each launch adds to a busy stream. */
static double event_pair_ns(const bench *b, const lane *t)
{
    enum { LAUNCHES = 64, TIMES = 21 };
    CUevent events[2 + 2 * LAUNCHES];
    double ns[2][TIMES];
    for (int i = 0; i < 2 + 2 * LAUNCHES; i++)
        check(b, b->cuda.cuEventCreate(&events[i], CU_EVENT_DEFAULT), "event");
    for (int k = 0; k < 2 * TIMES; k++) {
        float ms;
        for (int i = 0; i < 8; i++) /* work that keeps the stream busy while the rest is queued */
            run(b, &b->launches[1][0][0], t, true);
        check(b, b->cuda.cuEventRecord(events[0], t->stream), "event");
        for (int i = 0; i < LAUNCHES; i++) {
            if (k % 2)
                check(b, b->cuda.cuEventRecord(events[2 + 2 * i], t->stream), "event");
            run(b, &b->launches[0][0][0], t, true);
            if (k % 2)
                check(b, b->cuda.cuEventRecord(events[3 + 2 * i], t->stream), "event");
        }
        check(b, b->cuda.cuEventRecord(events[1], t->stream), "event");
        check(b, b->cuda.cuStreamSynchronize(t->stream), "wait");
        check(b, b->cuda.cuEventElapsedTime(&ms, events[0], events[1]), "time");
        ns[k % 2][k / 2] = (double)ms * 1e6 / LAUNCHES;
    }
    for (int i = 0; i < 2 + 2 * LAUNCHES; i++)
        check(b, b->cuda.cuEventDestroy(events[i]), "event");
    return stats_median(ns[1], TIMES) - stats_median(ns[0], TIMES);
}

static void judge(bench *b, const char *title, at_sites *sites, const lane *lanes, size_t count,
                  double wall_s)
{
    size_t decided = 0, chosen[SITES][SHAPES];
    size_t decided_or_best[SITES][SHAPES]; /* the site's decision, or the best configuration by hand
                                              if there is none */
    double worst = 0, seen = 0, spent = 0, worst_share = 0;
    lane sum = {0};
    for (size_t i = 0; i < count; i++) {
        sum.all_ns += lanes[i].all_ns;
        sum.extra_ns += lanes[i].extra_ns;
        sum.launches += lanes[i].launches;
        sum.trials += lanes[i].trials;
        sum.host_ns += lanes[i].host_ns;
        sum.slowest = lanes[i].slowest > sum.slowest ? lanes[i].slowest : sum.slowest;
    }
    for (size_t s = 0; s < SITES; s++)
        for (size_t h = 0; h < SHAPES; h++) {
            at_site_report r;
            at_error error;
            must(at_site_get(site_of(sites, s, h), &r, &error), &error);
            const double *hand = b->hand_ns[s][h];
            double regret = hand[r.values.configuration] / hand[b->best[s][h]] - 1;
            chosen[s][h] = r.values.configuration;
            bool is_decided = r.state == AT_SITE_DECIDED || r.state == AT_SITE_RECALLED;
            decided_or_best[s][h] = is_decided ? chosen[s][h] : b->best[s][h];
            decided += is_decided;
            worst = regret > worst ? regret : worst;
            seen += (double)r.seen_ns;
            spent += (double)r.spent_ns;
            double share = r.seen_ns ? (double)r.spent_ns / (double)r.seen_ns : 0;
            worst_share = share > worst_share ? share : worst_share;
            if (getenv("SITES_ALL") || regret > 0.01)
                printf("  %-12s %8lld: default %8.2f us, by hand %8.2f us, chosen %8.2f us (%+.2f "
                       "%%), "
                       "calls %llu, trials %llu, state %d\n",
                       places[s].name, (long long)places[s].shapes[h], hand[0] / 1e3,
                       hand[b->best[s][h]] / 1e3, hand[r.values.configuration] / 1e3, 100 * regret,
                       (unsigned long long)r.calls, (unsigned long long)r.trials, (int)r.state);
        }
    size_t defaults[SITES][SHAPES] = {{0}};
    double programs = compare_programs(b, lanes, count, chosen, b->best);
    double gained = compare_programs(b, lanes, count, chosen, defaults);
    double of_decided = compare_programs(b, lanes, count, decided_or_best, b->best);
    printf("%s: %.1f s, %llu launches, %llu timed; decided %zu of %d; worst decision %+.2f %%; "
           "program "
           "over by hand %.4f (%.4f with what is undecided by hand), over defaults %.4f; trials "
           "cost %.2f %% by hand's times, %.2f %% by "
           "its own (a site at "
           "most "
           "%.2f %%); slowest plain launch %.3f of the default; begin and end %.0f ns a launch\n",
           title, wall_s, (unsigned long long)sum.launches, (unsigned long long)sum.trials, decided,
           SITES * SHAPES, 100 * worst, programs, of_decided, gained,
           100 * sum.extra_ns / sum.all_ns, 100 * spent / seen, 100 * worst_share, sum.slowest,
           sum.host_ns / (double)sum.launches);
    expect(b, programs <= 1.01, "the program is within 1 % of that tuned by hand");
    expect(b, sum.extra_ns <= 0.02 * sum.all_ns, "trials cost 2 % at most");
    expect(b, sum.slowest <= 1.02, "no launch beside trials is slower than the default by 2 %");
    expect(b, decided == SITES * SHAPES, "every site is decided");
    for (size_t i = 0; at_sites_problem(sites, i); i++)
        printf("  said: %s\n", at_sites_problem(sites, i));
}

static void try_threads(bench *b, const char *folder, int count, int steps)
{
    static worker workers[MOST_THREADS];
    static lane lanes[MOST_THREADS];
    at_sites *sites = open_sites(folder, NULL);
    int64_t before_ns = clock_now_ns();
    for (int i = 0; i < count; i++) {
        workers[i] = (worker){.bench = b, .sites = sites, .steps = steps / count, .number = 3 * i};
        workers[i].lane = open_lane(b);
        pthread_create(&workers[i].id, NULL, work_as_thread, &workers[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(workers[i].id, NULL);
        lanes[i] = workers[i].lane;
    }
    char title[32];
    snprintf(title, sizeof title, "%d thread%s", count, count > 1 ? "s" : "");
    judge(b, title, sites, lanes, (size_t)count, (double)(clock_now_ns() - before_ns) / 1e9);
    at_sites_close(sites);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            check(b, b->cuda.cuMemFree(lanes[i].data[k]), "memory");
}

/* ---- ranks ---- */

typedef struct world {
    pthread_barrier_t barrier;
    char bytes[4096];
    uint64_t sequences[MOST_RANKS];
    bench table; /* rank 0's times by hand */
} world;

typedef struct member {
    world *world;
    int rank;
} member;

static int broadcast(void *context, void *bytes, size_t size_bytes)
{
    member *m = context;
    if (size_bytes > sizeof m->world->bytes)
        return 1;
    if (m->rank == 0)
        memcpy(m->world->bytes, bytes, size_bytes);
    pthread_barrier_wait(&m->world->barrier);
    if (m->rank != 0)
        memcpy(bytes, m->world->bytes, size_bytes);
    pthread_barrier_wait(&m->world->barrier);
    return 0;
}

static int work_as_rank(world *w, const char *cubin, const char *folder, int rank, int count,
                        int steps)
{
    static bench b;
    member m = {w, rank};
    open_device(&b, cubin, rank);
    lane t = open_lane(&b);
    if (rank == 0)
        tune_by_hand(&b, &t);
    if (rank == 0)
        w->table = b;
    pthread_barrier_wait(&w->barrier);
    memcpy(b.hand_ns, w->table.hand_ns, sizeof b.hand_ns);
    memcpy(b.best, w->table.best, sizeof b.best);
    at_sites *sites = open_sites(
        folder, &(at_sites_options){.broadcast = broadcast, .context = &m, .rank = rank});
    int64_t before_ns = clock_now_ns();
    work(&b, &t, sites, steps, 0);
    double wall_s = (double)(clock_now_ns() - before_ns) / 1e9;
    w->sequences[rank] = t.sequence;
    pthread_barrier_wait(&w->barrier);
    if (rank == 0) {
        char title[32];
        snprintf(title, sizeof title, "%d ranks", count);
        judge(&b, title, sites, &t, 1, wall_s);
        for (int i = 1; i < count; i++)
            expect(&b, w->sequences[i] == w->sequences[0], "all ranks used the same values");
    }
    pthread_barrier_wait(&w->barrier);
    at_sites_close(sites);
    return b.failures;
}

static int try_ranks(const char *cubin, const char *folder, int count, int steps)
{
    world *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&w->barrier, &shared, (unsigned)count);
    int failures = 0;
    for (int i = 0; i < count; i++)
        if (fork() == 0) {
            int failed = work_as_rank(w, cubin, folder, i, count, steps);
            fflush(stdout);
            _exit(failed ? 1 : 0);
        }
    for (int i = 0; i < count; i++) {
        int status;
        wait(&status);
        failures += status != 0;
    }
    return failures;
}

int main(int argc, char **argv)
{
    static bench b;
    if (argc < 3) {
        fprintf(stderr, "usage: sites CUBIN FOLDER [steps] [threads] [ranks]\n");
        return 2;
    }
    int steps = argc > 3 ? atoi(argv[3]) : 20000, threads = argc > 4 ? atoi(argv[4]) : 8;
    int ranks = argc > 5 ? atoi(argv[5]) : 4;
    char folder[3][4096];
    for (int i = 0; i < 3; i++)
        snprintf(folder[i], sizeof folder[i], "%s/%d", argv[2], i);
    setvbuf(stdout, NULL, _IOLBF, 0);
    /* This comes before the process has a context, because a forked process could not use one. */
    int failures = ranks > 1 ? try_ranks(argv[1], folder[2], ranks, steps) : 0;
    open_device(&b, argv[1], 0);
    lane t = open_lane(&b);
    tune_by_hand(&b, &t);
    printf("a pair of events takes %.0f ns of a busy stream\n", event_pair_ns(&b, &t));
    try_threads(&b, folder[0], 1, steps);
    if (threads > 1)
        try_threads(&b, folder[1], threads < MOST_THREADS ? threads : MOST_THREADS, 2 * steps);
    return failures || b.failures ? 1 : 0;
}
