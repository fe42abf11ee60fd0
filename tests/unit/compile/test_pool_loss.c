/* Tests sources that kill their worker, and workers that another process kills or stops. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "children.h"
#include "pool_fixture.h"

TEST(a_source_that_takes_too_long_alone_fails)
{
    /* The time limit must be long enough for the good source on a busy machine. */
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

TEST(a_pool_can_be_closed_while_it_works)
{
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

TEST(a_source_that_uses_too_much_memory_alone_fails)
{
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

/* Sends the signal to child process number `which`. Returns false if there is no such child. */
static bool signal_a_worker(int signal_number, unsigned which)
{
    pid_t child = children_find(which);
    return child > 0 && kill(child, signal_number) == 0;
}

/* Each compile worker that gets this source is killed by SIGSEGV. */
TEST(a_source_that_crashes_the_compiler_alone_fails)
{
    compile_pool *pool = open_pool(1, 0);
    at_error error = {0};
    char *endless = endless_source();
    compile_request wrong = request_of(1, endless), right = request_of(2, plain);
    assert_ok(compile_submit(pool, &wrong, &error), error);
    assert_ok(compile_submit(pool, &right, &error), error);
    compile_result result;
    int crashes = 0, waits = 0;
    /* A signal counts only if its worker has a job, and by now most workers have a job. On a
     * busy machine the last worker may not exist yet. */
    while (compile_take(pool, 500, &result, &error) == AT_NOT_FOUND) {
        assert_true(++waits < 20);
        crashes += signal_a_worker(SIGSEGV, 0);
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

TEST(workers_killed_from_outside_lose_nothing)
{
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
    /* A source is lost only if its workers are killed again and again. */
    assert_true(crashed <= kills / 3);
    assert_int_equal(compile_pending(pool), 0);
    compile_result result;
    assert_int_equal(compile_take(pool, 0, &result, &error), AT_NOT_FOUND);
    compile_pool_free(pool);
}

TEST(a_stopped_worker_is_replaced)
{
    /* The time limit must be long enough to replace the worker on a busy machine. */
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
