#include "run/tuned_times.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "compile/compile.h"
#include "run/setup/chips.h"
#include "run/setup/setup.h"
#include "script/emit.h"
#include "sim/estimate.h"

/* The data of the tuned problem, in one layout: every variant of it finds there what it reads. */
typedef struct tuned_data {
    size_t layout; /* as the script numbers it */
    problem_plan plan;
    launch_plan filler_launch;
    compile_result filler; /* the kernel that prepares inputs */
    script_contents contents;
    sim_estimate *estimate; /* NULL: there are none */
} tuned_data;

typedef struct predictor {
    const session *session;
    sim_chip chip;
    compile_pool *pool;
    tuned_data data;
} predictor;

/* One configuration on its way from the script to the estimate. */
typedef struct trial {
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    launch_plan launch;
    compile_result compiled;
} trial;

static void tuned_data_deinit(tuned_data *d)
{
    sim_estimate_free(d->estimate);
    script_contents_deinit(&d->contents);
    compile_result_deinit(&d->filler);
    *d = (tuned_data){0};
}

/* Makes the data of the layout that a configuration has. */
static at_status make_data(predictor *p, const uint16_t *indices, at_error *error)
{
    tuned_data *d = &p->data;
    script *s = p->session->script;
    at_status status = AT_OK;
    if (script_has_filler(s))
        status = script_filler_plan(s, PROBLEM_TUNED, indices, &d->filler_launch, error);
    if (!status)
        status = compile_filler(s, PROBLEM_TUNED, indices, &d->filler_launch, p->pool,
                                p->session->workers->properties.arch, &d->filler, error);
    if (!status)
        status = script_problem_plan(s, PROBLEM_TUNED, indices, 1, &d->plan, error);
    if (!status)
        status = script_contents_load(s, &d->plan, &d->contents, error);
    const sim_filler filler = {result_image(&d->filler, true), d->filler_launch};
    return status
               ? status
               : sim_estimate_new(&p->chip, &d->plan, &filler, d->contents.of, &d->estimate, error);
}

/* Has the data be of that layout; those of another go. */
static at_status use_layout(predictor *p, const uint16_t *indices, at_error *error)
{
    const size_t layout = script_layout_of(p->session->script, indices);
    if (p->data.estimate && p->data.layout == layout)
        return AT_OK;
    tuned_data_deinit(&p->data);
    p->data.layout = layout;
    return make_data(p, indices, error);
}

static at_status compile_variant(const predictor *p, trial *t, at_error *error)
{
    const session *s = p->session;
    emitted source = {0};
    at_status status = script_launch_plan(s->script, PROBLEM_TUNED, t->indices, &t->launch, error);
    if (!status)
        status = emit_variant(s->script, PROBLEM_TUNED, t->indices, true, &source, error);
    if (!status)
        status = compile_source(p->pool, &source, script_pattern(s->script)->template_path,
                                &t->launch, s->workers->properties.arch, true, &t->compiled, error);
    emitted_deinit(&source);
    return status;
}

static double predict(predictor *p, uint64_t configuration)
{
    trial *t = memory_new(1, sizeof *t);
    at_error error = {0};
    bool valid = false;
    size_t broken;
    double time_ns = 0;
    space_at(p->session->space, configuration, t->indices);
    at_status status =
        script_valid(p->session->script, PROBLEM_TUNED, t->indices, &valid, &broken, &error);
    if (!status && valid)
        status = compile_variant(p, t, &error);
    if (!status && valid)
        status = use_layout(p, t->indices, &error);
    if (!status && valid) {
        const device_image image = result_image(&t->compiled, true);
        status = sim_estimate_time(p->data.estimate, &image, &t->launch, &time_ns, &error);
    }
    compile_result_deinit(&t->compiled);
    free(t);
    return status || !valid ? 0 : time_ns;
}

void tuned_times_predict(const session *s, const settings *o, const uint64_t *configurations,
                         size_t count, size_t sure, int64_t patience_ns, double *times_ns)
{
    predictor *p = memory_new(1, sizeof *p);
    at_error error = {0};
    p->session = s;
    at_status status = chips_of_device(&s->workers->properties, o->results_dir, &p->chip, &error);
    if (!status)
        status = compile_pool_new(&(compile_options){.jobs = 1, .use_cache = o->use_cache},
                                  &p->pool, &error);
    int64_t sure_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == sure)
            sure_ns = clock_now_ns();
        const bool is_due = i < sure || clock_now_ns() - sure_ns < patience_ns;
        times_ns[i] = status || !is_due ? 0 : predict(p, configurations[i]);
    }
    tuned_data_deinit(&p->data);
    compile_pool_free(p->pool);
    free(p);
}
