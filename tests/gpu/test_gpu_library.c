/* Tests libautotune on a GPU. It makes a kernel from a recorded configuration. The kernel runs in
 * the caller's context. */
#include <stdlib.h>

#include "autotune.h"
#include "cuda/driver.h"
#include "gpu_fixture.h"
#include "temporary.h"

typedef struct fixture {
    char cache[TEMPORARY_BYTES];
    cuda_driver cuda;
    CUstream stream;
    at_results *results;
    at_choice *choice;
    at_kernel *kernel;
    at_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    temporary_make(f.cache);
    assert_ok(cuda_driver_open(&f.cuda, &f.error), f.error);
    CUcontext context;
    assert_int_equal(f.cuda.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(f.cuda.cuCtxSetCurrent(context), CUDA_SUCCESS);
    assert_int_equal(f.cuda.cuStreamCreate(&f.stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_ok(at_open(gpu_source("results"), &f.results, &f.error), f.error);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    at_kernel_free(f->kernel);
    at_choice_free(f->choice);
    at_close(f->results);
    f->cuda.cuStreamDestroy(f->stream);
    f->cuda.cuDevicePrimaryCtxRelease(0);
    cuda_driver_close(&f->cuda);
    temporary_remove(f->cache);
    return 0;
}

static void prepare(fixture *f, int64_t rows, int64_t cols)
{
    const at_variable problem[] = {at_integer("rows", rows), at_integer("cols", cols),
                                   at_text("dtype", "float")};
    const at_kernel_options options = {
        .script = gpu_source("lua/transpose.lua"), .share = gpu_source(""), .cache = f->cache};
    assert_ok(at_pick(f->results, "transpose", NULL, problem, 3, &f->choice, &f->error), f->error);
    assert_ok(at_prepare(f->choice, &options, &f->kernel, &f->error), f->error);
    printf("%lld x %lld: %s, %s\n", (long long)rows, (long long)cols,
           at_rule_name(at_kernel_rule(f->kernel)), at_kernel_text(f->kernel));
}

/* Transposes a matrix whose elements are their own indices. Checks every element. */
static void launch_and_check(fixture *f, size_t rows, size_t cols)
{
    const cuda_driver *cuda = &f->cuda;
    size_t bytes = rows * cols * sizeof(uint32_t);
    uint32_t *host;
    CUdeviceptr mapped, src, dst;
    assert_int_equal(at_kernel_buffer_count(f->kernel), 2);
    assert_int_equal(at_kernel_buffer_bytes(f->kernel, 0), bytes);
    assert_int_equal(cuda->cuMemHostAlloc((void **)&host, bytes, CU_MEMHOSTALLOC_DEVICEMAP),
                     CUDA_SUCCESS);
    assert_int_equal(cuda->cuMemHostGetDevicePointer(&mapped, host, 0), CUDA_SUCCESS);
    assert_int_equal(cuda->cuMemAlloc(&src, bytes), CUDA_SUCCESS);
    assert_int_equal(cuda->cuMemAlloc(&dst, bytes), CUDA_SUCCESS);
    for (size_t i = 0; i < rows * cols; i++)
        host[i] = (uint32_t)i;
    assert_int_equal(cuda->cuMemcpyDtoDAsync(src, mapped, bytes, f->stream), CUDA_SUCCESS);
    assert_int_equal(cuda->cuMemsetD8Async(dst, 0xff, bytes, f->stream), CUDA_SUCCESS);
    const uint64_t buffers[] = {src, dst};
    assert_ok(at_launch(f->kernel, f->stream, buffers, &f->error), f->error);
    assert_int_equal(cuda->cuMemcpyDtoHAsync(host, dst, bytes, f->stream), CUDA_SUCCESS);
    assert_int_equal(cuda->cuStreamSynchronize(f->stream), CUDA_SUCCESS);
    size_t wrong = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            wrong += host[c * rows + r] != (uint32_t)(r * cols + c);
    assert_int_equal(wrong, 0);
    cuda->cuMemFree(src);
    cuda->cuMemFree(dst);
    cuda->cuMemFreeHost(host);
}

static void a_recorded_problem_runs_as_it_was_measured(void **state)
{
    fixture *f = *state;
    prepare(f, 8192, 8192);
    launch_and_check(f, 8192, 8192);
}

static void a_problem_that_was_not_recorded_runs(void **state)
{
    fixture *f = *state;
    prepare(f, 1003, 517);
    launch_and_check(f, 1003, 517);
}

static void a_kernel_from_the_cache_runs(void **state)
{
    fixture *f = *state;
    prepare(f, 2048, 4096);
    at_kernel_free(f->kernel);
    at_choice_free(f->choice);
    prepare(f, 2048, 4096);
    launch_and_check(f, 2048, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_recorded_problem_runs_as_it_was_measured, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_problem_that_was_not_recorded_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kernel_from_the_cache_runs, set_up, tear_down),
    };
    return gpu_run(tests);
}
