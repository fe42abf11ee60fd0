#include "run/portfolio/state.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/setup/session.h"
#include "run/setup/setup.h"
#include "run/variant/sources.h"

enum {
    IDLE_CORES = 2,      /* cores for the measuring run, if there are more than twice as many */
    RUN_SHIFT = 32,      /* a compile id has the number of its run from this bit on */
    REFERENCES = 1 << 16 /* ids below this belong to references */
};

struct ahead {
    workers compilers; /* without a device */
    script *script;    /* loaded for the latest problem; NULL before the first */
    size_t *waiting;   /* number of requests in progress, by run */
};

ahead *ahead_new(const settings *o, const device_properties *of, size_t numbers)
{
    size_t cores = cores_usable(), all = o->machine.jobs > 0 ? (size_t)o->machine.jobs : cores;
    ahead *a = o->machine.use_cache ? memory_new(1, sizeof *a) : NULL;
    if (!a)
        return NULL;
    a->compilers.properties = *of;
    const compile_options options = {.jobs = (int)(all > 2 * IDLE_CORES ? all - IDLE_CORES : all),
                                     .use_cache = true};
    a->waiting = memory_new(numbers, sizeof *a->waiting);
    if (!compile_pool_new(&options, &a->compilers.pool, NULL))
        return a;
    ahead_free(a);
    return NULL;
}

void ahead_free(ahead *a)
{
    if (!a)
        return;
    compile_pool_kill(a->compilers.pool);
    compile_pool_free(a->compilers.pool);
    script_free(a->script);
    free(a->waiting);
    free(a);
}

/* Takes a finished compile result; the cache keeps it. Returns AT_NOT_FOUND if none is finished. */
static at_status take(ahead *a, int timeout_ms)
{
    compile_result r = {0};
    at_status status = compile_take(a->compilers.pool, timeout_ms, &r, NULL);
    if (!status)
        a->waiting[r.id >> RUN_SHIFT]--;
    compile_result_deinit(&r);
    return status;
}

bool ahead_has_room(ahead *a)
{
    if (!a)
        return false;
    while (!take(a, 0))
        ;
    return compile_pending(a->compilers.pool) < 2 * compile_width(a->compilers.pool);
}

static void queue_variant(ahead *a, session *s, const char *configuration, size_t number,
                          size_t place)
{
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    candidate c = {.id = (((uint64_t)number << RUN_SHIFT) + REFERENCES) / DEVICE_SLOTS + 1 + place};
    sources all = {0};
    if (!script_parse_configuration(s->script, configuration, indices, NULL) &&
        !sources_emit(s, indices, &c, &all, NULL))
        sources_submit(&all, s, &c, NULL);
    a->waiting[number] += c.parts;
    sources_deinit(&all);
}

/* Sets the problem. Loads the script only once, because loading takes longer than all the rest. */
static at_status set_problem(ahead *a, const settings *run, const pattern_variable *values,
                             size_t count)
{
    at_status status =
        a->script ? AT_OK
                  : target_load_script(run, &a->compilers.properties.limits, &a->script, NULL);
    return status ? status : script_set_problem(a->script, PROBLEM_TUNED, values, count, NULL);
}

void ahead_queue(ahead *a, const settings *run, const pattern_variable *values, size_t count,
                 size_t number)
{
    if (!a || set_problem(a, run, values, count))
        return;
    const device_properties *of = &a->compilers.properties;
    session s = {.workers = &a->compilers, .script = a->script};
    session_problems chosen;
    at_status status = session_choose_problems(a->script, of->predicted, &chosen, NULL);
    s.slots = chosen.count;
    if (!status)
        status = problem_set_init(&s.problems, s.script, NULL, chosen.kinds, s.slots, NULL);
    if (!status)
        status = problem_set_submit(&s.problems, a->compilers.pool, of->arch, of->predicted,
                                    (uint64_t)number << RUN_SHIFT, NULL, NULL, 0, NULL);
    a->waiting[number] += s.problems.waiting;
    for (size_t i = 0; !status && i < run->search.start_count; i++)
        queue_variant(a, &s, run->search.starts[i], number, i);
    problem_set_deinit(&s.problems);
}

void ahead_await(ahead *a, size_t number)
{
    while (a && a->waiting[number] > 0 && !take(a, -1))
        ;
}
