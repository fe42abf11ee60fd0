/* Tests how libautotune picks configurations and reports errors in its arguments. */
#define _GNU_SOURCE /* for environ */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/library.h"
#include "library_fixture.h"

TEST_IN(without_a_folder_the_known_ones_are_searched, set_up, tear_down)
{
    fixture *f = *state;
    at_results *found = NULL;
    setenv("AUTOTUNE_RESULTS", results_dir, 1);
    assert_ok(at_open(NULL, &found, &f->error), f->error);
    const at_variable problem[] = {at_integer("n", 4096)};
    at_choice *choice = NULL;
    assert_ok(at_pick(found, "copied", &h200, problem, 1, &choice, &f->error), f->error);
    assert_int_equal(at_choice_rule(choice), AT_RULE_EXACT);
    at_choice_free(choice);
    at_close(found);
    unsetenv("AUTOTUNE_RESULTS");
}

TEST_IN(the_rule_and_the_values_are_reported, set_up, tear_down)
{
    fixture *f = *state;
    at_variable v;
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_rule(f->choice), AT_RULE_EXACT);
    assert_string_equal(at_choice_gpu(f->choice), "NVIDIA H200");
    assert_int_equal(at_choice_time_ns(f->choice), 2000);
    assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    assert_int_equal(at_choice_count(f->choice), 3);
    assert_string_equal(at_choice_at(f->choice, 1).name, "vec");
    assert_ok(at_choice_get(f->choice, "block", &v, &f->error), f->error);
    assert_int_equal(v.kind, AT_KIND_INTEGER);
    assert_int_equal(v.integer, 256);
    assert_int_equal(at_choice_get(f->choice, "blok", &v, &f->error), AT_NOT_FOUND);
    assert_non_null(strstr(f->error.message, "did you mean 'block'?"));
}

TEST_IN(each_pick_rule_occurs, set_up, tear_down)
{
    fixture *f = *state;
    static const struct {
        at_gpu gpu;
        int64_t n;
        at_rule rule;
        const char *text;
    } cases[] = {
        {{"NVIDIA H200", 9, 0}, 1000000, AT_RULE_NEAREST, "block=512,vec=2,shared=0"},
        {{"NVIDIA H100", 9, 0}, 4096, AT_RULE_CAPABILITY, "block=256,vec=4,shared=65536"},
        {{"NVIDIA L4", 8, 9}, 4096, AT_RULE_MAJOR, "block=128,vec=1,shared=0"},
        {{"NVIDIA V100", 7, 0}, 4096, AT_RULE_DEFAULT, "block=64,vec=1,shared=0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pick_size(f, &cases[i].gpu, cases[i].n);
        assert_int_equal(at_choice_rule(f->choice), cases[i].rule);
        assert_string_equal(at_choice_text(f->choice), cases[i].text);
    }
    assert_string_equal(at_choice_gpu(f->choice), "");
    assert_string_equal(at_rule_name(AT_RULE_CAPABILITY), "same_capability");
}

/* On this GPU, vectors of 4 took as long as the default at n = 4096. */
TEST_IN(a_configuration_no_faster_than_the_default_nearby_is_not_picked, set_up, tear_down)
{
    fixture *f = *state;
    static const char written[] =
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"copied\", \"gpu\": "
        "\"NVIDIA H200\","
        " \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": {\"n\": 4096}, "
        "\"configuration\":"
        " {\"block\": 256, \"vec\": 4, \"shared\": 0}, \"baseline\": {\"configuration\": "
        "{\"block\": 64, \"vec\": 1,"
        " \"shared\": 0}, \"time\": {\"median_ns\": 2000, \"low_ns\": 1990, \"high_ns\": 2010}},"
        " \"time\": {\"median_ns\": 1995, \"low_ns\": 1985, \"high_ns\": 2005}}]}";
    open_record(f, "copied", written);
    pick_size(f, &h200, 8192);
    assert_int_equal(at_choice_rule(f->choice), AT_RULE_DEFAULT);
    assert_string_equal(at_choice_text(f->choice), "block=64,vec=1,shared=0");
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_rule(f->choice), AT_RULE_EXACT);
    assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=0");
}

TEST_IN(a_choice_keeps_nothing_of_the_callers, set_up, tear_down)
{
    fixture *f = *state;
    char name[] = "n";
    at_variable problem[] = {at_integer(name, 4097)};
    assert_ok(at_pick(f->results, "copied", &h200, problem, 1, &f->choice, &f->error), f->error);
    memset(name, '?', 1);
    problem[0] = at_integer("", 0);
    assert_int_equal(at_choice_rule(f->choice), AT_RULE_NEAREST);
}

/* Asserts that each misspelt name is refused with a message that contains `with`. */
static void assert_misspelt_names_are_refused(fixture *f, const char *with)
{
    static const struct {
        at_variable problem;
        const char *message;
    } wrong[] = {{{"nn", AT_KIND_INTEGER, 4096, 0, NULL}, "no variable 'nn' (did you mean 'n'?)"},
                 {{"n", AT_KIND_TEXT, 0, 0, "4096"}, "'n' of the problem of 'copied' is a text"},
                 {{"n", AT_KIND_BOOLEAN, 1, 0, NULL}, "is a boolean"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        at_choice *none;
        assert_int_equal(
            at_pick(f->results, "copied", &h200, &wrong[i].problem, 1, &none, &f->error), AT_USAGE);
        assert_null(none);
        if (!strstr(f->error.message, wrong[i].message))
            fail_msg("%s: %s", with, f->error.message);
    }
    const at_variable whole[] = {at_number("n", 4096)};
    at_choice *choice;
    assert_ok(at_pick(f->results, "copied", &h200, whole, 1, &choice, &f->error), f->error);
    at_choice_free(choice);
}

TEST_IN(a_misspelt_or_mistyped_variable_is_an_error_with_and_without_the_script, set_up, tear_down)
{
    fixture *f = *state;
    assert_misspelt_names_are_refused(f, "without a script");
    changing c;
    set_up_changing(&c, f);
    assert_misspelt_names_are_refused(f, "with the script");
}

TEST_IN(what_is_not_recorded_is_not_found, set_up, tear_down)
{
    fixture *f = *state;
    at_results *none;
    assert_int_equal(at_pick(f->results, "other", &h200, NULL, 0, &f->choice, &f->error),
                     AT_NOT_FOUND);
    assert_non_null(strstr(f->error.message, "no results for 'other'"));
    assert_int_equal(at_open("/no/such/folder", &none, &f->error), AT_NOT_FOUND);
    assert_null(none);
    assert_int_equal(at_open("/no/such/folder", &none, NULL), AT_NOT_FOUND);
}

TEST_IN(a_pipe_among_the_records_is_not_waited_for, set_up, tear_down)
{
    fixture *f = *state;
    at_results *none;
    char path[TEMPORARY_BYTES + 32];
    snprintf(path, sizeof path, "%s/gpu", f->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/gpu/copied.json", f->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_ok(at_open(f->folder, &none, &f->error), f->error);
    assert_non_null(strstr(at_results_problem(none, 0), "gpu/copied.json: "));
    assert_non_null(strstr(at_results_problem(none, 0), "device or pipe"));
    assert_null(at_results_problem(none, 1));
    assert_int_equal(at_pick(none, "copied", &h200, NULL, 0, &f->choice, &f->error), AT_NOT_FOUND);
    assert_non_null(strstr(f->error.message, "device or pipe"));
    at_close(none);
}

TEST_IN(the_current_gpu_is_the_contexts, set_up, tear_down)
{
    fixture *f = *state;
    at_gpu gpu;
    assert_ok(at_current_gpu(&gpu, &f->error), f->error);
    assert_true(gpu.major >= 7);
    assert_int_not_equal(strlen(gpu.name), 0);
    f->cuda.cuCtxSetCurrent(NULL);
    assert_int_equal(at_current_gpu(&gpu, &f->error), AT_NO_DEVICE);
    assert_non_null(strstr(f->error.message, "no CUDA context is current"));
}

/* In each call, one argument is NULL that must not be NULL. The other arguments are valid. */
#define NULL_CALLS(CALL)                                                                           \
    CALL("out", at_open(results_dir, NULL, e))                                                     \
    CALL("out", at_current_gpu(NULL, e))                                                           \
    CALL("results", at_pick(NULL, "copied", &h200, n, 1, &choice, e))                              \
    CALL("pattern", at_pick(f->results, NULL, &h200, n, 1, &choice, e))                            \
    CALL("problem", at_pick(f->results, "copied", &h200, NULL, 1, &choice, e))                     \
    CALL("out", at_pick(f->results, "copied", &h200, n, 1, NULL, e))                               \
    CALL("choice", at_choice_get(NULL, "block", &v, e))                                            \
    CALL("name", at_choice_get(f->choice, NULL, &v, e))                                            \
    CALL("out", at_choice_get(f->choice, "block", NULL, e))                                        \
    CALL("choice", at_prepare(NULL, &f->options, &kernel, e))                                      \
    CALL("out", at_prepare(f->choice, &f->options, NULL, e))                                       \
    CALL("kernel", at_launch(NULL, NULL, buffers, e))                                              \
    CALL("buffers", at_launch(f->kernel, NULL, NULL, e))

TEST_IN(an_argument_that_is_null_is_named, set_up, tear_down)
{
    fixture *f = *state;
    at_choice *choice;
    at_kernel *kernel;
    at_variable v;
    const at_variable n[] = {at_integer("n", 4096)};
    const uint64_t buffers[2] = {0};
    at_error *e;
    pick_size(f, &h200, 4096);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
#define REFUSED(argument, call)                                                                    \
    e = &f->error;                                                                                 \
    f->error = (at_error){0};                                                                      \
    assert_int_equal(call, AT_USAGE);                                                              \
    assert_int_equal(f->error.status, AT_USAGE);                                                   \
    assert_non_null(strstr(f->error.message, "'" argument "' is NULL"));                           \
    e = NULL;                                                                                      \
    assert_int_equal(call, AT_USAGE);
    NULL_CALLS(REFUSED)
    assert_int_equal(at_pick(NULL, NULL, NULL, NULL, 1, NULL, NULL), AT_USAGE);
    assert_int_equal(at_prepare(NULL, NULL, NULL, NULL), AT_USAGE);
    assert_int_equal(at_launch(NULL, NULL, NULL, NULL), AT_USAGE);
}

TEST_IN(what_tells_of_nothing_tells_nothing, set_up, tear_down)
{
    fixture *f = *state;
    pick_size(f, &h200, 4096);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    assert_int_equal(at_choice_rule(NULL), AT_RULE_DEFAULT);
    assert_string_equal(at_choice_gpu(NULL), "");
    assert_true(at_choice_time_ns(NULL) == 0);
    assert_string_equal(at_choice_text(NULL), "");
    assert_int_equal(at_choice_count(NULL), 0);
    assert_string_equal(at_choice_at(NULL, 0).name, "");
    assert_string_equal(at_choice_at(f->choice, 3).name, "");
    assert_string_equal(at_choice_at(f->choice, SIZE_MAX).name, "");
    assert_int_equal(at_kernel_rule(NULL), AT_RULE_DEFAULT);
    assert_string_equal(at_kernel_text(NULL), "");
    assert_string_equal(at_kernel_source(NULL), "");
    assert_int_equal(at_kernel_buffer_count(NULL), 0);
    assert_string_equal(at_kernel_buffer_name(NULL, 0), "");
    assert_string_equal(at_kernel_buffer_name(f->kernel, 2), "");
    assert_true(at_kernel_buffer_bytes(NULL, 0) == 0);
    assert_true(at_kernel_buffer_bytes(f->kernel, SIZE_MAX) == 0);
    assert_string_equal(at_status_name((at_status)99), "unknown");
    assert_string_equal(at_rule_name((at_rule)-1), "unknown");
}

TEST_IN(a_variable_that_makes_no_sense_is_named, set_up, tear_down)
{
    fixture *f = *state;
    at_choice *choice;
    const at_variable wrong[] = {
        {"n", (at_kind)7, 0, 0, NULL}, at_text("dtype", NULL), {NULL, AT_KIND_INTEGER, 0, 0, NULL}};
    static const char *const messages[] = {"'n' has an invalid kind", "'dtype' is NULL",
                                           "has no name"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(at_pick(f->results, "copied", &h200, &wrong[i], 1, &choice, &f->error),
                         AT_USAGE);
        assert_non_null(strstr(f->error.message, messages[i]));
        assert_null(choice);
    }
    at_gpu unended;
    memset(&unended, 'x', sizeof unended);
    unended.major = 9;
    const at_variable n[] = {at_integer("n", 4096)};
    assert_ok(at_pick(f->results, "copied", &unended, n, 1, &choice, &f->error), f->error);
    at_choice_free(choice);
}

static char *copy_of_environment(void)
{
    size_t used = 0;
    for (char **v = environ; *v; v++)
        used += strlen(*v) + 1;
    char *copy = malloc(used + 1), *at = copy;
    assert_non_null(copy);
    for (char **v = environ; *v; v++)
        at = stpcpy(stpcpy(at, *v), "\n");
    *at = '\0';
    return copy;
}

enum { THREADS = 16 };

/* Runs as a thread of a program: opens the results, picks, prepares and launches. */
static void *use_library(void *context)
{
    const fixture *f = context;
    fixture own = {.options = f->options, .cuda = f->cuda};
    CUcontext current;
    own.cuda.cuDevicePrimaryCtxRetain(&current, 0);
    own.cuda.cuCtxSetCurrent(current);
    const at_variable n[] = {at_integer("n", 4096)};
    bool fine = true;
    for (int i = 0; i < 4 && fine; i++) {
        at_gpu gpu;
        fine = !at_open(results_dir, &own.results, &own.error) &&
               !at_current_gpu(&gpu, &own.error) &&
               !at_pick(own.results, "copied", NULL, n, 1, &own.choice, &own.error) &&
               !at_prepare(own.choice, &own.options, &own.kernel, &own.error) &&
               at_kernel_buffer_count(own.kernel) == 2;
        at_kernel_free(own.kernel);
        at_choice_free(own.choice);
        at_close(own.results);
        own.kernel = NULL;
        own.choice = NULL;
        own.results = NULL;
    }
    return fine ? NULL : (void *)(uintptr_t)1;
}

TEST_IN(many_threads_leave_the_callers_environment_alone, set_up, tear_down)
{
    fixture *f = *state;
    unsetenv("CUDA_MODULE_LOADING");
    char *before = copy_of_environment();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_library, f), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    char *after = copy_of_environment();
    assert_string_equal(after, before);
    free(before);
    free(after);
}

TEST_GROUP(library_use_fake_driver, NULL)
