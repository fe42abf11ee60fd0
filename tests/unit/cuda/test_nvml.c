#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda/nvml.h"

static const char uuid[] = "GPU-00000000-0000-0000-0000-000000000000";

static int use_fake(void **state)
{
    (void)state;
    static const char *const names[] = {
        "FAKE_NVML_INIT",      "FAKE_NVML_CLOCK_MHZ", "FAKE_NVML_THROTTLE", "FAKE_NVML_POWER_MW",
        "FAKE_NVML_ENERGY_MJ", "FAKE_NVML_PROCESSES", "FAKE_NVML_NAMES",    "FAKE_NVML_MIG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    return setenv("AUTOTUNE_LIBNVML", FAKE_NVML_LIBRARY, 1);
}

TEST_IN(readings_have_the_units_of_the_header, use_fake, NULL)
{
    setenv("FAKE_NVML_CLOCK_MHZ", "1980", 1);
    setenv("FAKE_NVML_THROTTLE", "0x24", 1);
    setenv("FAKE_NVML_POWER_MW", "512345", 1);
    setenv("FAKE_NVML_ENERGY_MJ", "98765432101", 1);
    nvml *n;
    at_error error = {0};
    assert_ok(nvml_open(uuid, &n, &error), error);
    board_reading r;
    nvml_read(n, &r);
    assert_true(r.sm_clock_khz == 1980e3);
    assert_true(r.throttle == 0x24);
    assert_true(r.power_w == 512.345);
    assert_true(r.energy_mj == UINT64_C(98765432101));
    nvml_close(n);
}

TEST_IN(unsupported_readings_are_zero, use_fake, NULL)
{
    setenv("FAKE_NVML_CLOCK_MHZ", "1980", 1);
    nvml *n;
    at_error error = {0};
    assert_ok(nvml_open(uuid, &n, &error), error);
    board_reading r;
    memset(&r, 0xff, sizeof r);
    nvml_read(n, &r);
    assert_true(r.sm_clock_khz == 1980e3);
    assert_true(r.throttle == 0 && r.power_w == 0 && r.energy_mj == 0);
    nvml_close(n);
}

static void expect_others(const char *processes, uint32_t wanted)
{
    nvml *n;
    at_error error = {0};
    if (processes)
        setenv("FAKE_NVML_PROCESSES", processes, 1);
    assert_ok(nvml_open(uuid, &n, &error), error);
    assert_int_equal(nvml_count_others(n), wanted);
    nvml_close(n);
}

TEST_IN(other_processes_do_not_include_the_tuner, use_fake, NULL)
{
    expect_others(NULL, 0); /* the board does not report processes */
    expect_others("0", 0);  /* as in a container, where NVML does not see the tuner's process */
    expect_others("1", 0);
    expect_others("3", 2);
    assert_int_equal(nvml_count_others(NULL), 0);
}

TEST_IN(an_unknown_gpu_is_an_error_that_names_it, use_fake, NULL)
{
    nvml *n;
    at_error error = {0};
    assert_int_equal(nvml_open("GPU-1", &n, &error), AT_NO_DEVICE);
    assert_null(n);
    assert_non_null(strstr(error.message, "GPU-1"));
    assert_non_null(strstr(error.message, "Not Found"));
}

TEST_IN(a_library_that_does_not_start_is_an_error, use_fake, NULL)
{
    setenv("FAKE_NVML_INIT", "9", 1);
    nvml *n;
    at_error error = {0};
    assert_int_equal(nvml_open(uuid, &n, &error), AT_NO_DEVICE);
    assert_non_null(strstr(error.message, "Some Error"));
}

static at_status find_model(const char *names, char *name, size_t *count)
{
    setenv("FAKE_NVML_NAMES", names, 1);
    return nvml_find_model(name, 64, count, NULL);
}

TEST_IN(equal_gpus_have_a_model, use_fake, NULL)
{
    char name[64];
    size_t count;
    assert_int_equal(find_model("Fake A,Fake A,Fake A", name, &count), AT_OK);
    assert_string_equal(name, "Fake A");
    assert_int_equal(count, 3);
}

TEST_IN(different_or_partitioned_gpus_have_no_model, use_fake, NULL)
{
    char name[64];
    size_t count;
    assert_int_equal(find_model("Fake A,Fake B", name, &count), AT_NO_DEVICE);
    setenv("FAKE_NVML_MIG", "1", 1);
    assert_int_equal(find_model("Fake A,Fake A", name, &count), AT_NO_DEVICE);
    unsetenv("FAKE_NVML_MIG");
    unsetenv("FAKE_NVML_NAMES");
    assert_int_equal(nvml_find_model(name, sizeof name, &count, NULL), AT_NO_DEVICE);
}

TEST_IN(a_missing_library_is_an_error, use_fake, NULL)
{
    setenv("AUTOTUNE_LIBNVML", "/nowhere/libnvidia-ml.so.1", 1);
    nvml *n;
    at_error error = {0};
    assert_int_equal(nvml_open(uuid, &n, &error), AT_NO_DEVICE);
    assert_non_null(strstr(error.message, "/nowhere/"));
}

TEST_IN(a_library_of_another_kind_is_an_error, use_fake, NULL)
{
    setenv("AUTOTUNE_LIBNVML", "libm.so.6", 1);
    nvml *n;
    at_error error = {0};
    assert_int_equal(nvml_open(uuid, &n, &error), AT_NO_DEVICE);
    assert_non_null(strstr(error.message, "lacks"));
}

TEST_IN(without_a_library_everything_is_zero, use_fake, NULL)
{
    board_reading r;
    memset(&r, 0xff, sizeof r);
    nvml_read(NULL, &r);
    assert_true(r.sm_clock_khz == 0 && r.throttle == 0 && r.energy_mj == 0);
    nvml_close(NULL);
}

TEST_IN(throttle_reasons_have_words_and_idleness_is_no_reason, use_fake, NULL)
{
    char text[256];
    assert_string_equal(board_throttle_text(0, text, sizeof text), "");
    assert_string_equal(board_throttle_text(0x103, text, sizeof text), "");
    assert_string_equal(board_throttle_text(0x24, text, sizeof text), "power cap, thermal limit");
    board_throttle_text(UINT64_MAX, text, 12);
    assert_string_equal(text, "power cap, ");
}
