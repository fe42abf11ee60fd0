/* Tests times of calls, by events of a fake driver and by the host's clock. */
#include "library/sites.h"

#include <stdlib.h>
#include <string.h>

#include "autotune.h"
#include "check.h"
#include "cuda/driver.h"
#include "temporary.h"

typedef struct fixture {
    cuda_driver cuda;
    CUstream stream;
    site_timer *timer;
    at_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    CUcontext context;
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    assert_ok(cuda_driver_open(&f.cuda, &f.error), f.error);
    f.cuda.cuDevicePrimaryCtxRetain(&context, 0);
    f.cuda.cuCtxSetCurrent(context);
    assert_int_equal(f.cuda.cuStreamCreate(&f.stream, 0), CUDA_SUCCESS);
    assert_ok(site_timer_events(&f.timer, &f.error), f.error);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    f->timer->api->close(f->timer);
    f->cuda.cuStreamDestroy(f->stream);
    cuda_driver_close(&f->cuda);
    return 0;
}

TEST_IN(a_call_is_timed_by_events_of_its_stream, set_up, tear_down)
{
    fixture *f = *state;
    const site_timer_api *api = f->timer->api;
    for (int i = 0; i < 3; i++) {
        bool hidden = true;
        int64_t time_ns = 0;
        site_mark *m = api->begin(f->timer, f->stream, &hidden);
        assert_non_null(m);
        assert_false(hidden); /* nothing was queued before the call */
        assert_true(api->end(f->timer, m, f->stream, 0));
        assert_int_equal(api->ask(f->timer, m, &time_ns), 1);
        assert_true(time_ns > 0);
        api->give(f->timer, m);
    }
}

TEST_IN(a_launch_that_is_captured_is_not_timed, set_up, tear_down)
{
    fixture *f = *state;
    const site_timer_api *api = f->timer->api;
    CUgraph graph;
    bool hidden;
    site_mark *m = api->begin(f->timer, f->stream, &hidden);
    f->cuda.cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_null(api->begin(f->timer, f->stream, &hidden));
    assert_false(api->end(f->timer, m, f->stream, 0));
    f->cuda.cuStreamEndCapture(f->stream, &graph);
    f->cuda.cuGraphDestroy(graph);
    api->give(f->timer, m);
}

TEST_IN(without_a_context_nothing_is_timed_and_sites_say_so, set_up, tear_down)
{
    fixture *f = *state;
    bool hidden;
    at_sites *sites = NULL;
    CUcontext context;
    f->cuda.cuCtxGetCurrent(&context);
    f->cuda.cuCtxSetCurrent(NULL);
    assert_null(f->timer->api->begin(f->timer, f->stream, &hidden));
    assert_int_equal(at_sites_open(NULL, &sites, &f->error), AT_NO_DEVICE);
    assert_non_null(strstr(f->error.message, "AT_SITE_CLOCK_HOST"));
    f->cuda.cuCtxSetCurrent(context);
}

TEST_IN(a_program_with_a_gpu_has_a_store_for_it, set_up, tear_down)
{
    fixture *f = *state;
    char folder[TEMPORARY_BYTES];
    at_sites *sites = NULL;
    at_site *site = NULL;
    at_values values;
    static const int64_t blocks[] = {128, 256};
    const at_parameter block = at_integers("block", blocks, 2);
    temporary_make(folder);
    const at_sites_options options = {.folder = folder};
    assert_ok(at_sites_open(&options, &sites, &f->error), f->error);
    assert_ok(at_site_open(sites, "axpy", NULL, 0, &block, 1, &site, &f->error), f->error);
    for (int i = 0; i < 5000; i++) {
        assert_ok(at_site_begin(site, f->stream, &values, &f->error), f->error);
        assert_ok(at_site_end(site, f->stream, &values, &f->error), f->error);
    }
    at_site_report report;
    assert_ok(at_site_get(site, &report, &f->error), f->error);
    assert_int_equal(report.state, AT_SITE_DECIDED);
    at_sites_close(sites);
    temporary_remove(folder);
}
