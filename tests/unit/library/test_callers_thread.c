/* Tests that results of libautotune do not depend on the state of the calling thread (locale,
 * rounding mode, traps), and that libautotune keeps this state. tests/locale/comma.sh runs all
 * tests of the library in a locale with a decimal comma. */
#define _GNU_SOURCE /* for feenableexcept */
#include <fenv.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune.h"
#include "base/file.h"
#include "check.h"
#include "cuda/driver.h"
#include "temporary.h"

static const char script_path[] = TEST_SOURCE_DIR "/tests/fixtures/fractions.lua";
static const at_gpu h200 = {"NVIDIA H200", 9, 0};
static const char record[] = "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": "
                             "\"fractions\", \"gpu\": \"NVIDIA H200\","
                             " \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": "
                             "{\"n\": 4096, \"s\": 1.5}, \"configuration\":"
                             " {\"f\": 0.25, \"block\": 128}, \"time\": {\"median_ns\": 1995, "
                             "\"low_ns\": 1985, \"high_ns\": 2005}}]}";

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
    cuda_driver cuda;
    at_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    char path[TEMPORARY_BYTES + 64];
    CUcontext context;
    f = (fixture){0};
    temporary_make(f.folder);
    snprintf(path, sizeof path, "%s/results/nvidia-h200", f.folder);
    assert_ok(file_make_folder(path, &f.error), f.error);
    snprintf(path, sizeof path, "%s/results/nvidia-h200/fractions.json", f.folder);
    assert_ok(file_replace(path, record, strlen(record), &f.error), f.error);
    assert_ok(cuda_driver_open(&f.cuda, &f.error), f.error);
    f.cuda.cuDevicePrimaryCtxRetain(&context, 0);
    f.cuda.cuCtxSetCurrent(context);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    cuda_driver_close(&f->cuda);
    temporary_remove(f->folder);
    return 0;
}

/* Picks from a record and prepares a kernel. Record, script and source have fractions. */
static void use_fractions(fixture *f)
{
    char results_path[TEMPORARY_BYTES + 16];
    at_results *results;
    at_choice *choice;
    at_kernel *kernel;
    at_variable value;
    const at_variable problem[] = {at_integer("n", 4096), at_number("s", 1.5)};
    snprintf(results_path, sizeof results_path, "%s/results", f->folder);
    assert_ok(at_open(results_path, &results, &f->error), f->error);
    assert_ok(at_pick(results, "fractions", &h200, problem, 2, &choice, &f->error), f->error);
    assert_int_equal(at_choice_rule(choice), AT_RULE_EXACT);
    assert_string_equal(at_choice_text(choice), "f=0.25,block=128");
    assert_ok(at_choice_get(choice, "f", &value, &f->error), f->error);
    assert_int_equal(value.kind, AT_KIND_NUMBER);
    const double quarter = 0.25;
    assert_memory_equal(&value.number, &quarter, sizeof quarter);
    const at_kernel_options options = {
        .script = script_path, .share = TEST_BINARY_DIR "/share/autotune", .cache = f->folder};
    assert_ok(at_prepare(choice, &options, &kernel, &f->error), f->error);
    assert_string_equal(at_kernel_text(kernel), "f=0.25,block=128");
    assert_non_null(strstr(at_kernel_source(kernel), "= 0.25f * 1.5f;"));
    /* A thread that rounds down would write 0.37. To even, 0.375 becomes 0.38. */
    assert_non_null(strstr(at_kernel_source(kernel), "0.25 of 1.5, rounded 0.38."));
    at_kernel_free(kernel);
    at_choice_free(choice);
    at_close(results);
}

TEST_IN(fractions_have_a_point_in_the_callers_locale, set_up, tear_down)
{
    const char *wanted = getenv("COMMA_LOCALE") ? "," : ".";
    assert_string_equal(localeconv()->decimal_point, wanted);
    use_fractions(*state);
    assert_string_equal(localeconv()->decimal_point, wanted);
}

TEST_IN(fractions_have_a_point_in_the_callers_threads_locale, set_up, tear_down)
{
    const char *name = getenv("COMMA_LOCALE");
    locale_t own = newlocale(LC_ALL_MASK, name ? name : "C.UTF-8", (locale_t)0);
    assert_non_null(own);
    locale_t before = uselocale(own);
    use_fractions(*state);
    assert_ptr_equal(uselocale((locale_t)0), own);
    uselocale(before);
    freelocale(own);
}

TEST_IN(the_callers_rounding_and_traps_are_not_ours, set_up, tear_down)
{
    static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fenv_t before;
    fegetenv(&before);
    for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++) {
        fesetround(roundings[i]);
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
        use_fractions(*state);
        assert_int_equal(fegetround(), roundings[i]);
        assert_int_equal(fegetexcept(), FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
        fesetenv(&before);
    }
}

static int prepare(void **state)
{
    (void)state;
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    return 0;
}

TEST_GROUP(prepare, NULL)
