#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "compile/compile.h"
#include "process/confine.h"
#include "temporary.h"

/* Under the sanitizers a worker's memory is not limited: they reserve terabytes for themselves. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

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
    /* Two pointers, two ints, and what the driver passes before them. */
    assert_in_range(result.resources.constant_bytes, 24, 4096);
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

static const char plain[] = "extern \"C\" __global__ void k(int *p) { *p = 1; }";

/* `open`, n times, `middle`, `close`, n times, as the body of a kernel; owned by the caller. */
static char *nested(const char *head, const char *open_text, size_t n, const char *middle,
                    const char *close_text, const char *tail)
{
    size_t size = strlen(head) + n * (strlen(open_text) + strlen(close_text)) + strlen(middle) +
                  strlen(tail) + 1;
    char *source = malloc(size), *at = source;
    assert_non_null(source);
    at = stpcpy(at, head);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, open_text);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, close_text);
    stpcpy(at, tail);
    return source;
}

/* Keeps the preprocessor busy for hours and takes no memory: each macro is the one before it twice, and the
 * first of them is nothing. */
static char *endless_source(void)
{
    enum { DOUBLINGS = 50 };
    char *source = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&source, &size);
    assert_non_null(f);
    fputs("#define D0\n", f);
    for (int i = 1; i <= DOUBLINGS; i++)
        fprintf(f, "#define D%d D%d D%d\n", i, i - 1, i - 1);
    fprintf(f, "extern \"C\" __global__ void k(int *p) { D%d }", DOUBLINGS);
    assert_int_equal(fclose(f), 0);
    return source;
}

static void what_ptxas_refuses_is_said_with_the_templates_line(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(1, 0);
    compile_request large =
        request_of(1, "#line 12 \"mine.tmpl\"\nextern \"C\" __global__ void k(int *p)\n{\n"
                      "    __shared__ int a[16384];\n    a[*p] = 1;\n    __syncthreads();\n"
                      "    *p = a[threadIdx.x];\n}");
    compile_result result = compile_one(pool, &large);
    assert_int_equal(result.outcome, COMPILE_ERROR);
    assert_non_null(strstr(result.log, "mine.tmpl:14: "));
    assert_non_null(strstr(result.log, "too much shared data (0x10000 bytes"));
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

static void declarations_that_the_fast_path_leaves_out_are_found(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(1, 0);
    /* Textures are among what --minimal leaves out. */
    compile_request texture =
        request_of(1, "extern \"C\" __global__ void k(float *p, cudaTextureObject_t t)\n"
                      "{ p[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }");
    for (int i = 0; i < 2; i++) {
        compile_result result = compile_one(pool, &texture);
        assert_string_equal(result.log, "");
        assert_int_equal(result.outcome, COMPILE_OK);
        compile_result_deinit(&result);
    }
    compile_request half =
        request_of(2, "#include <cuda_fp16.h>\n"
                      "extern \"C\" __global__ void k(__half *p) { *p = __hadd(*p, *p); }");
    compile_result result = compile_one(pool, &half);
    assert_string_equal(result.log, "");
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

/* cooperative groups include cuda::std, which CUDA 13 keeps in a folder of its own, as CUB. */
static void cooperative_groups_cuda_std_and_cub_compile(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(1, 0);
    compile_request r =
        request_of(1, "#include <cooperative_groups.h>\n"
                      "#include <cuda/std/array>\n"
                      "#include <cub/block/block_reduce.cuh>\n"
                      "extern \"C\" __global__ void k(float *out)\n"
                      "{\n"
                      "    using Reduce = cub::BlockReduce<float, 64>;\n"
                      "    __shared__ typename Reduce::TempStorage shared;\n"
                      "    cuda::std::array<float, 2> values{1, 2};\n"
                      "    float sum = Reduce(shared).Sum(values[threadIdx.x & 1]);\n"
                      "    auto block = cooperative_groups::this_thread_block();\n"
                      "    sum += cooperative_groups::tiled_partition<32>(block).shfl_down(sum, 1);\n"
                      "    out[threadIdx.x] = sum;\n"
                      "}\n");
    compile_result result = compile_one(pool, &r);
    assert_string_equal(result.log, "");
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

static void headers_of_the_current_folder_are_not_found(void **state)
{
    (void)state;
    char dir[TEMPORARY_BYTES], here[4096];
    temporary_make(dir);
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(dir), 0);
    FILE *f = fopen("secret.h", "w");
    assert_non_null(f);
    fputs("#define SECRET 1\n", f);
    fclose(f);
    compile_pool *pool = open_pool(1, 0);
    compile_request r = request_of(
        1, "#include \"secret.h\"\nextern \"C\" __global__ void k(int *p) { *p = SECRET; }");
    compile_result result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_ERROR);
    assert_non_null(strstr(result.log, "secret.h"));
    compile_result_deinit(&result);
    compile_pool_free(pool);
    assert_int_equal(chdir(here), 0);
    temporary_remove(dir);
}

static void a_header_that_comes_with_the_source_is_found(void **state)
{
    (void)state;
    char dir[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 16];
    temporary_make(dir);
    /* The source lies in a folder with a file of that name, which the worker may not open. */
    snprintf(path, sizeof path, "%s/with.h", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("#error the file was read\n", f);
    fclose(f);
    snprintf(path, sizeof path, "%s/test.cu", dir);
    source_header headers[] = {{"with.h", "#include \"more.h\"\n"}, {"more.h", "#define MORE 3\n"}};
    compile_pool *pool = open_pool(1, 0);
    compile_request r = request_of(
        1, "#include \"with.h\"\nextern \"C\" __global__ void k(int *p) { *p = MORE; }");
    r.name = path;
    r.headers = headers;
    r.header_count = 2;
    compile_result result = compile_one(pool, &r);
    assert_string_equal(result.log, "");
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);
    compile_pool_free(pool);
    temporary_remove(dir);
}

/* Whatever a source that came past every other check names, the worker cannot open it. */
static void a_source_reads_no_file_but_the_toolkits(void **state)
{
    (void)state;
    if (confine_available().landlock_version == 0)
        skip();
    char dir[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 16], source[512];
    temporary_make(dir);
    snprintf(path, sizeof path, "%s/secret", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("#error the-secret-word\n", f);
    fclose(f);
    compile_pool *pool = open_pool(1, 0);
    const char *const names[] = {path, "/proc/self/environ", "/etc/passwd", "/dev/zero"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(source, sizeof source,
                 "#include \"%s\"\nextern \"C\" __global__ void k(int *p) { *p = 1; }", names[i]);
        compile_request r = request_of(i, source);
        compile_result result = compile_one(pool, &r);
        assert_int_equal(result.outcome, COMPILE_ERROR);
        assert_null(strstr(result.log, "the-secret-word"));
        assert_null(strstr(result.log, "root:"));
        assert_non_null(strstr(result.log, "cannot open source file"));
        compile_result_deinit(&result);
    }
    compile_pool_free(pool);
    temporary_remove(dir);
}

static void an_option_that_is_not_on_the_list_is_refused(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(1, 0);
    const char *const options[] = {"-DX=1", "--include-path=/etc"};
    compile_request r = request_of(1, plain);
    r.options = options;
    r.option_count = 2;
    at_error error = {0};
    assert_int_equal(compile_submit(pool, &r, &error), AT_SCRIPT);
    assert_non_null(strstr(error.message, "--include-path=/etc"));
    assert_int_equal(compile_pending(pool), 0);
    compile_pool_free(pool);
}

static void a_source_that_takes_too_long_costs_itself_alone(void **state)
{
    (void)state;
    /* The right one compiles within it on a busy machine too. */
    compile_pool *pool = open_pool(1, 4);
    at_error error = {0};
    char *endless = endless_source();
    compile_request slow = request_of(1, endless), quick = request_of(2, plain);
    assert_ok(compile_submit(pool, &slow, &error), error);
    assert_ok(compile_submit(pool, &quick, &error), error);
    poll_set set;
    poll_set_start(&set, -1);
    compile_poll(pool, &set);
    assert_in_range(set.timeout_ms, 1, 4001);
    compile_result result;
    assert_ok(compile_take(pool, -1, &result, &error), error);
    assert_int_equal(result.id, 1);
    assert_int_equal(result.outcome, COMPILE_TIMEOUT);
    assert_string_equal(result.log, "the compiler did not finish within 4 s");
    compile_result_deinit(&result);
    assert_ok(compile_take(pool, -1, &result, &error), error);
    assert_int_equal(result.id, 2);
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);
    free(endless);
    compile_pool_free(pool);
}

static void a_pool_is_left_in_the_middle_of_its_work(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(2, 0);
    at_error error = {0};
    char *endless = endless_source();
    for (uint64_t i = 0; i < 10; i++) {
        compile_request r = request_of(i, i % 2 ? endless : plain);
        assert_ok(compile_submit(pool, &r, &error), error);
    }
    compile_result result;
    assert_ok(compile_take(pool, -1, &result, &error), error);
    compile_result_deinit(&result);
    compile_pool_free(pool);
    free(endless);
}

static void endless_recursion_in_a_template_is_an_error_of_bounded_length(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(1, 0);
    compile_request r = request_of(
        1, "template <class T> struct P { typedef typename P<P<P<T> *> *>::type type; };\n"
           "extern \"C\" __global__ void k(int *p) { *p = sizeof(P<int>::type); }");
    compile_result result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_ERROR);
    assert_non_null(strstr(result.log, "recursion"));
    assert_true(strlen(result.log) <= 65536);
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

static void a_source_that_eats_memory_costs_itself_alone(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    at_error error = {0};
    compile_pool *pool;
    compile_options o = {.jobs = 1, .memory_limit_bytes = 400 << 20};
    assert_ok(compile_pool_new(&o, &pool, &error), error);
    compile_request r = request_of(
        1, "template <int N, class T> struct A { A<N - 1, A<N, T>> a; A<N - 1, A<N, T *>> "
           "b; };\n"
           "template <class T> struct A<0, T> { char x; };\n"
           "extern \"C\" __global__ void k(int *p) { *p = sizeof(A<40, int>); }");
    compile_result result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_CRASHED);
    compile_result_deinit(&result);
    r = request_of(2, plain);
    result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

static pid_t parent_of(pid_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    int parent = -1;
    if (f && fgets(line, sizeof line, f) && strrchr(line, ')'))
        sscanf(strrchr(line, ')'), ") %*c %d", &parent);
    if (f)
        fclose(f);
    return parent;
}

/* Sends `signal_number` to one of this process's children. */
static bool signal_a_worker(int signal_number, unsigned which)
{
    pid_t children[64];
    unsigned count = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d)) && count < 64;) {
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid > 0 && parent_of(pid) == getpid())
            children[count++] = pid;
    }
    if (d)
        closedir(d);
    return count && kill(children[which % count], signal_number) == 0;
}

/* What a crash of the compiler looks like: its process ends by SIGSEGV, each time it is given that
 * source. */
static void a_source_that_crashes_the_compiler_costs_itself_alone(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(1, 0);
    at_error error = {0};
    char *endless = endless_source();
    compile_request wrong = request_of(1, endless), right = request_of(2, plain);
    assert_ok(compile_submit(pool, &wrong, &error), error);
    assert_ok(compile_submit(pool, &right, &error), error);
    compile_result result;
    int crashes = 0;
    /* A worker that is hit before it has begun does not count; most have begun by then. */
    while (compile_take(pool, 500, &result, &error) == AT_NOT_FOUND) {
        assert_true(++crashes < 20);
        assert_true(signal_a_worker(SIGSEGV, 0));
    }
    assert_true(crashes >= 2);
    assert_int_equal(result.id, 1);
    assert_int_equal(result.outcome, COMPILE_CRASHED);
    assert_string_equal(result.log,
                        "the compile worker was killed by signal 11 (Segmentation fault)");
    compile_result_deinit(&result);
    assert_ok(compile_take(pool, 10000, &result, &error), error);
    assert_int_equal(result.id, 2);
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);
    free(endless);
    compile_pool_free(pool);
}

static void workers_killed_from_outside_lose_nothing(void **state)
{
    (void)state;
    enum { REQUESTS = 90 };
    compile_pool *pool = open_pool(4, 0);
    at_error error = {0};
    int answers[REQUESTS] = {0};
    char source[128];
    for (uint64_t i = 0; i < REQUESTS; i++) {
        snprintf(source, sizeof source, "extern \"C\" __global__ void k(int *p) { *p = %d; }",
                 (int)i);
        compile_request r = request_of(i, source);
        assert_ok(compile_submit(pool, &r, &error), error);
    }
    int kills = 0, crashed = 0;
    for (unsigned i = 0; i < REQUESTS; i++) {
        compile_result result;
        assert_ok(compile_take(pool, -1, &result, &error), error);
        assert_true(result.id < REQUESTS);
        answers[result.id]++;
        crashed += result.outcome == COMPILE_CRASHED;
        assert_true(result.outcome == COMPILE_OK || result.outcome == COMPILE_CRASHED);
        compile_result_deinit(&result);
        if (i % 9 == 4)
            kills += signal_a_worker(SIGKILL, i * 2654435761u >> 16);
    }
    assert_true(kills >= 9);
    for (int i = 0; i < REQUESTS; i++)
        assert_int_equal(answers[i], 1);
    /* Only who is hit again and again is lost. */
    assert_true(crashed <= kills / 3);
    assert_int_equal(compile_pending(pool), 0);
    compile_result result;
    assert_int_equal(compile_take(pool, 0, &result, &error), AT_NOT_FOUND);
    compile_pool_free(pool);
}

static void a_worker_that_stands_still_is_replaced(void **state)
{
    (void)state;
    /* Long enough for the worker that replaces it, on a machine that has other work. */
    compile_pool *pool = open_pool(1, 10);
    assert_true(signal_a_worker(SIGSTOP, 0));
    compile_request r = request_of(1, plain);
    compile_result result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_TIMEOUT);
    compile_result_deinit(&result);
    result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

static void an_event_loop_can_wait_on_the_descriptors(void **state)
{
    (void)state;
    enum { REQUESTS = 12 };
    compile_pool *pool = open_pool(2, 0);
    at_error error = {0};
    for (uint64_t i = 0; i < REQUESTS; i++) {
        compile_request r = request_of(i, plain);
        assert_ok(compile_submit(pool, &r, &error), error);
    }
    unsigned taken = 0, rounds = 0;
    while (taken < REQUESTS) {
        poll_set set;
        poll_set_start(&set, -1);
        compile_poll(pool, &set);
        assert_int_equal(set.count, 2);
        assert_true(set.timeout_ms > 0);
        assert_true(poll_set_wait(&set) > 0);
        compile_result result;
        while (compile_take(pool, 0, &result, &error) == AT_OK) {
            taken++;
            compile_result_deinit(&result);
        }
        assert_true(++rounds < 10000);
    }
    compile_pool_free(pool);
}

static void ignore_signal(int number)
{
    (void)number;
}

static void a_signal_ends_the_wait(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(1, 0);
    at_error error = {0};
    char *endless = endless_source();
    compile_request r = request_of(1, endless);
    assert_ok(compile_submit(pool, &r, &error), error);
    struct sigaction action = {.sa_handler = ignore_signal}, before;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    struct itimerval timer = {.it_value.tv_usec = 100000, .it_interval.tv_usec = 100000};
    assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
    compile_result result;
    assert_int_equal(compile_take(pool, -1, &result, &error), AT_NOT_FOUND);
    assert_int_equal(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_int_equal(compile_pending(pool), 1);
    compile_pool_free(pool);
    free(endless);
}

static void large_sources_fill_the_sockets_and_nothing_stands_still(void **state)
{
    (void)state;
    enum { REQUESTS = 8, PADDING = 2 << 20 };
    compile_pool *pool = open_pool(2, 0);
    at_error error = {0};
    char *large = nested(plain, " ", PADDING, "\n", "", "");
    for (uint64_t i = 0; i < REQUESTS; i++) {
        compile_request r = request_of(i, large);
        assert_ok(compile_submit(pool, &r, &error), error);
    }
    free(large);
    for (int i = 0; i < REQUESTS; i++) {
        compile_result result;
        assert_ok(compile_take(pool, -1, &result, &error), error);
        assert_int_equal(result.outcome, COMPILE_OK);
        compile_result_deinit(&result);
    }
    compile_pool_free(pool);
}

/* Two of them are at the worker before that. */
static void what_is_in_a_hurry_goes_before_all_that_wait(void **state)
{
    (void)state;
    enum { REQUESTS = 6 };
    static const uint64_t order[REQUESTS] = {0, 1, 5, 2, 3, 4};
    compile_pool *pool = open_pool(1, 0);
    at_error error = {0};
    for (uint64_t i = 0; i < REQUESTS; i++) {
        compile_request r = request_of(i, plain);
        assert_ok(compile_submit(pool, &r, &error), error);
        if (i == 0 || i == 2 || i + 1 == REQUESTS) /* of the first two nothing waits */
            compile_hurry(pool);
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        compile_result result;
        assert_ok(compile_take(pool, -1, &result, &error), error);
        assert_int_equal(result.id, order[i]);
        compile_result_deinit(&result);
    }
    compile_pool_free(pool);
}

static void as_many_workers_start_as_cores_may_be_used(void **state)
{
    (void)state;
    compile_pool *pool = open_pool(0, 0);
    poll_set set;
    FILE *f = popen("nproc", "r");
    unsigned cores = 0;
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%u", &cores), 1);
    pclose(f);
    poll_set_start(&set, -1);
    compile_poll(pool, &set);
    assert_int_equal(set.count, cores);
    assert_int_equal(compile_width(pool), 2 * cores);
    compile_pool_free(pool);
}

static void no_nvrtc_is_told_with_what_was_tried(void **state)
{
    (void)state;
    static const char *const wrong[] = {"/nowhere/libnvrtc.so.13", "libm.so.6"};
    for (size_t i = 0; i < 2; i++) {
        setenv("AUTOTUNE_NVRTC", wrong[i], 1);
        compile_options o = {.jobs = 2};
        compile_pool *pool;
        at_error error = {0};
        assert_int_equal(compile_pool_new(&o, &pool, &error), AT_NO_TOOLCHAIN);
        assert_null(pool);
        assert_non_null(strstr(error.message, wrong[i]));
        assert_non_null(strstr(error.message, "AUTOTUNE_NVRTC"));
    }
    unsetenv("AUTOTUNE_NVRTC");
}

static compile_pool *open_cached_pool(const char *dir)
{
    at_error error = {0};
    compile_pool *pool;
    compile_options o = {.jobs = 1, .use_cache = true, .cache_dir = dir};
    assert_ok(compile_pool_new(&o, &pool, &error), error);
    return pool;
}

static int open_pool_without_descriptors(void)
{
    struct rlimit none = {STDERR_FILENO + 1, STDERR_FILENO + 1};
    at_error error = {0};
    compile_pool *pool;
    alarm(20);
    if (setrlimit(RLIMIT_NOFILE, &none) != 0)
        return 2;
    at_status status = compile_pool_new(&(compile_options){.jobs = 2}, &pool, &error);
    return status == AT_OK || pool || !strstr(error.message, "cannot make a socket");
}

static void a_machine_that_gives_no_socket_is_an_error_and_not_waited_for(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(open_pool_without_descriptors());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_second_compilation_comes_from_the_cache(void **state)
{
    (void)state;
    char dir[TEMPORARY_BYTES];
    temporary_make(dir);
    compile_request r = request_of(1, plain);
    compile_request wrong = request_of(2, "extern \"C\" __global__ void k(int *p) { *p = q; }");
    compile_pool *pool = open_cached_pool(dir);
    compile_result first = compile_one(pool, &r);
    compile_result error_first = compile_one(pool, &wrong);
    assert_int_equal(first.outcome, COMPILE_OK);
    assert_false(first.cached || error_first.cached);
    compile_pool_free(pool);

    pool = open_cached_pool(dir);
    r.id = 99;
    compile_result second = compile_one(pool, &r);
    compile_result error_second = compile_one(pool, &wrong);
    assert_true(second.cached && error_second.cached);
    assert_int_equal(second.time_ns, first.time_ns);
    assert_int_equal(second.outcome, COMPILE_OK);
    assert_int_equal(second.cubin_bytes, first.cubin_bytes);
    assert_memory_equal(second.cubin, first.cubin, first.cubin_bytes);
    assert_memory_equal(&second.resources, &first.resources, sizeof first.resources);
    assert_int_equal(error_second.outcome, COMPILE_ERROR);
    assert_string_equal(error_second.log, error_first.log);
    compile_result_deinit(&second);
    compile_result_deinit(&error_second);

    /* Each of these is another compilation. */
    compile_request other = r;
    other.arch = "sm_80";
    compile_result result = compile_one(pool, &other);
    assert_false(result.cached);
    compile_result_deinit(&result);
    other = r;
    other.want_ptx = true;
    result = compile_one(pool, &other);
    assert_false(result.cached);
    assert_non_null(result.ptx);
    compile_result_deinit(&result);
    const char *const options[] = {"-DX=1"};
    other = r;
    other.options = options;
    other.option_count = 1;
    result = compile_one(pool, &other);
    assert_false(result.cached);
    compile_result_deinit(&result);
    assert_null(compile_warning(pool));
    compile_pool_free(pool);
    compile_result_deinit(&first);
    compile_result_deinit(&error_first);
    temporary_remove(dir);
}

static void a_cache_that_cannot_be_written_is_a_warning(void **state)
{
    (void)state;
    char dir[TEMPORARY_BYTES], file[TEMPORARY_BYTES + 8];
    temporary_make(dir);
    snprintf(file, sizeof file, "%s/file", dir);
    close(open(file, O_CREAT | O_WRONLY, 0666));
    compile_pool *pool = open_cached_pool(file);
    compile_request r = request_of(1, plain);
    for (int i = 0; i < 2; i++) {
        compile_result result = compile_one(pool, &r);
        assert_int_equal(result.outcome, COMPILE_OK);
        assert_false(result.cached);
        compile_result_deinit(&result);
    }
    assert_non_null(compile_warning(pool));
    assert_non_null(strstr(compile_warning(pool), file));
    compile_pool_free(pool);
    temporary_remove(dir);
}

static void outcomes_have_names(void **state)
{
    (void)state;
    assert_string_equal(compile_outcome_name(COMPILE_OK), "ok");
    assert_string_equal(compile_outcome_name(COMPILE_ERROR), "compile_error");
    assert_string_equal(compile_outcome_name(COMPILE_CRASHED), "crashed");
    assert_string_equal(compile_outcome_name(COMPILE_TIMEOUT), "timeout");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_becomes_a_cubin_with_its_resources),
        cmocka_unit_test(ptx_comes_with_the_templates_own_lines),
        cmocka_unit_test(an_error_names_the_templates_line_and_the_next_source_compiles),
        cmocka_unit_test(what_ptxas_refuses_is_said_with_the_templates_line),
        cmocka_unit_test(declarations_that_the_fast_path_leaves_out_are_found),
        cmocka_unit_test(cooperative_groups_cuda_std_and_cub_compile),
        cmocka_unit_test(headers_of_the_current_folder_are_not_found),
        cmocka_unit_test(a_header_that_comes_with_the_source_is_found),
        cmocka_unit_test(a_source_reads_no_file_but_the_toolkits),
        cmocka_unit_test(an_option_that_is_not_on_the_list_is_refused),
        cmocka_unit_test(a_source_that_takes_too_long_costs_itself_alone),
        cmocka_unit_test(a_pool_is_left_in_the_middle_of_its_work),
        cmocka_unit_test(endless_recursion_in_a_template_is_an_error_of_bounded_length),
        cmocka_unit_test(a_source_that_eats_memory_costs_itself_alone),
        cmocka_unit_test(a_source_that_crashes_the_compiler_costs_itself_alone),
        cmocka_unit_test(workers_killed_from_outside_lose_nothing),
        cmocka_unit_test(a_worker_that_stands_still_is_replaced),
        cmocka_unit_test(an_event_loop_can_wait_on_the_descriptors),
        cmocka_unit_test(a_signal_ends_the_wait),
        cmocka_unit_test(large_sources_fill_the_sockets_and_nothing_stands_still),
        cmocka_unit_test(what_is_in_a_hurry_goes_before_all_that_wait),
        cmocka_unit_test(as_many_workers_start_as_cores_may_be_used),
        cmocka_unit_test(a_machine_that_gives_no_socket_is_an_error_and_not_waited_for),
        cmocka_unit_test(no_nvrtc_is_told_with_what_was_tried),
        cmocka_unit_test(the_second_compilation_comes_from_the_cache),
        cmocka_unit_test(a_cache_that_cannot_be_written_is_a_warning),
        cmocka_unit_test(outcomes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
