#include "run/tables.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cubin_image.h"
#include "script_fixture.h"

tables the_tables;

static bool fails(at_error *error, at_status *status)
{
    if (++the_tables.calls != the_tables.fail_at)
        return false;
    *status = error_set(error, the_tables.failure, "as the table says");
    return true;
}

/* ---- the compiler ---- */

typedef struct result_link {
    struct result_link *next;
    compile_result result;
} result_link;

struct compile_pool {
    result_link *first;
    size_t count;
};

at_status compile_pool_new(const compile_options *options, compile_pool **out, at_error *error)
{
    at_status status;
    (void)options;
    *out = NULL;
    if (fails(error, &status))
        return status;
    *out = calloc(1, sizeof **out);
    return *out ? AT_OK : AT_NO_MEMORY;
}

void compile_result_deinit(compile_result *r)
{
    free(r->cubin);
    free(r->ptx);
    free(r->log);
    free(r->symbols);
    *r = (compile_result){0};
}

void compile_pool_kill(const compile_pool *pool)
{
    (void)pool;
}

void compile_pool_free(compile_pool *pool)
{
    while (pool && pool->first) {
        result_link *next = pool->first->next;
        compile_result_deinit(&pool->first->result);
        free(pool->first);
        pool->first = next;
    }
    free(pool);
}

at_status compile_submit(compile_pool *pool, const compile_request *request, at_error *error)
{
    at_status status;
    if (fails(error, &status))
        return status;
    result_link *link = calloc(1, sizeof *link), **at = &pool->first;
    /* Helper kernels of the device have ids above those of variants, and use variant 0. */
    size_t variant = request->id >> 62 ? 0 : (size_t)(request->id / DEVICE_SLOTS) % TABLES_MOST;
    link->result = (compile_result){.id = request->id,
                                    .outcome = the_tables.compiles[variant],
                                    .resources = {.registers = 32},
                                    .time_ns = 1000000};
    if (link->result.outcome == COMPILE_OK) {
        unsigned code = the_tables.codes[variant];
        link->result.cubin = code ? malloc(CUBIN_IMAGE_BYTES) : strdup("cubin");
        link->result.cubin_bytes = code ? CUBIN_IMAGE_BYTES : 6;
        if (code)
            cubin_image_make(link->result.cubin, request->entry, code);
        link->result.symbols = strdup(request->entry);
        link->result.ptx = request->want_ptx ? strdup("ptx") : NULL;
        link->result.ptx_bytes = request->want_ptx ? 3 : 0;
    } else {
        link->result.log = strdup("the table refuses it");
    }
    while (!the_tables.last_first && *at)
        at = &(*at)->next;
    link->next = *at;
    *at = link;
    pool->count++;
    the_tables.compiled++;
    if (pool->count > the_tables.most_compiling)
        the_tables.most_compiling = pool->count;
    return AT_OK;
}

at_status compile_take(compile_pool *pool, int timeout_ms, compile_result *out, at_error *error)
{
    at_status status;
    (void)timeout_ms;
    result_link *link = pool->first;
    if (!link)
        return error_set(error, AT_NOT_FOUND, "nothing finished");
    if (fails(error, &status))
        return status;
    *out = link->result;
    pool->first = link->next;
    pool->count--;
    free(link);
    return AT_OK;
}

void compile_prioritise(compile_pool *pool)
{
    (void)pool;
}

size_t compile_pending(const compile_pool *pool)
{
    return pool->count;
}

size_t compile_width(const compile_pool *pool)
{
    (void)pool;
    return the_tables.workers ? the_tables.workers : 2;
}

size_t compile_group_width(const compile_pool *pool)
{
    return 8 * compile_width(pool);
}

void compile_poll(const compile_pool *pool, poll_set *set)
{
    poll_set_shorten(set, pool->count ? 0 : -1);
}

const char *compile_nvrtc_version(const compile_pool *pool)
{
    (void)pool;
    return "13.0";
}

const char *compile_warning(const compile_pool *pool)
{
    (void)pool;
    return the_tables.warning;
}

const char *compile_outcome_name(compile_outcome o)
{
    static const char *const names[] = {"ok", "compile_error", "crashed", "timeout"};
    return names[o];
}

/* ---- the device ---- */

typedef struct table_event {
    struct table_event *next;
    device_event event;
    uint64_t number;
    bool claimed;
} table_event;

struct device_worker {
    bool simulated; /* a worker of the prover, whose requests all succeed */
    bool elsewhere; /* a worker on a GPU other than cuda:0 */
    bool idle;
    uint64_t asked;
    table_event *first;
};

static const device_properties properties = {
    .kind = "cuda",
    .spec = "cuda:0",
    .uuid = "GPU-0",
    .driver = "1.0",
    .arch = "sm_90",
    .limits = {.name = "NVIDIA Table",
               .major = 9,
               .sm_count = 4,
               .warp_size = 32,
               .max_threads_per_block = 1024,
               .max_threads_per_sm = 2048,
               .max_blocks_per_sm = 32,
               .registers_per_sm = 65536,
               .max_registers_per_thread = 255,
               .register_unit = 256,
               .shared_per_sm_bytes = 233472,
               .max_shared_per_block_bytes = 232448,
               .shared_unit_bytes = 128},
};

static void push(device_worker *w, device_event e)
{
    table_event *link = calloc(1, sizeof *link), **at = &w->first;
    e.restarts = the_tables.restarts;
    e.message = strdup(e.outcome == OUTCOME_OK ? "" : "as the table says");
    *link = (table_event){.event = e, .number = ++w->asked};
    while (*at)
        at = &(*at)->next;
    *at = link;
}

static int64_t *samples_of(const device_worker *w, uint64_t id, size_t count)
{
    int64_t *samples_ns = calloc(count + 1, sizeof *samples_ns);
    int64_t elsewhere_ns = w->elsewhere ? the_tables.elsewhere_ns[id % TABLES_MOST] : 0;
    int64_t time_ns = elsewhere_ns ? elsewhere_ns : the_tables.time_ns[id % TABLES_MOST];
    int64_t more_ns = the_tables.more_ns ? the_tables.more_ns : 1;
    for (size_t i = 0; i < count; i++)
        samples_ns[i] =
            (time_ns ? time_ns : 100000 + 1000 * (int64_t)id) + more_ns * (int64_t)(i % 3);
    return samples_ns;
}

at_status device_worker_start(const device_worker_options *options, device_worker **out,
                              at_error *error)
{
    at_status status;
    *out = NULL;
    if (fails(error, &status))
        return status;
    *out = calloc(1, sizeof **out);
    (*out)->simulated = strncmp(options->spec, "sim", 3) == 0;
    (*out)->elsewhere = strcmp(options->spec, "cuda:0") != 0;
    if (the_tables.no_device)
        push(*out, (device_event){.kind = DEVICE_FAILED, .status = AT_NO_DEVICE});
    else
        push(*out, (device_event){.kind = DEVICE_OPENED, .properties = properties});
    return AT_OK;
}

void device_worker_begin(device_worker *w)
{
    (void)w;
}

uint64_t device_worker_permille(const device_worker *w)
{
    (void)w;
    return 0;
}

bool device_worker_is_unstarted(const device_worker *w)
{
    (void)w;
    return false;
}

bool device_worker_is_opening(const device_worker *w)
{
    (void)w;
    return false;
}

void device_worker_kill(const device_worker *w)
{
    (void)w;
}

void device_worker_free(device_worker *w)
{
    while (w && w->first) {
        table_event *next = w->first->next;
        device_event_deinit(&w->first->event);
        free(w->first);
        w->first = next;
    }
    free(w);
}

void device_worker_poll(const device_worker *w, poll_set *set)
{
    poll_set_shorten(set, w->first ? 0 : -1);
}

size_t device_worker_pending(const device_worker *w)
{
    size_t count = 0;
    for (const table_event *e = w->first; e; e = e->next)
        count++;
    return count;
}

void device_worker_watch(device_worker *w)
{
    (void)w;
}

static at_status pop(device_worker *w, bool claimed, uint64_t number, device_event *out,
                     at_error *error)
{
    at_status status;
    table_event **at = &w->first;
    while (*at && ((*at)->claimed != claimed || (claimed && (*at)->number != number)))
        at = &(*at)->next;
    if (!*at)
        return error_set(error, AT_NOT_FOUND, "no event");
    if (fails(error, &status))
        return status;
    table_event *link = *at;
    *out = link->event;
    *at = link->next;
    free(link);
    return AT_OK;
}

at_status device_worker_take(device_worker *w, int timeout_ms, device_event *out, at_error *error)
{
    w->idle = !w->idle;
    if (the_tables.slow && w->idle && timeout_ms >= 0)
        return error_set(error, AT_NOT_FOUND, "not yet");
    return pop(w, false, 0, out, error);
}

device_question device_worker_claim(device_worker *w)
{
    table_event *last = w->first;
    while (last->next)
        last = last->next;
    last->claimed = true;
    return (device_question){.kind = last->event.kind, .number = last->number};
}

at_status device_worker_await(device_worker *w, device_question question, int timeout_ms,
                              device_event *out, at_error *error)
{
    (void)timeout_ms;
    if (the_tables.silent && question.kind == DEVICE_BLOCK)
        return error_set(error, AT_NOT_FOUND, "never");
    return pop(w, true, question.number, out, error);
}

at_status device_worker_results(device_worker *w, uint32_t layout, uint32_t slot, at_error *error)
{
    (void)w, (void)layout, (void)slot, (void)error;
    return AT_OK;
}

at_status device_worker_compare(device_worker *w, uint32_t layout, uint32_t slot,
                                const void *results, size_t results_bytes, at_error *error)
{
    (void)w, (void)layout, (void)slot, (void)results, (void)results_bytes, (void)error;
    return AT_OK;
}

at_status device_worker_data(device_worker *w, data_file *f, uint64_t size_bytes, at_error *error)
{
    (void)w, (void)f, (void)size_bytes, (void)error;
    return AT_OK;
}

at_status device_worker_setup(device_worker *w, const device_image support[DEVICE_SUPPORT_PARTS],
                              const device_problem *slots, size_t count, at_error *error)
{
    at_status status;
    (void)support, (void)slots, (void)count;
    if (fails(error, &status))
        return status;
    push(w, (device_event){.kind = DEVICE_READY,
                           .ceiling_ns = 90000,
                           .ready = {.floor_ns = 1000,
                                     .tick_ns = 32,
                                     .reference_ns = 200000,
                                     .watchdog_ns = 1000000000,
                                     .batch = 1,
                                     .buffer_sets = 1,
                                     .sm_clock_khz = 1980000}});
    return AT_OK;
}

at_status device_worker_try(device_worker *w, uint64_t id, const device_variant *variant,
                            size_t sample_count, at_error *error)
{
    at_status status;
    bool ragged = !variant->present[0];
    if (fails(error, &status))
        return status;
    outcome what = w->simulated ? OUTCOME_OK
                   : ragged     ? the_tables.ragged[id % TABLES_MOST]
                                : the_tables.works[id % TABLES_MOST];
    size_t count = the_tables.samples ? the_tables.samples : sample_count;
    device_event slow = {.samples_ns = samples_of(w, id, 1)};
    bool left = variant->too_slow_ns > 0 && slow.samples_ns[0] > variant->too_slow_ns;
    device_event_deinit(&slow);
    if (left)
        what = OUTCOME_TOO_SLOW;
    count = what == OUTCOME_OK ? count : left;
    the_tables.left += left;
    the_tables.checked += !w->simulated && ragged;
    the_tables.tried += !w->simulated && !ragged;
    if (the_tables.interrupt_at && the_tables.tried == the_tables.interrupt_at && !ragged)
        raise(SIGINT);
    push(w, (device_event){.kind = DEVICE_TRIED,
                           .id = id,
                           .outcome = what,
                           .check_ns = 5000,
                           .measure_ns = 7000,
                           .samples_ns = samples_of(w, id, count),
                           .sample_count = count});
    return AT_OK;
}

at_status device_worker_hold(device_worker *w, uint64_t id, const device_variant *variant,
                             at_error *error)
{
    at_status status;
    if (fails(error, &status))
        return status;
    the_tables.held++;
    the_tables.unchecked += variant->unchecked;
    push(w, (device_event){.kind = DEVICE_HELD,
                           .id = id,
                           .outcome = variant->unchecked ? the_tables.ragged[id % TABLES_MOST]
                                                         : OUTCOME_OK});
    return AT_OK;
}

at_status device_worker_release(device_worker *w, uint64_t id, at_error *error)
{
    (void)w, (void)id, (void)error;
    return AT_OK;
}

at_status device_worker_block(device_worker *w, const uint64_t *ids, size_t count, bool with_copy,
                              at_error *error)
{
    at_status status;
    if (fails(error, &status))
        return status;
    device_event e = {.kind = DEVICE_BLOCK,
                      .ids = calloc(count + 1, sizeof *ids),
                      .sm_clock_khz = 1980000,
                      .ceiling_ns = with_copy ? 90000 : 0};
    memcpy(e.ids, ids, count * sizeof *ids);
    for (size_t i = 0; i < count && e.outcome == OUTCOME_OK; i++) {
        e.outcome = w->elsewhere && the_tables.blocks_elsewhere
                        ? the_tables.blocks_elsewhere
                        : the_tables.blocks[ids[i] % TABLES_MOST];
        e.id = ids[i];
    }
    if (e.outcome == OUTCOME_OK) {
        e.samples_ns = calloc(count + 1, sizeof *e.samples_ns);
        e.sample_count = count;
        for (size_t i = 0; i < count; i++) {
            int64_t *one = samples_of(w, ids[i], 3);
            e.samples_ns[i] = one[the_tables.sampled_blocks % 3];
            free(one);
        }
    }
    the_tables.sampled_blocks++;
    the_tables.sampled_elsewhere += w->elsewhere;
    push(w, e);
    return AT_OK;
}

at_status device_worker_recheck(device_worker *w, uint64_t id, uint64_t seed, at_error *error)
{
    at_status status;
    (void)seed;
    if (fails(error, &status))
        return status;
    the_tables.rechecked++;
    push(w, (device_event){.kind = DEVICE_RECHECKED,
                           .id = id,
                           .outcome = the_tables.rechecks[id % TABLES_MOST]});
    return AT_OK;
}

at_status device_worker_energy(device_worker *w, uint64_t id, uint32_t chunks, at_error *error)
{
    at_status status;
    (void)id, (void)chunks;
    if (fails(error, &status))
        return status;
    push(w, (device_event){.kind = DEVICE_ENERGY});
    return AT_OK;
}

at_status device_worker_list_on(const worker_host *host, const char *kind, device_properties *out,
                                size_t capacity, size_t *count, at_error *error)
{
    (void)host;
    return device_worker_list(kind, out, capacity, count, error);
}

at_status device_worker_list(const char *kind, device_properties *out, size_t capacity,
                             size_t *count, at_error *error)
{
    (void)kind, (void)out, (void)capacity;
    *count = 0;
    return error_set(error, AT_NO_DEVICE, "tables are not listed");
}

/* ---- sessions ---- */

void tables_open(session *s)
{
    tables_open_with(s, "scale.lua");
}

void tables_open_with(session *s, const char *name)
{
    char path[512];
    at_error error = {0};
    script_options options = fixture_options();
    const compile_options compiler = {0};
    int fail_at = the_tables.fail_at;
    the_tables.fail_at = 0;
    options.device = properties.limits;
    *s = (session){.own = {.properties = properties}, .workers = &s->own, .slots = 1};
    assert_ok(compile_pool_new(&compiler, &s->workers->pool, &error), error);
    assert_ok(device_worker_start(&(device_worker_options){.spec = "cuda:0"}, &s->workers->device,
                                  &error),
              error);
    device_event opened;
    assert_ok(device_worker_take(s->workers->device, 0, &opened, &error), error);
    device_event_deinit(&opened);
    snprintf(path, sizeof path, "%s/tests/fixtures/%s", TEST_SOURCE_DIR, name);
    assert_ok(script_load(path, &options, &s->script, &error), error);
    assert_ok(script_space(s->script, PROBLEM_TUNED, &s->space, &error), error);
    assert_ok(problem_set_init(&s->problems, s->script, s->space, &(problem_kind){PROBLEM_TUNED}, 1,
                               &error),
              error);
    s->problems.kinds[1] = PROBLEM_RAGGED; /* for tests that set s->slots to 2 */
    assert_true(space_count(s->space) < TABLES_MOST);
    assert_ok(device_worker_setup(s->workers->device, NULL, NULL, 1, &error), error);
    the_tables.fail_at = fail_at;
    the_tables.calls = 0;
}

void tables_close(session *s)
{
    session_deinit(s);
    the_tables = (tables){0};
}

at_status tables_try_all(pipeline *p, const session *s, at_error *error)
{
    at_status status = AT_OK;
    for (uint64_t next = 0; !status && (next < space_count(s->space) || pipeline_in_flight(p));) {
        if (next < space_count(s->space) && pipeline_room(p))
            status = pipeline_add(p, next++, error);
        else
            status = pipeline_step(p, 0, error);
    }
    return status;
}

journal *tables_journal(const session *s, const char *folder)
{
    journal *j;
    at_error error = {0};
    assert_ok(journal_open(folder,
                           &(journal_facts){.pattern = script_pattern(s->script)->name,
                                            .device = &s->workers->properties,
                                            .nvrtc_version = "13.0",
                                            .problems = s->problems.plans,
                                            .problem_count = 1,
                                            .reference_hash = ""},
                           &j, &error),
              error);
    return j;
}

int tables_run_open(void **state, const char *name)
{
    static tables_run r;
    r = (tables_run){0};
    temporary_make(r.folder);
    snprintf(r.results, sizeof r.results, "%s/results", r.folder);
    snprintf(r.script, sizeof r.script, "%s/tests/fixtures/%s", TEST_SOURCE_DIR, name);
    setenv("XDG_STATE_HOME", r.folder, 1);
    setenv("AUTOTUNE_SHARE", TEST_BINARY_DIR "/share/autotune", 1);
    r.settings = (settings){.pattern.script = r.script,
                            .machine.device = "cuda:0",
                            .search.seed = 1,
                            .race.tie_margin = -1,
                            .results.results_dir = r.results,
                            .quiet = true};
    the_tables = (tables){0};
    *state = &r;
    return 0;
}

int tables_run_close(void **state)
{
    tables_run *r = *state;
    tune_free(r->tune);
    temporary_remove(r->folder);
    the_tables = (tables){0};
    return 0;
}
