/* Tests the order in which a pool answers requests, and its cache. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool_fixture.h"
#include "temporary.h"

TEST(an_event_loop_can_wait_on_the_descriptors)
{
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

TEST(a_signal_ends_the_wait)
{
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

TEST(large_sources_fill_the_sockets_and_nothing_blocks)
{
    enum { REQUESTS = 8, PADDING = 2 << 20 };
    compile_pool *pool = open_pool(2, 0);
    at_error error = {0};
    const size_t size = sizeof plain + PADDING + 1;
    char *large = malloc(size);
    assert_non_null(large);
    snprintf(large, size, "%s%*s\n", plain, PADDING, "");
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

/* The worker already has two requests when compile_prioritise() is called. */
TEST(prioritised_requests_go_before_waiting_requests)
{
    enum { REQUESTS = 6 };
    static const uint64_t order[REQUESTS] = {0, 1, 5, 2, 3, 4};
    compile_pool *pool = open_pool(1, 0);
    at_error error = {0};
    for (uint64_t i = 0; i < REQUESTS; i++) {
        compile_request r = request_of(i, plain);
        assert_ok(compile_submit(pool, &r, &error), error);
        if (i == 0 || i == 2 || i + 1 == REQUESTS) /* the first two are no longer in the queue */
            compile_prioritise(pool);
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        compile_result result;
        assert_ok(compile_take(pool, -1, &result, &error), error);
        assert_int_equal(result.id, order[i]);
        compile_result_deinit(&result);
    }
    compile_pool_free(pool);
}

TEST(one_worker_starts_for_each_usable_core)
{
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

TEST(without_nvrtc_the_error_lists_the_names_that_were_tried)
{
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

TEST(without_sockets_opening_a_pool_fails_at_once)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(open_pool_without_descriptors());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(the_second_compilation_comes_from_the_cache)
{
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

    /* After each of these changes, the source must be compiled again. */
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

TEST(a_cache_that_cannot_be_written_is_a_warning)
{
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

TEST(outcomes_have_names)
{
    assert_string_equal(compile_outcome_name(COMPILE_OK), "ok");
    assert_string_equal(compile_outcome_name(COMPILE_ERROR), "compile_error");
    assert_string_equal(compile_outcome_name(COMPILE_CRASHED), "crashed");
    assert_string_equal(compile_outcome_name(COMPILE_TIMEOUT), "timeout");
}
