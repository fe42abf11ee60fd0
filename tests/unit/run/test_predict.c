#include "script_fixture.h"

#include <math.h>

#include "base/clock.h"
#include "run/tune_state.h"

enum { VARIANTS = 6 };

/* The kernel copies floats with a stride between neighbouring threads. Stride 5 does not compile.
 * Stride 7 asks for more shared memory than a block may have. */
static const char template_text[] =
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "copy(const float *src, float *dst)\n"
    "{\n"
    "% if stride == 5 then\n"
    "    this is not C;\n"
    "% end\n"
    "    unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
    "    unsigned j = i * ${stride} % ${n} + i * ${stride} / ${n};\n"
    "    dst[j] = src[j];\n"
    "}\n";

typedef struct opened {
    session session;
    at_error error;
} opened;

static void open_session(opened *o, const char *extra_parameter, const char *baseline)
{
    char parameters[256];
    *o = (opened){.session = {.workers = &o->session.own}};
    snprintf(parameters, sizeof parameters, "space = { stride = { 1, 2, 4, 5, 7, 16 }%s },",
             extra_parameter);
    fixture_write("p.cu.tmpl", template_text);
    fixture_write("r.cu.tmpl", template_text);
    o->session.script = fixture_load_pattern(&(fixture_pattern){
        .problem = "problem = { n = 1 << 20 },",
        .space = parameters,
        .baseline = baseline,
        .kernel = "kernel = { template = 'p.cu.tmpl', entry = 'copy', args = { 'src', 'dst' }, "
                  "shared = 'stride == 7 and 300000 or 0' },",
        .launch = "launch = { grid = 'n // 256', block = 256 },",
        .extra = "buffers = { src = at.input { dtype = 'float', count = 'n' }, "
                 "dst = at.output { dtype = 'float', count = 'n' } }, traffic = '8 * n',"});
    session *s = &o->session;
    snprintf(s->workers->properties.arch, sizeof s->workers->properties.arch, "sm_90");
    assert_ok(script_space(s->script, PROBLEM_TUNED, &s->space, &o->error), o->error);
    assert_ok(problem_set_init(&s->problems, s->script, s->space, &(problem_kind){PROBLEM_TUNED}, 1,
                               &o->error),
              o->error);
    assert_ok(compile_pool_new(&(compile_options){.jobs = 2}, &s->workers->pool, &o->error),
              o->error);
}

/* Returns the predicted time of a stride, the only parameter of the space. */
static double time_of(const opened *o, const prediction *p, uint16_t index)
{
    uint64_t configuration;
    assert_true(space_find(o->session.space, &index, &configuration));
    return p->times_ns[configuration];
}

TEST(variants_are_ordered_and_what_cannot_run_is_infinitely_slow)
{
    opened o;
    prediction p;
    open_session(&o, "", "baseline = { stride = 1 },");
    assert_ok(predict_space(&o.session, &(predict_options){.seed = 3}, &p, &o.error), o.error);
    assert_int_equal(p.count, VARIANTS);
    assert_int_equal(p.reached, VARIANTS);
    assert_int_equal(p.predicted, VARIANTS - 2);
    assert_true(isinf(time_of(&o, &p, 3)));
    assert_true(isinf(time_of(&o, &p, 4)));
    assert_true(time_of(&o, &p, 0) > 0);
    assert_true(time_of(&o, &p, 0) < time_of(&o, &p, 2));
    assert_true(time_of(&o, &p, 2) < time_of(&o, &p, 5));
    assert_int_equal(compile_pending(o.session.workers->pool), 0);
    /* The order in which threads work has no influence. */
    prediction again;
    assert_ok(predict_space(&o.session, &(predict_options){.seed = 9}, &again, &o.error), o.error);
    assert_memory_equal(p.times_ns, again.times_ns, VARIANTS * sizeof *p.times_ns);
    prediction_deinit(&p);
    prediction_deinit(&again);
    session_deinit(&o.session);
}

TEST(what_there_is_no_time_for_is_unknown)
{
    opened o;
    prediction p;
    open_session(&o, "", "baseline = { stride = 1 },");
    /* The run began at time 0, so its budget is spent already. */
    assert_ok(predict_space(&o.session, &(predict_options){.budget_s = 1e-9}, &p, &o.error),
              o.error);
    assert_int_equal(p.reached, 0);
    for (uint64_t i = 0; i < p.count; i++)
        assert_true(isnan(p.times_ns[i]));
    prediction_deinit(&p);
    session_deinit(&o.session);
}

/* These runs begin a minute from now, so the predictions may take any time. */
TEST(a_budget_buys_a_number_of_predictions)
{
    opened o;
    open_session(&o, ", more = at.range(1, 50)", "baseline = { stride = 1, more = 1 },");
    for (int i = 1; i <= 2; i++) {
        prediction p;
        const predict_options asked = {.seed = 3,
                                       .budget_s = 4 * i / (double)cores_usable(),
                                       .start_ns = clock_now_ns() + 60 * INT64_C(1000000000)};
        assert_ok(predict_space(&o.session, &asked, &p, &o.error), o.error);
        assert_int_equal(p.reached, 12 * i);
        prediction_deinit(&p);
    }
    session_deinit(&o.session);
}

TEST(a_space_that_is_too_large_is_refused_before_anything_is_compiled)
{
    opened o;
    prediction p;
    open_session(&o, ", more = at.range(1, 5000)", "baseline = { stride = 1, more = 1 },");
    assert_int_equal(predict_space(&o.session, &(predict_options){0}, &p, &o.error), AT_USAGE);
    assert_contains(o.error.message, "30000");
    assert_contains(o.error.message, "20000");
    prediction_deinit(&p);
    session_deinit(&o.session);
}

TEST(a_chip_without_figures_is_an_error)
{
    opened o;
    prediction p;
    open_session(&o, "", "baseline = { stride = 1 },");
    snprintf(o.session.workers->properties.arch, sizeof o.session.workers->properties.arch,
             "sm_12");
    assert_int_equal(predict_space(&o.session, &(predict_options){0}, &p, &o.error), AT_USAGE);
    assert_contains(o.error.message, "sm_12");
    prediction_deinit(&p);
    session_deinit(&o.session);
}

TEST_GROUP(fixture_setup, fixture_teardown)
