/* Tests how libautotune compiles and launches the picked configurations. */

#include "base/clock.h"
#include "library/library.h"
#include "library/source.h"
#include "library_fixture.h"

/* Launches the prepared kernel on two buffers. Asserts that it copied src to dst. */
static void launch_and_check(fixture *f, size_t n)
{
    CUdeviceptr src, dst;
    CUstream stream;
    assert_int_equal(at_kernel_buffer_count(f->kernel), 2);
    assert_string_equal(at_kernel_buffer_name(f->kernel, 0), "src");
    assert_int_equal(at_kernel_buffer_bytes(f->kernel, 1), 4 * n);
    f->cuda.cuMemAlloc(&src, 4 * n);
    f->cuda.cuMemAlloc(&dst, 4 * n);
    f->cuda.cuStreamCreate(&stream, 0);
    /* The fake driver's device memory is host memory. */
    memset((void *)(uintptr_t)src, 7, 4 * n);
    const uint64_t buffers[] = {src, dst};
    assert_ok(at_launch(f->kernel, stream, buffers, &f->error), f->error);
    f->cuda.cuStreamSynchronize(stream);
    assert_memory_equal((void *)(uintptr_t)dst, (void *)(uintptr_t)src, 4 * n);
    f->cuda.cuStreamDestroy(stream);
    f->cuda.cuMemFree(src);
    f->cuda.cuMemFree(dst);
}

TEST_IN(a_choice_becomes_a_kernel_that_runs, set_up, tear_down)
{
    fixture *f = *state;
    pick_size(f, &h200, 4096);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    assert_int_equal(at_kernel_rule(f->kernel), AT_RULE_EXACT);
    assert_string_equal(at_kernel_text(f->kernel), "block=256,vec=4,shared=65536");
    assert_non_null(strstr(at_kernel_source(f->kernel), "__launch_bounds__(256)"));
    /* The fake driver checks that the launch asks for 64 KiB of dynamic shared memory. */
    launch_and_check(f, 4096);
}

TEST_IN(what_is_impossible_for_the_problem_gives_way, set_up, tear_down)
{
    fixture *f = *state;
    /* The nearest problem is 4096, but vectors of 4 do not divide 4098. The next problem has
     * vectors of 2. */
    pick_size(f, &h200, 4098);
    assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    assert_int_equal(at_kernel_rule(f->kernel), AT_RULE_NEAREST);
    assert_string_equal(at_kernel_text(f->kernel), "block=512,vec=2,shared=0");
    launch_and_check(f, 4098);
    /* No vectors divide 4099, so only the script's default remains. */
    pick_size(f, &h200, 4099);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    assert_int_equal(at_kernel_rule(f->kernel), AT_RULE_DEFAULT);
    assert_string_equal(at_kernel_text(f->kernel), "block=64,vec=1,shared=0");
    launch_and_check(f, 4099);
}

TEST_IN(a_cached_kernel_needs_no_compiler, set_up, tear_down)
{
    fixture *f = *state;
    pick_size(f, &h200, 4096);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    at_kernel_free(f->kernel);
    f->kernel = NULL;
    setenv("AUTOTUNE_NVRTC", "/no/such/library", 1);
    at_status cached = at_prepare(f->choice, &f->options, &f->kernel, &f->error);
    at_kernel *none;
    f->options.no_cache = 1;
    at_status fresh = at_prepare(f->choice, &f->options, &none, NULL);
    unsetenv("AUTOTUNE_NVRTC");
    assert_ok(cached, f->error);
    assert_int_equal(fresh, AT_NO_TOOLCHAIN);
    assert_null(none);
    launch_and_check(f, 4096);
}

/* Writes a record for the installed pattern `textured`, with an entry for a small image. */
static void prepare_textured(fixture *f)
{
    static const char written[] =
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"textured\", \"gpu\": "
        "\"NVIDIA H200\", \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": "
        "{\"rows\": 20, \"cols\": 24}, \"configuration\": {\"reads\": \"texture\", \"block_x\": "
        "32, \"block_y\": 4}, \"time\": {\"median_ns\": 2000, \"low_ns\": 1990, "
        "\"high_ns\": 2010}}]}";
    const at_variable problem[] = {at_integer("rows", 20), at_integer("cols", 24)};
    setenv("AUTOTUNE_SHARE", TEST_BINARY_DIR "/share/autotune", 1);
    open_record(f, "textured", written);
    assert_ok(at_pick(f->results, "textured", &h200, problem, 2, &f->choice, &f->error), f->error);
    f->options.script = NULL;
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    unsetenv("AUTOTUNE_SHARE");
}

/* The fake driver's kernel accepts only a texture of its own buffer. */
TEST_IN(a_kernel_reads_textures_of_the_buffers_of_its_launch, set_up, tear_down)
{
    enum { ROWS = 20, COLS = 24 };
    fixture *f = *state;
    CUdeviceptr src[2], dst;
    CUstream stream;
    prepare_textured(f);
    f->cuda.cuStreamCreate(&stream, 0);
    f->cuda.cuMemAlloc(&dst, 4 * ROWS * COLS);
    for (int i = 0; i < 2; i++) {
        f->cuda.cuMemAlloc(&src[i], 4 * ROWS * COLS);
        float *values = (float *)(uintptr_t)src[i];
        for (int n = 0; n < ROWS * COLS; n++)
            values[n] = (float)(i + 1);
    }
    for (int i = 0; i < 4; i++) {
        const uint64_t buffers[] = {src[i % 2], dst};
        assert_ok(at_launch(f->kernel, stream, buffers, &f->error), f->error);
        f->cuda.cuStreamSynchronize(stream);
        /* The filter's weights add up to 16. */
        assert_true(((const float *)(uintptr_t)dst)[5 * COLS + 5] == 16.0f * (float)(i % 2 + 1));
    }
    f->cuda.cuMemFree(dst);
    f->cuda.cuMemFree(src[0]);
    f->cuda.cuMemFree(src[1]);
    f->cuda.cuStreamDestroy(stream);
}

TEST_IN(a_captured_launch_is_the_graphs, set_up, tear_down)
{
    enum { N = 4096 };
    fixture *f = *state;
    CUdeviceptr src, dst;
    CUstream stream;
    CUgraph graph;
    CUgraphExec launches;
    pick_size(f, &h200, N);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    f->cuda.cuMemAlloc(&src, 4 * N);
    f->cuda.cuMemAlloc(&dst, 4 * N);
    f->cuda.cuStreamCreate(&stream, 0);
    memset((void *)(uintptr_t)dst, 0, 4 * N);
    const uint64_t buffers[] = {src, dst};
    assert_int_equal(f->cuda.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
    assert_ok(at_launch(f->kernel, stream, buffers, &f->error), f->error);
    assert_int_equal(f->cuda.cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(f->cuda.cuGraphInstantiate(&launches, graph, 0), 0);
    assert_int_equal(f->cuda.cuGraphUpload(launches, stream), 0);
    assert_int_equal(*(const char *)(uintptr_t)dst, 0);
    for (int round = 1; round < 3; round++) {
        memset((void *)(uintptr_t)src, round, 4 * N);
        assert_int_equal(f->cuda.cuGraphLaunch(launches, stream), 0);
        f->cuda.cuStreamSynchronize(stream);
        assert_memory_equal((void *)(uintptr_t)dst, (void *)(uintptr_t)src, 4 * N);
    }
    f->cuda.cuGraphExecDestroy(launches);
    f->cuda.cuGraphDestroy(graph);
    f->cuda.cuStreamDestroy(stream);
    f->cuda.cuMemFree(src);
    f->cuda.cuMemFree(dst);
}

TEST_IN(headers_are_found_in_folders_that_the_program_names, set_up, tear_down)
{
    static const char header[] = "#define FACTOR 1\n";
    changing c;
    fixture *f = *state;
    char folder[TEMPORARY_BYTES + 16], path[TEMPORARY_BYTES + 40];
    set_up_changing(&c, f);
    snprintf(folder, sizeof folder, "%s/include", f->folder);
    assert_ok(file_make_folder(folder, &f->error), f->error);
    snprintf(path, sizeof path, "%s/factor.h", folder);
    assert_ok(file_replace(path, header, strlen(header), &f->error), f->error);
    snprintf(path, sizeof path, "%s/with_header.cu.tmpl", f->folder);
    copy(TEST_SOURCE_DIR "/tests/fixtures/copied.cu.tmpl", path, "extern",
         "#include \"factor.h\"\nstatic_assert(FACTOR == 1, \"\");\nextern");
    snprintf(path, sizeof path, "%s/scale_ref.cu.tmpl", f->folder);
    copy(TEST_SOURCE_DIR "/tests/fixtures/scale_ref.cu.tmpl", path, NULL, NULL);
    snprintf(path, sizeof path, "%s/with_header.lua", f->folder);
    copy(script_path, path, "copied.cu.tmpl", "with_header.cu.tmpl");
    pick_size(f, &h200, 4096);
    f->options.script = path;
    assert_int_equal(at_prepare(f->choice, &f->options, &f->kernel, &f->error), AT_COMPILE);
    assert_non_null(strstr(f->error.message, "factor.h"));
    const char *const includes[] = {folder};
    f->options.includes = includes;
    f->options.include_count = 1;
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    launch_and_check(f, 4096);
}

/* The kernel is compiled but not launched, because the fake driver has no kernel of this name. */
TEST_IN(a_kernels_own_file_is_compiled, set_up, tear_down)
{
    static const char written[] =
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"saxpy\", \"gpu\": "
        "\"NVIDIA H200\", \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": {\"n\": "
        "4096, \"a\": 2.0}, \"configuration\": {\"BLOCK\": 128, \"VEC\": 4}, \"time\": "
        "{\"median_ns\": 2000, \"low_ns\": 1990, \"high_ns\": 2010}}]}";
    fixture *f = *state;
    library_source source;
    arch_limits limits;
    const at_variable problem[] = {at_integer("n", 4096), at_number("a", 2)};
    open_record(f, "saxpy", written);
    assert_ok(at_pick(f->results, "saxpy", &h200, problem, 2, &f->choice, &f->error), f->error);
    f->options.script = TEST_SOURCE_DIR "/tests/fixtures/saxpy.cu";
    assert_ok(arch_find("sm_90", &limits, &f->error), f->error);
    /* at_prepare() resets its thread in this way, so that the program's locale does not matter. */
    thread_state before;
    assert_ok(thread_state_reset(&before, &f->error), f->error);
    assert_ok(library_source_init(&source, f->choice, &f->options, &limits, "sm_90", &f->error),
              f->error);
    thread_state_restore(&before);
    assert_string_equal(source.text, "BLOCK=128,VEC=4");
    assert_int_equal(source.problem.buffer_count, 2);
    assert_true(source.cubin_bytes > 0);
    library_source_deinit(&source);
}

TEST_IN(a_launch_that_the_driver_refuses_is_an_error, set_up, tear_down)
{
    fixture *f = *state;
    uint64_t buffers[2] = {0};
    pick_size(f, &h200, 4096);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    /* The fake driver refuses NULL and accepts only its own streams. */
    assert_int_equal(at_launch(f->kernel, NULL, buffers, &f->error), AT_DEVICE);
    assert_non_null(strstr(f->error.message, "the launch was refused"));
}

TEST_IN(a_script_that_is_nowhere_is_an_error, set_up, tear_down)
{
    fixture *f = *state;
    pick_size(f, &h200, 4096);
    f->options.script = NULL;
    assert_int_equal(at_prepare(f->choice, &f->options, &f->kernel, &f->error), AT_USAGE);
    assert_non_null(strstr(f->error.message, "copied"));
    f->options.share = "/no/such/folder";
    assert_int_equal(at_prepare(f->choice, &f->options, &f->kernel, &f->error), AT_NOT_FOUND);
    assert_null(f->kernel);
}

TEST_GROUP(library_use_fake_driver, NULL)
