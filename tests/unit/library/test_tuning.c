/* Tests tuning beside the program. A shell script stands for autotune. The last test runs
 * autotune itself on the fake driver. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "autotune.h"
#include "base/file.h"
#include "check.h"
#include "cuda/driver.h"
#include "temporary.h"

static const char given[] = TEST_SOURCE_DIR "/tests/fixtures/results/nvidia-h200/copied.json";
static const int64_t tuning_timeout_ns = INT64_C(30) * 1000000000;

/* The shell script `program` writes its arguments to the file `asked`. Then it waits up to 5 s
 * for the file `go` and executes its commands. */
typedef struct fixture {
    char folder[TEMPORARY_BYTES], results[96], program[96], asked[96], go[96];
    at_results *known;
    cuda_driver cuda;
    at_tune_options options;
    at_error error;
} fixture;

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void write_program(fixture *f, const char *does)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "#!/bin/sh\necho \"$@\" >>%s\ni=0\nwhile [ ! -e %s ] && [ $i -lt 500 ]; do sleep 0.01; "
        "i=$((i+1)); done\n%s\n",
        f->asked, f->go, does);
    write_text(f->program, text);
    assert_int_equal(chmod(f->program, 0700), 0);
}

/* Writes the result of the tuner: a record whose entry is for n = 5000 in place of 4096. */
static void find_a_result(fixture *f)
{
    char does[512];
    snprintf(does, sizeof does,
             "sed 's/\\([^0-9]\\)4096\\([^0-9]\\)/\\15000\\2/' %s >%s/new && mv %s/new "
             "%s/nvidia-h200/copied.json",
             given, f->folder, f->folder, f->results);
    write_program(f, does);
}

static void let_go(const fixture *f)
{
    write_text(f->go, "");
}

static size_t times_started(const fixture *f)
{
    char *text = NULL;
    size_t lines = 0;
    at_error none = {0};
    if (file_read(f->asked, 1 << 20, &text, NULL, &none))
        return 0;
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    free(text);
    return lines;
}

static int set_up(void **state)
{
    static fixture f;
    char path[256], *text;
    CUcontext context;
    f = (fixture){0};
    temporary_make(f.folder);
    snprintf(f.results, sizeof f.results, "%s/results", f.folder);
    snprintf(f.program, sizeof f.program, "%s/program", f.folder);
    snprintf(f.asked, sizeof f.asked, "%s/asked", f.folder);
    snprintf(f.go, sizeof f.go, "%s/go", f.folder);
    snprintf(path, sizeof path, "%s/nvidia-h200", f.results);
    assert_ok(file_make_folder(path, &f.error), f.error);
    assert_ok(file_read(given, 1 << 20, &text, NULL, &f.error), f.error);
    snprintf(path, sizeof path, "%s/nvidia-h200/copied.json", f.results);
    write_text(path, text);
    free(text);
    assert_ok(at_open(f.results, &f.known, &f.error), f.error);
    assert_ok(cuda_driver_open(&f.cuda, &f.error), f.error);
    f.cuda.cuDevicePrimaryCtxRetain(&context, 0);
    f.cuda.cuCtxSetCurrent(context);
    f.options = (at_tune_options){.program = f.program};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    at_close(f->known);
    cuda_driver_close(&f->cuda);
    temporary_remove(f->folder);
    return 0;
}

static at_status tune(fixture *f, const at_results *r, int64_t n)
{
    const at_variable problem[] = {at_integer("n", n)};
    return at_tune(r, "copied", problem, 1, &f->options, &f->error);
}

static at_tune_state wait_for(fixture *f, const at_results *r, int64_t n, int64_t wait_ns)
{
    at_tune_state state;
    const at_variable problem[] = {at_integer("n", n)};
    assert_ok(at_tune_wait(r, "copied", problem, 1, wait_ns, &state, &f->error), f->error);
    return state;
}

static at_rule rule_for(fixture *f, const at_results *r, int64_t n)
{
    const at_variable problem[] = {at_integer("n", n)};
    at_choice *choice = NULL;
    assert_ok(at_pick(r, "copied", NULL, problem, 1, &choice, &f->error), f->error);
    at_rule rule = at_choice_rule(choice);
    at_choice_free(choice);
    return rule;
}

TEST_IN(until_it_is_tuned_the_pick_serves_and_then_has_the_result, set_up, tear_down)
{
    fixture *f = *state;
    find_a_result(f);
    assert_int_equal(wait_for(f, f->known, 5000, 0), AT_TUNE_NONE);
    assert_ok(tune(f, f->known, 5000), f->error);
    assert_int_equal(wait_for(f, f->known, 5000, 0), AT_TUNE_RUNNING);
    assert_int_equal(rule_for(f, f->known, 5000), AT_RULE_NEAREST);
    let_go(f);
    assert_int_equal(wait_for(f, f->known, 5000, tuning_timeout_ns), AT_TUNE_DONE);
    assert_int_equal(rule_for(f, f->known, 5000), AT_RULE_EXACT);
    assert_ok(tune(f, f->known, 5000), f->error);
    assert_int_equal(times_started(f), 1);
}

TEST_IN(a_pick_alone_takes_the_result, set_up, tear_down)
{
    fixture *f = *state;
    find_a_result(f);
    let_go(f);
    assert_ok(tune(f, f->known, 5000), f->error);
    int polls = 0;
    while (rule_for(f, f->known, 5000) != AT_RULE_EXACT && polls++ < 2000)
        usleep(1000);
    assert_int_equal(rule_for(f, f->known, 5000), AT_RULE_EXACT);
}

TEST_IN(a_choice_stays_valid_after_later_results, set_up, tear_down)
{
    fixture *f = *state;
    const at_variable problem[] = {at_integer("n", 4096)};
    at_choice *choice = NULL;
    char before[512];
    assert_ok(at_pick(f->known, "copied", NULL, problem, 1, &choice, &f->error), f->error);
    snprintf(before, sizeof before, "%s", at_choice_text(choice));
    find_a_result(f);
    let_go(f);
    assert_ok(tune(f, f->known, 5000), f->error);
    assert_int_equal(wait_for(f, f->known, 5000, tuning_timeout_ns), AT_TUNE_DONE);
    assert_string_equal(at_choice_text(choice), before);
    assert_true(at_choice_time_ns(choice) > 0);
    at_choice_free(choice);
}

TEST_IN(what_is_recorded_is_not_tuned, set_up, tear_down)
{
    fixture *f = *state;
    write_program(f, "exit 1");
    assert_ok(tune(f, f->known, 4096), f->error);
    assert_int_equal(wait_for(f, f->known, 4096, 0), AT_TUNE_DONE);
    assert_int_equal(times_started(f), 0);
}

TEST_IN(the_tuner_gets_problem_folder_budget_and_share, set_up, tear_down)
{
    fixture *f = *state;
    char *text, expected[512];
    const at_variable problem[] = {at_integer("n", 5000), at_text("kind", "a b"),
                                   at_number("x", 0.5), at_boolean("on", 1)};
    find_a_result(f);
    let_go(f);
    f->options.budget_s = 2.5;
    f->options.share = 0.25;
    at_tune_state found;
    assert_ok(at_tune(f->known, "other", problem, 4, &f->options, &f->error), f->error);
    assert_ok(at_tune_wait(f->known, "other", problem, 4, tuning_timeout_ns, &found, &f->error),
              f->error);
    assert_ok(file_read(f->asked, 1 << 16, &text, NULL, &f->error), f->error);
    snprintf(expected, sizeof expected,
             "tune other --device cuda:0 --results %s --budget 2.500s --share 0.250000 --jobs",
             f->results);
    assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
    assert_non_null(
        strstr(text, "--quiet --set n=5000 --set kind=a b --set x=0.5 --set on=true\n"));
    free(text);
}

TEST_IN(a_failure_is_a_miss_that_says_why, set_up, tear_down)
{
    fixture *f = *state;
    write_program(f, "echo 'autotune: no luck' >&2; exit 1");
    let_go(f);
    assert_ok(tune(f, f->known, 5000), f->error);
    assert_int_equal(wait_for(f, f->known, 5000, tuning_timeout_ns), AT_TUNE_FAILED);
    assert_string_equal(f->error.message, "copied was not tuned: no luck");
    assert_ok(tune(f, f->known, 5000), f->error);
    assert_int_equal(rule_for(f, f->known, 5000), AT_RULE_NEAREST);
    assert_int_equal(times_started(f), 1);
}

TEST_IN(a_tuner_without_a_result_has_failed, set_up, tear_down)
{
    fixture *f = *state;
    write_program(f, "exit 0");
    let_go(f);
    assert_ok(tune(f, f->known, 5000), f->error);
    assert_int_equal(wait_for(f, f->known, 5000, tuning_timeout_ns), AT_TUNE_FAILED);
    assert_string_equal(f->error.message,
                        "copied was not tuned: it ended without a result for this problem");
}

TEST_IN(without_the_program_it_is_said_once, set_up, tear_down)
{
    fixture *f = *state;
    f->options.program = "/nowhere/autotune";
    assert_int_equal(tune(f, f->known, 5000), AT_NOT_FOUND);
    assert_non_null(strstr(f->error.message, "/nowhere/autotune"));
    assert_ok(tune(f, f->known, 5000), f->error);
    assert_int_equal(wait_for(f, f->known, 5000, 0), AT_TUNE_FAILED);
    assert_int_equal(rule_for(f, f->known, 5000), AT_RULE_NEAREST);
}

/* Makes the fixture's at_results wait while another at_results tunes. */
static at_results *tune_after_another(fixture *f)
{
    at_results *other = NULL;
    assert_ok(at_open(f->results, &other, &f->error), f->error);
    find_a_result(f);
    assert_ok(tune(f, other, 5000), f->error);
    assert_ok(tune(f, f->known, 5000), f->error);
    assert_int_equal(wait_for(f, f->known, 5000, 0), AT_TUNE_WAITING);
    return other;
}

TEST_IN(what_another_tunes_is_waited_for, set_up, tear_down)
{
    fixture *f = *state;
    at_results *other = tune_after_another(f);
    let_go(f);
    assert_int_equal(wait_for(f, other, 5000, tuning_timeout_ns), AT_TUNE_DONE);
    assert_int_equal(wait_for(f, f->known, 5000, tuning_timeout_ns), AT_TUNE_DONE);
    assert_int_equal(rule_for(f, f->known, 5000), AT_RULE_EXACT);
    assert_int_equal(times_started(f), 1);
    at_close(other);
}

TEST_IN(what_another_gives_up_is_tuned, set_up, tear_down)
{
    fixture *f = *state;
    at_results *other = tune_after_another(f);
    at_close(other);
    let_go(f);
    assert_int_equal(wait_for(f, f->known, 5000, tuning_timeout_ns), AT_TUNE_DONE);
    assert_int_equal(times_started(f), 2);
}

TEST_IN(what_makes_no_sense_is_refused, set_up, tear_down)
{
    fixture *f = *state;
    f->options.share = 2;
    assert_int_equal(tune(f, f->known, 5000), AT_USAGE);
    f->options = (at_tune_options){.program = f->program, .budget_s = -1};
    assert_int_equal(tune(f, f->known, 5000), AT_USAGE);
    assert_int_equal(at_tune(NULL, "copied", NULL, 0, NULL, NULL), AT_USAGE);
    assert_int_equal(wait_for(f, f->known, 5000, 0), AT_TUNE_NONE);
}

enum { THREADS = 8 };

static void *tune_and_pick(void *context)
{
    fixture own = *(fixture *)context;
    CUcontext current;
    own.cuda.cuDevicePrimaryCtxRetain(&current, 0);
    own.cuda.cuCtxSetCurrent(current);
    assert_ok(tune(&own, own.known, 5000), own.error);
    for (int i = 0; i < 20; i++)
        rule_for(&own, own.known, 5000);
    if (own.known)
        let_go(&own);
    wait_for(&own, own.known, 5000, tuning_timeout_ns);
    return NULL;
}

TEST_IN(threads_begin_one_tuning, set_up, tear_down)
{
    fixture *f = *state;
    pthread_t threads[THREADS];
    find_a_result(f);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, tune_and_pick, f), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(rule_for(f, f->known, 5000), AT_RULE_EXACT);
    assert_int_equal(times_started(f), 1);
}

/* A script with a kernel whose name the fake GPU knows. */
static const char copy_script[] =
    "local at = require 'autotune'\n"
    "return at.pattern { name = 'copied', problem = { n = 4096 }, ragged = { n = 1003 },\n"
    "  space = { block = { 64, 128 } },\n"
    "  buffers = { x = at.input { dtype = 'float', count = 'n' },\n"
    "              y = at.output { dtype = 'float', count = 'n' } },\n"
    "  kernel = { template = 'g.cu.tmpl', entry = 'good_10', args = { 'x', 'y', at.int64 'n' } },\n"
    "  launch = { grid = 'ceil_div(n, block)', block = 'block' } }\n";
static const char copy_template[] =
    "extern \"C\" __global__ void good_10(const float *x, float *y, long long n)\n"
    "{\n"
    "    long long i = blockIdx.x * (long long)${block} + threadIdx.x;\n"
    "    if (i < n) y[i] = x[i];\n"
    "}\n";

TEST_IN(autotune_itself_tunes, set_up, tear_down)
{
    fixture *f = *state;
    char script[256], path[256];
    snprintf(script, sizeof script, "%s/copied.lua", f->folder);
    snprintf(path, sizeof path, "%s/g.cu.tmpl", f->folder);
    write_text(script, copy_script);
    write_text(path, copy_template);
    setenv("XDG_STATE_HOME", f->folder, 1);
    setenv("AUTOTUNE_TURNS", f->folder, 1);
    f->options = (at_tune_options){
        .program = TEST_BINARY_DIR "/bin/autotune", .script = script, .share = 0.5};
    assert_ok(tune(f, f->known, 5000), f->error);
    at_tune_state found = wait_for(f, f->known, 5000, tuning_timeout_ns);
    if (found != AT_TUNE_DONE)
        fail_msg("%d: %s", (int)found, f->error.message);
    assert_int_equal(rule_for(f, f->known, 5000), AT_RULE_EXACT);
}

static int prepare(void **state)
{
    (void)state;
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    setenv("FAKE_CUDA_NAMES", "NVIDIA H200", 1);
    return 0;
}

TEST_GROUP(prepare, NULL)
