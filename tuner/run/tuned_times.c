#include "run/tuned_times.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "compile/compile.h"
#include "run/setup/chips.h"
#include "run/setup/setup.h"
#include "script/emit.h"
#include "sim/estimate.h"

/* One configuration on its way from the script to the estimate. */
typedef struct trial {
    const session *session;
    sim_chip chip;
    compile_pool *pool;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    problem_plan plan;
    launch_plan launch, filler_launch;
    compile_result compiled, filler;
    script_contents contents;
    sim_estimate *estimate;
} trial;

static void trial_deinit(trial *t)
{
    sim_estimate_free(t->estimate);
    script_contents_deinit(&t->contents);
    compile_result_deinit(&t->compiled);
    compile_result_deinit(&t->filler);
}

/* Compiles the variant and the kernel that prepares its inputs. */
static at_status compile_both(trial *t, at_error *error)
{
    const session *s = t->session;
    emitted source = {0};
    at_status status = script_launch_plan(s->script, PROBLEM_TUNED, t->indices, &t->launch, error);
    if (!status)
        status = emit_variant(s->script, PROBLEM_TUNED, t->indices, true, &source, error);
    if (!status)
        status = compile_source(t->pool, &source, script_pattern(s->script)->template_path,
                                &t->launch, s->workers->properties.arch, true, &t->compiled, error);
    emitted_deinit(&source);
    if (!status && script_has_filler(s->script))
        status = script_filler_plan(s->script, PROBLEM_TUNED, t->indices, &t->filler_launch, error);
    return status ? status
                  : compile_filler(s->script, PROBLEM_TUNED, t->indices, &t->filler_launch, t->pool,
                                   s->workers->properties.arch, &t->filler, error);
}

static at_status run_sample(trial *t, double *time_ns, at_error *error)
{
    const device_image image = result_image(&t->compiled, true);
    const sim_filler filler = {result_image(&t->filler, true), t->filler_launch};
    at_status status =
        script_problem_plan(t->session->script, PROBLEM_TUNED, t->indices, 1, &t->plan, error);
    if (!status)
        status = script_contents_load(t->session->script, &t->plan, &t->contents, error);
    if (!status)
        status = sim_estimate_new(&t->chip, &t->plan, &filler, t->contents.of, &t->estimate, error);
    return status ? status : sim_estimate_time(t->estimate, &image, &t->launch, time_ns, error);
}

static double predict(const session *s, const sim_chip *chip, compile_pool *pool,
                      uint64_t configuration)
{
    trial *t = memory_new(1, sizeof *t);
    at_error error = {0};
    bool valid = false;
    size_t broken;
    double time_ns = 0;
    *t = (trial){.session = s, .chip = *chip, .pool = pool};
    space_at(s->space, configuration, t->indices);
    at_status status = script_valid(s->script, PROBLEM_TUNED, t->indices, &valid, &broken, &error);
    if (!status && valid)
        status = compile_both(t, &error);
    if (!status && valid)
        status = run_sample(t, &time_ns, &error);
    trial_deinit(t);
    free(t);
    return status || !valid ? 0 : time_ns;
}

void tuned_times_predict(const session *s, const settings *o, const uint64_t *configurations,
                         size_t count, size_t sure, int64_t patience_ns, double *times_ns)
{
    compile_pool *pool = NULL;
    sim_chip chip;
    at_error error = {0};
    at_status status = chips_of_device(&s->workers->properties, o->results_dir, &chip, &error);
    if (!status)
        status = compile_pool_new(&(compile_options){.jobs = 1, .use_cache = o->use_cache}, &pool,
                                  &error);
    int64_t sure_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == sure)
            sure_ns = clock_now_ns();
        const bool is_due = i < sure || clock_now_ns() - sure_ns < patience_ns;
        times_ns[i] = status || !is_due ? 0 : predict(s, &chip, pool, configurations[i]);
    }
    compile_pool_free(pool);
}
