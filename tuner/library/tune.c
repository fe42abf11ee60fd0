#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread_state.h"
#include "library/library.h"
#include "library/results.h"
#include "library/tuning.h"

/* Between two looks of at_tune_wait(). */
enum { WAIT_NS = 20 * 1000000 };

static at_status refuse(const char *function, const at_results *results, const char *pattern,
                        const at_variable *problem, size_t count, at_error *error)
{
    if (!results || !pattern || (!problem && count > 0))
        return library_refuse_null(function,
                                   !results   ? "results"
                                   : !pattern ? "pattern"
                                              : "problem",
                                   error);
    error_clear(error);
    if (count > RECORD_MAX_VALUES)
        return error_set(error, AT_USAGE, "a problem has %d variables at most", RECORD_MAX_VALUES);
    for (size_t i = 0; i < count; i++)
        if (!problem[i].name)
            return error_set(error, AT_USAGE, "variable %zu of the problem has no name", i + 1);
    return AT_OK;
}

/* Is it recorded already? */
static at_status ask_pick(const at_results *results, const char *pattern, const at_gpu *gpu,
                          const at_variable *problem, size_t count, bool *known, at_error *error)
{
    at_choice *choice = NULL;
    at_status status = at_pick(results, pattern, gpu, problem, count, &choice, error);
    *known = !status && at_choice_rule(choice) == AT_RULE_EXACT;
    at_choice_free(choice);
    return error_forgive(status, AT_NOT_FOUND, error);
}

at_status at_tune(const at_results *results, const char *pattern, const at_variable *problem,
                  size_t problem_count, const at_tune_options *options, at_error *error)
{
    thread_state callers;
    tuning *t = NULL;
    at_gpu gpu;
    at_error own = {0};
    bool known = false;
    error = error ? error : &own;
    at_status status = refuse("at_tune", results, pattern, problem, problem_count, error);
    if (!status)
        status = thread_state_plain(&callers, error);
    if (status)
        return status;
    status = tuning_new(pattern, problem, problem_count, &t, error);
    if (!status && !tunings_know(results->tunings, t)) {
        status = at_current_gpu(&gpu, error);
        if (!status)
            status = ask_pick(results, pattern, &gpu, problem, problem_count, &known, error);
        if (!status && known)
            tunings_add_done(results, &t);
        else if (!status)
            status = tunings_add(results, &t, &gpu, options, error);
    }
    tuning_free(t);
    thread_state_restore(&callers);
    return status;
}

at_status at_tune_wait(const at_results *results, const char *pattern, const at_variable *problem,
                       size_t problem_count, int64_t wait_ns, at_tune_state *out, at_error *error)
{
    thread_state callers;
    tuning *t = NULL;
    if (!out)
        return library_refuse_null("at_tune_wait", "out", error);
    at_status status = refuse("at_tune_wait", results, pattern, problem, problem_count, error);
    if (!status)
        status = thread_state_plain(&callers, error);
    if (status)
        return status;
    int64_t begun_ns = clock_now_ns();
    status = tuning_new(pattern, problem, problem_count, &t, error);
    while (!status) {
        *out = tunings_state(results->tunings, t, error);
        bool is_open = *out == AT_TUNE_RUNNING || *out == AT_TUNE_WAITING;
        if (!is_open || clock_now_ns() - begun_ns >= wait_ns)
            break;
        nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
    tuning_free(t);
    thread_state_restore(&callers);
    return status;
}
