/* Tests that a run finds code in the cache that was compiled before the run. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/arch.h"
#include "run/portfolio/state.h"
#include "run/setup/setup.h"
#include "run/tune.h"

typedef struct fixture {
    settings settings; /* settings of a run that only compiles, and only the default */
    device_properties device;
    char text[CONFIGURATION_BYTES];
    const char *starts[1];
    char folder[64];
    at_error error;
} fixture;

static int setup(void **state)
{
    static fixture f;
    script *s;
    f = (fixture){.folder = "/tmp/autotune-ahead-XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    setenv("XDG_CACHE_HOME", f.folder, 1);
    assert_ok(arch_find("sm_90", &f.device.limits, &f.error), f.error);
    snprintf(f.device.arch, sizeof f.device.arch, "sm_90");
    f.starts[0] = f.text;
    f.settings = (settings){.pattern.script = "transpose",
                            .pattern.variable_count = 1,
                            .machine.arch = "sm_90",
                            .machine.jobs = 1,
                            .machine.use_cache = true,
                            .search.budget_evaluations = 1,
                            .search.starts = f.starts,
                            .search.start_count = 1,
                            .race.tie_margin = -1,
                            .results.results_dir = f.folder,
                            .quiet = true,
                            .pattern.variables = {{"rows", "4096"}}};
    assert_ok(target_load_script(&f.settings, &f.device.limits, &s, &f.error), f.error);
    script_format_configuration(s, script_pattern(s)->baseline, f.text, sizeof f.text);
    script_free(s);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", ((fixture *)*state)->folder);
    return system(command);
}

static void enqueue(fixture *f, ahead *a, int64_t rows, size_t number)
{
    const pattern_variable given = {"rows", {.kind = VALUE_INTEGER, .integer = rows}};
    ahead_queue(a, &f->settings, &given, 1, number);
}

/* Returns the seconds that a run with `rows` compiles, or 0 if the cache has the code. */
static double compiled_s(fixture *f, const char *rows)
{
    tune *t;
    f->settings.pattern.variables[0].text = rows;
    assert_ok(tune_run(&f->settings, &t, &f->error), f->error);
    assert_int_equal(tune_summary(t)->counts[OUTCOME_OK], 1);
    double seconds = tune_summary(t)->stage_s[STAGE_COMPILE];
    tune_free(t);
    return seconds;
}

TEST_IN(a_run_finds_code_compiled_ahead_in_the_cache, setup, teardown)
{
    fixture *f = *state;
    ahead *a = ahead_new(&f->settings, &f->device, 2);
    assert_non_null(a);
    assert_true(ahead_has_room(a));
    enqueue(f, a, 8192, 0);
    enqueue(f, a, 2048, 1);
    ahead_await(a, 0);
    ahead_await(a, 1);
    ahead_free(a);
    assert_true(compiled_s(f, "8192") <= 0);
    assert_true(compiled_s(f, "2048") <= 0);
    assert_true(compiled_s(f, "16384") > 0);
}

TEST_IN(code_that_cannot_be_compiled_ahead_is_left_to_the_run, setup, teardown)
{
    fixture *f = *state;
    ahead *a = ahead_new(&f->settings, &f->device, 1);
    f->settings.pattern.script = "no_such_script";
    enqueue(f, a, 4096, 0);
    ahead_await(a, 0);
    ahead_free(a);
    f->settings.machine.use_cache = false;
    assert_null(ahead_new(&f->settings, &f->device, 1));
    assert_false(ahead_has_room(NULL));
}
