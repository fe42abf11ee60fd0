#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compile.h"

static const char transpose[] =
    "#line 5 \"transpose.cu.tmpl\"\n"
    "extern \"C\" __global__ void transpose(const float *src, float *dst, int rows, int cols)\n"
    "{\n"
    "    __shared__ float tile[32][PAD + 32];\n"
    "    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n"
    "    if (x < cols && y < rows)\n"
    "        tile[threadIdx.y][threadIdx.x] = src[(size_t)y * cols + x];\n"
    "    __syncthreads();\n"
    "    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;\n"
    "    if (x < rows && y < cols)\n"
    "        dst[(size_t)y * rows + x] = tile[threadIdx.x][threadIdx.y];\n"
    "}\n";

static compile_request request_of(uint64_t id, const char *source)
{
    return (compile_request){
        .id = id, .source = source, .name = "test.cu", .entry = "k", .arch = "sm_90"};
}

static compile_pool *open_pool(int jobs, int timeout_s)
{
    at_error error = {0};
    compile_pool *pool;
    compile_options o = {.jobs = jobs, .timeout_s = timeout_s};
    assert_ok(compile_pool_new(&o, &pool, &error), error);
    return pool;
}

static compile_result compile_one(compile_pool *pool, const compile_request *r)
{
    at_error error = {0};
    compile_result result;
    assert_ok(compile_submit(pool, r, &error), error);
    assert_ok(compile_take(pool, -1, &result, &error), error);
    assert_int_equal(result.id, r->id);
    return result;
}

static void a_kernel_becomes_a_cubin_with_its_resources(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(1, 0);
    assert_non_null(strchr(compile_nvrtc_version(pool), '.'));
    assert_non_null(strstr(compile_nvrtc_path(pool), "nvrtc"));
    const char *const options[] = {"-DPAD=1"};
    compile_request r = request_of(7, transpose);
    r.entry = "transpose";
    r.options = options;
    r.option_count = 1;
    compile_result result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_OK);
    assert_true(result.cubin_bytes > 64);
    assert_memory_equal(result.cubin, "\177ELF", 4);
    assert_null(result.ptx);
    assert_int_equal(result.resources.static_shared_bytes, 32 * 33 * 4);
    assert_int_equal(result.resources.barriers, 1);
    assert_in_range(result.resources.registers, 8, 64);
    assert_string_equal(result.log, "");
    assert_true(result.time_ns > 0);
    assert_false(result.cached);
    compile_result_deinit(&result);
    assert_int_equal(compile_pending(pool), 0);
    compile_pool_free(pool);
}

static void ptx_comes_with_the_templates_own_lines(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(1, 0);
    const char *const options[] = {"-DPAD=0"};
    compile_request r = request_of(1, transpose);
    r.entry = "transpose";
    r.options = options;
    r.option_count = 1;
    r.want_ptx = true;
    compile_result result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_OK);
    assert_non_null(result.cubin);
    assert_int_equal(strlen(result.ptx), result.ptx_bytes);
    assert_non_null(strstr(result.ptx, ".entry transpose("));
    assert_non_null(strstr(result.ptx, ".loc"));
    assert_non_null(strstr(result.ptx, "transpose.cu.tmpl"));
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

static void an_error_names_the_templates_line_and_the_next_source_compiles(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(1, 0);
    compile_request wrong =
        request_of(1, "#line 40 \"mine.tmpl\"\nextern \"C\" __global__ void k(int *p) { *p = q; }");
    compile_result result = compile_one(pool, &wrong);
    assert_int_equal(result.outcome, COMPILE_ERROR);
    assert_non_null(strstr(result.log, "mine.tmpl(40)"));
    assert_null(strstr(result.log, "ptxas info"));
    assert_null(result.cubin);
    compile_result_deinit(&result);

    compile_request right = request_of(2, "extern \"C\" __global__ void k(int *p) { *p = 1; }");
    result = compile_one(pool, &right);
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);

    right.entry = "kernel";
    right.id = 3;
    result = compile_one(pool, &right);
    assert_int_equal(result.outcome, COMPILE_ERROR);
    assert_non_null(strstr(result.log, "no kernel 'kernel'"));
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_becomes_a_cubin_with_its_resources),
        cmocka_unit_test(ptx_comes_with_the_templates_own_lines),
        cmocka_unit_test(an_error_names_the_templates_line_and_the_next_source_compiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
