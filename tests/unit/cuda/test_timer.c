/* Tests times of the CUDA device, with a fake driver and a fake NVML. */
#include <stdlib.h>

#include "check.h"
#include "cuda/cuda.h"
#include "cuda/queue.h"

static const int64_t ramp_ns = INT64_C(300) * 1000 * 1000;

/* Returns the warm-up time, by the device's clock, of a chip of at most 1500 MHz. `clock_mhz` is
 * the reported clock, or NULL if the board reports no clock. */
static int64_t warm_up_ns(const char *clock_mhz)
{
    device *d;
    at_error error = {0};
    if (clock_mhz)
        setenv("FAKE_NVML_CLOCK_MHZ", clock_mhz, 1);
    else
        unsetenv("FAKE_NVML_CLOCK_MHZ");
    assert_ok(device_cuda_api.open("cuda:0", &d, &error), error);
    assert_ok(device_cuda_api.hardware->start(d, &error), error);
    int64_t start_ns = d->cuda.clock_ns();
    assert_ok(device_cuda_api.hardware->warm_up(d, &error), error);
    int64_t took_ns = d->cuda.clock_ns() - start_ns;
    device_cuda_api.close(d);
    return took_ns;
}

TEST(a_chip_is_warmed_up_until_its_clock_has_had_time_to_climb)
{
    assert_true(warm_up_ns("900") >= ramp_ns);
    assert_true(warm_up_ns(NULL) >= ramp_ns);
}

TEST(a_chip_at_its_top_clock_is_not_warmed_up)
{
    int64_t took_ns = warm_up_ns("1500");
    assert_true(took_ns > 0 && took_ns < ramp_ns / 2);
}

static int prepare(void **state)
{
    (void)state;
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    setenv("AUTOTUNE_LIBNVML", FAKE_NVML_LIBRARY, 1);
    return 0;
}

TEST_GROUP(prepare, NULL)
