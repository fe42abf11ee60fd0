#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "library/library.h"
#include "library/tuning.h"

/* Between two looks of at_tune_wait(). */
enum { WAIT_NS = 20 * 1000000 };

/* Makes what the call is about; the caller frees *out in any case. */
static at_status make(const at_results *results, const char *pattern_name,
                      const at_variable *problem, size_t count, tuning **out, at_error *error)
{
    const device_properties *current;
    *out = NULL;
    at_status status = library_device_of((at_results *)(uintptr_t)results, &current, error);
    return status ? status : tuning_new(pattern_name, problem, count, current, out, error);
}

/* Is it recorded already? */
static at_status ask_pick(const at_results *results, const char *pattern_name,
                          const at_variable *problem, size_t count, bool *known, at_error *error)
{
    at_choice *choice = NULL;
    at_status status = at_pick(results, pattern_name, NULL, problem, count, &choice, error);
    *known = !status && at_choice_rule(choice) == AT_RULE_EXACT;
    at_choice_free(choice);
    return error_forgive(status, AT_NOT_FOUND, error);
}

at_status at_tune(const at_results *results, const char *pattern_name, const at_variable *problem,
                  size_t problem_count, const at_tune_options *options, at_error *error)
{
    thread_state callers;
    tuning *t = NULL;
    at_error own = {0};
    bool known = false;
    error = error ? error : &own;
    at_status status =
        argument_check_problem("at_tune", results, pattern_name, problem, problem_count, error);
    if (!status)
        status = thread_state_plain(&callers, error);
    if (status)
        return status;
    status = make(results, pattern_name, problem, problem_count, &t, error);
    if (!status && !tunings_know(results->tunings, t)) {
        status = ask_pick(results, pattern_name, problem, problem_count, &known, error);
        if (!status && known)
            tunings_add_done(results, &t);
        else if (!status)
            status = tunings_add(results, &t, options, error);
    }
    tuning_free(t);
    thread_state_restore(&callers);
    return status;
}

at_status at_tune_wait(const at_results *results, const char *pattern_name,
                       const at_variable *problem, size_t problem_count, int64_t wait_ns,
                       at_tune_state *out, at_error *error)
{
    thread_state callers;
    tuning *t = NULL;
    if (!out)
        return argument_refuse_null("at_tune_wait", "out", error);
    at_status status = argument_check_problem("at_tune_wait", results, pattern_name, problem,
                                              problem_count, error);
    if (!status)
        status = thread_state_plain(&callers, error);
    if (status)
        return status;
    int64_t begun_ns = clock_now_ns();
    status = make(results, pattern_name, problem, problem_count, &t, error);
    while (!status) {
        *out = tunings_state(results->tunings, t, error);
        if (!tuning_is_open(*out) || clock_now_ns() - begun_ns >= wait_ns)
            break;
        nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
    tuning_free(t);
    thread_state_restore(&callers);
    return status;
}
