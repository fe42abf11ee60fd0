/* Tests the time for which a device worker leaves the GPU to other programs. */
#include "bench/turn.h"
#include "check.h"

static const int64_t ms = 1000000;

TEST(rests_make_work_its_share_of_the_time)
{
    gpu_pace p = {.share = 0.1};
    int64_t now_ns = 1000 * ms, worked_ns = 0, start_ns = now_ns;
    gpu_pace_begin(&p, now_ns);
    for (int i = 0; i < 1000; i++) {
        int64_t piece_ns = (1 + i % 3) * ms;
        now_ns += piece_ns;
        worked_ns += piece_ns;
        int64_t rest_ns = gpu_pace_rest(&p, now_ns);
        now_ns += rest_ns;
        if (rest_ns)
            gpu_pace_begin(&p, now_ns);
    }
    double share = (double)worked_ns / (double)(now_ns - start_ns);
    assert_true(share > 0.099 && share < 0.101 + 0.1 * 5 / 1000);
}

TEST(short_work_is_not_interrupted)
{
    gpu_pace p = {.share = 0.5};
    gpu_pace_begin(&p, 0);
    for (int64_t now_ns = ms; now_ns <= GPU_PACE_WORK_NS; now_ns += ms)
        assert_int_equal(gpu_pace_rest(&p, now_ns), 0);
    assert_int_equal(gpu_pace_rest(&p, GPU_PACE_WORK_NS + ms), GPU_PACE_WORK_NS + ms);
}

TEST(time_without_work_is_no_credit)
{
    gpu_pace p = {.share = 0.1};
    gpu_pace_begin(&p, 0);
    gpu_pace_rest(&p, ms);
    gpu_pace_begin(&p, 100000 * ms);
    assert_int_equal(gpu_pace_rest(&p, 100010 * ms), 90 * ms);
}

TEST(rest_that_earlier_work_needs_is_taken_later)
{
    gpu_pace p = {.share = 0.5};
    gpu_pace_begin(&p, 0);
    gpu_pace_rest(&p, 100 * ms); /* the request ends here, without a rest */
    gpu_pace_begin(&p, 110 * ms);
    assert_int_equal(gpu_pace_rest(&p, 110 * ms), 90 * ms);
}

TEST(all_of_the_time_needs_no_rest)
{
    gpu_pace p = {.share = 1};
    gpu_pace_begin(&p, 0);
    assert_int_equal(gpu_pace_rest(&p, 100000 * ms), 0);
}
